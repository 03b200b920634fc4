"""Ultrametrics and projections from their definitions: full matrices, plain loops, small cases only."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from scipy.optimize import linprog, minimize

from tests.oracles.entailment import transitive_closure
from tests.oracles.relative import Agglomeration, binary_trees, displays, lca


def minimax(D):
    """The least, over all paths, of the longest step: Floyd and Warshall with max for plus."""
    M = np.array(D, dtype=float)
    for k in range(len(M)):
        M = np.minimum(M, np.maximum(M[:, k, None], M[None, k]))
    return M


def is_ultrametric(U, rtol=1e-9):
    """Symmetric, zero on the diagonal, nowhere negative, and of each triple the two largest are equal."""
    U = np.asarray(U)
    if not np.array_equal(U, U.T) or np.diagonal(U).any() or (U < 0).any():
        return False
    sides = np.sort(np.stack(np.broadcast_arrays(U[:, :, None], U[:, None, :], U[None, :, :])), axis=0)
    return np.allclose(sides[1], sides[2], rtol=rtol, atol=0)


def comparisons(triplets):
    """Both comparisons (i, j, l), read d(i, j) < d(i, l), that a statement ab|c makes."""
    return [one for a, b, c in triplets for one in ((a, b, c), (b, a, c))]


def algorithm_2(D, compared, *, symmetric=True):
    """Algorithm 2 of Zheng and Li, loop by loop, with the errata that make it run.

    The minimum over the constraints of a pair starts at infinity for every pair, and indices run to N - 1. As printed,
    only (i, j) is lowered; ``symmetric`` lowers (j, i) with it.
    """
    d, M, n = np.asarray(D, dtype=float), np.array(D, dtype=float), len(D)
    of_pair = {}
    for i, j, k in compared:
        of_pair.setdefault((i, j), []).append((i, k))
        if symmetric:
            of_pair.setdefault((j, i), []).append((i, k))
    for k in range(n):
        for i in range(n):
            for j in range(n):
                least = min((d[p, q] for p, q in of_pair.get((i, j), ())), default=np.inf)
                M[i, j] = min(M[i, j], max(M[i, k], M[k, j]), least)
    np.fill_diagonal(M, 0.0)
    return M


def lowered(D, compared):
    """D'(i, j) = min of D(i, j) and of D(i, l) over the comparisons (i, j, l), both entries alike."""
    L = np.array(D, dtype=float)
    for i, j, k in compared:
        L[i, j] = L[j, i] = min(L[i, j], D[i][k])
    return L


def strict_fixpoint(D, triplets, margin, sweeps=100_000):
    """The largest ultrametric below D with u(a, b) <= (1 - margin) min(u(a, c), u(b, c)): lower until nothing moves."""
    U = minimax(D)
    for _ in range(sweeps):
        before = U.copy()
        for a, b, c in triplets:
            U[a, b] = U[b, a] = min(U[a, b], (1 - margin) * min(U[a, c], U[b, c]))
        U = minimax(U)
        if np.array_equal(U, before):
            return U
    return None


def algorithm_1(d, C, W=None, *, sweeps=10_000, tol=1e-13, watch=None):
    """Algorithm 1 of Zheng and Li: Dykstra's projection onto C a <= 0 with the multipliers u, errata applied.

    The row used is ``p`` throughout; E in the steps is the inverse of the weights W in the loss; a whole sweep without
    change ends it; without rows the answer is d. ``watch(a, u)`` sees every step.
    """
    a, C = np.array(d, dtype=float), np.asarray(C, dtype=float).reshape(len(C), len(d))
    E = np.eye(len(a)) if W is None else np.diag(1.0 / np.asarray(W, dtype=float))
    u = np.zeros(len(C))
    for _ in range(sweeps):
        start = a.copy()
        for p in range(len(C)):
            s = a + E @ C[p] * u[p] / 2
            u[p] = max(0.0, 2 * C[p] @ s / (C[p] @ E @ C[p]))
            a = s - E @ C[p] * u[p] / 2
            if watch is not None:
                watch(a, u)
        if np.abs(a - start).max(initial=0.0) <= tol * max(1.0, np.abs(a).max(initial=0.0)):
            break
    return a, u


def project_by_qp(d, C, gap, W=None, *, floor=False):
    """argmin of sum W (x - d)^2 under C x <= -gap (and x >= 0), by SciPy's sequential quadratic programming."""
    d = np.asarray(d, dtype=float)
    W = np.ones(len(d)) if W is None else np.asarray(W, dtype=float)
    C = np.asarray(C, dtype=float).reshape(len(C), len(d))
    if not len(C):
        return d
    found = minimize(
        lambda x: (W * (x - d) ** 2).sum(),
        d,
        jac=lambda x: 2 * W * (x - d),
        constraints={"type": "ineq", "fun": lambda x: -gap - C @ x, "jac": lambda _: -C},
        bounds=[(0 if floor else None, None)] * len(d),
        method="SLSQP",
        options={"ftol": 1e-16, "maxiter": 1000},
    )
    return found.x


def least_absolute(d, C, gap):
    """The least sum of |x - d| under C x <= -gap and x >= 0, by linear programming."""
    k, m = len(d), len(C)
    upper = np.block(
        [[np.eye(k), -np.eye(k)], [-np.eye(k), -np.eye(k)], [np.asarray(C, float).reshape(m, k), np.zeros((m, k))]]
    )
    right = np.concatenate([d, -np.asarray(d), np.full(m, -float(gap))])
    found = linprog(np.concatenate([np.zeros(k), np.ones(k)]), A_ub=upper, b_ub=right, bounds=[(0, None)] * (2 * k))
    assert found.status == 0
    return found.fun


def heights_by_qp(n, parent, D):
    """Least-squares heights of a given tree: every pair has the height of its meeting node, parents are no lower."""
    parent = [int(p) for p in parent]

    def up(v):
        path = []
        while v >= 0:
            path.append(v)
            v = parent[v]
        return path

    inner = list(range(n, len(parent)))
    total, count = dict.fromkeys(inner, 0.0), dict.fromkeys(inner, 0)
    for i in range(n):
        above = set(up(i))
        for j in range(i):
            meet = next(v for v in up(j) if v in above)
            total[meet] += D[i][j]
            count[meet] += 1
    C = []
    for v in inner:
        if parent[v] >= 0:
            row = np.zeros(len(inner))
            row[v - n], row[parent[v] - n] = 1, -1
            C.append(row)
    wish = np.array([total[v] / count[v] for v in inner])
    return project_by_qp(wish, C, 0.0, [count[v] for v in inner])


def hacoc(D, triplets, method):
    """Greedy merging: the fewest statements newly broken first, then the closest.

    A merge breaks ab|c when it puts c with a or with b while those are apart. Returns merged nodes, heights and how
    many statements were broken in all.
    """
    run, broken = Agglomeration(D, triplets, method), 0

    def harm(i, j):
        return sum({i, j} in ({a, c}, {b, c}) for a, b, c in run.C)

    while len(run.S) > 1:
        i, j = min(run.closest_first(), key=lambda pair: harm(*pair))  # the first of several is the closest
        broken += harm(i, j)
        run.merge(i, j)
        run.C = [(a, b, c) for a, b, c in run.C if c not in (a, b)]
    return run.pairs, run.heights, broken


def greedy_by_comparisons(D, compared, method):
    """`hacoc` where a row (a, b, c) is d(a, b) < d(a, c) alone: it breaks when c joins a while b is elsewhere."""
    run = Agglomeration(D, compared, method)
    while len(run.S) > 1:
        i, j = min(run.closest_first(), key=lambda pair: sum(set(pair) == {a, c} for a, _, c in run.C))
        run.merge(i, j)
        run.C = [(a, b, c) for a, b, c in run.C if c not in (a, b)]
    return run.pairs, run.heights


def comparison_rows(pairs, compared):
    """Comparisons (i, j, l) as rows over named pairs: +1 at d(i, j), -1 at d(i, l), as in figure 4."""
    place = {frozenset(pair): k for k, pair in enumerate(np.asarray(pairs).tolist())}
    C = np.zeros((len(compared), len(place)))
    for row, (i, j, k) in zip(C, compared, strict=True):
        row[place[frozenset((i, j))]] += 1
        row[place[frozenset((i, k))]] -= 1
    return C


def fewest_off_circles(compared, weight):
    """The least weight of comparisons to drop so that none of the rest is a circle, by trying all subsets."""
    m = len(compared)
    cost = [sum(weight[t] for t in range(m) if drop >> t & 1) for drop in range(1 << m)]
    for drop in sorted(range(1 << m), key=cost.__getitem__):
        if transitive_closure([row for t, row in enumerate(compared) if not drop >> t & 1]) is not None:
            return cost[drop]
    return None


# -- ultrametrics of all trees --------------------------------------------------------------------------------------


def hierarchies(leaves):
    """Every rooted tree on a tuple of leaves, binary or not, as the set of its clades of two leaves and more."""
    if len(leaves) == 1:
        return [frozenset()]
    found = []
    for parts in _partitions(leaves):
        if len(parts) > 1:
            below = [hierarchies(part) for part in parts]
            found += [frozenset([frozenset(leaves)]).union(*choice) for choice in product(*below)]
    return found


def _partitions(items):
    if not items:
        yield []
        return
    for rest in _partitions(items[1:]):
        yield [items[:1], *rest]
        for k, part in enumerate(rest):
            yield [*rest[:k], (items[0], *part), *rest[k + 1 :]]


def least_loss_of_tree(tree, D, W):
    """The least weighted squares of heights on a tree of clades, by all sets of inner edges along which they tie."""
    clades = sorted(tree, key=len)
    above = {v: min((u for u in clades if v < u), key=len, default=None) for v in clades}
    n = len(D)
    meet = {v: [] for v in clades}
    for i, j in combinations(range(n), 2):
        meet[lca(tree, i, j)].append((i, j))
    best = np.inf
    edges = [v for v in clades if above[v] is not None]
    for tied in product((False, True), repeat=len(edges)):
        top = {}
        for v in reversed(clades):  # parents first
            top[v] = top[above[v]] if above[v] is not None and tied[edges.index(v)] else v
        block = {v: [pair for u in clades if top[u] == v for pair in meet[u]] for v in set(top.values())}
        height = {v: sum(W[p] * D[p] for p in pairs) / sum(W[p] for p in pairs) for v, pairs in block.items()}
        if all(height[top[v]] <= height[top[above[v]]] + 1e-12 for v in edges):
            best = min(best, sum(W[p] * (D[p] - height[v]) ** 2 for v, pairs in block.items() for p in pairs))
    return best


def least_squares_ultrametric(D, W, triplets=()):
    """The least weighted squares of any ultrametric on a binary tree that displays the triplets."""
    trees = [tree for tree in binary_trees(tuple(range(len(D)))) if all(displays(tree, t) for t in triplets)]
    return min(least_loss_of_tree(tree, D, W) for tree in trees)


def compares(tree, height, i, j, k):
    """The sign of u(i, j) - u(i, k) in the ultrametric of a tree of clades with heights."""
    one, other = height[lca(tree, i, j)], height[lca(tree, i, k)]
    return (one > other) - (one < other)
