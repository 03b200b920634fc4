"""The number of clusters of a hierarchy when nobody says: by what was held out, or by the steps of its heights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from linkwise.choosing._auto import cluster_grid, explain, search_among, too_little
from linkwise.constraints import Constraints, Kind
from linkwise.engines.hierarchical._hierarchy import mark
from linkwise.result import Certificate, Dendrogram, verify

__all__ = ["Cut", "cut_by_steps", "decide_cut"]

IntArray = npt.NDArray[np.intp]


class Cut(NamedTuple):
    """Clusters of a tree, and why so many."""

    labels: IntArray
    tree: Dendrogram
    certificate: Certificate
    reason: str


def cut_by_steps(model: Any, X: Any, metric: Any) -> Cut:
    """Cut a hierarchy that was fitted without a number of clusters: where statements force it, else where heights step.

    A number of clusters is taken only if everything said holds in it.
    """
    tree, known = model.dendrogram_, model.constraints_
    if model.n_clusters_ > 1:
        reason = f"{model.n_clusters_} clusters: the fewest the statements leave to this method."
        return Cut(model.labels_, tree, model.certificate_, reason)
    for labels, cut in _by_steps(tree, known):
        checked = verify(cut, known, X=X if known.rules else None, metric=metric)
        if checked.ok:
            return Cut(
                labels, cut, checked, f"{int(labels.max()) + 1} clusters: the largest step in the heights of the tree."
            )
    reason = "1 cluster: no step in the heights of the tree gives clusters in which all statements hold."
    return Cut(model.labels_, tree, model.certificate_, reason)


def _by_steps(tree: Dendrogram, known: Constraints) -> Iterator[tuple[IntArray, Dendrogram]]:
    """Cut into 2 to 20 clusters, first where the height of the tree makes its largest step."""
    heights = np.sort(tree.height[tree.n_samples :])[::-1]
    heights = heights[heights > 0]  # what is together at height 0 stays together
    steps = heights[:19] / np.append(heights[1:20], heights[-1:])[: len(heights[:19])]
    for k in (np.argsort(-steps, kind="stable") + 2).tolist():
        labels = tree.cut_constrained(known, k) if (known.kind == Kind.TRIPLET).any() else tree.cut(n_clusters=k)
        yield labels, mark(tree, labels)


def decide_cut(estimator: Any, linkages: Sequence[str], X: Any, known: Constraints) -> tuple[int, str, tuple[str, ...]]:
    """Choose linkage and number of clusters of one hierarchical method, with the reasons.

    By what was held out if enough is known, else with the first linkage by the steps of the heights.
    """
    reasons: list[str] = []
    linkage = linkages[0]
    lack = too_little(known)
    if lack:
        reasons.append(f"{lack}, so the number of clusters is not judged by it.")
    else:
        methods = [(estimator, {"linkage": list(linkages), **cluster_grid(X, known)})]
        search = search_among(methods, X, known, 0)
        reasons += explain(search, methods)
        linkage = search.best_params_["linkage"]
        if search.best_params_["n_clusters"] is not None:
            return int(search.best_params_["n_clusters"]), linkage, tuple(reasons)
    model = clone(estimator).set_params(n_clusters=None, linkage=linkage).fit(X, constraints=known)
    cut = cut_by_steps(model, X, "euclidean")
    return int(cut.labels.max()) + 1, linkage, (*reasons, cut.reason)
