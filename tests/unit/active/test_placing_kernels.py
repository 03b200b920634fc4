"""Places of a sample in a tree, and questions about it, against the definitions."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.active import _kernels_placing as kernels
from linkwise.active._placed_tree import Skeleton
from linkwise.problem import onetree
from tests.oracles import placing as oracle
from tests.profile import examples

pytestmark = pytest.mark.kernels


def random_tree(seed, n=None):
    rng = np.random.default_rng(seed)
    tree = Skeleton.of_two(0, 1)
    for sample in range(2, int(rng.integers(3, 9)) if n is None else n):
        inner = np.flatnonzero(tree.item < 0)
        if rng.random() < 0.5:
            tree = tree.below(int(rng.choice(inner)), sample)
        else:
            tree = tree.on_edge(int(rng.integers(len(tree.parent))), sample)
    return rng, tree


def chances(tree, edge, node):
    found = {("edge", v): edge[v] for v in range(len(tree.parent))}
    return found | {("node", v): node[v] for v in range(len(tree.parent)) if tree.item[v] < 0}


def judged(rng, tree, own=-1):
    alike = rng.normal(size=len(tree.leaf))
    blend, rates = rng.random(), rng.random(3)
    edge, node = kernels.guess(alike, tree.parent, tree.leaf, tree.begin, tree.end, own, blend, rates)
    said = dict(zip(tree.leaf.tolist(), alike, strict=True))
    return edge, node, oracle.guess(tree.parent.tolist(), tree.item.tolist(), said, own, blend, rates)


@pytest.mark.parametrize("seed", range(examples(15, 300)))
def test_guesses_agree_with_the_definition(seed):
    rng, tree = random_tree(seed)
    own = int(rng.choice(tree.leaf)) if seed % 2 else -1
    edge, node, expected = judged(rng, tree, own)
    found = chances(tree, edge, node)
    np.testing.assert_allclose([found[p] for p in expected], list(expected.values()), atol=1e-12)


@pytest.mark.parametrize("seed", range(examples(15, 300)))
def test_an_answer_leaves_the_places_that_agree_with_it(seed):
    rng, tree = random_tree(seed)
    edge, node, before = judged(rng, tree)
    one, two = (int(v) for v in rng.choice(tree.leaf, 2, replace=False))
    said = seed % 4
    after = {
        p: c * (1.0 if oracle.answer(tree.parent.tolist(), p, one, two) == said else 0.1) for p, c in before.items()
    }
    likely = kernels.hear(edge, node, tree.parent, tree.last, one, two, said, 0.1)
    found = chances(tree, edge, node)
    assert likely == pytest.approx(sum(after.values()))
    np.testing.assert_allclose([found[p] for p in after], np.array(list(after.values())) / likely, atol=1e-12)


@pytest.mark.parametrize("seed", range(examples(15, 300)))
def test_the_question_lowers_the_risk_as_much_as_it_says(seed):
    rng, tree = random_tree(seed)
    edge, node, _ = judged(rng, tree)
    if seed % 3:
        one, two = (int(v) for v in rng.choice(tree.leaf, 2, replace=False))
        kernels.hear(edge, node, tree.parent, tree.last, one, two, seed % 4, 0.01)
    chance, parent, item = chances(tree, edge, node), tree.parent.tolist(), tree.item.tolist()
    risk, gain, first, second = kernels.best_question(edge, node, tree.parent, tree.begin, tree.end, -1)
    assert risk == pytest.approx(oracle.risk(parent, item, chance))
    one, two = (int(tree.leaf[tree.begin[v]]) for v in (first, second))
    assert gain == pytest.approx(oracle.expected_gain(parent, item, chance, one, two))
    mass = {v: sum(c for (_, u), c in chance.items() if v in oracle.ancestors(parent, u)) for v in range(len(parent))}
    for v in range(len(parent)):
        kids = sorted((u for u in range(len(parent)) if parent[u] == v), key=lambda u: -mass[u])[:2]
        if len(kids) == 2:
            pair = (int(tree.leaf[tree.begin[u]]) for u in kids)
            assert gain >= oracle.expected_gain(parent, item, chance, *pair) - 1e-9


@pytest.mark.parametrize("seed", range(examples(10, 100)))
def test_a_sample_put_in_and_taken_off_again_leaves_the_tree_as_it_was(seed):
    rng, tree = random_tree(seed)
    v = int(rng.integers(len(tree.parent)))
    more = tree.on_edge(v, 99) if seed % 2 else tree.below(int(rng.choice(np.flatnonzero(tree.item < 0))), 99)
    assert (more.parent[1:] < np.arange(1, len(more.parent))).all()
    assert more.item[more.node_of[99]] == 99
    less = more.without(99)
    assert (less.parent.tolist(), less.item.tolist()) == (tree.parent.tolist(), tree.item.tolist())


@pytest.mark.parametrize("seed", range(examples(10, 100)))
def test_what_is_believed_is_what_the_tree_displays(seed):
    _, tree = random_tree(seed)
    n = len(tree.samples)
    parent = onetree(n, tree.believed()).parent
    below = [{v} if v < n else set() for v in range(len(parent))]
    for v, above in enumerate(parent.tolist()):
        if above >= 0:
            below[above] |= below[v]
    clades = {frozenset(tree.samples[b:e].tolist()) for b, e in zip(tree.begin, tree.end, strict=True)}
    assert {frozenset(clade) for clade in below} == clades
