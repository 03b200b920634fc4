"""EM given must- and cannot-links: the definition, plain mixtures, and what every estimator owes."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from linkwise import ConstrainedGaussianMixture, Constraints, Kind
from linkwise.constraints import NeighborWithin
from linkwise.engines import PenalizedMixture
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError, MemoryLimitError, UnsupportedConstraintError
from tests.oracles.mixture import Enumeration, em
from tests.profile import examples

TYPES = ("full", "tied", "diag", "spherical")
BOTH = (ConstrainedGaussianMixture, PenalizedMixture)
not_converged = pytest.mark.filterwarnings("ignore:EM did not converge:sklearn.exceptions.ConvergenceWarning")
fewer = pytest.mark.filterwarnings("ignore:.* found . cluster:linkwise.exceptions.LinkwiseWarning")


def blobs(seed=0, n=60, k=3, d=2, apart=2.0):
    rng = np.random.default_rng(seed)
    y = rng.integers(k, size=n)
    y[:k] = np.arange(k)
    return rng.normal(size=(n, d)) + apart * y[:, None], y


def truth(y, m, seed=0):
    """Must- and cannot-links that the classes make true."""
    rng = np.random.default_rng(seed)
    rows = np.array([rng.choice(len(y), size=2, replace=False) for _ in range(m)])
    same = y[rows[:, 0]] == y[rows[:, 1]]
    return Constraints.build(len(y), must_link=rows[same], cannot_link=rows[~same])


def full(covariances, kind, k, d):
    """Covariances of any type as full ones."""
    if kind == "tied":
        return np.broadcast_to(covariances, (k, d, d))
    if kind == "diag":
        return np.stack([np.diag(one) for one in covariances])
    if kind == "spherical":
        return np.stack([np.eye(d) * one for one in covariances])
    return covariances


def standardized(X):
    """X with features of variance 1, of which a share is the number itself."""
    return (X - X.mean(axis=0)) / X.std(axis=0)


def renumbered(means, like):
    """Where each of the means stands; Gaussians without samples come last in ours."""
    order = np.array([np.argmin(((means - one) ** 2).sum(axis=1)) for one in like])
    assert sorted(order) == list(range(len(means)))
    return order


@not_converged
@fewer
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("sampling", ["chunklets", "points"])
def test_em_agrees_with_enumeration(kind, sampling):
    rng = np.random.default_rng([TYPES.index(kind), sampling == "points"])
    for _ in range(examples(4, 400)):
        n, k, d = 7, 2 + int(rng.integers(2)), 2
        X, y = blobs(int(rng.integers(1000)), n, k, d)
        said = truth(y, 4, int(rng.integers(1000)))
        must, cannot = said.of(Kind.MUST_LINK).tolist(), said.of(Kind.CANNOT_LINK).tolist()
        model = Enumeration(n, k, must, cannot, sampling=sampling)
        if model.of.max() + 1 < k:
            continue
        seed = int(rng.integers(1000))
        begin = np.random.RandomState(seed).uniform(size=(model.of.max() + 1, k))
        begin = (begin / begin.sum(axis=1)[:, None])[model.of]
        _, means, covariances, responsibilities, values = em(X, model, begin, kind, 0.05, 4)
        found = ConstrainedGaussianMixture(
            k, covariance_type=kind, sampling=sampling, tol=0, reg_covar=0.05, max_iter=4, init="random",
            random_state=seed,
        ).fit(X, constraints=said)  # fmt: skip
        # two different optimizers found the mixing weights, which may be all but undetermined
        order = renumbered(found.means_, means)
        assert_allclose(found.lower_bounds_, values, rtol=1e-6)
        assert_allclose(found.means_[order], means, rtol=1e-4, atol=1e-4)
        assert_allclose(full(found.covariances_, kind, k, d)[order], covariances, rtol=1e-4, atol=1e-4)
        assert_allclose(found.responsibilities_[:, order], responsibilities, atol=1e-4)


@not_converged
@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("init", ["kmeans", "random", "k-means++", "random_from_data"])
def test_without_statements_it_is_the_plain_mixture(cls, kind, init):
    X = standardized(blobs(3, 200, 3, 3)[0])
    if kind == "tied" and init not in ("kmeans", "random"):
        return  # scikit-learn's first covariance then depends on where the origin lies
    options = {"covariance_type": kind, "max_iter": 100, "n_init": 2, "random_state": 4}
    ours = cls(3, init=init, **options).fit(X)
    plain = GaussianMixture(3, init_params=init, **options).fit(X)
    assert ours.n_iter_ == plain.n_iter_
    assert ours.converged_ == plain.converged_
    for name in ("weights_", "means_", "covariances_", "precisions_cholesky_", "lower_bound_"):
        assert_allclose(getattr(ours, name), getattr(plain, name), rtol=1e-7, atol=1e-9)
    # scikit-learn starts some ways from weights that do not add up to one, which only its first bound shows
    assert_allclose(ours.lower_bounds_[1:], plain.lower_bounds_[1:], rtol=1e-7)
    assert_array_equal(ours.labels_, plain.predict(X))
    new = X[::3] + 0.1
    assert_array_equal(ours.predict(new), plain.predict(new))
    assert_allclose(ours.predict_proba(new), plain.predict_proba(new), atol=1e-7)
    assert_allclose(ours.score_samples(new), plain.score_samples(new), rtol=1e-7)
    assert_allclose([ours.score(new), ours.bic(new), ours.aic(new)], [plain.score(new), plain.bic(new), plain.aic(new)])


@not_converged
@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("sampling", ["chunklets", "points"])
def test_the_likelihood_does_not_fall(kind, sampling):
    for seed in range(examples(4, 100)):
        X, y = blobs(seed, 120, 3, 2)  # enough samples for no covariance to collapse
        model = ConstrainedGaussianMixture(
            3,
            covariance_type=kind,
            sampling=sampling,
            reg_covar=0,
            tol=0,
            max_iter=40,
            random_state=seed,
        )
        bounds = model.fit(X, constraints=truth(y, 50, seed)).lower_bounds_
        assert len(bounds) == 40
        assert (np.diff(bounds) >= -1e-8 * np.abs(bounds[1:])).all()


def test_responsibilities_are_probabilities_and_one_within_a_chunklet():
    X, y = blobs(1)
    said = truth(y, 40)
    found = ConstrainedGaussianMixture(3, random_state=0).fit(X, constraints=said)
    assert_allclose(found.responsibilities_.sum(axis=1), 1)
    a, b = said.of(Kind.MUST_LINK).T
    assert_array_equal(found.responsibilities_[a], found.responsibilities_[b])
    a, b = said.of(Kind.CANNOT_LINK).T
    sure = found.responsibilities_.max(axis=1) > 0.99
    both = sure[a] & sure[b]
    assert both.any()
    assert (found.responsibilities_.argmax(axis=1)[a] != found.responsibilities_.argmax(axis=1)[b])[both].all()


@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize("kind", [Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TOGETHER, Kind.APART])
def test_hard_statements_hold_against_the_data(cls, kind):
    for seed in range(examples(4, 200)):
        X, _ = blobs(seed, 30)
        rng = np.random.default_rng(seed)
        y = rng.integers(3, size=30)  # nothing to do with X
        rows = []
        while len(rows) < 6:
            i, j, m = (int(v) for v in rng.choice(30, size=3, replace=False))
            if kind in (Kind.MUST_LINK, Kind.CANNOT_LINK) and (y[i] == y[j]) == (kind is Kind.MUST_LINK):
                rows.append((i, j))
            if kind is Kind.TOGETHER and y[i] == y[j] == y[m]:
                rows.append((i, j, m))
            if kind is Kind.APART and len({y[i], y[j], y[m]}) == 3:
                rows.append((i, j, m))
        model = cls(3, random_state=seed, max_iter=300).fit(X, constraints=Constraints.build(30, **{kind.word: rows}))
        assert model.certificate_.ok
        assert model.certificate_.n_hard == 6


@pytest.mark.parametrize("cls", BOTH)
def test_contradictions_are_explained(cls):
    X, _ = blobs()
    with pytest.raises(InfeasibleConstraintsError, match="#0 must_link"):
        cls(3).fit(X, constraints=Constraints.build(60, must_link=[(0, 1)], cannot_link=[(0, 1)]))
    four = Constraints.build(60, apart=[[0, 1, 2, 3]])
    with pytest.raises(InfeasibleConstraintsError, match="apart"):
        cls(3).fit(X, constraints=four)


@pytest.mark.parametrize("cls", BOTH)
def test_foreign_statements_are_refused(cls):
    X, _ = blobs()
    for said in (
        Constraints.build(60, triplets=[(0, 1, 2)]),
        Constraints.build(60, rules=NeighborWithin(0.1)),
    ):
        with pytest.raises(UnsupportedConstraintError, match="does not understand"):
            cls(3).fit(X, constraints=said)


@pytest.mark.parametrize("cls", BOTH)
def test_the_same_seed_gives_the_same_answer_and_leaves_everything_as_it_was(cls):
    X, y = blobs(2)
    said, before = truth(y, 30), X.copy()
    state = np.random.get_state()[1].copy()  # noqa: NPY002  (the global one, which must not move)
    one = cls(3, random_state=7).fit(X, constraints=said)
    other = clone(one).fit(np.asfortranarray(X), constraints=said)
    assert_array_equal(X, before)
    clone(one).set_params(random_state=None).fit(X, constraints=said).sample(3)
    assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    for model in (other, one.fit(X, constraints=said), pickle.loads(pickle.dumps(one))):
        assert_array_equal(model.labels_, one.labels_)
        assert_array_equal(model.means_, one.means_)
    frame = pd.DataFrame(X, columns=["a", "b"])
    assert_array_equal(clone(one).fit(frame, constraints=said).labels_, one.labels_)


@pytest.mark.parametrize("cls", BOTH)
def test_where_the_origin_lies_and_in_which_order_rows_come_does_not_matter(cls):
    X, y = blobs(5, apart=4.0)
    said = truth(y, 25)
    init = np.array([[0.0, 0.0], [4.0, 4.0], [8.0, 8.0]])
    one = cls(3, init=init).fit(X, constraints=said)
    far = cls(3, init=init + 1e6).fit(X + 1e6, constraints=said)
    assert_array_equal(far.labels_, one.labels_)
    assert_allclose(far.covariances_, one.covariances_, rtol=1e-5, atol=1e-8)
    order = np.random.default_rng(0).permutation(60)
    turned = cls(3, init=init).fit(X[order], constraints=said[order])
    assert_array_equal(turned.labels_, one.labels_[order])
    assert_allclose(turned.lower_bound_, one.lower_bound_)


def test_statements_of_classes_that_look_alike_are_learnt():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) * [3.0, 0.6]
    y = (X[:, 1] > 0).astype(int)  # two flat classes; the data alone suggest left and right
    X[:, 1] += 0.8 * (2 * y - 1)
    X *= [2.0, 1.0]
    plain = ConstrainedGaussianMixture(2, init="k-means++", random_state=3).fit(X).labels_
    told = ConstrainedGaussianMixture(2, init="k-means++", random_state=3).fit(X, constraints=truth(y, 120)).labels_
    agree = [max((one == y).mean(), (one != y).mean()) for one in (plain, told)]
    assert agree[1] > max(agree[0], 0.95)


def test_soft_statements_hold_or_are_named():
    X, _ = blobs()
    said = Constraints.build(60, must_link=[(0, 1)], cannot_link=[(0, 1), (2, 3)], weight=[1.0, 2.0, 3.0])
    with pytest.warns(UserWarning, match="1 soft statement"):
        model = ConstrainedGaussianMixture(3, random_state=0).fit(X, constraints=said)
    assert model.labels_[0] != model.labels_[1]
    assert model.labels_[2] != model.labels_[3]


def test_mixing_weights_of_chunklets_and_of_points_differ():
    X = np.r_[np.zeros((6, 1)), np.full((2, 1), 9.0)] + np.arange(8)[:, None] * 0.01
    said = Constraints.build(8, together=[range(6)])
    whole = ConstrainedGaussianMixture(2, random_state=0).fit(X, constraints=said)
    assert_allclose(np.sort(whole.weights_), [1 / 3, 2 / 3], atol=1e-6)  # three chunklets, two of them far out
    single = ConstrainedGaussianMixture(2, sampling="points", random_state=0).fit(X, constraints=said)
    counts = np.array([6.0, 2.0])
    best = Enumeration(8, 2, [(i, i + 1) for i in range(5)], sampling="points").best_weights(counts)
    assert_allclose(np.sort(single.weights_), np.sort(best), atol=1e-4)


@pytest.mark.parametrize("cls", BOTH)
def test_sparse_and_huge_input_is_refused_by_name(cls):
    with pytest.raises(LinkwiseError, match=rf"{cls.__name__} was given sparse X.*\nHint: .*TruncatedSVD"):
        cls(2).fit(sp.eye_array(5, format="csr"))
    model = cls(2, random_state=0).fit(blobs()[0])
    with pytest.raises(LinkwiseError, match="sparse"):
        model.predict(sp.eye_array(2, format="csr"))
    with pytest.raises(MemoryLimitError, match=r'covariances of 3000000 x 3000000[\s\S]*"diag"'):
        cls(2).fit(np.zeros((2, 3_000_000)))


def test_wide_cannot_links_are_refused_with_what_helps():
    rng = np.random.default_rng(0)
    X, _ = blobs(0, 80)
    tangle = np.array([(i, j) for i in range(80) for j in range(i) if rng.random() < 0.3])
    said = Constraints.build(80, cannot_link=tangle)
    with pytest.raises(LinkwiseError, match=r"width \d+\)[\s\S]*max_states=1,048,576[\s\S]*PenalizedMixture"):
        ConstrainedGaussianMixture(40, covariance_type="spherical").fit(X, constraints=said)


def test_a_group_apart_too_large_for_any_exact_way_is_refused_before_its_pairs_are_written_out():
    X = np.random.default_rng(0).normal(size=(5000, 1))
    with pytest.raises(LinkwiseError, match=r"a group apart ties 4,000 groups"):
        ConstrainedGaussianMixture(4500).fit(X, constraints=Constraints.build(5000, apart=[range(4000)]))


def test_a_start_on_the_samples_themselves_does_not_overflow():
    X = np.array([[0.0], [1.0], [1e-200], [5.0]])
    said = Constraints.build(4, cannot_link=[(0, 2)])
    assert ConstrainedGaussianMixture(4, random_state=0).fit(X, constraints=said).labels_[0] >= 0
    assert ConstrainedGaussianMixture(2, random_state=0).fit(np.zeros((4, 1)), constraints=said).labels_.max() == 1


def test_bad_settings_are_refused():
    X, _ = blobs()
    for init in (np.zeros((3, 2)), np.full((2, 2), np.nan)):
        with pytest.raises(LinkwiseError, match=r"expected finite means of shape \(2, 2\)"):
            ConstrainedGaussianMixture(2, init=init).fit(X)
    with pytest.raises(LinkwiseError, match="collapsed"):
        ConstrainedGaussianMixture(2, reg_covar=0, random_state=0).fit(np.zeros((4, 2)))
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 iterations"):
        ConstrainedGaussianMixture(2, max_iter=1).fit(X)


@fewer
@pytest.mark.parametrize("cls", BOTH)
@pytest.mark.parametrize(
    ("X", "k"),
    [
        (np.zeros((1, 1)), 1),
        (np.zeros((6, 2)), 2),
        (np.array([[0.0], [1.0]]), 2),
        (np.c_[np.arange(6.0), np.ones(6)], 6),
        (np.arange(8.0)[:, None] * 1e150, 2),
        (np.arange(8.0)[:, None] * 1e-3, 1),
    ],
)
def test_degenerate_data_give_finite_answers(cls, X, k):
    model = cls(k, random_state=0, max_iter=300).fit(X)
    assert np.isfinite(model.means_).all()
    assert np.isfinite(model.lower_bound_)
    assert np.isfinite(model.responsibilities_).all()
    assert model.labels_.max() < k


@pytest.mark.parametrize("kind", TYPES)
def test_drawn_samples_look_like_the_mixture(kind):
    X, _ = blobs(0, 300, 2, apart=8.0)
    model = ConstrainedGaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
    rows, labels = model.sample(4000)
    assert_array_equal(model.predict(rows), labels)
    for j in range(2):
        assert_allclose(rows[labels == j].mean(axis=0), model.means_[j], atol=0.2)
        assert_allclose(np.cov(rows[labels == j].T), full(model.covariances_, kind, 2, 2)[j], atol=0.25)
