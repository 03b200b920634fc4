"""Relative statements ab|c written from the paper: OneTree, ReCon with its two functions, and what they are judged by.

A tree is the set of its clades with two items or more. Everything is plain Python, slow, and calls itself where the
paper does; it shares nothing with the package.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

import numpy as np

SQUARED = ("ward", "centroid", "median")


# -- trees ---------------------------------------------------------------------------------------------------------


@cache
def binary_trees(leaves):
    """Every rooted binary tree on a tuple of leaves: (2n - 3)!! of them."""
    if len(leaves) == 1:
        return (frozenset(),)
    first, rest = leaves[0], leaves[1:]
    found = []
    for size in range(len(rest)):
        for others in combinations(rest, size):
            left = (first, *others)
            right = tuple(x for x in rest if x not in others)
            found += [frozenset([frozenset(leaves)]) | x | y for x in binary_trees(left) for y in binary_trees(right)]
    return tuple(found)


def lca(tree, *items):
    """The smallest clade that holds the items."""
    return min((clade for clade in tree if clade.issuperset(items)), key=len)


def displays(tree, triplet):
    """Definition 4.1: a and b meet strictly below where either of them meets c."""
    a, b, c = triplet
    return lca(tree, a, b) < lca(tree, a, c) and lca(tree, a, c) == lca(tree, b, c)


def all_triplets(n):
    """The three statements about each trio of n items."""
    return [
        (a, b, c)
        for trio in combinations(range(n), 3)
        for a, b, c in (trio, (trio[0], trio[2], trio[1]), (trio[1], trio[2], trio[0]))
    ]


# -- OneTree -------------------------------------------------------------------------------------------------------


def components(items, pairs):
    """The connected components of a graph, as sets."""
    block = {x: {x} for x in items}
    for a, b in pairs:
        small, large = sorted((block[a], block[b]), key=len)
        if small is not large:
            large |= small
            for x in small:
                block[x] = large
    return list({id(group): frozenset(group) for group in block.values()}.values())


def within(triplets, items):
    return [t for t in triplets if items.issuperset(t)]


def onetree(triplets, items):
    """Function OneTree of section 4.1.1: the clades of a tree, or None for "fail"."""
    items = frozenset(items)
    if len(items) == 1:
        return frozenset()
    tree = frozenset([items])
    if len(items) == 2:
        return tree
    parts = components(items, [(a, b) for a, b, _ in triplets])
    if len(parts) == 1:
        return None
    for part in parts:
        below = onetree(within(triplets, part), part)
        if below is None:
            return None
        tree |= below
    return tree


def consistent(triplets, n):
    return n == 0 or onetree([tuple(t) for t in triplets], range(n)) is not None


def stuck_sets(triplets, items):
    """Every set of items that OneTree would fail on, were it to go on with the others."""
    items = frozenset(items)
    if len(items) <= 2:
        return set()
    inside = within(triplets, items)
    parts = components(items, [(a, b) for a, b, _ in inside])
    if len(parts) == 1:
        return {items}
    return set().union(*(stuck_sets(inside, part) for part in parts))


def levels(triplets, items):
    """OneTree level by level: the sets of each recursion depth, until all are single items; None for "fail"."""
    found = []
    parts = [frozenset(items)]
    while any(len(part) > 1 for part in parts):
        finer = []
        for part in parts:
            inside = components(part, [(a, b) for a, b, _ in within(triplets, part)])
            if len(part) > 1 and len(inside) == 1:
                return None
            finer += inside
        parts = finer
        found.append(frozenset(parts))
    return found


# -- ReCon ---------------------------------------------------------------------------------------------------------


def update_constraints(triplets, i, j):
    """Function UpdateConstraints: j becomes i, fulfilled statements go."""
    renamed = [tuple(i if x == j else x for x in t) for t in triplets]
    return [t for t in renamed if t[0] != t[1]]


def test_compatibility(triplets, items, i, j):
    """Function TestCompatibility of section 4.2, with only the statements inside ``items`` (erratum S0.3)."""
    if len(items) == 2:
        return True
    parts = components(items, [(i, j), *((a, b) for a, b, _ in triplets)])
    if len(parts) == 1:
        return False
    part = next(part for part in parts if i in part)
    return test_compatibility(within(triplets, part), part, i, j)


test_compatibility.__test__ = False  # the paper's name; pytest must not collect it


def contraction_is_consistent(triplets, items, i, j):
    """What TestCompatibility stands for: after merging i and j some tree still displays everything."""
    merged = update_constraints(triplets, i, j)
    if any(c in (a, b) for a, b, c in merged):
        return False
    return onetree(merged, frozenset(items) - {j}) is not None


def lance_williams(method, ik, jk, ij, n_i, n_j, n_k):
    """Distance of cluster k to the union of i and j; ward, centroid and median on squared distances."""
    n = n_i + n_j
    return {
        "single": min(ik, jk),
        "complete": max(ik, jk),
        "average": (n_i * ik + n_j * jk) / n,
        "weighted": (ik + jk) / 2,
        "ward": ((n_i + n_k) * ik + (n_j + n_k) * jk - n_k * ij) / (n + n_k),
        "centroid": (n_i * ik + n_j * jk) / n - n_i * n_j * ij / n**2,
        "median": (ik + jk) / 2 - ij / 4,
    }[method]


class Agglomeration:
    """The clusters of one run of algorithm ReCon, merged one pair at a time."""

    def __init__(self, D, triplets, method):
        D = np.asarray(D, float)
        self.d = (D**2 if method in SQUARED else D).tolist()
        self.method = method
        self.n = len(D)
        self.S = list(range(self.n))
        self.C = [tuple(map(int, t)) for t in triplets]
        self.size = [1] * self.n
        self.node = list(range(self.n))
        self.pairs, self.heights = [], []

    def distance(self, i, j):
        return max(self.d[i][j], 0.0) ** 0.5 if self.method in SQUARED else self.d[i][j]

    def closest_first(self):
        """All pairs of clusters, nearest first."""
        return sorted(combinations(self.S, 2), key=lambda pair: self.d[pair[0]][pair[1]])

    def violated_now(self):
        """Line 9 of ReCon: the pairs (i, j) for which some (i * | j) or (j * | i) is in C."""
        return {frozenset(pair) for a, b, c in self.C for pair in ((a, c), (b, c))}

    def compatible(self, i, j):
        return test_compatibility(self.C, frozenset(self.S), i, j)

    def next_pair(self, *, naive=False):
        """The closest pair that may be merged, or None: a dead end."""
        barred = self.violated_now()
        for i, j in self.closest_first():
            if frozenset((i, j)) not in barred and (naive or self.compatible(i, j)):
                return i, j
        return None

    def merge(self, i, j):
        self.pairs.append(sorted((self.node[i], self.node[j])))
        self.heights.append(self.distance(i, j))
        self.S.remove(j)
        for k in self.S:
            if k != i:
                self.d[i][k] = self.d[k][i] = lance_williams(
                    self.method,
                    self.d[i][k],
                    self.d[j][k],
                    self.d[i][j],
                    self.size[i],
                    self.size[j],
                    self.size[k],
                )
        self.size[i] += self.size[j]
        self.node[i] = self.n + len(self.pairs) - 1
        self.C = update_constraints(self.C, i, j)


def recon(D, triplets, method="centroid"):
    """Algorithm ReCon, literally: merged nodes and heights, in merge order."""
    run = Agglomeration(D, triplets, method)
    while len(run.S) > 1:
        pair = run.next_pair()
        assert pair is not None, "the literal algorithm met a dead end: the statements contradict each other"
        run.merge(*pair)
    return run.pairs, run.heights


def finest_blocks(n, must, triplets):
    """The finest clusters must-links and consistent triplets leave possible: two rules until nothing changes."""
    pairs = [tuple(p) for p in must]
    while True:
        blocks = components(range(n), pairs)
        of = {x: i for i, block in enumerate(blocks) for x in block}
        new = [(x, y) for a, b, c in triplets if of[c] in (of[a], of[b]) for x, y in ((a, b), (a, c)) if of[x] != of[y]]
        if not new:
            over = [tuple(of[x] for x in t) for t in triplets]
            stuck = stuck_sets([t for t in over if len(set(t)) == 3], range(len(blocks)))
            if not stuck:
                return of
            first = [min(blocks[i]) for i in stuck.pop()]
            new = [(first[0], x) for x in first[1:]]
        pairs += new


def recon_mixed(D, must, apart, triplets, method="centroid", k=1):
    """ReCon with must-links and groups apart: what belongs together first, then to the cut, then to the root.

    Returns merged nodes, heights and the clusters at the cut as sets of samples.
    """
    run = Agglomeration(D, triplets, method)
    of = finest_blocks(run.n, must, run.C)
    members = {i: {i} for i in range(run.n)}

    def merge_while(allowed, enough):
        while len(run.S) > enough:
            barred = run.violated_now()
            for i, j in run.closest_first():
                if allowed(i, j) and frozenset((i, j)) not in barred and run.compatible(i, j):
                    run.merge(i, j)
                    members[i] |= members.pop(j)
                    break
            else:
                return

    merge_while(lambda i, j: of[i] == of[j], 1)
    assert len(run.S) == len(set(of.values())), "every block can be merged into one cluster"
    merge_while(lambda i, j: all(len(set(group) & (members[i] | members[j])) < 2 for group in apart), k)
    cut = sorted(sorted(cluster) for cluster in members.values())
    merge_while(lambda i, j: True, 1)
    return run.pairs, run.heights, cut


def naive_agglomeration(D, triplets, method="centroid"):
    """The negative control: whatever violates nothing right now may be merged; it can end before all is merged."""
    run = Agglomeration(D, triplets, method)
    while len(run.S) > 1 and (pair := run.next_pair(naive=True)) is not None:
        run.merge(*pair)
    return run.pairs, run.heights


def faults(pairs, heights, D, triplets, method, *, rtol=1e-9):
    """Replay somebody's merges; name each that was not a compatible pair at the least compatible distance.

    Distances are compared as Lance and Williams update them, squared for some methods, within ``rtol`` of the largest.
    """
    run = Agglomeration(D, triplets, method)
    slack = rtol * max(map(max, run.d))
    wrong = []
    for step, (pair, height) in enumerate(zip(pairs, heights, strict=True)):
        i, j = sorted(i for i in run.S if run.node[i] in pair)
        k, m = run.next_pair()
        if not contraction_is_consistent(run.C, run.S, i, j):
            return [*wrong, f"merge {step} of nodes {pair} is incompatible"]
        if run.d[i][j] > run.d[k][m] + slack:
            wrong.append(f"merge {step} of nodes {pair} at {run.d[i][j]}, a compatible pair was at {run.d[k][m]}")
        reported = height**2 if method in SQUARED else height
        if abs(max(run.d[i][j], 0.0) - reported) > slack:
            wrong.append(f"merge {step} of nodes {pair} at {run.d[i][j]} was reported at {reported}")
        run.merge(i, j)
    if len(run.S) != 1:
        wrong.append(f"{len(run.S)} clusters are left")
    return wrong
