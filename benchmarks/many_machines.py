"""Runs over blocks of Parquet files on Dask workers, with a million statements and workers that are killed.

    python -m benchmarks.many_machines FOLDER --rows 10000000 --statements 1000000 --workers 2 --limit 700MiB --kill 2
    python -m benchmarks.many_machines FOLDER --rows 1000000 --peers      # cost beside scikit-learn's KMeans
    python -m benchmarks.many_machines FOLDER --rows 1000000 --tree       # beside SparseAgglomerative
    python -m benchmarks.many_machines FOLDER --gate --rows 100000000 --statements 100000000 --clusters 20
    python -m benchmarks.many_machines FOLDER --growth 1000000 10000000      # CPU time of tasks for each row, by phase
    python -m benchmarks.many_machines FOLDER --model 1000000000 100         # rows and workers of a run on paper

Prints one JSON object: CPU seconds of driver and workers for each row and pass, the driver's memory, and what holds.
With --gate: statements alone, of which some contradict others; whether all of these are found, CPU seconds and memory.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import time
from pathlib import Path

import numpy as np

from linkwise import Constraints, SparseAgglomerative
from linkwise.engines import progress
from linkwise.scale import ScaleClustering, _runner, check_files, cluster
from linkwise.scale._runner import local_workers


def make(folder: Path, rows: int, statements: int, d: int, k: int, block: int) -> tuple[Path, Path]:
    """Write files of overlapping blobs, and pairs of which half are must-links, both from the planted clusters."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    data, said = folder / f"data-{rows}", folder / f"said-{rows}-{statements}.parquet"
    if data.exists() and said.exists():
        return data, said
    rng = np.random.default_rng(0)
    centers = rng.normal(0, 1.5, (k, d))
    y = rng.integers(0, k, rows).astype(np.int8)
    if not data.exists():
        data.mkdir(parents=True)
        for part, low in enumerate(range(0, rows, 4 * block)):
            mine = y[low : low + 4 * block]
            X = centers[mine].astype(np.float32) + rng.standard_normal((len(mine), d), dtype=np.float32)
            table = pa.table({f"x{f}": X[:, f] for f in range(d)})
            path = data / f"{part:04d}.parquet"
            pq.write_table(table, path, row_group_size=block, compression="NONE", use_dictionary=False)
    a, b = rng.integers(0, rows, (2, 12 * statements))
    same = y[a] == y[b]
    pairs = [np.flatnonzero((same == kind) & (a != b))[: statements // 2] for kind in (True, False)]
    at = np.concatenate(pairs)
    words = ["must_link"] * len(pairs[0]) + ["cannot_link"] * len(pairs[1])
    pq.write_table(pa.table({"kind": words, "a": a[at], "b": b[at]}), said)
    return data, said


def cpu_of_process() -> float:
    return time.process_time()


def run(folder: Path, asked: argparse.Namespace) -> dict[str, object]:
    data, said = make(folder, asked.rows, asked.statements, asked.features, asked.clusters, asked.block)
    out = folder / f"out-{asked.rows}-{asked.workers}-{asked.kill}"
    rng = np.random.default_rng(asked.seed)
    blocks = -(-asked.rows // asked.block)
    killed: list[int] = []
    options = {"block_rows": asked.block, "out": out, "force": True, "max_passes": asked.passes}
    options |= {"tree": asked.tree, "verbose": asked.verbose}
    began = cpu_of_process()
    if not asked.workers:
        found = cluster(data, said, asked.clusters, **options)
        workers_cpu = 0.0
    else:
        with local_workers(asked.workers, asked.limit) as client:
            few = np.random.default_rng(0).normal(size=(4_000, asked.features))  # loads libraries and compiled code
            cluster(few, None, 2, client=client, block_rows=500, out=folder / "out-few", force=True)
            before = sum(client.run(cpu_of_process).values())
            kills = {int(turn * blocks + 1 + rng.integers(blocks - 2)) for turn in range(asked.kill)}

            def kill(done: int, _: int) -> None:
                if done in kills:
                    kills.discard(done)
                    victim = sorted(client.run(os.getpid).values())[int(rng.integers(asked.workers))]
                    os.kill(victim, signal.SIGKILL)
                    killed.append(done)

            with progress(kill):
                found = cluster(data, said, asked.clusters, client=client, **options)
            workers_cpu = sum(client.run(cpu_of_process).values()) - before  # without those that were killed
    driver_cpu = cpu_of_process() - began
    passes = found.n_passes + 2
    if asked.tree:
        proof = found.tree_certificate
        tree = {"tree": str(proof), "tree_ok": proof.ok}
        if asked.rows <= 1_000_000:
            tree |= beside_one_machine(data, said, found, asked.clusters)
    else:
        tree = {}
    return {
        **tree,
        "rows": asked.rows,
        "blocks": blocks,
        "passes": passes,
        "certificate": str(found.certificate),
        "ok": found.certificate.ok,
        "labels": found.certificate.labels[:16],
        "cost": found.cost,
        "killed_after_blocks": killed,
        "driver_cpu_s": round(driver_cpu, 1),
        "workers_cpu_s": round(workers_cpu, 1),
        "workers_cpu_us_per_row_and_pass": round(1e6 * workers_cpu / asked.rows / passes, 3),
        "driver_peak_mib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024,
        "plan_driver_mib": found.plan.driver_bytes // 2**20,
    }


def beside_one_machine(data: Path, said: Path, found: ScaleClustering, k: int) -> dict[str, object]:
    """The adjusted Rand index of the clusters to those of SparseAgglomerative on the same rows and statements."""
    import pyarrow.parquet as pq
    from sklearn.metrics import adjusted_rand_score

    X = np.column_stack([column.to_numpy() for column in pq.read_table(data).columns]).astype(np.float64)
    table = pq.read_table(said)
    kind, both = np.array(table.column("kind")), np.column_stack([table.column(c).to_numpy() for c in "ab"])
    links = {f"{word}": both[kind == word] for word in ("must_link", "cannot_link")}
    began = time.process_time()
    one = SparseAgglomerative(k, refine=True).fit(X, constraints=Constraints.build(len(X), **links))
    spent = time.process_time() - began
    return {"ari_to_one_machine": round(adjusted_rand_score(found.labels, one.labels_), 4), "its_cpu_s": round(spent)}


def peers(folder: Path, asked: argparse.Namespace) -> dict[str, object]:
    """Cost without statements beside scikit-learn's KMeans with one start, for some seeds, and CPU time of both."""
    import pyarrow.parquet as pq
    from sklearn.cluster import KMeans

    data, _ = make(folder, asked.rows, 10, asked.features, asked.clusters, asked.block)
    X = np.column_stack([column.to_numpy() for column in pq.read_table(data).columns])
    ratios, ours, theirs = [], 0.0, 0.0
    for seed in range(asked.seeds):
        began = time.process_time()
        out = folder / "out-peers"
        found = cluster(data, None, asked.clusters, block_rows=asked.block, out=out, force=True, random_state=seed)
        middle = time.process_time()
        model = KMeans(asked.clusters, n_init=1, random_state=seed).fit(X)
        ours, theirs = ours + middle - began, theirs + time.process_time() - middle
        ratios.append(found.cost / model.inertia_)
    return {
        "rows": asked.rows,
        "cost_ratios": [round(r, 4) for r in ratios],
        "worst": max(ratios),
        "cpu_ratio": ours / theirs,
    }


def growth(folder: Path, asked: argparse.Namespace) -> dict[str, object]:
    """CPU time of tasks in this process for each row, by phase, with files of different numbers of rows."""
    spent: dict[str, float] = {}
    whole = _runner.run_task

    def timed(function, block, given):
        began = time.process_time()
        result = whole(function, block, given)
        spent[function.__name__] = spent.get(function.__name__, 0.0) + time.process_time() - began
        return result

    found: dict[str, object] = {}
    cluster(np.random.default_rng(0).normal(size=(4_000, asked.features)), None, 2, out=folder / "out-few", force=True)
    _runner.run_task = timed
    try:
        for rows in asked.growth * 2:  # forwards, and once more, so that a busy minute falls on all of them
            data, said = make(folder, rows, asked.statements, asked.features, asked.clusters, asked.block)
            spent.clear()
            options = {
                "block_rows": asked.block,
                "out": folder / "out-growth",
                "force": True,
                "max_passes": asked.passes,
            }
            passes = cluster(data, said, asked.clusters, **options).n_passes
            turns = {"fetch": 1, "step": passes, "write": 1}
            now = {name: 1e6 * seconds / rows / turns[name] for name, seconds in spent.items()}
            before = found.get(f"{rows}", {})
            found[f"{rows}"] = {name: round(min(before.get(name, np.inf), value), 4) for name, value in now.items()}
    finally:
        _runner.run_task = whole
    first, last = (found[f"{rows}"] for rows in (asked.growth[0], asked.growth[-1]))
    return {"us_per_row": found, "last_to_first": {name: round(last[name] / first[name], 3) for name in first}}


def model(folder: Path, asked: argparse.Namespace) -> dict[str, object]:
    """Constants of a task and of its part in the starting process; and what they come to on paper."""
    import cloudpickle

    from linkwise.scale._block_tasks import Shared, step
    from linkwise.scale._row_blocks import open_source

    rows, workers = asked.model
    data, _ = make(folder, asked.rows, 10, asked.features, asked.clusters, asked.block)
    source = open_source(str(data), asked.block, None, None)
    shared = Shared(str(folder / "shared"), source.columns, None)
    shared.put("rows", np.empty(0, dtype=np.int64))
    shared.put("centers", np.random.default_rng(0).normal(0, 1.5, (asked.clusters, asked.features)))
    step(source.blocks[0], shared, "centers")
    began = time.process_time()
    results = [step(block, shared, "centers") for block in source.blocks]
    task_s = (time.process_time() - began) / asked.rows
    there = len(cloudpickle.dumps((_runner.run_on_worker, "", step, source.blocks[-1], (shared, "centers"))))
    back = len(cloudpickle.dumps(results[0]))
    with local_workers(1, asked.limit) as client:
        few = np.random.default_rng(0).normal(size=(4_000, 2))
        cluster(few, None, 2, client=client, block_rows=500, out=folder / "out-few", force=True)
        began = time.process_time()
        found = cluster(
            few, None, 2, client=client, block_rows=10, max_passes=asked.passes, out=folder / "o", force=True
        )
        tasks = 400 * (found.n_passes + 2)
        driver_s = (time.process_time() - began) / tasks
    blocks = -(-rows // asked.block)
    k, d = asked.clusters, asked.features
    held = blocks * (8 * k * d + 1_000) + 8 * d * 65_536
    return {
        "constants": {
            "worker_cpu_us_per_row_and_pass": round(1e6 * task_s, 3),
            "starting_process_cpu_ms_per_task": round(1e3 * driver_s, 2),
            "bytes_to_worker_per_task": there,
            "bytes_back_per_task": back,
            "measured_tasks": tasks,
        },
        "on_paper": {
            "rows": rows,
            "workers": workers,
            "blocks": blocks,
            "worker_s_per_pass": round(task_s * rows / workers, 1),
            "starting_process_s_per_pass": round(driver_s * blocks, 1),
            "network_mib_per_pass": round(blocks * (there + back) / 2**20, 1),
            "storage_gib_per_pass_in_single_precision": round(4 * d * rows / 2**30, 1),
            "starting_process_mib_without_statements": round(held / 2**20, 1),
            "starting_process_bytes_per_named_row": 24 * d + 24 * k + 100,
        },
    }


def make_contradictory(folder: Path, rows: int, statements: int, k: int, planted: int) -> tuple[Path, list[int]]:
    """Write pairs that a division into k clusters keeps, and chains of must-links whose ends are apart."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    path, rng, batch = folder / f"gate-{rows}-{statements}.parquet", np.random.default_rng(0), 2**22
    apart: list[int] = []
    word = pa.array(["must_link", "cannot_link"])
    with pq.ParquetWriter(path, pa.schema([("kind", pa.string()), ("a", pa.int64()), ("b", pa.int64())])) as file:
        for first in range(0, statements, batch):
            count = min(batch, statements - first)
            a = rng.integers(0, rows, count)
            kind = (rng.random(count) < 0.5).astype(np.int8)
            b = (a + np.where(kind == 0, k * rng.integers(1, rows // k, count), rng.integers(1, k, count))) % rows
            other = (a % k == b % k) != (kind == 0)  # the last rows, where the number of rows is no multiple
            kind[other] = 1 - kind[other]
            kind[a == b] = 0
            mine = planted * (first + count) // statements - planted * first // statements
            for _ in range(mine):  # rows of a chain are beyond all others
                length = int(rng.integers(2, 40))
                begin = rows + 40 * len(apart)
                at = np.sort(rng.choice(count, length + 1, replace=False))
                a[at], b[at], kind[at] = (
                    np.r_[begin : begin + length, begin],
                    np.r_[begin + 1 : begin + length + 1, 0],
                    0,
                )
                b[at[-1]], kind[at[-1]] = begin + length, 1
                apart.append(first + int(at[-1]))
            file.write_table(pa.table({"kind": word.take(pa.array(kind)), "a": a, "b": b}), row_group_size=2**20)
    return path, apart


def gate(folder: Path, asked: argparse.Namespace) -> dict[str, object]:
    """Find planted contradictions among many statements; then decide the number of clusters of those without."""
    found: dict[str, object] = {"statements": asked.statements, "rows": asked.rows}
    for planted, k in ((50, None), (0, asked.clusters)):
        path, apart = make_contradictory(folder, asked.rows, asked.statements, asked.clusters, planted)
        began = time.process_time()
        verdict = check_files(path, k)
        spent = time.process_time() - began
        listed = [one.cannot_link.row for one in verdict.contradictions]
        if planted:
            proven = all(len(one.must_links) >= 2 for one in verdict.contradictions)
            found |= {"planted": planted, "all_found": listed == sorted(apart), "proven": proven}
        else:
            found |= {"n_clusters": k, "status": verdict.status, "because": verdict.because}
        name = "contradictions" if planted else "clusters"
        found[f"{name}_cpu_s_per_10_million"] = round(spent / asked.statements * 1e7, 1)
        found[f"{name}_peak_mib"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        path.unlink()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    numbers = {"rows": 1_000_000, "statements": 100_000, "features": 16, "clusters": 20, "block": 262_144}
    numbers |= {"workers": 2, "kill": 0, "passes": 5, "seed": 0, "seeds": 10}
    for name, value in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--limit", default="700MiB")
    for name in ("peers", "tree", "verbose"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--gate", action="store_true")
    parser.add_argument("--growth", type=int, nargs="+", metavar="ROWS")
    parser.add_argument("--model", type=int, nargs=2, metavar=("ROWS", "WORKERS"))
    asked = parser.parse_args()
    special = {"peers": peers, "gate": gate, "growth": growth, "model": model}
    measure = next((work for name, work in special.items() if getattr(asked, name)), run)
    asked.folder.mkdir(parents=True, exist_ok=True)
    print(json.dumps(measure(asked.folder, asked), indent=2))


if __name__ == "__main__":
    main()
