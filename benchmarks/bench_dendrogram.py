"""Asking a large dendrogram: a million triplets on a hundred thousand leaves, meeting points, cuts."""

from __future__ import annotations

import numpy as np

from benchmarks._data import random_tree, triplets_of_tree
from linkwise import Dendrogram, Kind, verify


class Questions:
    """A random binary tree and triplets that it displays."""

    params = ([1_000, 100_000], [10_000, 1_000_000])
    param_names = ("leaves", "triplets")

    def setup(self, leaves, triplets):
        self.leaves = leaves
        self.tree = random_tree(leaves)
        self.constraints = triplets_of_tree(self.tree, triplets)
        self.a, self.b, _ = self.constraints.of(Kind.TRIPLET).T
        self.merges = self.tree.to_children()
        self.heights = self.tree.raw_height[leaves:]
        self.middle = float(np.median(self.heights))
        self.few = self.constraints.select(slice(0, 1_000))
        self.newick = self.tree.to_newick()
        self.time_cut_constrained()  # loads or compiles the kernels
        self.time_cut_agreeing()
        self.time_build()

    def time_build(self, *_):
        Dendrogram.from_merges(self.leaves, self.merges, self.heights).lca(0, 1)

    def time_satisfies(self, *_):
        self.tree.satisfies(self.constraints)

    def time_verify(self, *_):
        verify(self.tree, self.constraints)

    def time_lca(self, *_):
        self.tree.lca(self.a, self.b)

    def time_cut_n_clusters(self, *_):
        self.tree.cut(n_clusters=100)

    def time_cut_height(self, *_):
        self.tree.cut(height=self.middle)

    def time_cut_constrained(self, *_):
        self.tree.cut_constrained(self.few, 100)

    def time_cut_agreeing(self, *_):
        self.tree.cut_agreeing(self.few, 100)

    def time_to_linkage(self, *_):
        self.tree.to_linkage()

    def time_to_newick(self, *_):
        self.tree.to_newick()

    def time_from_newick(self, *_):
        Dendrogram.from_newick(self.newick)

    def peakmem_satisfies(self, *_):
        self.tree.satisfies(self.constraints)

    def track_held(self, *_):
        return float(self.tree.satisfies(self.constraints).mean())

    def track_cuts_agree(self, *_):
        """One, unless undoing merges and cutting between two heights give different clusters."""
        by_height = self.tree.cut(height=self.middle)
        by_number = self.tree.cut(n_clusters=int(by_height.max()) + 1)
        return float((by_height == by_number).mean())
