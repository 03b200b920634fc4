"""Measures of a whole tree without a cut: F-scores of classes and of hierarchies of classes, purity and cost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from linkwise._kernels.lca import LcaIndex, prepare
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise._validation import read_choice
from linkwise.constraints import run_starts
from linkwise.exceptions import LinkwiseError
from linkwise.metrics._kernels_classes import best_class_f, class_meetings, cost_dense, cost_of_pairs
from linkwise.metrics._kernels_triples import item_stretches
from linkwise.metrics._read_labels import Gold, read_classes, read_gold, same_leaves
from linkwise.result import Dendrogram, require_dendrogram

_BATCH = 1 << 21  # members of classes handled at a time


class Meetings(NamedTuple):
    """Nodes of a tree at which members of a class meet: node, class, members below, pairs that meet there."""

    node: IntArray
    of_class: IntArray
    members: IntArray
    pairs: IntArray


def meetings(index: LcaIndex, sample: IntArray, of_class: IntArray, k: int) -> Meetings:
    order = np.lexsort((index.first[sample], of_class))
    start = run_starts(of_class, k)
    rows, used = class_meetings(index, sample[order], start)
    return Meetings(*rows[:used].T)


def judged_below(index: LcaIndex, samples: IntArray) -> IntArray:
    """Count the given samples below each node; the last entry is the node above all roots."""
    met = np.zeros(len(index.first) + 1, dtype=np.intp)
    met[index.first[samples]] = 1
    met = np.cumsum(met)
    return np.asarray(met[index.last] - met[index.first - 1])


def best_f(index: LcaIndex, below: IntArray, sample: IntArray, of_class: IntArray, k: int) -> FloatArray:
    """Return the best F-measure of any cluster of the tree for each class."""
    met = meetings(index, sample, of_class, k)
    size = np.bincount(of_class, minlength=k)
    real = met.node < len(index.first) - 1  # the node above all roots of a forest is not a cluster
    node, group = met.node[real], met.of_class[real]
    best = np.zeros(k)
    np.maximum.at(best, group, 2.0 * met.members[real] / (below[node] + size[group]))
    return best


def _by_levels(tree: Dendrogram, samples: IntArray, classes: IntArray, k: int) -> float:
    """Return the mean over the levels of the tree of the F-measures of their clusters, weighted by size."""
    parent = np.array(tree.parent)
    label = np.full(tree.n_samples, -1, dtype=np.intp)
    label[samples] = classes
    order, begin, count = item_stretches(tree.n_samples, parent)
    child_start, child = np.array(tree.child_start), np.array(tree.child)
    best = best_class_f(parent, child_start, child, order, begin, count, label, np.bincount(classes, minlength=k))
    below = judged_below(prepare(parent), samples)[:-1]
    alive, n_levels = lifetimes(tree)
    return float((alive * below * best).sum() / (n_levels * len(samples)))


def lifetimes(tree: Dendrogram) -> tuple[IntArray, int]:
    """Return the number of levels on which each node is a cluster, and the number of levels.

    Levels are counted before the first merge and after each one.
    """
    parent = np.array(tree.parent)
    born = np.maximum(np.arange(tree.n_nodes) - tree.n_samples + 1, 0)  # the level at which a cluster appears
    n_levels = tree.n_nodes - tree.n_samples + 1
    return np.where(parent >= 0, born[parent], n_levels) - born, n_levels


def hierarchy_fscore(y_true: Any, dendrogram: Any, *, form: str = "class", unlabeled: Any = -1) -> float:
    """FScore of a hierarchy: how well each class appears among all clusters of the tree.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true class of each sample.
    dendrogram : Dendrogram
        The tree; forests and many-way nodes are ordinary.
    form : {"class", "levels"}, default="class"
        "class": the best F-measure of any cluster of the tree (single samples and roots included) for each class,
        averaged over classes by their sizes. "levels": the best F-measure of any class for each cluster, averaged over
        the clusters of a level by their sizes and over the levels, one before the first merge and one after each.
    unlabeled : scalar or None, default=-1
        Samples whose true class is this value are left out, as are those without one (None, NaN); None leaves out only
        the latter.

    Returns
    -------
    float
        Above 0, up to 1. The class form is 1 if and only if every class is a cluster of the tree. The level form
        reaches 1 only for a single class of a single sample and serves for comparison with the formula of the paper.

    Notes
    -----
    **Cost** O(n log n) for the class form; the level form adds the number of classes below each node, at most O(n k).
    **Departure from [1]_** equation 12 adds over all n levels and so exceeds 1, while the figures of table IV are those
    of the class form (0.8906 for Iris and 0.7614 for Wine with single linkage come out exactly). "levels" is equation
    12 divided by the number of levels, which is n for a binary tree.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> from linkwise import Dendrogram
    >>> from linkwise.metrics import hierarchy_fscore
    >>> tree = Dendrogram.from_newick("(((0,1),2),3);")
    >>> hierarchy_fscore([0, 0, 0, 1], tree), hierarchy_fscore([0, 0, 1, 1], tree)
    (1.0, 0.8333333333333333)
    """
    who = "hierarchy_fscore"
    read_choice(form, "form", who, ("class", "levels"))
    n, samples, classes, k = read_classes(who, y_true, unlabeled)
    tree = same_leaves(who, n, dendrogram)
    if form == "levels":
        return _by_levels(tree, samples, classes, k)
    index = prepare(np.array(tree.parent))
    best = best_f(index, judged_below(index, samples), samples, classes, k)
    return float(best @ np.bincount(classes) / len(samples))


def dendrogram_purity(y_true: Any, dendrogram: Any, *, unlabeled: Any = -1) -> float:
    """Mean purity of the smallest clusters that hold two samples of one class.

    Parameters as in `hierarchy_fscore`.

    Returns
    -------
    float
        Above 0, up to 1; 1 if and only if every class makes up one subtree, or no class has two samples. Two samples in
        different trees of a forest meet in the set of all samples.

    Notes
    -----
    The expectation of [1]_ over all pairs of one class, exact. **Cost** O(n log n), no pair is listed.

    References
    ----------
    .. [1] K. A. Heller, Z. Ghahramani, "Bayesian Hierarchical Clustering", ICML 2005.

    Examples
    --------
    >>> from linkwise import Dendrogram
    >>> from linkwise.metrics import dendrogram_purity
    >>> tree = Dendrogram.from_newick("((0,1),(2,3));")
    >>> dendrogram_purity([0, 0, 1, 1], tree), dendrogram_purity([0, 1, 0, 1], tree)
    (1.0, 0.5)
    """
    n, samples, classes, k = read_classes("dendrogram_purity", y_true, unlabeled)
    tree = same_leaves("dendrogram_purity", n, dendrogram)
    index = prepare(np.array(tree.parent))
    met = meetings(index, samples, classes, k)
    n_pairs = int(met.pairs.sum())
    if n_pairs == 0:
        return 1.0
    share = met.members / judged_below(index, samples)[met.node]
    # weighing by shares of the pairs keeps a perfect tree at exactly 1
    return 1.0 - float((met.pairs * (1.0 - share)).sum()) / n_pairs


def dasgupta_cost(similarity: Any, dendrogram: Any) -> float:
    """Dasgupta's cost of a tree: each pair pays its similarity times the size of the smallest cluster that holds it.

    Parameters
    ----------
    similarity : array-like or sparse matrix of shape (n_samples, n_samples)
        Similarity of each pair, symmetric; the diagonal is ignored. Entries that a sparse graph does not store are 0.
    dendrogram : Dendrogram
        The tree. Two samples in different trees of a forest meet in the set of all samples.

    Returns
    -------
    float
        Lower is better. With similarities >= 0 it is between 2 and n_samples times their sum over pairs.

    Notes
    -----
    **Cost** O(n + number of stored entries); O(n²) for a dense matrix.

    References
    ----------
    .. [1] S. Dasgupta, "A Cost Function for Similarity-Based Hierarchical Clustering", STOC 2016.

    Examples
    --------
    >>> from linkwise import Dendrogram
    >>> from linkwise.metrics import dasgupta_cost
    >>> similarity = [[0, 5, 1], [5, 0, 1], [1, 1, 0]]
    >>> dasgupta_cost(similarity, Dendrogram.from_newick("((0,1),2);"))
    16.0
    >>> dasgupta_cost(similarity, Dendrogram.from_newick("((0,2),1);"))
    20.0
    """
    from scipy.sparse import coo_array, issparse

    tree = require_dendrogram(dendrogram, "dasgupta_cost")
    n = tree.n_samples
    sparse = issparse(similarity)
    matrix = similarity if sparse else np.ascontiguousarray(similarity, dtype=np.float64)
    if matrix.shape != (n, n):
        msg = f"dasgupta_cost: the similarities have shape {matrix.shape}, expected ({n}, {n}), one row per leaf."
        raise LinkwiseError(msg)
    index = prepare(np.array(tree.parent))
    size = judged_below(index, np.arange(n))
    if not sparse:
        _check_similarity(matrix, matrix - matrix.T)
        return float(cost_dense(index, size, matrix))
    entries = coo_array(matrix, dtype=np.float64)
    _check_similarity(entries.data, (entries.tocsr() - entries.T.tocsr()).data)
    i, j = entries.row.astype(np.intp), entries.col.astype(np.intp)
    once = i < j
    return float(cost_of_pairs(index, size, i[once], j[once], entries.data[once]))


def _check_similarity(values: FloatArray, difference: FloatArray) -> None:
    if not np.isfinite(values).all():
        msg = "dasgupta_cost: a similarity is NaN or infinite, expected finite numbers."
        raise LinkwiseError(msg)
    if np.abs(difference).max(initial=0.0) > 1e-8 * np.abs(values).max(initial=0.0):
        msg = "dasgupta_cost: the similarities are not symmetric.\nHint: pass `(S + S.T) / 2`."
        raise LinkwiseError(msg)


# -- a hierarchy of classes ----------------------------------------------------------------------------------------


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
    truth, dendrogram, unlabeled
        As in `h_correlation`.
    labeled : array-like of samples or of bool, optional
        The samples whose class the method was given. They are left out of classes and clusters.

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
