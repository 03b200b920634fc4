"""The search: who predicts held-out knowledge wins, what cannot be is listed, and trees are grown once."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import estimator_checks_generator

from linkwise import ConstrainedAgglomerative, Constraints, COPKMeans, KnowledgeSearchCV, ReCon
from linkwise.engines import RCA, progress
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError, LinkwiseWarning
from linkwise.metrics import adjusted_rand
from linkwise.selection import _search_cv, knowledge_folds
from linkwise.selection._candidates import families, read_candidates
from linkwise.selection._scores import SCORES, score_of, tally
from linkwise.sources import label_pairs, label_triplets_sample

X, Y = make_blobs(80, centers=[[0, 0], [6, 0], [0, 6], [6, 6]], cluster_std=0.9, random_state=0)
PAIRS = label_pairs(Y, 60, 0)
KS = [2, 3, 4, 5, 6]


def search(estimator=None, grid=None, **options):
    options = {"random_state": 0, "cv": 5, **options}
    return KnowledgeSearchCV(
        estimator or ConstrainedAgglomerative(linkage="ward"), grid or {"n_clusters": KS}, **options
    )


def test_it_finds_the_number_of_clusters_the_knowledge_is_about():
    found = search().fit(X, constraints=PAIRS)
    assert found.best_params_ == {"n_clusters": 4}
    assert found.n_clusters_ == 4
    assert adjusted_rand(Y, found.labels_) > 0.9
    assert found.best_score_ == found.cv_results_["mean_test_score"][found.best_index_]
    assert_array_equal(found.labels_, clone(found.best_estimator_).fit(X, constraints=PAIRS).labels_)
    assert_array_equal(found.predict(X[:5]), found.best_estimator_.predict(X[:5]))
    coarse = Constraints.from_labels(np.where(np.arange(80) % 3 == 0, Y // 2, -1))  # the same data, other classes
    assert search().fit(X, constraints=coarse).n_clusters_ == 2


def test_results_have_the_shape_of_scikit_learns():
    found = search(grid={"linkage": ["ward", "single"], "n_clusters": [3, 4]}).fit(X, constraints=PAIRS)
    results = found.cv_results_
    assert len(results["params"]) == 4
    assert results["param_linkage"].tolist() == ["ward", "ward", "single", "single"]
    for name in ("mean_test_score", "std_test_score", "se_test_score", "rank_test_score", "split4_test_score"):
        assert results[name].shape == (4,)
    assert results["rank_test_score"].min() == 1
    kept = results["must_kept"][np.isfinite(results["mean_test_score"])]
    assert ((kept >= 0) & (kept <= 1)).all()
    assert (results["mean_fit_time"] > 0).all()


def test_an_engine_is_chosen_too_and_what_cannot_be_is_listed():
    # five mutually different samples do not fit into three clusters
    apart = PAIRS | Constraints.build(80, apart=[[i for i in range(80) if Y[i] == 0][:5]])
    known = Constraints.from_labels(np.where(np.arange(80) < 40, Y, -1))
    methods = [
        (ConstrainedAgglomerative(), {"linkage": ["single", "ward"], "n_clusters": [1, 4]}),
        (COPKMeans(random_state=0), {"n_clusters": [4, 200]}),
        (ReCon(min_cluster_size=3), {"n_clusters": [4]}),
    ]
    found = KnowledgeSearchCV(methods, cv=5, random_state=0).fit(X, constraints=known)
    results = found.cv_results_
    assert found.n_clusters_ == 4
    failed = ~np.isfinite(results["mean_test_score"])
    assert failed.tolist() == [True, False, True, False, False, True, True]
    assert [bool(text) for text in results["trouble"]] == failed.tolist()
    text = found.table()
    assert "4 of 7 failed" in text
    assert "ReCon(n_clusters=4): does not understand" in text
    assert text.splitlines()[1].startswith("* ")
    with pytest.raises(LinkwiseError):
        search(grid={"n_clusters": [2, 3]}, cv=2).fit(X, constraints=apart)


@pytest.mark.parametrize("linkage", ["ward", "average", "single"])
def test_one_tree_for_many_cuts_gives_what_separate_fits_give(linkage):
    candidates = read_candidates(ConstrainedAgglomerative(linkage=linkage), {"n_clusters": [1, 2, 3, 4, 5, 79]})
    assert families(candidates, PAIRS) == [[0, 1, 2, 3, 4, 5]]
    for fold in knowledge_folds(PAIRS, 3, random_state=0):
        shared = _search_cv._judge_family(candidates, X, fold, "kappa")
        for candidate, one in zip(candidates, shared, strict=True):
            (alone,) = _search_cv._judge_family([candidate], X, fold, "kappa")
            assert (alone.labels is None) == (one.labels is None)
            if alone.labels is not None:
                assert_array_equal(alone.labels, one.labels)
                assert_allclose(alone.counts, one.counts)


def test_recon_shares_its_tree_only_where_the_number_of_clusters_is_no_part_of_it():
    triplets = label_triplets_sample(Y, 20, 0)
    candidates = read_candidates(ReCon(), {"n_clusters": [2, 3]})
    assert families(candidates, triplets) == [[0, 1]]
    assert families(candidates, triplets | PAIRS) == [[0], [1]]
    assert families(read_candidates(ReCon(warm_start=True), {"n_clusters": [2, 3]}), triplets) == [[0], [1]]
    soft = PAIRS.with_weight(1.0)
    assert families(read_candidates(ConstrainedAgglomerative(), {"n_clusters": [2, 3]}), soft) == [[0], [1]]
    fold = knowledge_folds(triplets, 3, random_state=0)[0]
    shared = _search_cv._judge_family(candidates, X, fold, "kappa")
    for candidate, one in zip(candidates, shared, strict=True):
        (alone,) = _search_cv._judge_family([candidate], X, fold, "kappa")
        assert_array_equal(alone.labels, one.labels)
        assert_allclose(alone.counts, one.counts)


def test_pipelines_hear_what_is_known_in_every_step():
    steps = [("scale", StandardScaler()), ("metric", RCA()), ("merge", ConstrainedAgglomerative(linkage="ward"))]
    known = Constraints.build(80, must_link=PAIRS.of(0), cannot_link=PAIRS.of(1))
    grid = {"merge__n_clusters": [3, 4, 5]}
    pipe = Pipeline([step for step in steps if step[0] != "metric"])
    found = search(pipe, grid).fit(X, constraints=known)
    assert found.best_params_ == {"merge__n_clusters": 4}
    assert found.best_estimator_[-1].constraints_.n_statements == known.n_statements
    assert found.predict(X).shape == (80,)
    must = label_pairs(Y, 30, 0, must_link_share=1.0)
    with pytest.warns(LinkwiseWarning, match="cannot tell too few clusters from too many"):
        learned = search(Pipeline(steps), {"merge__n_clusters": [3, 4]}).fit(X, constraints=must)
    assert hasattr(learned.best_estimator_.named_steps["metric"], "components_")
    assert "StandardScaler + RCA + ConstrainedAgglomerative" in learned.table()


def test_clusterers_that_hear_nothing_take_part():
    found = search(KMeans(n_init=3, random_state=0), {"n_clusters": [2, 4]}).fit(X, constraints=PAIRS)
    assert found.best_params_ == {"n_clusters": 4}
    piped = search(make_pipeline(StandardScaler(), KMeans(random_state=0)), {"kmeans__n_clusters": [2, 4]})
    assert piped.fit(X, constraints=PAIRS).n_clusters_ == 4


def test_triplets_are_asked_of_the_tree():
    triplets = label_triplets_sample(Y, 80, 0)
    found = search(ReCon(), {"linkage": ["centroid", "single"], "n_clusters": [None]}).fit(X, constraints=triplets)
    shares = found.cv_results_["triplets_kept"]
    assert_allclose(found.cv_results_["mean_test_score"], shares)
    assert shares.max() > 0.8


def test_scores_do_not_fall_for_trivial_clusterings():
    test = Constraints.build(
        8, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (0, 3), (1, 2), (1, 3), (4, 5), (4, 6)]
    )
    good = tally(np.array([0, 0, 1, 1, 2, 3, 3, 3]), None, test)
    one, all_apart = tally(np.zeros(8, dtype=np.intp), None, test), tally(np.arange(8), None, test)
    for name in SCORES:
        assert score_of(name, good) == pytest.approx(1.0)
        assert score_of(name, one) < 1
        assert score_of(name, all_apart) < 1
    for name in ("kappa", "mcc"):
        assert score_of(name, one) == score_of(name, all_apart) == 0.0
    assert score_of("balanced", one) == score_of("balanced", all_apart) == 0.5
    assert score_of("accuracy", all_apart) == 0.75
    assert np.isnan(score_of("kappa", np.zeros((3, 2))))


def test_kappa_on_all_pairs_is_the_adjusted_rand_index():
    rng = np.random.default_rng(0)
    labels = np.where(rng.random(80) < 0.7, Y, rng.integers(4, size=80)).astype(np.intp)
    first, second = np.triu_indices(80, 1)
    same = Y[first] == Y[second]
    pairs = np.column_stack([first, second])
    every = Constraints.build(80, must_link=pairs[same], cannot_link=pairs[~same])
    assert score_of("kappa", tally(labels, None, every)) == pytest.approx(adjusted_rand(Y, labels))


def test_ties_go_to_fewer_clusters_or_to_the_more_stable_if_asked():
    results = {
        "mean_test_score": np.array([0.70, 0.75, 0.74, np.nan]),
        "stability": np.array([0.5, 0.6, 0.9, np.nan]),
        "n_clusters": np.array([2, 4, 3, 0]),
        "tied": np.array([True, True, True, False]),
    }
    assert [_search_cv.choose(results, ties) for ties in ("simple", "stable", "best")] == [0, 2, 1]


def test_a_score_of_ones_own():
    def few(model, asked):
        assert asked.n_statements
        return -float(model.n_clusters_)

    assert search(scoring=few).fit(X, constraints=Constraints.from_labels(Y // 2)).n_clusters_ == 2


def test_progress_and_processes():
    seen = []
    with progress(lambda done, total: seen.append((done, total))):
        alone = search().fit(X, constraints=PAIRS)
    assert seen[:6] == [(i + 1, 6) for i in range(6)]  # then the fit with everything reports its merges
    apart = search(n_jobs=2).fit(X, constraints=PAIRS)
    assert_array_equal(alone.cv_results_["mean_test_score"], apart.cv_results_["mean_test_score"])


def test_folds_may_be_given_and_refit_left_out():
    folds = knowledge_folds(PAIRS, 3, random_state=5)
    found = search(cv=folds, refit=False).fit(X, constraints=PAIRS)
    assert found.folds_ is folds
    assert found.best_params_ == {"n_clusters": 4}
    assert not hasattr(found, "best_estimator_")


def test_what_cannot_be_is_said():
    with pytest.raises(LinkwiseError, match="there are no statements about X"):
        search().fit(X)
    with pytest.raises(LinkwiseError, match="too few for 5 folds"):
        search().fit(X, constraints=Constraints.build(80, must_link=[(0, 1)]))
    with pytest.raises(InfeasibleConstraintsError):
        search().fit(X, constraints=Constraints.build(80, must_link=[(0, 1)], cannot_link=[(0, 1)]))
    with pytest.raises(LinkwiseError, match="param_grid has to be None"):
        KnowledgeSearchCV([(KMeans(), {})], {"n_clusters": [2]}).fit(X, constraints=PAIRS)
    with pytest.raises(LinkwiseError, match="not an estimator with a grid"):
        KnowledgeSearchCV([KMeans()]).fit(X, constraints=PAIRS)
    with pytest.raises(LinkwiseError, match="no candidate"):
        KnowledgeSearchCV([]).fit(X, constraints=PAIRS)
    with pytest.raises(ValueError, match="linkage"):
        search(grid={"linkage": ["wrong"]}).fit(X, constraints=PAIRS)
    with pytest.raises(LinkwiseError, match="without folds"):
        search(cv=[1]).fit(X, constraints=PAIRS)


class Knowing(KnowledgeSearchCV):
    """Knows something about any samples, so that scikit-learn's checks, which say nothing, can be run on it."""

    def fit(self, X, y=None, *, constraints=None):
        n = np.shape(X)[0] if np.ndim(X) > 1 or hasattr(X, "shape") else 0
        if n >= 4 and constraints is None:
            halves = (np.arange(n) >= n // 2).astype(int)
            constraints = Constraints.from_labels(halves) if n < 12 else label_pairs(halves, 12, 0)
        return super().fit(X, y, constraints=constraints)


MERGE = ConstrainedAgglomerative(dead_end="raise")
CHECKS = [
    (estimator, check)
    for estimator, check in estimator_checks_generator(Knowing(MERGE, {"n_clusters": [2, 3]}, cv=2, random_state=0))
    if check.func.__name__ != "check_array_api_input"  # needs a setting that a process has to be started with
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=[check.func.__name__ for _, check in CHECKS])
def test_scikit_learns_checks(estimator, check):
    check(estimator)


def test_disjunctions_alone_do_not_choose():
    either = [[("must_link", 2 * i, 2 * i + 1), ("cannot_link", 2 * i, 2 * i + 2)] for i in range(12)]
    with pytest.raises(LinkwiseError, match="all statements are disjunctions"):
        search().fit(X, constraints=Constraints.build(len(X), either=either))
