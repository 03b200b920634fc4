"""comparison_tree() against all trees: strict comparisons, comparisons that allow a tie, and both."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from linkwise.exceptions import ConstraintError
from linkwise.problem import comparison_tree, onetree
from tests.oracles.trees import clades
from tests.oracles.ultrametric import compares, hierarchies
from tests.profile import examples


@cache
def signs(n):
    """For every tree of n leaves the sign of u(a, b) - u(a, c), by a, b and c."""
    trees = hierarchies(tuple(range(n)))
    found = np.zeros((len(trees), n, n, n), dtype=np.int8)
    for t, tree in enumerate(trees):
        height = {clade: len(clade) for clade in tree}
        for a in range(n):
            for b in range(n):
                for c in range(b):
                    if a not in (b, c):
                        found[t, a, b, c] = compares(tree, height, a, b, c)
                        found[t, a, c, b] = -found[t, a, b, c]
    return found


def rows(rng, n, count):
    return np.array([rng.permutation(n)[:3] for _ in range(count)], dtype=np.intp).reshape(-1, 3)


def agreeing(n, closer, no_farther):
    """Whether each tree agrees with all comparisons."""
    sign = signs(n)
    return (sign[:, *closer.T] < 0).all(axis=1) & (sign[:, *no_farther.T] <= 0).all(axis=1)


@pytest.mark.parametrize("n", [3, 4, 5, 6])
def test_a_tree_is_found_exactly_when_there_is_one(n):
    outcomes = {True: 0, False: 0}
    rng = np.random.default_rng(n)
    for _ in range(examples(150, 2000)):
        closer, no_farther = rows(rng, n, int(rng.integers(0, 4))), rows(rng, n, int(rng.integers(0, 9)))
        possible = bool(agreeing(n, closer, no_farther).any())
        found = comparison_tree(n, closer, no_farther)
        outcomes[possible] += 1
        assert (found.parent is not None) == possible
        if found.parent is None:  # the rows inside the stuck set suffice
            inside = [table[np.isin(table, found.stuck).all(axis=1)] for table in (closer, no_farther)]
            assert not agreeing(n, *inside).any()
            continue
        tree = frozenset(clades(n, found.parent.tolist()))
        height = {clade: len(clade) for clade in tree}
        assert all(compares(tree, height, *row) < 0 for row in closer.tolist())
        assert all(compares(tree, height, *row) <= 0 for row in no_farther.tolist())
    assert min(outcomes.values()) > 5


def test_strict_comparisons_alone_are_triplets():
    for seed in range(examples(100, 1000)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 9))
        closer = rows(rng, n, int(rng.integers(1, 7)))
        one, other = comparison_tree(n, closer), onetree(n, closer)
        assert (one.parent is None) == (other.parent is None)
        if one.parent is not None:
            assert clades(n, one.parent.tolist()) == clades(n, other.parent.tolist())


def test_no_rows_are_a_star_and_few_items_are_fine():
    assert comparison_tree(4).parent.tolist() == [4, 4, 4, 4, -1]
    assert comparison_tree(1).parent.tolist() == [-1]
    assert comparison_tree(0).parent.tolist() == []
    with pytest.raises(ConstraintError, match=r"row 0 of closer is \(0, 1, 1\), expected three different items"):
        comparison_tree(3, closer=[(0, 1, 1)])
    with pytest.raises(ConstraintError, match=r"row 0 of no_farther is \(0, 1, 3\)"):
        comparison_tree(3, no_farther=[(0, 1, 3)])
