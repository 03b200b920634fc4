"""Correlation clustering: the least weight of broken statements, by enumeration; and the contract of its estimator."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator

from linkwise import Constraints, Kind, repair, verify
from linkwise.constraints import SizeBetween
from linkwise.engines import CorrelationClustering
from linkwise.engines.graph._correlation import _joined, _search, correlation_clustering
from linkwise.exceptions import InfeasibleConstraintsError, UnsupportedConstraintError
from linkwise.problem import Problem
from linkwise.problem.statements._budget import Budget
from tests.contract.discovery import COUNTING
from tests.oracles import spectral
from tests.profile import examples


def pairs(seed, n=6, m=10):
    rng = np.random.default_rng(seed)
    drawn = [(*rng.choice(n, 2, replace=False).tolist(), float(rng.integers(1, 6))) for _ in range(m)]
    return drawn[: m // 2], drawn[m // 2 :]


def build(n, must, cannot, **more):
    weight = {"must_link": [w for *_, w in must], "cannot_link": [w for *_, w in cannot]}
    return Constraints.build(
        n, must_link=[p[:2] for p in must], cannot_link=[p[:2] for p in cannot], weight=weight, **more
    )


def fit(said, **options):
    return CorrelationClustering(**options).fit(np.zeros((said.n_samples, 1)), constraints=said)


def test_it_finds_the_optimum_of_small_tables():
    costs = []
    for seed in range(examples(15, 500)):
        must, cannot = pairs(seed)
        run = fit(build(6, must, cannot))
        best = min(spectral.correlation_cost(labels, must, cannot) for labels in spectral.labelings(6))
        assert run.optimal_
        assert run.objective_ == run.lower_bound_ == best
        assert spectral.correlation_cost(run.labels_, must, cannot) == best
        costs.append(best)
    assert sum(cost > 0 for cost in costs) > 10


def test_hard_statements_hold_at_any_price():
    must, cannot = pairs(3)
    hard = Constraints.build(6, must_link=[(0, 1)], cannot_link=[(1, 2)])
    said = hard | build(6, [(1, 2, 100.0)], [(0, 1, 100.0)]) | build(6, must, cannot)
    model = fit(said)
    assert verify(model.labels_, hard).ok
    assert model.objective_ >= 200.0
    run = correlation_clustering(Problem(np.zeros((6, 1)), said))
    assert_array_equal(run.broken, model.certificate_.soft_violated)
    with pytest.raises(InfeasibleConstraintsError):
        fit(hard | Constraints.build(6, must_link=[(0, 2)]))


def test_groups_break_as_one():
    said = Constraints.build(
        4, together=[[0, 1, 2]], cannot_link=[(0, 2), (1, 2)], weight={"together": 3.0, "cannot_link": 2.0}
    )
    model = fit(said)
    assert model.objective_ == 3.0
    assert model.labels_[2] not in (model.labels_[0], model.labels_[1])


def test_a_planted_clustering_is_found_again():
    rng = np.random.default_rng(0)
    n = 300
    y = rng.integers(10, size=n)
    i, j = rng.integers(n, size=(2, 6000))
    i, j = i[i != j], j[i != j]
    same = (y[i] == y[j]) != (rng.uniform(size=len(i)) < 0.05)
    said = Constraints.build(
        n, must_link=np.column_stack([i, j])[same], cannot_link=np.column_stack([i, j])[~same], weight=1.0
    )
    run = fit(said, budget=1.0)
    planted = float((same != (y[i] == y[j])).sum())
    assert run.lower_bound_ <= run.objective_ <= planted
    assert run.objective_ == repair(said, budget=1.0).cost


def test_the_search_from_single_samples_keeps_hard_statements_and_counts_what_it_breaks():
    for seed in range(examples(4, 100)):
        rng = np.random.default_rng(seed)
        y = rng.integers(3, size=60)
        drawn = [(i, j) for i, j in rng.integers(60, size=(600, 2)).tolist() if i != j]
        wrong = rng.uniform(size=len(drawn)) < 0.1
        must = [(i, j, 1.0) for (i, j), w in zip(drawn, wrong, strict=True) if (y[i] == y[j]) != w]
        cannot = [(i, j, 1.0) for (i, j), w in zip(drawn, wrong, strict=True) if (y[i] == y[j]) == w]
        a, b = next((i, j) for i, j in drawn if y[i] != y[j])
        hard = Constraints.build(60, must_link=[(i, j) for i, j in drawn[:30] if y[i] == y[j]], cannot_link=[(a, b)])
        said = hard | build(60, must, cannot)
        problem = Problem(np.zeros((60, 1)), said)
        broken = _search(problem, Budget(1.0), seed)
        labels = _joined(problem, ~broken)
        assert verify(labels, hard).ok
        assert_array_equal(np.flatnonzero(broken), verify(labels, said).soft_violated)
        assert broken.sum() <= wrong.sum() + 3
    grouped = Constraints.build(4, together=[[0, 1, 2]], weight=1.0)
    assert _search(Problem(np.zeros((4, 1)), grouped), Budget(0.0), 0) is None


def test_foreign_statements_and_wrong_parameters_are_named():
    with pytest.raises(UnsupportedConstraintError, match="triplets"):
        fit(Constraints.build(4, triplets=[(0, 1, 2)]))
    with pytest.raises(UnsupportedConstraintError, match="SizeBetween"):
        fit(Constraints.build(4, rules=SizeBetween(1, 3)))
    with pytest.raises(ValueError, match="'time_limit' parameter of CorrelationClustering"):
        fit(Constraints.build(4), time_limit=-1)


def test_the_walk_finds_the_estimator():
    assert [cls.__name__ for cls in COUNTING] == ["CorrelationClustering"]
    assert CorrelationClustering.understands == {Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TOGETHER, Kind.APART}


def test_of_x_only_the_number_of_rows_counts():
    said = build(8, *pairs(1, 8))
    before = pickle.dumps(said)
    models = [
        CorrelationClustering().fit(X, constraints=said)
        for X in (np.zeros((8, 1)), np.random.default_rng(0).normal(size=(8, 3)), sp.csr_array((8, 2)))
    ]
    for model in models:
        assert_array_equal(model.labels_, models[0].labels_)
        assert model.certificate_.ok
        assert model.objective_ == sum(said.weight[list(model.certificate_.soft_violated)])
        assert model.n_clusters_ == len(set(model.labels_.tolist()))
    assert pickle.dumps(said) == before
    assert_array_equal(clone(models[0]).fit(np.ones((8, 2)), constraints=said).labels_, models[0].labels_)
    assert_array_equal(pickle.loads(pickle.dumps(models[0])).labels_, models[0].labels_)


def test_nothing_said_leaves_every_sample_alone():
    for said in (None, Constraints.build(5), Constraints.build(5, must_link=[(0, 1)], weight=0.0)):
        assert CorrelationClustering().fit(np.zeros((5, 1)), constraints=said).labels_.tolist() == [0, 1, 2, 3, 4]


def test_docs_answer_the_three_questions():
    text = inspect.getdoc(CorrelationClustering)
    assert all(word in text for word in ("**Cost**", "**Guarantee**", "**Departure"))
    assert set(CorrelationClustering().get_params()) == set(CorrelationClustering._parameter_constraints)
    model = CorrelationClustering().fit(np.zeros((3, 1)))
    assert [name for name in vars(model) if name.endswith("_") and name not in text] == ["n_features_in_"]


def name_of(check):
    return getattr(check, "func", check).__name__


# scikit-learn's check_clustering wants classes found in X alone, which is not what this is for.
CHECKS = [
    pair for pair in estimator_checks_generator(CorrelationClustering()) if name_of(pair[1]) != "check_clustering"
]


@pytest.mark.parametrize(("estimator", "check"), CHECKS, ids=[name_of(check) for _, check in CHECKS])
def test_checks_of_scikit_learn(estimator, check):
    if name_of(check) == "check_array_api_input":  # says so itself: SCIPY_ARRAY_API is not set
        return
    check(estimator)
