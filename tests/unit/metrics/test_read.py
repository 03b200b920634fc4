"""What every measure says about labels and trees it cannot judge, and what it accepts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from linkwise import Constraints, Dendrogram
from linkwise.engines import agglomerate
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.metrics import (
    adjusted_mutual_info,
    adjusted_rand,
    class_f,
    constrained_rand,
    count_triples,
    dendrogram_purity,
    h_correlation,
    hierarchy_fscore,
    nmi,
    pairwise_f,
    pairwise_precision,
    pairwise_recall,
    pairwise_scores,
    purity,
    rand,
)

TREE = Dendrogram.from_newick("((0,1),(2,3));")


def constrained(y_true, labels, **options):
    return constrained_rand(y_true, labels, Constraints.build(4), **options)


constrained.__name__ = "constrained_rand"
FLAT = [
    adjusted_mutual_info,
    adjusted_rand,
    constrained,
    nmi,
    pairwise_f,
    pairwise_precision,
    pairwise_recall,
    pairwise_scores,
    purity,
    rand,
]
OF_TREES = [class_f, dendrogram_purity, h_correlation, hierarchy_fscore]


@pytest.mark.parametrize("measure", FLAT)
@pytest.mark.parametrize(
    ("y_true", "labels", "words"),
    [
        ([0, 0, 1], [0, 0, 1, 1], "y_true has 3 entries and labels 4"),
        ([0, 0, 1, 1], [0, np.nan, 1, 1], "labels has no label for 1 sample.*such as 1"),
        ([0, 0, 1, 1], [0, 0, 1, None], "NaN and None are not labels"),
        ([0, 0, 1, 1], np.array(["a", "b", np.nan, "a"], dtype=object), "such as 2"),
        ([0, 0, 1, 1], pd.array([1, 2, None, 1], dtype="Int64"), "such as 2"),
        ([[0, 0], [1, 1]], [0, 0, 1, 1], r"y_true has shape \(2, 2\)"),
        ([[0], [1, 1]], [0, 0], "entries of different lengths"),
        ([], [], "is empty"),
        ([-1, -1], [0, 0], "every entry of the truth is missing or -1"),
        (np.array([0, "a", 1, "b"], dtype=object), [0, 0, 1, 1], "cannot be compared"),
    ],
)
def test_labels_that_cannot_be_judged_are_refused_by_name(measure, y_true, labels, words):
    with pytest.raises(LinkwiseError, match=words) as error:
        measure(y_true, labels)
    assert str(error.value).startswith(measure.__name__)


UNKNOWN = [
    [0, 0, 1, np.nan, 1],
    [0, 0, 1, None, 1],
    np.array(["a", "a", "b", np.nan, "b"], dtype=object),
    pd.array([1, 1, 2, None, 2], dtype="Int64"),
    pd.Series(["a", "a", "b", pd.NA, "b"], dtype="string"),
    np.ma.masked_array([0, 0, 1, 7, 1], mask=[0, 0, 0, 1, 0]),
    [0, 0, 1, -1, 1],
]


@pytest.mark.parametrize("measure", [measure for measure in FLAT if measure is not constrained])
@pytest.mark.parametrize("y_true", UNKNOWN, ids=range(len(UNKNOWN)))
def test_a_missing_class_means_not_known(measure, y_true):
    assert measure(y_true, [0, 0, 1, 0, 0]) == measure([0, 0, 1, -1, 1], [0, 0, 1, 0, 0])


@pytest.mark.parametrize("measure", OF_TREES)
@pytest.mark.parametrize("y_true", UNKNOWN, ids=range(len(UNKNOWN)))
def test_a_missing_class_has_no_place_in_the_truth_of_a_tree(measure, y_true):
    tree = agglomerate(np.array([[0.0], [1.0], [5.0], [7.0], [5.5]]))
    assert repr(measure(y_true, tree)) == repr(measure([0, 0, 1, -1, 1], tree))


@pytest.mark.parametrize("measure", OF_TREES)
@pytest.mark.parametrize(
    ("y_true", "words"),
    [
        ([0, 0, 1], "the truth is about 3 samples, but the dendrogram has 4 leaves"),
        ([-1, -1, -1, -1], "every entry of the truth is missing or -1"),
    ],
)
def test_trees_are_judged_by_the_classes_of_their_own_samples(measure, y_true, words):
    with pytest.raises(LinkwiseError, match=words) as error:
        measure(y_true, TREE)
    assert str(error.value).startswith(measure.__name__)


@pytest.mark.parametrize("measure", OF_TREES)
def test_what_is_no_dendrogram_is_refused_with_a_hint(measure):
    with pytest.raises(LinkwiseError, match=r"got ndarray, expected a Dendrogram\.\nHint: pass `model\.dendrogram_`"):
        measure([0, 0, 1, 1], TREE.to_linkage())


@pytest.mark.parametrize(
    "same",
    [
        [1, 1, 0, 0],
        (7, 7, -7, -7),
        [True, True, False, False],
        [0.5, 0.5, 2.5, 2.5],
        ["b", "b", "a", "a"],
        np.array(["b", "b", "a", "a"], dtype=object),
        pd.Series(["b", "b", "a", "a"], dtype="category"),
        pd.Series([2, 2, 1, 1], dtype="Int64"),
        np.array([2**63, 2**63, 1, 1], dtype=np.uint64),
        np.array([-(2**63), -(2**63), 2**63 - 1, 2**63 - 1]),
        np.array([200, 200, 100, 100], dtype=np.uint8),
        np.array([100, 100, -100, -100], dtype=np.int8),
    ],
)
def test_labels_of_any_kind_are_classes(same):
    assert pairwise_f(same, [0, 0, 1, 1]) == pairwise_f([0, 0, 1, 1], same) == 1.0
    assert purity(same, [0, 1, 0, 1]) == 0.5
    assert hierarchy_fscore(same, TREE) == 1.0
    assert count_triples(same) == 8


def test_classes_minus_one_and_one_are_asked_about():
    y = [-1, -1, 1, 1]
    with pytest.warns(LinkwiseWarning, match="only -1 and 1.*\n.*unlabeled=None") as caught:
        assert rand(y, [0, 0, 1, 1]) == 1.0
    assert caught[0].filename == __file__
    with pytest.warns(LinkwiseWarning, match="only -1 and 1") as caught:
        dendrogram_purity(y, TREE)
    assert caught[0].filename == __file__
    assert rand(y, [0, 0, 0, 0], unlabeled=None) == pytest.approx(2 / 6)


def test_inputs_are_left_alone():
    y, labels = np.array([0, 0, 1, -1]), np.array([1, 1, 0, 0])
    for array in (y, labels):
        array.setflags(write=False)
    for measure in FLAT:
        measure(y, labels)
    for measure in OF_TREES:
        measure(y, TREE)
    assert y.tolist() == [0, 0, 1, -1]
