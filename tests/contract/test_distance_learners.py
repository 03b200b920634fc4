"""What learners of a distance that is no linear map owe: a distance, knowledge that counts."""

from __future__ import annotations

import pickle
import warnings

import joblib
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

from linkwise import ConstrainedAgglomerative, Constraints, Kind, MinSeparation, verify
from linkwise.engines import DistanceLearner, MetricLearner
from linkwise.exceptions import LinkwiseWarning, UnsupportedConstraintError
from tests.contract.discovery import estimators, said, truth
from tests.contract.test_metric_learners import data, knowledge

LEARNERS = [
    cls for cls in estimators(DistanceLearner) if not issubclass(cls, MetricLearner) and cls is not MetricLearner
]
DRESSES = {"DistBoost": [{"n_clusters": 3}, {"n_clusters": 2, "covariance_type": "diag"}, {"covariance_type": "tied"}]}
DRESSED = [cls(**dress, n_rounds=8, random_state=0) for cls in LEARNERS for dress in DRESSES[cls.__name__]]
CASES = [(model, kind) for model in DRESSED for kind in Kind if kind in type(model).understands]

each = pytest.mark.parametrize("model", DRESSED, ids=repr)
each_kind = pytest.mark.parametrize(("model", "kind"), CASES, ids=[f"{model!r}-{kind.word}" for model, kind in CASES])


def fitted(model, X, c):
    return clone(model).fit(X, constraints=c)


def test_the_walk_finds_the_learners():
    assert {cls.__name__ for cls in LEARNERS} == set(DRESSES)
    assert all(cls.understands for cls in LEARNERS)


@each
def test_it_is_a_distance_and_all_its_faces_agree(model):
    for seed in range(3):
        X, y = data(seed)
        model = fitted(model, X, knowledge(model, y, seed))
        D, Z = model.distance_matrix(X), model.transform(X)
        assert_array_equal(D, D.T)
        assert_array_equal(np.diag(D), 0.0)
        assert D.min() >= 0 <= D.max() <= 1
        assert_allclose(np.abs(Z[:, None] - Z).sum(axis=2), D, atol=1e-12)
        pairs = np.random.default_rng(seed).integers(len(X), size=(20, 2))
        far = model.pair_distance(X[pairs])
        assert_allclose(far, D[pairs[:, 0], pairs[:, 1]], atol=1e-10)
        assert_array_equal(model.score_pairs(X[pairs]), -far)
        metric = pickle.loads(pickle.dumps(model.get_metric()))
        assert_allclose([metric(X[i], X[j]) for i, j in pairs], far, atol=1e-10)
        assert metric(X[0], X[1]) == metric(X[1], X[0])
        with pytest.raises(ValueError, match=r"expected \(n_pairs, 2, 4\)"):
            model.pair_distance(X)


@each
def test_what_is_alike_comes_nearer_than_what_is_not(model):
    X, y = data(1)
    D = fitted(model, X, knowledge(model, y, m=40)).distance_matrix(X)
    same = (y[:, None] == y)[np.triu_indices(len(y), 1)]

    def ratio(far):
        far = far[np.triu_indices(len(y), 1)]
        return far[same].mean() / far[~same].mean()

    assert ratio(D) < ratio(np.linalg.norm(X[:, None] - X, axis=2)) - 0.02


@each
def test_moving_and_scaling_the_space_changes_no_distance(model):
    X, y = data(2)
    c = knowledge(model, y)
    expected = fitted(model, X, c).distance_matrix(X)
    for Y in (X + np.array([10.0, -3.0, 0.5, 7.0]), 8 * X):
        assert_allclose(fitted(model, Y, c).distance_matrix(Y), expected, atol=1e-6)


@each
def test_without_statements_every_hypothesis_counts_the_same(model):
    X, y = data(4)
    nothing = [None, Constraints.build(40), Constraints.from_labels(np.full(40, -1))]
    nothing += [said(kind, truth(kind, y, 0), 40, weight=0.0) for kind in type(model).understands]
    first, *others = (clone(model).fit(X, constraints=c).transform(X) for c in nothing)
    for other in others:
        assert_array_equal(other, first)
    assert_allclose(clone(model).fit(X).weights_, 1 / 8)


@each_kind
def test_each_kind_counts(model, kind):
    X, y = data(0)
    needed = {kind, Kind.MUST_LINK, Kind.CANNOT_LINK}
    c = knowledge(model, y, kinds=needed)
    less = c.select(np.flatnonzero(c.kind != kind))
    without, told = (fitted(model, X, one).transform(X) for one in (less, c))
    assert told.shape != without.shape or not np.allclose(told, without, rtol=1e-3)


@each
def test_weights_count(model):
    X, y = data(6)
    c = knowledge(model, y, m=12)
    base = fitted(model, X, c).transform(X)
    assert_array_equal(base, fitted(model, X, c.with_weight(1.0)).transform(X))  # hard weighs 1
    half = np.arange(c.n_statements) < c.n_statements // 2
    uneven = fitted(model, X, c.with_weight(np.where(half, 5.0, 0.2))).transform(X)
    assert uneven.shape != base.shape or not np.allclose(uneven, base, rtol=1e-3)
    mixed, soft = (fitted(model, X, c.with_weight(w)).transform(X) for w in (np.where(half, np.inf, 3.0), 3.0))
    assert_array_equal(mixed, soft)  # hard weighs as much as the heaviest soft one


@each
def test_contradictions_are_weighed_not_fatal(model):
    X, y = data(8)
    wrong = {"must_link": [(0, 3), (3, 6)], "cannot_link": [(0, 6), (0, 1)]}
    c = knowledge(model, y, m=5) | Constraints.build(40, **wrong)
    with pytest.warns(LinkwiseWarning, match="keep apart what must-links join"):
        told = clone(model).fit(X, constraints=c)
    assert np.isfinite(told.distance_matrix(X)).all()


@each
def test_foreign_kinds_and_rules_are_refused_by_name(model):
    X, y = data(9)
    for kind in Kind:
        if kind not in type(model).understands:
            with pytest.raises(
                UnsupportedConstraintError, match=f"{type(model).__name__} does not understand {kind.word}"
            ):
                clone(model).fit(X, constraints=said(kind, truth(kind, y, 0), 40))
    with pytest.raises(UnsupportedConstraintError, match="MinSeparation"):
        clone(model).fit(X, constraints=Constraints.build(40, rules=MinSeparation(0.1)))


@each
def test_a_failed_fit_leaves_the_old_distance(model):
    X, y = data(10)
    told = fitted(model, X, knowledge(model, y))
    before = dict(told.__dict__)
    with pytest.raises(UnsupportedConstraintError):
        told.fit(X[:, :3], constraints=Constraints.build(40, cannot_link_any=[(0, 1, 2)]))
    with pytest.raises(ValueError, match="NaN"):
        told.fit(np.full((40, 4), np.nan))
    assert told.__dict__ == before


@each
@pytest.mark.parametrize("case", ["wide", "constant", "duplicates", "collinear", "huge", "tiny", "equal", "two"])
def test_hard_data_give_finite_distances(model, case):
    X, y = data(11)
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
    }[case]()
    c = knowledge(model, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)  # coincident pairs, nothing to weigh
        told, again = (clone(model).fit(X, constraints=c) for _ in range(2))
    D = told.distance_matrix(X)
    assert np.isfinite(D).all()
    assert D.max() <= 1
    assert_array_equal(D, again.distance_matrix(X))


@each
def test_copies_and_second_fits_agree_to_the_last_bit(model):
    X, y = data(13)
    c = knowledge(model, y)
    X.setflags(write=False)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    told = fitted(model, X, c)
    expected = told.transform(X)
    assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    for other in (pickle.loads(pickle.dumps(told)), clone(told).fit(X, constraints=c), told.fit(X, constraints=c)):
        assert_array_equal(other.transform(X), expected)
    assert_allclose(expected, fitted(model, np.asfortranarray(X), c).transform(X))
    assert told.constraints_ == c


def test_joblib_fits_in_other_processes_as_here():
    X, y = data(13)
    jobs = [(model, knowledge(model, y)) for model in DRESSED]
    there = joblib.Parallel(n_jobs=2)(joblib.delayed(clone(model).fit)(X, constraints=c) for model, c in jobs)
    for (model, c), told in zip(jobs, there, strict=True):
        assert_array_equal(told.transform(X), fitted(model, X, c).transform(X))


@each
def test_frames_bind_by_name_and_new_features_have_names(model):
    X, y = data(14)
    ids = np.array([f"item{i}" for i in range(40)])
    c = knowledge(model, y)
    named = Constraints(40, c.kind, c.items, c.weight, c.row, (), ids, c.groups)
    frame = pd.DataFrame(X, index=ids, columns=["a", "b", "c", "d"])
    told = clone(model).set_output(transform="pandas").fit(frame, constraints=named)
    out = told.transform(frame)
    assert out.columns.tolist() == [f"{type(model).__name__.lower()}{i}" for i in range(out.shape[1])]
    assert out.index.tolist() == ids.tolist()
    plain = fitted(model, X, c)
    assert_allclose(out.to_numpy(), plain.transform(X))
    assert_allclose(told.distance_matrix(frame), plain.distance_matrix(X))


@each
def test_sparse_data_are_refused_by_name(model):
    X, y = data(15)
    with pytest.raises(TypeError, match=f"{type(model).__name__} needs dense X, but X is sparse.\nHint"):
        clone(model).fit(sp.csr_array(X), constraints=knowledge(model, y))


@each
def test_a_pipeline_brings_the_same_statements_to_both_steps(model):
    X, y = data(16)
    c = knowledge(model, y, m=8)
    Y = StandardScaler().fit_transform(X)
    follower = ConstrainedAgglomerative(None, linkage="average", metric="cityblock")
    by_hand = clone(follower).fit(fitted(model, Y, c).transform(Y), constraints=c)
    pipe = Pipeline([("scale", StandardScaler()), ("metric", clone(model)), ("cluster", follower)])
    labels = pipe.fit_predict(X, metric__constraints=c, cluster__constraints=c)
    assert_array_equal(labels, by_hand.labels_)
    assert verify(pipe["cluster"].dendrogram_, c).ok
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(pipe).fit(X, constraints=c)
        assert_array_equal(routed["cluster"].labels_, by_hand.labels_)
        assert routed["metric"].constraints_ == routed["cluster"].constraints_ == c


@each
def test_grid_search_slices_statements(model):
    X, y = data(17)
    c = knowledge(model, y, m=30, kinds={Kind.MUST_LINK, Kind.CANNOT_LINK})
    pipe = make_pipeline(clone(model), KMeans(3, n_init=2, random_state=0))
    name = type(model).__name__.lower()
    search = GridSearchCV(pipe, {f"{name}__n_clusters": [2, 3]}, cv=2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        search.fit(X, **{f"{name}__constraints": c})
    assert np.isfinite(search.best_score_)
