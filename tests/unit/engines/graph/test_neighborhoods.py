"""Neighborhood propagation: the field is what it says, known groups claim, and every hard statement holds."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse
from numpy.testing import assert_allclose, assert_array_equal

from linkwise import Constraints, verify
from linkwise.engines import NeighborhoodPropagation
from linkwise.engines.graph import _similarity_columns
from linkwise.engines.graph._similarity_columns import Field
from linkwise.exceptions import InfeasibleConstraintsError
from tests.oracles import gaussian_field as twin
from tests.profile import examples


def blobs(seed, n=40, k=3, d=2):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    return rng.normal(size=(n, d)) + 6.0 * rng.normal(size=(k, d))[y], y


@pytest.mark.parametrize("seed", range(examples(3, 200)))
def test_columns_along_the_graph_are_those_of_the_inverse_laplacian(seed):
    X, _ = blobs(seed)
    made = Field(X)
    inverse = np.linalg.inv(twin.laplacian(twin.affinities(X)) + _similarity_columns.LEAK * np.eye(len(X)))
    some = np.array([0, 7, 12])
    column = made.along_graph(some)
    assert_allclose(column / column[0, 0], inverse[:, some] / inverse[0, 0], rtol=1e-8)
    # variances are 1 on average, as far as random vectors can tell
    assert np.trace(made.along_graph(np.arange(len(X)))) / len(X) == pytest.approx(1.0, rel=0.4)


def test_without_leak_and_noise_the_graph_alone_gives_harmonic_functions(monkeypatch):
    monkeypatch.setattr(_similarity_columns, "LEAK", 1e-9)
    X, _ = blobs(1, 30, 1)
    rng = np.random.default_rng(0)
    seeds, values = rng.permutation(30)[:6], rng.normal(size=(6, 2))
    table = twin.affinities(X)
    root = np.sqrt(table.sum(axis=1))
    columns = Field(X).along_graph(seeds)
    found = columns @ np.linalg.solve(columns[seeds], values)
    # the normalized Laplacian measures functions divided by the roots of the degrees
    expected = root[:, None] * twin.harmonic(table, seeds, values / root[seeds, None])
    assert_allclose(found, expected, atol=1e-4)


@pytest.mark.parametrize("seed", range(examples(5, 200)))
def test_claims_are_means_of_the_field(seed):
    X, y = blobs(seed)
    labeled = np.random.default_rng(seed).permutation(len(X))[:9]
    known = np.where(np.isin(np.arange(len(X)), labeled), y, -1)
    run = NeighborhoodPropagation().fit(X, constraints=Constraints.from_labels(known))
    covariance = Field(X).columns(np.arange(len(X)))
    first = {c: i for i, c in reversed(list(enumerate(known.tolist()))) if c >= 0}
    place = {c: at for at, c in enumerate(sorted(first, key=first.__getitem__))}
    values = np.eye(len(place))[[place[c] for c in known[run.seeds_]]]
    mean, _ = twin.posterior(covariance, run.seeds_, values, 0.01)
    assert_allclose(run.claims_, mean, atol=1e-8)
    free = np.flatnonzero(known < 0)
    assert_array_equal(run.labels_[free], mean[free].argmax(axis=1))


@pytest.mark.parametrize("seed", range(examples(30, 1000)))
def test_whatever_was_said_holds_with_as_few_clusters_as_it_leaves(seed):
    rng = np.random.default_rng(seed)
    X, y = blobs(seed, 25, 4)
    pairs = rng.integers(25, size=(int(rng.integers(1, 40)), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    said = Constraints.build(25, must_link=pairs[same], cannot_link=pairs[~same])
    labels = NeighborhoodPropagation().fit(X, constraints=said).labels_
    assert verify(labels, said).ok
    assert sorted(set(labels.tolist())) == list(range(labels.max() + 1))
    assert labels.max() < 4


@pytest.mark.parametrize("seed", range(examples(5, 50)))
def test_samples_outside_the_neighborhoods_are_seeds_too(seed):
    X, y = blobs(seed, 60, 3)
    rng = np.random.default_rng(seed)
    pairs = rng.permutation(60).reshape(-1, 2)  # no two share a sample: at most two groups are apart pairwise
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    said = Constraints.build(60, must_link=pairs[same], cannot_link=pairs[~same])
    model = NeighborhoodPropagation(3).fit(X, constraints=said)
    assert len(model.seeds_) == 60
    assert model.claims_.shape == (60, 3)
    assert model.certificate_.ok
    assert sorted(set(model.labels_.tolist())) == [0, 1, 2]


def test_random_pairs_between_mixed_classes_are_followed():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = np.column_stack([2.0 * y + 0.3 * rng.normal(size=120), 5.0 * rng.normal(size=120)])  # the wide axis misleads
    pairs = rng.integers(120, size=(60, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    said = Constraints.build(120, must_link=pairs[same], cannot_link=pairs[~same])
    for n_clusters in (2, None):
        labels = NeighborhoodPropagation(n_clusters).fit(X, constraints=said).labels_
        assert max((labels == y).mean(), (labels != y).mean()) > 0.95


def test_a_ring_of_cannot_links_gets_three_clusters():
    X, _ = blobs(0, 10)
    ring = Constraints.build(10, cannot_link=[(i, (i + 1) % 5) for i in range(5)])
    model = NeighborhoodPropagation().fit(X, constraints=ring)
    assert model.n_clusters_ == 3
    assert model.certificate_.ok


def test_a_class_of_two_places_is_one_cluster():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 2)) * 0.3 + center for center in ([0, 0], [4, 0], [8, 0])])
    known = Constraints.build(60, must_link=[(0, 40)], cannot_link=[(0, 20)])
    labels = NeighborhoodPropagation().fit(X, constraints=known).labels_
    assert_array_equal(labels, np.repeat([0, 1, 0], 20))


def test_nothing_said_is_one_cluster_unless_more_are_wanted():
    X, _ = blobs(2)
    assert NeighborhoodPropagation().fit(X).n_clusters_ == 1
    assert NeighborhoodPropagation(4).fit(X).n_clusters_ == 4


@pytest.mark.parametrize("seed", range(examples(3, 30)))
def test_clusters_that_no_statement_reaches_begin_where_nothing_is_claimed(seed):
    rng = np.random.default_rng(seed)
    y = np.repeat([0, 1, 2], [60, 10, 10])  # k-means would rather divide the first
    X = rng.normal(size=(80, 2)) * [3.0, 0.5] + np.array([[0, 0], [0, 9], [0, -9]])[y]
    said = Constraints.build(80, must_link=[(0, i) for i in range(1, 20)], cannot_link=[(0, 60)])
    model = NeighborhoodPropagation(3).fit(X, constraints=said)
    assert (model.labels_ == y).mean() > 0.95
    assert len(model.seeds_) == 22  # one for the third
    assert y[model.seeds_[-1]] == 2


def test_more_groups_apart_than_clusters_are_explained():
    X, _ = blobs(3)
    with pytest.raises(InfeasibleConstraintsError, match="at least 3 clusters"):
        NeighborhoodPropagation(2).fit(X, constraints=Constraints.build(40, cannot_link=[(0, 1), (0, 2), (1, 2)]))


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_and_equal_samples_are_ordinary(n):
    X = np.zeros((n, 2))
    said = Constraints.build(n, cannot_link=[(0, n - 1)] if n > 1 else [])
    assert NeighborhoodPropagation().fit(X, constraints=said).n_clusters_ == min(n, 2)


def test_new_samples_go_where_their_surroundings_go():
    X, y = blobs(4, 200)
    known = Constraints.from_labels(np.where(np.arange(200) < 12, y, -1))
    model = NeighborhoodPropagation().fit(X[:150], constraints=known[np.arange(150)])
    alone = NeighborhoodPropagation().fit(X, constraints=known).labels_
    assert (model.predict(X[150:]) == alone[150:]).mean() > 0.9


def test_direction_alone_counts_with_cosine():
    X, y = blobs(5, 60)
    X = X + 20.0
    said = Constraints.from_labels(np.where(np.arange(60) < 9, y, -1))
    scale = np.random.default_rng(0).uniform(0.1, 10, size=(60, 1))
    one = NeighborhoodPropagation(metric="cosine").fit(X, constraints=said).labels_
    assert_array_equal(one, NeighborhoodPropagation(metric="cosine").fit(X * scale, constraints=said).labels_)
    sparse = scipy.sparse.csr_array(X)
    assert_array_equal(one, NeighborhoodPropagation(metric="cosine").fit(sparse, constraints=said).labels_)


def test_iterated_solutions_equal_factorized_ones(monkeypatch):
    X, _ = blobs(6)
    direct = Field(X).columns(np.array([3, 9]))
    monkeypatch.setattr(_similarity_columns, "DIRECT", 0)
    assert_allclose(Field(X).columns(np.array([3, 9])), direct, rtol=1e-3, atol=1e-5)
