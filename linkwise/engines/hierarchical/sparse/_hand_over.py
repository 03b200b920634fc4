"""From merges along neighbors to the exact part: one tree of both, and an audit of what the first can have missed."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from scipy.spatial.distance import cdist

from linkwise._messages import many
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines.agglomeration import join_edges
from linkwise.engines.hierarchical.sparse._graph_merging import Items, Merged
from linkwise.problem import Problem
from linkwise.result import Dendrogram

_ROUNDING = 1e-13  # of a mean of equal rows, by which heights of their copies miss 0
_AUDITED = 500  # clusters, at most, whose nearest one is looked for


class SparseAudit(NamedTuple):
    """How much merging along neighbors can have missed; measured, not a bound on the tree.

    Attributes
    ----------
    recall : float
        Share of the true neighbors that were found, for 1,000 samples; nan if neighbors were given.
    n_clusters : int
        Clusters left when all of them were compared with each other.
    nearest_seen : float
        Share of these, up to 500, whose nearest joinable cluster was among their neighbors; nan if none may be joined.
    stretch : float
        Mean distance of the nearest neighbor over that of the nearest joinable cluster, of those that had one.
    refused : int
        Merges along neighbors that statements forbade.
    rounds : int
        How many times neighbors were searched.

    Examples
    --------
    >>> from linkwise.engines import SparseAudit
    >>> print(SparseAudit(0.97, 3000, 0.98, 1.01, 12, 1))
    97 % of neighbors were found; 12 merges were refused; 98 % of 3,000 clusters had the nearest one among theirs.
    """

    recall: float
    n_clusters: int
    nearest_seen: float
    stretch: float
    refused: int
    rounds: int

    def __str__(self) -> str:
        parts = [] if np.isnan(self.recall) else [f"{_share(self.recall)} of neighbors were found"]
        parts.append(f"{many(self.refused, 'merge')} {'was' if self.refused == 1 else 'were'} refused")
        if np.isnan(self.nearest_seen):
            parts.append(f"{many(self.n_clusters, 'cluster')} were left")
        else:
            of = many(self.n_clusters, "cluster")
            parts.append(f"{_share(self.nearest_seen)} of {of} had the nearest one among theirs")
        return "; ".join(parts) + "."


def _share(part: float) -> str:
    return f"{100 * part:.0f} %"


def join_trees_of(
    X: FloatArray, items: Items, merged: Merged, above: Dendrogram, ids: Any, named: IntArray | None = None
) -> Dendrogram:
    """The merges of items, then those of the tree above that join clusters; copies of a row meet at height 0.

    Each cluster goes where its sample in ``named`` is, of which it has at most one: these are named by triplets, for
    which their places count. The others of a cluster may be elsewhere in the tree above, below the same mark.
    """
    n = above.n_samples
    stand: IntArray | None = None
    if named is not None:
        cluster = merged.cluster[items.of_sample]
        stand = np.unique(cluster, return_index=True)[1]
        stand[cluster[named]] = named
    over, higher = _joins(above, stand)
    edges = np.concatenate([items.first[merged.pairs], over])
    height = np.concatenate([merged.height, higher])
    low = np.flatnonzero((height > 0) & (height <= _ROUNDING * np.abs(X).max(initial=0.0) * np.sqrt(n)))
    height[low[(X[edges[low, 0]] == X[edges[low, 1]]).all(axis=1)]] = 0.0
    pairs, heights = join_edges(n, np.ascontiguousarray(edges), height, items.of_sample)
    return Dendrogram.from_merges(n, pairs, heights, ids=ids)


def put_above(forest: Dendrogram, above: Dendrogram, ids: Any) -> Dendrogram:
    """The merges of a forest, then those of another tree of the same samples that join trees of it."""
    n = above.n_samples
    under, lower = _joins(forest)
    over, higher = _joins(above)
    edges = np.ascontiguousarray(np.concatenate([under, over]))
    pairs, heights = join_edges(n, edges, np.concatenate([lower, higher]), None)
    return Dendrogram.from_merges(n, pairs, heights, ids=ids)


def _joins(tree: Dendrogram, among: IntArray | None = None) -> tuple[IntArray, FloatArray]:
    """Two samples for each join of a tree, one of either branch, in the order of its nodes; and the heights.

    With ``among`` the joins are those that are left of the tree when it has these leaves alone.
    """
    leaf = _some_leaf(tree, np.arange(tree.n_samples) if among is None else among)
    child = np.flatnonzero((tree.parent >= 0) & (leaf >= 0))
    order = child[np.argsort(tree.parent[child], kind="stable")]
    parent = tree.parent[order]
    eldest = np.searchsorted(parent, parent)
    joins = np.flatnonzero(eldest != np.arange(len(parent)))
    return np.column_stack([leaf[order[eldest[joins]]], leaf[order[joins]]]), tree.raw_height[parent[joins]]


def _some_leaf(tree: Dendrogram, among: IntArray) -> IntArray:
    """One of some samples below each node, or -1 where none of them is."""
    leaf = np.full(len(tree.parent), -1, dtype=np.intp)
    leaf[among] = among
    at = np.sort(among)
    while len(at):
        up = tree.parent[at]
        at, up = at[up >= 0], up[up >= 0]
        up, first = np.unique(up, return_index=True)
        fresh = leaf[up] < 0
        leaf[up[fresh]] = leaf[at[first[fresh]]]
        at = up[fresh]
    return leaf


def audit_merging(merged: Merged, items: Items, problem: Problem, recall: float, rounds: int) -> SparseAudit:
    """For some clusters, compare the nearest along an edge with the nearest of all that they may join."""
    c = len(merged.size)
    rows = np.arange(0, c, -(-c // _AUDITED))
    size, mean = merged.size, merged.mean
    far = cdist(mean[rows], mean, "sqeuclidean") * (2 * np.outer(size[rows], size) / np.add.outer(size[rows], size))
    far[np.arange(len(rows)), rows] = np.inf
    far[_barred(merged, items, problem, rows).toarray()] = np.inf
    both = np.concatenate([merged.adjacent, merged.adjacent[:, ::-1]])
    near = scipy.sparse.csr_array((np.ones(len(both), dtype=np.bool_), (both[:, 0], both[:, 1])), shape=(c, c))
    best, along = far.min(axis=1), np.where(near[rows].toarray(), far, np.inf).min(axis=1)
    some = np.isfinite(best)
    seen = along[some] <= best[some] * (1 + 1e-9)
    some &= np.isfinite(along) & (best > 0)
    ratio = np.sqrt(along[some] / best[some])
    return SparseAudit(
        float(recall),
        c,
        float(seen.mean()) if len(seen) else np.nan,
        float(ratio.mean()) if len(ratio) else np.nan,
        merged.refused,
        rounds,
    )


def _barred(merged: Merged, items: Items, problem: Problem, rows: IntArray) -> Any:
    """The clusters that cannot-links and groups apart keep apart from some of them, as a sparse matrix of booleans."""
    c = len(merged.size)
    cluster = merged.cluster[items.of_sample]
    cannot = cluster[problem.hard.cannot].reshape(-1, 2)
    graph = scipy.sparse.csr_array((np.ones(len(cannot), dtype=np.bool_), (cannot[:, 0], cannot[:, 1])), shape=(c, c))
    apart = problem.hard.apart
    held: BoolArray = np.ones(len(apart.member), dtype=np.bool_)
    shape = (max(int(apart.owner.max(initial=-1)) + 1, 1), c)
    groups = scipy.sparse.csr_array((held, (apart.owner, cluster[apart.member])), shape=shape)
    both = graph.tocsr() + graph.T.tocsr()
    return (both[rows] + groups.T.tocsr()[rows] @ groups).astype(np.bool_).tocsr()
