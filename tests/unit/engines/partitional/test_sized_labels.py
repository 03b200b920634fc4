"""Sizes within bounds in the methods besides COPKMeans: blocks at their best, nothing rises, sizes hold."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linkwise import Constraints, verify
from linkwise.constraints import SizeBetween
from linkwise.engines import (
    CVQE,
    LCVQE,
    ConstrainedKMeans,
    HMRFKMeans,
    MKMeans,
    MPCKMeans,
    PCKMeans,
    SeededKMeans,
    SpectralLearning,
)
from linkwise.engines.partitional.inference._energy import PairCharges
from linkwise.engines.partitional.inference._sized_labels import SizedLabels
from linkwise.exceptions import InfeasibleConstraintsError
from linkwise.problem import Problem
from linkwise.sources import label_pairs
from tests.oracles import soft_kmeans as twins
from tests.profile import examples
from tests.unit.engines.outcomes import outcome
from tests.unit.engines.partitional.test_soft_objectives import problem, statements


def charges_of(pairs, k, rng, *, between):
    m = len(pairs.weight)
    table = rng.random((k, k)) if between else np.empty((0, 0))
    sides = rng.random((m, k)), rng.random((m, k)), 2 * rng.random((m, k))
    return PairCharges(*sides, rng.random(m), table + table.T)


def penalty(charges, q, a, b):
    if a == b:
        return charges.same[q, a]
    together = charges.weight[q] * charges.between[a, b] if len(charges.between) else 0.0
    return charges.first[q, a] + charges.second[q, b] + together


def test_no_block_can_be_assigned_better_and_no_labels_beat_the_enumeration():
    reached = 0
    for seed in range(examples(200, 1000)):
        rng = np.random.default_rng(seed)
        n, k = 6, 2 + seed % 2
        low, high = 1, int(rng.integers(-(-n // k), n))
        soft = [tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(4)]
        table = Constraints.build(n, must_link=soft, weight=1.0) | Constraints.build(n, rules=SizeBetween(low, high))
        if seed % 3 == 0:
            table |= Constraints.build(n, must_link=[(0, 1)], cannot_link=[(0, 2)])
        posed = Problem(np.zeros((n, 1)), table, n_clusters=k, who="test")
        pairs, cloud = posed.soft_pairs, posed.contract()
        charges = charges_of(pairs, k, rng, between=seed % 5 == 0)
        costs = rng.random((n, k))
        assign = SizedLabels(cloud, (low, high), pairs, posed.witness)

        every = np.array(list(product(range(k), repeat=n)))
        sizes = np.stack([(every == h).sum(axis=1) for h in range(k)])
        legal = every[(sizes >= low).all(axis=0) & (sizes <= high).all(axis=0)]
        if seed % 3 == 0:
            legal = legal[(legal[:, 0] == legal[:, 1]) & (legal[:, 0] != legal[:, 2])]
        value = costs[np.arange(n), legal].sum(axis=1)
        for q, (i, j) in enumerate(zip(pairs.first, pairs.second, strict=True)):
            price = np.array([[penalty(charges, q, a, b) for b in range(k)] for a in range(k)])
            value += price[legal[:, i], legal[:, j]]
        start = int(rng.integers(len(legal)))
        for given in (None, start):
            labels, cost = assign(costs, charges, None if given is None else legal[given])
            mine = np.flatnonzero((legal == labels).all(axis=1))
            assert_allclose([cost], value[mine])
            if given is not None:
                assert cost <= value[given] + 1e-12
            block = assign._block[cloud.group]
            for b in range(block.max() + 1):
                stay = block != b
                assert cost <= value[(legal[:, stay] == labels[stay]).all(axis=1)].min() + 1e-9
        reached += cost <= value.min() + 1e-9
    assert reached > 0.6 * examples(200, 1000)


@pytest.mark.parametrize(
    ("estimator", "twin", "options"),
    [
        (PCKMeans, twins.PCK, {}),
        (HMRFKMeans, twins.HMRF, {}),
        (MPCKMeans, twins.HMRF, {"form": "diagonal"}),
        (CVQE, twins.CVQE, {}),
        (LCVQE, twins.LCVQE, {}),
    ],
)
def test_nothing_rises_and_sizes_hold(estimator, twin, options):
    for seed in range(examples(4, 200)):
        X, must, cannot = problem(seed, 18, 10)
        c = statements(18, must, cannot, extra_must=[(0, 1)], extra_cannot=[(0, 2), (2, 3)])
        c |= Constraints.build(18, rules=SizeBetween(5, 7))
        values = []

        def watch(step, labels, centers, metric, value, values=values):
            values.append(value)

        run = outcome(estimator, X, c, 3, watch=watch, random_state=seed, n_init=1, **options)
        assert verify(run.labels, c).ok
        assert (np.diff(values) <= 1e-9 * (1 + np.abs(values[:-1]))).all()
        metric = None if run.metric is None else [np.diag(run.metric)] * 3
        wanted = twin(X, 3, must, cannot, form=options.get("form", "none")).objective(run.labels, run.centers, metric)
        assert_allclose(run.objective, wanted, rtol=1e-8)


@pytest.mark.parametrize(
    "estimator",
    [PCKMeans, MKMeans, MPCKMeans, HMRFKMeans, CVQE, LCVQE, SeededKMeans, ConstrainedKMeans, SpectralLearning],
)
@pytest.mark.filterwarnings("ignore:.*promises nothing and broke")
def test_unequal_classes_become_clusters_within_bounds(estimator):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], [60, 30, 10])
    X = rng.normal(size=(100, 2)) + 4 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    for weight in (1.0, np.inf):
        c = label_pairs(y, 20, 0, weight=weight) | Constraints.build(100, rules=SizeBetween(25, 40))
        model = estimator(3, random_state=0).fit(X, constraints=c)
        assert model.certificate_.rules == ((SizeBetween(25, 40), True),)
        assert model.certificate_.ok or estimator is SeededKMeans
    with pytest.raises(InfeasibleConstraintsError):
        estimator(3).fit(X, constraints=Constraints.build(100, rules=SizeBetween(40, 50)))


def test_seeds_stay_where_they_were_put():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 1))
    y = np.full(30, -1)
    y[:6] = [0, 0, 1, 1, 2, 2]
    seen = []
    made = type("Watched", (ConstrainedKMeans,), {"_watch": staticmethod(lambda labels, _: seen.append(labels.copy()))})
    made.__init__ = ConstrainedKMeans.__init__
    c = Constraints.from_labels(y) | Constraints.build(30, rules=SizeBetween(9, 11))
    made(3).fit(X, constraints=c)
    assert len(seen) > 1
    groups = [[one[g] for g in range(3)] for one in seen]  # the three groups come first
    assert all(first == groups[0] for first in groups)
