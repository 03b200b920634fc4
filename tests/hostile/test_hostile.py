"""A reduced campaign of hostile problems over every estimator, and planted faults that it has to notice."""

from __future__ import annotations

from collections import Counter
from types import SimpleNamespace

import numpy as np
import pytest

import linkwise
from linkwise import COPKMeans
from linkwise.engines import RCA, ConstrainedClusterer
from linkwise.exceptions import InfeasibleConstraintsError
from tests.contract.discovery import estimators as walk
from tests.hostile.judge import build_conflict, holds, pairs_conflict
from tests.hostile.run import Case, estimators, examine
from tests.profile import examples
from tests.views import few_views  # noqa: F401  # used by every test of this file

NAMES = sorted(estimators())


def failures(seeds, names, tally=None):
    """What a campaign finds, in words."""
    found = []
    for seed in seeds:
        case = Case(seed, names)
        broken = examine(case, Counter() if tally is None else tally)
        found += [f"{sort}: {detail}\n  {case.words}\n  --only {case.name} --show {seed}" for sort, detail in broken]
    return found


def test_every_estimator_is_among_them():
    assert {cls.__name__ for cls in walk()} | {"KnowledgeSearchCV", "cluster"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_no_promise_is_broken(name):
    tally = Counter()
    assert failures(range(examples(8, 300)), [name], tally) == []
    assert tally["fitted"] > 2


def test_a_case_is_made_of_its_seed_alone():
    for seed in range(30):
        one, other = Case(seed), Case(seed)
        assert one.words == other.words
        assert one.constraints() == other.constraints()


# -- the judge is right ------------------------------------------------------------------------------------------------


def test_the_judge_knows_what_statements_mean():
    labels = [0, 0, 1, 2]
    assert holds("must_link", (0, 1), labels, None)
    assert not holds("together", (0, 1, 2), labels, None)
    assert holds("apart", (1, 2, 3), labels, None)
    assert not holds("cannot_link", (0, 1), labels, None)
    parent = [4, 4, 5, 6, 5, 6, -1]  # ((0, 1), 2), 3
    assert holds("triplets", (0, 1, 2), None, parent)
    assert holds("triplets", (0, 2, 3), None, parent)
    assert not holds("triplets", (0, 2, 1), None, parent)
    assert not holds("triplets", (2, 3, 0), None, parent)
    assert pairs_conflict([("must_link", (0, 1)), ("together", (1, 2, 3)), ("cannot_link", (0, 3))], 4)
    assert not pairs_conflict([("must_link", (0, 1)), ("cannot_link", (0, 3))], 4)
    assert pairs_conflict([("must_link", (0, 1))], 4, 4)
    ring = [("cannot_link", (i, (i + 1) % 5)) for i in range(5)]
    assert pairs_conflict(ring, 5, 2)
    assert not pairs_conflict(ring, 5, 3)
    assert not pairs_conflict(ring[:4], 5, 2)
    assert build_conflict([(0, 1, 2), (1, 2, 0)], range(3))
    assert not build_conflict([(0, 1, 2), (1, 2, 3)], range(4))


# -- planted faults are noticed ----------------------------------------------------------------------------------------


def fault_of_labels(change):
    """An engine whose labels are changed after the fit, behind the back of the certificate."""
    keep = COPKMeans._keep

    def broken(self, outcome, problem):
        keep(self, outcome, problem)
        self.labels_ = change(self.labels_.copy())

    return COPKMeans, "_keep", broken


def roll(labels):
    return np.roll(labels, 1)


def gap(labels):
    return labels + (labels > 0)


def merge(labels):
    return np.minimum(labels, max(labels.max() - 1, 0))


def scribble(self, X):
    if isinstance(X, np.ndarray) and X.flags.writeable and X.dtype.kind == "f":
        X[0] += 1.0
    return READ(self, X)


def fail(self, X):
    return [][len(self.get_params())]


def warn(self, X):
    np.array([1.0]) / np.zeros(1)
    return READ(self, X)


def forget(self, constraints):
    return constraints.select(np.arange(0))


def by_chance(self, outcome, problem):
    KEEP(self, outcome, problem)
    self.labels_ = self.labels_[np.random.default_rng().permutation(len(self.labels_))]


READ, KEEP = ConstrainedClusterer._read, COPKMeans._keep
FAULTS = [
    ("hard statement broken", fault_of_labels(roll)),
    ("hard statement broken", (COPKMeans, "_refuse", forget)),
    ("certificate differs from the judge", fault_of_labels(roll)),
    ("labels have gaps", fault_of_labels(gap)),
    ("another number of clusters, quietly", fault_of_labels(merge)),
    ("same seed, another result", (COPKMeans, "_keep", by_chance)),
    ("input modified", (COPKMeans, "_read", scribble)),
    ("bare IndexError", (COPKMeans, "_read", fail)),
    ("RuntimeWarning reached the user", (COPKMeans, "_read", warn)),
]


@pytest.mark.parametrize(("sort", "fault"), FAULTS, ids=[f"{i} {sort}" for i, (sort, _) in enumerate(FAULTS)])
def test_a_planted_fault_is_noticed(monkeypatch, sort, fault):
    monkeypatch.setattr(*fault)
    assert any(one.startswith(sort) for seed in range(40) for one in failures([seed], ["COPKMeans"]))


def test_a_model_that_comes_back_changed_is_noticed(monkeypatch):
    load = linkwise.load

    def changed(path):
        model = load(path)
        model.components_ = 2 * model.components_
        return model

    monkeypatch.setattr(linkwise, "load", changed)
    assert any(
        one.startswith("transform differs after loading") for seed in range(40) for one in failures([seed], ["RCA"])
    )


def test_a_result_that_is_not_finite_is_noticed(monkeypatch):
    monkeypatch.setattr(RCA, "transform", lambda self, X: np.full((1, 1), np.nan))
    assert any(one.startswith("transform is not finite") for one in failures(range(10), ["RCA"]))


def test_a_core_that_proves_nothing_is_noticed(monkeypatch):
    def raised(self, message, explanation=None):
        ValueError.__init__(self, message)
        self.explanation = explanation and SimpleNamespace(core=explanation.core[:-1])

    monkeypatch.setattr(InfeasibleConstraintsError, "__init__", raised)
    assert any(one.startswith("core does not contradict itself") for one in failures(range(80), ["COPKMeans"]))
