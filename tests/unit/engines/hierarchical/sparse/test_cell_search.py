"""Neighbors by cells: exact where all are compared, mostly found where not, the same for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.distance import cdist
from sklearn.datasets import make_blobs

from linkwise._threads import threads_at_most
from linkwise.engines import nearest_neighbors
from linkwise.engines.hierarchical.sparse import _cell_search
from linkwise.exceptions import InvalidArgumentError


def _literal(X, k):
    far = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(far, np.inf)
    index = np.lexsort((np.broadcast_to(np.arange(len(X)), far.shape), far), axis=1)[:, :k]
    return index, np.take_along_axis(far, index, axis=1)


@pytest.mark.kernels
@pytest.mark.parametrize(("n", "d", "k"), [(2, 1, 1), (40, 3, 5), (700, 8, 10), (30, 2, 29)])
def test_few_rows_are_all_compared(n, d, k):
    X = np.random.default_rng(n).normal(size=(n, d)) * 1e3 + 1e5
    index, squared = nearest_neighbors(X, k)
    expected = _literal(X, k)
    assert index.tolist() == expected[0].tolist()
    np.testing.assert_allclose(squared, expected[1], rtol=1e-12)


@pytest.mark.kernels
def test_ties_go_to_the_first_row_and_missing_neighbors_are_said():
    X = np.array([[0.0], [1.0], [-1.0], [2.0], [2.0]])
    index, _ = nearest_neighbors(X, 3)
    assert index.tolist() == [[1, 2, 3], [0, 3, 4], [0, 1, 3], [4, 1, 0], [3, 1, 0]]
    assert nearest_neighbors(X[:2], 3)[0].tolist() == [[1, -1, -1], [0, -1, -1]]
    assert nearest_neighbors(X[:2], 3)[1][:, 1:].tolist() == [[np.inf, np.inf]] * 2
    assert nearest_neighbors(np.zeros((1, 2)), 1)[0].tolist() == [[-1]]


def test_cells_find_most_and_their_distances_are_exact(monkeypatch):
    monkeypatch.setattr(_cell_search, "EXACT", 100)
    X, _ = make_blobs(4000, centers=30, n_features=6, cluster_std=3.0, random_state=0)
    index, squared = nearest_neighbors(X, 8)
    truth = _literal(X, 8)
    recall = np.mean([len(np.intersect1d(a, b)) / 8 for a, b in zip(index, truth[0], strict=True)])
    assert recall >= 0.88
    np.testing.assert_allclose(squared, ((X[:, None] - X[index]) ** 2).sum(axis=2), rtol=1e-12)
    assert (np.diff(squared, axis=1) >= 0).all()
    assert (index != np.arange(4000)[:, None]).all()
    for threads in (1, 2, 4):
        with threads_at_most(threads):
            again = nearest_neighbors(X, 8)
        assert again[0].tobytes() == index.tobytes()
        assert again[1].tobytes() == squared.tobytes()


def test_more_cells_are_compared_where_too_few_neighbors_are_found(monkeypatch):
    monkeypatch.setattr(_cell_search, "EXACT", 100)
    X = np.random.default_rng(0).normal(size=(6000, 12))
    search = _cell_search.CellSearch(X, 0)
    search.probes = 1
    recall = search.audit(5)
    assert search.probes > 1
    assert recall >= _cell_search._ENOUGH or search.probes == min(64, len(search.centers))


def test_copies_of_a_row_do_not_hide_the_others():
    X = np.repeat([[0.0, 0.0], [1.0, 0.0], [0.0, 5.0]], [6, 1, 4], axis=0)
    assert _cell_search.first_copies(X).tolist() == [0] * 6 + [6] + [7] * 4
    index, recall = _cell_search.find_distinct(X, 2, 0)
    assert recall == 1
    assert index[[0, 6, 7]].tolist() == [[6, 7], [0, 7], [0, 6]]
    assert index[1:6, 0].tolist() == [0, 1, 2, 3, 4]
    assert index[8:, 0].tolist() == [7, 8, 9]
    assert (index[1:6, 1] == -1).all()
    everything_equal = _cell_search.find_distinct(np.zeros((5, 2)), 3, 0)[0]
    assert everything_equal[:, 0].tolist() == [-1, 0, 1, 2, 3]


@pytest.mark.parametrize(
    ("X", "k", "words"),
    [
        ([1.0, 2.0], 1, "expected \\(n, d\\)"),
        ([[np.nan]], 1, "finite"),
        ([[1.0]], 0, "expected a whole number from 1"),
        ([[1.0]], True, "expected a whole number from 1"),
    ],
)
def test_bad_input_is_refused_in_words(X, k, words):
    with pytest.raises(InvalidArgumentError, match=words):
        nearest_neighbors(X, k)
