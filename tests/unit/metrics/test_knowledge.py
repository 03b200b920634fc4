"""Shares of statements that hold, by kind, in trees and in label vectors."""

from __future__ import annotations

import math

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram, Kind
from linkwise.constraints import SizeBetween
from linkwise.exceptions import ConstraintError, LinkwiseError, LinkwiseWarning
from linkwise.metrics import satisfaction, triplet_accuracy

TREE = Dendrogram.from_newick("(((0,1),2),(3,4));")
MARKED = Dendrogram(TREE.n_samples, TREE.parent, TREE.raw_height, marked=TREE.children(TREE.roots[0]))
SAID = Constraints.build(
    5,
    must_link=[(0, 1), (3, 4), (0, 4)],
    cannot_link=[(0, 3), (0, 2)],
    triplets=[(0, 1, 2), (0, 2, 3), (3, 4, 0), (0, 3, 1)],
    rules=SizeBetween(1, 2),
)


def test_satisfaction_of_a_tree_counts_its_marked_clusters_and_triplets():
    assert satisfaction(SAID, MARKED) == pytest.approx(
        {"all": 6 / 9, "must_link": 2 / 3, "cannot_link": 1 / 2, "triplets": 3 / 4}
    )


def test_satisfaction_of_labels_follows_the_same_wording_as_verify():
    # 0, 1, 2 | 3, 4: the last triplet has 1 with 0 but not with 3
    share = satisfaction(SAID, ["x", "x", "x", "y", "y"])
    assert share == pytest.approx({"all": 6 / 9, "must_link": 2 / 3, "cannot_link": 1 / 2, "triplets": 3 / 4})


def test_only_what_was_said_is_reported():
    assert satisfaction(SAID.select(SAID.kind == Kind.CANNOT_LINK), MARKED) == {"all": 0.5, "cannot_link": 0.5}


def test_when_nothing_was_said_the_share_is_nan():
    with pytest.warns(LinkwiseWarning, match="there are no statements"):
        assert math.isnan(satisfaction(Constraints.build(5), MARKED)["all"])
    with pytest.warns(LinkwiseWarning, match="no triplet"):
        assert math.isnan(triplet_accuracy(SAID.select(SAID.kind == Kind.MUST_LINK), TREE))


def test_triplet_accuracy_asks_triplets_only():
    assert triplet_accuracy(SAID, TREE) == 3 / 4
    assert triplet_accuracy(SAID.of(Kind.TRIPLET), TREE) == 3 / 4
    fan = Dendrogram.from_newick("(0,1,2,3,4);")
    assert triplet_accuracy(SAID, fan) == 0.0


def test_what_is_about_other_samples_is_refused():
    with pytest.raises(LinkwiseError, match="are about 5 samples, but the tree has 3"):
        satisfaction(SAID, Dendrogram.from_newick("((0,1),2);"))
    with pytest.raises(LinkwiseError, match="labels has 3 entries, but there are 5 samples"):
        satisfaction(SAID, [0, 1, 1])
    with pytest.raises(LinkwiseError, match="expected Constraints"):
        satisfaction([(0, 1)], [0, 1, 1])
    with pytest.raises(LinkwiseError, match="expected a Dendrogram"):
        triplet_accuracy(SAID, np.zeros((4, 4)))
    with pytest.raises(ConstraintError, match="names sample 5"):
        triplet_accuracy([(0, 1, 5)], TREE)
