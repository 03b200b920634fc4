"""Plot of a dendrogram: branches colored by cluster, the cut, and statements as arcs under the leaves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.plots._captions import every, fonts_for, name_of, plain_text, readable, shorten, width_of
from linkwise.plots._style import (
    ARC_STYLES,
    BLAMED,
    BLAMED_WIDTH,
    BROKEN_WIDTH,
    HELD_WIDTH,
    INK,
    Drawn,
    axes_for,
    broken_in,
    choose_drawn,
    cluster_color,
    legend_handles,
    text_on,
)
from linkwise.plots._tree_layout import Sketch, draw_lines, lay_out

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.result import Dendrogram

_STRIP = (0.015, 0.075)  # band of cluster colors below the leaves, in shares of the tree's height
_ARCS = 0.095  # start of the arcs
_ARC_DEPTH = 0.28
_HATCH = "/////"
_NAME_WIDTH = 11.0  # points from one upright name to the next
_MOST_IN_LEGEND = 9  # names of clusters that have no room under their branch
_MOST_NODE_NAMES = 60
_THINNED = 6  # names are thinned for up to this many times as many leaves as have room


def plot_dendrogram(
    dendrogram: Dendrogram,
    *,
    labels: Any = None,
    constraints: Constraints | None = None,
    ids: Any = None,
    blamed: Any = None,
    max_leaves: int | None = None,
    max_names: int | None = None,
    max_arcs: int = 150,
    names: Mapping[int, str] | None = None,
    node_names: Mapping[int, str] | None = None,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a tree or forest with its clusters colored, the cut marked and statements as arcs under the leaves.

    Parameters
    ----------
    dendrogram : Dendrogram
        The tree or forest. Heights are the monotone ones, so no branch points downwards.
    labels : array-like of shape (n_samples,), optional
        Cluster of every sample; the marked cut when left out and there is one. Samples outside the branch of their
        cluster, such as small branches given to another cluster, are hatched, with an arrow before the number.
    constraints : Constraints, optional
        Must-links are drawn as solid green arcs, cannot-links as dashed red ones, triplets ab|c as dotted violet ones
        from a to b; those that do not hold in the picture are drawn thick.
    ids : array-like of shape (n_samples,), optional
        Names of the samples; those of the dendrogram or the constraints when left out.
    blamed : Explanation or array-like of int, optional
        Statements to highlight, such as a conflict that `check` explains; they glow.
    max_leaves : int, optional
        Fold branches, lowest first, to triangles until at most this many leaves are drawn.
    max_names : int, optional
        How many names are written at most; by default as many as fit side by side. Up to six times as many leaves have
        every second, third and so on named; more have none, but the numbers of their clusters.
    max_arcs : int, default=150
        How many statements are drawn: the blamed first, then the broken, then some of the others, as the legend says.
    names, node_names : mapping of int to str, optional
        Names of clusters by label, written below their branches or in the legend, and of inner nodes by number,
        written beside them where there is room.
    title, ax : str and matplotlib Axes, optional
        Heading of the picture, and where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    **Cost** O(n log n); branches narrower than a pixel are drawn as one line, so 100,000 leaves take about a second.
    **Guarantee** never recurses; forests, many-way nodes and chains of any length are drawn. A cluster keeps its color
    in every picture.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Dendrogram
    >>> from linkwise.plots import plot_dendrogram
    >>> tree = Dendrogram.from_merges(4, np.array([[0, 1], [2, 3], [4, 5]]), np.array([1.0, 2.0, 5.0]))
    >>> ax = plot_dendrogram(tree, labels=[0, 0, 1, 1], ids=["otter", "mink", "seal", "walrus"])
    >>> [text.get_text() for text in ax.get_xticklabels()]
    ['otter', 'mink', 'seal', 'walrus']
    """
    ax = axes_for("plot_dendrogram", ax, (9.0, 5.0))
    if labels is None and dendrogram.marked is not None:
        labels = dendrogram.cut_marked()
    sketch = lay_out(dendrogram, labels, max_leaves=max_leaves)
    _draw_branches(ax, sketch)
    unwritten: dict[int, str] = {}
    if labels is not None:
        _draw_cut(ax, sketch)
        unwritten = _draw_strip(ax, sketch, names or {})
    drawn: list[Drawn] = []
    if constraints is not None:
        drawn = choose_drawn(constraints, broken_in(constraints, dendrogram, labels), blamed, max_arcs)
    for part in drawn:
        _draw_arcs(ax, sketch, part)
    if ids is None:
        ids = dendrogram.ids if dendrogram.ids is not None or constraints is None else constraints.ids
    named = _write_names(ax, sketch, ids, max_names)
    _write_legend(ax, drawn, named, 0 if labels is None else sketch.n_outside, unwritten)
    below = (
        _ARCS + _ARC_DEPTH * _deepest(sketch, drawn) + 0.02
        if drawn
        else _STRIP[1] + 0.01
        if labels is not None
        else 0.01
    )
    if node_names:
        _write_node_names(ax, sketch, node_names)
    ax.set_xlim(0, sketch.n_leaves)
    ax.set_ylim(-below * sketch.top, 1.05 * sketch.top)
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1.05 * sketch.top])
    ax.set_ylabel("height", loc="top")
    for side in ("top", "right", "bottom"):
        ax.spines[side].set_visible(False)
    ax.spines["left"].set_bounds(0, sketch.top)
    if title is not None:
        ax.set_title(title, loc="left", pad=24 if ax.get_legend() is not None and named else None, parse_math=False)
    return ax


def arcs_under(sketch: Sketch, pairs: IntArray, points: int = 33) -> FloatArray:
    """Return half ellipses below zero between the slots of ``pairs``; an arc across the whole picture has depth 1."""
    first, second = np.sort(sketch.slot[pairs] + 0.5, axis=1).T
    turn = np.linspace(0.0, np.pi, points)
    middle, half = (first + second) / 2, (second - first) / 2
    depth = np.sqrt(np.maximum(second - first, 0.2) / max(sketch.n_leaves, 1))
    x = middle[:, None] - half[:, None] * np.cos(turn)
    return np.stack([x, -depth[:, None] * np.sin(turn)], axis=-1)


def _deepest(sketch: Sketch, drawn: list[Drawn]) -> float:
    """Return the depth of the deepest arc, so that names are written directly below it."""
    spans = [np.abs(np.diff(sketch.slot[part.items[:, :2]], axis=1)).max(initial=0) for part in drawn]
    return float(np.sqrt(max([0.2, *spans]) / max(sketch.n_leaves, 1)))


def _draw_branches(ax: Any, sketch: Sketch) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    box = ax.get_window_extent()
    lines = draw_lines(sketch, pixels=(max(200, 2 * int(box.width)), max(200, 2 * int(box.height))))
    thick = 1.3 if sketch.n_leaves <= 300 else 0.8
    color = _colors(lines.cluster)
    ax.add_collection(LineCollection(list(lines.ends), colors=color, linewidths=thick, capstyle="projecting"))
    folded = np.flatnonzero(sketch.size[: sketch.n_leaves] > 1)
    if len(folded):
        left = sketch.start[folded]
        corners = np.empty((len(folded), 3, 2))
        corners[:, 0] = np.column_stack([left + 0.15, np.zeros(len(folded))])
        corners[:, 1] = np.column_stack([left + 0.85, np.zeros(len(folded))])
        corners[:, 2] = np.column_stack([sketch.x[folded], sketch.height[folded]])
        ax.add_collection(PolyCollection(list(corners), facecolors=_colors(sketch.cluster[folded]), alpha=0.55))


def _draw_cut(ax: Any, sketch: Sketch) -> None:
    """Draw one dashed line if a straight cut gives the clusters, else a cap on the stem of each cluster."""
    height = sketch.cut_height
    if height is not None:
        ax.axhline(height, color=INK, linewidth=0.9, linestyle=(0, (6, 4)), alpha=0.8, zorder=0)
        return
    tops = sketch.home_tops
    if (sketch.parent[tops] < 0).all() or len(tops) > 400:
        return  # the trees of the forest are the clusters: nothing to mark
    reach = np.clip(0.25 * sketch.width[tops], 0.004 * sketch.n_leaves, 0.02 * sketch.n_leaves)
    ax.hlines(
        sketch.height[tops] + 0.012 * sketch.top,
        sketch.x[tops] - reach,
        sketch.x[tops] + reach,
        colors=_colors(sketch.cluster[tops]),
        linewidth=3.0,
        capstyle="round",
    )


def _draw_strip(ax: Any, sketch: Sketch, names: Mapping[int, str]) -> dict[int, str]:
    """Color the ground under each cluster, and write its number, and its name, where there is room.

    Samples outside the branch of their cluster are hatched, and an arrow stands before the number. Names for which
    there is no room are returned.
    """
    from matplotlib.collections import PolyCollection

    high, low = (-share * sketch.top for share in _STRIP)
    runs = sketch.ground(2000)
    for at_home in (True, False):
        mine = [run for run in runs if run[3] == at_home]
        if not mine:
            continue
        corners = [[(left, low), (right, low), (right, high), (left, high)] for left, right, *_ in mine]
        look = {"edgecolors": "none"} if at_home else {"edgecolors": "white", "linewidths": 0.0, "hatch": _HATCH}
        ax.add_collection(PolyCollection(corners, facecolors=[cluster_color(run[2]) for run in mine], **look))
    style = {"fontsize": 7, "fontweight": "bold", "ha": "center", "va": "center"}
    unwritten = {label: readable(shorten(plain_text(name), 32)) for label, name in names.items()}
    letters = ax.get_window_extent().width * 72 / ax.figure.dpi / 4.4 / max(sketch.n_leaves, 1)  # for one leaf
    for left, right, cluster, at_home in runs:
        if right - left > (0.02 if at_home else 0.035) * sketch.n_leaves:
            ink = text_on(cluster_color(cluster))
            number = str(cluster) if at_home else f"→ {cluster}"
            if at_home and width_of(both := f"{number}  {unwritten.get(cluster, '')}") < letters * (right - left):
                number = both.rstrip()
                unwritten.pop(cluster, None)
            fonts = {"fontfamily": fonts_for([number]), "parse_math": False}
            ax.annotate(number, ((left + right) / 2, (low + high) / 2), color=ink, **style, **fonts)
    return unwritten


def _write_node_names(ax: Any, sketch: Sketch, names: Mapping[int, str]) -> None:
    """Write the names of inner nodes beside their stems, those of large branches first, where nothing else stands."""
    wide = ax.get_window_extent().width * 72 / ax.figure.dpi / max(sketch.n_leaves, 1)  # points for one leaf
    tall = ax.get_window_extent().height * 72 / ax.figure.dpi / (1.4 * sketch.top)
    inner = [v for v in range(sketch.n_leaves, len(sketch.node)) if int(sketch.node[v]) in names]
    taken: list[tuple[float, float, float]] = []
    for v in sorted(inner, key=lambda v: -int(sketch.size[v]))[:_MOST_NODE_NAMES]:
        word = readable(shorten(plain_text(names[int(sketch.node[v])]), 24))
        x, y, room = float(sketch.x[v]) * wide, float(sketch.height[v]) * tall, 4.0 * width_of(word) + 6
        if y < 9 or any(abs(y - other) < 9 and x < end and x + room > start for start, end, other in taken):
            continue
        taken.append((x, x + room, y))
        ax.annotate(
            word,
            (float(sketch.x[v]), float(sketch.height[v])),
            xytext=(3, 2),
            textcoords="offset points",
            fontsize=7,
            color=INK,
            fontfamily=fonts_for([word]),
            parse_math=False,
        )


def _draw_arcs(ax: Any, sketch: Sketch, part: Drawn) -> None:
    from matplotlib.collections import LineCollection

    if not len(part.items):
        return
    color, dashes, _ = ARC_STYLES[part.kind]
    pairs = part.items[:, :2]
    arcs = arcs_under(sketch, pairs)
    arcs[:, :, 1] = sketch.top * (_ARC_DEPTH * arcs[:, :, 1] - _ARCS)
    if part.blamed.any():
        glow = LineCollection(list(arcs[part.blamed]), colors=BLAMED, linewidths=BLAMED_WIDTH, alpha=0.7, zorder=1)
        ax.add_collection(glow)
    thick = np.where(part.broken, BROKEN_WIDTH, HELD_WIDTH)
    ax.add_collection(LineCollection(list(arcs), colors=color, linestyles=[dashes], linewidths=thick))
    ends = np.unique(sketch.slot[pairs]) + 0.5
    ax.plot(ends, np.full(len(ends), -_ARCS * sketch.top), ".", color=color, markersize=3)


def _write_legend(ax: Any, drawn: list[Drawn], named: bool, n_outside: int, names: Mapping[int, str]) -> None:
    """Write the legend under the picture, or above it if there are names under it."""
    from matplotlib.patches import Patch

    handles = legend_handles(drawn)
    for label in sorted(names)[:_MOST_IN_LEGEND]:
        handles.append(Patch(facecolor=cluster_color(label), label=f"{label}  {names[label]}"))
    if len(names) > _MOST_IN_LEGEND:
        handles.append(Patch(alpha=0, label=f"and {len(names) - _MOST_IN_LEGEND:,} more names"))
    if n_outside:
        words = f"outside the branch of the cluster ({n_outside:,})"
        handles.append(Patch(facecolor="#9ca3af", edgecolor="white", linewidth=0.0, hatch=_HATCH, label=words))
    if not handles:
        return
    width = ax.get_window_extent().width * 72 / ax.figure.dpi
    columns = int(np.clip((width if named else width - 90) // 150, 1, len(handles)))
    side = (
        {"loc": "lower right", "bbox_to_anchor": (1, 1)} if named else {"loc": "upper right", "bbox_to_anchor": (1, 0)}
    )
    ax.legend(handles=handles, ncols=columns, frameon=False, fontsize=8, borderaxespad=0.2, **side)


def _write_names(ax: Any, sketch: Sketch, ids: Any, max_names: int | None) -> bool:
    """Write as many names as fit, evenly thinned, and note that; return whether there are names under the leaves."""
    n, n_samples = sketch.n_leaves, len(sketch.slot)
    room = int(ax.get_window_extent().width * 72 / ax.figure.dpi / _NAME_WIDTH)
    room = room if max_names is None else min(room, max_names)
    if n > _THINNED * room:
        ax.set_xticks([])
        ax.set_xlabel(f"{n_samples:,} samples", loc="left")
        return False
    step = every(n, room)
    leaf_at = np.argsort(sketch.start[:n])[::step]
    shown = [
        name_of(ids, sample) if size == 1 else f"{size:,} samples"
        for sample, size in zip(sketch.node[leaf_at].tolist(), sketch.size[leaf_at].tolist(), strict=True)
    ]
    upright = len(shown) > 10 or max(map(len, shown), default=0) > 8
    ax.set_xticks(
        np.arange(0, n, step) + 0.5,
        shown,
        rotation=90 if upright else 0,
        fontsize=8,
        fontfamily=fonts_for(shown),
        parse_math=False,
    )
    ax.tick_params(axis="x", length=0)
    if step > 1:
        which = {2: "second", 3: "third"}.get(step, f"{step}th")
        ax.set_xlabel(f"{n_samples:,} samples, every {which} one named", loc="left", fontsize=8)
    return True


def _colors(clusters: IntArray) -> list[str]:
    known = {label: cluster_color(label) for label in np.unique(clusters).tolist()}
    return [known[label] for label in clusters.tolist()]
