"""Assignments in which every sample of a cluster of two or more has another member of it within ε."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, NeighborWithin, neighbors_within
from linkwise.engines.assignment._policies import Place, Placement, size_bounds
from linkwise.engines.distances import squared
from linkwise.problem import Problem
from linkwise.problem.statements import Contracted

_AT_ONCE = 20  # samples without a neighbor that are looked at before a move is chosen
_NEAREST = 10  # rows that are tried as company of such a sample
_REST = 10  # moves of others before a row moves again without helping
_PASSES = 50  # over all rows, each of which lowers the cost


class Price(Protocol):
    """What labels cost."""

    def of(self, row: int, labels: IntArray) -> FloatArray:
        """Return the cost of a row in each cluster while all other rows stay, up to a constant."""

    def total(self, labels: IntArray) -> float:
        """Return the cost of all labels."""


class FixedPrice:
    """A cost for each row and cluster, whatever the others do."""

    def __init__(self, costs: FloatArray) -> None:
        self.costs = costs

    def of(self, row: int, labels: IntArray) -> FloatArray:  # noqa: ARG002
        """Return the costs of a row."""
        out: FloatArray = self.costs[row]
        return out

    def total(self, labels: IntArray) -> float:
        """Return the cost of all labels."""
        return float(self.costs[np.arange(len(labels)), labels].sum())


class Neighborhoods:
    """Repairs labels of the rows of a cloud until the rule, all cannot-links and the bounds on sizes hold.

    ``near`` holds the neighbors of each sample; ``witness`` returns labels of all samples in which all statements and
    rules hold, or raises; it is called when no repair is found.
    """

    def __init__(
        self, cloud: Contracted, near: Any, bounds: tuple[int, int] | None, witness: Callable[[], IntArray]
    ) -> None:
        self.cloud, self.witness = cloud, witness
        self.n, self.m = len(cloud.group), cloud.n_nodes
        self.low, self.high = (1, self.n) if bounds is None else bounds
        self._start, self._near = near.indptr.astype(np.intp), near.indices.astype(np.intp)
        order = np.argsort(cloud.group, kind="stable")
        self._samples = np.split(order, np.cumsum(np.bincount(cloud.group, minlength=self.m))[:-1])
        self._weight = np.array([len(samples) for samples in self._samples], dtype=np.intp)
        pairs = cloud.apart.pairs()
        self._rivals: dict[int, list[int]] = {}
        for a, b in pairs.tolist():
            self._rivals.setdefault(a, []).append(b)
            self._rivals.setdefault(b, []).append(a)
        alone = np.flatnonzero(np.diff(self._start) == 0)
        self._hermits = np.unique(cloud.group[alone])

    @classmethod
    def of(cls, problem: Problem, cloud: Contracted) -> Neighborhoods | None:
        """Read the rule of a problem; None if there is none."""
        epsilon = _epsilon(problem.constraints)
        if epsilon is None:
            return None
        near = neighbors_within(problem.X, epsilon, metric=problem.metric)
        return cls(cloud, near, size_bounds(problem.constraints), problem.witness)

    def settle(
        self, price: Price, labels: IntArray, before: IntArray | None, k: int, movable: BoolArray | None = None
    ) -> IntArray:
        """Return labels of the rows in which all rules hold; no move of one row makes them cheaper.

        ``labels`` are where the rows would like to be; ``before``, if given, are legal labels, and the result costs no
        more. Rows that are not ``movable`` stay.
        """
        may = np.ones(self.m, dtype=np.bool_) if movable is None else movable
        found = self._repair(price, labels, k, may)
        if found is None and before is None:
            legal = np.empty(self.m, dtype=np.intp)
            legal[self.cloud.group] = self.witness()
            found = _State(self, _renamed(price, legal, k, self.m), k)
        options = [] if found is None else [found]
        if before is not None:
            options.append(_State(self, before, k))
        for state in options:
            self._descend(price, state, may)
        return min(options, key=lambda state: price.total(state.labels)).labels

    def neighbors(self, row: int) -> IntArray:
        """Return the samples within ε of those of a row, with repetitions."""
        spans = [self._near[self._start[s] : self._start[s + 1]] for s in self._samples[row].tolist()]
        return np.concatenate(spans)

    def _repair(self, price: Price, labels: IntArray, k: int, may: BoolArray) -> _State | None:
        """Move rows until the rule holds, always the move that helps most; None where that leads nowhere.

        Moves that do not help are taken as well, but not of rows that were moved a short while ago.
        """
        labels = labels.copy()
        if len(self._hermits) and not self._seat_hermits(price, labels, k, may):
            return None
        state = _State(self, labels, k)
        if not state.fill(price, may):
            return None
        rested: dict[int, int] = {}
        for step in range(4 * self.m + 100):
            lonely = state.lonely()
            if not len(lonely):
                return state if state.within_sizes() else None
            best: tuple[int, float, int, int] | None = None
            for row, c in self._helpful(price, state, lonely[:_AT_ONCE], k):
                if may[row] and state.may_move(row, c):
                    cost = price.of(row, state.labels)
                    move = (state.change(row, c), float(cost[c] - cost[state.labels[row]]), row, c)
                    if move[0] < 0 or rested.get(row, -1) < step:
                        best = move if best is None or move < best else best
            if best is None:
                return None
            state.move(best[2], best[3])
            rested[best[2]] = step + _REST
        return None

    def _helpful(self, price: Price, state: _State, lonely: IntArray, k: int) -> Iterator[tuple[int, int]]:
        """Yield moves that may give a sample company: it goes elsewhere, or a neighbor comes."""
        for sample in lonely.tolist():
            row = int(self.cloud.group[sample])
            at = int(state.labels[row])
            yield from ((row, c) for c in range(k) if c != at)
            around = np.unique(self.cloud.group[self._near[self._start[sample] : self._start[sample + 1]]]).tolist()
            coming = [(float(cost[at] - cost.min()), g) for g in around for cost in [price.of(g, state.labels)]]
            yield from ((g, at) for _, g in sorted(coming)[:_NEAREST])

    def _seat_hermits(self, price: Price, labels: IntArray, k: int, may: BoolArray) -> bool:
        """Give each row without any neighbor a cluster of its own; the others leave these. False if that cannot be."""
        from scipy.optimize import linear_sum_assignment

        rows = self._hermits
        if len(rows) + (len(rows) < self.m) > k or (self._weight[rows] > 1).any():
            return False
        costs = np.stack([price.of(int(row), labels) for row in rows])
        seats = linear_sum_assignment(costs)[1]
        others = np.setdiff1d(np.arange(self.m), rows)
        leaving = others[np.isin(labels[others], seats)]
        if not (may[leaving].all() and may[rows[labels[rows] != seats]].all()):
            return False
        labels[rows] = seats
        for row in leaving.tolist():
            cost = price.of(row, labels).copy()
            cost[seats] = np.inf
            cost[labels[self._rivals.get(row, [])]] = np.inf
            if np.isinf(cost.min()):
                return False
            labels[row] = int(cost.argmin())
        return True

    def _descend(self, price: Price, state: _State, may: BoolArray) -> None:
        """Make cheaper moves that keep all rules, until there is none."""
        for _ in range(_PASSES):
            moved = False
            for row in np.flatnonzero(may).tolist():
                cost = price.of(row, state.labels)
                own = float(cost[state.labels[row]])
                for c in np.argsort(cost, kind="stable").tolist():
                    if not cost[c] < own - 1e-12 * abs(own):
                        break
                    if state.may_move(row, c) and not state.change(row, c):
                        state.move(row, c)
                        moved = True
                        break
            if not moved:
                break


class _State:
    """Labels of rows, with the neighbors that each sample has in its cluster."""

    def __init__(self, rules: Neighborhoods, labels: IntArray, k: int) -> None:
        self.rules, self.labels = rules, labels.copy()
        self.size = np.bincount(labels, weights=rules._weight, minlength=k).astype(np.intp)
        self.rows = np.bincount(labels, minlength=k)
        self.label = labels[rules.cloud.group]
        source = np.repeat(np.arange(rules.n), np.diff(rules._start))
        self.company = np.bincount(source[self.label[source] == self.label[rules._near]], minlength=rules.n)

    def lonely(self) -> IntArray:
        """Return the samples that break the rule."""
        return np.flatnonzero((self.company == 0) & (self.size[self.label] > 1))

    def within_sizes(self) -> bool:
        """Whether all clusters have allowed sizes."""
        return bool(((self.size >= self.rules.low) & (self.size <= self.rules.high)).all())

    def may_move(self, row: int, c: int) -> bool:
        """Whether cannot-links, sizes and the number of clusters allow a move."""
        at, weight = self.labels[row], self.rules._weight[row]
        if at == c or self.rows[at] < 2 or self.size[at] - weight < self.rules.low:
            return False
        if self.size[c] + weight > self.rules.high:
            return False
        return not (self.labels[self.rules._rivals.get(row, [])] == c).any()

    def change(self, row: int, c: int) -> int:
        """Return by how much a move changes the number of samples that break the rule."""
        at, samples = int(self.labels[row]), self.rules._samples[row]
        around = np.unique(self.rules.neighbors(row))
        concerned = [samples, around[(self.label[around] == at) | (self.label[around] == c)]]
        for cluster, left in ((at, self.size[at] - len(samples)), (c, self.size[c])):
            if left == 1:  # a sample alone may stay without company, and needs it when it is no longer alone
                concerned.append(np.setdiff1d(np.flatnonzero(self.label == cluster), samples))
        some = np.unique(np.concatenate(concerned))
        was = self._count(some)
        self.move(row, c)
        now = self._count(some)
        self.move(row, at)
        return now - was

    def move(self, row: int, c: int) -> None:
        """Move a row."""
        at, samples, weight = int(self.labels[row]), self.rules._samples[row], self.rules._weight[row]
        for sample in samples.tolist():
            around = self.rules._near[self.rules._start[sample] : self.rules._start[sample + 1]]
            there = self.label[around]
            self.company[around[there == at]] -= 1
            self.company[around[there == c]] += 1
            self.label[sample] = c
            self.company[sample] = int((there == c).sum())
        self.labels[row] = c
        self.size[at] -= weight
        self.size[c] += weight
        self.rows[at] -= 1
        self.rows[c] += 1

    def fill(self, price: Price, may: BoolArray) -> bool:
        """Give each empty cluster the row that costs most and breaks least; False if none may move."""
        for c in np.flatnonzero(self.rows == 0).tolist():
            best: tuple[int, float, int] | None = None
            for row in np.flatnonzero(may).tolist():
                if self.may_move(row, c):
                    move = (self.change(row, c), -float(price.of(row, self.labels)[self.labels[row]]), row)
                    best = move if best is None or move < best else best
            if best is None:
                return False
            self.move(best[2], c)
        return True

    def _count(self, some: IntArray) -> int:
        return int(((self.company[some] == 0) & (self.size[self.label[some]] > 1)).sum())


class NearPlaces:
    """An assignment policy whose labels are repaired until the rule holds."""

    def __init__(self, inner: Place, rules: Neighborhoods) -> None:
        self.inner, self.rules = inner, rules
        self.random = getattr(inner, "random", False)

    def __call__(self, centers: FloatArray, before: IntArray | None) -> Placement:
        """Assign all rows."""
        placed = self.inner(centers, before)
        cloud = self.rules.cloud
        away = squared(cloud.X, centers)
        price = FixedPrice(cloud.weight[:, None] * away)
        movable = None if before is None else placed.movable
        labels = self.rules.settle(price, placed.labels, before, len(centers), movable)
        as_wished = placed.best and np.array_equal(labels, placed.labels)
        return Placement(labels, away[np.arange(len(labels)), labels], bool(as_wished), placed.movable)


def _epsilon(constraints: Constraints) -> float | None:
    return min((rule.epsilon for rule in constraints.rules if isinstance(rule, NeighborWithin)), default=None)


def _renamed(price: Price, labels: IntArray, k: int, m: int) -> IntArray:
    """Give the clusters the names at which they cost least."""
    from scipy.optimize import linear_sum_assignment

    total = np.zeros((k, k))
    np.add.at(total, labels, np.stack([price.of(row, labels) for row in range(m)]))
    return np.asarray(linear_sum_assignment(total)[1])[labels]
