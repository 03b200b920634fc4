"""Weights learned before the runs, and the error on samples that are kept back, against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal

from linkwise import Constraints, Kind, Taxonomy
from linkwise.engines import IHAC, BiHAC, BiiHAC
from linkwise.engines.hierarchical.biased import _runs
from linkwise.exceptions import InvalidArgumentError
from tests.oracles import adaptive as oracle
from tests.posing import posed
from tests.profile import examples

pytestmark = [pytest.mark.kernels, pytest.mark.filterwarnings("ignore::linkwise.exceptions.LinkwiseWarning")]

bihac, biihac = posed(_runs.bihac), posed(_runs.biihac)


def instance(seed, n_least=6):
    """Random vectors, and triplets of random folders."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(n_least, 12)), int(rng.integers(4, 8))
    X = rng.gamma(0.7, size=(n, d)) + 1e-3  # no two cosines are equal
    folders = ["a/x", "a/y", "b/x", "b"]
    return X, Taxonomy.from_paths([folders[i] for i in rng.integers(4, size=n)]).triplets()


def listed(constraints):
    return sorted({(min(x, y), max(x, y), z) for x, y, z in constraints.of(Kind.TRIPLET).tolist()})


def test_weights_before_clustering_are_those_of_the_definition():
    n_cases, compared, learned = examples(60, 400), 0, 0
    for seed in range(n_cases):
        X, said = instance(seed)
        if not said.n_statements:
            continue
        rate, passes = (0.02, 0.1, 0.3)[seed % 3], 6
        weights, shares = oracle.before(X, listed(said), rate=rate, passes=passes)
        data = sp.csr_array(X) if seed % 2 else X
        run = bihac(data, said, learn="before", learning_rate=rate, max_iter=passes)
        assert_allclose(run.errors, shares)
        compared += 1
        learned += len(shares) > 1
        assert_allclose(run.weights, weights, atol=1e-8)
        both = biihac(data, said, learn="before", learning_rate=rate, max_iter=passes)
        assert_array_equal(both.weights, run.weights)
    assert compared > 0.75 * n_cases
    assert learned > 0.5 * n_cases


def test_the_error_is_that_of_the_samples_kept_back_and_nothing_is_learned_from_these():
    n_cases, compared = examples(12, 600), 0
    for seed in range(n_cases):
        X, said = instance(500 + seed, n_least=8)
        share = (0.25, 0.5)[seed % 2]
        try:
            learned, judged = _runs.part_samples(said, share, seed)
        except InvalidArgumentError:
            continue
        held = set(np.unique(said.of(Kind.TRIPLET))) - set(np.unique(learned.of(Kind.TRIPLET)))
        assert all(held & set(row) for row in judged.of(Kind.TRIPLET).tolist())
        assert learned.n_statements + judged.n_statements == said.n_statements
        score = ("node", "uniform")[seed % 2]
        merges, weights, errors, least = oracle.bihac(
            X, listed(learned), rate=0.3, r_max=4, score=score, judged=listed(judged)
        )
        if least < 1e-9:
            continue
        compared += 1
        run = bihac(
            X, said, learning_rate=0.3, max_iter=4, error_weights=score, validation_fraction=share, random_state=seed
        )
        assert_allclose(run.errors, errors, atol=1e-12)
        assert_allclose(run.weights, weights, atol=1e-8)
        assert run.error == pytest.approx(min(errors))
        assert run.broken.tolist() == [oracle.n_broken(listed(said), a, b) for a, b, *_ in merges]
        last, _, least = oracle.cluster(X, listed(said), weights, "average", legal=True)
        if least > 1e-9:
            both = biihac(
                X, said, learning_rate=0.3, max_iter=4, error_weights=score, validation_fraction=share,
                random_state=seed,
            )  # fmt: skip
            assert both.broken.tolist() == [oracle.n_broken(listed(said), a, b) for a, b, *_ in last]
            assert both.error == pytest.approx(oracle.error(last, listed(said), score))
    assert compared > 0.4 * n_cases


def test_estimators_pass_both_on_and_the_second_method_uses_all_triplets_in_the_end():
    X, said = instance(3, n_least=11)
    options = {"learning_rate": 0.3, "max_iter": 4, "validation_fraction": 0.3, "random_state": 0}
    one, again = (BiHAC(**options).fit(X, constraints=said) for _ in range(2))
    assert_array_equal(one.feature_weights_, again.feature_weights_)
    both = BiiHAC(**options).fit(X, constraints=said)
    alone = IHAC().fit(X * np.sqrt(both.feature_weights_), constraints=said)
    assert_array_equal(both.broken_, alone.broken_)
    early = BiHAC(learn="before", learning_rate=0.3, max_iter=4).fit(X, constraints=said)
    assert len(early.objectives_) == len(early.steps_) == early.n_iter_
    assert early.feature_weights_.sum() == pytest.approx(X.shape[1])


def test_too_few_triplets_to_keep_some_back_is_said():
    known = Constraints.build(3, triplets=[(0, 1, 2)])
    with pytest.raises(InvalidArgumentError, match="leaves no triplet to learn from"):
        BiHAC(validation_fraction=0.5).fit(np.eye(3), constraints=known)
    with pytest.raises(InvalidArgumentError, match="leaves no triplet to judge by"):
        BiHAC(validation_fraction=0.1).fit(np.eye(3), constraints=known)
