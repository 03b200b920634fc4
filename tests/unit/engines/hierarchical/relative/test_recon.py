"""ReCon: the merges of the paper's algorithm, whatever the linkage, the size or the memory it starts with."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import is_valid_linkage, linkage
from scipy.spatial.distance import pdist, squareform

from linkwise import Constraints, ReCon, verify
from linkwise.engines.hierarchical.relative import _estimator, _run
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem.triplets import _kernels_incremental
from tests.oracles import generators, relative
from tests.posing import posed
from tests.profile import examples

pytestmark = pytest.mark.kernels

SLOW = numba.config.DISABLE_JIT
METHODS = ("single", "complete", "average", "weighted", "ward", "centroid", "median")


def recon(X, constraints, **options):
    """The tree of ReCon before it is cut."""
    return posed(_estimator.recon)(X, constraints, **options)[0]


def merges_of(tree):
    """The merges of a tree in their order, each as the sorted numbers of the two nodes."""
    children = [[] for _ in range(tree.n_nodes)]
    for node, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            children[above].append(node)
    return children[tree.n_samples :], tree.raw_height[tree.n_samples :].tolist()


def said(n, triplets):
    return Constraints.build(n, triplets=triplets)


def assert_same_merges(tree, D, triplets, method, note):
    pairs, heights = relative.recon(D, triplets, method)
    found, found_heights = merges_of(tree)
    assert found == pairs, note
    scale = float(np.max(D, initial=0.0))
    assert_allclose(found_heights, heights, rtol=1e-7, atol=1e-7 * scale, err_msg=note)


# -- the definition ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_vectors_merge_as_in_the_literal_algorithm(method):
    for seed in range(examples(4 if SLOW else 84, 2500)):
        X, triplets = generators.relative_instance(seed)
        tree = recon(X, said(len(X), triplets), method=method)
        assert_same_merges(tree, squareform(pdist(X)), triplets, method, f"seed {seed}")


@pytest.mark.parametrize("method", [m for m in METHODS if m != "ward"])
def test_distances_that_want_the_opposite_merge_as_in_the_literal_algorithm(method):
    for seed in range(examples(3 if SLOW else 34, 2000)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 15))
        triplets = generators.consistent_triplets(rng, n)
        D = generators.quarrelling_distances(rng, n, triplets)
        tree = recon(D, said(n, triplets), method=method, metric="precomputed")
        pairs, heights = relative.recon(D, triplets, method)
        found, found_heights = merges_of(tree)
        assert found == pairs, f"seed {seed}"
        assert_allclose(found_heights, heights, rtol=1e-7, atol=1e-7, err_msg=f"seed {seed}")


@pytest.mark.parametrize("kind", ["grid", "copies"])
@pytest.mark.parametrize("method", METHODS)
def test_with_ties_every_merge_is_a_compatible_one_at_the_least_distance(method, kind):
    for seed in range(examples(2 if SLOW else 10, 500)):
        X, triplets = generators.relative_instance(seed, 2, 12, kind=kind)
        tree = recon(X, said(len(X), triplets), method=method)
        assert relative.faults(*merges_of(tree), squareform(pdist(X)), triplets, method) == [], f"seed {seed}"


def test_the_replay_notices_wrong_merges():
    D = squareform(pdist(np.array([[0.0], [1], [2.5], [7]])))
    triplets = [(0, 2, 1)]
    pairs, heights = relative.recon(D, triplets, "average")
    assert relative.faults(pairs, heights, D, triplets, "average") == []
    assert relative.faults([[0, 1], [2, 4], [3, 5]], [1, 2, 6], D, triplets, "average")[0].endswith("incompatible")
    assert "a compatible pair was at" in relative.faults([[2, 3], *pairs[1:]], heights, D, triplets, "average")[0]
    assert "reported" in relative.faults(pairs, [h + 1e-3 for h in heights], D, triplets, "average")[0]


# -- sizes at which certificates fill, are dropped and reused, and slots move ---------------------------------------


def certificates(make, words):
    """Start with room for 64 certificates per word."""

    def resized(*args, **kwargs):
        state, factor = make(*args, **kwargs)
        state.count[_run.search.N_FREE] = 64 * words
        return (
            state._replace(
                mask=np.zeros((2, state.mask.shape[1], words), np.uint64),
                live=np.zeros(words, np.uint64),
                left=np.zeros(64 * words, np.int64),
                free=np.arange(64 * words),
            ),
            factor,
        )

    return resized


def little_room(make):
    """Start with hardly any room for levels, waiting lists and the log."""

    def small(n_items, capacity):
        layers = make(n_items, capacity)
        return layers._replace(
            pool=layers.pool[:4].copy(),
            parent=layers.parent[:4].copy(),
            circle=layers.circle[:4].copy(),
            entry=layers.entry[:2].copy(),
            log=layers.log[:18].copy(),
        )

    return small


@pytest.fixture
def cramped(monkeypatch):
    monkeypatch.setattr(_estimator, "make_state", certificates(_run.make_state, 1))
    monkeypatch.setattr(_kernels_incremental, "make_layers", little_room(_kernels_incremental.make_layers))


@pytest.mark.parametrize("method", ["centroid", "average", "ward", "single"])
@pytest.mark.parametrize("source", ["random", "caterpillar", "classes"])
def test_larger_instances_merge_as_in_the_literal_algorithm(method, source, cramped):
    for seed in range(examples(1 if SLOW else 2, 20)):
        size = (16, 18) if SLOW else (40, 60)
        X, triplets = generators.relative_instance(seed, *size, source=source)
        tree = recon(X, said(len(X), triplets), method=method)
        assert_same_merges(tree, squareform(pdist(X)), triplets, method, f"seed {seed}")


@pytest.mark.parametrize("method", ["average", "complete", "median"])
def test_more_refutations_than_there_is_room_for_change_no_merge(method, cramped, monkeypatch):
    asked = []
    more = _run.more_certificates
    monkeypatch.setattr(_run, "more_certificates", lambda state: asked.append(1) or more(state))
    for seed in range(examples(1, 10)):
        rng = np.random.default_rng(seed)
        n = 14 if SLOW else 70
        triplets = generators.tree_triplets(rng, generators.random_tree(rng, n, "caterpillar"), 2 * n)
        D = generators.quarrelling_distances(rng, n, triplets)
        tree = recon(D, said(n, triplets), method=method, metric="precomputed")
        assert_same_merges(tree, D, triplets, method, f"seed {seed}")
    assert asked or SLOW  # the case is hard enough to need more


@pytest.mark.parametrize("shape", generators.SHAPES)
def test_using_the_numbers_of_dropped_refutations_again_changes_no_merge(shape, monkeypatch):
    make, more = _run.make_state, _run.more_certificates

    def only_if_none_is_left(state):
        return state if state.count[_run.search.N_FREE] else more(state)

    for seed in range(examples(1 if SLOW else 4, 20)):
        rng = np.random.default_rng(seed)
        n = 30 if SLOW else 260
        triplets = generators.tree_triplets(rng, generators.random_tree(rng, n, shape), 2 * n)
        X = rng.normal(size=(n, 2))
        D = generators.quarrelling_distances(rng, n, triplets)
        found = []
        for words in (1, 64):
            monkeypatch.setattr(_estimator, "make_state", certificates(make, words))
            monkeypatch.setattr(_run, "more_certificates", only_if_none_is_left if words == 1 else more)
            found.append(
                (
                    merges_of(recon(X, said(n, triplets))),
                    merges_of(recon(D, said(n, triplets), method="average", metric="precomputed")),
                )
            )
        assert found[0] == found[1], f"seed {seed}"


# -- special inputs ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_without_statements_it_is_the_ordinary_method(method):
    for seed in range(2 if SLOW else 8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(int(rng.integers(2, 20 if SLOW else 80)), int(rng.integers(1, 6))))
        Z = linkage(X, method)
        tree = recon(X, said(len(X), []), method=method)
        assert_array_equal(merges_of(tree)[0], np.sort(Z[:, :2], axis=1), err_msg=f"seed {seed}")
        assert_allclose(merges_of(tree)[1], Z[:, 2], rtol=1e-9, err_msg=f"seed {seed}")


@pytest.mark.parametrize("method", METHODS)
def test_one_two_and_three_samples(method):
    assert recon(np.zeros((1, 2)), said(1, []), method=method).parent.tolist() == [-1]
    assert recon(np.array([[0.0], [3.0]]), said(2, []), method=method).raw_height.tolist() == [0, 0, 3]
    X = np.array([[0.0], [1.0], [5.0]])
    for trio in [(0, 1, 2), (0, 2, 1), (1, 2, 0)]:
        tree = recon(X, said(3, [trio]), method=method)
        assert tree.parent.tolist() == [3 if x in trio[:2] else 4 for x in range(3)] + [4, -1]


@pytest.mark.parametrize("method", METHODS)
def test_samples_that_are_all_equal(method):
    triplets = [(0, 5, 1), (5, 3, 2), (1, 2, 4)]
    tree = recon(np.ones((6, 2)), said(6, triplets), method=method)
    assert tree.satisfies(said(6, triplets)).all()
    assert (tree.raw_height == 0).all()


def test_heights_rise_although_merge_distances_do_not():
    falling = 0
    for seed in range(20):
        X, triplets = generators.relative_instance(seed, 8, 14, source="random")
        tree = recon(X, said(len(X), triplets), method=METHODS[seed % 7])
        Z = tree.to_linkage()
        assert is_valid_linkage(Z)
        assert (tree.height[tree.parent[:-1]] >= tree.height[:-1]).all()
        falling += (tree.raw_height[tree.parent[:-1]] < tree.raw_height[:-1]).any()
    assert falling > 10


def test_scale_and_place_of_the_data_do_not_matter():
    X, triplets = generators.relative_instance(4, 12, 12, source="balanced")
    X = (X - X.mean(0)) / X.std()
    before = merges_of(recon(X, said(12, triplets)))
    for factor in (1e-150, 1e-3, 1e150):
        pairs, heights = merges_of(recon(X * factor, said(12, triplets)))
        assert pairs == before[0]
        assert_allclose(heights, np.array(before[1]) * factor, rtol=1e-9)
    assert merges_of(recon(X + 100.0, said(12, triplets)))[0] == before[0]


def test_the_input_is_left_alone_and_may_lie_in_memory_as_it_likes():
    X, triplets = generators.relative_instance(4, 12, 12, source="balanced")
    D = squareform(pdist(X))
    kept, kept_d = X.copy(), D.copy()
    X.flags.writeable = D.flags.writeable = False
    expected = merges_of(recon(X, said(12, triplets), method="average"))
    assert merges_of(recon(np.asfortranarray(X), said(12, triplets), method="average")) == expected
    found = merges_of(recon(D, said(12, triplets), method="average", metric="precomputed"))
    assert found[0] == expected[0]
    assert_array_equal(X, kept)
    assert_array_equal(D, kept_d)


# -- refusals ------------------------------------------------------------------------------------------------------


def test_a_contradiction_is_answered_with_a_minimal_core():
    cores = 0
    for seed in range(examples(5 if SLOW else 20, 1000)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 12))
        triplets, wrong = generators.flipped_triplets(rng, n)
        constraints = said(n, triplets)
        X = rng.normal(size=(n, 2))
        if relative.consistent(triplets, n):
            assert verify(recon(X, constraints), constraints).ok, f"seed {seed}"
            continue
        with pytest.raises(InfeasibleConstraintsError) as raised:
            recon(X, constraints)
        core = raised.value.explanation.core
        assert set(core) & set(wrong), f"seed {seed}"
        rows = [triplets[t] for t in core]
        assert not relative.consistent(rows, n), f"seed {seed}"
        for t in range(len(rows)):
            assert relative.consistent(rows[:t] + rows[t + 1 :], n), f"seed {seed}"
        cores += 1
    assert cores > 1


def test_unknown_linkages_and_metrics_that_do_not_fit_are_refused():
    X = np.arange(6.0).reshape(3, 2)
    with pytest.raises(ValueError, match="'linkage' parameter of ReCon must be"):
        ReCon(linkage="centriod").fit(X)
    with pytest.raises(LinkwiseError, match="Euclidean"):
        ReCon(linkage="ward", metric="cityblock").fit(X)


# -- the estimator -------------------------------------------------------------------------------------------------


def test_all_classes_come_back_from_pure_noise():
    recovered_by_merges = 0
    rounds = examples(3 if SLOW else 14, 500)
    for seed in range(rounds):
        rng = np.random.default_rng(seed)
        k = int(rng.integers(2, 5))
        y = rng.permutation(
            np.concatenate([np.repeat(np.arange(k), 2), rng.integers(k, size=int(rng.integers(0, 15)))])
        )
        X = rng.normal(size=(len(y), 3))
        constraints = said(len(y), generators.informative_triplets(y))
        model = ReCon(n_clusters=k, linkage=METHODS[seed % 7]).fit(X, constraints=constraints)
        assert_array_equal(model.labels_[:, None] == model.labels_, y[:, None] == y, err_msg=f"seed {seed}")
        model.set_params(cut="merges").fit(X, constraints=constraints)
        recovered_by_merges += ((model.labels_[:, None] == model.labels_) == (y[:, None] == y)).all()
    assert recovered_by_merges < rounds  # it is the cut that does it


def test_the_estimator_builds_the_tree_of_the_engine():
    X, triplets = generators.relative_instance(11, 14, 14, source="balanced")
    constraints = said(14, triplets)
    model = ReCon(n_clusters=3, linkage="average").fit(X, constraints=constraints)
    assert merges_of(model.dendrogram_) == merges_of(recon(X, constraints, method="average"))
    assert model.n_clusters_ == 3
    assert_array_equal(np.unique(model.labels_), [0, 1, 2])
    assert model.certificate_.ok
    by_distances = ReCon(n_clusters=3, linkage="average", metric="precomputed")
    assert_array_equal(by_distances.fit(squareform(pdist(X)), constraints=constraints).labels_, model.labels_)


def test_choices_become_links():
    said = Constraints.build(3, must_link_any=[(0, 1, 2)])
    assert ReCon().fit(np.arange(6.0).reshape(3, 2), constraints=said).labels_.tolist() == [0, 0, 1]
