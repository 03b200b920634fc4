"""k-means over blocks in this process: statements hold, files may be cut anywhere, bad input is named."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from linkwise import Constraints, verify
from linkwise.engines import progress
from linkwise.engines.distances import nearest
from linkwise.exceptions import ConstraintError, InfeasibleConstraintsError, ScaleError, UnsupportedConstraintError
from linkwise.scale import cluster
from linkwise.scale._runner import PairwiseSum

N, K = 1200, 4


def planted(seed: int = 0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, N)
    X = rng.normal(0, 2, (K, 3))[y] + rng.normal(size=(N, 3))
    pairs = rng.permutation(N)[:200].reshape(-1, 2)
    return X, y, pairs[y[pairs[:, 0]] == y[pairs[:, 1]]], pairs[y[pairs[:, 0]] != y[pairs[:, 1]]]


def write_files(folder, X, cuts, group=97, **more):
    folder.mkdir()
    for i, (low, high) in enumerate(itertools.pairwise([0, *cuts, len(X)])):
        columns = {f"x{f}": X[low:high, f] for f in range(X.shape[1])}
        columns |= {name: values[low:high] for name, values in more.items()}
        pq.write_table(pa.table(columns), folder / f"{i:03d}.parquet", row_group_size=group)
    return folder


def write_statements(path, must, cannot):
    kind = ["must_link"] * len(must) + ["cannot_link"] * len(cannot)
    both = np.concatenate([must, cannot])
    table = pa.table({"kind": kind, "a": both[:, 0], "b": both[:, 1]})
    if path.suffix == ".csv":
        from pyarrow import csv

        csv.write_csv(table, path)
    else:
        pq.write_table(table, path)
    return path


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted((folder / "labels").iterdir())}


def test_statements_hold_whatever_the_form_of_the_input(tmp_path):
    X, _, must, cannot = planted()
    known = Constraints.build(N, must_link=must, cannot_link=cannot)
    np.save(tmp_path / "x.npy", X)
    sources = {
        "array": X,
        "mapped": tmp_path / "x.npy",
        "whole": write_files(tmp_path / "a", X, []),
        "cut": write_files(tmp_path / "b", X, [1, 400, 401, 1100], 50),
        "pattern": str(write_files(tmp_path / "c", X, [700], 1000) / "*.parquet"),
        "address": (tmp_path / "a").as_uri(),
    }
    said = [
        known,
        write_statements(tmp_path / "said.parquet", must, cannot),
        write_statements(tmp_path / "said.csv", must, cannot),
    ]
    found = {}
    for turn, (name, source) in enumerate(sources.items()):
        given = said[turn % 3]
        result = cluster(source, given, K, block_rows=250, out=tmp_path / f"out-{name}")
        assert result.certificate.ok
        assert (result.certificate.must_links, result.certificate.cannot_links) == (len(must), len(cannot))
        assert verify(result.labels, known).ok
        assert sum(result.certificate.sizes) == N
        assert min(result.certificate.sizes) > 0
        found[name] = contents(result.folder)
    assert len({json.dumps({k: v.hex() for k, v in one.items()}) for one in found.values()}) == 1
    assert len(found["cut"]) == 5


def test_dask_collections_give_the_same_labels(tmp_path):
    import dask.array as da

    X, _, must, cannot = planted()
    known = Constraints.build(N, must_link=must, cannot_link=cannot)
    one = cluster(X, known, K, block_rows=500, out=tmp_path / "one")
    two = cluster(da.from_array(X, chunks=(170, 3)), known, K, block_rows=500, out=tmp_path / "two")
    assert contents(one.folder) == contents(two.folder)


def test_groups_and_cliques_hold(tmp_path):
    X, *_ = planted(1)
    known = Constraints.build(N, together=[range(5), range(300, 310)], apart=[[0, 300, 500, 700], [8, 9, 10]])
    result = cluster(X, known, K, block_rows=500, out=tmp_path / "out")
    assert verify(result.labels, known).ok
    assert result.certificate.ok
    assert result.certificate.cannot_links == 6 + 3


def test_names_of_a_column(tmp_path):
    X, _, must, cannot = planted()
    names = np.array([f"row{i}" for i in np.random.default_rng(3).permutation(N)])
    data = write_files(tmp_path / "data", X, [333], name=names)
    said = write_statements(tmp_path / "said.parquet", names[must], names[cannot])
    result = cluster(data, said, K, block_rows=250, id="name", out=tmp_path / "out")
    assert result.certificate.ok
    assert verify(result.labels, Constraints.build(N, must_link=must, cannot_link=cannot)).ok
    table = pq.read_table(tmp_path / "out" / "labels")
    assert sorted(table.column("name").to_pylist()) == sorted(names)


@pytest.mark.parametrize(
    ("name", "change", "words"),
    [
        ("nan", lambda X, more: X.__setitem__((900, 1), np.nan), r"001\.parquet, row 500: column 'x1' is missing"),
        ("words", lambda X, more: more.update(w=np.array(["a"] * N)), r"000\.parquet: column 'w' holds string"),
    ],
)
def test_bad_rows_are_refused_with_file_and_row(tmp_path, name, change, words):
    X, *_ = planted()
    more = {}
    change(X, more)
    data = write_files(tmp_path / "data", X, [400], **more)
    with pytest.raises(ScaleError, match=words):
        cluster(data, None, K, block_rows=250, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_bad_names_are_refused(tmp_path):
    X, *_ = planted()
    names = [f"r{i}" for i in range(N)]
    said = write_statements(tmp_path / "said.csv", np.array([["r5", "r6"]]), np.array([["r7", "r8"]]))
    for number, (row, name, words) in enumerate(
        [
            (700, None, r"001\.parquet, row 300: column 'name' is missing"),
            (700, "r5", r"000\.parquet, row 5 and .*001\.parquet, row 300 have the same name r5"),
            (6, "other", r"said\.csv, row 0 names r6, but no row has this name"),
        ]
    ):
        here = [*names]
        here[row] = name
        data = write_files(tmp_path / f"data{number}", X, [400], name=pa.array(here))
        with pytest.raises((ScaleError, ConstraintError), match=words):
            cluster(data, said, K, block_rows=250, id="name", out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_bad_statements_are_refused(tmp_path):
    X, *_ = planted()
    far = write_statements(tmp_path / "far.csv", np.array([[0, 1], [5, N]]), np.array([[2, 3]]))
    with pytest.raises(ConstraintError, match=r"far\.csv, row 1 is about rows 5, 1200, but the data have rows 0 to"):
        cluster(X, far, K, out=tmp_path / "out")
    (tmp_path / "kind.csv").write_text("kind,a,b\nmust_link,1,2\nnear,2,3\n")
    with pytest.raises(ConstraintError, match=r"kind\.csv, row 1: the kind is 'near'"):
        cluster(X, tmp_path / "kind.csv", K, out=tmp_path / "out")
    with pytest.raises(UnsupportedConstraintError, match="triplet"):
        cluster(X, Constraints.build(N, triplets=[(0, 1, 2)]), K, out=tmp_path / "out")
    with pytest.raises(InfeasibleConstraintsError, match="contradict"):
        cluster(X, Constraints.build(N, must_link=[(0, 1)], cannot_link=[(0, 1)]), K, out=tmp_path / "out")
    with pytest.raises(InfeasibleConstraintsError):
        cluster(X, Constraints.build(N, apart=[range(K + 1)]), K, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_truncated_file_is_named(tmp_path):
    X, *_ = planted()
    data = write_files(tmp_path / "data", X, [400])
    whole = (data / "001.parquet").read_bytes()
    (data / "001.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ScaleError, match=r"001\.parquet cannot be read as Parquet"):
        cluster(data, None, K, out=tmp_path / "out")


def test_what_a_worker_left_unfinished_is_not_among_the_results(tmp_path):
    X, *_ = planted()

    def leave(done, total):
        for folder in (tmp_path / "out").glob("**/labels-*/"):
            (folder / ".part-000001.parquet.0123456789abcdef.partial").write_bytes(b"PAR1")

    with progress(leave):
        found = cluster(X, None, K, block_rows=250, max_passes=1, out=tmp_path / "out")
    assert sorted(contents(found.folder)) == [f"part-{number:06d}.parquet" for number in range(-(-N // 250))]
    assert found.certificate.ok


def test_the_cost_never_rises(tmp_path):
    X, _, must, cannot = planted(2)
    known = Constraints.build(N, must_link=must, cannot_link=cannot)
    costs = [
        cluster(X, known, K, block_rows=250, max_passes=passes, out=tmp_path / str(passes)).cost for passes in (1, 2, 5)
    ]
    assert costs == sorted(costs, reverse=True)


def test_a_start_with_two_centers_in_one_class_is_mended(tmp_path):
    rng = np.random.default_rng(5)
    centers = rng.normal(0, 1.5, (20, 16))
    X = centers[rng.integers(0, 20, 4_000)] + rng.standard_normal((4_000, 16))
    best = ((X - centers[nearest(X, centers)[0]]) ** 2).sum()
    for seed in range(5):
        found = cluster(X, None, 20, block_rows=1_000, random_state=seed, out=tmp_path / str(seed))
        assert found.cost < 1.01 * best


def test_sums_do_not_depend_on_the_order_of_arrival():
    rng = np.random.default_rng(0)
    for count in (1, 2, 3, 7, 12):
        parts = [(rng.normal(size=3), float(rng.normal())) for _ in range(count)]
        totals = []
        for _ in range(4):
            sums = PairwiseSum(count)
            for place in rng.permutation(count).tolist():
                sums.add(place, parts[place])
            totals.append((sums.total[0].tobytes(), sums.total[1]))
        assert len(set(totals)) == 1
        assert np.allclose(sums.total[0], sum(part[0] for part in parts))


RUN = """
import os, sys
from linkwise.engines import progress
from linkwise.scale import cluster
data, said, out, kept, last = sys.argv[1:]
def die(done, total):
    if done == int(last):
        os._exit(9)
with progress(die):
    cluster(data, said, 4, block_rows=250, out=out, checkpoint=kept)
"""


@pytest.mark.parametrize("last", [13, -2])
def test_a_run_that_died_goes_on_from_its_checkpoint(tmp_path, last):
    """It dies in the second pass, or while it writes; then no pass is made twice."""
    X, _, must, cannot = planted(4)
    data = write_files(tmp_path / "data", X, [400])
    said = write_statements(tmp_path / "said.parquet", must, cannot)
    calls = []
    with progress(lambda done, total: calls.append(done)):
        whole = cluster(data, said, K, block_rows=250, out=tmp_path / "whole")
    assert whole.n_passes >= 2
    at = last if last > 0 else len(calls) + last
    run = [sys.executable, "-c", RUN, data, said, tmp_path / "out", tmp_path / "kept", at]
    assert subprocess.run([*map(str, run)], check=False).returncode == 9
    assert not (tmp_path / "out" / "labels").exists()
    with pytest.raises(ScaleError, match="holds the checkpoint of a run with other data"):
        cluster(data, said, K + 1, block_rows=250, out=tmp_path / "out", checkpoint=tmp_path / "kept")
    again = []
    with progress(lambda done, total: again.append(done)):
        found = cluster(data, said, K, block_rows=250, out=tmp_path / "out", checkpoint=tmp_path / "kept")
    assert contents(found.folder) == contents(whole.folder)
    finished = (at - 5) // 5 if last > 0 else whole.n_passes
    assert len(again) == len(calls) - 5 * finished


def test_an_interrupted_run_leaves_nothing(tmp_path):
    X, *_ = planted()

    def stop(done, total):
        if done == 7:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress(stop):
        cluster(X, None, K, block_rows=250, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_results_are_replaced_only_if_asked(tmp_path):
    X, *_ = planted()
    cluster(X, None, 2, out=tmp_path / "out")
    with pytest.raises(ScaleError, match="holds results already"):
        cluster(X, None, 2, out=tmp_path / "out")
    assert len(cluster(X, None, 3, out=tmp_path / "out", force=True).certificate.sizes) == 3
