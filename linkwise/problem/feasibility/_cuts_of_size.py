"""Cuts of a wanted size, with no cannot-link inside a cluster, and the search for a hierarchy that has one."""

from __future__ import annotations

from typing import Literal

import numpy as np

from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Groups
from linkwise.problem.feasibility._coloring import ConflictGraph, Outcome
from linkwise.problem.feasibility._kernels_cuts_of_size import _highest_whole, _some_leaf, _spread_up, levels
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import _over, blocks_or_none, onetree
from linkwise.result import Dendrogram

_EXACT = 60
_ASSUMED = -1  # number of an assumption that stands for no statement
_NODE, _CELL = 60_000, 1  # steps of a branch of the search, and those for each pair of blocks


def cut_of_size(
    n: int, parent: IntArray, cannot_link: IntArray, apart: Groups, n_clusters: int
) -> tuple[IntArray, IntArray | None]:
    """Refine a tree and choose ``n_clusters`` disjoint subtrees of it that hold no cannot-link and no two of a group.

    A cut is a set of nodes that are split, closed upwards. Nodes with a cannot-link below must be; more are added
    from the top, which numbering children before parents makes "the largest numbers first". Return the tree with
    many-way nodes resolved, which displays every triplet the given one displays, and the chosen nodes; None for these
    when this refinement needs more clusters.
    """
    if len(cannot_link) or len(apart.statement):
        parent = _gather(n, parent, cannot_link, apart)
    parent = _two_way(n, parent)
    split = _must_split(n, parent, cannot_link, apart)
    spare = n_clusters - 1 - int(split.sum())
    inner = np.arange(n, len(parent))
    free = inner[~split[n:]]
    if spare < 0 or spare > len(free):
        return parent, None
    split[free[len(free) - spare :]] = True
    kept = np.flatnonzero(~split)
    return parent, kept[(parent[kept] < 0) | split[parent[kept]]]


def _must_split(n: int, parent: IntArray, cannot_link: IntArray, apart: Groups) -> BoolArray:
    """Mask the nodes that have a cannot-link, or two of a group apart, below."""
    split = np.zeros(len(parent), dtype=np.bool_)
    if len(cannot_link) or len(apart.statement):
        tree = Dendrogram(n, parent, levels(parent))
        first, second = apart.neighbors(tree.leaf_order)
        split[tree.lca(cannot_link[:, 0], cannot_link[:, 1])] = True
        split[tree.lca(first, second)] = True
        split = _spread_up(split, parent)
    return split


def _gather(n: int, parent: IntArray, cannot_link: IntArray, apart: Groups) -> IntArray:
    """Give siblings without a cannot-link inside or between them a common node, few per parent."""
    split = _must_split(n, parent, cannot_link, apart)
    whole = _highest_whole(split, parent)
    tops, at = np.unique(whole[:n], return_inverse=True)
    pairs = at[cannot_link]
    rivals = pairs[parent[tops[pairs[:, 0]]] == parent[tops[pairs[:, 1]]]]
    color = _few_colors(ConflictGraph(np.arange(len(tops)), rivals, _siblings(at, parent[tops], apart)))
    # One new node per parent and color, if at least two siblings share it; it is numbered just before the parent.
    _, team, size = np.unique(np.column_stack([parent[tops], color]), axis=0, return_inverse=True, return_counts=True)
    team = team.reshape(-1)
    used = np.flatnonzero(size > 1)
    above = np.empty(len(size), dtype=np.intp)
    above[team] = parent[tops]
    order = np.argsort(np.concatenate([np.arange(len(parent)), above[used] - 0.5]), kind="stable")
    number = np.empty(len(order) + 1, dtype=np.intp)
    number[order] = np.arange(len(order))
    number[-1] = -1
    name = np.full(len(size), -1, dtype=np.intp)
    name[used] = len(parent) + np.arange(len(used))
    linked = np.concatenate([parent, above[used]])
    joined = name[team] >= 0
    linked[tops[joined]] = name[team[joined]]
    result = np.empty_like(linked)
    result[number[:-1]] = number[linked]
    return result


def _siblings(at: IntArray, above: IntArray, apart: Groups) -> Groups:
    """Write groups over tops, each divided into those that have one parent: only siblings can be joined."""
    member = at[apart.member]
    owner = apart.owner * (int(above.max(initial=0)) + 1) + above[member]
    order = np.argsort(owner, kind="stable")
    _, sizes = np.unique(owner, return_counts=True)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
    return Groups(np.arange(len(sizes)), start, member[order])


def _few_colors(graph: ConflictGraph) -> IntArray:
    """Color with few colors: exactly as few as possible when the graph is small."""
    low, high = len(graph.clique()), graph.enough()
    for n_colors in range(low, high if graph.n <= _EXACT else low):
        outcome, color = graph.color(n_colors)
        if outcome is Outcome.FOUND:
            return color
    return graph.color(high)[1]


def _two_way(n: int, parent: IntArray) -> IntArray:
    """Resolve many-way nodes into chains, so that cuts of every size exist; every triplet shown stays shown."""
    child = np.flatnonzero(parent >= 0)
    child = child[np.argsort(parent[child], kind="stable")]
    count = np.bincount(parent[child], minlength=len(parent))[n:]
    first = n + np.concatenate([[0], np.cumsum(count - 1)])  # an inner node with k children becomes k - 1 nodes
    new = np.full(first[-1], -1, dtype=np.intp)
    chained = np.arange(n, len(new))
    new[chained[:-1]] = chained[:-1] + 1
    last = first[1:] - 1
    name = np.concatenate([np.arange(n), last])
    place = np.arange(len(child)) - np.repeat(np.cumsum(count) - count, count)
    new[last] = -1
    new[name[child]] = first[parent[child] - n] + np.maximum(place - 1, 0)
    return new


def hierarchy_of_blocks(
    n: int,
    block: IntArray,
    triplets: IntArray,
    cannot_link: IntArray,
    apart: Groups,
    n_clusters: int | None = None,
) -> Dendrogram | None:
    """Show a hierarchy in which all triplets hold and whose marked cut coarsens ``block``, the rest apart.

    The cut has ``n_clusters``, by default the blocks themselves. None when the hierarchy that was built has no such cut
    with that few clusters; another hierarchy might.
    """
    n_blocks = int(block.max(initial=-1)) + 1
    upper = _built(n_blocks, _over(block, triplets)[1])
    if n_clusters is None:
        cut = np.arange(n_blocks)
    else:
        over = apart._replace(member=block[apart.member])
        upper, chosen = cut_of_size(n_blocks, upper, block[cannot_link], over, n_clusters)
        if chosen is None:
            return None
        cut = chosen
    a, b, c = block[triplets].T
    parent, top = _grow_inside(n, block, _built(n, triplets[(a == b) & (b == c)]))
    # Every node of the upper tree finds its number in the whole: its block's top, or a place after the inner parts.
    number = np.concatenate([top, len(parent) + np.arange(len(upper) - n_blocks)])
    whole = np.concatenate([parent, np.full(len(upper) - n_blocks, -1, dtype=np.intp)])
    linked = np.flatnonzero(upper >= 0)
    whole[number[linked]] = number[upper[linked]]
    return Dendrogram(n, whole, levels(whole), marked=np.sort(number[cut]))


def _built(n: int, triplets: IntArray) -> IntArray:
    parent = onetree(n, triplets).parent
    if parent is None:  # the rules above guarantee a tree
        msg = "finest_blocks returned blocks whose triplets have no tree"
        raise AssertionError(msg)
    return parent


def _grow_inside(n: int, block: IntArray, tree: IntArray) -> tuple[IntArray, IntArray]:
    """Turn a tree over all samples built from triplets inside blocks into one subtree per block.

    Building such a tree splits the samples at its root into parts that lie inside one block each, because only
    samples of one block are tied together. So the root goes, and parts of the same block get a node of their own.
    """
    n_blocks = int(block.max(initial=-1)) + 1
    if n_blocks <= 1:
        return tree, np.array([len(tree) - 1][:n_blocks], dtype=np.intp)
    root = len(tree) - 1
    part = np.flatnonzero(tree == root)
    parent = tree[:root].copy()
    parent[part] = -1
    low = np.arange(root)  # some leaf below each node: children come before parents, so one upward pass
    low[n:] = -1
    inner = np.flatnonzero(parent >= 0)
    below = _some_leaf(low, parent) if len(inner) else low
    of_block = block[below[part]]
    count = np.bincount(of_block, minlength=n_blocks)
    top = np.empty(n_blocks, dtype=np.intp)
    top[of_block] = part
    several = np.flatnonzero(count > 1)
    top[several] = root + np.arange(len(several))
    parent = np.concatenate([parent, np.full(len(several), -1, dtype=np.intp)])
    grouped = part[count[of_block] > 1]
    parent[grouped] = top[block[below[grouped]]]
    return parent, top


# -- search --------------------------------------------------------------------------------------------------------


def search_cut(
    hard: Hard, k: int, budget: Budget
) -> tuple[Literal["feasible", "infeasible", "unknown"], Dendrogram | None]:
    """Search exhaustively for a hierarchy with a marked cut of ``k`` clusters in which all hard statements hold.

    For any two blocks, either some solution joins them or every solution parts them. Joining runs the exact rules for
    must-links and triplets again, parting adds a cannot-link; bounds on the number of clusters close most branches.
    **Cost** exponential at worst (the question is NP-complete). **Guarantee** exact unless the budget is used up.
    """
    stack = [hard]
    while stack:
        if budget.over:
            return "unknown", None
        here = stack.pop()
        budget.spend(_NODE + 3 * here.steps)
        block = blocks_or_none(here)
        if block is None or int(block.max(initial=-1)) + 1 < k:
            continue
        graph = ConflictGraph(block, here.cannot, here.apart)
        budget.spend(_CELL * graph.n**2)
        if len(graph.clique()) > k:
            continue
        tree = hierarchy_of_blocks(here.n, block, here.triplets, here.cannot, here.apart, k)
        if tree is not None:
            return "feasible", tree
        pair = _undecided_pair(graph, block)
        if pair is not None:
            stack += [here.with_cannot(*pair, _ASSUMED), here.with_must(*pair, _ASSUMED)]
    return "infeasible", None


def _undecided_pair(graph: ConflictGraph, block: IntArray) -> tuple[int, int] | None:
    """Return samples of two blocks that may be joined, busy ones first; None if all are apart."""
    apart = graph.matrix()
    np.fill_diagonal(apart, True)
    busy = apart.sum(axis=1)
    score = np.where(apart, -1, busy[:, None] + busy[None, :])
    best = int(np.argmax(score))
    if score.flat[best] < 0:
        return None
    first = np.unique(block, return_index=True)[1]
    u, v = divmod(best, graph.n)
    return int(first[u]), int(first[v])
