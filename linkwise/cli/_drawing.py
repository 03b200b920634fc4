"""Pictures of results drawn without a screen, a progress bar for terminals, and notes about memory."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from linkwise.constraints import Constraints


def can_draw() -> bool:
    """Whether matplotlib is installed."""
    return find_spec("matplotlib") is not None


def get_ready_to_draw() -> None:
    """Load matplotlib in a thread while something long runs, if it is installed; drawing waits for it by itself."""
    if can_draw():
        Thread(target=_load_matplotlib, daemon=True).start()


def _load_matplotlib() -> None:
    for module in ("matplotlib.figure", "matplotlib.backends.backend_agg"):
        import_module(module)


def draw(path: Path, plot: Callable[..., Any], *given: Any, height: float = 5.6, **options: Any) -> None:
    """Draw into a file by a function of `linkwise.plots`, without pyplot and its screens."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, height), layout="constrained")
    plot(*given, ax=figure.subplots(), **options)
    figure.savefig(path, dpi=130)


def draw_before_and_after(
    path: Path, before: Any, after: Any, *, constraints: Constraints, ids: Any, titles: tuple[str, str]
) -> None:
    """Draw two fitted estimators above each other, with the same statements under both."""
    from matplotlib.figure import Figure

    from linkwise.plots import match_labels, plot_dendrogram

    figure = Figure(figsize=(9.0, 8.4), layout="constrained")
    for model, title, ax in zip((before, after), titles, figure.subplots(2), strict=True):
        labels = match_labels(model.labels_, after.labels_)
        plot_dendrogram(model.dendrogram_, labels=labels, constraints=constraints, ids=ids, title=title, ax=ax)
    figure.savefig(path, dpi=120)


@contextmanager
def telling_memory(*, quiet: bool) -> Iterator[None]:
    """Pass on what fits inside the block log about large amounts of memory, before these are taken."""
    import logging

    from linkwise._messages import notice

    class Notes(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            notice(f"{record.getMessage()}.")

    log, notes = logging.getLogger("linkwise.selection"), Notes()
    level = log.level
    if not quiet:
        log.addHandler(notes)
        log.setLevel(logging.INFO)
    try:
        yield
    finally:
        log.removeHandler(notes)
        log.setLevel(level)


@contextmanager
def working(what: str, *, quiet: bool) -> Iterator[None]:
    """Show on a terminal's stderr how far fits inside the block have come; show nothing elsewhere."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    from linkwise.selection import progress

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
    left = (TextColumn("left:"), TimeRemainingColumn())
    with Progress(*columns, *left, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        with progress(lambda done, total: bar.update(task, completed=done, total=total)):
            yield
