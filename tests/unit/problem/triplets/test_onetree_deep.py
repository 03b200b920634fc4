"""BUILD of deep trees: the two ways to divide, each alone and handing over, against the recursive algorithm."""

from __future__ import annotations

import sys

import numba
import numpy as np
import pytest

from linkwise._kernels import compiled_only
from linkwise.problem import onetree
from linkwise.problem.triplets import _kernels_build, _kernels_build_forest as forest
from linkwise.problem.triplets._kernels_build import build
from tests.oracles import generators, relative
from tests.oracles.trees import clades
from tests.profile import examples

pytestmark = pytest.mark.kernels

SLOW = numba.config.DISABLE_JIT
DEEP, LEVELS = -1, 2**40  # patience that leaves everything to one of the two ways
WAYS = (DEEP, 0, 1, 3, LEVELS)


def built(n, said, patience):
    parent, stuck, wrong = build(n, np.array(said, dtype=np.intp).reshape(-1, 3), patience)
    assert wrong == -1
    return parent.tolist(), stuck.tolist()


def drawn(seed):
    """Consistent or not, of all shapes, with copies of statements and items that nothing is said about."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(0, 22))
    kind = seed % 4
    if kind == 0:
        said = generators.noise_triplets(rng, n, int(rng.integers(0, 2 * n + 1)))
    elif kind == 1 and n >= 3:
        said = generators.flipped_triplets(rng, n, 0.1)[0]
    else:
        said = generators.consistent_triplets(rng, n)
    if said and rng.random() < 0.3:
        said = said + [said[t] for t in rng.integers(len(said), size=5).tolist()]
    return n, said


def test_either_way_gives_the_tree_of_the_recursive_algorithm_or_a_set_it_fails_on():
    count = examples(60 if SLOW else 500, 20_000)
    failures = 0
    for seed in range(count):
        n, said = drawn(seed)
        failing = relative.stuck_sets(said, range(n))
        tree = None if failing else relative.onetree(said, range(n)) if n else frozenset()
        failures += bool(failing)
        for patience in WAYS:
            parent, stuck = built(n, said, patience)
            if failing:
                assert parent == [], f"seed {seed}"
                assert len(set(stuck)) == len(stuck), f"seed {seed}"
                assert frozenset(stuck) in failing, f"seed {seed}"
            else:
                assert stuck == [], f"seed {seed}"
                assert clades(n, parent) == tree, f"seed {seed}"
                assert parent[-1:] == [-1][:n], f"seed {seed}"
                assert all(above > node for node, above in enumerate(parent[:-1])), f"seed {seed}"
    assert 0.1 < failures / count < 0.5  # both answers are put to the test


@pytest.mark.parametrize("patience", WAYS)
def test_few_items_have_their_only_tree(patience):
    assert built(0, [], patience) == ([], [])
    assert built(1, [], patience) == ([-1], [])
    assert built(2, [], patience) == ([2, 2, -1], [])
    assert built(3, [], patience) == ([3, 3, 3, -1], [])
    assert built(3, [(0, 2, 1), (2, 0, 1)], patience) == ([3, 4, 3, 4, -1], [])
    assert sorted(built(3, [(0, 2, 1), (0, 1, 2)], patience)[1]) == [0, 1, 2]


def test_a_chain_is_handed_over_and_what_shrinks_quickly_is_not():
    def left(n, said):
        return _kernels_build._divide(n, np.array(said, dtype=np.intp), _kernels_build.PATIENCE)[-1]

    assert len(left(50, [(i, i + 1, i + 2) for i in range(48)])) == 1  # this one serves to compile both ways
    assert len(left(64, [(i, i ^ 1, j) for i in range(0, 64, 2) for j in range(64) if j // 2 != i // 2])) == 0
    assert len(left(10, [(i, i + 1, i + 2) for i in range(8)])) == 0


# -- sizes at which the forest has to be mended and grown anew -----------------------------------------------------


def one_by_one(edges, keep, rng):
    """Pairs whose odd ones leave one after another, and pairs that stay to the end: a chain above, a graph below."""
    items = 1 + max(map(max, edges + keep))
    count = len(edges) + 1
    odd = [items + i for i in range(count)]
    said = [(a, b, odd[i]) for i, (a, b) in enumerate(edges)] + [(a, b, odd[-1]) for a, b in keep]
    said += [(edges[0][0], odd[i + 1], odd[i]) for i in range(count - 1)]
    return items + count, [said[t] for t in rng.permutation(len(said)).tolist()]


def rails(k, rng):
    """Two rails with rungs; one rail goes piece by piece, and mending it takes a way through the other."""
    rail = [(i, i + 1) for i in range(k - 1)]
    rest = [(k + i, k + i + 1) for i in range(k - 1)] + [(i, k + i) for i in range(k)]
    return one_by_one([rail[i] for i in rng.permutation(k - 1).tolist()], rest, rng)


def bridges(k, rng):
    """Two crowds with bridges between them, of which the last ones are hard to find."""
    crowd = [(int(a), int(b)) for a, b in rng.integers(k, size=(6 * k, 2)) if a != b]
    ties = [(i, i + 1) for i in range(k - 1)]
    inside = [(side + a, side + b) for side in (0, k) for a, b in crowd + ties]
    return one_by_one([(int(a), k + int(b)) for a, b in rng.integers(k, size=(k, 2))], inside, rng)


def sparse_caterpillar(k, rng):
    tree = generators.random_tree(rng, np.arange(k), "caterpillar")
    return k, generators.tree_triplets(rng, tree, 4 * k)


def fingerprint(n, parent):
    """The clusters of a tree, each as the sum of its items' random numbers: fit for thousands of items."""
    total = np.random.default_rng(0).integers(2**40, size=n).tolist() + [0] * (len(parent) - n)
    for node, above in enumerate(parent):
        if above >= 0:
            total[above] += total[node]
    return sorted(total[n:])


@pytest.mark.parametrize("make", [rails, bridges, sparse_caterpillar])
def test_both_ways_agree_where_the_forest_is_mended_again_and_again(make):
    for seed in range(examples(2 if SLOW else 7, 300)):
        rng = np.random.default_rng(seed)
        n, said = make(int(rng.integers(4, 12 if SLOW else 120)), rng)
        expected = built(n, said, LEVELS)[0]
        assert expected, f"seed {seed}"
        for patience in (DEEP, 2):
            assert fingerprint(n, built(n, said, patience)[0]) == fingerprint(n, expected), f"seed {seed}"


@pytest.mark.parametrize("make", [rails, bridges])
def test_a_contradiction_below_a_long_chain_is_found(make):
    rng = np.random.default_rng(1)
    n, said = make(10 if SLOW else 60, rng)
    trio = (0, 1, 2)
    said += [(0, 1, 2), (1, 2, 0)]
    for patience in WAYS:
        parent, stuck = built(n, said, patience)
        assert parent == []
        assert set(trio) <= set(stuck)
        assert frozenset(stuck) in relative.stuck_sets(said, range(n))


# -- what is asked for at full size --------------------------------------------------------------------------------


def peak_bytes():
    """Most memory this process has held; 0 where the system does not say."""
    if sys.platform == "win32":
        return 0
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def chain(n, style, rng):
    """The statements that define a caterpillar: each item below the next, with one of those before it as partner."""
    i = np.arange(n - 2)
    if style == "neighbors":
        return np.column_stack([i, i + 1, i + 2])
    if style == "star":
        return np.column_stack([np.zeros_like(i), i + 1, i + 2])
    partner = (rng.random(n - 2) * (i + 1)).astype(int)
    return np.column_stack([i + 1, partner, i + 2])[rng.permutation(n - 2)]


@pytest.mark.parametrize("style", ["neighbors", "star", "any"])
def test_a_chain_of_a_hundred_thousand_statements_needs_neither_recursion_nor_much_memory(style):
    n = 300 if SLOW else 100_002
    said = chain(n, style, np.random.default_rng(0))
    with compiled_only():  # compiling may recurse, building may not
        for patience in (DEEP, LEVELS):
            built(4, [(0, 1, 2), (0, 1, 3)], patience)
    before, depth, frame = sys.getrecursionlimit(), 0, sys._getframe()
    while frame is not None:
        depth, frame = depth + 1, frame.f_back
    memory = peak_bytes()
    sys.setrecursionlimit(depth + 100)
    try:
        parent = onetree(n, said).parent
    finally:
        sys.setrecursionlimit(before)
    assert peak_bytes() - memory < 200e6  # a bit per pair of items would be six times as much
    assert parent[:n].tolist() == [n, n, *range(n + 1, 2 * n - 1)]
    assert parent[n:].tolist() == [*range(n + 1, 2 * n - 1), -1]


def test_a_hundred_thousand_items_that_contradict_each_other_at_the_bottom_of_a_chain():
    n = 300 if SLOW else 100_000
    said = np.concatenate([chain(n, "any", np.random.default_rng(0)), [(1, 2, 0)]])
    assert onetree(n, said).stuck.tolist() == [0, 1, 2]


# -- the forest ----------------------------------------------------------------------------------------------------


class Twin:
    """A forest as a set of edges, beside the linked rows."""

    def __init__(self, n):
        self.n = n
        self.item = np.full((n, 6), -1, np.intp)
        self.walk = np.zeros((2, n), np.intp)
        self.edges = {}  # number -> pair
        self.search = 0

    def tree(self, x):
        return next(part for part in relative.components(range(self.n), self.edges.values()) if x in part)

    def root(self, x):
        while self.item[x, forest.UP] >= 0:
            x = self.item[x, forest.UP]
        return int(x)

    def walked(self, x):
        found = [self.root(x)]
        while (after := forest.following(self.item, found[-1])) >= 0:
            found.append(int(after))
        return found

    def check(self):
        held = {}
        for x in range(self.n):
            above, edge = self.item[x, [forest.UP, forest.EDGE]].tolist()
            if above >= 0:
                held[edge] = {x, above}
            found = self.walked(x)
            assert len(found) == len(set(found))
            assert set(found) == self.tree(x)
        assert held == {edge: set(pair) for edge, pair in self.edges.items()}


def test_the_forest_is_cut_turned_and_hung_as_told():
    for seed in range(examples(5 if SLOW else 14, 500)):
        rng = np.random.default_rng(seed)
        twin = Twin(int(rng.integers(2, 12)))
        for number in range(25):
            x, y = rng.choice(twin.n, size=2, replace=False).tolist()
            if y not in twin.tree(x):
                forest.make_root(twin.item, x)
                assert twin.root(y) != twin.root(x) == x
                forest.hang(twin.item, x, y, number)
                twin.edges[number] = (x, y)
            elif twin.item[x, forest.UP] >= 0:
                above = int(twin.item[x, forest.UP])
                del twin.edges[int(twin.item[x, forest.EDGE])]
                forest.unhang(twin.item, x)
                twin.search += 2
                side, count = forest.smaller_half(twin.item, twin.walk, x, above, twin.search)
                halves = [twin.tree(x), twin.tree(above)]
                found = twin.walk[side, :count].tolist()
                assert len(found) == len(halves[side]) <= len(halves[1 - side])
                assert set(found) == halves[side]
                mark = twin.item[:, forest.MARK]
                assert set(np.flatnonzero(mark == twin.search - side).tolist()) == halves[side]
            twin.check()
