"""Sparse text, as it is: every clusterer that takes it, on three newsgroups of some 3,000 postings and all terms.

    LINKWISE_DATA=folder python benchmarks/newsgroups.py               all methods, 25 and 100 pairs
    LINKWISE_DATA=folder python benchmarks/newsgroups.py --only ReCon COPKMeans
    python benchmarks/newsgroups.py --quick                            made-up text: does it run?

Counts become tf-idf, rows get length 1, so that Euclidean methods compare by cosine; methods that have the choice are
told "cosine". Pairs of postings are drawn by chance and their groups say whether they are together; methods that take
no pairs get as many triplets. The first fit compiles and is not kept, the second is timed, and "peak" is what Python
and NumPy had in memory at most during the third, beyond the data; dense data of the same shape would take what the
first line says. Methods that refuse sparse data are listed with their words.
"""

from __future__ import annotations

import argparse
import sys
import time
import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import linkwise
from linkwise import Constraints, Kind
from linkwise.datasets import load
from linkwise.metrics import rand

GROUPS = ("rec.sport.baseball", "sci.space", "talk.politics.mideast")
METHODS: dict[str, dict[str, Any]] = {
    "COPKMeans": {},
    "ConstrainedKMeans": {},
    "SeededKMeans": {},
    "PCKMeans": {},
    "HMRFKMeans": {"distortion": "cosine"},
    "CVQE": {},
    "LCVQE": {},
    "KernelKMeans": {"kernel": "linear", "objective": "hmrf"},
    "SpectralLearning": {},
    "CorrelationClustering": {},
    "ConstrainedAgglomerative": {"linkage": "average", "metric": "cosine"},
    "ConstrainedCompleteLink": {"metric": "cosine"},
    "ReCon": {"linkage": "average", "metric": "cosine"},
    "IPoptim": {"metric": "cosine"},
    "UltraTran": {"metric": "cosine"},
    "HACoc": {},
    "IHAC": {},
    "BiiHAC": {},
    "MPCKMeans": {},
    "ConstrainedGaussianMixture": {},
}


def read(*, quick: bool) -> tuple[Any, Any]:
    """Return rows of length 1 and their groups."""
    if quick:
        rng = np.random.default_rng(0)
        y = np.arange(60) % 3
        own = y[:, None] * 40 + rng.integers(40, size=(60, 20))
        terms = np.where(rng.random((60, 20)) < 0.5, own, rng.integers(500, size=(60, 20)))
        X = sp.csr_array((np.ones(1200), (np.repeat(np.arange(60), 20), terms.ravel())), shape=(60, 500))
    else:
        data = load("newsgroups20")
        labels = np.asarray(data.label_names)[data.y]
        kept = np.isin(labels, GROUPS)
        X, y = sp.csr_array(data.X, dtype=np.float64)[kept], np.unique(labels[kept], return_inverse=True)[1]
    share = np.asarray((X > 0).sum(axis=0)).ravel()
    X = sp.csr_array(X @ sp.diags_array(np.log(X.shape[0] / np.maximum(share, 1))))
    length = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    fine = length > 0
    return sp.csr_array(sp.diags_array(1.0 / length[fine]) @ X[fine]), y[fine]


def draw(y: Any, m: int, understands: frozenset[Kind]) -> Constraints:
    """Say something true about random postings: pairs if the method takes them, else triplets."""
    rng, n = np.random.default_rng(m), len(y)
    if Kind.MUST_LINK in understands:
        pairs = rng.integers(n, size=(2 * m, 2))
        pairs = pairs[pairs[:, 0] != pairs[:, 1]][:m]
        same = y[pairs[:, 0]] == y[pairs[:, 1]]
        return Constraints.build(n, must_link=pairs[same], cannot_link=pairs[~same])
    rows = rng.integers(n, size=(40 * m, 3))
    a, b, c = rows.T
    fits = (a != b) & (y[a] == y[b]) & (y[a] != y[c])
    return Constraints.build(n, triplets=rows[fits][:m])


def run(name: str, X: Any, y: Any, m: int) -> str:
    """Fit thrice: to compile, by the clock, by the memory; and word it."""
    model = getattr(linkwise, name)(**METHODS[name])
    known = model.get_params()
    model.set_params(**{key: v for key, v in {"n_clusters": 3, "random_state": 0}.items() if key in known})
    c = draw(y, m, model.understands)
    try:
        clone(model).fit(X, constraints=c)  # compiles
    except (TypeError, ValueError) as no:
        return f"| {name} | {m} | refuses: {str(no).splitlines()[0]} | | | |"
    start = time.perf_counter()
    fitted = clone(model).fit(X, constraints=c)
    took = time.perf_counter() - start
    tracemalloc.start()
    model.fit(X, constraints=c)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    labels = fitted.labels_
    index = f"{adjusted_rand_score(y, labels):.3f} | {rand(y, labels):.3f}"
    return f"| {name} | {m} | {took:.2f} | {peak / 1e6:.0f} | {index} |"


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="newsgroups.py", description=__doc__)
    parser.add_argument("--only", nargs="+", default=list(METHODS), choices=list(METHODS), metavar="METHOD")
    parser.add_argument("--pairs", nargs="+", type=int, default=[25, 100], help="numbers of statements")
    parser.add_argument("--quick", action="store_true", help="made-up text: shows that it runs")
    given = parser.parse_args(arguments)
    warnings.simplefilter("ignore")
    X, y = read(quick=given.quick)
    n, d = X.shape
    print(f"{n:,} postings, {d:,} terms, {X.nnz:,} entries; dense they would take {8 * n * d / 1e6:,.0f} MB\n")
    print("| method | statements | seconds | peak MB | ARI | Rand |\n|---|---|---|---|---|---|")
    for name in given.only:
        for m in given.pairs:
            print(run(name, X, y, m), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
