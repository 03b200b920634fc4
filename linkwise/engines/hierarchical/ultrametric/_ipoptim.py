"""`IPoptim`: distances moved as little as triplets ask, then agglomeration by the moved distances."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import Interval, StrOptions
from linkwise._kernels.lca import prepare, query_many, splits_off
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines import REPORTED, Kept, current_progress
from linkwise.engines.agglomeration import Merges, merge_all
from linkwise.engines.hierarchical.ultrametric._base import (
    INVERSES,
    Comparisons,
    Triplets,
    _BestEffortTriplets,
    distances_of,
    read_pair_weights,
    weigh_pairs,
)
from linkwise.engines.hierarchical.ultrametric._projection import Named, distances_named, gaps, name_pairs, project
from linkwise.problem import Problem
from linkwise.result import Dendrogram

# Linkages whose merge heights are an ultrametric and which need no vectors.
METHODS = ("single", "complete", "average", "weighted")
ENFORCE = ("once", "joint")
NORMS = ("l2", "l1")


def ipoptim(
    problem: Problem,
    *,
    method: str = "average",
    margin: float = 1e-3,
    norm: str = "l2",
    enforce: str = "once",
    max_rounds: int = 20,
    anchor: IntArray | None = None,
    pair_weight: Any = None,
) -> tuple[Dendrogram, int]:
    """Build the tree of `IPoptim`; return it with the number of agglomerations made."""
    distances, triplets, n = distances_of(problem), Triplets.of(problem), problem.n_samples
    ids = problem.constraints.ids
    if not len(triplets.a):
        merges = merge_all(distances.source, method=method, metric=distances.metric, progress=current_progress())
        return Dendrogram.from_merges(n, merges.pairs, merges.height, ids=ids), 1
    named = name_pairs(n, Comparisons.of(triplets, anchor))
    before = distances_named(distances, named)
    gap = gaps(named, before, margin)
    weights = weigh_pairs(read_pair_weights(pair_weight, n, who=problem.who), named.pairs, before, who=problem.who)

    def attempt(gap: FloatArray) -> tuple[Merges, BoolArray, FloatArray]:
        moved = named.pairs, project(named, before, gap, norm=norm, weight=weights)
        merges = merge_all(
            distances.source, method=method, metric=distances.metric, moved=moved, progress=current_progress()
        )
        return merges, *_judge(n, merges.pairs, merges.height, triplets)

    merges, held, miss = attempt(gap)
    best, most, rounds = merges, held.sum(), 1
    while enforce == "joint" and not held.all() and rounds < max_rounds:
        rounds += 1
        gap = _widen(gap, named, held, miss)
        merges, held, miss = attempt(gap)
        if held.sum() > most:
            best, most = merges, held.sum()
    return Dendrogram.from_merges(n, best.pairs, best.height, ids=ids), rounds


def _judge(n: int, pairs: IntArray, height: FloatArray, triplets: Triplets) -> tuple[BoolArray, FloatArray]:
    """Return whether the tree keeps each triplet, and how far above the height at which c joins a and b meet."""
    parent = np.full(n + len(pairs), -1, np.intp)
    parent[pairs] = np.arange(n, n + len(pairs))[:, None]
    index = prepare(parent)
    a, b, c = triplets
    level = np.concatenate([np.zeros(n), height])
    together = level[query_many(index, a, b)]
    joined = np.minimum(level[query_many(index, a, c)], level[query_many(index, b, c)])
    return splits_off(index, a, b, c), np.maximum(together - joined, 0.0)


def _widen(gap: FloatArray, named: Named, held: BoolArray, miss: FloatArray) -> FloatArray:
    """Widen the margin where the tree broke a triplet, by how far it misses it and at least twofold."""
    broken = ~held[named.triplet]
    wider = np.maximum(2.0 * gap, gap + miss[named.triplet])
    return np.where(broken, wider, gap)


class IPoptim(_BestEffortTriplets):
    """Move the distances that triplets name as little as possible, then agglomerate by the moved distances.

    No triplet is guaranteed: a tree that breaks some is returned, with a warning. ``satisfied_`` is the share kept.

    Parameters
    ----------
    linkage : {"average", "single", "complete", "weighted"}, default="average"
        How the distance of two clusters follows from their members. Other linkages work on centroids, which moved
        distances do not have.
    margin : float, default=1e-3
        By how much d(a, b) must be below d(a, c) and d(b, c), as a share of the mean of the distances named.
    norm : {"l2", "l1"}, default="l2"
        Whether squares or absolute values of the moves are summed.
    enforce : {"once", "joint"}, default="once"
        ``"once"``, the paper's method, moves distances and agglomerates. ``"joint"`` finds the triplets that the tree
        breaks, asks for a larger margin there and begins again; the tree that keeps most is returned.
    max_rounds : int, default=20
        How many agglomerations ``"joint"`` may take.
    pair_weight : None, {"inverse", "inverse_square"} or array-like, default=None
        The weight of each pair in the sum of the moves, above 0: a square matrix or its upper triangle; or 1 / d and
        1 / d**2 of the given distances; None weighs all alike.

    Attributes
    ----------
    n_rounds_ : int
        How many agglomerations were made.

    See Also
    --------
    project_triplets : the first step alone.
    ReCon : a tree in which all triplets hold.
    UltraTran : lowers distances only, single linkage.
    LeastSquaresUltrametric : searches for the tree whose heights fit the distances best.

    Notes
    -----
    **Cost** one matrix and one agglomeration per round; the projection does not depend on n.
    **Guarantee** the moved distances are the exact solution of the first step (`project_triplets`); nothing is
    guaranteed about the *tree*: a linkage compares whole clusters, and a single distance weighs little there.
    ``"joint"`` never keeps fewer triplets than ``"once"``. Triplets that contradict each other are an error when hard;
    soft ones are repaired, with a warning.
    **Departure from** [1]_ the ultrametric condition (8) is not convex, and Algorithm 1 never enforces it; here the
    linkage does, afterwards. The joint form is ours: each round learns from the tree which of the three distances of a
    triplet ended up smallest, and widens the margins of the broken ones by how far the tree misses them, at least
    twofold. Margins replace the paper's non-strict comparison, under which up to half of all end tied. A statement ab|c
    stands for both of the paper's comparisons, (a, b, c) and (b, a, c), unless ``anchors`` choose one. As printed, for
    rows ``(x_i, x_j, x_k)``: ``IPoptim(linkage="single", margin=0, anchors=rows[:, 0], conflicts="random")``. The
    paper's closure of the order needs no option, since entailed comparisons do not change a projection.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import IPoptim
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> model = IPoptim(enforce="joint").fit(X, constraints=Constraints.build(4, triplets=[(0, 2, 1)]))
    >>> model.satisfied_
    1.0
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "linkage": [StrOptions(set(METHODS))],
        "margin": [Interval(Real, 0, None, closed="left")],
        "norm": [StrOptions(set(NORMS))],
        "enforce": [StrOptions(set(ENFORCE))],
        "max_rounds": [Interval(Integral, 1, None, closed="left")],
        "pair_weight": [StrOptions(set(INVERSES)), "array-like", None],
    }
    _added_parameters: ClassVar[dict[str, Any]] = {"pair_weight": None}

    _saved: ClassVar[dict[str, Kept]] = {"n_rounds_": REPORTED}

    n_rounds_: int

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "average",
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
        margin: float = 1e-3,
        norm: str = "l2",
        enforce: str = "once",
        max_rounds: int = 20,
        pair_weight: Any = None,
        anchors: Any = None,
        conflicts: str = "raise",
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, linkage=linkage, metric=metric, distance_threshold=distance_threshold)
        self.margin = margin
        self.norm = norm
        self.enforce = enforce
        self.max_rounds = max_rounds
        self.pair_weight = pair_weight
        self.anchors = anchors
        self.conflicts = conflicts
        self.random_state = random_state

    def _solve(self, problem: Problem) -> Dendrogram:
        tree, self.n_rounds_ = ipoptim(
            problem,
            method=self.linkage,
            margin=self.margin,
            norm=self.norm,
            enforce=self.enforce,
            max_rounds=self.max_rounds,
            anchor=self._anchors(problem),
            pair_weight=self.pair_weight,
        )
        return tree
