"""Chunklets: covariance by definition, closed forms by definition, weights level by level."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from linkwise import Constraints
from linkwise.engines import RCA, ChunkletLDA, DiscriminativeRCA
from linkwise.engines.metric._rca import apart_scatter, chunklets
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from tests.oracles.metrics_learned import between_chunklets, within_chunklets

pytestmark = pytest.mark.kernels


def instance(seed, *, levels=3, n=18, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) @ rng.normal(size=(d, d))
    pairs = rng.permutation([(i, j) for i in range(n) for j in range(i)])
    weight = rng.choice(rng.uniform(0.2, 2, size=levels), size=18)
    c = Constraints.build(n, must_link=pairs[:10], cannot_link=pairs[10:18], weight=weight)
    listed = [(tuple(pair), w) for pair, w in zip(pairs[:18].tolist(), weight.tolist(), strict=True)]
    return X, c, listed[:10], listed[10:]


@pytest.mark.filterwarnings("ignore:.*keep apart what must-links join:linkwise.exceptions.LinkwiseWarning")
@pytest.mark.parametrize("levels", [1, 3, 18])
def test_scatter_within_and_between_is_that_of_the_definition(levels):
    for seed in range(5):
        X, c, must, cannot = instance(seed, levels=levels)
        assert_allclose(chunklets(X, c).within, within_chunklets(X, must), rtol=1e-9, atol=1e-12)
        assert_allclose(apart_scatter(X, c), between_chunklets(X, must, cannot), rtol=1e-9, atol=1e-12)


def test_rca_makes_chunklets_round():
    X, c, must, _ = instance(1)
    c = c.select(np.flatnonzero(c.kind == 0))
    L = RCA().fit(X, constraints=c).components_
    assert_allclose(L, L.T)
    assert_allclose(L @ within_chunklets(X, must) @ L, np.eye(3), atol=1e-9)


def test_rca_reduced_is_fisher_then_whitening():
    X, c, must, _ = instance(2)
    c = c.select(np.flatnonzero(c.kind == 0))
    within = within_chunklets(X, must)
    model = RCA(2).fit(X, constraints=c)
    L = model.components_
    assert_allclose(L @ within @ L.T, np.eye(2), atol=1e-9)
    total = np.cov(X.T, bias=True)
    kept = np.linalg.slogdet(L @ total @ L.T)[1]
    assert_allclose(kept, model.objective_)
    rng = np.random.default_rng(0)
    for _ in range(300):  # no other two directions keep more, for the same spread within
        K = rng.normal(size=(2, 3))
        K = np.linalg.inv(np.linalg.cholesky(K @ within @ K.T)) @ K
        assert np.linalg.slogdet(K @ total @ K.T)[1] <= kept + 1e-9
    assert_allclose(RCA(3).fit(X, constraints=c).components_, RCA().fit(X, constraints=c).components_)


def test_groups_chains_and_stars_say_the_same():
    X, _, _, _ = instance(3)
    told = [
        Constraints.build(18, together=[range(6), range(6, 12)]),
        Constraints.build(18, must_link=[(i, i + 1) for i in range(11) if i != 5]),
        Constraints.build(18, must_link=[(0, i) for i in range(1, 6)] + [(11, i) for i in range(6, 11)]),
    ]
    for learner in (RCA(), ChunkletLDA()):
        first, *others = (learner.fit(X, constraints=c).components_ for c in told)
        for other in others:
            assert_allclose(other, first, rtol=1e-8, atol=1e-10)


def test_singular_covariance_is_shrunk_as_documented():
    X, _, _, _ = instance(4)
    c = Constraints.build(18, must_link=[(0, 1)])
    model = RCA().fit(X, constraints=c)
    within = within_chunklets(X, [((0, 1), 1.0)])
    shrunk = 0.9 * within + 0.1 * np.trace(within) / 3 * np.eye(3)
    assert model.shrinkage_ == 0.1
    assert_allclose(model.get_mahalanobis_matrix(), np.linalg.inv(shrunk), rtol=1e-8)
    with pytest.raises(LinkwiseError, match="shrinkage=0 does not allow"):
        RCA(shrinkage=0).fit(X, constraints=c)
    assert RCA(shrinkage=0.4).fit(X, constraints=c).shrinkage_ == 0.4


@pytest.mark.filterwarnings("ignore:.*keep apart what must-links join:linkwise.exceptions.LinkwiseWarning")
def test_dca_parts_cannot_linked_chunklets_most():
    X, c, must, cannot = instance(5)
    within, between = within_chunklets(X, must), between_chunklets(X, must, cannot)
    model = DiscriminativeRCA(1).fit(X, constraints=c)
    v = model.components_[0]
    assert_allclose(v @ within @ v, 1.0)
    best = v @ between @ v
    assert_allclose(np.log(best), model.objective_)
    for u in np.random.default_rng(0).normal(size=(500, 3)):
        assert u @ between @ u / (u @ within @ u) <= best * (1 + 1e-9)
    full = DiscriminativeRCA().fit(X, constraints=c).components_
    assert_allclose(full @ within @ full.T, np.eye(3), atol=1e-8)
    crossed = full @ between @ full.T
    assert_allclose(crossed, np.diag(np.diagonal(crossed)), atol=1e-8 * crossed.max())


def test_dca_has_as_many_directions_as_cannot_links_show():
    X, _, _, _ = instance(6)
    must = [(i, i + 1) for i in range(0, 18, 2)]
    c = Constraints.build(18, must_link=must, cannot_link=[(0, 2), (4, 6)])
    assert DiscriminativeRCA().fit(X, constraints=c).components_.shape == (2, 3)
    with pytest.warns(LinkwiseWarning, match="metric of RCA is used instead"):
        plain = DiscriminativeRCA().fit(X, constraints=Constraints.build(18, must_link=must))
    assert_allclose(plain.components_, RCA().fit(X, constraints=Constraints.build(18, must_link=must)).components_)
    alone = DiscriminativeRCA().fit(X, constraints=Constraints.build(18, cannot_link=[(0, 1)]))
    assert_allclose(np.abs(alone.components_[0] @ (X[0] - X[1])), np.linalg.norm(X[0] - X[1]))


def test_discriminants_of_chunklets_are_those_of_classes():
    rng = np.random.default_rng(7)
    y = np.arange(60) % 4
    X = rng.normal(size=(60, 5)) + rng.normal(size=(4, 5))[y]
    c = Constraints.from_groups(y)
    ours = ChunkletLDA().fit(X, constraints=c).components_
    assert ours.shape == (3, 5)
    theirs = LinearDiscriminantAnalysis(solver="eigen").fit(X, y).scalings_[:, :3].T
    for a, b in zip(ours, theirs, strict=True):
        assert abs(a @ b) == pytest.approx(np.linalg.norm(a) * np.linalg.norm(b))
    with pytest.warns(LinkwiseWarning, match="form only one"):
        ChunkletLDA().fit(X, constraints=Constraints.build(60, together=[range(9)]))


def test_discriminants_solve_the_eigenproblem_and_are_canonical_directions():
    rng = np.random.default_rng(9)
    for _ in range(5):
        X = rng.normal(size=(40, 4)) @ rng.normal(size=(4, 4))
        part = rng.integers(6, size=40)
        part[:12] = np.repeat(np.arange(6), 2)  # every chunklet has two members at least
        alone = rng.permutation(np.arange(12, 40))[:8]  # in no chunklet, so nothing is said about them
        part[alone] = -1
        X[alone] *= 30
        groups = [np.flatnonzero(part == k) for k in range(6)]
        model = ChunkletLDA(shrinkage=0).fit(X, constraints=Constraints.build(40, together=groups))
        inside = np.concatenate(groups)
        center = X[inside].mean(axis=0)
        within, between = np.zeros((4, 4)), np.zeros((4, 4))
        for members in groups:
            mean = X[members].mean(axis=0)
            between += len(members) * np.outer(mean - center, mean - center) / len(inside)
            for x in X[members]:
                within += np.outer(x - mean, x - mean) / len(inside)
        ratios = []
        for v in model.components_:  # between v = ratio within v, scaled to 1 within
            assert_allclose(v @ within @ v, 1.0)
            ratios.append(v @ between @ v)
            assert_allclose(between @ v, ratios[-1] * within @ v, atol=1e-9 * np.abs(between @ v).max())
        assert ratios == sorted(ratios, reverse=True)
        assert_allclose(model.objective_, np.log(ratios).sum())
        # correlations between samples and the chunklets they are in, by QR and singular values
        indicator = (part[inside, None] == np.arange(6)).astype(float)
        bases = [np.linalg.qr(Z - Z.mean(axis=0))[0] for Z in (X[inside], indicator[:, :5])]
        correlation = np.linalg.svd(bases[0].T @ bases[1], compute_uv=False)
        assert_allclose(np.array(ratios) / (1 + np.array(ratios)), correlation**2, atol=1e-9)


def test_too_many_components_are_refused():
    X, _, _, _ = instance(8)
    for learner in (RCA(4), ChunkletLDA(4), DiscriminativeRCA(4)):
        with pytest.raises(LinkwiseError, match="n_components=4, but X has only n_features=3"):
            learner.fit(X)
