"""Do 25 random pairs help k-means? The tutorial's two tables about that, computed again with the methods of linkwise.

    python benchmarks/davidson.py                    eight data sets, 100 trials (some minutes)
    python benchmarks/davidson.py --trials 1000      as many as in the tutorial
    python benchmarks/davidson.py --data iris wine   some of them
    python benchmarks/davidson.py --quick            does it run?

Each trial draws 25 pairs of samples and says of each what the classes say, and draws samples as centres to start from.
Every method runs once without and once with the pairs, from these centres. The first table holds the mean Rand index
without and with, in percent, the second the share of trials in which the pairs made it worse. COP keeps all pairs, the
others weigh them: with weight 1 as the literature does, PCK also with the mean squared distance of two samples ("PCK
w=d2"), since a weight of 1 means nothing where squared distances are in the thousands. Data are used as they are, not
scaled. "printed" are the tutorial's figures, for 1,000 trials.

Data that do not come with scikit-learn are looked for where `linkwise.datasets.load` looks (LINKWISE_DATA).
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from linkwise import Constraints
from linkwise.datasets import load
from linkwise.engines import cop_kmeans, mk_means, mpck_means, pck_means
from linkwise.metrics import rand

DATA = ("iris", "wine", "glass", "ionosphere", "breast", "pima", "vote", "digits_389")
N_PAIRS = 25

Method = Callable[[Any, Constraints, int, Any, float], Any]
METHODS: dict[str, Method] = {
    "COP": lambda X, c, k, start, _: cop_kmeans(X, c.with_weight(np.inf), k, init=start),
    "PCK": lambda X, c, k, start, _: pck_means(X, c, k, init=start),
    "PCK w=d2": lambda X, c, k, start, scale: pck_means(X, c.with_weight(scale), k, init=start),
    "MK": lambda X, c, k, start, _: mk_means(X, c, k, init=start),
    "MPCK": lambda X, c, k, start, _: mpck_means(X, c, k, init=start),
}
# Tutorial, tables 1 and 2: Rand index without and with, and the share of sets that hurt, in percent.
PRINTED = {
    "glass": {"COP": (69.0, 69.4, 28), "PCK": (43.4, 68.8, 1), "MK": (39.5, 56.6, 11), "MPCK": (39.5, 67.8, 0)},
    "ionosphere": {"COP": (58.6, 58.7, 26), "PCK": (58.8, 58.9, 77), "MK": (58.9, 58.9, 0), "MPCK": (58.9, 58.9, 77)},
    "iris": {"COP": (84.7, 87.8, 29), "PCK": (84.3, 88.3, 19), "MK": (88.0, 93.6, 36), "MPCK": (88.0, 91.8, 36)},
    "wine": {"COP": (70.2, 70.9, 38), "PCK": (71.7, 72.0, 34), "MK": (93.3, 91.3, 87), "MPCK": (93.3, 90.6, 74)},
}


def draw(y: Any, rng: np.random.Generator) -> Constraints:
    """Say what the classes say about 25 random pairs, softly."""
    pairs = np.stack([rng.choice(len(y), 2, replace=False) for _ in range(N_PAIRS)])
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints.build(len(y), must_link=pairs[same], cannot_link=pairs[~same], weight=1.0)


def trials(X: Any, y: Any, n_trials: int, seed: int = 0) -> dict[str, Any]:
    """Return, for each method, an array of Rand indices without and with pairs, one row per trial."""
    k = len(np.unique(y))
    scale = 2.0 * float(np.var(X, axis=0).sum())
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in METHODS}
    nothing = Constraints.build(len(X))
    for trial in range(n_trials):
        rng = np.random.default_rng([seed, trial])
        known, start = draw(y, rng), X[rng.choice(len(X), k, replace=False)]
        plain: dict[str, float] = {}
        for name, fit in METHODS.items():
            # without statements COP and PCK are one, as are MK and MPCK
            kind = "learned" if name in ("MK", "MPCK") else "plain"
            if kind not in plain:
                plain[kind] = rand(y, fit(X, nothing, k, start, scale).labels)
            found[name].append((plain[kind], rand(y, fit(X, known, k, start, scale).labels)))
    return {name: np.array(rows) for name, rows in found.items()}


def rows(names: tuple[str, ...], n_trials: int) -> Iterator[tuple[str, list[str], list[str]]]:
    """Yield the name of a data set and its lines of both tables."""
    for name in names:
        data = load(name)
        X, y = np.ascontiguousarray(data.X, dtype=np.float64), np.asarray(data.y)
        known = np.isfinite(X).all(axis=1)
        result = trials(X[known], y[known], n_trials)
        first, second = [], []
        for method in METHODS:
            without, given = result[method].T
            printed = PRINTED.get(name, {}).get(method)
            first.append(
                f"{100 * without.mean():.1f} → {100 * given.mean():.1f}"
                + (f" ({printed[0]} → {printed[1]})" if printed else "")
            )
            hurt = np.mean(given < without - 1e-12)
            second.append(f"{100 * hurt:.0f} %" + (f" ({printed[2]} %)" if printed else ""))
        yield name, first, second


def main(arguments: list[str] | None = None) -> int:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--data", nargs="*", default=None, help="names for linkwise.datasets.load")
    parser.add_argument("--trials", type=int, default=100)
    parser.add_argument("--quick", action="store_true", help="two trials on iris")
    given = parser.parse_args(arguments)
    names = tuple(given.data or (("iris",) if given.quick else DATA))
    found = list(rows(names, 2 if given.quick else given.trials))
    for title, which in (("Rand index, without → with (printed)", 1), ("sets that hurt (printed)", 2)):
        print(f"| {title} | " + " | ".join(METHODS) + " |\n|---" + "|---" * len(METHODS) + "|")
        for row in found:
            print(f"| {row[0]} | " + " | ".join(row[which]) + " |")
        print()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
