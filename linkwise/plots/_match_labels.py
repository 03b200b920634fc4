"""Matching of the clusters of two results, so that similar clusters have the same label and color."""

from __future__ import annotations

from typing import Any

import numpy as np

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
    **Cost** linear, and cubic in the number of clusters. **Guarantee** only names change, and no other way to name the
    clusters differently leaves more samples with the label they have in ``like``.

    Examples
    --------
    >>> from linkwise.plots import match_labels
    >>> match_labels([0, 0, 1, 1, 2], like=[4, 4, 4, 0, 0]).tolist()
    [4, 4, 0, 0, 5]
    """
    from scipy.optimize import linear_sum_assignment

    old, new = np.asarray(labels), np.asarray(like)
    if old.ndim != 1 or old.shape != new.shape or not len(old):
        msg = f"match_labels: labels have shapes {old.shape} and {new.shape}, expected one label per sample in both."
        raise LinkwiseError(msg)
    old_kinds, i = np.unique(old, return_inverse=True)
    new_kinds, j = np.unique(new, return_inverse=True)
    overlap = np.zeros((len(old_kinds), len(new_kinds)), dtype=np.int64)
    np.add.at(overlap, (i.ravel(), j.ravel()), 1)
    rows, columns = linear_sum_assignment(-overlap)
    name = np.empty(len(old_kinds), dtype=np.intp)
    rest = np.setdiff1d(np.arange(len(old_kinds)), rows)
    name[rows] = new_kinds[columns]
    name[rest] = max(int(new_kinds.max()), -1) + 1 + np.arange(len(rest))
    return np.asarray(name[i.ravel()])
