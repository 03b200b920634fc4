"""Soft statements as weighted pairs of samples, and the graph they make of the samples they name."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, Groups, Kind
from linkwise.exceptions import LinkwiseError

_MOST = 10_000_000  # pairs that soft groups may be written out as


class SoftPairs(NamedTuple):
    """Weighted pairs of samples, no pair of one kind twice.

    Attributes
    ----------
    first, second : ndarray of intp, shape (p,)
        The samples.
    must : ndarray of bool, shape (p,)
        True for must-links, False for cannot-links.
    weight : ndarray of float64, shape (p,)
        Sum of the weights with which the pair was given; finite and > 0.
    """

    first: IntArray
    second: IntArray
    must: BoolArray
    weight: FloatArray

    def pick(self, keep: BoolArray) -> SoftPairs:
        """Keep the pairs a mask picks."""
        return SoftPairs(self.first[keep], self.second[keep], self.must[keep], self.weight[keep])


def soft_pairs(constraints: Constraints, who: str) -> SoftPairs:
    """Gather the soft statements as pairs; a group stands for all pairs of its samples, each with its weight.

    Pairs come sorted, weights of equal ones are added, so neither the order of statements nor how often a pair was
    given matters.
    """
    soft = ~constraints.is_hard
    parts = []
    for kind, group, must in ((Kind.MUST_LINK, Kind.TOGETHER, True), (Kind.CANNOT_LINK, Kind.APART, False)):
        at = np.flatnonzero((constraints.kind == kind) & soft)
        pairs, statement = _write_out(constraints.groups_of(group), soft, who)
        pairs = np.concatenate([constraints.items[at, :2], pairs])
        weight = constraints.weight[np.concatenate([at, statement])]
        parts.append(_merge(pairs, weight, constraints.n_samples, must=must))
    return SoftPairs(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def _write_out(groups: Groups, soft: BoolArray, who: str) -> tuple[IntArray, IntArray]:
    groups = groups.pick(soft[groups.statement])
    total = int((groups.sizes * (groups.sizes - 1) // 2).sum())
    if total > _MOST:
        msg = (
            f"{who}: the soft groups stand for {total:,} pairs, more than the {_MOST:,} it weighs.\n"
            "Hint: a hard group (weight inf) costs no more than its samples."
        )
        raise LinkwiseError(msg)
    members = [groups.of(g) for g in range(len(groups.statement))]
    pairs = [np.column_stack([m[i] for i in np.triu_indices(len(m), 1)]) for m in members]
    owner = np.repeat(groups.statement, groups.sizes * (groups.sizes - 1) // 2)
    return np.concatenate([np.empty((0, 2), dtype=np.intp), *pairs]), owner


def _merge(pairs: IntArray, weight: FloatArray, n: int, *, must: bool) -> SoftPairs:
    pairs = np.sort(pairs, axis=1)
    key, alike = np.unique(pairs[:, 0] * n + pairs[:, 1], return_inverse=True)
    total = np.bincount(alike.reshape(-1), weights=weight, minlength=len(key)).astype(np.float64)
    first, second = np.divmod(key, max(n, 1))
    return SoftPairs(first.astype(np.intp), second.astype(np.intp), np.full(len(key), must), total)
