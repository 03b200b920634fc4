"""`SparseAgglomerative`: Ward linkage of many samples, along nearest neighbors first, then among all clusters left."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from linkwise._compat import Interval, StrOptions, fit_context
from linkwise._memory import GIB, available_memory, require_memory
from linkwise._messages import hint
from linkwise._random import make_generator
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import warn_user
from linkwise.constraints import LINKS, Constraints, Kind
from linkwise.engines import REPORTED, ConstrainedClusterer, Kept, current_progress
from linkwise.engines.hierarchical import (
    ConstrainedAgglomerative,
    HierarchyMixin,
    dead_end_message,
    detour_words,
    grow_within,
    join_trees,
    mark,
    regroup,
    stated,
)
from linkwise.engines.hierarchical.relative import ReCon
from linkwise.engines.hierarchical.sparse._cell_search import CellSearch, find_distinct
from linkwise.engines.hierarchical.sparse._graph_merging import (
    MOST_CLUSTERS,
    Items,
    Merged,
    chain,
    clusters_as_items,
    link_items,
    make_items,
    merge_along,
    merge_within,
)
from linkwise.engines.hierarchical.sparse._hand_over import SparseAudit, audit_merging, join_trees_of, put_above
from linkwise.engines.hierarchical.sparse._kernels_graph_merging import SlotArray
from linkwise.engines.hierarchical.sparse._refinement import WORTH_AT_DEAD_END, Refined, refine
from linkwise.exceptions import DeadEndError, InfeasibleConstraintsError, InvalidArgumentError, LinkwiseError
from linkwise.problem import Problem
from linkwise.result import Dendrogram

FEWEST = 3  # neighbors below which merging along them misses too much to be advised
_ROUNDS = 4  # of finding neighbors, if merging along them ends with more clusters than that


class _Built(NamedTuple):
    tree: Dendrogram
    labels: IntArray
    audit: SparseAudit
    dead_end: int | None = None
    n_regrouped: int | None = None
    refined: float | None = None


class _Bottom(NamedTuple):
    """Items, the edges along which they may be merged, and the merges that were made.

    ``near`` are the neighbors of the few samples that are asked about should merging meet a dead end.
    """

    items: Items
    edges: SlotArray
    near: IntArray
    merged: Merged


class SparseAgglomerative(HierarchyMixin, ConstrainedClusterer):
    """Merge many samples along their nearest neighbors, then the few thousand clusters left as all dense engines do.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters of the cut; None with no ``distance_threshold`` gives as few as the statements allow.
    n_neighbors : int, default=10
        Neighbors of each sample along which it may be merged at first.
    top : int, default=3000
        Clusters left for the second part, where all are compared; more where ``n_clusters`` or a group apart has more.
    distance_threshold : float or None, default=None
        Cut at this height instead of at a number of clusters; needs ``n_clusters=None``. Not with triplets.
    dead_end : {"regroup", "raise"}, default="regroup"
        What to do when no legal merge is left above ``n_clusters``, as in `ConstrainedAgglomerative`.
    refine : bool, default=False
        Compare the ``n_clusters`` clusters of the tree with those that constrained k-means finds, in ten steps from
        them and as `COPKMeans` does. If one of these has a sum of squared distances to its means that is lower by more
        than 1 %, or after a dead end 0.1 %, the clusters are those; each gets its tree, and these are joined as
        far as statements allow. Not under triplets, which are about the tree.
    random_state : int, RandomState or None, default=0
        Decides how samples are sorted into cells for the search for neighbors.

    Attributes
    ----------
    audit_ : SparseAudit
        How much the first part can have missed.
    dead_end_ : int or None
        Number of clusters at which merging met a dead end, if samples were regrouped because of it.
    n_regrouped_ : int or None
        Number of samples that left the cluster of their tree because of it.
    refined_ : float or None
        The share by which steps of k-means lowered the sum of squared distances to the means, if they were kept.

    See Also
    --------
    ConstrainedAgglomerative : exact, in O(n^2) time.
    linkwise.engines.nearest_neighbors : the search for neighbors.

    Notes
    -----
    Two clusters are merged along an edge if they are the closest of all that an edge joins. A merge is refused for good
    if a cannot-link or a group apart keeps the two apart, or if both hold a sample that a triplet names. So all
    statements can hold in the second part if they can hold at all. There the clusters are groups together, merged with
    Ward linkage, or centroid linkage under triplets (`ReCon`).

    **Cost** O(n^1.5 d) time for the neighbors, about O(n log n) for merging, O(top^2) for the rest; about
    ``n (24 d + 70 n_neighbors + 150)`` bytes beside the data, and ``24 n n_clusters`` more at a dead end;
    ``refine`` as `COPKMeans` twice, and another tree.
    **Guarantee** every hard statement holds, exactly ``n_clusters`` clusters or an error; heights are Ward's distances
    of the merged clusters. With all other samples as neighbors the tree is that of exact Ward linkage. The same input
    gives the same tree for any number of threads.
    **Departure from** [1]_ the graph serves down to ``top`` clusters only, distances are kept exact by a heap of lower
    bounds, and statements are obeyed.

    References
    ----------
    .. [1] P. Fränti, O. Virmajoki, V. Hautamäki, "Fast agglomerative clustering using a k-nearest neighbor graph", PAMI
       28, 2006.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from linkwise import Constraints, SparseAgglomerative
    >>> X, y = make_blobs(600, centers=3, random_state=0)
    >>> known = Constraints.build(600, must_link=[(0, 1)], cannot_link=[(2, 3)])
    >>> model = SparseAgglomerative(3, top=50).fit(X, constraints=known)
    >>> model.n_clusters_, model.audit_.n_clusters, model.certificate_.ok
    (3, 50, True)
    """

    understands: ClassVar[frozenset[Kind]] = LINKS | {Kind.TRIPLET}
    _dense_only: ClassVar[str] = "reduce the features to about 100, as with sklearn.decomposition.TruncatedSVD."
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "top": [Interval(Integral, 1, MOST_CLUSTERS, closed="both")],
        "distance_threshold": [Interval(Real, 0, None, closed="left"), None],
        "dead_end": [StrOptions({"regroup", "raise"})],
        "refine": ["boolean"],
        "random_state": ["random_state"],
    }
    _saved: ClassVar[dict[str, Kept]] = {
        "audit_": Kept(records=(SparseAudit,)),
        "dead_end_": REPORTED,
        "n_regrouped_": REPORTED,
        "refined_": REPORTED,
        "_seed": REPORTED,
    }

    linkage = "ward"
    metric = "euclidean"
    audit_: SparseAudit
    dead_end_: int | None
    n_regrouped_: int | None
    refined_: float | None = None
    _neighbors: Any = None
    _added_parameters: ClassVar[dict[str, Any]] = {"refine": False}

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        n_neighbors: int = 10,
        top: int = 3000,
        distance_threshold: float | None = None,
        dead_end: str = "regroup",
        refine: bool = False,
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_neighbors = n_neighbors
        self.top = top
        self.distance_threshold = distance_threshold
        self.dead_end = dead_end
        self.refine = refine
        self.random_state = random_state

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None, *, constraints: Constraints | None = None, neighbors: Any = None) -> Self:
        """Cluster X so that every hard statement holds.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            The samples, one per row. Not modified.
        y : None
            Ignored, unless it is a `Constraints`: then it is used as ``constraints``.
        constraints : Constraints, optional
            Statements about the rows of X: must-links, cannot-links, groups and triplets.
        neighbors : ndarray of int, shape (n_samples, k), or sparse matrix of shape (n_samples, n_samples), optional
            Neighbors that were found elsewhere: their row numbers, -1 for none, or a graph whose entries are edges.

        Returns
        -------
        self
            The fitted estimator.
        """
        self._neighbors = neighbors
        try:
            return self._fit(X, y, constraints)
        finally:
            self.__dict__.pop("_neighbors", None)

    def _judge(self, problem: Problem) -> None:
        if self.n_clusters is None:
            problem.require_consistent()
        else:
            problem.require_feasible()

    def _solve(self, problem: Problem) -> _Built:
        self._require_fitting(problem)
        self._seed = int(make_generator(self.random_state).integers(2**31 - 1))
        n, d = problem.X.shape
        most = min(self.n_neighbors, max(n - 1, 1))
        require_memory(
            _bytes(n, d, most), f"merging {n:,} samples along {most} neighbors", _smaller(n, d, most, self._neighbors)
        )
        items = make_items(problem)
        if self._neighbors is None:
            index, recall = find_distinct(problem.X, most, self._seed)
        else:
            index, recall = _read_neighbors(self._neighbors, n), np.nan
        self._report(n // 2, n)
        edges = link_items(index, items.of_sample)
        near = index[stated(problem)[0]].astype(np.intp)
        del index
        merged, rounds = self._merge(problem, items, edges, most)
        bottom = _Bottom(items, edges, near, merged)
        audit = audit_merging(merged, items, problem, recall, rounds)
        known = problem.constraints | Constraints.from_groups(merged.cluster[items.of_sample], say="together")
        named = None
        if (known.kind == Kind.TRIPLET).any():
            named = np.unique(problem.hard.triplets)
            above, labels = self._under_triplets(problem.X, known)
        else:
            above = ConstrainedAgglomerative(None, linkage="ward").fit(problem.X, constraints=known).dendrogram_
            if self.n_clusters is not None and self.n_clusters < above.n_roots:
                return self._leave_dead_end(above, problem, bottom, audit)
            labels = above.cut(n_clusters=self.n_clusters or above.n_roots)
            better = refine(labels, problem, self._seed) if self.refine and self.n_clusters is not None else None
            if better is not None:
                return self._refined(better, problem, bottom, _Built(above, labels, audit))
        tree = join_trees_of(problem.X, items, merged, above, problem.constraints.ids, named)
        if self.distance_threshold is not None:
            labels = tree.cut(height=self.distance_threshold)
        return _Built(tree, labels, audit)

    def _under_triplets(self, X: FloatArray, known: Constraints) -> tuple[Dendrogram, IntArray]:
        try:
            model = ReCon(self.n_clusters, linkage="centroid").fit(X, constraints=known)
        except InfeasibleConstraintsError as end:  # they can hold, but not with these clusters whole
            msg = (
                "SparseAgglomerative: merging along neighbors met a dead end, from which no "
                f"{self.n_clusters} clusters can be reached.\n"
                "Hint: a larger `top`, or n_clusters=None for as few as it reaches."
            )
            raise DeadEndError(msg) from end
        return model.dendrogram_, model.labels_

    def _leave_dead_end(self, above: Dendrogram, problem: Problem, bottom: _Bottom, audit: SparseAudit) -> _Built:
        """Divide the samples again where merging ended above the number of clusters, and merge within each part."""
        X, k, end = problem.X, problem.k, above.n_roots
        if self.dead_end == "raise":
            raise DeadEndError(dead_end_message(end, k), above, end)
        home = join_trees(X, "euclidean", above.cut(n_clusters=end), k, problem)
        labels = regroup(X, "euclidean", "ward", home, k, problem, bottom.near)
        if labels is None:
            raise DeadEndError(dead_end_message(end, k), above, end)
        moved = int((labels != home).sum())
        warn_user(detour_words(end, moved, len(labels), k))
        better = refine(labels, problem, self._seed, WORTH_AT_DEAD_END) if self.refine else None
        if better is not None:
            return self._refined(better, problem, bottom, _Built(above, labels, audit, end, moved))
        return _Built(self._within(labels, problem, bottom), labels, audit, end, moved)

    def _refined(self, better: Refined, problem: Problem, bottom: _Bottom, built: _Built) -> _Built:
        """The result with clusters by k-means: a tree for each of them, joined as far as statements allow."""
        forest = self._within(better.labels, problem, bottom)
        known = problem.constraints | Constraints.from_groups(better.labels, say="together")
        above = ConstrainedAgglomerative(None, linkage="ward").fit(problem.X, constraints=known).dendrogram_
        tree = put_above(forest, above, problem.constraints.ids)
        return built._replace(tree=tree, labels=better.labels, refined=better.gain)

    def _within(self, labels: IntArray, problem: Problem, bottom: _Bottom) -> Dendrogram:
        """A forest with a tree for each cluster, merged along edges inside the clusters first."""
        items = bottom.items
        target = max(self.top, problem.k)
        merged = merge_within(bottom.merged, bottom.edges, items, labels[items.first], problem, target)
        cluster = merged.cluster[items.of_sample]
        ids = problem.constraints.ids
        forest = grow_within(problem.X, "euclidean", labels, cluster, "ward", "float64", ids)
        return join_trees_of(problem.X, items, merged, forest, ids)

    def _report(self, done: int, total: int) -> None:
        report = current_progress()
        if report is not None:
            report(min(done, total), total)

    def _require_fitting(self, problem: Problem) -> None:
        if self.distance_threshold is not None and (problem.constraints.kind == Kind.TRIPLET).any():
            msg = (
                "SparseAgglomerative: distance_threshold does not go together with triplets.\n"
                "Hint: n_clusters, or ReCon(n_clusters=None, distance_threshold=...)."
            )
            raise InvalidArgumentError(msg)
        named = len(np.unique(problem.hard.triplets))
        if named > MOST_CLUSTERS:
            ways = hint(command="--method recon --linkage centroid", python='ReCon(n_clusters, linkage="centroid")')
            msg = (
                f"SparseAgglomerative: triplets name {named:,} samples, and at most {MOST_CLUSTERS:,} can be compared "
                f"with each other.\nHint: {ways}, in O(n^2) time, or fewer triplets."
            )
            raise LinkwiseError(msg)

    def _merge(self, problem: Problem, items: Items, edges: SlotArray, k: int) -> tuple[Merged, int]:
        """Merge along edges; again along those between the clusters where these do not suffice."""
        n = problem.n_samples
        needed = max(self.n_clusters or 1, int(problem.hard.apart.sizes.max(initial=1)))
        target = min(max(self.top, needed), len(items.first))
        most = max(MOST_CLUSTERS, target)
        merged = merge_along(edges, items, problem, target, lambda done: self._report((n + done) // 2, n))
        rounds = 1
        while len(merged.size) > most and rounds < _ROUNDS:
            k, rounds = 2 * k, rounds + 1
            grown = clusters_as_items(merged, items)
            index, _ = CellSearch(merged.mean, self._seed).find_all(min(k, len(merged.mean) - 1))
            between = link_items(index, np.arange(len(merged.mean)))
            more = merge_along(between, grown, problem, target, lambda _: None)
            merged = chain(merged, more, items, grown)
        if len(merged.size) > most:
            msg = (
                f"SparseAgglomerative: the statements, or too few neighbors, keep {len(merged.size):,} clusters apart "
                f"after {rounds} rounds, and at most {most:,} can be compared with each other.\n"
                "Hint: more n_neighbors, or fewer statements that keep samples apart."
            )
            raise LinkwiseError(msg)
        return merged, rounds

    def _keep(self, outcome: Any, problem: Problem) -> None:
        tree = mark(outcome.tree, outcome.labels)
        self._keep_tree(tree, outcome.labels, self._certify(tree, problem), problem.X)
        self.audit_, self.dead_end_, self.n_regrouped_ = outcome.audit, outcome.dead_end, outcome.n_regrouped
        self.refined_ = outcome.refined

    def predict(self, X: Any) -> IntArray:
        """Return the cluster of each new sample: that of the nearest sample of the fit, as far as cells find it.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New samples.

        Returns
        -------
        ndarray of shape (n_new,)
            Labels; a sample of the fit gets its own label back, unless a copy of it has another one.

        Notes
        -----
        **Cost** sorting the samples of the fit into cells, O(n^1.5 d), in each call; then O(sqrt(n) d) for each new
        sample.

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import SparseAgglomerative
        >>> SparseAgglomerative(2).fit([[0.0], [1.0], [9.0], [12.0]]).predict([[0.2], [10.0]]).tolist()
        [0, 1]
        """
        check_is_fitted(self)
        rows = self._validate(X, reset=False)
        samples: Any = self._samples
        nearest, _ = CellSearch(samples, self._seed).find(rows, np.full(len(rows), -1, dtype=np.int32), 1)
        return self.labels_[nearest[:, 0]]


def _bytes(n: int, d: int, k: int) -> int:
    """Memory for merging n samples of d features along k neighbors, beside the samples."""
    return n * (24 * d + 70 * k + 150)


def _smaller(n: int, d: int, k: int, given: Any) -> str:
    """What to type where memory does not suffice: fewer neighbors that fit, or a method that reads files in blocks."""
    free = available_memory()
    blocks = hint(
        command="-k N --workers 0 reads Parquet or .npy files in blocks and needs far less.",
        python="linkwise.scale.cluster reads Parquet or .npy files in blocks and needs far less.",
    )
    if free is None or given is not None:
        return blocks
    fits = k - 1
    while fits >= FEWEST and _bytes(n, d, fits) > free:
        fits -= 1
    if fits < FEWEST:
        return blocks
    typed = hint(command=f"--method sparseagglomerative --set n_neighbors={fits}", python=f"n_neighbors={fits}")
    return f"{typed} needs {_bytes(n, d, fits) / GIB:.1f} GiB; {blocks}"


def _read_neighbors(given: Any, n: int) -> SlotArray:
    """Read neighbors that were given; a graph becomes a table with -1 for none."""
    if scipy.sparse.issparse(given):
        graph = scipy.sparse.csr_array(given)
        if graph.shape != (n, n):
            msg = f"SparseAgglomerative: neighbors is a graph of shape {graph.shape}, expected ({n}, {n})."
            raise InvalidArgumentError(msg)
        degree = np.diff(graph.indptr)
        index = np.full((n, max(int(degree.max(initial=1)), 1)), -1, dtype=np.int32)
        row = np.repeat(np.arange(n), degree)
        index[row, np.arange(len(row)) - graph.indptr[row]] = graph.indices
        return index
    index = np.asarray(given)
    if index.ndim != 2 or len(index) != n or not index.shape[1] or index.dtype.kind not in "iu":
        msg = (
            f"SparseAgglomerative: neighbors has shape {index.shape} and type {index.dtype}, expected row numbers of "
            f"shape ({n}, k).\nHint: the first part of nearest_neighbors(X), or a sparse graph."
        )
        raise InvalidArgumentError(msg)
    if index.min() < -1 or index.max() >= n:
        msg = f"SparseAgglomerative: neighbors names row {int(index.max())}, expected -1 to {n - 1}."
        raise InvalidArgumentError(msg)
    return index.astype(np.int32)
