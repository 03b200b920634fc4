"""Pairs counted from tables equal pairs listed one by one, with and without what was told."""

from __future__ import annotations

import math
import random
from itertools import combinations

import numpy as np
import pytest
from sklearn.metrics import pair_confusion_matrix, rand_score

from linkwise import Constraints
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.metrics import constrained_rand, pairwise_f, pairwise_precision, pairwise_recall, pairwise_scores, rand
from tests.oracles import measures
from tests.profile import examples

SEEDS = range(examples(100, 5_000))


@pytest.mark.parametrize("seed", SEEDS)
def test_pair_measures_equal_the_listed_pairs(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 12)
    y, labels = measures.random_labels(rng, n), measures.random_labels(rng, n)
    expected = measures.pairwise_scores(y, labels)
    assert pairwise_scores(y, labels) == pytest.approx(expected)
    assert (pairwise_precision(y, labels), pairwise_recall(y, labels)) == pytest.approx(expected[:2])
    assert pairwise_f(y, labels) == pytest.approx(expected[2])
    by_hand = measures.rand(y, labels)
    assert rand(y, labels) == pytest.approx(1.0 if by_hand is None else by_hand)


def test_pair_measures_equal_scikit_learn():
    rng = np.random.default_rng(0)
    y, labels = rng.integers(7, size=500), rng.integers(5, size=500)
    (_, cluster_only), (class_only, both) = pair_confusion_matrix(y, labels)
    precision, recall = both / (both + cluster_only), both / (both + class_only)
    assert pairwise_scores(y, labels) == pytest.approx(
        (precision, recall, 2 * precision * recall / (precision + recall))
    )
    assert rand(y, labels) == pytest.approx(rand_score(y, labels))


def _random_statements(rng, n, n_must, n_cannot):
    pairs = [tuple(rng.sample(range(n), 2)) for _ in range(n_must + n_cannot)] if n > 1 else []
    return pairs[:n_must], pairs[n_must:]


@pytest.mark.parametrize("seed", SEEDS)
def test_constrained_rand_is_the_rand_index_of_the_free_pairs(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 14)
    y, labels = measures.random_labels(rng, n, unlabeled=rng.choice([0.0, 0.3])), measures.random_labels(rng, n)
    must, cannot = _random_statements(rng, n, rng.randint(0, n // 2), rng.randint(0, 4))
    soft_must, soft_cannot = _random_statements(rng, n, rng.randint(0, 2), rng.randint(0, 2))
    said = Constraints.build(n, must_link=must, cannot_link=cannot)
    said |= Constraints.build(n, must_link=soft_must, cannot_link=soft_cannot, weight=0.5)
    free = measures.free_pairs(n, must, cannot, [*soft_must, *soft_cannot])
    expected = measures.rand(y, labels, [(i, j) for i, j in free if y[i] != -1 and y[j] != -1])
    if expected is None:
        with pytest.warns(LinkwiseWarning, match="decide every pair"):
            assert math.isnan(constrained_rand(y, labels, said))
    else:
        assert constrained_rand(y, labels, said) == pytest.approx(expected)


def test_groups_decide_the_pairs_they_stand_for():
    rng = np.random.default_rng(2)
    for _ in range(20):
        n = 12
        y, labels = rng.integers(3, size=n), rng.integers(3, size=n)
        groups = [rng.choice(n, 3, replace=False).tolist() for _ in range(4)]
        weight = [np.inf, 2.0, np.inf, 2.0]
        whole = Constraints.build(n, together=groups[:2], apart=groups[2:], weight=weight)
        every = [list(combinations(group, 2)) for group in groups]
        firm = Constraints.build(n, must_link=every[0], cannot_link=every[2])
        loose = Constraints.build(n, must_link=every[1], cannot_link=every[3], weight=2.0)
        assert constrained_rand(y, labels, whole) == constrained_rand(y, labels, firm | loose)


def test_with_nothing_said_constrained_rand_is_rand_and_triplets_decide_no_pair():
    rng = np.random.default_rng(1)
    y, labels = rng.integers(3, size=40), rng.integers(4, size=40)
    said = Constraints.build(40, triplets=[(0, 1, 2), (3, 4, 5)])
    assert constrained_rand(y, labels, said) == rand(y, labels)


def test_complete_knowledge_leaves_nothing_to_judge():
    y = [0, 0, 1, 1, 2]
    with pytest.warns(LinkwiseWarning, match=r"decide every pair(.|\n)*Hint: use `rand`"):
        assert math.isnan(constrained_rand(y, y, Constraints.from_labels(y)))


def test_pairs_are_not_listed():
    """Two must-linked halves of a hundred thousand samples: their closure has five thousand million pairs."""
    n = 100_000
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    chain = np.delete(chain, n // 2 - 1, axis=0)
    y = np.arange(n) % 2
    said = Constraints.build(n, must_link=chain)
    assert constrained_rand(y, y, said) == 1.0
    # the free pairs are those between the halves; one cluster joins them all, and half of them rightly
    assert constrained_rand(y, np.zeros(n, dtype=int), said) == 0.5


def test_samples_of_unknown_class_are_left_out_unless_told_otherwise():
    y, labels = [0, 0, 1, -1, -1], [0, 0, 1, 1, 0]
    assert pairwise_f(y, labels) == pairwise_f([0, 0, 1], [0, 0, 1]) == 1.0
    assert pairwise_f(y, labels, unlabeled=None) == pairwise_f([0, 0, 1, 2, 2], labels) < 1.0
    assert pairwise_f(["a", "a", "?"], [0, 0, 1], unlabeled="?") == 1.0


def test_constraints_about_other_samples_are_refused():
    with pytest.raises(LinkwiseError, match="are about 4 samples, but y_true has 3"):
        constrained_rand([0, 1, 1], [0, 1, 1], Constraints.build(4))
    with pytest.raises(LinkwiseError, match="expected Constraints"):
        constrained_rand([0, 1, 1], [0, 1, 1], [(0, 1)])
