"""minimal(): dropped statements follow from the kept ones, and no kept one from the others."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from linkwise import Constraints, close, implies
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem import minimal
from linkwise.problem.entailment import _minimal
from tests.oracles import generators
from tests.oracles.entailment import bits, entailed, statements, worlds
from tests.profile import examples


def as_tuples(c):
    words = ("must_link", "cannot_link", "triplet")
    return [(words[k], *(x for x in row if x >= 0)) for k, row in zip(c.kind, c.items.tolist(), strict=True)]


@pytest.mark.parametrize(
    "words",
    [
        "must_link",
        "must_link cannot_link",
        "triplet",
        "triplet must_link",
        "triplet cannot_link",
        "triplet must_link cannot_link",
    ],
)
def test_nothing_is_lost_and_nothing_kept_is_idle(words):
    rng = np.random.default_rng(len(words))
    dropped = 0
    for _ in range(examples(50, 2500)):
        n = int(rng.choice([3, 4, 5]))
        world = worlds(n)[int(rng.integers(len(worlds(n))))]
        held = [s for s in statements(n) if world & bits(n)[s] and s[0] in words.split()]
        said = [held[i] for i in rng.integers(len(held), size=rng.integers(0, 9))] if held else []
        c = Constraints.from_ids(range(n), said)
        kept = minimal(c)
        left = as_tuples(kept)
        assert entailed(n, left) == entailed(n, said)
        for s in range(len(left)):
            assert left[s] not in entailed(n, left[:s] + left[s + 1 :]), said
        assert set(kept.row) <= set(c.row)
        assert minimal(kept) == kept
        dropped += len(left) < len(said)
    assert dropped > 10


def test_no_fewer_triplets_say_as_much():
    """Representative sets that cannot shrink all have the same size (Seemann and Hellmuth)."""
    rng = np.random.default_rng(1)
    for _ in range(examples(40, 1500)):
        n = int(rng.integers(4, 6))
        said = generators.consistent_triplets(rng, n)[:9]
        c = Constraints.build(n, triplets=said)
        full = entailed(n, as_tuples(c))
        size = minimal(c).n_statements
        if size:
            assert all(entailed(n, list(few)) != full for few in combinations(as_tuples(c), size - 1))


@pytest.mark.parametrize("batch", [1, 256])
def test_larger_sets_keep_their_closure(batch, monkeypatch):
    monkeypatch.setattr(_minimal, "_FIRST_BATCH", batch)
    rng = np.random.default_rng(2)
    for _ in range(examples(10, 300)):
        n = int(rng.integers(10, 40))
        shape = str(rng.choice(generators.SHAPES))
        said = generators.tree_triplets(rng, generators.random_tree(rng, range(n), shape), 4 * n)
        c = Constraints.build(n, triplets=said)
        kept = minimal(c)
        whole = close(c, triplets=True).unique()
        assert close(kept, triplets=True).n_statements == whole.n_statements
        for t in range(kept.n_statements):
            rest = np.arange(kept.n_statements) != t
            assert not implies(kept.select(rest), kept.select([t]))[0]


def test_of_many_must_links_a_spanning_forest_is_left_and_one_cannot_link_between_groups():
    rng = np.random.default_rng(3)
    n, k = 20_000, 50
    y = rng.integers(0, k, n)
    pairs = rng.integers(0, n, (400_000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    chain = np.argsort(y, kind="stable")
    chain = np.column_stack([chain[:-1], chain[1:]])
    chain = chain[y[chain[:, 0]] == y[chain[:, 1]]]
    must = np.concatenate([chain, pairs[same]])
    c = Constraints.build(n, must_link=must, cannot_link=pairs[~same])
    kept = minimal(c)
    assert kept.n_statements == n - k + k * (k - 1) // 2
    assert kept.row[: n - k].tolist() == list(range(n - k))  # the earliest stay


def test_soft_statements_and_rules_are_left_alone():
    from linkwise.constraints import SizeBetween

    c = Constraints.build(
        3, must_link=[(0, 1), (0, 1), (0, 1)], weight=[2.0, np.inf, np.inf], rules=[SizeBetween(1, 3)]
    )
    kept = minimal(c)
    assert kept.row.tolist() == [0, 1]
    assert kept.rules == c.rules


def test_contradictions_are_raised_and_other_input_refused():
    with pytest.raises(InfeasibleConstraintsError):
        minimal(Constraints.build(3, triplets=[(0, 1, 2), (0, 2, 1)]))
    with pytest.raises(LinkwiseError, match="expected Constraints"):
        minimal([(0, 1)])
    assert minimal(Constraints.build(3)) == Constraints.build(3)
