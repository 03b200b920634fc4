"""Draw every kind of picture at four sizes, with the time each takes.

``python docs/draw_gallery.py OUT`` writes OUT/<picture>-<n>.png for n = 10, 150, 3,000 and 50,000 samples and a report
for each, and prints a table; ``--sizes 10 150`` draws fewer. The largest tree takes a minute or two to build; the times
are those of the pictures alone, from arrays to file. ``--page`` also writes docs/img/pictures.png, six of them in one.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from linkwise import ConstrainedAgglomerative, Constraints, ReCon, check
from linkwise.plots import plot_conflict, plot_curve, plot_dendrogram, plot_heatmap, plot_links
from linkwise.report import write_report

WORDS = ("otter", "mink", "seal", "walrus", "badger", "stoat", "weasel", "marten", "polecat", "ferret", "skunk", "bear")
STATEMENTS = {10: 2, 150: 10, 3_000: 40, 50_000: 60}


class Example(NamedTuple):
    """Samples in seven groups, statements about them, and the trees without and with it."""

    X: Any
    ids: Any
    said: Constraints
    plain: Any
    model: Any


def make(n: int) -> Example:
    """Draw samples and statements, and build both trees."""
    rng = np.random.default_rng(0)
    k = 3 if n < 20 else 7
    tops = 6 * rng.normal(size=(3, 6))
    y = np.r_[np.arange(k), rng.integers(k, size=n - k)]
    X = (tops[np.arange(k) % 3] + 2.2 * rng.normal(size=(k, 6)))[y] + rng.normal(size=(n, 6))
    ids = np.array([WORDS[i % len(WORDS)] + (f" {i // len(WORDS)}" if i >= len(WORDS) else "") for i in range(n)])
    ids = ids.astype(object)
    ids[[3, 5, 6]] = "Пингвин, взрослый", "an identifier with_everything/in-it-2026-11-16T06:48", "price $5 to $7"
    pairs = rng.integers(n, size=(200 * STATEMENTS.get(n, 20), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    m = STATEMENTS.get(n, 20)
    said = {"must_link": pairs[same][:m], "cannot_link": pairs[~same][:m]}
    if n < 10_000:
        close, far = pairs[same][m : m + m // 2], rng.integers(n, size=m // 2)
        ok = y[close[:, 0]] != y[far]
        said["triplets"] = np.column_stack([close, far])[ok]
    known = Constraints.build(n, **said).with_ids(ids)
    linkage = "ward" if n >= 10_000 else "average"
    plain = ConstrainedAgglomerative(k, linkage=linkage).fit(X)
    model = ConstrainedAgglomerative(k, linkage="ward") if n >= 10_000 else ReCon(k)
    return Example(X, ids, known, plain, model.fit(X, constraints=known))


def contradictory(n: int) -> Constraints:
    """A chain of must-links with a cannot-link between its ends, as long as a conflict at that size might be."""
    length = {10: 3, 150: 6, 3_000: 30}.get(n, 300)
    chain = np.column_stack([np.arange(length), np.arange(1, length + 1)])
    return Constraints.build(length + 1, must_link=chain, cannot_link=[(0, length)])


def pictures(n: int, example: Example) -> dict[str, Callable[[Any], Any]]:
    """What is drawn, by name."""
    X, ids, said, _, model = example
    wrong = contradictory(n)
    why = check(wrong).explanation
    rng = np.random.default_rng(1)
    amounts = np.arange(0, n, max(1, n // 12))
    curves = {
        name: (amounts, 1 - 0.6 * np.exp(-rate * amounts / n)[None, :] + 0.05 * rng.normal(size=(8, len(amounts))))
        for name, rate in (("ReCon", 4.0), ("average linkage", 1.5), ("COP-k-means", 2.5))
    }
    tree, labels = model.dendrogram_, model.labels_
    return {
        "dendrogram": lambda ax: plot_dendrogram(
            tree, labels=labels, constraints=said, ids=ids, title=_title(n), ax=ax
        ),
        "folded": lambda ax: plot_dendrogram(tree, labels=labels, ids=ids, max_leaves=40, title=_title(n), ax=ax),
        "links": lambda ax: plot_links(X, said, labels=labels, tree=tree, ids=ids, title=_title(n), ax=ax),
        "heatmap": lambda ax: plot_heatmap(X, tree, labels=labels, ids=ids, title=_title(n), ax=ax),
        "distances": lambda ax: plot_heatmap(X, tree, labels=labels, ids=ids, distances=True, title=_title(n), ax=ax),
        "curve": lambda ax: plot_curve(curves, title=_title(n), ax=ax),
        "conflict": lambda ax: plot_conflict(why, wrong, ax=ax),
    }


def draw_page(path: Path) -> None:
    """Draw six pictures of 150 samples into one."""
    figure = Figure(figsize=(13.0, 13.5), layout="constrained")
    chosen = list(pictures(150, make(150)).items())
    wanted = ("dendrogram", "folded", "links", "heatmap", "curve", "conflict")
    for ax, (_, draw) in zip(figure.subplots(3, 2).flat, [p for p in chosen if p[0] in wanted], strict=True):
        draw(ax)
    figure.savefig(path, dpi=70)


def _title(n: int) -> str:
    return f"{n:,} samples"


def _tell(name: str, n: int, start: float, more: str = "") -> None:
    print(f"{name:12} {n:7,} samples {time.perf_counter() - start:6.2f} s {more}", flush=True)


def main() -> None:
    """Draw all, and print how long each took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sizes", type=int, nargs="+", default=list(STATEMENTS))
    parser.add_argument("--page", action="store_true")
    chosen = parser.parse_args()
    if chosen.page:
        draw_page(Path(__file__).parent / "img" / "pictures.png")
    chosen.out.mkdir(parents=True, exist_ok=True)
    for n in chosen.sizes:
        example = make(n)
        for name, draw in pictures(n, example).items():
            start = time.perf_counter()
            figure = Figure(figsize=(9.0, 5.0), layout="constrained")
            draw(figure.subplots())
            figure.savefig(chosen.out / f"{name}-{n}.png", dpi=100)
            _tell(name, n, start)
        start = time.perf_counter()
        page = write_report(
            chosen.out / f"report-{n}.html",
            example.model,
            X=example.X,
            constraints=example.said,
            before=example.plain,
            ids=example.ids,
            title=_title(n),
        )
        _tell("report", n, start, f"{page.stat().st_size / 1e6:6.2f} MB")


if __name__ == "__main__":
    main()
