"""Trees over blocks: clusters are branches, statements hold, bytes do not depend on files; damage is found."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import adjusted_rand_score

from linkwise import Constraints, SparseAgglomerative
from linkwise.engines.distances import nearest
from linkwise.exceptions import ScaleError
from linkwise.scale import cluster
from linkwise.scale._cell_trees import _cells_of
from linkwise.scale._tree_certificate import certify_tree
from tests.unit.scale.test_blocks import K, N, planted, write_files, write_statements


def tree_bytes(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "tree").iterdir())}


@pytest.mark.parametrize("names", [False, True])
def test_the_tree_has_clusters_as_branches_and_keeps_statements(tmp_path, names):
    X, _, must, cannot = planted()
    known = Constraints.build(N, must_link=must, cannot_link=cannot)
    ids = np.array([f"r{i}" for i in np.random.default_rng(0).permutation(N)])
    given = write_statements(tmp_path / "s.parquet", ids[must], ids[cannot]) if names else known
    data = write_files(tmp_path / "data", X, [400], **({"name": ids} if names else {}))
    found = cluster(
        data, given, K, block_rows=150, out=tmp_path / "out", tree=True, top=60, id="name" if names else None
    )
    proof = found.tree_certificate
    assert proof.ok
    assert (proof.must_links, proof.cannot_links) == (len(must), len(cannot))
    assert json.loads((tmp_path / "out" / "certificate.json").read_text())["tree"]["ok"]
    tree = found.dendrogram
    assert tree.n_samples == N
    assert tree.satisfies(known).all()
    assert tree.height[N:].max() > 0
    count = np.zeros((len(tree.parent), K), dtype=int)  # leaves of each cluster below each node
    count[np.arange(N), found.labels] = 1
    for node, up in enumerate(tree.parent):
        if up >= 0:
            count[up] += count[node]
    for label, size in enumerate(found.certificate.sizes):
        assert (count == size * np.eye(K, dtype=int)[label]).all(axis=1).any()


def test_bytes_do_not_depend_on_how_rows_lie_in_files(tmp_path):
    X, _, must, cannot = planted(3)
    known = Constraints.build(N, must_link=must, cannot_link=cannot)
    options = {"block_rows": 150, "tree": True, "top": 60}
    found = [
        cluster(source, known, K, out=tmp_path / str(turn), **options)
        for turn, source in enumerate([X, write_files(tmp_path / "a", X, [1, 700], 50)])
    ]
    assert tree_bytes(found[0].folder) == tree_bytes(found[1].folder)
    assert len(tree_bytes(found[0].folder)) > K  # several cells in a cluster


def test_groups_duplicates_and_clusters_of_one_row(tmp_path):
    X = np.repeat([[0.0, 0.0], [5.0, 0.0], [5.0, 0.0], [99.0, 9.0]], [300, 200, 20, 1], axis=0)
    known = Constraints.build(521, together=[[0, 310, 400]], apart=[[0, 301, 520]])
    found = cluster(X, known, 3, block_rows=40, out=tmp_path / "out", tree=True, top=20)
    assert found.tree_certificate.ok
    assert found.tree_certificate.n_trees == 3


def test_it_agrees_with_one_machine(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 6, 4000)
    X = rng.normal(0, 4, (6, 5))[y] + rng.normal(size=(4000, 5))
    found = cluster(X, None, 6, block_rows=500, out=tmp_path / "out", tree=True, top=300)
    one = SparseAgglomerative(6, top=300).fit(X)
    assert adjusted_rand_score(found.dendrogram.cut(n_clusters=6), one.labels_) >= 0.95
    assert found.dendrogram.n_roots == 1


def test_a_damaged_tree_is_refused(tmp_path):
    X, _, must, cannot = planted()
    known = Constraints.build(N, must_link=must, cannot_link=cannot)
    found = cluster(X, known, K, block_rows=300, out=tmp_path / "out", tree=True, top=40)
    folder, labels = found.folder / "tree", found.folder / "labels"
    path = min(folder.iterdir())
    table = pq.read_table(path)

    def written(**columns):
        pq.write_table(pa.table({name: columns.get(name, table.column(name)) for name in table.column_names}), path)
        return certify_tree(folder, labels, known)

    left = table.column("left").to_numpy()
    last = pq.read_table(max(folder.iterdir()))
    assert written().ok
    assert not written(height=table.column("height").to_numpy()[::-1].copy()).sound
    assert not written(left=np.r_[left[:-1], left[0]]).sound
    other = np.flatnonzero(found.labels != found.labels[left[left < N][0]])[0]
    swapped = np.where(left == left[left < N][0], other, left)
    assert not written(left=swapped).sound  # the row is joined elsewhere, too
    written()
    pq.write_table(last.slice(0, last.num_rows - 1), max(folder.iterdir()))
    assert certify_tree(folder, labels, known).sound


def test_a_cell_that_no_worker_can_hold_is_refused_before_rows_are_moved(tmp_path, monkeypatch):
    from linkwise.scale import _scale_cluster

    class Small(_scale_cluster.LocalRunner):
        def memory_limit(self):
            return 300 * 2**20

    monkeypatch.setattr(_scale_cluster, "DaskRunner", Small)
    monkeypatch.setattr(_scale_cluster, "LocalRunner", Small)
    X = np.repeat(np.arange(2.0), 40_000).reshape(-1, 1)
    monkeypatch.setattr(_scale_cluster, "_WORKER", 280 * 2**20)
    with pytest.raises(ScaleError, match=r"the largest, of 40,000 rows of cluster \d, needs .* MiB"):
        cluster(X, None, 2, block_rows=1_000, out=tmp_path / "out", tree=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("seed", range(4))
def test_cells_of_uneven_rows_are_no_larger_than_asked_for(seed):
    rng = np.random.default_rng(seed)
    rows = np.exp(rng.normal(size=(6_000, 4))) * np.where(rng.random((6_000, 1)) < 0.1, 9.0, 1.0)
    cells = _cells_of(rows, 300.0)
    assert np.bincount(nearest(rows, cells)[0], minlength=len(cells)).max() <= 1.25 * 300
    assert len(cells) < 4 * 20
    assert len(_cells_of(np.ones((500, 2)), 100.0)) == 1
