"""conflicts(): disjoint cores until the rest holds together, each with its fixes."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Constraints, check, conflicts
from linkwise.constraints import MinSeparation, SizeBetween
from linkwise.exceptions import LinkwiseError
from tests.oracles.generators import SHAPES, flip, random_tree, tree_triplets
from tests.profile import examples
from tests.unit.problem.explain.test_explain import MIXES, conflicting, draw, holds


def test_nothing_conflicts_where_all_holds():
    assert conflicts(Constraints.build(4, must_link=[(0, 1)], cannot_link=[(1, 2)])) == ()
    assert conflicts(Constraints.build(0)) == ()


@pytest.mark.parametrize("mix", MIXES)
def test_conflicts_are_disjoint_minimal_and_leave_a_rest_that_holds(mix):
    rng = np.random.default_rng(50 + list(MIXES).index(mix))
    most = 0
    for _ in range(examples(4, 300)):
        c = conflicting(rng, mix, 4, 9)
        c = c | draw(rng, mix, c.n_samples)
        found = conflicts(c)
        most = max(most, len(found))
        cores = [set(why.entries) for why in found]
        everything = set(c.entries())
        assert sum(map(len, cores)) == len(set().union(*cores))
        assert holds(c.without(set().union(*cores)))
        assert [why.more for why in found] == [True] * (len(found) - 1) + [False]
        for core, why in zip(cores, found, strict=True):
            assert core <= everything
            assert not holds(c, why.core)
            assert not holds(c.without(everything - core))
            assert all(holds(c.without(everything - core | {left_out})) for left_out in core)
            others = set().union(*(other for other in cores if other is not core))
            singles = {(entry,) for entry in core if holds(c.without(others | {entry}))}
            assert singles == {some for some in why.repairs if len(some) == 1}
            for some in why.repairs:
                assert holds(c.without(others | set(some)))
            whole = {s for other in cores if other is not core for s in behind(c, other)}
            for some in why.suspects:
                assert holds(c, set(range(c.n_statements)) - whole - set(some))
    assert most > 1


def behind(c, entries):
    """The statements that entries belong to."""
    return {entry.statement for entry in entries}


def test_every_wrong_answer_that_has_a_conflict_to_itself_is_a_suspect_there():
    rng = np.random.default_rng(0)
    alone = 0
    for _ in range(examples(4, 200)):
        n = 40
        said = tree_triplets(rng, random_tree(rng, range(n), str(rng.choice(SHAPES))), 8 * n)
        wrong = set(rng.choice(len(said), size=3, replace=False).tolist())
        c = Constraints.build(n, triplets=[flip(s, rng) if t in wrong else s for t, s in enumerate(said)])
        found = conflicts(c)
        held = [wrong & set(why.core) for why in found]
        assert all(held)
        if set().union(*held) == wrong and all(len(some) == 1 for some in held):
            alone += 1
            assert all((*some,) in why.suspects for some, why in zip(held, found, strict=True))
            assert holds(c, set(range(c.n_statements)) - wrong)
    assert alone > 2


def test_a_wanted_number_comes_after_the_contradictions():
    c = Constraints.build(6, must_link=[(0, 1)], cannot_link=[(0, 1), (2, 3), (3, 4), (2, 4)])
    first, second = conflicts(c, n_clusters=2)
    assert (first.core, first.goal) == ((0, 1), "")
    assert (second.core, second.goal) == ((2, 3, 4), "2 clusters")
    assert set(second.suspects) == {(2,), (3,), (4,)}
    assert not second.more


def test_rules_that_leave_nothing_are_told_last():
    c = Constraints.build(4, must_link=[(0, 1)], cannot_link=[(0, 1)], rules=[SizeBetween(5, None)])
    first, second = conflicts(c)
    assert first.core == (0, 1)
    assert second.core == ()
    assert second.more  # and nothing can be dropped about it
    near = Constraints.build(3, cannot_link=[(0, 1), (1, 2)], rules=[MinSeparation(1.0)])
    assert [why.core for why in conflicts(near, X=[[0.0], [0.5], [0.9]])] == [(0,), (1,)]


def test_a_budget_that_runs_out_is_admitted():
    pairs = [(2 * i, 2 * i + 1) for i in range(200)]
    c = Constraints.build(400, must_link=pairs, cannot_link=pairs)
    whole = conflicts(c)
    assert len(whole) == 200
    assert not whole[-1].more
    part = conflicts(c, budget=0.02)
    assert len(part) < 200
    assert all(why.more for why in part)
    assert not any(why.complete for why in part)


def test_what_cannot_be_decided_is_not_called_free_of_conflicts():
    near = Constraints.build(4, must_link=[(0, 1)], cannot_link=[(0, 1), (2, 3)], rules=[MinSeparation(1.0)])
    (why,) = conflicts(near)  # what the rule joins depends on the data
    assert why.core == (0, 1)
    assert check(near.select([2])).status == "unknown"
    assert why.more is None


def test_dropping_the_first_suspect_of_each_repairs_a_file_of_links():
    rng = np.random.default_rng(4)
    y = rng.integers(30, size=2000)
    pairs = rng.integers(2000, size=(4000, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    same[rng.choice(len(same), 8, replace=False)] ^= True
    c = Constraints.build(2000, must_link=pairs[same], cannot_link=pairs[~same])
    found = conflicts(c)
    dropped = {why.suspects[0][0] for why in found}
    assert check(c.select(sorted(set(range(c.n_statements)) - dropped))).status == "feasible"


def test_bad_input_is_refused_by_name():
    with pytest.raises(LinkwiseError, match="conflicts: n_clusters is 9"):
        conflicts(Constraints.build(4), n_clusters=9)
    with pytest.raises(LinkwiseError, match="conflicts: constraints are list"):
        conflicts([(0, 1)])
