"""Groups together and apart through the estimator: the same as all their pairs, without ever writing these out."""

from __future__ import annotations

import tracemalloc
from itertools import combinations

import numpy as np
import pytest

from linkwise import ConstrainedAgglomerative, Constraints, Kind
from linkwise.constraints import MaxCentroidDistance, MinSeparation, NeighborWithin, SizeBetween
from linkwise.engines.agglomeration._choose_loop import merge_all
from linkwise.exceptions import DeadEndError, InfeasibleConstraintsError, UnsupportedConstraintError
from tests.profile import examples

LINKAGES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
RULES = {
    "none": (),
    "delta": (MinSeparation(0.3),),
    "epsilon": (NeighborWithin(1.4),),
    "gamma": (MaxCentroidDistance(2.0),),
}


def constrained_linkage(X, said, *, method="average"):
    """The forest that merging ends with."""
    return ConstrainedAgglomerative(None, linkage=method).fit(X, constraints=said).dendrogram_


def told(seed):
    """Draw points, and what is said about them twice: as groups, and pair by pair."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 16))
    together = [rng.permutation(n)[: int(rng.integers(2, 4))].tolist() for _ in range(int(rng.integers(0, 3)))]
    apart = [rng.permutation(n)[: int(rng.integers(2, 5))].tolist() for _ in range(int(rng.integers(1, 4)))]
    must = [pair for some in together for pair in combinations(some, 2)]
    cannot = [pair for some in apart for pair in combinations(some, 2)]
    return rng.normal(size=(n, 2)), {"together": together, "apart": apart}, {"must_link": must, "cannot_link": cannot}


def outcome(run):
    """The forest, or the kind of refusal."""
    try:
        tree = run()
    except (DeadEndError, InfeasibleConstraintsError) as error:
        return type(error).__name__
    return tree.parent.tolist(), tree.raw_height.tolist()


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("linkage", LINKAGES)
def test_groups_say_the_same_as_all_their_pairs(linkage, rule):
    forests = refused = 0
    for seed in range(examples(14, 1_000)):
        X, groups, pairs = told(seed)
        said, written = (Constraints.build(len(X), **some, rules=RULES[rule]) for some in (groups, pairs))
        mine = outcome(lambda said=said, X=X: constrained_linkage(X, said, method=linkage))
        assert mine == outcome(lambda said=written, X=X: constrained_linkage(X, said, method=linkage)), f"seed {seed}"
        refused += isinstance(mine, str)
        forests += not isinstance(mine, str)
    assert forests > 3
    assert refused > 1


@pytest.mark.parametrize("linkage", LINKAGES)
def test_the_estimator_keeps_groups_together_and_apart(linkage):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 3))
    order = rng.permutation(60)
    together, apart = order[:20].reshape(5, 4), np.concatenate([order[:20:4], order[20:60]]).reshape(-1, 9)
    said = Constraints.build(60, together=together.tolist(), apart=apart.tolist())
    model = ConstrainedAgglomerative(None, linkage=linkage).fit(X, constraints=said)
    assert all(len(set(model.labels_[some].tolist())) == 1 for some in together)
    assert all(len(set(model.labels_[some].tolist())) == 9 for some in apart)
    assert str(model.certificate_) == "All 10 hard statements hold: 5 groups together, 5 groups apart."


def test_groups_that_contradict_each_other_are_explained():
    said = Constraints.build(4, together=[[0, 1, 2]], apart=[[1, 2, 3]])
    with pytest.raises(InfeasibleConstraintsError, match="together"):
        constrained_linkage(np.zeros((4, 1)), said)


def test_other_kinds_are_refused_not_ignored():
    X = np.arange(4.0)[:, None]
    with pytest.raises(UnsupportedConstraintError, match="triplets"):
        constrained_linkage(X, Constraints.build(4, triplets=[(0, 1, 2)]))
    with pytest.raises(UnsupportedConstraintError) as caught:
        constrained_linkage(X, Constraints.build(4, rules=SizeBetween(1, 2)))
    assert caught.value.kinds == ("SizeBetween",)


def test_many_samples_in_groups_apart_take_linear_memory():
    n, size = 20_000, 100
    X = np.random.default_rng(0).normal(size=(n, 8))
    told = np.random.default_rng(1).permutation(n).reshape(-1, size)
    apart = Constraints.build(n, apart=told.tolist()).groups_of(Kind.APART)
    merge_all(X[:2000], method="ward", apart=Constraints.build(2000, apart=[[0, 1]]).groups_of(Kind.APART))
    tracemalloc.start()
    merges = merge_all(X, method="ward", apart=apart)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20 * X.nbytes  # the pairs alone would take eight times that, a matrix 125 times
    label = np.arange(n)
    parent = np.full(n + len(merges.pairs), -1)
    parent[merges.pairs] = np.arange(n, n + len(merges.pairs))[:, None]
    while (parent[label] >= 0).any():
        label = np.where(parent[label] >= 0, parent[label], label)
    assert all(len(np.unique(label[some])) == size for some in told)
    cluster = np.unique(label, return_inverse=True)[1]
    holds = np.zeros((cluster.max() + 1, len(told)), np.float32)
    holds[cluster[told], np.arange(len(told))[:, None]] = 1
    assert (holds @ holds.T > 0).all()  # any two clusters share a group, so no legal merge is left
