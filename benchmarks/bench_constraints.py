"""The table of statements at a million rows: build, de-duplicate, slice, renumber, combine."""

from __future__ import annotations

import numpy as np

from benchmarks._data import blobs, triplets_of_classes
from linkwise import Constraints, Kind


class Table:
    """Triplets about a tenth as many samples; every tenth statement is said twice."""

    params = ([10_000, 100_000, 1_000_000],)
    param_names = ("statements",)

    def setup(self, statements):
        self.n = statements // 10
        rng = np.random.default_rng(0)
        _, self.y = blobs(self.n, d=2)
        once = triplets_of_classes(self.y, statements - statements // 11).unique().of(Kind.TRIPLET)
        self.n_different = len(once)
        self.rows = rng.permutation(np.concatenate([once, once[: statements // 11]]))
        self.table = Constraints.build(self.n, triplets=self.rows)
        self.half = np.sort(rng.permutation(self.n)[: self.n // 2])
        self.order = rng.permutation(self.n)
        self.back = np.argsort(self.order)
        self.weight = rng.random(len(self.rows)) + 0.5

    def time_build(self, *_):
        Constraints.build(self.n, triplets=self.rows, weight=self.weight)

    def time_from_labels(self, *_):
        Constraints.from_labels(self.y)

    def time_unique(self, *_):
        self.table.unique()

    def time_slice(self, *_):
        self.table[self.half]

    def time_renumber(self, *_):
        self.table.reorder(self.order)

    def time_union(self, *_):
        self.table | self.table

    def time_difference(self, *_):
        self.table - self.table

    def peakmem_build(self, *_):
        Constraints.build(self.n, triplets=self.rows, weight=self.weight)

    def track_different_found(self, *_):
        """One, unless de-duplication loses a statement or keeps a copy."""
        return self.table.unique().n_statements / self.n_different

    def track_renumbered_back(self, *_):
        """One, unless renumbering there and back changes a statement."""
        again = self.table.reorder(self.order).reorder(self.back)
        return float((again.items == self.table.items).all(axis=1).mean())
