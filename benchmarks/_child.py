"""One measurement in a process of its own: read a job from the command line, print what was measured as JSON.

Kept apart so that the process that draws the tables stays small: the operating system counts a parent's memory into the
peak of the children it starts.
"""

from __future__ import annotations

import gc
import itertools
import json
import sys
import time
from typing import Any

TINY = 50


def peak_bytes() -> int | None:
    """Most memory this process has held so far, or None where the system does not say."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else peak * 1024


def compare(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Run every contender once per round, in alternating order; round zero is a warm-up and is not kept.

    With ``fresh`` the warm-up sees the first samples only, so that the measured call is the first of its size and
    meets memory that the process has not touched yet.
    """
    from benchmarks import _data
    from benchmarks._contenders import runner, tree_digest

    make = dict(job["data"])
    X, y = getattr(_data, make.pop("make"))(**make)
    contenders, few = job["contenders"], job.get("warm-up", TINY)
    known = [_data.statements(y, *spec.get("said", ("links", 0))) for spec in contenders]
    results: list[dict[str, Any]] = [{"wall": [], "cpu": []} for _ in contenders]
    runs: list[Any] = []
    for spec, result, said in zip(contenders, results, known, strict=True):
        try:
            run = runner(spec)
            run(X[:few], said[:few])
            if not job["fresh"]:
                run(X, said)
        except Exception as error:  # noqa: BLE001  a peer may fail in any way; the table says so
            result["error"] = f"{type(error).__name__}: {error}"
            run = None
        runs.append(run)
    before = peak_bytes()
    for turn in range(job["rounds"]):
        order = range(len(contenders)) if turn % 2 == 0 else reversed(range(len(contenders)))
        for i in order:
            if runs[i] is None:
                continue
            gc.collect()
            wall, cpu = time.perf_counter(), time.process_time()
            outcome = runs[i](X, known[i])
            results[i]["cpu"].append(time.process_time() - cpu)
            results[i]["wall"].append(time.perf_counter() - wall)
            if turn == 0:
                after = peak_bytes()
                if job["fresh"] and before is not None and after is not None:
                    results[i]["peak"] = after - before
                results[i]["tree"] = tree_digest(outcome, len(X))
                if known[i].n_statements:
                    results[i]["broken"] = _broken(outcome, known[i], contenders[i])
            del outcome
    for result in results:
        result["data_bytes"] = X.nbytes
    return results


def _broken(outcome: Any, known: Any, spec: dict[str, Any]) -> int | None:
    """Count broken triplets; links hold in a cut, which the estimator marks, or is made at ``k`` clusters."""
    from linkwise import Dendrogram, Kind, verify

    if "k" in spec:
        tree = outcome
        if not isinstance(tree, Dendrogram):  # a merge at height infinity counts as one like any other, made last
            merges = outcome[:, :2].astype(int)
            tree = Dendrogram.from_merges(len(outcome) + 1, merges, range(len(merges)))
        return len(verify(tree.cut(n_clusters=max(spec["k"], tree.n_roots)), known).violated)
    unmarked_links = outcome.marked is None and bool((known.kind != Kind.TRIPLET).any())
    return None if unmarked_links else int((~outcome.satisfies(known)).sum())


def live(job: dict[str, Any]) -> dict[str, Any]:
    """Add triplets of a random tree to a live set, all in one call and one call each; seconds per triplet."""
    from benchmarks._data import random_tree, triplets_of_tree
    from linkwise import Kind
    from linkwise.problem import LiveTriplets

    n, m = job["n"], job["m"]
    triplets = triplets_of_tree(random_tree(n), m).of(Kind.TRIPLET)
    rows = triplets.tolist()
    contradictions = [(a, c, b) for a, b, c in rows[:1000]]
    found: dict[str, Any] = {"add_many": [], "add": [], "refuse": [], "worst": [], "refused": 0}
    for turn in range(job["rounds"] + 1):  # the first turn is a warm-up
        start = time.perf_counter()
        LiveTriplets(n).add_many(triplets)
        many = time.perf_counter() - start
        one = LiveTriplets(n)
        laps = [time.perf_counter()]
        for a, b, c in rows:
            one.add(a, b, c)
            laps.append(time.perf_counter())
        start = time.perf_counter()
        refused = sum(not one.add(a, b, c) for a, b, c in contradictions)
        refusing = time.perf_counter() - start
        if turn:
            found["add_many"].append(many / m)
            found["add"].append((laps[-1] - laps[0]) / m)
            found["worst"].append(max(after - before for before, after in itertools.pairwise(laps)))
            found["refuse"].append(refusing / len(contradictions))
    if len(one) != m or refused != len(contradictions):
        msg = f"the live set kept {len(one)} of {m} triplets and refused {refused} of {len(contradictions)}."
        raise AssertionError(msg)
    return found


def build(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Build the tree of triplets of a random tree, every contender once per round after a warm-up that is not kept."""
    from benchmarks import _data
    from benchmarks._contenders import builder, tree_digest
    from linkwise import Kind

    n, m, shape = job["n"], job["m"], job["shape"]
    if shape == "chain":
        triplets = _data.chain(n)
    else:
        triplets = _data.triplets_of_tree(_data.tree_of_shape(n, shape), m).of(Kind.TRIPLET)
    calls = [builder(who, n, triplets) for who in job["contenders"]]
    results: list[dict[str, Any]] = []
    for call, plain in calls:
        results.append({"wall": [], "cpu": [], "tree": tree_digest(plain(call()), n)})
    for turn in range(job["rounds"]):
        for i in range(len(calls)) if turn % 2 == 0 else reversed(range(len(calls))):
            gc.collect()
            wall, cpu = time.perf_counter(), time.process_time()
            outcome = calls[i][0]()
            results[i]["cpu"].append(time.process_time() - cpu)
            results[i]["wall"].append(time.perf_counter() - wall)
            del outcome
    return results


def propagation(job: dict[str, Any]) -> list[dict[str, Any]]:
    """Propagate must-links, by the library and by one NumPy statement per linked sample, in turns."""
    import numpy as np

    from benchmarks import _data
    from linkwise import Kind
    from linkwise.engines import propagate
    from linkwise.engines.distances._dense import square_distances

    X, y = _data.blobs(job["n"], d=job["d"], classes=job["classes"])
    known = _data.must_links_of_classes(y, job["linked"] // 2)
    pairs = known.of(Kind.MUST_LINK)
    dtype = np.dtype(job["dtype"])

    def ours() -> Any:
        return propagate(X, known, dtype=dtype)

    def literal() -> Any:
        D = square_distances(X.astype(dtype), dtype=dtype)
        D[pairs[:, 0], pairs[:, 1]] = D[pairs[:, 1], pairs[:, 0]] = 0
        for p in np.unique(pairs):
            D = np.minimum(D, D[:, p, None] + D[None, p])
        return D

    propagate(X[:TINY], known[:TINY], dtype=dtype)
    ours()
    results: list[dict[str, Any]] = [{"wall": [], "cpu": []}, {"wall": [], "cpu": []}]
    found: list[Any] = [None, None]
    for _ in range(job["rounds"]):
        for i, run in enumerate((ours, literal)):
            gc.collect()
            wall, cpu = time.perf_counter(), time.process_time()
            found[i] = run()
            results[i]["cpu"].append(time.process_time() - cpu)
            results[i]["wall"].append(time.perf_counter() - wall)
    results[0]["off"] = float(np.abs(found[0] - found[1]).max() / found[1].max())
    results[0]["linked"] = int(np.unique(pairs).size)
    return results


def first_fit(job: dict[str, Any]) -> dict[str, Any]:
    """Import an estimator, then fit it for the first time in this process."""
    start = time.perf_counter()
    import linkwise

    estimator = getattr(linkwise, job["estimator"])()
    imported = time.perf_counter() - start

    from benchmarks import _data

    X, y = _data.blobs(job["n"])
    known = _data.statements(y, job["said"], job["n"])
    if estimator.understands >= {linkwise.Kind.MUST_LINK}:
        estimator.n_clusters = None
    wall, cpu = time.perf_counter(), time.process_time()
    estimator.fit(X, constraints=known)
    return {"import": imported, "wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


JOBS = {"compare": compare, "live": live, "build": build, "propagation": propagation, "first_fit": first_fit}

if __name__ == "__main__":
    task = json.loads(sys.argv[1])
    print(json.dumps(JOBS[task["job"]](task)))
