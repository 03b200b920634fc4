"""`easy_label_pairs`: pairs of labeled samples whose cannot-links can be kept without search."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._random import make_generator
from linkwise._typing import IntArray
from linkwise._validation import read_count, read_share
from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError
from linkwise.sources._labels import Classes, pairs_of_one_class, read_classes
from linkwise.sources._random_ranks import share_out


def easy_label_pairs(
    y: Any,
    m: int,
    n_clusters: int,
    random_state: Any = None,
    *,
    must_link_share: float = 0.5,
    unlabeled: Any = -1,
    weight: Any = np.inf,
) -> Constraints:
    """Draw random pairs of labeled samples that any method which places samples in order can keep.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class of each sample: must-links are drawn within a class, cannot-links between classes.
    m : int
        How many pairs.
    n_clusters : int
        The number of clusters for which the pairs are to be easy, at least 2 where there are cannot-links.
    random_state : int, Generator or None
        Seed; the same seed gives the same pairs.
    must_link_share : float from 0 to 1, default=0.5
        Share of the pairs (rounded to a whole number of them) that are must-links.
    unlabeled : scalar, default=-1
        A value that means "not known"; None, NaN, pandas.NA and masked values always do.
    weight : float or array-like, default=inf
        Cost of breaking one statement (must-links first).

    Returns
    -------
    Constraints

    Raises
    ------
    LinkwiseError
        There are not as many pairs of one class, or not as many cannot-links that stay easy.

    See Also
    --------
    label_pairs : any pairs, which may be hard to keep in few clusters.
    linkwise.problem.structure : the inductiveness of given cannot-links.

    Notes
    -----
    The must-links are drawn first. The groups that they make are placed in random order, and each gets cannot-links to
    fewer than ``n_clusters`` groups before it, all of other classes. So the inductiveness of the cannot-link graph
    between groups is below ``n_clusters``, and an assignment of the groups in that order always finds a cluster [1]_.

    **Cost** O((n + m) log n), and O(n) for each class. **Guarantee** `structure(constraints).inductiveness` is below
    ``n_clusters``; all pairs are different and true to the labels. **Departure from** [1]_ the must-links are random
    pairs of a class; the paper orders single instances.

    References
    ----------
    .. [1] I. Davidson, S. S. Ravi, "Identifying and Generating Easy Sets of Constraints for Clustering", AAAI 2006.

    Examples
    --------
    >>> from linkwise.problem import structure
    >>> from linkwise.sources import easy_label_pairs
    >>> easy = easy_label_pairs([0, 1, 2, 3] * 10, 60, n_clusters=3, random_state=0, must_link_share=0.0)
    >>> easy, structure(easy).inductiveness
    (Constraints(40 samples: 60 cannot-links; all hard), 2)
    """
    m, rng = read_count(m, "m", "easy_label_pairs"), make_generator(random_state)
    k = read_count(n_clusters, "n_clusters", "easy_label_pairs", low=1)
    classes = read_classes("easy_label_pairs", y, unlabeled)
    wanted = read_share(must_link_share, "must_link_share", "easy_label_pairs", m)
    together = pairs_of_one_class(rng, classes, wanted, False, "easy_label_pairs")
    apart = _pairs_in_order(rng, classes, together, m - wanted, k - 1)
    return Constraints.build(
        classes.n_samples, must_link=classes.member[together], cannot_link=classes.member[apart], weight=weight
    )


def _pairs_in_order(rng: np.random.Generator, classes: Classes, together: IntArray, m: int, most: int) -> IntArray:
    """Draw ``m`` pairs of places in groups of different classes, at most ``most`` from each group to earlier ones."""
    group = components(len(classes.member), together)
    n_groups = int(group.max(initial=-1)) + 1
    class_of = np.empty(n_groups, dtype=np.intp)
    class_of[group] = classes.of_place
    order = rng.permutation(n_groups)
    in_order = class_of[order]
    others = [np.flatnonzero(in_order != c) for c in range(len(classes.size))]  # positions, rising
    own = [np.flatnonzero(in_order == c) for c in range(len(classes.size))]
    before = np.zeros(n_groups, dtype=np.intp)
    for c, mine in enumerate(own):
        before[mine] = np.searchsorted(others[c], mine)
    capacity = np.minimum(before, most)
    if m > int(capacity.sum()):
        room = int(capacity.sum())
        msg = (
            f"easy_label_pairs: {m:,} cannot-links are wanted, but {n_groups:,} groups in this order have room for "
            f"{room:,} that leave the inductiveness below {most + 1}.\n"
            f"Hint: ask for fewer pairs, for more clusters, or for another must_link_share."
        )
        raise LinkwiseError(msg)
    count = share_out(rng, m, capacity)
    later, rank = _distinct_ranks(rng, before, count)
    earlier = np.empty(len(later), dtype=np.intp)
    for c in range(len(classes.size)):
        mine = in_order[later] == c
        earlier[mine] = others[c][rank[mine]]
    size = np.bincount(group, minlength=n_groups)
    start, member = np.cumsum(size) - size, np.argsort(group, kind="stable")
    ends = order[np.column_stack([later, earlier])]
    pairs = member[start[ends] + rng.integers(size[ends])] if m else np.empty((0, 2), dtype=np.intp)
    return np.asarray(rng.permutation(pairs), dtype=np.intp)


def _distinct_ranks(rng: np.random.Generator, total: IntArray, count: IntArray) -> tuple[IntArray, IntArray]:
    """For each position draw ``count`` different numbers below ``total``; return positions and numbers."""
    at = np.repeat(np.arange(len(total)), count)
    rank = np.zeros(len(at), dtype=np.intp)
    missing = np.ones(len(at), dtype=np.bool_)
    while missing.any():  # repeats are drawn again
        rank[missing] = rng.integers(total[at[missing]])
        by = np.lexsort((missing, rank, at))
        twice = np.zeros(len(at), dtype=np.bool_)
        twice[by[1:]] = (at[by[1:]] == at[by[:-1]]) & (rank[by[1:]] == rank[by[:-1]])
        missing = twice
    return at, rank
