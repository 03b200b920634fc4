"""SparseAgglomerative: exact Ward where all are neighbors, statements of all kinds, dead ends, rounds, and words."""

from __future__ import annotations

import re

import numpy as np
import pytest
import scipy.sparse
from scipy.cluster.hierarchy import linkage
from sklearn.datasets import make_blobs

from linkwise import ConstrainedAgglomerative, Constraints, COPKMeans, ReCon, SparseAgglomerative, _memory, cluster
from linkwise._messages import in_shell
from linkwise._threads import threads_at_most
from linkwise.engines import nearest_neighbors, progress
from linkwise.engines.hierarchical.sparse import _estimator
from linkwise.exceptions import (
    DeadEndError,
    InfeasibleConstraintsError,
    InvalidArgumentError,
    LinkwiseError,
    MemoryLimitError,
)
from linkwise.metrics import adjusted_rand
from tests.profile import examples

pytestmark = pytest.mark.filterwarnings("ignore:greedy merging met a dead end")


def _everyone(n):
    return np.array([[j for j in range(n) if j != i] for i in range(n)])


def test_with_all_others_as_neighbors_the_tree_is_that_of_ward_linkage():
    for seed in range(examples(10, 200)):
        X = np.random.default_rng(seed).normal(size=(60, 3))
        model = SparseAgglomerative(4, top=1).fit(X, neighbors=_everyone(60))
        np.testing.assert_allclose(np.sort(model.distances_), linkage(X, "ward")[:, 2], rtol=1e-9)
        exact = ConstrainedAgglomerative(4, linkage="ward").fit(X)
        assert adjusted_rand(exact.labels_, model.labels_) == 1
        assert SparseAgglomerative(4, top=1, n_neighbors=59).fit(X).labels_.tolist() == model.labels_.tolist()


def test_hierarchies_of_many_clusters_left_are_exact():
    X = np.random.default_rng(3).normal(size=(80, 2))
    model = SparseAgglomerative(5, top=80).fit(X)
    exact = ConstrainedAgglomerative(5, linkage="ward").fit(X)
    np.testing.assert_allclose(np.sort(model.distances_), np.sort(exact.distances_))
    assert model.labels_.tolist() == exact.labels_.tolist()


def _statements(rng, n, y, kinds):
    a, b, c = rng.integers(0, n, (3, 300))
    some = (a != b) & (a != c) & (b != c)
    a, b, c = a[some], b[some], c[some]
    same = y[a] == y[b]
    trio = same & (y[c] != y[a])
    given = {}
    if "pairs" in kinds:
        given["must_link"] = np.column_stack([a[same], b[same]])[:12]
        given["cannot_link"] = np.column_stack([a[~same], b[~same]])[:20]
    if "apart" in kinds:
        given["apart"] = [[int(rng.choice(np.flatnonzero(y == q))) for q in np.unique(y)[:3]] for _ in range(5)]
    if "triplets" in kinds:
        given["triplets"] = np.column_stack([a[trio], b[trio], c[trio]])[:12]
    return Constraints.build(n, **given)


@pytest.mark.parametrize("kinds", ["pairs", "apart", "pairs apart", "triplets", "pairs triplets"])
def test_statements_hold_also_against_the_data(kinds):
    ended = 0
    for seed in range(examples(16, 200)):
        rng = np.random.default_rng(seed)
        n, k = int(rng.integers(50, examples(200, 400))), 4
        y = rng.integers(0, k, n)
        X = rng.normal(0, 2, (k, 3))[y if seed % 3 else rng.permutation(y)] + rng.normal(size=(n, 3))
        X = np.round(X) if seed % 4 == 0 else X
        model = SparseAgglomerative(k, n_neighbors=int(rng.integers(1, 8)), top=int(rng.integers(1, 60)))
        try:
            model.fit(X, constraints=_statements(rng, n, y, kinds))
        except DeadEndError:
            ended += 1
            continue
        assert model.certificate_.ok
        assert model.n_clusters_ == k == len(np.unique(model.labels_))
        assert adjusted_rand(model.dendrogram_.cut_marked(), model.labels_) == 1
    assert ended == 0 or "triplets" in kinds


def test_a_group_that_triplets_divide_lies_where_they_name_it():
    """Sample 3 is in the group of 0, 1 and 2, and no triplet names it: it follows 0, though it lies beside 2."""
    X = np.array([[0.0], [1.0], [10.0], [10.1], [50.0], [51.0]])
    known = Constraints.build(6, together=[range(4)], triplets=[(0, 1, 2)])
    model = SparseAgglomerative(2).fit(X, constraints=known)
    assert model.certificate_.ok
    assert model.dendrogram_.satisfies(known).all()
    assert model.labels_.tolist() == [0, 0, 0, 0, 1, 1]


def test_groups_that_triplets_divide_keep_all_statements():
    fitted = 0
    for seed in range(examples(40, 400)):
        rng = np.random.default_rng(seed)
        n, top = 24, int(rng.integers(2, 25))
        X = rng.normal(size=(n, 2))
        order = rng.permutation(n)  # a caterpillar: each trio has its last in this order outside
        trios = np.sort(np.array([rng.choice(n, 3, replace=False) for _ in range(12)]), axis=1)
        known = Constraints.build(n, together=[order[:10], order[12:16]], triplets=order[trios])
        try:
            model = SparseAgglomerative(2, top=top, random_state=seed).fit(X, constraints=known)
        except DeadEndError:
            continue
        fitted += 1
        assert model.dendrogram_.satisfies(known).all()
    assert fitted > 20


@pytest.mark.parametrize("n", [300, 1500, examples(3000, 30_000)])
def test_the_same_for_any_number_of_threads_and_again(monkeypatch, n):
    monkeypatch.setattr("linkwise.engines.hierarchical.sparse._cell_search.EXACT", 100)
    X, y = make_blobs(n, centers=5, n_features=4, cluster_std=2.0, random_state=0)
    known = _statements(np.random.default_rng(0), n, y, "pairs")
    trees = []
    for threads in (1, 2, 4):
        with threads_at_most(threads):
            model = SparseAgglomerative(5, top=100).fit(X, constraints=known)
        trees.append(
            (model.dendrogram_.parent.tobytes(), model.dendrogram_.raw_height.tobytes(), model.labels_.tobytes())
        )
    assert trees[0] == trees[1] == trees[2]
    assert adjusted_rand(y, model.labels_) > 0.8
    assert 0.85 < model.audit_.recall <= 1
    assert 0.5 < model.audit_.nearest_seen <= 1
    assert model.audit_.stretch >= 1


def test_dead_ends_are_left_or_raised():
    rng = np.random.default_rng(0)
    X, y = make_blobs(300, centers=4, cluster_std=4.0, random_state=0)
    known = _statements(rng, 300, rng.permutation(y), "pairs apart")
    with pytest.warns(match="dead end"):
        model = SparseAgglomerative(4, top=30).fit(X, constraints=known)
    assert model.certificate_.ok
    assert model.dead_end_ > 4
    assert model.n_regrouped_ >= 0
    assert model.dendrogram_.n_roots >= 4
    with pytest.raises(DeadEndError, match="no legal merge was left"):
        SparseAgglomerative(4, top=30, dead_end="raise").fit(X, constraints=known)


def test_neighbors_are_searched_again_where_they_lead_nowhere(monkeypatch):
    monkeypatch.setattr(_estimator, "MOST_CLUSTERS", 20)
    X, y = make_blobs(200, centers=[[0, 0], [9, 0], [0, 9], [9, 9]], random_state=0)
    model = SparseAgglomerative(4, n_neighbors=1, top=10).fit(X)
    assert model.audit_.rounds > 1
    assert adjusted_rand(y, model.labels_) > 0.9
    every = [(i, j) for i in range(60) for j in range(i)]
    with pytest.raises(LinkwiseError, match=r"keep 6\d clusters apart after 4 rounds, and at most 20 can be"):
        SparseAgglomerative(None, top=10).fit(X, constraints=Constraints.build(200, cannot_link=every))


def test_too_many_named_samples_are_refused_at_once_with_a_way_out_that_works_when_typed(monkeypatch):
    monkeypatch.setattr(_estimator, "MOST_CLUSTERS", 20)
    monkeypatch.setattr(_estimator, "find_distinct", _reached)  # nothing is searched before
    X, y = make_blobs(60, centers=3, random_state=0)
    own, other = ([np.flatnonzero((y == c) == same) for c in range(3)] for same in (True, False))
    trios = [(own[c][i], own[c][i + 1], other[c][i]) for c in range(3) for i in range(9)]
    known = Constraints.build(60, triplets=trios)
    with pytest.raises(LinkwiseError, match=r"triplets name \d+ samples, and at most 20 can be compared") as caught:
        SparseAgglomerative(3, top=10).fit(X, constraints=known)
    typed = re.search(r"Hint: (ReCon\(n_clusters, .*?\)),", str(caught.value))[1]
    assert eval(typed, {"ReCon": ReCon, "n_clusters": 3}).fit(X, constraints=known).certificate_.ok


def test_more_clusters_than_are_usually_compared_can_be_asked_for_or_kept_apart(monkeypatch):
    monkeypatch.setattr(_estimator, "MOST_CLUSTERS", 20)
    X, _ = make_blobs(200, centers=4, random_state=0)
    model = SparseAgglomerative(90, top=10).fit(X)
    assert model.n_clusters_ == model.audit_.n_clusters == 90
    assert model.audit_.rounds == 1
    apart = Constraints.build(200, apart=[range(60)])
    model = SparseAgglomerative(None, top=10).fit(X, constraints=apart)
    assert model.certificate_.ok
    assert model.n_clusters_ >= 60


def test_cuts_at_a_height():
    X, _ = make_blobs(200, centers=3, random_state=1)
    model = SparseAgglomerative(None, distance_threshold=20.0, top=30).fit(X)
    assert model.labels_.tolist() == model.dendrogram_.cut(height=20.0).tolist()
    assert SparseAgglomerative(None, top=30).fit(X).n_clusters_ == 1
    trio = Constraints.build(200, triplets=[(0, 1, 2)])
    with pytest.raises(InvalidArgumentError, match="does not go together with triplets"):
        SparseAgglomerative(None, distance_threshold=1.0).fit(X, constraints=trio)


def test_given_neighbors_may_be_a_table_or_a_graph():
    X, _ = make_blobs(120, centers=3, random_state=1)
    index, squared = nearest_neighbors(X, 10)
    table = SparseAgglomerative(3, top=20).fit(X, neighbors=index)
    own = SparseAgglomerative(3, top=20).fit(X)
    rows = np.repeat(np.arange(120), 10)
    graph = scipy.sparse.csr_matrix((squared.ravel() + 1, (rows, index.ravel())), shape=(120, 120))
    for model in (own, SparseAgglomerative(3, top=20).fit(X, neighbors=graph)):
        assert model.dendrogram_.parent.tolist() == table.dendrogram_.parent.tolist()
    assert np.isnan(table.audit_.recall)
    for wrong in (index[:5], index.astype(float), index + 100, np.zeros((120, 0), dtype=int), graph[:, :5]):
        with pytest.raises(InvalidArgumentError, match="neighbors"):
            SparseAgglomerative(3).fit(X, neighbors=wrong)
    assert "_neighbors" not in vars(table)


@pytest.mark.parametrize("X", [np.zeros((7, 2)), np.ones((2, 1)), np.arange(5.0)[:, None]])
def test_equal_rows_and_few_rows(X):
    model = SparseAgglomerative(2, top=1, n_neighbors=3).fit(X)
    assert model.n_clusters_ == 2
    split = Constraints.build(len(X), cannot_link=[(0, len(X) - 1)])
    assert SparseAgglomerative(2).fit(X, constraints=split).certificate_.ok


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_copies_of_a_row_meet_at_height_0(offset):
    X = np.repeat(np.random.default_rng(0).normal(size=(20, 4)), 30, axis=0) + offset
    model = SparseAgglomerative(None, distance_threshold=0, top=50).fit(X)
    assert model.labels_.tolist() == np.repeat(np.unique(model.labels_, return_index=True)[1].argsort(), 30).tolist()
    assert model.n_clusters_ == 20


def test_sparse_rows_are_refused_with_a_way_out_that_it_has():
    X = scipy.sparse.csr_array(np.eye(5))
    with pytest.raises(TypeError, match=r"SparseAgglomerative needs dense X[\s\S]*TruncatedSVD"):
        SparseAgglomerative(2).fit(X)


def test_one_row_and_impossible_numbers():
    assert SparseAgglomerative(1).fit([[1.0, 2.0]]).labels_.tolist() == [0]
    with pytest.raises(LinkwiseError, match="n_clusters=3"):
        SparseAgglomerative(3).fit([[1.0], [2.0]])
    joined = Constraints.build(4, must_link=[(0, 1), (1, 2)])
    with pytest.raises(InfeasibleConstraintsError):
        SparseAgglomerative(3).fit(np.eye(4), constraints=joined)


def test_the_front_door_takes_it_for_many_rows(monkeypatch):
    monkeypatch.setattr("linkwise._memory.MATRIX", 100)
    X, y = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    found = cluster(X)
    assert type(found.estimator) is SparseAgglomerative
    assert found.n_clusters == 3
    assert any("of neighbors were found" in reason for reason in found.reasons)
    trio = Constraints.build(150, triplets=[(*np.flatnonzero(y == 0)[:2], np.flatnonzero(y == 1)[0])])
    assert type(cluster(X, trio, 3, effort="quick").estimator) is SparseAgglomerative
    assert type(cluster(X, linkage="ward").estimator) is ConstrainedAgglomerative
    assert (
        type(cluster(X, method="SparseAgglomerative", n_clusters=3, params={"top": 20}).estimator)
        is SparseAgglomerative
    )


def _cost(X, labels):
    return sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in range(labels.max() + 1))


@pytest.mark.parametrize("said", [False, True])
def test_refined_clusters_cost_no_more_than_those_of_k_means_and_have_trees(said):
    X, y = make_blobs(600, centers=6, n_features=4, cluster_std=3.5, random_state=1)
    rng = np.random.default_rng(0)
    known = _statements(rng, 600, y, "pairs") if said else Constraints.build(600)
    plain = SparseAgglomerative(6, top=60, dead_end="regroup").fit(X, constraints=known)
    model = SparseAgglomerative(6, top=60, refine=True).fit(X, constraints=known)
    peer = COPKMeans(6, random_state=0).fit(X, constraints=known)
    assert model.refined_ > 0
    assert _cost(X, model.labels_) <= 1.01 * min(peer.inertia_, _cost(X, plain.labels_))
    assert np.isclose(1 - _cost(X, model.labels_) / _cost(X, plain.labels_), model.refined_)
    assert model.certificate_.ok
    assert model.n_clusters_ == 6
    assert adjusted_rand(model.dendrogram_.cut_marked(), model.labels_) == 1.0
    if not said:
        assert model.dendrogram_.n_roots == 1


def test_clusters_that_are_apart_stay_those_of_the_tree():
    X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    plain, model = (SparseAgglomerative(3, top=20, refine=one).fit(X) for one in (False, True))
    assert model.refined_ is None
    assert model.dendrogram_.parent.tolist() == plain.dendrogram_.parent.tolist()


def test_under_triplets_clusters_stay_branches_of_the_tree():
    X, _ = make_blobs(200, centers=3, cluster_std=4.0, random_state=0)
    trio = Constraints.build(200, triplets=[(0, 1, 2)])
    assert SparseAgglomerative(3, top=30, refine=True).fit(X, constraints=trio).refined_ is None


def test_too_little_memory_is_refused_with_a_way_out_that_works_when_typed(monkeypatch):
    n, d = 300_000, 3
    X = np.zeros((n, d))
    for module in (_memory, _estimator):
        monkeypatch.setattr(module, "available_memory", lambda: _estimator._bytes(n, d, 6) + 1)
    with pytest.raises(
        MemoryLimitError, match=r"along 10 neighbors needs .* GiB.*\nHint: n_neighbors=6 needs"
    ) as caught:
        SparseAgglomerative(2).fit(X)
    with in_shell(lambda _: None), pytest.raises(MemoryLimitError, match=r"--set n_neighbors=6 needs"):
        SparseAgglomerative(2).fit(X)
    setting = re.search(r"n_neighbors=(\d+)", str(caught.value))
    typed = SparseAgglomerative(2, n_neighbors=int(setting[1]))
    monkeypatch.setattr(_estimator, "find_distinct", _reached)
    with pytest.raises(InterruptedError):
        typed.fit(X)
    monkeypatch.setattr(_memory, "available_memory", lambda: 2**20)
    monkeypatch.setattr(_estimator, "available_memory", lambda: 2**20)
    with pytest.raises(MemoryLimitError, match=r"Hint: linkwise\.scale\.cluster reads Parquet"):
        SparseAgglomerative(2).fit(X)


def _reached(*_):
    raise InterruptedError


@pytest.mark.parametrize("phase", [0.2, 0.6, 0.9])
def test_a_fit_that_is_stopped_leaves_the_estimator_as_it_was(phase):
    """Progress is reported in every phase, so that Ctrl-C can end it; an estimator that was fitted stays so."""
    X = np.random.default_rng(0).normal(size=(3000, 3))
    model = SparseAgglomerative(3, top=100).fit(X[:50])
    before = model.labels_.copy()

    def stop(done, total):
        if done >= phase * total:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress(stop):
        model.fit(X)
    assert (model.labels_ == before).all()
