"""COP-KMeans as published: rows in the order of the file, one try, stuck is an error; more tries when asked for."""

from __future__ import annotations

from collections import Counter
from functools import partial

import numpy as np
import pytest

from linkwise import Constraints, COPKMeans, verify
from linkwise.exceptions import GaveUpError, InfeasibleConstraintsError
from tests.oracles.centers import cop_kmeans_by_definition
from tests.profile import examples
from tests.unit.engines.outcomes import outcome

cop_kmeans = partial(outcome, COPKMeans)

AS_PUBLISHED = {"assignment": "greedy", "order": "given", "max_tries": 1, "n_init": 1, "tol": 0.0}


def instance(seed):
    """Pairs that are true of random classes, so that all can hold; k of 2 or 3."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(5, 20)), int(rng.integers(2, 4))
    X, y = rng.normal(size=(n, 2)), rng.integers(k, size=n)
    pairs = rng.integers(n, size=(int(rng.integers(1, n + 4)), 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return X, k, pairs[same], pairs[~same], X[rng.choice(n, k, replace=False)]


def outcome(X, known, k, **options):
    try:
        run = cop_kmeans(X, known, k, **options)
    except GaveUpError:
        return "stuck"
    assert verify(run.labels, known).ok
    return run.labels.tolist()


def test_the_published_algorithm_agrees_with_its_definition():
    seen = Counter()
    for seed in range(examples(180, 3000)):
        X, k, must, cannot, start = instance(seed)
        expected = cop_kmeans_by_definition(X, k, must.tolist(), cannot.tolist(), start)
        known = Constraints.build(len(X), must_link=must, cannot_link=cannot)
        seen[expected if isinstance(expected, str) else "solved"] += 1
        if expected in ("empty", "endless"):
            continue
        assert outcome(X, known, k, init=start, **AS_PUBLISHED) == expected, f"seed {seed}"
    assert min(seen["stuck"], seen["solved"]) >= 20, seen
    assert seen["endless"] <= seen["solved"] / 5, seen


def stuck_after_one_order():
    """Sample 2 comes last and must be apart from two samples that are nearest to different centers."""
    X = np.array([[0.0], [10.0], [5.0], [1.0], [9.0]])
    return X, Constraints.build(5, cannot_link=[(0, 2), (1, 2)]), [[0.0], [10.0]]


def test_more_tries_find_another_order_and_one_try_is_one_try():
    X, known, start = stuck_after_one_order()
    assert outcome(X, known, 2, init=start, **AS_PUBLISHED) == "stuck"
    assert outcome(X, known, 2, init=start, **(AS_PUBLISHED | {"max_tries": 50})) == "stuck"  # nothing varies
    tries = {
        m: [
            outcome(X, known, 2, init=start, assignment="greedy", n_init=1, max_tries=m, random_state=seed) == "stuck"
            for seed in range(24)
        ]
        for m in (1, 2, 10)
    }
    assert 0 < sum(tries[2]) < sum(tries[1]) < 24
    assert not any(tries[10])
    default = [outcome(X, known, 2, init=start, assignment="greedy", n_init=1, random_state=s) for s in range(24)]
    assert "stuck" not in default


def test_of_must_linked_samples_the_first_one_chooses():
    """Sample 0 is nearest to the left center, the mean of its group to the right one."""
    X = np.array([[4.0], [9.0], [9.0], [0.0], [10.0]])
    known = Constraints.build(5, must_link=[(0, 1), (1, 2)])
    options = {"init": [[0.0], [10.0]], "max_iter": 1, **AS_PUBLISHED}
    seen = []
    cop_kmeans(X, known, 2, watch=lambda labels, _: seen.append(labels.tolist()), **options)
    assert seen[0] == [0, 0, 1]  # the group, then samples 3 and 4
    exact = cop_kmeans(X, known, 2, init=[[0.0], [10.0]], max_iter=1)
    assert exact.labels.tolist() == [1, 1, 1, 0, 1]


def test_the_estimator_passes_its_order_on():
    X, known, start = stuck_after_one_order()
    with pytest.raises(GaveUpError, match='order="random" with a larger max_tries'):
        COPKMeans(2, init=start, **AS_PUBLISHED).fit(X, constraints=known)
    model = COPKMeans(2, assignment="greedy", init=start, random_state=0).fit(X, constraints=known)
    assert model.certificate_.ok


def test_what_no_order_could_hold_is_explained():
    known = Constraints.build(5, cannot_link=[(i, (i + 1) % 5) for i in range(5)])
    with pytest.raises(InfeasibleConstraintsError):
        cop_kmeans(np.arange(5.0)[:, None], known, 2, init=[[0.0], [4.0]], **AS_PUBLISHED)
