"""`HierarchyMixin` of all estimators that build a dendrogram: the cut into labels, and scikit-learn's tree names."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_array, check_is_fitted

from linkwise._compat import Interval, InvalidParameterError, StrOptions, validate_data
from linkwise._messages import hint, many
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import require_finite, require_numbers
from linkwise.constraints import Constraints
from linkwise.engines import FEATURES, REPORTED, SAMPLES, Kept, kept_floats, kept_instance
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY, LINKAGES, require_fitting
from linkwise.engines.distances import metric_name, read_dissimilarities, require_sparse_metric, warn_of_distances
from linkwise.engines.hierarchical._new_samples import Places, find_places, insert, new_distances
from linkwise.exceptions import DeadEndError, LinkwiseError, ViolationError
from linkwise.problem import Problem, check
from linkwise.result import Certificate, Dendrogram, Moved, cluster_tops, samples_outside, verify


def dead_end_message(reached: int, wanted: int) -> str:
    """Word that no legal merge is left at more clusters than wanted, and what to do."""
    taken = hint(command=f"-k {reached} takes", python=f"n_clusters=None or n_clusters={reached} takes")
    return (
        f"no legal merge was left at {many(reached, 'cluster')}, but {many(wanted, 'cluster')} "
        f"{'was' if wanted == 1 else 'were'} asked for: greedy merging met a dead end.\n"
        f"Hint: {taken} what there is; another linkage may get further."
    )


class HierarchyMixin:
    """Labels from ``n_clusters`` or ``distance_threshold``, and the attributes of `AgglomerativeClustering`.

    Parameters
    ----------
    n_clusters : int or None
        Number of clusters of the cut; None with no ``distance_threshold`` gives as few as the statements allow.
    linkage : {"average", "single", "complete", "weighted", "ward", "centroid", "median"}
        How the distance of two clusters follows from their members.
    metric : str or callable
        How samples are compared, or ``"precomputed"``.
    distance_threshold : float or None
        Cut at this height instead of at a number of clusters; needs ``n_clusters=None``.
    dtype : {"float64", "float32"}
        Type to compute in; single precision halves the memory and may swap near-ties.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, numbered by first appearance.
    dendrogram_ : Dendrogram
        The tree, or forest, with the clusters of ``labels_`` marked.
    k_min_ : int
        Fewest clusters this run could reach: the number of roots.
    n_clusters_, n_leaves_, n_connected_components_, children_, distances_
        As in scikit-learn's `AgglomerativeClustering`.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "linkage": [StrOptions(set(LINKAGES))],
        "metric": [str, callable],
        "distance_threshold": [Interval(Real, 0, None, closed="left"), None],
        "dtype": [StrOptions({"float32", "float64"})],
    }

    _saved: ClassVar[dict[str, Kept]] = {
        "dendrogram_": kept_instance(Dendrogram),
        "_samples": kept_floats(SAMPLES, FEATURES, optional=True),  # None after a fit to distances
        "n_leaves_": REPORTED,
        "n_connected_components_": REPORTED,
        "k_min_": REPORTED,
    }

    n_clusters: int | None
    distance_threshold: float | None
    linkage: str
    metric: Any
    dendrogram_: Dendrogram
    labels_: IntArray

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        linkage: str = "average",
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.linkage = linkage
        self.metric = metric
        self.distance_threshold = distance_threshold

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        given = self.metric == "precomputed"
        tags.input_tags.sparse = LINKAGES.get(self.linkage) not in EUCLIDEAN_ONLY and not given
        tags.input_tags.pairwise = tags.input_tags.positive_only = given
        return tags

    def _read(self, X: Any) -> Any:
        """Validate X, with words for what the linkage and the metric need."""
        who = type(self).__name__
        name = metric_name(self.metric, who=who)
        require_fitting(self.linkage, name, who=who)
        if scipy.sparse.issparse(X) and hasattr(self, "get_params") and "linkage" in self.get_params(deep=False):
            _require_sparse(who, self.linkage, name)
        samples = super()._read(X)  # type: ignore[misc]
        if name == "precomputed":
            _require_no_negatives(samples, who)
            samples = np.ascontiguousarray(read_dissimilarities(samples, who=who))
        elif not scipy.sparse.issparse(samples):
            warn_of_distances(samples, who=who)
        self._read_cut(samples.shape[0])
        return samples

    def _metric(self) -> Any:
        """The metric by its one canonical name, or the function given."""
        return self.metric if callable(self.metric) else metric_name(self.metric, who=type(self).__name__)

    def _read_cut(self, n_samples: int) -> None:
        """Refuse a number of clusters that cannot be, before any work is done."""
        name = type(self).__name__
        if isinstance(self.n_clusters, (bool, np.bool_)):
            msg = f"The 'n_clusters' parameter of {name} must be an int. Got {self.n_clusters!r} instead."
            raise InvalidParameterError(msg)
        if self.n_clusters is not None and self.distance_threshold is not None:
            msg = (
                f"{name} was given n_clusters={self.n_clusters} and distance_threshold={self.distance_threshold}; "
                "expected at most one of them.\nHint: set n_clusters=None to cut by distance."
            )
            raise LinkwiseError(msg)
        if self.n_clusters is not None and self.n_clusters > n_samples:
            msg = (
                f"{name} was asked for n_clusters={self.n_clusters}, but X has only n_samples={n_samples}.\n"
                f"Hint: n_clusters between 1 and {n_samples}."
            )
            raise LinkwiseError(msg)

    def _cut(self, tree: Dendrogram, constraints: Constraints) -> IntArray:  # noqa: ARG002
        """Cut where the parameters say; without either, as coarsely as the statements allow."""
        if self.distance_threshold is not None:
            return tree.cut(height=self.distance_threshold)
        if self.n_clusters is None:
            return tree.cut(n_clusters=tree.n_roots)
        if self.n_clusters < tree.n_roots:
            raise DeadEndError(dead_end_message(tree.n_roots, self.n_clusters), tree, tree.n_roots)
        return tree.cut(n_clusters=self.n_clusters)

    def _keep(self, outcome: Dendrogram, problem: Problem) -> None:
        """Cut the tree, mark the clusters in it and certify both."""
        labels = self._cut(outcome, problem.constraints)
        tree = mark(outcome, labels)
        self._keep_tree(tree, labels, self._certify(tree, problem), problem.X)  # type: ignore[attr-defined]

    def _keep_tree(self, tree: Dendrogram, labels: IntArray, certificate: Certificate, samples: Any) -> None:
        self.dendrogram_ = tree
        self._samples = None if getattr(self, "metric", None) == "precomputed" else samples
        self.labels_ = labels
        self.certificate_ = certificate
        self.n_clusters_ = int(labels.max()) + 1
        self.n_leaves_ = tree.n_samples
        self.n_connected_components_ = tree.n_roots
        self.k_min_ = tree.n_roots

    def predict(self, X: Any) -> IntArray:
        """Return the cluster each new sample joins; the tree, its clusters and what holds in them stay as they are.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New samples; with ``metric="precomputed"`` their dissimilarities from the samples of the fit, in its order
            (not with ward, centroid and median linkage, which are about centers).

        Returns
        -------
        ndarray of shape (n_new,)
            For each new sample the label of the cluster it would have been merged into first, had it come last.

        Notes
        -----
        **Cost** O(n d) time for each new sample, and no more than 64 MiB of distances at a time. **Guarantee** a
        sample of the fit gets its own label back, unless a copy of it has another one.

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import ConstrainedAgglomerative
        >>> model = ConstrainedAgglomerative(n_clusters=2).fit([[0.0], [1.0], [9.0], [12.0]])
        >>> model.predict([[0.2], [10.0]]).tolist()
        [0, 1]
        """
        return self._places(X).label

    def place(self, X: Any) -> Dendrogram:
        """Return the tree with new samples in it, numbered after those of the fit; the old part is unchanged.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New samples, as for `predict`.

        Returns
        -------
        Dendrogram
            A tree of ``n_samples + n_new`` samples. Without the new ones it is ``dendrogram_``; its marked clusters
            contain the new samples where `predict` says.

        Notes
        -----
        **Guarantee** every statement about old samples that held before still holds.

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import ConstrainedAgglomerative
        >>> model = ConstrainedAgglomerative(n_clusters=2).fit([[0.0], [1.0], [9.0], [12.0]])
        >>> tree = model.place([[0.2], [10.0]])
        >>> tree.cut_marked().tolist(), tree.cut(height=0.5).tolist()
        ([0, 0, 1, 1, 0, 1], [0, 1, 2, 3, 0, 4])
        """
        return insert(self.dendrogram_, self._places(X))

    def _places(self, X: Any) -> Places:
        check_is_fitted(self)
        require_numbers(X)
        sparse = "csr" if self.__sklearn_tags__().input_tags.sparse else False
        new = check_array(X, accept_sparse=sparse, dtype=np.float64, ensure_all_finite=False, estimator=self)
        require_finite(new, X, who=f"{type(self).__name__}.predict")
        validate_data(self, X, reset=False, skip_check_array=True)  # the features are those of the fit
        gaps, code, of_nodes = self._gaps(new)
        return find_places(self.dendrogram_, self.labels_, gaps, code, of_nodes=of_nodes)

    def _gaps(self, new: Any) -> tuple[Iterator[FloatArray], int, bool]:
        """Distances of new samples, the linkage that makes them distances from clusters, and whether they are so."""
        code = LINKAGES[getattr(self, "linkage", "single")]
        if self._samples is None:
            if code in EUCLIDEAN_ONLY:
                msg = (
                    f"{type(self).__name__} with linkage={self.linkage!r} was fitted to distances, which do not tell "
                    "how far a new sample is from the center of a cluster.\n"
                    "Hint: fit to vectors with metric='euclidean', or take linkage='average'."
                )
                raise LinkwiseError(msg)
            _require_no_negatives(new, type(self).__name__)
            return iter([new]), code, False
        return new_distances(new, self._samples, self._metric(), self.dendrogram_, code), code, code in EUCLIDEAN_ONLY

    @property
    def moved_(self) -> Moved:
        """Samples outside the branch of their cluster, whose own branch was too small and was given to it."""
        return samples_outside(self.dendrogram_, self.labels_)

    @property
    def children_(self) -> IntArray:
        """Children of each inner node, as in scikit-learn's `AgglomerativeClustering`."""
        return self.dendrogram_.to_children()

    @property
    def distances_(self) -> FloatArray:
        """Height of each inner node, never below that of its children."""
        return self.dendrogram_.height[self.dendrogram_.n_samples :]


def recut(model: Any, n_clusters: int) -> Any:
    """Return a copy of a fitted hierarchy with another number of clusters, as fitting it again would give.

    ``model`` was fitted with ``n_clusters=None`` and hard statements only, by a method whose tree does not depend on
    the number of clusters. It refuses what another fit would refuse.
    """
    twin = copy.copy(model)
    twin.n_clusters = n_clusters
    tree, known = model.dendrogram_, model.constraints_
    twin._read_cut(tree.n_samples)
    labels = twin._cut(tree, known)
    tree = mark(tree, labels)
    certificate = verify(tree, known)
    if not (certificate.ok or (model._may_break and not certificate.faults)):
        check(known, n_clusters=n_clusters).raise_if_infeasible()
        msg = f"{type(model).__name__}: {n_clusters} clusters of the tree break statements.\n{certificate}"
        raise ViolationError(msg, certificate)
    twin._keep_tree(tree, labels, certificate, model._samples)
    return twin


def mark(tree: Dendrogram, labels: IntArray) -> Dendrogram:
    """Return the tree with the clusters of a cut marked; each cluster must be a whole subtree."""
    tops = np.flatnonzero(cluster_tops(tree.parent, labels))
    return Dendrogram(tree.n_samples, tree.parent, tree.raw_height, marked=tops, ids=tree.ids, joins=tree.joins)


def _require_no_negatives(samples: FloatArray, who: str) -> None:
    if samples.min() < 0:
        i, j = (int(v[0]) for v in np.nonzero(samples < 0))
        msg = (
            f"{who} got a negative dissimilarity for the pair ({i}, {j}). Negative values in data are not distances.\n"
            "Hint: a similarity s can be turned into 1 - s."
        )
        raise LinkwiseError(msg)


def _require_sparse(who: str, linkage: str, metric: str) -> None:
    """Raise when a linkage or a metric cannot work on sparse vectors."""
    if LINKAGES[linkage] in EUCLIDEAN_ONLY:
        msg = (
            f'{who} with linkage="{linkage}" works on centroids and takes no sparse X.\n'
            'Hint: linkage="average", "complete", "single" or "weighted" take sparse data; or pass X.toarray().'
        )
        raise LinkwiseError(msg)
    require_sparse_metric(who, metric)
