"""`Consensus`: many views of the data, weighed by the statements they predict, and one tree on which they agree."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from linkwise._compat import Interval, InvalidParameterError
from linkwise._random import make_generator
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import LINKS, Constraints, Kind
from linkwise.engines import (
    FEATURES,
    REPORTED,
    ConstrainedClusterer,
    Kept,
    PartitionMixin,
    current_progress,
    kept_floats,
    kept_instance,
)
from linkwise.engines.consensus._maps import WIDE, Maps, Projection, project_sparse
from linkwise.engines.consensus._moves import grow, link, obey_triplets, settle
from linkwise.engines.consensus._newcomers import Ballots, ask_neighbors, place_rest
from linkwise.engines.consensus._views import DOUBTFUL, HARD, PLAIN, Outcome, View, fit_views
from linkwise.engines.consensus._votes import (
    FLOOR,
    FOLDS,
    PRIOR,
    SPLITS,
    Calibration,
    Evidence,
    Poll,
    calibrate,
    judge,
    poll_doubtful,
    poll_hard,
    read_evidence,
)
from linkwise.engines.hierarchical import Places, insert, mark
from linkwise.engines.metric import ITML
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.problem import Problem
from linkwise.result import Dendrogram

_MOST_PAIRS = 1_000_000  # pairs apart that are written out; groups apart that stand for more stay groups
SUSPECT = 0.8  # trust from which on downwards a doubtful statement is not told to the views again


class ViewReport(NamedTuple):
    """One view of a `Consensus`.

    Attributes
    ----------
    name : str
        The method, the map of the data and the learned metric.
    weight : float
        Share of the vote; the weights of all views add up to 1.
    agreement : float
        Kappa with statements that were held out: 1 if it predicts all, 0 if no better than chance; nan if none were.
    missing : str
        Reason why the view has no vote, or an empty string.

    Examples
    --------
    >>> from linkwise.engines import ViewReport
    >>> print(ViewReport("k-means on the data", 0.25, 0.8, ""))
    k-means on the data: weight 0.25, agreement 0.80
    """

    name: str
    weight: float
    agreement: float
    missing: str

    def __str__(self) -> str:
        if self.missing:
            return f"{self.name}: left out, {self.missing}"
        agreement = "" if np.isnan(self.agreement) else f", agreement {self.agreement:.2f}"
        return f"{self.name}: weight {self.weight:.2f}{agreement}"


class _Agreed(NamedTuple):
    """The agreement of the views about compared samples, and the trust in the statements that were judged."""

    share: FloatArray
    calibration: Calibration
    weight: dict[View, float]
    agreement: dict[View, float]
    missing: dict[View, str]
    judged: IntArray
    trust: FloatArray
    doubt: FloatArray

    def report(self) -> list[ViewReport]:
        """The views by falling weight, then those without a vote."""
        total = sum(self.weight.values())
        used = sorted(self.weight, key=lambda view: -self.weight[view])
        voting = [ViewReport(str(one), self.weight[one] / total, self.agreement.get(one, np.nan), "") for one in used]
        return voting + [ViewReport(str(one), 0.0, np.nan, why) for one, why in self.missing.items()]


class _Solved(NamedTuple):
    """Labels and tree of all samples, the agreement behind them, and what places new samples."""

    labels: IntArray
    tree: Dendrogram
    agreed: _Agreed
    compared: IntArray
    learned: FloatArray
    components: FloatArray
    projection: Projection | None


class Consensus(PartitionMixin, ConstrainedClusterer):
    """Cluster by the agreement of many views, each weighed by how well it predicts statements it was not told.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters.
    max_samples : int, default=3000
        Samples that are compared with each other, first those that statements name. Any others join the clusters of
        their nearest compared samples.
    random_state : int, RandomState or None, default=0
        Seed of the methods that begin at random and of the parts of the statements that are held out.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    dendrogram_ : Dendrogram
        A tree with the clusters marked. Up to 1 its heights are shares of the vote that keep two branches apart; the
        joins of clusters lie above 1.
    views_ : list of ViewReport
        Each view with its weight, its agreement with held-out statements, or the reason why it has no vote.
    trust_ : ndarray of shape (n_statements,)
        Probability that each statement is right, judged by views that were not told it: 1 for hard statements, and the
        prior for soft ones if there are too few to hold some out.
    doubt_ : ndarray of shape (n_statements,)
        Probability that each statement is wrong by the same votes. A hard statement is judged as if it were right with
        a probability of 0.95 before the data are looked at, and holds all the same; nan if it could not be held out.
    certificate_ : Certificate
        The independent check of every hard statement.
    n_clusters_ : int
        Number of clusters.
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.

    See Also
    --------
    linkwise.cluster : chooses this method for pairs and groups.
    linkwise.suspects : the statements that the data contradict.

    Notes
    -----
    A view is a map of the data (as they are, ranks, whitened, eigenvectors of the neighbor graph, kernel components), a
    metric learned on it from the statements (`ITML`, `RCA` or none) and a method. Each view is fitted with all
    statements, and five times with parts of them: its weight is Cohen's kappa between its clusters and the statements
    held out, at least 0.02. The weighted share of views that put two samples together is a similarity; average linkage
    on it under the hard statements gives clusters. A logistic regression on the held-out statements turns shares into
    probabilities, and must-linked groups move as long as that raises the adjusted Rand index expected under them.

    A soft statement of weight w counts as right with log odds w: weight 3 means 95 %. Views are then told pairs as
    wishes, and those fitted to parts of them vote on the others, twice with other parts. The posterior of each
    statement is its trust. How many statements of one weight are wrong is learned as well: the weight counts as 40 of
    them. Views are fitted again without statements of a trust up to 0.8, and both probabilities are combined. Hard
    statements hold. A triplet ab|c is evidence for a and b together and c apart, and holds in the tree.

    Without statements, all views have the same weight.

    **Cost** about 150 fits of up to ``max_samples`` samples, 320 where statements are doubtful or triplets, and one
    matrix of their distances, then O(n) for others.
    **Guarantee** every hard statement holds, exactly ``n_clusters`` clusters; the same seed gives the same result.
    **Departure from** [1]_, [2]_: clusterings are weighed by held-out statements, not alike.

    References
    ----------
    .. [1] A. Strehl, J. Ghosh, "Cluster ensembles: a knowledge reuse framework for combining multiple partitions", JMLR
       3, 2002.
    .. [2] A. L. N. Fred, A. K. Jain, "Combining multiple clusterings using evidence accumulation", PAMI 27, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from linkwise import Consensus, Constraints
    >>> X, y = load_iris(return_X_y=True)
    >>> known = Constraints.from_labels([y[i] if i % 10 == 0 else -1 for i in range(150)])
    >>> model = Consensus(3).fit(X, constraints=known)
    >>> model.n_clusters_, model.certificate_.ok
    (3, True)
    >>> float(round(sum(view.weight for view in model.views_), 6))
    1.0
    """

    understands: ClassVar[frozenset[Kind]] = LINKS | {Kind.TRIPLET}
    weighs: ClassVar[bool] = True
    _links_will_do: ClassVar[bool] = False  # the trust in each statement is reported
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "max_samples": [Interval(Integral, 2, None, closed="left")],
        "random_state": ["random_state"],
    }
    _saved: ClassVar[dict[str, Kept]] = {
        "dendrogram_": kept_instance(Dendrogram),
        "views_": Kept(records=(ViewReport,)),
        "trust_": REPORTED,
        "doubt_": REPORTED,
        "_learned": kept_floats(None, None),
        "_compared": REPORTED,
        "_rows": kept_floats(None, FEATURES, optional=True),
        "_basis": kept_floats(None, None, optional=True),
        "_components": kept_floats(None, None),
    }

    dendrogram_: Dendrogram
    views_: list[ViewReport]
    trust_: FloatArray
    doubt_: FloatArray

    def __init__(self, n_clusters: int = 2, *, max_samples: int = 3000, random_state: Any = 0) -> None:
        self.n_clusters = n_clusters
        self.max_samples = max_samples
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _read(self, X: Any) -> Any:
        if isinstance(self.max_samples, (bool, np.bool_)):
            msg = f"The 'max_samples' parameter of Consensus must be an int. Got {self.max_samples!r} instead."
            raise InvalidParameterError(msg)
        return super()._read(X)

    def _solve(self, problem: Problem) -> _Solved:
        seed = int(make_generator(self.random_state).integers(2**31 - 1))
        compared = _compared(problem.constraints, self.max_samples, seed)
        X, projection = problem.X, None
        if scipy.sparse.issparse(X):
            projection = project_sparse(X[compared]) if X.shape[1] > WIDE else None
            X = X.toarray() if projection is None else projection.of(X)
        known = _about(compared, problem)
        some = Problem(np.ascontiguousarray(X[compared]), known, n_clusters=self.n_clusters, who=problem.who)
        agreed = _agree(some, read_evidence(problem.constraints).within(compared), seed)
        labels, tree = _divide(agreed, some)
        components = _learn_metric(some)
        if len(compared) < problem.n_samples:
            found, near = _place_rest(X @ components.T, compared, labels, problem)
            if not np.array_equal(found[compared], labels):  # statements about the others moved compared samples
                tree = _regrow(agreed, found[compared], some)
            labels, tree = found, _hang(near, found, compared, tree)
        return _Solved(labels, tree, agreed, compared, X[compared] @ components.T, components, projection)

    def _keep(self, outcome: _Solved, problem: Problem) -> None:
        tree = Dendrogram(
            len(outcome.labels), outcome.tree.parent, outcome.tree.raw_height, ids=problem.constraints.ids
        )
        tree = mark(tree, outcome.labels)
        self.certificate_ = self._certify(tree, problem)
        self.labels_, self.n_clusters_, self.dendrogram_ = outcome.labels, self.n_clusters, tree
        agreed = outcome.agreed
        self.views_ = agreed.report()
        self.trust_ = 1.0 / (1.0 + np.exp(-problem.constraints.weight))
        self.trust_[agreed.judged] = agreed.trust
        self.trust_[problem.constraints.is_hard] = 1.0
        self.doubt_ = np.where(problem.constraints.is_hard, np.nan, 1 - self.trust_)
        hard = problem.constraints.is_hard[agreed.judged]
        self.doubt_[agreed.judged[hard]] = agreed.doubt[hard]
        self._compared, self._learned = outcome.compared, outcome.learned
        self._components = outcome.components
        self._rows: Any = None if outcome.projection is None else outcome.projection.rows
        self._basis: Any = None if outcome.projection is None else outcome.projection.basis

    def predict(self, X: Any) -> IntArray:
        """Return the cluster of each new sample: that of most of its nearest compared samples in the learned metric.

        Parameters
        ----------
        X : array-like of shape (n_new, n_features)
            New samples.

        Returns
        -------
        ndarray of shape (n_new,)
            Labels; a copy of a compared sample gets the label of that sample.

        Examples
        --------
        >>> import numpy as np
        >>> from linkwise import Consensus
        >>> X = np.repeat([[0.0], [9.0]], 10, axis=0) + np.linspace(0, 1, 20)[:, None]
        >>> Consensus(2).fit(X).predict([[0.2], [9.9]]).tolist()
        [0, 1]
        """
        check_is_fitted(self)
        rows = self._validate(X, reset=False)
        if self._rows is not None:
            rows = Projection(self._rows, self._basis).of(rows)
        rows = rows.toarray() if scipy.sparse.issparse(rows) else rows
        labels = self.labels_[self._compared]
        ballots = ask_neighbors(rows @ self._components.T, self._learned, labels, self.n_clusters_)
        return np.asarray(ballots.share.argmax(axis=1))


def _about(compared: IntArray, problem: Problem) -> Constraints:
    """The statements about the compared samples, with all that hard pairs about others imply, and each pair once.

    There is a chain for each must-linked group and a pair for each two groups apart, so repeated statements, and pairs
    that follow from others, change nothing.
    """
    known = problem.constraints
    links = known.is_hard & (known.kind != Kind.TRIPLET)
    cliques = problem.apart
    if not links.any() or int((np.diff(cliques.start) ** 2).sum()) > _MOST_PAIRS:
        return known[compared]
    group = problem.group[compared]
    order = np.argsort(group, kind="stable")
    chained = group[order[1:]] == group[order[:-1]]
    first = np.full(problem.n_groups, -1, dtype=np.intp)  # the first compared sample of each group, if it has one
    first[group[::-1]] = np.arange(len(compared))[::-1]
    apart = first[cliques.pairs()]
    pairs = Constraints.build(
        len(compared),
        must_link=np.column_stack([order[:-1], order[1:]])[chained],
        cannot_link=apart[(apart >= 0).all(axis=1)],
    )
    others = known.select(~links)[compared]
    return pairs | others.with_ids(None) if others.n_statements else pairs


def _agree(problem: Problem, stated: Evidence, seed: int) -> _Agreed:
    """Fit the views, let them vote on statements held out, weigh them, and judge doubtful statements."""
    known, n, k = problem.constraints, problem.n_samples, problem.k
    evidence, back = stated.distinct()
    maps = Maps(problem.X, k)
    doubtful = not known.is_hard.all() or bool((known.kind == Kind.TRIPLET).any())
    pool = DOUBTFUL if doubtful else HARD if known.n_statements else PLAIN
    step = _counter(len(pool) * (1 if pool is PLAIN else FOLDS * SPLITS + 2 if doubtful else FOLDS + 1))
    full = fit_views(pool, maps, evidence.told(n) if doubtful else known, seed, step)
    poll: Poll | None = None
    about: Poll | None = None
    if doubtful:
        about = poll = poll_doubtful(maps, evidence, seed, step)
    elif known.n_statements:
        poll, about = poll_hard(maps, known, evidence, seed, step)
    missing = dict(full.missing)
    agreement = {} if poll is None else poll.agreement()
    if poll is not None:
        lost = [view for view in full.labels if view not in agreement]
        missing |= dict.fromkeys(lost, "it could not be fitted to parts of the statements")
    weight = {view: max(agreement.get(view, 1.0), FLOOR) for view in full.labels if view not in missing}
    if not weight:  # every view failed in some fold
        weight = dict.fromkeys(full.labels, 1.0)
        missing, poll = dict(full.missing), None
    share = _share(full, weight, n)
    if not doubtful:
        together = (int(evidence.same.sum()) + 1) / (len(evidence.same) + 4)
        found = PRIOR if poll is None else calibrate(poll, weight, together)
        trust = np.ones(len(evidence.same))
    else:
        found = PRIOR if poll is None else calibrate(poll, weight)
        trust = 1.0 / (1.0 + np.exp(-evidence.odds)) if poll is None else found.trust
        again = fit_views(pool, maps, evidence.pick(trust > SUSPECT).told(n), seed, step)
        both = [view for view in weight if view in again.labels]
        if both:
            share = (share + _share(again, {view: weight[view] for view in both}, n)) / 2
    doubt = np.full(len(trust), np.nan) if about is None or poll is None else judge(about, weight)
    owner, at = np.unique(stated.owner, return_inverse=True)
    count = np.bincount(at.reshape(-1))
    each = [np.bincount(at.reshape(-1), weights=one[back]) / count for one in (trust, doubt)]
    return _Agreed(share, found, weight, agreement, missing, owner, each[0], each[1])


def _counter(total: int) -> Callable[[], None]:
    """A function that reports one more view fitted to the progress in force, if any."""
    report, done = current_progress(), 0

    def step() -> None:
        nonlocal done
        done += 1
        if report is not None:
            report(min(done, total), total)

    return step


def _share(outcome: Outcome, weight: dict[View, float], n: int) -> FloatArray:
    """The weighted share of views that put two samples together, for all pairs; all do if there is no view."""
    if not weight:
        return np.ones((n, n))
    share = np.zeros((n, n))
    for view, one in weight.items():
        labels = outcome.labels[view]
        share[labels[:, None] == labels[None, :]] += one
    share /= sum(weight.values())
    return share


def _divide(agreed: _Agreed, problem: Problem) -> tuple[IntArray, Dendrogram]:
    """Clusters and tree of the compared samples."""
    known = problem.constraints
    hard = known.select(known.is_hard)
    pairs = hard.select(hard.kind != Kind.TRIPLET)
    P = agreed.calibration.probability(agreed.share)
    labels = settle(P, link(agreed.share, pairs, problem.k).labels_, problem)
    if pairs.n_statements == hard.n_statements:
        return labels, grow(agreed.share, labels, hard)
    labels = obey_triplets(P, labels, problem)
    apart = labels[:, None] != labels[None, :]
    model = link(agreed.share - apart, hard, problem.k)
    return model.labels_, model.dendrogram_


def _compared(known: Constraints, most: int, seed: int) -> IntArray:
    """The samples to compare with each other: those that statements name first, the others at random."""
    n = known.n_samples
    if n <= most:
        return np.arange(n)
    rng = np.random.RandomState(seed)
    named = np.zeros(n, dtype=np.bool_)
    named[known.items[known.items >= 0]] = True
    named[known.groups.member] = True
    first = rng.permutation(np.flatnonzero(named))[: max(most * 2 // 3, 1)]
    others = rng.permutation(np.flatnonzero(~named))[: most - len(first)]
    return np.sort(np.concatenate([first, others]))


def _learn_metric(problem: Problem) -> FloatArray:
    """A linear map of the samples to a metric that agrees with the statements about them."""
    evidence = problem.constraints.select(problem.constraints.kind != Kind.TRIPLET)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)  # views that cannot use a statement do without it
        return np.asarray(ITML().fit(problem.X, constraints=evidence).components_)


def _place_rest(rows: FloatArray, compared: IntArray, labels: IntArray, problem: Problem) -> tuple[IntArray, Ballots]:
    """Labels of all samples in which all pairs hold, and the votes of the neighbors of the others."""
    n, k = problem.n_samples, problem.k
    others = np.setdiff1d(np.arange(n), compared)
    ballots = ask_neighbors(rows[others], rows[compared], labels, k)
    share, known = np.zeros((n, k)), np.full(n, -1, dtype=np.intp)
    share[others], known[compared] = ballots.share, labels
    return place_rest(share, known, problem), ballots


def _regrow(agreed: _Agreed, labels: IntArray, problem: Problem) -> Dendrogram:
    """The tree of the compared samples for other clusters of them."""
    hard = problem.constraints.select(problem.constraints.is_hard)
    if (hard.kind == Kind.TRIPLET).any() or len(np.unique(labels)) < problem.k:
        msg = (
            f"Consensus: the statements are about more samples than the {len(labels):,} that are compared, and do not "
            "all hold in the clusters of these.\nHint: a larger max_samples."
        )
        raise LinkwiseError(msg)
    return grow(agreed.share, labels, hard)


def _hang(ballots: Ballots, labels: IntArray, compared: IntArray, tree: Dendrogram) -> Dendrogram:
    """Hang each other sample beside a compared sample of its cluster, the nearest as clusters were when it voted."""
    n = len(labels)
    others = np.setdiff1d(np.arange(n), compared)
    near = ballots.nearest_in(labels[others])
    some = np.unique(labels[compared], return_index=True)[1]
    near = np.where(labels[compared][near] == labels[others], near, some[labels[others]])
    grown = insert(tree, Places(near, np.zeros(len(others)), labels[others]))
    place = np.concatenate([compared, others])
    parent = grown.parent.copy()
    parent[place] = grown.parent[:n]
    return Dendrogram(n, parent, grown.raw_height)
