"""Soft statements: taken as hard ones, or weighed against the data; those of weight zero are absent."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import Constraints, Kind
from linkwise.exceptions import LinkwiseWarning
from tests.contract.agreement import assert_same, count_broken, partition
from tests.contract.cases import CLUSTERERS, each, fit
from tests.contract.discovery import blobs, table, truth
from tests.contract.test_hard_statements import OPPOSITE

# A statement of each kind that two heaps of six samples are against.
AGAINST = {
    Kind.MUST_LINK: (0, 6),
    Kind.CANNOT_LINK: (0, 1),
    Kind.TRIPLET: (0, 6, 1),
    Kind.TOGETHER: (0, 1, 6),
    Kind.APART: (0, 1),
}


@each(CLUSTERERS, "kind")
def test_soft_statements_are_taken_as_hard_or_weighed(case, kind):
    X, y = blobs(5)
    rows = truth(kind, y, 5)
    soft = fit(case.make(), X, table(kind, rows, len(X), weight=0.1))
    if case.weighs:
        assert soft.certificate_.ok  # no statement is hard
        assert soft.constraints_.n_statements == len(rows)
    else:
        assert_same(soft, fit(case.make(), X, table(kind, rows, len(X))))


@each(CLUSTERERS, "kind", where=lambda case: case.has("n_clusters") and not case.best_effort)
def test_a_statement_of_hardly_any_weight_is_broken_where_statements_are_weighed(case, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2)) + np.repeat([[0.0], [40.0]], 6, axis=0)
    model = case.make(n_clusters=2).fit(X, constraints=table(kind, [AGAINST[kind]], 12, weight=1e-9))
    broken = count_broken(model, kind, [AGAINST[kind]])
    assert broken == case.weighs
    assert len(model.certificate_.soft_violated) == broken
    if case.weighs:
        assert model.constraints_.weight.tolist() == [1e-9]
        assert partition(model.labels_) == {frozenset(range(6)), frozenset(range(6, 12))}
    else:
        assert model.constraints_.is_hard.all()


@each(CLUSTERERS, "kind")
def test_weight_zero_is_absence(case, kind):
    X, y = blobs(6)
    rows = truth(kind, y, 6)
    wrong = (0, 1) if kind in (Kind.MUST_LINK, Kind.TOGETHER) else (*rows[0][1:], rows[0][0])
    with_zero = table(kind, [*rows, wrong], len(X), weight=[np.inf] * len(rows) + [0])
    assert_same(fit(case.make(), X, with_zero), fit(case.make(), X, table(kind, rows, len(X))))


@pytest.mark.filterwarnings("ignore:.*promises nothing and broke:linkwise.exceptions.LinkwiseWarning")
@each(CLUSTERERS, "kind")
def test_soft_contradictions_are_left_out_with_a_warning_or_weighed(case, kind):
    X, _ = blobs(15)
    c = Constraints.build(len(X), **OPPOSITE[kind], weight=[*range(1, 1 + sum(map(len, OPPOSITE[kind].values())))])
    if case.weighs:
        assert case.make().fit(X, constraints=c).constraints_.n_statements == c.n_statements
        return
    with pytest.warns(LinkwiseWarning, match=r"1 soft statement\(s\) contradict"):
        model = case.make().fit(X, constraints=c)
    assert model.constraints_.n_statements == c.n_statements - 1
    assert model.certificate_.ok or case.best_effort
