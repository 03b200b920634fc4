"""Does held-out knowledge choose well? `KnowledgeSearchCV` among methods and numbers of clusters, on 100 random pairs.

    LINKWISE_DATA=folder python benchmarks/choosing.py --cache runs           12 sets, 10 draws: an hour on a quiet core
    LINKWISE_DATA=folder python benchmarks/choosing.py --cache runs --rules   also other scores and ways to break ties
    python benchmarks/choosing.py --data iris wine --draws 2                  what scikit-learn brings needs no folder
    python benchmarks/choosing.py --quick                                     tiny: does it run?

Each draw says of 100 random pairs of samples whether they are of one class (no class is told otherwise), features are
standardized, missing values become the mean, and of sets with more than 300 samples each draw takes 300 at random. The
candidates are nine methods with 2 to 10 clusters each. What was computed is kept in the folder ``--cache`` names, one
file per set and draw, so that a run that was stopped goes on and another rule costs nothing.

"k" is how often the number of clusters chosen is that of the classes, or differs by one; "ARI" the mean adjusted Rand
index of the winner, "best" that of the candidate that turned out best, "gap" the mean difference, "default" the ARI of
`linkwise.cluster` when it is told the number of classes.
"""

from __future__ import annotations

import argparse
import json
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

if __name__ == "__main__":
    # Run as a file, Python searches the folder of this file; the package lies in the one above.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import StandardScaler

from linkwise import (
    ConstrainedAgglomerative,
    ConstrainedCompleteLink,
    ConstrainedGaussianMixture,
    Constraints,
    COPKMeans,
    KnowledgeSearchCV,
    MPCKMeans,
    PCKMeans,
    cluster,
)
from linkwise.datasets import load
from linkwise.engines import SpectralLearning
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import adjusted_rand
from linkwise.selection._candidates import read_candidates
from linkwise.selection._scores import SCORES
from linkwise.selection._search_results import choose, collect, score_folds, tied
from linkwise.sources import label_pairs

NAMES = (
    "iris",
    "wine",
    "ionosphere",
    "glass",
    "breast",
    "vote",
    "pima",
    "zoo",
    "soybean",
    "crabs",
    "digits_389",
    "letters_ijlt",
)
TIES = ("simple", "stable", "best")


def methods(ks: Sequence[int]) -> list[tuple[Any, dict[str, Any]]]:
    """The methods to choose among, each with all numbers of clusters."""
    k = {"n_clusters": list(ks)}
    return [
        (ConstrainedAgglomerative(), {"linkage": ["ward", "average"], **k}),
        (ConstrainedCompleteLink(), {"linkage": ["average", "complete"], **k}),
        (COPKMeans(random_state=0), k),
        (PCKMeans(random_state=0), k),
        (MPCKMeans(random_state=0), k),
        (ConstrainedGaussianMixture(random_state=0), k),
        (SpectralLearning(random_state=0), k),
    ]


def draw(name: str, seed: int, m: int, most: int) -> tuple[Any, Any, Constraints]:
    """Samples, classes, and what is said of random pairs."""
    rng = np.random.default_rng(seed)
    data = load(name)
    X, y = np.asarray(data.X, dtype=np.float64), np.unique(data.y, return_inverse=True)[1]
    if len(y) > most:
        rows = rng.choice(len(y), most, replace=False)
        X, y = X[rows], y[rows]
    X = StandardScaler().fit_transform(SimpleImputer(keep_empty_features=True).fit_transform(X))
    return X, y, label_pairs(y, m, seed)


def run(name: str, seed: int, *, m: int = 100, most: int = 300, ks: Sequence[int] = range(2, 11)) -> dict[str, Any]:
    """One draw: what each candidate kept of what was held out, and how good it is with everything told."""
    X, y, said = draw(name, seed, m, most)
    search = KnowledgeSearchCV(methods(ks), random_state=seed)
    candidates = read_candidates(search.estimator, None)
    outcomes = search._fit_all(candidates, X, said, search._folds(said))
    ari = [None if row[0].labels is None else adjusted_rand(y, row[0].labels) for row in outcomes]
    results = collect(candidates, outcomes, "kappa")
    try:
        default = adjusted_rand(y, cluster(X, said, len(np.unique(y))).labels)
    except LinkwiseError:
        default = None
    return {
        "set": name,
        "seed": seed,
        "samples": len(y),
        "classes": len(np.unique(y)),
        "candidates": [f"{one.method}({one.words})" for one in candidates],
        "k": [int(one.params["n_clusters"]) for one in candidates],
        "ari": ari,
        "counts": [[None if one.labels is None else one.counts.tolist() for one in row[1:]] for row in outcomes],
        "stability": np.nan_to_num(results["stability"], nan=-1.0).tolist(),
        "default": default,
    }


def recorded(cache: Path | None, name: str, seed: int, **options: Any) -> dict[str, Any]:
    """Read a draw that was computed before, or compute and keep it."""
    path = None if cache is None else cache / f"{name}-{seed}.json"
    if path is not None and path.exists():
        known: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return known
    found = run(name, seed, **options)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found), encoding="utf-8")
    return found


def pick(record: dict[str, Any], rule: str) -> int:
    """Whom a rule (a score and a way to break ties) chooses in a draw, as `KnowledgeSearchCV` does."""
    scoring, ties = rule.split()
    n = len(record["k"])
    mean, without = np.full(n, np.nan), np.full((n, len(record["counts"][0])), np.nan)
    for at, folds in enumerate(record["counts"]):
        done = np.array([fold is not None for fold in folds])
        if record["ari"][at] is None or 2 * done.sum() <= len(folds):
            continue
        counts = [SimpleNamespace(counts=np.zeros((3, 2)) if fold is None else np.array(fold)) for fold in folds]
        _, mean[at], without[at] = score_folds(counts, done, scoring)
    results = {"mean_test_score": mean, "stability": np.array(record["stability"]), "n_clusters": np.array(record["k"])}
    return choose({**results, "tied": tied(mean, without)}, ties)


def judge(records: Sequence[dict[str, Any]], rule: str) -> dict[str, float]:
    """Means over the draws of one set, or of all."""
    at = [pick(record, rule) for record in records]
    off = np.array([abs(record["k"][i] - record["classes"]) for record, i in zip(records, at, strict=True)])
    own = np.array([record["ari"][i] for record, i in zip(records, at, strict=True)], dtype=np.float64)
    best = np.array([max(value for value in record["ari"] if value is not None) for record in records])
    told = [record["default"] for record in records if record["default"] is not None]
    return {
        "exact": float((off == 0).mean()),
        "near": float((off <= 1).mean()),
        "ari": float(own.mean()),
        "best": float(best.mean()),
        "gap": float((best - own).mean()),
        "default": float(np.mean(told)) if told else float("nan"),
    }


def table(records: Sequence[dict[str, Any]], rule: str) -> list[str]:
    """A line per set, and one for all."""
    lines = ["| set | samples | classes | k found | k within 1 | ARI | best | gap | default |", "|---|" + "---:|" * 8]
    sets = list(dict.fromkeys(record["set"] for record in records))
    hits, rows = 0, []
    for name in sets:
        mine = [record for record in records if record["set"] == name]
        means = judge(mine, rule)
        rows.append(means)
        hits += means["near"] > 0.5
        lines.append(f"| {name} | {mine[0]['samples']} | {mine[0]['classes']} | {_cells(means)} |")
    every = {key: float(np.nanmean([row[key] for row in rows])) for key in rows[0]}
    lines.append(f"| mean | | | {_cells(every)} |")
    lines.append("")
    lines.append(
        f"k within 1 of the classes in most draws: {hits} of {len(sets)} sets; the winner has {every['gap']:.3f} less "
        f"than the best in hindsight, {every['ari'] / every['best']:.1%} of it ({len(records)} draws in all)."
    )
    return lines


def _cells(means: dict[str, float]) -> str:
    shares = " | ".join(f"{means[key]:.0%}" for key in ("exact", "near"))
    return f"{shares} | " + " | ".join(f"{means[key]:.3f}" for key in ("ari", "best", "gap", "default"))


def rules_table(records: Sequence[dict[str, Any]]) -> list[str]:
    """A line per score and way to break ties."""
    sets = list(dict.fromkeys(record["set"] for record in records))
    lines = ["| score | ties | k within 1 | sets | gap |", "|---|---|---:|---:|---:|"]
    for scoring in SCORES:
        for ties in TIES:
            rule = f"{scoring} {ties}"
            rows = [judge([record for record in records if record["set"] == name], rule) for name in sets]
            near = [row["near"] for row in rows]
            gap = np.mean([row["gap"] for row in rows])
            hits = sum(share > 0.5 for share in near)
            lines.append(f"| {scoring} | {ties} | {np.mean(near):.0%} | {hits} | {gap:.3f} |")
    return lines


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="choosing.py", description=__doc__)
    parser.add_argument("--data", nargs="+", default=list(NAMES), help="data sets")
    parser.add_argument("--draws", type=int, default=10, help="draws of pairs for each set (default 10)")
    parser.add_argument("--cache", type=Path, help="folder in which draws are kept")
    parser.add_argument("--rules", action="store_true", help="compare scores and ways to break ties")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows that it runs")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    options: dict[str, Any] = {"m": 30, "most": 60, "ks": (2, 3)} if given.quick else {}
    names, draws = (["iris"], 1) if given.quick else (given.data, given.draws)
    records = []
    for seed in range(draws):
        for name in names:
            records.append(recorded(given.cache, name, seed, **options))
            print(f"{name}, draw {seed + 1} of {draws}", file=sys.stderr, flush=True)
    print("\n".join(table(records, "kappa simple")))
    if given.rules:
        print("\n".join(["", *rules_table(records)]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
