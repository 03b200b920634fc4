"""ReCon with a warm start: the tree of a cold fit, merge for merge, whatever was said or withdrawn in between."""

from __future__ import annotations

import pickle

import numba
import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone

from linkwise import Constraints, ReCon, check
from linkwise.engines.hierarchical.relative import _kernels_search
from linkwise.exceptions import DeadEndError, InfeasibleConstraintsError
from tests.oracles import generators, relative
from tests.profile import examples

pytestmark = pytest.mark.kernels

SLOW = numba.config.DISABLE_JIT
METHODS = ("centroid", "ward", "median", "average", "complete", "single", "weighted")


def build(n, said):
    """Constraints from a list of (kind, samples)."""
    kinds = {kind: [samples for k, samples in said if k == kind] for kind in ("must_link", "cannot_link", "apart")}
    return Constraints.build(n, triplets=[samples for k, samples in said if k == "triplets"], **kinds)


def draw(rng, y, links):
    """One statement that the classes obey, or a triplet that agrees with some tree of classes most often."""
    while True:
        a, b, c = rng.choice(len(y), 3, replace=False).tolist()
        what = rng.random() if links else 0.0
        if what < 0.6 and y[a] == y[b] and (y[b] != y[c] or rng.random() < 0.1):
            return "triplets", (a, b, c)
        if 0.6 <= what < 0.8 and y[a] == y[b]:
            return "must_link", (a, b)
        if what >= 0.8 and y[a] != y[b]:
            return ("apart", (a, b, c)) if y[c] not in (y[a], y[b]) else ("cannot_link", (a, b))


def points(rng, y, kind):
    X = rng.normal(size=(len(y), int(rng.integers(1, 6))))
    if kind == "ties":
        return np.round(X)
    return X + 1.5 * rng.random() * y[:, None] if kind == "classes" else X


def outcome(model, X, constraints):
    """What a fit leaves behind, as plain numbers."""
    try:
        tree = model.fit(X, constraints=constraints).dendrogram_
    except DeadEndError as dead_end:
        tree = dead_end.dendrogram
    marked = None if tree.marked is None else sorted(tree.marked.tolist())
    return tree.parent.tolist(), tree.raw_height.tolist(), marked


def common_merges(one, other, n):
    """How many first merges two trees share."""
    pairs = [[[] for _ in range(n - 1)] for _ in range(2)]
    for listed, tree in zip(pairs, (one, other), strict=True):
        for node, above in enumerate(tree.parent.tolist()):
            if above >= 0:
                listed[above - n].append(node)
    return next((k for k in range(n - 1) if pairs[0][k] != pairs[1][k]), n - 1)


# -- the guarantee -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["noise", "ties", "classes"])
@pytest.mark.parametrize("links", [False, True], ids=["triplets", "links too"])
def test_every_fit_is_the_cold_fit(kind, links):
    reused = fits = 0
    for seed in range(examples(2 if SLOW else 9, 400)):
        rng = np.random.default_rng(seed)
        y = rng.integers(4, size=int(rng.integers(6, 12 if SLOW else 60))) if seed % 5 else np.arange(12) % 4
        y[:4] = [0, 0, 1, 1]
        X = points(rng, y, kind)
        how = {"n_clusters": [None, 1, 2][seed % 3], "linkage": METHODS[seed % 7] if seed % 2 else "centroid"}
        if seed % 6 == 0:
            how["distance_threshold"] = 2 * rng.random()
        model = ReCon(**how, warm_start=True)
        said = []
        for _ in range(8):
            later = list(said)
            for _ in range(len(y) if not said else 1 if rng.random() < 0.7 else 4):
                if later and rng.random() < 0.4:
                    later.pop(int(rng.integers(len(later))))
                else:
                    later.insert(int(rng.integers(len(later) + 1)), draw(rng, y, links))
            constraints = build(len(y), later)
            if check(constraints, n_clusters=how["n_clusters"]).status != "feasible":
                continue
            said = later
            assert outcome(model, X, constraints) == outcome(ReCon(**how), X, constraints), f"seed {seed}"
            reused += getattr(model, "n_reused_", 0)
            fits += 1
    assert reused > fits


def test_a_new_triplet_leaves_exactly_the_merges_before_it_in_place():
    late = 0
    for seed in range(examples(2 if SLOW else 14, 500)):
        X, triplets = generators.relative_instance(seed, 8, 12 if SLOW else 30, source="random")
        n = len(X)
        model = ReCon(warm_start=True).fit(X, constraints=Constraints.build(n, triplets=triplets[:-1]))
        before = model.dendrogram_
        model.fit(X, constraints=Constraints.build(n, triplets=triplets))
        assert model.n_reused_ == common_merges(before, model.dendrogram_, n), f"seed {seed}"
        late += 0 < model.n_reused_ < n - 1
    assert late or SLOW


def test_triplets_that_proved_nothing_can_be_withdrawn_in_peace():
    proved = idle = 0
    for seed in range(examples(1 if SLOW else 5, 150)):
        X, triplets = generators.relative_instance(seed, 6, 10, source="random")
        n = len(X)
        model = ReCon(warm_start=True).fit(X, constraints=Constraints.build(n, triplets=triplets))
        D = np.linalg.norm(X[:, None] - X, axis=2)
        pairs, _ = relative.recon(D, triplets, "centroid")
        said, used = model._memory.statements.triplets.tolist(), model._memory.used.tolist()
        for t, merges in enumerate(used):
            rest = [tuple(row) for row in said[:t] + said[t + 1 :]]
            stay = min(merges, n - 1)
            assert relative.recon(D, rest, "centroid")[0][:stay] == pairs[:stay], f"seed {seed}: {said[t]}"
            proved += merges != _kernels_search.NEVER
            idle += merges == _kernels_search.NEVER
    assert proved
    assert idle


@pytest.mark.parametrize("extra", ["must_link", "cannot_link", "triplets"])
def test_more_samples_than_a_block_has(extra):
    rng = np.random.default_rng(3)
    n = 40 if SLOW else 700
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 3)) + 2.0 * y[:, None]
    said = [draw(rng, y, False) for _ in range(n // 2)]
    model = ReCon(n_clusters=None, warm_start=True).fit(X, constraints=build(n, said))
    for _ in range(2 if SLOW else 5):
        kind, samples = draw(rng, y, True)
        while kind != extra:
            kind, samples = draw(rng, y, True)
        constraints = build(n, [*said, (kind, samples)])
        if check(constraints).status == "feasible":
            assert outcome(model, X, constraints) == outcome(ReCon(n_clusters=None), X, constraints)


def test_the_first_and_the_last_merge():
    X = np.array([[0.0], [1], [10], [12], [30]])
    model = ReCon(warm_start=True).fit(X)
    assert model.n_reused_ == 0
    assert model.fit(X).n_reused_ == 4
    first = Constraints.build(5, triplets=[(0, 2, 1)])
    assert model.fit(X, constraints=first).n_reused_ == 0
    assert model.fit(X).n_reused_ == 0  # the refusal of the first merge rests on the triplet
    last = Constraints.build(5, triplets=[(2, 4, 0)])
    assert model.fit(X, constraints=last).n_reused_ == 2
    assert outcome(model, X, last) == outcome(ReCon(), X, last)
    displayed = Constraints.build(5, triplets=[(2, 4, 0), (2, 3, 4)])
    assert model.fit(X, constraints=displayed).n_reused_ == 4


def test_a_cannot_link_counts_below_the_cut_only():
    X = np.array([[0.0], [1], [10], [12], [30]])
    model = ReCon(n_clusters=2, warm_start=True).fit(X)
    above, below = Constraints.build(5, cannot_link=[(0, 4)]), Constraints.build(5, cannot_link=[(2, 3)])
    assert model.fit(X, constraints=above).n_reused_ == 4
    assert model.fit(X).n_reused_ == 4
    assert model.fit(X, constraints=below).n_reused_ == 1
    assert outcome(model, X, below) == outcome(ReCon(n_clusters=2), X, below)
    assert model.fit(X, constraints=above).n_reused_ == 1
    assert outcome(model, X, above) == outcome(ReCon(n_clusters=2), X, above)


# -- what is not reused --------------------------------------------------------------------------------------------


@pytest.fixture
def fitted():
    X, triplets = generators.relative_instance(11, 14, 14, source="balanced")
    constraints = Constraints.build(14, triplets=triplets)
    return ReCon(warm_start=True).fit(X, constraints=constraints), X.copy(), constraints


def test_other_data_or_parameters_start_cold(fitted):
    model, X, constraints = fitted
    assert model.fit(X, constraints=constraints).n_reused_ == 13
    X[3, 0] += 1e-9  # in place: the model has its own copy
    assert model.fit(X, constraints=constraints).n_reused_ == 0
    assert model.set_params(linkage="ward").fit(X, constraints=constraints).n_reused_ == 0
    assert outcome(model, X, constraints) == outcome(ReCon(linkage="ward"), X, constraints)
    assert model.fit(np.hstack([X, X]), constraints=constraints).n_reused_ == 0


def test_without_a_warm_start_nothing_is_kept(fitted):
    model, X, constraints = fitted
    model.set_params(warm_start=False).fit(X, constraints=constraints)
    assert model.n_reused_ == 0
    assert model._memory is None
    assert not hasattr(clone(fitted[0]), "_memory")


def test_a_pickle_goes_on_where_it_was(fitted):
    model, X, constraints = fitted
    again = pickle.loads(pickle.dumps(model))
    assert again.fit(X, constraints=constraints).n_reused_ == 13


def test_a_contradiction_is_raised_and_forgotten(fitted):
    model, X, constraints = fitted
    a, b, c = constraints.items[0].tolist()
    tree = model.dendrogram_
    with pytest.raises(InfeasibleConstraintsError):
        model.fit(X, constraints=constraints | Constraints.build(14, triplets=[(a, c, b)]))
    assert model.dendrogram_ is tree
    assert model.fit(X, constraints=constraints).n_reused_ == 13


def test_repeating_and_reordering_statements_changes_nothing(fitted):
    model, X, constraints = fitted
    rows = constraints.items[::-1, [1, 0, 2]]
    said = Constraints.build(14, triplets=np.concatenate([rows, rows]))
    assert model.fit(X, constraints=said).n_reused_ == 13
    assert_array_equal(model.fit(X, constraints=said).labels_, ReCon().fit(X, constraints=constraints).labels_)
