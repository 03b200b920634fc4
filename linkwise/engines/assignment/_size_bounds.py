"""Assignment under bounds on cluster sizes: the rule `SizeBetween` holds after every step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise._sparse import integer_programme
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, SizeBetween
from linkwise.engines.assignment._kernels_flow import fill_within, flow_within, improve_within
from linkwise.engines.assignment._kernels_trees import match
from linkwise.engines.assignment._policies import Placement
from linkwise.engines.distances import squared
from linkwise.problem.statements import Apart, Contracted

_CELLS = 300  # rows times clusters up to which the solver finds the best assignment
_VISITS = 50_000_000


def size_bounds(constraints: Constraints) -> tuple[int, int] | None:
    """Return the strictest bounds on sizes; None if every clustering keeps them."""
    rules = [rule for rule in constraints.rules if isinstance(rule, SizeBetween)]
    n = constraints.n_samples
    low = max((rule.low for rule in rules), default=1)
    high = min((n if rule.high is None else rule.high for rule in rules), default=n)
    return None if low == 1 and high >= n else (low, min(high, n))


def is_flow(cloud: Contracted) -> bool:
    """Whether sizes are the only constraints, so that the best assignment is a minimum-cost flow."""
    return cloud.n_nodes == len(cloud.group) and not cloud.apart.n_places


class SizedPlaces:
    """Assign rows so that the size of every cluster is within bounds and no cannot-link breaks.

    ``witness`` returns labels of all samples in which all statements and rules hold, or raises; it is called when
    filling the clusters greedily fails.
    """

    random = False

    def __init__(self, cloud: Contracted, bounds: tuple[int, int], witness: Callable[[], IntArray]) -> None:
        self.cloud = cloud
        self.low, self.high = bounds
        self.witness = witness
        self._weight = cloud.weight.astype(np.intp)
        self._place = np.full(cloud.n_nodes, -1, dtype=np.intp)
        self._place[cloud.apart.node] = np.arange(cloud.apart.n_places)

    def __call__(self, centers: FloatArray, before: IntArray | None) -> Placement:
        """Assign all rows."""
        away = squared(self.cloud.X, centers)
        costs = self.cloud.weight[:, None] * away
        labels, best = self._assign(costs, before)
        return Placement(labels, away[np.arange(len(labels)), labels], best)

    def _assign(self, costs: FloatArray, before: IntArray | None) -> tuple[IntArray, bool]:
        labels = np.empty(len(costs), dtype=np.intp)
        if is_flow(self.cloud):
            flow_within(costs, self.low, self.high, labels)
            return labels, True
        if before is None:
            kept = (costs, self._weight, self.cloud.apart, self._place, self.low, self.high)
            if not fill_within(*kept, labels):
                labels[self.cloud.group] = self.witness()
        else:
            labels[:] = before
        if costs.size <= _CELLS:
            return _solve(costs, self._weight, self.cloud.apart, self.low, self.high, labels)
        name = np.empty(costs.shape[1], dtype=np.intp)
        total = np.zeros((len(name), len(name)))
        np.add.at(total, labels, costs)
        match(total, np.arange(len(name)), name)  # all clusters have the same bounds, so they may be renumbered
        labels = name[labels]
        improve_within(costs, self._weight, self.cloud.apart, self._place, self.low, self.high, labels, _VISITS)
        return labels, False


def _solve(
    costs: FloatArray, weight: IntArray, apart: Apart, low: int, high: int, labels: IntArray
) -> tuple[IntArray, bool]:
    """Find the best assignment of a few rows by integer programming; ``labels`` are kept unless it costs less."""
    from scipy.sparse import coo_array, vstack

    m, k = costs.shape
    sizes = np.diff(apart.start)
    owner, node = np.repeat(np.arange(len(sizes)), sizes), apart.node[apart.member]
    cells = np.arange(m * k)
    each = coo_array((np.ones(m * k), (cells // k, cells)), shape=(m, m * k))
    room = coo_array((np.repeat(weight, k), (cells % k, cells)), shape=(k, m * k))
    rows, columns = (owner[:, None] * k + np.arange(k)).ravel(), (node[:, None] * k + np.arange(k)).ravel()
    clique = coo_array((np.ones(len(rows)), (rows, columns)), shape=(len(sizes) * k, m * k))
    least = np.concatenate([np.ones(m), np.full(k, low), np.zeros(len(sizes) * k)])
    most = np.concatenate([np.ones(m), np.full(k, high), np.ones(len(sizes) * k)])
    matrix = vstack([each, room, clique])
    answer = integer_programme(costs.ravel(), matrix, least, most, node_limit=10_000, mip_rel_gap=0.0)
    if answer.x is not None:
        found = np.argmax(answer.x.reshape(m, k), axis=1).astype(np.intp)
        now, then = costs[np.arange(m), found].sum(), costs[np.arange(m), labels].sum()
        labels = found if now < then else labels
    return labels, answer.status == 0
