"""Cutting by number, by height, by marks, and by what the constraints ask to separate."""

from __future__ import annotations

import random

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram
from linkwise.exceptions import LinkwiseError
from tests.oracles.generators import informative_triplets
from tests.oracles.trees import blocks, breaks_a_trio, forest_of_classes, refines
from tests.profile import examples


def test_many_way_node_gives_up_its_last_children_first():
    fan = Dendrogram(4, [4, 4, 4, 4, -1])
    assert [fan.cut(n_clusters=k).tolist() for k in (1, 2, 3, 4)] == [
        [0, 0, 0, 0],
        [0, 0, 0, 1],
        [0, 0, 1, 2],
        [0, 1, 2, 3],
    ]


def test_merge_order_decides_not_height():
    tree = Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [9.0, 1.0, 2.0])
    assert tree.cut(n_clusters=3).tolist() == [0, 0, 1, 2]
    assert tree.cut(height=2.0).tolist() == [0, 1, 2, 2]


def test_labels_are_numbered_by_first_appearance():
    tree = Dendrogram.from_merges(4, [(0, 3), (1, 2)], [1.0, 2.0])
    labels = tree.cut(n_clusters=2)
    assert labels.tolist() == [0, 1, 1, 0]
    assert labels.dtype == np.intp


@pytest.mark.parametrize(
    ("k", "says"),
    [
        (0, "whole number from 2 to 5"),
        (6, "from 2 to 5"),
        (1, "the forest has 2 roots"),
        (2.0, "whole"),
        (True, "whole"),
        ("3", "whole"),
    ],
)
def test_impossible_numbers_of_clusters_are_refused(k, says):
    forest = Dendrogram(5, [5, 5, 5, 6, 6, -1, -1])
    with pytest.raises(LinkwiseError, match=says):
        forest.cut(n_clusters=k)
    with pytest.raises(LinkwiseError, match=says):
        forest.cut_constrained(Constraints.build(5), k)


@pytest.mark.parametrize("height", [np.nan, -1, "tall", [1, 2]])
def test_impossible_heights_are_refused(height):
    with pytest.raises(LinkwiseError, match="height is"):
        Dendrogram(2, [2, 2, -1]).cut(height=height)


def test_exactly_one_way_to_cut():
    tree = Dendrogram(2, [2, 2, -1])
    with pytest.raises(LinkwiseError, match="neither"):
        tree.cut()
    with pytest.raises(LinkwiseError, match="both"):
        tree.cut(n_clusters=2, height=1.0)


def test_a_height_below_or_above_everything():
    tree = Dendrogram(3, [3, 3, 4, 4, -1])
    assert tree.cut(height=0).tolist() == [0, 1, 2]
    assert tree.cut(height=np.inf).tolist() == [0, 0, 0]
    assert Dendrogram(3, [3, 3, -1, -1]).cut(height=np.inf).tolist() == [0, 0, 1]


def test_the_marked_cut_and_cuts_beside_it():
    tree = Dendrogram.from_merges(4, [(0, 2), (1, 3), (4, 5)], [1.0, 2.0, 3.0], marked=[4, 1, 3])
    assert tree.cut_marked().tolist() == [0, 1, 0, 2]
    assert tree.cut(n_clusters=2).tolist() == [0, 1, 0, 1]
    with pytest.raises(LinkwiseError, match=r"no marked cut[\s\S]*Hint"):
        Dendrogram(2, [2, 2, -1]).cut_marked()


# -- the constraint-aware cut ----------------------------------------------------------------------------------------


def test_knowledge_is_split_before_the_latest_merge():
    tree = Dendrogram.from_merges(6, [(0, 1), (6, 2), (3, 4), (8, 5), (7, 9)], [1.0, 2.0, 3.0, 4.0, 5.0])
    said = Constraints.build(6, triplets=[(0, 1, 2)])
    assert tree.cut(n_clusters=3).tolist() == [0, 0, 0, 1, 1, 2]
    assert tree.cut_constrained(said, 3).tolist() == [0, 0, 1, 2, 2, 2]


def test_a_cannot_link_deep_down_is_reached_first():
    tree = Dendrogram.from_merges(6, [(0, 1), (6, 2), (3, 4), (8, 5), (7, 9)], [1.0, 2.0, 3.0, 4.0, 5.0])
    said = Constraints.build(6, cannot_link=[(0, 1)])
    assert tree.cut_constrained(said, 4).tolist() == [0, 1, 2, 3, 3, 3]


def test_a_must_link_is_split_last():
    tree = Dendrogram.from_merges(6, [(0, 1), (6, 2), (3, 4), (8, 5), (7, 9)], [1.0, 2.0, 3.0, 4.0, 5.0])
    said = Constraints.build(6, must_link=[(3, 5)])
    assert tree.cut_constrained(said, 4).tolist() == [0, 1, 2, 3, 3, 3]


def test_a_triplet_the_tree_breaks_says_nothing():
    tree = Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 3.0])
    said = Constraints.build(4, triplets=[(0, 2, 1)])
    assert tree.cut_constrained(said, 3).tolist() == tree.cut(n_clusters=3).tolist()


def test_no_knowledge_cuts_like_cut():
    tree = Dendrogram(5, [5, 5, 5, 6, 6, 7, 7, -1])
    for k in range(1, 6):
        assert tree.cut_constrained(Constraints.build(5), k).tolist() == tree.cut(n_clusters=k).tolist()


def test_informative_triplets_give_the_classes_back_on_noise():
    """Trees of noise that display the complete informative set; the plain cut mostly misses the classes."""
    plain = 0
    for seed in range(examples(60, 2000)):
        rng = random.Random(seed)
        k = rng.randint(3, 6)
        labels = [*range(k), *(rng.randrange(k) for _ in range(rng.randint(k + 3, 16)))]
        rng.shuffle(labels)
        parent = forest_of_classes(rng, labels)
        tree = Dendrogram(len(labels), parent)
        triplets = informative_triplets(labels)
        assert len(triplets) == (k - 1) * (len(labels) - k)
        said = Constraints.build(len(labels), triplets=triplets)
        assert tree.satisfies(said).all()
        cut = tree.cut_constrained(said, k)
        assert blocks(cut) == blocks(labels), seed
        finer = tree.cut_constrained(said, k + 1)
        assert refines(finer, cut)
        assert not breaks_a_trio(finer, triplets)
        plain += blocks(tree.cut(n_clusters=k)) == blocks(labels)
    assert plain < examples(60, 2000) / 2


def test_classes_of_one_sample_are_found_too():
    """No triplet says that two lone samples are apart, but every triplet says who is not to be split before them."""
    for seed in range(60):
        rng = random.Random(seed)
        labels = [0, 0, 0, 0, 1, 2, 3]
        rng.shuffle(labels)
        tree = Dendrogram(7, forest_of_classes(rng, labels))
        said = Constraints.build(7, triplets=informative_triplets(labels))
        assert blocks(tree.cut_constrained(said, 4)) == blocks(labels), seed


def test_constraints_about_other_samples_are_refused():
    with pytest.raises(LinkwiseError, match=r"cut_constrained: .* but the tree has 2"):
        Dendrogram(2, [2, 2, -1]).cut_constrained(Constraints.build(3), 2)
