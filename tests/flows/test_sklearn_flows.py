"""Journeys through scikit-learn, pandas, polars and joblib with constraints on board."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV, KFold, ParameterGrid, cross_validate, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from linkwise import ConstrainedAgglomerative, ConstrainedGaussianMixture, Constraints, COPKMeans, ReCon, verify
from linkwise.exceptions import ConstraintError

N = 60


def data():
    """Blobs with known classes, and a few true statements about them."""
    X, y = make_blobs(n_samples=N, centers=3, cluster_std=3.0, random_state=4)
    partial = np.where(np.random.default_rng(0).random(N) < 0.4, y, -1)
    return X, y, Constraints.from_labels(partial)


def triplets(y, m=40):
    rng = np.random.default_rng(1)
    rows = [rng.choice(N, size=3, replace=False).tolist() for _ in range(20 * m)]
    return Constraints.build(N, triplets=[(a, b, c) for a, b, c in rows if y[a] == y[b] != y[c]][:m])


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def held(estimator, X, y=None):
    """Score: the share of statements a fitted clusterer kept (row splits cannot score labels of unseen rows)."""
    return float(estimator.certificate_.held.mean()) if estimator.certificate_.n_statements else 1.0


# -- pipelines ------------------------------------------------------------------------------------------------------


def test_a_pipeline_takes_constraints_for_its_step():
    X, _, known = data()
    pipe = make_pipeline(StandardScaler(), ConstrainedAgglomerative(3))
    labels = pipe.fit_predict(X, constrainedagglomerative__constraints=known)
    assert verify(labels, known).ok
    plain = ConstrainedAgglomerative(3).fit(StandardScaler().fit_transform(X), constraints=known)
    assert_array_equal(labels, plain.labels_)
    with pytest.raises(ValueError, match="constraints"):
        pipe.fit(X, constraints=known)


def test_with_routing_a_pipeline_passes_constraints_on_unasked(routing):
    X, y, known = data()
    pipe = make_pipeline(StandardScaler(), PCA(2), ConstrainedAgglomerative(3))
    labels = pipe.fit(X, constraints=known)[-1].labels_
    assert verify(labels, known).ok
    relative = triplets(y)
    tree = make_pipeline(StandardScaler(), ReCon(3)).fit(X, constraints=relative)[-1].dendrogram_
    assert verify(tree, relative).ok


def test_with_routing_a_request_can_be_refused(routing):
    X, _, known = data()
    pipe = make_pipeline(StandardScaler(), ConstrainedAgglomerative(3).set_fit_request(constraints=False))
    with pytest.raises(TypeError, match="constraints"):
        pipe.fit(X, constraints=known)


def test_a_pipeline_keeps_row_names_when_frames_are_set():
    X, _, _ = data()
    ids = [f"item{i}" for i in range(N)]
    frame = pd.DataFrame(X, columns=["a", "b"], index=ids)
    named = Constraints.from_ids(ids, must_link=[("item3", "item50"), ("item3", "item59")])
    pipe = Pipeline([("scale", StandardScaler()), ("tree", ConstrainedAgglomerative(3))]).set_output(transform="pandas")
    order = np.random.default_rng(2).permutation(N)
    labels = pd.Series(pipe.fit_predict(frame.iloc[order], tree__constraints=named), index=frame.index[order])
    assert labels["item3"] == labels["item50"] == labels["item59"]
    assert pipe["tree"].feature_names_in_.tolist() == ["a", "b"]


# -- model selection ------------------------------------------------------------------------------------------------


def test_train_test_split_slices_statements_with_rows():
    X, y, known = data()
    X_train, _, y_train, _, train, test = train_test_split(X, y, known, random_state=0)
    assert (train.n_samples, test.n_samples) == (45, 15)
    model = ConstrainedAgglomerative(3).fit(X_train, constraints=train)
    assert model.certificate_.ok
    assert verify(y_train, train).ok  # the statements still are about the same samples


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_grid_search_slices_constraints_in_every_fold(n_jobs):
    X, _, known = data()
    search = GridSearchCV(
        ConstrainedAgglomerative(3), {"linkage": ["average", "complete", "ward"]}, scoring=held, cv=3, n_jobs=n_jobs
    )
    search.fit(X, constraints=known)
    assert search.best_score_ == 1.0
    assert search.best_estimator_.constraints_ == known
    assert not np.isnan(search.cv_results_["mean_test_score"]).any()
    by_hand = [
        ConstrainedAgglomerative(3, **p).fit(X[train], constraints=known[train]).n_clusters_
        for train, _ in KFold(3).split(X)
        for p in ParameterGrid({"linkage": ["average", "complete", "ward"]})
    ]
    assert by_hand == [3] * 9


def test_grid_search_through_a_pipeline_by_step_name():
    X, y, _ = data()
    relative = triplets(y)
    pipe = Pipeline([("scale", StandardScaler()), ("tree", ReCon(3))])
    search = GridSearchCV(
        pipe,
        {"tree__linkage": ["centroid", "average"]},
        scoring=lambda fitted, X, y=None: held(fitted["tree"], X),
        cv=3,
        error_score="raise",
    )
    search.fit(X, tree__constraints=relative)
    assert search.best_score_ == 1.0
    assert search.best_estimator_["tree"].certificate_.n_statements == relative.n_statements


def test_grid_search_with_routing(routing):
    X, y, _ = data()
    relative = triplets(y)
    search = GridSearchCV(
        make_pipeline(StandardScaler(), ReCon(3)),
        {"recon__cut": ["constraints", "merges"]},
        scoring=lambda fitted, X, y=None: held(fitted[-1], X),
        cv=3,
        error_score="raise",
    )
    search.fit(X, constraints=relative)
    assert verify(search.best_estimator_[-1].dendrogram_, relative).ok


def test_cross_validate_passes_sliced_constraints():
    X, _, known = data()
    result = cross_validate(
        ConstrainedAgglomerative(3),
        X,
        params={"constraints": known},
        scoring=held,
        cv=KFold(4, shuffle=True, random_state=0),
        return_estimator=True,
        return_indices=True,
        error_score="raise",
    )
    for model, train in zip(result["estimator"], result["indices"]["train"], strict=True):
        assert model.constraints_ == known[train]
        assert verify(model.labels_, known[train]).ok
    assert result["test_score"].tolist() == [1.0] * 4


@pytest.mark.parametrize("model", [ConstrainedAgglomerative(3), COPKMeans(3), ConstrainedGaussianMixture(3)])
def test_cross_validate_takes_constraints_as_y_and_a_score_of_them(model):
    """As the README has it; a score of its own a mixture refuses to give of statements, where others have none."""
    X, _, known = data()
    result = cross_validate(
        model,
        X,
        known,
        scoring=lambda model, X, known: verify(model.predict(X), known).held.mean(),
        return_estimator=True,
        return_indices=True,
        error_score="raise",
    )
    for fitted, train in zip(result["estimator"], result["indices"]["train"], strict=True):
        assert fitted.constraints_ == known[train]
        assert verify(fitted.labels_, known[train]).ok
    assert ((result["test_score"] >= 0) & (result["test_score"] <= 1)).all()
    assert result["test_score"].mean() > 0.5
    with pytest.raises(TypeError, match=r"score got Constraints as y|If no scoring is specified"):
        cross_validate(model, X, known, error_score="raise")


def test_folds_of_a_frame_bind_named_constraints_by_name_or_position():
    X, _, _ = data()
    ids = [f"item{i}" for i in range(N)]
    named = Constraints.from_ids(ids, must_link=[(f"item{i}", f"item{N - 1 - i}") for i in range(10)])
    for frame in (pd.DataFrame(X, index=ids), pd.DataFrame(X)):  # a default index says nothing, also after slicing
        result = cross_validate(
            ConstrainedAgglomerative(3),
            frame,
            params={"constraints": named},
            scoring=held,
            cv=KFold(3, shuffle=True, random_state=0),
            return_estimator=True,
            return_indices=True,
            error_score="raise",
        )
        for model, train in zip(result["estimator"], result["indices"]["train"], strict=True):
            assert model.constraints_ == named[train]


def test_knowledge_helps():
    X, y, known = data()
    without = adjusted_rand_score(y, ConstrainedAgglomerative(3).fit(X).labels_)
    with_it = adjusted_rand_score(y, ConstrainedAgglomerative(3).fit(X, constraints=known).labels_)
    assert with_it > without


# -- frames ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("estimator", [ConstrainedAgglomerative, ReCon])
def test_a_shuffled_frame_binds_by_id(estimator):
    X, y, _ = data()
    ids = np.array([f"item{i}" for i in range(N)])
    if estimator is ReCon:
        rows = {"triplets": ids[triplets(y).items]}
    else:
        rows = {"must_link": [("item0", "item59"), ("item1", "item58")], "cannot_link": [("item0", "item1")]}
    known = Constraints.from_ids(ids, **rows)
    ordered = estimator(3).fit(pd.DataFrame(X, index=ids), constraints=known)
    order = np.random.default_rng(3).permutation(N)
    shuffled = estimator(3).fit(pd.DataFrame(X, index=ids).iloc[order], constraints=known)
    assert adjusted_rand_score(ordered.labels_[order], shuffled.labels_) == 1.0
    assert shuffled.constraints_ == known[order]
    assert shuffled.dendrogram_.ids.tolist() == ids[order].tolist()
    assert shuffled.certificate_.ok


def test_an_unknown_row_name_is_an_error_not_a_guess():
    X, _, _ = data()
    known = Constraints.from_ids([f"item{i}" for i in range(N)], must_link=[("item0", "item1")])
    index = [f"item{i}" for i in range(N - 1)] + ["item99x"]
    with pytest.raises(ConstraintError, match="the constraints do not know: 'item99x'"):
        ConstrainedAgglomerative(3).fit(pd.DataFrame(X, index=index), constraints=known)


def test_polars_frames_bind_by_position():
    X, _, known = data()
    frame = pl.DataFrame(X, schema=["height", "width"])
    model = ConstrainedAgglomerative(3).fit(frame, constraints=known)
    assert_array_equal(model.labels_, ConstrainedAgglomerative(3).fit(X, constraints=known).labels_)
    assert model.feature_names_in_.tolist() == ["height", "width"]


# -- the rest of the house ------------------------------------------------------------------------------------------


def test_joblib_fits_in_parallel_as_in_sequence():
    X, _, known = data()
    jobs = [(linkage, k) for linkage in ("average", "ward", "single") for k in (3, 4)]
    models = joblib.Parallel(n_jobs=2)(
        joblib.delayed(ConstrainedAgglomerative(k, linkage=linkage).fit)(X, constraints=known) for linkage, k in jobs
    )
    for (linkage, k), model in zip(jobs, models, strict=True):
        expected = ConstrainedAgglomerative(k, linkage=linkage).fit(X, constraints=known)
        assert_array_equal(model.labels_, expected.labels_)
        assert model.constraints_ == known


@pytest.mark.parametrize("model", [ConstrainedAgglomerative(3, linkage="ward"), ReCon(3, cut="merges")])
def test_an_estimator_shows_itself(model):
    X, _, _ = data()
    assert type(model).__name__ in repr(model)
    for shown in (clone(model), clone(model).fit(X)):
        page = shown._repr_html_()
        assert type(model).__name__ in page
        assert "sk-top-container" in page
    assert not hasattr(model, "transform")  # so there is no set_output and no feature names out
    assert not hasattr(model, "set_output")


def test_constraints_survive_a_pickled_fitted_pipeline(tmp_path):
    X, _, known = data()
    pipe = make_pipeline(StandardScaler(), ConstrainedAgglomerative(3))
    pipe.fit(X, constrainedagglomerative__constraints=known)
    joblib.dump(pipe, tmp_path / "pipe.joblib")
    loaded = joblib.load(tmp_path / "pipe.joblib")[-1]
    assert loaded.constraints_ == known
    assert_array_equal(loaded.labels_, pipe[-1].labels_)
