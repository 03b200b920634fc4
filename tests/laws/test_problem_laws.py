"""Laws of the knowledge layer, for any statements hypothesis can think of."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings, strategies as st

from linkwise import Constraints, check, close, repair, verify
from linkwise.problem import Problem
from tests.profile import examples

LAW = settings(max_examples=examples(60, 2000), deadline=None)


@st.composite
def knowledge(draw, n_max=9, triplets=True):
    n = draw(st.integers(3, n_max))

    def rows(arity, most):
        row = st.lists(st.integers(0, n - 1), min_size=arity, max_size=arity, unique=True)
        return draw(st.lists(row, max_size=most))

    return Constraints.build(n, must_link=rows(2, 5), cannot_link=rows(2, 5), triplets=rows(3, 7) if triplets else ())


@LAW
@given(knowledge())
def test_a_witness_satisfies_what_check_called_feasible_and_a_core_does_not_shrink(c):
    verdict = check(c)
    if verdict.status == "feasible":
        assert verify(verdict.witness, c).ok
    else:
        core = list(verdict.explanation.core)
        assert check(c.select(core)).status == "infeasible"
        assert all(check(c.select([s for s in core if s != left])).status == "feasible" for left in core)


@LAW
@given(knowledge(), st.integers(1, 9))
def test_a_witness_of_a_given_size_has_that_size(c, k):
    k = min(k, c.n_samples)
    verdict = check(c, n_clusters=k)
    if verdict.status == "feasible":
        assert verify(verdict.witness, c).ok
        labels = verdict.witness if isinstance(verdict.witness, np.ndarray) else verdict.witness.cut_marked()
        assert len(np.unique(labels)) == k


@LAW
@given(knowledge(), st.randoms(use_true_random=False))
def test_renaming_samples_changes_no_verdict(c, random):
    order = list(range(c.n_samples))
    random.shuffle(order)
    one, other = check(c), check(c.reorder(order))
    assert (one.status, one.k_max) == (other.status, other.k_max)


@LAW
@given(knowledge(), st.data())
def test_a_subset_of_feasible_knowledge_is_feasible(c, data):
    if check(c).status == "feasible":
        kept = data.draw(st.lists(st.integers(0, max(0, c.n_statements - 1)), unique=True)) if c.n_statements else []
        assert check(c.select(sorted(kept))).status == "feasible"


@LAW
@given(knowledge(triplets=False))
def test_closing_twice_changes_nothing_and_keeps_the_verdict(c):
    if check(c).status == "feasible":
        once = close(c)
        assert close(once).n_statements == once.n_statements
        for k in range(1, c.n_samples + 1):
            assert check(c, n_clusters=k).status == check(once, n_clusters=k).status


@settings(LAW, max_examples=examples(25, 500))
@given(knowledge(n_max=7))
def test_a_repair_holds_together_and_drops_nothing_in_vain(c):
    fixed = repair(c)
    assert check(fixed.kept).status == "feasible"
    for statement in fixed.dropped:
        kept = np.setdiff1d(np.arange(c.n_statements), fixed.dropped)
        assert check(c.select(np.append(kept, statement))).status == "infeasible"


@LAW
@given(knowledge(triplets=False))
def test_labels_of_the_contracted_problem_satisfy_the_original(c):
    if check(c).status == "feasible":
        problem = Problem(np.zeros((c.n_samples, 1)), c)
        assert verify(problem.expand(np.arange(problem.n_groups)), c).ok
        inner = check(Constraints.build(problem.n_groups, cannot_link=problem.apart.pairs())).witness
        assert verify(problem.expand(inner.cut_marked() if hasattr(inner, "cut_marked") else inner), c).ok
