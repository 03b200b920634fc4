"""The search for the ultrametric of least squares against all trees, with weights and triplets."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import squareform

from linkwise import Constraints
from linkwise.engines import LeastSquaresUltrametric, agglomerate, fit_heights, fit_ultrametric
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from tests.oracles.generators import consistent_triplets
from tests.oracles.trees import clades
from tests.oracles.ultrametric import is_ultrametric, least_loss_of_tree, least_squares_ultrametric
from tests.profile import examples

pytestmark = pytest.mark.kernels


def instance(seed, n):
    """Dissimilarities with and without ties, equal and unequal weights, no or some triplets."""
    rng = np.random.default_rng(seed)
    k = n * (n - 1) // 2
    D = squareform(rng.random(k) if seed % 2 else rng.integers(1, 6, k).astype(float))
    W = squareform(np.ones(k) if seed % 3 else np.exp(rng.normal(size=k)))
    return D, W, consistent_triplets(rng, n) if seed % 4 else []


def fit(D, W, triplets, **options):
    said = Constraints.build(len(D), triplets=triplets)
    model = LeastSquaresUltrametric(n_clusters=None, metric="precomputed", pair_weight=W, random_state=0, **options)
    return model.fit(D, constraints=said)


@pytest.mark.parametrize(("n", "count"), [(3, 60), (4, 100), (5, 40), (6, 4)])
def test_the_least_loss_of_all_trees_is_found_and_proved(n, count):
    for seed in range(examples(count, 10 * count)):
        D, W, triplets = instance(seed, n)
        model = fit(D, W, triplets)
        assert model.optimal_
        assert model.objective_ == pytest.approx(least_squares_ultrametric(D, W, triplets), abs=1e-9), seed
        i = np.arange(n)
        U = model.dendrogram_.cophenetic(i[:, None], i[None])
        assert is_ultrametric(U)
        assert model.objective_ == pytest.approx((W * (D - U) ** 2).sum() / 2)
        assert model.certificate_.ok


def test_enumeration_corrects_a_search_that_was_cut_and_says_when_it_was_cut_itself():
    D, W, _ = instance(3, 7)
    cut = fit(D, W, [], search="local", n_kicks=0, budget=0.0)
    assert not cut.optimal_
    assert not fit(D, W, [], search="exact", budget=1e-5).optimal_
    best = fit(D, W, [], search="exact", n_kicks=0, budget=60.0)
    assert best.optimal_
    assert best.objective_ < cut.objective_
    assert best.objective_ == pytest.approx(fit(D, W, [], search="local").objective_)


def test_a_longer_search_is_never_worse_than_the_trees_it_starts_from():
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(16, 3))
        said = Constraints.build(16, triplets=consistent_triplets(rng, 16, "random"))
        model = LeastSquaresUltrametric(random_state=0, n_kicks=1, budget=0.2).fit(X)
        i, j = np.triu_indices(16, 1)
        D = np.sqrt(((X[i] - X[j]) ** 2).sum(-1))
        for method in ("average", "complete", "single", "weighted"):
            start = fit_ultrametric(X, method=method)
            assert model.objective_ <= ((start.cophenetic(i, j) - D) ** 2).sum() + 1e-9
        held = LeastSquaresUltrametric(random_state=0, n_kicks=1, budget=0.2).fit(X, constraints=said)
        assert held.certificate_.ok
        assert held.objective_ >= model.objective_ - 1e-9


def test_the_same_seed_gives_the_same_tree_and_heights_are_those_of_fit_heights():
    X = np.random.default_rng(0).normal(size=(12, 2))
    one, other = (LeastSquaresUltrametric(random_state=3, budget=0.2).fit(X) for _ in range(2))
    assert one.dendrogram_ == other.dendrogram_
    assert_allclose(fit_heights(one.dendrogram_, X).height, one.dendrogram_.height, atol=1e-12)


def test_distances_that_are_an_ultrametric_are_met_exactly():
    i = np.arange(15)
    D = agglomerate(np.random.default_rng(1).normal(size=(15, 2))).cophenetic(i[:, None], i[None])
    assert LeastSquaresUltrametric(metric="precomputed", random_state=0, budget=0.1).fit(D).objective_ < 1e-12


def test_few_samples_and_wrong_words():
    assert LeastSquaresUltrametric(n_clusters=1).fit([[0.0], [2.0]]).dendrogram_.height.tolist() == [0.0, 0.0, 2.0]
    X = np.eye(4)[:, :3]
    with pytest.raises(InfeasibleConstraintsError):
        LeastSquaresUltrametric().fit(X, constraints=Constraints.build(4, triplets=[(0, 1, 2), (0, 2, 1)]))
    with pytest.raises(ValueError, match="The 'search' parameter of LeastSquaresUltrametric must be"):
        LeastSquaresUltrametric(search="all").fit(X)
    for wrong in (np.ones((3, 3)), -np.ones((4, 4)), np.triu(np.ones((4, 4)))):
        with pytest.raises(LinkwiseError, match="the weights of pairs are"):
            LeastSquaresUltrametric(pair_weight=wrong).fit(X)
    with pytest.raises(LinkwiseError, match=r"the samples \(0, 1\) have distance 0"):
        LeastSquaresUltrametric(pair_weight="inverse").fit([[0.0], [0.0], [1.0]])


# -- weights of pairs on a given tree -------------------------------------------------------------------------------


def test_weighted_heights_are_the_least_squares_of_the_tree():
    for seed in range(examples(200, 2000)):
        n = 3 + seed % 4
        D, W, _ = instance(3 * seed, n)
        tree = fit_ultrametric(D, method="single", metric="precomputed", pair_weight=W)
        i, j = np.triu_indices(n, 1)
        loss = (W[i, j] * (D[i, j] - tree.cophenetic(i, j)) ** 2).sum()
        assert loss == pytest.approx(least_loss_of_tree(clades(n, tree.parent.tolist()), D, W), abs=1e-9), seed


def test_names_of_weights_are_powers_of_distances():
    X = np.random.default_rng(0).normal(size=(8, 2))
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1)) + np.eye(8)
    for name, weight in (("inverse", 1 / D), ("inverse_square", 1 / D**2)):
        one, other = (fit_ultrametric(X, method="complete", pair_weight=w) for w in (name, weight))
        assert_allclose(one.height, other.height)
