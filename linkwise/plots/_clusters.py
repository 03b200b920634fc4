"""The samples in the plane, coloured by cluster, with what was said drawn between them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise.constraints import Kind
from linkwise.plots._dendrogram import ARC_STYLES
from linkwise.plots._matplotlib import axes_for
from linkwise.plots._palette import cluster_colour

if TYPE_CHECKING:
    from linkwise.constraints import Constraints

__all__ = ["plot_clusters"]


def plot_clusters(
    X: Any,
    labels: Any,
    constraints: Constraints | None = None,
    *,
    max_lines: int = 500,
    title: str | None = None,
    ax: Any = None,
) -> Any:
    """Draw the samples along their two widest directions, coloured by cluster.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        The samples. Two features are drawn as they are, more through their two first principal components.
    labels : array-like of shape (n_samples,)
        Cluster of every sample.
    constraints : Constraints, optional
        Must-links become solid green lines, cannot-links dashed red ones.
    max_lines : int, default=500
        With more pairs than this no lines are drawn.
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

    Notes
    -----
    **Cost** a singular value decomposition of X, O(n d min(n, d)).
    **Guarantee** distances in the picture are those of the projection, never larger than the real ones.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise.plots import plot_clusters
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [9.0, 9.0]])
    >>> plot_clusters(X, [0, 0, 1]).get_xlabel()
    'feature 0'
    """
    ax = axes_for("plot_clusters", ax, (6.0, 5.0))
    points, names = _plane(X)
    clusters = np.asarray(labels)
    if clusters.shape != (len(points),):
        msg = f"labels has shape {clusters.shape}, expected one label for each of the {len(points)} samples."
        raise ValueError(msg)
    if constraints is not None and 0 < constraints.n_statements <= max_lines:
        _draw_pairs(ax, points, constraints)
    dot = float(np.clip(6000 / max(len(points), 1), 2, 36))
    kinds = np.unique(clusters).tolist()
    for label in kinds:
        member = clusters == label
        colour = cluster_colour(int(label))
        ax.scatter(
            *points[member].T, s=dot, color=colour, edgecolors="white", linewidths=dot / 90, label=f"cluster {label}"
        )
    if len(kinds) <= 12:
        ax.legend(frameon=False, fontsize=8)
    ax.set_xlabel(names[0])
    ax.set_ylabel(names[1])
    ax.spines[["top", "right"]].set_visible(False)
    if title is not None:
        ax.set_title(title, loc="left")
    return ax


def _plane(X: Any) -> tuple[npt.NDArray[np.float64], tuple[str, str]]:
    """Two coordinates per sample and what they are called."""
    table = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    if table.ndim != 2 or table.shape[1] == 0 or not np.isfinite(table).all():
        msg = f"X has shape {table.shape}, expected finite numbers of shape (n_samples, n_features)."
        raise ValueError(msg)
    if table.shape[1] == 1:
        return np.column_stack([table[:, 0], np.zeros(len(table))]), ("feature 0", "")
    if table.shape[1] == 2 or len(table) < 2:
        return table[:, :2], ("feature 0", "feature 1")
    _, spread, directions = np.linalg.svd(table - table.mean(axis=0), full_matrices=False)
    strongest = np.abs(directions[:2]).argmax(axis=1)
    directions = (
        directions[:2] * np.sign(directions[[0, 1], strongest])[:, None]
    )  # a sign that does not flip between runs
    share = spread[:2] ** 2 / max(float((spread**2).sum()), np.finfo(float).tiny)
    places = (table - table.mean(axis=0)) @ directions.T
    return places, (f"component 1 ({share[0]:.0%} of the variance)", f"component 2 ({share[1]:.0%})")


def _draw_pairs(ax: Any, points: npt.NDArray[np.float64], constraints: Constraints) -> None:
    from matplotlib.collections import LineCollection

    for kind in (Kind.MUST_LINK, Kind.CANNOT_LINK):
        colour, dashes, _ = ARC_STYLES[kind]
        pairs = constraints.of(kind)
        if len(pairs):
            lines = LineCollection(
                list(points[pairs]), colors=colour, linestyles=[dashes], linewidths=0.8, alpha=0.6, zorder=0
            )
            ax.add_collection(lines)
