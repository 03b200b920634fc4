"""Measures over triples: H-correlation, and the number of triples of a gold hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise._typing import IntArray
from linkwise._validation import read_choice
from linkwise.constraints import run_starts
from linkwise.exceptions import LinkwiseError
from linkwise.metrics._kernels_triples import count_found
from linkwise.metrics._read_labels import Gold, read_gold, same_leaves
from linkwise.result import Dendrogram

MOST_ITEMS = 3_000_000  # n choose 3 triples fit in 64 bits up to here


def _triples(gold: Gold) -> IntArray:
    """Count the triples {x, y}, z of each node of the truth: x and y meet there, z is not below it."""
    square = gold.size**2
    below = np.zeros_like(square)
    hangs = gold.parent >= 0
    np.add.at(below, gold.parent[hangs], square[hangs])
    pairs = (square - below) // 2
    pairs[: gold.n_items] = 0  # no pair meets at an item
    return pairs * (gold.n_items - gold.size)


def _found(gold: Gold, learned: Dendrogram) -> IntArray:
    """Count the triples of each node that the learned tree displays."""
    top = learned.n_nodes  # a node above all roots makes a forest one tree
    above = np.append(np.where(learned.parent < 0, top, learned.parent), -1).astype(np.intp)
    hangs = np.flatnonzero(gold.parent >= 0)
    child = hangs[np.argsort(gold.parent[hangs], kind="stable")]
    start = run_starts(gold.parent[hangs], len(gold.parent))
    leaf = gold.samples[gold.order]
    found: IntArray = count_found(gold.n_items, gold.parent, start, child, gold.begin, gold.size, leaf, above)
    return found


def _read(who: str, truth: Any, unlabeled: Any) -> Gold:
    gold = read_gold(who, truth, unlabeled)
    if gold.n_items > MOST_ITEMS:
        msg = (
            f"{who}: the truth has {gold.n_items:,} items, expected at most {MOST_ITEMS:,} (64-bit counts of triples)."
        )
        raise LinkwiseError(msg)
    return gold


def count_triples(truth: Any, *, unlabeled: Any = -1) -> int:
    """Count the ordered triples (x, y, z) for which a hierarchy joins x and y strictly below either and z.

    Parameters as in `h_correlation`.

    Returns
    -------
    int
        (x, y, z) and (y, x, z) are two, as in [1]_, where these are called must-link-before constraints.

    References
    ----------
    .. [1] K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints", 2009.

    Examples
    --------
    >>> from linkwise.metrics import count_triples
    >>> count_triples([0, 0, 1, 1])
    8
    """
    return 2 * int(_triples(_read("count_triples", truth, unlabeled)).sum())


def h_correlation(truth: Any, dendrogram: Any, *, weights: str = "node", unlabeled: Any = -1) -> float:
    """Share of the gold triples (x and y join before z) that the learned tree displays.

    Parameters
    ----------
    truth : Dendrogram, Taxonomy or array-like of shape (n_samples,)
        The gold hierarchy: a tree over the same samples; a taxonomy with the samples on its nodes, inner ones included;
        or one class per sample, which makes a tree of two levels.
    dendrogram : Dendrogram
        The learned tree; forests and many-way nodes are ordinary.
    weights : {"node", "uniform"}, default="node"
        A triple belongs to the gold node at which x and y meet. "node" takes the mean over gold nodes of the share
        found of each node's triples, "uniform" the share of all triples, which large classes dominate.
    unlabeled : scalar or None, default=-1
        For a truth given as classes: samples of this class, or without one (None, NaN), have no place in it. With
        None only the latter have none.

    Returns
    -------
    float
        From 0 to 1; 1 if and only if the learned tree displays every gold triple, also when there is none
        (fewer than three items, one class only, or singletons only). Not symmetric.

    Notes
    -----
    Samples without a place in the truth are left out. A trio that the learned tree joins in one node, or whose x and y
    end in different trees, counts as not found.

    **Cost** O(n log² n) time and O(n) memory, whatever the shapes of the trees, by recoloring samples along the heavy
    paths of the gold tree [3]_; exact. **Departure from [1]_** neither [1]_ nor its source [2]_ as cited there writes
    the weights down beyond "equal weight to all hierarchy nodes"; the above is how we read it.

    References
    ----------
    .. [1] K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints", 2009.
    .. [2] K. Bade, D. Benz, "Evaluation Strategies for Learning Algorithms of Hierarchies", GfKl 2008 (2009).
    .. [3] G. S. Brodal, R. Fagerberg, T. Mailund, C. N. S. Pedersen, A. Sand, "Efficient Algorithms for Computing the
       Triplet and Quartet Distance Between Trees of Arbitrary Degree", SODA 2013.

    Examples
    --------
    >>> from linkwise import Dendrogram
    >>> from linkwise.metrics import h_correlation
    >>> learned = Dendrogram.from_newick("(((0,1),2),3);")
    >>> h_correlation([0, 0, 1, 1], learned)
    0.5
    >>> h_correlation(Dendrogram.from_newick("((0,1),2,3);"), learned)
    1.0
    """
    read_choice(weights, "weights", "h_correlation", ("node", "uniform"))
    gold = _read("h_correlation", truth, unlabeled)
    learned = same_leaves("h_correlation", gold.n_samples, dendrogram)
    total = _triples(gold)
    asked = total > 0
    if not asked.any():
        return 1.0
    found = _found(gold, learned)
    if np.array_equal(found, total):
        return 1.0
    share = int(found.sum()) / int(total.sum()) if weights == "uniform" else (found[asked] / total[asked]).mean()
    return min(float(share), float(np.nextafter(1.0, 0.0)))  # one triple missed in 10^16 must not round to none
