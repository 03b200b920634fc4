"""The table of statements: building, reading, slicing, set algebra, and that nobody can change it afterwards."""

from __future__ import annotations

import copy
import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, train_test_split

from linkwise import Constraints, Kind
from linkwise.constraints import MinSeparation, NeighborWithin
from linkwise.constraints._table import number_alike
from linkwise.exceptions import ConstraintError


def table():
    return Constraints.build(
        6, must_link=[(1, 0), (2, 3)], cannot_link=[(4, 2)], triplets=[(5, 0, 2), (1, 2, 3)], rules=MinSeparation(0.5)
    )


# -- building -------------------------------------------------------------------------------------------------------


def test_build_pads_pairs_sorts_the_interchangeable_and_keeps_the_given_order():
    c = table()
    assert c.items.tolist() == [[0, 1, -1], [2, 3, -1], [2, 4, -1], [0, 5, 2], [1, 2, 3]]
    assert c.kind.tolist() == [0, 0, 1, 2, 2]
    assert c.row.tolist() == [0, 1, 2, 3, 4]
    assert np.isinf(c.weight).all()
    assert (c.kind.dtype, c.items.dtype, c.weight.dtype, c.row.dtype) == (np.int8, np.intp, np.float64, np.intp)
    assert c.rules == (MinSeparation(0.5),)
    assert c.shape == (6,)
    assert len(c) == 6
    assert c.n_statements == 5


@pytest.mark.parametrize(
    "pairs",
    [
        [(0, 1), (2, 3)],
        ((0, 1), (2, 3)),
        [[0, 1], [2, 3]],
        np.array([[0, 1], [2, 3]]),
        np.array([[0, 1], [2, 3]], dtype=np.uint8),
        np.array([[0, 1], [2, 3]], dtype=object),
        np.array([[1, 0], [3, 2]])[:, ::-1],
        pd.DataFrame({"a": [0, 2], "b": [1, 3]}),
        ((a, a + 1) for a in (0, 2)),
        zip([0, 2], [1, 3], strict=True),
        {(0, 1), (2, 3)},
        [np.array([0, 1]), np.array([2, 3])],
    ],
    ids=["list", "tuple", "nested", "array", "uint8", "object", "strided", "frame", "generator", "zip", "set", "rows"],
)
def test_rows_come_in_any_container(pairs):
    assert Constraints.build(4, must_link=pairs) == Constraints.build(4, must_link=[(0, 1), (2, 3)])


def test_of_gives_the_samples_of_one_kind():
    c = table()
    assert c.of(Kind.MUST_LINK).tolist() == [[0, 1], [2, 3]]
    assert c.of(Kind.CANNOT_LINK).tolist() == [[2, 4]]
    assert c.of(Kind.TRIPLET).tolist() == [[0, 5, 2], [1, 2, 3]]
    assert Constraints.build(3).of(Kind.TRIPLET).shape == (0, 3)


@pytest.mark.parametrize(
    ("weight", "expected"),
    [
        (2, [2, 2, 2]),
        ([1, 2, np.inf], [1, 2, np.inf]),
        ({"must_link": 5}, [5, np.inf, np.inf]),
        ({"cannot_link": [7], "triplets": 3}, [np.inf, 7, 3]),
        ({}, [np.inf, np.inf, np.inf]),
    ],
)
def test_weights_are_a_number_a_sequence_or_a_mapping(weight, expected):
    c = Constraints.build(4, must_link=[(0, 1)], cannot_link=[(1, 2)], triplets=[(0, 1, 3)], weight=weight)
    assert c.weight.tolist() == expected
    assert c.is_hard.tolist() == [np.isinf(w) for w in expected]


def test_weight_zero_drops_the_statement_and_keeps_the_numbers_of_the_others():
    c = Constraints.build(4, must_link=[(0, 1), (1, 2), (2, 3)], weight=[1, 0, 2])
    assert [c.describe(i) for i in range(2)] == ["#0 must_link(0, 1) weight 1", "#2 must_link(2, 3) weight 2"]


@pytest.mark.parametrize("bad", [-1, 2.0, True, "3", None])
def test_the_number_of_samples_is_a_whole_number(bad):
    with pytest.raises(ConstraintError, match=r"n_samples is .*expected a whole number >= 0"):
        Constraints.build(bad)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"must_link": "ab"}, "must_link is str, expected rows of 2"),
        ({"must_link": {0: 1}}, "must_link is dict, expected rows of 2"),
        ({"must_link": 7}, "must_link is 7, expected rows of 2"),
        ({"must_link": (0, 1)}, r"Hint: write must_link=\[\(0, 1\)\]"),
        ({"triplets": [(0, 1, 2), (0, 1)]}, "triplets has rows of different lengths, expected 3"),
        ({"cannot_link": [(0, 1, 2)]}, r"cannot_link has shape \(1, 3\), expected \(m, 2\)"),
        ({"must_link": [(0, None)]}, "must_link holds 0, expected sample numbers"),
        ({"must_link": np.array([(0, 1.5)], dtype=object)}, "must_link holds fractions, expected whole sample numbers"),
        ({"must_link": [(0, 1)], "weight": "heavy"}, "weight is 'heavy', expected numbers"),
        ({"must_link": [(0, 1)], "weight": {"mustlink": 1}}, "weight has the key 'mustlink', expected keys among"),
        ({"must_link": [(0, 1)], "weight": [[1]]}, r"weight has shape \(1, 1\)"),
        ({"must_link": [(0, 1)], "weight": [object()]}, "weight is .*expected numbers"),
        ({"rules": "delta"}, "rules holds 'd', expected rules such as"),
        ({"rules": [0.5]}, "rules holds 0.5, expected rules such as"),
    ],
)
def test_what_cannot_be_read_is_refused_with_words(given, words):
    with pytest.raises(ConstraintError, match=words):
        Constraints.build(4, **given)


def test_a_table_about_no_samples_can_say_nothing():
    assert not Constraints.build(0)
    with pytest.raises(ConstraintError, match="there are no samples"):
        Constraints.build(0, must_link=[(0, 1)])


def test_a_million_statements_are_built_sliced_compared_and_merged():
    n, m = 200_000, 1_000_000
    rng = np.random.default_rng(0)
    pairs = rng.integers(n, size=(m, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    c = Constraints.build(n, must_link=pairs)
    assert c.n_statements == len(pairs)
    keys = np.unique(pairs.min(axis=1) * n + pairs.max(axis=1))
    assert c.unique().n_statements == len(keys)
    assert (c - c).n_statements == 0
    half = np.arange(0, n, 2)
    assert c[half].n_statements == int((pairs % 2 == 0).all(axis=1).sum())
    assert c == c.select(np.arange(c.n_statements)[::-1])
    named = Constraints.from_ids(np.arange(n) + 7, must_link=pairs + 7)
    assert np.array_equal(named.items, c.items)


# -- reading --------------------------------------------------------------------------------------------------------


def test_repr_counts_kinds_rules_and_softness():
    assert repr(table()) == (
        "Constraints(6 samples: 2 must-links, 1 cannot-link, 2 triplets, MinSeparation(delta=0.5); all hard)"
    )
    assert repr(Constraints.build(1_000)) == "Constraints(1,000 samples: no statements)"
    soft = Constraints.build(4, must_link=[(0, 1), (1, 2)], weight=[1, np.inf])
    assert repr(soft) == "Constraints(4 samples: 2 must-links; 1 of 2 soft)"


def test_describe_uses_numbers_or_names():
    c = table()
    assert c.describe(3) == "#3 triplet(0, 5 | 2)"
    named = Constraints.from_ids(["ox", "ass", "elk"], cannot_link=[("elk", "ox")], weight=0.5)
    assert named.describe(0) == "#0 cannot_link(ox, elk) weight 0.5"
    assert named.name(1) == "ass"


def test_html_escapes_names_and_shows_five():
    names = ["<script>alert(1)</script>", 'b"&', "c", "d", "e", "f", "g"]
    pairs = [(names[0], name) for name in names[1:]]
    shown = Constraints.from_ids(names, must_link=pairs)._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert shown.count("<code>") == 5
    assert "and 1 more" in shown


def test_nothing_said_is_false_and_a_rule_alone_is_true():
    assert not Constraints.build(5)
    assert Constraints.build(5, rules=MinSeparation(1))
    assert Constraints.build(5, must_link=[(0, 1)])


def test_a_table_is_not_iterated():
    with pytest.raises(TypeError):
        iter(table())


# -- slicing --------------------------------------------------------------------------------------------------------


def test_slicing_keeps_whole_statements_and_renumbers():
    c = table()[[3, 2, 4]]
    assert c.n_samples == 3
    assert [c.describe(i) for i in range(c.n_statements)] == ["#1 must_link(0, 1)", "#2 cannot_link(1, 2)"]
    assert c.rules == (MinSeparation(0.5),)


@pytest.mark.parametrize(
    "rows", [slice(2, 5), [2, 3, 4], np.array([2, 3, 4]), np.arange(6) // 2 == 1, slice(None, None, -1)]
)
def test_every_way_to_pick_rows_of_x_picks_the_same_samples(rows):
    c = Constraints.from_ids(list("abcdef"), must_link=[("c", "d"), ("a", "f")])
    assert c[rows].ids.tolist() == np.array(list("abcdef"))[rows].tolist()
    assert c[rows, ...] == c[rows]  # scikit-learn indexes like this


def test_samples_are_picked_in_lists_without_repeats():
    with pytest.raises(ConstraintError, match="picks one sample"):
        table()[2]
    with pytest.raises(ConstraintError, match="names a sample twice"):
        table()[[0, 1, 0]]
    with pytest.raises(IndexError):
        table()[[6]]


def test_reorder_takes_permutations_only():
    c = table()
    order = [5, 4, 3, 2, 1, 0]
    assert c.reorder(order).reorder(order) == c
    with pytest.raises(ConstraintError, match="expected a permutation of all 6"):
        c.reorder([0, 1])


def test_select_picks_statements_by_mask_or_position():
    c = table()
    assert c.select(c.kind == Kind.TRIPLET).of(Kind.TRIPLET).tolist() == [[0, 5, 2], [1, 2, 3]]
    assert c.select([2]).describe(0) == "#2 cannot_link(2, 4)"
    assert c.select([]).n_statements == 0


def test_scikit_learn_splits_the_table_like_x():
    rng = np.random.default_rng(3)
    X = np.arange(30)[:, None]
    pairs = [(i, j) for i in range(30) for j in range(i + 1, 30) if rng.random() < 0.3]
    c = Constraints.build(30, cannot_link=pairs)
    X_train, X_test, c_train, c_test = train_test_split(X, c, random_state=0, test_size=10)
    for part, said in ((X_train, c_train), (X_test, c_test)):
        rows = part.ravel().tolist()
        inside = {frozenset(p) for p in pairs if set(p) <= set(rows)}
        assert said.n_samples == len(rows)
        assert {frozenset(rows[i] for i in pair) for pair in said.of(Kind.CANNOT_LINK).tolist()} == inside
    folds = [len(c[train]) for train, _ in KFold(3).split(X, c)]
    assert folds == [20, 20, 20]


# -- algebra --------------------------------------------------------------------------------------------------------


def test_union_keeps_both_and_numbers_the_second_after_the_first():
    a = Constraints.build(4, must_link=[(0, 1)], rules=MinSeparation(1))
    b = Constraints.build(4, must_link=[(0, 1)], cannot_link=[(2, 3)], rules=[MinSeparation(1), NeighborWithin(2)])
    both = a | b
    assert [both.describe(i) for i in range(3)] == ["#0 must_link(0, 1)", "#1 must_link(0, 1)", "#2 cannot_link(2, 3)"]
    assert both.rules == (MinSeparation(1), NeighborWithin(2))


def test_intersection_and_difference_look_at_statements_not_weights():
    a = Constraints.build(4, must_link=[(0, 1), (1, 2)], weight=3, rules=[MinSeparation(1), NeighborWithin(2)])
    b = Constraints.build(4, must_link=[(1, 0)], cannot_link=[(1, 2)], rules=MinSeparation(1))
    assert (a & b).of(Kind.MUST_LINK).tolist() == [[0, 1]]
    assert (a & b).weight.tolist() == [3]
    assert (a & b).rules == (MinSeparation(1),)
    assert (a - b).of(Kind.MUST_LINK).tolist() == [[1, 2]]
    assert (a - b).rules == (NeighborWithin(2),)


def test_tables_about_different_samples_do_not_combine():
    a = Constraints.from_ids(["x", "y"], must_link=[("x", "y")])
    with pytest.raises(ConstraintError, match="the tables are about 2 and 3 samples"):
        a | Constraints.build(3)
    with pytest.raises(ConstraintError, match="the two tables have different ids"):
        a & Constraints.from_ids(["y", "x"])
    with pytest.raises(TypeError, match="got list"):
        a - [(0, 1)]
    assert (a | Constraints.build(2, cannot_link=[(0, 1)])).ids.tolist() == ["x", "y"]
    assert (Constraints.build(2, cannot_link=[(0, 1)]) | a).ids.tolist() == ["x", "y"]


def test_unique_adds_soft_weights_and_a_hard_copy_wins():
    c = Constraints.build(4, must_link=[(2, 3), (0, 1), (1, 0), (3, 2), (2, 3)], weight=[1, 2, 3, np.inf, 1])
    u = c.unique()
    assert u.of(Kind.MUST_LINK).tolist() == [[2, 3], [0, 1]]
    assert u.weight.tolist() == [np.inf, 5]
    assert u.row.tolist() == [0, 1]
    assert Constraints.build(3).unique().weight.dtype == np.float64
    with_rules = Constraints.build(3, rules=[MinSeparation(1), MinSeparation(1)])
    assert with_rules.unique().rules == (MinSeparation(1),)


def test_statements_are_grouped_alike_when_numbers_are_too_large_for_one_key():
    few = Constraints.build(50, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 1)], triplets=[(1, 0, 2), (0, 1, 2)])
    doubled = few | few
    huge = Constraints(2_000_000, doubled.kind, doubled.items, doubled.weight, doubled.row)
    group, first = number_alike(huge)
    small_group, small_first = number_alike(doubled)
    assert group.tolist() == small_group.tolist()
    assert first.tolist() == small_first.tolist()
    assert huge.unique().n_statements == 4


def test_equality_ignores_order_but_not_weight_kind_rule_or_name():
    a = Constraints.build(4, must_link=[(0, 1), (2, 3)])
    assert a == Constraints.build(4, must_link=[(3, 2), (1, 0)])
    assert a != Constraints.build(4, must_link=[(0, 1), (2, 3)], weight=2)
    assert a != Constraints.build(4, cannot_link=[(0, 1), (2, 3)])
    assert a != Constraints.build(5, must_link=[(0, 1), (2, 3)])
    assert a != a.with_rules(MinSeparation(1))
    assert a != Constraints.from_ids(list("abcd"), must_link=[("a", "b"), ("c", "d")])
    assert a != a | a
    assert (a == "a") is False
    assert len({a, Constraints.build(4, must_link=[(3, 2), (1, 0)])}) == 1


# -- nobody can change it -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["kind", "items", "weight", "row", "ids"])
def test_arrays_are_read_only(name):
    c = Constraints.from_ids(list("abc"), must_link=[("a", "b")])
    with pytest.raises(ValueError, match="read-only"):
        getattr(c, name)[0] = 0


def test_attributes_cannot_be_set_or_deleted():
    c = table()
    with pytest.raises(AttributeError, match="Constraints are immutable; weight cannot be set"):
        c.weight = np.ones(5)
    with pytest.raises(AttributeError, match="immutable"):
        del c.items
    with pytest.raises(AttributeError):
        c.something = 1


def test_the_callers_arrays_are_neither_frozen_nor_shared():
    pairs, weight, names = np.array([[1, 0], [2, 3]]), np.array([1.0, 2.0]), np.array(list("abcd"))
    c = Constraints.build(4, must_link=pairs, weight=weight)
    named = Constraints.from_ids(names, must_link=[("a", "b")])
    pairs[:], weight[:], names[:] = 0, 9, "z"
    assert c == Constraints.build(4, must_link=[(0, 1), (2, 3)], weight=[1, 2])
    assert named.ids.tolist() == list("abcd")


def test_the_constructor_copies_too():
    parts = [np.zeros(1, np.int8), np.array([[0, 1, -1]]), np.ones(1), np.zeros(1, np.intp)]
    locked = parts[1].view()
    locked.setflags(write=False)  # looks safe, but its owner can still write
    c = Constraints(4, parts[0], locked, parts[2], parts[3])
    for part in parts:
        part[:] = 3
    assert c == Constraints.build(4, must_link=[(0, 1)], weight=1)


def test_results_of_slicing_and_selecting_are_read_only_as_well():
    c = table()
    for made in (c[[0, 1, 2]], c.select([0, 1]), c.unique(), c | c, c & c, c - c, c.with_rules(), c.reorder(range(6))):
        for name in ("kind", "items", "weight", "row"):
            assert not getattr(made, name).flags.writeable


@pytest.mark.parametrize(
    "again", [lambda c: pickle.loads(pickle.dumps(c)), copy.copy, copy.deepcopy], ids=["pickle", "copy", "deepcopy"]
)
def test_copies_are_equal_and_read_only(again):
    c = Constraints.from_ids(list("abc"), must_link=[("a", "b")], rules=MinSeparation(1), weight=2)
    other = again(c)
    assert other == c
    assert hash(other) == hash(c)
    assert not other.items.flags.writeable
    assert other.describe(0) == c.describe(0)


def test_joblib_keeps_a_table(tmp_path):
    c = table()
    joblib.dump(c, tmp_path / "c.joblib")
    assert joblib.load(tmp_path / "c.joblib") == c
    assert joblib.load(tmp_path / "c.joblib", mmap_mode="r") == c


def test_trust_becomes_weights_and_may_leave_those_that_are_there():
    said = Constraints.build(5, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)], weight=[np.inf, 0.5, np.inf])
    assert said.with_trust(0.9).weight == pytest.approx(np.log(9))
    assert said.with_trust(0.9, keep_weights=True).weight == pytest.approx([np.log(9), 0.5, np.log(9)])
    assert said.with_trust("hard", keep_weights=True) == said
    assert said.with_trust([1.0, 0.9, 0.8], keep_weights=True).weight == pytest.approx([np.inf, 0.5, np.log(4)])
    with pytest.raises(ConstraintError, match="expected one value for each of the 3 statements"):
        said.with_trust([0.9, 0.8], keep_weights=True)
    with pytest.raises(ConstraintError, match=r"expected probabilities above 0\.5"):
        said.with_trust(0.5)


def test_a_statement_names_its_samples():
    said = Constraints.build(6, must_link=[(0, 1)], triplets=[(2, 3, 4)], apart=[[1, 3, 5]])
    named = [said.samples_of(at).tolist() for at in range(said.n_statements)]
    assert sorted(named) == [[0, 1], [1, 3, 5], [2, 3, 4]]
