"""Folds over knowledge: all is asked once per held-out sample, nothing asked follows from what is told."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Constraints, Kind, close, implies
from linkwise.constraints import MinSeparation
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.selection import knowledge_folds
from linkwise.sources import label_pairs


def rows(constraints, kind):
    return {tuple(row) for row in constraints.of(kind).tolist()}


def test_splitting_statements_as_they_come_leaks_and_folds_do_not():
    labels = np.repeat([0, 1, 2], 8)
    known = close(Constraints.from_labels(labels))
    turn = np.random.default_rng(0).permutation(np.arange(known.n_statements) % 5)
    leaked = [implies(known.select(turn != t), known.select(turn == t)).mean() for t in range(5)]
    assert min(leaked) > 0.95
    for fold in knowledge_folds(known, 5, random_state=0):
        assert fold.test.n_statements >= 12
        assert not implies(fold.train, fold.test).any()


def test_who_is_held_out_is_not_mentioned_and_what_is_known_about_others_is_told():
    known = Constraints.build(6, must_link=[(0, 1), (1, 2)], cannot_link=[(1, 3)])
    for fold in knowledge_folds(known, 4, random_state=1):
        assert not np.isin(fold.train.items, fold.held_out).any()
        assert np.isin(fold.test.items, fold.held_out).any(axis=1).all()
        rest = np.setdiff1d(np.arange(6), fold.held_out)
        everything = close(known)[rest]
        assert implies(fold.train[rest], everything).all()  # with 1 held out, must_link(0, 2) stays known
        assert (fold.train.row >= 0).all()


def test_each_sample_something_is_known_about_is_held_out_once():
    known = label_pairs(np.repeat([0, 1, 2], 20), 40, 0)
    named = np.unique(known.items[known.items >= 0])
    held = np.concatenate([fold.held_out for fold in knowledge_folds(known, 7, random_state=0)])
    assert sorted(held.tolist()) == named.tolist()


def test_each_fact_is_asked_once():
    known = Constraints.from_labels([0, 0, 0, 1, 1, 1])
    fold = next(f for f in knowledge_folds(known, 6, random_state=0) if f.held_out.tolist() == [0])
    assert rows(fold.test, Kind.MUST_LINK) == {(0, 1)}
    assert rows(fold.test, Kind.CANNOT_LINK) == {(0, 3)}
    alone = Constraints.build(4, must_link=[(0, 1), (2, 3)])
    for fold in knowledge_folds(alone, 2, random_state=3):
        assert fold.test.n_statements == len(fold.held_out) - sum(
            {0, 1} <= set(fold.held_out.tolist()) for _ in (0,)
        ) - sum({2, 3} <= set(fold.held_out.tolist()) for _ in (0,))


def test_disjunctions_are_trained_on_whole_and_never_asked():
    either = [[("must_link", 0, 1), ("cannot_link", 2, 3)], [("must_link", 4, 5), ("must_link", 6, 7)]]
    known = Constraints.build(9, either=either, must_link=[(0, 8), (4, 8)])
    trained = 0
    for fold in knowledge_folds(known, 3, random_state=0):
        assert not (fold.test.kind == Kind.EITHER).any()
        left = fold.train.select(fold.train.kind == Kind.EITHER)
        assert not np.isin(left.groups.member, fold.held_out).any()
        trained += left.n_statements
    assert trained > 0


def test_groups_go_on_without_who_is_held_out():
    known = Constraints.build(8, together=[[0, 1, 2, 3]], apart=[[0, 4, 5]])
    soft = known | Constraints.build(8, together=[[5, 6, 7]], weight=2.0)
    for fold in knowledge_folds(soft, 4, random_state=0):
        mentioned = fold.train.groups.member
        assert not np.isin(mentioned, fold.held_out).any()
        left = np.setdiff1d([0, 1, 2, 3], fold.held_out)
        pairs = Constraints.build(8, must_link=[(left[0], other) for other in left[1:]])
        flat = fold.train.select(np.isin(fold.train.kind, (Kind.TOGETHER, Kind.MUST_LINK)) & fold.train.is_hard)
        links = Constraints.build(8, must_link=flat.must_links()[0])
        assert implies(links, pairs).all()
    assert {2.0} == {float(w) for fold in knowledge_folds(soft, 4) for w in fold.test.weight if np.isfinite(w)}


def test_triplets_soft_statements_and_rules():
    known = Constraints.build(
        9, triplets=[(0, 1, 2), (3, 4, 5)], must_link=[(6, 7)], weight=3.0, rules=MinSeparation(0.1)
    )
    for fold in knowledge_folds(known, 3, random_state=0):
        assert fold.train.rules == known.rules
        assert not fold.test.rules
        assert fold.train.n_statements + fold.test.n_statements == 3
        assert (fold.train.weight == 3.0).all()
    named = known.with_ids([f"s{i}" for i in range(9)])
    assert all(fold.test.ids is not None and fold.train.ids is not None for fold in knowledge_folds(named, 3))


def test_what_cannot_be_is_said():
    with pytest.raises(LinkwiseError, match="about 2 samples, too few for 5 folds"):
        knowledge_folds(Constraints.build(9, must_link=[(0, 1)]))
    with pytest.raises(LinkwiseError, match="n_splits is 1"):
        knowledge_folds(Constraints.build(9, must_link=[(0, 1)]), 1)
    with pytest.raises(InfeasibleConstraintsError):
        knowledge_folds(Constraints.build(9, must_link=[(0, 1)], cannot_link=[(0, 1)]), 2)
    with pytest.raises(LinkwiseError, match="more than 2,000,000"):
        knowledge_folds(Constraints.build(3000, apart=[list(range(3000))]))


def test_the_same_seed_holds_out_the_same():
    known = label_pairs(np.repeat([0, 1], 30), 30, 0)
    one, two = (knowledge_folds(known, 5, random_state=4) for _ in range(2))
    assert [f.held_out.tolist() for f in one] == [f.held_out.tolist() for f in two]
    assert all(a.train == b.train and a.test == b.test for a, b in zip(one, two, strict=True))
