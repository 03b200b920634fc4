"""`CorrelationClustering`: clusters from statements alone, at the least weight of broken statements."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import Interval
from linkwise._typing import BoolArray, IntArray
from linkwise._validation import warn_user
from linkwise.constraints import LINKS, Kind
from linkwise.engines import REPORTED, ConstrainedClusterer, Kept
from linkwise.problem import Problem, repair
from linkwise.problem.repairs import best_partition, broken_in
from linkwise.problem.statements import Budget


@dataclass(frozen=True, eq=False)
class CorrelationRun:
    """Outcome of `CorrelationClustering`; ``broken`` holds the positions of the soft statements that do not hold."""

    labels: IntArray
    broken: IntArray
    cost: float
    optimal: bool
    lower_bound: float
    cut: bool


def correlation_clustering(
    problem: Problem, *, budget: float = 10.0, time_limit: float | None = None, random_state: int | None = None
) -> CorrelationRun:
    """Run `CorrelationClustering` on the statements of a problem."""
    constraints = problem.constraints
    half = None if time_limit is None else time_limit / 2
    fixed = repair(constraints, keep="hard", budget=budget / 2, time_limit=half, random_state=random_state)
    cut = fixed.cut
    if not fixed.optimal and budget > 0 and half != 0:
        work = Budget(budget / 2, half)
        broken = _search(problem, work, 0 if random_state is None else random_state)
        cut |= work.cut
        cost = float(constraints.weight[broken].sum()) if broken is not None else np.inf
        if broken is not None and cost < fixed.cost:
            labels = _joined(problem, ~broken)
            return CorrelationRun(labels, np.flatnonzero(broken), cost, False, fixed.lower_bound, cut)
    held = np.ones(constraints.n_statements, dtype=np.bool_)
    held[fixed.dropped] = False
    labels = _joined(problem, held)
    return CorrelationRun(labels, fixed.dropped, fixed.cost, fixed.optimal, fixed.lower_bound, cut)


def _joined(problem: Problem, held: BoolArray) -> IntArray:
    """The clusters that the must-links which hold make."""
    return Problem(problem.X, problem.constraints.select(held).with_weight(np.inf)).group


def _search(problem: Problem, budget: Budget, seed: int) -> BoolArray | None:
    """Anneal from clusters of one sample, and mask the statements that the result breaks; None if it does not apply.

    Where many statements are wrong, a repair that takes statements one by one joins classes early, and its search takes
    long to separate them again. The search does not apply to soft groups, which break as one, or if a hard cannot-link
    breaks.
    """
    constraints = problem.constraints
    hard = constraints.is_hard
    if not hard[constraints.groups.statement].all():
        return None
    soft = constraints.select(~hard)
    pairs, is_must = problem.group[soft.items[:, :2]], soft.kind == Kind.MUST_LINK
    bans = problem.apart.pairs()
    across = pairs[:, 0] != pairs[:, 1]
    label = best_partition(
        np.concatenate([pairs[across], bans]),
        np.concatenate([is_must[across], np.zeros(len(bans), dtype=np.bool_)]),
        np.concatenate([soft.weight[across], np.full(len(bans), 1.0 + soft.weight.sum())]),
        np.arange(problem.n_groups),
        budget,
        np.random.default_rng(seed),
    )
    if (label[bans[:, 0]] == label[bans[:, 1]]).any():
        return None
    # a cluster that no must-link holds together falls apart, which can only mend cannot-links
    held = hard.copy()
    held[~hard] = ~broken_in(label, pairs, is_must)
    finest = _joined(problem, held)
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
        Seconds after which the search ends even if work is left; with None the clock is not read, so that every
        machine finds the same.
    random_state : int or None, default=None
        Seed for the search; None for 0.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, numbered by first appearance.
    objective_ : float
        Weight of the soft statements that do not hold.
    optimal_ : bool
        Whether no clustering breaks less.
    lower_bound_ : float
        No clustering breaks less than this.
    cut_ : bool
        Whether the time limit ended the search before its budget was used up; a warning says so too.

    See Also
    --------
    repair : the statements to drop, with reasons.

    Notes
    -----
    Of X only the number of rows counts. A soft statement may be broken at the price of its weight, a group as a whole
    at the price of one. Statements that hold together are those that some clustering keeps, so the best clustering
    breaks exactly the statements that the cheapest `repair` drops [1]_, and `repair` does the search and the proof.
    Where it proves nothing with half of the budget, its search over partitions runs once more from clusters of one
    sample, and the cheaper answer is kept. Clusters are the samples that the remaining must-links join: of the
    clusterings that break just these statements the finest. A sample that no must-link names is alone.

    **Cost** NP-hard; see `repair`. **Guarantee** hard statements hold, re-checked after each fit; ``lower_bound_`` is
    proven; the cost never exceeds that of taking statements greedily. The same input gives the same answer on every
    machine unless ``cut_`` is set.
    **Departure from** [1]_ pairs without a statement cost nothing, statements carry weights, and instead of an
    approximation by pivots there is a search with a bound for the given instance.

    References
    ----------
    .. [1] N. Bansal, A. Blum, S. Chawla, "Correlation Clustering", Machine Learning 56 (2004).

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import CorrelationClustering
    >>> said = Constraints.build(4, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], weight=[3, 1, 2])
    >>> CorrelationClustering().fit(np.zeros((4, 1)), constraints=said).labels_.tolist()
    [0, 0, 1, 2]
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    weighs: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "budget": [Interval(Real, 0, None, closed="left")],
        "time_limit": [Interval(Real, 0, None, closed="left"), None],
        "random_state": [Interval(Integral, 0, None, closed="left"), None],
    }

    _saved: ClassVar[dict[str, Kept]] = dict.fromkeys(("objective_", "optimal_", "lower_bound_", "cut_"), REPORTED)
    _added_parameters: ClassVar[dict[str, Any]] = {"budget": 10.0}

    objective_: float
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
            problem, budget=self.budget, time_limit=self.time_limit, random_state=self.random_state
        )

    def _keep(self, outcome: CorrelationRun, problem: Problem) -> None:
        self.certificate_ = self._certify(outcome.labels, problem)
        self.labels_ = outcome.labels
        self.n_clusters_ = len(np.unique(outcome.labels))
        self.objective_ = outcome.cost
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
