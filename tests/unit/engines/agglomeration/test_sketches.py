"""Sketches in single precision refute distances and never change a merge: not where classes overlap, not among ties."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from linkwise import Constraints
from linkwise.engines.agglomeration import _linkages, _rounds_points
from linkwise.engines.agglomeration._choose_loop import merge_all
from tests.oracles.agglomeration import faults
from tests.profile import examples

pytestmark = pytest.mark.kernels

METHODS = ("ward", "centroid", "median")
# Samples, more than a block of them; fewer where kernels are interpreted, which takes a hundred times as long.
MOST = 150 if numba.config.DISABLE_JIT else 400
TOLERANCE = {np.float64: 1e-9, np.float32: 1e-4}


def overlapping(rng, n, d):
    """One cloud in which no class can be told from another, and hardly a block is refuted as a whole."""
    return rng.normal(size=(n, d))


def twins(rng, n, d):
    """Every sample is there twice, or more often."""
    return overlapping(rng, n, d)[rng.integers(max(1, n // 2), size=n)]


def grid(rng, n, d):
    """Few values, so that many distances are equal."""
    return rng.integers(0, 3, size=(n, d)).astype(float)


def far_off(rng, n, d):
    """Single precision sees nothing of the differences before samples are centered, and little of them after."""
    X = overlapping(rng, n, d) + 1e7
    X[0] += 1e5
    return X


def tight(rng, n, d):
    """Groups so tight that no sketch can tell their members apart."""
    return rng.normal(size=(4, d))[rng.integers(4, size=n)] + 1e-7 * overlapping(rng, n, d)


def flat(rng, n, d):
    """Nearly all of the variance lies along few directions, none of which is a feature."""
    return overlapping(rng, n, d) * 0.6 ** np.arange(d) @ np.linalg.qr(rng.normal(size=(d, d)))[0]


def same(rng, n, d):
    """Nothing to tell apart."""
    return np.full((n, d), rng.normal())


KINDS = (overlapping, twins, grid, far_off, tight, flat, same)


def sketch(monkeypatch, *, features):
    """Sketch data of this many features or more."""
    monkeypatch.setattr(_linkages, "FEW", 0)  # no matrix, however few samples there are
    monkeypatch.setattr(_rounds_points, "SKETCHED", features)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_every_merge_is_one_of_the_definition(method, kind, dtype, monkeypatch):
    for seed in range(examples(2, 200)):
        rng = np.random.default_rng(seed)
        X = kind(rng, int(rng.integers(2, 28)), int(rng.integers(1, 20)))
        sketch(monkeypatch, features=1)
        merges = merge_all(X, method=method, dtype=dtype)
        assert faults(merges.pairs, merges.height, X, method, tolerance=TOLERANCE[dtype]) == [], f"seed {seed}"


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("told", ["nothing", "links", "groups"])
def test_merges_are_those_without_sketches_to_the_last_bit(method, kind, told, dtype, monkeypatch):
    for seed in range(examples(1, 60)):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(130, MOST)), int(rng.choice([3, 8, 17, 40]))
        X = kind(rng, n, d)
        rules = {}
        if told == "links":
            block = np.arange(n)
            block[: n // 4] = rng.integers(n // 8, size=n // 4)
            forbidden = rng.integers(n // 4, n, size=(n, 2))
            rules = {
                "forced": np.unique(block, return_inverse=True)[1].astype(np.intp),
                "forbidden": forbidden[forbidden[:, 0] != forbidden[:, 1]],
            }
        elif told == "groups":
            apart = [rng.permutation(n)[:5].tolist() for _ in range(n // 20)]
            rules = {"apart": Constraints.build(n, apart=apart).groups}
        sketch(monkeypatch, features=10**9)
        plain = merge_all(X, method=method, dtype=dtype, **rules)
        sketch(monkeypatch, features=1)
        sketched = merge_all(X, method=method, dtype=dtype, **rules)
        assert_array_equal(sketched.pairs, plain.pairs, err_msg=f"seed {seed}")
        assert_array_equal(sketched.height, plain.height, err_msg=f"seed {seed}")


@pytest.mark.parametrize("size", [1e-148, 1e-30, 1.0, 1e30, 1e148])
def test_units_do_not_matter(size):
    rng = np.random.default_rng(1)
    X = overlapping(rng, 200, 9)
    view = _rounds_points.view_of(X * size, 1e-14)
    assert view.width == 16
    rough = _rounds_points._sketches(X * size, np.arange(200), 4, view)
    assert np.isfinite(rough[:3]).all()
    assert 0.2 < rough[:3, 0].max() <= 1.0
