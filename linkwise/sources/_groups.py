"""Groups known to belong together, from a column of group names."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.constraints import Constraints
from linkwise.sources._labels import read_classes

__all__ = ["groups"]


def groups(names: Any, *, unlabeled: Any = None, weight: Any = np.inf) -> Constraints:
    """Must-link the samples of each group; nothing is said about different groups (*chunklets*).

    Parameters
    ----------
    names : array-like of shape (n_samples,)
        Name of the group each sample is in.
    unlabeled : scalar, default=None
        The value that means "in no group"; by default None and NaN do.
    weight : float or array-like, default=inf
        Price of breaking one must-link.

    Returns
    -------
    Constraints
        A chain of must-links through each group in the order of its samples, which entails all its pairs.

    Notes
    -----
    Labels of classes say more, namely that samples of different classes are apart: that is `Constraints.from_labels`.
    **Cost** O(n log n); a group of g samples takes g - 1 statements. A soft weight is the price of each link of the
    chain, so that a group torn in two costs it once.

    Examples
    --------
    >>> from linkwise.sources import groups
    >>> groups(["scan 1", "scan 2", None, "scan 1", "scan 1"]).items[:, :2].tolist()
    [[0, 3], [3, 4]]
    """
    classes = read_classes("groups", names, unlabeled)
    linked = np.ones(len(classes.member), dtype=np.bool_)
    linked[classes.start] = False
    second = np.flatnonzero(linked)
    chain = np.column_stack([classes.member[second - 1], classes.member[second]])
    return Constraints.build(classes.n_samples, must_link=chain, weight=weight)
