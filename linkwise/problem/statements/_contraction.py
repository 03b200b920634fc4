"""Must-linked samples as one weighted sample, and the way back for labels and hierarchies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Constraints, Groups, Kind
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram


@dataclass(frozen=True, eq=False)
class Contraction:
    """Which samples became one; made by `Problem.contract`.

    Attributes
    ----------
    group : ndarray of intp, shape (n_samples,)
        The group of each sample, numbered by first appearance.
    size : ndarray of intp, shape (n_groups,)
        How many samples each group has: the weights of the contracted samples.

    Examples
    --------
    >>> from linkwise.problem import Contraction
    >>> both = Contraction.of([0, 1, 0])
    >>> both.size.tolist(), both.expand([5, 7]).tolist()
    ([2, 1], [5, 7, 5])
    """

    group: IntArray
    size: IntArray

    @classmethod
    def of(cls, group: npt.ArrayLike) -> Contraction:
        """Make a contraction from the group of each sample, numbered 0, 1, ... without gaps."""
        numbers = np.array(group, dtype=np.intp)
        return cls(numbers, np.bincount(numbers))

    @property
    def n_groups(self) -> int:
        """Number of samples after contraction."""
        return len(self.size)

    def expand(self, result: Dendrogram | npt.ArrayLike) -> Dendrogram | IntArray:
        """Carry labels or a hierarchy of the groups back to the samples.

        Parameters
        ----------
        result : Dendrogram or array-like of shape (n_groups,)
            What was found for the contracted problem.

        Returns
        -------
        Dendrogram or ndarray
            The same for all samples. In a hierarchy the samples of a group hang under one node at height 0.
        """
        if isinstance(result, Dendrogram):
            return self._expand_tree(result)
        labels = np.asarray(result)
        if labels.shape != (self.n_groups,):
            msg = f"expand: labels have shape {labels.shape}, expected one for each of the {self.n_groups:,} groups."
            raise LinkwiseError(msg)
        return labels[self.group]

    def _expand_tree(self, tree: Dendrogram) -> Dendrogram:
        if tree.n_samples != self.n_groups:
            msg = f"expand: the hierarchy has {tree.n_samples:,} leaves, expected the {self.n_groups:,} groups."
            raise LinkwiseError(msg)
        n = len(self.group)
        several = np.flatnonzero(self.size > 1)
        place = np.empty(tree.n_nodes + 1, dtype=np.intp)  # the last entry carries the "no parent" -1 over
        place[self.group] = np.arange(n)
        place[several] = n + np.arange(len(several))
        above = n + len(several) + np.arange(tree.n_nodes - self.n_groups)
        place[self.n_groups : -1] = above
        place[-1] = -1
        parent = np.empty(n + len(several) + len(above), dtype=np.intp)
        parent[:n] = place[self.group]
        raw = np.zeros(len(parent))
        nodes = place[:-1]
        parent[nodes] = place[tree.parent]
        raw[above] = tree.raw_height[self.n_groups :]
        marked = None if tree.marked is None else np.sort(place[tree.marked])
        return Dendrogram(n, parent, raw, marked=marked)


def contract_constraints(constraints: Constraints, group: IntArray, n_groups: int) -> Constraints:
    """Write statements over groups; those that every grouping satisfies disappear.

    The caller has checked that no hard statement contradicts the grouping. Soft ones that do, or that the grouping
    satisfies, say nothing about the groups any more and are dropped as well.
    """
    items = np.where(constraints.items >= 0, group[constraints.items], -1)
    a, b, c = items.T
    is_triplet = constraints.kind == Kind.TRIPLET
    keep = (a != b) & ~(is_triplet & ((a == c) | (b == c)))
    flip = items[:, 0] > items[:, 1]
    items[flip, :2] = items[flip, 1::-1]
    groups, left = _contract_groups(constraints, group)
    keep[constraints.groups.statement] = left
    whole = type(constraints)(
        n_groups,
        constraints.kind,
        items,
        constraints.weight,
        constraints.row,
        constraints.rules,
        None,
        groups,
    )
    return whole.select(keep)


def _contract_groups(constraints: Constraints, group: IntArray) -> tuple[Groups, BoolArray]:
    """Write the members of group statements over groups, each once; return them and which still say something."""
    said = constraints.groups
    kind = constraints.kind[said.statement]
    choice = (kind == Kind.MUST_LINK_ANY) | (kind == Kind.CANNOT_LINK_ANY)
    owner, member = said.owner, group[said.member]
    first = np.ones(len(member), dtype=np.intp)
    first[said.start[:-1][choice]] = 0
    order = np.lexsort((member, first, owner))
    owner, member, first = owner[order], member[order], first[order]
    head = member[said.start[:-1]]  # sorting moved nothing across statements
    once = np.ones(len(member), dtype=np.bool_)
    once[1:] = (owner[1:] != owner[:-1]) | (member[1:] != member[:-1])
    once &= (first == 0) | ~choice[owner] | (member != head[owner])
    left = np.bincount(owner[once], minlength=len(kind))
    met = choice & np.isin(np.arange(len(kind)), owner[(first == 1) & (member == head[owner]) & choice[owner]])
    says = left >= 2
    says &= ~((kind == Kind.APART) & (left < said.sizes))  # broken, hence soft
    says &= ~((kind == Kind.MUST_LINK_ANY) & met)
    start = np.concatenate([[0], np.cumsum(left)]).astype(np.intp)
    return Groups(said.statement, start, member[once]), says
