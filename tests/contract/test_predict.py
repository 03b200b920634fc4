"""New samples: `predict` and `transform` agree with the fit, and rows that cannot be read are refused."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from linkwise.exceptions import LinkwiseError
from tests.contract.cases import CLUSTERERS, LABELS, TREE, each, fit
from tests.contract.discovery import blobs, table, truth
from tests.profile import examples


@each(CLUSTERERS, "kind", where=lambda case: case.has("predict"))
def test_predicting_samples_without_statements_gives_their_labels(case, kind):
    for seed in range(examples(3, 200)):
        X, y = blobs(seed, 60)
        rows = truth(kind, y, seed)
        c = table(kind, rows, len(X))
        options = {"n_clusters": 5} if case.answers == TREE else {}
        model = fit(case.make(seed=seed, **options), X, c)
        free = np.setdiff1d(np.arange(len(X)), np.array(rows))
        assert len(free) > 20
        assert_array_equal(model.predict(X)[free], model.labels_[free])


@each((LABELS,), where=lambda case: case.has("transform"))
def test_transform_gives_distances_to_centers(case):
    X, _ = blobs(3)
    model = case.make(**case.euclidean).fit(X)
    away = np.sqrt(((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2))
    assert_allclose(model.transform(X), away)
    assert list(model.get_feature_names_out()) == [f"{case.name.lower()}{i}" for i in range(3)]


@each(CLUSTERERS, where=lambda case: case.has("predict"))
def test_new_rows_are_checked(case):
    X, _ = blobs(3)
    model = case.make().fit(X)
    with pytest.raises(LinkwiseError, match="row 1, column 0"):
        model.predict([[0.0, 0.0], [np.nan, 0.0]])
    with pytest.raises(ValueError, match="2 features"):
        model.predict(np.zeros((3, 5)))
