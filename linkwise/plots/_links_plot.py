"""Plot of samples in the plane, colored by cluster, with statements as lines between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._typing import FloatArray
from linkwise.constraints import Kind
from linkwise.plots._captions import Note, name_of, write_apart
from linkwise.plots._plane import to_plane
from linkwise.plots._style import (
    ARC_STYLES,
    BLAMED,
    BLAMED_WIDTH,
    BROKEN_WIDTH,
    HELD_WIDTH,
    Drawn,
    axes_for,
    broken_in,
    choose_drawn,
    cluster_color,
    legend_handles,
)

if TYPE_CHECKING:
    from linkwise.constraints import Constraints

_MOST_NAMES = 60
_FEW_SAMPLES = 300
# offsets for the number of a small cluster, in points from its middle
_BESIDE = tuple((x * far, y * far) for far in (7.0, 14.0, 22.0) for x, y in ((1, 1), (-1, 1), (1, -1), (-1, -1)))


def plot_links(
    X: Any,
    constraints: Constraints | None,
    *,
    labels: Any = None,
    tree: Any = None,
    ids: Any = None,
    blamed: Any = None,
    max_lines: int = 300,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the samples in the plane and the statements as lines between them.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Two features are drawn as they are, more through their two first principal components; sparse rows through a
        truncated singular value decomposition.
    constraints : Constraints or None
        Must-links become solid green lines, cannot-links dashed red ones; a triplet ab|c a violet line from a to b with
        a dotted branch to c.
    labels : array-like of shape (n_samples,), optional
        Cluster of every sample; gives the colors and decides which pairs are broken and drawn thick.
    tree : Dendrogram, optional
        Decides which triplets are broken.
    ids : array-like of shape (n_samples,), optional
        Names of the samples, written where there is room: of up to 60 samples all, of up to 300 those that statements
        name, of more those in blamed and broken ones.
    blamed : Explanation or array-like of int, optional
        Statements to highlight, such as a conflict that `check` explains; they glow.
    max_lines : int, default=300
        How many statements are drawn: the blamed first, then the broken, then some of the others, as the legend says.
    title, ax : str and matplotlib Axes, optional
        Heading of the picture, and where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    **Cost** O(n d^2) for up to 400 features, beyond and for sparse rows a few dozen products with X.
    **Guarantee** distances in the picture are those of the projection, never larger than the real ones.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.plots import plot_links
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0]])
    >>> ax = plot_links(X, Constraints.build(3, must_link=[(0, 1)], cannot_link=[(1, 2)]))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['must-link (1)', 'cannot-link (1)']
    """
    ax = axes_for("plot_links", ax, (7.0, 5.6))
    points, axis_names = to_plane(X)
    drawn: list[Drawn] = []
    if constraints is not None:
        drawn = choose_drawn(constraints, broken_in(constraints, tree, labels), blamed, max_lines)
    for part in drawn:
        _draw_lines(ax, points, part)
    _draw_points(ax, points, labels)
    ax.set_xlabel(axis_names[0])
    ax.set_ylabel(axis_names[1])
    ax.margins(0.06)
    ax.spines[["top", "right"]].set_visible(False)
    handles = legend_handles(drawn)
    if handles:
        ax.legend(
            handles=handles,
            ncols=min(3, len(handles)),
            frameon=False,
            fontsize=8,
            loc="lower left",
            bbox_to_anchor=(0, 1),
            borderaxespad=0.2,
        )
    if title is not None:
        rows = -(-len(handles) // 3)
        ax.set_title(title, loc="left", pad=6 + 15 * rows, parse_math=False)
    if ids is None and constraints is not None:
        ids = constraints.ids
    named = _worth_naming(len(points), drawn)
    notes = [Note(points[s], name_of(ids, s, 20)) for s in named] if ids is not None else []
    write_apart(ax, [*_cluster_numbers(points, labels), *notes], avoid=points)
    return ax


def plot_clusters(
    X: Any,
    labels: Any,
    constraints: Constraints | None = None,
    *,
    max_lines: int = 300,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the samples along their two widest directions, colored by cluster.

    Parameters
    ----------
    X, labels, constraints, max_lines, title, ax
        As in `plot_links`, which also writes names and highlights blamed statements.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise.plots import plot_clusters
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0]])
    >>> plot_clusters(X, [0, 0, 1]).get_xlabel()
    'feature 0'
    """
    return plot_links(X, constraints, labels=labels, max_lines=max_lines, title=title, ax=ax)


def _worth_naming(n: int, drawn: list[Drawn]) -> list[int]:
    """Return samples to name, in order: those in blamed or broken statements, then, of few samples, the others."""
    order: list[int] = []
    for urgent in (True, False) if n <= _FEW_SAMPLES else (True,):
        for part in drawn:
            order += part.items[(part.blamed | part.broken) == urgent].ravel().tolist()
    found = list(dict.fromkeys(order))
    if n <= _MOST_NAMES:
        found = list(dict.fromkeys([*found, *range(n)]))
    return found[: 3 * _MOST_NAMES]


def _cluster_numbers(points: FloatArray, labels: Any) -> list[Note]:
    if labels is None:
        return []
    clusters = np.asarray(labels)
    kinds, sizes = np.unique(clusters, return_counts=True)
    if not 1 < len(kinds) <= 60 or sizes.max() < 5:
        return []
    largest_first = kinds[np.argsort(-sizes, kind="stable")].tolist()
    notes = []
    for label in largest_first:
        members = points[clusters == label]
        # among many points a number stands out on them; on one of a few it would hide the sample
        beside = len(members) <= 3 or len(points) <= _MOST_NAMES
        notes.append(Note(np.median(members, axis=0), str(label), _BESIDE if beside else ((0.0, 0.0),), 10.0, True))
    return notes


def _draw_points(ax: Any, points: FloatArray, labels: Any) -> None:
    """Draw all points at once in random order, so that no cluster hides another."""
    n = len(points)
    dot = float(np.clip(6000 / max(n, 1), 1.5, 36))
    clusters = np.full(n, -1) if labels is None else np.asarray(labels)
    if clusters.shape != (n,):
        msg = f"labels has shape {clusters.shape}, expected one label for each of the {n} samples."
        raise ValueError(msg)
    kinds, which = np.unique(clusters, return_inverse=True)
    colors = np.array([cluster_color(int(label)) for label in kinds.tolist()], dtype=object)
    order = np.random.default_rng(0).permutation(n)
    ax.scatter(
        points[order, 0],
        points[order, 1],
        s=dot,
        c=colors[which.ravel()[order]].tolist(),
        edgecolors="white" if n <= 2000 else "none",
        linewidths=dot / 90,
        alpha=1.0 if n <= 5000 else 0.6,
        rasterized=n > 5000,
        zorder=3 if n <= 300 else 1,
    )


def _draw_lines(ax: Any, points: FloatArray, part: Drawn) -> None:
    from matplotlib.collections import LineCollection

    if not len(part.items):
        return
    color, dashes, _ = ARC_STYLES[part.kind]
    pairs = points[part.items[:, :2]]
    thick = np.where(part.broken, BROKEN_WIDTH, HELD_WIDTH)
    faint = np.where(part.broken | part.blamed, 1.0, np.clip(60 / len(pairs), 0.25, 1.0))  # or they hide the samples
    if part.blamed.any():
        ax.add_collection(
            LineCollection(list(pairs[part.blamed]), colors=BLAMED, linewidths=BLAMED_WIDTH, alpha=0.7, zorder=1.5)
        )
    triplet = part.kind is Kind.TRIPLET
    ax.add_collection(
        LineCollection(
            list(pairs),
            colors=color,
            linestyles=["solid" if triplet else dashes],
            linewidths=thick,
            alpha=faint * 0.75,
            zorder=2,
        )
    )
    if triplet:
        away = np.stack([pairs.mean(axis=1), points[part.items[:, 2]]], axis=1)
        ax.add_collection(
            LineCollection(list(away), colors=color, linestyles=[dashes], linewidths=thick, alpha=faint * 0.6, zorder=2)
        )
