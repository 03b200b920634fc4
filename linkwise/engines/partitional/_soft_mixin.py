"""What all soft k-means functions do around the loop: read, judge, bind, run from several starts, keep the best."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from linkwise._compat import StrOptions
from linkwise._kernels.disjoint_set import components
from linkwise._random import make_generator
from linkwise._threads import Workers
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.engines import REPORTED, Kept, is_table
from linkwise.engines.assignment import Cloud, contract
from linkwise.engines.distances import in_unit, squared_to, typical_variance, unit_of
from linkwise.engines.partitional._centroid_mixin import LINKS, CentroidMixin
from linkwise.engines.partitional._cop_kmeans import cop_kmeans
from linkwise.engines.partitional._distortions import DISTORTIONS, Measure, State, make_measure
from linkwise.engines.partitional._energy import INFERENCES, bind_samples
from linkwise.engines.partitional._init import Start, read_init
from linkwise.engines.partitional._learned_metric import METRICS, Learned, ridge_of
from linkwise.engines.partitional._loop import Loop, judge, read_problem
from linkwise.engines.partitional._penalties import SoftMethod
from linkwise.engines.partitional._race import race
from linkwise.engines.partitional._soft_loop import Alternation, Ended, SoftWatch
from linkwise.exceptions import GaveUpError, InfeasibleConstraintsError, LinkwiseError
from linkwise.problem import Problem
from linkwise.problem.statements import SoftPairs, soft_pairs

_CLOSE = 1e-8  # relative error of a metric from a file that rounding explains
TORN = 0.01  # share of the objective that broken statements cost, from which a start that breaks none is tried


@dataclass(frozen=True, eq=False)
class SoftRun:
    """What a k-means function that weighs statements found.

    Attributes
    ----------
    labels : ndarray of intp, shape (n_samples,)
        Cluster of each sample: a row of ``centers``.
    centers : ndarray of shape (n_clusters, n_features)
        Center of each cluster.
    objective : float
        What was made small: the misfit to the centers and what broken statements charge.
    objectives : tuple of float
        The objective after each assignment of the run that was kept; never rises, but for `mk_means`, whose
        ``objective`` is the least of them.
    inertia : float
        Misfit alone: the sum of squared distances of samples to centers, plain even where a metric was learned; with
        another distortion the sum of that.
    n_iter : int
        Iterations of the run that was kept.
    best_assignment : bool
        Whether each step of that run assigned at least cost: the graph of statements has no cycle.
    metric : ndarray or None
        The learned metric: one weight per feature or a matrix, one more axis in front if each cluster has its own.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import pck_means
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> run = pck_means(X, Constraints.build(4, cannot_link=[(0, 1)], weight=2.0), 2, random_state=0)
    >>> run.labels[0] == run.labels[1], run.inertia, run.objective
    (np.True_, 1.0, 3.0)
    """

    labels: IntArray
    centers: FloatArray
    objective: float
    objectives: tuple[float, ...]
    inertia: float
    n_iter: int
    best_assignment: bool
    metric: FloatArray | None = None


@dataclass(frozen=True)
class Spread:
    """How far samples are from centers: a distortion, and the metric that is learned for it."""

    distortion: str = "squared_euclidean"
    metric: str = "none"
    per_cluster: bool = False

    def check(self, who: str) -> None:
        """Refuse words that mean nothing, and what no method here does."""
        refuse_word(self.distortion, DISTORTIONS, "distortion", who)
        refuse_word(self.metric, METRICS, "metric", who)
        if self.distortion != "squared_euclidean" and self.metric != "none":
            msg = (
                f'{who} learns no metric with distortion="{self.distortion}".\n'
                'Hint: metric="none", or distortion="squared_euclidean".'
            )
            raise LinkwiseError(msg)

    def measure(self, rows: Any, k: int, who: str, *, far: bool) -> Measure:
        """Prepare rows; ``far`` says that the largest distance will be asked for."""
        if self.metric == "none":
            return make_measure(self.distortion, rows, k, who)
        if scipy.sparse.issparse(rows):
            msg = (
                f"{who} learns a metric from dense rows only, but X is sparse.\n"
                'Hint: metric="none"; or reduce X first, as with sklearn.decomposition.TruncatedSVD.'
            )
            raise LinkwiseError(msg)
        return Learned(rows, k, full=self.metric == "full", per_cluster=self.per_cluster, far=far)


def refuse_word(word: Any, words: tuple[str, ...], name: str, who: str) -> None:
    """Refuse a word that is not among those expected."""
    if word not in words:
        msg = f"{who}: {name} is {word!r}, expected one of {', '.join(map(repr, words))}."
        raise LinkwiseError(msg)


def solve(
    X: Any,
    constraints: Constraints,
    n_clusters: int,
    make: Callable[[Measure, SoftPairs], SoftMethod],
    *,
    who: str,
    spread: Spread,
    inference: str,
    init: Any,
    loop: Loop,
    random_state: Any,
    watch: SoftWatch | None,
) -> SoftRun:
    """Run a soft method from several starts and return the best; hard statements hold in it.

    ``make`` makes the method from a measure and the soft pairs.
    """
    spread.check(who)
    refuse_word(inference, INFERENCES, "inference", who)
    rows, k = read_problem(X, constraints, n_clusters, LINKS, frozenset(), who)
    given = read_init(init, k, rows.shape[1], who)
    # distances are squared, and those charged for statements multiplied by weights: measured so that neither overflows
    unit = unit_of(rows) if spread.distortion == "squared_euclidean" else 1.0
    rows, given = in_unit(rows, unit), in_unit(given, unit) if isinstance(given, np.ndarray) else given
    rng = make_generator(random_state)
    witness = judge(constraints, k, who)
    pairs = soft_pairs(constraints, who)
    measure = spread.measure(rows, k, who, far=not pairs.must.all())
    method = make(measure, pairs).of_unit(unit)
    cloud = contract(measure.rows, constraints)
    field = bind_samples(cloud, method.held)
    drawn_from = cloud if isinstance(given, np.ndarray) else _wishes(measure.rows, constraints, cloud)
    start = Start(given, drawn_from, k, rng)
    # neighborhoods are one good start; what else there is shows only elsewhere
    others = Start("k-means++", drawn_from, k, rng) if isinstance(given, str) and given == "neighborhoods" else start
    # centers that only come nearer and nearer to where they end never stand still to the last digit
    tol = max(loop.tol, 1e-14 if method.remembers else 0.0)
    tolerance = tol * typical_variance(measure.rows) if tol else 0.0
    alternation = Alternation(
        method, field, witness, inference=inference, max_iter=loop.max_iter, tolerance=tolerance, watch=watch
    )
    with Workers() as workers:
        measure.workers = workers
        runs = (alternation.run(centers, rng) for centers in _centers(start, others, loop, again=alternation.random))
        best = min(runs, key=lambda ended: ended.objective)  # of equals the first
        if others.varies and (loop.race or loop.n_init > 1) and _is_torn(method, best):
            labels = _all_held(measure.rows, constraints, k, rng)
            if labels is not None:
                other = alternation.run(measure.centers(labels), rng, labels)
                best = min(best, other, key=lambda ended: ended.objective)
    measure.workers = None
    centers, metric = best.state.centers, best.state.metric
    if spread.distortion == "squared_euclidean":
        inertia = float(squared_to(rows, centers, best.labels).sum())
    else:
        inertia = float(measure.costs_to(best.state, best.labels).sum())
    matrix = None if metric is None else metric.matrix if spread.per_cluster else metric.matrix[0]
    exact = field.exact and inference == "trees"
    found = SoftRun(best.labels, centers, best.objective, best.objectives, inertia, best.n_iter, exact, matrix)
    return found if unit == 1.0 else _of_unit(found, unit, rows.shape)


def _of_unit(found: SoftRun, unit: float, shape: tuple[int, int]) -> SoftRun:
    """The same result for data in their own units, where it was found for data measured in ``unit``."""
    if found.metric is None:
        values = [value * unit * unit for value in (found.objective, *found.objectives)]
        matrix = None
    else:  # distances under the metric have no unit, but each sample pays for the logarithm of its determinant
        more = 2.0 * shape[0] * shape[1] * float(np.log(unit))
        values = [value + more for value in (found.objective, *found.objectives)]
        matrix = found.metric / unit / unit
    return replace(
        found,
        centers=found.centers * unit,
        objective=values[0],
        objectives=tuple(values[1:]),
        inertia=found.inertia * unit * unit,
        metric=matrix,
    )


def _is_torn(method: SoftMethod, ended: Ended) -> bool:
    """Whether what is broken costs so much that holding more, and fitting less, may be better."""
    if not len(method.held.weight):
        return False
    pairs = method.pairs
    broken = method.charges(ended.state).at(ended.labels[pairs.first], ended.labels[pairs.second]).sum()
    return bool(broken > TORN * abs(ended.objective))


def _all_held(rows: Any, constraints: Constraints, k: int, rng: np.random.Generator) -> IntArray | None:
    """Labels near k centers that hold everything, soft or hard; None where that cannot be, or was not found."""
    try:
        return cop_kmeans(rows, constraints.with_weight(np.inf), k, random_state=rng).labels
    except (InfeasibleConstraintsError, GaveUpError):
        return None


def _centers(start: Start, others: Start, loop: Loop, *, again: bool) -> Iterator[FloatArray]:
    """Yield what to run from; ``again`` says that another run from the same centers may end elsewhere."""
    if loop.race:
        if start is not others or not start.varies:
            yield start.centers()
        if others.varies:
            yield race(others)[0]
        return
    yield start.centers()
    for _ in range(1, loop.n_init if others.varies or again else 1):
        yield others.centers()


def _wishes(rows: Any, constraints: Constraints, cloud: Cloud) -> Cloud:
    """Return what starts are drawn from: must-linked samples are one, softly or not, unless told to be apart."""
    if constraints.is_hard.all():
        return cloud
    n = constraints.n_samples
    must, _ = constraints.must_links()
    part = components(n, np.ascontiguousarray(must)) if len(must) else np.arange(n)
    keep = np.ones(constraints.n_statements, dtype=np.bool_)
    pairs = np.flatnonzero(constraints.kind == Kind.CANNOT_LINK)
    ends = part[constraints.items[pairs, :2]]
    keep[pairs[ends[:, 0] == ends[:, 1]]] = False
    groups = constraints.groups_of(Kind.APART)
    owner, of = groups.owner, part[groups.member]
    order = np.lexsort((of, owner))
    twice = (np.diff(owner[order]) == 0) & (np.diff(of[order]) == 0)
    keep[groups.statement[owner[order[1:]][twice]]] = False
    return contract(rows, constraints.select(np.flatnonzero(keep)).with_weight(np.inf))


def _fits_ridge(ridge: Any, model: Any) -> bool:
    d, learned = model.n_features_in_, model._spread().metric
    return learned == "none" or is_table(ridge, *((d, d) if learned == "full" else (d,)))


def _fault_of_metric(metric: Any, model: Any) -> str:
    """Say what is wrong with a metric from a file: it must fit the features and measure no negative squares."""
    d, spread = model.n_features_in_, model._spread()
    shape = (d, d) if spread.metric == "full" else (d,)
    if not is_table(metric, *((len(model.cluster_centers_), *shape) if spread.per_cluster else shape)):
        return "has the wrong shape, or values that are not finite"
    if not _fits_ridge(getattr(model, "_ridge", None), model):
        return "has no ridge"
    if spread.metric != "full":
        return "has values below 0" if (metric < 0).any() else ""
    turned, slack = np.swapaxes(metric, -1, -2), _CLOSE * np.abs(metric).max()
    if not np.allclose(metric, turned, rtol=_CLOSE, atol=slack):
        return "is not symmetric"
    least = np.linalg.eigvalsh((metric + turned) / 2).min()
    return "" if least >= -slack else "is not positive semidefinite"


class SoftMixin(CentroidMixin):
    """Hard statements hold, soft ones are weighed; new rows go to the center that costs them least.

    A subclass names its function, whose arguments are its parameters, and says in ``_spread`` if it has a distortion or
    a metric.
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    weighs: ClassVar[bool] = True
    _explains_itself: ClassVar[bool] = True
    _dense_only: ClassVar[str] = (
        "a metric is learned from dense rows only: reduce the features first, as with "
        "sklearn.decomposition.TruncatedSVD; PCKMeans learns none and takes sparse X."
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **CentroidMixin._parameter_constraints,
        "inference": [StrOptions(set(INFERENCES))],
    }

    _saved: ClassVar[dict[str, Kept]] = {
        "objective_": REPORTED,
        "objectives_": REPORTED,
        "best_assignment_": REPORTED,
        "_ridge": Kept(lambda ridge, model: "" if _fits_ridge(ridge, model) else "has the wrong shape"),
        "metric_": Kept(_fault_of_metric),
    }

    _function: ClassVar[Callable[..., SoftRun]]

    objective_: float
    objectives_: FloatArray
    best_assignment_: bool

    def _solve(self, problem: Problem) -> SoftRun:
        return type(self)._function(problem.X, problem.constraints, **self.get_params(deep=False))

    def _spread(self) -> Spread:
        return Spread()

    def _metric(self) -> str:
        return "euclidean"  # of rules, which no method here knows; what is learned is not meant

    def _keep(self, outcome: SoftRun, samples: Any, constraints: Constraints) -> None:  # type: ignore[override]
        self._keep_labels(outcome.labels, samples, constraints)
        self.cluster_centers_ = outcome.centers
        self.inertia_ = outcome.inertia
        self.objective_ = outcome.objective
        self.objectives_ = np.array(outcome.objectives)
        self.n_iter_ = outcome.n_iter
        self.best_assignment_ = outcome.best_assignment
        for name in ("metric_", "_ridge"):
            self.__dict__.pop(name, None)
        if self._spread().metric != "none":
            self.metric_ = outcome.metric
            self._ridge = ridge_of(
                samples, full=self._spread().metric == "full"
            )  # what the cost of a new row needs besides center and metric

    def predict(self, X: Any) -> IntArray:
        """Return the center that costs each row of X least.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data. Nothing is known about them: statements bind the samples of `fit` only.

        Returns
        -------
        ndarray of intp, shape (n_samples,)
        """
        measure, state = self._measure_of(self._read_new(X))
        return measure.nearest(state, measure.rows)[0]

    def transform(self, X: Any) -> FloatArray:
        """Return the distance of each row of X to each center.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data.

        Returns
        -------
        ndarray of shape (n_samples, n_clusters)
            Euclidean distances, under the learned metric of the center if there is one; another distortion itself.
        """
        measure, state = self._measure_of(self._read_new(X))
        return measure.distances(state, measure.rows)

    def _measure_of(self, rows: Any) -> tuple[Measure, State]:
        """Return what measures new rows, and the fitted state."""
        spread, k, who = self._spread(), len(self.cluster_centers_), type(self).__name__
        if spread.metric != "none":
            learned = Learned(rows, k, full=spread.metric == "full", per_cluster=spread.per_cluster, far=False)
            learned.ridge = self._ridge
            matrix = np.asarray(self.metric_)
            return learned, State(self.cluster_centers_, learned.make(matrix if spread.per_cluster else matrix[None]))
        return make_measure(spread.distortion, rows, k, who), State(self.cluster_centers_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._spread().metric == "none"
        return tags
