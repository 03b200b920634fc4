"""Penalties of the soft k-means methods for broken statements, and their updates of centers and metric."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import scipy.sparse

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.distances import squared
from linkwise.engines.partitional._distortions import Measure, State
from linkwise.engines.partitional._learned_metric import Learned, Pull
from linkwise.engines.partitional._weighted_distortions import Weighted
from linkwise.engines.partitional.inference import PairCharges
from linkwise.problem.statements import SoftPairs

_NO_TABLE = np.empty((0, 0))
_DEAREST = 1e150  # finite however often it is added
_HALVINGS = 6  # of a step that would raise the objective, before it is not taken


class SoftMethod:
    """A measure, soft pairs, and the penalties of these.

    ``held`` are the pairs that the assignment penalizes; ``fixed`` if their penalties never change, ``remembers`` if
    centers depend on those before, so that they can move while labels stay.
    """

    fixed = False
    remembers = False

    def __init__(self, measure: Measure, pairs: SoftPairs) -> None:
        self.measure, self.pairs = measure, pairs

    def of_unit(self, unit: float) -> SoftMethod:  # noqa: ARG002
        """Return the method for rows measured in a unit; penalties that are distances do not change."""
        return self

    @property
    def held(self) -> SoftPairs:
        """Pairs that the assignment penalizes."""
        return self.pairs

    @property
    def descends(self) -> bool:
        """Whether the assignment penalizes all pairs, so that none of its steps raises the objective."""
        return len(self.held.weight) == len(self.pairs.weight)

    def held_charges(self, state: State) -> PairCharges:
        """Return the penalties of the held pairs."""
        return self.charges(state)

    def charges(self, state: State) -> PairCharges:
        """Return the penalties of all pairs."""
        raise NotImplementedError

    def updates(self, labels: IntArray, state: State) -> Iterator[tuple[str, State]]:
        """Yield the name of each step and the improved state after it, for these labels."""
        yield "centers", State(self.measure.best_centers(labels, state), state.metric)

    def constant(self, state: State) -> float:
        """Return the part of the objective that does not depend on labels."""
        return self.measure.constant(state)

    scale = 1.0  # of distances in the objective

    def objective(self, labels: IntArray, state: State) -> float:
        """Compute the objective from scratch."""
        pairs = self.pairs
        broken = self.charges(state).at(labels[pairs.first], labels[pairs.second])
        fit = self.scale * float(self.measure.costs_to(state, labels).sum())
        return fit + float(broken.sum()) + self.constant(state)


class Flat(SoftMethod):
    """A broken statement costs its weight."""

    fixed = True

    def of_unit(self, unit: float) -> SoftMethod:
        """Return the method for rows measured in a unit; weights are divided by its square."""
        if unit == 1.0:
            return self
        with np.errstate(over="ignore"):
            weight = np.minimum(self.pairs.weight / unit / unit, _DEAREST)
        return type(self)(self.measure, self.pairs._replace(weight=weight))

    def charges(self, state: State) -> PairCharges:  # noqa: ARG002
        """Return the weights."""
        weight, k = self.pairs.weight[:, None], self.measure.k
        half = np.repeat(np.where(self.pairs.must[:, None], weight / 2.0, 0.0), k, axis=1)
        same = np.repeat(np.where(self.pairs.must[:, None], 0.0, weight), k, axis=1)
        return PairCharges(half, half, same, self.pairs.weight, _NO_TABLE)


class ByDistance(SoftMethod):
    """A broken must-link costs its weight times d, a broken cannot-link its weight times (largest d - d).

    Here d is the distance of the two samples. A learned metric adapts to the broken statements.
    """

    def __init__(self, measure: Measure, pairs: SoftPairs) -> None:
        super().__init__(measure, pairs)
        self.fixed = not isinstance(measure, Learned | Weighted)

    def charges(self, state: State) -> PairCharges:
        """Return the penalties under the current metric."""
        pairs, k = self.pairs, self.measure.k
        away = pairs.weight[:, None] * self.measure.between(state, pairs.first, pairs.second)
        half = np.where(pairs.must[:, None], away / 2.0, 0.0)
        same = np.zeros_like(away)
        if not pairs.must.all():
            missing = pairs.weight[:, None] * self.measure.largest(state) - away
            same = np.where(pairs.must[:, None], 0.0, np.maximum(missing, 0.0))
        half, same = (np.broadcast_to(table, (len(away), k)) for table in (half, same))
        return PairCharges(half, half, same, pairs.weight, _NO_TABLE)

    def updates(self, labels: IntArray, state: State) -> Iterator[tuple[str, State]]:
        """Yield the means, then an improved metric."""
        for step, moved in super().updates(labels, state):
            yield step, moved
            if isinstance(self.measure, Learned):
                yield "metric", self._learn(self.measure, labels, moved)
            elif isinstance(self.measure, Weighted):
                objective = partial(self.objective, labels)
                yield "metric", self.measure.reweigh(moved, labels, self._pull(labels, 1), objective)

    def _pull(self, labels: IntArray, n_metrics: int) -> Pull:
        """Return the pull of broken must-links, the push of broken cannot-links and the weight of the farthest pair."""
        pairs = self.pairs
        a, b = labels[pairs.first], labels[pairs.second]
        broken = np.where(pairs.must, a != b, a == b) * pairs.weight
        together, apart = np.where(pairs.must, broken, 0.0), np.where(pairs.must, 0.0, broken)
        if n_metrics == 1:
            return Pull(pairs.first, pairs.second, (together - apart)[:, None], np.array([apart.sum()]))
        clusters = np.arange(n_metrics)
        mine, theirs = a[:, None] == clusters, b[:, None] == clusters
        weight = together[:, None] * (mine + theirs.astype(np.float64)) / 2.0 - apart[:, None] * mine
        return Pull(pairs.first, pairs.second, weight, (apart[:, None] * mine).sum(axis=0))

    def _learn(self, measure: Learned, labels: IntArray, state: State) -> State:
        """Step to the best metric for a fixed farthest pair; shorten the step while the objective would rise."""
        wanted = measure.best_matrix(state, labels, self._pull(labels, measure.n_metrics))
        matrix = state.metric.matrix
        if not measure.wants_far:  # independent of the farthest pair, so this is the optimum
            return State(state.centers, measure.make(wanted, state.metric))
        value = self.objective(labels, state)
        for i in range(_HALVINGS):
            # not matrix + (wanted - matrix) / 2**i, which loses small values in rounding
            mixed = wanted if i == 0 else matrix * (1 - 0.5**i) + wanted * 0.5**i
            trial = State(state.centers, measure.make(mixed, state.metric))
            if self.objective(labels, trial) <= value:
                return trial
        return state


class MetricOnly(ByDistance):
    """Broken statements affect the metric, but not the assignment."""

    @property
    def held(self) -> SoftPairs:
        """No pairs."""
        return self.pairs.pick(np.zeros(len(self.pairs.weight), dtype=np.bool_))

    def held_charges(self, state: State) -> PairCharges:  # noqa: ARG002
        """Return no penalties."""
        none = np.empty((0, self.measure.k))
        return PairCharges(none, none, none, np.empty(0), _NO_TABLE)


class BetweenCenters(SoftMethod):
    """CVQE: a broken must-link costs the distance of the two centers, a cannot-link that to the nearest other one."""

    scale = 0.5
    remembers = True

    def __init__(self, measure: Measure, pairs: SoftPairs, *, printed: bool) -> None:
        super().__init__(measure, pairs)
        self.printed = printed

    def charges(self, state: State) -> PairCharges:
        """Return the penalties for the current centers."""
        pairs, k = self.pairs, self.measure.k
        away = squared(state.centers, state.centers)
        nearest = _others(away).min(axis=1) if k > 1 else np.zeros(k)
        none = np.zeros((len(pairs.weight), k))
        same = np.where(pairs.must[:, None], 0.0, 0.5 * pairs.weight[:, None] * nearest)
        return PairCharges(none, none, same, np.where(pairs.must, 0.5 * pairs.weight, 0.0), away)

    def updates(self, labels: IntArray, state: State) -> Iterator[tuple[str, State]]:
        """Yield centers that broken statements pull towards each other."""
        k, pairs = self.measure.k, self.pairs
        a, b = labels[pairs.first], labels[pairs.second]
        centers = self.measure.centers(labels)
        if k > 1:
            nearest = _others(squared(state.centers, state.centers)).argmin(axis=1)
            b = np.where(pairs.must, b, np.where(a == b, nearest[b], a))
        at = np.flatnonzero(a != b)  # broken: a must-link between clusters, a cannot-link with the nearest other one
        if len(at):
            drawn = np.bincount(a[at] * k + b[at], weights=pairs.weight[at], minlength=k * k).reshape(k, k)
            mass = np.bincount(labels, minlength=k).astype(np.float64)
            sums = centers * mass[:, None]
            if self.printed:  # only the center of the first sample moves
                centers = (sums + drawn @ state.centers) / (mass + drawn.sum(axis=1))[:, None]
            else:
                drawn = drawn + drawn.T
                centers = np.asarray(np.linalg.solve(np.diag(mass + drawn.sum(axis=1)) - drawn, sums), dtype=np.float64)
        yield "centers", State(np.ascontiguousarray(centers))


class ToCenters(SoftMethod):
    """LCVQE: broken must-links cost distances to the other's center, cannot-links that to the next center."""

    scale = 0.5
    remembers = True

    def charges(self, state: State) -> PairCharges:
        """Return the penalties for the current centers."""
        pairs = self.pairs
        one, two = (self.measure.table(state, self.measure.rows[side]) for side in (pairs.first, pairs.second))
        quarter = np.where(pairs.must, 0.25 * pairs.weight, 0.0)[:, None]
        _, next_one = _next(one)
        _, next_two = _next(two)
        half = np.where(pairs.must, 0.0, 0.5 * pairs.weight)[:, None]
        same = half * np.where(one >= two, next_one, next_two)
        return PairCharges(quarter * two, quarter * one, same, pairs.weight, _NO_TABLE)

    def updates(self, labels: IntArray, state: State) -> Iterator[tuple[str, State]]:
        """Yield weighted means of the samples of each cluster and of those that should or could be in it.

        The sample that counts for a cannot-link may change as centers move; the step is halved while the objective
        would rise.
        """
        rows, pairs, k = self.measure.rows, self.pairs, self.measure.k
        a, b = labels[pairs.first], labels[pairs.second]
        must, cannot = np.flatnonzero(pairs.must & (a != b)), np.flatnonzero(~pairs.must & (a == b))
        if k == 1:
            cannot = cannot[:0]
        centers = self.measure.centers(labels)
        if len(must) + len(cannot):
            one, two = (self.measure.table(state, rows[side[cannot]]) for side in (pairs.first, pairs.second))
            p, own = np.arange(len(cannot)), a[cannot]
            leads = one[p, own] >= two[p, own]
            to = np.where(leads, _next(one)[0][p, own], _next(two)[0][p, own])
            sample = np.concatenate(
                [pairs.second[must], pairs.first[must], np.where(leads, pairs.first[cannot], pairs.second[cannot])]
            )
            cluster = np.concatenate([a[must], b[must], to])
            half = 0.5 * pairs.weight[must]
            weight = np.concatenate([half, half, pairs.weight[cannot]])
            mass = np.bincount(labels, minlength=k)[:, None]
            pick = scipy.sparse.csr_array((weight, (cluster, np.arange(len(cluster)))), shape=(k, len(cluster)))
            extra = pick @ rows[sample]
            extra = extra.toarray() if scipy.sparse.issparse(extra) else extra
            centers = (centers * mass + extra) / (mass + pick.sum(axis=1)[:, None])
        if not len(cannot):  # only squared distances to fixed samples: this is the minimum
            yield "centers", State(centers)
            return
        value = self.objective(labels, state)
        for i in range(_HALVINGS):
            trial = State(state.centers + (centers - state.centers) / 2**i)
            if self.objective(labels, trial) <= value:
                yield "centers", trial
                return
        yield "centers", state


def _others(away: FloatArray) -> FloatArray:
    """Return distances between centers with inf for a center and itself."""
    return np.where(np.eye(len(away), dtype=np.bool_), np.inf, away)


def _next(table: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return, for each row and cluster, the nearest center other than that of the cluster, and its distance."""
    if table.shape[1] == 1:
        return np.zeros(table.shape, dtype=np.intp), np.zeros(table.shape)
    p = np.arange(len(table))
    first = table.argmin(axis=1)
    rest = table.copy()
    rest[p, first] = np.inf
    second = rest.argmin(axis=1)
    mine = np.arange(table.shape[1]) == first[:, None]
    to = np.where(mine, second[:, None], first[:, None])
    return to, table[p[:, None], to]
