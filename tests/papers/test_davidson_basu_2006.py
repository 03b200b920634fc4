"""S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006: COP-KMeans."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris

from linkwise import Constraints, COPKMeans, verify
from linkwise.exceptions import GaveUpError
from tests.profile import examples


def drawn(y, m, rng):
    """Statements as in step 2 of the algorithm: two samples by chance, and their labels say which."""
    pairs = rng.integers(len(y), size=(2 * m, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:m]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints.build(len(y), must_link=pairs[same], cannot_link=pairs[~same])


AS_PUBLISHED = {"assignment": "greedy", "order": "given", "max_tries": 1}


def stuck(X, y, m, k, seed, **how):
    c = drawn(y, m, np.random.default_rng(seed))
    model = COPKMeans(k, n_init=1, init=X[np.random.default_rng(seed).choice(len(X), k)], random_state=seed, **how)
    try:
        model.fit(X, constraints=c)
    except GaveUpError:
        return True
    assert verify(model.labels_, c).ok
    return False


def test_over_constraining_makes_the_greedy_assignment_get_stuck_and_the_exact_one_not():
    """Figure 3: on Iris (k = 3) the share of runs that get stuck rises with the number of statements.

    The tutorial shows a picture only; that the shares rise is what is compared. Ten orders hide some of it.
    """
    X, y = load_iris(return_X_y=True)
    runs = examples(20, 500)
    shares = {m: np.mean([stuck(X, y, m, 3, seed, **AS_PUBLISHED) for seed in range(runs)]) for m in (10, 50, 100, 200)}
    assert shares[10] < shares[50] < shares[100] < shares[200]
    assert np.mean([stuck(X, y, 50, 3, seed, assignment="greedy") for seed in range(runs)]) < shares[50]
    for m in shares:
        assert not any(stuck(X, y, m, 3, seed) for seed in range(runs))


@pytest.mark.parametrize("assignment", ["greedy", "exact"])
def test_more_clusters_than_the_largest_degree_are_always_enough(assignment):
    """Easy constraint sets, condition (a): k >= largest degree of the cannot-link graph + 1."""
    for seed in range(examples(30, 500)):
        rng = np.random.default_rng(seed)
        n = 30
        pairs = {tuple(sorted(p)) for p in rng.integers(n, size=(25, 2)).tolist() if p[0] != p[1]}
        k = int(np.bincount(np.array(sorted(pairs)).ravel()).max()) + 1
        c = Constraints.build(n, cannot_link=sorted(pairs))
        model = COPKMeans(k, assignment=assignment, n_init=1, random_state=seed)
        assert model.fit(rng.normal(size=(n, 2)), constraints=c).certificate_.ok


def test_a_must_linked_group_weighs_as_many_samples_as_it_has():
    """Step 4 replaces a group by its mean; unless the mean carries the number of samples, centers move elsewhere."""
    X = np.array([[0.0], [0.0], [0.0], [4.0], [10.0], [14.0]])
    c = Constraints.build(6, must_link=[(0, 1), (1, 2)])
    model = COPKMeans(2, init=[[0.0], [14.0]], tol=0.0).fit(X, constraints=c)
    assert model.labels_.tolist() == [0, 0, 0, 0, 1, 1]
    assert model.cluster_centers_.ravel().tolist() == [1.0, 12.0]  # not (0 + 4) / 2
