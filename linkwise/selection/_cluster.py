"""The front door of the library: `cluster`, which chooses a method or runs the one asked for, and its `Clustering`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse
from sklearn.base import clone

from linkwise._data_frames import make_frame
from linkwise._messages import hint, many, some_of, spoken_in_shell
from linkwise._notebook import Bar, bars, card
from linkwise._typing import IntArray
from linkwise.constraints import CHOICES, Constraints
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.consensus import Consensus
from linkwise.engines.hierarchical import SparseAgglomerative, detours
from linkwise.exceptions import (
    InvalidArgumentError,
    LinkwiseError,
    LinkwiseWarning,
    UnsupportedConstraintError,
)
from linkwise.metrics import silhouette
from linkwise.problem import check
from linkwise.problem.feasibility import read_range
from linkwise.problem.statements import bind
from linkwise.result import Certificate, Dendrogram
from linkwise.selection._automatic import (
    candidate_methods,
    cluster_grid,
    cut_by_steps,
    explain,
    nearly_all_in_one,
    numbers_of_clusters,
    search_among,
    too_little,
)
from linkwise.selection._choice import (
    MOST_VOTED,
    Task,
    choose,
    describe,
    make,
    makes_tree,
    methods_that_understand,
    needs_number,
    parameters,
    require_arguments,
    require_fitting_size,
    require_room,
)
from linkwise.selection._doubt import about_views
from linkwise.selection._merge_or_vote import merge_or_vote
from linkwise.selection._methods import EFFORTS, load_method, method_name
from linkwise.selection._search_cv import KnowledgeSearchCV

# A feature that spreads this many times as far as another decides the distances alone.
_UNEQUAL = 20.0
_SHOWN = 15  # clusters whose sizes a notebook shows


@dataclass(frozen=True, eq=False, kw_only=True)
class Clustering:
    """The result of `cluster`: clusters, the method that found them, and the reasons for it.

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

    def to_frame(self, backend: Literal["pandas", "polars", "pyarrow"] = "pandas") -> Any:
        """Return the clusters as a data frame: a column ``sample`` of names or row numbers, and ``cluster``.

        Examples
        --------
        >>> from linkwise import Constraints, cluster
        >>> cluster([[0.0], [1.0], [9.0]], Constraints.build(3, must_link=[(0, 1)]), 2).to_frame()
           sample  cluster
        0       0        0
        1       1        0
        2       2        1
        """
        ids = self.estimator.constraints_.ids
        names = list(range(len(self.labels))) if ids is None else ids.tolist()
        return make_frame("to_frame", {"sample": names, "cluster": self.labels.tolist()}, backend)

    def __str__(self) -> str:
        because = "\n".join(f"  - {reason}" for reason in self.reasons)
        return f"{self._counted}.\n{self.certificate}\nHow:\n{because}"

    def __repr__(self) -> str:
        name = type(self.estimator).__name__
        return f"Clustering({self._counted}, by {name})"

    def _repr_html_(self) -> str:
        sizes = np.bincount(self.labels[self.labels >= 0])
        rows = [
            Bar(f"cluster {at}", size / max(sizes.max(), 1), f"{size:,}")
            for at, size in enumerate(sizes[:_SHOWN].tolist())
        ]
        note = f"and {many(len(sizes) - _SHOWN, 'cluster')} more" if len(sizes) > _SHOWN else ""
        return card(str(self), tone="good" if self.certificate.ok else "bad", more=bars(rows, note))

    @property
    def _counted(self) -> str:
        return f"{many(len(self.labels), 'sample')} in {many(self.n_clusters, 'cluster')}"


def cluster(
    X: Any,
    constraints: Constraints | None = None,
    n_clusters: int | tuple[int, int] | str | None = None,
    *,
    method: str | None = None,
    linkage: str | None = None,
    distance_threshold: float | None = None,
    metric: Any = None,
    min_cluster_size: int | str | None = "auto",
    random_state: Any = 0,
    params: Mapping[str, Any] | None = None,
    trust: Any = "hard",
    effort: str = "full",
) -> Clustering:
    """Cluster samples under constraints, by the method asked for or by one that suits both, and give the reasons.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples, dense or sparse; or, with ``metric="precomputed"``, their dissimilarities.
    constraints : Constraints, optional
        Statements of any kind and rules, in any mix that some method understands.
    n_clusters : int, (int, int) or "auto", optional
        How many clusters. Two numbers: as for "auto", among the numbers from the first to the second. None: as many as
        the statements force or, where they force none, as the largest step in the heights of the tree suggests.
        "auto": the method and the number that best predict statements held out, found by `KnowledgeSearchCV`; where
        there are too few statements for that, as for None, and the reasons tell it.
    method : str, optional
        The name of any clusterer of the package, in upper or lower case, such as "COPKMeans" or "recon";
        "agglomerative" is short for "ConstrainedAgglomerative". None: chosen, see Notes.
    linkage : {"average", "complete", "single", "ward", "weighted", "centroid", "median"}, optional
        How the distance of two clusters follows from their members. Without ``method``, only methods that have a
        linkage are chosen.
    distance_threshold : float, optional
        Cut the tree at this height instead of into a number of clusters. Without ``method``, only methods that make a
        tree are chosen.
    metric : str or callable, optional
        How samples are compared. None: cosine for sparse data, Euclidean for other.
    min_cluster_size : int, "auto" or None, default="auto"
        For triplets: branches of the tree with fewer samples are outliers, given to the nearest cluster in which no
        statement breaks, as `ReCon` does; "auto" takes two fifths of an average cluster, and can miss classes of fewer
        samples, even where triplets tell them. 1 or None: every cluster is a branch of the tree. A number above 1 goes
        with triplets alone and a number of clusters.
    random_state : int, RandomState or None, default=0
        For methods that begin at random.
    params : dict, optional
        Further parameters of ``method``, such as ``{"max_iter": 50}``.
    trust : "hard", "doubtful", float or array-like of shape (n_statements,), default="hard"
        Probability that hard statements are right. "hard": they hold. Below 1, "doubtful" being 0.95: they are weighed
        against the data, and the reasons name those that the data contradict. Soft statements keep their weights. To
        trust sources differently, join tables made with `Constraints.with_trust`.
    effort : {"full", "quick"}, default="full"
        "full" compares many views of the data where it can, "quick" fits one method.

    Returns
    -------
    Clustering
        Labels, tree, certificate, the fitted estimator, and the reasons for the choice; print it to read them.

    Raises
    ------
    InvalidArgumentError
        A name is unknown, a value is wrong, or arguments do not go together, such as a linkage and `COPKMeans`.
    InfeasibleConstraintsError
        Hard statements contradict each other; the error names them.
    UnsupportedConstraintError
        The method does not understand some of the constraints; the error names methods that do.
    MemoryLimitError
        The distances between samples would not fit into memory; nothing is computed then.
    LinkwiseError
        n_clusters is missing where a method needs it.
    DeadEndError
        Greedy merging under triplets or rules ended above ``n_clusters``; under other statements the samples are
        divided again.

    See Also
    --------
    linkwise.check : whether the constraints can hold together, decided without data.
    linkwise.KnowledgeSearchCV : the search behind "auto", with your own candidates.

    Notes
    -----
    The choice, without ``method``. From 50 samples on, with ``n_clusters`` and full effort, plain or sparse vectors
    and no rules, linkage or height: `Consensus`, unless triplets are about several levels of a hierarchy, so that two
    samples are together in one and apart in another. Otherwise one method is fitted.

    Above 20,000 plain samples, full effort, hard pairs and groups or no statements: `SparseAgglomerative`, with
    ``refine`` up to 1,000 clusters. Up to 300 clusters it and `Consensus` are first fitted with a part of the
    statements, and `Consensus` is taken if it predicts the others better. The same from 3,000 samples on for more than
    300 clusters. Also `SparseAgglomerative` above 20,000 plain samples without ``n_clusters``, or with triplets and
    quick effort.

    Triplets, alone or with pairs and groups: `ReCon`. Rules about distances: `ConstrainedAgglomerative`. Rules about
    sizes: `COPKMeans`. Pairs and groups: `ConstrainedCompleteLink` with average linkage, which lets statements pull
    their surroundings along, up to 20,000 samples; beyond, where a matrix of distances is too large, `COPKMeans`, or
    `PCKMeans` if some are soft, or with a ``linkage`` `ConstrainedAgglomerative`, with Ward linkage unless another is
    given. No statements: `ConstrainedAgglomerative` with Ward linkage, average where the
    data are not plain vectors. Where greedy merging ends above the number of clusters asked for, the samples are
    divided again so that all statements hold.

    With "auto" or a range, of the methods above those that understand the constraints are compared, up to 3,000
    samples also `ConstrainedCompleteLink`, `MPCKMeans` and `ConstrainedGaussianMixture`, each with the numbers of the
    range or with 2 to 12 clusters and, where cannot-links force more, some beyond. Triplets alone constrain the tree
    but not the number of clusters: they choose the linkage, and the heights choose the number. With the number found,
    the choice is then as above: full effort lets views vote. A ``method`` is compared with itself only.

    **Cost** that of the method; with "auto" also of eleven fits for each method and number. **Guarantee** that of the
    method: every hard statement holds unless its documentation calls it best effort. The number of clusters lies in a
    range that is given.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linkwise import Constraints, cluster
    >>> X, y = load_iris(return_X_y=True)
    >>> some = Constraints.from_labels([0] * 5 + [-1] * 50 + [1] * 5 + [-1] * 85 + [2] * 5)
    >>> print(cluster(X, some, n_clusters=3, effort="quick"))
    150 samples in 3 clusters.
    All 15 hard statements hold: 12 must-links, 3 cannot-links.
    How:
      - ConstrainedCompleteLink(linkage='average'): constraints on pairs also move their neighbors.

    With full effort, many views of the data vote:

    >>> cluster(X, some, n_clusters=3)
    Clustering(150 samples in 3 clusters, by Consensus)

    The same with another method, and parameters of it:

    >>> cluster(X, some, 3, method="copkmeans", params={"n_init": 4})
    Clustering(150 samples in 3 clusters, by COPKMeans)
    """
    task = _read(
        X,
        constraints,
        n_clusters,
        method=method,
        linkage=linkage,
        distance_threshold=distance_threshold,
        metric=metric,
        min_cluster_size=min_cluster_size,
        random_state=random_state,
        params=params,
        trust=trust,
        effort=effort,
    )
    automatic = isinstance(n_clusters, str) or task.between is not None
    try:
        if task.between is not None:
            check(
                task.known, n_clusters=task.between, X=X if task.known.rules else None, metric=task.metric
            ).raise_if_infeasible()
        if task.method is not None:
            task.method()._refuse(task.known)  # before a number of clusters is missed
        found = _automatic(X, task) if automatic else _fit(X, task)
    except UnsupportedConstraintError as strange:
        raise _with_methods(strange, task) from strange
    odd = nearly_all_in_one(found.estimator, found.labels, dense=task.is_plain, automatic=automatic)
    return replace(found, reasons=(*found.reasons, *odd)) if odd else found


def _read(
    X: Any,
    constraints: Constraints | None,
    n_clusters: Any,
    *,
    method: Any,
    metric: Any,
    params: Any,
    trust: Any,
    **others: Any,
) -> Task:
    """Read the arguments of `cluster`, and refuse those that do not go together."""
    if isinstance(n_clusters, str) and n_clusters != "auto":
        msg = f'cluster: n_clusters is {n_clusters!r}, expected a number, two numbers, "auto" or None.'
        raise InvalidArgumentError(msg)
    if n_clusters is not None and others["distance_threshold"] is not None:
        both = hint(command="-k and --height", python="n_clusters and distance_threshold")
        msg = f"{both} both set where to cut the tree.\nHint: give one of them."
        raise InvalidArgumentError(msg)
    if params is not None and not isinstance(params, Mapping):
        msg = f"cluster: params is {params!r}, expected a dict of parameters, such as {{'max_iter': 50}}."
        raise InvalidArgumentError(msg)
    sparse = scipy.sparse.issparse(X)
    shape = np.shape(X)
    if len(shape) != 2 or not shape[0]:
        msg = f"cluster: X has shape {shape}, expected (n_samples, n_features) with at least one sample."
        raise LinkwiseError(msg)
    kind = None if method is None else load_method(method_name(method))
    params = dict(params or {})
    if metric is None and kind is not None and parameters(kind).get("metric") == "euclidean":
        metric = params.pop("metric", None)
    known = bind(constraints, X, shape[0]).with_trust(trust, keep_weights=True)
    if others["effort"] not in EFFORTS:
        msg = f"cluster: effort is {others['effort']!r}, expected one of {', '.join(EFFORTS)}."
        raise InvalidArgumentError(msg)
    between = read_range(n_clusters, shape[0], "cluster") if isinstance(n_clusters, (tuple, list)) else None
    if between is not None and between[0] == between[1]:
        n_clusters, between = between[0], None
    task = Task(
        shape[0],
        known,
        None if isinstance(n_clusters, str) or between is not None else n_clusters,
        metric or ("cosine" if sparse else "euclidean"),
        sparse,
        method=kind,
        params=params,
        between=between,
        **others,
    )
    require_arguments(task)
    require_fitting_size(task.min_cluster_size, n_clusters, known, kind)
    return task


def _fit(X: Any, task: Task) -> Clustering:
    """Fit the method chosen or asked for; settle the number of clusters if none is given."""
    model, why = choose(task)
    if task.divides_sparsely and task.compares_views and model.n_clusters <= MOST_VOTED:
        model, why = merge_or_vote(model, make(Consensus, task), X, task.known)
    require_room(model, task)
    _fit_model(model, X, task)
    reasons = [f"{describe(model)}: {why}", *_about_request(task), *_about_data(X, model, task), *detours(model)]
    reasons += _about_choices(model)
    reasons += about_views(model)
    if isinstance(model, SparseAgglomerative):
        reasons.append(str(model.audit_))
        if model.refined_ is not None:
            reasons.append(_about_refining(model))
    if not task.known.is_hard.all() and not model.weighs:
        reasons.append("soft statements hold unless they contradict others; this method does not weigh them.")
    return _found(model, reasons) if task.n_clusters is not None else _settle(model, X, task, reasons)


def _about_refining(model: SparseAgglomerative) -> str:
    """The reason for clusters by k-means, and where the trees are."""
    return (
        f"the clusters are those of constrained k-means: their squared distances to the means are lower by "
        f"{100 * (model.refined_ or 0.0):.1f} % than those of the clusters before; each has its tree."
    )


def _fit_model(model: Any, X: Any, task: Task) -> None:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "greedy merging met a dead end", LinkwiseWarning)  # it is among the reasons
        model.fit(X, constraints=task.known)


def _found(model: Any, reasons: list[str], search: KnowledgeSearchCV | None = None) -> Clustering:
    tree = getattr(model, "dendrogram_", None)
    n_clusters = int(model.labels_.max()) + 1
    return Clustering(
        labels=model.labels_,
        n_clusters=n_clusters,
        dendrogram=tree,
        certificate=model.certificate_,
        estimator=model,
        reasons=tuple(reasons),
        search=search,
    )


def _automatic(X: Any, task: Task) -> Clustering:
    """Find the number of clusters by comparing single methods, then let many views vote where they can."""
    single = _compare(X, task)
    voting = replace(task, n_clusters=single.n_clusters, between=None)
    if task.method is not None or not voting.compares_views:
        return single
    found = _fit(X, voting)
    number = "the number of clusters is that of a single method, found as follows."
    reasons = dict.fromkeys((*found.reasons, number, *single.reasons))  # each once
    return replace(found, reasons=tuple(reasons), search=single.search)


def _compare(X: Any, task: Task) -> Clustering:
    """Choose method and number of clusters by statements held out; where there are too few, by the data."""
    if task.method is not None and "n_clusters" not in parameters(task.method):
        return _fit(X, task)
    lack = too_little(task.known)
    if lack and (needs_number(task.method) if task.method is not None else task.bounds_sizes):
        return _by_silhouette(X, task, lack)
    if lack:
        found = _fit(X, task)
        if not task.accepts(found.n_clusters):
            return _by_silhouette(X, task, lack)
        return replace(found, reasons=(f"{lack}, so they do not decide the number of clusters.", *found.reasons))
    methods = _candidates(X, task)
    for estimator, grid in methods:
        for linkage in grid.get("linkage", [None]):
            require_room(estimator if linkage is None else clone(estimator).set_params(linkage=linkage), task)
    search = search_among(methods, X, task.known, task.random_state)
    model = search.best_estimator_
    reasons = [*explain(search, methods), *_about_request(task), *_about_data(X, model, task), *detours(model)]
    reasons += _about_choices(model)
    if model.n_clusters is None:
        found = _settle(model, X, task, reasons)
        if not task.accepts(found.n_clusters):
            return _by_silhouette(
                X, task, "no cut of the tree into a number of clusters in the range keeps all statements"
            )
        return replace(found, search=search)
    return _found(model, reasons, search)


def _candidates(X: Any, task: Task) -> list[tuple[Any, dict[str, list[Any]]]]:
    """The methods to compare, each with a grid; of the method asked for, its numbers of clusters and linkages."""
    usual = candidate_methods(
        X, task.known, task.metric, task.random_state, matrix=not task.is_large, between=task.between
    )
    if task.method is not None:
        same = next((one for kind, one in usual if type(kind) is task.method), {})
        grid = {name: tried for name, tried in same.items() if name == "linkage"}
        numbers = cluster_grid(X, task.known, task.metric, task.between)
        number = numbers["n_clusters"][0]
        usual = [(choose(replace(task, n_clusters=number))[0], grid | numbers)]
    if task.linkage is None:
        return usual
    return [(kind, grid | {"linkage": [task.linkage]}) for kind, grid in usual if "linkage" in parameters(type(kind))]


def _by_silhouette(X: Any, task: Task, lack: str) -> Clustering:
    """Try numbers of clusters for a method without a tree, and take the one with the best separated clusters."""
    best, failed = None, []
    for k in numbers_of_clusters(X, task.known, task.metric, task.between):
        model, why = choose(replace(task, n_clusters=k, effort="quick"))
        try:
            _fit_model(model, X, task)
        except UnsupportedConstraintError:
            raise
        except LinkwiseError as end:
            failed.append(end)
            continue
        score = silhouette(X, model.labels_, metric=task.metric) if model.n_clusters_ > 1 else -1.0
        if best is None or score > best[0]:
            best = score, model, why
    if best is None:
        raise failed[0]
    score, model, why = best
    reasons = [
        f"{describe(model)}: {why}",
        f"{lack}; {many(model.n_clusters_, 'cluster')} have the largest silhouette, {score:.2f}.",
        *_about_data(X, model, task),
        *detours(model),
        *_about_choices(model),
    ]
    return _found(model, reasons)


def _about_choices(model: Any) -> list[str]:
    """The links that were chosen, as a reason."""
    choices = int(np.isin(model.constraints_.kind, list(CHOICES)).sum())
    if not choices:
        return []
    links = model.chosen_.describe_each(range(model.chosen_.n_statements))
    listed = some_of([link.partition(" ")[2] for link in links]) or "none, as other statements make all of them"
    return [f"links in place of {many(choices, 'choice')}: {listed}."]


def _about_request(task: Task) -> list[str]:
    """Reasons that are arguments."""
    if task.method is not None or not task.needs_tree:
        return []
    if task.linkage is None:
        return ["only methods that make a tree were considered, since it is to be cut at a height."]
    return [f"only methods with a linkage were considered, since {task.linkage} linkage was asked for."]


def _about_data(X: Any, model: Any, task: Task) -> list[str]:
    said = ["cosine distances, since X is sparse."] if task.sparse and getattr(model, "metric", "") == "cosine" else []
    if task.sparse or task.metric != "euclidean" or spoken_in_shell():
        return said  # the command names the columns when it reads them
    uneven = uneven_features(X)
    if uneven is None:
        return said
    times = f"{uneven[2]:,.0f} times as far as another"
    return [*said, f"one feature spreads {times} and decides alone; scale X, as StandardScaler does."]


def _settle(model: Any, X: Any, task: Task, reasons: list[str]) -> Clustering:
    """Settle the number of clusters of a fitted model that was given none."""
    if task.distance_threshold is not None:
        return _found(model, [*reasons, f"the tree is cut at height {task.distance_threshold:g}."])
    if not makes_tree(type(model)):
        return _found(model, [*reasons, f"{many(model.n_clusters_, 'cluster')}: the number that this method finds."])
    cut = cut_by_steps(model, X, task.metric, task.between)
    n_clusters = int(cut.labels.max()) + 1
    if n_clusters != model.n_clusters_:
        model.set_params(n_clusters=n_clusters)
        if "min_cluster_size" in parameters(type(model)):
            model.set_params(min_cluster_size=None)  # these clusters are branches
        model._keep_tree(cut.tree, cut.labels, cut.certificate, model._samples)  # so that `predict` has them
    return Clustering(
        labels=cut.labels,
        n_clusters=n_clusters,
        dendrogram=cut.tree,
        certificate=cut.certificate,
        estimator=model,
        reasons=(*reasons, cut.reason),
    )


def _with_methods(strange: UnsupportedConstraintError, task: Task) -> UnsupportedConstraintError:
    """The same error with a hint that names a method which understands all constraints, if there is one."""
    able = methods_that_understand(task.known)
    first = next((name for name in ("ReCon", "COPKMeans", *able) if name in able), None)
    if first is None:
        advice = "no method understands all of them together; leave some out" + hint(
            command=".", python=", as in `constraints.select(...)`."
        )
    else:
        advice = hint(command=f"--method {first.lower()}", python=f"method={first!r}")
    return UnsupportedConstraintError(f"{str(strange).partition(chr(10))[0]}\nHint: {advice}", strange.kinds)


def uneven_features(X: Any) -> tuple[int, int, float] | None:
    """The features that spread most and least, and how many times as far, if that lets one decide distances alone."""
    try:
        spread = np.asarray(X, dtype=np.float64).std(axis=0)
    except (TypeError, ValueError):
        return None  # fit tells what is wrong with X
    some = np.flatnonzero(spread > 0)
    if not len(some) or not np.isfinite(spread).all():
        return None
    wide, narrow = int(spread.argmax()), int(some[spread[some].argmin()])
    times = float(spread[wide] / spread[narrow])
    return (wide, narrow, times) if times > _UNEQUAL else None


# -- the same fit again ------------------------------------------------------------------------------------------------


def arguments_of(found: Clustering) -> dict[str, Any]:
    """The arguments of `cluster`, after X and constraints, that name the method run and repeat its result."""
    model = found.estimator
    given, defaults = model.get_params(deep=False), parameters(type(model))
    used: dict[str, Any] = {}
    height = given.get("distance_threshold")
    if height is None and "n_clusters" in given:
        used["n_clusters"] = found.n_clusters
    used["method"] = type(model).__name__
    if "linkage" in given:
        used["linkage"] = given["linkage"]
    if height is not None:
        used["distance_threshold"] = height
    if given.get("metric") != "euclidean" == defaults.get("metric"):
        used["metric"] = given["metric"]
    if given.get("min_cluster_size", "auto") != "auto":
        used["min_cluster_size"] = given["min_cluster_size"]
    # `cluster` itself gives methods that begin at random the seed 0
    own = {"n_clusters", "linkage", "distance_threshold", "min_cluster_size"}
    own |= {"metric"} if defaults.get("metric") == "euclidean" else set()
    expected = defaults | {"random_state": 0}
    changed = {name: one for name, one in given.items() if name not in own and repr(one) != repr(expected[name])}
    return used | ({"params": changed} if changed else {})


def fit_without_constraints(found: Clustering, X: Any) -> ConstrainedClusterer:
    """Fit the method of a result to the same samples without constraints, with the same cut."""
    model = clone(found.estimator)
    if "n_clusters" in parameters(type(model)) and getattr(model, "distance_threshold", None) is None:
        model.set_params(n_clusters=found.n_clusters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)  # about a result that is only compared with
        return model.fit(X)  # type: ignore[no-any-return]
