"""Readers of labels, trees and gold hierarchies: class numbers of samples of known class, and gold trees."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._messages import many
from linkwise._typing import BoolArray, IntArray
from linkwise._value_columns import read_known
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.metrics._kernels_triples import item_stretches
from linkwise.result import Dendrogram, require_dendrogram
from linkwise.sources import Taxonomy


class Judged(NamedTuple):
    """The samples whose class is known, with class and cluster numbered from 0 on."""

    samples: IntArray
    classes: IntArray
    n_classes: int
    clusters: IntArray
    n_clusters: int
    n_samples: int  # all, those of unknown class included


def _array(who: str, name: str, values: Any, unlabeled: Any = None) -> tuple[npt.NDArray[Any], BoolArray]:
    """Read one value per sample, and a mask of the known ones, which are neither missing nor ``unlabeled``."""
    try:
        given = values if hasattr(values, "__array__") or np.ndim(values) == 1 else np.asarray(values)
    except ValueError as ragged:
        msg = f"{who}: {name} has entries of different lengths, expected one label per sample."
        raise LinkwiseError(msg) from ragged
    if np.ndim(given) != 1:
        shape = np.shape(values)  # of a sparse matrix too, which NumPy takes for one object
        msg = f"{who}: {name} has shape {shape}, expected one label per sample.\nHint: pass `np.ravel({name})`."
        raise LinkwiseError(msg)
    if len(given) == 0:
        msg = f"{who}: {name} is empty, expected at least one sample."
        raise LinkwiseError(msg)
    return read_known(f"{who}: {name}", given, unlabeled)


def _whole(who: str, name: str, values: Any) -> npt.NDArray[Any]:
    """Read one value per sample; refuse missing ones."""
    given, known = _array(who, name, values)
    if not known.all():
        msg = (
            f"{who}: {name} has no label for {many(int((~known).sum()), 'sample')}, such as {int(np.argmin(known))}; "
            "NaN and None are not labels.\nHint: drop these samples; only the truth may be unknown."
        )
        raise LinkwiseError(msg)
    return given


def _encode(who: str, name: str, given: npt.NDArray[Any]) -> tuple[IntArray, int]:
    """Number the labels 0 to k - 1 in sorted order; also return k."""
    if given.dtype.kind in "iu":
        low, high = int(given.min()), int(given.max())
        if max(-low, high) < 2**62 and high - low <= 4 * len(given):  # then a look-up table saves the sorting
            shifted = given.astype(np.intp) - low
            present = np.bincount(shifted) > 0
            return (np.cumsum(present) - 1)[shifted], int(present.sum())
    try:
        values, codes = np.unique(given, return_inverse=True)
    except TypeError as mixed:
        msg = f"{who}: {name} mixes values that cannot be compared.\nHint: make all labels text, or all numbers."
        raise LinkwiseError(msg) from mixed
    return codes.reshape(-1).astype(np.intp, copy=False), len(values)


def _known(who: str, y_true: Any, unlabeled: Any) -> tuple[npt.NDArray[Any], IntArray]:
    """Read the truth, and the samples whose class is known."""
    given, is_known = _array(who, "y_true", y_true, unlabeled)
    known = np.flatnonzero(is_known)
    if len(known) == 0:
        msg = (
            f"{who}: every entry of the truth is missing or {unlabeled!r}, which means 'not known'.\n"
            "Hint: pass `unlabeled=None` if it is a class."
        )
        raise LinkwiseError(msg)
    if len(known) < len(given) and unlabeled == -1 and (given[known] == 1).all() and (given[~is_known] == -1).all():
        warnings.warn(
            f"{who}: the truth holds only -1 and 1; -1 was read as 'not known', which leaves {len(known):,} samples "
            "of one class.\nHint: pass `unlabeled=None` if -1 is a class.",
            LinkwiseWarning,
            stacklevel=4,
        )
    return given, known


def read_judged(who: str, y_true: Any, labels: Any, unlabeled: Any) -> Judged:
    """Read true classes and clusters of the samples whose class is known; -1 is a cluster like any other."""
    (truth, known), found = _known(who, y_true, unlabeled), _whole(who, "labels", labels)
    if len(truth) != len(found):
        msg = f"{who}: y_true has {len(truth):,} entries and labels {len(found):,}, expected one each per sample."
        raise LinkwiseError(msg)
    n = len(truth)
    if len(known) < n:
        truth, found = truth[known], found[known]
    return Judged(known, *_encode(who, "y_true", truth), *_encode(who, "labels", found), n)


def names_of(who: str, name: str, values: Any, samples: IntArray) -> npt.NDArray[Any]:
    """Return the labels of these samples, each once, in the order of the numbers that `read_judged` gives them."""
    return np.unique(_array(who, name, values)[0][samples])


def read_labels(who: str, name: str, labels: Any, n_samples: int) -> tuple[IntArray, int]:
    """Read one label for each of ``n_samples`` samples; return their numbers, and the number of different labels."""
    given = _whole(who, name, labels)
    if len(given) != n_samples:
        msg = f"{who}: {name} has {len(given):,} entries, but there are {n_samples:,} samples."
        raise LinkwiseError(msg)
    return _encode(who, name, given)


def read_classes(who: str, y_true: Any, unlabeled: Any) -> tuple[int, IntArray, IntArray, int]:
    """Read true classes: the number of samples, those of known class, their classes, the number of classes."""
    truth, known = _known(who, y_true, unlabeled)
    return len(truth), known, *_encode(who, "y_true", truth[known])


def same_leaves(who: str, n_samples: int, dendrogram: Any) -> Dendrogram:
    """Refuse an argument that is not a dendrogram over ``n_samples`` samples."""
    tree = require_dendrogram(dendrogram, who)
    if tree.n_samples != n_samples:
        msg = (
            f"{who}: the truth is about {n_samples:,} samples, but the dendrogram has {tree.n_samples:,} leaves.\n"
            "Hint: give the classes of exactly the samples of the tree, in the same order."
        )
        raise LinkwiseError(msg)
    return tree


def cells(first: IntArray, second: IntArray, k: int) -> tuple[IntArray, IntArray, IntArray]:
    """Count the samples with each pair (first, second) that occurs; ``second`` is below ``k``."""
    key = first * k + second
    if len(key) and int(key.max()) <= 4 * len(key):
        count = np.bincount(key)
        present = np.flatnonzero(count)
        return present // k, present % k, count[present]
    present, count = np.unique(key, return_counts=True)
    return present // k, present % k, count


# -- gold hierarchies ----------------------------------------------------------------------------------------------


class Gold(NamedTuple):
    """A gold tree: items are the nodes 0 to n_items - 1, the nodes of the truth follow, children before parents.

    An item that sits on an inner node of a taxonomy is a leaf child of that node. Nodes may have one child or none.
    """

    n_samples: int  # all samples, also those that are not items
    samples: IntArray  # sample of each item
    parent: IntArray
    node: IntArray  # number of each node behind the items in the truth as given
    n_given: int  # how many nodes the truth as given has
    order: IntArray  # items such that those below a node are neighbors
    begin: IntArray  # where the stretch of each node begins in `order`
    size: IntArray  # and how long it is

    @property
    def n_items(self) -> int:
        """Number of samples that have a place in the truth."""
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
