"""HACoc: the greedy definition step by step, and what it breaks is counted."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.distance import squareform

from linkwise import Constraints, ReCon
from linkwise.engines import HACoc, progress
from linkwise.engines.hierarchical.ultrametric import _hacoc
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseWarning
from tests.oracles.generators import consistent_triplets
from tests.oracles.ultrametric import hacoc as by_definition
from tests.posing import posed
from tests.profile import examples

pytestmark = pytest.mark.kernels

hacoc = posed(_hacoc.hacoc)
METHODS = ("single", "complete", "average", "weighted", "ward", "centroid", "median")


def merges_of(tree):
    children = [[] for _ in range(tree.n_nodes)]
    for node, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            children[above].append(node)
    return children[tree.n_samples :]


@pytest.mark.parametrize("method", METHODS)
def test_merges_are_those_of_the_definition(method):
    broken_somewhere = False
    for seed in range(examples(25, 500)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 12))
        X = rng.normal(size=(n, 3))
        triplets = consistent_triplets(rng, n)
        said = Constraints.build(n, triplets=triplets)
        D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
        tree = hacoc(X, said, method=method)
        pairs, heights, broken = by_definition(D, triplets, method)
        assert merges_of(tree) == pairs, seed
        assert_allclose(tree.raw_height[n:], heights, rtol=1e-7, err_msg=str(seed))
        assert (~tree.satisfies(said)).sum() == broken
        broken_somewhere |= broken > 0
    assert broken_somewhere


def hard_instance():
    """The first of some random inputs on which looking one merge ahead is not enough."""
    for seed in range(200):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(10, 2))
        said = Constraints.build(10, triplets=consistent_triplets(rng, 10, "random"))
        if not hacoc(X, said).satisfies(said).all():
            return X, said
    msg = "no input was hard enough"
    raise AssertionError(msg)


def test_a_dead_end_is_passed_and_what_breaks_is_told_and_counted():
    X, said = hard_instance()
    with pytest.warns(LinkwiseWarning, match="HACoc promises nothing and broke"):
        model = HACoc().fit(X, constraints=said)
    assert model.dendrogram_.is_tree
    assert model.certificate_.violated
    assert model.satisfied_ == pytest.approx(1 - len(model.certificate_.violated) / said.n_statements)
    assert ReCon().fit(X, constraints=said).certificate_.ok


def test_progress_is_reported_and_inputs_are_kept():
    D = squareform(np.random.default_rng(0).random(45))
    before, seen = D.copy(), []
    with progress(lambda done, total: seen.append((done, total))):
        hacoc(D, Constraints.build(10), metric="precomputed")
    assert seen[-1] == (9, 9)
    assert (before == D).all()


def test_contradictions_are_errors():
    with pytest.raises(InfeasibleConstraintsError):
        HACoc().fit(np.eye(3)[:, :2], constraints=Constraints.build(3, triplets=[(0, 1, 2), (0, 2, 1)]))
