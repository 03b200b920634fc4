"""Laws of folds over knowledge, for statements of all kinds that classes make true."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from linkwise import Constraints, implies
from linkwise.selection import knowledge_folds
from tests.profile import examples


@st.composite
def truths(draw):
    """Statements about at most ten samples that one clustering, and one tree with it, keep."""
    n = draw(st.integers(4, 10))
    y = draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    trios = draw(st.lists(st.permutations(range(n)), min_size=2, max_size=14))
    must = [(a, b) for a, b, *_ in trios if y[a] == y[b]]
    cannot = [(a, b) for a, b, *_ in trios if y[a] != y[b]]
    triplets = [(a, b, c) for a, b, c, *_ in trios if y[a] == y[b] != y[c]] if draw(st.booleans()) else []
    return Constraints.build(n, must_link=must, cannot_link=cannot, triplets=triplets)


@given(truths(), st.integers(2, 4), st.integers(0, 99))
@settings(max_examples=examples(60, 600), deadline=None)
def test_nothing_asked_is_implied_by_what_is_told_and_all_told_is_implied_by_what_is_known(known, n_splits, seed):
    named = len(np.unique(known.items[known.items >= 0]))
    for fold in knowledge_folds(known, min(n_splits, named), random_state=seed):
        assert not implies(fold.train, fold.test).any()
        assert implies(known, fold.train).all()
        assert implies(known, fold.test).all()
        assert not np.isin(fold.train.items, fold.held_out).any()


@given(truths(), st.integers(0, 99))
@settings(max_examples=examples(30, 300), deadline=None)
def test_what_is_told_and_what_is_asked_of_all_samples_together_say_everything(known, seed):
    fold = knowledge_folds(known, 2, random_state=seed)[0]
    assert implies(fold.train | fold.test, known).all()
