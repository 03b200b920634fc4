from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from linkwise import Constraints, Dendrogram
from linkwise.constraints import Kind
from linkwise.exceptions import LinkwiseError
from linkwise.problem import must_links_within
from linkwise.sources import _duplicates, duplicates, from_dendrogram, near_duplicates
from tests.oracles import sources as oracle


def links(constraints):
    assert len(constraints.of(Kind.MUST_LINK)) == constraints.n_statements
    return [tuple(row) for row in constraints.of(Kind.MUST_LINK).tolist()]


# -- duplicates --------------------------------------------------------------------------------------------------------


def test_equal_rows_are_joined_and_no_others():
    X = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(float)
    made = links(duplicates(X))
    expected = {frozenset(np.flatnonzero((row == X).all(axis=1)).tolist()) for row in X}
    assert oracle.joined(40, made) == expected
    assert len(made) == 40 - len(expected)


def test_zeros_of_either_sign_are_equal_and_sparse_rows_are_read():
    assert links(duplicates([[0.0, 1.0], [-0.0, 1.0]])) == [(0, 1)]
    assert links(duplicates(csr_array([[0, 1], [0, 1], [1, 0]]))) == [(0, 1)]
    assert links(duplicates(np.empty((0, 2)))) == []
    assert links(duplicates(np.empty((3, 0)))) == [(0, 1), (1, 2)]


@pytest.mark.parametrize(
    ("X", "words"),
    [
        ([[0.0], [np.nan]], "contains NaN: 1 of its values, the first in row 1"),
        ([["a"]], "does not hold numbers"),
        ([1.0, 2.0], "expected two dimensions"),
    ],
)
def test_data_that_makes_no_sense_is_refused(X, words):
    for find in (duplicates, lambda data: near_duplicates(data, 1.0)):
        with pytest.raises(LinkwiseError, match=words):
            find(X)


# -- near duplicates ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine", "sqeuclidean", "precomputed"])
@pytest.mark.parametrize("features", [2, 25])
def test_the_forest_joins_what_is_close_and_every_link_is_close(metric, features):
    rng = np.random.default_rng(features)
    X = rng.integers(0, 4, (60, features)) / 3 + 0.1
    X[50:] = X[:10]
    delta = {"cosine": 0.05, "sqeuclidean": 1.0}.get(metric, 0.9 if features == 2 else 3.0)
    if metric == "precomputed":
        X = np.linalg.norm(X[:, None] - X, axis=2)
    close = {tuple(row) for row in must_links_within(X, delta, metric=metric).tolist()}
    assert close
    made = links(near_duplicates(X, delta, metric=metric))
    assert set(made) <= close
    assert oracle.joined(60, made) == oracle.joined(60, sorted(close))
    assert len(made) == 60 - len(oracle.joined(60, made))
    assert made == sorted(made)


def test_the_limit_itself_is_not_close():
    assert links(near_duplicates([[0.0], [1.0]], 1.0)) == []
    assert links(near_duplicates([[0.0], [0.0]], 0.0)) == []
    assert links(near_duplicates(np.empty((0, 2)), 1.0)) == []


def test_many_equal_rows_cost_no_more_than_few():
    X = np.zeros((200_000, 2))
    X[::2] = 5.0
    assert near_duplicates(X, 0.1).n_statements == 199_998


def test_far_too_large_a_delta_is_refused(monkeypatch):
    monkeypatch.setattr(_duplicates, "_MOST_PAIRS", 10)
    with pytest.raises(LinkwiseError, match=r"190 pairs are closer than 100, expected at most 10.*\n.*lower `delta`"):
        near_duplicates(np.arange(20.0)[:, None], 100)


@pytest.mark.parametrize("delta", [-1, np.nan, np.inf, "x", True, None])
def test_other_deltas_are_refused(delta):
    with pytest.raises(LinkwiseError, match=r"delta is .*, expected a number >= 0"):
        near_duplicates([[0.0]], delta)


def test_weights_are_passed_on():
    assert near_duplicates([[0.0], [0.1]], 1.0, weight=2).weight.tolist() == [2]
    assert duplicates([[0.0], [0.0]], weight=3).weight.tolist() == [3]


# -- an existing clustering --------------------------------------------------------------------------------------------

TREE = Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 5.0], marked=[0, 1, 5], ids=["a", "b", "c", "d"])


def test_a_clustering_says_its_triplets():
    made = from_dendrogram(TREE, weight=0.5)
    assert made == Constraints.from_ids(TREE.ids, triplets=[("a", "b", "c"), ("c", "d", "a")], weight=0.5)
    assert TREE.satisfies(made).all()


@pytest.mark.parametrize(
    ("arguments", "labels"),
    [({"cut": "marked"}, [0, 1, 2, 2]), ({"cut": 2}, [0, 0, 1, 1]), ({"height": 1.5}, [0, 0, 1, 2])],
)
def test_a_clustering_says_the_clusters_of_a_cut(arguments, labels):
    alone = from_dendrogram(TREE, triplets=False, **arguments)
    assert alone.ids.tolist() == ["a", "b", "c", "d"]
    assert Constraints.from_ids(TREE.ids) | Constraints.from_labels(labels) == alone
    both = from_dendrogram(TREE, weight={"triplets": 1.0}, **arguments)
    assert len(both.of(Kind.TRIPLET)) == 2
    assert both.is_hard.sum() == alone.n_statements


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"cut": 2, "height": 1.0}, "both cut and height"),
        ({"triplets": False}, "neither triplets nor a cut"),
        ({"cut": "best"}, "cut is 'best'"),
        ({"cut": 9}, "n_clusters is 9"),
    ],
)
def test_cuts_that_make_no_sense_are_refused(arguments, words):
    with pytest.raises(LinkwiseError, match=words):
        from_dendrogram(TREE, **arguments)
    with pytest.raises(LinkwiseError, match="got list"):
        from_dendrogram([])
