"""Assignment policies for constrained k-means: exact, fixed after the first step, within sizes, or greedy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise._sparse import integer_programme
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, Kind, SizeBetween
from linkwise.engines.assignment._assign import assign
from linkwise.engines.assignment._kernels_first_labels import _assign_in_order
from linkwise.engines.assignment._kernels_flow import fill_within, flow_within, improve_within
from linkwise.engines.assignment._kernels_trees import match
from linkwise.engines.distances import nearest, squared, squared_to
from linkwise.exceptions import GaveUpError
from linkwise.problem.statements import Apart, Contracted

_CELLS = 300  # rows times clusters up to which the solver finds the best assignment
_VISITS = 50_000_000


@dataclass(frozen=True, eq=False)
class Placement:
    """Labels of the rows of a cloud, and the squared distance of each row to its center.

    ``best`` is True if no assignment costs less. ``movable`` marks the rows an empty cluster may take, by default all.
    """

    labels: IntArray
    distance: FloatArray
    best: bool = True
    movable: BoolArray | None = None


Place = Callable[[FloatArray, IntArray | None], Placement]


class FreePlaces:
    """Nearest centers for all rows, as in plain k-means."""

    random = False

    def __init__(self, cloud: Contracted) -> None:
        self.cloud = cloud

    def __call__(self, centers: FloatArray, before: IntArray | None) -> Placement:  # noqa: ARG002
        """Assign all rows."""
        return Placement(*nearest(self.cloud.X, centers))


class ExactPlaces:
    """Nearest centers for rows without cannot-links, minimum total cost for the others.

    Called with centers and the labels before, as `run_lloyd` does. ``witness`` returns labels of all samples in which
    all statements hold, or raises; it is called only when the assignment finds no labels.
    """

    random = False

    def __init__(self, cloud: Contracted, witness: Callable[[], IntArray]) -> None:
        self.cloud = cloud
        self.witness = witness
        self._bound = cloud.X[cloud.apart.node]
        self._weight = cloud.weight[cloud.apart.node][:, None]

    def __call__(self, centers: FloatArray, before: IntArray | None) -> Placement:
        """Assign all rows."""
        labels, distance = nearest(self.cloud.X, centers)
        node = self.cloud.apart.node
        if not len(node):
            return Placement(labels, distance)
        away = squared(self._bound, centers)
        costs = self._weight * away
        found = assign(costs, self.cloud.apart, None if before is None else before[node])
        if not found.solved:
            colors = np.empty(self.cloud.n_nodes, dtype=np.intp)
            colors[self.cloud.group] = self.witness()
            found = assign(costs, self.cloud.apart, colors[node])
        labels[node] = found.labels
        distance[node] = away[np.arange(len(node)), found.labels]
        return Placement(labels, distance, found.best)


class FixedPlaces(ExactPlaces):
    """Assign rows named by statements once, at minimum cost; from then on only the other rows move."""

    def __init__(self, cloud: Contracted, witness: Callable[[], IntArray]) -> None:
        super().__init__(cloud, witness)
        known = cloud.weight > 1
        known[cloud.apart.node] = True
        self._known = np.flatnonzero(known)
        self._rows = cloud.X[self._known]
        self._movable = ~known

    def __call__(self, centers: FloatArray, before: IntArray | None) -> Placement:
        """Assign all rows."""
        if before is None:
            return super().__call__(centers, before)
        labels, distance = nearest(self.cloud.X, centers)
        labels[self._known] = before[self._known]
        distance[self._known] = squared_to(self._rows, centers, labels[self._known])
        return Placement(labels, distance, movable=self._movable)


class GreedyPlaces:
    """Samples one after the other, each to the nearest center its cannot-links still allow, as in COP-KMeans.

    ``X`` are the samples, ``order`` is their order, or a generator that draws one. Must-linked samples all go to the
    cluster of the first of them. A sample for which no cluster is left ends the run with `GaveUpError`.
    """

    def __init__(
        self, cloud: Contracted, X: Any, constraints: Constraints, order: IntArray | np.random.Generator
    ) -> None:
        self.cloud = cloud
        self.constraints = constraints
        self.random = isinstance(order, np.random.Generator) and constraints.n_statements > 0
        ordered = order.permutation(len(cloud.group)) if isinstance(order, np.random.Generator) else order
        rank = np.empty(len(ordered), dtype=np.intp)
        rank[ordered] = np.arange(len(ordered))
        first = np.empty(cloud.n_nodes, dtype=np.intp)
        first[cloud.group[ordered[::-1]]] = ordered[::-1]  # the last one written came first
        self._joined = cloud.n_nodes < len(ordered)
        self._rows = X[first] if self._joined else cloud.X
        self._order = np.argsort(rank[first[cloud.apart.node]])
        self._bound = self._rows[cloud.apart.node]

    def __call__(self, centers: FloatArray, before: IntArray | None) -> Placement:  # noqa: ARG002
        """Assign all rows."""
        labels, distance = nearest(self._rows, centers)
        node = self.cloud.apart.node
        if len(node):
            away = squared(self._bound, centers)
            found = np.full(len(node), -1, dtype=np.intp)
            stuck = _assign_in_order(away, self.cloud.apart, self._order, found)
            if stuck >= 0:
                raise self._gave_up(int(node[stuck]), len(centers))
            labels[node] = found
            distance[node] = away[np.arange(len(node)), found]
        if self._joined:
            distance = squared_to(self.cloud.X, centers, labels)
        return Placement(labels, distance, best=not (len(node) or self._joined))

    def _gave_up(self, node: int, k: int) -> GaveUpError:
        """Make the error that names the sample without a cluster and the statements that exclude it."""
        c, mine = self.constraints, self.cloud.group == node
        pairs = np.flatnonzero(c.kind == Kind.CANNOT_LINK)
        at = pairs[mine[c.items[pairs, :2]].any(axis=1)].tolist()
        groups = c.groups_of(Kind.APART)
        at += groups.statement[np.unique(groups.owner[mine[groups.member]])].tolist()
        listed = "\n".join(f"  {c.describe(int(i))}" for i in sorted(at)[:5])
        more = len(at) - 5
        name = c.name(int(np.argmax(mine)))
        msg = (
            f"COP-KMeans gave up: each of the {k} clusters already held a sample that sample {name} must be apart "
            f"from:\n{listed}"
            + (f"\n  and {more} more" if more > 0 else "")
            + "\nA clustering may still exist: the samples before it were assigned without looking ahead.\n"
            'Hint: assignment="exact" looks ahead; order="random" with a larger max_tries tries more orders.'
        )
        return GaveUpError(msg, tuple(sorted(at)))


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
        labels, best = self.assign_costs(costs, before)
        return Placement(labels, away[np.arange(len(labels)), labels], best)

    def assign_costs(self, costs: FloatArray, before: IntArray | None) -> tuple[IntArray, bool]:
        """Return labels of low total cost that keep sizes and cannot-links, and whether no others cost less."""
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


class FixedSizedPlaces(SizedPlaces):
    """Assign rows named by statements once; from then on only the other rows move, within the sizes of clusters."""

    def __init__(self, cloud: Contracted, bounds: tuple[int, int], witness: Callable[[], IntArray]) -> None:
        super().__init__(cloud, bounds, witness)
        self._known = cloud.weight > 1
        self._known[cloud.apart.node] = True

    def __call__(self, centers: FloatArray, before: IntArray | None) -> Placement:
        """Assign all rows."""
        if before is None:
            return super().__call__(centers, before)
        away = squared(self.cloud.X, centers)
        costs, known = self.cloud.weight[:, None] * away, self._known
        forbidden = 1.0 + float(costs[~known].max(axis=1, initial=0.0).sum())
        costs[known] = np.where(np.arange(len(centers)) == before[known][:, None], 0.0, forbidden)
        labels, best = self.assign_costs(costs, before)
        return Placement(labels, away[np.arange(len(labels)), labels], best, movable=~known)


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
