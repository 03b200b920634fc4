"""What a run over blocks cannot use is refused in words, before labels are written; nothing is left behind."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from linkwise import Constraints
from linkwise.engines import progress
from linkwise.exceptions import LinkwiseError, LinkwiseWarning, ScaleError
from linkwise.scale import _kmeans, _scale_cluster, check_files, cluster
from linkwise.scale._row_blocks import open_source

N = 30
X = np.random.default_rng(0).normal(size=(N, 2))


@pytest.fixture
def data(tmp_path):
    pq.write_table(pa.table({"x": X[:, 0], "y": X[:, 1], "name": [*range(N)]}), tmp_path / "data.parquet")
    return tmp_path / "data.parquet"


@pytest.mark.parametrize(
    ("factor", "words"),
    [
        (1e120, r"x\.npy, row \d+: column '[01]' holds -?[\d.]+e\+120, expected values up to 1e\+100"),
        (1e300, r"expected values up to 1e\+100"),
        (1e-200, r"the rows hold values up to .*e-200: squared distances vanish"),
    ],
)
def test_numbers_whose_squares_overflow_or_vanish_are_refused(tmp_path, factor, words):
    np.save(tmp_path / "x.npy", X * factor)
    with pytest.raises(ScaleError, match=words):
        cluster(tmp_path / "x.npy", Constraints.build(N, must_link=[(0, 9)]), 3, block_rows=7, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_large_numbers_that_can_be_squared_are_taken(tmp_path):
    """Powers of two change no digit, so the clusters are those of the rows as they were."""
    found = [
        cluster(X * factor, Constraints.build(N, must_link=[(0, 9)]), 3, block_rows=7, out=tmp_path / str(turn))
        for turn, factor in enumerate([1.0, 2.0**300, 2.0**-300])
    ]
    assert all(one.certificate == found[0].certificate for one in found)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": ["x", "x"]}, r"columns names 'x' twice"),
        ({"columns": ["x", "name"], "id": "name"}, r"columns names 'name' and id as well"),
        ({"columns": []}, "no columns of numbers"),
        ({"columns": "z"}, r"has no column 'z'"),
        ({"max_passes": 0}, "max_passes is 0, expected a whole number >= 1"),
        ({"max_passes": "3"}, "max_passes is '3'"),
        ({"random_state": -1}, "random_state is -1"),
        ({"random_state": "a"}, "random_state is 'a'"),
        ({"stall_after": -3}, "stall_after is -3"),
        ({"n_clusters": 2.5}, "n_clusters is 2.5"),
        ({"n_clusters": N + 1}, "the data have 30 rows"),
        ({"constraints": [(0, 1)]}, "statements are tuple, expected Constraints, or names of"),
        ({"constraints": {"must_link": [(0, 1)]}}, "statements are dict"),
        ({"constraints": [Constraints.build(N)]}, r"one of several statements is Constraints.\nHint: give one table"),
        ({"constraints": "nope.csv"}, r"nope\.csv does not exist"),
        ({"source": "nope.parquet"}, r"nope\.parquet does not exist"),
        ({"source": "nope.npy"}, r"nope\.npy does not exist"),
        ({"source": "nope://host/x"}, "nope://host/x cannot be opened: .*\nHint: addresses of pyarrow"),
        ({"source": np.empty((3, 0)), "n_clusters": 1}, "no columns of numbers"),
        ({"source": np.empty((0, 3)), "n_clusters": 1}, "the source has no rows"),
    ],
)
def test_arguments_of_another_form_are_refused(data, tmp_path, options, words):
    given = {"source": data, "constraints": None, "n_clusters": 2, "out": tmp_path / "out"} | options
    with pytest.raises(LinkwiseError, match=words):
        cluster(**given)
    assert not (tmp_path / "out").exists()


def test_two_columns_of_one_name_are_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array(X[:, 0]), pa.array(X[:, 1])], names=["x", "x"])
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(ScaleError, match=r"x\.parquet has 2 columns 'x', expected one"):
        cluster(tmp_path / "x.parquet", None, 2, out=tmp_path / "out")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "cannot be read: Empty CSV file"),
        ("kind,a,b\nmust_link,é,2\n".encode("latin-1"), "invalid UTF8"),
        ("kind,a,b\nmust_link,1,2\n".encode("utf-16"), "cannot be read"),
        (b"kind;a;b\nmust_link;1;2\n", "has the columns kind;a;b, expected kind, a, b"),
        (b"kind,a,a,b\nmust_link,1,2,3\n", "has the columns kind, a, a, b, expected kind, a, b"),
        (b"kind,a,b\nmust_link,1,2\nmust_link,1\n", "Expected 3 columns, got 2"),
        (b"kind,a,b\nmust_link,1,2\nmust_link,1,\n", "row 1: b is missing"),
        (b"kind,a,b,weight\nmust_link,1,2,\nmust_link,1,3,0.5\n", "has weights"),
        (b"kind,a,b\ncannot_link,1,1\n", "row 0: cannot_link names 1 twice"),
        (b"kind,a,b\nmust_link,1,99999999999999999999\n", "row 0 names '99999999999999999999', but no column"),
    ],
)
def test_files_of_statements_that_cannot_be_read_are_named(data, tmp_path, content, words):
    said = tmp_path / "said.csv"
    said.write_bytes(content)
    with pytest.raises(LinkwiseError, match=rf"said\.csv.*{words}"):
        cluster(data, said, 2, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    if "no column" not in words:
        with pytest.raises(LinkwiseError, match=words):
            check_files(said)


def test_blanks_and_a_mark_of_the_order_of_bytes_are_no_part_of_names(data, tmp_path):
    (tmp_path / "said.csv").write_bytes("\ufeffkind,a,b\n must_link , 1 ,2\n".encode())
    found = cluster(data, tmp_path / "said.csv", 2, out=tmp_path / "out")
    assert (found.certificate.must_links, found.certificate.must_links_held) == (1, 1)


def test_folders_that_are_files_are_refused(data, tmp_path):
    (tmp_path / "file").write_text("x")
    with pytest.raises(ScaleError, match=r"out is .*file, which is a file, expected a folder"):
        cluster(data, None, 2, out=tmp_path / "file")
    with pytest.raises(ScaleError, match=r"checkpoint is .*file, which is a file, expected a folder"):
        cluster(data, None, 2, out=tmp_path / "out", checkpoint=tmp_path / "file")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("damage", ["{bad", "{}", "[]", '{"key": "k", "state": "state.npz", "n_passes": 1}', "npz"])
def test_a_damaged_checkpoint_is_refused(data, tmp_path, damage):
    kept = tmp_path / "kept"
    cluster(data, None, 2, columns=["x", "y"], out=tmp_path / "out", checkpoint=kept, max_passes=2)
    if damage == "npz":
        next(kept.glob("*.npz")).write_bytes(b"PK\x03\x04")
    else:
        (kept / "checkpoint.json").write_text(damage)
    with pytest.raises(ScaleError, match=r"holds a checkpoint that cannot be read .*\nHint: remove the folder"):
        cluster(data, None, 2, columns=["x", "y"], out=tmp_path / "again", checkpoint=kept)
    assert not (tmp_path / "again").exists()


def test_clusters_that_stay_empty_are_told(tmp_path):
    with pytest.warns(LinkwiseWarning, match="3 of the 5 clusters are empty"):
        found = cluster(np.repeat([[0.0], [1.0]], 10, axis=0), None, 5, out=tmp_path / "out")
    assert sorted(found.certificate.sizes) == [0, 0, 0, 10, 10]


def test_a_task_gets_its_own_rows_of_an_array():
    blocks = open_source(np.zeros((1000, 3)), 100, None, None).blocks
    assert [block.pieces[0].where.shape for block in blocks] == [(100, 3)] * 10
    assert blocks[7].describe() == "block 7 (the array rows 700 to 799)"


def test_a_run_that_was_killed_lends_nothing_to_another(data, tmp_path, monkeypatch):
    """Labels that a run of other blocks left behind are not taken for those of this one."""
    square = np.array([[0.0, 0.0], [0.0, 2.0], [8.0, 0.0], [8.0, 2.0]] * 4)  # sums are exact, so centers are the same
    kept = tmp_path / "kept"

    def die(done, total):
        if len([*(tmp_path / "out").glob("**/part-*.parquet")]) == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress(die):
        cluster(square, None, 2, block_rows=8, out=tmp_path / "out", checkpoint=kept)
    assert [*(tmp_path / "out").glob("**/part-*.parquet")]
    found = cluster(square, None, 2, block_rows=4, out=tmp_path / "out")
    assert found.certificate.n_rows == 16
    assert len([*(tmp_path / "out" / "labels").iterdir()]) == 4
    assert not (tmp_path / "out" / ".linkwise").exists()


def test_results_that_are_being_replaced_have_no_certificate(data, tmp_path, monkeypatch):
    cluster(data, None, 2, columns=["x", "y"], out=tmp_path / "out")

    def stop(path, content):
        raise KeyboardInterrupt

    monkeypatch.setattr(_scale_cluster, "write_whole", stop)
    with pytest.raises(KeyboardInterrupt):
        cluster(data, None, 3, columns=["x", "y"], out=tmp_path / "out", force=True)
    assert not (tmp_path / "out" / "certificate.json").exists()


def test_long_passes_tell_how_far_they_are(tmp_path, capsys):
    cluster(np.arange(400.0).reshape(-1, 1), None, 2, block_rows=8, max_passes=1, out=tmp_path / "a", verbose=True)
    told = capsys.readouterr().err
    for phase in ("fetch", "step", "writing"):
        assert [f"{phase}: {done} of 50 blocks done after" in told for done in (5, 25, 45, 50)] == [
            True,
            True,
            True,
            False,
        ]
        assert f"{phase} done after" in told
    assert told.count("s left.") == 3 * 10
    cluster(np.arange(40.0).reshape(-1, 1), None, 2, block_rows=8, max_passes=1, out=tmp_path / "b", verbose=True)
    assert capsys.readouterr().err.count("s left.") == 3


def test_memory_of_the_starting_process_does_not_grow_with_rows(tmp_path, monkeypatch):
    """Counted: eight times the rows, as many rows named; bytes held at the worst moment, tasks included."""
    import tracemalloc

    monkeypatch.setattr(_kmeans, "SAMPLE", 1_000)
    rows = np.random.default_rng(0).normal(size=(160_000, 8))
    peak, passes = {}, set()
    known = np.random.default_rng(1).permutation(20_000)[:200].reshape(-1, 2)
    (tmp_path / "said.csv").write_text("\n".join(["kind,a,b", *(f"must_link,{a},{b}" for a, b in known)]))
    for count in (20_000, 20_000, 160_000):  # the first loads what is loaded once
        np.save(tmp_path / "x.npy", rows[:count])
        tracemalloc.start()
        found = cluster(
            tmp_path / "x.npy",
            tmp_path / "said.csv",
            3,
            block_rows=2_500,
            max_passes=2,
            out=tmp_path / str(count),
            force=True,
        )
        peak[count] = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        passes.add(found.n_passes)
        told = json.loads((tmp_path / str(count) / "certificate.json").read_text())
        assert told["n_rows"] == count
    assert passes == {2}
    assert peak[160_000] < 1.1 * peak[20_000]
    assert peak[160_000] < rows.nbytes / 2
