"""The same on Dask workers that are killed, stopped or fed blocks that end them: same bytes, or an error with names."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace

import numpy as np
import pytest

from linkwise.engines import progress
from linkwise.exceptions import ScaleError
from linkwise.scale import _runner, cluster
from linkwise.scale._row_blocks import open_source
from linkwise.scale._runner import DaskRunner, local_workers
from tests.profile import FULL
from tests.unit.scale.test_blocks import contents, write_files, write_statements
from tests.unit.scale.test_trees import tree_bytes

N, K, BLOCK = 60_000, 6, 6_000


@pytest.fixture(scope="module")
def client():
    with local_workers(2, "1GiB") as found:
        yield found


def wait_for(done, client):
    """Ask until something is so; each turn waits for the scheduler, not for a time."""
    for _ in range(100_000):
        if done():
            return
        client.sync(client.scheduler.identity)
    raise AssertionError(done)


def pids(client) -> list[int]:
    return [pid for _, pid in sorted(client.run(os.getpid, on_error="ignore").items())]


def make_files(folder, count, block, named, digits=None):
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, count)
    X = (rng.normal(0, 2, (K, 4))[y] + rng.normal(size=(count, 4))).astype(np.float32)
    X = X if digits is None else np.round(X, digits)
    pairs = rng.permutation(count)[:named].reshape(-1, 2)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    data = write_files(folder / "data", X, [count // 3], block)
    return data, write_statements(folder / "said.parquet", pairs[same], pairs[~same])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return make_files(tmp_path_factory.mktemp("files"), N, BLOCK, N // 20)


def killer(client, kills, done_kills):
    """Ends a worker after each number of finished blocks in ``kills``."""

    def kill(done, total):
        if done in kills:
            alive = pids(client)
            os.kill(alive[kills[done] % len(alive)], signal.SIGKILL)
            done_kills.append(done)

    return kill


@pytest.fixture(scope="module")
def here(files, tmp_path_factory):
    """The result without Dask."""
    out = tmp_path_factory.mktemp("here") / "out"
    found = cluster(*files, K, block_rows=BLOCK, out=out, max_passes=3)
    assert found.certificate.ok
    return found


@pytest.mark.parametrize("seed", range(6 if FULL else 1))
def test_two_million_rows_and_dying_workers_give_the_bytes_of_one_process(client, tmp_path, seed):
    """One dies while rows are fetched, one each in a step, while labels are written, rows sorted, and cells merged.

    Many rows are equal, so that the tree takes seconds.
    """
    count, block, passes, calls = 2_000_000, 100_000, 2, []
    data, said = make_files(tmp_path, count, block, 20_000, digits=0)
    options = {"block_rows": block, "max_passes": passes, "tree": True, "top": 600}
    with progress(lambda done, total: calls.append(done)):
        whole = cluster(data, said, K, out=tmp_path / "here", **options)
    assert whole.certificate.ok
    assert whole.certificate.n_rows == count
    assert whole.tree_certificate.ok
    rng, blocks = np.random.default_rng(seed), count // block
    labeled = (2 + whole.n_passes) * blocks
    low = [0, blocks, labeled - blocks, labeled + blocks, labeled + 2 * blocks]
    assert len(calls) > low[-1] + blocks
    kills = {int(start + 1 + rng.integers(blocks - 3)): int(rng.integers(2)) for start in low}
    done_kills = []
    with progress(killer(client, kills, done_kills)):
        found = cluster(data, said, K, client=client, out=tmp_path / "there", **options)
    assert len(done_kills) == len(kills) == 5
    assert found.certificate == whole.certificate
    assert found.centers.tobytes() == whole.centers.tobytes()
    assert contents(found.folder) == contents(whole.folder)
    assert tree_bytes(found.folder) == tree_bytes(whole.folder)


def test_one_worker_gives_the_same_bytes(files, here, tmp_path):
    with local_workers(1, "1GiB") as alone:
        found = cluster(*files, K, client=alone, block_rows=BLOCK, out=tmp_path / "out", max_passes=3)
    assert contents(found.folder) == contents(here.folder)


def end_the_worker(rows):
    if rows.shape[0] and rows[0, 0] == 3.0:
        os._exit(7)
    return rows


def test_a_block_that_ends_workers_is_named(client, tmp_path):
    import dask.array as da

    X = da.from_array(np.repeat(np.arange(6.0), 50).reshape(-1, 1), chunks=(50, 1))
    bad = X.map_blocks(end_the_worker, dtype=float, meta=np.empty((0, 0)))
    with pytest.raises(ScaleError, match=r"block 3 \(chunk 3 of the array rows 0 to 49\) ended 3 workers") as caught:
        cluster(bad, None, 2, client=client, block_rows=50, out=tmp_path / "out")
    assert caught.value.block == 3
    assert caught.value.worker.startswith("tcp://")
    assert not (tmp_path / "out").exists()


def test_the_first_bad_row_is_named(client, tmp_path):
    X = np.zeros((600, 1))
    X[[130, 350, 590]] = np.nan
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(ScaleError, match=r"x\.npy, row 130: column '0' is missing or not finite"):
        cluster(tmp_path / "x.npy", None, 2, client=client, block_rows=50, out=tmp_path / "out")


def test_a_stopped_worker_becomes_an_error_that_names_it(tmp_path):
    np.save(tmp_path / "x.npy", np.arange(600.0).reshape(-1, 1))
    with local_workers(1, "1GiB") as alone:
        (address, pid), *_ = alone.run(os.getpid).items()
        os.kill(pid, signal.SIGSTOP)
        try:
            with pytest.raises(ScaleError, match=r"no block was finished in .* s\. Workers that have blocks") as caught:
                cluster(tmp_path / "x.npy", None, 2, client=alone, block_rows=50, out=tmp_path / "o", stall_after=0.5)
        finally:
            os.kill(pid, signal.SIGCONT)
        assert caught.value.worker == address
        assert address in str(caught.value)
    assert not (tmp_path / "o").exists()


def test_a_paused_worker_becomes_an_error_that_names_it(tmp_path):
    """Dask pauses a worker that is short of memory; this one is from the start."""
    import dask
    import distributed  # noqa: F401 - its own settings come first

    np.save(tmp_path / "x.npy", np.arange(600.0).reshape(-1, 1))
    short = {f"distributed.worker.memory.{name}": False for name in ("target", "spill", "terminate")}
    with dask.config.set({**short, "distributed.worker.memory.pause": 0.01}), local_workers(1, "1GiB") as alone:
        (address,) = alone.run(os.getpid)
        wait_for(lambda: alone.scheduler_info()["workers"][address]["status"] == "paused", alone)
        with pytest.raises(ScaleError, match=rf"Workers that have blocks: {address} \(paused, [\d,]+ of 1,024 MiB\)"):
            cluster(tmp_path / "x.npy", None, 2, client=alone, block_rows=50, out=tmp_path / "o", stall_after=0.5)
    assert not (tmp_path / "o").exists()


def test_a_quiet_minute_ends_a_run_of_quick_blocks(client):
    """Without `stall_after` the limit is a minute, or 20 times the usual time where that is longer."""
    runner = DaskRunner(client, None, lambda _: None)
    assert runner._limit() == 60.0
    runner.gaps = [0.5] * 9 + [100.0]
    assert runner._limit() == 60.0
    runner.gaps = [5.0] * 9
    assert runner._limit() == 100.0
    block = open_source(np.zeros((10, 1)), 10, None, None).blocks[0]
    runner.gaps = []
    runner._refuse_stall(59.0, {0: block})
    with pytest.raises(ScaleError, match=r"no block was finished in 61 s.*tcp://"):
        runner._refuse_stall(61.0, {0: block})


def test_workers_that_compute_get_more_time(monkeypatch):
    """On a busy machine a block may take long; a worker that is paused, silent or idle has no such excuse."""
    monkeypatch.setattr(_runner, "time", SimpleNamespace(time=lambda: 1_000.0))
    worker = {"status": "running", "last_seen": 999.0, "metrics": {"cpu": 7.0, "memory": 0}, "memory_limit": 2**30}
    state = dict(worker)
    runner = DaskRunner(SimpleNamespace(processing=lambda: {"tcp://a": ["key"]}), None, lambda _: None)
    monkeypatch.setattr(runner, "_workers", lambda: {"tcp://a": state})
    block = open_source(np.zeros((10, 1)), 10, None, None).blocks[0]
    runner._refuse_stall(300.0, {0: block})
    for change in ({"status": "paused"}, {"last_seen": 910.0}, {"metrics": {"cpu": 0.0}}):
        state = worker | change
        with pytest.raises(ScaleError, match=r"no block was finished in 61 s.*tcp://a"):
            runner._refuse_stall(61.0, {0: block})
    state = worker
    with pytest.raises(ScaleError, match="no block was finished in 901 s"):
        runner._refuse_stall(901.0, {0: block})
    runner.stall_after = 5.0
    with pytest.raises(ScaleError, match="no block was finished in 6 s"):
        runner._refuse_stall(6.0, {0: block})


def test_a_memory_limit_that_is_none_is_refused():
    with pytest.raises(ScaleError, match="the memory limit is 'lots', expected a number of bytes, such as 1GiB"):
        local_workers(1, "lots").__enter__()


def test_a_worker_without_the_files_is_named(client, tmp_path):
    np.save(tmp_path / "x.npy", np.arange(600.0).reshape(-1, 1))

    def remove(done, total):
        (tmp_path / "x.npy").unlink(missing_ok=True)

    words = r"block \d+ \(.*x\.npy rows .*\) failed on worker tcp://\S+: .*x\.npy.*\nHint: files and out must be there"
    with pytest.raises(ScaleError, match=words) as caught, progress(remove):
        cluster(tmp_path / "x.npy", None, 2, client=client, block_rows=50, out=tmp_path / "out")
    assert caught.value.worker.startswith("tcp://")
    assert not (tmp_path / "out").exists()


def test_a_worker_of_another_version_is_refused(client, tmp_path, monkeypatch):
    monkeypatch.setattr(_runner, "__version__", "0.0.1")
    with pytest.raises(ScaleError, match=r"worker tcp://\S+ has linkwise \S+, this process has 0\.0\.1"):
        cluster(np.zeros((6, 1)), None, 1, client=client, block_rows=3, out=tmp_path / "out")


class Foreign:
    """Something that only this process can read."""

    def __reduce__(self):
        return __import__, ("a_package_that_no_worker_has",)


def test_what_a_worker_cannot_even_read_is_told(client, tmp_path):
    import dask.array as da

    foreign = Foreign()
    X = da.from_array(np.zeros((6, 1)), chunks=(3, 1)).map_blocks(
        lambda rows: (foreign, rows)[1], meta=np.empty((0, 0))
    )
    with pytest.raises(ScaleError, match=r"block 0 .* could not be run on a worker: \w+Error: .*"):
        cluster(X, None, 1, client=client, block_rows=3, out=tmp_path / "out")


def test_an_interrupted_run_leaves_the_client_alone(client, files, tmp_path):
    def stop(done, total):
        if done == N // BLOCK + 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), progress(stop):
        cluster(*files, K, client=client, block_rows=BLOCK, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert client.submit(sum, [1, 2]).result() == 3


def test_blocks_that_cannot_fit_are_refused_before_work(client, tmp_path):
    np.save(tmp_path / "x.npy", np.zeros((1_000, 50)))
    assert client.status == "running"
    wide = np.lib.format.open_memmap(tmp_path / "w.npy", mode="w+", dtype=np.float64, shape=(2_000_000, 50))
    del wide
    with pytest.raises(ScaleError, match=r"Hint: block_rows=[\d,]+ fits"):
        cluster(tmp_path / "w.npy", None, 2, client=client, block_rows=1_000_000, out=tmp_path / "out")
