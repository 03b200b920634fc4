"""check() with a range of numbers of clusters: exact against all partitions and all hierarchies."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Constraints, check, verify
from linkwise.constraints import MinSeparation, NeighborWithin, SizeBetween
from linkwise.exceptions import LinkwiseError
from linkwise.problem.feasibility import _ranges
from linkwise.result import Dendrogram
from tests.oracles.knowledge import feasible_sizes
from tests.oracles.partitions import draw_statements, holding, sizes
from tests.profile import examples

MOST = {"must_link": 2, "cannot_link": 5, "together": 1, "apart": 1, "must_link_any": 1, "cannot_link_any": 1}


def _instance(rng):
    """A table, its samples, the numbers of clusters that are possible, and whether one number decides a range."""
    n = int(rng.integers(3, 7))
    easy = rng.random() < 0.4
    words = {word: most for word, most in MOST.items() if not (easy and word.endswith("any"))}
    said = draw_statements(rng, n, words)
    X = rng.random((n, 2))
    rules, asked = [], {}
    if rng.random() < 0.3:
        asked["delta"] = float(rng.uniform(0, 0.4))
        rules.append(MinSeparation(asked["delta"]))
    if not easy and rng.random() < 0.4:
        asked["epsilon"] = float(rng.uniform(0.2, 1.0))
        rules.append(NeighborWithin(asked["epsilon"]))
    if not easy and rng.random() < 0.3:
        low = int(rng.integers(1, 3))
        asked["between"] = low, int(rng.integers(low, n + 1))
        rules.append(SizeBetween(*asked["between"]))
    table = Constraints.build(n, **said, rules=rules)
    rows = [(word, row) for word, several in said.items() for row in several]

    def possible(statements, low, high):
        """The numbers of a range that are possible under some statements."""
        some: dict[str, list] = {}
        for at in statements:
            some.setdefault(rows[at][0], []).append(rows[at][1])
        return {k for k in sizes(n)[holding(n, some, X, **asked)].tolist() if low <= k <= high}

    return table, X, possible


@pytest.mark.parametrize("seed", range(4))
def test_ranges_agree_with_all_partitions(seed):
    rng = np.random.default_rng(seed)
    cases, feasible = examples(250, 500), 0
    for _ in range(cases):
        table, X, possible = _instance(rng)
        low, high = np.sort(rng.integers(1, table.n_samples + 1, 2)).tolist()
        high += int(rng.integers(0, 2))
        verdict = check(table, n_clusters=(low, high), X=X)
        expected = possible(range(table.n_statements), low, high)
        assert verdict.status == ("feasible" if expected else "infeasible"), (table, low, high)
        if expected:
            feasible += 1
            assert len(np.unique(verdict.witness)) in expected
            assert verify(verdict.witness, table, X=X).ok
            continue
        core = verdict.explanation.core
        assert not possible(core, low, high)
        if verdict.explanation.goal and verdict.explanation.complete and not table.rules:
            assert all(possible([s for s in core if s != gone], low, high) for gone in core), (table, low, high)
    assert 0.2 * cases < feasible < 0.8 * cases


def test_ranges_with_triplets_agree_with_all_hierarchies():
    rng = np.random.default_rng(5)
    for _ in range(examples(60, 500)):
        n = int(rng.integers(3, 6))
        said = draw_statements(rng, n, {"must_link": 2, "cannot_link": 2})
        must, cannot = said.values()
        trio = [tuple(rng.choice(n, 3, replace=False).tolist()) for _ in range(rng.integers(1, 3))]
        table = Constraints.build(n, must_link=must, cannot_link=cannot, triplets=trio)
        possible = feasible_sizes(n, must, cannot, trio)
        assert not possible or possible == set(range(min(possible), max(possible) + 1))
        low, high = np.sort(rng.integers(1, n + 1, 2)).tolist()
        verdict = check(table, n_clusters=(low, high))
        assert (verdict.status == "feasible") == bool(possible & set(range(low, high + 1)))
        if verdict.status == "feasible":
            tree = verdict.witness
            assert isinstance(tree, Dendrogram)
            assert verify(tree, table).ok
            assert low <= len(np.unique(tree.cut_marked())) <= high


def test_an_impossible_range_names_the_reason_at_its_end():
    square = Constraints.build(6, apart=[[0, 1, 2, 3]], must_link=[(4, 5)])
    few = check(square, n_clusters=(2, 3))
    assert few.because == (
        "4 samples are pairwise apart, so at least 4 clusters are needed, not 3. "
        "Fewer clusters, down to 2, are impossible as well."
    )
    assert few.explanation.goal == "2 to 3 clusters"
    many = check(square, n_clusters=(6, 9))
    assert "leave at most 5 groups" in many.because
    assert "More clusters, up to 9, are impossible as well." in many.because


def test_both_ends_have_their_reasons_where_numbers_between_can_be_impossible():
    table = Constraints.build(6, cannot_link=[(0, 1)], rules=[SizeBetween(2, 2)])
    assert check(table, n_clusters=(1, 3)).status == "feasible"
    why = check(table, n_clusters=(4, 5)).explanation
    assert why.because == (
        "4 clusters: SizeBetween(low=2, high=2) cannot hold for 6 samples in 4 clusters. "
        "5 clusters: SizeBetween(low=2, high=2) cannot hold for 6 samples in 5 clusters."
    )
    assert (why.core, why.goal) == ((), "4 to 5 clusters")


@pytest.mark.parametrize("wrong", [(3,), (0, 2), (4, 2), (1.5, 3), (True, 2), (8, 9), ("2", "3")])
def test_ranges_that_are_not_ranges_are_refused(wrong):
    with pytest.raises(LinkwiseError, match="n_clusters is"):
        check(Constraints.build(5), n_clusters=wrong)


def test_a_search_that_takes_too_much_names_the_numbers_left_open(monkeypatch):
    monkeypatch.setattr(_ranges, "_WORK", 1e-9)
    table = Constraints.build(6, must_link_any=[[0, 1, 2], [3, 4, 5]], cannot_link=[(0, 1), (3, 4)])
    verdict = check(table, n_clusters=(2, 3))
    assert verdict.status == "unknown"
    assert verdict.because == "Whether some of 2 to 3 clusters are possible was not decided; open: 2, 3."
