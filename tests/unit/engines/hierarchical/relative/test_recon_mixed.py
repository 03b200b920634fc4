"""ReCon with links and groups besides triplets: the literal phases, marked cuts that verify, honest dead ends."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linkwise import Constraints, ReCon, check, verify
from linkwise.engines.hierarchical.relative import _estimator
from linkwise.exceptions import DeadEndError, InfeasibleConstraintsError, UnsupportedConstraintError
from tests.oracles.relative import recon_mixed
from tests.posing import posed
from tests.profile import examples

pytestmark = pytest.mark.kernels
METHODS = ["centroid", "average", "complete", "single", "ward", "median", "weighted"]


def _draw(rng):
    """Statements of all kinds that can hold together, most often."""
    n = int(rng.integers(2, 11))
    must = [rng.choice(n, 2, replace=False).tolist() for _ in range(rng.integers(0, 4))]
    cannot = [rng.choice(n, 2, replace=False).tolist() for _ in range(rng.integers(0, 5))]
    groups = [rng.choice(n, 3, replace=False).tolist() for _ in range(rng.integers(0, 2))] if n > 2 else []
    triplets = [rng.choice(n, 3, replace=False).tolist() for _ in range(rng.integers(0, n))] if n > 2 else []
    c = Constraints.build(n, must_link=must, cannot_link=cannot, apart=groups, triplets=triplets)
    return n, must, [*cannot, *groups], triplets, c


def _clusters(labels):
    return sorted(np.flatnonzero(labels == c).tolist() for c in np.unique(labels))


@pytest.mark.parametrize("method", METHODS)
def test_merges_and_cut_are_those_of_the_literal_phases(method):
    rng = np.random.default_rng(len(method))
    seen = mixed = 0
    while seen < examples(14, 600):
        n, must, apart, triplets, c = _draw(rng)
        verdict = check(c)
        if verdict.status != "feasible" or not (must or apart):
            continue
        seen += 1
        mixed += bool(triplets)
        X = rng.normal(size=(n, 2))
        D = np.linalg.norm(X[:, None] - X, axis=2)
        k = int(rng.integers(1, verdict.k_max + 1))
        pairs, heights, cut = recon_mixed(D, must, apart, triplets, method, k)
        tree = posed(_estimator.recon)(X, c, method=method, n_clusters=k)[0]
        assert verify(tree, c).ok
        assert np.sort(tree.to_children(), axis=1).tolist() == [sorted(map(int, p)) for p in pairs]
        assert_allclose(tree.raw_height[n:], heights, rtol=1e-7, atol=1e-9)
        assert _clusters(tree.cut_marked()) == cut
    assert mixed > 0


def test_no_feasible_problem_ever_ends_early_and_everything_holds():
    rng = np.random.default_rng(0)
    seen = 0
    while seen < examples(50, 4000):
        n, *_, c = _draw(rng)
        if check(c).status != "feasible":
            continue
        seen += 1
        tree = posed(_estimator.recon)(rng.normal(size=(n, 1)), c, method=str(rng.choice(METHODS)))[0]
        assert tree.n_roots == 1
        assert verify(tree, c).ok


def test_contradictions_between_kinds_are_explained():
    c = Constraints.build(
        6,
        must_link=[(0, 3), (1, 4), (2, 5)],
        cannot_link=[(0, 2)],
        triplets=[(0, 1, 2), (4, 5, 3)],
    )
    with pytest.raises(InfeasibleConstraintsError, match="6 of 6 constraints contradict each other"):
        ReCon().fit(np.arange(6.0)[:, None], constraints=c)
    together = c.select(c.kind != 1)
    model = ReCon(n_clusters=1).fit(np.arange(6.0)[:, None], constraints=together)
    assert set(model.labels_) == {0}
    with pytest.raises(InfeasibleConstraintsError, match="2 clusters"):
        ReCon(n_clusters=2).fit(np.arange(6.0)[:, None], constraints=together)


def test_the_smallest_dead_end_is_told():
    """P7: merging {2, 3} first leaves three clusters, although {0, 3}, {1, 2} would do."""
    X = np.array([[0.0], [10.0], [5.0], [5.1]])
    c = Constraints.build(4, cannot_link=[(0, 1), (0, 2), (1, 3)])
    assert verify([0, 1, 1, 0], c).ok
    with pytest.raises(DeadEndError, match="no legal merge was left at 3 clusters") as caught:
        ReCon(n_clusters=2).fit(X, constraints=c)
    assert caught.value.k_min == 3
    assert ReCon(n_clusters=None).fit(X, constraints=c).n_clusters_ == 3


def test_what_cannot_be_had_is_explained_and_called_a_dead_end_nowhere():
    X = np.array([[0.0], [10.0], [5.0], [5.1]])
    triangle = Constraints.build(4, cannot_link=[(0, 1), (1, 2), (0, 2)], triplets=[(2, 3, 0)])
    with pytest.raises(InfeasibleConstraintsError, match="cannot hold in 2 clusters") as caught:
        ReCon(n_clusters=2).fit(X, constraints=triangle)
    assert caught.value.explanation.core == (0, 1, 2)
    explained = 0
    for seed in range(examples(60, 1000)):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(4, 9)), int(rng.integers(1, 4))
        c = Constraints.build(
            n,
            cannot_link=[rng.choice(n, 2, replace=False) for _ in range(rng.integers(1, 2 * n))],
            triplets=[rng.choice(n, 3, replace=False) for _ in range(rng.integers(0, 3))],
        )
        if check(c, n_clusters=k).status == "infeasible":
            explained += 1
            with pytest.raises(InfeasibleConstraintsError):
                ReCon(n_clusters=k).fit(rng.normal(size=(n, 2)), constraints=c)
    assert explained > 10


def test_a_threshold_draws_the_cut_before_the_first_long_merge():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [30.0]])
    c = Constraints.build(5, must_link=[(0, 1)], triplets=[(2, 3, 4)])
    model = ReCon(n_clusters=None, distance_threshold=5.0).fit(X, constraints=c)
    assert model.labels_.tolist() == [0, 0, 1, 1, 2]


def test_soft_statements_that_contradict_are_left_out_with_a_warning():
    X = np.arange(4.0)[:, None]
    c = Constraints.build(
        4, must_link=[(0, 1)], cannot_link=[(0, 1), (0, 3)], triplets=[(0, 1, 2)], weight=[np.inf, 1.0, np.inf, np.inf]
    )
    with pytest.warns(UserWarning, match="1 soft statement"):
        model = ReCon(n_clusters=2).fit(X, constraints=c)
    assert model.labels_[0] == model.labels_[1] != model.labels_[3]


def test_outlier_treatment_is_refused_with_pairs():
    said = Constraints.build(4, must_link=[(0, 1)], apart=[[0, 2]], triplets=[(0, 1, 3)])
    with pytest.raises(UnsupportedConstraintError, match="understands triplets only") as refused:
        ReCon(min_cluster_size=2).fit(np.arange(4.0)[:, None], constraints=said)
    assert refused.value.kinds == ("must_link", "apart")


def test_groups_of_a_hundred_apart_among_thousands():
    rng = np.random.default_rng(3)
    n = 2_000
    y = np.repeat(np.arange(100), 20)
    source = np.tile(np.arange(20), 100)  # one sample of every class per source
    X = rng.normal(size=(100, 8))[y] * 4 + rng.normal(size=(n, 8))
    same = np.array([rng.choice(np.flatnonzero(y == c), 2, replace=False) for c in y[:200]])
    c = Constraints.from_groups(source, say="apart") | Constraints.build(n, must_link=same)
    assert c.n_statements == 220
    model = ReCon(n_clusters=None, linkage="average").fit(X, constraints=c)
    assert model.n_clusters_ >= 100
    for s in range(20):
        assert len(np.unique(model.labels_[source == s])) == 100
