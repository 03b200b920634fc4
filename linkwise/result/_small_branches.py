"""The cut that sets small branches aside, then gives each to the nearest cluster that constraints allow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise._validation import read_count
from linkwise.constraints import Kind
from linkwise.exceptions import LinkwiseError
from linkwise.result._cuts import read_cluster_count, split_tree, urgency
from linkwise.result._kernels_cuts import promised
from linkwise.result._kernels_small_branches import CANNOT, MUST, _assign, _Where
from linkwise.trees import by_first_appearance

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.trees import Tree


@dataclass(frozen=True, eq=False)
class OutlierCut:
    """The result of `Dendrogram.cut_outliers`.

    Attributes
    ----------
    labels : ndarray of intp, shape (n_samples,)
        Cluster of each sample, numbered by first appearance; a branch that stays apart has its own label.
    n_clusters : int
        Number of labels: the requested ones, and one for every branch that stays apart (must-linked branches stay
        apart as one).
    apart : tuple of int
        The nodes of the small branches for which no cluster was compatible.
    min_size_used : int
        The size below which branches counted as outliers; lower than requested if k clusters needed it.

    Examples
    --------
    >>> from linkwise.engines import agglomerate
    >>> X = [[0.0], [1.0], [10.0], [11.0], [40.0]]
    >>> found = agglomerate(X, method="single").cut_outliers(2, min_size=2, X=X)
    >>> found.labels.tolist(), found.apart
    ([0, 0, 1, 1, 1], ())
    """

    labels: IntArray
    n_clusters: int
    apart: tuple[int, ...]
    min_size_used: int


def cut_without_outliers(
    tree: Tree, n_clusters: Any, min_size: Any, constraints: Constraints | None, X: Any, exact: bool
) -> OutlierCut:
    """Cut to k clusters of at least ``min_size`` samples, then place the smaller branches where nothing breaks."""
    size = read_count(min_size, "min_size", low=1, note=", the smallest branch that may be a cluster")
    k = read_cluster_count(n_clusters, 1, tree.n_samples)
    used = _reachable_size(tree, k, size)
    cutter = _Cutter(tree, constraints, urgency(tree, constraints), None if X is None else _read_samples(tree, X))
    big_roots = cutter.n_big_roots(used)
    if k < big_roots:
        msg = (
            f"n_clusters is {k}, but {big_roots} roots have {used} samples or more, and no cut joins roots.\n"
            f"Hint: ask for n_clusters={big_roots} or more, or raise min_size."
        )
        raise LinkwiseError(msg)
    return _cut_exactly(cutter, k, size, used) if exact else cutter.cut(k, used)


def shortfalls(found: OutlierCut, n_clusters: int, min_size: int, *, name: str, exact: bool) -> list[str]:
    """Word the requests that were not met: the minimum size, ``name`` for the caller, or the number of clusters."""
    words = []
    if found.min_size_used < min_size:
        words.append(
            f"{n_clusters} clusters of {min_size} samples or more, in which all statements hold, were not found; "
            f"{name}={min_size} was lowered to {found.min_size_used}."
        )
    if exact and found.n_clusters != n_clusters:
        words.append(
            f"{n_clusters} clusters were requested, {found.n_clusters} were made: {len(found.apart)} small branches "
            "fit no cluster and stay apart."
        )
    return words


def _cut_exactly(cutter: _Cutter, k: int, size: int, used: int) -> OutlierCut:
    """Find a cut with k labels, branches that stay apart included: fewer large clusters first, then smaller ones.

    With fewer large clusters fewer branches are set aside. Their number is found by bisection, which can miss one that
    fits, as few statements can exclude many branches at once. Then the threshold is lowered: to ``used``, which k
    branches reach, and on by halves. At 1 a tree is cut into k branches and none is set aside, so every tree has such a
    cut; a forest may have none, and then the cut into k large clusters is returned, with the branches apart.
    """
    sizes = [] if size == used else [size]
    lower = used
    while lower:
        sizes.append(lower)
        lower //= 2
    for threshold in sizes:
        low, high = cutter.n_big_roots(threshold), min(k, cutter.n_branches(threshold))
        n_large = high
        while low <= high:
            found = cutter.cut(n_large, threshold)
            if found.n_clusters == k:
                return found
            low, high = (low, n_large - 1) if found.n_clusters > k else (n_large + 1, high)
            n_large = (low + high) // 2
    return cutter.cut(k, used)


class _Cutter(NamedTuple):
    """A tree to cut, the constraints, and the urgency of splits that follows from both."""

    tree: Tree
    constraints: Constraints | None
    urgent: IntArray
    X: FloatArray | None

    def n_big_roots(self, size: int) -> int:
        """Return the smallest possible number of large clusters."""
        return max(1, int((self.tree.leaf_count[self.tree.roots] >= size).sum()))

    def n_branches(self, size: int) -> int:
        """Return the largest possible number of large clusters."""
        return int(promised(self.tree.parent, self.tree.leaf_count, size)[self.tree.roots].sum())

    def cut(self, k: int, size: int) -> OutlierCut:
        """Cut into k branches of at least ``size`` samples, if there are that many, and place the smaller ones."""
        tree, constraints = self.tree, self.constraints
        split = split_tree(tree, k, size, self.urgent)
        k = len(split.clusters)
        units = np.concatenate([split.clusters, split.outliers])
        place = np.full(tree.n_nodes, -1, dtype=np.intp)
        place[units] = np.arange(len(units))
        branch = place[split.holder]
        group = _travel_together(constraints, branch, k, len(units))
        unit = group[branch]
        means = np.empty((0, 0)) if self.X is None else _means(unit, int(group.max()) + 1, self.X)
        where = _Where(self.X is None, tree._lca, tree.height, units[np.unique(group, return_index=True)[1]], means)
        kind, items, start, statement = _statements_by_branch(constraints, unit, k, int(group.max()) + 1 - k)
        now = _assign(where, unit, start, statement, kind, items, k)
        labels, count = by_first_appearance(now[unit], len(units))
        apart = units[k:][now[group[k:]] >= k]
        return OutlierCut(labels, int(count), tuple(int(v) for v in apart), size)


def _travel_together(constraints: Constraints | None, branch: IntArray, k: int, n_units: int) -> IntArray:
    """Unite outlier branches that must-links join, so that all go to one cluster; return the unit of each.

    Branches whose union would break a triplet or a cannot-link stay single.
    """
    single = np.arange(n_units)
    if constraints is None:
        return single
    pairs = branch[constraints.must_links()[0]]
    pairs = pairs[(pairs >= k).all(axis=1)]
    trios = branch[constraints.of(Kind.TRIPLET)]
    groups = constraints.groups_of(Kind.APART).pairs_with(branch >= k)
    apart = branch[np.concatenate([constraints.of(Kind.CANNOT_LINK), groups])]
    while True:
        group = components(n_units, pairs)
        broken = (_broken(group[trios]) & ~_broken(trios)).nonzero()[0]
        i, j = group[apart].T
        clash = ((i == j) & (apart[:, 0] != apart[:, 1])).nonzero()[0]
        bad = np.isin(group, np.concatenate([group[trios[broken]].ravel(), i[clash]]))
        keep = ~bad[pairs[:, 0]]
        if keep.all():
            return group  # type: ignore[no-any-return]
        pairs = pairs[keep]


def _broken(trios: IntArray) -> BoolArray:
    a, b, c = trios.T
    return (c == a) != (c == b)  # type: ignore[no-any-return]


def _read_samples(tree: Tree, X: Any) -> FloatArray:
    table = np.asarray(X, dtype=np.float64)
    if table.ndim != 2 or len(table) != tree.n_samples:
        msg = f"cut_outliers: X has shape {table.shape}, expected {tree.n_samples} rows, one per sample of the tree."
        raise LinkwiseError(msg)
    if not np.isfinite(table).all():
        msg = "cut_outliers: X contains NaN or inf, expected finite numbers.\nHint: leave X out to use the tree alone."
        raise LinkwiseError(msg)
    return table


def _reachable_size(tree: Tree, k: int, min_size: int) -> int:
    """Return the largest threshold up to ``min_size`` that k disjoint branches reach.

    Branches that are minimal at threshold s are the nodes with s samples or more all of whose children have fewer;
    each node is one for a range of s, so their number for every s is a running sum.
    """
    largest_child = np.zeros(tree.n_nodes, dtype=np.intp)
    hangs = tree.parent >= 0
    np.maximum.at(largest_child, tree.parent[hangs], tree.leaf_count[hangs])
    change = np.zeros(tree.n_samples + 2, dtype=np.intp)
    np.add.at(change, largest_child + 1, 1)
    np.add.at(change, tree.leaf_count + 1, -1)
    branches = np.cumsum(change)  # branches[s], which never grows with s
    enough = np.flatnonzero(branches[: min(min_size, tree.n_samples) + 1] >= k)
    return int(enough[-1])  # never empty: at threshold 1 every sample is a branch


def _means(unit: IntArray, n_units: int, X: FloatArray) -> FloatArray:
    total = np.zeros((n_units, X.shape[1]))
    np.add.at(total, unit, X)
    return total / np.bincount(unit, minlength=n_units)[:, None]


def _as_pairs(constraints: Constraints, moving: BoolArray) -> tuple[npt.NDArray[np.int8], IntArray]:
    """Return all statements, groups as the pairs that concern a ``moving`` sample."""
    chain, at = constraints.must_links()
    chain = chain[constraints.kind[at] == Kind.TOGETHER]
    apart = constraints.groups_of(Kind.APART).pairs_with(moving)
    single = constraints.kind <= Kind.TRIPLET
    kind = np.concatenate(
        [constraints.kind[single], np.repeat(np.array([MUST, CANNOT], dtype=np.int8), [len(chain), len(apart)])]
    )
    third = np.full((len(chain) + len(apart), 1), -1, dtype=np.intp)
    pairs = np.concatenate([chain, apart])
    return kind, np.concatenate([constraints.items[single], np.hstack([pairs, third])])


def _statements_by_branch(
    constraints: Constraints | None, unit: IntArray, k: int, n_branches: int
) -> tuple[npt.NDArray[np.int8], IntArray, IntArray, IntArray]:
    """List for every outlier branch the statements that touch it."""
    if constraints is None:
        none = np.empty(0, dtype=np.intp)
        return np.empty(0, dtype=np.int8), none.reshape(0, 3), np.zeros(n_branches + 1, dtype=np.intp), none
    kind, items = _as_pairs(constraints, unit >= k)
    inside = np.where(items >= 0, unit[items], -1) - k
    rows, columns = np.nonzero(inside >= 0)
    key = np.unique(inside[rows, columns] * len(kind) + rows) if len(rows) else np.empty(0, dtype=np.intp)
    branch = key // max(len(kind), 1)
    start = np.concatenate([[0], np.cumsum(np.bincount(branch, minlength=n_branches))]).astype(np.intp)
    return kind, items, start, key % max(len(kind), 1)
