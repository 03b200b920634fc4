"""ReCon: agglomeration under relative statements ab|c that always ends in one tree displaying all of them.

With statements about pairs and groups as well, the tree gets a marked cut: must-linked samples meet at or below it,
samples apart meet above it. First every block of the finest clustering possible is merged into one cluster. From then
on clusters and blocks are the same, so a merge keeps everything attainable if the triplets allow it and no two samples
apart meet: no further test is needed and no dead end can come from the triplets. Above the cut only triplets count.
"""

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
from linkwise.exceptions import DeadEndError, LinkwiseError, UnsupportedConstraintError
from linkwise.problem import LiveTriplets, Problem, check
from linkwise.problem._conflict import Hard, blocks_or_none
from linkwise.problem._layers import Layers, grow
from linkwise.result import Dendrogram

__all__ = ["ReCon", "recon"]


def recon(
    X: Any,
    constraints: Constraints,
    *,
    method: str = "centroid",
    metric: Any = "euclidean",
    n_clusters: int | None = None,
    distance_threshold: float | None = None,
) -> Dendrogram:
    """Build the tree that merges closest clusters first among the merges that leave every triplet attainable.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Finite vectors, or square dissimilarities with ``metric="precomputed"``. Not modified.
    constraints : Constraints
        Triplets ab|c, must-links, cannot-links and groups together and apart; all are taken as hard.
    method : {"centroid", "single", "complete", "average", "weighted", "ward", "median"}, default="centroid"
        How the distance of two clusters follows from their members; the paper uses centroid.
    metric : str or callable, default="euclidean"
        How vectors are compared.
    n_clusters : int, optional
        Size of the marked cut when there are statements about pairs or groups; default: as few clusters as merging
        reaches. More are marked when greedy merging ends before (fewer may be NP-hard to find).
    distance_threshold : float, optional
        Draw the marked cut before the first merge at a larger distance.

    Returns
    -------
    Dendrogram
        One binary tree that displays every triplet. ``raw_height`` holds the distances at which clusters merged, which
        need not rise; ``height`` does. With statements about pairs or groups, the clusters they hold for are marked.

    Raises
    ------
    InfeasibleConstraintsError
        No hierarchy with a cut satisfies all statements; the explanation names the few at fault.

    Notes
    -----
    **Cost** O(n d) memory for centroid, ward and median on Euclidean vectors, one n x n matrix otherwise, plus the sum
    of the depths of the items in the BUILD tree of the triplets. Time is that of the unconstrained generic algorithm
    plus one test per merge of constrained clusters and per refuted block of pairs.
    **Guarantee** n - 1 merges whenever the triplets are consistent, each the closest compatible pair at its turn: the
    merges of the paper's algorithm, up to ties.
    **Departure from** [1]_ the compatibility test is not run afresh: an incremental BUILD structure answers it and
    rolls back, and a failed test refutes all pairs between two sets at once. Heights, left open there, are the merge
    distances. Ties go to the pair whose younger cluster is oldest. Pairs and groups, future work there, are merged in
    phases: what belongs together first, then up to the marked cut, then to the root.

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
    mixed = bool((constraints.kind != Kind.TRIPLET).any())
    block = _blocks(constraints, n_clusters) if mixed else None
    involved, items = np.unique(triplets, return_inverse=True)
    live = LiveTriplets(len(involved), len(triplets))
    if live.add_many(items.reshape(-1, 3)) >= 0:
        check(constraints).raise_if_infeasible()
    vectors = code in EUCLIDEAN_ONLY and metric == "euclidean"
    state, factor = _make_state(np.asarray(X), code, metric, involved, vectors=vectors)
    run = _Run(state, live.layers, code, vectors, current_progress())
    marked = None
    if block is not None:
        run.watch(constraints, block)
        run.phase(kernels.INSIDE)
        if run.n_alive != int(block.max()) + 1:
            msg = "recon could not join what belongs together, which cannot be; please report the input."
            raise LinkwiseError(msg)
        limit = np.inf if distance_threshold is None else distance_threshold / factor
        run.state.limit[0] = limit * limit if code in EUCLIDEAN_ONLY else limit
        run.state.count[kernels.WANTED] = 1 if n_clusters is None else n_clusters
        run.phase(kernels.BELOW)
        marked = run.clusters()
    run.phase(kernels.FREE)
    height = run.state.height * factor
    if code in EUCLIDEAN_ONLY:
        height = np.sqrt(np.maximum(run.state.height, 0.0)) * factor
    return Dendrogram.from_merges(n, run.state.pairs, height, marked=marked, ids=constraints.ids)


def _blocks(constraints: Constraints, n_clusters: int | None) -> npt.NDArray[np.intp]:
    """The finest clustering that must-links, groups and triplets leave possible, or the error that says why none."""
    block = blocks_or_none(Hard.of(constraints.with_weight(np.inf)))
    if block is None or (n_clusters is not None and n_clusters > int(block.max(initial=-1)) + 1):
        check(constraints.with_weight(np.inf), n_clusters=n_clusters).raise_if_infeasible()
        msg = "check found a way where there is none; please report the input."
        raise LinkwiseError(msg)
    return block


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
        block=np.full(slots, -1, np.intp),
        tag=np.full(slots, -1, np.intp),
        ends=np.zeros((2, 0), np.intp),
        entry=np.zeros((2, 0), np.intp),
        stamp=np.zeros(0, np.int64),
        limit=np.full(1, np.inf),
        pairs=np.zeros((max(n - 1, 0), 2), np.intp),
        height=np.zeros(max(n - 1, 0)),
        count=np.zeros(10, np.int64),
    )
    state.count[kernels.N_SLOTS] = state.count[kernels.N_ALIVE] = n
    state.count[kernels.N_FREE] = 64 * words
    return state, factor


class _Run:
    """One run of the compiled loop, phase by phase, with room made and progress told in between."""

    def __init__(
        self, state: kernels.ReConState, layers: Layers, code: int, vectors: bool, progress: Progress | None
    ) -> None:
        self.state, self.layers = state, layers
        self._code, self._vectors, self._progress = code, vectors, progress
        self._n = len(state.pairs) + 1
        self._chunk = max(100, 1_000_000_000 // (self._n * (len(state.centre) + 8)))

    @property
    def n_alive(self) -> int:
        """Number of clusters now."""
        return int(self.state.count[kernels.N_ALIVE])

    def _alive(self) -> npt.NDArray[np.intp]:
        return np.flatnonzero(self.state.gone[: self.state.count[kernels.N_SLOTS]] == 0.0)

    def clusters(self) -> npt.NDArray[np.intp]:
        """The nodes of the clusters there are now."""
        return np.sort(self.state.node[self._alive()])

    def watch(self, constraints: Constraints, block: npt.NDArray[np.intp]) -> None:
        """Tell the loop about blocks and what is to be apart; a cannot-link is a group of two."""
        n = len(block)
        pairs, groups = constraints.of(Kind.CANNOT_LINK), constraints.groups_of(Kind.APART)
        member = np.concatenate([pairs.ravel(), groups.member])
        group = np.concatenate([np.repeat(np.arange(len(pairs)), 2), len(pairs) + groups.owner])
        order = np.argsort(member, kind="stable")
        held, first, size = np.unique(member[order], return_index=True, return_counts=True)
        after = np.arange(1, len(order) + 1)
        after[first + size - 1] = -1
        self.state.block[:n] = block
        self.state.tag[held] = np.arange(len(held))
        self.state = self.state._replace(
            ends=np.stack([first, first + size - 1]).astype(np.intp),
            entry=np.stack([group[order], after]).astype(np.intp),
            stamp=np.zeros(len(pairs) + len(groups.statement), np.int64),
        )

    def phase(self, phase: int) -> None:
        """Merge until the phase has nothing left to merge."""
        state, alive = self.state, self._alive()
        state.count[kernels.PHASE] = phase
        state.neighbour[alive] = -1
        state.bound[alive] = -1.0  # below every distance, so that all are searched before the next merge
        if phase == kernels.INSIDE:
            lone = np.bincount(state.block[alive])[state.block[alive]] == 1
            state.bound[alive[lone]] = np.inf
        while True:
            status = kernels.advance(self.state, self.layers, self._code, self._vectors, self._chunk)
            if self._progress is not None:
                self._progress(int(self.state.count[kernels.N_MERGED]), self._n - 1)
            if status == kernels.MORE_ROOM:
                self.layers = grow(self.layers)
            elif status == kernels.MORE_CERTIFICATES:
                self.state = _more_certificates(self.state)
            elif status == kernels.STUCK and phase == kernels.FREE:
                msg = (
                    "recon found no compatible merge for consistent triplets, which cannot be; please report the input."
                )
                raise LinkwiseError(msg)
            elif status != kernels.BUDGET:
                return


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

    Must-links, cannot-links and groups may be said as well: they hold in the clusters, which are marked in the tree.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters of the cut; None with no ``distance_threshold`` gives as few as the statements allow.
    linkage : {"centroid", "average", "single", "complete", "weighted", "ward", "median"}, default="centroid"
        How the distance of two clusters follows from their members.
    metric : str or callable, default="euclidean"
        How samples are compared, or ``"precomputed"``.
    distance_threshold : float or None, default=None
        Cut at this height instead of at a number of clusters; needs ``n_clusters=None``.
    cut : {"constraints", "merges"}, default="constraints"
        ``"constraints"`` splits first where a statement separates c from a and b, then the latest merges;
        ``"merges"`` undoes the latest merges only. With statements about pairs or groups the cut is drawn while
        merging, and this plays no role.
    min_cluster_size : int or None, default=None
        Treat smaller branches as outliers: they are ignored while cutting and then given to the nearest cluster that
        breaks no statement. Not together with statements about pairs or groups.

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
    Definition 4.2 of [1]_: if c shares a cluster with a or b, all three share it. Hard links and groups hold in the
    labels; with cannot-links, greedy merging may end above a wanted ``n_clusters``. **Departure from** [1]_ see
    `recon`; outliers go to the nearest *compatible* cluster, where the paper's nearest one can break statements.

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

    understands: ClassVar[frozenset[Kind]] = frozenset(
        {Kind.TRIPLET, Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TOGETHER, Kind.APART}
    )
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
        tree = recon(
            X,
            problem.constraints,
            method=self.linkage,
            metric=metric,
            n_clusters=self.n_clusters,
            distance_threshold=self.distance_threshold,
        )
        if tree.marked is not None and self.n_clusters is not None and len(tree.marked) > self.n_clusters:
            reached = len(tree.marked)
            msg = (
                f"no legal merge was left at {reached} clusters, but n_clusters={self.n_clusters} was asked for: "
                "greedy merging met a dead end.\n"
                f"Hint: n_clusters=None or n_clusters={reached} takes what there is; another linkage may get further."
            )
            raise DeadEndError(msg, tree, reached)
        return tree

    def _refuse(self, constraints: Constraints) -> Constraints:
        if self.min_cluster_size is not None and (constraints.kind != Kind.TRIPLET).any():
            msg = (
                f"ReCon with min_cluster_size={self.min_cluster_size} understands triplets only: giving outliers to "
                "other clusters can break what was said about pairs.\nHint: leave min_cluster_size out."
            )
            words = tuple(kind.word for kind in Kind if kind is not Kind.TRIPLET and (constraints.kind == kind).any())
            raise UnsupportedConstraintError(msg, words)
        return super()._refuse(constraints)

    def _cut(self, tree: Dendrogram, constraints: Constraints) -> npt.NDArray[np.intp]:
        if self.n_clusters is None or self.cut == "merges":
            return super()._cut(tree, constraints)
        return tree.cut_constrained(constraints, self.n_clusters)

    def _keep(self, outcome: Dendrogram, samples: Any, constraints: Constraints) -> None:
        if outcome.marked is not None:
            labels, tree = outcome.cut_marked(), outcome
        elif self.min_cluster_size is None or self.n_clusters is None:
            labels = self._cut(outcome, constraints)
            tree = mark(outcome, labels)
        else:
            vectors = samples if self.metric == "euclidean" and not hasattr(samples, "tocsr") else None
            found = outcome.cut_outliers(
                self.n_clusters, min_size=self.min_cluster_size, constraints=constraints, X=vectors
            )
            labels, tree = found.labels, outcome
            self._certify(labels, constraints, samples)
        self._keep_tree(tree, labels, self._certify(tree, constraints, samples), samples)
