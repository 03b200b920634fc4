"""Matching of the clusters of two results, so that similar clusters have the same label and color."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise._sparse import connected_parts
from linkwise._typing import IntArray
from linkwise.exceptions import LinkwiseError


def match_labels(labels: Any, like: Any) -> IntArray:
    """Rename clusters after those of another clustering, so that the fewest samples change their label.

    Parameters
    ----------
    labels : array-like of shape (n_samples,)
        The clustering to rename.
    like : array-like of shape (n_samples,)
        The clustering whose labels, and so colors, are adopted; unmatched clusters get new ones.

    Returns
    -------
    ndarray of intp, shape (n_samples,)

    Notes
    -----
    **Cost** linear, and cubic in the number of clusters that overlap each other, directly or through others.
    **Guarantee** only names change, and no other way to name the
    clusters differently leaves more samples with the label they have in ``like``.

    Examples
    --------
    >>> from linkwise.plots import match_labels
    >>> match_labels([0, 0, 1, 1, 2], like=[4, 4, 4, 0, 0]).tolist()
    [4, 4, 0, 0, 5]
    """
    old, new = np.asarray(labels), np.asarray(like)
    if old.ndim != 1 or old.shape != new.shape or not len(old):
        msg = f"match_labels: labels have shapes {old.shape} and {new.shape}, expected one label per sample in both."
        raise LinkwiseError(msg)
    old_kinds, i = np.unique(old, return_inverse=True)
    new_kinds, j = np.unique(new, return_inverse=True)
    met = _match(i.ravel(), j.ravel(), len(old_kinds), len(new_kinds))
    free = np.setdiff1d(np.arange(len(new_kinds)), met)
    name = np.empty(len(old_kinds), dtype=np.intp)
    name[met >= 0] = new_kinds[met[met >= 0]]
    rest = np.flatnonzero(met < 0)
    name[rest[: len(free)]] = new_kinds[free[: len(rest)]]
    left = rest[len(free) :]
    name[left] = max(int(new_kinds.max()), -1) + 1 + np.arange(len(left))
    return np.asarray(name[i.ravel()])


def _match(old: IntArray, new: IntArray, n_old: int, n_new: int) -> IntArray:
    """The new cluster that each old one is matched with, -1 for none; only clusters that overlap can be.

    Clusters that no chain of overlaps joins are matched apart from each other, which is as good as all at once.
    """
    from scipy.optimize import linear_sum_assignment
    from scipy.sparse import csr_array

    overlap = csr_array((np.ones(len(old), dtype=np.int64), (old, new)), shape=(n_old, n_new))
    pairs = overlap.tocoo()  # of each pair one entry, since equal ones are added
    pairs.sum_duplicates()
    a, b, size = pairs.row.astype(np.intp), pairs.col.astype(np.intp), pairs.data
    every = csr_array((np.ones(len(a), dtype=np.bool_), (a, n_old + b)), shape=(n_old + n_new, n_old + n_new))
    _, part = connected_parts(every)
    met = np.full(n_old, -1, dtype=np.intp)
    order = np.argsort(part[a], kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(part[a[order]])) + 1):
        if len(rows) == 1:
            met[a[rows]] = b[rows]
            continue
        left, at = np.unique(a[rows], return_inverse=True)
        right, to = np.unique(b[rows], return_inverse=True)
        table = np.zeros((len(left), len(right)), dtype=np.int64)
        table[at.ravel(), to.ravel()] = size[rows]
        first, second = linear_sum_assignment(-table)
        useful = table[first, second] > 0
        met[left[first[useful]]] = right[second[useful]]
    return met
