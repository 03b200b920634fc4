"""ReCon with a smallest size of clusters: exactly as many as asked for, and words for what became of small branches."""

from __future__ import annotations

import re
import warnings

import numba
import numpy as np
import pytest

from linkwise import Constraints, ReCon, check, load, save, verify, why
from linkwise.engines.hierarchical.relative import _estimator
from linkwise.exceptions import DeadEndError, LinkwiseWarning, UnsupportedConstraintError
from tests.oracles import generators, trees
from tests.posing import posed
from tests.profile import examples

pytestmark = pytest.mark.kernels

SLOW = numba.config.DISABLE_JIT
SOURCES = ("classes", "random", "fans")
LINKAGES = ("centroid", "average", "single", "complete", "ward")


def outside(model):
    """Samples outside the largest branch that is all in their cluster, by the definition."""
    labels, tree = model.labels_.tolist(), model.dendrogram_
    branches = trees.samples_below(tree.n_samples, tree.parent.tolist())
    found = set()
    for cluster in trees.blocks(labels):
        inside = [branch for branch in branches if branch <= cluster]
        largest = max(map(len, inside))
        assert [len(branch) for branch in inside].count(largest) == 1
        found |= set(cluster) - max(inside, key=len)
    return found


def fitted(X, constraints, **options):
    """The model, and the warnings it gave."""
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        model = ReCon(**options).fit(X, constraints=constraints)
    assert all(issubclass(one.category, LinkwiseWarning) for one in given)
    return model, [str(one.message) for one in given]


def assert_as_many_as_asked(model, told, k):
    """Exactly k, or a warning that names the number reached."""
    assert model.n_clusters_ == len(set(model.labels_.tolist()))
    named = any(re.search(rf"\b{model.n_clusters_} were made", words) for words in told)
    assert model.n_clusters_ == k or named


def test_any_size_gives_exactly_as_many_clusters_and_keeps_everything():
    moved = apart = lowered = 0
    for seed in range(examples(6 if SLOW else 200, 4000)):
        X, triplets = generators.relative_instance(seed, 6, 24, source=SOURCES[seed % 3])
        n = len(X)
        constraints = Constraints.build(n, triplets=triplets)
        rng = np.random.default_rng(seed)
        k = int(rng.integers(1, min(n, 6) + 1))
        size = ("auto", None, 1, 2, 3, n // 3 + 1, n, 1000)[seed % 8]
        options = {"n_clusters": k, "min_cluster_size": size, "linkage": LINKAGES[seed % 5]}
        model, told = fitted(X, constraints, **options)
        assert_as_many_as_asked(model, told, k)
        assert model.n_clusters_ == k, f"seed {seed}: a tree has a cut for every number"
        for statement in triplets:
            assert trees.satisfied_by(model.labels_, statement), f"seed {seed}: {statement}"
        assert verify(model.dendrogram_, constraints).ok
        assert verify(model.labels_, constraints).ok
        assert set(model.moved_.samples.tolist()) == outside(model), f"seed {seed}"
        assert (model.dendrogram_.marked is None) == (len(model.moved_) > 0)
        remarks = " ".join(model.certificate_.remarks)
        assert ("given to" in remarks) == (len(model.moved_) > 0)
        if size in (None, 1):
            assert model.min_cluster_size_ == 1
            assert not len(model.moved_)
        if isinstance(size, int):
            assert (model.min_cluster_size_ < size) == any(f"lowered to {model.min_cluster_size_}" in w for w in told)
        else:
            assert told == []
        moved += len(model.moved_) > 0
        apart += "of its own" in remarks or "of their own" in remarks
        lowered += model.min_cluster_size_ > 1 and "were to count as outliers" in remarks
    assert SLOW or min(moved, apart, lowered) > 0


def test_mixed_statements_have_exactly_as_many_clusters_or_an_error_that_names_the_number():
    seen = ended = 0
    for seed in range(examples(6 if SLOW else 50, 3000)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(4, 14))
        constraints = Constraints.build(
            n,
            must_link=[rng.choice(n, 2, replace=False) for _ in range(rng.integers(0, 3))],
            cannot_link=[rng.choice(n, 2, replace=False) for _ in range(rng.integers(0, 6))],
            apart=[rng.choice(n, 3, replace=False) for _ in range(rng.integers(0, 2))],
            triplets=[rng.choice(n, 3, replace=False) for _ in range(rng.integers(0, n))],
        )
        k = int(rng.integers(1, n))
        if check(constraints, n_clusters=k).status != "feasible":
            continue
        seen += 1
        X = rng.normal(size=(n, 2))
        size = ("auto", None, 1)[seed % 3]
        marked = posed(_estimator.recon)(X, constraints, n_clusters=k)[0].marked
        reached = k if marked is None else len(marked)
        if reached > k:
            with pytest.raises(DeadEndError, match=f"at {reached} clusters"):
                ReCon(k, min_cluster_size=size).fit(X, constraints=constraints)
            ended += 1
            continue
        model, told = fitted(X, constraints, n_clusters=k, min_cluster_size=size)
        assert_as_many_as_asked(model, told, k)
        assert model.n_clusters_ == k
        assert verify(model.dendrogram_, constraints).ok
        assert set(model.moved_.samples.tolist()) == outside(model)
    assert SLOW or (seen > 20 and ended < seen)


def test_outliers_are_those_of_the_size_and_not_the_plain_cut():
    moved = 0
    for seed in range(examples(3 if SLOW else 10, 300)):
        X, triplets = generators.relative_instance(seed, 16, 20, source=SOURCES[seed % 3])
        constraints = Constraints.build(len(X), triplets=triplets)
        model, _ = fitted(X, constraints, n_clusters=2, min_cluster_size="auto")
        given, _ = fitted(X, constraints, n_clusters=2, min_cluster_size=2 * len(X) // 10)
        plain = ReCon(2).fit(X, constraints=constraints)
        assert model.labels_.tolist() == given.labels_.tolist()  # two fifths of an average cluster
        assert model.min_cluster_size_ == given.min_cluster_size_
        moved += (plain.labels_ != model.labels_).any()
    assert SLOW or moved > 0


def test_a_branch_that_fits_nowhere_is_one_of_the_clusters():
    """Sample 6 is closer to none: 0 and 3, of two clusters, are closer to each other than to it."""
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [30.0]])
    told = Constraints.build(7, triplets=[(0, 3, 6)])
    model = ReCon(3, min_cluster_size=2).fit(X, constraints=told)
    assert model.labels_.tolist() == [0, 0, 0, 1, 1, 1, 2]
    assert "fits no other cluster and is a cluster of its own" in str(model.certificate_)
    with pytest.warns(LinkwiseWarning, match="min_cluster_size=2 was lowered to 1"):
        model = ReCon(2, min_cluster_size=2).fit(X, constraints=told)
    assert model.labels_.tolist() == [0, 0, 0, 0, 0, 0, 1]
    free = ReCon(2, min_cluster_size=2).fit(X)
    assert free.labels_.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert free.moved_.samples.tolist() == [6]


def test_the_default_size_says_when_it_was_lowered():
    X = np.concatenate([np.arange(8.0), 50 + np.arange(8.0), [200.0]])[:, None]
    told = Constraints.build(17, triplets=[(0, 8, 16)])
    model = ReCon(2, min_cluster_size="auto").fit(X, constraints=told)
    assert model.min_cluster_size_ == 1
    assert model.n_clusters_ == 2
    assert "no branch counts as outliers instead" in str(model.certificate_)
    assert model.certificate_.to_dict()["remarks"] == list(model.certificate_.remarks)


def test_pairs_and_sizes():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [0.4], [9.0]])
    lone = Constraints.build(6, triplets=[(0, 1, 4)])
    assert ReCon(2, min_cluster_size="auto").fit(X, constraints=lone).labels_[5] == 1  # two fifths of three are one
    paired = Constraints.build(6, cannot_link=[(0, 5)])
    for size in ("auto", 1, None):
        model = ReCon(2, min_cluster_size=size).fit(X, constraints=paired)
        assert model.labels_.tolist() == [0, 0, 0, 0, 0, 1]
        assert model.min_cluster_size_ == 1
    with pytest.raises(UnsupportedConstraintError, match="min_cluster_size=2"):
        ReCon(2, min_cluster_size=2).fit(X, constraints=paired)


def test_a_size_without_a_number_of_clusters_is_said_to_play_no_role():
    X = np.arange(6.0)[:, None]
    with pytest.warns(LinkwiseWarning, match="min_cluster_size=3 plays no role without n_clusters"):
        ReCon(None, min_cluster_size=3).fit(X)
    with pytest.warns(LinkwiseWarning, match="plays no role"):
        ReCon(None, distance_threshold=1.0, min_cluster_size=3).fit(X)
    assert ReCon(None, min_cluster_size="auto").fit(X).min_cluster_size_ == 1


def moved_model():
    """Three samples far off are given to the second of two clusters; what is said is about neither."""
    X = np.concatenate([np.arange(8.0), 100 + np.arange(8.0), [1000.0, 1000.1, 1000.2]])[:, None]
    return ReCon(2, min_cluster_size=4).fit(X, constraints=Constraints.build(19, triplets=[(0, 1, 2)]))


def test_moved_samples_are_told_with_branch_and_cluster():
    model = moved_model()
    moved = model.moved_
    assert moved.samples.tolist() == [16, 17, 18]
    assert moved.cluster.tolist() == [1, 1, 1]
    node = int(model.dendrogram_.lca(16, 17))
    top = int(model.dendrogram_.lca(node, 18))
    assert moved.branch.tolist() == [top] * 3
    assert (len(moved), moved.n_branches, moved.clusters, moved.home) == (3, 1, [1], {0: 8, 1: 8})
    words = "3 samples in 1 branch of fewer than 4 samples were given to another cluster, so cluster 1 is not a branch"
    assert words in str(model.certificate_)
    assert str(ReCon(2).fit(np.arange(4.0)[:, None]).moved_) == "Every cluster is a branch of the tree."


def test_a_saved_model_still_knows_what_was_moved(tmp_path):
    model = moved_model()
    save(model, tmp_path / "m.lwm")
    again = load(tmp_path / "m.lwm")
    assert again.moved_.samples.tolist() == [16, 17, 18]
    assert again.min_cluster_size_ == 4
    assert str(again.certificate_) == str(model.certificate_)


def test_why_says_that_a_branch_was_given_away():
    model = moved_model()
    apart = str(why(model, 0, 16))
    assert "above the cut" not in apart
    assert "16 came with a branch of 3 samples; it was too small to be a cluster (fewer than 4)" in apart
    assert "and was given to cluster 1." in apart
    together = str(why(model, 8, 16))
    assert "below the cut" not in together
    assert "was given to cluster 1" in together
    assert "below the cut" in str(why(model, 16, 17))  # they came together
    assert "above the cut" in str(why(model, 0, 8))
    assert "given" not in str(why(model, 0, 8))
    bare = str(why(model.dendrogram_, 0, 16, labels=model.labels_))
    assert "16 is in a branch of 3 samples outside the branch of its cluster, 1." in bare
    assert why(model, 0, 16).to_dict()["moved"] == [[16, 3, 1, 4]]
