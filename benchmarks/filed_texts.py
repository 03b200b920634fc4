"""Texts as a user has them, some filed in folders: from two files to a refined hierarchy, scored against the truth.

    LINKWISE_DATA=folder python benchmarks/filed_texts.py                       four sets
    LINKWISE_DATA=folder python benchmarks/filed_texts.py --only news_tree_100 --per-class 10
    python benchmarks/filed_texts.py --quick                                    made-up texts: does it run?

The texts of a set are written to ``texts.csv`` and the folders of some to ``folders.csv``: of each class up to 30 (of
twenty newsgroups 20), but at most a third. Words of a set come as often as it counts them; the terms of the Reuters
sets are weights without words, so that each comes once, under a number. Then the command line is run as a user would:
``linkwise cluster --method biihac`` and ``linkwise refine``; the first column is the tree without folders.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import io
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import linkwise
from linkwise.cli import main as run_linkwise
from linkwise.datasets import Data, load
from linkwise.metrics import class_f, h_correlation
from linkwise.sources import Taxonomy

SETS = ("reuters1_like", "reuters2_like", "banksearch_lda_100", "news_tree_100")
PER_CLASS = {"news_tree_100": 20}  # else 30: all triplets of 30 in each of 20 groups would take gigabytes
UNKNOWN = {"news_tree_100": "rec.sport.hockey"}
CLUSTER = ["cluster", "texts.csv", "--id", "id", "--text", "text", "-c", "folders.csv", "-k", "10"]
PLAIN = ["--method", "bihac", "--set", "max_iter=1", "--set", "error_weights=uniform"]


def made_up() -> Data:
    """Make forty texts on four nodes of a small tree."""
    rng = np.random.default_rng(0)
    node = np.repeat([1, 2, 4, 5], 10)
    own = np.arange(60) % 6 == node[:, None]
    X = sp.csr_array(rng.poisson(0.3, size=(40, 60)) + rng.poisson(2.0, size=(40, 60)) * own)
    tree = Taxonomy([-1, 0, 0, -1, 3, 3], node, names=["a", "b", "c", "d", "e", "f"])
    return Data(X, node, "made up", taxonomy=tree)


def words_of(data: Data) -> list[str]:
    """Write every sample as words: as often as they are counted, or once where a set has weights."""
    X: Any = sp.csr_array(data.X)
    word = np.array(data.feature_names or [f"term{j}" for j in range(X.shape[1])])
    counted = np.array_equal(X.data, np.round(X.data))
    times = X.data.astype(int) if counted else np.ones(X.nnz, dtype=int)
    rows = (slice(X.indptr[i], X.indptr[i + 1]) for i in range(X.shape[0]))
    return [" ".join(np.repeat(word[X.indices[row]], times[row]).tolist()) for row in rows]


def paths_of(tree: Taxonomy) -> list[str]:
    """Return the folder of each node, from the top."""
    paths: list[str] = []
    for v in range(tree.n_nodes):
        names, at = [], v
        while at >= 0:
            names.append(str(tree.names[at]).replace("/", " "))
            at = int(tree.parent[at])
        paths.append("/".join(reversed(names)))
    return paths


def file_some(tree: Taxonomy, per_class: int, unknown: str, draw: int) -> np.ndarray[Any, Any]:
    """Draw the samples that have a folder."""
    rng = np.random.default_rng([1, per_class, draw])
    filed = []
    for v in np.unique(tree.node):
        members = rng.permutation(np.flatnonzero(tree.node == v))
        if tree.names[v] != unknown:
            filed.append(members[: min(per_class, max(1, len(members) // 3))])
    return np.concatenate(filed)


def journey(data: Data, per_class: int, unknown: str, runs: int, draw: int = 0) -> str:
    """Write the files, run the command line on them, and word what comes out as a row."""
    tree: Any = data.taxonomy
    paths, filed = paths_of(tree), file_some(tree, per_class, unknown, draw)
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        _write("texts.csv", [("id", "text"), *((f"t{i}", text) for i, text in enumerate(words_of(data)))])
        _write("folders.csv", [("sample", "path"), *((f"t{i}", paths[tree.node[i]]) for i in filed)])
        _run([*CLUSTER, *PLAIN, "-o", "plain"])
        _run([*CLUSTER, "--method", "biihac", "--set", f"max_iter={runs}", "-o", "out"])
        said = _run(["refine", "out", "folders.csv", "-o", "refined.csv"])
        plain, found = (linkwise.load(Path(name) / "model.lwm").dendrogram_ for name in ("plain", "out"))
        with Path("refined.csv").open(newline="", encoding="utf-8") as file:
            place = {row["sample"]: (row["path"], row["how"]) for row in csv.DictReader(file)}
    fresh = np.setdiff1d(np.arange(data.n_samples), filed)
    known = [i for i in fresh if tree.names[tree.node[i]] != unknown]
    placed = np.mean([place[f"t{i}"] == (paths[tree.node[i]], "placed") for i in known])
    hidden = [place[f"t{i}"][1] == "new" for i in fresh if tree.names[tree.node[i]] == unknown]
    new = sum(how == "new" for _, how in place.values())
    classes = class_f(tree, found, labeled=filed)
    return (
        f"| {data.name}{f', {unknown} unknown' if unknown else ''} | {len(filed)} of {data.n_samples:,} | "
        f"{h_correlation(tree, plain):.3f} → {h_correlation(tree, found):.3f} | "
        f"{classes.leaf:.3f}, {classes.higher:.3f} | "
        f"{placed:.0%} | {new}{f', {sum(hidden)} of {len(hidden)} unknown' if unknown else ''} |\n"
        + "".join(f"    {line}\n" for line in said.partition("New branches")[2].splitlines()[1:])
    )


def _write(name: str, rows: Any) -> None:
    with Path(name).open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows(rows)


def _run(words: list[str]) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(io.StringIO()):
        status = run_linkwise(words)
    if status:
        msg = f"linkwise {' '.join(words)} ended with {status}."
        raise RuntimeError(msg)
    return said.getvalue()


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="filed_texts.py", description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(SETS), choices=list(SETS), metavar="SET")
    parser.add_argument("--per-class", type=int, help="texts with a folder, of each class")
    parser.add_argument("--draw", type=int, default=0, help="which documents have folders")
    parser.add_argument("--quick", action="store_true", help="made-up texts: shows that it runs")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    print("| set | with a folder | H-correlation, HAC → biiHAC | F, leaf and higher classes | placed | on branches |")
    print("|---|---|---|---|---|---|")
    if given.quick:
        print(journey(made_up(), 3, "b", 3, given.draw), end="")
        return 0
    for name in given.only:
        per_class = given.per_class or PER_CLASS.get(name, 30)
        print(journey(load(name), per_class, UNKNOWN.get(name, ""), 20, given.draw), end="", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
