"""How much of what was said a result keeps."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import LinkwiseWarning
from linkwise.metrics._read_labels import read_constraints, read_dendrogram, read_labels
from linkwise.result import Dendrogram, verify


def triplet_accuracy(triplets: Any, dendrogram: Any) -> float:
    """Share of the triplets ab|c that the tree displays: a and b meet strictly below where either meets c.

    Parameters
    ----------
    triplets : Constraints or array-like of shape (m, 3)
        Triplets, held out or given. Of a table of constraints only the triplets are asked; weights play no role.
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
    tree = read_dendrogram("triplet_accuracy", dendrogram)
    if isinstance(triplets, Constraints):
        said = read_constraints("triplet_accuracy", triplets, tree.n_samples)
        said = said.select(said.kind == Kind.TRIPLET)
    else:
        said = Constraints.build(tree.n_samples, triplets=triplets)
    if said.n_statements == 0:
        warnings.warn(
            "triplet_accuracy: there is no triplet to judge by; the answer is nan.", LinkwiseWarning, stacklevel=2
        )
        return float("nan")
    return float(tree.satisfies(said).mean())


def satisfaction(constraints: Any, result: Any) -> dict[str, float]:
    """Share of the statements that hold, for each kind that was said and for all together.

    Parameters
    ----------
    constraints : Constraints
        What was said, or what was held out. Rules about clusters are not judged, weights play no role.
    result : Dendrogram or array-like of shape (n_samples,)
        A tree, whose marked clusters (or trees) links are judged by, or one cluster per sample.

    Returns
    -------
    dict of str to float
        ``"all"``, then the keyword of each kind that was said, such as ``"must_link"``; from 0 to 1. When nothing was
        said, ``"all"`` is nan, with a warning.

    See Also
    --------
    linkwise.verify : which statements do not hold, with rules and a check of the tree itself.

    Notes
    -----
    In a label vector a triplet ab|c holds if c is with neither a nor b, or with both. **Cost** O(n + m).

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.metrics import satisfaction
    >>> said = Constraints.build(4, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 3)])
    >>> satisfaction(said, [0, 0, 0, 1])
    {'all': 0.6666666666666666, 'must_link': 0.5, 'cannot_link': 1.0}
    """
    if isinstance(result, Dendrogram):
        said = read_constraints("satisfaction", constraints, result.n_samples)
        held = result.satisfies(said)
    else:
        n = constraints.n_samples if isinstance(constraints, Constraints) else len(result)
        said = read_constraints("satisfaction", constraints, n)
        held = verify(read_labels("satisfaction", "labels", result, n)[0], said.with_rules()).held
    if said.n_statements == 0:
        warnings.warn("satisfaction: nothing was said, so the share is nan.", LinkwiseWarning, stacklevel=2)
        return {"all": float("nan")}
    share = {"all": float(held.mean())}
    for kind in np.unique(said.kind):
        share[Kind(int(kind)).word] = float(held[said.kind == kind].mean())
    return share
