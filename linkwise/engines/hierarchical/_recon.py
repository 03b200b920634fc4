"""ReCon: agglomeration under relative statements ab|c that always ends in one tree displaying all of them."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise._compat import Interval, StrOptions
from linkwise.constraints import Constraints, Kind
from linkwise.engines._base import ConstrainedClusterer
from linkwise.engines._progress import Progress, current_progress
from linkwise.engines.hierarchical import _recon_kernels as kernels
from linkwise.engines.hierarchical._agglomerate import require_fitting
from linkwise.engines.hierarchical._codes import EUCLIDEAN_ONLY, LINKAGES, linkage_code
from linkwise.engines.hierarchical._distances import scaled, square_distances
from linkwise.engines.hierarchical._hierarchy import HierarchyMixin, as_dense, mark
from linkwise.engines.hierarchical._memory import require_memory
from linkwise.exceptions import LinkwiseError
from linkwise.problem import LiveTriplets, Problem, check
from linkwise.problem._layers import Layers, grow
from linkwise.result import Dendrogram

__all__ = ["ReCon", "recon"]


def recon(X: Any, constraints: Constraints, *, method: str = "centroid", metric: Any = "euclidean") -> Dendrogram:
    """Build the tree that merges closest clusters first among the merges that leave every triplet attainable.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite vectors, or square dissimilarities with ``metric="precomputed"``. Not modified.
    constraints : Constraints
        Triplets ab|c; all are taken as hard.
    method : {"centroid", "single", "complete", "average", "weighted", "ward", "median"}, default="centroid"
        How the distance of two clusters follows from their members; the paper uses centroid.
    metric : str or callable, default="euclidean"
        How vectors are compared.

    Returns
    -------
    Dendrogram
        One binary tree that displays every triplet. ``raw_height`` holds the distances at which clusters merged, which
        need not rise; ``height`` does.

    Raises
    ------
    InfeasibleConstraintsError
        No tree displays all triplets; the explanation names the few at fault.

    Notes
    -----
    **Cost** O(n d) memory for centroid, ward and median on Euclidean vectors, one n x n matrix otherwise, plus the sum
    of the depths of the items in the BUILD tree of the triplets. Time is that of the unconstrained generic algorithm
    plus one test per merge of constrained clusters and per refuted block of pairs.
    **Guarantee** n - 1 merges whenever the triplets are consistent, each the closest compatible pair at its turn: the
    merges of the paper's algorithm, up to ties.
    **Departure from** [1]_ the compatibility test is not run afresh: an incremental BUILD structure answers it and
    rolls back, and a failed test refutes all pairs between two sets at once. Heights, left open there, are the merge
    distances. Ties go to the pair whose younger cluster is oldest.

    References
    ----------
    .. [1] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with relative constraints", KDD 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import recon
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> tree = recon(X, Constraints.build(4, triplets=[(0, 2, 1)]))
    >>> tree.satisfies(Constraints.build(4, triplets=[(0, 2, 1)])).all()
    np.True_
    """
    code = linkage_code(method, who="recon")
    require_fitting(method, metric if isinstance(metric, str) else "callable", who="recon")
    triplets = constraints.of(Kind.TRIPLET)
    n = constraints.n_samples
    involved, items = np.unique(triplets, return_inverse=True)
    live = LiveTriplets(len(involved), len(triplets))
    if live.add_many(items.reshape(-1, 3)) >= 0:
        check(constraints).raise_if_infeasible()
    vectors = code in EUCLIDEAN_ONLY and metric == "euclidean"
    state, factor = _make_state(np.asarray(X), code, metric, involved, vectors=vectors)
    _run(state, live.layers, code, vectors, current_progress())
    height = state.height * factor
    if code in EUCLIDEAN_ONLY:
        height = np.sqrt(np.maximum(state.height, 0.0)) * factor
    return Dendrogram.from_merges(n, state.pairs, height, ids=constraints.ids)


def _make_state(
    X: npt.NDArray[Any], code: int, metric: Any, involved: npt.NDArray[np.intp], *, vectors: bool
) -> tuple[kernels.ReConState, float]:
    """Allocate the loop's arrays; return them with the factor that restores the scale of the distances."""
    n = len(X)
    slots = n + n // 3 + 64
    factor = 1.0
    centre = np.zeros((0, slots))
    matrix: npt.NDArray[Any] = np.zeros((1, 1))
    if vectors:
        shrunk, factor = scaled(X, np.float64)
        centre = np.zeros((-(-X.shape[1] // 4) * 4, slots))
        centre[: X.shape[1], :n] = shrunk.T
    else:
        require_memory(n * n * 8, f"a dense {n} x {n} distance matrix", 'linkage="centroid" on vectors needs none.')
        if metric == "precomputed":
            matrix = np.array(X, dtype=np.float64, order="C")
            if code in EUCLIDEAN_ONLY:
                np.square(matrix, out=matrix)
        else:
            shrunk, factor = scaled(X, np.float64) if metric == "euclidean" else (X, 1.0)
            matrix = square_distances(shrunk, metric, squared=code in EUCLIDEAN_ONLY)
    item = np.full(slots, -1, np.int32)
    item[involved] = np.arange(len(involved), dtype=np.int32)
    gone = np.full(slots, np.inf)
    gone[:n] = 0.0
    words = 4
    state = kernels.ReConState(
        centre=centre,
        matrix=matrix,
        place=np.arange(slots),
        size=np.ones(slots),
        gone=gone,
        node=np.arange(slots),
        item=item,
        bound=np.full(slots, np.inf),
        neighbour=np.full(slots, -1, np.intp),
        row=np.zeros(slots),
        least=np.zeros(slots // kernels.BLOCK + 2),
        mask=np.zeros((2, len(involved), words), np.uint64),
        live=np.zeros(words, np.uint64),
        left=np.zeros(64 * words, np.int64),
        free=np.arange(64 * words),
        scratch=np.zeros((2, len(involved) + 1), np.int32),
        pairs=np.zeros((max(n - 1, 0), 2), np.intp),
        height=np.zeros(max(n - 1, 0)),
        count=np.zeros(7, np.int64),
    )
    state.bound[:n] = -1.0  # below every distance, so that all are searched before the first merge
    state.count[kernels.N_SLOTS] = state.count[kernels.N_ALIVE] = n
    state.count[kernels.N_FREE] = 64 * words
    return state, factor


def _run(state: kernels.ReConState, layers: Layers, code: int, vectors: bool, progress: Progress | None) -> None:
    """Drive the compiled loop to its end, giving it room and the user a word in between."""
    n = len(state.pairs) + 1
    chunk = max(100, 1_000_000_000 // (n * (len(state.centre) + 8)))
    while True:
        status = kernels.advance(state, layers, code, vectors, chunk)
        if progress is not None:
            progress(int(state.count[kernels.N_MERGED]), n - 1)
        if status == kernels.DONE:
            return
        if status == kernels.MORE_ROOM:
            layers = grow(layers)
        elif status == kernels.MORE_CERTIFICATES:
            state = _more_certificates(state)
        elif status == kernels.STUCK:
            msg = "recon found no compatible merge for consistent triplets, which cannot be; please report the input."
            raise LinkwiseError(msg)


def _more_certificates(state: kernels.ReConState) -> kernels.ReConState:
    """Double the number of certificates that can be remembered."""
    words = len(state.live)
    unused = int(state.count[kernels.N_FREE])
    free = np.zeros(128 * words, np.int64)
    free[:unused] = state.free[:unused]
    free[unused : unused + 64 * words] = np.arange(64 * words, 128 * words)
    state.count[kernels.N_FREE] = unused + 64 * words
    return state._replace(
        mask=np.concatenate([state.mask, np.zeros_like(state.mask)], axis=2),
        live=np.concatenate([state.live, np.zeros_like(state.live)]),
        left=np.concatenate([state.left, np.zeros_like(state.left)]),
        free=free,
    )


class ReCon(HierarchyMixin, ConstrainedClusterer):
    """Build a tree that displays every relative statement ab|c, merging closest compatible clusters first.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters of the cut; None with no ``distance_threshold`` gives one cluster.
    linkage : {"centroid", "average", "single", "complete", "weighted", "ward", "median"}, default="centroid"
        How the distance of two clusters follows from their members.
    metric : str or callable, default="euclidean"
        How samples are compared, or ``"precomputed"``.
    distance_threshold : float or None, default=None
        Cut at this height instead of at a number of clusters; needs ``n_clusters=None``.
    cut : {"constraints", "merges"}, default="constraints"
        ``"constraints"`` splits first where a statement separates c from a and b, then the latest merges;
        ``"merges"`` undoes the latest merges only.
    min_cluster_size : int or None, default=None
        Treat smaller branches as outliers: they are ignored while cutting and then given to the nearest cluster that
        breaks no statement.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, numbered by first appearance.
    dendrogram_ : Dendrogram
        The tree; the clusters of ``labels_`` are marked when they are subtrees.
    certificate_ : Certificate
        What the independent check found to hold.
    n_clusters_, n_leaves_, n_connected_components_, children_, distances_, k_min_
        As in `ConstrainedAgglomerative`.
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.

    See Also
    --------
    ConstrainedAgglomerative : hierarchies under must- and cannot-links.

    Notes
    -----
    **Cost** see `recon`. **Guarantee** the tree displays every hard triplet and no dead end is ever met; labels satisfy
    Definition 4.2 of [1]_: if c shares a cluster with a or b, all three share it. **Departure from** [1]_ see `recon`;
    outliers go to the nearest *compatible* cluster, where the paper's nearest one can break statements.

    References
    ----------
    .. [1] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with relative constraints", KDD 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, ReCon
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> model = ReCon(n_clusters=2).fit(X, constraints=Constraints.build(4, triplets=[(0, 2, 1), (0, 2, 3)]))
    >>> model.labels_[0] == model.labels_[2]
    np.True_
    >>> print(model.certificate_)
    All 2 hard statements hold: 2 triplets.
    """

    understands: ClassVar[frozenset[Kind]] = frozenset({Kind.TRIPLET})
    _explains_itself: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HierarchyMixin._parameter_constraints,
        "linkage": [StrOptions(set(LINKAGES))],
        "metric": [str, callable],
        "cut": [StrOptions({"constraints", "merges"})],
        "min_cluster_size": [Interval(Integral, 1, None, closed="left"), None],
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "centroid",
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
        cut: str = "constraints",
        min_cluster_size: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.metric = metric
        self.distance_threshold = distance_threshold
        self.cut = cut
        self.min_cluster_size = min_cluster_size

    def _solve(self, problem: Problem) -> Dendrogram:
        X, metric = as_dense(problem.X, problem.metric)
        return recon(X, problem.constraints, method=self.linkage, metric=metric)

    def _cut(self, tree: Dendrogram, constraints: Constraints) -> npt.NDArray[np.intp]:
        if self.n_clusters is None or self.cut == "merges":
            return super()._cut(tree, constraints)
        return tree.cut_constrained(constraints, self.n_clusters)

    def _keep(self, outcome: Dendrogram, samples: Any, constraints: Constraints) -> None:
        if self.min_cluster_size is None or self.n_clusters is None:
            labels = self._cut(outcome, constraints)
            tree = mark(outcome, labels)
        else:
            vectors = samples if self.metric == "euclidean" and not hasattr(samples, "tocsr") else None
            found = outcome.cut_outliers(
                self.n_clusters, min_size=self.min_cluster_size, constraints=constraints, X=vectors
            )
            labels, tree = found.labels, outcome
            self._certify(labels, constraints, samples)
        self._keep_tree(tree, labels, self._certify(tree, constraints, samples))
