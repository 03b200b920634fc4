"""Spans of all pairs, by division, against BUILD from scratch; small enough to run interpreted."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise.problem.entailment._kernels_implied import count_implied
from linkwise.problem.triplets._spans import Spans
from tests.oracles import generators, relative

pytestmark = pytest.mark.kernels


@pytest.mark.parametrize("shape", generators.SHAPES)
def test_spans_by_division_are_those_of_the_definition(shape):
    rng = np.random.default_rng(0)
    for _ in range(4):
        n = 7
        said = generators.tree_triplets(rng, generators.random_tree(rng, range(n), shape), int(rng.integers(3, 12)))
        spans = Spans(n, np.array(said))
        inside = spans.table()
        implied = 0
        for a, b, c in relative.all_triplets(len(spans.names)):
            x, y, z = (int(spans.names[v]) for v in (a, b, c))
            excluded = not relative.consistent([*said, (x, y, z)], n)
            assert inside[a, b, c] == inside[b, a, c] == excluded
            assert spans.holds(*(np.array([v]) for v in (x, y, z)))[0] == excluded
            enclosed = spans.encloses(np.array([x]), np.array([y]), np.array([[x, z]]))[0]
            assert enclosed == excluded
            implied += inside[a, c, b] and inside[b, c, a]
        assert count_implied(spans.triplets, len(spans.names)) == implied
