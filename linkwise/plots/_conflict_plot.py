"""Plot of a conflict as a graph: samples on a circle, statements between them, suspects highlighted."""

from __future__ import annotations

import itertools
from collections import deque
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._messages import many
from linkwise._typing import FloatArray
from linkwise.constraints import Kind, links_of
from linkwise.exceptions import LinkwiseError
from linkwise.plots._captions import Note, every, name_of, write_apart
from linkwise.plots._style import ARC_STYLES, BLAMED, INK, axes_for

if TYPE_CHECKING:
    from linkwise.constraints import Constraints

_NUMBERED = 16  # up to this many statements are labeled with their numbers
_MOST_NAMES = 36
_MOST_SAMPLES = 400
_GAP = 12


def plot_conflict(
    explanation: Any, constraints: Constraints, *, ids: Any = None, title: str | None = None, ax: Any = None
) -> Any:
    """Draw the statements that contradict each other as a graph; those whose removal alone resolves the conflict glow.

    Parameters
    ----------
    explanation : Explanation
        From `check` or `conflicts`; its ``core`` is drawn and the single statements among its ``suspects`` glow.
    constraints : Constraints
        The table it is about.
    ids : array-like of shape (n_samples,), optional
        Names of the samples; those of the constraints when left out.
    title, ax : str and matplotlib Axes, optional
        Heading, by default the number of conflicting statements; and where to draw, by default a new figure.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Samples stand on a circle, in the order in which must-links and triplets chain them, so that a chain of must-links
    and the cannot-link it contradicts is a ring. A triplet ab|c is a line from a to b with a dotted branch to c. A
    group is a chain of its samples.

    **Cost** linear in the conflict, of which at most 400 samples are drawn.

    Examples
    --------
    >>> from linkwise import Constraints, check
    >>> from linkwise.plots import plot_conflict
    >>> constraints = Constraints.build(4, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2), (0, 3)])
    >>> ax = plot_conflict(check(constraints).explanation, constraints)
    >>> ax.get_title(loc="left")
    '3 statements cannot hold together'
    """
    ax = axes_for("plot_conflict", ax, (5.6, 5.2))
    core = [int(s) for s in getattr(explanation, "core", explanation)]
    if not core or max(core) >= constraints.n_statements:
        msg = (
            "plot_conflict: the explanation is not about these constraints, expected statements of them.\n"
            "Hint: plot_conflict(check(constraints).explanation, constraints)."
        )
        raise LinkwiseError(msg)
    edges = _edges(constraints, core)
    samples = _around(edges)
    left_out = len(samples) - _MOST_SAMPLES
    place = dict(zip(samples, _circle(len(samples)), strict=True))
    singles = {int(group[0]) for group in getattr(explanation, "suspects", ()) if len(group) == 1}
    if left_out > 0:
        place = {sample: place[sample] for sample in samples[:_MOST_SAMPLES]}
        edges = [edge for edge in edges if all(s in place for s in edge[2])]
    _draw_edges(ax, edges, place, singles, constraints if len(core) <= _NUMBERED else None)
    _draw_samples(ax, place)
    ax.set_xlim(-1.75, 1.75)
    ax.set_ylim(-1.3, 1.3)
    ax.set_aspect("equal")
    ax.axis("off")
    _write_legend(ax, edges, singles)
    more = f" ({_MOST_SAMPLES} of {len(samples):,} samples drawn)" if left_out > 0 else ""
    heading = f"{many(len(core), 'statement')} cannot hold together{more}" if title is None else title
    ax.set_title(heading, loc="left", fontsize=11, parse_math=False)
    write_apart(ax, _names_around(place, ids if ids is not None else constraints.ids), within_axes=False)
    return ax


def _edges(constraints: Constraints, core: list[int]) -> list[tuple[int, Kind, tuple[int, ...]]]:
    """Return (statement, kind as drawn, samples) for each edge; a group becomes a chain."""
    made: list[tuple[int, Kind, tuple[int, ...]]] = []
    for statement in core:
        kind = Kind(int(constraints.kind[statement]))
        if not kind.is_group:
            made.append((statement, kind, tuple(int(s) for s in constraints.items[statement, : kind.arity])))
            continue
        group = constraints.samples_of(statement).tolist()
        if kind is Kind.EITHER:
            made += [(statement, Kind[word.upper()], (a, b)) for word, a, b in links_of(group)]
            continue
        like = Kind.MUST_LINK if kind in (Kind.TOGETHER, Kind.MUST_LINK_ANY) else Kind.CANNOT_LINK
        pairs = zip(group[:1] * len(group), group[1:], strict=False) if kind.is_choice else itertools.pairwise(group)
        made += [(statement, like, pair) for pair in pairs]
    return made


def _around(edges: list[tuple[int, Kind, tuple[int, ...]]]) -> list[int]:
    """Order the samples along must-links and triplets, starting from one with few of them."""
    near: dict[int, list[int]] = {}
    for _, kind, samples in edges:
        for s in samples:
            near.setdefault(s, [])
        if kind is not Kind.CANNOT_LINK:
            near[samples[0]].append(samples[1])
            near[samples[1]].append(samples[0])
    order: dict[int, None] = {}
    for start in sorted(near, key=lambda s: (len(near[s]) == 0, len(near[s]), s)):
        waiting = deque([start])
        while waiting:
            s = waiting.pop()
            if s not in order:
                order[s] = None
                waiting.extend(sorted((x for x in near[s] if x not in order), reverse=True))
    return list(order)


def _circle(count: int) -> FloatArray:
    """Return positions clockwise from the top; many leave a gap there, so that a closing edge is visible."""
    if count == 2:
        return np.array([[-1.0, 0.0], [1.0, 0.0]])
    gap = np.pi / 6 if count > _GAP else 2 * np.pi / count
    turn = np.pi / 2 - gap / 2 - (2 * np.pi - gap) * np.arange(count) / (count - 1 if count > 1 else 1)
    return np.column_stack([np.cos(turn), np.sin(turn)])


def _draw_edges(
    ax: Any,
    edges: list[tuple[int, Kind, tuple[int, ...]]],
    place: dict[int, FloatArray],
    singles: set[int],
    constraints: Constraints | None,
) -> None:
    drawn: dict[frozenset[int], int] = {}
    for statement, kind, samples in edges:
        color, dashes, _ = ARC_STYLES[kind]
        a, b = place[samples[0]], place[samples[1]]
        twin = drawn.get(frozenset(samples[:2]), 0)  # a second statement about the same two is bent aside
        drawn[frozenset(samples[:2])] = twin + 1
        line = _bent(a, b, 0.16 * twin * (-1) ** twin)
        glow = statement in singles
        if glow:
            ax.plot(*line.T, color=BLAMED, linewidth=7, alpha=0.65, solid_capstyle="round", zorder=1)
        ax.plot(*line.T, color=color, linestyle="solid" if kind is Kind.TRIPLET else dashes, linewidth=1.8, zorder=2)
        middle = line[len(line) // 2]
        if kind is Kind.TRIPLET:
            ax.plot(*np.array([middle, place[samples[2]]]).T, color=color, linestyle=dashes, linewidth=1.3, zorder=2)
        if constraints is not None:
            ax.text(
                *(middle * 0.9 + 0.1 * line[0]),
                f"#{int(constraints.row[statement])}",
                fontsize=8,
                ha="center",
                va="center",
                color=color,
                bbox={"boxstyle": "round,pad=0.15", "facecolor": "white", "edgecolor": "none", "alpha": 0.9},
                zorder=4,
            )


def _bent(a: FloatArray, b: FloatArray, bow: float) -> FloatArray:
    way = np.linspace(0, 1, 21)[:, None]
    aside = np.array([a[1] - b[1], b[0] - a[0]])
    return np.asarray(a + way * (b - a) + 4 * bow * way * (1 - way) * aside)


def _draw_samples(ax: Any, place: dict[int, FloatArray]) -> None:
    spots = np.array(list(place.values()))
    size = float(np.clip(900 / len(place), 3, 60))  # of a long chain, small enough for the lines to show between them
    ax.scatter(*spots.T, s=size, color=INK, edgecolors="white", linewidths=min(0.8, size / 20), zorder=5)


def _names_around(place: dict[int, FloatArray], ids: Any) -> list[Note]:
    """Return names outside the circle, thinned; both ends of a chain come first."""
    samples = list(place)
    some = samples[:: every(len(place), _MOST_NAMES)]
    size = 9.0 if len(place) <= 12 else 7.0
    notes = []
    for sample in dict.fromkeys([some[0], samples[-1], *some]):
        x, y = place[sample]
        away = (9.0 * x if abs(x) > 0.12 else 0.0, 9.0 * y if abs(x) <= 0.12 or abs(y) > 0.5 else 0.0)
        notes.append(Note((x, y), name_of(ids, sample, 18), (away,), size))
    return notes


def _write_legend(ax: Any, edges: list[tuple[int, Kind, tuple[int, ...]]], singles: set[int]) -> None:
    from matplotlib.lines import Line2D

    used = [kind for kind in ARC_STYLES if any(k is kind for _, k, _ in edges)]
    handles = [Line2D([], [], color=ARC_STYLES[k][0], linestyle=ARC_STYLES[k][1], label=ARC_STYLES[k][2]) for k in used]
    if singles:
        words = "dropping it repairs it" if len(singles) == 1 else "dropping any one of these repairs it"
        handles.append(Line2D([], [], color=BLAMED, linewidth=6, alpha=0.65, label=words))
    ax.legend(handles=handles, frameon=False, fontsize=8, ncols=2, loc="upper center", bbox_to_anchor=(0.5, 0.02))
