"""`HACoc`: greedy merging of pairs that break no triplet while there are any, then of those that break fewest."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from linkwise._memory import require_memory
from linkwise._typing import FloatArray, IntArray
from linkwise.engines import current_progress
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY, LINKAGES
from linkwise.engines.hierarchical.ultrametric._base import (
    Comparisons,
    Triplets,
    _BestEffortTriplets,
    distances_of,
)
from linkwise.engines.hierarchical.ultrametric._kernels_hacoc import State, _advance
from linkwise.problem import Problem
from linkwise.result import Dendrogram


def _make_state(D: FloatArray, compared: Comparisons) -> State:
    n, m = len(D), len(compared.a)
    involved, trio = np.unique(np.column_stack(compared[:3]), return_inverse=True)
    trio = np.ascontiguousarray(trio.reshape(m, 3), dtype=np.intp)
    q = len(involved)
    require_memory(q * q * 4, f"a table of {q} x {q} pairs that triplets are about", "ReCon needs no such table.")
    breaks = np.zeros((q, q), np.int32)
    np.add.at(breaks, (trio[:, 0], trio[:, 2]), 1)
    np.add.at(breaks, (trio[:, 2], trio[:, 0]), 1)
    item = np.full(n, -1, np.intp)
    item[involved] = np.arange(q)
    order = np.argsort(trio.ravel(), kind="stable")  # places by item
    edge = np.searchsorted(trio.ravel()[order], np.arange(q + 1))
    after = np.full(3 * m, -1, np.intp)
    after[order[:-1]] = order[1:]
    after[order[edge[1:] - 1]] = -1
    return State(
        D=D,
        size=np.ones(n),
        node=np.arange(n),
        near=np.full(n, -1, np.intp),
        gap=np.full(n, np.inf),
        item=item,
        breaks=breaks,
        trio=trio,
        live=np.ones(m, np.bool_),
        first=order[edge[:-1]].astype(np.intp),
        last=order[edge[1:] - 1].astype(np.intp),
        length=np.diff(edge).astype(np.intp),
        after=after,
        pairs=np.empty((n - 1, 2), np.intp),
        height=np.empty(n - 1),
        done=np.zeros(1, np.intp),
    )


def hacoc(
    problem: Problem, *, method: str = "average", anchor: IntArray | None = None, closure: bool = False
) -> Dendrogram:
    """Build the tree of `HACoc`."""
    code, n = LINKAGES[method], problem.n_samples
    D = distances_of(problem).square()
    if code in EUCLIDEAN_ONLY:
        np.square(D, out=D)
    state = _make_state(D, Comparisons.of(Triplets.of(problem), anchor, closure=closure))
    progress = current_progress()
    while state.done[0] < n - 1:
        _advance(state, code, max(1, 50_000_000 // n))
        if progress is not None:
            progress(int(state.done[0]), n - 1)
    height = np.sqrt(np.maximum(state.height, 0.0)) if code in EUCLIDEAN_ONLY else state.height
    return Dendrogram.from_merges(n, state.pairs, height, ids=problem.constraints.ids)


class HACoc(_BestEffortTriplets):
    """Merge closest clusters first among those whose merge breaks no triplet right away; a baseline.

    No triplet is guaranteed: a tree that breaks some is returned, with a warning. ``satisfied_`` is the share kept.

    Parameters
    ----------
    closure : bool, default=False
        Whether comparisons that follow from others by the order of distances count as well (`close_comparisons`).

    Attributes
    ----------
    dendrogram_ : Dendrogram
        The tree, with the clusters of ``labels_`` marked. ``raw_height`` holds the distances at which clusters merged,
        which need not rise; ``height`` does.

    See Also
    --------
    ReCon : looks far enough ahead that every triplet holds.

    Notes
    -----
    A merge breaks ab|c when it puts c with a or with b while those two are apart; with ``anchors`` only when it puts c
    with the anchor, so that b and c may meet first. When every merge left breaks a triplet, the one that breaks the
    fewest is made, the closest among equals.

    **Cost** one matrix of distances and one of the samples that triplets name; O(n^2) time mostly, O(n^3) at worst.
    **Guarantee** none about triplets: it looks one merge ahead, and of random consistent triplets about a quarter of
    small inputs end where `ReCon` would not. Triplets that contradict each other are an error when hard; soft ones are
    repaired, with a warning.
    **Departure from** [1]_ unknown: we had no access to it, and [2]_, which uses it as a baseline, names it and gives
    no rule. The rule here may be another one.

    References
    ----------
    .. [1] H. Zhao, Z. Qi, "Hierarchical Agglomerative Clustering with Ordering Constraints", WKDD 2010.
    .. [2] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import HACoc
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> model = HACoc().fit(X, constraints=Constraints.build(4, triplets=[(0, 2, 1)]))
    >>> model.satisfied_
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"closure": ["boolean"]}
    _added_parameters: ClassVar[dict[str, Any]] = {"closure": False}

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "average",
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
        anchors: Any = None,
        closure: bool = False,
        conflicts: str = "raise",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, linkage=linkage, metric=metric, distance_threshold=distance_threshold)
        self.anchors = anchors
        self.closure = closure
        self.conflicts = conflicts
        self.random_state = random_state

    def _solve(self, problem: Problem) -> Dendrogram:
        return hacoc(problem, method=self.linkage, anchor=self._anchors(problem), closure=self.closure)
