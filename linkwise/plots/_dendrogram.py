"""A dendrogram as a picture: branches by cluster, the cut, and under the leaves what was said."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.constraints import Kind
from linkwise.plots._layout import Sketch, draw_lines, lay_out
from linkwise.plots._matplotlib import axes_for
from linkwise.plots._palette import APART, CLOSER, INK, TOGETHER, cluster_colour

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.result import Dendrogram

__all__ = ["ARC_STYLES", "arcs_under", "plot_dendrogram"]

# kind: (colour, matplotlib line style, words for the legend)
ARC_STYLES: dict[Kind, tuple[str, Any, str]] = {
    Kind.MUST_LINK: (TOGETHER, "solid", "must-link"),
    Kind.CANNOT_LINK: (APART, (0, (4, 2)), "cannot-link"),
    Kind.TRIPLET: (CLOSER, (0, (1, 1.5)), "triplet ab|c, a to b"),
}
_STRIP = (0.02, 0.06)  # band of cluster colours below the leaves, in shares of the tree's height
_ARCS = 0.08  # where arcs begin
_ARC_DEPTH = 0.28


def plot_dendrogram(
    dendrogram: Dendrogram,
    *,
    labels: Any = None,
    constraints: Constraints | None = None,
    ids: Any = None,
    max_leaves: int | None = None,
    max_names: int = 80,
    max_arcs: int = 150,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw a tree or forest with its clusters coloured, the cut marked and statements as arcs under the leaves.

    Parameters
    ----------
    dendrogram : Dendrogram
        What to draw. Heights are the monotone ones, so no branch points downwards.
    labels : array-like of shape (n_samples,), optional
        Cluster of every sample; the marked cut when left out and there is one.
    constraints : Constraints, optional
        Must-links are drawn as solid green arcs, cannot-links as dashed red ones, triplets as dotted violet ones; those
        that do not hold in the picture are drawn thick.
    ids : array-like of shape (n_samples,), optional
        Names of the samples; those of the dendrogram when left out.
    max_leaves : int, optional
        Fold branches, lowest first, to triangles until at most this many leaves are drawn.
    max_names : int, default=80
        Names are written when no more leaves than this are drawn.
    max_arcs : int, default=150
        With more statements than this no arcs are drawn: they would hide each other.
    title : str, optional
        Heading of the picture.
    ax : matplotlib Axes, optional
        Where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ImportError
        matplotlib is missing; ``pip install 'linkwise[plot]'`` brings it.

    See Also
    --------
    linkwise.report.write_report : The same picture in a page with everything else one wants to know.

    Notes
    -----
    **Cost** O(n log n); branches narrower than a pixel are drawn as one line, so 100,000 leaves take about a second.
    **Guarantee** never recurses; forests, many-way nodes and chains of any length are drawn. A cluster keeps its colour
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
    if labels is not None:
        _draw_cut(ax, sketch)
        _draw_strip(ax, sketch)
    arcs = constraints is not None and 0 < constraints.n_statements <= max_arcs
    if arcs and constraints is not None:
        _draw_arcs(ax, sketch, constraints, _broken(dendrogram, constraints, labels), sketch.n_leaves <= max_names)
    _write_names(ax, sketch, ids if ids is not None else dendrogram.ids, max_names)
    below = _ARCS + _ARC_DEPTH + 0.02 if arcs else _STRIP[1] + 0.01 if labels is not None else 0.01
    ax.set_xlim(0, sketch.n_leaves)
    ax.set_ylim(-below * sketch.top, 1.05 * sketch.top)
    ax.set_yticks([tick for tick in ax.get_yticks() if 0 <= tick <= 1.05 * sketch.top])
    ax.set_ylabel("height", loc="top")
    for side in ("top", "right", "bottom"):
        ax.spines[side].set_visible(False)
    ax.spines["left"].set_bounds(0, sketch.top)
    if title is not None:
        ax.set_title(title, loc="left")
    return ax


def arcs_under(sketch: Sketch, pairs: npt.NDArray[np.intp], points: int = 33) -> npt.NDArray[np.float64]:
    """Half ellipses below zero between the slots of ``pairs``; depth 1 is that of an arc across the whole picture."""
    first, second = np.sort(sketch.slot[pairs] + 0.5, axis=1).T
    turn = np.linspace(0.0, np.pi, points)
    middle, half = (first + second) / 2, (second - first) / 2
    depth = np.sqrt(np.maximum(second - first, 0.2) / max(sketch.n_leaves, 1))
    x = middle[:, None] - half[:, None] * np.cos(turn)
    return np.stack([x, -depth[:, None] * np.sin(turn)], axis=-1)


def _draw_branches(ax: Any, sketch: Sketch) -> None:
    from matplotlib.collections import LineCollection, PolyCollection

    box = ax.get_window_extent()
    lines = draw_lines(sketch, pixels=(max(200, 2 * int(box.width)), max(200, 2 * int(box.height))))
    thick = 1.3 if sketch.n_leaves <= 300 else 0.8
    colour = _colours(lines.cluster)
    ax.add_collection(LineCollection(list(lines.ends), colors=colour, linewidths=thick, capstyle="projecting"))
    folded = np.flatnonzero(sketch.size[: sketch.n_leaves] > 1)
    if len(folded):
        left = sketch.start[folded]
        corners = np.empty((len(folded), 3, 2))
        corners[:, 0] = np.column_stack([left + 0.15, np.zeros(len(folded))])
        corners[:, 1] = np.column_stack([left + 0.85, np.zeros(len(folded))])
        corners[:, 2] = np.column_stack([sketch.x[folded], sketch.height[folded]])
        ax.add_collection(PolyCollection(list(corners), facecolors=_colours(sketch.cluster[folded]), alpha=0.55))


def _draw_cut(ax: Any, sketch: Sketch) -> None:
    """One dashed line where a straight cut gives the clusters, else a cap on the stem of each cluster."""
    height = sketch.cut_height
    if height is not None:
        ax.axhline(height, color=INK, linewidth=0.9, linestyle=(0, (6, 4)), alpha=0.8, zorder=0)
        return
    tops = sketch.cluster_tops
    if (sketch.parent[tops] < 0).all() or len(tops) > 400:
        return  # the trees of the forest are the clusters: nothing to mark
    reach = np.clip(0.25 * sketch.width[tops], 0.004 * sketch.n_leaves, 0.02 * sketch.n_leaves)
    ax.hlines(
        sketch.height[tops] + 0.012 * sketch.top,
        sketch.x[tops] - reach,
        sketch.x[tops] + reach,
        colors=_colours(sketch.cluster[tops]),
        linewidth=3.0,
        capstyle="round",
    )


def _draw_strip(ax: Any, sketch: Sketch) -> None:
    """Colour the ground under each cluster, and write its number where there is room."""
    from matplotlib.collections import PolyCollection

    high, low = (-share * sketch.top for share in _STRIP)
    runs = sketch.ground(2000)
    corners = [[(left, low), (right, low), (right, high), (left, high)] for left, right, _ in runs]
    ax.add_collection(PolyCollection(corners, facecolors=[cluster_colour(c) for *_, c in runs], edgecolors="none"))
    style = {"color": "white", "fontsize": 7, "fontweight": "bold", "ha": "center", "va": "center"}
    for left, right, cluster in runs:
        if right - left > 0.02 * sketch.n_leaves:
            ax.annotate(str(cluster), ((left + right) / 2, (low + high) / 2), **style)


def _broken(dendrogram: Dendrogram, constraints: Constraints, labels: Any) -> npt.NDArray[np.bool_]:
    """Statements that do not hold: triplets in the tree, pairs in the labels (without labels no pair is judged)."""
    a, b, _ = constraints.items.T
    broken = ~dendrogram.satisfies(constraints)
    pair = constraints.kind <= Kind.CANNOT_LINK
    if labels is None:
        broken[constraints.kind != Kind.TRIPLET] = False
    else:
        together = np.asarray(labels)[a] == np.asarray(labels)[b]
        broken[pair] = (together != (constraints.kind == Kind.MUST_LINK))[pair]
    return broken


def _draw_arcs(ax: Any, sketch: Sketch, constraints: Constraints, broken: npt.NDArray[np.bool_], named: bool) -> None:
    from matplotlib.collections import LineCollection
    from matplotlib.lines import Line2D

    shown = []
    for kind, (colour, dashes, words) in ARC_STYLES.items():
        pairs = constraints.of(kind)[:, :2]
        if not len(pairs):
            continue
        bad = broken[constraints.kind == kind]
        arcs = arcs_under(sketch, pairs)
        arcs[:, :, 1] = sketch.top * (_ARC_DEPTH * arcs[:, :, 1] - _ARCS)
        ax.add_collection(
            LineCollection(list(arcs), colors=colour, linestyles=[dashes], linewidths=np.where(bad, 2.2, 0.9))
        )
        ends = np.unique(sketch.slot[pairs]) + 0.5
        ax.plot(ends, np.full(len(ends), -_ARCS * sketch.top), ".", color=colour, markersize=3)
        worded = f", thick: {int(bad.sum())} broken" if bad.any() else ""
        shown.append(Line2D([], [], color=colour, linestyle=dashes, label=f"{words} ({len(pairs)}{worded})"))
    # under the picture beside the number of samples, or, where names stand there, above it beside the title
    place = (
        {"loc": "lower right", "bbox_to_anchor": (1, 1)} if named else {"loc": "upper right", "bbox_to_anchor": (1, 0)}
    )
    ax.legend(handles=shown, ncols=len(shown), frameon=False, fontsize=8, **place)


def _write_names(ax: Any, sketch: Sketch, ids: Any, max_names: int) -> None:
    if sketch.n_leaves > max_names:
        ax.set_xticks([])
        ax.set_xlabel(f"{len(sketch.slot):,} samples", loc="left")
        return
    names = [str(value) for value in (range(len(sketch.slot)) if ids is None else np.asarray(ids).tolist())]
    leaf_at = np.argsort(sketch.start[: sketch.n_leaves])
    sizes = sketch.size[leaf_at].tolist()
    shown = [
        names[sample] if size == 1 else f"{size} samples"
        for sample, size in zip(sketch.node[leaf_at].tolist(), sizes, strict=True)
    ]
    short = [name if len(name) <= 24 else name[:23] + "…" for name in shown]
    upright = sketch.n_leaves > 10 or max(map(len, short), default=0) > 12
    ax.set_xticks(np.arange(sketch.n_leaves) + 0.5, short, rotation=90 if upright else 0, fontsize=8)
    ax.tick_params(axis="x", length=0)


def _colours(clusters: npt.NDArray[np.intp]) -> list[str]:
    known = {label: cluster_colour(label) for label in np.unique(clusters).tolist()}
    return [known[label] for label in clusters.tolist()]
