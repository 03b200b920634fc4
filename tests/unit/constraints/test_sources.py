"""Statements from labels and from the user's own names."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from linkwise import Constraints, Kind, close
from linkwise.active import Answer, LabelAnswerer, Query
from linkwise.constraints import MinSeparation, _from_labels_and_ids
from linkwise.exceptions import ConstraintError, LinkwiseWarning
from linkwise.problem import label_triplets
from linkwise.sources import groups, label_pairs, label_triplets_sample

# -- labels ---------------------------------------------------------------------------------------------------------


def entailed(constraints):
    """Everything the links entail, as sets of pairs."""
    closed = close(constraints)
    return [{tuple(p) for p in closed.of(kind).tolist()} for kind in (Kind.MUST_LINK, Kind.CANNOT_LINK)]


def test_labels_entail_every_pair_and_nothing_else():
    rng = np.random.default_rng(1)
    for _ in range(30):
        y = rng.integers(-1, 4, size=12)
        must, cannot = entailed(Constraints.from_labels(y))
        known = [(i, j) for i, j in combinations(range(12), 2) if y[i] >= 0 and y[j] >= 0]
        assert must == {(i, j) for i, j in known if y[i] == y[j]}
        assert cannot == {(i, j) for i, j in known if y[i] != y[j]}


def test_labels_become_few_statements():
    y = np.repeat(np.arange(10), 1_000)
    c = Constraints.from_labels(y)
    assert c.n_statements == 10 * 999 + 45
    assert Constraints.from_labels(y, weight=2).weight.tolist() == [2.0] * c.n_statements


@pytest.mark.parametrize(
    ("y", "unlabeled"),
    [
        (["b", "?", "b", "a"], "?"),
        (["b", None, "b", "a"], None),
        ([1.5, -1, 1.5, 0.0], -1),
        ([True, 2, True, False], 2),
        (pd.Series(["b", "?", "b", "a"], index=[9, 8, 7, 6]), "?"),
        (np.array(["b", "", "b", "a"]), ""),
    ],
)
def test_labels_are_of_any_type(y, unlabeled):
    must, cannot = entailed(Constraints.from_labels(y, unlabeled=unlabeled))
    assert must == {(0, 2)}
    assert cannot == {(0, 3), (2, 3)}


def test_text_labels_have_no_default_for_unknown():
    assert Constraints.from_labels(["a", "b", "a"]).n_statements == 2


def test_labels_that_cannot_be_read():
    with pytest.raises(ConstraintError, match=r"y has shape \(2, 1\), expected one value per sample"):
        Constraints.from_labels([[1], [2]])
    with pytest.raises(ConstraintError, match="y holds values that are not names"):
        Constraints.from_labels([[1], "a", None])


UNKNOWN = {
    "NaN": [1.0, 1.0, 2.0, np.nan, 2.0],
    "None": [1, 1, 2, None, 2],
    "text and None": ["a", "a", "b", None, "b"],
    "text and NaN": ["a", "a", "b", np.nan, "b"],
    "objects": np.array(["a", "a", "b", np.nan, "b"], dtype=object),
    "numbers, text and None": [1, 1, "b", None, "b"],
    "pandas text": pd.Series(["a", "a", "b", None, "b"]),
    "pandas.NA": pd.Series(["a", "a", "b", pd.NA, "b"], dtype="string"),
    "nullable integers": pd.array([1, 1, 2, None, 2], dtype="Int64"),
    "nullable booleans": pd.array([True, True, False, None, False], dtype="boolean"),
    "category": pd.Series(["a", "a", "b", None, "b"], dtype="category"),
    "NaT": pd.to_datetime(["2020-01-01", "2020-01-01", "2021-01-01", None, "2021-01-01"]),
    "NaT among objects": [pd.Timestamp(0), pd.Timestamp(0), "b", pd.NaT, "b"],
    "polars text": pl.Series(["a", "a", "b", None, "b"]),
    "polars integers": pl.Series([1, 1, 2, None, 2]),
    "masked": np.ma.masked_array([1, 1, 2, 9, 2], mask=[0, 0, 0, 1, 0]),
    "-1": [1, 1, 2, -1, 2],
    "text and -1": ["a", "a", "b", -1, "b"],
}


@pytest.mark.parametrize("y", UNKNOWN.values(), ids=UNKNOWN)
def test_a_missing_label_means_not_known(y):
    known = Constraints.build(5, must_link=[(0, 1), (2, 4)], cannot_link=[(0, 2)])
    found = Constraints.from_labels(y)
    assert close(found) == close(known)
    assert Constraints.from_groups(y) == Constraints.build(5, together=[(0, 1), (2, 4)])
    assert label_triplets(y) == label_triplets([0, 0, 1, -1, 1])
    assert label_pairs(y, 4, 0) == label_pairs([0, 0, 1, -1, 1], 4, 0)
    assert label_triplets_sample(y, 3, 0) == label_triplets_sample([0, 0, 1, -1, 1], 3, 0)
    assert groups(y, unlabeled=-1) == groups([0, 0, 1, None, 1])
    says = LabelAnswerer(y)
    assert says(Query((0, 1))) is Answer.YES
    assert says(Query((0, 2))) is Answer.NO
    minus_one = isinstance(y, list) and -1 in y  # an ordinary class there
    assert says(Query((0, 3))) is (Answer.NO if minus_one else Answer.UNSURE)


@pytest.mark.parametrize("unlabeled", [None, np.nan, pd.NA, pd.NaT, np.ma.masked])
def test_a_missing_value_as_the_unlabeled_one_leaves_minus_one_a_class(unlabeled):
    found = Constraints.from_labels([-1, -1, 2, None], unlabeled=unlabeled)
    assert found == Constraints.build(4, must_link=[(0, 1)], cannot_link=[(0, 2)])


def test_nothing_known_says_nothing():
    for y in ([None, None], [np.nan], pd.array([None, None], dtype="Int64"), []):
        assert Constraints.from_labels(y) == Constraints.build(len(y))
        assert Constraints.from_groups(y) == Constraints.build(len(y))


def test_too_many_classes_are_refused_before_they_are_built(monkeypatch):
    monkeypatch.setattr(_from_labels_and_ids, "_MAX_CLASS_PAIRS", 10)
    with pytest.raises(ConstraintError, match=r"y has 6 classes, which would need 15 cannot-links; at most 10"):
        Constraints.from_labels(np.arange(6))


def test_no_labels_at_all():
    assert not Constraints.from_labels([])
    assert Constraints.from_labels([]).n_samples == 0


# -- identifiers ----------------------------------------------------------------------------------------------------

NAMES = ["otter", "mink", "seal", "owl"]


@pytest.mark.parametrize(
    "ids",
    [
        NAMES,
        tuple(NAMES),
        np.array(NAMES),
        np.array(NAMES, dtype=object),
        pd.Index(NAMES),
        pd.Series(NAMES),
        (n for n in NAMES),
    ],
    ids=["list", "tuple", "array", "object", "index", "series", "generator"],
)
def test_ids_come_in_any_container(ids):
    c = Constraints.from_ids(ids, must_link=[("seal", "mink")], triplets=[("owl", "otter", "seal")])
    assert c.items.tolist() == [[1, 2, -1], [0, 3, 2]]
    assert c.ids.tolist() == NAMES


@pytest.mark.parametrize(
    ("ids", "pair"),
    [
        ([30, 10, 20], (20, 30)),
        (np.array([30, 10, 20], dtype=np.uint16), (20, 30)),
        ([("a", 1), ("a", 2), ("b", 1)], None),
        (["a", 7, None], (None, "a")),
        ([3.5, 1.5, 2.5], (2.5, 3.5)),
        ([b"x", b"y", b"z"], (b"z", b"x")),
    ],
)
def test_ids_are_of_any_scalar_type(ids, pair):
    if pair is None:
        with pytest.raises(ConstraintError, match="expected one identifier per sample"):
            Constraints.from_ids(ids)
        return
    assert Constraints.from_ids(ids, must_link=[pair]).items.tolist() == [[0, 2, -1]]


def test_statements_mix_kinds_and_weights_and_keep_their_place():
    c = Constraints.from_ids(
        NAMES,
        [
            ("triplet", "otter", "mink", "seal"),
            ("must_link", "owl", "seal", 2.5),
            ("cannot_link", "otter", "owl"),
            ("triplets", "mink", "owl", "seal", 1),
            ("must_link", "otter", "mink", 0),
        ],
        rules=MinSeparation(1),
    )
    assert [c.describe(i) for i in range(c.n_statements)] == [
        "#1 must_link(seal, owl) weight 2.5",
        "#2 cannot_link(otter, owl)",
        "#0 triplet(otter, mink | seal)",
        "#3 triplet(mink, owl | seal) weight 1",
    ]
    assert c.rules == (MinSeparation(1),)


@pytest.mark.parametrize(
    ("statements", "words"),
    [
        (
            [("mustlink", "otter", "mink")],
            r"statement 0 has the kind 'mustlink', expected a kind of statement.\nHint: did you mean 'must_link'",
        ),
        (
            [(7, "otter", "mink")],
            "statement 0 has the kind 7, expected a kind of statement.\nHint: write one of must_link, cannot_link",
        ),
        ([("must_link", "otter")], r"statement 0 \(must_link\) has 1 values, expected 2"),
        ([("triplet", "otter", "mink", "seal", 1, 2)], r"has 5 values, expected 3"),
        ([("must_link", "otter", "minks")], r"'minks'.\nHint: did you mean 'mink'"),
        ([("cannot_link", "owl", "owl")], r"cannot_link\(owl, owl\)"),
        ([("must_link", "otter", "mink", -2)], "weight of statement 0 is -2"),
    ],
)
def test_statements_that_cannot_be_read(statements, words):
    with pytest.raises(ConstraintError, match=words):
        Constraints.from_ids(NAMES, statements)


def test_many_unknown_names_are_counted_and_the_first_shown():
    with pytest.raises(
        ConstraintError, match=r"cannot_link names 7 identifiers not in ids: 'u0', 'u1', 'u2', 'u3', 'u4' and 2 more\."
    ):
        Constraints.from_ids(NAMES, cannot_link=[("otter", f"u{i}") for i in range(7)])


def test_names_of_another_type_are_unknown():
    with pytest.raises(ConstraintError, match="names 1 identifier"):
        Constraints.from_ids(["1", "2"], must_link=np.array([["1", 2]], dtype=object))
    with pytest.raises(ConstraintError, match="including their type"):
        Constraints.from_ids(["x", "y"], must_link=[(1, 2)])


def test_rows_of_names_have_one_length():
    with pytest.raises(ConstraintError, match="must_link has rows of different lengths"):
        Constraints.from_ids(NAMES, must_link=[("otter", "mink"), ("owl",)])
    with pytest.raises(ConstraintError, match=r"triplets has shape \(1, 2\), expected \(m, 3\)"):
        Constraints.from_ids(NAMES, triplets=[("otter", "mink")])


def test_nothing_said_about_names():
    for nothing in (None, [], (), np.empty((0, 2)), iter(())):
        c = Constraints.from_ids(NAMES, must_link=nothing)
        assert not c
        assert c.ids.tolist() == NAMES
    assert Constraints.from_ids([]).n_samples == 0
    with pytest.raises(ConstraintError, match="not in ids"):
        Constraints.from_ids(np.array([], dtype=str), must_link=[("a", "b")])


def test_a_statement_about_one_name_twice_is_dropped_at_the_callers_line():
    with pytest.warns(LinkwiseWarning, match=r"1 statement of the form must_link\(i, i\)") as caught:
        c = Constraints.from_ids(NAMES, must_link=[("owl", "owl")])
    assert not c
    assert caught[0].filename == __file__
