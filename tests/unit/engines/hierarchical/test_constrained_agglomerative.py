"""Agglomeration under links and rules: nothing breaks, dead ends are reported, and each merge is the greedy one."""

from __future__ import annotations

import random
import warnings
from itertools import combinations, permutations
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.cluster.hierarchy import linkage as scipy_linkage
from sklearn.metrics import adjusted_rand_score

from linkwise import ConstrainedAgglomerative, ConstrainedCompleteLink, Constraints, Kind, ReCon, check, verify
from linkwise.constraints import MaxCentroidDistance, MinSeparation, NeighborWithin
from linkwise.engines.hierarchical import _dead_ends
from linkwise.exceptions import (
    DeadEndError,
    InfeasibleConstraintsError,
    LinkwiseError,
    LinkwiseWarning,
    UnsupportedConstraintError,
)
from linkwise.problem import Problem
from tests.oracles.agglomeration import greedy
from tests.oracles.trees import clades, displays, random_forest, refines, samples_below
from tests.profile import examples

LINKAGES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
every_linkage = pytest.mark.parametrize("linkage", LINKAGES)


def links(n, seed, *, must=0.3, cannot=0.6):
    """Draw links that a planted partition makes true, some of them touching the first and the last sample."""
    rng = np.random.default_rng(seed)
    y = rng.integers(int(rng.integers(2, 5)), size=n)
    pairs = rng.integers(n, size=(3 * n, 2))
    pairs = np.concatenate([pairs, [[0, n - 1], [0, n // 2], [n // 2, n - 1]]])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    must_link = pairs[same][: int(must * n)]
    cannot_link = pairs[~same][: int(cannot * n)]
    return must_link.tolist(), cannot_link.tolist(), y


def points(n, seed, *, grid=False):
    rng = np.random.default_rng(1_000 + seed)
    return rng.integers(0, 4, size=(n, 2)).astype(float) if grid else rng.normal(size=(n, 2))


def naive_groups(n, pairs):
    """Must-link components by relabeling, one pair at a time."""
    group = list(range(n))
    for a, b in pairs:
        group = [group[a] if g == group[b] else g for g in group]
    return group


def broken(labels, must, cannot):
    return [p for p in must if labels[p[0]] != labels[p[1]]] + [p for p in cannot if labels[p[0]] == labels[p[1]]]


# -- the campaign: zero violations ----------------------------------------------------------------------------------


def leaves_a_dead_end(model, X, said):
    """Fit below what greedy merging reaches: either it is infeasible, or samples are moved and all statements hold."""
    if check(said, n_clusters=model.n_clusters).status == "infeasible":
        with pytest.raises(InfeasibleConstraintsError):
            model.fit(X, constraints=said)
        return False
    with pytest.warns(LinkwiseWarning, match="greedy merging met a dead end"):
        model.fit(X, constraints=said)
    assert model.n_clusters_ == model.n_clusters
    assert verify(model.labels_, said).ok
    assert verify(model.dendrogram_, said).ok
    return True


def test_hard_statements_never_break():
    """Random feasible problems for both estimators; each checked by the certificate, `verify` and by definition."""
    forests = dead_ends = 0
    for seed in range(examples(150, 10_000)):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(3, 22))
        X = points(n, seed, grid=seed % 3 == 0)
        linkage = LINKAGES[seed % 7]

        must, cannot, _ = links(n, seed)
        said = Constraints.build(n, must_link=must, cannot_link=cannot)
        model = ConstrainedAgglomerative(None, linkage=linkage).fit(X, constraints=said)
        forests += model.k_min_ > 1
        most = len(set(naive_groups(n, must)))
        wanted = int(rng.integers(1, most + 1))
        for k in {model.k_min_, most, max(wanted, model.k_min_)}:
            model.set_params(n_clusters=k).fit(X, constraints=said)
            assert model.n_clusters_ == k
            assert broken(model.labels_, must, cannot) == [], f"seed {seed}"
            assert verify(model.labels_, said).ok, f"seed {seed}"
            assert verify(model.dendrogram_, said).ok, f"seed {seed}"
        if wanted < model.k_min_:
            dead_ends += leaves_a_dead_end(model.set_params(n_clusters=wanted), X, said)

        parent = random_forest(random.Random(seed), n, widest=3)
        triplets = [
            t
            for t in {tuple(rng.choice(n, size=3, replace=False).tolist()) for _ in range(2 * n)}
            if displays(n, parent, *t)
        ]
        said = Constraints.build(n, triplets=triplets)
        tree = ReCon(int(rng.integers(1, n + 1)), linkage=linkage).fit(X, constraints=said).dendrogram_
        groups = samples_below(n, tree.parent.tolist())
        assert all(any({a, b} <= g and c not in g for g in groups) for a, b, c in triplets), f"seed {seed}"
        assert verify(tree, said).ok, f"seed {seed}"
        assert tree.n_roots == 1
    assert forests > 20
    assert dead_ends > 3


# -- the greedy definition ------------------------------------------------------------------------------------------


@every_linkage
def test_the_tree_is_that_of_the_definition(linkage):
    for seed in range(examples(4, 1_500)):
        n = 4 + seed % 12
        X = points(n, seed)
        must, cannot, _ = links(n, seed)
        said = Constraints.build(n, must_link=must, cannot_link=cannot)
        model = ConstrainedAgglomerative(None, linkage=linkage).fit(X, constraints=said)
        pairs, heights = greedy(X, linkage, forced=naive_groups(n, must), forbidden=cannot)
        assert_array_equal(np.sort(model.children_, axis=1), np.sort(pairs, axis=1), err_msg=f"seed {seed}")
        assert_allclose(model.dendrogram_.raw_height[n:], heights, rtol=1e-9, atol=1e-12)
        assert model.k_min_ == n - len(pairs)


@every_linkage
def test_without_statements_it_is_scipys_linkage(linkage):
    X = points(40, 0)
    Z = scipy_linkage(X, linkage)
    model = ConstrainedAgglomerative(1, linkage=linkage).fit(X)
    assert_allclose(model.dendrogram_.raw_height[40:], Z[:, 2], rtol=1e-9)
    assert_array_equal(np.sort(model.children_, axis=1), np.sort(Z[:, :2].astype(int), axis=1))


@every_linkage
def test_merging_stops_only_when_no_pair_is_left(linkage):
    """P6: at the roots every two clusters are kept apart by a cannot-link, and no cut below breaks a statement."""
    for seed in range(examples(7, 1_000)):
        n = 12
        must, cannot, _ = links(n, seed, cannot=1.5)
        said = Constraints.build(n, must_link=must, cannot_link=cannot)
        model = ConstrainedAgglomerative(None, linkage=linkage).fit(points(n, seed), constraints=said)
        apart = {frozenset((model.labels_[a], model.labels_[b])) for a, b in cannot}
        assert apart >= {frozenset(p) for p in combinations(range(model.k_min_), 2)}
        for k in range(model.k_min_, len(set(naive_groups(n, must))) + 1):
            assert broken(model.dendrogram_.cut(n_clusters=k), must, cannot) == []


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_single_precision_keeps_the_promises(dtype):
    for seed in range(20):
        must, cannot, _ = links(15, seed)
        said = Constraints.build(15, must_link=must, cannot_link=cannot)
        model = ConstrainedAgglomerative(None, linkage=LINKAGES[seed % 7], dtype=dtype)
        labels = model.fit(points(15, seed), constraints=said).labels_
        reference = ConstrainedAgglomerative(None, linkage=LINKAGES[seed % 7]).fit(points(15, seed), constraints=said)
        assert broken(labels, must, cannot) == []
        assert_array_equal(labels, reference.labels_)


# -- dead ends ------------------------------------------------------------------------------------------------------

TRAP = np.array([[0.0], [6.0], [4.0], [4.1]])
TRAP_LINKS = Constraints.build(4, cannot_link=[(0, 1), (0, 2), (1, 3)])


@every_linkage
def test_the_smallest_dead_end(linkage):
    """P7: {0, 3}, {1, 2} would do, but the closest pair {2, 3} comes first and nothing can follow it."""
    with pytest.raises(DeadEndError, match="at 3 clusters, but 2 clusters were asked for") as caught:
        ConstrainedAgglomerative(2, linkage=linkage, dead_end="raise").fit(TRAP, constraints=TRAP_LINKS)
    assert "Hint: n_clusters=None or n_clusters=3 takes what there is" in str(caught.value)
    assert caught.value.k_min == 3
    assert clades(4, caught.value.dendrogram.parent.tolist()) == {frozenset({2, 3})}
    model = ConstrainedAgglomerative(None, linkage=linkage).fit(TRAP, constraints=TRAP_LINKS)
    assert model.labels_.tolist() == [0, 1, 2, 2]
    assert model.k_min_ == model.n_clusters_ == model.n_connected_components_ == 3


@pytest.mark.parametrize(
    ("linkage", "metric"),
    [(linkage, "euclidean") for linkage in LINKAGES] + [(linkage, "precomputed") for linkage in LINKAGES[:4]],
)
def test_a_dead_end_is_left_by_moving_samples(linkage, metric):
    """Both parts of the trap's one way out, each with a tree whose heights are those of the linkage."""
    X = distances(TRAP) if metric == "precomputed" else TRAP
    with pytest.warns(
        LinkwiseWarning, match=r"at 3 clusters; 1 of 4 samples was moved so that .* hold in 2 clusters\."
    ):
        model = ConstrainedAgglomerative(2, linkage=linkage, metric=metric).fit(X, constraints=TRAP_LINKS)
    assert model.labels_.tolist() == [0, 1, 1, 0]
    assert model.k_min_ == model.n_clusters_ == 2
    assert (model.dead_end_, model.n_regrouped_) == (3, 1)
    assert model.certificate_.ok
    assert sorted(model.dendrogram_.raw_height[4:].round(9).tolist()) == [2.0, 4.1]


def test_must_linked_groups_and_groups_apart_leave_a_dead_end_together():
    rng = np.random.default_rng(0)
    ends = 0
    for seed in range(examples(14, 2_000)):
        y = rng.integers(4, size=40)
        X = rng.normal(size=(40, 2)) + y[:, None] * 0.5
        same = [np.flatnonzero(y == c) for c in range(4)]
        together = [rng.choice(some, 3, replace=False).tolist() for some in same if len(some) > 3]
        apart = [[int(rng.choice(some)) for some in same if len(some)] for _ in range(12)]
        said = Constraints.build(40, together=together, apart=apart)
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            model = ConstrainedAgglomerative(4, linkage=LINKAGES[seed % 7]).fit(X, constraints=said)
        ends += any("dead end" in str(one.message) for one in heard)
        assert model.n_clusters_ == 4
        assert verify(model.labels_, said).ok
        assert verify(model.dendrogram_, said).ok
    assert ends > 10


@pytest.mark.parametrize("helped", [False, True], ids=["assignment", "witness"])
def test_delta_holds_where_a_dead_end_was_left(helped, monkeypatch):
    """Also where the assignment finds nothing by itself and goes on from the witness of the check."""
    if helped:
        whole = _dead_ends.assign
        nothing = SimpleNamespace(solved=False)
        monkeypatch.setattr(_dead_ends, "assign", lambda c, a, b: nothing if b is None else whole(c, a, b))
    ends = 0
    for seed in range(examples(20, 2_000)):
        X = points(16, seed)
        must, cannot, _ = links(16, seed, must=0.1, cannot=0.8)
        said = Constraints.build(16, must_link=must, cannot_link=cannot, rules=MinSeparation(0.2))
        model = fit_or_explain(X, said, LINKAGES[seed % 7])
        if model is None:
            continue
        for k in range(2, model.k_min_):
            if check(said, n_clusters=k, X=X).status != "feasible":
                continue
            with pytest.warns(LinkwiseWarning, match="met a dead end"):
                model.set_params(n_clusters=k).fit(X, constraints=said)
            ends += 1
            assert model.n_clusters_ == k
            assert broken(model.labels_, must, cannot) == []
            assert delta_holds(model.labels_, distances(X), 0.2)
    assert ends > 3


@pytest.mark.parametrize("matrix", [sp.csr_array, sp.csr_matrix, np.float32], ids=["array", "matrix", "float32"])
def test_dead_ends_of_other_kinds_of_samples(matrix):
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = rng.random((60, 8)) + np.eye(3)[y] @ rng.random((3, 8))
    pairs = rng.integers(60, size=(120, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    said = Constraints.build(60, must_link=pairs[same][:9], cannot_link=pairs[~same])
    for kind in (ConstrainedAgglomerative, ConstrainedCompleteLink):
        with pytest.warns(LinkwiseWarning, match="met a dead end"):
            model = kind(3, linkage="average", metric="cosine").fit(matrix(X), constraints=said)
        assert model.n_clusters_ == 3
        assert verify(model.labels_, said).ok


@every_linkage
def test_samples_stay_where_their_tree_is_but_for_those_in_the_way(linkage):
    """A close pair between two groups of fifty, one of it against each group: only one of the pair has to move."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 51)
    X = rng.normal(size=(102, 2)) * 0.1 + y[:, None]
    X[[50, 101]] = [[0.5, 0.5], [0.51, 0.5]]
    said = Constraints.build(102, cannot_link=[(0, 51), (0, 101), (51, 50)])
    forest = ConstrainedAgglomerative(None, linkage=linkage).fit(X, constraints=said).labels_
    assert (np.bincount(forest) == [50, 2, 50]).all()
    with pytest.warns(LinkwiseWarning, match="1 of 102 samples was moved"):
        model = ConstrainedAgglomerative(2, linkage=linkage).fit(X, constraints=said)
    assert model.labels_.tolist() == y.tolist()


@pytest.mark.parametrize("linkage", ["average", "ward"])
def test_what_was_merged_is_kept_and_the_moves_are_counted(linkage):
    ends = 0
    for seed in range(examples(30, 1_000)):
        rng = np.random.default_rng(seed)
        y = rng.integers(3, size=60)
        X = rng.normal(size=(60, 2)) + 2 * np.eye(3)[y][:, :2]
        must, cannot = pairs_of_classes(rng, y, 60)
        said = Constraints.build(60, must_link=must, cannot_link=cannot)
        forest = ConstrainedAgglomerative(None, linkage=linkage).fit(X, constraints=said)
        if forest.k_min_ <= 3:
            continue
        with pytest.warns(LinkwiseWarning, match="met a dead end"):
            model = ConstrainedAgglomerative(3, linkage=linkage).fit(X, constraints=said)
        home = _dead_ends.join_trees(X, "euclidean", forest.labels_, 3, Problem(X, said, n_clusters=3))
        assert refines(forest.labels_.tolist(), home.tolist())
        assert len(set(home.tolist())) == 3
        assert most_alike(home, model.labels_) >= 60 - model.n_regrouped_
        ends += 1
    assert ends > 5


def pairs_of_classes(rng, y, count):
    """Random pairs of samples, by whether they are of one class."""
    pairs = [p for p in rng.integers(len(y), size=(count, 2)).tolist() if p[0] != p[1]]
    return [p for p in pairs if y[p[0]] == y[p[1]]], [p for p in pairs if y[p[0]] != y[p[1]]]


def most_alike(one, other):
    """The number of samples that keep their label under the best renaming."""
    return max(sum(np.array(names)[one] == other) for names in permutations(range(other.max() + 1)))


def test_trees_that_say_little_are_given_up():
    """Cannot-links drive merging of overlapping groups astray; dividing all samples again finds the groups."""
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=600)
    X = rng.normal(size=(600, 6)) + 2.5 * np.eye(6)[y]
    must, cannot = pairs_of_classes(rng, y, 300)
    said = Constraints.build(600, must_link=must, cannot_link=cannot)
    with pytest.warns(LinkwiseWarning, match="met a dead end"):
        model = ConstrainedAgglomerative(3, linkage="ward").fit(X, constraints=said)
    forest = ConstrainedAgglomerative(None, linkage="ward").fit(X, constraints=said).labels_
    home = _dead_ends.join_trees(X, "euclidean", forest, 3, Problem(X, said, n_clusters=3))
    assert adjusted_rand_score(y, model.labels_) > adjusted_rand_score(y, home) + 0.1
    assert model.n_regrouped_ > 30


@pytest.mark.parametrize("kinds", [("must_link", "cannot_link"), ("apart",), ("together", "apart")])
def test_neighbors_decide_between_two_ways_out(kinds):
    """Labels that follow the data tell linked samples apart, labels at random do not, whatever kinds there are."""
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1, 2], 20)
    X = rng.normal(size=(60, 2)) * 0.2 + np.eye(3)[y][:, :2]
    statements = {
        "must_link": [(0, 5), (21, 30)],
        "cannot_link": [(0, 25), (3, 45), (30, 50)],
        "together": [[1, 2, 3], [41, 42]],
        "apart": [[0, 25, 45], [5, 30, 50], [4, 33]],
    }
    said = Constraints.build(60, **{kind: statements[kind] for kind in kinds})
    shuffled = rng.permutation(y)
    for source, metric in ((X, "euclidean"), (distances(X), "precomputed")):
        problem = Problem(X, said, n_clusters=3)
        assert _dead_ends._prefers(source, metric, problem, y, shuffled)
        assert not _dead_ends._prefers(source, metric, problem, shuffled, y)
        assert _dead_ends._prefers(source, metric, problem, y, y)
    rows = _dead_ends.stated(problem)[0]
    far = distances(X)[rows]
    far[np.arange(len(rows)), rows] = np.inf
    near = np.argsort(far, axis=1)[:, :12]
    near[:, -1] = -1  # fewer are known
    assert _dead_ends._prefers(X, "euclidean", problem, y, shuffled, near)
    assert not _dead_ends._prefers(X, "euclidean", problem, shuffled, y, near)


def test_trees_are_joined_where_few_cannot_links_and_short_ways_are_between_them():
    X = np.array([[0.0], [0.1], [3.0], [3.1], [9.0], [9.1]])
    trees = np.array([0, 0, 1, 1, 2, 2])
    few = Constraints.build(6, cannot_link=[(0, 2), (0, 4), (2, 4)])
    many = Constraints.build(6, cannot_link=[(0, 2), (0, 3), (1, 2), (1, 3), (0, 4), (2, 4)])
    groups = Constraints.build(6, apart=[[0, 2, 4], [1, 3]], cannot_link=[(1, 2), (0, 3)])
    for said, joined in ((few, [0, 0, 0, 0, 1, 1]), (many, [0, 0, 1, 1, 1, 1]), (groups, [0, 0, 1, 1, 1, 1])):
        for linked in (said, said | Constraints.build(6, must_link=[(4, 5)])):
            problem = Problem(X, linked, n_clusters=2)
            assert _dead_ends.join_trees(X, "euclidean", trees, 2, problem).tolist() == joined
            assert _dead_ends.join_trees(distances(X), "precomputed", trees, 2, problem).tolist() == joined


def test_what_the_search_leaves_open_stays_a_dead_end(monkeypatch):
    monkeypatch.setattr(_dead_ends, "regroup", lambda *_: None)
    with pytest.raises(DeadEndError, match="greedy merging met a dead end"):
        ConstrainedAgglomerative(2).fit(TRAP, constraints=TRAP_LINKS)


def test_the_trap_is_feasible_and_another_geometry_escapes_it():
    assert broken([0, 1, 1, 0], [], [(0, 1), (0, 2), (1, 3)]) == []
    X = np.array([[0.0], [6.0], [5.0], [1.0]])
    assert ConstrainedAgglomerative(2).fit(X, constraints=TRAP_LINKS).labels_.tolist() == [0, 1, 1, 0]


def test_what_no_run_could_reach_is_called_infeasible_instead():
    triangle = Constraints.build(4, cannot_link=[(0, 1), (0, 2), (1, 2)])
    with pytest.raises(InfeasibleConstraintsError, match="3 groups of samples are pairwise apart"):
        ConstrainedAgglomerative(2).fit(TRAP, constraints=triangle)
    cycle = Constraints.build(5, cannot_link=[(i, (i + 1) % 5) for i in range(5)])  # odd, so three colors, no triangle
    with pytest.raises(InfeasibleConstraintsError, match="joins a pair that must be apart"):
        ConstrainedAgglomerative(2).fit(points(5, 0), constraints=cycle)


# -- forests and cuts -----------------------------------------------------------------------------------------------


def test_labels_are_the_marked_cut_of_the_forest():
    for seed in range(30):
        must, cannot, _ = links(14, seed)
        said = Constraints.build(14, must_link=must, cannot_link=cannot)
        model = ConstrainedAgglomerative(None).fit(points(14, seed), constraints=said)
        for k in range(model.k_min_, len(set(naive_groups(14, must))) + 1):
            model.set_params(n_clusters=k).fit(points(14, seed), constraints=said)
            tree = model.dendrogram_
            below = samples_below(14, tree.parent.tolist())
            marked = {below[node] for node in tree.marked}
            assert marked == {frozenset(np.flatnonzero(model.labels_ == c).tolist()) for c in range(k)}
            assert tree.satisfies(said).all()


@every_linkage
def test_a_distance_threshold_cuts_the_forest_at_that_height(linkage):
    X = points(20, 3)
    must, cannot, _ = links(20, 3)
    said = Constraints.build(20, must_link=must, cannot_link=cannot)
    whole = ConstrainedAgglomerative(None, linkage=linkage).fit(X, constraints=said)
    for t in [0.0, *np.quantile(whole.distances_, [0.3, 0.6]), 1e9]:
        model = ConstrainedAgglomerative(None, linkage=linkage, distance_threshold=t).fit(X, constraints=said)
        assert_array_equal(model.labels_, whole.dendrogram_.cut(height=t))
        assert broken(model.labels_, must, cannot) == []
    assert model.n_clusters_ == whole.k_min_
    nearest = ConstrainedAgglomerative(None, linkage=linkage, distance_threshold=0.0).fit(X, constraints=said)
    assert nearest.n_clusters_ == len(set(naive_groups(20, must)))


def test_a_forest_has_no_linkage_matrix_and_says_why():
    model = ConstrainedAgglomerative(None).fit(TRAP, constraints=TRAP_LINKS)
    with pytest.raises(LinkwiseError, match=r"Hint"):
        model.dendrogram_.to_linkage()


def test_everything_must_linked_is_one_cluster_at_height_zero():
    said = Constraints.build(6, must_link=[(i, i + 1) for i in range(5)])
    model = ConstrainedAgglomerative(1).fit(points(6, 0), constraints=said)
    assert not model.distances_.any()
    assert model.labels_.tolist() == [0] * 6


def test_everything_apart_stays_apart():
    said = Constraints.build(5, cannot_link=list(combinations(range(5), 2)))
    model = ConstrainedAgglomerative(5).fit(points(5, 0), constraints=said)
    assert model.labels_.tolist() == [0, 1, 2, 3, 4]
    assert model.children_.shape == (0, 2)


def test_must_links_hold_for_every_order_of_duplicated_rows():
    """C4: duplicates of a must-linked sample are not must-linked themselves."""
    values = np.array([0.0, 5.0, 0.0, 9.0])
    for seed in range(24):
        order = np.random.default_rng(seed).permutation(4)
        said = Constraints.build(4, must_link=[(0, 1)], cannot_link=[(2, 1)])[order]
        labels = ConstrainedAgglomerative(2, linkage="complete").fit(values[order, None], constraints=said).labels_
        assert verify(labels, said).ok


# -- rules ----------------------------------------------------------------------------------------------------------


def distances(X):
    return np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))


def delta_holds(labels, D, delta):
    return all(labels[i] == labels[j] for i, j in combinations(range(len(D)), 2) if D[i, j] < delta)


def epsilon_holds(labels, D, epsilon):
    for i in range(len(D)):
        mates = [j for j in range(len(D)) if j != i and labels[j] == labels[i]]
        if mates and min(D[i, j] for j in mates) > epsilon:
            return False
    return True


def gamma_holds(tree, X, gamma, group):
    """Every merge inside the forest that joins different forced groups joins centroids within gamma."""
    below = samples_below(len(X), tree.parent.tolist())
    for node in range(len(X), len(below)):
        first, second = (sorted(below[v]) for v in np.flatnonzero(tree.parent == node))
        gap = np.linalg.norm(X[first].mean(axis=0) - X[second].mean(axis=0))
        if len({group[i] for i in (*first, *second)}) > 1 and gap > gamma * (1 + 1e-9):
            return False
    return True


def fit_or_explain(X, said, linkage):
    """Fit without a wanted number of clusters; None when an error explained why not."""
    try:
        return ConstrainedAgglomerative(None, linkage=linkage).fit(X, constraints=said)
    except (InfeasibleConstraintsError, DeadEndError):
        return None


@every_linkage
@pytest.mark.parametrize("grid", [False, True], ids=["points", "grid"])
def test_delta_separates_clusters(linkage, grid):
    fitted = 0
    for seed in range(examples(4, 800)):
        X = points(14, seed, grid=grid)
        must, cannot, _ = links(14, seed, must=0.1, cannot=0.2)
        delta = 1.0 if grid else 0.3
        said = Constraints.build(14, must_link=must, cannot_link=cannot, rules=MinSeparation(delta))
        close = [(i, j) for i, j in combinations(range(14), 2) if distances(X)[i, j] < delta]
        group = naive_groups(14, must + close)
        possible = not broken(group, [], cannot)
        model = fit_or_explain(X, said, linkage)
        assert (model is not None) == possible, f"seed {seed}"
        if model is not None:
            fitted += 1
            assert delta_holds(model.labels_, distances(X), delta)
            assert broken(model.labels_, must, cannot) == []
            k = len(set(group))
            model.set_params(n_clusters=k).fit(X, constraints=said)
            assert delta_holds(model.labels_, distances(X), delta)
            if k < 14:
                with pytest.raises(InfeasibleConstraintsError):
                    model.set_params(n_clusters=k + 1).fit(X, constraints=said)
    assert fitted > 3


@every_linkage
@pytest.mark.parametrize("grid", [False, True], ids=["points", "grid"])
def test_epsilon_gives_every_sample_a_neighbor(linkage, grid):
    fitted = 0
    for seed in range(examples(6, 800)):
        X = points(12, seed, grid=grid)
        must, cannot, _ = links(12, seed, must=0.1, cannot=0.3)
        epsilon = 1.0 if grid else 0.8
        said = Constraints.build(12, must_link=must, cannot_link=cannot, rules=NeighborWithin(epsilon))
        model = fit_or_explain(X, said, linkage)
        if model is None:
            continue
        fitted += 1
        for k in range(model.k_min_, 13):
            try:
                labels = model.set_params(n_clusters=k).fit(X, constraints=said).labels_
            except (DeadEndError, InfeasibleConstraintsError):
                break
            assert epsilon_holds(labels, distances(X), epsilon), f"seed {seed}, k {k}"
            assert broken(labels, must, cannot) == []
    assert fitted > 3


def test_epsilon_enlarges_must_linked_groups_until_everyone_has_a_neighbor():
    X = np.array([[0.0], [1.0], [10.0], [11.0], [50.0]])
    said = Constraints.build(5, must_link=[(0, 2)], rules=NeighborWithin(2.0))
    model = ConstrainedAgglomerative(2).fit(X, constraints=said)
    assert model.labels_.tolist() == [0, 0, 0, 0, 1]
    with pytest.raises(InfeasibleConstraintsError, match=r"with 3 clusters follows NeighborWithin"):
        ConstrainedAgglomerative(3).fit(X, constraints=said)
    X = np.concatenate([X, 100.0 * np.arange(1, 17)[:, None]])  # too many for a proof by enumeration
    said = Constraints.build(21, must_link=[(0, 2)], rules=NeighborWithin(2.0))
    with pytest.raises(DeadEndError, match=r"joining samples into 18 clusters, but 19 were asked for") as caught:
        ConstrainedAgglomerative(19).fit(X, constraints=said)
    assert caught.value.dendrogram.n_roots == caught.value.k_min == 18


def test_where_a_rule_about_merges_ends_them_no_samples_are_moved():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    said = Constraints.build(4, rules=MaxCentroidDistance(2.0))
    with pytest.raises(DeadEndError, match="at 2 clusters, but 1 cluster was asked for") as caught:
        ConstrainedAgglomerative(1).fit(X, constraints=said)
    assert caught.value.dendrogram.n_roots == caught.value.k_min == 2


def test_epsilon_and_a_cannot_link_can_leave_no_neighbor():
    X = np.array([[0.0], [1.0], [10.0], [11.0]])
    said = Constraints.build(4, must_link=[(0, 2)], cannot_link=[(0, 1)], rules=NeighborWithin(2.0))
    with pytest.raises(InfeasibleConstraintsError):
        ConstrainedAgglomerative(None).fit(X, constraints=said)
    X = np.concatenate([X, 100.0 * np.arange(1, 17)[:, None]])  # too many for a proof by enumeration
    said = Constraints.build(20, must_link=[(0, 2)], cannot_link=[(0, 1)], rules=NeighborWithin(2.0))
    with pytest.raises(DeadEndError, match=r"every sample within epsilon=2 of it is in a cluster it cannot join"):
        ConstrainedAgglomerative(None).fit(X, constraints=said)


def test_a_must_linked_sample_without_any_neighbor_is_infeasible():
    X = np.array([[0.0], [1.0], [50.0]])
    said = Constraints.build(3, must_link=[(0, 2)], rules=NeighborWithin(2.0))
    with pytest.raises(InfeasibleConstraintsError, match="sample 2 has no other sample near enough") as caught:
        ConstrainedAgglomerative(None).fit(X, constraints=said)
    assert caught.value.explanation.core == (0,)


@every_linkage
def test_gamma_limits_every_merge(linkage):
    for seed in range(examples(4, 800)):
        X = points(14, seed)
        must, cannot, _ = links(14, seed, must=0.2, cannot=0.2)
        said = Constraints.build(14, must_link=must, cannot_link=cannot, rules=MaxCentroidDistance(0.9))
        model = ConstrainedAgglomerative(None, linkage=linkage).fit(X, constraints=said)
        assert gamma_holds(model.dendrogram_, X, 0.9, naive_groups(14, must)), f"seed {seed}"
        assert broken(model.labels_, must, cannot) == []
        for a, b in combinations(range(model.k_min_), 2):  # no legal merge is left
            A, B = (model.labels_ == v for v in (a, b))
            far = np.linalg.norm(X[A].mean(axis=0) - X[B].mean(axis=0)) > 0.9
            assert far or any({model.labels_[i], model.labels_[j]} == {a, b} for i, j in cannot)


@every_linkage
def test_rules_together_follow_the_definition(linkage):
    for seed in range(examples(4, 500)):
        X = points(11, seed)
        must, cannot, _ = links(11, seed, must=0.2, cannot=0.2)
        said = Constraints.build(11, must_link=must, cannot_link=cannot, rules=MaxCentroidDistance(1.0))
        model = ConstrainedAgglomerative(None, linkage=linkage).fit(X, constraints=said)
        pairs, heights = greedy(X, linkage, forced=naive_groups(11, must), forbidden=cannot, gamma=1.0)
        assert_array_equal(np.sort(model.children_, axis=1), np.sort(pairs, axis=1), err_msg=f"seed {seed}")
        assert_allclose(model.dendrogram_.raw_height[11:], heights, rtol=1e-9, atol=1e-12)
        said = Constraints.build(11, cannot_link=cannot, rules=[NeighborWithin(0.9), MaxCentroidDistance(1.5)])
        model = ConstrainedAgglomerative(None, linkage=linkage).fit(X, constraints=said)
        pairs, _ = greedy(X, linkage, forbidden=cannot, gamma=1.5, epsilon=0.9)
        assert_array_equal(np.sort(model.children_, axis=1), np.sort(pairs, axis=1), err_msg=f"seed {seed}")


def test_of_several_rules_of_a_kind_the_strictest_counts():
    X = points(15, 1)
    for strict, loose in (
        (MinSeparation(0.5), MinSeparation(0.2)),
        (NeighborWithin(0.4), NeighborWithin(0.9)),
        (MaxCentroidDistance(0.5), MaxCentroidDistance(1.5)),
    ):
        alone = ConstrainedAgglomerative(None).fit(X, constraints=Constraints.build(15, rules=strict))
        for rules in ([strict, loose], [loose, strict]):
            both = ConstrainedAgglomerative(None).fit(X, constraints=Constraints.build(15, rules=rules))
            assert_array_equal(both.labels_, alone.labels_)
            assert [held for _, held in both.certificate_.rules] == [True, True]


@pytest.mark.parametrize("metric", ["cityblock", "cosine", "precomputed"])
def test_gamma_is_about_euclidean_centroids_only(metric):
    said = Constraints.build(6, rules=MaxCentroidDistance(1.0))
    X = distances(points(6, 0)) if metric == "precomputed" else points(6, 0)
    with pytest.raises(UnsupportedConstraintError, match=r"Euclidean vectors.*\nHint: pass dense vectors") as caught:
        ConstrainedAgglomerative(None, metric=metric).fit(X, constraints=said)
    assert caught.value.kinds == ("MaxCentroidDistance",)


@pytest.mark.parametrize("metric", ["cityblock", "chebyshev", "precomputed", "callable"])
def test_delta_and_epsilon_go_with_any_metric(metric):
    X = points(12, 4)
    far = {
        "cityblock": lambda a, b: np.abs(a - b).sum(),
        "chebyshev": lambda a, b: np.abs(a - b).max(),
        "precomputed": lambda a, b: np.sqrt(((a - b) ** 2).sum()),
        "callable": lambda a, b: np.sqrt(np.abs(a - b)).sum(),
    }[metric]
    D = np.array([[far(a, b) for b in X] for a in X])
    given = {"metric": far if metric == "callable" else metric}
    source = D if metric == "precomputed" else X
    said = Constraints.build(12, rules=[MinSeparation(0.4), NeighborWithin(1.2)])
    model = ConstrainedAgglomerative(None, **given).fit(source, constraints=said)
    assert delta_holds(model.labels_, D, 0.4)
    assert epsilon_holds(model.labels_, D, 1.2)
    assert all(held for _, held in model.certificate_.rules)


# -- soft statements ------------------------------------------------------------------------------------------------


def test_soft_statements_are_dropped_only_when_they_contradict():
    dropped = kept = 0
    for seed in range(examples(14, 1_000)):
        rng = np.random.default_rng(seed)
        must = [tuple(rng.choice(8, size=2, replace=False).tolist()) for _ in range(4)]
        cannot = [tuple(rng.choice(8, size=2, replace=False).tolist()) for _ in range(4)]
        said = Constraints.build(8, must_link=must, cannot_link=cannot, weight=rng.integers(1, 9, size=8))
        possible = not broken(naive_groups(8, must), [], cannot)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = ConstrainedAgglomerative(None).fit(points(8, seed), constraints=said)
        assert bool(caught) != possible
        left = model.constraints_
        assert broken(model.labels_, left.of(Kind.MUST_LINK).tolist(), left.of(Kind.CANNOT_LINK).tolist()) == []
        assert (left.n_statements == 8) == possible
        for i in set(range(8)) - set(left.row.tolist()):  # putting a dropped one back breaks it
            again = [*left.row.tolist(), i]
            group = naive_groups(8, [must[r] for r in again if r < 4])
            assert broken(group, [], [cannot[r - 4] for r in again if r >= 4])
        kept += possible
        dropped += not possible
    assert kept > 3
    assert dropped > 3
