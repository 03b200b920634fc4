"""The experiment of Bade and Nürnberger (2009, section 5): HAC, iHAC, biHAC, biiHAC under three kinds of knowledge.

Some documents of each class are labelled, and everything the taxonomy says about them is a statement. Setting 1 labels
documents of all classes; setting 2 none of one leaf class; setting 3 none of one whole subtree. Measured are the
H-correlation with the whole taxonomy, and the F-measure of leaf classes and of higher classes on documents without a
label. ``python benchmarks/bade.py --help`` says what can be chosen; the data sets come from ``LINKWISE_DATA``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from linkwise import Taxonomy
from linkwise.datasets import load
from linkwise.engines import bihac, ihac
from linkwise.metrics import class_f, h_correlation

NAMES = ("banksearch_lda_100", "reuters1_like", "reuters2_like")
METHODS = ("HAC", "iHAC", "biHAC", "biiHAC")
MEASURES = ("H", "leaf F", "higher F")
SETTINGS = {1: "all classes known", 2: "one leaf class unknown", 3: "one subtree unknown"}


class Texts(NamedTuple):
    """Weighted terms of documents, and the node of each."""

    X: sparse.csr_array
    parent: np.ndarray
    node: np.ndarray


def read(name: str, n_terms: int) -> Texts:
    """Load a set; counts become tf-idf; terms of at least five documents, the ``n_terms`` that weigh most in all."""
    data = load(name)
    X = sparse.csr_array(data.X, dtype=np.float64)
    share = np.asarray((X > 0).sum(axis=0)).ravel()
    if np.array_equal(X.data, np.round(X.data)):
        X = X @ sparse.diags_array(np.log(X.shape[0] / np.maximum(share, 1)))
    weight = np.where(share >= 5, np.asarray(X.sum(axis=0)).ravel(), -1.0)
    kept = np.sort(np.argsort(-weight, kind="stable")[: min(n_terms, int((share >= 5).sum()))])
    X = sparse.csr_array(sparse.csc_array(X)[:, kept])
    return Texts(X, data.taxonomy.parent, data.taxonomy.node)


def unknown_nodes(texts: Texts, setting: int, rng: np.random.Generator) -> np.ndarray:
    """Draw the classes nobody labels: none, a leaf, or a node with all below it."""
    parent = texts.parent
    inner = np.isin(np.arange(len(parent)), parent)
    used = np.isin(np.arange(len(parent)), texts.node)
    if setting == 1:
        return np.zeros(0, dtype=np.intp)
    if setting == 2:
        return rng.choice(np.flatnonzero(used & ~inner & (parent >= 0)), size=1)
    roots = parent < 0
    # the top of a subtree: a root, or a child of the root where there is only one
    tops = inner & (roots if roots.sum() > 1 else np.isin(parent, np.flatnonzero(roots)))
    below = {int(rng.choice(np.flatnonzero(tops)))}
    for _ in parent:
        below |= {v for v in range(len(parent)) if int(parent[v]) in below}
    return np.array(sorted(below))


def label(texts: Texts, per_class: int, unknown: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw documents of each class, at most a third of a small one."""
    drawn = []
    for v in np.unique(texts.node):
        members = rng.permutation(np.flatnonzero(texts.node == v))
        if v not in unknown:
            drawn.append(members[: min(per_class, max(1, len(members) // 3))])
    return np.concatenate(drawn)


def cell(texts: Texts, setting: int, per_class: int, draw: int, runs: int, linkage: str) -> dict[str, Any]:
    """Run the four methods on one draw of labels."""
    rng = np.random.default_rng([setting, per_class, draw])
    told = label(texts, per_class, unknown_nodes(texts, setting, rng), rng)
    known = np.full(len(texts.node), -1)
    known[told] = texts.node[told]
    truth, said = Taxonomy(texts.parent, texts.node), Taxonomy(texts.parent, known).triplets()
    start = time.perf_counter()
    learned = bihac(texts.X, said, method=linkage, max_iter=runs)
    seconds = time.perf_counter() - start
    trees = {
        "HAC": bihac(texts.X, said, method=linkage, max_iter=1, error_weights="uniform"),
        "iHAC": ihac(texts.X, said, method=linkage),
        "biHAC": learned,
        "biiHAC": ihac(texts.X, said, method=linkage, weights=learned.weights),  # what biihac does, learning once
    }
    row: dict[str, Any] = {"statements": said.n_statements, "seconds": seconds, "runs": len(learned.errors)}
    row |= {"train": [float(learned.errors[0]), learned.error], "first steps": int(learned.steps[0])}
    for name, run in trees.items():
        scores = class_f(truth, run.dendrogram, labelled=told)
        row[name] = [h_correlation(truth, run.dendrogram), scores.leaf, scores.higher]
        row[f"{name} broken"] = int(run.broken.sum())
    return row


def table(names: list[str], options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Print a line for each data set, setting and number of labels: means over draws; yield the figures."""
    head = [f"{method} {measure}" for measure in MEASURES for method in METHODS]
    print("| data | setting | per class | " + " | ".join(head) + " | s |")
    print("|---" * (len(head) + 4) + "|")
    for name in names:
        texts = read(name, options.terms)
        for setting in options.settings:
            for per_class in options.per_class:
                rows = [
                    cell(texts, setting, per_class, draw, options.runs, options.linkage)
                    for draw in range(options.draws)
                ]
                mean = {method: np.mean([row[method] for row in rows], axis=0) for method in METHODS}
                shown = [f"{mean[method][k]:.3f}" for k in range(len(MEASURES)) for method in METHODS]
                seconds = np.mean([row["seconds"] for row in rows])
                print(f"| {name} | {setting} | {per_class} | " + " | ".join(shown) + f" | {seconds:.1f} |", flush=True)
                yield {"data": name, "setting": setting, "per_class": per_class, "draws": rows}


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="+", default=list(NAMES), help="data sets with a taxonomy")
    parser.add_argument("--settings", nargs="+", type=int, default=list(SETTINGS), choices=list(SETTINGS))
    parser.add_argument("--per-class", nargs="+", type=int, default=[5, 10, 15, 20, 25, 30], help="labels per class")
    parser.add_argument("--draws", type=int, default=5, help="how many times labels are drawn")
    parser.add_argument("--runs", type=int, default=50, help="most runs of biHAC")
    parser.add_argument("--terms", type=int, default=5_000, help="most terms")
    parser.add_argument("--linkage", default="average", choices=["average", "centroid"])
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    options = parser.parse_args(arguments)
    figures = list(table(options.data, options))
    if options.json is not None:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
