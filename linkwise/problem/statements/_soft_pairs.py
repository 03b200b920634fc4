"""Soft statements as weighted pairs of samples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, Groups, Kind
from linkwise.exceptions import LinkwiseError

MOST_PAIRS = 10_000_000  # pairs that soft groups may be written out as


class NetPairs(NamedTuple):
    """Each pair of samples once, smaller sample first; the weight is > 0 for together and < 0 for apart."""

    pairs: IntArray
    weight: FloatArray


class SoftPairs(NamedTuple):
    """Weighted pairs of samples, no pair of one kind twice."""

    first: IntArray
    second: IntArray
    must: BoolArray  # False for cannot-links
    weight: FloatArray  # sum over the statements about the pair; finite and > 0

    def pick(self, keep: BoolArray) -> SoftPairs:
        """Keep the pairs that a mask selects."""
        return SoftPairs(self.first[keep], self.second[keep], self.must[keep], self.weight[keep])

    def net(self) -> NetPairs:
        """Return each pair once with its weight for being together minus that for being apart, where they differ."""
        n = int(max(self.first.max(initial=0), self.second.max(initial=0))) + 1
        key, inverse = np.unique(self.first * n + self.second, return_inverse=True)
        signed = np.where(self.must, self.weight, -self.weight)
        total = np.bincount(inverse.reshape(-1), signed, len(key)).astype(np.float64)
        some = total != 0
        return NetPairs(np.stack(np.divmod(key[some], n), axis=1).astype(np.intp), total[some])


def soft_pairs(constraints: Constraints, who: str) -> SoftPairs:
    """Write soft statements as pairs; a group stands for all pairs of its samples, each with the weight of the group.

    Pairs come sorted and weights of equal pairs are added, so the order of statements and repeats do not matter.
    """
    soft = ~constraints.is_hard
    parts = []
    for kind, group, must in ((Kind.MUST_LINK, Kind.TOGETHER, True), (Kind.CANNOT_LINK, Kind.APART, False)):
        at = np.flatnonzero((constraints.kind == kind) & soft)
        groups = constraints.groups_of(group)
        groups = groups.pick(soft[groups.statement])
        _require_few(groups, who)
        pairs = np.concatenate([constraints.items[at, :2], pairs_of_groups(groups)])
        owner = np.repeat(groups.statement, groups.sizes * (groups.sizes - 1) // 2)
        weight = constraints.weight[np.concatenate([at, owner])]
        parts.append(_merge(pairs, weight, constraints.n_samples, must=must))
    return SoftPairs(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))


def pairs_of_groups(groups: Groups) -> IntArray:
    """Return the pairs of samples of each group, smaller sample first, group by group."""
    everything = np.ones(int(groups.member.max(initial=-1)) + 1, dtype=np.bool_)
    pairs = groups.pairs_with(everything)
    return pairs[pairs[:, 0] < pairs[:, 1]]


def _require_few(groups: Groups, who: str) -> None:
    total = int((groups.sizes * (groups.sizes - 1) // 2).sum())
    if total > MOST_PAIRS:
        msg = (
            f"{who}: the soft groups stand for {total:,} pairs, expected at most {MOST_PAIRS:,}.\n"
            "Hint: a hard group (weight inf) costs no more than its samples; or state fewer pairs."
        )
        raise LinkwiseError(msg)


def _merge(pairs: IntArray, weight: FloatArray, n: int, *, must: bool) -> SoftPairs:
    pairs = np.sort(pairs, axis=1)
    key, alike = np.unique(pairs[:, 0] * n + pairs[:, 1], return_inverse=True)
    total = np.bincount(alike.reshape(-1), weights=weight, minlength=len(key)).astype(np.float64)
    first, second = np.divmod(key, max(n, 1))
    return SoftPairs(first.astype(np.intp), second.astype(np.intp), np.full(len(key), must), total)
