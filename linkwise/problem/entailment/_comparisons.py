"""Comparisons of distances, d(i, j) < d(i, k), and their closure under transitivity of the order of pairs."""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from linkwise._messages import more_lines
from linkwise._sparse import connected_parts
from linkwise._typing import IntArray
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

    Notes
    -----
    This is the transitive closure of section III-B of [1]_. A chain may end with two pairs that share no item, such as
    d(0, 1) < d(2, 3); it cannot be written as a row and is left out, but reasoned from. If the distances are those of
    a tree, more is entailed and more is contradictory: use `close` with ``triplets=True``.

    **Cost** O(p (m + p) / 64) time and p**2 / 8 bytes for p pairs compared. **Guarantee** equal to the loops of Floyd
    and Warshall. **Departure from** [1]_ its first example of a conflict, d(i, j) < d(i, k) with d(j, k) < d(j, i), is
    no circle of pairs and stands here, since only a hierarchy excludes it.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> from linkwise.problem import close_comparisons
    >>> close_comparisons([(0, 1, 2), (0, 2, 3)]).tolist()
    [[0, 1, 2], [0, 1, 3], [0, 2, 3]]
    """
    rows = _read(comparisons)
    if not len(rows):
        return rows
    n = int(rows.max()) + 1
    i, j, k = rows.T
    low, high = (np.minimum(i, other) * n + np.maximum(i, other) for other in (j, k))
    pairs, ends = np.unique(np.concatenate([low, high]), return_inverse=True)
    low, high = ends[: len(rows)].astype(np.intp), ends[len(rows) :].astype(np.intp)
    p = len(pairs)
    if p > _MOST_PAIRS:
        msg = (
            f"close_comparisons: {p:,} pairs of items are compared, at most {_MOST_PAIRS:,} are closed.\n"
            "Hint: treat them as triplets; `implies(constraints, statements)` answers questions at any size."
        )
        raise LinkwiseError(msg)
    graph = csr_array((np.ones(len(low), dtype=np.int8), (low, high)), shape=(p, p))
    group = connected_parts(graph, directed=True)[1]
    circular = np.flatnonzero(group[low] == group[high])
    if len(circular):
        raise InfeasibleConstraintsError(_circle(rows, low, high, int(circular[0])))
    start = run_starts(low, p)
    above = high[np.argsort(low, kind="stable")]
    reach = np.zeros((p, (p + 63) // 64), dtype=np.uint64)
    _spread(start, above, reach)
    first, second = (side.astype(np.intp) for side in np.divmod(pairs, n))
    return _written(first, second, reach)


def _read(comparisons: Any) -> IntArray:
    if isinstance(comparisons, Constraints):
        table = comparisons.items[comparisons.is_hard & (comparisons.kind == Kind.TRIPLET)]
        return np.concatenate([table, table[:, [1, 0, 2]]])
    rows = np.asarray(comparisons)
    if rows.size == 0:
        return np.empty((0, 3), dtype=np.intp)
    if rows.ndim != 2 or rows.shape[1] != 3 or rows.dtype.kind not in "iu" or rows.min() < 0:
        msg = (
            f"close_comparisons got {rows.dtype} values of shape {rows.shape}, expected whole numbers >= 0 of shape "
            "(m, 3).\nHint: a row i, j, k means d(i, j) < d(i, k)."
        )
        raise ConstraintError(msg)
    same = (rows[:, 0] == rows[:, 1]) | (rows[:, 0] == rows[:, 2]) | (rows[:, 1] == rows[:, 2])
    if same.any():
        at = int(np.flatnonzero(same)[0])
        msg = f"close_comparisons: row {at} is {tuple(rows[at].tolist())}, expected three different items."
        raise ConstraintError(msg)
    return rows.astype(np.intp)


def _circle(rows: IntArray, low: IntArray, high: IntArray, edge: int) -> str:
    """Word the shortest circle through one comparison, found by breadth-first search back to where it starts."""
    order = np.argsort(low, kind="stable")
    start = np.searchsorted(low[order], np.arange(max(low.max(), high.max()) + 2))
    goal = int(low[edge])
    came: dict[int, int] = {int(high[edge]): edge}
    queue = deque(came)
    while goal not in came:
        node = queue.popleft()
        for e in order[start[node] : start[node + 1]].tolist():
            if int(high[e]) not in came:
                came[int(high[e])] = e
                queue.append(int(high[e]))
    circle = [came[goal]]
    while circle[-1] != edge:
        circle.append(came[int(low[circle[-1]])])
    lines = [f"  #{e} d({i}, {j}) < d({i}, {k})" for e in circle[::-1][:_SHOWN] for i, j, k in [rows[e].tolist()]]
    lines += more_lines(_SHOWN, len(circle))
    head = f"close_comparisons: {len(circle):,} comparisons form a circle:"
    return "\n".join([head, *lines, "Hint: drop one of them."])


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
