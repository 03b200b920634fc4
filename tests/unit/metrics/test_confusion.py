"""Confusion matrices against their definition, and their printed form."""

from __future__ import annotations

import random

import numpy as np
import pytest

from linkwise.exceptions import LinkwiseError
from linkwise.metrics import confusion_matrix
from tests.oracles import measures
from tests.profile import examples


@pytest.mark.parametrize("seed", range(examples(200, 5_000)))
def test_counts_and_the_largest_diagonal(seed):
    rng = random.Random(seed)
    n = rng.randint(1, 6)
    y, labels = measures.random_labels(rng, n), measures.random_labels(rng, n)
    table, best = measures.confusion(y, labels)
    plain = confusion_matrix(y, labels, match=False)
    assert plain.matrix.tolist() == table
    assert np.isnan(plain.accuracy)
    found = confusion_matrix(y, labels)
    assert found.accuracy == pytest.approx(best / n)
    assert sorted(found.classes) == sorted(set(y))
    for i, c in enumerate(found.classes):
        for j, k in enumerate(found.clusters):
            assert found.matrix[i, j] == sum((a, b) == (c, k) for a, b in zip(y, labels, strict=True))


def test_matched_classes_keep_their_order_and_others_follow():
    found = confusion_matrix(["a", "a", "b", "c", "c", "c"], [2, 2, 9, 9, 9, 9])
    assert found.classes.tolist() == ["a", "c", "b"]
    assert found.clusters.tolist() == [2, 9]
    assert str(found) == "   2  9\na  2  0\nc  0  3\nb  0  1"


def test_samples_without_a_class_are_left_out():
    assert confusion_matrix([0, 0, -1], [0, 0, 5]).matrix.tolist() == [[2]]


def test_a_table_that_is_too_large_is_refused():
    with pytest.raises(LinkwiseError, match="too large a table"):
        confusion_matrix(np.arange(8_000), np.arange(8_000), match=False)
