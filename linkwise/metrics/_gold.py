"""What a learned tree is held against: a taxonomy, another dendrogram or classes, all read as one tree over items."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.exceptions import LinkwiseError
from linkwise.metrics._kernels_triples import item_stretches
from linkwise.metrics._read import read_classes
from linkwise.result import Dendrogram
from linkwise.sources import Taxonomy

__all__ = ["Gold", "read_gold"]

IntArray = npt.NDArray[np.intp]


class Gold(NamedTuple):
    """A gold tree: items are the nodes 0 to n_items - 1, the nodes of the truth follow, children before parents.

    An item that sits on an inner node of a taxonomy is a leaf child of that node. Nodes may have one child or none.
    """

    n_samples: int  # all samples, those that are no items included
    samples: IntArray  # sample of each item
    parent: IntArray
    node: IntArray  # number of each node behind the items in the truth as given
    n_given: int  # how many nodes the truth as given has
    order: IntArray  # items such that those below a node are neighbours
    begin: IntArray  # where the stretch of each node begins in `order`
    size: IntArray  # and how long it is

    @property
    def n_items(self) -> int:
        """How many samples have a place in the truth."""
        return len(self.samples)


def read_gold(who: str, truth: Any, unlabeled: Any = -1) -> Gold:
    """Read a dendrogram, a taxonomy or one class per sample."""
    if isinstance(truth, Dendrogram):
        n = truth.n_samples
        inner = np.arange(n, truth.n_nodes, dtype=np.intp)
        return _gold(n, np.arange(n, dtype=np.intp), truth.parent, inner, truth.n_nodes)
    if isinstance(truth, Taxonomy):
        return _from_taxonomy(who, truth)
    n, samples, classes, k = read_classes(who, truth, unlabeled)
    s = len(samples)
    parent = np.concatenate([s + classes, np.full(k, s + k, dtype=np.intp), np.array([-1], dtype=np.intp)])
    return _gold(n, samples, parent, np.arange(k + 1, dtype=np.intp), k + 1)


def _gold(n_samples: int, samples: IntArray, parent: IntArray, node: IntArray, n_given: int) -> Gold:
    parent = np.array(parent, dtype=np.intp)  # a dendrogram's is read-only, for which every kernel would compile again
    order, begin, size = item_stretches(len(samples), parent)
    return Gold(n_samples, samples, parent, node, n_given, order, begin, size)


def _from_taxonomy(who: str, truth: Taxonomy) -> Gold:
    if not len(truth.items):
        msg = f"{who}: no sample has a place in the taxonomy.\nHint: place samples on it with `place`."
        raise LinkwiseError(msg)
    upwards = np.argsort(-truth.depth, kind="stable")  # children before parents
    n, m = len(truth.items), truth.n_nodes
    number = np.empty(m + 1, dtype=np.intp)  # the last entry serves the -1 above roots
    number[upwards] = n + np.arange(m)
    number[-1] = -1
    above = np.concatenate([number[truth.node[truth.items]], number[truth.parent[upwards]]])
    return _gold(truth.n_samples, np.array(truth.items), above, upwards, m)
