"""Triplets that arrive one by one: the price of each, of a contradiction, and of building the tree at once."""

from __future__ import annotations

from benchmarks._data import random_tree, triplets_of_tree
from linkwise import Kind
from linkwise.problem import LiveTriplets, onetree


class LiveSet:
    """Consistent triplets of a random tree, and their reversals as contradictions."""

    params = ([100, 1_000, 5_000], [1, 10, 50])
    param_names = ("items", "triplets per item")

    def setup(self, items, per_item):
        self.triplets = triplets_of_tree(random_tree(items), items * per_item).of(Kind.TRIPLET)
        self.items = items
        self.some = self.triplets[:1_000].tolist()
        self.wrong = self.triplets[:1_000, [0, 2, 1]].tolist()  # ab|c was said, ac|b is not possible
        self.full = self._filled()
        self.full.add(*self.some[0])
        onetree(items, self.triplets[:10])

    def _filled(self):
        live = LiveTriplets(self.items, len(self.triplets))
        live.add_many(self.triplets)
        return live

    def time_add_many(self, *_):
        self._filled()

    def time_add_thousand_one_by_one(self, *_):
        live = LiveTriplets(self.items)
        for a, b, c in self.some:
            live.add(a, b, c)

    def time_refuse_thousand(self, *_):
        for a, b, c in self.wrong:
            self.full.add(a, b, c)

    def time_onetree(self, *_):
        onetree(self.items, self.triplets)

    def peakmem_add_many(self, *_):
        self._filled()

    def track_accepted(self, *_):
        return len(self._filled()) / len(self.triplets)

    def track_refused(self, *_):
        return sum(not self.full.add(a, b, c) for a, b, c in self.wrong) / len(self.wrong)
