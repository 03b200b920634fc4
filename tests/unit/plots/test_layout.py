"""Where drawn trees go: the layout must be a tree without crossings, whatever its shape."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from linkwise import Dendrogram
from linkwise.plots._tree_layout import draw_lines, lay_out


@st.composite
def forests(draw):
    """Any forest: each step joins some of the current roots, sometimes more than two; some roots stay."""
    n = draw(st.integers(1, 25))
    parent = [-1] * n
    roots = list(range(n))
    while len(roots) > 1 and draw(st.integers(0, 9)):
        fan = draw(st.integers(2, min(4, len(roots))))
        chosen = draw(st.permutations(roots))[:fan]
        new = len(parent)
        parent.append(-1)
        for node in chosen:
            parent[node] = new
        roots = [node for node in roots if node not in chosen] + [new]
    heights = draw(st.lists(st.floats(0, 10), min_size=len(parent) - n, max_size=len(parent) - n))
    return Dendrogram(n, np.array(parent), np.array([0.0] * n + heights))


def leaves_below(parent, node, n):
    found = []
    for leaf in range(n):
        at = leaf
        while at not in (-1, node):
            at = int(parent[at])
        if at == node:
            found.append(leaf)
    return found


@given(forests())
def test_every_branch_stands_on_neighboring_slots(tree):
    sketch = lay_out(tree)
    assert sorted(sketch.slot.tolist()) == list(range(tree.n_samples))
    for node in range(len(tree.parent)):
        slots = sorted(sketch.slot[leaf] for leaf in leaves_below(tree.parent, node, tree.n_samples))
        assert slots == list(range(sketch.start[node], sketch.start[node] + sketch.width[node]))


@given(forests(), st.randoms(use_true_random=False))
def test_siblings_stand_in_the_order_in_which_their_samples_stood(tree, chance):
    n = tree.n_samples
    before = np.array(chance.sample(range(n), n))
    sketch = lay_out(tree, like=before)
    assert sorted(sketch.slot.tolist()) == list(range(n))
    place = [np.mean([before[leaf] for leaf in leaves_below(tree.parent, v, n)]) for v in range(len(tree.parent))]
    for node in range(-1, len(tree.parent)):
        family = np.flatnonzero(tree.parent == node)
        family = family[np.argsort(sketch.start[family])]
        assert (np.diff([place[child] for child in family]) >= 0).all()
    own = lay_out(tree)
    assert lay_out(tree, like=own.slot).slot.tolist() == own.slot.tolist()


@given(forests())
def test_a_stem_stands_midway_between_its_outer_children(tree):
    sketch = lay_out(tree)
    for node in range(tree.n_samples, len(tree.parent)):
        places = sketch.x[np.flatnonzero(sketch.parent == node)]
        assert sketch.x[node] == pytest.approx((places.min() + places.max()) / 2)


@given(forests(), st.integers(1, 30))
def test_folding_keeps_all_samples_and_the_wanted_number_of_leaves(tree, wanted):
    sketch = lay_out(tree, max_leaves=wanted)
    n_roots = int((np.asarray(tree.parent) < 0).sum())
    assert sketch.n_leaves <= max(wanted, n_roots)
    assert sketch.size[: sketch.n_leaves].sum() == tree.n_samples
    for leaf in range(sketch.n_leaves):
        members = leaves_below(tree.parent, int(sketch.node[leaf]), tree.n_samples)
        assert (sketch.slot[members] == sketch.start[leaf]).all()
    assert (np.diff(np.sort(sketch.start[: sketch.n_leaves])) == 1).all()


@given(forests(), st.data())
def test_a_node_carries_a_label_exactly_when_its_samples_share_it(tree, data):
    labels = np.array(data.draw(st.lists(st.integers(0, 2), min_size=tree.n_samples, max_size=tree.n_samples)))
    sketch = lay_out(tree, labels)
    for node in range(len(tree.parent)):
        below = set(labels[leaves_below(tree.parent, node, tree.n_samples)].tolist())
        assert sketch.cluster[node] == (below.pop() if len(below) == 1 else -1)


def caterpillar(n: int) -> Dendrogram:
    merges = np.column_stack([np.r_[0, n + np.arange(n - 2)], np.arange(1, n)])
    return Dendrogram.from_merges(n, merges, np.arange(1.0, n))


def test_all_lines_of_a_small_tree_are_drawn():
    lines = draw_lines(lay_out(caterpillar(6)))
    assert len(lines.ends) == 5 + 10 + 1  # bars, legs, the root's stem


@pytest.mark.parametrize("shape", ["chain", "balanced"])
def test_a_tree_of_100_000_leaves_is_drawn_with_few_lines(shape):
    n = 100_000
    if shape == "chain":
        tree = caterpillar(n)
    else:
        tree = Dendrogram.from_merges(n, np.arange(2 * n - 2).reshape(-1, 2), np.arange(1.0, n))
    sketch = lay_out(tree)
    lines = draw_lines(sketch, pixels=(1000, 500))
    assert 500 < len(lines.ends) < 10_000
    assert lines.ends[:, :, 0].min() < n / 500  # nothing at either edge is lost
    assert lines.ends[:, :, 0].max() > n - n / 500


def test_the_cut_is_a_line_only_where_one_height_separates_the_clusters():
    tree = Dendrogram.from_merges(4, np.array([[0, 1], [2, 3], [4, 5]]), np.array([1.0, 3.0, 5.0]))
    assert lay_out(tree, [0, 0, 1, 1]).cut_height == 4.0
    assert lay_out(tree, [0, 0, 1, 2]).cut_height == 2.0
    assert lay_out(tree, [0, 1, 2, 2]).cut_height is None  # splits the low merge and keeps the high one
    assert lay_out(tree, [0, 1, 0, 1]).cut_height is None  # clusters that are no branches
    assert lay_out(tree).cut_height is None


def test_infinite_and_equal_heights_can_be_drawn():
    flat = Dendrogram.from_merges(3, np.array([[0, 1], [2, 3]]), np.array([0.0, 0.0]))
    assert lay_out(flat).top == 1.0
    assert np.isfinite(draw_lines(lay_out(flat)).ends).all()


def test_labels_of_another_length_are_refused():
    with pytest.raises(ValueError, match=r"labels has shape \(2,\), expected one label for each of the 5 samples"):
        lay_out(caterpillar(5), [0, 1])
