"""Statements about any number of samples: read, sliced, combined and worded like the others, never as pairs."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram, Kind, verify
from linkwise.engines import agglomerate
from linkwise.engines.hierarchical._hierarchy_mixin import mark
from linkwise.exceptions import ConstraintError, LinkwiseWarning, UnsupportedConstraintError
from tests.oracles.knowledge import group_holds
from tests.profile import examples

WORDS = ("together", "apart", "must_link_any", "cannot_link_any")


def _said(c):
    return [c.describe(i) for i in range(c.n_statements)]


def _random(rng, n):
    given = {word: [rng.choice(n, rng.integers(2, 5), replace=False).tolist() for _ in range(3)] for word in WORDS}
    return Constraints.build(n, must_link=[(0, 1)], triplets=[(0, 1, 2)], **given), given


def test_groups_are_one_statement_each_and_worded_in_order():
    c = Constraints.build(
        12,
        must_link=[(0, 1)],
        together=[[3, 2]],
        apart=[range(1, 9)],
        must_link_any=[(9, 4, 3)],
        cannot_link_any=[[5, 1]],
    )
    assert _said(c) == [
        "#0 must_link(0, 1)",
        "#1 together(2, 3)",
        "#2 apart(1, 2, 3, 4, 5, 6, ... 2 more)",
        "#3 must_link_any(9: 3, 4)",
        "#4 cannot_link_any(5: 1)",
    ]
    assert repr(c) == (
        "Constraints(12 samples: 1 must-link, 1 group together, 1 group apart, 1 must-link choice, "
        "1 cannot-link choice; all hard)"
    )
    assert c.items[1:].max() == -1
    assert c.groups_of(Kind.APART).member.tolist() == list(range(1, 9))


def test_a_column_of_sources_becomes_groups_in_order_of_appearance():
    c = Constraints.from_groups(["b", "a", "b", "", "a", "c"], say="apart", unlabeled="", weight=2.0)
    assert _said(c) == ["#0 apart(0, 2) weight 2", "#1 apart(1, 4) weight 2"]
    assert Constraints.from_groups([1, 1, 2], weight=0).n_statements == 0
    with pytest.raises(ConstraintError, match="say is 'near', expected"):
        Constraints.from_groups([1, 1], say="near")
    with pytest.raises(ConstraintError, match="y has shape"):
        Constraints.from_groups([[1], [2]])


def test_identifiers_serve_groups_too():
    ids = ["otter", "mink", "seal", "owl"]
    c = Constraints.from_ids(
        ids, [("apart", ["otter", "owl"], 3.0), ("must_link", "mink", "seal"), ("together", ids[:3])]
    )
    assert sorted(_said(c)) == [
        "#0 apart(otter, owl) weight 3",
        "#1 must_link(mink, seal)",
        "#2 together(otter, mink, seal)",
    ]
    assert Constraints.from_ids(ids, apart=[["otter", "owl"]]).describe(0) == "#0 apart(otter, owl)"
    with pytest.raises(ConstraintError, match="did you mean 'mink'"):
        Constraints.from_ids(ids, together=[["otter", "minks"]])
    with pytest.raises(ConstraintError, match="expected groups, each a list of identifiers"):
        Constraints.from_ids(ids, together=["otter", "mink"])
    with pytest.raises(ConstraintError, match="expected a list of identifiers"):
        Constraints.from_ids(ids, [("together", "otter")])
    with pytest.raises(ConstraintError, match="names 'otter', expected a list"):
        Constraints.from_ids(ids, [("together", "otter", "mink")])


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"apart": [[1, 2, 1]]}, "apart names 1 twice"),
        ({"apart": [[1, 9]]}, r"apart names sample 9 \(row 0\), but samples are numbered 0 to 4"),
        ({"together": [1, 2]}, r"Hint: write together=\[\[0, 1, 2\]\]"),
        ({"together": 3}, "expected a list of groups"),
        ({"together": "abc"}, "expected a list of groups"),
        ({"together": [["a", "b"]]}, "translate identifiers"),
        ({"together": [[0.5, 1.0]]}, "expected whole sample numbers"),
        ({"together": [[True, False]]}, "holds True or False"),
        ({"together": [[0, True, 3]]}, "holds True or False"),
        ({"together": [[[0, 1], [2, 3]]]}, "has a group of shape"),
        ({"must_link_any": [(0, [1, 2])]}, "expected one flat list"),
        ({"must_link_any": [[]]}, "holds an empty row"),
        ({"must_link_any": [[2]]}, "has no choices for sample 2"),
        ({"cannot_link_any": [[2, 2]]}, "has no choices for sample 2"),
        ({"apart": [[0, 1]], "weight": {"apartt": 1}}, "weight has the key 'apartt'"),
    ],
)
def test_groups_that_make_no_sense(given, words):
    with pytest.raises(ConstraintError, match=words):
        Constraints.build(5, **given)


def test_groups_that_say_nothing_are_dropped_with_a_warning_at_the_callers_line():
    for given in ({"together": [[1, 1], [2, 3]]}, {"apart": [[1], [2, 3]]}, {"must_link_any": [[1, 1, 2], [2, 3]]}):
        with pytest.warns(LinkwiseWarning, match="holds? for every clustering") as caught:
            c = Constraints.build(5, **given)
        assert c.n_statements == 1
        assert caught[0].filename == __file__


def test_slicing_shrinks_groups_and_keeps_choices_only_whole():
    c = Constraints.build(
        6, together=[[0, 1, 2]], apart=[[2, 3, 4], [0, 5]], must_link_any=[[4, 2, 0]], cannot_link_any=[[0, 5]]
    )
    assert _said(c[[4, 2, 0]]) == ["#0 together(1, 2)", "#1 apart(0, 1)", "#3 must_link_any(0: 1, 2)"]
    assert _said(c[[4, 2]]) == ["#1 apart(0, 1)"]
    assert _said(c.reorder([5, 4, 3, 2, 1, 0])[[0, 5]]) == ["#2 apart(0, 1)", "#4 cannot_link_any(1: 0)"]


def test_algebra_pickling_and_equality_include_groups():
    rng = np.random.default_rng(0)
    for _ in range(examples(20, 200)):
        c, _ = _random(rng, 9)
        order = rng.permutation(c.n_statements)
        shuffled = c.select(order)
        assert shuffled == c
        assert hash(shuffled) == hash(c)
        assert sorted(_said(shuffled)) == sorted(_said(c))
        assert pickle.loads(pickle.dumps(c)) == c
        assert not (c - c)
        assert (c & shuffled) == c
        assert (c | shuffled).unique().with_weight(np.inf) == c.unique()
        half = c.select(order[:7])
        assert half != c
        assert (c - half).n_statements + (c & half).n_statements == c.n_statements
        assert not c.groups.member.flags.writeable


def test_must_links_say_what_groups_together_say():
    c = Constraints.build(6, must_link=[(0, 5)], together=[[1, 2, 3], [3, 4]])
    pairs, statement = c.must_links()
    assert pairs.tolist() == [[0, 5], [1, 2], [2, 3], [3, 4]]
    assert statement.tolist() == [0, 1, 1, 2]


def test_verify_satisfies_and_the_definition_agree_on_labels_and_trees():
    rng = np.random.default_rng(1)
    for _ in range(examples(40, 500)):
        n = 8
        c, given = _random(rng, n)
        labels = rng.integers(0, 4, n)
        held = verify(labels, c).held
        expected = [group_holds(word, members, labels) for word in WORDS for members in given[word]]
        assert held[2:].tolist() == expected
        tree = agglomerate(rng.normal(size=(n, 2)))
        labels = tree.cut(n_clusters=4)
        tree = mark(tree, labels)
        expected = [group_holds(word, members, labels) for word in WORDS for members in given[word]]
        assert tree.satisfies(c)[2:].tolist() == expected
        assert verify(tree, c).held[2:].tolist() == expected


def test_cuts_by_knowledge_keep_groups_apart_first_and_refuse_choices():
    chain = Dendrogram.from_merges(6, [(0, 1), (6, 2), (7, 3), (8, 4), (9, 5)], [1, 2, 3, 4, 5.0])
    apart = Constraints.build(6, apart=[[0, 1, 2]])
    labels = chain.cut_constrained(apart, n_clusters=6)
    assert len(set(labels[:3])) == 3
    pair = Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [1, 2, 3.0])
    assert pair.cut_constrained(Constraints.build(4, apart=[[0, 1]]), n_clusters=3).tolist() == [0, 1, 2, 2]
    assert pair.cut_constrained(Constraints.build(4, together=[[2, 3]], apart=[[0, 1]]), n_clusters=3).tolist() == [
        0,
        1,
        2,
        2,
    ]
    with pytest.raises(UnsupportedConstraintError, match="does not understand must_link_any"):
        pair.cut_constrained(Constraints.build(4, must_link_any=[[0, 1, 2]]), n_clusters=2)


def test_outliers_find_a_place_where_no_two_of_a_group_meet():
    merges = [(0, 1), (2, 3), (6, 7), (8, 4), (9, 5)]  # two pairs, then two single outliers
    tree = Dendrogram.from_merges(6, merges, [1, 1, 2, 3, 4.0])
    X = np.array([[0.0], [0.1], [5.0], [5.1], [0.2], [0.3]])
    free = tree.cut_outliers(n_clusters=2, min_size=2, X=X)
    assert free.labels.tolist() == [0, 0, 1, 1, 0, 0]
    kept = tree.cut_outliers(n_clusters=2, min_size=2, X=X, constraints=Constraints.build(6, apart=[[0, 4], [4, 5]]))
    assert kept.labels.tolist() == [0, 0, 1, 1, 1, 0]
