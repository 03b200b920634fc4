"""Seeds: must-linked groups start the clusters, and stay in them or not."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.cluster import KMeans

from linkwise import Constraints, verify
from linkwise.engines import ConstrainedKMeans, SeededKMeans
from linkwise.engines.partitional._init import Start, neighborhoods
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseWarning
from linkwise.problem import Problem
from tests.profile import examples
from tests.unit.engines.outcomes import outcome

constrained_kmeans = partial(outcome, ConstrainedKMeans)
seeded_kmeans = partial(outcome, SeededKMeans)


def labeled(seed, n=60, k=3, share=0.3):
    """Points in k classes of which some are known, at least one of each class."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    X = rng.normal(size=(n, 2)) + 1.5 * y[:, None]
    known = np.where(rng.random(n) < share, y, -1)
    for c in range(k):
        known[np.flatnonzero(y == c)[:2]] = c
    return X, known


def by_first(known):
    """Classes in the order in which groups are numbered: by their first sample."""
    return list(dict.fromkeys(c for c in known.tolist() if c >= 0))


def start_of(X, known):
    return np.array([X[known == c].mean(axis=0) for c in by_first(known)])


@pytest.mark.filterwarnings("ignore:.* promises nothing and broke:linkwise.exceptions.LinkwiseWarning")
def test_seeded_is_kmeans_from_the_means_of_the_seeds():
    for seed in range(examples(20, 300)):
        X, known = labeled(seed)
        model = SeededKMeans(3).fit(X, constraints=Constraints.from_labels(known))
        plain = KMeans(3, init=start_of(X, known), n_init=1).fit(X)
        assert_array_equal(model.labels_, plain.labels_)
        assert_allclose(model.cluster_centers_, plain.cluster_centers_)
        assert model.n_iter_ == plain.n_iter_


def constrained_by_definition(X, known, k, steps=100):
    """Basu's algorithm, sample by sample: seeds keep their cluster, the others go to the nearest mean."""
    names = {c: i for i, c in enumerate(by_first(known))}
    centers = start_of(X, known)
    labels = None
    for _ in range(steps):
        now = [
            names[c] if c >= 0 else int(np.argmin(((x - centers) ** 2).sum(axis=1)))
            for x, c in zip(X, known.tolist(), strict=True)
        ]
        if now == labels:
            break
        labels = now
        centers = np.array([X[np.array(labels) == j].mean(axis=0) for j in range(k)])
    return np.array(labels)


def test_constrained_keeps_the_seeds_as_the_paper_does():
    for seed in range(examples(20, 300)):
        X, known = labeled(seed)
        model = ConstrainedKMeans(3, tol=0.0).fit(X, constraints=Constraints.from_labels(known))
        assert_array_equal(model.labels_, constrained_by_definition(X, known, 3))
        assert model.certificate_.ok


def test_what_seeded_breaks_is_told():
    X = np.array([[0.0], [10.0], [9.0], [0.5], [1.0]])
    seeds = Constraints.from_labels([0, 0, 1, 1, -1])
    with pytest.warns(LinkwiseWarning, match="Hint: ConstrainedKMeans starts from the same seeds and keeps them"):
        model = SeededKMeans(2, random_state=0).fit(X, constraints=seeds)
    assert len(model.certificate_.violated) > 0
    assert ConstrainedKMeans(2).fit(X, constraints=seeds).certificate_.ok


def test_classes_without_seeds_get_centers_far_from_the_others():
    X = np.concatenate([np.full((20, 1), 0.0), np.full((20, 1), 50.0), np.full((20, 1), 100.0)])
    X += 0.01 * np.arange(60)[:, None] % 0.2
    known = np.full(60, -1)
    known[:5] = 0
    for seed in range(5):
        model = ConstrainedKMeans(3, random_state=seed).fit(X, constraints=Constraints.from_labels(known))
        assert len(set(model.labels_[::20].tolist())) == 3


def test_a_class_known_by_one_sample_starts_a_cluster():
    X = np.arange(8.0)[:, None]
    c = Constraints.from_labels([0, 0, -1, 1, -1, -1, 2, -1])
    chosen = neighborhoods(Problem(X, c).contract(), 3)
    assert Problem(X, c).contract().X[chosen].ravel().tolist() == [0.5, 3.0, 6.0]
    assert not Start("neighborhoods", Problem(X, c).contract(), 3, np.random.default_rng(0)).varies


def test_of_many_groups_large_ones_far_apart_are_taken():
    X = np.array([0, 0, 0, 0, 1, 1, 50, 50, 51, 51, 51, 99, 99], dtype=float)[:, None]
    c = Constraints.build(13, together=[[0, 1, 2, 3], [4, 5], [6, 7], [8, 9, 10], [11, 12]])
    cloud = Problem(X, c).contract()
    assert cloud.X[neighborhoods(cloud, 3)].ravel().tolist() == [0.0, 99.0, 51.0]


def test_groups_that_nothing_keeps_apart_may_share_a_cluster():
    X = np.array([[0.0], [0.1], [0.2], [0.3], [9.0], [9.1]])
    c = Constraints.build(6, must_link=[(0, 1), (2, 3), (4, 5)])
    assert ConstrainedKMeans(2).fit(X, constraints=c).labels_.tolist() in ([0, 0, 0, 0, 1, 1], [1, 1, 1, 1, 0, 0])


def test_statements_among_unseeded_samples_hold_as_well():
    for seed in range(examples(20, 300)):
        X, known = labeled(seed, share=0.1)
        free = np.flatnonzero(known < 0)
        c = Constraints.from_labels(known) | Constraints.build(60, cannot_link=free[:20].reshape(-1, 2))
        model = ConstrainedKMeans(3, random_state=seed).fit(X, constraints=c)
        assert verify(model.labels_, c).ok


@pytest.mark.filterwarnings("ignore:SeededKMeans promises nothing")
def test_the_objective_never_rises():
    X, known = labeled(4, share=0.2)
    for function in (seeded_kmeans, constrained_kmeans):
        seen = []
        c = Constraints.from_labels(known)
        rows = X if function is seeded_kmeans else Problem(X, c).contract().X
        weight = np.ones(len(X)) if function is seeded_kmeans else Problem(X, c).contract().weight
        function(
            X,
            c,
            3,
            watch=lambda labels, centers, seen=seen, rows=rows, weight=weight: seen.append(
                float(weight @ ((rows - centers[labels]) ** 2).sum(axis=1))
            ),
        )
        assert len(seen) > 2
        assert (np.diff(seen) <= 1e-9).all()


def test_no_cluster_is_lost_when_seeds_are_fixed():
    X = np.array([[0.0], [0.1], [10.0], [10.1], [0.05]])
    c = Constraints.from_labels([0, 0, 1, 1, -1])
    for k in (2, 3):
        model = ConstrainedKMeans(k, random_state=0).fit(X, constraints=c)
        assert sorted(set(model.labels_.tolist())) == list(range(k))
        assert model.certificate_.ok


@pytest.mark.parametrize("estimator", [SeededKMeans, ConstrainedKMeans])
def test_more_classes_than_clusters_are_explained(estimator):
    with pytest.raises(InfeasibleConstraintsError, match="at least 3 clusters"):
        estimator(2).fit(np.arange(6.0)[:, None], constraints=Constraints.from_labels([0, 0, 1, 1, 2, 2]))
