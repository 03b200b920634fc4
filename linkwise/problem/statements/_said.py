"""What was said as two tables: what is certain, over groups of must-linked samples, and what is doubtful, as pairs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Groups, Kind
from linkwise.exceptions import LinkwiseError
from linkwise.problem.statements._conflict_graph import Apart

_MOST_PAIRS = 10**7


class Leanings(NamedTuple):
    """What soft statements add up to: each pair once, lower sample first, with a weight > 0 together and < 0 apart."""

    pairs: IntArray
    weight: FloatArray


def read_leanings(constraints: Constraints, who: str) -> Leanings:
    """Add up the weights of soft statements about each pair; of a soft group every pair carries its weight."""
    n, soft = constraints.n_samples, constraints.select(~constraints.is_hard)
    pairs, weight = [], []
    for kind, group, sign in ((Kind.MUST_LINK, Kind.TOGETHER, 1.0), (Kind.CANNOT_LINK, Kind.APART, -1.0)):
        pairs.append(soft.of(kind))
        weight.append(sign * soft.weight[soft.kind == kind])
        groups = soft.groups_of(group)
        count = groups.sizes * (groups.sizes - 1) // 2
        if count.sum() > _MOST_PAIRS:
            msg = (
                f"{who}: soft groups stand for their pairs; these are {int(count.sum()):,}, expected at most "
                f"{_MOST_PAIRS:,}.\nHint: make the groups hard, or state fewer pairs of them."
            )
            raise LinkwiseError(msg)
        pairs.append(_written_out(groups))
        weight.append(sign * np.repeat(soft.weight[groups.statement], count))
    ends, price = np.sort(np.concatenate(pairs), axis=1), np.concatenate(weight)
    key, inverse = np.unique(ends[:, 0] * n + ends[:, 1], return_inverse=True)
    total = np.bincount(inverse.reshape(-1), price, len(key)).astype(np.float64)
    some = total != 0
    return Leanings(np.stack(np.divmod(key[some], max(n, 1)), axis=1).astype(np.intp), total[some])


def apart_pairs(apart: Apart) -> IntArray:
    """List the pairs of nodes that are to be apart, lower first; cliques are written out."""
    cliques = Groups(np.arange(len(apart.start) - 1), apart.start, apart.member)
    pairs = apart.node[_written_out(cliques)]
    return np.asarray(np.unique(np.sort(pairs, axis=1), axis=0), dtype=np.intp)


def _written_out(groups: Groups) -> IntArray:
    everything = np.ones(int(groups.member.max(initial=-1)) + 1, dtype=np.bool_)
    pairs = groups.pairs_with(everything)
    return pairs[pairs[:, 0] < pairs[:, 1]]
