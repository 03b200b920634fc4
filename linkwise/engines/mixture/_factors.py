"""What statements say about chunklets: must-linked samples are one variable, all else is a factor of two of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Groups, Kind
from linkwise.engines.mixture._kernels_gaussian import sum_rows
from linkwise.exceptions import LinkwiseError, UnsupportedConstraintError
from linkwise.problem import check

UNDERSTOOD = frozenset({Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TOGETHER, Kind.APART})
MOST_PAIRS = 10**7


class Chunklets(NamedTuple):
    """Chunklets (samples that hard must-links join) and the log-factors between two of them.

    ``of`` is the chunklet of each sample and ``size`` how many samples each has. Row e of ``pairs``, smaller number
    first and no pair twice, has the log-factor ``same[e]`` when both get one label (-inf: forbidden) and ``other[e]``
    when not. ``constant`` is the log-factor of the soft statements the chunklets settle whatever the labels are.
    """

    of: IntArray
    size: IntArray
    pairs: IntArray
    same: FloatArray
    other: FloatArray
    constant: float

    @property
    def n(self) -> int:
        """Number of chunklets."""
        return len(self.size)

    @property
    def plain(self) -> bool:
        """Whether every sample is a chunklet of its own."""
        return len(self.of) == len(self.size)

    def gather(self, rows: FloatArray) -> FloatArray:
        """Sum rows of samples over each chunklet."""
        if self.plain:
            return rows
        out = np.zeros((self.n, rows.shape[1]))
        sum_rows(self.of, rows, out)
        return out

    def spread(self, values: FloatArray) -> FloatArray:
        """Give every sample the row of its chunklet."""
        return values if self.plain else values[self.of]


def require_understood(constraints: Constraints, who: str) -> None:
    """Refuse kinds of statement and rules that mixtures do not know."""
    foreign = [kind.word for kind in Kind if kind not in UNDERSTOOD and (constraints.kind == kind).any()]
    foreign += [type(rule).__name__ for rule in constraints.rules]
    if foreign:
        msg = (
            f"{who} does not understand {' and '.join(foreign)}; it understands "
            f"{', '.join(kind.word for kind in Kind if kind in UNDERSTOOD)}.\n"
            "Hint: leave the others out with `constraints.select(...)`, or use a method that knows them."
        )
        raise UnsupportedConstraintError(msg, tuple(foreign))


def read_chunklets(constraints: Constraints, k: int, max_states: int, who: str) -> Chunklets:
    """Contract hard must-links and turn everything else into factors of pairs.

    Of a soft group every pair carries the group's weight.
    """
    n = constraints.n_samples
    hard = constraints.select(constraints.is_hard)
    links = hard.must_links()[0]
    of = components(n, np.ascontiguousarray(links)) if len(links) else np.arange(n)
    size = np.bincount(of, minlength=1) if n else np.zeros(0, dtype=np.intp)
    _require_writable(hard, k, max_states, who)
    apart = np.concatenate([hard.of(Kind.CANNOT_LINK), _pairs_of(hard.groups_of(Kind.APART))])
    pairs = [of[apart]]
    same, other = [np.full(len(apart), -np.inf)], [np.zeros(len(apart))]
    soft = constraints.select(~constraints.is_hard)
    for kind, group, cost in (
        (Kind.MUST_LINK, Kind.TOGETHER, other),
        (Kind.CANNOT_LINK, Kind.APART, same),
    ):
        weight = soft.weight[soft.kind == kind]
        groups = soft.groups_of(group)
        _require_few(groups, who)
        more = _pairs_of(groups)
        price = np.concatenate(
            [weight, np.repeat(soft.weight[groups.statement], groups.sizes * (groups.sizes - 1) // 2)]
        )
        pairs.append(of[np.concatenate([soft.of(kind), more])])
        same.append(-price if cost is same else np.zeros(len(price)))
        other.append(-price if cost is other else np.zeros(len(price)))
    ends = np.sort(np.concatenate(pairs), axis=1)
    within = ends[:, 0] == ends[:, 1]
    settled = np.concatenate(same)[within]
    if (settled == -np.inf).any():
        check(hard).raise_if_infeasible()
    key, inverse = np.unique(ends[~within, 0] * len(size) + ends[~within, 1], return_inverse=True)
    total = [np.bincount(inverse, np.concatenate(part)[~within], len(key)).astype(np.float64) for part in (same, other)]
    unique = np.column_stack([key // max(len(size), 1), key % max(len(size), 1)])
    return Chunklets(of, size, unique, total[0], total[1], float(settled.sum()))


def _pairs_of(groups: Groups) -> IntArray:
    """Write out the pairs of each group, smaller sample first, group by group."""
    pairs = groups.pairs_with(np.ones(int(groups.member.max(initial=-1)) + 1, dtype=np.bool_))
    return pairs[pairs[:, 0] < pairs[:, 1]]


def _require_few(groups: Groups, who: str) -> None:
    count = int((groups.sizes * (groups.sizes - 1) // 2).sum())
    if count > MOST_PAIRS:
        msg = (
            f"{who}: soft groups stand for their pairs; these are {count:,}, expected at most {MOST_PAIRS:,}.\n"
            "Hint: make the groups hard, or state fewer pairs of them."
        )
        raise LinkwiseError(msg)


def _require_writable(hard: Constraints, k: int, max_states: int, who: str) -> None:
    """Refuse a group apart that no exact method can take before its pairs are written out."""
    sizes = hard.groups_of(Kind.APART).sizes
    largest = int(sizes.max(initial=0))
    if largest > k:
        check(hard, n_clusters=k).raise_if_infeasible()
    if k**largest > max_states and k * 2**k > max_states and k > 1:
        raise LinkwiseError(too_wide(who, largest, largest - 1, k, max_states, "a group apart"))


def too_wide(who: str, n_chunklets: int, width: int, k: int, max_states: int, what: str) -> str:
    """Word the refusal of statements that tie too many chunklets together for exact inference."""
    return (
        f"{who}: {what} ties {n_chunklets:,} groups of samples together so closely (width {width}) that exact "
        f"inference needs tables over {width + 1} of them at once, {k}**{width + 1} states; max_states={max_states:,} "
        "allows fewer.\n"
        "Hint: state fewer cannot-links among these samples, raise max_states, or use "
        'PenalizedMixture(wide="gibbs"), which samples where it cannot sum.'
    )
