"""How many statements does it take? A table after Figures 8 and 9 of Klein, Kamvar and Manning (ICML 2002).

    python benchmarks/klein.py                          10 seeds, all sets: some minutes
    python benchmarks/klein.py --seeds 3 --data circles iris
    LINKWISE_DATA=folder python benchmarks/klein.py --data crabs soybean
    python benchmarks/klein.py --quick                  tiny: does it run?

Pairs are drawn at random and said to be what the classes make them, or asked for by the active method. Each figure is
the mean, over seeds, of the constrained Rand index: the Rand index over pairs that the statements do not decide; a
dash where they decide all.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    # Run as a file, Python searches the folder of this file; the package lies in the one above.
    sys.path[0] = str(Path(__file__).resolve().parents[1])

import numpy as np
import numpy.typing as npt

from linkwise import ConstrainedAgglomerative, ConstrainedCompleteLink, Constraints, COPKMeans, Dendrogram, datasets
from linkwise.engines import active_complete_link
from linkwise.exceptions import LinkwiseWarning
from linkwise.metrics import constrained_rand
from linkwise.sources import label_pairs

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
GRID = (0, 4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 80, 112, 160, 224, 320, 480, 640, 960)
WANTED = 0.9


# -- data: pictures of the paper, which come without points, drawn anew for every seed; the others as they are ---------

SHAPES = {"circles": datasets.circles, "cellwalls": datasets.cellwalls, "xor": datasets.xor}
SHAPES |= {"stormclouds": datasets.stormclouds}
REAL = ("iris", "crabs", "soybean")  # all but iris from the folder LINKWISE_DATA names
NOMINAL = ("soybean",)


def points(name: str, seed: int, n: int) -> tuple[Floats, Ints]:
    """Draw or load a data set; of a real one every so many-th sample if fewer are wanted than it has."""
    if name in SHAPES:
        data = SHAPES[name](n, random_state=seed)
        return data.X, data.y
    data = datasets.load(name)
    if name in NOMINAL:  # a column for each value: distances are twice the number of features that differ
        data = replace(data, X=np.concatenate([col[:, None] == np.unique(col) for col in data.X.T], axis=1) * 1.0)
    step = 1 if n >= 150 else -(-len(data.y) // n)
    return data.X[::step], data.y[::step]


# -- methods: from data and m statements to labels and what was said ---------------------------------------------------

Outcome = tuple[Ints, Constraints]


def metric_of(X: Floats) -> str:
    """City-block, the Hamming distance, between columns of zeros and ones; Euclidean for measurements."""
    return "cityblock" if np.isin(X, (0.0, 1.0)).all() else "euclidean"


def _cut(tree: Dendrogram, k: int) -> Ints:
    """As many clusters as classes, or as few as the statements left possible."""
    return tree.cut(n_clusters=max(k, tree.n_roots))


def _fitted(model: Any, X: Floats, y: Ints, m: int, seed: int) -> Outcome:
    known = label_pairs(y, m, seed)
    return _cut(model.fit(X, constraints=known).dendrogram_, len(np.unique(y))), known


def propagated(X: Floats, y: Ints, m: int, seed: int) -> Outcome:
    """Constrained complete link."""
    return _fitted(ConstrainedCompleteLink(None, metric=metric_of(X)), X, y, m, seed)


def imposed(X: Floats, y: Ints, m: int, seed: int) -> Outcome:
    """Complete link that keeps the links and infers nothing about their surroundings."""
    return _fitted(ConstrainedAgglomerative(None, linkage="complete", metric=metric_of(X)), X, y, m, seed)


def _asked(X: Floats, y: Ints, m: int, begin: int | None) -> Outcome:
    run = active_complete_link(X, m, begin=begin, metric=metric_of(X))
    while (pair := run.ask()) is not None:
        run.tell(pair, bool(y[pair[0]] == y[pair[1]]))
    return _cut(run.dendrogram, len(np.unique(y))), run.constraints


def asked(X: Floats, y: Ints, m: int, _seed: int) -> Outcome:
    """Constrained complete link that chooses its questions."""
    return _asked(X, y, m, None)


def asked_early(X: Floats, y: Ints, m: int, _seed: int) -> Outcome:
    """The same, beginning when as many merges are left as there are questions."""
    return _asked(X, y, m, m + 1)


def cop(X: Floats, y: Ints, m: int, seed: int) -> Outcome:
    """COP-KMeans, which the paper compares with; here with the exact assignment, which never gets stuck."""
    known = label_pairs(y, m, seed)
    model = COPKMeans(len(np.unique(y)), random_state=seed)
    return model.fit(X, constraints=known).labels_, known


METHODS: dict[str, Callable[[Floats, Ints, int, int], Outcome]] = {
    "COP-KMeans": cop,
    "imposed, not propagated": imposed,
    "propagated": propagated,
    "propagated, asked": asked,
    "propagated, asked early": asked_early,
}


def curve(data: str, method: str, grid: Sequence[int], seeds: int, n: int) -> list[float]:
    """Mean constrained Rand index for each number of statements; the same points and pairs for every method."""
    scores = np.empty((seeds, len(grid)))
    for seed in range(seeds):
        X, y = points(data, seed, n)
        for at, m in enumerate(grid):
            labels, known = METHODS[method](X, y, m, seed)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", LinkwiseWarning)  # nan, as the statements decide every pair
                scores[seed, at] = constrained_rand(y, labels, known)
    decided = np.isnan(scores)
    return np.where(decided.all(axis=0), np.nan, np.where(decided, 1.0, scores).mean(axis=0)).tolist()


def needed(grid: Sequence[int], scores: Sequence[float], wanted: float = WANTED) -> str:
    """The fewest statements of the grid from which on the wanted score is kept; where all is decided, it is."""
    short = [at for at, score in enumerate(scores) if score < wanted]
    first = short[-1] + 1 if short else 0
    return str(grid[first]) if first < len(grid) else f"> {grid[-1]}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--data", nargs="+", choices=[*SHAPES, *REAL], default=[*SHAPES, "iris"])
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--wanted", type=float, default=WANTED, help="the score the last column is about")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--samples", type=int, default=200)
    parser.add_argument("--quick", action="store_true", help="tiny: does it run?")
    given = parser.parse_args(arguments)
    seeds, n = (2, 40) if given.quick else (given.seeds, given.samples)
    grid = GRID[:4] if given.quick else GRID
    print(
        "constrained Rand index, mean over",
        seeds,
        "seeds, for so many statements; last, how many",
        given.wanted,
        "takes",
    )
    print(f"{'':36}" + "".join(f"{m:>7}" for m in grid) + f"{'needs':>8}")
    for data in given.data:
        for method in given.methods:
            scores = curve(data, method, grid, seeds, n)
            row = "".join(f"{'-' if np.isnan(score) else f'{score:.3f}':>7}" for score in scores)
            print(f"{data:12}{method:24}{row}{needed(grid, scores, given.wanted):>8}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
