"""Learned metrics and distances: they are ones, statements and their weights shape them, and pipelines carry both."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from linkwise import ConstrainedAgglomerative, Constraints, Kind, ReCon, verify
from linkwise.exceptions import LinkwiseWarning
from tests.contract.cases import DISTANCE, LEARNERS, METRIC, each, features, fit
from tests.contract.discovery import table, truth


def matrix(model):
    """The matrix of a metric."""
    M = model.get_mahalanobis_matrix()
    return M.toarray() if sp.issparse(M) else M


def shape(case, model, X):
    """A matrix that tells learned distances apart but for their scale."""
    found = matrix(model) if case.answers == METRIC else model.distance_matrix(X)
    return found / np.linalg.norm(found)


def distances(model, X):
    """Distances between all pairs of rows."""
    return model.pair_distance(X[np.transpose(np.triu_indices(len(X), 1))])


def without_warnings(model, X, c):
    """Fit where statements coincide, or have nothing to be weighed against."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        return fit(model, X, c)


# -- a distance --------------------------------------------------------------------------------------------------------


def assert_metric(fitted, X):
    """The distance is that of a matrix without negative eigenvalues."""
    M = matrix(fitted)
    assert_array_equal(M, M.T)
    values = np.linalg.eigvalsh(M)
    assert values[0] >= -1e-10 * values[-1]
    assert values[-1] > 0
    assert_allclose(fitted.transform(X), X @ fitted.components_.T)
    gap, far = X[1:] - X[:-1], fitted.pair_distance(np.stack([X[1:], X[:-1]], axis=1))
    assert_allclose(far**2, np.einsum("ij,jk,ik->i", gap, M, gap), atol=1e-12 * values[-1] * (gap**2).sum())


def assert_distance(fitted, X):
    """The distance is symmetric and at most 1."""
    D, Z = fitted.distance_matrix(X), fitted.transform(X)
    assert_array_equal(D, D.T)
    assert_array_equal(np.diag(D), 0.0)
    assert D.min() >= 0 <= D.max() <= 1
    assert_allclose(np.abs(Z[:, None] - Z).sum(axis=2), D, atol=1e-12)
    assert_allclose(distances(fitted, X), D[np.triu_indices(len(X), 1)], atol=1e-10)


@each(LEARNERS, "model")
def test_it_is_a_metric_or_a_distance_and_all_ways_to_ask_for_it_agree(case, model):
    for seed in range(3):
        X, y = features(seed)
        fitted = fit(model, X, case.statements(y, seed))
        (assert_metric if case.answers == METRIC else assert_distance)(fitted, X)
        pairs = np.random.default_rng(seed).integers(len(X), size=(20, 2))
        far = fitted.pair_distance(X[pairs])
        gap = np.subtract(*fitted.transform(X)[pairs.T])
        exact = 1e-12 if case.answers == METRIC else 1e-10
        assert_allclose(far, np.linalg.norm(gap, axis=1, ord=2 if case.answers == METRIC else 1), atol=exact)
        assert_array_equal(fitted.score_pairs(X[pairs]), -far)
        metric = pickle.loads(pickle.dumps(fitted.get_metric()))
        assert_allclose([metric(X[i], X[j]) for i, j in pairs], far, atol=exact)
        assert metric(X[0], X[1]) == metric(X[1], X[0])
        with pytest.raises(ValueError, match=r"expected \(n_pairs, 2, 4\)"):
            fitted.pair_distance(X)


@each(LEARNERS, "model")
def test_samples_of_one_class_come_nearer_than_others(case, model):
    X, y = features(1)
    rows, columns = np.triu_indices(len(y), 1)
    same = y[rows] == y[columns]

    def ratio(far):
        return far[same].mean() / far[~same].mean()

    learned = distances(fit(model, X, case.statements(y, m=40)), X)
    assert ratio(learned) < ratio(np.linalg.norm(X[rows] - X[columns], axis=1)) - 0.02


@each(LEARNERS, "model")
def test_moving_turning_or_scaling_the_space_changes_no_distance(case, model):
    X, y = features(2)
    c = case.statements(y)
    rng = np.random.default_rng(0)
    moved, atol, rtol = [X + rng.normal(size=4) * 10], 1e-3, 0.02
    if case.answers == DISTANCE:
        moved, atol, rtol = [X + np.array([10.0, -3.0, 0.5, 7.0]), 8 * X], 1e-6, 0
    elif not model._keeps_features():
        moved += [X @ np.linalg.qr(rng.normal(size=(4, 4)))[0], X[:, [2, 0, 3, 1]]]
    expected = distances(fit(model, X, c), X)
    for Y in moved:
        assert_allclose(distances(fit(model, Y, c), Y), expected, rtol=rtol, atol=atol * expected.max())


@each((METRIC,), "model")
def test_the_order_of_rows_and_statements_changes_no_distance(case, model):
    X, y = features(3)
    c = case.statements(y)
    rng = np.random.default_rng(1)
    order = rng.permutation(len(X))
    expected = distances(fit(model, X, c), X)
    for other, known in ((X[order], c[order]), (X, c.select(rng.permutation(c.n_statements)))):
        found = distances(fit(model, other, known), X)
        assert_allclose(found, expected, rtol=0.02, atol=1e-3 * expected.max())


# -- statements --------------------------------------------------------------------------------------------------------


@each(LEARNERS, "model")
def test_without_statements_nothing_is_learned(case, model):
    X, y = features(4)
    tables = [None, Constraints.build(40), Constraints.from_labels(np.full(40, -1))]
    tables += [table(kind, truth(kind, y, 0), 40, weight=0.0) for kind in case.kinds]
    first, *others = (fit(model, X, c) for c in tables)
    for other in others:
        assert_array_equal(other.transform(X), first.transform(X))
    if case.answers == DISTANCE:
        assert_allclose(first.weights_, 1 / 8)
    elif getattr(model, "n_components", None) is None:
        assert_array_equal(first.components_, np.eye(4))
        assert_array_equal(first.transform(X), X)
    else:  # the first principal direction
        axes = np.linalg.eigh(np.cov(X.T))[1]
        assert abs(first.components_[0] @ axes[:, -1]) == pytest.approx(1.0)
    assert getattr(first, "n_iter_", 1) >= 1


@each(LEARNERS, "model", "kind")
def test_each_kind_counts(case, model, kind):
    needed = {kind}
    if kind is not Kind.TRIPLET:  # most need something to weigh it against
        needed |= {Kind.MUST_LINK, Kind.CANNOT_LINK} & case.kinds

    def changes(seed):
        X, y = features(seed)
        c = case.statements(y, seed, kinds=needed)
        less = without_warnings(model, X, c.select(np.flatnonzero(c.kind != kind))).transform(X)
        more = fit(model, X, c).transform(X)
        return more.shape != less.shape or not np.allclose(more, less, rtol=1e-3)

    assert any(changes(seed) for seed in range(3))


@each(LEARNERS, "model")
def test_weights_count(case, model):
    X, y = features(6)
    c = case.statements(y, m=12)

    def weighed(weight):
        return fit(model, X, c.with_weight(weight))

    base, rows = fit(model, X, c), np.arange(c.n_statements)
    half = rows < c.n_statements // 2
    assert_array_equal(base.transform(X), weighed(1.0).transform(X))  # hard weighs 1
    assert not np.allclose(shape(case, weighed(np.where(half, 5.0, 0.2)), X), shape(case, base, X), rtol=1e-3)
    mixed = weighed(np.where(half, np.inf, 3.0))  # hard weighs as much as the heaviest soft one
    assert_array_equal(mixed.transform(X), weighed(3.0).transform(X))
    if case.answers == METRIC:
        few = matrix(fit(model, X, c.select(rows[::2])))
        faint = matrix(weighed(np.where(rows % 2, 1e-12, 1.0)))
        assert_allclose(faint, few, rtol=0.01, atol=1e-3 * few.max())


@each((METRIC,), "model", where=lambda case: case.adds_weights)
def test_stating_twice_adds_the_weights(case, model):
    """Closed forms of chunklets do not: they count a pair once, by its largest weight."""
    X, y = features(7)
    c = case.statements(y, m=10)
    twice = c.with_weight(0.3) | c.with_weight(0.5)
    assert twice.n_statements == 2 * c.n_statements
    once, both = (matrix(fit(model, X, known)) for known in (c.with_weight(0.8), twice))
    assert_allclose(both / np.trace(both), once / np.trace(once), atol=2e-3)


@each(LEARNERS, "model", where=lambda case: case.kinds & {Kind.TRIPLET, Kind.CANNOT_LINK})
def test_contradictions_are_weighed_not_fatal(case, model):
    X, y = features(8)
    wrong, word = {"must_link": [(0, 3), (3, 6)], "cannot_link": [(0, 6), (0, 1)]}, "keep apart what must-links join"
    if Kind.TRIPLET in case.kinds:
        wrong, word = {"triplets": [(0, 3, 1), (0, 1, 3)]}, "contradict"
    with pytest.warns(LinkwiseWarning, match=word):
        fitted = fit(model, X, case.statements(y, m=5) | Constraints.build(40, **wrong))
    assert np.isfinite(fitted.transform(X)).all()


# -- hard data ---------------------------------------------------------------------------------------------------------


@each(LEARNERS, "model")
@pytest.mark.parametrize("sort", ["wide", "constant", "duplicates", "collinear", "huge", "tiny", "equal", "two"])
def test_hard_data_give_finite_distances(case, model, sort):
    X, y = features(11)
    rng = np.random.default_rng(0)
    X = {
        "wide": lambda: rng.normal(size=(40, 60)) + y[:, None],
        "constant": lambda: np.column_stack([X, np.full(40, 7.0), np.zeros(40)]),
        "duplicates": lambda: X[np.arange(40) % 6],
        "collinear": lambda: np.column_stack([X, X @ rng.normal(size=(4, 2))]),
        "huge": lambda: X * 1e6,
        "tiny": lambda: X * 1e-6,
        "equal": lambda: np.ones((40, 3)),
        "two": lambda: X[:, :2],
    }[sort]()
    first, again = (without_warnings(model, X, case.statements(y)) for _ in range(2))
    far = distances(first, X)
    assert np.isfinite(far).all()
    assert_array_equal(far, distances(again, X))
    assert np.isfinite(first.transform(X)).all()
    if case.answers == METRIC:
        assert np.isfinite(first.components_).all()
        assert np.isfinite(first.objective_)
    else:
        assert far.max() <= 1


@each(LEARNERS, "model")
def test_pairs_that_coincide_are_left_out_with_a_warning_or_do_no_harm(case, model):
    X, y = features(12)
    X[1] = X[0] = X[3]
    c = case.statements(y)
    if case.warns_of_coincident_pairs:
        c |= Constraints.build(40, cannot_link=[(0, 1)], must_link=[(0, 3)])
        with pytest.warns(LinkwiseWarning, match="have the same features"):
            fitted = fit(model, X, c)
    else:
        fitted = fit(model, X, c)
    assert np.isfinite(fitted.transform(X)).all()


# -- frames, sparse data and pipelines ---------------------------------------------------------------------------------


@each(LEARNERS, "model")
def test_frames_bind_by_name_and_new_features_have_names(case, model):
    X, y = features(14)
    ids = np.array([f"item{i}" for i in range(40)])
    c = case.statements(y)
    named = Constraints(40, c.kind, c.items, c.weight, c.row, ids=ids, groups=c.groups)
    frame = pd.DataFrame(X, index=ids, columns=["a", "b", "c", "d"])
    order = np.random.default_rng(0).permutation(40) if case.answers == METRIC else np.arange(40)
    fitted = clone(model).set_output(transform="pandas").fit(frame.iloc[order], constraints=named)
    out = fitted.transform(frame)
    names = [f"{case.name.lower()}{i}" for i in range(out.shape[1])]
    if case.answers == METRIC and model._keeps_features():
        names = ["a", "b", "c", "d"]
    assert out.columns.tolist() == names
    assert out.index.tolist() == ids.tolist()
    plain = fit(model, X, c).transform(X)
    exact = case.answers == DISTANCE  # its rows are not permuted
    assert_allclose(
        out.to_numpy(), plain, rtol=1e-7 if exact else 0.02, atol=0 if exact else 5e-3 * np.abs(plain).max()
    )
    if exact:
        assert_allclose(fitted.distance_matrix(frame), fit(model, X, c).distance_matrix(X))


@each(LEARNERS, "model")
@pytest.mark.parametrize("sparse", [sp.csr_matrix, sp.csc_array])
def test_sparse_data_are_as_dense_or_refused_by_name(case, model, sparse):
    X, y = features(15)
    X[np.abs(X) < 1] = 0
    c = case.statements(y)
    if not model.__sklearn_tags__().input_tags.sparse:
        with pytest.raises(TypeError, match=f"{case.name} needs dense X, but X is sparse.\nHint"):
            fit(model, sparse(X), c)
        return
    fitted = fit(model, sparse(X), c)
    out = fitted.transform(sparse(X))
    assert sp.issparse(out)
    expected = fit(model, X, c).transform(X)
    assert_allclose(out.toarray(), expected, atol=2e-3 * np.abs(expected).max())
    assert_allclose(fitted.pair_distance(X[[(0, 1)]]), np.linalg.norm(out.toarray()[0] - out.toarray()[1]))


def follower(case):
    """A clusterer of linkwise that understands all the learner does."""
    if case.answers == DISTANCE:
        return ConstrainedAgglomerative(None, linkage="average", metric="cityblock")
    return ReCon(None) if Kind.TRIPLET in case.kinds else ConstrainedAgglomerative(None)


@each(LEARNERS, "model")
def test_a_pipeline_brings_the_same_statements_to_both_steps(case, model):
    X, y = features(16)
    c = case.statements(y, m=8)
    Y = StandardScaler().fit_transform(X)
    by_hand = fit(follower(case), fit(model, Y, c).transform(Y), c)
    pipe = Pipeline([("scale", StandardScaler()), ("metric", clone(model)), ("cluster", follower(case))])
    labels = pipe.fit_predict(X, metric__constraints=c, cluster__constraints=c)
    assert_array_equal(labels, by_hand.labels_)
    assert verify(pipe["cluster"].dendrogram_, c).ok
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(pipe).fit(X, constraints=c)
        assert_array_equal(routed["cluster"].labels_, by_hand.labels_)
        assert routed["metric"].constraints_ == routed["cluster"].constraints_ == c
        assert_allclose(clone(model).fit_transform(X, constraints=c), fit(model, X, c).transform(X))


GRID = {"n_components": [1, 2], "C": [0.5, 2.0], "slack": [0.5, 2.0], "n_clusters": [2, 3], "tol": [1e-4, 1e-3]}


@each(LEARNERS, "model")
def test_grid_search_slices_statements(case, model):
    X, y = features(17)
    c = case.statements(y, m=30, kinds=case.kinds if case.answers == METRIC else {Kind.MUST_LINK, Kind.CANNOT_LINK})
    pipe, step = make_pipeline(clone(model), KMeans(3, n_init=2, random_state=0)), case.name.lower()
    option = next(name for name in GRID if case.has(name))
    folds = 3 if case.answers == METRIC else 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        search = GridSearchCV(pipe, {f"{step}__{option}": GRID[option]}, cv=folds, error_score="raise")
        search.fit(X, **{f"{step}__constraints": c})
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_[0].constraints_ == c
