"""F-measures of a class hierarchy: leaf classes and higher classes, on samples whose class was not given."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from linkwise._kernels.lca import prepare
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.exceptions import LinkwiseError
from linkwise.metrics._read_labels import same_leaves
from linkwise.metrics._tree_measures import best_f, judged_below
from linkwise.metrics._triple_measures import Gold, read_gold

_BATCH = 1 << 21  # members of classes handled at a time


class ClassF(NamedTuple):
    """Mean F-measure of leaf classes and of higher classes, and that of each class; made by `class_f`.

    Examples
    --------
    >>> from linkwise import Dendrogram
    >>> from linkwise.metrics import class_f
    >>> class_f(["a", "a", "b"], Dendrogram.from_newick("((0,1),2);")).of_class.tolist()
    [1.0, 1.0, nan]
    """

    leaf: float
    higher: float
    of_class: FloatArray


def class_f(truth: Any, dendrogram: Any, *, labeled: Any = None, unlabeled: Any = -1) -> ClassF:
    """F-measure of the best cluster for each class of a class hierarchy, on samples whose class was not given.

    Parameters
    ----------
    truth : Dendrogram, Taxonomy or array-like of shape (n_samples,)
        The classes and their hierarchy, as in `h_correlation`.
    dendrogram : Dendrogram
        The learned tree.
    labeled : array-like of samples or of bool, optional
        The samples whose class the method was given. They are left out of classes and clusters.
    unlabeled : scalar or None, default=-1
        For a truth given as classes: samples of this class, or without one (None, NaN), have no place in it. With
        None only the latter have none.

    Returns
    -------
    ClassF
        ``leaf``: mean over the classes without subclasses; ``higher``: mean over the others, whose members include
        those of their subclasses. Each from 0 to 1, or nan when no class of that level has a sample to judge (classes
        without a hierarchy have no higher level). ``of_class``: the value of each node of the truth as given (for a
        truth given as classes: in sorted order, then the root), nan where nothing was judged.

    Notes
    -----
    The root above all classes is not a class, unless it is the only one. Each class has its best cluster, and one
    cluster may serve several classes, as in [1]_, section 5.2. Samples without a place in the truth are left out.

    **Cost** O(s log s), s being the sum of the sizes of all classes: depth of the truth times n at most.

    References
    ----------
    .. [1] K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints", 2009.

    Examples
    --------
    >>> from linkwise import Dendrogram
    >>> from linkwise.metrics import class_f
    >>> gold = Dendrogram.from_newick("((0,1),(2,(3,4)));")
    >>> score = class_f(gold, Dendrogram.from_newick("((0,1),((2,3),4));"))
    >>> round(score.leaf, 3), score.higher
    (0.9, 1.0)
    """
    gold = read_gold("class_f", truth, unlabeled)
    tree = same_leaves("class_f", gold.n_samples, dendrogram)
    judged = ~_read_labeled(labeled, gold.n_samples)[gold.samples]
    if not judged.any():
        msg = "class_f: every sample with a class is labeled, expected some others.\nHint: hold some samples out."
        raise LinkwiseError(msg)
    index = prepare(np.array(tree.parent))
    below = judged_below(index, gold.samples[judged])
    score = np.full(len(gold.parent), np.nan)
    for nodes, sample, of_class in _classes(gold, judged):
        best = best_f(index, below, sample, of_class, len(nodes))
        score[nodes] = np.where(np.bincount(of_class, minlength=len(nodes)) > 0, best, np.nan)
    s = gold.n_items
    parent_of_class = gold.parent[s:]
    has_subclass = np.zeros(len(gold.parent), dtype=np.bool_)
    has_subclass[parent_of_class[parent_of_class >= 0]] = True
    roots = np.flatnonzero(gold.parent < 0)
    counted = ~np.isnan(score)
    if len(roots) == 1 and has_subclass[roots[0]]:
        counted[roots[0]] = False
    of_given = np.full(gold.n_given, np.nan)
    of_given[gold.node] = np.where(counted, score, np.nan)[s:]
    leaf, higher = score[counted & ~has_subclass], score[counted & has_subclass]
    return ClassF(
        float(leaf.mean()) if len(leaf) else float("nan"),
        float(higher.mean()) if len(higher) else float("nan"),
        of_given,
    )


def _read_labeled(labeled: Any, n_samples: int) -> BoolArray:
    mask = np.zeros(n_samples, dtype=np.bool_)
    given = np.asarray(() if labeled is None else labeled)
    if given.size == 0:
        return mask
    if given.ndim != 1 or given.dtype.kind not in "biu":
        msg = f"class_f: labeled is {given.dtype} of shape {given.shape}, expected sample numbers or a mask of samples."
        raise LinkwiseError(msg)
    if given.dtype.kind == "b":
        if len(given) != n_samples:
            msg = f"class_f: the mask labeled has {len(given):,} entries, but there are {n_samples:,} samples."
            raise LinkwiseError(msg)
    elif given.min() < 0 or given.max() >= n_samples:
        worst = int(given.min() if given.min() < 0 else given.max())
        msg = f"class_f: labeled names sample {worst}, but samples are numbered 0 to {n_samples - 1}."
        raise LinkwiseError(msg)
    mask[given] = True
    return mask


def _classes(gold: Gold, judged: BoolArray) -> Iterator[tuple[IntArray, IntArray, IntArray]]:
    """Yield batches of classes with their judged samples; the classes of a deep truth have n²/2 members in all."""
    order = gold.order[judged[gold.order]]
    before = np.concatenate([[0], np.cumsum(judged[gold.order])])
    begin, end = before[gold.begin], before[gold.begin + gold.size]
    nodes = np.arange(gold.n_items, len(gold.parent))
    batch = np.cumsum((end - begin)[nodes]) // _BATCH
    for part in np.split(nodes, np.flatnonzero(np.diff(batch)) + 1):
        count = (end - begin)[part]
        of_class = np.repeat(np.arange(len(part)), count)
        offset = np.arange(len(of_class)) - np.repeat(np.cumsum(count) - count, count)
        yield part, gold.samples[order[begin[part][of_class] + offset]], of_class
