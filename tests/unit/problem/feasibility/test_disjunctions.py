"""Disjunctions of must-links and cannot-links: verdicts by all partitions, hierarchies, ranges, and their wording."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Constraints, check, verify
from linkwise.problem.explain import Doubt
from linkwise.problem.feasibility import _choices
from tests.oracles.knowledge import cuts, partitions, trees
from tests.oracles.partitions import draw_statements, holding, sizes
from tests.oracles.trees import tree_displays
from tests.profile import examples

MOST = {"must_link": 1, "cannot_link": 3, "apart": 1, "must_link_any": 1, "cannot_link_any": 1, "either": 4}


def _holds(row, label):
    return any((label[a] == label[b]) == (word == "must_link") for word, a, b in row)


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_verdicts_agree_with_all_partitions(n):
    rng = np.random.default_rng(n)
    seen = {"feasible": 0, "infeasible": 0}
    for _ in range(examples(80, 500)):
        said = draw_statements(rng, n, MOST)
        table = Constraints.build(n, **said)
        possible = set(sizes(n)[holding(n, said)].tolist())
        free = check(table)
        assert free.status == ("feasible" if possible else "infeasible"), said
        seen[free.status] += 1
        for k in range(1, n + 1):
            given = check(table, n_clusters=k)
            assert given.status == ("feasible" if k in possible else "infeasible"), (said, k)
            if k in possible:
                assert free.k_min <= k <= free.k_max
                assert verify(given.witness, table).ok
                assert len(np.unique(given.witness)) == k
        low, high = np.sort(rng.integers(1, n + 1, 2)).tolist()
        ranged = check(table, n_clusters=(low, high))
        assert (ranged.status == "feasible") == bool(possible & set(range(low, high + 1)))
        if free.status == "infeasible":
            core = list(free.explanation.core)
            rows = [(word, row) for word, several in said.items() for row in several]
            for left_out in (None, *core):
                some = {}
                for at in core:
                    if at != left_out:
                        some.setdefault(rows[at][0], []).append(rows[at][1])
                assert holding(n, some).any() == (left_out is not None), (said, core)
    assert min(seen.values()) > 5


def test_verdicts_with_triplets_agree_with_all_hierarchies():
    rng = np.random.default_rng(0)
    seen = {"feasible": 0, "infeasible": 0}
    for _ in range(examples(200, 400)):
        n = int(rng.integers(3, 6))
        said = draw_statements(rng, n, {"must_link": 2, "cannot_link": 2, "either": 4})
        trio = [tuple(rng.choice(n, 3, replace=False).tolist()) for _ in range(rng.integers(1, 4))]
        labels = [
            {x: i for i, block in enumerate(cut) for x in block}
            for tree in trees(tuple(range(n)))
            if all(tree_displays(tree, *t) for t in trio)
            for cut in cuts(tree, range(n))
        ]
        links = [[("must_link", a, b)] for a, b in said["must_link"]]
        links += [[("cannot_link", a, b)] for a, b in said["cannot_link"]] + said["either"]
        possible = any(all(_holds(row, label) for row in links) for label in labels)
        table = Constraints.build(n, **said, triplets=trio)
        verdict = check(table)
        assert verdict.status == ("feasible" if possible else "infeasible"), (said, trio)
        seen[verdict.status] += 1
        if possible:
            assert verify(verdict.witness, table).ok
    assert min(seen.values()) > 2


def test_what_a_disjunction_says_agrees_with_all_partitions():
    rng = np.random.default_rng(3)
    for _ in range(examples(60, 500)):
        n = int(rng.integers(3, 6))
        said = draw_statements(rng, n, {"either": 4})
        table = Constraints.build(n, **said)
        for blocks in partitions(range(n)):
            label = np.array([next(i for i, block in enumerate(blocks) if x in block) for x in range(n)])
            held = [_holds(row, label) for row in said["either"]]
            assert verify(label, table).held.tolist() == held
            assert table.groups.hold(table.kind, label).tolist() == held


def test_satisfiability_of_clauses_is_decided():
    """Three literals in a clause, a literal being "x is with true": at 7 clauses a variable few can hold."""
    rng = np.random.default_rng(1)
    answers = set()
    for _ in range(examples(30, 200)):
        n = 6
        clauses = [
            [(("cannot_link", "must_link")[rng.integers(2)], 0, int(v)) for v in rng.choice(n, 3, replace=False) + 1]
            for _ in range(int(rng.integers(10, 50)))
        ]
        grid = (np.arange(2**n)[:, None] >> np.arange(n)) & 1
        meets = [np.any([grid[:, v - 1] == (word == "must_link") for word, _, v in c], axis=0) for c in clauses]
        satisfiable = bool(np.all(meets, axis=0).any())
        assert (check(Constraints.build(n + 1, either=clauses)).status == "feasible") == satisfiable
        answers.add(satisfiable)
    assert answers == {True, False}


def test_a_search_that_has_to_stop_says_so(monkeypatch):
    monkeypatch.setattr(_choices, "_WORK", 0.0)
    table = Constraints.build(4, either=[[("must_link", 0, 1), ("must_link", 2, 3)]], cannot_link=[(0, 1), (1, 2)])
    verdict = check(table)
    assert verdict.status == "unknown"
    assert "was not decided" in verdict.because


def test_the_reason_names_disjunctions_by_their_numbers():
    table = Constraints.from_ids(
        list("abcd"),
        [
            ("must_link", "c", "d"),
            ("cannot_link", "a", "b"),
            ("either", [("must_link", "a", "b"), ("cannot_link", "c", "d")]),
        ],
    )
    assert str(check(table).explanation) == (
        "Any one of these changes repairs it:\n"
        "  drop #2 either(must_link(a, b), cannot_link(c, d))\n"
        "  drop #1 cannot_link(a, b)\n"
        "  drop #0 must_link(c, d)\n"
        "Why: 3 of 3 constraints contradict each other:\n"
        "  #0 must_link(c, d)\n"
        "  #1 cannot_link(a, b)\n"
        "  #2 either(must_link(a, b), cannot_link(c, d))\n"
        "whichever link of #2 holds breaks another statement."
    )
    choice = Constraints.build(
        4, cannot_link=[(0, 1)], must_link_any=[(0, 1, 2)], either=[[("cannot_link", 0, 2), ("must_link", 0, 1)]]
    )
    assert check(choice).explanation.because == (
        "whatever samples [0] choose, and whichever link of #2 holds, breaks another statement."
    )


def test_a_disjunction_is_doubted_by_its_best_link():
    X = np.array([[0.0], [1.0], [10.0], [12.0], [30.0]])
    near, far = [("must_link", 0, 4), ("must_link", 2, 3)], [("must_link", 0, 2), ("cannot_link", 2, 3)]
    likely, doubtful = Doubt(Constraints.build(5, either=[near, far]), X).score(np.arange(2)).tolist()
    assert likely == pytest.approx(0.15)  # of ten distances 2 is the second smallest
    assert doubtful == pytest.approx(0.35)
    table = Constraints.build(5, cannot_link=[(0, 4), (2, 3)], either=[near])
    assert [group[0] for group in check(table, X=X).explanation.suspects] == [1, 2, 0]
