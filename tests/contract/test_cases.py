"""The cases themselves: one for each estimator of the package, and each agrees with its class."""

from __future__ import annotations

import pytest
from sklearn.base import BaseEstimator

from linkwise.constraints import CHOICES, LINKS, MinSeparation
from linkwise.engines import Consensus, ConstrainedClusterer, DistanceLearner, MetricLearner
from linkwise.engines._base import ConstrainedEstimator
from linkwise.engines._labels_mixin import PartitionMixin
from tests.contract.cases import ALL, CASES, CLUSTERERS, DISTANCE, LABELS, METRIC, TREE, each
from tests.contract.discovery import COUNTING, estimators, takers_of_y

BASES = {ConstrainedClusterer, ConstrainedEstimator, DistanceLearner, MetricLearner}


def test_every_estimator_has_a_case():
    found = set(estimators(ConstrainedEstimator)) - BASES
    assert {case.estimator for case in CASES} == found
    assert len(CASES) == len(found) > 30
    assert {cls.__name__ for cls in set(estimators(BaseEstimator)) - BASES - found} == {"KnowledgeSearchCV"}
    assert {cls.__name__ for cls in set(takers_of_y()) - BASES - found} == {"KnowledgeSearchCV"}


@each(ALL)
def test_a_case_agrees_with_its_class(case):
    cls = case.estimator
    assert case.kinds == cls.understands != frozenset()
    assert case.rules == cls.understands_rules
    linked = case.answers in CLUSTERERS and case.kinds >= LINKS and cls is not Consensus
    assert cls.resolves == (CHOICES if linked else frozenset())
    assert cls.resolves_rules == ({MinSeparation} - case.rules if linked else frozenset())
    assert case.best_effort == getattr(cls, "best_effort", False)
    assert case.weighs == getattr(cls, "weighs", False)
    assert case.takes_sparse == cls().__sklearn_tags__().input_tags.sparse
    assert all(way.reason for way in case.ways)
    assert any(way.checks for way in case.ways)
    answer = {
        TREE: issubclass(cls, ConstrainedClusterer) and hasattr(cls, "children_"),
        LABELS: issubclass(cls, PartitionMixin) or cls in COUNTING,
        METRIC: issubclass(cls, MetricLearner),
        DISTANCE: issubclass(cls, DistanceLearner) and not issubclass(cls, MetricLearner),
    }
    assert [name for name, is_it in answer.items() if is_it] == [case.answers]


@pytest.mark.parametrize("answer", ALL)
def test_every_answer_has_cases(answer):
    assert [case for case in CASES if case.answers == answer]
