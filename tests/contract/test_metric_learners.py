"""What every metric learner owes: a metric that is one, and knowledge that counts."""

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

from linkwise import (
    RCA,
    ConstrainedAgglomerative,
    Constraints,
    Kind,
    MinSeparation,
    ReCon,
    SVMMetric,
    XingMetric,
    verify,
)
from linkwise.engines import MetricLearner
from linkwise.exceptions import LinkwiseWarning, UnsupportedConstraintError
from tests.contract.discovery import estimators, said, truth

LEARNERS = estimators(MetricLearner)
DRESSES = {
    "ChunkletLDA": [{}, {"n_components": 1}, {"shrinkage": 0.5}],
    "DiscriminativeRCA": [{}, {"n_components": 1}],
    "ITML": [{}, {"solver": "lbfgs"}, {"solver": "bregman", "tol": 1e-5}, {"prior": "covariance"}, {"slack": 0.1}],
    "LSML": [{}, {"loss": "margin"}, {"prior": "covariance"}],
    "RCA": [{}, {"n_components": 1}, {"shrinkage": 0.2}],
    "SVMMetric": [{}, {"C": 10.0}],
    "XingMetric": [{}, {"form": "diagonal"}, {"solver": "projection"}],
}
DRESSED = [cls(**dress) for cls in LEARNERS for dress in DRESSES[cls.__name__]]
CASES = [(model, kind) for model in DRESSED for kind in Kind if kind in type(model).understands]
# closed forms of chunklets count a pair once, and take for its weight the largest said
ADDS = ("ITML", "LSML", "SVMMetric", "XingMetric")

each = pytest.mark.parametrize("model", DRESSED, ids=repr)
each_kind = pytest.mark.parametrize(("model", "kind"), CASES, ids=[f"{model!r}-{kind.word}" for model, kind in CASES])


def data(seed=0, n=40, d=4):
    """Three classes told apart by the first two features; the last two are loud and say nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, d))
    X[:, :2] += 2.5 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    X[:, 2:] *= 3
    return X, y


def knowledge(model, y, seed=0, m=15, weight=np.inf, kinds=None):
    """True statements of all the kinds a learner understands."""
    kinds = [kind for kind in Kind if kind in (kinds or type(model).understands)]
    return Constraints.build(len(y), **{kind.word: truth(kind, y, seed + kind, m) for kind in kinds}, weight=weight)


def fitted(model, X, c):
    return clone(model).fit(X, constraints=c)


def matrix(model):
    M = model.get_mahalanobis_matrix()
    return M.toarray() if sp.issparse(M) else M


def is_diagonal(model):
    return model._keeps_features()


def test_the_walk_finds_the_learners():
    names = {"ChunkletLDA", "DiscriminativeRCA", "ITML", "LSML", "RCA", "SVMMetric", "XingMetric"}
    assert names <= {cls.__name__ for cls in LEARNERS} == set(DRESSES)
    assert all(cls.understands for cls in LEARNERS)


# -- a metric ---------------------------------------------------------------------------------------------------------


@each
def test_it_is_a_metric_and_all_its_faces_agree(model):
    for seed in range(3):
        X, y = data(seed)
        model = fitted(model, X, knowledge(model, y, seed))
        M = matrix(model)
        assert_array_equal(M, M.T)
        values = np.linalg.eigvalsh(M)
        assert values[0] >= -1e-10 * values[-1]
        assert values[-1] > 0
        Z = model.transform(X)
        assert_allclose(Z, X @ model.components_.T)
        pairs = np.random.default_rng(seed).integers(len(X), size=(20, 2))
        far = model.pair_distance(X[pairs])
        assert_allclose(far, np.linalg.norm(Z[pairs[:, 0]] - Z[pairs[:, 1]], axis=1), atol=1e-12)
        diff = X[pairs[:, 0]] - X[pairs[:, 1]]
        assert_allclose(far**2, np.einsum("ij,jk,ik->i", diff, M, diff), atol=1e-12 * values[-1] * (diff**2).sum())
        assert_array_equal(model.score_pairs(X[pairs]), -far)
        metric = pickle.loads(pickle.dumps(model.get_metric()))
        assert_allclose([metric(X[i], X[j]) for i, j in pairs], far, atol=1e-12)
        with pytest.raises(ValueError, match=r"expected \(n_pairs, 2, 4\)"):
            model.pair_distance(X)


@each
def test_what_is_alike_comes_nearer_than_what_is_not(model):
    X, y = data(1)
    model = fitted(model, X, knowledge(model, y, m=40))
    Z, same = model.transform(X), (y[:, None] == y)[np.triu_indices(len(y), 1)]

    def ratio(rows):
        far = np.linalg.norm(rows[:, None] - rows, axis=2)[np.triu_indices(len(y), 1)]
        return far[same].mean() / far[~same].mean()

    assert ratio(Z) < ratio(X) - 0.02


@each
def test_moving_and_turning_the_space_changes_no_distance(model):
    X, y = data(2)
    c = knowledge(model, y)
    rng = np.random.default_rng(0)
    turn = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    pairs = rng.integers(len(X), size=(30, 2))
    moved = [X + rng.normal(size=4) * 10]
    if not is_diagonal(model):
        moved += [X @ turn, X[:, [2, 0, 3, 1]]]
    expected = fitted(model, X, c).pair_distance(X[pairs])
    for Y in moved:
        found = fitted(model, Y, c).pair_distance(Y[pairs])
        assert_allclose(found, expected, rtol=0.02, atol=1e-3 * expected.max())


@each
def test_the_order_of_rows_and_statements_changes_no_distance(model):
    X, y = data(3)
    c = knowledge(model, y)
    rng = np.random.default_rng(1)
    pairs, order = rng.integers(len(X), size=(30, 2)), rng.permutation(len(X))
    expected = fitted(model, X, c).pair_distance(X[pairs])
    for other, said_ in ((X[order], c[order]), (X, c.select(rng.permutation(c.n_statements)))):
        found = fitted(model, other, said_).pair_distance(X[pairs])
        assert_allclose(found, expected, rtol=0.02, atol=1e-3 * expected.max())


# -- knowledge --------------------------------------------------------------------------------------------------------


@each
def test_without_statements_it_stays_euclidean(model):
    X, y = data(4)
    kinds = type(model).understands
    nothing = [None, Constraints.build(40), Constraints.from_labels(np.full(40, -1))]
    nothing += [said(kind, truth(kind, y, 0), 40, weight=0.0) for kind in kinds]
    for c in nothing:
        told = clone(model).fit(X, constraints=c)
        if getattr(model, "n_components", None) is None:
            assert_array_equal(told.components_, np.eye(4))
            assert_array_equal(told.transform(X), X)
        else:  # the best direction of somebody who was told nothing: the first principal one
            axes = np.linalg.eigh(np.cov(X.T))[1]
            assert abs(told.components_[0] @ axes[:, -1]) == pytest.approx(1.0)
        assert told.n_iter_ >= 1


@each_kind
def test_each_kind_counts(model, kind):
    needed = {kind}
    if kind is not Kind.TRIPLET:  # most need something to weigh it against
        needed = {kind, *({Kind.MUST_LINK, Kind.CANNOT_LINK} & type(model).understands)}
    changed = 0
    for seed in range(3):
        X, y = data(seed)
        c = knowledge(model, y, seed, kinds=needed)
        less = c.select(np.flatnonzero(c.kind != kind))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkwiseWarning)
            without = clone(model).fit(X, constraints=less).transform(X)
        told = fitted(model, X, c).transform(X)
        changed += told.shape != without.shape or not np.allclose(told, without, rtol=1e-3)
    assert changed > 0


@each
def test_weights_count(model):
    X, y = data(6)
    c = knowledge(model, y, m=12)
    base = fitted(model, X, c)
    assert_array_equal(base.components_, fitted(model, X, c.with_weight(1.0)).components_)  # hard weighs 1
    half = c.n_statements // 2
    few = fitted(model, X, c.select(np.arange(0, c.n_statements, 2)))
    faint = np.where(np.arange(c.n_statements) % 2, 1e-12, 1.0)
    assert_allclose(
        matrix(fitted(model, X, c.with_weight(faint))), matrix(few), rtol=0.01, atol=1e-3 * matrix(few).max()
    )
    uneven = np.where(np.arange(c.n_statements) < half, 5.0, 0.2)
    heavy = matrix(fitted(model, X, c.with_weight(uneven)))
    assert not np.allclose(heavy / np.trace(heavy), matrix(base) / np.trace(matrix(base)), rtol=1e-3)
    mixed = np.where(np.arange(c.n_statements) < half, np.inf, 3.0)  # hard weighs as much as the heaviest soft one
    assert_array_equal(
        fitted(model, X, c.with_weight(mixed)).components_, fitted(model, X, c.with_weight(3.0)).components_
    )


@pytest.mark.parametrize("model", [m for m in DRESSED if type(m).__name__ in ADDS], ids=repr)
def test_saying_it_twice_adds_the_weights(model):
    X, y = data(7)
    c = knowledge(model, y, m=10)
    thrice = c.with_weight(0.3) | c.with_weight(0.5)
    if thrice.n_statements == c.n_statements:  # a table may merge what is said twice; then weights cannot be told apart
        pytest.fail("expected both copies to be kept")
    once, both = (matrix(fitted(model, X, told)) for told in (c.with_weight(0.8), thrice))
    assert_allclose(both / np.trace(both), once / np.trace(once), atol=2e-3)


@each
def test_contradictions_are_weighed_not_fatal(model):
    X, y = data(8)
    if Kind.TRIPLET in type(model).understands:
        wrong, word = {"triplets": [(0, 3, 1), (0, 1, 3)]}, "contradict"
    else:
        wrong, word = (
            {"must_link": [(0, 3), (3, 6)], "cannot_link": [(0, 6), (0, 1)]},
            "keep apart what must-links join",
        )
    if Kind.TRIPLET not in type(model).understands and Kind.CANNOT_LINK not in type(model).understands:
        assert Kind.MUST_LINK in type(model).understands  # must-links alone contradict nothing
        return
    c = knowledge(model, y, m=5) | Constraints.build(40, **wrong)
    with pytest.warns(LinkwiseWarning, match=word):
        told = clone(model).fit(X, constraints=c)
    assert np.isfinite(told.components_).all()


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
def test_a_failed_fit_leaves_the_old_metric(model):
    X, y = data(10)
    told = fitted(model, X, knowledge(model, y))
    before = dict(told.__dict__)
    foreign = Constraints.build(40, cannot_link_any=[(0, 1, 2)])
    with pytest.raises(UnsupportedConstraintError):
        told.fit(X[:, :3], constraints=foreign)
    with pytest.raises(ValueError, match="NaN"):
        told.fit(np.full((40, 4), np.nan))
    assert told.__dict__ == before


# -- hard data --------------------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("case", ["wide", "constant", "duplicates", "collinear", "huge", "tiny", "equal", "two"])
def test_hard_data_give_a_finite_metric(model, case):
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
        told = clone(model).fit(X, constraints=c)
        again = clone(model).fit(X, constraints=c)
    assert np.isfinite(told.components_).all()
    assert np.isfinite(told.objective_)
    assert_array_equal(told.components_, again.components_)
    assert np.isfinite(told.transform(X)).all()


@each
def test_pairs_that_coincide_are_told_and_left_out(model):
    X, y = data(12)
    X[1] = X[0] = X[3]
    c = knowledge(model, y)
    if Kind.CANNOT_LINK not in type(model).understands or type(model).__name__ == "DiscriminativeRCA":
        told = fitted(model, X, c)  # chunklets may be points, and so may what lies between them
    else:
        c |= Constraints.build(40, cannot_link=[(0, 1)], must_link=[(0, 3)])
        with pytest.warns(LinkwiseWarning, match="have the same features"):
            told = clone(model).fit(X, constraints=c)
    assert np.isfinite(told.components_).all()


# -- a citizen of scikit-learn ----------------------------------------------------------------------------------------


@each
def test_copies_and_second_fits_agree_to_the_last_bit(model):
    X, y = data(13)
    c = knowledge(model, y)
    X.setflags(write=False)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    told = fitted(model, X, c)
    assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    for other in (
        pickle.loads(pickle.dumps(told)),
        clone(told).fit(X, constraints=c),
        told.fit(X, constraints=c),
    ):
        assert_array_equal(other.components_, told.components_)
    assert_allclose(told.transform(X), fitted(model, np.asfortranarray(X), c).transform(X))
    assert told.constraints_ == c


def test_joblib_fits_in_other_processes_as_here():
    X, y = data(13)
    models = [XingMetric(), RCA(), SVMMetric()]
    jobs = [(model, knowledge(model, y)) for model in models]
    there = joblib.Parallel(n_jobs=2)(joblib.delayed(clone(model).fit)(X, constraints=c) for model, c in jobs)
    for (model, c), told in zip(jobs, there, strict=True):
        assert_array_equal(told.components_, fitted(model, X, c).components_)
        assert told.constraints_ == c


@each
def test_frames_bind_by_name_and_new_features_have_names(model):
    X, y = data(14)
    ids = np.array([f"item{i}" for i in range(40)])
    c = knowledge(model, y)
    named = Constraints(40, c.kind, c.items, c.weight, c.row, (), ids, c.groups)
    frame = pd.DataFrame(X, index=ids, columns=["a", "b", "c", "d"])
    order = np.random.default_rng(0).permutation(40)
    told = clone(model).set_output(transform="pandas").fit(frame.iloc[order], constraints=named)
    out = told.transform(frame)
    if is_diagonal(model):
        assert out.columns.tolist() == ["a", "b", "c", "d"]
    else:
        assert out.columns.tolist() == [f"{type(model).__name__.lower()}{i}" for i in range(out.shape[1])]
    assert out.index.tolist() == ids.tolist()
    plain = fitted(model, X, c)
    scale = np.abs(plain.transform(X)).max()
    assert_allclose(out.to_numpy(), plain.transform(X), rtol=0.02, atol=5e-3 * scale)


@each
@pytest.mark.parametrize("sparse", [sp.csr_matrix, sp.csc_array])
def test_sparse_data_are_as_dense_or_refused_by_name(model, sparse):
    X, y = data(15)
    X[np.abs(X) < 1] = 0
    c = knowledge(model, y)
    if not model._takes_sparse():
        with pytest.raises(TypeError, match=f"{type(model).__name__} needs dense X, but X is sparse.\nHint"):
            clone(model).fit(sparse(X), constraints=c)
        return
    told = clone(model).fit(sparse(X), constraints=c)
    out = told.transform(sparse(X))
    assert sp.issparse(out)
    expected = fitted(model, X, c).transform(X)
    assert_allclose(out.toarray(), expected, atol=2e-3 * np.abs(expected).max())
    assert_allclose(told.pair_distance(X[[(0, 1)]]), np.linalg.norm(out.toarray()[0] - out.toarray()[1]))


def follower(model):
    """A linkwise clusterer that understands all the learner does."""
    return ReCon(None) if Kind.TRIPLET in type(model).understands else ConstrainedAgglomerative(None)


@each
def test_a_pipeline_brings_the_same_statements_to_both_steps(model):
    X, y = data(16)
    c = knowledge(model, y, m=8)
    Y = StandardScaler().fit_transform(X)
    by_hand = follower(model).fit(fitted(model, Y, c).transform(Y), constraints=c)
    pipe = Pipeline([("scale", StandardScaler()), ("metric", clone(model)), ("cluster", follower(model))])
    labels = pipe.fit_predict(X, metric__constraints=c, cluster__constraints=c)
    assert_array_equal(labels, by_hand.labels_)
    assert verify(pipe["cluster"].dendrogram_, c).ok
    with sklearn.config_context(enable_metadata_routing=True):
        routed = clone(pipe).fit(X, constraints=c)
        assert_array_equal(routed["cluster"].labels_, by_hand.labels_)
        assert routed["metric"].constraints_ == routed["cluster"].constraints_ == c
        assert_allclose(clone(model).fit_transform(X, constraints=c), fitted(model, X, c).transform(X))


@each
def test_grid_search_slices_statements_for_both_steps(model):
    X, y = data(17)
    c = knowledge(model, y, m=30)
    pipe = make_pipeline(clone(model), KMeans(3, n_init=2, random_state=0))
    name = type(model).__name__.lower()
    option = next(iter({"n_components", "C", "slack", "tol"} & set(model.get_params())))
    values = [1, 2] if option == "n_components" else [1e-4, 1e-3] if option == "tol" else [0.5, 2.0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        search = GridSearchCV(pipe, {f"{name}__{option}": values}, cv=3, error_score="raise")
        search.fit(X, **{f"{name}__constraints": c})
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()
    assert search.best_estimator_[0].constraints_ == c
