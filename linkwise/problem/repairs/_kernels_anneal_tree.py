"""Annealing of a binary tree: its layout, the places of a branch, the draw and the move, and triplets it breaks."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from linkwise._kernels import njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import BoolArray, FloatArray, IntArray

_STEP, _NODE, _LOOK, _MOVE = 8.0, 1.1, 0.7, 1.1  # work of a step, for each node, each one looked at, each one moved


class Tree(NamedTuple):
    """A rooted binary tree with its preorder: leaves are ``0 .. n - 1``, ``order[0]`` is the root."""

    parent: IntArray
    child: IntArray  # (nodes, 2), -1 at leaves
    order: IntArray  # node at each position
    first: IntArray  # position of a node
    last: IntArray  # last position below it


@njit
def _lay_out(tree: Tree) -> None:
    """Number the nodes in preorder; O(n), no recursion."""
    parent, child, order, first, last = tree
    root = order[0]
    stack = np.empty(len(parent), np.intp)
    stack[0] = root
    top = 1
    at = 0
    while top > 0:
        top -= 1
        node = stack[top]
        order[at] = node
        first[node] = at
        at += 1
        if child[node, 0] >= 0:
            stack[top] = child[node, 1]
            stack[top + 1] = child[node, 0]
            top += 2
    for at in range(len(parent) - 1, -1, -1):
        node = order[at]
        last[node] = at if child[node, 0] < 0 else last[child[node, 1]]


@njit
def _toward(tree: Tree, x: int, y: int) -> tuple[int, int]:
    """The child of lca(x, y) that leads to leaf ``x``, and the nodes passed on the way there."""
    spot = tree.first[y]
    above = tree.parent[x]
    passed = 1
    while not tree.first[above] <= spot <= tree.last[above]:
        x = above
        above = tree.parent[x]
        passed += 1
    return x, passed


@njit
def _mark_places(
    tree: Tree,
    pruned: int,
    triplets: IntArray,
    weight: FloatArray,
    start: IntArray,
    incident: IntArray,
    add: FloatArray,
) -> int:
    """Write into ``add`` the differences along positions of the weight that holds when ``pruned`` goes there.

    Returns how many triplets and nodes were looked at.
    """
    order, first, last = tree.order, tree.first, tree.last
    low, high = first[pruned], last[pruned]
    looked = 0
    for p in range(len(add)):
        add[p] = 0.0
    for p in range(low, high + 1):
        x = order[p]
        if x >= len(start) - 1:
            continue
        for s in range(start[x], start[x + 1]):
            looked += 1
            t = incident[s]
            a, b, c = triplets[t, 0], triplets[t, 1], triplets[t, 2]
            if x == c:
                if low <= first[a] <= high or low <= first[b] <= high:
                    continue
                below, passed = _toward(tree, a, b)
                top = tree.parent[below]
                looked += passed
                add[first[top] + 1] -= weight[t]
                add[last[top] + 1] += weight[t]
            else:
                other = b if x == a else a
                if low <= first[other] <= high or low <= first[c] <= high:
                    continue
                top, passed = _toward(tree, other, c)
                looked += passed
                add[first[top]] += weight[t]
                add[last[top] + 1] -= weight[t]
    return looked


@njit
def _choose(
    tree: Tree, pruned: int, add: FloatArray, temperature: float, rng: np.random.Generator
) -> tuple[int, float]:
    """Draw the edge to put ``pruned`` on, heavier places exponentially likelier; and what is gained over its place."""
    order, low, high = tree.order, tree.first[pruned], tree.last[pruned]
    gap = tree.first[tree.parent[pruned]]
    home = tree.first[_sibling(tree, pruned)]
    value = 0.0
    best = -np.inf
    for p in range(len(order)):
        value += add[p]
        add[p] = value
        if (p < low or p > high) and p != gap and value > best:
            best = value
    total = 0.0
    floor = best - 12.0 * temperature
    chosen = home
    for p in range(len(order)):
        if add[p] >= floor and (p < low or p > high) and p != gap:
            share = math.exp((add[p] - best) / temperature)
            total += share
            if rng.random() * total < share:
                chosen = p
    return order[chosen], add[chosen] - add[home]


@njit
def _sibling(tree: Tree, node: int) -> int:
    above = tree.parent[node]
    side = 1 if tree.child[above, 0] == node else 0
    return tree.child[above, side]  # type: ignore[no-any-return]


@njit
def _regraft(tree: Tree, pruned: int, target: int) -> None:
    """Move the subtree at ``pruned`` onto the edge above ``target``."""
    parent, child = tree.parent, tree.child
    joint = parent[pruned]
    sibling = _sibling(tree, pruned)
    above = parent[joint]
    root = tree.order[0]
    parent[sibling] = above
    if above >= 0:
        child[above, 0 if child[above, 0] == joint else 1] = sibling
    else:
        root = sibling
    above = parent[target]
    parent[joint] = above
    if above >= 0:
        child[above, 0 if child[above, 0] == target else 1] = joint
    else:
        root = joint
    child[joint, 0] = target
    child[joint, 1] = pruned
    parent[target] = joint
    tree.order[0] = root
    _lay_out(tree)


@njit
def _anneal(
    tree: Tree,
    best: IntArray,
    triplets: IntArray,
    weight: FloatArray,
    start: IntArray,
    incident: IntArray,
    hot: float,
    cold: float,
    steps: int,
    begin: int,
    stop: int,
    state: FloatArray,
    rng: np.random.Generator,
) -> None:
    """Steps ``begin`` to ``stop`` of a cooling over ``steps``; ``state``: weight held now, at best, and work."""
    tree = borrowed(tree)
    nodes = len(tree.parent)
    add = np.zeros(nodes + 1)
    for step in range(begin, stop):
        temperature = hot * (cold / hot) ** (step / steps)
        pruned = int(rng.random() * nodes)
        if tree.parent[pruned] < 0:
            continue
        looked = _mark_places(tree, pruned, triplets, weight, start, incident, add)
        state[2] += _STEP + _NODE * nodes + _LOOK * looked
        target, gain = _choose(tree, pruned, add[:nodes], temperature, rng)
        if target == _sibling(tree, pruned):
            continue
        _regraft(tree, pruned, target)
        state[2] += _MOVE * nodes
        state[0] += gain
        if state[0] > state[1] * (1 + 1e-12):
            state[1] = state[0]
            for node in range(nodes):
                best[node] = tree.parent[node]


@njit
def broken_by(tree: Tree, triplets: IntArray) -> BoolArray:
    """Mask the triplets a tree does not display."""
    broken = np.empty(len(triplets), np.bool_)
    for t in range(len(triplets)):
        top = tree.parent[_toward(tree, triplets[t, 0], triplets[t, 1])[0]]
        broken[t] = tree.first[top] <= tree.first[triplets[t, 2]] <= tree.last[top]
    return broken


@njit
def resolve(n: int, parent: IntArray) -> IntArray:
    """Make a tree with many-way nodes binary, children joined one after the other; again as a parent array.

    Nodes come children before parents, before and after.
    """
    result = np.full(2 * n - 1, -1, np.intp)
    stands_for = np.full(len(parent), -1, np.intp)
    for leaf in range(n):
        stands_for[leaf] = leaf
    made = n
    for node in range(len(parent)):
        above = parent[node]
        if above < 0:
            continue
        mine = stands_for[node]
        if stands_for[above] < 0:
            stands_for[above] = mine
        else:
            result[stands_for[above]] = made
            result[mine] = made
            stands_for[above] = made
            made += 1
    return result
