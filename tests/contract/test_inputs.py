"""Inputs: not modified, in any layout and container, in any order, moved, turned and scaled, and degenerate."""

from __future__ import annotations

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from linkwise import Kind
from linkwise.exceptions import LinkwiseWarning
from tests.contract.agreement import assert_alike, assert_same, clusters, partition
from tests.contract.cases import ALL, CLUSTERERS, LABELS, LEARNERS, TREE, each, fit
from tests.contract.discovery import blobs, table, truth
from tests.profile import examples

TURN = np.array([[0.6, -0.8], [0.8, 0.6]])


def starts_can_be_given(case):
    """Whether the first centers are a parameter; drawn ones depend on row numbers and rounding."""
    return case.has("init")


def square(X):
    """Euclidean distances between all rows."""
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))


@each(ALL, "example")
def test_inputs_and_global_state_are_untouched_and_the_answer_is_repeated(case, example):
    X, c = example.problem(8)
    before, copy = X.copy(), pickle.loads(pickle.dumps(c))
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - the global generator must not be used
    errors = np.geterr()
    first = fit(example.model, X, c)
    filters = list(warnings.filters)
    assert_same(first, fit(example.model, X, c))
    if case.has("random_state"):
        fit(case.make(seed=None), X, c)
    assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert warnings.filters == filters
    assert np.geterr() == errors
    assert_array_equal(X, before)
    assert X.flags.writeable
    assert c == copy


@each((TREE,), "kind", where=lambda case: case.has("metric"))
def test_distances_are_untouched(case, kind):
    X, y = blobs(7)
    D = square(X)
    before = D.copy()
    fit(case.make(linkage="average", metric="precomputed"), D, table(kind, truth(kind, y, 7), len(X)))
    assert_array_equal(D, before)
    assert D.flags.writeable


@each((LABELS,), "kind", where=starts_can_be_given)
def test_given_starts_are_untouched(case, kind):
    X, y = blobs(7)
    start = X[:3].copy()
    case.make(init=start).fit(X, constraints=table(kind, truth(kind, y, 7), len(X)))
    assert_array_equal(start, X[:3])


def layouts(X, path):
    """The same samples in other layouts and containers, one of which cannot be written to."""
    np.save(path / "X.npy", X)
    wide = np.zeros((len(X), 3 * X.shape[1]))
    wide[:, ::3] = X
    columns = list("abcd"[: X.shape[1]])
    return [
        X.astype(np.float32),
        np.asfortranarray(X),
        wide[:, ::3],
        X[::-1][::-1],
        np.load(path / "X.npy", mmap_mode="r"),
        X.tolist(),
        pd.DataFrame(X, columns=columns),
        pl.DataFrame(X, schema=columns),
        pd.DataFrame(X, index=[f"i{i}" for i in range(len(X))]),
    ]


def as_float32(X):
    """Round to numbers that float32 holds exactly, so that all layouts hold the same numbers."""
    return X.astype(np.float32).astype(np.float64)


@each(CLUSTERERS, "kind", "linkage", linkages=("average", "ward", "single"))
def test_layouts_and_containers_agree(case, kind, linkage, tmp_path):
    X, y = blobs(10)
    X = as_float32(X)
    c = table(kind, truth(kind, y, 10), len(X))
    expected = fit(case.make(linkage=linkage), X, c)
    kinds = case.each_kind()
    for variant in layouts(X, tmp_path)[kinds.index(kind) :: len(kinds)]:  # read in one place: each with one kind
        assert_same(fit(case.make(linkage=linkage), variant, c), expected)


@each(LEARNERS)
def test_layouts_and_containers_give_the_same_metric(case, tmp_path):
    example = case.examples()[0]
    X, c = example.problem(10)
    X = as_float32(X)
    expected = fit(example.model, X, c).transform(X)
    for variant in layouts(X, tmp_path):
        assert_allclose(fit(example.model, variant, c).transform(variant), expected)


@each(CLUSTERERS, "kind", where=lambda case: case.takes_sparse or case.answers == TREE)
def test_sparse_data_agree_with_dense(case, kind):
    X, y = blobs(10)
    if case.answers == LABELS:
        X[X < 0] = 0.0
    c = table(kind, truth(kind, y, 10), len(X))
    fitted = {}
    ways = zip((sp.csr_matrix, sp.csc_array, sp.coo_array), ("euclidean", "cosine", "cityblock"), strict=True)
    for form, metric in ways:
        options = {"metric": metric} if case.answers == TREE and case.has("metric") else {}
        models = [case.make(linkage=linkage, **options) for linkage in case.linkages]
        for model in [one for one in models if one.__sklearn_tags__().input_tags.sparse]:
            dense = fitted.get(repr(model)) or fit(model, X, c)
            fitted[repr(model)], sparse = dense, fit(model, form(X), c)
            assert_alike(dense, sparse)
            if case.has("predict"):
                assert_array_equal(sparse.predict(form(X)), sparse.predict(X))
            if case.has("transform"):
                assert_allclose(sparse.transform(form(X)), sparse.transform(X), atol=1e-6)


# -- order -------------------------------------------------------------------------------------------------------------


@each(CLUSTERERS, "kind")
def test_the_order_of_statements_does_not_matter(case, kind):
    X, y = blobs(9)
    c = table(kind, truth(kind, y, 9), len(X))
    a, b = (fit(case.make(), X, one) for one in (c, c.select(np.arange(c.n_statements)[::-1])))
    assert partition(a.labels_) == partition(b.labels_)
    if case.answers == TREE:
        assert clusters(a) == clusters(b)
        assert_array_equal(a.labels_, b.labels_)
    elif hasattr(a, "inertia_"):
        assert_alike(a, b)


def free_of_history(rows, kind, linkage):
    """Statements whose groups have no order of merges: weighted and median weigh halves by history."""
    if kind not in (Kind.MUST_LINK, Kind.TOGETHER) or linkage not in ("weighted", "median"):
        return rows
    rows = [row[:2] for row in rows]
    return [row for i, row in enumerate(rows) if not any(set(row) & set(other) for other in rows[:i])]


def legal(groups, kind, rows):
    """Leave out clusters that split a must-link: how a forced group comes about follows the order of its rows."""
    if kind not in (Kind.MUST_LINK, Kind.TOGETHER):
        return groups
    return {group for group in groups if all(len({a in group for a in row}) == 1 for row in rows)}


@each(CLUSTERERS, "kind", "linkage", where=lambda case: case.answers == TREE or starts_can_be_given(case))
def test_permuting_rows_permutes_the_result(case, kind, linkage):
    for seed in range(examples(3, 100)):
        X, y = blobs(seed)
        rows = free_of_history(truth(kind, y, seed), kind, linkage)
        c = table(kind, rows, len(X))
        rng = np.random.default_rng(seed)
        order = rng.permutation(len(X))
        if case.answers == LABELS:
            model = case.make(init=X[rng.choice(len(X), 3, replace=False)])
            assert_array_equal(fit(model, X[order], c[order]).labels_, fit(model, X, c).labels_[order])
            continue
        model = case.make(linkage=linkage)
        a, b = fit(model, X, c), fit(model, X[order], c[order])
        back = {frozenset(order[list(group)].tolist()) for group in clusters(b)}
        assert legal(back, kind, rows) == legal(clusters(a), kind, rows)
        assert partition(b.labels_) == partition(a.labels_[order])


# -- geometry ----------------------------------------------------------------------------------------------------------


@each((TREE,), "linkage", where=lambda case: case.has("metric"))
def test_translation_rotation_and_scale_keep_the_tree(case, linkage):
    X, _ = blobs(11)
    model = case.make(linkage=linkage, n_clusters=3)
    a, b = fit(model, X), fit(model, 8.0 * (X @ TURN) + 5.0)
    assert clusters(a) == clusters(b)
    assert_allclose(np.sort(b.distances_), 8.0 * np.sort(a.distances_), rtol=1e-9)


@each((LABELS,), where=starts_can_be_given)
def test_translation_rotation_and_scale_keep_the_partition(case):
    X, y = blobs(11)
    c = table(Kind.MUST_LINK, truth(Kind.MUST_LINK, y, 11), len(X))
    start = X[:3]
    a = case.make(init=start, **case.turnable).fit(X, constraints=c)
    b = case.make(init=8.0 * (start @ TURN) + 5.0, **case.turnable).fit(8.0 * (X @ TURN) + 5.0, constraints=c)
    assert_array_equal(a.labels_, b.labels_)


@each(CLUSTERERS, where=lambda case: case.has("n_clusters"))
def test_degenerate_data_give_all_clusters(case):
    """One sample, as many clusters as samples, samples that are all equal, a constant feature."""
    for n in (1, 2, 5):
        rng = np.random.default_rng(0)
        for X in (np.zeros((n, 2)), np.column_stack([np.ones(n), rng.normal(size=n)]), rng.normal(size=(n, 1))):
            for k in range(1, n + 1):
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    model = case.make(n_clusters=k).fit(X)
                found = sorted(set(model.labels_.tolist()))
                assert found == list(range(model.n_clusters_))
                words = [str(one.message) for one in caught if issubclass(one.category, LinkwiseWarning)]
                if len(found) < k:
                    assert case.may_leave_clusters_empty
                    assert any(f"instead of n_clusters={k}" in word for word in words)
                else:
                    assert not words
                assert np.isfinite(getattr(model, "cluster_centers_", 0)).all()
