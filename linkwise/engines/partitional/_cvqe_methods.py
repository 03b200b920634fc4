"""What CVQE and LCVQE charge: distances between centres, or between samples and centres, in the units of the fit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse

from linkwise.engines.partitional._field import PairCharges
from linkwise.engines.partitional._measures import Measure, State
from linkwise.engines.partitional._pairs import SoftPairs
from linkwise.engines.partitional._rows import squared
from linkwise.engines.partitional._soft_methods import SoftMethod

__all__ = ["BetweenCenters", "ToCenters"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]
_NO_TABLE = np.empty((0, 0))
_HALVINGS = 6


class BetweenCenters(SoftMethod):
    """CVQE: a broken must-link costs what the two centres are apart, a cannot-link what the nearest other is."""

    scale = 0.5
    remembers = True

    def __init__(self, measure: Measure, pairs: SoftPairs, *, printed: bool) -> None:
        super().__init__(measure, pairs)
        self.printed = printed

    def charges(self, state: State) -> PairCharges:
        """Return the charges for the current centres."""
        pairs, k = self.pairs, self.measure.k
        away = squared(state.centers, state.centers)
        nearest = _others(away).min(axis=1) if k > 1 else np.zeros(k)
        none = np.zeros((len(pairs.weight), k))
        same = np.where(pairs.must[:, None], 0.0, 0.5 * pairs.weight[:, None] * nearest)
        return PairCharges(none, none, same, np.where(pairs.must, 0.5 * pairs.weight, 0.0), away)

    def updates(self, labels: IntArray, state: State) -> Iterator[tuple[str, State]]:
        """Yield centres that broken statements draw to each other."""
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
            if self.printed:  # only the cluster of the first sample answers
                centers = (sums + drawn @ state.centers) / (mass + drawn.sum(axis=1))[:, None]
            else:
                drawn = drawn + drawn.T
                centers = np.asarray(np.linalg.solve(np.diag(mass + drawn.sum(axis=1)) - drawn, sums), dtype=np.float64)
        yield "centers", State(np.ascontiguousarray(centers))


class ToCenters(SoftMethod):
    """LCVQE: samples of a broken must-link pay for each other's centre, one of a cannot-link for its next."""

    scale = 0.5
    remembers = True

    def charges(self, state: State) -> PairCharges:
        """Return the charges for the current centres."""
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

        Who pays for a cannot-link may change as centres move; the step is halved while the objective would rise.
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
        if not len(cannot):  # nothing but squares of distances to fixed samples: this is the least
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
    """Return distances between centres with inf for a centre and itself."""
    return np.where(np.eye(len(away), dtype=np.bool_), np.inf, away)


def _next(table: FloatArray) -> tuple[IntArray, FloatArray]:
    """Return, for each row and cluster, the nearest centre other than that of the cluster, and how far it is."""
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
