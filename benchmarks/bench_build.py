"""The tree of many triplets at once (BUILD), for every shape of tree: depth must not matter."""

from __future__ import annotations

from benchmarks._data import SHAPES, chain, tree_of, tree_of_shape, triplets_of_tree
from benchmarks._tree_quality import share_held
from linkwise import Constraints, Kind
from linkwise.problem import onetree


class Build:
    """Triplets of one tree, ten per leaf; a chain has one per leaf."""

    params = ([*SHAPES, "chain"], [1_000, 10_000, 100_000])
    param_names = ("shape", "leaves")

    def setup(self, shape, leaves):
        self.leaves = leaves
        if shape == "chain":
            self.said = Constraints.build(leaves, triplets=chain(leaves))
        else:
            self.said = triplets_of_tree(tree_of_shape(leaves, shape), 10 * leaves)
        self.triplets = self.said.of(Kind.TRIPLET)
        onetree(leaves, self.triplets)

    def time_onetree(self, *_):
        onetree(self.leaves, self.triplets)

    def peakmem_onetree(self, *_):
        onetree(self.leaves, self.triplets)

    def track_held(self, *_):
        parent = onetree(self.leaves, self.triplets).parent
        return share_held(tree_of(self.leaves, parent), self.said)
