"""Plot of quality against the number of statements: one line per method, the mean over runs with its band."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import FloatArray
from linkwise.exceptions import LinkwiseError
from linkwise.plots._captions import fonts_for, plain_text, shorten
from linkwise.plots._style import axes_for, cluster_color

_MARKS = "osD^vP*X"
_DASHES: tuple[Any, ...] = ("solid", (0, (5, 2)), (0, (1, 1.5)), (0, (6, 2, 1, 2)))
_MOST_MARKS = 40


def plot_curve(
    curves: Any,
    values: Any = None,
    *,
    confidence: float = 0.95,
    xlabel: str = "statements",
    ylabel: str = "quality",
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a measure against the number of statements, with the confidence band of its mean over runs.

    Parameters
    ----------
    curves : mapping, or array-like of shape (n_places,)
        From the name of each line to its values: a mapping from a place on the horizontal axis to one value or many
        runs, or a pair (places, values). For a single line, its places.
    values : array-like of shape (n_places,) or (n_runs, n_places), optional
        The values of a single line.
    confidence : float, default=0.95
        Level of the band (Student's t, runs taken as independent). A single run has no band.
    xlabel, ylabel, title, ax : str and matplotlib Axes, optional
        Words at the axes and above, and where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Values that are not finite are left out; a place without any is a gap. Neighboring lines differ in color, mark and
    dashes, so that color is never the only difference.

    Examples
    --------
    >>> from linkwise.plots import plot_curve
    >>> ax = plot_curve({"ReCon": ([0, 10, 20], [0.5, 0.7, 0.9]), "plain": {0: [0.5, 0.4], 20: [0.5, 0.6]}})
    >>> [line.get_label() for line in ax.lines]
    ['ReCon', 'plain']
    """
    if not 0 < confidence < 1:
        msg = f"plot_curve: confidence is {confidence!r}, expected a number between 0 and 1."
        raise LinkwiseError(msg)
    lines = {"": (curves, values)} if values is not None else curves
    if not isinstance(lines, Mapping) or not lines:
        msg = (
            f"plot_curve got {type(curves).__name__}, expected a mapping from names to values, or places and values.\n"
            'Hint: plot_curve({"ReCon": ([0, 10], [0.5, 0.9])}).'
        )
        raise LinkwiseError(msg)
    ax = axes_for("plot_curve", ax, (6.4, 4.2))
    for number, (name, line) in enumerate(lines.items()):
        places, runs = _read(str(name), line)
        mean = np.array([np.mean(some) if len(some) else np.nan for some in runs])
        half = np.array([_half_width(some, confidence) for some in runs])
        color = cluster_color(number)
        ax.plot(
            places,
            mean,
            color=color,
            linestyle=_DASHES[number // len(_MARKS) % len(_DASHES)],
            marker=_MARKS[number % len(_MARKS)],
            markevery=max(1, len(places) // _MOST_MARKS),
            markersize=4,
            label=shorten(plain_text(name), 60) if str(name) else "_single",
        )
        ax.fill_between(places, mean - half, mean + half, color=color, alpha=0.15, linewidth=0)
    if max((abs(place) for place in ax.get_xlim()), default=0) >= 1000:
        ax.xaxis.set_major_formatter("{x:,.0f}")
    ax.set_xlabel(xlabel, parse_math=False)
    ax.set_ylabel(ylabel, parse_math=False)
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="y", color="#e5e7eb", linewidth=0.8)
    ax.set_axisbelow(True)
    if len(lines) > 1 or "" not in lines:
        _write_legend(ax, len(lines))
    if title is not None:
        ax.set_title(title, loc="left", parse_math=False)
    return ax


def _write_legend(ax: Any, count: int) -> None:
    """Write the legend inside the picture, or beside it when there are many lines."""
    outside: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)} if count > 5 else {"loc": "best"}
    made = ax.legend(frameon=count <= 5, framealpha=0.85, edgecolor="none", fontsize=8, **outside)
    families = fonts_for([text.get_text() for text in made.get_texts()])
    for text in made.get_texts():
        text.set_parse_math(False)
        text.set_fontfamily(families)


def _read(name: str, line: Any) -> tuple[npt.NDArray[Any], list[FloatArray]]:
    """Read the places of a line in rising order, and the finite values at each."""
    if isinstance(line, Mapping):
        places = np.array(sorted(line))
        runs = [np.atleast_1d(np.asarray(line[place], dtype=np.float64)) for place in places.tolist()]
    else:
        try:
            given, values = line
            places, table = np.asarray(given), np.atleast_2d(np.asarray(values, dtype=np.float64))
        except (TypeError, ValueError) as wrong:
            msg = f"plot_curve: {name or 'the line'} is {type(line).__name__}, expected places and values."
            raise LinkwiseError(msg) from wrong
        if places.ndim != 1 or table.shape[1:] != places.shape:
            shapes = f"places of shape {places.shape} and values of shape {np.shape(values)}"
            msg = f"plot_curve: {name or 'the line'} has {shapes}, expected one value per place."
            raise LinkwiseError(msg)
        order = np.argsort(places, kind="stable")
        places, runs = places[order], list(table.T[order])
    if not len(places):
        msg = f"plot_curve: {name or 'the line'} has no places, expected at least one."
        raise LinkwiseError(msg)
    return places, [some[np.isfinite(some)] for some in runs]


def _half_width(values: FloatArray, confidence: float) -> float:
    if len(values) < 2:
        return 0.0
    from scipy.stats import t

    return float(t.ppf((1 + confidence) / 2, len(values) - 1) * np.std(values, ddof=1) / np.sqrt(len(values)))
