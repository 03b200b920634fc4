"""What a learned tree is held against: a taxonomy, another dendrogram or classes, all read as one tree over items."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.exceptions import LinkwiseError
from linkwise.metrics._kernels_triples import item_stretches, order_upwards
from linkwise.metrics._read import read_classes
from linkwise.result import Dendrogram

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
    """Read a dendrogram, a taxonomy (anything with ``parent`` and ``node``) or one class per sample."""
    if isinstance(truth, Dendrogram):
        n = truth.n_samples
        inner = np.arange(n, truth.n_nodes, dtype=np.intp)
        return _gold(n, np.arange(n, dtype=np.intp), truth.parent, inner, truth.n_nodes)
    if hasattr(truth, "parent") and hasattr(truth, "node"):
        return _from_taxonomy(who, truth)
    n, samples, classes, k = read_classes(who, truth, unlabeled)
    s = len(samples)
    parent = np.concatenate([s + classes, np.full(k, s + k, dtype=np.intp), np.array([-1], dtype=np.intp)])
    return _gold(n, samples, parent, np.arange(k + 1, dtype=np.intp), k + 1)


def _gold(n_samples: int, samples: IntArray, parent: IntArray, node: IntArray, n_given: int) -> Gold:
    parent = np.array(parent, dtype=np.intp)  # a dendrogram's is read-only, for which every kernel would compile again
    order, begin, size = item_stretches(len(samples), parent)
    return Gold(n_samples, samples, parent, node, n_given, order, begin, size)


def _numbers(who: str, name: str, values: Any) -> IntArray:
    array = np.asarray(values)
    if array.ndim != 1 or (len(array) and array.dtype.kind not in "iu"):
        msg = f"{who}: {name} of the taxonomy is {array.dtype} of shape {array.shape}, expected whole numbers in a row."
        raise LinkwiseError(msg)
    return array.astype(np.intp)


def _from_taxonomy(who: str, truth: Any) -> Gold:
    parent, node = _numbers(who, "parent", truth.parent), _numbers(who, "node", truth.node)
    for name, array in (("parent", parent), ("node", node)):
        wrong = (array < -1) | (array >= len(parent))
        if wrong.any():
            first = int(np.argmax(wrong))
            of = "node" if name == "parent" else "sample"
            msg = (
                f"{who}: the {name} of {of} {first} is {array[first]}, but the taxonomy's nodes are numbered 0 to "
                f"{len(parent) - 1} (-1: none)."
            )
            raise LinkwiseError(msg)
    upwards, reached = order_upwards(parent)
    if reached < len(parent):
        inside = np.setdiff1d(np.arange(len(parent)), upwards[:reached])
        msg = f"{who}: node {int(inside[0])} of the taxonomy is above itself ({len(inside)} nodes on or above a cycle)."
        raise LinkwiseError(msg)
    samples = np.flatnonzero(node >= 0)
    if len(samples) == 0:
        msg = f"{who}: no sample has a place in the taxonomy.\nHint: `node` holds the node of each sample, -1 for none."
        raise LinkwiseError(msg)
    number = np.empty(len(parent) + 1, dtype=np.intp)  # the last entry serves the -1 above roots
    number[upwards] = len(samples) + np.arange(len(parent))
    number[-1] = -1
    above = np.concatenate([number[node[samples]], number[parent[upwards]]])
    return _gold(len(node), samples, above, upwards, len(parent))
