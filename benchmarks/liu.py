"""What triplets buy: a table after Figures 2 and 4 of Liu, Zhang and Wang (KDD 2011) on their six data sets.

    LINKWISE_DATA=folder python benchmarks/liu.py                   20 draws, all sets: some minutes
    python benchmarks/liu.py --data iris wine --draws 5             what scikit-learn brings needs no folder
    python benchmarks/liu.py --quick                                tiny: does it run?

The complete informative set of (k - 1)(n - k) triplets must give the classes exactly. Random parts of it, and as many
triplets drawn at random from the classes, give the mean pairwise F over draws, beside the same linkage told nothing and
cut in the same way. Features are scaled to [0, 1]. Branches smaller than two fifths of an average class are outliers
while cutting (section 4.2.1); ``--outliers keep`` lets them be clusters.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__":
    # Run as a file, Python searches the folder of this file; the package lies in the one above.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
import numpy.typing as npt
from sklearn.preprocessing import minmax_scale

from linkwise import Constraints, ReCon
from linkwise.datasets import load
from linkwise.exceptions import LinkwiseWarning
from linkwise.experiments import knowledge
from linkwise.metrics import pairwise_f

NAMES = ("iris", "wine", "ionosphere", "transfusion", "digits_389", "letters_ijlt")
SHARES = (0.05, 0.10, 0.25, 0.50)
KINDS = ("informative", "triplets")

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


def row(X: Floats, y: Ints, draws: int, *, linkage: str = "centroid", outliers: bool = True) -> dict[str, list[float]]:
    """F without statements, with all informative ones, and the mean for each kind and share."""
    n, k = len(y), len(np.unique(y))
    everything = (k - 1) * (n - k)

    def score(known: Constraints | None) -> float:
        model = ReCon(k, linkage=linkage, min_cluster_size=max(1, 2 * n // (5 * k)) if outliers else None)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkwiseWarning)  # fewer large branches than classes: a lower threshold
            return float(pairwise_f(y, model.fit(X, constraints=known).labels_))

    def mean(kind: str, amount: int) -> float:
        return float(np.mean([score(knowledge(y, kind, amount, seed=seed)) for seed in range(draws)]))

    found = {"nothing": [score(None)], "all": [score(knowledge(y, "informative", everything, seed=0))]}
    return found | {kind: [mean(kind, round(share * everything)) for share in SHARES] for kind in KINDS}


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(NAMES), help="names that linkwise.datasets.load knows")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--linkage", default="centroid")
    parser.add_argument("--outliers", choices=["merge", "keep"], default="merge", help="small branches while cutting")
    parser.add_argument("--quick", action="store_true", help="tiny: does it run?")
    given = parser.parse_args(arguments)
    names, draws = (["iris"], 2) if given.quick else (given.data, given.draws)
    share = [f"{share:.0%}" for share in SHARES]
    head = ["data", "nothing", *(f"informative {s}" for s in share), "all", *(f"random {s}" for s in share)]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for name in names:
        data = load(name)
        X = minmax_scale(np.asarray(data.X, dtype=np.float64))
        found = row(X, data.y, draws, linkage=given.linkage, outliers=given.outliers == "merge")
        figures = [*found["nothing"], *found["informative"], *found["all"], *found["triplets"]]
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in figures) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
