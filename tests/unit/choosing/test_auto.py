"""The front door with n_clusters="auto": it compares, says what and why, and says so when it cannot."""

from __future__ import annotations

import pytest
import scipy.sparse as sp
from sklearn.datasets import make_blobs

from linkwise import Constraints, SizeBetween, cluster
from linkwise.choosing import _auto
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import adjusted_rand
from linkwise.sources import label_pairs, label_triplets_sample

X, Y = make_blobs(60, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=1.0, random_state=1)
PAIRS = label_pairs(Y, 50, 0)


def test_method_and_number_are_those_that_predict_what_was_held_out(monkeypatch):
    monkeypatch.setattr(_auto, "COMPARE", 10)  # leaves out what is slow to compile
    found = cluster(X, PAIRS, "auto")
    assert found.n_clusters == 3
    assert adjusted_rand(Y, found.labels) > 0.8
    assert found.certificate.ok
    assert found.search.best_estimator_ is found.estimator
    assert "held out" in found.reasons[0]
    assert any("score" in reason and ("ahead of" in reason or "within one" in reason) for reason in found.reasons)
    assert any(reason.startswith("compared: ConstrainedAgglomerative, COPKMeans, PCKMeans") for reason in found.reasons)
    assert "* " in found.search.table()
    again = cluster(X, PAIRS, "auto")
    assert again.labels.tolist() == found.labels.tolist()


def test_where_too_little_is_known_the_heights_decide_and_that_is_said():
    alone = cluster(X, n_clusters="auto")
    assert alone.search is None
    assert alone.reasons[0].startswith("nothing is known that could be held out")
    assert alone.labels.tolist() == cluster(X).labels.tolist()
    few = cluster(X, Constraints.build(60, cannot_link=[(0, 1), (2, 3)]), "auto")
    assert "0 pairs together and 2 pairs apart, about 4 samples" in few.reasons[0]
    assert few.n_clusters >= 2
    one_sided = Constraints.build(60, cannot_link=[(i, i + 1) for i in range(20)])
    assert "too little" in cluster(X, one_sided, "auto").reasons[0]


def test_sizes_alone_are_settled_by_the_silhouette():
    found = cluster(X, Constraints.build(60, rules=SizeBetween(10, 30)), "auto")
    assert found.n_clusters == 3
    assert any("largest silhouette" in reason for reason in found.reasons)
    with pytest.raises(LinkwiseError):
        cluster(X, Constraints.build(60, rules=SizeBetween(61, 70)), "auto")


def test_triplets_choose_the_linkage_and_the_heights_the_number():
    found = cluster(X, label_triplets_sample(Y, 40, 0), "auto")
    assert type(found.estimator).__name__ == "ReCon"
    assert found.search.best_params_["n_clusters"] is None
    assert "heights" in found.reasons[-1]
    assert found.certificate.ok


def test_sparse_data_and_numbers_forced_by_cannot_links():
    methods = _auto.candidate_methods(sp.csr_matrix(X), PAIRS, "cosine", 0, matrix=True)
    assert {type(estimator).__name__ for estimator, _ in methods} == {
        "ConstrainedAgglomerative",
        "ConstrainedCompleteLink",
    }
    many = Constraints.build(60, apart=[list(range(20))])
    assert max(_auto.numbers_of_clusters(X, many)) >= 24
    assert _auto.numbers_of_clusters(X[:5], Constraints.build(5)) == [2, 3, 4]


def test_other_words_are_refused():
    with pytest.raises(LinkwiseError, match="expected a number"):
        cluster(X, PAIRS, "many")
