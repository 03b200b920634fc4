"""Frames out and in: statements, clusters and results of a search, in pandas, polars and pyarrow."""

from __future__ import annotations

import sys

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings, strategies as st

from linkwise import Constraints, COPKMeans, KnowledgeSearchCV, cluster
from linkwise.constraints import SizeBetween
from linkwise.exceptions import ConstraintError, LinkwiseError

BACKENDS = ["pandas", "polars", "pyarrow"]


@st.composite
def tables(draw):
    """Any statements about nine samples, by number, by whole-number names or by text."""
    order = st.permutations(range(9))
    rows = {
        name: [draw(order)[:size] for _ in range(draw(st.integers(0, 2)))]
        for name, size in (("must_link", 2), ("cannot_link", 2), ("triplets", 3), ("together", 4), ("apart", 3))
    }
    m = sum(map(len, rows.values()))
    weight = draw(st.lists(st.sampled_from([np.inf, 0.5, 2.0]), min_size=m, max_size=m))
    ids = draw(st.sampled_from([None, [10 * i for i in range(9)], list("abcdefghi")]))
    if ids is None:
        return Constraints.build(9, **rows, weight=weight), 9
    named = {kind: [[ids[i] for i in row] for row in given_] for kind, given_ in rows.items()}
    return Constraints.from_ids(ids, **named, weight=weight), ids


@pytest.mark.parametrize("backend", BACKENDS)
@settings(max_examples=25)
@given(case=tables())
def test_a_table_comes_back_from_its_frame(backend, case):
    table, ids = case
    frame = table.to_frame(backend)
    assert len(nw.from_native(frame)) == table.n_statements
    again = Constraints.from_frame(frame, ids)
    assert again == table
    assert sorted(again.describe_each(range(again.n_statements))) == sorted(
        table.describe_each(range(again.n_statements))
    )


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"kind": ["must_lnk"], "a": [0], "b": [1]}, "row 0 has the kind 'must_lnk'"),
        (
            {"kind": ["must_link"], "a": [0], "b": [None]},
            r"row 0 \(must_link\) has values in a, expected them in a and b",
        ),
        ({"kind": ["must_link"], "a": [0], "b": [1], "c": [2]}, "has values in a, b and c, expected them in a and b"),
        ({"kind": ["together"], "a": [0], "b": [1]}, "expected them in samples"),
        ({"kind": ["must_link"], "left": [0], "right": [1]}, "'left', 'right' is not a column"),
        ({"a": [0], "b": [1]}, "expected kind, a and b"),
        ({"kind": ["must_link"], "a": [0], "b": [7]}, "not in ids: 7"),
    ],
)
def test_a_frame_of_something_else_is_refused(columns, message):
    with pytest.raises(ConstraintError, match=message):
        Constraints.from_frame(pd.DataFrame(columns), 3)


def test_what_is_no_frame_is_refused():
    with pytest.raises(LinkwiseError, match="from_frame got list, expected a data frame"):
        Constraints.from_frame([("must_link", 0, 1)], 3)


def test_rules_are_not_lost():
    table = Constraints.build(3, must_link=[(0, 1)], rules=SizeBetween(1, 2))
    with pytest.raises(ConstraintError, match="but there are rules: SizeBetween"):
        table.to_frame()
    assert len(table.with_rules().to_frame()) == 1


@pytest.mark.parametrize("backend", BACKENDS)
def test_clusters_and_results_come_as_frames(backend):
    X = np.array([[0.0], [1.0], [9.0], [9.5], [20.0], [20.5]])
    said = Constraints.from_ids(
        list("abcdef"), must_link=[("a", "b"), ("c", "d")], cannot_link=[("a", "c"), ("d", "e")]
    )
    frame = nw.from_native(cluster(X, said, 3).to_frame(backend))
    assert frame["sample"].to_list() == list("abcdef")
    assert len(set(frame["cluster"].to_list())) == 3
    grid = [(COPKMeans(random_state=0), {"n_clusters": [2, 3]}), (COPKMeans(3), {"max_iter": [5]})]
    search = KnowledgeSearchCV(grid, cv=2, random_state=0).fit(X, constraints=said)
    table = nw.from_native(search.to_frame(backend))
    assert set(table.columns) == set(search.cv_results_) - {"params"}
    assert len(table) == 3
    assert sum(table["param_max_iter"].is_null().to_list()) == 2


def test_a_library_that_is_not_installed_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(LinkwiseError, match="polars is not installed"):
        Constraints.build(2, must_link=[(0, 1)]).to_frame("polars")
    with pytest.raises(LinkwiseError, match="backend is 'panda', expected 'pandas', 'polars' or 'pyarrow'"):
        Constraints.build(2).to_frame("panda")
