"""Trees of many samples on one machine: time and cost beside other methods, memory, and the way through files.

    python -m benchmarks.many_samples FOLDER --speed 10000 30000 100000     # CPU seconds, cost, exponents, ARI
    python -m benchmarks.many_samples FOLDER --speed 10000 100000 --data separated numeric embedding
    python -m benchmarks.many_samples FOLDER --dense 10000 30000            # exponents of the methods that compare all
    python -m benchmarks.many_samples FOLDER --peers                        # beside dense Ward, scikit-learn, COPKMeans
    python -m benchmarks.many_samples FOLDER --quality                      # cost beside dense Ward, ten seeds
    python -m benchmarks.many_samples FOLDER --front                        # `cluster` beside COPKMeans
    python -m benchmarks.many_samples FOLDER --stops --rows 100000          # how long Ctrl-C can wait
    python -m benchmarks.many_samples FOLDER --apart 60000                  # COPKMeans under a million cannot-links
    python -m benchmarks.many_samples FOLDER --records 20001                # records through the command
    python -m benchmarks.many_samples FOLDER --tree 1000000                 # Parquet beside Newick
    python -m benchmarks.many_samples FOLDER --journey --rows 1000000       # the commands of docs/many-samples.md

16 columns, 20 planted clusters, a tenth as many statements as rows, half of them must-links; "numeric" has 54 columns
of measurements, counts and flags, "embedding" 128 columns of unit rows. One thread; compiled before. Prints one JSON
object; times are CPU seconds of the process, or of each command.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.metrics import adjusted_rand_score

from linkwise import (
    ConstrainedAgglomerative,
    ConstrainedCompleteLink,
    Constraints,
    COPKMeans,
    Kind,
    ReCon,
    SparseAgglomerative,
    cluster,
)
from linkwise._threads import threads_at_most
from linkwise.engines import agglomerate, nearest_neighbors
from linkwise.io import read_tree, write_tree

K, D = 20, 16
SPREAD = {"separated": 4.0, "overlapping": 0.6}


def blobs(n: int, seed: int = 0, kind: str = "overlapping") -> tuple[Any, Any, Constraints]:
    """Rows, planted clusters, and statements."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    if kind in SPREAD:
        X = rng.normal(0, SPREAD[kind], (K, D))[y] + rng.normal(size=(n, D))
    else:
        X = {"numeric": _numeric, "embedding": _embedding}[kind](y, rng)
    a, b = rng.integers(0, n, (2, 4 * n))
    same, half = y[a] == y[b], n // 20
    must, cannot = (np.flatnonzero((same == held) & (a != b))[:half] for held in (True, False))
    links = [np.column_stack([a[at], b[at]]) for at in (must, cannot)]
    return X, y, Constraints.build(n, must_link=links[0], cannot_link=links[1])


def _numeric(y: Any, rng: Any) -> Any:
    """10 measurements, some skewed and some counted, that depend on each other, and 44 flags of two choices."""
    n = len(y)
    some = rng.normal(0, 1.2, (K, 10))[y] + rng.normal(size=(n, 10)) @ rng.normal(0, 0.6, (10, 10))
    some[:, :3] = np.exp(0.7 * some[:, :3])
    some[:, 3:6] = np.round(3 * some[:, 3:6])
    flags = np.zeros((n, 44))
    for begin, count in ((0, 4), (4, 40)):
        taste = rng.dirichlet(np.full(count, 0.3), K).cumsum(axis=1)
        choice = (rng.random(n)[:, None] > taste[y]).sum(axis=1).clip(max=count - 1)
        flags[np.arange(n), begin + choice] = 1
    X = np.column_stack([some, flags])
    return (X - X.mean(axis=0)) / np.maximum(X.std(axis=0), 0.05)


def _embedding(y: Any, rng: Any) -> Any:
    """Unit rows of 128 columns that depend on 12 hidden ones."""
    hidden = rng.normal(0, 1.5, (K, 12))[y] + rng.normal(size=(len(y), 12))
    X = np.tanh(hidden @ rng.normal(0, 0.5, (12, 64))) @ rng.normal(size=(64, 128))
    X += rng.normal(0, 0.3, X.shape)
    return X / np.linalg.norm(X, axis=1, keepdims=True)


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


def speed(sizes: list[int], kinds: list[str]) -> dict[str, Any]:
    """Time of the sparse path by number of rows, and the exponent between the first and the last size."""
    found: dict[str, Any] = {}
    for kind in kinds:
        rows, spent = {}, []
        for n in [2_000, *sizes]:  # the first one compiles
            X, y, known = blobs(n, kind=kind)
            seconds, model = timed(lambda X=X, known=known: SparseAgglomerative(K).fit(X, constraints=known))
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
            ari = round(adjusted_rand_score(y, model.labels_), 3)
            rows[n] = {"cpu_s": round(seconds, 2), "ari": ari, "peak_mib": peak}
            rows[n] |= {"held": model.certificate_.ok, "dead_end": model.dead_end_, "audit": str(model.audit_)}
            spent.append(seconds)
        found[kind] = {"sparse": rows, "exponent": _exponent(sizes, spent[1:])}
    return found


def _exponent(sizes: list[int], spent: list[float]) -> float | None:
    if len(sizes) < 2:
        return None
    return round(float(np.log(spent[-1] / spent[0]) / np.log(sizes[-1] / sizes[0])), 2)


def dense(sizes: list[int]) -> dict[str, Any]:
    """Time of the methods that compare all samples, on overlapping clusters, and the exponents."""
    found: dict[str, Any] = {}
    runs: dict[str, Callable[..., Any]] = {
        "ward": lambda X, _, known: ConstrainedAgglomerative(K, linkage="ward").fit(X, constraints=known),
        "ward, nothing said": lambda X, *_: ConstrainedAgglomerative(K, linkage="ward").fit(X),
        "ReCon centroid, triplets": lambda X, y, _: ReCon(K, linkage="centroid").fit(X, constraints=_triplets(y)),
        "ConstrainedCompleteLink": lambda X, _, known: ConstrainedCompleteLink(K).fit(X, constraints=known),
    }
    for name, run in runs.items():
        fit = [n for n in sizes if name != "ConstrainedCompleteLink" or n <= 10_000]  # two matrices of all distances
        spent = []
        for n in [1_000, *fit]:
            X, y, known = blobs(n)
            spent.append(timed(lambda run=run, X=X, y=y, known=known: run(X, y, known))[0])
        found[name] = {"cpu_s": dict(zip(fit, (round(t, 2) for t in spent[1:]), strict=True))}
        found[name]["exponent"] = _exponent(fit, spent[1:])
    return {"dense": found}


def _triplets(y: Any) -> Constraints:
    a, b, c = np.random.default_rng(1).integers(0, len(y), (3, 40 * len(y)))
    some = np.flatnonzero((y[a] == y[b]) & (y[a] != y[c]) & (a != b))[: len(y) // 10]
    return Constraints.build(len(y), triplets=np.column_stack([a[some], b[some], c[some]]))


def peers(n: int) -> dict[str, Any]:
    """Time, cost and agreement with the planted clusters of several methods on the same rows."""
    from sklearn.cluster import MiniBatchKMeans

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
    return found | beside_scikit_learn()


def beside_scikit_learn() -> dict[str, Any]:
    """Time and cost of Ward linkage along the same graph by scikit-learn, nothing said."""
    from sklearn.cluster import AgglomerativeClustering

    X = blobs(10_000)[0]
    graph = nearest_neighbors(X, 10)[0]
    matrix = _graph(graph)
    timed(lambda: SparseAgglomerative(K).fit(X[:2_000]))  # compiles
    seconds, labels = timed(lambda: AgglomerativeClustering(K, connectivity=matrix).fit(X).labels_)
    own, ours = timed(lambda: SparseAgglomerative(K).fit(X, neighbors=graph).labels_)
    same = {"cpu_ratio": round(own / seconds, 3), "cost_ratio": round(cost(X, ours) / cost(X, labels), 4)}
    return {"beside_scikit_learn_ward_on_the_same_graph_10000": same}


def _fast_hdbscan(X: Any, known: Constraints) -> dict[str, Callable[[], Any]]:
    try:
        from fast_hdbscan import HDBSCAN
    except ImportError:
        return {}  # its own project: pip install fast_hdbscan
    pairs = known.of(Kind.CANNOT_LINK)
    return {"fast_hdbscan": lambda: HDBSCAN(min_cluster_size=50).fit(X, cannot_link=pairs).labels_}


def _graph(index: Any) -> Any:
    import scipy.sparse

    n, k = index.shape
    found = scipy.sparse.csr_array((np.ones(n * k), index.ravel(), np.arange(0, n * k + 1, k)), shape=(n, n))
    return found.maximum(found.T).tocsr()


def quality(n: int, seeds: int, names: list[str]) -> dict[str, Any]:
    """Cost and agreement with known clusters beside dense Ward, under pairs: planted clusters, or a known set."""
    found = {}
    for name in names or ["overlapping"]:
        costs, gaps = [], []
        for seed in range(seeds):
            if name in SPREAD:
                X, y, known = blobs(n, seed, name)
                k = K
            else:
                X, y, known = _known_set(name, seed)
                k = int(y.max()) + 1
            _, one = timed(lambda X=X, c=known, k=k: SparseAgglomerative(k).fit(X, constraints=c).labels_)
            _, all_ = timed(
                lambda X=X, c=known, k=k: ConstrainedAgglomerative(k, linkage="ward").fit(X, constraints=c).labels_
            )
            costs.append(cost(X, one) / cost(X, all_))
            gaps.append(adjusted_rand_score(y, one) - adjusted_rand_score(y, all_))
        ratio, gap = (round(float(np.mean(values)), 4) for values in (costs, gaps))
        found[name] = {"rows": len(X), "seeds": seeds, "cost_ratio": ratio, "ari_gap": gap}
    return {"quality": found}


def _known_set(name: str, seed: int) -> tuple[Any, Any, Constraints]:
    """A set with known classes, sparse text reduced to 50 columns, with a tenth as many pairs as rows."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.preprocessing import StandardScaler

    from linkwise.datasets import load

    data = load(name)
    X, y = data.X, np.unique(data.y, return_inverse=True)[1]
    X = TruncatedSVD(50, random_state=0).fit_transform(X) if hasattr(X, "tocsr") else StandardScaler().fit_transform(X)
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, len(y), (2, 20 * len(y)))
    same, half = y[a] == y[b], len(y) // 20
    must, cannot = (np.flatnonzero((same == held) & (a != b))[:half] for held in (True, False))
    links = [np.column_stack([a[at], b[at]]) for at in (must, cannot)]
    return X, y, Constraints.build(len(y), must_link=links[0], cannot_link=links[1])


def front(n: int) -> dict[str, Any]:
    """Cost and agreement of `cluster` with planted clusters that overlap, beside `COPKMeans`."""
    X, y, known = blobs(n)
    seconds, made = timed(lambda: cluster(X, known, K))
    spent, peer = timed(lambda: COPKMeans(K, random_state=0).fit(X, constraints=known))
    scores = [round(adjusted_rand_score(y, labels), 4) for labels in (made.labels, peer.labels_)]
    return {
        "front": {
            "method": type(made.estimator).__name__,
            "has_tree": made.dendrogram is not None,
            "cpu_s": [round(seconds, 2), round(spent, 2)],
            "cost_ratio": round(cost(X, made.labels) / cost(X, peer.labels_), 5),
            "ari": scores,
        }
    }


def stops(n: int) -> dict[str, Any]:
    """The longest stretches of a fit, in CPU seconds, in which Python looks at no signal such as that of Ctrl-C."""
    X, _, known = blobs(n)
    timed(lambda: SparseAgglomerative(K, refine=True).fit(X[:2_000]))
    gaps: list[tuple[float, str]] = []
    last = time.process_time()

    def look(_: int, frame: Any) -> None:
        nonlocal last
        now = time.process_time()
        names: list[str] = []
        while frame is not None and len(names) < 3:
            names.append(frame.f_code.co_name)
            frame = frame.f_back
        gaps.append((round(now - last, 2), " < ".join(names)))
        last = now

    signal.signal(signal.SIGPROF, look)
    signal.setitimer(signal.ITIMER_PROF, 0.02, 0.02)
    last = time.process_time()
    seconds, model = timed(lambda: SparseAgglomerative(K, refine=True).fit(X, constraints=known))
    signal.setitimer(signal.ITIMER_PROF, 0)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    found = {"rows": n, "cpu_s": round(seconds, 1), "held": model.certificate_.ok, "peak_mib": peak}
    return {"stops": found | {"longest_s": sorted(gaps, reverse=True)[:8]}}


def apart(n: int, clusters: int = 100, statements: int = 1_000_000) -> dict[str, Any]:
    """`COPKMeans` under a million cannot-links between planted clusters."""

    def draw(n: int, m: int) -> tuple[Any, Any, Constraints]:
        rng = np.random.default_rng(0)
        y = rng.integers(0, clusters, n)
        X = rng.normal(0, 1.5, (clusters, D))[y] + rng.normal(size=(n, D))
        a, b = rng.integers(0, n, (2, 2 * m))
        some = np.flatnonzero(y[a] != y[b])[:m]
        return X, y, Constraints.build(n, cannot_link=np.column_stack([a[some], b[some]]))

    X, _, known = draw(2_000, 10_000)
    timed(lambda: COPKMeans(clusters, random_state=0).fit(X, constraints=known))
    X, y, known = draw(n, statements)
    seconds, model = timed(lambda: COPKMeans(clusters, random_state=0).fit(X, constraints=known))
    ari = round(adjusted_rand_score(y, model.labels_), 3)
    found = {"cpu_s": round(seconds, 2), "inertia": round(model.inertia_, 1), "ari": ari, "held": model.certificate_.ok}
    return {"apart": {"rows": n, "cannot_links": known.n_statements} | found}


def records(folder: Path, n: int) -> dict[str, Any]:
    """CPU seconds of `linkwise cluster` on records, e-mail together and sources apart, beside one Ward fit of the same.

    Also those of `linkwise duplicates`, which needs no number of groups.
    """
    rng = np.random.default_rng(7)
    people = n * 4 // 7
    owner = np.sort(rng.integers(0, people, n))
    fresh = np.r_[True, owner[1:] != owner[:-1]]
    source = (np.arange(n) - np.flatnonzero(fresh)[np.cumsum(fresh) - 1]) + rng.integers(0, 4, people)[owner]
    keep = np.arange(n) - np.flatnonzero(fresh)[np.cumsum(fresh) - 1] < 4  # at most one for each of four sources
    owner, source = owner[keep], source[keep] % 4
    shown = rng.random(len(owner)) < 0.7
    numbers = rng.normal(size=(people, 6))[owner] + 0.1 * rng.normal(size=(len(owner), 6))
    letters = np.array(list("abcdefghijklmnopqrstuvwxyz"))
    names = ["".join(row) for row in letters[rng.integers(0, 26, (people, 9))]]
    typed = [names[o] if rng.random() < 0.7 else names[o][:3] + names[o][4:] for o in owner]
    lines = ["id,name,email,source," + ",".join(f"x{i}" for i in range(6))]
    for row in range(len(owner)):
        mail = f"{names[owner[row]]}@x.org" if shown[row] else ""
        values = ",".join(f"{value:.4f}" for value in numbers[row])
        lines.append(f"r{row},{typed[row]},{mail},{'ABCD'[source[row]]},{values}")
    path = folder / "records.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    k = len(np.unique(owner))
    with_mail = np.flatnonzero(shown)
    parts = np.split(with_mail, np.flatnonzero(np.diff(owner[with_mail])) + 1)
    mails = [rows.tolist() for rows in parts if len(rows) > 1]
    sides = [np.flatnonzero(source == side).tolist() for side in range(4)]
    known = Constraints.build(len(owner), together=mails, apart=sides)
    few = known[np.arange(len(owner) // 10)]
    timed(lambda: ConstrainedAgglomerative(None, linkage="ward").fit(numbers[: few.n_samples], constraints=few))
    alone, model = timed(lambda: ConstrainedAgglomerative(k, linkage="ward").fit(numbers, constraints=known))
    found: dict[str, Any] = {"rows": len(owner), "groups": k, "ward_cpu_s": round(alone, 2)}
    found["ward_held"] = model.certificate_.ok
    columns = [word for i in range(6) for word in ("--columns", f"x{i}")]
    out = str(folder / "records-out")
    base = ["cluster", str(path), "--id", "id", "--together", "email", "--apart", "source", "-k", str(k)]
    blocks = ["--block", "email,~name", "--compare", "name,email", "--apart", "source"]
    runs = {
        "cluster": [*base, *columns, "-o", out, "--force"],
        "duplicates": ["duplicates", str(path), "--id", "id", *blocks, "-o", str(folder / "groups.csv"), "--force"],
    }
    for name, words in runs.items():
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run([sys.executable, "-m", "linkwise", *words], capture_output=True, text=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        found[name] = {"cpu_s": round(spent, 2), "said": (done.stdout + done.stderr).strip().splitlines()[:6]}
    found["ratio"] = round(found["cluster"]["cpu_s"] / alone, 2)
    return {"records": found}


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
    for name in ("speed", "dense"):
        parser.add_argument(f"--{name}", type=int, nargs="+")
    for name in ("tree", "apart", "records"):
        parser.add_argument(f"--{name}", type=int)
    parser.add_argument("--data", nargs="+", default=["overlapping"], help=f"{', '.join(SPREAD)}, numeric, embedding")
    parser.add_argument("--sets", nargs="+", default=[], help="known sets for --quality, such as letter")
    for name in ("peers", "scikit", "quality", "front", "stops", "journey"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--rows", type=int, default=30_000)
    parser.add_argument("--seeds", type=int, default=10)
    asked = parser.parse_args()
    asked.folder.mkdir(parents=True, exist_ok=True)
    runs: dict[str, Callable[[], dict[str, Any]]] = {
        "speed": lambda: speed(asked.speed, asked.data),
        "dense": lambda: dense(asked.dense),
        "peers": lambda: peers(asked.rows),
        "scikit": beside_scikit_learn,
        "quality": lambda: quality(min(asked.rows, 10_000), asked.seeds, asked.sets),
        "front": lambda: front(asked.rows),
        "stops": lambda: stops(asked.rows),
        "apart": lambda: apart(asked.apart),
        "records": lambda: records(asked.folder, asked.records),
        "tree": lambda: tree(asked.folder, asked.tree),
        "journey": lambda: journey(asked.folder, asked.rows),
    }
    found: dict[str, Any] = {}
    for name, run in runs.items():
        if getattr(asked, name):
            found |= run()
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
