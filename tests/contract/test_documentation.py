"""Docstrings of estimators: cost, guarantee and departure, every parameter, which is checked, and every attribute."""

from __future__ import annotations

import inspect

import numpy as np
import pandas as pd
import pytest

from tests.contract.cases import ALL, CLUSTERERS, TREE, each
from tests.contract.discovery import blobs


@each(CLUSTERERS)
def test_docs_have_all_sections_and_answer_the_three_questions(case):
    text = inspect.getdoc(case.estimator)
    notes = text[text.index("Notes\n-----") :]
    for word in ("**Cost**", "**Guarantee**", "**Departure"):
        assert word in notes
    for section in ("Parameters", "Attributes", "References", "Examples", "See Also"):
        assert f"{section}\n{'-' * len(section)}" in text
    if case.best_effort and case.answers == TREE and not case.has("metric"):
        assert "**Best effort" in text[: text.index("Parameters\n---")]


@each(ALL)
def test_every_parameter_is_documented_and_checked(case):
    names = set(case.estimator().get_params())
    assert names == set(case.estimator._parameter_constraints)
    text = inspect.getdoc(case.estimator)
    assert all(f"\n{name} : " in text for name in names)
    for name in names:
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            case.estimator(**{name: object()}).fit(np.eye(3)[:, :2])


@each(CLUSTERERS, where=lambda case: case.has("n_clusters"))
def test_true_is_not_a_number_of_clusters(case):
    with pytest.raises(ValueError, match="'n_clusters' parameter"):
        case.make(n_clusters=True).fit(np.eye(3)[:, :2])


@each(CLUSTERERS)
def test_every_fitted_attribute_is_documented(case):
    X, _ = blobs(16)
    model = case.make().fit(pd.DataFrame(X, columns=["a", "b"]))
    text = inspect.getdoc(case.estimator)
    fitted = {name for name in vars(model) if name.endswith("_")} - {"n_features_in_", "feature_names_in_"}
    if case.answers == TREE:
        fitted |= {"children_", "distances_"}
    assert [name for name in sorted(fitted) if name not in text] == []
