"""Laws of the table of statements, against a naive twin: a multiset of (kind, samples, weight)."""

from __future__ import annotations

import pickle
from collections import Counter

import numpy as np
from hypothesis import given, strategies as st

from linkwise import Constraints, Kind
from linkwise.constraints import MinSeparation, NeighborWithin

N = 8
WEIGHTS = st.sampled_from([0.5, 1.0, 3.0, np.inf])
RULES = st.lists(st.sampled_from([MinSeparation(1), MinSeparation(2), NeighborWithin(1)]), max_size=3)
PAIRS = st.lists(st.lists(st.integers(0, N - 1), min_size=2, max_size=2, unique=True), max_size=8)
TRIPLES = st.lists(st.lists(st.integers(0, N - 1), min_size=3, max_size=3, unique=True), max_size=8)


@st.composite
def tables(draw):
    given_rows = [draw(PAIRS), draw(PAIRS), draw(TRIPLES)]
    total = sum(map(len, given_rows))
    weight = draw(st.lists(WEIGHTS, min_size=total, max_size=total))
    must, cannot, triplets = given_rows
    return Constraints.build(N, must_link=must, cannot_link=cannot, triplets=triplets, weight=weight, rules=draw(RULES))


def statements(c):
    """The naive twin: each statement as (kind, its interchangeable pair, its third sample), with its weight."""
    return [
        ((Kind(k), frozenset((a, b)), t if k == Kind.TRIPLET else None), w)
        for k, (a, b, t), w in zip(c.kind.tolist(), c.items.tolist(), c.weight.tolist(), strict=True)
    ]


def renumbered(c, rows):
    place = {sample: i for i, sample in enumerate(rows)}
    kept = []
    for (kind, pair, third), w in statements(c):
        named = pair | ({third} if third is not None else set())
        if named <= set(rows):
            kept.append(((kind, frozenset(place[s] for s in pair), None if third is None else place[third]), w))
    return kept


SAMPLES = st.lists(st.integers(0, N - 1), unique=True)


@given(tables(), SAMPLES)
def test_slicing_is_what_renumbering_by_hand_gives(c, rows):
    part = c[rows]
    assert statements(part) == renumbered(c, rows)  # order kept as well
    assert part.n_samples == len(rows)
    assert part.rules == c.rules


@given(tables(), SAMPLES, st.data())
def test_slicing_composes(c, rows, data):
    again = data.draw(st.lists(st.integers(0, max(len(rows) - 1, 0)), unique=True, max_size=len(rows)))
    assert c[rows][again] == c[[rows[i] for i in again]]


@given(tables(), st.permutations(range(N)))
def test_reordering_there_and_back_changes_nothing(c, order):
    back = np.argsort(order)
    assert c.reorder(order).reorder(back) == c
    assert np.array_equal(c.reorder(order).reorder(back).items, c.items)


@given(tables(), st.randoms(use_true_random=False))
def test_equality_and_hash_do_not_see_the_order(c, random):
    order = list(range(c.n_statements))
    random.shuffle(order)
    other = c.select(order).with_rules(*reversed(c.rules))
    assert other == c
    assert hash(other) == hash(c)


@given(tables(), tables())
def test_equality_is_equality_of_multisets(a, b):
    same = Counter(statements(a)) == Counter(statements(b)) and set(a.rules) == set(b.rules)
    assert (a == b) is same


@given(tables())
def test_pickling_keeps_everything(c):
    other = pickle.loads(pickle.dumps(c))
    assert other == c
    assert hash(other) == hash(c)
    assert [other.describe(i) for i in range(other.n_statements)] == [c.describe(i) for i in range(c.n_statements)]


@given(tables())
def test_unique_adds_weights_once_and_for_all(c):
    total = Counter()
    for key, w in statements(c):
        total[key] += w
    u = c.unique()
    assert dict(statements(u)) == dict(total)
    assert len(statements(u)) == len(total)
    assert u.unique() == u
    assert np.array_equal(u.unique().items, u.items)
    assert [u.row.tolist()[i] for i in range(u.n_statements)] == sorted(u.row.tolist())


@given(tables(), tables())
def test_set_algebra_follows_the_twin(a, b):
    in_a, in_b = statements(a), statements(b)
    keys = {key for key, _ in in_b}
    assert Counter(statements(a | b)) == Counter(in_a) + Counter(in_b)
    assert statements(a & b) == [s for s in in_a if s[0] in keys]
    assert statements(a - b) == [s for s in in_a if s[0] not in keys]
    assert set((a | b).rules) == set(a.rules) | set(b.rules)
    assert set((a & b).rules) == set(a.rules) & set(b.rules)
    assert set((a - b).rules) == set(a.rules) - set(b.rules)
    assert len(np.unique((a | b).row)) == a.n_statements + b.n_statements


@given(tables(), tables(), tables())
def test_union_is_associative_and_commutative_up_to_numbers(a, b, c):
    assert (a | b) | c == a | (b | c)
    assert a | b == b | a
    assert a | Constraints.build(N) == a.with_rules(*dict.fromkeys(a.rules))


@given(tables(), tables(), SAMPLES)
def test_slicing_distributes_over_union(a, b, rows):
    assert (a | b)[rows] == a[rows] | b[rows]


@given(tables())
def test_statements_survive_a_round_trip_through_names(c):
    names = [f"n{i}" for i in range(N)]
    words = {Kind.MUST_LINK: "must_link", Kind.CANNOT_LINK: "cannot_link", Kind.TRIPLET: "triplet"}
    rows = [
        (words[kind], *(names[s] for s in c.items[i, : kind.arity]), float(c.weight[i]))
        for i, kind in enumerate(map(Kind, c.kind.tolist()))
    ]
    named = Constraints.from_ids(names, rows, rules=c.rules)
    assert statements(named) == statements(c)


@given(st.lists(st.integers(-1, 3), max_size=N))
def test_labels_hold_in_themselves_only_up_to_renaming(y):
    c = Constraints.from_labels(y)
    label = dict(enumerate(y))
    assert all(label[a] == label[b] for a, b in c.of(Kind.MUST_LINK).tolist())
    assert all(label[a] != label[b] for a, b in c.of(Kind.CANNOT_LINK).tolist())
    known = [v for v in y if v >= 0]
    k = len(set(known))
    assert c.n_statements == len(known) - k + k * (k - 1) // 2
