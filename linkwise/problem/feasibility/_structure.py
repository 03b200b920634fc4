"""`structure`: the degree and the inductiveness of the cannot-link graph, which prove numbers of clusters possible."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._messages import many
from linkwise.constraints import Constraints, require_constraints
from linkwise.problem.feasibility._check import check
from linkwise.problem.feasibility._coloring import ConflictGraph
from linkwise.problem.statements import Hard, pairs_of_groups
from linkwise.problem.triplets import blocks_or_none

_MOST_PAIRS = 2_000_000  # that groups apart are written out as, so that samples in several groups are counted once


class Structure(NamedTuple):
    """The cannot-link graph between groups of samples that share a cluster anyway; made by `structure`.

    Attributes
    ----------
    n_groups : int
        Groups that must-links and triplets make, single samples included.
    n_apart : int
        Pairs of groups that cannot-links and groups apart separate.
    max_degree : int
        The most groups that one group is apart from.
    inductiveness : int
        The smallest Q for which the groups can be placed in an order in which each is apart from at most Q before it;
        also called degeneracy. It is never larger than ``max_degree``.
    exact : bool
        False where groups apart stand for too many pairs to be compared; then the numbers are upper bounds.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.problem import structure
    >>> print(structure(Constraints.build(5, cannot_link=[(0, 1), (0, 2), (0, 3)])))
    maximum cannot-link degree 3, inductiveness 1: 2 clusters or more are possible without search
    """

    n_groups: int
    n_apart: int
    max_degree: int
    inductiveness: int
    exact: bool

    def __str__(self) -> str:
        word = "" if self.exact else "at most "
        proven = many(self.inductiveness + 1, "cluster")
        return (
            f"maximum cannot-link degree {word}{self.max_degree:,}, inductiveness {word}{self.inductiveness:,}: "
            f"{proven} or more are possible without search"
        )


def structure(constraints: Constraints) -> Structure:
    """Measure the cannot-link graph: any number of clusters above its inductiveness can be had without search.

    Parameters
    ----------
    constraints : Constraints
        Hard must-links, cannot-links, groups and triplets; soft statements, choices and rules are left out.

    Returns
    -------
    Structure

    Raises
    ------
    InfeasibleConstraintsError
        The hard statements contradict each other.

    See Also
    --------
    check : decide about a number of clusters, by search where it is not above the inductiveness.
    linkwise.sources.easy_label_pairs : draw cannot-links of a small inductiveness.

    Notes
    -----
    Place the groups in the order that shows the inductiveness Q: each finds one of Q + 1 clusters without a group that
    it is apart from [1]_. With triplets a cut of some hierarchy is wanted, so there the numbers prove nothing.

    **Cost** near-linear in the number of pairs, times the logarithm of the degree. **Guarantee** without triplets,
    choices and rules, every number of clusters from ``inductiveness + 1`` to ``n_groups`` is possible.
    **Departure from** [1]_ none.

    References
    ----------
    .. [1] I. Davidson, S. S. Ravi, "Identifying and Generating Easy Sets of Constraints for Clustering", AAAI 2006.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.problem import structure
    >>> found = structure(Constraints.build(6, must_link=[(0, 1)], cannot_link=[(0, 2), (1, 3), (2, 3)]))
    >>> found.n_groups, found.max_degree, found.inductiveness
    (5, 2, 2)
    """
    require_constraints(constraints, "structure")
    hard = Hard.of(constraints)
    block = blocks_or_none(hard)
    if block is None:
        check(constraints.with_rules()).raise_if_infeasible()
        msg = "statements without blocks contradict each other"
        raise AssertionError(msg)
    size = hard.apart.sizes.astype(np.float64)
    if float((size * (size - 1) / 2).sum()) <= _MOST_PAIRS:
        pairs = np.concatenate([hard.cannot, pairs_of_groups(hard.apart)])
        graph, exact = ConflictGraph(block, pairs, hard.apart.pick(size < 0)), True
        n_apart = graph.n_pairs
    else:
        graph, exact = ConflictGraph(block, hard.cannot, hard.apart), False
        n_apart = graph.n_pairs + int((size * (size - 1) / 2).sum())
    return Structure(graph.n, n_apart, graph.max_degree, graph.enough() - 1, exact)
