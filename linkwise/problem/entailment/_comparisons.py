"""Comparisons of distances, d(i, j) < d(i, k): their closure under the order of pairs, circles, and their removal."""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from linkwise._messages import more_lines
from linkwise._random import make_generator
from linkwise._sparse import connected_parts, integer_programme
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise._validation import read_choice
from linkwise.constraints import Constraints, Kind, run_starts
from linkwise.exceptions import ConstraintError, InfeasibleConstraintsError, LinkwiseError
from linkwise.problem.entailment._kernels_implied import _spread

_MOST_PAIRS = 20_000
_SHOWN = 20


def close_comparisons(comparisons: Any) -> IntArray:
    """Extend comparisons d(i, j) < d(i, k) by all that follow from the order of pairs being transitive.

    Parameters
    ----------
    comparisons : array-like of shape (m, 3), or Constraints
        A row ``i, j, k`` says that i is closer to j than to k, and nothing about j and k. Of `Constraints` the hard
        triplets count: ab|c makes two comparisons, (a, b, c) and (b, a, c).

    Returns
    -------
    ndarray of intp, shape (m', 3)
        All comparisons, given and entailed, each once and sorted.

    Raises
    ------
    InfeasibleConstraintsError
        Some pair would have to be closer than itself; the message shows the shortest such circle through one of them.
    LinkwiseError
        More than 20,000 pairs of items are compared.

    See Also
    --------
    close : what follows when the distances are those of a hierarchy, which is more.
    repair_comparisons : which comparisons to drop when they form circles.

    Notes
    -----
    This is the transitive closure of section III-B of [1]_. A chain may end with two pairs that share no item, such as
    d(0, 1) < d(2, 3); it cannot be written as a row and is left out, but reasoned from. If the distances are those of
    a tree, more is entailed and more is contradictory: use `close` with ``triplets=True``.

    **Cost** O(p (m + p) / 64) time and p**2 / 8 bytes for p pairs compared. **Guarantee** equal to the loops of Floyd
    and Warshall. **Departure from** [1]_ its first example of a conflict, d(i, j) < d(i, k) with d(j, k) < d(j, i),
    closes no circle of pairs and stands here, since only a hierarchy excludes it.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> from linkwise.problem import close_comparisons
    >>> close_comparisons([(0, 1, 2), (0, 2, 3)]).tolist()
    [[0, 1, 2], [0, 1, 3], [0, 2, 3]]
    """
    rows = read_comparisons(comparisons, who="close_comparisons")
    if not len(rows):
        return rows
    order = _order(rows)
    p = len(order.first)
    if p > _MOST_PAIRS:
        msg = (
            f"close_comparisons: {p:,} pairs of items are compared, at most {_MOST_PAIRS:,} are closed.\n"
            "Hint: treat them as triplets; `implies(constraints, statements)` answers questions at any size."
        )
        raise LinkwiseError(msg)
    require_no_circle(rows, who="close_comparisons")
    start = run_starts(order.low, p)
    above = order.high[np.argsort(order.low, kind="stable")]
    reach = np.zeros((p, (p + 63) // 64), dtype=np.uint64)
    _spread(start, above, reach)
    return _written(order.first, order.second, reach)


def repair_comparisons(
    comparisons: Any, *, choose: str = "cheapest", weight: Any = None, random_state: Any = None
) -> IntArray:
    """Choose comparisons d(i, j) < d(i, k) to drop, so that the others form no circle.

    Parameters
    ----------
    comparisons : array-like of shape (m, 3)
        A row ``i, j, k`` says that i is closer to j than to k, and nothing about j and k.
    choose : {"cheapest", "random"}, default="cheapest"
        ``"cheapest"`` drops comparisons of the least total weight. ``"random"`` drops one comparison of a circle at
        random until there is none.
    weight : array-like of shape (m,), optional
        The cost of dropping each comparison, above 0; 1 by default. ``"random"`` does not read it.
    random_state : int, RandomState, Generator or None, default=None
        Seed of ``"random"``.

    Returns
    -------
    ndarray of intp
        Rows to drop, sorted; empty if there is no circle.

    See Also
    --------
    repair : the same for triplets of a hierarchy, where more contradicts itself.

    Notes
    -----
    **Cost** one breadth-first search for each circle met, and for ``"cheapest"`` integer programs over the circles met,
    which can take exponential time: the task is a minimum feedback arc set. **Guarantee** the rest has no circle;
    ``"cheapest"`` is a minimum, ``"random"`` drops no comparison that was in no circle. **Departure from** [1]_ which
    removes at random, "iteratively", and does not say how a conflict is found: here the shortest circle through the
    first comparison that is in one. The minimum is ours.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> from linkwise.problem import repair_comparisons
    >>> circle = [(0, 1, 2), (0, 2, 3), (0, 3, 1)]
    >>> repair_comparisons(circle, weight=[3, 1, 2]).tolist()
    [1]
    >>> len(repair_comparisons(circle, choose="random", random_state=0))
    1
    """
    who = "repair_comparisons"
    read_choice(choose, "choose", who, ("cheapest", "random"), error=LinkwiseError)
    rows = read_comparisons(comparisons, who=who)
    cost = np.ones(len(rows)) if weight is None else np.asarray(weight, dtype=np.float64)
    if cost.shape != (len(rows),) or not (np.isfinite(cost).all() and (cost > 0).all()):
        msg = f"{who}: weight has shape {cost.shape}, expected {len(rows):,} finite numbers above 0."
        raise LinkwiseError(msg)
    if not len(rows):
        return np.empty(0, dtype=np.intp)
    order = _order(rows)
    if choose == "cheapest":
        return np.flatnonzero(_hit_circles(order, cost))
    generator, left = make_generator(random_state), np.ones(len(rows), dtype=np.bool_)
    while circle := _find_circle(order, left):
        left[circle[generator.integers(len(circle))]] = False
    return np.flatnonzero(~left)


def _hit_circles(order: _Order, cost: FloatArray) -> BoolArray:
    """Choose comparisons of least cost that every circle contains one of, by the circles met so far."""
    circles: list[list[int]] = []
    chosen = np.zeros(len(cost), dtype=np.bool_)
    while True:
        left, known = ~chosen, len(circles)
        while circle := _find_circle(order, left):
            circles.append(circle)
            left[circle] = False
        if len(circles) == known:
            return chosen
        owner = np.repeat(np.arange(len(circles)), [len(circle) for circle in circles])
        member = np.concatenate([np.array(circle) for circle in circles])
        matrix = csr_array((np.ones(len(member)), (owner, member)), shape=(len(circles), len(cost)))
        chosen = integer_programme(cost / cost.max(), matrix, 1, np.inf, mip_rel_gap=0).x > 0.5


class _Order(NamedTuple):
    """The pairs of items that comparisons name, and comparisons as edges from the closer pair to the other."""

    first: IntArray
    second: IntArray
    low: IntArray
    high: IntArray


def _order(rows: IntArray) -> _Order:
    n = int(rows.max()) + 1
    i, j, k = rows.T
    low, high = (np.minimum(i, other) * n + np.maximum(i, other) for other in (j, k))
    pairs, ends = np.unique(np.concatenate([low, high]), return_inverse=True)
    first, second = (side.astype(np.intp) for side in np.divmod(pairs, n))
    return _Order(first, second, *(side.astype(np.intp) for side in (ends[: len(rows)], ends[len(rows) :])))


def read_comparisons(comparisons: Any, *, who: str) -> IntArray:
    """Return comparisons as rows i, j, k of different items; hard triplets make two each."""
    if isinstance(comparisons, Constraints):
        table = comparisons.items[comparisons.is_hard & (comparisons.kind == Kind.TRIPLET)]
        return np.concatenate([table, table[:, [1, 0, 2]]])
    rows = np.asarray(comparisons)
    if rows.size == 0:
        return np.empty((0, 3), dtype=np.intp)
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "iu" or rows.min() < 0:
        msg = (
            f"{who} got {rows.dtype} values of shape {rows.shape}, expected whole numbers >= 0 of shape "
            "(m, 3).\nHint: a row i, j, k means d(i, j) < d(i, k)."
        )
        raise ConstraintError(msg)
    same = (rows[:, 0] == rows[:, 1]) | (rows[:, 0] == rows[:, 2]) | (rows[:, 1] == rows[:, 2])
    if same.any():
        at = int(np.flatnonzero(same)[0])
        msg = f"{who}: row {at} is {tuple(rows[at].tolist())}, expected three different items."
        raise ConstraintError(msg)
    return rows.astype(np.intp)


def require_no_circle(rows: IntArray, *, who: str) -> None:
    """Raise `InfeasibleConstraintsError`, with the shortest circle through one comparison, if there is any."""
    circle = _find_circle(_order(rows), np.ones(len(rows), dtype=np.bool_)) if len(rows) else []
    if not circle:
        return
    lines = [f"  #{e} d({i}, {j}) < d({i}, {k})" for e in circle[:_SHOWN] for i, j, k in [rows[e].tolist()]]
    lines += more_lines(_SHOWN, len(circle))
    head = f"{who}: {len(circle):,} comparisons form a circle:"
    tail = "Hint: drop one of them; `repair_comparisons(comparisons)` lists the fewest to drop."
    raise InfeasibleConstraintsError("\n".join([head, *lines, tail]))


def _find_circle(order: _Order, left: BoolArray) -> list[int]:
    """Return the shortest circle through the first comparison that is in one, of those that are left; or none."""
    rows = np.flatnonzero(left)
    low, high, p = order.low[rows], order.high[rows], len(order.first)
    graph = csr_array((np.ones(len(low), dtype=np.int8), (low, high)), shape=(p, p))
    group = connected_parts(graph, directed=True)[1]
    circular = np.flatnonzero(group[low] == group[high])
    if not len(circular):
        return []
    edge = int(circular[0])
    by_low = np.argsort(low, kind="stable")
    start = np.searchsorted(low[by_low], np.arange(p + 1))
    goal = int(low[edge])
    came: dict[int, int] = {int(high[edge]): edge}
    queue = deque(came)
    while goal not in came:
        node = queue.popleft()
        for e in by_low[start[node] : start[node + 1]].tolist():
            if int(high[e]) not in came:
                came[int(high[e])] = e
                queue.append(int(high[e]))
    circle = [came[goal]]
    while circle[-1] != edge:
        circle.append(came[int(low[circle[-1]])])
    return [int(rows[e]) for e in circle[::-1]]


def _written(first: IntArray, second: IntArray, reach: npt.NDArray[np.uint64]) -> IntArray:
    """The comparisons of pairs that share an item."""
    found = []
    for low in np.flatnonzero(reach.any(axis=1)).tolist():
        bits = np.unpackbits(reach[low].view(np.uint8), bitorder="little")[: len(first)]
        high = np.flatnonzero(bits)
        for i, j in ((first[low], second[low]), (second[low], first[low])):
            for one, other in ((first, second), (second, first)):
                k = other[high[one[high] == i]]
                found.append(np.column_stack([np.full(len(k), i), np.full(len(k), j), k]))
    return np.unique(np.concatenate(found), axis=0) if found else np.empty((0, 3), dtype=np.intp)
