"""The map of methods knows every estimator and every learned metric."""

from __future__ import annotations

from pathlib import Path

from linkwise.engines import DistanceLearner
from tests.contract.discovery import estimators

PAGE = Path(__file__).parents[2] / "docs" / "methods.md"


def test_every_method_is_on_the_map():
    text = PAGE.read_text(encoding="utf-8")
    names = [cls.__name__ for cls in [*estimators(), *estimators(DistanceLearner)] if cls.__name__ != "MetricLearner"]
    assert len(names) > 20
    assert [name for name in names if f"`{name}`" not in text] == []
