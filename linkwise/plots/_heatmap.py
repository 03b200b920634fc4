"""Plot of data or distances as a colored table, with rows in the order of the tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import FloatArray, IntArray
from linkwise.exceptions import LinkwiseError
from linkwise.plots._captions import every, fonts_for, name_of
from linkwise.plots._style import axes_for, cluster_color, text_on
from linkwise.plots._tree_layout import lay_out

if TYPE_CHECKING:
    from linkwise.result import Dendrogram

_MOST_ROWS = 1200  # more rows than pixels are averaged, or of distances some are shown
_MOST_FEATURES = 60


def plot_heatmap(
    X: Any,
    dendrogram: Dendrogram,
    *,
    labels: Any = None,
    ids: Any = None,
    features: Any = None,
    distances: bool = False,
    metric: str = "euclidean",
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the data, or the distances between samples, with rows in the order of the tree and clusters beside them.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        The samples; square dissimilarities with ``metric="precomputed"``.
    dendrogram : Dendrogram
        Gives the order from top to bottom, the same as `plot_dendrogram` draws from left to right.
    labels : array-like of shape (n_samples,), optional
        Cluster of every sample, drawn as a band at the side; the marked cut when left out and there is one.
    ids, features : array-like, optional
        Names of samples and features; they are thinned and shortened to fit.
    distances : bool, default=False
        Draw the distances of samples instead of their features.
    metric : str, default="euclidean"
        How samples are compared, a name SciPy knows; ``"precomputed"`` if X holds the distances.
    title, ax : str and matplotlib Axes, optional
        Heading of the picture, and where to draw; a new figure when left out.

    Returns
    -------
    matplotlib Axes

    Notes
    -----
    Features are standardized (mean 0, deviation 1) and colors end at three deviations, so that one scale fits all. Of
    more than 60 features those are drawn whose means differ most between clusters; of more than 1,200 samples
    neighboring rows are averaged, and of their distances every second, third and so on is drawn. The axes say so.

    **Cost** O(n d); for distances at most 1,200 samples are compared.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Dendrogram
    >>> from linkwise.plots import plot_heatmap
    >>> tree = Dendrogram.from_merges(3, [(0, 2), (1, 3)], [1.0, 5.0])
    >>> ax = plot_heatmap(np.array([[0.0, 1.0], [9.0, 8.0], [1.0, 0.0]]), tree, ids=["a", "b", "c"])
    >>> [text.get_text() for text in ax.get_yticklabels()]
    ['b', 'a', 'c']
    """
    ax = axes_for("plot_heatmap", ax, (7.0, 5.6))
    n = dendrogram.n_samples
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != n:
        msg = f"plot_heatmap: X has {rows:,} rows, but the tree has {n:,} samples."
        raise LinkwiseError(msg)
    if labels is None and dendrogram.marked is not None:
        labels = dendrogram.cut_marked()
    order = np.argsort(lay_out(dendrogram).slot)
    scale: dict[str, Any]
    if distances or metric == "precomputed":
        shown = order[:: every(n, _MOST_ROWS)]
        image, scale, across = _compare(X, shown, metric), {"cmap": "viridis"}, None
        per_row = 1
    else:
        columns = _telling(X, labels)
        per_row, shown = every(n, _MOST_ROWS), order
        image, across = _averaged(_standardized(X, columns)[order], per_row), columns
        scale = {"cmap": "RdBu_r", "vmin": -3, "vmax": 3}
    count = len(image)
    picture = ax.imshow(image, aspect="auto", interpolation="nearest", **scale)
    _write_rows(ax, shown[::per_row], ids if ids is not None else dendrogram.ids, count, n, across is None, per_row)
    if across is not None:
        _write_columns(ax, across, features, X.shape[1] if hasattr(X, "shape") else len(X[0]))
    else:
        ax.set_xticks([])
        ax.set_xlabel("the same samples")
    ax.tick_params(length=0)
    if labels is not None:
        _draw_band(ax, np.asarray(labels)[shown[::per_row]])
        ax.tick_params(axis="y", pad=4 + 0.025 * _points(ax)[0])
        ax.yaxis.labelpad = 6 + 0.025 * _points(ax)[0]
    ax.spines[:].set_visible(False)
    bar = ax.figure.colorbar(picture, ax=ax, shrink=0.6, pad=0.02)
    bar.outline.set_visible(False)
    bar.set_label("distance" if across is None else "standard deviations from the mean", fontsize=8)
    bar.ax.tick_params(labelsize=8)
    if title is not None:
        ax.set_title(title, loc="left", parse_math=False)
    return ax


def _compare(X: Any, shown: IntArray, metric: str) -> FloatArray:
    if metric == "precomputed":
        return np.asarray(X[np.ix_(shown, shown)] if hasattr(X, "shape") else np.asarray(X)[np.ix_(shown, shown)])
    from scipy.spatial.distance import cdist

    rows = X.tocsr()[shown].toarray() if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)[shown]
    return np.asarray(cdist(rows, rows, metric))


def _telling(X: Any, labels: Any) -> IntArray:
    """Return all features if they are few, else those whose means differ most between clusters, in their order."""
    d = X.shape[1] if hasattr(X, "shape") else len(X[0])
    if d <= _MOST_FEATURES:
        return np.arange(d)
    table: Any = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
    groups = np.zeros(table.shape[0], dtype=np.intp) if labels is None else np.unique(labels, return_inverse=True)[1]
    means = np.array([np.asarray(table[groups == g].mean(axis=0)).ravel() for g in range(int(groups.max()) + 1)])
    overall = np.asarray(table.mean(axis=0)).ravel()
    square = np.asarray(table.multiply(table).mean(axis=0)).ravel() if hasattr(table, "tocsr") else (table**2).mean(0)
    spread = np.maximum(square - overall**2, 0.0)
    apart = np.bincount(groups) @ (means - overall) ** 2 / len(groups)
    worth = apart / np.maximum(spread, np.finfo(float).tiny) if len(means) > 1 else spread
    return np.sort(np.argsort(-worth, kind="stable")[:_MOST_FEATURES])


def _standardized(X: Any, columns: IntArray) -> FloatArray:
    if hasattr(X, "tocsr"):
        table = X.tocsc()[:, columns].toarray().astype(np.float64)
    else:
        table = np.asarray(X, dtype=np.float64)[:, columns]
    spread = table.std(axis=0)
    return np.asarray((table - table.mean(axis=0)) / np.where(spread > 0, spread, 1.0))


def _averaged(table: FloatArray, per_row: int) -> FloatArray:
    if per_row == 1:
        return table
    start = np.arange(0, len(table), per_row)
    size = np.diff(np.append(start, len(table)))
    return np.asarray(np.add.reduceat(table, start, axis=0) / size[:, None])


def _points(ax: Any) -> tuple[float, float]:
    box = ax.get_window_extent()
    return box.width * 72 / ax.figure.dpi, box.height * 72 / ax.figure.dpi


def _write_rows(ax: Any, first: IntArray, ids: Any, count: int, n: int, sampled: bool, per_row: int) -> None:
    room = int(_points(ax)[1] / 10)
    if count > 6 * room:
        ax.set_yticks([])
        if sampled and count < n:
            ax.set_ylabel(f"{count:,} of {n:,} samples, in the order of the tree")
        else:
            averaged = f", {per_row} to a line" if per_row > 1 else ""
            ax.set_ylabel(f"{n:,} samples in the order of the tree{averaged}")
        return
    step = every(count, room)
    names = [name_of(ids, s, 22) for s in first[::step].tolist()]
    style = {"fontsize": 7, "fontfamily": fonts_for(names), "parse_math": False}
    ax.set_yticks(np.arange(0, count, step), names, **style)


def _write_columns(ax: Any, columns: IntArray, features: Any, n_features: int) -> None:
    room = int(_points(ax)[0] * 0.85 / 11)
    step = every(len(columns), room)
    names = [name_of(features, c, 20) for c in columns[::step].tolist()]
    upright = sum(len(name) + 2 for name in names) * 5 > 0.85 * _points(ax)[0]
    style = {"fontsize": 7, "fontfamily": fonts_for(names), "parse_math": False}
    ax.set_xticks(np.arange(0, len(columns), step), names, rotation=90 if upright else 0, **style)
    some = "" if len(columns) == n_features else f"{len(columns)} of {n_features:,} features, those that differ most"
    ax.set_xlabel(some or ("features" if features is None else ""))


def _draw_band(ax: Any, labels: npt.NDArray[Any]) -> None:
    """Draw a band of cluster colors at the left edge, with numbers where there is room."""
    from matplotlib.collections import PolyCollection

    first = np.flatnonzero(np.r_[True, labels[1:] != labels[:-1]])
    stop = np.r_[first[1:], len(labels)]
    colors = [cluster_color(int(label)) for label in labels[first].tolist()]
    left, right = -0.025, -0.006
    corners = [
        [(left, a - 0.5), (right, a - 0.5), (right, b - 0.5), (left, b - 0.5)]
        for a, b in zip(first.tolist(), stop.tolist(), strict=True)
    ]
    band = PolyCollection(corners, facecolors=colors, transform=ax.get_yaxis_transform(), clip_on=False)
    ax.add_collection(band, autolim=False)
    for a, b, label in zip(first.tolist(), stop.tolist(), labels[first].tolist(), strict=True):
        if b - a > 0.03 * len(labels):
            ax.text(
                (left + right) / 2,
                (a + b - 1) / 2,
                str(label),
                transform=ax.get_yaxis_transform(),
                color=text_on(cluster_color(int(label))),
                fontsize=7,
                fontweight="bold",
                ha="center",
                va="center",
            )
