"""What triplets buy: a table after Figures 2 and 4 of Liu, Zhang and Wang (KDD 2011) on their six data sets.

    LINKWISE_DATA=folder python benchmarks/liu.py                   20 draws, all sets: some minutes
    python benchmarks/liu.py --data iris wine --draws 5             what scikit-learn brings needs no folder
    python benchmarks/liu.py --quick                                tiny: does it run?

The complete informative set of (k - 1)(n - k) triplets must give the classes exactly. Random parts of it, and as many
triplets drawn at random from the classes, give the mean pairwise F over draws, beside the same linkage told nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

if __name__ == "__main__":
    # Run as a file, Python searches the folder of this file; the package lies in the one above.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
import numpy.typing as npt

from linkwise import Constraints, ReCon
from linkwise.datasets import load
from linkwise.experiments import knowledge
from linkwise.metrics import pairwise_f

NAMES = ("iris", "wine", "ionosphere", "transfusion", "digits_389", "letters_ijlt")
SHARES = (0.05, 0.10, 0.25, 0.50)
KINDS = ("informative", "triplets")

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]


def score(X: Floats, y: Ints, known: Constraints | None, linkage: str) -> float:
    """Pairwise F of ReCon's partition into as many clusters as there are classes."""
    model = ReCon(len(np.unique(y)), linkage=linkage).fit(X, constraints=known)
    return float(pairwise_f(y, model.labels_))


def row(X: Floats, y: Ints, draws: int, linkage: str) -> dict[str, list[float]]:
    """F without statements, with all informative ones, and the mean for each kind and share."""
    n, k = len(y), len(np.unique(y))
    everything = (k - 1) * (n - k)
    found = {"nothing": [score(X, y, None, linkage)]}
    found["all"] = [score(X, y, knowledge(y, "informative", everything, seed=0), linkage)]
    for kind in KINDS:
        found[kind] = [
            float(
                np.mean(
                    [score(X, y, knowledge(y, kind, round(share * everything), seed=s), linkage) for s in range(draws)]
                )
            )
            for share in SHARES
        ]
    return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", nargs="+", default=list(NAMES), help="names that linkwise.datasets.load knows")
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--linkage", default="centroid")
    parser.add_argument("--quick", action="store_true", help="tiny: does it run?")
    given = parser.parse_args(arguments)
    names, draws = (["iris"], 2) if given.quick else (given.data, given.draws)
    share = [f"{share:.0%}" for share in SHARES]
    head = ["data", "nothing", *(f"informative {s}" for s in share), "all", *(f"random {s}" for s in share)]
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for name in names:
        data = load(name)
        found = row(np.asarray(data.X, dtype=np.float64), data.y, draws, given.linkage)
        figures = [*found["nothing"], *found["informative"], *found["all"], *found["triplets"]]
        print(f"| {name} | " + " | ".join(f"{value:.3f}" for value in figures) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
