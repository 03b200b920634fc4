"""Conflicts and repairs by entries: labeled samples and members of groups, not the statements made of them."""

from __future__ import annotations

import pickle
from itertools import combinations

import numpy as np
import pytest

from linkwise import Constraints, check, conflicts, repair
from linkwise.constraints import Entry, MinSeparation
from linkwise.problem.explain._entry_units import expand
from linkwise.problem.repairs import _entry_repair
from linkwise.problem.statements._hard import Hard
from linkwise.problem.triplets._blocks import blocks_or_none
from tests.profile import examples

ANIMALS = ["wolf", "coyote", "jungle cat", "cat", "bear", "polar bear", "jackal", "lynx", "fox"]
FAMILIES = ["dog", "dog", "cat", "cat", "bear", "bear", "cat", "cat", "dog"]  # the jackal is wrong


def animals(*more):
    """Labels with one wrong row, and what a person knows besides."""
    known = Constraints.from_labels(FAMILIES).with_ids(ANIMALS)
    return known | Constraints.from_ids(ANIMALS, [("together", ["wolf", "coyote", "jackal"]), *more])


def label_of(c, entry):
    return c.labels.name[c.labels.label[entry.label]]


def draw(rng, n, triplets=0):
    """Labels, groups and pairs about a few samples."""
    y = rng.integers(-1, 3, n)
    pick = lambda size: rng.choice(n, size, replace=False).tolist()  # noqa: E731
    return Constraints.from_labels(y) | Constraints.build(
        n,
        must_link=[pick(2) for _ in range(rng.integers(0, 3))],
        cannot_link=[pick(2) for _ in range(rng.integers(0, 2))],
        triplets=[pick(3) for _ in range(rng.integers(0, triplets + 1))],
        together=[pick(3) for _ in range(rng.integers(0, 2))],
        apart=[pick(3) for _ in range(rng.integers(0, 2))],
    )


def holds(c):
    return blocks_or_none(Hard.of(c)) is not None


# -- one wrong row -----------------------------------------------------------------------------------------------------


def test_one_wrong_label_among_many_is_the_first_advice():
    c = animals()
    why = check(c).explanation
    first = why.repairs[0][0]
    assert (c.name(first.sample), label_of(c, first)) == ("jackal", "cat")
    assert [c.describe(entry) for (entry,) in why.repairs] == [
        'jackal in label "cat"',
        "jackal in #9 together(wolf, coyote, jackal)",
    ]
    assert why.fixes == tuple(c.describe(entry) for (entry,) in why.repairs)
    assert why.steps[0] in {
        f'jackal = {dog} (#9), but jackal is in "cat" and {dog} is in "dog".' for dog in ("wolf", "coyote")
    }


def test_repair_takes_back_the_wrong_label_and_keeps_dogs_and_cats_apart():
    c = animals()
    fixed = repair(c)
    assert [c.describe(entry) for entry in fixed.entries] == ['jackal in label "cat"']
    assert (fixed.cost, fixed.optimal) == (1, True)
    labels = check(fixed.kept).witness
    of = dict(zip(ANIMALS, labels.tolist(), strict=True))
    assert of["wolf"] == of["coyote"] == of["jackal"] == of["fox"]
    assert of["cat"] == of["jungle cat"] == of["lynx"]
    assert len({of["wolf"], of["cat"], of["bear"]}) == 3
    right = [(name, family) for name, family in zip(ANIMALS, FAMILIES, strict=True) if name != "jackal"]
    assert [
        (ANIMALS[s], str(f))
        for s, f in zip(fixed.kept.labels.sample, fixed.kept.labels.name[fixed.kept.labels.label], strict=True)
    ] == sorted(right, key=lambda row: (row[1], ANIMALS.index(row[0])))
    assert str(fixed).startswith(
        "1 of 12 entries must go, at a cost of 1; no cheaper repair exists.\n  drop jackal in label"
    )


def test_a_repair_of_entries_that_may_not_be_the_cheapest_says_so():
    rng = np.random.default_rng(0)
    groups = [rng.choice(200, 4, replace=False).tolist() for _ in range(120)]
    y = np.where(rng.random(200) < 0.5, rng.integers(5, size=200), -1)
    c = Constraints.from_labels(y) | Constraints.build(200, together=groups[:60], apart=groups[60:])
    rough, fine = repair(c, budget=0), repair(c)
    assert not rough.optimal
    assert rough.lower_bound <= fine.cost < rough.cost
    assert str(rough).startswith(f"Dropped: {len(rough.entries)} of ")
    assert f"no repair costs less than {rough.lower_bound:g}." in str(rough)
    assert "must go" not in str(rough)
    assert check(rough.kept).status == "feasible"


@pytest.mark.parametrize("position", range(9))
def test_the_wrong_row_is_found_wherever_it_stands(position):
    order = [name for name in ANIMALS if name != "jackal"]
    order.insert(position, "jackal")
    family = dict(zip(ANIMALS, FAMILIES, strict=True))
    c = Constraints.from_labels([family[name] for name in order]).with_ids(order)
    c |= Constraints.from_ids(order, [("together", ["wolf", "coyote", "jackal"])])
    assert [c.describe(entry) for entry in repair(c).entries] == ['jackal in label "cat"']
    assert c.describe(check(c).explanation.repairs[0][0]) == 'jackal in label "cat"'


def test_a_class_of_one_sample_can_be_the_wrong_row():
    c = Constraints.from_labels(["a", "a", "b"]) | Constraints.build(3, together=[[0, 1, 2]])
    fixed = repair(c)
    assert [c.describe(entry) for entry in fixed.entries] == ['2 in label "b"']
    assert [fixed.kept.describe(s) for s in range(fixed.kept.n_statements)] == [
        "#0 must_link(0, 1)",
        "#2 together(0, 1, 2)",
    ]


def test_soft_labels_and_groups_cost_their_weight_for_each_entry():
    labels = Constraints.from_labels(["a", "a", "b"], weight=2.0)
    light = labels | Constraints.build(3, together=[[0, 1, 2]], weight=0.5)
    assert [light.describe(entry) for entry in repair(light).entries] == ["2 in #2 together(0, 1, 2) weight 0.5"]
    assert repair(light).cost == 0.5
    heavy = labels | Constraints.build(3, together=[[0, 1, 2]], weight=5.0)
    assert [heavy.describe(entry) for entry in repair(heavy).entries] == ['2 in label "b" weight 2']
    hard = labels | Constraints.build(3, together=[[0, 1, 2]])
    assert [hard.describe(entry) for entry in repair(hard, keep="hard").entries] == ['2 in label "b" weight 2']


def test_the_same_row_said_twice_has_to_be_taken_back_twice():
    twice = Constraints.from_labels(FAMILIES) | Constraints.from_labels(FAMILIES)
    c = twice.with_ids(ANIMALS) | Constraints.from_ids(ANIMALS, [("together", ["wolf", "coyote", "jackal"])])
    assert [c.describe(entry) for entry in repair(c).entries] == ["jackal in #18 together(wolf, coyote, jackal)"]
    assert check(c).explanation.repairs[0][0].sample == ANIMALS.index("jackal")


def test_a_sample_may_be_named_in_labels_and_in_groups():
    c = animals(("apart", ["lynx", "cat", "bear"]))
    found = conflicts(c)
    assert [c.describe(why.repairs[0][0]) for why in found] == ['jackal in label "cat"', 'lynx in label "cat"']
    assert found[-1].more is False
    assert not set(found[0].entries) & set(found[1].entries)
    assert holds(c.without([why.repairs[0][0] for why in found]))


def test_data_decide_whom_to_doubt_first():
    c = Constraints.from_labels(["a", "a", "a", "b", "b", "b"]) | Constraints.build(6, must_link=[(2, 5)])
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [0.3]])
    assert c.describe(check(c, X=X).explanation.repairs[0][0]) == '5 in label "b"'


def test_a_rule_about_distances_is_background():
    X = np.array([[0.0], [0.1], [9.0]])
    c = Constraints.from_labels(["a", "b", "b"]).with_rules(MinSeparation(1.0))
    why = check(c, X=X).explanation
    assert {c.describe(entry) for (entry,) in why.repairs} == {'0 in label "a"', '1 in label "b"'}
    assert "MinSeparation" in why.steps[0]


# -- a wanted number of clusters ---------------------------------------------------------------------------------------


def test_the_only_sample_of_a_class_too_many_is_to_go():
    c = Constraints.from_labels(["a", "a", "b", "b", "c"])
    why = check(c, n_clusters=2).explanation
    assert [c.describe(entry) for (entry,) in why.repairs] == ['4 in label "c"']
    assert [entry.sample for entry in why.entries] == [0, 2, 4]
    assert why.goal == "2 clusters"


def test_any_member_of_a_group_one_too_large_may_go():
    c = Constraints.build(6, apart=[[0, 1, 2, 3, 4]])
    why = check(c, n_clusters=4).explanation
    assert len(why.entries) == len(why.repairs) == 5
    assert check(c.without(why.repairs[0]), n_clusters=4).status == "feasible"
    assert check(c, n_clusters=3).explanation.repairs == ()


def test_entries_for_a_wanted_number_are_minimal_and_single_fixes_exact():
    rng = np.random.default_rng(5)
    seen = [0, 0]
    for _ in range(examples(120, 600)):
        n = int(rng.integers(4, 7))
        c = draw(rng, n)
        k = int(rng.integers(1, n + 1))
        verdict = check(c, n_clusters=k)
        if verdict.status != "infeasible" or not verdict.explanation.goal:
            continue
        why, everything = verdict.explanation, set(c.entries())
        core = set(why.entries)
        assert core <= everything
        assert check(c.without(everything - core), n_clusters=k).status == "infeasible"
        for entry in core:
            assert check(c.without(everything - core | {entry}), n_clusters=k).status == "feasible"
        singles = {(entry,) for entry in everything if check(c.without([entry]), n_clusters=k).status == "feasible"}
        assert singles == set(why.repairs)
        seen[len(why.repairs) > 0] += 1
    assert min(seen) > 2


# -- laws --------------------------------------------------------------------------------------------------------------


def test_a_table_without_entries_says_what_the_labels_that_are_left_say():
    rng = np.random.default_rng(1)
    for _ in range(examples(20, 600)):
        n = int(rng.integers(3, 9))
        y = rng.integers(-1, 3, n)
        c = Constraints.from_labels(y)
        gone = [entry for entry in c.entries() if rng.random() < 0.4]
        left = y.copy()
        left[[entry.sample for entry in gone]] = -1
        made, wanted = c.without(gone), Constraints.from_labels(left)
        assert made == wanted
        assert sorted(made.labels.sample.tolist()) == np.flatnonzero(left >= 0).tolist() or not made.n_statements
        assert made.without([]) == made


def test_entries_hold_exactly_if_the_statements_they_make_do():
    rng = np.random.default_rng(2)
    seen = [0, 0]
    for _ in range(examples(27, 800)):
        c = draw(rng, int(rng.integers(3, 8)), triplets=3)
        expansion = expand(c)
        gone = np.flatnonzero(rng.random(len(expansion.entries)) < 0.3)
        here = blocks_or_none(expansion.hard().without(gone)) is not None
        assert here == holds(expansion.without(gone)[0]) == holds(c.without(expansion.get(gone)))
        seen[here] += 1
    assert min(seen) > 5


@pytest.mark.parametrize("triplets", [0, 3])
def test_repairs_of_labels_and_groups_are_the_cheapest(triplets):
    rng = np.random.default_rng(3 + triplets)
    seen = set()
    for _ in range(examples(9, 250)):
        c = draw(rng, 5, triplets)
        fixed, entries = repair(c), c.entries()
        assert holds(fixed.kept)
        assert fixed.optimal
        assert fixed.cost == len(fixed.entries)
        fewest = next(
            size for size in range(len(entries) + 1) for gone in combinations(entries, size) if holds(c.without(gone))
        )
        assert len(fixed.entries) == fewest
        assert fixed.kept == c.without(fixed.entries)
        for entry in fixed.entries:  # none could be put back
            assert not holds(c.without(set(fixed.entries) - {entry}))
        seen.add(fewest)
    assert len(seen) > 2


def test_where_a_row_and_a_member_tie_the_row_goes():
    rng = np.random.default_rng(8)
    met = 0
    for _ in range(examples(20, 600)):
        c = draw(rng, 6)
        fixed = repair(c)
        for entry in fixed.entries:
            if entry.sample < 0 or entry.label >= 0:
                continue
            rest = set(fixed.entries) - {entry}
            rows = [e for e in c.entries() if (e.label >= 0 or e.sample < 0) and e not in rest]
            assert not any(holds(c.without(rest | {row})) for row in rows)
            met += 1
    assert met > 3


# -- many records ------------------------------------------------------------------------------------------------------


def records(n, collisions, seed=0):
    """E-mails shared by two records each, of which some come from one source that holds no person twice."""
    rng = np.random.default_rng(seed)
    source, email, order = rng.integers(0, 4, n), np.full(n, -1), rng.permutation(n)
    for g in range(n // 7):
        a, b = order[2 * g], order[2 * g + 1]
        email[[a, b]] = g
        source[b] = source[a] if g < collisions else (source[a] + 1 + g % 3) % 4
    return Constraints.from_groups(email) | Constraints.from_groups(source, say="apart")


@pytest.mark.parametrize("n", [2001, examples(1334, 20_001)])
def test_eight_colliding_records_cost_eight_memberships_and_no_rule(n, monkeypatch):
    c = records(n, 8)
    tests = []
    monkeypatch.setattr(
        _entry_repair, "find_core", lambda *a, _find=_entry_repair.find_core, **k: tests.append(0) or _find(*a, **k)
    )
    fixed = repair(c)
    assert (len(fixed.entries), fixed.cost, fixed.optimal) == (8, 8, True)
    assert all(entry.sample >= 0 for entry in fixed.entries)
    assert fixed.kept.n_statements == c.n_statements
    assert len(tests) <= 8  # one argument for each that goes; the search itself needs none
    why = check(c).explanation
    assert why.written.at_least > 5
    assert why.repairs == ()
    found = conflicts(c)
    assert len(found) == 8
    assert all(len(why.entries) == 4 == len(why.repairs) for why in found)


def test_a_group_that_goes_as_a_whole_is_one_line():
    c = Constraints.build(40, together=[range(40)], apart=[range(40)])
    fixed = repair(c)
    assert (fixed.cost, fixed.optimal) == (39, True)
    assert len(fixed.by_statement()) == 1
    assert "drop #1 apart(0, 1, 2, 3, 4, 5, ... 34 more), 39 members: it contradicts 0 in #0 together" in str(fixed)
    assert fixed.kept == c.select([0])


def test_noise_is_the_share_of_wrong_entries():
    assert repair(animals()).noise == pytest.approx(1 / 9, abs=0.1)
    assert 0 < repair(records(400, 3)).noise <= 1


# -- the record of labels ----------------------------------------------------------------------------------------------


def test_labels_survive_joining_naming_pickling_and_equal_weights():
    c = animals()
    for other in (
        pickle.loads(pickle.dumps(c)),
        c.with_ids(None),
        c.with_rules(),
        c.select(np.arange(10)),
        c.with_weight(0.5),
    ):
        assert other.labels.sample.tolist() == c.labels.sample.tolist()
        assert len(other.entries()) == 12
    both = c | c
    assert len(both.entries()) == 24
    assert both.labels.row.tolist() == [*c.labels.row.tolist(), *(c.labels.row + 9).tolist()]
    assert c == Constraints(c.n_samples, c.kind, c.items, c.weight, c.row, rules=c.rules, ids=c.ids, groups=c.groups)


def test_labels_are_forgotten_where_the_statements_no_longer_say_them():
    c = Constraints.from_labels(["a", "a", "a", "b"])
    assert not c.select([0, 1]).labels
    assert not c.with_weight([1, 2, 3]).labels
    assert not c[[0, 2, 3]].labels  # the chain is broken: nothing says that 0 and 2 are alike
    assert c[[3, 1, 0]].labels.sample.tolist() == [2, 1, 0]
    assert [c[[3, 1, 0]].describe(e) for e in c[[3, 1, 0]].entries()] == [
        '2 in label "a"',
        '1 in label "a"',
        '0 in label "b"',
    ]


def test_a_statement_that_follows_from_labels_can_still_be_dropped_as_such():
    c = Constraints.from_labels(["a", "a", "b"])
    left = c.without([Entry(0)])
    assert left == Constraints.build(3, cannot_link=[(0, 2)])
    assert not left.labels
