"""Everything people pass by mistake, one case per number of the catalogue of bad input: E error, W warning, OK works.

Not here, because this release has nothing they could concern: A50 (no random_state), A51 (no max_iter), A52 (no tol),
A53 (no n_jobs), A83 and A84 (no predict; fitting again with other features is allowed).
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal

import linkwise
from linkwise import ConstrainedAgglomerative, Constraints, ReCon
from linkwise.engines import ConstrainedClusterer, agglomerate, progress
from linkwise.exceptions import (
    ConstraintError,
    InfeasibleConstraintsError,
    LinkwiseError,
    LinkwiseWarning,
    MemoryLimitError,
)
from tests.oracles.relative import onetree as build

RNG = np.random.default_rng(0)
G = RNG.normal(size=(8, 2))
D = np.sqrt(((G[:, None] - G[None]) ** 2).sum(-1))
ESTIMATORS = [ConstrainedAgglomerative, ReCon]


def partition(labels):
    """Label vectors up to renaming."""
    return {frozenset(np.flatnonzero(labels == v).tolist()) for v in np.unique(labels)}


def plain(X, k=2, **options):
    """Labels of the unconstrained method on clean numbers."""
    return partition(agglomerate(np.asarray(X, dtype=np.float64), **options).cut(n_clusters=k))


@pytest.fixture(params=[*ESTIMATORS, agglomerate], ids=lambda door: door.__name__)
def door(request):
    """Both estimators and the function: what all three take or refuse alike."""
    if request.param is agglomerate:
        return agglomerate
    return lambda X: request.param(n_clusters=1).fit(X)


@pytest.fixture(params=ESTIMATORS, ids=lambda estimator: estimator.__name__)
def estimator(request):
    return request.param


# -- shape and type of X --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "error", "words"),
    [
        pytest.param(np.empty((0, 3)), ValueError, r"0 sample\(s\)", id="A1-no-rows"),
        pytest.param(np.empty((0, 0)), ValueError, r"0 sample\(s\)", id="A2-nothing-at-all"),
        pytest.param(np.empty((5, 0)), ValueError, r"0 feature\(s\)", id="A3-no-columns"),
        pytest.param(np.arange(5.0), ValueError, "Expected 2D array, got 1D array", id="A4-one-dimension"),
        pytest.param(np.zeros((2, 2, 2)), ValueError, "dim 3", id="A5-three-dimensions"),
        pytest.param(3.0, ValueError, "got scalar array", id="A6-scalar"),
        pytest.param([[1.0, 2.0], [3.0]], ValueError, "inhomogeneous", id="A7-ragged"),
        pytest.param([[1.0], [np.nan]], ValueError, "NaN", id="A8-nan"),
        pytest.param([[1.0], [np.inf]], ValueError, "infinity", id="A9-infinity"),
        pytest.param([[1.0], [-np.inf]], ValueError, "infinity", id="A10-minus-infinity"),
        pytest.param(np.array([["a"], ["b"]], dtype=object), ValueError, "could not convert string", id="A11-strings"),
        pytest.param(np.ones((3, 2)) * 1j, ValueError, "Complex data not supported", id="A12-complex"),
        pytest.param(None, ValueError, "(X is None|Expected 2D array)", id="A14-none"),
        pytest.param("data.csv", ValueError, "(X is a str|could not convert string)", id="A15-path"),
        pytest.param({"a": [1, 2]}, TypeError, "dict", id="A16-dict"),
        pytest.param(np.array([[1e308], [-1e308]]), LinkwiseError, "1e.308.*overflow", id="A31-overflow"),
    ],
)
def test_what_is_no_table_of_numbers_is_refused(door, X, error, words):
    with pytest.raises(error, match=words):
        door(X)


@pytest.mark.parametrize(
    ("X", "words"),
    [
        pytest.param(
            [[1.0, 2.0], [3.0, np.nan], [np.nan, 1.0]],
            "contains NaN: 2 of its values, the first in row 1, column 1",
            id="A8-nan-where",
        ),
        pytest.param(
            pd.DataFrame({"age": [1.0, 2.0], "size": [3.0, np.nan]}),
            r"the first in row 1, column 1 \('size'\)",
            id="A8-nan-column-name",
        ),
        pytest.param(
            [[1.0, 2.0], [-np.inf, 0.0]], "contains infinity: 1 of its values.*row 1, column 0", id="A10-infinity-where"
        ),
        pytest.param(np.array([["2020-01-01"], ["2021-01-01"]], dtype="M8[D]"), "X holds dates", id="A13-dates"),
        pytest.param(
            pd.DataFrame({"n": [1, 2], "day": pd.to_datetime(["2020", "2021"])}),
            r"'day' \(datetime",
            id="A13-date-column",
        ),
        pytest.param(np.ma.masked_greater(G, 1.0), "X is a masked array", id="A33-masked"),
        pytest.param(
            pd.DataFrame({"n": [1, 2], "kind": pd.Categorical(["a", "b"]), "who": ["x", "y"]}),
            r"do not hold numbers: 'kind' \(category\), 'who'",
            id="A34-categorical",
        ),
        pytest.param(
            pd.DataFrame({"n": [1, 2], "who": pd.Series(["x", "y"], dtype=object)}),
            r"do not hold numbers: 'who' \(object\)",
            id="A34-object",
        ),
    ],
)
def test_estimators_name_the_place_of_what_is_no_number(estimator, X, words):
    with pytest.raises(LinkwiseError, match=words) as caught:
        estimator(n_clusters=1).fit(X)
    assert "Hint: " in str(caught.value)


def test_a8_nan_in_sparse_data_is_placed_too():
    X = sp.csr_matrix(np.array([[0.0, 1.0], [0.0, 0.0], [2.0, np.nan]]))
    with pytest.raises(LinkwiseError, match="contains NaN: 1 of its values, the first in row 2, column 1"):
        ConstrainedAgglomerative().fit(X)


def test_a8_a_sum_that_overflows_is_not_taken_for_infinity(estimator):
    with pytest.raises(LinkwiseError, match="overflow double precision"):
        estimator(n_clusters=1).fit(np.full((3, 2), 1.7e308))


@pytest.mark.parametrize("linkage", ["ward", "centroid", "median"])
def test_a35_sparse_where_unsupported_names_what_takes_it(estimator, linkage):
    with pytest.raises(LinkwiseError, match=r'takes no sparse X.\nHint: linkage="average", "complete"'):
        estimator(linkage=linkage).fit(sp.csr_matrix(G))


@pytest.mark.parametrize("metric", ["chebyshev", "precomputed", "callable"])
def test_a35_sparse_metrics_are_named(estimator, metric):
    given = (lambda a, b: float(abs(a - b).sum())) if metric == "callable" else metric
    with pytest.raises(LinkwiseError, match="sparse data go with metric euclidean, cityblock, cosine"):
        estimator(linkage="average", metric=given).fit(sp.csr_matrix(D))


# -- must work ------------------------------------------------------------------------------------------------------


def memmap(values, path):
    np.save(path / "X.npy", values)
    return np.load(path / "X.npy", mmap_mode="r")


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda path: G > 0, id="A17-bool"),
        pytest.param(lambda path: np.array([[-128], [127], [0], [1]], np.int8), id="A18-int8"),
        pytest.param(lambda path: G.astype(np.float16), id="A19-float16"),
        pytest.param(lambda path: G.astype(">f8"), id="A20-big-endian"),
        pytest.param(lambda path: memmap(G, path), id="A21-memmap"),
        pytest.param(lambda path: G[::-1, ::-1], id="A22-negative-strides"),
        pytest.param(lambda path: pd.DataFrame(G, index=[0, 0, 1, 1, 2, 2, 3, 3]), id="A23-duplicate-index"),
        pytest.param(lambda path: G[:2], id="A27-two-rows"),
        pytest.param(lambda path: np.c_[G, np.ones(8)], id="A29-constant-feature"),
        pytest.param(lambda path: np.array([[0.0], [1.0], [4.0], [5.5]]) * 1e-320, id="A30-denormals"),
    ],
)
@pytest.mark.parametrize("linkage", ["average", "ward"])
def test_unusual_numbers_work(estimator, change, linkage, tmp_path):
    X = change(tmp_path)
    assert partition(estimator(2, linkage=linkage).fit(X).labels_) == plain(X, method=linkage)


def test_a18_int8_distances_do_not_wrap_around(estimator):
    X = np.array([[-128], [127]], np.int8)
    assert estimator(1, linkage="average").fit(X).distances_.tolist() == [255.0]


def test_a24_sparse_with_duplicate_and_explicit_zero_entries(estimator):
    X = sp.coo_matrix(([1.0, 2.0, 0.0, 3.0, 5.0], ([0, 0, 1, 2, 3], [0, 0, 1, 1, 0])), shape=(4, 2))
    assert partition(estimator(2, linkage="average").fit(X).labels_) == plain(X.toarray())
    X = X.tocsr()
    assert partition(estimator(2, linkage="average").fit(X).labels_) == plain(X.toarray())


def test_a25_sparse_with_wide_indices(estimator):
    X = sp.csr_matrix(G)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    for made in (X, sp.csr_array(X), X.tocsc()):
        for metric in ("euclidean", "cityblock"):
            model = estimator(2, linkage="average", metric=metric).fit(made)
            assert partition(model.labels_) == plain(G, metric=metric)


def test_a26_one_row(estimator):
    model = estimator(1).fit([[3.0, 4.0]])
    assert model.labels_.tolist() == [0]
    assert model.children_.shape == (0, 2)
    assert model.k_min_ == 1


@pytest.mark.parametrize("linkage", ["single", "complete", "average", "weighted", "ward", "centroid", "median"])
def test_a28_equal_rows_give_every_number_of_clusters(estimator, linkage):
    X = np.ones((6, 2))
    for k in range(1, 7):
        model = estimator(k, linkage=linkage).fit(X)
        assert sorted(set(model.labels_)) == list(range(k))
        assert not model.distances_.any()


def test_a32_integers_beyond_double_precision_warn_at_the_callers_line(estimator):
    X = np.array([[2**63 + 1], [3], [4]], dtype=np.uint64)
    for given in (X, [[2**60], [3], [4]], pd.DataFrame(X, columns=["id"])):
        with pytest.warns(LinkwiseWarning, match=r"integers above 2\*\*53") as caught:
            model = estimator(2).fit(given)
        assert [w.filename for w in caught] == [__file__]
        assert model.labels_.tolist() == [0, 1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator(2).fit(np.array([[2**53], [-(2**53)], [0]]))


# -- options --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"n_clusters": 0}, r"'n_clusters' parameter .*Got 0 instead", id="A36-zero-clusters"),
        pytest.param({"n_clusters": -1}, r"'n_clusters' parameter .*Got -1 instead", id="A37-negative-clusters"),
        pytest.param({"n_clusters": 2.5}, r"'n_clusters' parameter .*Got 2.5 instead", id="A38-fraction"),
        pytest.param({"n_clusters": "3"}, r"'n_clusters' parameter .*Got '3' instead", id="A39-text"),
        pytest.param({"n_clusters": True}, r"'n_clusters' parameter .*Got True instead", id="A40-bool"),
        pytest.param({"n_clusters": 9}, "n_clusters=9, but X has only n_samples=8", id="A41-more-than-samples"),
        pytest.param({"linkage": "wards"}, r"'linkage' parameter .*'ward'.*Got 'wards'", id="A44-linkage-typo"),
        pytest.param({"linkage": "ward", "metric": "cosine"}, r'"ward" is defined by Euclidean', id="A45-ward-cosine"),
        pytest.param({"metric": "euclidian"}, "did you mean 'euclidean'", id="A46-metric-typo"),
        pytest.param({"metric": 7}, r"'metric' parameter .*Got 7", id="A46-metric-number"),
        pytest.param({"metric": lambda a, b: np.nan}, r"gives nan for rows 0 and 1", id="A47-metric-nan"),
        pytest.param({"metric": lambda a, b: -1.0}, r"gives -1.0 for rows 0 and 1", id="A48-metric-negative"),
        pytest.param({"metric": lambda a, b: a[0] - b[0] + 100.0}, "is not symmetric", id="A49-metric-asymmetric"),
    ],
)
def test_wrong_options_are_refused(estimator, options, words):
    with pytest.raises(ValueError, match=words):
        estimator(**{"linkage": "average", **options}).fit(G)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        pytest.param({"method": "wards"}, "did you mean 'ward'", id="A44-linkage-typo"),
        pytest.param({"method": "ward", "metric": "cosine"}, "defined by Euclidean", id="A45-ward-cosine"),
        pytest.param({"metric": "euclidian"}, "did you mean 'euclidean'", id="A46-metric-typo"),
        pytest.param({"metric": lambda a, b: np.nan}, "gives nan for rows 0 and 1", id="A47-metric-nan"),
        pytest.param({"metric": lambda a, b: -1.0}, "gives -1.0 for rows 0 and 1", id="A48-metric-negative"),
        pytest.param({"metric": lambda a, b: a[0] - b[0] + 100.0}, "is not symmetric", id="A49-metric-asymmetric"),
    ],
)
def test_agglomerate_refuses_wrong_options(options, words):
    with pytest.raises(LinkwiseError, match=words):
        agglomerate(G, **options)


@pytest.mark.parametrize("k", [0, -1, 2.5, "3", True, 9], ids=lambda k: f"A36-41-cut-{k!r}")
def test_cutting_refuses_the_same_numbers(k):
    with pytest.raises(LinkwiseError, match=r"n_clusters is .*expected a whole number from 1 to 8"):
        agglomerate(G).cut(n_clusters=k)


def test_a41_both_ways_to_cut_at_once(estimator):
    with pytest.raises(LinkwiseError, match=r"expected at most one of them.\nHint: set n_clusters=None"):
        estimator(2, distance_threshold=1.0).fit(G)


def test_a42_more_clusters_than_the_must_links_leave():
    said = Constraints.build(8, must_link=[(0, 1), (1, 2), (4, 5)])
    with pytest.raises(InfeasibleConstraintsError) as caught:
        ConstrainedAgglomerative(6).fit(G, constraints=said)
    text = str(caught.value)
    assert "cannot hold in 6 clusters" in text
    assert all(line in text for line in ("#0 must_link(0, 1)", "#1 must_link(1, 2)", "#2 must_link(4, 5)"))
    assert "the must-links leave at most 5 groups" in text
    assert ConstrainedAgglomerative(5).fit(G, constraints=said).n_clusters_ == 5


def test_a43_fewer_clusters_than_the_cannot_links_need_shows_the_clique():
    said = Constraints.build(8, cannot_link=[(0, 1), (6, 7), (1, 2), (0, 2)], must_link=[(2, 3)])
    with pytest.raises(InfeasibleConstraintsError) as caught:
        ConstrainedAgglomerative(2).fit(G, constraints=said)
    text = str(caught.value)
    assert all(f"cannot_link({i}, {j})" in text for i, j in ((0, 1), (1, 2), (0, 2)))
    assert "cannot_link(6, 7)" not in text
    assert "3 groups of samples are pairwise apart, so at least 3 clusters are needed, not 2" in text


def test_a54_unknown_parameter(estimator):
    with pytest.raises(ValueError, match=r"Invalid parameter 'linkag' .*Valid parameters are: .*'linkage'"):
        estimator().set_params(linkag="ward")
    with pytest.raises(TypeError, match="linkag"):
        estimator(linkag="ward")


# -- distance matrices ----------------------------------------------------------------------------------------------


def changed(i, j, value, both=True):
    matrix = D.copy()
    matrix[i, j] = value
    if both:
        matrix[j, i] = value
    return matrix


MATRICES = [
    pytest.param(D[:4], r"shape \(4, 8\) as dissimilarities, which is not square", id="A55-not-square"),
    pytest.param(changed(1, 2, 99.0, both=False), r"worst pair is \((1, 2|2, 1)\)", id="A56-asymmetric"),
    pytest.param(changed(3, 3, 1.0), r"diagonal is not zero: entry \(3, 3\)", id="A57-diagonal"),
    pytest.param(changed(0, 5, -1.0), r"negative dissimilarity for the pair \(0, 5\)", id="A58-negative"),
]


@pytest.mark.parametrize(("matrix", "words"), MATRICES)
def test_matrices_that_hold_no_distances_are_refused(estimator, matrix, words):
    with pytest.raises(LinkwiseError, match=words) as caught:
        estimator(linkage="average", metric="precomputed").fit(matrix)
    assert str(caught.value).startswith(estimator.__name__)


@pytest.mark.parametrize(("matrix", "words"), MATRICES)
def test_agglomerate_refuses_the_same_matrices(matrix, words):
    with pytest.raises(LinkwiseError, match=words):
        agglomerate(matrix, metric="precomputed")


def test_a59_condensed_of_no_triangular_length(estimator):
    with pytest.raises(LinkwiseError, match=r"4 condensed dissimilarities.*3 samples have 3, 4 have 6"):
        agglomerate(np.ones(4), metric="precomputed")
    with pytest.raises(ValueError, match="Expected 2D array"):  # estimators take rows, so squares only
        estimator(linkage="average", metric="precomputed").fit(np.ones(6))


def test_a60_a_matrix_that_looks_like_distances_warns_at_the_callers_line(estimator):
    for call in (estimator(2).fit, agglomerate):
        with pytest.warns(LinkwiseWarning, match=r"looks like distances.*\n.*precomputed") as caught:
            call(D)
        assert [w.filename for w in caught] == [__file__]


def test_a61_cosine_of_zero_rows_lists_them(estimator):
    X = G.copy()
    X[[2, 5]] = 0.0
    for given in (X, sp.csr_matrix(X)):
        with pytest.raises(LinkwiseError, match="undefined for rows of zeros: rows 2, 5 of X"):
            estimator(linkage="average", metric="cosine").fit(given)
    with pytest.raises(LinkwiseError, match="rows 2, 5 of X"):
        agglomerate(X, metric="cosine")


# -- constraints ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["must_link", "cannot_link", "triplets"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        pytest.param(8, r"names sample 8 \(row 1\), but samples are numbered 0 to 7.*counts from 1", id="A62-index-n"),
        pytest.param(99, r"names sample 99 \(row 1\).*Constraints.from_ids", id="A62-beyond"),
        pytest.param(-1, r"names sample -1 \(row 1\)", id="A63-negative"),
        pytest.param(1.0, r"holds float64 values such as .*\nHint: convert with `.astype\(int\)`", id="A64-float"),
        pytest.param(True, "holds True or False", id="A65-bool"),
        pytest.param(np.True_, "holds True or False", id="A65-numpy-bool"),
        pytest.param("a", r"names .*expected sample numbers.\n.*Constraints.from_ids", id="A80-string"),
    ],
)
def test_values_that_are_no_sample_numbers(kind, value, words):
    rows = {"triplets": [(0, 1, 2), (3, 4, value)]}.get(kind, [(0, 1), (3, value)])
    with pytest.raises(ConstraintError, match=f"(?s){kind} {words}"):
        Constraints.build(8, **{kind: rows})


def test_a65_arrays_of_bools():
    for rows in (np.array([[True, False]]), np.array([[0, True]], dtype=object)):
        with pytest.raises(ConstraintError, match="holds True or False"):
            Constraints.build(8, must_link=rows)


def test_a66_must_link_with_itself_is_dropped_with_a_warning():
    with pytest.warns(LinkwiseWarning, match=r"1 statement of the form must_link\(i, i\)") as caught:
        c = Constraints.build(8, must_link=[(1, 1), (0, 1)])
    assert [w.filename for w in caught] == [__file__]
    assert [c.describe(i) for i in range(c.n_statements)] == ["#1 must_link(0, 1)"]


def test_a67_cannot_link_with_itself():
    with pytest.raises(ConstraintError, match=r"cannot_link\(2, 2\) \(row 1\), expected two samples"):
        Constraints.build(8, cannot_link=[(0, 1), (2, 2)])


def test_a68_triplet_whose_close_pair_is_one_sample_is_dropped_with_a_warning():
    with pytest.warns(LinkwiseWarning, match=r"2 statements of the form triplet \(a, a, c\)"):
        c = Constraints.build(8, triplets=[(1, 1, 2), (0, 1, 2), (3, 3, 4)])
    assert c.n_statements == 1


@pytest.mark.parametrize("row", [(1, 2, 1), (2, 1, 1), (1, 1, 1)], ids=lambda row: f"A69-{row}")
def test_a69_triplet_apart_from_itself(row):
    with pytest.raises(ConstraintError, match=r"triplet \(\d, \d, 1\) \(row 0\) names 1 on both sides"):
        Constraints.build(8, triplets=[row])


def test_a70_exact_duplicates_are_counted_and_change_nothing(estimator):
    once, twice = (
        (Constraints.build(8, must_link=[(0, 7)] * m) if estimator is ConstrainedAgglomerative else None)
        or Constraints.build(8, triplets=[(0, 7, 1)] * m)
        for m in (1, 2)
    )
    assert twice.n_statements == 2
    assert twice.unique().n_statements == 1
    a, b = estimator(2).fit(G, constraints=once), estimator(2).fit(G, constraints=twice)
    assert_array_equal(a.dendrogram_.parent, b.dendrogram_.parent)
    assert_array_equal(a.labels_, b.labels_)
    assert b.certificate_.n_statements == 2


@pytest.mark.parametrize(
    ("estimator", "said", "core"),
    [
        pytest.param(
            ConstrainedAgglomerative,
            {"must_link": [(4, 5), (0, 1)], "cannot_link": [(2, 3), (1, 0)]},
            (1, 3),
            id="A71-must-and-cannot-link",
        ),
        pytest.param(ReCon, {"triplets": [(3, 4, 5), (0, 1, 2), (0, 2, 1)]}, (1, 2), id="A73-one-trio-two-ways"),
        pytest.param(
            ReCon,
            {"triplets": [(6, 7, 0), (3, 4, 2), (1, 5, 4), (1, 3, 0), (0, 5, 3), (2, 3, 1), (6, 7, 1)]},
            (1, 2, 3, 4, 5),
            id="A74-core-of-five",
        ),
        pytest.param(
            ConstrainedAgglomerative,
            {"must_link": [(0, 1), (5, 6), (1, 2), (2, 3), (3, 4)], "cannot_link": [(0, 4), (5, 7)]},
            (0, 2, 3, 4, 5),
            id="A74-core-of-five-links",
        ),
    ],
)
def test_contradictions_name_a_minimal_core(estimator, said, core):
    constraints = Constraints.build(8, **said)
    model = estimator(None)
    with pytest.raises(InfeasibleConstraintsError, match=rf"{len(core)} of \d+ constraints contradict") as caught:
        model.fit(G, constraints=constraints)
    assert caught.value.explanation.core == core
    assert all(constraints.describe(i) in str(caught.value) for i in core)
    for one in core:  # without any one of them the rest of the core is fine
        model.fit(G, constraints=constraints.select([i for i in core if i != one]))


def test_a74_the_core_of_five_is_one_by_brute_force():
    core = [(3, 4, 2), (1, 5, 4), (1, 3, 0), (0, 5, 3), (2, 3, 1)]
    assert build(core, range(6)) is None
    assert all(build(core[:i] + core[i + 1 :], range(6)) is not None for i in range(5))


def test_a72_a_chain_of_a_thousand_must_links_is_the_core():
    n = 1_500
    order = np.random.default_rng(0).permutation(1_000)
    chain = np.column_stack([np.arange(1_000), np.arange(1, 1_001)])[order]
    side = np.column_stack([np.arange(500), np.arange(1_000, 1_500)])
    side = side[side[:, 1] > 1_000]
    said = Constraints.build(n, must_link=np.concatenate([chain, side]), cannot_link=[(0, 1_000)])
    with pytest.raises(InfeasibleConstraintsError, match="1,001 of 1,500 constraints contradict") as caught:
        ConstrainedAgglomerative().fit(np.arange(n)[:, None], constraints=said)
    core = caught.value.explanation.core
    assert set(core) == {*range(1_000), said.n_statements - 1}
    assert len(str(caught.value).splitlines()) < 30


def test_a75_pairs_given_as_triplets():
    with pytest.raises(ConstraintError, match=r"triplets has shape \(1, 2\), expected \(m, 3\).\nHint: a row a, b, c"):
        Constraints.build(8, triplets=np.array([[0, 1]]))


@pytest.mark.parametrize(
    "nothing",
    [[], (), None, iter(()), np.empty((0, 2)), np.empty((0, 3), int), pd.DataFrame(), set(), [[]]],
    ids=lambda value: f"A76-{type(value).__name__}",
)
def test_a76_nothing_said(nothing):
    for kind in ("must_link", "cannot_link", "triplets"):
        assert Constraints.build(8, **{kind: nothing}) == Constraints.build(8)


@pytest.mark.parametrize(
    ("weight", "words"),
    [
        pytest.param(
            [1.0, 2.0, 3.0], r"weight has shape \(3,\), expected one value for each of the 2", id="A77-length"
        ),
        pytest.param([1.0, -2.0], "weight of statement 1 is -2.0, expected a number >= 0", id="A77-negative"),
        pytest.param([np.nan, 1.0], "weight of statement 0 is nan", id="A77-nan"),
        pytest.param({"must_link": [1.0, 1.0]}, "expected one value for each of the 1", id="A77-mapping-length"),
    ],
)
def test_a77_weights(weight, words):
    with pytest.raises(ConstraintError, match=words):
        Constraints.build(8, must_link=[(0, 1)], cannot_link=[(2, 3)], weight=weight)


def test_a78_labels_of_another_length(estimator):
    with pytest.raises(ConstraintError, match="constraints are about 3 samples, but X has 8 rows"):
        estimator().fit(G, constraints=Constraints.from_labels([0, 0, 1]))


def test_a79_all_labels_unknown_is_unconstrained(estimator):
    model = estimator(2, linkage="average").fit(G, constraints=Constraints.from_labels([-1] * 8))
    assert partition(model.labels_) == plain(G)


def test_a81_unknown_id():
    with pytest.raises(ConstraintError, match=r"not in ids: 'minks'.\nHint: did you mean 'mink'\?"):
        Constraints.from_ids(["otter", "mink"], must_link=[("otter", "minks")])


@pytest.mark.parametrize("ids", [["a", "b", "a"], [1, 2, 1], ["a", 1, "a"]])
def test_a82_duplicate_ids(ids):
    with pytest.raises(ConstraintError, match=f"ids contains {ids[0]!r} more than once"):
        Constraints.from_ids(ids)


# -- life cycle -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
def test_a85_a_million_samples_are_refused_before_anything_is_allocated(estimator, sparse, monkeypatch):
    n = 1_000_000
    X = sp.csr_matrix((n, 1)) if sparse else np.broadcast_to(np.zeros(1), (n, 1))
    from linkwise import _memory

    monkeypatch.setattr(_memory, "available_memory", lambda: 64 * 1024**3)
    tracemalloc.start()
    with pytest.raises(MemoryLimitError, match=r"needs \d+\.\d GiB, but only 64.0 GiB is available.\nHint: ") as caught:
        estimator(2, linkage="average").fit(X)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 200 * n  # some numbers for each sample
    assert caught.value.needed >= 8 * n * n
    assert caught.value.available == 64 * 1024**3
    assert isinstance(caught.value, MemoryError)


def test_a85_agglomerate_refuses_too_and_names_an_alternative(monkeypatch):
    from linkwise import _memory

    monkeypatch.setattr(_memory, "available_memory", lambda: 64 * 1024**3)
    with pytest.raises(MemoryLimitError, match=r'GiB(.|\n)*"ward", "centroid" or "single"'):
        agglomerate(np.broadcast_to(np.zeros(1), (1_000_000, 1)))


def test_a86_an_interrupted_fit_keeps_the_old_state(estimator):
    model = estimator(2).fit(G)
    before = {name: id(value) for name, value in vars(model).items()}

    def interrupt(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress(interrupt):
        model.fit(G * 2 + 1)
    assert {name: id(value) for name, value in vars(model).items()} == before


INTERRUPTED = """
import os, signal, sys, threading, traceback
import numpy as np
from linkwise import ConstrainedAgglomerative, Constraints, ReCon

model = {"agglomerative": ConstrainedAgglomerative(2, linkage="average"), "recon": ReCon(2)}[sys.argv[1]]
rng = np.random.default_rng(0)
model.fit(rng.normal(size=(20, 2)))
old = model.labels_
X = rng.normal(size=(6000, 4))
inside = False
while not inside:
    try:
        print("fitting", flush=True)
        while True:
            model.fit(X)
            model.labels_ = old
    except KeyboardInterrupt as stop:
        inside = any(frame.name == "fit" for frame in traceback.extract_tb(stop.__traceback__))
        print("inside" if inside else "between two fits", "kept" if model.labels_ is old else "lost", flush=True)
"""


@pytest.mark.parametrize("which", ["agglomerative", "recon"])
def test_a86_control_c_stops_a_real_fit(which):
    command = [sys.executable, "-c", INTERRUPTED, which]
    home = {**os.environ, "PYTHONPATH": str(Path(linkwise.__file__).parents[1])}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=home) as child:
        try:
            said = "between two fits"
            while said.startswith("between two fits"):  # or before the first one
                assert child.stdout.readline() == "fitting\n"
                child.send_signal(signal.SIGINT)
                said = child.stdout.readline()
            assert said == "inside kept\n"
            assert child.wait() == 0
        finally:
            child.kill()


def test_a87_fitting_twice_is_fitting_once(estimator):
    model = estimator(3).fit(G)
    first = model.labels_.copy()
    assert_array_equal(model.fit(G).labels_, first)
    assert_array_equal(model.fit(G[:5]).labels_, estimator(3).fit(G[:5]).labels_)


def test_a88_what_the_caller_does_to_arrays_after_fit_has_no_effect():
    pairs = np.array([[0, 7]])
    said = Constraints.build(8, must_link=pairs)
    X = G.copy()
    model = ConstrainedAgglomerative(2).fit(X, constraints=said)
    labels, held = model.labels_.copy(), model.certificate_.held.copy()
    pairs[:] = 3
    X[:] = 0
    with pytest.raises(ValueError, match="read-only"):
        said.items[:] = 0
    assert model.constraints_ == Constraints.build(8, must_link=[(0, 7)])
    assert_array_equal(model.labels_, labels)
    assert_array_equal(model.certificate_.held, held)


def test_a89_threads_are_documented_and_clones_are_safe(estimator):
    assert "two threads" in ConstrainedClusterer.__doc__
    found = {}

    def work(seed):
        found[seed] = estimator(3).fit(np.random.default_rng(seed).normal(size=(60, 2))).labels_

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for seed in range(4):
        expected = estimator(3).fit(np.random.default_rng(seed).normal(size=(60, 2))).labels_
        assert_array_equal(found[seed], expected)


def fit_in_child(queue, estimator, X):
    queue.put(estimator(3).fit(X).labels_.tolist())


def test_a90_fork_after_fit(estimator):
    X = np.random.default_rng(0).normal(size=(2_000, 3))  # enough rows for the threads to have been started
    expected = estimator(3).fit(X).labels_.tolist()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    child = context.Process(target=fit_in_child, args=(queue, estimator, X))
    child.start()
    assert queue.get(timeout=600) == expected
    child.join()
    assert child.exitcode == 0
