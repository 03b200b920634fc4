"""The loop of the soft k-means methods: alternate between assigning samples and moving centers and metric."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.partitional._distortions import State
from linkwise.engines.partitional._penalties import SoftMethod
from linkwise.engines.partitional.inference import Charges, Field, PairCharges, SizedLabels

SoftWatch = Callable[[str, IntArray, FloatArray, Any, float], None]
_VISITS = 3  # visits to the same labels after which a run counts as a cycle


@dataclass(frozen=True, eq=False)
class Ended:
    """The final state of a run."""

    labels: IntArray
    state: State
    objective: float
    objectives: tuple[float, ...]
    n_iter: int


class _Path:
    """The history of a run whose objective may rise: the best assignment, and the visits to each one."""

    best: tuple[IntArray, State]

    def __init__(self) -> None:
        self._least = np.inf
        self._visits: Counter[bytes] = Counter()
        self._last = b""

    def step(self, labels: IntArray, state: State, value: float) -> None:
        """Record an assignment; the first of equals is the best."""
        if not self._visits or value < self._least:
            self._least, self.best = value, (labels, state)
        key = hashlib.blake2b(labels.tobytes(), digest_size=16).digest()
        if key != self._last:
            self._visits[key] += 1
            self._last = key

    @property
    def circles(self) -> bool:
        """Whether the last labels were visited too often."""
        return self._visits[self._last] >= _VISITS


class Alternation:
    """One method on one field, run from given centers.

    ``witness`` returns labels in which the hard statements hold; ``watch`` is called after each half-step; ``sized``
    assigns all samples if the sizes of clusters have bounds.
    """

    def __init__(
        self,
        method: SoftMethod,
        field: Field,
        witness: Callable[[], IntArray],
        *,
        inference: str,
        max_iter: int,
        tolerance: float,
        watch: SoftWatch | None = None,
        sized: SizedLabels | None = None,
    ) -> None:
        self.sized = sized
        self.method, self.field, self.witness = method, field, witness
        self.inference, self.max_iter, self.tolerance, self.watch = inference, max_iter, tolerance, watch
        self._charges: PairCharges | None = None
        self._links: Charges

    @property
    def random(self) -> bool:
        """Whether the order of assignment is random."""
        return self.sized is None and self.inference == "icm" and len(self.field.graph.ends) > 0

    def run(self, centers: FloatArray, rng: np.random.Generator, before: IntArray | None = None) -> Ended:
        """Alternate from these centers until labels repeat or centers stop moving.

        If labels are given as well, the objective is never above theirs. A method that does not descend continues when
        an assignment raises the objective; the best assignment of its run is returned, and a run that reaches the same
        labels a third time ends.
        """
        measure = self.method.measure
        state = measure.start(centers)
        values: list[float] = []
        settled = False
        path = None if self.method.descends else _Path()
        for n_iter in range(1, self.max_iter + 1):
            labels, state, value = self._assign(state, before, rng)
            values.append(value)
            if path is not None:
                path.step(labels, state, value)
            settled &= before is not None and np.array_equal(labels, before)
            if settled or (path is not None and path.circles):
                return self._end(labels, state, values, n_iter, path)
            moved = state
            for step, moved in self.method.updates(labels, state):
                self._report(step, labels, moved)
            shift = float(((moved.centers - state.centers) ** 2).sum())
            still = shift <= self.tolerance
            settled = _alike(moved.metric, state.metric) and (still or not self.method.remembers)
            state, before = moved, labels
            if still and settled:
                break
        for _ in range(measure.k + 1):  # a cluster filled now has a new center, which may be nearer to others
            labels, after, value = self._assign(state, before, rng)
            values.append(value)
            if path is not None:
                path.step(labels, after, value)
            kept, state, before = state, after, labels
            if state is kept:
                break
        return self._end(labels, state, values, n_iter, path)

    def _end(self, labels: IntArray, state: State, values: list[float], n_iter: int, path: _Path | None) -> Ended:
        if path is not None:
            labels, state = path.best
        return Ended(labels, state, self.method.objective(labels, state), tuple(values), n_iter)

    def _report(self, step: str, labels: IntArray, state: State, value: float | None = None) -> None:
        if self.watch is not None:
            matrix = None if state.metric is None else state.metric.matrix
            value = self.method.objective(labels, state) if value is None else value
            self.watch(step, labels, state.centers, matrix, value)

    def _assign(self, state: State, before: IntArray | None, rng: np.random.Generator) -> tuple[IntArray, State, float]:
        """Assign all samples; where the method descends, the objective is not above that of the labels before."""
        method, field = self.method, self.field
        if self.sized is not None:
            return self._assign_sized(self.sized, state, before)
        table, assigned = method.measure.sweep(state, field.sample)
        total, found = method.constant(state), None
        if field.n_nodes:  # meanwhile threads may assign all other samples
            if method.scale != 1.0:
                table = method.scale * table
            if self._charges is None or not method.fixed:
                self._charges = method.held_charges(state)
                self._links = field.link_charges(self._charges)
            own = field.own_costs(table, self._charges)
            was = None
            if before is not None:
                was = np.empty(field.n_nodes, dtype=np.intp)
                was[field.node] = before[field.sample]
            order = rng.permutation(field.n_nodes) if self.inference == "icm" else np.arange(field.n_nodes)
            found, energy = field.settle(
                own, self._links, was, inference=self.inference, order=order, witness=self.witness
            )
            total += energy
        labels, cost = assigned()
        total += method.scale * cost
        if found is not None:
            labels[field.sample] = found[field.node]
        if not method.measure.count(labels).all():
            labels, state, total = self._fill(labels, state, before)
        elif not method.descends:
            total = method.objective(labels, state)  # pairs that the assignment ignored count as well
        self._report("assign", labels, state, total)
        return labels, state, total

    def _assign_sized(self, sized: SizedLabels, state: State, before: IntArray | None) -> tuple[IntArray, State, float]:
        """Assign all samples within the sizes of clusters, of which none is empty."""
        method = self.method
        table = method.scale * method.measure.table(state, method.measure.rows)
        labels, cost = sized(table, method.held_charges(state), before)
        total = method.constant(state) + cost if method.descends else method.objective(labels, state)
        self._report("assign", labels, state, total)
        return labels, state, total

    def _fill(self, labels: IntArray, state: State, before: IntArray | None) -> tuple[IntArray, State, float]:
        """Give every empty cluster the sample that gains most.

        A method that descends keeps the labels before if the objective would rise.
        """
        method, field, k = self.method, self.field, self.method.measure.k
        cost = method.scale * method.measure.costs_to(state, labels)
        labels, centers = labels.copy(), state.centers.copy()
        group = np.full(len(labels), -1, dtype=np.intp)
        group[field.sample] = field.node
        moves = np.ones(len(labels), dtype=np.intp)  # how many samples move with each
        moves[field.sample] = np.bincount(field.node, minlength=field.n_nodes)[field.node]
        single = moves == 1
        for c in np.flatnonzero(np.bincount(labels, minlength=k) == 0).tolist():
            count = np.bincount(labels, minlength=k)
            gain = cost - self._extra(labels, c, State(centers, state.metric))
            able = np.where(single & (count[labels] > 1), gain, -np.inf)
            if not np.isfinite(able).any():  # only hard must-linked samples are left to move, all of a group at once
                able = np.where(count[labels] > moves, gain, -np.inf)
            row = int(np.argmax(able))
            moving = np.flatnonzero(group == group[row]) if group[row] >= 0 else np.array([row])
            labels[moving] = c
            cost[moving] = 0.0
            centers[c] = method.measure.centers_of(method.measure.rows[moving])
        filled = State(centers, state.metric)
        value = method.objective(labels, filled)
        if before is not None and method.descends and value > (stay := method.objective(before, state)):
            return before, state, stay
        return labels, filled, value

    def _extra(self, labels: IntArray, c: int, state: State) -> FloatArray:
        """Return the increase of penalties if each sample moved, alone, to cluster ``c``."""
        pairs, out = self.method.held, np.zeros(len(labels))
        if not len(pairs.weight):
            return out
        charges = self.method.held_charges(state)
        a, b = labels[pairs.first], labels[pairs.second]
        now, there = charges.at(a, b), np.full(len(a), c)
        np.add.at(out, pairs.first, charges.at(there, b) - now)
        np.add.at(out, pairs.second, charges.at(a, there) - now)
        return out


def _alike(a: Any, b: Any) -> bool:
    """Whether two metrics are so similar that hardly any label depends on the difference."""
    if a is b:
        return True
    return bool((np.abs(a.matrix - b.matrix) <= 1e-4 * np.abs(b.matrix).max(axis=-1, keepdims=True)).all())
