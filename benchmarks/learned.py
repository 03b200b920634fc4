"""Does learning a metric help? K-Means and ReCon with and without learned metrics, on the sets of Liu et al. (2011).

    LINKWISE_DATA=folder python benchmarks/learned.py               20 draws, all sets: some twenty minutes
    python benchmarks/learned.py --data iris wine --draws 5         what scikit-learn brings needs no folder
    python benchmarks/learned.py --learners none DistBoost          some of the columns
    python benchmarks/learned.py --quick                            tiny: does it run?

Each draw says as many random triplets of classes as half the samples, and as many random pairs; learners of triplets
hear the former, learners of pairs the latter, ReCon always the triplets. Features are scaled to [0, 1], figures are the
mean pairwise F of partitions into exactly as many clusters as classes.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # Run as a file, Python searches the folder of this file; the package lies in the one above.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.preprocessing import minmax_scale

from linkwise import Kind, ReCon
from linkwise.datasets import load
from linkwise.engines import ITML, LSML, RCA, DiscriminativeRCA, DistBoost, SVMMetric, XingMetric
from linkwise.exceptions import LinkwiseWarning
from linkwise.metrics import pairwise_f
from linkwise.sources import label_pairs, label_triplets_sample

NAMES = ("iris", "wine", "ionosphere", "transfusion", "digits_389", "letters_ijlt")

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]

Maker = Callable[[int, int], Any]  # a learner for so many classes, with a seed

LEARNERS: dict[str, Maker | None] = {
    "none": None,
    "SVMMetric": lambda *_: SVMMetric(),
    "LSML": lambda *_: LSML(),
    "XingMetric": lambda *_: XingMetric(),
    "RCA": lambda *_: RCA(),
    "DiscriminativeRCA": lambda *_: DiscriminativeRCA(),
    "ITML": lambda *_: ITML(),
    "DistBoost": lambda k, seed: DistBoost(k, random_state=seed),
}


def scores(X: Floats, y: Ints, learner: Maker | None, seed: int) -> tuple[float, float]:
    """F of K-Means and of ReCon after one draw of statements."""
    n, k = len(y), len(np.unique(y))
    triplets, pairs = label_triplets_sample(y, n // 2, seed), label_pairs(y, n // 2, seed)
    space = X
    if learner is not None:
        model = learner(k, seed)
        said = triplets if Kind.TRIPLET in model.understands else pairs
        said = said.select(np.isin(said.kind, list(model.understands)))  # RCA hears must-links alone
        space = model.fit(X, constraints=said).transform(X)
    plain = KMeans(k, n_init=3, random_state=seed).fit(space).labels_
    told = ReCon(k, min_cluster_size="auto").fit(space, constraints=triplets)
    if told.n_clusters_ != k:
        msg = f"ReCon returned {told.n_clusters_} clusters, expected exactly {k}"
        raise AssertionError(msg)
    return float(pairwise_f(y, plain)), float(pairwise_f(y, told.labels_))


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(NAMES), help="names that linkwise.datasets.load knows")
    parser.add_argument("--learners", nargs="+", default=list(LEARNERS), choices=list(LEARNERS))
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--quick", action="store_true", help="tiny: does it run?")
    given = parser.parse_args(arguments)
    names, draws = (["iris"], 1) if given.quick else (given.data, given.draws)
    print("| data | method | " + " | ".join(given.learners) + " |\n" + "|---" * (2 + len(given.learners)) + "|")
    for name in names:
        data = load(name)
        X = minmax_scale(np.asarray(data.X, dtype=np.float64))
        found = []
        for learner in (LEARNERS[name] for name in given.learners):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LinkwiseWarning)
                found.append(np.mean([scores(X, data.y, learner, seed) for seed in range(draws)], axis=0))
        for at, method in enumerate(("K-Means", "ReCon")):
            print(f"| {name} | {method} | " + " | ".join(f"{value[at]:.3f}" for value in found) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
