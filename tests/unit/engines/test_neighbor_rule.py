"""The rule ε in methods that do not merge: legal results, true refusals and no cheaper move, by all partitions."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest

from linkwise import Constraints, load, save, verify
from linkwise.constraints import NeighborWithin, SizeBetween
from linkwise.engines import (
    CVQE,
    LCVQE,
    ConstrainedAgglomerative,
    ConstrainedCompleteLink,
    ConstrainedKMeans,
    COPKMeans,
    HMRFKMeans,
    KernelKMeans,
    MKMeans,
    MPCKMeans,
    PCKMeans,
    ReCon,
    SeededKMeans,
    SpectralLearning,
)
from linkwise.exceptions import DeadEndError, InfeasibleConstraintsError, UnsupportedConstraintError
from tests.oracles.partitions import all_labels, draw_statements, holding, sizes
from tests.profile import examples

SAID = {"must_link": 1, "cannot_link": 2, "apart": 1, "must_link_any": 1}
MAIN = [COPKMeans, PCKMeans]
OTHERS = [ConstrainedKMeans, CVQE, HMRFKMeans, LCVQE, MKMeans, MPCKMeans, SeededKMeans, SpectralLearning]


def _instance(rng, *, words=SAID, sized=0.3):
    n = int(rng.integers(3, 8))
    said = draw_statements(rng, n, words)
    X = rng.random((n, 2)).round(int(rng.integers(1, 4)))
    asked, rules = {"epsilon": float(rng.uniform(0.1, 0.9))}, []
    rules.append(NeighborWithin(asked["epsilon"]))
    if rng.random() < sized:
        low = int(rng.integers(1, 3))
        asked["between"] = low, int(rng.integers(low, n + 1))
        rules.append(SizeBetween(*asked["between"]))
    return Constraints.build(n, **said, rules=rules), X, said, asked


def _fit(model, X, table):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, constraints=table)


def _among(possible, labels):
    first = np.unique(labels, return_index=True)[1]
    return (possible == np.argsort(np.argsort(first))[labels]).all(axis=1)


@pytest.mark.parametrize(("method", "count"), [(m, 80) for m in MAIN] + [(m, 20) for m in [*OTHERS, KernelKMeans]])
def test_results_are_legal_and_refusals_true(method, count):
    rng = np.random.default_rng(2)
    infeasible, done, count = 0, 0, examples(count, 10 * count)
    for _ in range(count):
        table, X, said, asked = _instance(rng, sized=0.0 if method is KernelKMeans else 0.3)
        k = int(rng.integers(1, len(X) + 1))
        possible = all_labels(len(X))[holding(len(X), said, X, **asked) & (sizes(len(X)) == k)]
        try:
            model = _fit(method(k, random_state=0), X, table)
        except InfeasibleConstraintsError:
            infeasible += 1
            assert not len(possible), (table, k)
            continue
        done += 1
        if method is SeededKMeans:  # statements are seeds only, rules hold
            possible = all_labels(len(X))[holding(len(X), {}, X, **asked) & (sizes(len(X)) == k)]
        assert _among(possible, model.labels_).any(), (table, k, model.labels_)
        assert model.n_clusters_ == k
    assert min(infeasible, done) > count / 8


def test_no_legal_move_of_one_group_is_cheaper_and_the_optimum_is_never_beaten():
    rng = np.random.default_rng(3)
    best = cases = 0
    while cases < examples(80, 1000):
        table, X, said, asked = _instance(rng, words={"must_link": 1, "cannot_link": 2})
        k = int(rng.integers(2, len(X)))
        possible = all_labels(len(X))[holding(len(X), said, X, **asked) & (sizes(len(X)) == k)]
        if not len(possible):
            continue
        cases += 1
        model = _fit(COPKMeans(k, random_state=0), X, table)
        labels = model.labels_

        def cost(labels, centers, X=X):
            return ((X - centers[labels]) ** 2).sum()

        def means(labels, X=X):
            return np.array([X[labels == c].mean(axis=0) for c in range(labels.max() + 1)])

        own = cost(labels, model.cluster_centers_)
        assert own == pytest.approx(model.inertia_)
        groups = np.arange(len(X))
        for a, b in said["must_link"]:
            groups[groups == groups[b]] = groups[a]
        for group in np.unique(groups):
            for c in range(k):
                moved = np.where(groups == group, c, labels)
                if len(np.unique(moved)) == k and _among(possible, moved).any():
                    assert cost(moved, model.cluster_centers_) >= own - 1e-9
        least = min(cost(one, means(one)) for one in possible.astype(int))
        assert model.inertia_ >= least - 1e-9
        best += model.inertia_ <= least + 1e-9
    assert best > 0.7 * cases


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_no_legal_move_of_one_group_betters_the_criterion_of_kernel_k_means(kernel):
    rng = np.random.default_rng(6)
    cases = best = 0
    while cases < examples(40, 400):
        table, X, said, asked = _instance(rng, words={"must_link": 1, "cannot_link": 2}, sized=0.0)
        k = int(rng.integers(2, len(X)))
        possible = all_labels(len(X))[holding(len(X), said, X, **asked) & (sizes(len(X)) == k)]
        if not len(possible):
            continue
        cases += 1
        model = _fit(KernelKMeans(k, kernel=kernel, gamma=2.0, random_state=0), X, table)
        table_of = X @ X.T if kernel == "linear" else np.exp(-2.0 * ((X[:, None] - X) ** 2).sum(axis=2))

        def cost(labels, K=table_of):
            """Squared distances to the means, in feature space."""
            inside = [np.flatnonzero(labels == c) for c in np.unique(labels)]
            return np.trace(K) - sum(K[np.ix_(some, some)].sum() / len(some) for some in inside)

        own = cost(model.labels_)
        assert own == pytest.approx(model.objective_)
        groups = np.arange(len(X))
        for a, b in said["must_link"]:
            groups[groups == groups[b]] = groups[a]
        for group in np.unique(groups):
            for c in range(k):
                moved = np.where(groups == group, c, model.labels_)
                if len(np.unique(moved)) == k and _among(possible, moved).any():
                    assert cost(moved) >= own - 1e-9
        least = min(map(cost, possible.astype(int)))
        assert own >= least - 1e-9
        best += own <= least + 1e-9
    assert best > 0.7 * cases


@pytest.mark.parametrize("method", [COPKMeans, PCKMeans, ConstrainedKMeans])
def test_a_rule_that_holds_anyway_changes_nothing(method):
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(20, 2)), rng.normal(6, 1, size=(20, 2))])
    known = {"must_link": [(0, 1), (20, 21)], "cannot_link": [(0, 20)]}
    plain = method(2, random_state=0).fit(X, constraints=Constraints.build(40, **known))
    ruled = method(2, random_state=0).fit(X, constraints=Constraints.build(40, **known, rules=NeighborWithin(9.0)))
    assert (plain.labels_ == ruled.labels_).all()


def test_samples_without_any_neighbor_stay_alone_and_too_few_clusters_are_refused_with_a_reason(tmp_path):
    X = np.array([[0.0], [0.4], [0.8], [5.0], [5.3], [20.0], [90.0]])
    rule = Constraints.build(7, rules=NeighborWithin(0.5))
    model = COPKMeans(4, random_state=0).fit(X, constraints=rule)
    assert len({model.labels_[i] for i in (0, 1, 2)}) == len({model.labels_[i] for i in (3, 4)}) == 1
    assert (model.labels_ == model.labels_[5]).sum() == (model.labels_ == model.labels_[6]).sum() == 1
    save(model, tmp_path / "model.linkwise")
    assert load(tmp_path / "model.linkwise").labels_.tolist() == model.labels_.tolist()
    with pytest.raises(InfeasibleConstraintsError, match=r"2 of 7 samples have no other near enough .* at least 3"):
        COPKMeans(2, random_state=0).fit(X, constraints=rule)
    with pytest.raises(UnsupportedConstraintError, match="does not support NeighborWithin with assignment"):
        COPKMeans(4, assignment="greedy").fit(X, constraints=rule)


def test_the_rule_is_about_the_samples_not_their_eigenvectors():
    """Of three groups in a row the middle one falls to either side; two of its samples are near none but each other."""
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(0, 0.3, (12, 2)), rng.normal(5, 0.3, (12, 2)), [[2.4, 2.4], [2.6, 2.6], [2.5, 2.0]]])
    rule = Constraints.build(len(X), rules=NeighborWithin(0.7))
    for affinity in ("nearest_neighbors", "rbf"):
        model = SpectralLearning(3, affinity=affinity, random_state=0).fit(X, constraints=rule)
        assert model.certificate_.ok
        assert verify(model.labels_, rule, X=X).ok
        assert model.n_clusters_ == 3
    with pytest.raises(
        UnsupportedConstraintError, match="got similarities as X, but NeighborWithin is about distances"
    ):
        SpectralLearning(2, affinity="precomputed").fit(np.eye(4), constraints=Constraints.build(4, rules=rule.rules))
    far = np.array([[0.0], [5.0], [9.0], [9.1]])
    with pytest.raises(InfeasibleConstraintsError, match="no other near enough"):
        SpectralLearning(2, affinity="rbf").fit(far, constraints=Constraints.build(4, rules=rule.rules))


@pytest.mark.parametrize("method", [COPKMeans, PCKMeans])
def test_chains_that_k_means_would_cut_off_keep_company(method):
    """Rings and outlying pairs: plain k-means leaves samples without a neighbor in their cluster."""
    rng = np.random.default_rng(5)
    X = np.concatenate([rng.normal(size=(150, 2)), rng.uniform(-6, 6, size=(50, 2))])
    rule = NeighborWithin(2.0)
    said = Constraints.build(200, cannot_link=[(0, 1)], rules=rule)
    k = 12
    plain = method(k, random_state=0).fit(X, constraints=Constraints.build(200, cannot_link=[(0, 1)]))
    assert not verify(plain.labels_, said, X=X).ok
    model = method(k, random_state=0).fit(X, constraints=said)
    assert model.certificate_.ok
    assert model.inertia_ < 1.3 * plain.inertia_


# -- trees -------------------------------------------------------------------------------------------------------------


def _cuts(tree, node=None):
    """All cuts of a tree, each a list of nodes."""
    if node is None:
        parts = [_cuts(tree, int(root)) for root in np.flatnonzero(tree.parent < 0)]
    else:
        yield [node]
        parts = [_cuts(tree, child) for child in tree.children(node)]
        if not parts:
            return
    for nodes in itertools.product(*map(list, parts)):
        yield [v for part in nodes for v in part]


def _labels(tree, nodes):
    out = np.full(tree.n_samples, -1)
    for c, node in enumerate(nodes):
        for sample in range(tree.n_samples):
            out[sample] = c if sample == node or tree.is_below(sample, node) else out[sample]
    return out


def test_recon_cuts_its_tree_as_low_as_the_rules_allow_and_refuses_only_where_no_cut_is_legal():
    rng = np.random.default_rng(7)
    done = stuck = infeasible = 0
    for at in range(examples(100, 2000)):
        table, X, said, asked = _instance(rng, words={"must_link": at % 2, "cannot_link": at % 3})
        n = len(X)
        trio = [tuple(rng.choice(n, 3, replace=False).tolist()) for _ in range(rng.integers(0, 3))]
        known = table | Constraints.build(n, triplets=trio)
        k = int(rng.integers(1, n + 1))
        possible = all_labels(n)[holding(n, said, X, **asked) & (sizes(n) == k)]
        try:
            free = ReCon(k).fit(X, constraints=known.with_rules())
        except (InfeasibleConstraintsError, DeadEndError):
            continue
        tree = free.dendrogram_
        legal = [cut for cut in _cuts(tree) if len(cut) == k and _among(possible, _labels(tree, cut)).any()]
        try:
            model = _fit(ReCon(k), X, known)
        except InfeasibleConstraintsError:
            assert not legal
            infeasible += 1
            continue
        except DeadEndError:
            assert not legal, (known, k)
            stuck += 1
            continue
        done += 1
        assert model.certificate_.ok
        assert (model.dendrogram_.parent == tree.parent).all()

        def weight(cut, tree=tree):
            size = np.array([sum(s == v or tree.is_below(s, v) for s in range(tree.n_samples)) for v in cut])
            return float(tree.height[cut] @ size)

        assert weight(model.dendrogram_.marked) == pytest.approx(min(map(weight, legal)))
    assert min(done, infeasible) > 10
    assert stuck > 0


@pytest.mark.parametrize("method", [ConstrainedAgglomerative, ConstrainedCompleteLink])
def test_merging_under_links_and_the_rule_is_legal(method):
    rng = np.random.default_rng(8)
    infeasible, count = 0, examples(60, 2000)
    for _ in range(count):
        n = int(rng.integers(3, 8))
        said = draw_statements(rng, n, SAID)
        X = rng.random((n, 2))
        epsilon = float(rng.uniform(0.1, 0.9))
        table = Constraints.build(n, **said, rules=NeighborWithin(epsilon))
        k = int(rng.integers(1, n + 1))
        possible = all_labels(n)[holding(n, said, X, epsilon=epsilon) & (sizes(n) == k)]
        try:
            model = _fit(method(k), X, table)
        except InfeasibleConstraintsError:
            infeasible += 1
            assert not len(possible)
            continue
        assert _among(possible, model.labels_).any(), (table, k)
    assert count / 8 < infeasible < 7 * count / 8


@pytest.mark.parametrize("method", [ConstrainedAgglomerative, ConstrainedCompleteLink])
def test_dead_ends_under_links_and_the_rule_are_left_by_moving_samples(method):
    regrouped = repaired = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X, y = rng.random((40, 2)), rng.integers(0, 4, 40)
        pairs = rng.integers(0, 40, (60, 2))
        pairs = pairs[y[pairs[:, 0]] != y[pairs[:, 1]]]
        said = Constraints.build(40, cannot_link=pairs, rules=NeighborWithin(0.25))
        without = _fit(method(4), X, said.with_rules())
        model = _fit(method(4), X, said)
        assert model.certificate_.ok
        assert model.n_clusters_ == 4
        regrouped += model.dead_end_ is not None
        repaired += not verify(without.labels_, said, X=X).ok
    assert regrouped > 5
    assert repaired > 2


def test_complete_link_measures_neighbors_in_the_distances_given():
    """A must-link brings 0 and 9 together, but 8 is not within 1.5 of anything near 0."""
    X = np.array([[0.0], [1.0], [9.0], [10.0], [30.0]])
    said = Constraints.build(5, must_link=[(0, 3)], rules=NeighborWithin(1.5))
    model = ConstrainedCompleteLink(2).fit(X, constraints=said)
    assert model.labels_.tolist() == [0, 0, 0, 0, 1]
    with pytest.raises(DeadEndError, match="another n_clusters or linkage") as caught:
        ReCon(2).fit(X, constraints=Constraints.build(5, triplets=[(0, 4, 1)], rules=NeighborWithin(1.5)))
    assert "every cut was considered" in str(caught.value)


def test_bounds_on_sizes_decide_where_recon_cuts():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])
    rule = Constraints.build(6, triplets=[(0, 1, 3)], rules=SizeBetween(2))
    assert sorted(np.bincount(ReCon(2).fit(X, constraints=rule).labels_)) == [3, 3]
    with pytest.raises(DeadEndError, match="cuts that are have 1 to 2 clusters"):
        ReCon(3).fit(X, constraints=rule)
    with pytest.raises(UnsupportedConstraintError, match="min_cluster_size=2 does not keep SizeBetween"):
        ReCon(2, min_cluster_size=2).fit(X, constraints=rule)
    with pytest.raises(UnsupportedConstraintError, match="a distance_threshold does not keep SizeBetween"):
        ReCon(None, distance_threshold=1.0).fit(X, constraints=rule)
