"""How close `repair` comes to the least that must go, and how fast, on answers of which some are wrong.

    python benchmarks/repair.py                  everything (about five minutes)
    python benchmarks/repair.py --seeds 1        one instance of each
    python benchmarks/repair.py --quick          tiny sizes: does it run?

"wrong" counts the answers that were falsified, "greedy" what the best of five orders of insertion drops, "dropped" what
`repair` drops, "at least" its lower bound, and "proven" whether the two meet. "noise" is the estimated share of wrong
answers beside the true one. A goal that is missed is marked; goals are wall seconds, so look at the CPU seconds too
when the machine is busy.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from linkwise import Constraints, repair


class Case(NamedTuple):
    """One workload: sizes, what to expect, and how much work to spend."""

    name: str
    kind: str
    sizes: tuple[int, ...]
    noise: float
    budget: float
    seconds: float
    ratio: float  # dropped / wrong at most; 0 when a proof is asked for, inf when nothing is


CASES = (
    Case("triplets 500 / 100, 3 %", "triplets", (100, 500), 0.03, 0.6, 2.0, 1.1),
    Case("triplets 500 / 100, 3 %, longer", "triplets", (100, 500), 0.03, 30.0, 31.0, 1.1),
    Case("triplets 2,000 / 200, 5 %", "triplets", (200, 2000), 0.05, 55.0, 60.0, 1.3),
    Case("pairs 3,000 / 500, 2 %", "pairs", (500, 10, 3000), 0.02, 10.0, 1.0, 0.0),
    Case("pairs 10,000 / 2,000, 2 %", "pairs", (2000, 20, 10_000), 0.02, 10.0, 1.0, 0.0),
    Case("pairs 6,000 / 1,000, 5 %", "pairs", (1000, 8, 6000), 0.05, 28.0, 30.0, np.inf),
)
QUICK = (
    Case("triplets 60 / 15, 5 %", "triplets", (15, 60), 0.05, 1.0, np.inf, np.inf),
    Case("pairs 200 / 50, 5 %", "pairs", (50, 4, 200), 0.05, 1.0, np.inf, np.inf),
)


def noisy_pairs(n: int, k: int, m: int, noise: float, seed: int) -> tuple[Constraints, int]:
    """Answers about random pairs of n samples in k classes, each turned with probability ``noise``."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, k, n)
    said: set[tuple[int, int]] = set()
    while len(said) < m:
        a, b = sorted(rng.integers(0, n, 2).tolist())
        if a != b:
            said.add((a, b))
    pairs = np.array(sorted(said))
    turned = rng.random(m) < noise
    same = (label[pairs[:, 0]] == label[pairs[:, 1]]) ^ turned
    return Constraints.build(n, must_link=pairs[same], cannot_link=pairs[~same]), int(turned.sum())


def noisy_triplets(n: int, m: int, noise: float, seed: int) -> tuple[Constraints, int]:
    """Answers about random trios, read off an average-link tree of random points, some with another odd one out."""
    from scipy.cluster.hierarchy import cophenet, linkage
    from scipy.spatial.distance import squareform

    rng = np.random.default_rng(seed)
    height = squareform(cophenet(linkage(rng.normal(size=(n, 2)), "average")))
    rows: list[tuple[int, int, int]] = []
    wrong = 0
    while len(rows) < m:
        a, b, c = rng.choice(n, 3, replace=False).tolist()
        ways = sorted([(a, b, c), (a, c, b), (b, c, a)], key=lambda way: float(height[way[0], way[1]]))
        turned = rng.random() < noise
        wrong += turned
        rows.append(ways[int(rng.integers(1, 3)) if turned else 0])
    return Constraints.build(n, triplets=rows), wrong


def measure(case: Case, seeds: range) -> Iterator[str]:
    """One line per instance."""
    for seed in seeds:
        make = noisy_triplets if case.kind == "triplets" else noisy_pairs
        said, wrong = make(*case.sizes, case.noise, seed)
        greedy = len(repair(said, budget=0).dropped)
        start, cpu = time.perf_counter(), time.process_time()
        fixed = repair(said, budget=case.budget)
        seconds, cpu = time.perf_counter() - start, time.process_time() - cpu
        asked = fixed.optimal if case.ratio == 0 else len(fixed.dropped) <= case.ratio * wrong
        missed = "" if asked and seconds <= case.seconds else "   MISSED"
        yield (
            f"{case.name:<34} {seed:>4} {wrong:>6} {greedy:>7} {len(fixed.dropped):>8} {fixed.lower_bound:>9.0f} "
            f"{'yes' if fixed.optimal else 'no':>7} {seconds:>6.2f} s {cpu:>6.2f} s {fixed.noise:>7.1%} "
            f"{wrong / said.n_statements:>6.1%}{missed}"
        )


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--seeds", type=int, default=5, help="instances of each workload")
    parser.add_argument("--only", default="", help="workloads whose name contains this")
    parser.add_argument("--quick", action="store_true", help="tiny sizes")
    chosen = parser.parse_args(arguments)
    for make, sizes in ((noisy_pairs, (30, 3, 60)), (noisy_triplets, (12, 60))):  # compile
        _ = repair(make(*sizes, 0.1, 0)[0], budget=0.2).noise
    print(f"{'workload':<34} seed  wrong  greedy  dropped  at least  proven     wall      cpu   noise   true")
    for case in QUICK if chosen.quick else CASES:
        if chosen.only in case.name:
            for line in measure(case, range(1 if chosen.quick else chosen.seeds)):
                print(line, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
