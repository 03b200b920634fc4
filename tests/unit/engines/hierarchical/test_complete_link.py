"""Complete link in propagated distances: the merges of the definition, links that hold, dead ends that are told."""

from __future__ import annotations

import warnings
from itertools import combinations, permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage as scipy_linkage
from scipy.spatial.distance import cdist

from linkwise import ConstrainedAgglomerative, ConstrainedCompleteLink, Constraints, check, verify
from linkwise.constraints import MaxCentroidDistance
from linkwise.engines import agglomerate, propagate
from linkwise.exceptions import (
    DeadEndError,
    InfeasibleConstraintsError,
    LinkwiseError,
    LinkwiseWarning,
    UnsupportedConstraintError,
)
from tests.oracles.agglomeration import faults
from tests.oracles.complete_link import complete_link, components, constrain_proximities, propagate_must_links, sentinel
from tests.oracles.generators import points
from tests.oracles.trees import clades
from tests.profile import examples
from tests.unit.engines.distances.test_propagate import random_links, strange_distances

pytestmark = pytest.mark.kernels
LINKAGES = ("single", "complete", "average", "weighted")


def propagated_linkage(X, known, *, method="complete", **options):
    """The forest that merging ends with."""
    return ConstrainedCompleteLink(None, linkage=method, **options).fit(X, constraints=known).dendrogram_


def merges_of(tree):
    """The two children of each inner node, and its height."""
    inner = range(tree.n_samples, tree.n_nodes)
    pairs = np.array([tree.children(v) for v in inner], int).reshape(-1, 2)
    return pairs, tree.raw_height[tree.n_samples :]


def instance(seed, *, strange=False, kind=None):
    rng = np.random.default_rng(seed)
    n = seed % 3 + 1 if seed < 6 else int(rng.integers(2, 13))
    must, cannot = random_links(rng, n)
    known = Constraints.build(n, must_link=must, cannot_link=cannot)
    if strange:
        return strange_distances(rng, n), must, cannot, known
    kind = str(rng.choice(["distinct", "grid", "copies"])) if kind is None else kind
    return points(rng, n, kind), must, cannot, known


# -- the definition -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", LINKAGES)
def test_every_merge_joins_a_closest_legal_pair_ties_and_copies_included(method):
    for seed in range(examples(25, 300)):
        X, must, cannot, known = instance(seed)
        D = propagate_must_links(cdist(X, X), must, full=False)
        tree = propagated_linkage(X, known, method=method)
        pairs, heights = merges_of(tree)
        forced = components(len(X), must)
        assert faults(pairs, heights, method=method, D=D, forced=forced, forbidden=cannot, tolerance=1e-7) == []


def test_distances_without_triangles_are_shortened_through_all_samples():
    for seed in range(examples(30, 300)):
        D, must, cannot, known = instance(seed, strange=True)
        full = propagate_must_links(D, must, full=True)
        pairs, heights = merges_of(propagated_linkage(D, known, metric="precomputed"))
        forced = components(len(D), must)
        assert faults(pairs, heights, method="complete", D=full, forced=forced, forbidden=cannot) == []


def test_merging_stops_where_the_paper_first_merges_above_all_distances():
    stopped = 0
    for seed in range(examples(40, 500)):
        X, must, cannot, known = instance(seed, kind="distinct")
        D = cdist(X, X)
        whole = complete_link(constrain_proximities(D, must, cannot, full=False), must)
        largest = propagate_must_links(D, must, full=False).max()
        below = [(a | b, height) for a, b, height in whole if height <= largest * (1 + 1e-9)]
        tree = propagated_linkage(X, known)
        assert tree.n_roots == len(X) - len(below)
        stopped += tree.n_roots > 1
        # a component may be put together in any order; all its clusters have height 0
        inner = {group for group in clades(tree.n_samples, tree.parent.tolist()) if len(group) > 1}
        label = components(len(X), must)
        expected = {group for group, height in below}

        def partial(group, label=label):
            return len({label[i] for i in group}) == 1 and sum(c == label[min(group)] for c in label) > len(group)

        assert {g for g in inner if not partial(g)} == {g for g in expected if not partial(g)}
        assert_allclose(np.sort(tree.raw_height[len(X) :]), sorted(h for _, h in below), rtol=1e-7, atol=1e-12)
        # and whatever lies below respects every cannot-link
        assert not any({a, b} <= group for group in expected for a, b in cannot)
    assert stopped > 5


def test_the_order_of_merges_does_not_depend_on_how_far_cannot_links_are_put():
    for seed in range(examples(10, 200)):
        X, must, cannot, _ = instance(seed, kind="distinct")
        D = constrain_proximities(cdist(X, X), must, cannot, full=False)
        near = propagate_must_links(cdist(X, X), must, full=False)
        far = sentinel(near)
        farther = np.where(far == D, 1e6 * far, D)
        limit = near.max() * (1 + 1e-9)
        one, other = ([m for m in complete_link(M, must) if m[2] <= limit] for M in (D, farther))
        assert one == other


def test_nothing_said_is_plain_complete_link():
    X = np.random.default_rng(0).normal(size=(60, 3))
    tree = propagated_linkage(X, Constraints.build(60))
    assert_allclose(tree.raw_height[60:], scipy_linkage(X, "complete")[:, 2], rtol=1e-9)
    assert_array_equal(tree.parent, agglomerate(X, method="complete").parent)
    D = strange_distances(np.random.default_rng(0), 30)
    assert_array_equal(
        propagated_linkage(D, Constraints.build(30), metric="precomputed").parent,
        agglomerate(D, method="complete", metric="precomputed").parent,
    )


def test_complete_link_under_a_rule_that_forbids_nothing_is_plain_complete_link():
    X = np.random.default_rng(0).normal(size=(12, 2))
    rule = Constraints.build(12, rules=MaxCentroidDistance(1e6))
    tree = ConstrainedAgglomerative(None, linkage="complete").fit(X, constraints=rule).dendrogram_
    assert_allclose(tree.raw_height[12:], scipy_linkage(X, "complete")[:, 2], rtol=1e-9)


def test_scaling_scales_the_heights_and_keeps_the_tree():
    for seed in range(examples(8, 80)):
        X, _, _, known = instance(seed + 10, kind="distinct")
        a, b = propagated_linkage(X, known), propagated_linkage(8 * X, known)
        assert_array_equal(a.parent, b.parent)
        assert_allclose(8 * a.raw_height, b.raw_height, rtol=1e-12)


def test_must_links_hold_for_every_order_of_rows_also_among_copies():
    X, must, cannot = np.array([[0.0], [5.0], [0.0], [9.0]]), (0, 1), (2, 1)
    for order in permutations(range(4)):
        place = np.argsort(order)
        known = Constraints.build(4, must_link=[place[list(must)]], cannot_link=[place[list(cannot)]])
        model = ConstrainedCompleteLink(n_clusters=2).fit(X[list(order)], constraints=known)
        labels = model.labels_[place]
        assert labels[0] == labels[1] != labels[2]
        assert model.certificate_.ok


# -- the estimator --------------------------------------------------------------------------------------------------


def test_hard_statements_hold_in_labels_for_every_linkage_and_every_reachable_number_of_clusters():
    for seed in range(examples(10, 100)):
        X, must, cannot, known = instance(seed + 6, kind="distinct")
        for linkage in (*LINKAGES, "ward", "centroid", "median"):
            model = ConstrainedCompleteLink(None, linkage=linkage).fit(X, constraints=known)
            assert model.k_min_ == model.n_clusters_ == model.dendrogram_.n_roots
            for k in range(model.k_min_, len(set(components(len(X), must))) + 1):
                labels = ConstrainedCompleteLink(k, linkage=linkage).fit(X, constraints=known).labels_
                assert labels.max() + 1 == k
                assert all(labels[a] == labels[b] for a, b in must)
                assert all(labels[a] != labels[b] for a, b in cannot)


def test_a_dead_end_is_told():
    D = np.full((4, 4), 5.0)
    D[2, 3] = D[3, 2] = 1.0
    np.fill_diagonal(D, 0.0)
    known = Constraints.build(4, cannot_link=[(0, 1), (0, 2), (1, 3)])
    with pytest.raises(DeadEndError, match="no legal merge was left at 3 clusters") as end:
        ConstrainedCompleteLink(2, metric="precomputed", dead_end="raise").fit(D, constraints=known)
    assert end.value.k_min == end.value.dendrogram.n_roots == 3
    model = ConstrainedCompleteLink(None, metric="precomputed").fit(D, constraints=known)
    assert model.k_min_ == 3
    assert verify(model.labels_, known).ok


@pytest.mark.parametrize("linkage", LINKAGES)
def test_a_dead_end_is_left_by_propagated_distances(linkage):
    ends = 0
    for seed in range(examples(15, 500)):
        rng = np.random.default_rng(seed)
        y = rng.integers(3, size=30)
        X = rng.normal(size=(30, 2)) + y[:, None]
        pairs = rng.integers(30, size=(60, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]]
        same = y[pairs[:, 0]] == y[pairs[:, 1]]
        known = Constraints.build(30, must_link=pairs[same][:6], cannot_link=pairs[~same])
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            model = ConstrainedCompleteLink(3, linkage=linkage).fit(X, constraints=known)
        ends += model.dead_end_ is not None
        assert (model.dead_end_ is not None) == any("dead end" in str(one.message) for one in heard)
        assert model.n_clusters_ == 3
        assert verify(model.labels_, known).ok
        assert verify(model.dendrogram_, known).ok
    assert ends > 3


def test_links_bring_their_surroundings_with_them():
    X = np.array([[0.0], [1.0], [4.0], [9.0], [10.0]])
    known = Constraints.build(5, must_link=[(0, 4)])
    assert ConstrainedCompleteLink(2).fit(X, constraints=known).labels_.tolist() == [0, 0, 1, 0, 0]
    alone = ConstrainedAgglomerative(2, linkage="complete").fit(X, constraints=known).labels_
    assert not alone[0] == alone[1] == alone[3] == alone[4]


def test_the_parameter_about_triangles_matters_for_distances_brought_along():
    D = strange_distances(np.random.default_rng(0), 12)
    known = Constraints.build(12, must_link=[(0, 1), (4, 7)])
    trees = [propagated_linkage(D, known, metric="precomputed", metric_input=told) for told in (None, False, True)]
    assert trees[0] == trees[1]
    assert not np.allclose(np.sort(trees[0].raw_height), np.sort(trees[2].raw_height))
    model = ConstrainedCompleteLink(None, metric="precomputed", metric_input=True).fit(D, constraints=known)
    assert_allclose(model.dendrogram_.raw_height, trees[2].raw_height)


def test_a_threshold_cuts_in_propagated_distances():
    X = np.array([[0.0], [1.0], [4.0], [9.0], [10.0]])
    known = Constraints.build(5, must_link=[(0, 4)])
    labels = ConstrainedCompleteLink(None, distance_threshold=2.5).fit(X, constraints=known).labels_
    assert labels.tolist() == [0, 0, 1, 0, 0]
    D = propagate(X, known)
    assert max(D[i, j] for i, j in combinations((0, 1, 3, 4), 2)) <= 2.5


def test_single_precision_and_double_agree():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    y = rng.integers(3, size=80)
    known = Constraints.from_labels(np.where(rng.random(80) < 0.4, y, -1))
    a, b = (ConstrainedCompleteLink(None, dtype=dtype).fit(X, constraints=known) for dtype in ("float32", "float64"))
    assert_allclose(np.sort(a.distances_), np.sort(b.distances_), rtol=1e-4, atol=1e-6)


def test_what_cannot_be_is_said():
    X = np.zeros((3, 1))
    with pytest.raises(InfeasibleConstraintsError):
        propagated_linkage(X, Constraints.build(3, must_link=[(0, 1)], cannot_link=[(0, 1)]))
    with pytest.raises(UnsupportedConstraintError, match="ConstrainedCompleteLink does not understand triplets"):
        propagated_linkage(X, Constraints.build(3, triplets=[(0, 1, 2)]))
    with pytest.raises(LinkwiseError, match='ConstrainedCompleteLink: method="ward"'):
        propagated_linkage(X, Constraints.build(3), method="ward", metric="cosine")


# -- merging on across cannot-links ---------------------------------------------------------------------------------


def test_merging_on_is_complete_link_of_the_constrained_matrix_to_the_root():
    crossed = broke = 0
    for seed in range(examples(200, 500)):
        X, must, cannot, known = instance(seed)
        n = len(X)
        D = constrain_proximities(cdist(X, X), must, cannot, full=False)
        forced = components(n, must)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkwiseWarning)
            model = ConstrainedCompleteLink(None, dead_end="merge_on").fit(X, constraints=known)
        pairs, heights = merges_of(model.dendrogram_)
        assert faults(pairs, heights, method="complete", D=D, forced=forced, tolerance=1e-7) == []
        # up to the level that is reported nothing is broken, and the next merge breaks a cannot-link
        level = model.dead_end_ or 1
        assert model.certificate_.ok
        assert model.n_clusters_ == level
        if level > 1:
            crossed += 1
            labels = model.dendrogram_.cut(n_clusters=level - 1)
            assert not verify(labels, known).ok
            for k in range(1, level):
                if check(known, n_clusters=k).status != "feasible":
                    continue
                with pytest.warns(LinkwiseWarning, match=r"merge_on\" promises nothing and broke (.|\n)*regroup"):
                    below = ConstrainedCompleteLink(k, dead_end="merge_on").fit(X, constraints=known)
                assert below.certificate_.violated
                assert below.n_clusters_ == k
                broke += 1
                break
    assert crossed > 20
    assert broke > 0


def test_merging_on_raises_where_no_clustering_exists_and_tells_what_it_broke():
    triangle = Constraints.build(4, cannot_link=[(0, 1), (1, 2), (0, 2)])
    X = [[0.0], [1.0], [2.0], [9.0]]
    with pytest.raises(InfeasibleConstraintsError):
        ConstrainedCompleteLink(2, dead_end="merge_on").fit(X, constraints=triangle)
    # {2, 3} is merged first, after which 0, 1 and {2, 3} are pairwise apart although two clusters are possible
    path = Constraints.build(4, cannot_link=[(0, 1), (0, 2), (1, 3)])
    with pytest.warns(LinkwiseWarning, match="broke 1 of 3 statements"):
        model = ConstrainedCompleteLink(2, dead_end="merge_on").fit([[0.0], [9.0], [4.0], [5.0]], constraints=path)
    assert (model.dead_end_, model.n_clusters_, len(model.certificate_.violated)) == (3, 2, 1)
