"""Clusterings that differ from given ones: the definition, a falling objective, and data with two groupings."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linkwise import Constraints, COPKMeans, load, save
from linkwise.engines import AlternativeKMeans
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import adjusted_rand
from tests.oracles.centers import differ_by_definition
from tests.profile import examples
from tests.unit.engines.outcomes import outcome


def two_groupings(seed, *, mixed=False):
    """A strong grouping and a weak one that is independent of it, in features of their own or in the same."""
    rng = np.random.default_rng(seed)
    strong, weak = rng.integers(3, size=120), rng.integers(2, size=120)
    effects = 8.0 * rng.normal(size=(3, 4)), 3.0 * rng.normal(size=(2, 4))
    if not mixed:
        effects[0][:, 2:] = 0.0
        effects[1][:, :2] = 0.0
        effects[1][:, 2:] = [[-2.5, 0.0], [2.5, 0.0]]
    return rng.normal(size=(120, 4)) + effects[0][strong] + effects[1][weak], strong, weak


def test_runs_are_what_the_definition_says():
    agreed, seed = 0, 0
    while agreed < examples(200, 1000):
        seed += 1
        rng = np.random.default_rng(seed)
        n, k = 7, 2
        X, given = rng.normal(size=(n, 2)), [0, 1, *rng.integers(2, size=n - 2).tolist()]
        must, cannot = [(0, 1)] * (seed % 2), [(1, 2), (2, 3)][: seed % 3]
        start = X[rng.choice(n, k, replace=False)]
        wanted = differ_by_definition(X, k, given, must, cannot, start, 4)
        if wanted is None:
            continue
        values = []
        table = Constraints.build(n, must_link=must, cannot_link=cannot)
        options = {"different_from": given, "init": start, "max_iter": 4, "tol": 0.0}
        run = outcome(AlternativeKMeans, X, table, k, watch=lambda _, v, values=values: values.append(v), **options)
        assert_allclose(values, wanted[: len(values)], atol=1e-9)
        assert (np.diff(values) <= 1e-9).all()
        assert run.objective == values[-1]
        agreed += 1


@pytest.mark.parametrize("mixed", [False, True])
def test_the_second_grouping_is_found_besides_the_first(mixed):
    found = []
    for seed in range(6):
        X, strong, weak = two_groupings(seed, mixed=mixed)
        model = AlternativeKMeans(2, different_from=strong, random_state=0).fit(X)
        plain = COPKMeans(2, random_state=0).fit(X)
        found.append(adjusted_rand(weak, model.labels_))
        assert adjusted_rand(strong, model.labels_) < 0.1
        assert adjusted_rand(strong, plain.labels_) > 0.3
    assert np.median(found) > 0.9


def test_a_third_clustering_differs_from_two():
    rng = np.random.default_rng(0)
    groups = [rng.integers(2, size=200) for _ in range(3)]
    X = rng.normal(size=(200, 3)) * 0.5 + np.column_stack(groups) * [9, 6, 4]
    model = AlternativeKMeans(2, different_from=np.column_stack(groups[:2]), random_state=0).fit(X)
    assert adjusted_rand(groups[2], model.labels_) > 0.95
    assert model.shifts_.shape == (4, 3)


def test_new_rows_are_placed_without_their_given_clusters(tmp_path):
    X, strong, weak = two_groupings(1)
    names = np.array(["red", "green", "blue"])[strong]
    model = AlternativeKMeans(2, different_from=names, random_state=0).fit(X)
    save(model, tmp_path / "model.lwm")
    again = load(tmp_path / "model.lwm")
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert adjusted_rand(weak, again.predict(X)) > 0.8


def test_statements_hold_and_no_given_clustering_is_plain_k_means():
    X, strong, _ = two_groupings(2)
    known = Constraints.build(120, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 2), (2, 4)])
    assert AlternativeKMeans(3, different_from=strong, random_state=0).fit(X, constraints=known).certificate_.ok
    one, two = AlternativeKMeans(3, random_state=0).fit(X), COPKMeans(3, random_state=0).fit(X)
    assert one.labels_.tolist() == two.labels_.tolist()
    assert_allclose(one.objective_, two.inertia_)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([0, 1], r"different_from has shape \(2,\), expected \(4,\), or \(4, m\)"),
        ([0, 1, np.nan, 1], "has no label for sample 2"),
        ([0, 1, None, 1], "has no label for sample 2"),
    ],
)
def test_given_clusterings_of_other_samples_are_refused(given, message):
    with pytest.raises(LinkwiseError, match=message):
        AlternativeKMeans(2, different_from=given).fit(np.arange(8.0).reshape(4, 2))
