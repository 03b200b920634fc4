"""Correlation clustering: clusters from what was said alone, at the least weight of broken statements."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import Interval
from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, IntArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints, Kind
from linkwise.engines import REPORTED, ConstrainedClusterer, Kept
from linkwise.engines.assignment import contract
from linkwise.engines.partitional import LINKS
from linkwise.exceptions import UnsupportedConstraintError
from linkwise.problem import Problem, repair
from linkwise.problem.repairs import best_partition, broken_in
from linkwise.problem.statements import Budget, apart_pairs, read_limits


@dataclass(frozen=True, eq=False)
class CorrelationRun:
    """What `correlation_clustering` found.

    Attributes
    ----------
    labels : ndarray of intp, shape (n_samples,)
        Cluster of each sample, numbered by first appearance.
    broken : ndarray of intp
        Positions of the soft statements that do not hold.
    cost : float
        The sum of their weights.
    optimal : bool
        Whether no clustering breaks less.
    lower_bound : float
        No clustering breaks less than this.
    cut : bool
        Whether the time limit ended the search before its budget was used up.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.engines import correlation_clustering
    >>> said = Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], weight=[3, 1, 2])
    >>> run = correlation_clustering(said)
    >>> run.broken.tolist(), run.cost, run.optimal
    ([1], 1.0, True)
    """

    labels: IntArray
    broken: IntArray
    cost: float
    optimal: bool
    lower_bound: float
    cut: bool = False


def correlation_clustering(
    constraints: Constraints,
    *,
    budget: float = 10.0,
    time_limit: float | None = None,
    random_state: int | None = None,
) -> CorrelationRun:
    """Find clusters, as many as it takes, that break the least weight of must-links and cannot-links.

    Parameters
    ----------
    constraints : Constraints
        Must-links, cannot-links, groups together or apart. Soft ones may be broken at the price of their weight, a
        group as a whole at the price of one; hard ones hold.
    budget : float, default=10.0
        Counted work of search and proof, as in `repair`: about as many seconds, the same result on every machine. 0
        takes statements greedily, the heaviest first.
    time_limit : float, optional
        Seconds after which the search ends even if work is left; then ``cut`` is set. Default: no clock is looked at.
    random_state : int, optional
        Seed of the search; default 0.

    Returns
    -------
    CorrelationRun
        Labels, what they break, and how far from the best they can be.

    Raises
    ------
    InfeasibleConstraintsError
        The hard statements contradict each other.
    UnsupportedConstraintError
        There are statements of another kind, such as triplets, or rules.

    Notes
    -----
    Statements that hold together are those that some clustering keeps, so the best clustering breaks exactly what the
    cheapest `repair` drops [1]_: that is what searches and proves. Where it proves nothing with half of the budget, its
    search over partitions runs once more from samples that are alone, and the cheaper answer is kept. Clusters are the
    samples that the must-links it keeps join: of the clusterings that break just these the finest. A sample no
    must-link names is alone.

    **Cost** NP-hard; see `repair`. **Guarantee** hard statements hold; ``lower_bound`` is proven; the cost never
    exceeds that of taking statements greedily. The same input gives the same answer on every machine unless ``cut`` is
    set.
    **Departure from** [1]_ pairs nobody spoke about cost nothing, statements carry weights, and instead of an
    approximation by pivots there is a search with a bound for the case at hand.

    References
    ----------
    .. [1] N. Bansal, A. Blum, S. Chawla, "Correlation Clustering", Machine Learning 56 (2004).

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.engines import correlation_clustering
    >>> weight = {"must_link": [1, 2, 2], "cannot_link": [3, 2]}
    >>> said = Constraints.build(5, must_link=[(0, 1), (1, 2), (3, 4)], cannot_link=[(0, 2), (2, 3)], weight=weight)
    >>> run = correlation_clustering(said)
    >>> run.labels.tolist(), run.cost
    ([0, 1, 1, 2, 2], 1.0)
    """
    who = "correlation_clustering"
    foreign = [kind.word for kind in Kind if kind not in LINKS and (constraints.kind == kind).any()]
    foreign += [type(rule).__name__ for rule in constraints.rules]
    if foreign:
        msg = (
            f"{who} does not understand {' and '.join(foreign)}; it understands "
            f"{', '.join(kind.word for kind in Kind if kind in LINKS)}.\n"
            "Hint: leave the others out with `constraints.select(...)`."
        )
        raise UnsupportedConstraintError(msg, tuple(foreign))
    read_limits(budget, time_limit, who)
    half = None if time_limit is None else time_limit / 2
    fixed = repair(constraints, keep="hard", budget=budget / 2, time_limit=half, random_state=random_state)
    cut = fixed.cut
    if not fixed.optimal and budget > 0 and half != 0:
        work = Budget(budget / 2, half)
        broken = _search(constraints, work, 0 if random_state is None else random_state)
        cut |= work.cut
        cost = float(constraints.weight[broken].sum()) if broken is not None else np.inf
        if broken is not None and cost < fixed.cost:
            labels = _joined(constraints, ~broken)
            return CorrelationRun(labels, np.flatnonzero(broken), cost, False, fixed.lower_bound, cut)
    held = np.ones(constraints.n_statements, dtype=np.bool_)
    held[fixed.dropped] = False
    labels = _joined(constraints, held)
    return CorrelationRun(labels, fixed.dropped, fixed.cost, fixed.optimal, fixed.lower_bound, cut)


def _joined(constraints: Constraints, held: BoolArray) -> IntArray:
    """The clusters that the must-links which hold make."""
    n, links = constraints.n_samples, constraints.select(held).must_links()[0]
    labels: IntArray = components(n, np.ascontiguousarray(links)) if len(links) else np.arange(n)
    return labels


def _search(constraints: Constraints, budget: Budget, seed: int) -> BoolArray | None:
    """Anneal from clusters of one sample, and mask what is broken where that ends; None if it does not apply.

    Where much is wrong a repair that takes statements one by one joins classes early, and its search is long in taking
    them apart again. Nothing comes of it with soft groups, which break as one, or if a hard cannot-link breaks.
    """
    hard = constraints.is_hard
    if not hard[constraints.groups.statement].all():
        return None
    cloud = contract(np.zeros((constraints.n_samples, 0)), constraints)
    soft = constraints.select(~hard)
    pairs, is_must = cloud.group[soft.items[:, :2]], soft.kind == Kind.MUST_LINK
    bans = apart_pairs(cloud.apart)
    across = pairs[:, 0] != pairs[:, 1]
    label = best_partition(
        np.concatenate([pairs[across], bans]),
        np.concatenate([is_must[across], np.zeros(len(bans), dtype=np.bool_)]),
        np.concatenate([soft.weight[across], np.full(len(bans), 1.0 + soft.weight.sum())]),
        np.arange(cloud.n_nodes),
        budget,
        np.random.default_rng(seed),
    )
    if (label[bans[:, 0]] == label[bans[:, 1]]).any():
        return None
    # a cluster that no must-link holds together falls apart, which can only mend cannot-links
    held = hard.copy()
    held[~hard] = ~broken_in(label, pairs, is_must)
    finest = _joined(constraints, held)
    broken = np.zeros(len(hard), dtype=np.bool_)
    broken[~hard] = broken_in(finest, soft.items[:, :2], is_must)
    return broken


class CorrelationClustering(ConstrainedClusterer):
    """Cluster by must-links and cannot-links alone; distances and the number of clusters play no part.

    Parameters
    ----------
    budget : float, default=10.0
        Counted work of search and proof, about as many seconds; 0 takes statements greedily, the heaviest first.
    time_limit : float or None, default=None
        Seconds after which the search ends even if work is left; None looks at no clock, so that every machine finds
        the same.
    random_state : int or None, default=None
        Seed of the search; None for 0.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, numbered by first appearance.
    cost_ : float
        Weight of the soft statements that do not hold.
    optimal_ : bool
        Whether no clustering breaks less.
    lower_bound_ : float
        No clustering breaks less than this.
    cut_ : bool
        Whether the time limit ended the search before its budget was used up; a warning says so too.
    n_clusters_ : int
        Number of clusters found.
    certificate_ : Certificate
        What the independent check found to hold; ``soft_violated`` lists the soft statements that were overruled.
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.
    dropped_ : Constraints
        Always empty: soft statements are weighed.

    See Also
    --------
    correlation_clustering : the same as a function, without X.
    repair : the statements to drop, with reasons.

    Notes
    -----
    Of X only the number of rows counts; with nothing said every sample is a cluster of its own. **Cost**,
    **Guarantee** and **Departure from** [1]_ see `correlation_clustering`.

    References
    ----------
    .. [1] N. Bansal, A. Blum, S. Chawla, "Correlation Clustering", Machine Learning 56 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, CorrelationClustering
    >>> said = Constraints.build(4, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], weight=[3, 1, 2])
    >>> CorrelationClustering().fit(np.zeros((4, 1)), constraints=said).labels_.tolist()
    [0, 0, 1, 2]
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    weighs: ClassVar[bool] = True
    _explains_itself: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "budget": [Interval(Real, 0, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
    }

    _saved: ClassVar[dict[str, Kept]] = dict.fromkeys(("cost_", "optimal_", "lower_bound_", "cut_"), REPORTED)
    _added_parameters: ClassVar[dict[str, Any]] = {"budget": 10.0}

    cost_: float
    optimal_: bool
    lower_bound_: float
    cut_: bool = False

    def __init__(
        self, *, budget: float = 10.0, time_limit: float | None = None, random_state: int | None = None
    ) -> None:
        self.budget = budget
        self.time_limit = time_limit
        self.random_state = random_state

    def _solve(self, problem: Problem) -> CorrelationRun:
        return correlation_clustering(
            problem.constraints, budget=self.budget, time_limit=self.time_limit, random_state=self.random_state
        )

    def _keep(self, outcome: CorrelationRun, samples: Any, constraints: Constraints) -> None:
        self.certificate_ = self._certify(outcome.labels, constraints, samples)
        self.labels_ = outcome.labels
        self.n_clusters_ = len(np.unique(outcome.labels))
        self.cost_ = outcome.cost
        self.optimal_ = outcome.optimal
        self.lower_bound_ = outcome.lower_bound
        self.cut_ = outcome.cut
        if outcome.cut:
            warn_user(
                f"CorrelationClustering: the time limit of {self.time_limit:g} s ended the search; on another machine "
                "the clusters may differ.\nHint: `time_limit=None` leaves it to `budget`."
            )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
