"""Small tasks of every kind, printed as digests of their results: interpreted and compiled kernels must give the same.

``python -m tests.small_work 3`` prints a line for each journey, the functions compiled for them, and one for each task
on three random data sets. It compiles nothing for the journeys where ``NUMBA_CACHE_DIR`` names an empty folder, and all
with ``LINKWISE_INTERPRET=0``. Names of tasks after the number select some.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("LINKWISE_QUIET", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np
from numba.core import event
from sklearn.datasets import load_iris

import linkwise as lw
from linkwise import Constraints, engines
from linkwise._kernels import _tier
from linkwise.active import Dialogue
from linkwise.exceptions import LinkwiseError


def statements(y: Any, rng: np.random.Generator) -> tuple[Constraints, Constraints]:
    """Forty true pairs and thirty true triplets."""
    n = len(y)
    a, b = np.array([rng.choice(n, 2, replace=False) for _ in range(40)]).T
    pairs = Constraints.build(n, must_link=np.c_[a, b][y[a] == y[b]], cannot_link=np.c_[a, b][y[a] != y[b]])
    trios = np.array([rng.choice(n, 3, replace=False) for _ in range(300)])
    good = (y[trios[:, 0]] == y[trios[:, 1]]) & (y[trios[:, 0]] != y[trios[:, 2]])
    return pairs, Constraints.build(n, triplets=trios[good][:30])


def journeys(n: int = 150) -> Iterator[tuple[str, Callable[[], Any]]]:
    """The first steps of a newcomer, on iris, in the library and on the command line; or the same on more samples."""
    X, y = load_iris(return_X_y=True)
    if n != len(X):
        y = np.arange(n) % 3
        X = np.random.default_rng(0).normal(size=(n, 4)) + 4 * y[:, None]
    pairs, triplets = statements(y, np.random.default_rng(0))
    yield "agglomerative", lambda: lw.ConstrainedAgglomerative(3).fit(X)
    yield "agglomerative-pairs", lambda: lw.ConstrainedAgglomerative(3).fit(X, constraints=pairs)
    yield "cluster-pairs", lambda: lw.cluster(X, pairs)
    yield "cluster-triplets", lambda: lw.cluster(X, triplets)
    yield "recon", lambda: lw.ReCon().fit(X, constraints=triplets)
    yield "cop-kmeans", lambda: lw.COPKMeans(3, random_state=0).fit(X, constraints=pairs)
    yield "check", lambda: (lw.check(pairs, n_clusters=3), lw.check(triplets))
    quarrel = pairs | Constraints.build(n, must_link=np.arange(0, 150, 10).reshape(-1, 3)[:, :2])
    yield "repair", lambda: lw.repair(quarrel, random_state=0)
    yield "dialogue", lambda: ask(X, y, 3)
    yield "command-line", lambda: command_line(X[:112] if n == 150 else X, y)
    yield "chain", lambda: chain(500)


def random_tasks(seed: int) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Methods on random data, rounded so that distances tie."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 190))
    y = rng.integers(0, 4, n)
    X = np.round(rng.normal(size=(n, int(rng.integers(1, 12)))) + 3 * y[:, None], int(rng.integers(0, 3)))
    pairs, triplets = statements(y, rng)
    for linkage in ("single", "complete", "average", "weighted", "ward", "centroid", "median"):
        fit = engines.ConstrainedAgglomerative(3, linkage=linkage)
        for name, table in (("plain", None), ("pairs", pairs)):
            yield f"{linkage}-{name}", lambda fit=fit, table=table: fit.fit(X, constraints=table)
    for linkage in ("average", "centroid"):
        yield f"recon-{linkage}", lambda linkage=linkage: lw.ReCon(linkage=linkage).fit(X, constraints=triplets)
    for name in ("COPKMeans", "PCKMeans", "MPCKMeans", "ConstrainedGaussianMixture", "PenalizedMixture"):
        method = getattr(engines, name)(4, random_state=0)
        yield name, lambda method=method: method.fit(X, constraints=pairs)
    yield "check", lambda: (lw.check(pairs, n_clusters=4), lw.check(triplets))
    quarrel = pairs | Constraints.build(n, must_link=rng.permutation(n)[:16].reshape(-1, 2))
    yield "repair", lambda: lw.repair(quarrel, random_state=0)
    yield "questions", lambda: ask(X, y, 3)


def ask(X: Any, y: Any, many: int) -> Any:
    talk, asked = Dialogue(X), []
    for _ in range(many):
        query = talk.ask()
        asked.append(tuple(query.items))
        a, b = query.items[:2]
        talk.tell(query, bool(y[a] == y[b]))
    return asked, talk.fit()


def chain(n: int) -> Any:
    """A tree as deep as it has leaves."""
    triplets = Constraints.build(n, triplets=[(i, i + 1, i + 2) for i in range(n - 2)])
    parent = lw.problem.onetree(n, np.array(triplets.items)).parent
    tree = lw.Dendrogram(n, parent, np.maximum(np.arange(len(parent)) - n + 1.0, 0.0))
    return tree, tree.depth, lw.check(triplets), tree.cut(n_clusters=5), tree.to_newick()


def command_line(X: Any, y: Any) -> Any:
    """The demonstration, two questions, and a clustering with report and picture."""
    from linkwise.cli import main

    rows = ("".join(f",{value}" for value in row) for row in X)
    Path("data.csv").write_text("id,a,b,c,d\n" + "".join(f"p{i}{row}\n" for i, row in enumerate(rows)))
    links = [f"{'must' if y[i] == y[i + 40] else 'cannot'}_link,p{i},p{i + 40}\n" for i in range(20)]
    Path("pairs.csv").write_text("kind,a,b\n" + "".join(links))
    data, printed, before = ["data.csv", "--id", "id"], io.StringIO(), sys.stdin
    sys.stdin = io.StringIO("y\nn\n")
    try:
        with contextlib.redirect_stdout(printed):
            assert main(["cluster", *data, "-c", "pairs.csv", "-k", "3", "--effort", "quick", "-o", "out"]) == 0
            assert main(["plot", "out", "-o", "tree.png"]) == 0
            assert main(["report", "out", "-o", "report.html"]) == 0
            assert main(["ask", *data, "-l", "log", "--budget", "2"]) == 0
            assert main(["demo", "-o", "demo"]) == 0
    finally:
        sys.stdin = before
    return printed.getvalue(), Path("out/labels.csv").read_text(), Path("demo/tree.nwk").read_text()


def parts(result: Any) -> Iterator[bytes]:
    """The bits of a result: arrays, numbers and texts of an estimator, a tuple or an outcome, with their types."""
    if isinstance(result, np.ndarray):
        yield f"{result.dtype}{result.shape}".encode()
        yield repr(result.tolist()).encode() if result.dtype == object else np.ascontiguousarray(result).tobytes()
    elif isinstance(result, (tuple, list)):
        for part in result:
            yield from parts(part)
    elif isinstance(result, (str, int, float, bool, np.generic, type(None))):
        yield f"{type(result).__name__} {result!r}".encode()
    elif isinstance(result, lw.Dendrogram):
        yield from parts((result.parent, result.height))
    else:
        for name, value in sorted(getattr(result, "__dict__", {}).items()):
            if isinstance(value, (np.ndarray, str, int, float, lw.Dendrogram)):
                yield name.encode()
                yield from parts(value)


def run(label: str, tasks: Iterable[tuple[str, Callable[[], Any]]], only: list[str]) -> None:
    for name, task in tasks:
        if not only or name in only:
            try:
                result = task()
            except LinkwiseError as refused:
                result = str(refused)
            print(f"{label} {name}: {hashlib.sha256(b'|'.join(parts(result))).hexdigest()[:16]}")


def main(n_seeds: int, only: list[str]) -> None:
    compiled = []

    class Count(event.Listener):  # type: ignore[misc]
        def on_start(self, event: Any) -> None:
            compiled.append(event.data["dispatcher"].py_func.__qualname__)

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Count())
    warnings.simplefilter("ignore")
    run("journey", journeys(), only)
    print("compiled:", *sorted(set(compiled)))
    _tier._counted = range  # from here on no kernel is interpreted too long
    for scope in _tier._SCOPES.values():
        scope["range"] = range
    for seed in range(1, n_seeds + 1):
        run(f"seed {seed}", random_tasks(seed), only)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        main(int(sys.argv[1]), sys.argv[2:])
