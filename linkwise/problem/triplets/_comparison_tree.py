"""`comparison_tree`: a tree for comparisons of which some allow a tie, d(a, b) <= d(a, c)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise._kernels.disjoint_set import components
from linkwise._typing import IntArray
from linkwise.exceptions import ConstraintError
from linkwise.problem.triplets._onetree import BuildResult


def comparison_tree(n_items: int, closer: npt.ArrayLike = (), no_farther: npt.ArrayLike = ()) -> BuildResult:
    """Build a tree in whose ultrametric all comparisons hold, or name a set of items that they leave no way to divide.

    Parameters
    ----------
    n_items : int
        Number of leaves, 0 to ``n_items - 1``.
    closer : array-like of shape (m, 3)
        A row ``a, b, c`` says d(a, b) < d(a, c). In an ultrametric this is the triplet ab|c.
    no_farther : array-like of shape (m, 3)
        A row ``a, b, c`` says d(a, b) <= d(a, c). In an ultrametric this forbids the triplet ac|b and nothing else: the
        three may meet in one node, and b may be closer to c than to a.

    Returns
    -------
    BuildResult
        As of `onetree`: ``parent``, the finest tree by levels, with inner nodes of two or more children; or ``stuck``.

    See Also
    --------
    onetree : triplets alone, for far more of them.
    close_comparisons : comparisons of any distances, not only of a tree.

    Notes
    -----
    In an ultrametric the two largest of the distances of three items are equal, so a tree makes one of four statements
    about a, b and c: ab|c, ac|b, bc|a, or none of them, all three equal. d(a, b) < d(a, c) holds in the first only, and
    d(a, b) > d(a, c) in the second only.

    A set of items is divided into the finest parts in which a and b of every ``closer`` row inside the set share a
    part, and b shares the part of a and c of every ``no_farther`` row if these two share one. A tree of the whole set,
    restricted to one of these parts, still agrees with all rows inside it, so dividing this way finds a tree if there
    is any. Rows of ``no_farther`` alone always have one, in which all items meet in one node.

    **Cost** O(n + m) memory; O(n + m) time for each level of the tree and each round of joining parts. **Guarantee**
    the tree agrees with all rows, or no tree does; it need not be binary, and a binary one need not exist.
    **Departure from** [1]_ which knows no comparison that allows a tie, but enforces ``C d <= 0``, which is this one.
    The division is BUILD [2]_ with forbidden triplets.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.
    .. [2] A. V. Aho, Y. Sagiv, T. G. Szymanski, J. D. Ullman, "Inferring a tree from lowest common ancestors with an
       application to the optimization of relational expressions", SIAM J. Comput. 10 (1981).

    Examples
    --------
    >>> from linkwise.problem import comparison_tree
    >>> comparison_tree(3, closer=[(0, 1, 2)], no_farther=[(1, 0, 2)]).parent.tolist()
    [3, 3, 4, 4, -1]
    >>> comparison_tree(3, no_farther=[(0, 1, 2), (0, 2, 1)]).parent.tolist()
    [3, 3, 3, -1]
    >>> comparison_tree(3, closer=[(0, 1, 2)], no_farther=[(0, 2, 1)]).stuck.tolist()
    [0, 1, 2]
    """
    strict, weak = (_read(rows, n_items, name) for rows, name in ((closer, "closer"), (no_farther, "no_farther")))
    levels = [np.zeros(n_items, dtype=np.intp)]  # the part of each item, level by level
    while levels[-1].max(initial=-1) + 1 < n_items:
        part = levels[-1]
        strict, weak = (rows[(part[rows] == part[rows[:, :1]]).all(axis=1)] for rows in (strict, weak))
        finer = _divide(n_items, strict, weak)
        first = np.unique(finer, return_index=True)[1]
        size, parts = np.bincount(part), np.bincount(part[first])
        undivided = np.flatnonzero((size > 1) & (parts == 1))
        if len(undivided):
            return BuildResult(None, np.flatnonzero(part == undivided[0]))
        levels.append(finer)
    return BuildResult(_parents(n_items, levels), None)


def _read(rows: npt.ArrayLike, n_items: int, name: str) -> IntArray:
    table = np.array(rows, dtype=np.intp).reshape(-1, 3)
    outside = (table < 0).any(axis=1) | (table >= n_items).any(axis=1)
    same = (table[:, 0] == table[:, 1]) | (table[:, 0] == table[:, 2]) | (table[:, 1] == table[:, 2])
    wrong = np.flatnonzero(outside | same)
    if len(wrong):
        row = tuple(table[wrong[0]].tolist())
        msg = (
            f"comparison_tree: row {int(wrong[0])} of {name} is {row}, expected three different items from 0 to "
            f"{n_items - 1}.\nHint: a row a, b, c compares d(a, b) with d(a, c)."
        )
        raise ConstraintError(msg)
    return table


def _divide(n_items: int, strict: IntArray, weak: IntArray) -> IntArray:
    """Number the finest parts in which a and b of strict rows are together, and b with a and c of weak rows."""
    joined = strict[:, :2]
    while True:
        part: IntArray = components(n_items, np.ascontiguousarray(joined))
        a, b, c = part[weak].T
        asked = (a == c) & (a != b)
        if not asked.any():
            return part
        joined = np.concatenate([joined, weak[asked, :2]])


def _parents(n_items: int, levels: list[IntArray]) -> IntArray:
    """Return the parent array of nested divisions, the coarsest of which is first."""
    parent, top = [-1] * n_items, np.arange(n_items)
    for part in reversed(levels):
        order = np.argsort(part, kind="stable")
        for inside in np.split(order, np.flatnonzero(np.diff(part[order])) + 1):
            children = np.unique(top[inside])
            if len(children) > 1:
                for child in children.tolist():
                    parent[child] = len(parent)
                top[inside] = len(parent)
                parent.append(-1)
    return np.array(parent, dtype=np.intp)
