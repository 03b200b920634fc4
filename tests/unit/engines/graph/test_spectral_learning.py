"""Spectral learning: graphs bent by statements, their eigenvectors, and hard statements in the result."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.metrics import adjusted_rand_score

from linkwise import Constraints, Kind, close, verify
from linkwise.engines import SpectralLearning
from linkwise.engines.graph._affinity import default_gamma, read_affinity
from linkwise.engines.graph._bent_graph import bend
from linkwise.engines.graph._embedding import embed, normalize_rows
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError, MemoryLimitError
from linkwise.problem import Problem
from tests.contract.discovery import blobs
from tests.oracles import spectral
from tests.profile import examples

FORMS = [np.asarray, sp.csr_array]
each_form = pytest.mark.parametrize("form", FORMS, ids=["dense", "sparse"])


def knowledge(y, seed, m=20):
    rng = np.random.default_rng(seed)
    pairs = [tuple(rng.choice(len(y), 2, replace=False).tolist()) for _ in range(m)]
    return Constraints.build(
        len(y),
        must_link=[(i, j) for i, j in pairs if y[i] == y[j]],
        cannot_link=[(i, j) for i, j in pairs if y[i] != y[j]],
    )


def rings(n=200, seed=0):
    rng = np.random.default_rng(seed)
    angle, y = 4 * np.pi * np.arange(n) / n, np.arange(n) % 2
    X = np.column_stack([np.cos(angle), np.sin(angle)]) * (1.0 + y)[:, None]
    return X + rng.normal(scale=0.05, size=(n, 2)), y


def changed(A, said):
    return bend(A, 1.0, Problem(np.zeros((said.n_samples, 1)), said, who="test"))


def without_diagonal(A):
    return A - np.diag(np.diag(A))


@each_form
@pytest.mark.parametrize("kind", ["rbf", "nearest_neighbors"])
def test_certain_pairs_and_all_that_follows_are_set(form, kind):
    for seed in range(examples(5, 200)):
        X, y = blobs(seed, 30)
        A = read_affinity(X, kind, gamma=None, n_neighbors=6, who="test")[0]
        A = A.toarray() if sp.issparse(A) else A
        said = knowledge(y, seed)
        everything = close(said)
        expected = without_diagonal(
            spectral.bent(A, everything.of(Kind.MUST_LINK).tolist(), everything.of(Kind.CANNOT_LINK).tolist())
        )
        graph = changed(form(A), said)
        assert_allclose(graph.dense(), expected)
        assert_allclose(graph.degree(), expected.sum(axis=1))
        x = np.random.default_rng(seed).normal(size=30)
        assert_allclose(graph.times(x), expected @ x)


@each_form
def test_doubtful_pairs_go_part_of_the_way(form):
    A = np.full((4, 4), 0.5)
    weight = {"must_link": [np.log(2), 1.0], "cannot_link": [np.log(4), 1.0]}
    said = Constraints.build(4, must_link=[(0, 1), (0, 3)], cannot_link=[(2, 1), (3, 0)], weight=weight)
    bent = changed(form(A), said).dense()
    assert bent[0, 1] == bent[1, 0] == pytest.approx(0.75)
    assert bent[1, 2] == bent[2, 1] == pytest.approx(0.125)
    assert bent[0, 3] == pytest.approx(0.5)  # as much for it as against
    twice = Constraints.build(4, must_link=[(0, 1), (1, 0)], weight=np.log(2) / 2)
    assert changed(form(A), twice).dense()[0, 1] == pytest.approx(0.75)
    soft_group = Constraints.build(4, together=[[0, 1, 2]], weight=np.log(2))
    assert_allclose(changed(form(A), soft_group).dense()[[0, 0, 1, 0], [1, 2, 2, 3]], [0.75, 0.75, 0.75, 0.5])


@pytest.mark.parametrize("n", [60, 450], ids=["whole", "lanczos"])
def test_the_embedding_is_that_of_the_definition(n):
    X, y = blobs(1, n)
    A = read_affinity(X, "rbf", gamma=None, n_neighbors=10, who="test")[0]
    for said in (Constraints.build(n), knowledge(y, 1)):
        everything = close(said)
        must, cannot = everything.of(Kind.MUST_LINK).tolist(), everything.of(Kind.CANNOT_LINK).tolist()
        expected = spectral.embedding(without_diagonal(spectral.bent(A, must, cannot)), 4)
        vectors, values = embed(changed(A, said), 4, "test")
        rows = normalize_rows(vectors)
        assert_allclose(rows @ rows.T, expected @ expected.T, atol=1e-6)  # bases may be turned, angles may not
        assert values[0] == pytest.approx(1.0)
        assert (np.diff(values) <= 1e-12).all()


def test_the_diagonal_plays_no_part():
    A = read_affinity(blobs(2, 30)[0], "rbf", gamma=None, n_neighbors=10, who="test")[0]
    a, b = spectral.embedding(A, 3), spectral.embedding(without_diagonal(A), 3)
    assert_allclose(a @ a.T, b @ b.T, atol=1e-8)


@each_form
@pytest.mark.parametrize("n", [40, 900])
def test_unconnected_parts_are_the_leading_eigenvectors(form, n):
    part = np.arange(n) % 4
    A = (part[:, None] == part).astype(float)
    for k in (2, 4, 6):
        vectors, values = embed(changed(form(A), Constraints.build(n)), k, "test")
        assert vectors.shape[1] == max(k, 4)
        assert_allclose(values[:4], 1.0)
        assert (values[4:] < 0.99).all()
    labels = SpectralLearning(4, affinity="precomputed", random_state=0).fit(form(A)).labels_
    assert adjusted_rand_score(labels, part) == 1.0
    joined = Constraints.build(n, must_link=[(0, 1), (2, 3)])
    labels = SpectralLearning(2, affinity="precomputed", random_state=0).fit(form(A), constraints=joined).labels_
    assert adjusted_rand_score(labels, part // 2) == 1.0


@pytest.mark.parametrize("affinity", ["rbf", "nearest_neighbors"])
def test_hard_statements_hold_whatever_else_is_said(affinity):
    held = 0
    for seed in range(examples(15, 500)):
        rng = np.random.default_rng(seed)
        X, _ = blobs(seed, 24)
        y = rng.integers(3, size=24)  # knowledge the data say nothing of
        y[:3] = [0, 1, 2]
        said = knowledge(y, seed, 14)
        doubtful = knowledge(1 - y, seed + 1, 10).with_weight(2.0)
        model = SpectralLearning(3, affinity=affinity, random_state=seed)
        labels = model.fit(X, constraints=said | doubtful).labels_
        assert verify(labels, said).ok
        assert set(labels.tolist()) == {0, 1, 2}
        held += not verify(model.fit(X).labels_, said).ok
    assert held > 10  # the plain method breaks them


def test_a_heavy_soft_statement_bends_like_a_hard_one():
    _, y = blobs(3, 60)
    said = knowledge(y, 3, 40)
    everything = close(said)
    hard = changed(np.eye(60) + 0.1, everything).dense()
    soft = changed(np.eye(60) + 0.1, everything.with_weight(60.0)).dense()
    assert_allclose(hard, soft)


def test_sparse_and_dense_graphs_give_the_same_labels():
    for seed in range(4):
        X, y = blobs(seed, 80)
        A = read_affinity(X, "nearest_neighbors", gamma=None, n_neighbors=8, who="test")[0]
        said = knowledge(y, seed)
        a = SpectralLearning(3, affinity="precomputed", random_state=0).fit(A.toarray(), constraints=said)
        for form in (sp.csr_matrix, sp.csc_array, sp.coo_array):
            b = SpectralLearning(3, affinity="precomputed", random_state=0).fit(form(A), constraints=said)
            assert_array_equal(a.labels_, b.labels_)
        c = SpectralLearning(3, n_neighbors=8, random_state=0).fit(X, constraints=said)
        assert adjusted_rand_score(a.labels_, c.labels_) == 1.0


def test_rings_are_told_apart():
    X, y = rings(400)
    for affinity in ("rbf", "nearest_neighbors"):
        assert adjusted_rand_score(SpectralLearning(2, affinity=affinity, random_state=0).fit(X).labels_, y) == 1.0


def test_a_large_must_linked_group_is_not_written_out():
    n = 20_000
    group = np.arange(0, n, 2)
    ring = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]).tocsr()
    graph = changed(ring, Constraints.build(n, together=[group]))
    assert graph.table.nnz < 2 * n
    assert graph.degree()[0] == pytest.approx(len(group) - 1 + 1)


def test_the_default_width_follows_the_data():
    X, _ = blobs(0, 50)
    square = ((X[:, None] - X) ** 2).sum(axis=2)
    assert default_gamma(square) == pytest.approx(0.5 / np.median(np.sort(square, axis=1)[:, 7]))
    assert default_gamma(4.0 * square) == pytest.approx(default_gamma(square) / 4)
    assert default_gamma(np.zeros((5, 5))) == 1.0
    a, b = (SpectralLearning(3, affinity="rbf", random_state=0).fit(s * X).labels_ for s in (1.0, 1000.0))
    assert_array_equal(a, b)


def test_affinities_that_are_not_square_are_refused():
    with pytest.raises(LinkwiseError, match=r"shape \(10, 2\)"):
        SpectralLearning(2, affinity="precomputed").fit(np.random.default_rng(0).normal(size=(10, 2)))


def test_what_cannot_be_is_explained_before_anything_is_computed():
    X = np.zeros((10, 2))
    with pytest.raises(InfeasibleConstraintsError):
        SpectralLearning(2).fit(X, constraints=Constraints.build(10, cannot_link=[(0, 1), (1, 2), (0, 2)]))
    many = np.broadcast_to(np.zeros((1, 1)), (10**6, 1))
    with pytest.raises(MemoryLimitError, match="nearest_neighbors"):
        SpectralLearning(2, affinity="rbf").fit(many)
