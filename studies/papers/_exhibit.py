"""What a paper shows, beside what we find: figures and tables with the printed values where the text gives them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from studies.papers._verdict_rules import Judged, Verdict


@dataclass(frozen=True)
class Found:
    """One number: what was measured, for which line of which exhibit, and what the paper prints there.

    Attributes
    ----------
    line : str
        The method, or the row of a table.
    x : float or str
        The place along the axis, or the column.
    value : float
        Mean over repetitions.
    error : float
        Standard error of that mean; NaN for a single value.
    repeats : int
        How many repetitions.
    printed : float or None
        What the paper says in its text or tables.

    Examples
    --------
    >>> from studies.papers import Found
    >>> Found("HAC", "FScore", 0.8906, printed=0.8906).printed
    0.8906
    """

    line: str
    x: float | str
    value: float
    error: float = float("nan")
    repeats: int = 1
    printed: float | None = None


@dataclass(frozen=True)
class Exhibit:
    """A figure or table of a paper, computed again.

    Attributes
    ----------
    key : str
        What the paper calls it, as in ``"Figure 2"``; with a part, ``"Figure 2, iris"``.
    title : str
        What it shows.
    found : tuple of Found
        The numbers.
    judged : Judged
        How it compares with the paper, why, and by which rule.

    Examples
    --------
    >>> from studies.papers import Exhibit, Found, Judged
    >>> Exhibit("Table 1", "F", (Found("HAC", "F", 0.9),), Judged("same", "", "")).verdict
    'same'
    """

    key: str
    title: str
    found: tuple[Found, ...]
    judged: Judged

    @property
    def verdict(self) -> Verdict:
        """How it compares with the paper."""
        return self.judged.verdict

    @property
    def why(self) -> str:
        """What agrees and what does not."""
        return self.judged.why

    def draws(self) -> str:
        """How many repetitions the figures are means of: a number, or the fewest and the most."""
        counts = sorted({one.repeats for one in self.found if one.repeats})
        return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}" if counts else "none"

    def lines(self) -> list[str]:
        """The methods or rows, in the order given."""
        return list(dict.fromkeys(one.line for one in self.found))


@dataclass(frozen=True)
class Figure(Exhibit):
    """Curves: one line per method over a number.

    Attributes
    ----------
    x_label, y_label : str
        What the axes show, as in the paper.
    log_x, log_y : bool
        Whether an axis is logarithmic.

    Examples
    --------
    >>> from studies.papers import Figure, Found, Judged
    >>> Figure("Figure 2", "F", (Found("ReCon", 10, 0.9),), Judged("same", "", ""), x_label="constraints").x_label
    'constraints'
    """

    x_label: str = ""
    y_label: str = ""
    log_x: bool = False
    log_y: bool = False


@dataclass(frozen=True)
class Panel:
    """Samples in the plane with their clusters, and the pairs that were said to belong together or not.

    Examples
    --------
    >>> import numpy as np
    >>> from studies.papers import Panel
    >>> none = np.empty((0, 2), dtype=np.intp)
    >>> Panel("two", np.zeros((2, 2)), np.array([0, 1]), none, none).title
    'two'
    """

    title: str
    X: FloatArray
    labels: IntArray
    must_link: IntArray
    cannot_link: IntArray


@dataclass(frozen=True)
class Picture(Exhibit):
    """Clusters drawn beside each other.

    Examples
    --------
    >>> from studies.papers import Judged, Picture
    >>> Picture("Figure 12", "clusters", (), Judged("not comparable", "", "")).panels
    ()
    """

    panels: tuple[Panel, ...] = ()


@dataclass(frozen=True)
class Table(Exhibit):
    """Rows and columns of numbers.

    Examples
    --------
    >>> from studies.papers import Found, Judged, Table
    >>> Table("Table IV", "F and time", (Found("Iris, HAC", "FScore", 0.8906),), Judged("same", "", "")).columns()
    ['FScore']
    """

    def columns(self) -> list[str]:
        """The columns, in the order given."""
        return list(dict.fromkeys(str(one.x) for one in self.found))


def _say_nothing(_: str) -> None:
    """Take a line and keep it to oneself."""


@dataclass(frozen=True)
class Settings:
    """How much to compute and where results are kept.

    Attributes
    ----------
    quick : bool
        Few repetitions and the small sets: does it run, and is the picture roughly right?
    store : Path
        Folder in which finished computations are kept, so that a second run only draws.
    data : Path or None
        Folder of data sets, as for `linkwise.datasets.load`.
    jobs : int
        Processes.
    draws : int or None
        Repetitions of everything that is drawn, in place of the usual number.
    say : callable
        Takes a line about what is being done.
    notes : list of str
        What has to be said on the page, such as data sets that could not be had.

    Examples
    --------
    >>> from studies.papers import Settings
    >>> Settings(quick=True).repeats(20, 3), Settings(draws=5).repeats(20, 3)
    (3, 5)
    """

    quick: bool = False
    store: Path = Path("linkwise-papers")
    data: Path | None = None
    jobs: int = 1
    draws: int | None = None
    say: Callable[[str], object] = field(default=_say_nothing, compare=False)
    notes: list[str] = field(default_factory=list, compare=False)

    def repeats(self, full: int, quick: int) -> int:
        """Return how often to repeat what is drawn."""
        return self.draws if self.draws is not None else self.size(full, quick)

    def size(self, full: int, quick: int) -> int:
        """Return one of two sizes."""
        return quick if self.quick else full


@dataclass(frozen=True)
class Paper:
    """A paper, and how its exhibits are computed again.

    Attributes
    ----------
    name : str
        Short name, as in ``"liu2011"``.
    citation : str
        Authors, title, place, year.
    about : str
        What was compared, which data sets are the paper's own and which stand in for them.
    exhibits : mapping from str to callable
        ``number -> f(settings)``, which yields one or more exhibits of that figure or table.

    Examples
    --------
    >>> from studies.papers import find_paper
    >>> find_paper("002").name
    'zheng2011'
    """

    name: str
    citation: str
    about: str
    exhibits: Mapping[str, Callable[[Settings], Iterator[Exhibit]]]


def mean_and_error(values: Sequence[float] | Any) -> tuple[float, float, int]:
    """Return mean, standard error and number of values that are there; NaN counts as missing.

    Examples
    --------
    >>> from studies.papers import mean_and_error
    >>> mean_and_error([1.0, 3.0])
    (2.0, 1.0, 2)
    """
    there = np.asarray(values, dtype=np.float64)
    there = there[~np.isnan(there)]
    if not len(there):
        return float("nan"), float("nan"), 0
    error = float(there.std(ddof=1) / np.sqrt(len(there))) if len(there) > 1 else float("nan")
    return float(there.mean()), error, len(there)
