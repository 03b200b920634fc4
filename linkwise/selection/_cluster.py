"""The front door: from data and knowledge to a method, with the reasons; then to clusters."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse

from linkwise._memory import MATRIX
from linkwise._typing import IntArray
from linkwise.constraints import Constraints, Kind, SizeBetween
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.hierarchical import ConstrainedAgglomerative, ConstrainedCompleteLink, ReCon, detours
from linkwise.engines.partitional import COPKMeans, PCKMeans
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.metrics import silhouette
from linkwise.problem.statements import bind
from linkwise.result import Certificate, Dendrogram
from linkwise.selection._automatic import (
    candidate_methods,
    cut_by_steps,
    explain,
    nearly_all_in_one,
    numbers_of_clusters,
    search_among,
    too_little,
)
from linkwise.selection._search_cv import KnowledgeSearchCV

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
    search : KnowledgeSearchCV or None
        The comparison behind ``n_clusters="auto"``; ``print(found.search.table())`` shows it.

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
    search: KnowledgeSearchCV | None = None

    def __str__(self) -> str:
        because = "\n".join(f"  - {reason}" for reason in self.reasons)
        return f"{len(self.labels):,} samples in {self.n_clusters:,} clusters.\n{self.certificate}\nHow:\n{because}"

    def __repr__(self) -> str:
        name = type(self.estimator).__name__
        return f"Clustering({len(self.labels):,} samples in {self.n_clusters:,} clusters, by {name})"


def cluster(
    X: Any,
    constraints: Constraints | None = None,
    n_clusters: int | str | None = None,
    *,
    metric: str | None = None,
    min_cluster_size: int | str | None = "auto",
    random_state: Any = 0,
) -> Clustering:
    """Cluster samples under whatever is known about them, by a method that suits both, and say which and why.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples, dense or sparse; or, with ``metric="precomputed"``, their dissimilarities.
    constraints : Constraints, optional
        What is known: any kinds of statement and rule, in any mix some method understands.
    n_clusters : int or "auto", optional
        How many clusters. None: as many as the statements force or, where they force none, as the largest step in the
        heights of the tree suggests. "auto": method and number that best predict knowledge they were not told, found
        by `KnowledgeSearchCV`; where too little is known for that, as for None, and the reasons say so.
    metric : str, optional
        How samples are compared. None: cosine for sparse data, Euclidean for other.
    min_cluster_size : int, "auto" or None, default="auto"
        For triplets: branches of the tree with fewer samples are outliers, given to the nearest cluster in which no
        statement breaks, as `ReCon` does; "auto" takes two fifths of an average cluster, and can miss classes of fewer
        samples, even where triplets tell them. 1 or None: every cluster is a branch of the tree. A number above 1 goes
        with triplets alone and a number of clusters.
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
        Greedy merging under triplets or rules ended above ``n_clusters``; under other statements it is helped on.

    See Also
    --------
    linkwise.check : whether the knowledge can hold together at all, before any data are looked at.
    linkwise.KnowledgeSearchCV : the search behind "auto", with candidates of your own.

    Notes
    -----
    Triplets, alone or with pairs and groups: `ReCon`. Rules about distances: `ConstrainedAgglomerative`. Rules about
    sizes: `COPKMeans`. Pairs and groups: `ConstrainedCompleteLink` with average linkage, which lets statements pull
    their surroundings along, up to 20,000 samples; beyond, where no matrix of distances should be held, `COPKMeans`, or
    `PCKMeans` if some are soft, or without ``n_clusters`` `ConstrainedAgglomerative` with Ward linkage. Nothing said:
    Ward linkage, average where the data are no plain vectors. Where greedy merging ends above the number of clusters
    asked for, `COPKMeans` takes over, if it can.

    With "auto", of the methods above those that understand what was said are compared, up to 3,000 samples also
    `ConstrainedCompleteLink`, `MPCKMeans` and `ConstrainedGaussianMixture`, each with 2 to 12 clusters or, where
    cannot-links force more, some beyond. Triplets alone say nothing about a number of clusters, only about the tree:
    they choose the linkage, and the heights the number.

    **Cost** that of the method chosen; with "auto" of eleven fits for each method and number. **Guarantee** that
    of the method chosen: every hard statement holds.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linkwise import Constraints, cluster
    >>> X, y = load_iris(return_X_y=True)
    >>> print(cluster(X, Constraints.from_labels([0] * 5 + [-1] * 50 + [1] * 5 + [-1] * 85 + [2] * 5), n_clusters=3))
    150 samples in 3 clusters.
    All 15 hard statements hold: 12 must-links, 3 cannot-links.
    How:
      - ConstrainedCompleteLink(linkage='average'): what pairs say tells something about their neighbors too.
    """
    found = _cluster(X, constraints, n_clusters, metric, min_cluster_size, random_state)
    dense = not scipy.sparse.issparse(X) and metric in (None, "euclidean")
    odd = nearly_all_in_one(found.estimator, found.labels, dense=dense, automatic=n_clusters == "auto")
    return replace(found, reasons=(*found.reasons, *odd)) if odd else found


def _cluster(
    X: Any,
    constraints: Constraints | None,
    n_clusters: int | str | None,
    metric: str | None,
    min_cluster_size: int | str | None,
    random_state: Any,
) -> Clustering:
    if isinstance(n_clusters, str) and n_clusters != "auto":
        msg = f'cluster: n_clusters is {n_clusters!r}, expected a number, "auto" or None.'
        raise LinkwiseError(msg)
    sparse = scipy.sparse.issparse(X)
    shape = np.shape(X)
    if len(shape) != 2 or not shape[0]:
        msg = f"cluster: X has shape {shape}, expected (n_samples, n_features) with at least one sample."
        raise LinkwiseError(msg)
    known = bind(constraints, X, shape[0])
    compare = metric or ("cosine" if sparse else "euclidean")
    _require_fitting_size(min_cluster_size, n_clusters, known)
    if isinstance(n_clusters, str):
        return _automatic(X, _Task(shape[0], known, None, compare, sparse, random_state), metric)
    task = _Task(shape[0], known, n_clusters, compare, sparse, random_state, min_cluster_size)
    model, why = _choose(task)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "greedy merging met a dead end", LinkwiseWarning)  # the reasons tell it
        model.fit(X, constraints=known)
    reasons = [f"{type(model).__name__}({_options(model)}): {why}", *_about_data(X, task, metric)]
    reasons += detours(model)
    if n_clusters is not None:
        tree = getattr(model, "dendrogram_", None)
        return Clustering(model.labels_, int(model.labels_.max()) + 1, tree, model.certificate_, model, tuple(reasons))
    return _settle(model, X, task, reasons)


def _require_fitting_size(size: int | str | None, n_clusters: int | str | None, known: Constraints) -> None:
    """Refuse a smallest size of clusters where nothing would come of it."""
    if size in (None, 1, "auto"):
        return
    if isinstance(size, (bool, np.bool_)) or not isinstance(size, (int, np.integer)) or size < 1:
        msg = f'cluster: min_cluster_size is {size!r}, expected a whole number from 1, "auto" or None.'
        raise LinkwiseError(msg)
    lack = (
        "" if isinstance(n_clusters, (int, np.integer)) else f"a number of clusters, but n_clusters is {n_clusters!r}"
    )
    if not (known.kind == Kind.TRIPLET).any() or (known.kind != Kind.TRIPLET).any():
        lack = (
            "triplets alone, but there are none" if not known.n_statements else "triplets alone, but there are others"
        )
    if lack:
        msg = f"cluster: min_cluster_size={size} goes with {lack}.\nHint: leave min_cluster_size out."
        raise LinkwiseError(msg)


def _automatic(X: Any, task: _Task, metric: str | None) -> Clustering:
    """Choose method and number of clusters by what was held out; where nothing can be, by the data, and say so."""
    known = task.known
    lack = too_little(known)
    if lack and any(isinstance(rule, SizeBetween) for rule in known.rules):
        return _by_silhouette(X, task, metric, lack)
    if lack:
        found = _cluster(X, known, None, metric, task.min_cluster_size, task.random_state)
        return replace(found, reasons=(f"{lack}, so the number of clusters is not judged by it.", *found.reasons))
    methods = candidate_methods(X, known, task.metric, task.random_state, matrix=not task.is_large)
    search = search_among(methods, X, known, task.random_state)
    reasons = [*explain(search, methods), *_about_data(X, task, metric)]
    model = search.best_estimator_
    if model.n_clusters is None:
        return replace(_settle(model, X, task, reasons), search=search)
    tree = getattr(model, "dendrogram_", None)
    return Clustering(
        model.labels_, int(model.labels_.max()) + 1, tree, model.certificate_, model, tuple(reasons), search
    )


def _by_silhouette(X: Any, task: _Task, metric: str | None, lack: str) -> Clustering:
    """Try numbers of clusters for a method that has no tree, and take the one with the best separated clusters."""
    best, tried = None, []
    for k in numbers_of_clusters(X, task.known):
        model, why = _choose(replace(task, n_clusters=k))
        try:
            model.fit(X, constraints=task.known)
        except LinkwiseError as end:
            tried.append(end)
            continue
        score = silhouette(np.asarray(X), model.labels_) if model.n_clusters_ > 1 else -1.0
        if best is None or score > best[0]:
            best = score, model, why
    if best is None:
        raise tried[0]
    score, model, why = best
    reasons = [
        f"{type(model).__name__}({_options(model)}): {why}",
        f"{lack}; {model.n_clusters_} clusters have the largest silhouette, {score:.2f}.",
        *_about_data(X, task, metric),
    ]
    return Clustering(model.labels_, model.n_clusters_, None, model.certificate_, model, tuple(reasons))


def _about_data(X: Any, task: _Task, metric: str | None) -> list[str]:
    said = ["cosine distances, since X is sparse."] if metric is None and task.sparse else []
    return said + (_scales(X) if not task.sparse and task.metric == "euclidean" else [])


def _settle(model: Any, X: Any, task: _Task, reasons: list[str]) -> Clustering:
    """Settle the number of clusters of a fitted model that was told none."""
    tree = getattr(model, "dendrogram_", None)
    if tree is not None:
        cut = cut_by_steps(model, X, task.metric)
        made = cut.labels, int(cut.labels.max()) + 1, cut.tree, cut.certificate
        if made[1] != model.n_clusters_:
            model.set_params(n_clusters=made[1])
            model._keep_tree(cut.tree, cut.labels, cut.certificate, model._samples)  # so that `predict` knows them
        return Clustering(*made, model, (*reasons, cut.reason))
    reason = f"{model.n_clusters_} clusters: the fewest the statements leave to this method."
    return Clustering(model.labels_, model.n_clusters_, None, model.certificate_, model, (*reasons, reason))


@dataclass(frozen=True)
class _Task:
    """What the choice goes by."""

    n: int
    known: Constraints
    n_clusters: int | None
    metric: str
    sparse: bool
    random_state: Any
    min_cluster_size: int | str | None = "auto"

    @property
    def is_plain(self) -> bool:
        """Dense vectors that have centers."""
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
        made = ReCon(k, linkage=linkage, metric=task.metric, min_cluster_size=task.min_cluster_size)
        return made, "triplets need a hierarchy in which they hold."
    if sizes:
        return _kmeans(COPKMeans, task, "sizes of clusters are bounded, which hierarchies do not know how to keep.")
    if task.known.rules:
        linkage = "ward" if task.is_plain and task.is_large else "average"
        made = ConstrainedAgglomerative(k, linkage=linkage, metric=task.metric)
        return made, "rules about distances are kept while merging."
    if task.says(*_PAIRS):
        if not task.is_large:
            made = ConstrainedCompleteLink(k, linkage="average", metric=task.metric)
            return made, "what pairs say tells something about their neighbors too."
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
