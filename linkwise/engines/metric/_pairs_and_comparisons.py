"""Statements as requirements on distances: near pairs, far pairs, and comparisons from triplets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from linkwise._kernels.disjoint_set import components
from linkwise._sparse import connected_parts
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints, Groups, Kind
from linkwise.exceptions import LinkwiseError

MOST_PAIRS = 20_000_000


class Pairs(NamedTuple):
    """Pairs of samples and their weights."""

    first: IntArray
    second: IntArray
    weight: FloatArray

    def pick(self, keep: BoolArray) -> Pairs:
        """Return the pairs of a mask."""
        return Pairs(self.first[keep], self.second[keep], self.weight[keep])


class Comparisons(NamedTuple):
    """Rows ``a, b, c`` that read d(a, b) < d(a, c), and their weights."""

    items: IntArray
    weight: FloatArray


def finite_weights(constraints: Constraints) -> FloatArray:
    """Return finite weights: a hard statement weighs as much as the heaviest soft one, and at least 1."""
    weight = constraints.weight
    soft = weight[np.isfinite(weight)]
    return np.where(np.isfinite(weight), weight, max(1.0, float(soft.max(initial=0.0))))


def together_pairs(constraints: Constraints) -> Pairs:
    """Pairs that belong together: must-links, and all pairs of each group together.

    A group of n samples weighs as much as n - 1 equivalent must-links, spread evenly over its pairs, so that the order
    of its samples does not matter and large groups do not dominate.
    """
    groups = constraints.groups_of(Kind.TOGETHER)
    return _with_groups(constraints, Kind.MUST_LINK, groups, 2.0 / np.maximum(groups.sizes, 1))


def apart_pairs(constraints: Constraints) -> Pairs:
    """Pairs that do not belong together: cannot-links, and every pair of a group apart, with its full weight."""
    groups = constraints.groups_of(Kind.APART)
    return _with_groups(constraints, Kind.CANNOT_LINK, groups, np.ones(len(groups.statement)))


def _with_groups(constraints: Constraints, kind: Kind, groups: Groups, share: FloatArray) -> Pairs:
    weight = finite_weights(constraints)
    said = np.flatnonzero(constraints.kind == kind)
    first, second, each = constraints.items[said, 0], constraints.items[said, 1], weight[said]
    if not len(groups.statement):
        return Pairs(first, second, each)
    owner, left = groups.owner, groups.start[1:][groups.owner] - np.arange(len(groups.member)) - 1
    if left.sum() > MOST_PAIRS:
        msg = (
            f"the groups have {int(left.sum()):,} pairs, but a metric is learned from at most {MOST_PAIRS:,}.\n"
            "Hint: use smaller groups, or RCA, which does not list the pairs of groups."
        )
        raise LinkwiseError(msg)
    at = np.repeat(np.arange(len(groups.member)), left)
    after = at + 1 + np.arange(len(at)) - np.repeat(np.cumsum(left) - left, left)
    return Pairs(
        np.concatenate([first, groups.member[at]]),
        np.concatenate([second, groups.member[after]]),
        np.concatenate([each, (weight[groups.statement] * share)[owner[at]]]),
    )


def together_scatter(X: Any, constraints: Constraints) -> tuple[Any, FloatArray]:
    """Return rows r and weights w with Σ w r r' = Σ over `together_pairs` of weight (x - y)(x - y)'.

    The pairs of groups are not listed: their sum follows from the distances to the group means. X may be sparse.
    """
    weight = finite_weights(constraints)
    said = np.flatnonzero(constraints.kind == Kind.MUST_LINK)
    rows = X[constraints.items[said, 0]] - X[constraints.items[said, 1]]
    groups = constraints.groups_of(Kind.TOGETHER)
    if not len(groups.statement):
        return rows, weight[said]
    owner, size = groups.owner, groups.sizes.astype(np.float64)
    share = scipy.sparse.csr_array(
        (1.0 / size[owner], (owner, np.arange(len(owner)))), shape=(len(size), len(groups.member))
    )
    members = X[groups.member]
    centered = members - (share @ members)[owner]
    stack = scipy.sparse.vstack if scipy.sparse.issparse(rows) else np.concatenate
    return stack([rows, centered]), np.concatenate([weight[said], 2.0 * weight[groups.statement][owner]])


def comparisons(constraints: Constraints) -> Comparisons:
    """Return two comparisons for each triplet ab|c: d(a, b) < d(a, c) and d(b, a) < d(b, c)."""
    said = np.flatnonzero(constraints.kind == Kind.TRIPLET)
    items, weight = constraints.items[said], finite_weights(constraints)[said]
    return Comparisons(np.concatenate([items, items[:, [1, 0, 2]]]), np.concatenate([weight, weight]))


def differences(X: Any, pairs: Pairs) -> Any:
    """Return one row per pair: the first sample minus the second."""
    return X[pairs.first] - X[pairs.second]


def squared_lengths(rows: Any) -> FloatArray:
    """Return the squared Euclidean length of each row, sparse or dense."""
    if scipy.sparse.issparse(rows):
        return np.asarray(rows.multiply(rows).sum(axis=1), dtype=np.float64).ravel()
    return np.asarray(np.einsum("ij,ij->i", rows, rows))


def without_coincident(X: Any, pairs: Pairs, *, who: str) -> tuple[Any, FloatArray]:
    """Return differences and weights of the pairs whose samples differ; warn about the others."""
    rows = differences(X, pairs)
    distinct = _find_distinct(rows, pairs, who)
    return rows[distinct], pairs.weight[distinct]


def distinct_pairs(X: Any, pairs: Pairs, *, who: str) -> Pairs:
    """Return the pairs whose samples differ; warn about the others."""
    return pairs.pick(_find_distinct(differences(X, pairs), pairs, who))


def _find_distinct(rows: Any, pairs: Pairs, who: str) -> BoolArray:
    distinct = squared_lengths(rows) > 0
    if not distinct.all():
        gone = np.flatnonzero(~distinct)
        warn_user(
            f"{who}: {len(gone):,} pair(s) that should be apart have the same features, so no metric can separate "
            f"them; they were left out, the first being samples {int(pairs.first[gone[0]])} and "
            f"{int(pairs.second[gone[0]])}."
        )
    return distinct


def warn_of_contradictions(constraints: Constraints, *, who: str) -> None:
    """Warn about statements that no distance can satisfy together; all of them count nevertheless."""
    links, _ = constraints.must_links()
    cannot = constraints.of(Kind.CANNOT_LINK)
    apart = constraints.groups_of(Kind.APART)
    broken = 0
    if len(links) and (len(cannot) or len(apart.statement)):
        part = components(constraints.n_samples, np.ascontiguousarray(links))
        broken = int((part[cannot[:, 0]] == part[cannot[:, 1]]).sum())
        broken += int((~apart.hold(np.full(len(apart.statement), Kind.APART, dtype=np.int8), part)).sum())
    circular = _circular(constraints.of(Kind.TRIPLET))
    if broken:
        warn_user(
            f"{who}: {broken:,} statement(s) keep apart what must-links join; both count, each with its weight.\n"
            "Hint: `linkwise.check(constraints).explanation` names them."
        )
    if circular:
        warn_user(
            f"{who}: {circular:,} triplet(s) contradict others: together they require a distance smaller than itself; "
            "all count, each with its weight.\nHint: `linkwise.check(constraints).explanation` names them."
        )


def _circular(triplets: IntArray) -> int:
    """Count triplets on a cycle of "this distance is smaller than that one"."""
    if not len(triplets):
        return 0
    a, b, c = triplets.T
    n = int(triplets.max()) + 1
    ends = np.sort(np.concatenate([np.column_stack(pair) for pair in ((a, b), (a, c), (b, c))]), axis=1)
    pair = np.unique(ends[:, 0] * n + ends[:, 1], return_inverse=True)[1].reshape(3, -1)
    smaller, larger = np.concatenate([pair[0], pair[0]]), np.concatenate([pair[1], pair[2]])
    size = int(pair.max()) + 1
    graph = scipy.sparse.csr_array((np.ones(len(smaller)), (smaller, larger)), shape=(size, size))
    part = connected_parts(graph, directed=True)[1]
    return int(((part[pair[0]] == part[pair[1]]) | (part[pair[0]] == part[pair[2]])).sum())
