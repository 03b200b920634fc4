"""The nearest metric: the answer of another solver, its guarantees, refusals."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import nnls
from scipy.spatial.distance import cdist

from linkwise import Constraints
from linkwise.engines import nearest_metric
from linkwise.exceptions import GaveUpError, InfeasibleConstraintsError, LinkwiseError, UnsupportedConstraintError
from tests.oracles.complete_link import cannot_link_mask, components
from tests.profile import examples
from tests.unit.engines.distances.test_propagate import random_links, strange_distances


def least_squares(D, must, cannot, far):
    """All triangles written out over all pairs of samples, solved in the dual by non-negative least squares."""
    n = len(D)
    label, apart = components(n, must), cannot_link_mask(n, must, cannot)
    pairs = list(itertools.combinations(range(n), 2))
    fixed = {(i, j): 0.0 for i, j in pairs if label[i] == label[j]} | {(i, j): far for i, j in pairs if apart[i, j]}
    # one variable for all pairs between two components, which triangles through must-links make equal
    names = sorted({tuple(sorted((label[i], label[j]))) for i, j in pairs if (i, j) not in fixed})
    at = {name: v for v, name in enumerate(names)}
    weight, mean = np.zeros(len(names)), np.zeros(len(names))
    for i, j in pairs:
        if (i, j) not in fixed:
            v = at[tuple(sorted((label[i], label[j])))]
            weight[v] += 1
            mean[v] += D[i, j]
    mean /= np.maximum(weight, 1)

    def side(i, j):
        pair = (min(i, j), max(i, j))
        row = np.zeros(len(names))
        if pair in fixed:
            return row, fixed[pair]
        row[at[tuple(sorted((label[i], label[j])))]] = 1.0
        return row, 0.0

    rows, limits = [], []
    for i, j, k in itertools.permutations(range(n), 3):
        if i < j:
            (a, p), (b, q), (c, r) = side(i, j), side(i, k), side(k, j)
            rows.append(a - b - c)
            limits.append(q + r - p)
    x = mean
    if rows and names:
        # min |W^(1/2) (x - mean)| under C x <= e is a least-distance problem (Lawson and Hanson)
        C, e, root = np.array(rows), np.array(limits), np.sqrt(weight)
        G, h = -C / root, -(e - C @ mean)
        solution, _ = nnls(np.vstack([G.T, h]), np.append(np.zeros(len(names)), 1.0), maxiter=10_000)
        rest = np.vstack([G.T, h]) @ solution - np.append(np.zeros(len(names)), 1.0)
        x = mean if abs(rest[-1]) < 1e-12 else mean - rest[:-1] / rest[-1] / root
    out = np.zeros((n, n))
    for i, j in pairs:
        row, value = side(i, j)
        out[i, j] = out[j, i] = row @ x + value
    return out


@pytest.mark.parametrize("strange", [False, True])
def test_it_is_the_least_squares_solution_over_all_triangles(strange):
    changed = 0
    for seed in range(examples(200, 500)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 8))
        must, cannot = random_links(rng, n)
        X = rng.normal(size=(n, 2))
        D = strange_distances(rng, n) if strange else cdist(X, X)
        far = float(D.max(initial=0.0)) if seed % 2 else 3.0
        known = Constraints.build(n, must_link=must, cannot_link=cannot)
        found = nearest_metric(D, known, metric="precomputed", far=None if seed % 2 else far, tol=1e-10)
        assert_allclose(found, least_squares(D, must, cannot, far), atol=1e-6)
        assert (found == found.T).all()
        assert not found.diagonal().any()
        changed += not np.allclose(found, D)
    assert changed > 50


def test_links_are_kept_and_every_triangle_holds():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 3))
    before = X.copy()
    known = Constraints.build(25, must_link=[(0, 9), (9, 3)], cannot_link=[(0, 5), (7, 8)], apart=[[11, 12, 13]])
    D = nearest_metric(X, known)
    far = cdist(X, X).max()
    assert D[0, 3] == D[0, 9] == 0.0
    assert_allclose([D[3, 5], D[7, 8], D[11, 13]], far)
    assert (D[:, :, None] <= D[:, None, :] + D.T[None, :, :] + 1e-5 * far).all()
    assert (before == X).all()
    assert_allclose(nearest_metric(X, Constraints.build(25)), cdist(X, X), atol=1e-6)


def test_what_cannot_be_is_refused():
    X = [[0.0], [1.0], [5.0]]
    with pytest.raises(InfeasibleConstraintsError):
        nearest_metric(X, Constraints.build(3, must_link=[(0, 1)], cannot_link=[(0, 1)]))
    with pytest.raises(UnsupportedConstraintError, match="nearest_metric"):
        nearest_metric(X, Constraints.build(3, triplets=[(0, 1, 2)]))
    with pytest.raises(LinkwiseError, match="far is -1"):
        nearest_metric(X, Constraints.build(3), far=-1.0)
    with pytest.raises(GaveUpError, match="max_iter"):
        nearest_metric(X, Constraints.build(3, cannot_link=[(0, 1)]), far=100.0, max_iter=1, tol=1e-12)
