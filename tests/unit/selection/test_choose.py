"""The front door picks a method that understands what was said, says why, and every hard statement holds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.spatial.distance import cdist
from sklearn.datasets import load_iris, load_wine
from sklearn.preprocessing import scale

from linkwise import ConstrainedCompleteLink, Constraints, cluster, verify
from linkwise.constraints import MaxCentroidDistance, MinSeparation, SizeBetween
from linkwise.exceptions import DeadEndError, InfeasibleConstraintsError, LinkwiseError
from linkwise.sources import label_pairs, label_triplets_sample

X, y = load_iris(return_X_y=True)
N = len(y)
PAIRS = label_pairs(y, 30, 0)
TRIPLETS = label_triplets_sample(y, 30, 0)


@pytest.mark.parametrize(
    ("said", "k", "expected"),
    [
        (None, 3, "Consensus"),
        (PAIRS, 3, "Consensus"),
        (PAIRS, None, "ConstrainedCompleteLink"),
        (TRIPLETS, 3, "Consensus"),
        (TRIPLETS | PAIRS, None, "ReCon"),
        (PAIRS.with_rules(MinSeparation(0.01)), None, "ConstrainedAgglomerative"),
        (Constraints.build(N, rules=SizeBetween(40, 60)), 3, "COPKMeans"),
    ],
)
def test_the_method_follows_from_what_was_said(said, k, expected):
    found = cluster(X, said, k)
    assert type(found.estimator).__name__ == expected
    assert expected in found.reasons[0]
    assert found.certificate.ok
    assert len(found.labels) == N
    assert found.n_clusters == len(np.unique(found.labels))
    if k is not None:
        assert found.n_clusters == k
    if said is not None:
        assert verify(found.labels, said.select(said.kind != 2) if expected == "ReCon" else said, X=X).ok
    assert expected in repr(found)
    assert "How:" in str(found)


@pytest.mark.parametrize(
    ("said", "expected"),
    [(None, "ConstrainedAgglomerative"), (PAIRS, "ConstrainedCompleteLink"), (TRIPLETS, "ReCon")],
)
def test_quick_effort_and_few_samples_fit_one_method(said, expected):
    assert type(cluster(X, said, 3, effort="quick").estimator).__name__ == expected
    few = None if said is None else said[:49]
    assert type(cluster(X[:49], few, 2).estimator).__name__ in (expected, "ConstrainedAgglomerative")
    with pytest.raises(LinkwiseError, match="effort is 'slow', expected one of full, quick"):
        cluster(X, said, 3, effort="slow")


def test_triplets_about_several_levels_are_left_to_recon():
    nested = Constraints.build(N, triplets=[(0, 1, 2), (0, 2, 100)])
    assert type(cluster(X, nested, 3).estimator).__name__ == "ReCon"
    assert type(cluster(X, nested.select([0]), 3).estimator).__name__ == "Consensus"


def test_many_samples_get_no_matrix(monkeypatch):
    monkeypatch.setattr("linkwise._memory.MATRIX", 100)
    found = cluster(X, PAIRS, 3, effort="quick")
    assert type(found.estimator).__name__ == "COPKMeans"
    assert "150 samples are too many" in found.reasons[0]
    assert found.dendrogram is None
    found = cluster(X, PAIRS.with_weight(2.0), 3, effort="quick")
    assert type(found.estimator).__name__ == "PCKMeans"
    assert "weighed" in found.reasons[0]
    found = cluster(X, PAIRS)
    assert type(found.estimator).__name__ == "SparseAgglomerative"
    found = cluster(X, PAIRS, linkage="ward")
    assert type(found.estimator).__name__ == "ConstrainedAgglomerative"


def test_many_samples_get_one_tree_unless_a_vote_predicts_better(monkeypatch):
    monkeypatch.setattr("linkwise._memory.MATRIX", 100)
    few = Constraints.build(N, must_link=[(0, 1)])
    found = cluster(X, few, 3)
    assert type(found.estimator).__name__ == "SparseAgglomerative"
    assert found.estimator.refine
    assert "150 samples are merged along nearest neighbors first; there are too few statements" in found.reasons[0]
    assert found.dendrogram is not None
    for scores, taken, other in (
        ([0.25, 0.5], "Consensus 0.50", "SparseAgglomerative 0.25"),
        ([0.5, 0.5], "SparseAgglomerative 0.50", "Consensus 0.50"),
    ):
        left = list(scores)
        monkeypatch.setattr("linkwise.selection._merge_or_vote.score_of", lambda *_, left=left: left.pop(0))
        found = cluster(X, PAIRS, 3)
        assert type(found.estimator).__name__ == taken.split()[0]
        assert found.reasons[0].endswith(f"a fifth of the statements, held out: {taken}, {other}.")


def test_votes_and_means_are_for_few_clusters(monkeypatch):
    monkeypatch.setattr("linkwise.selection._choice.MOST_VOTED", 2)
    monkeypatch.setattr("linkwise.selection._choice.COMPARED", 100)
    monkeypatch.setattr("linkwise.selection._cluster.MOST_VOTED", 2)
    monkeypatch.setattr("linkwise.selection._choice.MOST_REFINED", 2)
    monkeypatch.setattr("linkwise.selection._cluster.merge_or_vote", None)
    found = cluster(X, PAIRS, 3)
    assert found.reasons[0] == "SparseAgglomerative(): 150 samples are merged along nearest neighbors first."


def test_sparse_text_is_compared_by_cosine_and_distances_are_taken_as_given():
    found = cluster(sp.csr_matrix(X), PAIRS, 3, effort="quick")
    assert found.estimator.metric == "cosine"
    assert any("cosine" in reason for reason in found.reasons)
    given = cluster(cdist(X, X), PAIRS, 3, metric="precomputed")
    assert given.labels.tolist() == cluster(X, PAIRS, 3, effort="quick").labels.tolist()


def test_without_a_number_the_largest_step_of_the_heights_decides():
    rng = np.random.default_rng(0)
    heaps = np.concatenate([rng.normal(c, 0.1, size=(20, 2)) for c in (0, 5, 10, 20)])
    found = cluster(heaps)
    assert found.n_clusters == 4
    assert found.dendrogram.cut_marked().tolist() == found.labels.tolist()
    assert "4 clusters: the largest step" in found.reasons[-1]
    assert found.estimator.predict(heaps).tolist() == found.estimator.labels_.tolist() == found.labels.tolist()
    assert cluster(np.zeros((5, 2))).n_clusters == 1
    assert cluster([[1.0]]).n_clusters == 1
    assert cluster([[1.0], [2.0]]).n_clusters in (1, 2)
    apart = Constraints.build(80, cannot_link=[(0, 1), (1, 2), (0, 2)])
    found = cluster(heaps, apart)
    assert found.n_clusters >= 3
    assert found.certificate.ok
    trios = Constraints.build(80, triplets=[(0, 79, 1)])
    assert cluster(heaps, trios).certificate.ok


@pytest.mark.parametrize("seed", range(5))
def test_what_was_said_holds_in_the_number_of_clusters_the_heights_suggest(seed):
    rng = np.random.default_rng(seed)
    heaps = np.concatenate([rng.normal(c, 0.1, size=(6, 2)) for c in (0, 5, 9)])
    pairs = Constraints.build(18, must_link=[(0, 6), (1, 12)])
    for said in (pairs, pairs | Constraints.build(18, triplets=[(2, 3, 4)])):
        found = cluster(heaps, said)
        assert found.certificate.ok
        assert verify(found.labels, pairs).ok
    apart = Constraints.build(18, rules=MinSeparation(4.5))
    assert verify(cluster(heaps, apart).labels, apart, X=heaps).ok
    assert cluster(np.repeat([[0.0], [5.0]], 4, axis=0)).n_clusters == 2


def test_scales_are_mentioned_and_names_bind():
    wide = X * [1, 1, 1, 1000]
    assert any("decides alone" in reason for reason in cluster(wide, n_clusters=3).reasons)
    assert not any("decides alone" in reason for reason in cluster(X, n_clusters=3).reasons)
    frame = pd.DataFrame(X, index=[f"f{i}" for i in range(N)])
    named = Constraints.from_ids([f"f{i}" for i in range(N)], cannot_link=[("f0", "f1")])
    labels = cluster(frame, named, 3).labels
    assert labels[0] != labels[1]


@pytest.mark.parametrize("metric", [None, "precomputed"])
def test_a_dead_end_of_greedy_merging_is_not_the_end(metric):
    points, classes = load_wine(return_X_y=True)
    points, said = scale(points), label_pairs(classes, 60, 0)
    with pytest.raises(DeadEndError):
        ConstrainedCompleteLink(3, linkage="average", dead_end="raise").fit(points, constraints=said)
    found = cluster(cdist(points, points) if metric else points, said, 3, metric=metric, effort="quick")
    assert type(found.estimator).__name__ == "ConstrainedCompleteLink"
    moved = found.estimator.n_regrouped_
    assert f"dead end at 4 clusters; {moved} of 178 samples were moved so that all" in found.reasons[-1]
    assert found.certificate.ok
    assert found.n_clusters == found.dendrogram.n_roots == 3


def test_what_cannot_be_is_said():
    with pytest.raises(InfeasibleConstraintsError):
        cluster(X, Constraints.build(N, must_link=[(0, 1)], cannot_link=[(0, 1)]))
    with pytest.raises(LinkwiseError, match=r"needs the number of clusters"):
        cluster(X, Constraints.build(N, rules=SizeBetween(40)))
    with pytest.raises(LinkwiseError, match="plain vectors"):
        cluster(sp.csr_matrix(X), Constraints.build(N, rules=SizeBetween(40)), 3)
    with pytest.raises(LinkwiseError, match="X has shape"):
        cluster([1.0, 2.0])
    with pytest.raises(LinkwiseError, match="NaN"):
        cluster([[1.0], [np.nan]])
    with pytest.raises(LinkwiseError, match="no method understands all of them"):
        cluster(X, Constraints.build(N, triplets=[(0, 1, 2)], rules=MaxCentroidDistance(1.0)), 3)


@pytest.mark.parametrize("linkage", ["average", "complete", "single", "ward", "weighted", "centroid", "median"])
def test_the_memory_plan_is_that_of_the_merge_loop(linkage):
    from linkwise.engines.agglomeration import plan_memory
    from linkwise.selection._choice import Task, choose, planned_memory

    n, matrix = 20_000, 8 * 20_000**2
    plain = Task(n, Constraints.build(n), 3, "euclidean", sparse=False, linkage=linkage)
    assert planned_memory(choose(plain)[0], plain) == plan_memory(n, linkage, "euclidean")
    together = Task(n, Constraints.build(n, must_link=[(0, 1)]), 3, "euclidean", sparse=False, linkage=linkage)
    assert planned_memory(choose(together)[0], together) == pytest.approx(1.5 * matrix, rel=0.01)
    apart = Task(n, Constraints.build(n, cannot_link=[(0, 1)]), 3, "euclidean", sparse=False, linkage=linkage)
    lean = linkage in ("ward", "centroid", "median")
    assert planned_memory(choose(apart)[0], apart) == pytest.approx(0 if lean else matrix, rel=0.01)
