"""Measuring results: trees of 20,000 leaves against classes and against each other, a million labels."""

from __future__ import annotations

import numpy as np

from benchmarks._data import random_tree
from linkwise import Constraints, Dendrogram
from linkwise.metrics import (
    constrained_rand,
    dendrogram_purity,
    h_correlation,
    hierarchy_fscore,
    nmi,
    pairwise_scores,
    purity,
    rand,
)


def caterpillar(n: int, *, seed: int = 4) -> Dendrogram:
    """Join one sample after another, in random order: the deepest tree there is."""
    order = np.random.default_rng(seed).permutation(n)
    merges = np.column_stack([np.r_[order[0], np.arange(n, 2 * n - 2)], order[1:]])
    return Dendrogram.from_merges(n, merges, np.arange(1.0, n))


class Trees:
    """A random tree or a caterpillar, against 50 classes and against another random tree."""

    params = ([1_000, 20_000, 100_000], ["random", "caterpillar"])
    param_names = ("leaves", "shape")

    def setup(self, leaves, shape):
        self.tree = random_tree(leaves) if shape == "random" else caterpillar(leaves)
        self.gold = random_tree(leaves, seed=5)
        self.y = np.random.default_rng(6).integers(50, size=leaves)
        self.time_h_correlation_of_trees()  # loads or compiles the kernels
        self.time_fscore()
        self.time_fscore_by_levels()

    def time_h_correlation_of_classes(self, *_):
        h_correlation(self.y, self.tree)

    def time_h_correlation_of_trees(self, *_):
        h_correlation(self.gold, self.tree)

    def time_fscore(self, *_):
        hierarchy_fscore(self.y, self.tree)

    def time_fscore_by_levels(self, *_):
        hierarchy_fscore(self.y, self.tree, form="levels")

    def time_dendrogram_purity(self, *_):
        dendrogram_purity(self.y, self.tree)

    def peakmem_h_correlation_of_trees(self, *_):
        h_correlation(self.gold, self.tree)

    def track_distance_from_chance(self, *_):
        """How far the correlation of two unrelated trees is from a third."""
        return abs(h_correlation(self.gold, self.tree, weights="uniform") - 1 / 3)


class Labels:
    """Random classes and clusters, 50 and 1,000 of them, and links of the classes about every second sample."""

    params = ([10_000, 1_000_000],)
    param_names = ("samples",)

    def setup(self, samples):
        rng = np.random.default_rng(0)
        self.y, self.labels = rng.integers(50, size=samples), rng.integers(1_000, size=samples)
        order = np.argsort(self.y, kind="stable")[::2]
        same = self.y[order[:-1]] == self.y[order[1:]]
        steps = np.column_stack([order[:-1], order[1:]])
        self.said = Constraints.build(samples, must_link=steps[same], cannot_link=steps[~same])
        self.time_constrained_rand()  # loads or compiles the kernels

    def time_pairwise_scores(self, *_):
        pairwise_scores(self.y, self.labels)

    def time_rand(self, *_):
        rand(self.y, self.labels)

    def time_constrained_rand(self, *_):
        constrained_rand(self.y, self.labels, self.said)

    def time_nmi(self, *_):
        nmi(self.y, self.labels)

    def time_purity(self, *_):
        purity(self.y, self.labels)

    def peakmem_constrained_rand(self, *_):
        constrained_rand(self.y, self.labels, self.said)

    def track_perfect(self, *_):
        """One, unless a measure says that the classes differ from themselves."""
        return min(measure(self.y, self.y) for measure in (rand, nmi, purity))


def main() -> None:
    """Print the seconds of every measure at the sizes that have a goal: 5 s for a tree, 1 s for labels."""
    from time import perf_counter

    for kind, sizes in ((Trees, [(20_000, "random"), (20_000, "caterpillar")]), (Labels, [(1_000_000,)])):
        for size in sizes:
            benchmark = kind()
            benchmark.setup(*size)
            for name in sorted(name for name in dir(benchmark) if name.startswith("time_")):
                best = 1e9
                for _ in range(3):
                    start = perf_counter()
                    getattr(benchmark, name)()
                    best = min(best, perf_counter() - start)
                print(f"{best:8.3f} s  {name.removeprefix('time_'):32} {' '.join(map(str, size))}")


if __name__ == "__main__":
    main()
