from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from linkwise import Constraints
from linkwise.constraints import Kind
from linkwise.exceptions import LinkwiseError
from linkwise.sources import flip, groups, label_pairs, label_triplets_sample
from tests.counting import calls
from tests.oracles import sources as oracle

LABELINGS = [[0, 0, 1, 1, 1, 2, -1], [1, 0, -1, 0, 1, 0, 0], [0, 1, 2, 0, -1, 3], [3, 3, 3, 3], [0, 1, 2], [0, 0]]


def rows(constraints, kind):
    return [tuple(row) for row in constraints.of(kind).tolist()]


def pairs(constraints):
    return rows(constraints, Kind.MUST_LINK) + rows(constraints, Kind.CANNOT_LINK)


# -- pairs -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("y", LABELINGS)
def test_all_pairs_can_be_drawn_and_are_what_the_labels_say(y):
    must, cannot, _ = oracle.label_statements(y)
    drawn = label_pairs(y, len(must) + len(cannot), random_state=0)
    assert sorted(rows(drawn, Kind.MUST_LINK)) == sorted(must)
    assert sorted(rows(drawn, Kind.CANNOT_LINK)) == sorted(cannot)
    only = label_pairs(y, len(must), random_state=0, must_link_share=1)
    assert sorted(rows(only, Kind.MUST_LINK)) == sorted(must)
    assert only.n_statements == len(must)
    other = label_pairs(y, len(cannot), random_state=0, must_link_share=0)
    assert sorted(rows(other, Kind.CANNOT_LINK)) == sorted(cannot)
    assert other.n_statements == len(cannot)


def test_pairs_are_drawn_evenly():
    y = [0, 0, 0, 1, 1, 2, -1]
    must, cannot, _ = oracle.label_statements(y)
    everything = Counter(pairs(label_pairs(y, 15 * 300, random_state=1, replace=True)))
    assert set(everything) == must | cannot
    assert not oracle.too_uneven(list(everything.values()))
    two = Counter(pair for seed in range(1500) for pair in pairs(label_pairs(y, 2, random_state=seed)))
    assert not oracle.too_uneven([two[pair] for pair in sorted(must | cannot)])
    half = label_pairs(y, 4000, random_state=1, must_link_share=0.5, replace=True)
    for kind, all_of_it in ((Kind.MUST_LINK, must), (Kind.CANNOT_LINK, cannot)):
        counts = Counter(rows(half, kind))
        assert counts.total() == 2000
        assert set(counts) == all_of_it
        assert not oracle.too_uneven(list(counts.values()))


@pytest.mark.parametrize(("share", "must"), [(0, 0), (0.25, 2), (0.5, 4), (0.05, 0), (0.08, 1), (1.0, 7)])
def test_the_share_of_must_links_is_kept(share, must):
    m = 7
    drawn = label_pairs(np.arange(30) % 3, m, random_state=0, must_link_share=share)
    assert len(drawn.of(Kind.MUST_LINK)) == must
    assert drawn.n_statements == m


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([0, 0, 1], 4), r"4 pairs of labeled samples are wanted, but there are 3.\nHint: ask for at most 3"),
        (([0, 0, 1], 2, None, {"must_link_share": 1}), "2 pairs of one class are wanted, but there are 1"),
        (([0, 0, 0], 1, None, {"must_link_share": 0}), "1 pairs of two classes are wanted, but there are 0"),
        (([0, 1, 2], 1, None, {"must_link_share": 1, "replace": True}), "wanted, but there are 0"),
        (([-1, -1], 1), "wanted, but there are 0"),
        (([0, 0], -1), "m is -1"),
        (([0, 0], 1, None, {"must_link_share": 1.5}), "must_link_share is 1.5"),
        (([0, 0], 1, None, {"must_link_share": True}), "must_link_share is True"),
        (([0, np.nan], 1), "wanted, but there are 0"),
        (([[0, 1]], 1), "y has shape"),
    ],
)
def test_pairs_that_do_not_exist_are_refused(arguments, words):
    *given, options = arguments if isinstance(arguments[-1], dict) else (*arguments, {})
    with pytest.raises(LinkwiseError, match=words):
        label_pairs(*given, **options)


def test_labels_may_be_of_any_type():
    texts = label_pairs(["a", "b", "a", "?"], 3, 0, unlabeled="?")
    numbers = label_pairs([0, 1, 0, -1], 3, 0)
    mixed = label_pairs(np.array(["a", 1, "a", None], dtype=object), 3, 0, unlabeled=None)
    floats = label_pairs([0.5, 1.5, 0.5, np.nan], 3, 0, unlabeled=np.nan)
    assert texts == numbers == mixed == floats
    assert label_pairs([], 0) == Constraints.build(0)


def test_weights_are_passed_on():
    assert label_pairs([0, 0, 1], 3, 0, weight={"must_link": 2.0, "cannot_link": 1.0}).weight.tolist() == [2, 1, 1]
    assert label_triplets_sample([0, 0, 1], 1, 0, weight=0.5).weight.tolist() == [0.5]
    assert groups(["a", "a"], weight=0.25).weight.tolist() == [0.25]


# -- triplets ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("balance", ["triplets", "classes"])
@pytest.mark.parametrize("y", LABELINGS)
def test_all_triplets_can_be_drawn(y, balance):
    expected = oracle.label_statements(y)[2]
    drawn = rows(label_triplets_sample(y, len(expected), 0, balance=balance), Kind.TRIPLET)
    assert sorted(drawn) == sorted(expected)


def test_triplets_are_drawn_evenly():
    y = [0, 0, 0, 1, 1, 2, -1]
    expected = oracle.label_statements(y)[2]
    counts = Counter(rows(label_triplets_sample(y, len(expected) * 300, 1, replace=True), Kind.TRIPLET))
    assert set(counts) == expected
    assert not oracle.too_uneven(list(counts.values()))
    few = Counter(row for seed in range(1500) for row in rows(label_triplets_sample(y, 2, seed), Kind.TRIPLET))
    assert not oracle.too_uneven([few[row] for row in sorted(expected)])


def test_classes_give_the_pair_equally_often_when_asked():
    y = np.repeat([0, 1, 2], [50, 3, 1])
    drawn = label_triplets_sample(y, 4000, 0, balance="classes", replace=True).of(Kind.TRIPLET)
    counts = np.bincount(y[drawn[:, 0]])
    assert len(counts) == 2  # a class of one has no pair
    assert not oracle.too_uneven(counts)
    small = [tuple(row) for row in drawn[y[drawn[:, 0]] == 1].tolist()]
    inside = Counter(row[:2] for row in small)
    assert not oracle.too_uneven([inside[pair] for pair in ((50, 51), (50, 52), (51, 52))])
    stock = label_triplets_sample(y, 500, 0, balance="classes").of(Kind.TRIPLET)
    assert np.bincount(y[stock[:, 0]]).tolist() == [347, 153]  # the small class has 3 pairs x 51 others, all used
    assert len(np.unique(stock, axis=0)) == 500


@pytest.mark.parametrize("balance", ["triplets", "classes"])
@pytest.mark.parametrize(
    ("y", "m", "replace"), [([0, 1, 2], 1, False), ([0, 0], 1, True), ([0, 0, 1], 2, False), ([-1], 1, True)]
)
def test_triplets_that_do_not_exist_are_refused(y, m, replace, balance):
    with pytest.raises(LinkwiseError, match="of two samples of one class and one of another are wanted, but there are"):
        label_triplets_sample(y, m, balance=balance, replace=replace)


def test_other_balances_are_refused():
    with pytest.raises(LinkwiseError, match="balance is 'pairs'"):
        label_triplets_sample([0, 0, 1], 1, balance="pairs")


def test_more_statements_than_64_bits_can_count_are_refused():
    y = np.zeros(6_000_000, dtype=np.int8)
    y[3_000_000:] = 1
    with pytest.raises(LinkwiseError, match="more than 64 bits can count"):
        label_triplets_sample(y, 1)


def test_a_million_statements_are_drawn_without_a_loop_over_them():
    y = np.arange(100_000) % 10
    calls(lambda: label_pairs(y, 10, 0))  # compiles
    calls(lambda: label_triplets_sample(y, 10, 0))
    for draw in (label_pairs, label_triplets_sample):
        drawn = []
        assert calls(lambda draw=draw, drawn=drawn: drawn.append(draw(y, 1_000_000, 0))) < 20_000  # 1,000
        (made,) = drawn
        assert made.n_statements == 1_000_000
        assert made.unique().n_statements == 1_000_000


# -- planted noise -----------------------------------------------------------------------------------------------------

SAID = Constraints.build(
    9,
    must_link=[(0, 1), (1, 2), (3, 4)],
    cannot_link=[(0, 5), (2, 8)],
    triplets=[(0, 1, 7), (6, 2, 3), (4, 5, 8)],
    weight=[1, 2, 3, 4, 5, 6, 7, 8],
)


@pytest.mark.parametrize(("share", "turned"), [(0, 0), (0.5, 4), (0.3, 2), (1, 8)])
def test_turned_statements_are_wrong_and_the_others_untouched(share, turned):
    wrong, mask = flip(SAID, share, random_state=4)
    assert mask.sum() == turned
    assert (wrong.row == SAID.row).all()
    assert (wrong.weight == SAID.weight).all()
    for i in range(SAID.n_statements):
        before, after = SAID.items[i].tolist(), wrong.items[i].tolist()
        if not mask[i]:
            assert (wrong.kind[i], after) == (SAID.kind[i], before)
        elif SAID.kind[i] == Kind.TRIPLET:
            assert wrong.kind[i] == Kind.TRIPLET
            assert set(after) == set(before)
            assert after[2] != before[2]
            assert after[0] < after[1]
        else:
            assert after == before
            assert {wrong.kind[i], SAID.kind[i]} == {Kind.MUST_LINK, Kind.CANNOT_LINK}


def test_flipping_keeps_ids_and_rules_and_leaves_the_table_alone():
    said = Constraints.from_ids(["a", "b", "c"], triplets=[("a", "b", "c")])
    wrong, _ = flip(said, 1, 0)
    assert wrong.ids.tolist() == ["a", "b", "c"]
    assert said.describe(0) == "#0 triplet(a, b | c)"
    assert flip(Constraints.build(3), 0.5)[0] == Constraints.build(3)


def test_flips_are_even():
    once = Counter(int(np.flatnonzero(flip(SAID, 1 / 8, seed)[1])[0]) for seed in range(800))
    assert not oracle.too_uneven([once[i] for i in range(8)])
    odd = Counter(int(flip(SAID, 1, seed)[0].items[5, 2]) for seed in range(400))
    assert set(odd) == {0, 1}
    assert not oracle.too_uneven(list(odd.values()))


def test_groups_are_not_turned_and_do_not_count():
    said = Constraints.build(6, must_link=[(0, 1)], together=[[2, 3]], apart=[[3, 4, 5]])
    wrong, mask = flip(said, 1.0, 0)
    assert mask.tolist() == [True, False, False]
    assert wrong == Constraints.build(6, cannot_link=[(0, 1)], together=[[2, 3]], apart=[[3, 4, 5]])


def test_flip_refuses_what_it_cannot_read():
    with pytest.raises(LinkwiseError, match="share is 2"):
        flip(SAID, 2)
    with pytest.raises(LinkwiseError, match="are list, expected Constraints"):
        flip([(0, 1)], 0.5)


# -- groups ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("unlabeled", [None, float("nan"), "none"])
def test_groups_are_joined_and_nothing_else_is_said(unlabeled):
    names = np.array(["x", unlabeled, "y", "x", "z", "y", "x"], dtype=object)
    made = groups(names, unlabeled=unlabeled)
    assert len(made.of(Kind.MUST_LINK)) == made.n_statements == 3
    assert oracle.joined(7, pairs(made)) == {frozenset(g) for g in ([0, 3, 6], [1], [2, 5], [4])}


@pytest.mark.parametrize("say", ["together", "apart"])
def test_groups_as_one_statement_each(say):
    made = groups(["x", None, "y", "x", "y", "x", "z"], say=say, weight=2.0)
    assert made == Constraints.build(7, weight=2.0, **{say: [[0, 3, 5], [2, 4]]})


def test_other_words_about_groups_are_refused():
    with pytest.raises(LinkwiseError, match="say is 'chain', expected"):
        groups(["a"], say="chain")


def test_no_groups_say_nothing():
    assert groups([None, None]) == Constraints.build(2)
    assert groups([]) == Constraints.build(0)
