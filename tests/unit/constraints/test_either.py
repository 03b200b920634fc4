"""Disjunctions in tables: what is stored, refused and dropped, and that slicing and algebra keep their meaning."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linkwise import Constraints, Kind, check, verify
from linkwise.exceptions import ConstraintError, LinkwiseWarning
from tests.oracles.partitions import draw_statements
from tests.profile import examples

ONE = [("must_link", 3, 1), ("cannot_link", 0, 2)]


def test_a_disjunction_is_one_statement_of_links_in_any_order():
    c = Constraints.build(5, either=[ONE], must_link=[(0, 1)], weight=2.0)
    assert c.describe(1) == "#1 either(must_link(1, 3), cannot_link(0, 2)) weight 2"
    assert repr(c) == "Constraints(5 samples: 1 must-link, 1 disjunction; 2 of 2 soft)"
    turned, other = [("cannot_link", 2, 0), ("must_link", 1, 3)], [("cannot_link", 1, 3), ("must_link", 0, 2)]
    assert c == Constraints.build(5, must_link=[(1, 0)], either=[turned], weight=2)
    assert c != Constraints.build(5, must_link=[(0, 1)], either=[other], weight=2)
    assert [kind.word for kind in (Kind(int(code)) for code in c.kind)] == ["must_link", "either"]
    assert sorted(c.samples_of(1).tolist()) == [0, 1, 2, 3]
    assert Kind.EITHER.count(3) == "3 disjunctions"


def test_links_beyond_a_few_are_counted():
    many = [[("must_link", 0, i) for i in range(1, 10)]]
    assert Constraints.build(10, either=many).describe(0).endswith("must_link(0, 6), ... 3 more)")


def test_repeated_and_impossible_links_go():
    said = [("must_link", 0, 1), ("must_link", 1, 0), ("cannot_link", 2, 2), ("cannot_link", 3, 4)]
    c = Constraints.build(5, either=[said])
    assert c.describe(0) == "#0 either(must_link(0, 1), cannot_link(3, 4))"


@pytest.mark.parametrize(
    "row", [[("must_link", 1, 1), ("must_link", 2, 3)], [("must_link", 0, 1), ("cannot_link", 1, 0)]]
)
def test_what_always_holds_is_dropped_with_a_warning_at_the_callers_line(row):
    with pytest.warns(LinkwiseWarning, match="1 statement of the form either with") as caught:
        c = Constraints.build(5, either=[ONE, row])
    assert caught[0].filename == __file__
    assert c.n_statements == 1
    assert c.row.tolist() == [0]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ([[]], r"either \(row 0\) has no links, expected at least one"),
        ([ONE, [("cannot_link", 2, 2)]], r"either \(row 1\) has only cannot_link\(2, 2\), which never holds"),
        ([("must_link", 0, 1)], r"either \(row 0\) holds 'must_link', expected links such as"),
        ([[("triplet", 0, 1, 2)]], "expected links such as"),
        ([[("must_link", 0)]], "expected links such as"),
        ([[3]], "holds 3, expected links"),
        ([3], "either holds 3, expected disjunctions"),
        (3, "either is int, expected a list of disjunctions"),
        ("must_link", "either is str, expected a list"),
        ([[("must_link", 0, 9)]], r"either names sample 9 \(row 0\), but samples are numbered 0 to 4"),
        ([[("must_link", 0, True)]], "either holds True or False"),
        ([[("must_link", 0, 0.5)]], "expected whole sample numbers"),
        ([[("must_link", "a", "b")]], "translate identifiers"),
    ],
)
def test_disjunctions_that_make_no_sense(given, words):
    with pytest.raises(ConstraintError, match=words):
        Constraints.build(5, either=given)


def test_identifiers_serve_disjunctions_too():
    ids = ["otter", "mink", "seal"]
    link = [("must_link", "seal", "otter"), ("cannot_link", "seal", "mink")]
    c = Constraints.from_ids(ids, [("cannot_link", "otter", "mink"), ("either", link, 3.0)])
    assert c.describe(1) == "#1 either(must_link(otter, seal), cannot_link(mink, seal)) weight 3"
    assert Constraints.from_ids(ids, either=[link], weight=3.0).describe(0) == c.describe(1).replace("#1", "#0")
    with pytest.raises(ConstraintError, match="did you mean 'mink'"):
        Constraints.from_ids(ids, either=[[("must_link", "minks", "seal")]])
    with pytest.raises(ConstraintError, match="names 'must_link', expected a list of links"):
        Constraints.from_ids(ids, [("either", "must_link")])
    with pytest.raises(ConstraintError, match="expected one list of links"):
        Constraints.from_ids(ids, [("either", link, 1.0, 2.0)])


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("ids", [None, ["a", "b", "c", "d", "e"]])
def test_frames_say_the_links_in_the_kind(backend, ids):
    c = Constraints.build(5, either=[ONE, [("must_link", 0, 4)]], cannot_link=[(3, 4)]).with_ids(ids)
    frame = c.to_frame(backend)
    kinds = list(frame["kind"].to_pylist() if backend == "pyarrow" else frame["kind"])
    assert kinds == ["cannot_link", "must_link or cannot_link", "must_link or must_link"]
    assert Constraints.from_frame(frame, 5 if ids is None else ids) == c


def test_frames_with_too_few_samples_or_without_links_are_refused():
    import pandas as pd

    with pytest.raises(ConstraintError, match="must_link or cannot_link names 3 samples, expected 4: two for each"):
        Constraints.from_frame(pd.DataFrame({"kind": ["must_link or cannot_link"], "samples": [[0, 1, 2]]}), 5)
    with pytest.raises(ConstraintError, match="row 0 has the kind 'either', expected a kind of statement"):
        Constraints.from_frame(pd.DataFrame({"kind": ["either"], "samples": [[0, 1, 2, 3]]}), 5)


def test_other_numbers_say_the_same():
    """A table under a permutation of its samples holds exactly where the other one does."""
    rng = np.random.default_rng(0)
    for _ in range(examples(40, 400)):
        n = int(rng.integers(4, 8))
        c = Constraints.build(n, **draw_statements(rng, n, {"either": 5, "must_link_any": 2, "apart": 1}))
        order = rng.permutation(n)
        moved = c.reorder(order)
        assert moved.reorder(np.argsort(order)) == c
        for _ in range(5):
            labels = rng.integers(0, 3, n)
            by_row = np.empty(c.n_statements, dtype=bool)
            by_row[moved.row] = verify(labels[order], moved).held
            assert by_row[c.row].tolist() == verify(labels, c).held.tolist()
        some = np.flatnonzero(rng.random(n) < 0.8)
        stay = [s for s in range(c.n_statements) if c.kind[s] == Kind.EITHER and np.isin(c.samples_of(s), some).all()]
        part = c[some]
        assert part.row[part.kind == Kind.EITHER].tolist() == c.row[stay].tolist()


def test_algebra_pickling_and_equality_include_disjunctions():
    rng = np.random.default_rng(1)
    for _ in range(examples(20, 200)):
        c = Constraints.build(7, **draw_statements(rng, 7, {"either": 5, "together": 2, "cannot_link": 3})).unique()
        shuffled = c.select(rng.permutation(c.n_statements))
        assert shuffled == c
        assert hash(shuffled) == hash(c)
        assert pickle.loads(pickle.dumps(c)) == c
        assert not (c - shuffled)
        assert (c | shuffled).unique().with_weight(1.0) == c.with_weight(1.0)
        assert (c & shuffled) == c


def test_an_implication_is_a_disjunction():
    """If 0 and 1 are together, so are 2 and 3."""
    table = Constraints.build(4, either=[[("cannot_link", 0, 1), ("must_link", 2, 3)]])
    assert check(table | Constraints.build(4, must_link=[(0, 1)]), n_clusters=3).status == "infeasible"
    assert check(table | Constraints.build(4, must_link=[(0, 1)]), n_clusters=2).status == "feasible"
    assert check(table, n_clusters=3).status == "feasible"
