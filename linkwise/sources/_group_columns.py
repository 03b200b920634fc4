"""Constraints made from a column of group names: samples of a group belong together, or no two of them do."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from linkwise._validation import read_choice
from linkwise.constraints import Constraints
from linkwise.sources._labels import read_classes


def groups(
    names: Any,
    *,
    say: Literal["links", "together", "apart"] = "links",
    unlabeled: Any = None,
    weight: Any = np.inf,
) -> Constraints:
    """State that the samples of each group belong together (*chunklets*), or that no two of them do.

    Parameters
    ----------
    names : array-like of shape (n_samples,)
        Name of the group each sample is in.
    say : {"links", "together", "apart"}, default="links"
        "links": a chain of must-links through each group, in the order of its samples. "together": one statement per
        group. "apart": one statement per group that no two of its samples share a cluster. There are no
        statements between groups.
    unlabeled : scalar, default=None
        A value that means "in no group"; None, NaN, pandas.NA and masked values always do.
    weight : float or array-like, default=inf
        Cost of breaking one statement.

    Returns
    -------
    Constraints

    Notes
    -----
    Labels of classes also keep samples of different classes apart; use `Constraints.from_labels` for them.
    Hard links and hard groups together mean the same. Soft ones do not: a chain charges for every link that is broken,
    so a group torn in two may cost its weight once or several times; a group costs its weight once, however it is torn.
    **Cost** O(n log n); a group of g samples takes g - 1 links or one statement.

    See Also
    --------
    Constraints.from_groups : the group statements without the links.

    Examples
    --------
    >>> from linkwise.sources import groups
    >>> groups(["scan 1", "scan 2", None, "scan 1", "scan 1"]).items[:, :2].tolist()
    [[0, 3], [3, 4]]
    >>> groups(["photo 1", "photo 1", None, "photo 2"], say="apart").describe(0)
    '#0 apart(0, 1)'
    """
    read_choice(say, "say", "groups", ("links", "together", "apart"))
    classes = read_classes("groups", names, unlabeled)
    if say != "links":
        code = np.full(classes.n_samples, -1, dtype=np.intp)
        code[classes.member] = classes.of_place
        return Constraints.from_groups(code, say=say, unlabeled=-1, weight=weight)
    linked = np.ones(len(classes.member), dtype=np.bool_)
    linked[classes.start] = False
    second = np.flatnonzero(linked)
    chain = np.column_stack([classes.member[second - 1], classes.member[second]])
    return Constraints.build(classes.n_samples, must_link=chain, weight=weight)
