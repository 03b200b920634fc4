"""The front door: from data and knowledge to a method, with the reasons; then to clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from linkwise.constraints import Constraints, Kind, SizeBetween
from linkwise.engines._base import ConstrainedClusterer
from linkwise.engines._binding import bind
from linkwise.engines.hierarchical import ConstrainedAgglomerative, ConstrainedCompleteLink, ReCon
from linkwise.engines.hierarchical._hierarchy import mark
from linkwise.engines.partitional import COPKMeans, PCKMeans
from linkwise.exceptions import DeadEndError, LinkwiseError
from linkwise.result import Certificate, Dendrogram, verify

__all__ = ["Clustering", "cluster"]

IntArray = npt.NDArray[np.intp]

# Samples up to which a matrix of all distances is taken without being asked for: 3.2 GB.
MATRIX = 20_000
# A feature that spreads so many times as far as another decides alone.
UNEQUAL = 20.0
_PAIRS = (Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TOGETHER, Kind.APART)


@dataclass(frozen=True, eq=False)
class Clustering:
    """What `cluster` found, by which method, and why by that one.

    Attributes
    ----------
    labels : ndarray of shape (n_samples,)
        Cluster of each sample.
    n_clusters : int
        How many there are.
    dendrogram : Dendrogram or None
        The hierarchy, with the clusters marked; None when the method makes none.
    certificate : Certificate
        The independent check of every statement.
    estimator : ConstrainedClusterer
        The fitted estimator, for `predict` and everything else.
    reasons : tuple of str
        Why this method, these parameters and this number of clusters; one sentence each.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, cluster
    >>> found = cluster(np.array([[0.0], [1.0], [5.0], [6.5]]), Constraints.build(4, triplets=[(0, 2, 1)]))
    >>> type(found.estimator).__name__, found.certificate.ok
    ('ReCon', True)
    """

    labels: IntArray
    n_clusters: int
    dendrogram: Dendrogram | None
    certificate: Certificate
    estimator: ConstrainedClusterer
    reasons: tuple[str, ...]

    def __str__(self) -> str:
        because = "\n".join(f"  - {reason}" for reason in self.reasons)
        return f"{len(self.labels):,} samples in {self.n_clusters:,} clusters.\n{self.certificate}\nHow:\n{because}"

    def __repr__(self) -> str:
        name = type(self.estimator).__name__
        return f"Clustering({len(self.labels):,} samples in {self.n_clusters:,} clusters, by {name})"


def cluster(
    X: Any,
    constraints: Constraints | None = None,
    n_clusters: int | None = None,
    *,
    metric: str | None = None,
    random_state: Any = 0,
) -> Clustering:
    """Cluster samples under whatever is known about them, by a method that suits both, and say which and why.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples, dense or sparse; or, with ``metric="precomputed"``, their dissimilarities.
    constraints : Constraints, optional
        What is known: any kinds of statement and rule, in any mix some method understands.
    n_clusters : int, optional
        How many clusters. None: as many as the statements force or, where they force none, as the largest step in the
        heights of the tree suggests.
    metric : str, optional
        How samples are compared. None: cosine for sparse data, Euclidean for other.
    random_state : int, RandomState or None, default=0
        For methods that begin at random.

    Returns
    -------
    Clustering
        Labels, tree, certificate, the fitted estimator, and the reasons for the choice; print it to read them.

    Raises
    ------
    InfeasibleConstraintsError
        Hard statements contradict each other; the error names them.
    LinkwiseError
        No single method understands all that was said, or n_clusters is missing where a method needs it.
    DeadEndError
        Greedy merging ended above ``n_clusters``, and no other method knows this kind of data or statement.

    See Also
    --------
    linkwise.check : whether the knowledge can hold together at all, before any data are looked at.

    Notes
    -----
    Triplets, alone or with pairs and groups: `ReCon`. Rules about distances: `ConstrainedAgglomerative`. Rules about
    sizes: `COPKMeans`. Pairs and groups: `ConstrainedCompleteLink` with average linkage, which lets statements pull
    their surroundings along, up to 20,000 samples; beyond, where no matrix of distances should be held, `COPKMeans`, or
    `PCKMeans` if some are soft, or without ``n_clusters`` `ConstrainedAgglomerative` with Ward linkage. Nothing said:
    Ward linkage, average where the data are no plain vectors. Where greedy merging ends above the number of clusters
    asked for, `COPKMeans` takes over, if it can.

    **Cost** that of the method chosen. **Guarantee** that of the method chosen: every hard statement holds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linkwise import Constraints, cluster
    >>> X, y = load_iris(return_X_y=True)
    >>> print(cluster(X, Constraints.from_labels([0] * 5 + [-1] * 50 + [1] * 5 + [-1] * 85 + [2] * 5), n_clusters=3))
    150 samples in 3 clusters.
    All 15 hard statements hold: 12 must-links, 3 cannot-links.
    How:
      - ConstrainedCompleteLink(linkage='average'): what pairs say tells something about their neighbours too.
    """
    sparse = scipy.sparse.issparse(X)
    shape = np.shape(X)
    if len(shape) != 2 or not shape[0]:
        msg = f"cluster: X has shape {shape}, expected (n_samples, n_features) with at least one sample."
        raise LinkwiseError(msg)
    known = bind(constraints, X, shape[0])
    compare = metric or ("cosine" if sparse else "euclidean")
    task = _Task(shape[0], known, n_clusters, compare, sparse, random_state)
    model, why = _choose(task)
    try:
        model.fit(X, constraints=known)
    except DeadEndError as end:
        first = type(model).__name__
        model, why = _instead(task, end)
        why = f"{first} met a dead end at {end.k_min} clusters; {why}"
        model.fit(X, constraints=known)
    reasons = [f"{type(model).__name__}({_options(model)}): {why}"]
    if metric is None and sparse:
        reasons.append("cosine distances, since X is sparse.")
    if not sparse and compare == "euclidean":
        reasons += _scales(X)
    labels, tree = model.labels_, getattr(model, "dendrogram_", None)
    certificate = model.certificate_
    if n_clusters is None:
        reason = f"{model.n_clusters_} clusters: the fewest the statements leave to this method."
        if tree is not None and model.n_clusters_ == 1:
            reason = "1 cluster: no step in the heights of the tree gives clusters in which all statements hold."
            for labels_k, tree_k in _by_steps(tree, model.constraints_):
                checked = verify(tree_k, model.constraints_, X=X if known.rules else None, metric=compare)
                if checked.ok:
                    labels, tree, certificate = labels_k, tree_k, checked
                    model.set_params(n_clusters=int(labels.max()) + 1)
                    model._keep_tree(tree, labels, certificate, model._samples)  # so that `predict` knows them
                    reason = f"{int(labels.max()) + 1} clusters: the largest step in the heights of the tree."
                    break
        reasons.append(reason)
    return Clustering(labels, int(labels.max()) + 1, tree, certificate, model, tuple(reasons))


@dataclass(frozen=True)
class _Task:
    """What the choice goes by."""

    n: int
    known: Constraints
    n_clusters: int | None
    metric: str
    sparse: bool
    random_state: Any

    @property
    def is_plain(self) -> bool:
        """Dense vectors that have centres."""
        return self.metric == "euclidean" and not self.sparse

    @property
    def is_large(self) -> bool:
        return self.n > MATRIX

    def says(self, *kinds: Kind) -> bool:
        return any(bool((self.known.kind == kind).any()) for kind in kinds)


def _choose(task: _Task) -> tuple[Any, str]:
    """The estimator for a task, unfitted, and the reason."""
    k = task.n_clusters
    sizes = any(isinstance(rule, SizeBetween) for rule in task.known.rules)
    if task.says(Kind.TRIPLET):
        linkage = "centroid" if task.is_plain else "average"
        return ReCon(k, linkage=linkage, metric=task.metric), "triplets need a hierarchy in which they hold."
    if sizes:
        return _kmeans(COPKMeans, task, "sizes of clusters are bounded, which hierarchies do not know how to keep.")
    if task.known.rules:
        linkage = "ward" if task.is_plain and task.is_large else "average"
        made = ConstrainedAgglomerative(k, linkage=linkage, metric=task.metric)
        return made, "rules about distances are kept while merging."
    if task.says(*_PAIRS):
        if not task.is_large:
            made = ConstrainedCompleteLink(k, linkage="average", metric=task.metric)
            return made, "what pairs say tells something about their neighbours too."
        if task.is_plain and k is not None:
            many = f"{task.n:,} samples are too many for a matrix of distances"
            if task.known.is_hard.all():
                return _kmeans(COPKMeans, task, f"{many}.")
            return _kmeans(PCKMeans, task, f"{many}, and soft statements are weighed against them.")
        linkage = "ward" if task.is_plain else "average"
        made = ConstrainedAgglomerative(k, linkage=linkage, metric=task.metric)
        return made, f"{task.n:,} samples; Ward linkage needs no matrix of distances." if task.is_plain else "pairs."
    linkage = "ward" if task.is_plain else "average"
    return ConstrainedAgglomerative(k, linkage=linkage, metric=task.metric), "nothing was said that asks for more."


def _instead(task: _Task, end: DeadEndError) -> tuple[Any, str]:
    """What goes on where greedy merging cannot: a method that assigns instead of merging."""
    if not task.is_plain or task.n_clusters is None or task.says(Kind.TRIPLET) or task.known.rules:
        raise end
    return _kmeans(COPKMeans, task, "assigning instead of merging has none.")


def _kmeans(kind: Callable[..., Any], task: _Task, why: str) -> tuple[Any, str]:
    if task.n_clusters is None:
        msg = (
            f"cluster chose {kind.__name__}, since {why} It needs to be told how many clusters to make.\n"
            "Hint: pass n_clusters; `check(constraints)` says how few there can be."
        )
        raise LinkwiseError(msg)
    if not task.is_plain:
        msg = (
            f"cluster chose {kind.__name__}, since {why} It works on plain vectors, but metric is {task.metric!r}.\n"
            'Hint: pass dense X with metric="euclidean", or leave the sizes out.'
        )
        raise LinkwiseError(msg)
    return kind(task.n_clusters, random_state=task.random_state), why


def _options(model: Any) -> str:
    """The parameters that differ from what a user would get without saying anything."""
    plain = {name: p.default for name, p in _signature(type(model)).items()}
    skip = ("n_clusters", "random_state")
    given = model.get_params()
    return ", ".join(f"{name}={given[name]!r}" for name in plain if name not in skip and given[name] != plain[name])


def _signature(kind: type) -> dict[str, Any]:
    import inspect

    return {
        name: p for name, p in inspect.signature(kind).parameters.items() if p.default is not inspect.Parameter.empty
    }


def _scales(X: Any) -> list[str]:
    """A word of warning, where one feature decides alone."""
    try:
        spread = np.asarray(X, dtype=np.float64).std(axis=0)
    except (TypeError, ValueError):
        return []  # fit says what is wrong with X
    spread = spread[spread > 0]
    if not len(spread) or not np.isfinite(spread).all() or spread.max() <= UNEQUAL * spread.min():
        return []
    times = spread.max() / spread.min()
    return [f"one feature spreads {times:,.0f} times as far as another and decides alone; consider scaling them."]


def _by_steps(tree: Dendrogram, known: Constraints) -> Iterator[tuple[IntArray, Dendrogram]]:
    """Cut into 2 to 20 clusters, first where the height of the tree makes its largest step."""
    heights = np.sort(tree.height[tree.n_samples :])[::-1]
    heights = heights[heights > 0]  # what is together at height 0 stays together
    steps = heights[:19] / np.append(heights[1:20], heights[-1:])[: len(heights[:19])]
    for k in (np.argsort(-steps, kind="stable") + 2).tolist():
        labels = tree.cut_constrained(known, k) if (known.kind == Kind.TRIPLET).any() else tree.cut(n_clusters=k)
        yield labels, mark(tree, labels)
