"""The front door with n_clusters="auto": it compares, says what and why, and says so when it cannot."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from linkwise import Consensus, Constraints, COPKMeans, cluster
from linkwise.constraints import MinSeparation, SizeBetween
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import adjusted_rand
from linkwise.selection import _automatic
from linkwise.sources import label_pairs, label_triplets_sample
from tests.views import few_views  # noqa: F401  # used by every test of this file

X, Y = make_blobs(60, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=1.0, random_state=1)
PAIRS = label_pairs(Y, 50, 0)


def test_method_and_number_are_those_that_predict_what_was_held_out(monkeypatch):
    monkeypatch.setattr(_automatic, "COMPARE", 10)  # leaves out what is slow to compile
    found = cluster(X, PAIRS, "auto", effort="quick")
    assert found.n_clusters == 3
    assert adjusted_rand(Y, found.labels) > 0.8
    assert found.certificate.ok
    assert found.search.best_estimator_ is found.estimator
    assert "held out" in found.reasons[0]
    assert any("score" in reason and ("ahead of" in reason or "within one" in reason) for reason in found.reasons)
    assert any(reason.startswith("compared: ConstrainedAgglomerative, COPKMeans, PCKMeans") for reason in found.reasons)
    assert "* " in found.search.table()
    again = cluster(X, PAIRS, "auto", effort="quick")
    assert again.labels.tolist() == found.labels.tolist()


def test_views_vote_with_the_number_that_was_found(monkeypatch):
    monkeypatch.setattr(_automatic, "COMPARE", 10)
    single, voted = cluster(X, PAIRS, "auto", effort="quick"), cluster(X, PAIRS, "auto")
    assert type(voted.estimator) is Consensus
    assert voted.labels.tolist() == cluster(X, PAIRS, single.n_clusters).labels.tolist()
    at = voted.reasons.index("the number of clusters is that of a single method, found as follows.")
    assert voted.reasons[at + 1 :] == single.reasons
    assert len(set(voted.reasons)) == len(voted.reasons)
    assert voted.search.best_params_ == single.search.best_params_
    assert type(cluster(X, PAIRS, "auto", method="copkmeans").estimator).__name__ == "COPKMeans"


def test_where_too_little_is_known_the_heights_decide_and_that_is_said():
    alone = cluster(X, n_clusters="auto", effort="quick")
    assert alone.search is None
    assert alone.reasons[0].startswith("there are no statements to hold out")
    assert alone.labels.tolist() == cluster(X).labels.tolist()
    few = cluster(X, Constraints.build(60, cannot_link=[(0, 1), (2, 3)]), "auto", effort="quick")
    assert "0 pairs together and 2 pairs apart, about 4 samples" in few.reasons[0]
    assert few.n_clusters >= 2
    one_sided = Constraints.build(60, cannot_link=[(i, i + 1) for i in range(20)])
    assert "too few statements" in cluster(X, one_sided, "auto", effort="quick").reasons[0]


def test_sizes_alone_are_settled_by_the_silhouette():
    found = cluster(X, Constraints.build(60, rules=SizeBetween(10, 30)), "auto")
    assert found.n_clusters == 3
    assert any("largest silhouette" in reason for reason in found.reasons)
    with pytest.raises(LinkwiseError):
        cluster(X, Constraints.build(60, rules=SizeBetween(61, 70)), "auto")


def test_triplets_choose_the_linkage_and_the_heights_the_number():
    found = cluster(X, label_triplets_sample(Y, 40, 0), "auto", effort="quick")
    assert type(found.estimator).__name__ == "ReCon"
    assert found.search.best_params_["n_clusters"] is None
    assert "heights" in found.reasons[-1]
    assert found.certificate.ok


def test_sparse_data_and_numbers_forced_by_cannot_links():
    methods = _automatic.candidate_methods(sp.csr_matrix(X), PAIRS, "cosine", 0, matrix=True)
    assert {type(estimator).__name__ for estimator, _ in methods} == {
        "ConstrainedAgglomerative",
        "ConstrainedCompleteLink",
    }
    many = Constraints.build(60, apart=[list(range(20))])
    assert max(_automatic.numbers_of_clusters(X, many)) >= 24
    assert _automatic.numbers_of_clusters(X[:5], Constraints.build(5)) == [2, 3, 4]


@pytest.mark.parametrize(
    ("said", "enough"),
    [
        ({"triplets": [(i, i + 1, i + 5) for i in range(5)]}, True),
        ({"triplets": [(i, i + 1, i + 8) for i in range(4)]}, False),
        ({"triplets": [(i, i + 1, i + 4) for i in range(5)]}, False),  # about nine samples
        ({"must_link": [(i, i + 1) for i in range(5)], "cannot_link": [(i, i + 5) for i in range(5)]}, True),
        ({"must_link": [(i, i + 1) for i in range(4)], "cannot_link": [(i, i + 5) for i in range(5)]}, False),
        ({"must_link": [(i, i + 1) for i in range(5)], "cannot_link": [(i, i + 6) for i in range(4)]}, False),
        ({"must_link": [(i, i + 1) for i in range(5)], "cannot_link": [(i, i + 4) for i in range(5)]}, False),
        ({"together": [range(3), range(3, 7)], "apart": [range(6, 9), range(7, 11)]}, True),
        ({"together": [range(3), range(3, 7)], "apart": [range(6, 11)]}, False),
    ],
)
def test_what_is_enough_to_hold_some_of_it_out(said, enough):
    assert (_automatic.too_little(Constraints.build(60, **said)) == "") == enough


def test_what_is_too_little_is_counted():
    said = Constraints.build(60, must_link=[(0, 1)], cannot_link=[(0, 2)], apart=[(3, 4, 5)])
    words = "1 pair together and 3 pairs apart, about 6 samples; at least 5 of each about 10 are needed"
    assert words in _automatic.too_little(said)


def methods_for(known, *, data=X, metric="euclidean", matrix=True):
    found = _automatic.candidate_methods(data, known, metric, 3, matrix=matrix)
    assert all(estimator.get_params().get("random_state", 3) == 3 for estimator, _ in found)
    return {type(estimator).__name__: grid.get("linkage") for estimator, grid in found}


def test_whoever_understands_what_was_said_and_suits_the_data_is_compared(monkeypatch):
    centers = {"COPKMeans": None, "PCKMeans": None}
    learning = {"MPCKMeans": None, "ConstrainedGaussianMixture": None}
    complete, near = {"ConstrainedCompleteLink": ["average", "complete"]}, ["average", "complete"]
    merging = {"ConstrainedAgglomerative": ["ward", "average"]}
    assert methods_for(PAIRS) == merging | complete | centers | learning
    assert methods_for(PAIRS, matrix=False) == {"ConstrainedAgglomerative": ["ward"]} | centers | learning
    for data, metric in ((X, "manhattan"), (sp.csr_matrix(X), "euclidean")):
        assert methods_for(PAIRS, data=data, metric=metric) == {"ConstrainedAgglomerative": near} | complete
    triplets = Constraints.build(60, triplets=[(0, 1, 2)])
    assert methods_for(triplets) == {"ReCon": ["centroid", "average"]}
    assert methods_for(triplets, metric="cosine") == {"ReCon": near}
    assert methods_for(PAIRS.with_rules(SizeBetween(2, 30))) == {"COPKMeans": None}
    assert methods_for(PAIRS.with_rules(MinSeparation(0.1))) == merging
    monkeypatch.setattr(_automatic, "COMPARE", 60)
    assert methods_for(PAIRS) == merging | complete | centers | learning
    monkeypatch.setattr(_automatic, "COMPARE", 59)
    assert methods_for(PAIRS) == merging | centers


def test_numbers_to_try_go_past_what_cannot_links_force_where_links_speak_of_a_cut():
    assert _automatic.cluster_grid(X, Constraints.build(60, triplets=[(0, 1, 2)])) == {"n_clusters": [None]}
    assert _automatic.cluster_grid(X, Constraints.build(60, must_link=[(0, 1)])) == {"n_clusters": list(range(2, 13))}
    apart = Constraints.build(60, apart=[range(15)])
    assert _automatic.cluster_grid(X, apart) == {"n_clusters": list(range(2, 20))}
    assert _automatic.numbers_of_clusters(X, Constraints.build(60, apart=[range(15)], weight=1.0))[-1] == 12
    assert _automatic.numbers_of_clusters(X[:2], Constraints.build(2)) == [2]
    assert _automatic.numbers_of_clusters(X[:13], Constraints.build(13))[-1] == 12
    assert _automatic.numbers_of_clusters(X[:12], Constraints.build(12))[-1] == 11


@pytest.mark.parametrize(
    ("scores", "tied", "best", "rival"),
    [
        ((0.9, 0.8, np.nan), 1, 0, "score 0.90 +- 0.05, ahead of B(k=3) with 0.80."),
        ((0.8, 0.9, 0.85), 3, 0, "score 0.80 +- 0.05, and 0.90 for B(k=3): 3 are within a standard error, of these it"),
        ((0.8, np.nan, np.nan), 1, 0, "score 0.80 +- 0.05; it was the only candidate that could be fitted."),
        ((0.7, 0.8, 0.9), 1, 2, "score 0.90 +- 0.05, ahead of B(k=3) with 0.80."),
    ],
)
def test_the_choice_is_told_with_its_score_and_its_rival(scores, tied, best, rival):
    mean = np.array(scores)
    results = {
        "method": ["A", "B", "C"],
        "words": ["k=2", "k=3", "k=4"],
        "mean_test_score": mean,
        "se_test_score": np.full(3, 0.05),
        "tied": np.arange(3) < tied,
        "trouble": np.array(["", "it met a dead end", "cannot hold"]),
        "must_kept": np.full(3, 0.75),
        "cannot_kept": np.ones(3),
        "triplets_kept": np.full(3, np.nan),
    }
    search = SimpleNamespace(cv_results_=results, best_index_=best, folds_=[0] * 10)
    methods = [(COPKMeans(), {"n_clusters": [2, 3]}), (COPKMeans(), {"n_clusters": [4, None]})]
    won, against, compared = _automatic.explain(search, methods)
    name = "ABC"[best] + f"(k={best + 2})"
    assert (
        won == f"{name}: fitted with a part of the statements, it kept 75% of the must-links, "
        "100% of the cannot-links held out."
    )
    assert against.startswith(rival)
    failed = {
        0: ".",
        1: "; 1 failed: 1 too few or too many clusters for the statements.",
        2: "; 2 failed: 1 met a dead end, 1 too few or too many clusters for the statements.",
    }
    assert (
        compared == "compared: COPKMeans with 2 to 4 clusters, 3 candidates in 10 folds" + failed[np.isnan(mean).sum()]
    )


def test_other_words_are_refused():
    with pytest.raises(LinkwiseError, match="expected a number"):
        cluster(X, PAIRS, "many")
