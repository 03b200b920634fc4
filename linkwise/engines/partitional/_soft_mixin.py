"""Base of the soft k-means estimators: runs from several starts, and `predict` and `transform` for new rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import StrOptions
from linkwise._random import make_generator
from linkwise._threads import Workers
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import LINKS, Kind, NeighborWithin, Rule, SizeBetween
from linkwise.engines import REPORTED, Kept, is_table
from linkwise.engines.assignment import Neighborhoods, size_bounds
from linkwise.engines.distances import in_unit, squared_to, typical_variance, unit_of
from linkwise.engines.partitional._centroid_mixin import CentroidMixin
from linkwise.engines.partitional._cop_kmeans import cop_kmeans
from linkwise.engines.partitional._distortions import Measure, State, make_measure, prepare_rows
from linkwise.engines.partitional._init import Start, read_init
from linkwise.engines.partitional._learned_metric import Learned, ridge_of
from linkwise.engines.partitional._loop import Loop
from linkwise.engines.partitional._penalties import SoftMethod
from linkwise.engines.partitional._race import race
from linkwise.engines.partitional._soft_loop import Alternation, Ended
from linkwise.engines.partitional._weighted_distortions import Weighted, WeightedCosine, WeightedDivergence, Weights
from linkwise.engines.partitional.inference import INFERENCES, SizedLabels, bind_samples
from linkwise.exceptions import GaveUpError, InfeasibleConstraintsError, LinkwiseError
from linkwise.problem import Problem
from linkwise.problem.statements import Contracted, SoftPairs

_CLOSE = 1e-8  # relative error of a metric from a file that rounding explains
TORN = 0.01  # share of penalties in the objective above which a start without broken statements is tried


@dataclass(frozen=True, eq=False)
class SoftRun:
    """Outcome of a soft k-means method; ``metric`` has one more axis in front if each cluster has its own."""

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
    """The distance of samples from centers: a distortion, and the form of the metric learned for it."""

    distortion: str = "squared_euclidean"
    metric: str = "none"
    per_cluster: bool = False

    @property
    def has_ridge(self) -> bool:
        """Whether a metric is learned that a ridge keeps finite."""
        return self.distortion == "squared_euclidean" and self.metric != "none"

    def measure(self, rows: Any, k: int, who: str, *, far: bool) -> Measure:
        """Prepare rows; ``far`` if the largest distance will be needed."""
        if self.metric == "none":
            return make_measure(self.distortion, rows, k, who)
        if self.distortion != "squared_euclidean":
            return self._weighted(rows, k, who)
        return Learned(rows, k, full=self.metric == "full", per_cluster=self.per_cluster, far=far)

    def _weighted(self, rows: Any, k: int, who: str) -> Weighted:
        if self.metric == "full" or self.per_cluster:
            wrong = 'form="full"' if self.metric == "full" else "per_cluster=True"
            msg = (
                f'{who} does not learn a metric with distortion="{self.distortion}" and {wrong}, only one weight for '
                'each feature.\nHint: use form="diagonal" and per_cluster=False, or distortion="squared_euclidean".'
            )
            raise LinkwiseError(msg)
        rows = prepare_rows(self.distortion, rows, who)
        if self.distortion == "kl":
            return WeightedDivergence(rows, k)
        return WeightedCosine(rows, k, centered=self.distortion == "pearson")


def _of_unit(found: SoftRun, unit: float, shape: tuple[int, int]) -> SoftRun:
    """Convert a result for data measured in ``unit`` to the units of the data."""
    if found.metric is None:
        values = [value * unit * unit for value in (found.objective, *found.objectives)]
        matrix = None
    else:  # distances under the metric have no unit, but each sample costs the logarithm of its determinant
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
    """Whether penalties are so large that keeping more statements, with a worse fit, may be better."""
    if not len(method.held.weight):
        return False
    pairs = method.pairs
    broken = method.charges(ended.state).at(ended.labels[pairs.first], ended.labels[pairs.second]).sum()
    return bool(broken > TORN * abs(ended.objective))


def _all_held(problem: Problem, rows: Any, rng: np.random.Generator) -> IntArray | None:
    """Return labels near some centers in which all statements hold, soft or hard; None if none were found."""
    every = Problem(rows, problem.constraints.with_weight(np.inf), n_clusters=problem.n_clusters, who=problem.who)
    try:
        every.require_feasible()
        return cop_kmeans(every, random_state=rng).labels
    except (InfeasibleConstraintsError, GaveUpError):
        return None


def _centers(start: Start, others: Start, loop: Loop, *, again: bool) -> Iterator[FloatArray]:
    """Yield initial centers; ``again`` if another run from the same centers may end elsewhere."""
    if loop.race:
        if start is not others or not start.varies:
            yield start.centers()
        if others.varies:
            yield race(others)[0]
        return
    yield start.centers()
    for _ in range(1, loop.n_runs if others.varies or again else 1):
        yield others.centers()


def _contract_all(problem: Problem, rows: Any, cloud: Contracted) -> Contracted:
    """Contract soft must-links as well, to draw starts from; cannot-links inside a group are left out."""
    if problem.constraints.is_hard.all():
        return cloud
    hard = Problem(rows, problem.constraints.with_weight(np.inf)).hard
    kept = np.setdiff1d(np.arange(problem.constraints.n_statements), hard.broken(hard.group)[1])
    return Problem(rows, hard.constraints.select(kept)).contract()


def _fits_ridge(ridge: Any, model: Any) -> bool:
    d, spread = model.n_features_in_, model._spread()
    return not spread.has_ridge or is_table(ridge, *((d, d) if spread.metric == "full" else (d,)))


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
    """Hard statements hold, soft ones are penalized if broken; new rows go to the center of lowest cost.

    A subclass returns its objective from ``_method``, and its distortion and form of metric from ``_spread``.

    Parameters
    ----------
    inference : {"trees", "icm", "bp", "lp"}
        Assignment of the samples that statements name. "icm" moves one sample at a time until no move helps, in an
        order drawn from ``random_state``; "trees" then also moves whole trees of linked samples, which is never worse.
        "bp" takes labels from loopy belief propagation, at most 200 rounds of messages, "lp" those with the largest
        fractions in a linear program, whose size is that of the soft statements times ``n_clusters`` squared; both keep
        the labels before where these are better. Under bounds on sizes, or ε, all four are one search: blocks of
        samples that no soft statement joins, each assigned while the others stay; then labels are repaired until ε
        holds.
    init : {"k-means++", "neighborhoods"} or array-like of shape (n_clusters, n_features)
        Initial centers: drawn far from each other, the means of must-linked samples (soft or hard), or given.
    n_init : int or "race"
        "race": run six k-means steps from each of eight "k-means++" initializations and continue with the best. A
        number: run from that many initializations. With "neighborhoods" a first run starts from these. The run with the
        lowest objective is kept; if penalties are more than 1 % of it, one more run starts from labels in which all
        statements hold, if there are any. If nothing is random, there is only one run.

    Attributes
    ----------
    objective_ : float
        Final objective: distortion plus penalties of broken statements.
    objectives_ : ndarray
        The objective after each assignment of the run that was kept; never rises.
    best_assignment_ : bool
        Whether each step of that run assigned at minimum cost: "trees", the graph of statements has no cycle, and there
        are no bounds on sizes.
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    understands_rules: ClassVar[frozenset[type[Rule]]] = frozenset({SizeBetween, NeighborWithin})
    weighs: ClassVar[bool] = True
    _dense_only: ClassVar[str] = (
        "a metric is learned from dense rows only: reduce the features first, as with "
        "sklearn.decomposition.TruncatedSVD, or use PCKMeans, which learns no metric and takes sparse X."
    )
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "inference": [StrOptions(set(INFERENCES))],
    }

    _saved: ClassVar[dict[str, Kept]] = {
        "objective_": REPORTED,
        "objectives_": REPORTED,
        "best_assignment_": REPORTED,
        "_ridge": Kept(lambda ridge, model: "" if _fits_ridge(ridge, model) else "has the wrong shape"),
        "metric_": Kept(_fault_of_metric),
    }

    inference: str
    init: Any
    random_state: Any
    objective_: float
    objectives_: FloatArray
    best_assignment_: bool

    def _method(self, measure: Measure, pairs: SoftPairs) -> SoftMethod:
        """Return the objective over the soft pairs."""
        raise NotImplementedError

    def _solve(self, problem: Problem) -> SoftRun:
        """Run the method from several starts and return the best; hard statements hold in it.

        ``_watch``, if given, is called as ``watch(step, labels, centers, metric, objective)`` after each half-step.
        """
        spread, loop = self._spread(), Loop.of(self)
        rows, k, who = problem.X, problem.k, problem.who
        given = read_init(self.init, k, rows.shape[1], who)
        # distances are squared and multiplied by weights: a suitable unit prevents overflow
        unit = unit_of(rows) if spread.distortion == "squared_euclidean" else 1.0
        rows, given = in_unit(rows, unit), in_unit(given, unit) if isinstance(given, np.ndarray) else given
        rng = make_generator(self.random_state)
        pairs = problem.soft_pairs
        measure = spread.measure(rows, k, who, far=not pairs.must.all())
        method = self._method(measure, pairs).of_unit(unit)
        cloud = problem.contract(measure.rows)
        field, bounds = bind_samples(cloud, method.held), size_bounds(problem.constraints)
        near = Neighborhoods.of(problem, cloud)
        if near is not None and bounds is None:
            bounds = (1, problem.n_samples)
        drawn_from = cloud if isinstance(given, np.ndarray) else _contract_all(problem, measure.rows, cloud)
        start = Start(given, drawn_from, k, rng)
        # neighborhoods are one good start; the others are drawn by k-means++
        others = (
            Start("k-means++", drawn_from, k, rng) if isinstance(given, str) and given == "neighborhoods" else start
        )
        # centers that converge geometrically never repeat to the last digit
        tol = max(loop.tol, 1e-14 if method.remembers else 0.0)
        tolerance = tol * typical_variance(measure.rows) if tol else 0.0
        alternation = Alternation(
            method,
            field,
            problem.witness,
            inference=self.inference,
            max_iter=loop.max_iter,
            tolerance=tolerance,
            watch=loop.watch,
            sized=None if bounds is None else SizedLabels(cloud, bounds, method.held, problem.witness, near),
        )
        with Workers() as workers:
            measure.workers = workers
            runs = (
                alternation.run(centers, rng) for centers in _centers(start, others, loop, again=alternation.random)
            )
            best = min(runs, key=lambda ended: ended.objective)  # the first of equals
            if others.varies and (loop.race or loop.n_runs > 1) and _is_torn(method, best):
                labels = _all_held(problem, measure.rows, rng)
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
        exact = field.exact and self.inference == "trees" and bounds is None
        found = SoftRun(best.labels, centers, best.objective, best.objectives, inertia, best.n_iter, exact, matrix)
        return found if unit == 1.0 else _of_unit(found, unit, rows.shape)

    def _spread(self) -> Spread:
        return Spread()

    def _keep(self, outcome: SoftRun, problem: Problem) -> None:  # type: ignore[override]
        self._keep_labels(outcome.labels, problem)
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
        if self._spread().has_ridge:
            # part of the cost of a new row, besides center and metric
            self._ridge = ridge_of(problem.X, full=self._spread().metric == "full")

    def predict(self, X: Any) -> IntArray:
        """Return the center of lowest cost for each row of X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data. Statements apply to the samples of `fit` only.

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
            Euclidean distances, under the learned metric if there is one; for other distortions their values.
        """
        measure, state = self._measure_of(self._read_new(X))
        return measure.distances(state, measure.rows)

    def _measure_of(self, rows: Any) -> tuple[Measure, State]:
        """Return a measure of new rows, and the fitted state."""
        spread, k, who = self._spread(), len(self.cluster_centers_), type(self).__name__
        if spread.has_ridge:
            learned = Learned(rows, k, full=spread.metric == "full", per_cluster=spread.per_cluster, far=False)
            learned.ridge = self._ridge
            matrix = np.asarray(self.metric_)
            return learned, State(self.cluster_centers_, learned.make(matrix if spread.per_cluster else matrix[None]))
        measure = spread.measure(rows, k, who, far=False)
        weights = None if spread.metric == "none" else Weights(np.asarray(self.metric_)[None])
        return measure, State(self.cluster_centers_, weights)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        spread = self._spread()
        tags.input_tags.sparse = spread.metric == "none" and spread.distortion != "pearson"
        return tags
