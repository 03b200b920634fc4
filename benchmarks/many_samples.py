"""Trees of many samples on one machine: time and cost beside other methods, memory, and the way through files.

    python -m benchmarks.many_samples FOLDER --speed 10000 30000 100000     # CPU seconds, cost, exponents, ARI
    python -m benchmarks.many_samples FOLDER --peers                        # beside dense Ward, scikit-learn, COPKMeans
    python -m benchmarks.many_samples FOLDER --quality                      # cost beside dense Ward, ten seeds
    python -m benchmarks.many_samples FOLDER --tree 1000000                 # Parquet beside Newick
    python -m benchmarks.many_samples FOLDER --journey --rows 1000000       # the commands of docs/many-samples.md

16 columns, 20 planted clusters, a tenth as many statements as rows, half of them must-links. One thread; compiled
before. Prints one JSON object; times are CPU seconds of the process, or of each command.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from linkwise import ConstrainedAgglomerative, Constraints, COPKMeans, SparseAgglomerative
from linkwise._threads import threads_at_most
from linkwise.engines import agglomerate, nearest_neighbors
from linkwise.io import read_tree, write_tree

K, D = 20, 16
SPREAD = {"separated": 4.0, "overlapping": 0.6}


def blobs(n: int, seed: int = 0, kind: str = "overlapping") -> tuple[Any, Any, Constraints]:
    """Rows, planted clusters, and statements."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    X = rng.normal(0, SPREAD[kind], (K, D))[y] + rng.normal(size=(n, D))
    a, b = rng.integers(0, n, (2, 4 * n))
    same, half = y[a] == y[b], n // 20
    must, cannot = (np.flatnonzero((same == held) & (a != b))[:half] for held in (True, False))
    links = [np.column_stack([a[at], b[at]]) for at in (must, cannot)]
    return X, y, Constraints.build(n, must_link=links[0], cannot_link=links[1])


def cost(X: Any, labels: Any) -> float:
    """The sum of squared distances to the means of clusters."""
    return float(sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in np.unique(labels)))


def timed(run: Callable[[], Any]) -> tuple[float, Any]:
    """CPU seconds on one thread, and the result."""
    began = time.process_time()
    with threads_at_most(1), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = run()
    return time.process_time() - began, found


def speed(sizes: list[int]) -> dict[str, Any]:
    """Time of the sparse path by number of rows, and the exponent between the first and the last size."""
    rows, spent = {}, []
    for n in [2_000, *sizes]:  # the first one compiles
        X, y, known = blobs(n)
        seconds, model = timed(lambda X=X, known=known: SparseAgglomerative(K).fit(X, constraints=known))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
        rows[n] = {"cpu_s": round(seconds, 2), "ari": round(adjusted_rand_score(y, model.labels_), 3), "peak_mib": peak}
        rows[n]["held"] = model.certificate_.ok
        spent.append(seconds)
    exponent = np.log(spent[-1] / spent[1]) / np.log(sizes[-1] / sizes[0]) if len(sizes) > 1 else None
    return {"sparse": rows, "exponent": None if exponent is None else round(float(exponent), 2)}


def peers(n: int) -> dict[str, Any]:
    """Time, cost and agreement with the planted clusters of several methods on the same rows."""
    from sklearn.cluster import AgglomerativeClustering, MiniBatchKMeans

    found: dict[str, Any] = {}
    for kind in SPREAD:
        X, y, known = blobs(n, kind=kind)
        runs: dict[str, Callable[[], Any]] = {
            "SparseAgglomerative": lambda X=X, c=known: SparseAgglomerative(K).fit(X, constraints=c).labels_,
            "SparseAgglomerative refine": lambda X=X, c=known: (
                SparseAgglomerative(K, refine=True).fit(X, constraints=c).labels_
            ),
            "COPKMeans": lambda X=X, c=known: COPKMeans(K, random_state=0).fit(X, constraints=c).labels_,
            "ConstrainedAgglomerative ward": lambda X=X, c=known: (
                ConstrainedAgglomerative(K, linkage="ward").fit(X, constraints=c).labels_
            ),
            "MiniBatchKMeans": lambda X=X: MiniBatchKMeans(K, random_state=0, n_init=1).fit(X).labels_,
        }
        runs |= _fast_hdbscan(X, known)
        few, _, some = blobs(2_000, kind=kind)
        for run in runs.values():
            if run.__code__.co_argcount == 2:  # compiles
                timed(lambda run=run, few=few, some=some: run(few, some))
        found[kind] = {}
        for name, run in runs.items():
            seconds, labels = timed(run)
            ari = round(adjusted_rand_score(y, labels), 3)
            found[kind][name] = {"cpu_s": round(seconds, 2), "cost": round(cost(X, labels)), "ari": ari}
    X = blobs(10_000)[0]
    graph = nearest_neighbors(X, 10)[0]
    matrix = _graph(graph)
    seconds, labels = timed(lambda: AgglomerativeClustering(K, connectivity=matrix).fit(X).labels_)
    own, ours = timed(lambda: SparseAgglomerative(K).fit(X, neighbors=graph).labels_)
    same = {"cpu_ratio": round(own / seconds, 3), "cost_ratio": round(cost(X, ours) / cost(X, labels), 4)}
    return found | {"beside_scikit_learn_ward_on_the_same_graph_10000": same}


def _fast_hdbscan(X: Any, known: Constraints) -> dict[str, Callable[[], Any]]:
    try:
        from fast_hdbscan import HDBSCAN
    except ImportError:
        return {}  # its own project: pip install fast_hdbscan
    pairs = known.of("cannot_link")
    return {"fast_hdbscan": lambda: HDBSCAN(min_cluster_size=50).fit(X, cannot_link=pairs).labels_}


def _graph(index: Any) -> Any:
    import scipy.sparse

    n, k = index.shape
    found = scipy.sparse.csr_array((np.ones(n * k), index.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return found.maximum(found.T).tocsr()


def quality(n: int, seeds: int) -> dict[str, Any]:
    """Cost and agreement with the planted clusters beside dense Ward, under pairs."""
    costs, gaps = [], []
    for seed in range(seeds):
        X, y, known = blobs(n, seed)
        _, sparse = timed(lambda X=X, c=known: SparseAgglomerative(K).fit(X, constraints=c).labels_)
        _, dense = timed(lambda X=X, c=known: ConstrainedAgglomerative(K, linkage="ward").fit(X, constraints=c).labels_)
        costs.append(cost(X, sparse) / cost(X, dense))
        gaps.append(adjusted_rand_score(y, sparse) - adjusted_rand_score(y, dense))
    return {
        "rows": n,
        "seeds": seeds,
        "cost_ratio": round(float(np.mean(costs)), 4),
        "ari_gap": round(float(np.mean(gaps)), 4),
    }


def tree(folder: Path, n: int) -> dict[str, Any]:
    """Time of writing and reading a tree as Parquet, beside Newick."""
    made = agglomerate(np.random.default_rng(0).normal(size=(20_000, 2)), method="ward")
    copies = -(-n // made.n_samples)
    from linkwise import Dendrogram

    m, inner = made.n_samples, len(made.parent) - made.n_samples
    shift = np.arange(copies)[:, None]
    parent = made.parent[None] - m
    parent = np.where(made.parent[None] < 0, -1, copies * m + shift * inner + parent)
    large = Dendrogram(
        copies * m,
        np.concatenate([parent[:, :m].ravel(), parent[:, m:].ravel()]),
        np.concatenate([np.zeros(copies * m), np.tile(made.raw_height[m:], copies)]),
    )
    found: dict[str, Any] = {"rows": large.n_samples}
    for ending in ("parquet", "nwk"):
        path = folder / f"tree.{ending}"
        found[f"write_{ending}"] = round(timed(lambda path=path: write_tree(path, large))[0], 2)
        found[f"read_{ending}"] = round(timed(lambda path=path: read_tree(path))[0], 2)
    found["ratio"] = round(
        (found["write_parquet"] + found["read_parquet"]) / (found["write_nwk"] + found["read_nwk"]), 3
    )
    return found


def journey(folder: Path, n: int) -> dict[str, Any]:
    """CPU seconds and peak memory of each command of the journey in docs/many-samples.md."""
    page = (Path(__file__).parents[1] / "docs" / "many-samples.md").read_text(encoding="utf-8")
    part = page.split("## A million rows", 1)[1].split("\n## ", 1)[0]
    (code,), (commands,) = (re.findall(rf"```{lang}\n(.*?)```", part, flags=re.DOTALL) for lang in ("python", "sh"))
    os.chdir(folder)
    subprocess.run([sys.executable, "-c", code.replace("1_000_000", str(n))], check=True)
    found: dict[str, Any] = {"rows": n}
    for line in commands.strip().splitlines():
        words = [*shlex.split(line)[1:], "--force"]
        words = words[:-1] if words[0] == "check" else words
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "linkwise", *words], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found[line] = {"cpu_s": round(spent, 1), "peak_mib_so_far": after.ru_maxrss // 1024}
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--speed", type=int, nargs="+")
    parser.add_argument("--tree", type=int)
    for name in ("peers", "quality", "journey"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--seeds", type=int, default=10)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    found: dict[str, Any] = {}
    if asked.speed:
        found |= speed(asked.speed)
    if asked.peers:
        found |= peers(asked.rows)
    if asked.quality:
        found |= quality(min(asked.rows, 10_000), asked.seeds)
    if asked.tree:
        found |= tree(asked.folder, asked.tree)
    if asked.journey:
        found |= journey(asked.folder, asked.rows)
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
