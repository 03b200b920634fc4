"""Shares of statements that hold in a result."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from linkwise.constraints import Constraints, Kind, require_constraints
from linkwise.exceptions import LinkwiseWarning
from linkwise.metrics._read_labels import read_labels
from linkwise.result import Dendrogram, require_dendrogram, verify


def triplet_accuracy(triplets: Any, dendrogram: Any) -> float:
    """Share of the triplets ab|c that the tree displays: a and b meet strictly below where either meets c.

    Parameters
    ----------
    triplets : Constraints or array-like of shape (m, 3)
        Triplets, held out or given. Of a table of constraints only the triplets are judged; weights are ignored.
    dendrogram : Dendrogram
        The tree.

    Returns
    -------
    float
        From 0 to 1; nan, with a warning, when there is no triplet. A random binary tree has 1/3.

    Notes
    -----
    A trio that meets in one many-way node counts as not displayed. **Cost** O(n + m).

    Examples
    --------
    >>> from linkwise import Dendrogram
    >>> from linkwise.metrics import triplet_accuracy
    >>> triplet_accuracy([(0, 1, 2), (0, 2, 1)], Dendrogram.from_newick("((0,1),2);"))
    0.5
    """
    tree = require_dendrogram(dendrogram, "triplet_accuracy")
    if isinstance(triplets, Constraints):
        require_constraints(triplets, "triplet_accuracy", tree.n_samples, of="the tree")
        table = triplets.select(triplets.kind == Kind.TRIPLET)
    else:
        table = Constraints.build(tree.n_samples, triplets=triplets)
    if table.n_statements == 0:
        warnings.warn("triplet_accuracy: there are no triplets, so the share is nan.", LinkwiseWarning, stacklevel=2)
        return float("nan")
    return float(tree.satisfies(table).mean())


def satisfaction(constraints: Any, result: Any) -> dict[str, float]:
    """Share of the statements that hold, for each kind that occurs and for all together.

    Parameters
    ----------
    constraints : Constraints
        Statements, given or held out. Rules about clusters are not judged, weights are ignored.
    result : Dendrogram or array-like of shape (n_samples,)
        A tree, whose marked clusters (or trees) links are judged by, or one cluster per sample.

    Returns
    -------
    dict of str to float
        ``"all"``, then the keyword of each kind that occurs, such as ``"must_link"``; from 0 to 1. Without statements
        ``"all"`` is nan, with a warning.

    See Also
    --------
    linkwise.verify : the statements that do not hold, with rules and a check of the tree itself.

    Notes
    -----
    In a label vector a triplet ab|c holds if c is with neither a nor b, or with both. **Cost** O(n + m).

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.metrics import satisfaction
    >>> constraints = Constraints.build(4, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 3)])
    >>> satisfaction(constraints, [0, 0, 0, 1])
    {'all': 0.6666666666666666, 'must_link': 0.5, 'cannot_link': 1.0}
    """
    is_tree = isinstance(result, Dendrogram)
    require_constraints(constraints, "satisfaction", result.n_samples if is_tree else None, of="the tree")
    if is_tree:
        held = result.satisfies(constraints)
    else:
        labels, _ = read_labels("satisfaction", "labels", result, constraints.n_samples)
        held = verify(labels, constraints.with_rules()).held
    if constraints.n_statements == 0:
        warnings.warn("satisfaction: there are no statements, so the share is nan.", LinkwiseWarning, stacklevel=2)
        return {"all": float("nan")}
    share = {"all": float(held.mean())}
    for kind in np.unique(constraints.kind):
        share[Kind(int(kind)).word] = float(held[constraints.kind == kind].mean())
    return share
