"""The table beside metric-learn: objectives are the definitions', statements are true, and a missing peer is told."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose

from benchmarks.metrics_peer import METHODS, main, make_case
from linkwise import check


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
def test_objectives_are_those_the_learners_report(method):
    case = make_case(200, 4, 60)
    told = method.told(case)
    assert check(told).status == "feasible"
    model = method.ours(case).fit(case.X, constraints=told)
    value = method.objective(model.get_mahalanobis_matrix(), case)
    if method.name == "RCA":  # scaled to a mean squared distance of d within chunklets, and counted with the data
        total = np.linalg.slogdet(np.cov(case.X.T, bias=True))[1]
        assert_allclose(value + total + 4 * np.log(4), model.objective_, rtol=1e-6)
    else:
        assert_allclose(value, model.objective_, rtol=1e-6)
    worse = method.objective(np.eye(4), case)
    assert worse < value if method.larger else worse > value


def test_a_peer_that_is_not_there_is_told():
    with pytest.raises(SystemExit, match="could not run metric-learn"):
        main(["--peer", sys.executable, "--quick"])
