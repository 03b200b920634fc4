"""Binary trees under least squares: the loss of a tree, moves of subtrees, and the enumeration of all trees."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels import njit
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.hierarchical.ultrametric._kernels_heights import _pool_upwards


class Shape(NamedTuple):
    """A binary tree: samples are the nodes below n, inner nodes have two children; the root has parent -1."""

    parent: IntArray
    left: IntArray
    right: IntArray


@njit
def _inner_nodes(shape: Shape, n: int, some: int, order: IntArray) -> int:
    """List the inner nodes of the tree that holds node ``some``, children before parents; return their number."""
    node = some
    while shape.parent[node] >= 0:
        node = shape.parent[node]
    order[0] = node
    found = 1 if node >= n else 0
    at = 0
    while at < found:  # parents first, then turned round
        for child in (shape.left[order[at]], shape.right[order[at]]):
            if child >= n:
                order[found] = child
                found += 1
        at += 1
    for k in range(found // 2):
        order[k], order[found - 1 - k] = order[found - 1 - k], order[k]
    return found


@njit
def _gain(shape: Shape, order: IntArray, count: int, total: FloatArray, mass: FloatArray, place: IntArray) -> float:
    """How much the best heights explain: the sum of squares of the distances less the loss of the tree.

    ``total`` and ``mass`` are the weighted sum of the distances that meet at a node, and their weight.
    """
    parent = np.empty(count, np.intp)
    wish = np.empty(count)
    weight = np.empty(count)
    for k in range(count):
        place[order[k]] = k
    for k in range(count):
        node = order[k]
        above = shape.parent[node]
        parent[k] = place[above] if above >= 0 else -1
        wish[k] = total[node] / mass[node]
        weight[k] = mass[node]
    height = _pool_upwards(parent, wish, weight)
    explained = 0.0
    for k in range(count):
        explained += weight[k] * height[k] * (2.0 * wish[k] - height[k])
    return explained


@njit
def _displays(shape: Shape, triplets: IntArray, stamp: IntArray, mark: IntArray) -> bool:
    """Whether a and b meet strictly below where c joins them, for every row of ``triplets``."""
    for t in range(len(triplets)):
        mark[0] += 1
        node = triplets[t, 0]
        while node >= 0:
            stamp[node] = mark[0]
            node = shape.parent[node]
        meet = triplets[t, 1]
        while stamp[meet] != mark[0]:
            meet = shape.parent[meet]
        node = triplets[t, 2]
        while node >= 0 and node != meet:
            node = shape.parent[node]
        if node >= 0:
            return False
    return True


@njit
def _replace(shape: Shape, above: int, old: int, new: int) -> None:
    """Make ``new`` the child of ``above`` in the place of ``old``; ``above`` may be -1."""
    shape.parent[new] = above
    if above >= 0:
        if shape.left[above] == old:
            shape.left[above] = new
        else:
            shape.right[above] = new


@njit
def _move(shape: Shape, x: int, y: int) -> int:
    """Take the subtree of ``x`` off and put it beside ``y``; return the node beside which it was."""
    p = shape.parent[x]
    beside: int = shape.right[p] if shape.left[p] == x else shape.left[p]
    _replace(shape, shape.parent[p], p, beside)
    _replace(shape, shape.parent[y], y, p)
    shape.left[p] = x
    shape.right[p] = y
    shape.parent[y] = p
    return beside


class Sums(NamedTuple):
    """Weighted sums of distances, and of weights, between the samples below any two nodes of a tree."""

    total: FloatArray
    mass: FloatArray


@njit
def _fill_sums(shape: Shape, n: int, sums: Sums, order: IntArray, count: int) -> None:
    """Compute the sums of inner nodes from those of samples."""
    for k in range(count):
        v, x, y = order[k], shape.left[order[k]], shape.right[order[k]]
        for u in range(n):
            sums.total[v, u] = sums.total[x, u] + sums.total[y, u]
            sums.mass[v, u] = sums.mass[x, u] + sums.mass[y, u]
            sums.total[u, v] = sums.total[v, u]
            sums.mass[u, v] = sums.mass[v, u]
    for k in range(count):
        v, x, y = order[k], shape.left[order[k]], shape.right[order[k]]
        for other in range(count):
            u = order[other]
            sums.total[v, u] = sums.total[x, u] + sums.total[y, u]
            sums.mass[v, u] = sums.mass[x, u] + sums.mass[y, u]


@njit
def _between(values: FloatArray, u: int, du: int, v: int, dv: int, x: int) -> float:
    """The sum between the samples of u and of v, to which those of x were added (1) or taken away from (-1)."""
    found: float = values[u, v] + du * values[x, v] + dv * values[u, x] + du * dv * values[x, x]
    return found


@njit
def _gain_moved(
    shape: Shape,
    n: int,
    sums: Sums,
    x: int,
    y: int,
    order: IntArray,
    place: IntArray,
    change: IntArray,
    total: FloatArray,
    mass: FloatArray,
) -> float:
    """Explained sum of squares after ``x`` was moved beside ``y``, by sums of the tree before the move.

    ``change`` has -1 for nodes that lost the samples of x and 1 for nodes that got them.
    """
    p = shape.parent[x]
    count = _inner_nodes(shape, n, x, order)
    for k in range(count):
        v = order[k]
        u, w = shape.left[v], shape.right[v]
        du, dw = change[u], change[w]
        if v == p:
            u, w, du, dw = x, y, 0, change[y]
        else:  # p now holds the samples of y and of x
            if u == p:
                u, du = y, change[y] + 1
            if w == p:
                w, dw = y, change[y] + 1
        total[v] = _between(sums.total, u, du, w, dw, x)
        mass[v] = _between(sums.mass, u, du, w, dw, x)
    explained: float = _gain(shape, order, count, total, mass, place)
    return explained


@njit
def _improve(shape: Shape, n: int, sums: Sums, triplets: IntArray, tolerance: float, steps: int) -> tuple[float, int]:
    """Move one subtree after another to its best place that keeps the triplets, until no move explains more.

    Returns the explained sum of squares and the steps left; below 0 the search was cut.
    """
    nodes = 2 * n - 1
    order = np.empty(nodes, np.intp)
    place = np.empty(nodes, np.intp)
    change = np.zeros(nodes, np.intp)
    stamp = np.zeros(nodes, np.intp)
    mark = np.zeros(1, np.intp)
    total = np.empty(nodes)
    mass = np.empty(nodes)
    count = _inner_nodes(shape, n, 0, order)
    _fill_sums(shape, n, sums, order, count)
    for k in range(count):
        v = order[k]
        total[v] = sums.total[shape.left[v], shape.right[v]]
        mass[v] = sums.mass[shape.left[v], shape.right[v]]
    best = _gain(shape, order, count, total, mass, place)
    since = 0  # subtrees tried since the last improvement
    x = 0
    while since < nodes and steps > 0:
        since += 1
        target = -1
        if shape.parent[x] >= 0 and n > 2:
            p = shape.parent[x]
            home = shape.right[p] if shape.left[p] == x else shape.left[p]
            node = shape.parent[p]
            while node >= 0:
                change[node] = -1
                node = shape.parent[node]
            for y in range(nodes):
                node = y  # not inside x, and not where x is
                while node >= 0 and node != x:
                    node = shape.parent[node]
                if node == x or y in (p, home):
                    continue
                steps -= 20 * n
                _move(shape, x, y)
                node = shape.parent[p]
                while node >= 0:
                    change[node] += 1
                    node = shape.parent[node]
                explained = _gain_moved(shape, n, sums, x, y, order, place, change, total, mass)
                node = shape.parent[p]
                while node >= 0:
                    change[node] -= 1
                    node = shape.parent[node]
                if explained > best + tolerance:
                    steps -= 2 * n * len(triplets)
                    if _displays(shape, triplets, stamp, mark):
                        best = explained
                        target = y
                _move(shape, x, home)
            if target >= 0:
                _move(shape, x, target)
                since = 0
                count = _inner_nodes(shape, n, 0, order)
                _fill_sums(shape, n, sums, order, count)
                steps -= 4 * n * n
            for v in range(nodes):
                change[v] = 0
        x = x + 1 if x + 1 < nodes else 0
    return best, steps


@njit
def _enumerate(
    shape: Shape,
    n: int,
    D: FloatArray,
    W: FloatArray,
    samples: IntArray,
    triplets: IntArray,
    start: IntArray,
    limit: float,
    tolerance: float,
    best_shape: Shape,
    steps: int,
) -> tuple[float, int]:
    """Insert samples one by one at every edge of every tree of those before; leave out trees that cannot win.

    ``samples`` is the order of insertion, ``triplets[start[m]:start[m + 1]]`` those that its sample m completes. The
    loss of the samples so far is a lower bound of the loss of any tree that grows from theirs. ``limit`` is the loss of
    the best tree known; a tree with a lower loss is written to ``best_shape``. Returns the least loss and the steps
    left; below 0 the enumeration is incomplete.
    """
    nodes = 2 * n - 1
    order = np.empty(nodes, np.intp)
    place = np.empty(nodes, np.intp)
    stamp = np.zeros(nodes, np.intp)
    mark = np.zeros(1, np.intp)
    row = np.zeros(nodes)  # sums of the distances of the new sample to the samples below a node
    row_mass = np.zeros(nodes)
    total = np.zeros((n, nodes))  # of the tree of m samples, in row m - 1
    mass = np.zeros((n, nodes))
    squares = np.zeros(n)
    for m in range(1, n):
        part = squares[m - 1]
        for k in range(m):
            i, j = samples[m], samples[k]
            part += W[i, j] * D[i, j] * D[i, j]
        squares[m] = part
    for v in range(nodes):
        shape.parent[v] = -1
        shape.left[v] = -1
        shape.right[v] = -1
    edge = np.full(n, -1, np.intp)  # where sample m is: above the edge[m]-th node of the tree before
    beside = np.full(n, -1, np.intp)
    m = 1
    while m >= 1 and steps > 0:
        new, inner = samples[m], n + m - 1
        if beside[m] >= 0:  # take it out again
            _replace(shape, shape.parent[inner], inner, beside[m])
            beside[m] = -1
        edge[m] += 1
        if edge[m] == 2 * m - 1:
            edge[m] = -1
            m -= 1
            continue
        y = samples[edge[m]] if edge[m] < m else n + edge[m] - m
        _replace(shape, shape.parent[y], y, inner)
        shape.left[inner] = new
        shape.right[inner] = y
        shape.parent[new] = inner
        shape.parent[y] = inner
        beside[m] = y
        steps -= 30 * (m + 1)
        if start[m + 1] > start[m] and not _displays(shape, triplets[start[m] : start[m + 1]], stamp, mark):
            continue
        for k in range(m):
            row[samples[k]] = W[new, samples[k]] * D[new, samples[k]]
            row_mass[samples[k]] = W[new, samples[k]]
        row[new] = 0.0
        row_mass[new] = 0.0
        count = _inner_nodes(shape, n, new, order)
        for v in range(n, n + m):
            total[m, v] = total[m - 1, v]
            mass[m, v] = mass[m - 1, v]
        for k in range(count):
            v = order[k]
            row[v] = row[shape.left[v]] + row[shape.right[v]]
            row_mass[v] = row_mass[shape.left[v]] + row_mass[shape.right[v]]
        total[m, inner] = row[y]
        mass[m, inner] = row_mass[y]
        node = inner
        while shape.parent[node] >= 0:
            above = shape.parent[node]
            total[m, above] += row[above] - row[node]
            mass[m, above] += row_mass[above] - row_mass[node]
            node = above
        loss = squares[m] - _gain(shape, order, count, total[m], mass[m], place)
        if loss >= limit - tolerance:
            continue
        if m == n - 1:
            limit = loss
            for v in range(nodes):
                best_shape.parent[v] = shape.parent[v]
                best_shape.left[v] = shape.left[v]
                best_shape.right[v] = shape.right[v]
            continue
        m += 1
    return limit, steps
