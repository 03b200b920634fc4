"""The cut that sets small branches aside and places them where nothing breaks."""

from __future__ import annotations

import random
import warnings

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.result._cuts import split_tree, urgency
from tests.oracles.trees import blocks, breaks_a_trio, random_forest, refines, samples_below
from tests.profile import examples

# Two clusters {0,1,2} and {3,4,5}; the lone samples 6 and 7 join only at the top.
TREE = Dendrogram.from_newick("((((0:1,1:1):1,2:2):2,((3:1,4:1):1,5:2):2):4,(6:5,7:5):3);")


def test_lone_samples_do_not_use_up_clusters():
    assert TREE.cut(n_clusters=2).tolist() == [0, 0, 0, 0, 0, 0, 1, 1]
    found = TREE.cut_outliers(2, min_size=3)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1, 0, 0]
    assert (found.n_clusters, found.apart, found.min_size_used) == (2, (), 3)


def test_one_cluster_needs_no_cutting():
    assert TREE.cut_outliers(1, min_size=3).labels.tolist() == [0] * 8


def test_nearest_by_centroid():
    X = np.array([[0.0], [0], [0], [9], [9], [9], [8], [8]])
    assert TREE.cut_outliers(2, min_size=3, X=X).labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]


def test_a_triplet_turns_a_branch_away_from_the_nearest_cluster():
    X = np.array([[0.0], [0], [0], [9], [9], [9], [8], [8]])
    said = Constraints.build(8, triplets=[(0, 6, 3)])  # the tree breaks it, the cut need not
    assert TREE.cut_outliers(2, min_size=3, X=X, constraints=said).labels[6] == 0
    said = Constraints.build(8, triplets=[(6, 7, 4)])  # 6 and 7 come as one branch: joining 4's cluster is fine
    assert TREE.cut_outliers(2, min_size=3, X=X, constraints=said).labels[6] == 1
    tree = Dendrogram.from_newick("((((0:1,1:1):1,2:2):2,((3:1,4:1):1,5:2):2):4,6:8);")
    said = Constraints.build(7, triplets=[(0, 3, 6)])
    assert tree.satisfies(said).all()
    found = tree.cut_outliers(2, min_size=3, constraints=said)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert found.apart == (6,)
    assert found.n_clusters == 3


def test_pairs_turn_a_branch_away_or_call_it():
    apart = Constraints.build(8, cannot_link=[(0, 6)])
    assert TREE.cut_outliers(2, min_size=3, constraints=apart).labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    called = Constraints.build(8, must_link=[(7, 5)])
    assert TREE.cut_outliers(2, min_size=3, constraints=called).labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    torn = Constraints.build(8, must_link=[(7, 5), (6, 0)])
    found = TREE.cut_outliers(2, min_size=3, constraints=torn)
    assert found.apart == (int(TREE.lca(6, 7)),)


def test_branches_that_belong_together_find_one_place():
    """6 alone would go to the first cluster, which 7 may not join; must-linked, both go to the second."""
    tree = Dendrogram.from_newick("(((((0:1,1:1):1,2:2):2,((3:1,4:1):1,5:2):2):1,6:5):1,7:6);")
    apart = Constraints.build(8, cannot_link=[(0, 7)])
    assert tree.cut_outliers(2, min_size=3, constraints=apart).labels.tolist() == [0, 0, 0, 1, 1, 1, 0, 1]
    together = apart | Constraints.build(8, must_link=[(6, 7)])
    assert tree.cut_outliers(2, min_size=3, constraints=together).labels.tolist() == [0, 0, 0, 1, 1, 1, 1, 1]
    nowhere = together | Constraints.build(8, cannot_link=[(5, 6)])
    found = tree.cut_outliers(2, min_size=3, constraints=nowhere)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
    assert (found.n_clusters, found.apart) == (3, (6, 7))


def test_branches_whose_union_would_break_something_are_not_united():
    tree = Dendrogram.from_newick("(((((0:1,1:1):1,2:2):2,((3:1,4:1):1,5:2):2):1,6:5):1,7:6);")
    clash = Constraints.build(8, must_link=[(6, 7)], cannot_link=[(6, 7)])
    found = tree.cut_outliers(2, min_size=3, constraints=clash)
    assert found.labels[6] != found.labels[7]
    trio = Constraints.build(8, must_link=[(6, 7)], triplets=[(3, 6, 7)], cannot_link=[(3, 6), (3, 7), (0, 6), (0, 7)])
    assert tree.cut_outliers(2, min_size=3, constraints=trio).labels.tolist() == [0, 0, 0, 1, 1, 1, 2, 3]


def test_a_branch_waits_for_the_one_that_completes_its_trio():
    """7 may join 3's cluster only with 8 there: 7 is tried first, turned away, and placed after 8 has moved."""
    tree = Dendrogram.from_newick("((((((0:1,1:1):1,2:2):2,((3:1,4:1):1,5:2):2):1,6:5):1,7:6):1,8:7);")
    said = Constraints.build(9, triplets=[(3, 7, 8)], must_link=[(7, 3)])
    assert tree.satisfies(said).tolist() == [True, True]
    found = tree.cut_outliers(2, min_size=3, constraints=said)
    assert found.labels[7] == found.labels[3]
    assert not breaks_a_trio(found.labels, [(3, 7, 8)])


def test_too_large_a_threshold_is_lowered_with_a_warning():
    with pytest.warns(LinkwiseWarning, match="min_size=4 was lowered to 3"):
        found = TREE.cut_outliers(2, min_size=4)
    assert found.min_size_used == 3
    with pytest.warns(LinkwiseWarning, match="lowered to 1"):
        found = TREE.cut_outliers(8, min_size=100)
    assert found.labels.tolist() == list(range(8))


def test_small_trees_of_a_forest_are_outliers():
    forest = Dendrogram(7, [7, 7, 7, 8, 8, 8, -1, -1, -1])
    found = forest.cut_outliers(2, min_size=2)
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1, 2]  # no common node, hence no nearest cluster
    assert found.apart == (6,)
    X = np.array([[0.0], [0], [0], [5], [5], [5], [4]])
    assert forest.cut_outliers(2, min_size=2, X=X).labels.tolist() == [0, 0, 0, 1, 1, 1, 1]
    with pytest.raises(LinkwiseError, match="2 roots have 2 samples or more"):
        forest.cut_outliers(1, min_size=2)


def test_a_many_way_node_is_split_as_far_as_needed():
    fan = Dendrogram(7, [7, 7, 8, 8, 9, 9, 10, 10, 10, 10, -1])
    assert fan.cut_outliers(2, min_size=2).labels.tolist() == [0, 0, 0, 0, 1, 1, 0]
    assert fan.cut_outliers(3, min_size=2).labels.tolist() == [0, 0, 1, 1, 2, 2, 0]


@pytest.mark.parametrize("min_size", [0, -1, 1.5, True, "2"])
def test_sizes_that_make_no_sense_are_refused(min_size):
    with pytest.raises(LinkwiseError, match="min_size"):
        TREE.cut_outliers(2, min_size=min_size)


def test_other_arguments_that_make_no_sense_are_refused():
    with pytest.raises(LinkwiseError, match="n_clusters"):
        TREE.cut_outliers(9, min_size=1)
    with pytest.raises(LinkwiseError, match="X has shape"):
        TREE.cut_outliers(2, min_size=1, X=np.zeros((3, 2)))
    with pytest.raises(LinkwiseError, match="NaN"):
        TREE.cut_outliers(2, min_size=1, X=np.full((8, 1), np.nan))
    with pytest.raises(LinkwiseError, match="are about 3"):
        TREE.cut_outliers(2, min_size=1, constraints=Constraints.build(3))


def broken(labels, trios, apart):
    return set(breaks_a_trio(labels, trios)) | {(i, j) for i, j in apart if labels[i] == labels[j]}


def test_random_trees_break_nothing_and_leave_no_branch_apart_without_need():
    turned_away = 0
    for seed in range(examples(400, 5000)):
        rng = random.Random(seed)
        n = rng.randint(6, 14)
        parent = random_forest(rng, n, widest=rng.choice([2, 2, 4]))
        tree = Dendrogram(n, parent)
        trios = [tuple(rng.sample(range(n), 3)) for _ in range(rng.randint(1, 12))]
        apart = [tuple(rng.sample(range(n), 2)) for _ in range(rng.randint(0, 9))]
        together = [tuple(rng.sample(range(n), 2)) for _ in range(rng.choice([0, 0, 1, 2]))]
        said = Constraints.build(n, triplets=trios, cannot_link=apart, must_link=together)
        X = None if rng.random() < 0.5 else np.array([[rng.random()] for _ in range(n)])
        k, size = rng.randint(1, 4), rng.randint(2, 4)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkwiseWarning)
            found = tree.cut_outliers(k, min_size=size, constraints=said, X=X)
        before = split_tree(tree, k, found.min_size_used, urgency(tree, said)).holder.tolist()
        assert broken(found.labels, trios, apart) <= broken(before, trios, apart), seed
        assert refines(before, found.labels.tolist())
        below = samples_below(n, parent)
        clusters = [group for group in blocks(found.labels.tolist()) if not any(below[v] <= group for v in found.apart)]
        assert len(clusters) == k
        for node in found.apart:
            own = found.labels[min(below[node])]
            group = {s for s in range(n) if found.labels[s] == own}
            called = {found.labels[j] for i, j in [*together, *((j, i) for i, j in together)] if i in group} - {own}
            for cluster in clusters:
                target = found.labels[min(cluster)]
                moved = [target if s in group else label for s, label in enumerate(found.labels)]
                new = broken(moved, trios, apart) - broken(found.labels, trios, apart)
                assert new or (called and called != {target}), (seed, node)
        turned_away += len(found.apart)
    assert turned_away > 20
