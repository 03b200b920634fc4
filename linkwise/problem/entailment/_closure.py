"""The closure of constraints: every pair, and on request every triplet, that the hard statements entail."""

from __future__ import annotations

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import LinkwiseError
from linkwise.problem.entailment._implies import Entailment
from linkwise.problem.feasibility import check
from linkwise.problem.triplets import Spans

MOST_SAMPLES = 400


_HINT = "`implies(constraints, statements)` answers questions about any number of samples."


def all_entailed(
    constraints: Constraints,
    limit: int,
    most_samples: int = MOST_SAMPLES,
    *,
    who: str = "close(triplets=True)",
    hint: str = _HINT,
) -> Constraints:
    """Return the statements that the hard ones entail and that are not among them."""
    known = Entailment(constraints, who)
    n = known.n
    named = np.unique(np.concatenate([known.must.ravel(), known.cannot.ravel(), known.triplets.ravel()]))
    if len(named) > most_samples:
        msg = (
            f"{who}: the hard statements name {len(named):,} samples; all that they entail is written out for up to "
            f"{most_samples}.\nHint: {hint}"
        )
        raise LinkwiseError(msg)
    block = known.block[named]
    x, y = (side.astype(np.intp) for side in np.triu_indices(len(np.unique(block)), 1))
    first = np.unique(block)
    small = np.searchsorted(first, block)
    apart = known.apart(first[x], first[y])
    must, cannot = pairs_of_groups(small, np.column_stack([x[apart], y[apart]]))
    implied = implied_triplets(known, named)
    n_triplets = int(implied.sum())
    if len(must) + len(cannot) + n_triplets > limit:
        msg = (
            f"{who}: {len(must):,} must-links, {len(cannot):,} cannot-links and {n_triplets:,} triplets are entailed, "
            f"more than {limit:,}.\nHint: {hint}"
        )
        raise LinkwiseError(msg)
    said = np.searchsorted(named, known.triplets)
    implied[said[:, 0], said[:, 1], said[:, 2]] = False
    return type(constraints).build(
        n,
        must_link=not_in(named[must], known.must, n),
        cannot_link=not_in(named[cannot], known.cannot, n),
        triplets=named[np.column_stack(np.nonzero(implied))],
    )


def implied_triplets(known: Entailment, named: IntArray) -> BoolArray:
    """Whether ab|c is implied, for all a < b and c among the positions in ``named``."""
    excluded = _table(known.spans, named)
    if len(known.must) and len(known.cannot):
        block, small = np.unique(known.block[named], return_inverse=True)
        k = len(block)
        forced = _table(known.block_spans, block)
        here = np.arange(k)
        forced[here[:, None], here, here[:, None]] = True
        forced[here[:, None], here, here] = True
        x, y = (side.ravel() for side in np.meshgrid(here, here, indexing="ij"))
        forced &= known.apart(block[x], block[y]).reshape(k, k, 1)
        excluded |= forced[small[:, None, None], small[:, None], small]
    implied = np.zeros_like(excluded)
    for a in range(len(named)):  # ab|c needs ac|b and bc|a excluded
        np.logical_and(excluded[a].T[a + 1 :], excluded[a + 1 :, :, a], out=implied[a, a + 1 :])
    return implied


def _table(spans: Spans, items: IntArray) -> BoolArray:
    """Whether item z is in the span of x and y, for all of ``items``; those in no triplet are in none."""
    place = np.searchsorted(items, spans.names)
    full = np.zeros((len(items),) * 3, dtype=np.bool_)
    full[np.ix_(place, place, place)] = spans.table()
    return full


_LIMIT = 5_000_000


def close(constraints: Constraints, *, triplets: bool = False, groups: bool = False) -> Constraints:
    """Add every must-link and cannot-link that the hard ones entail, and if asked every triplet too.

    Parameters
    ----------
    constraints : Constraints
        Statements of any kind.
    triplets : bool, default=False
        Reason from must-links, cannot-links and triplets together, and write out all statements of the three kinds that
        they entail; for up to 400 samples named in hard statements. By default only links among links are written.
    groups : bool, default=False
        Write each set of samples that must-links and groups join as one group together, and nothing else: with these,
        every cannot-link and group apart speaks for whole sets, so all links follow without being written out.

    Returns
    -------
    Constraints
        The given statements, in their order, followed by the entailed ones that were not given; these are hard and
        numbered after the given ones.

    Raises
    ------
    InfeasibleConstraintsError
        The hard statements contradict each other.
    LinkwiseError
        More than five million statements are entailed, or ``triplets`` is set and more than 400 samples are named.

    See Also
    --------
    implies : ask about some statements without writing out all.
    minimal : the opposite, drop what the rest implies.

    Notes
    -----
    Must-link is transitive, and a cannot-link between two must-linked groups forbids every pair between them. Soft
    statements are kept and not reasoned from; neither are triplets, unless ``triplets`` is set.

    **Cost** linear in the number of entailed pairs; with ``triplets`` O(s**3) memory for s samples named, a few bytes
    each, and as much time: under half a second for 200 samples. **Guarantee** closing twice changes nothing; what is
    written holds in every hierarchy with a cut in which the given statements hold, and with ``triplets`` nothing else
    does. A tree built from triplets displays more than they imply; that is never written.

    Examples
    --------
    >>> from linkwise import Constraints, close
    >>> closed = close(Constraints.build(4, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)]))
    >>> [closed.describe(i) for i in range(3, 6)]
    ['#3 must_link(0, 2)', '#4 cannot_link(0, 3)', '#5 cannot_link(1, 3)']
    >>> close(Constraints.build(4, triplets=[(0, 1, 2), (1, 2, 3)]), triplets=True).items.tolist()
    [[0, 1, 2], [1, 2, 3], [0, 1, 3], [0, 2, 3]]
    """
    if triplets:
        return constraints | all_entailed(constraints, _LIMIT)
    check(constraints).raise_if_infeasible()
    n, hard = constraints.n_samples, constraints.is_hard
    links, at = constraints.must_links()
    group: IntArray = components(n, np.ascontiguousarray(links[hard[at]]))
    if groups:
        whole = type(constraints).from_groups(group)
        told = constraints.select((constraints.kind == Kind.TOGETHER) & hard)
        return constraints | (whole - told if told.n_statements else whole)
    must = constraints.items[(constraints.kind == Kind.MUST_LINK) & hard, :2]
    cannot = constraints.items[(constraints.kind == Kind.CANNOT_LINK) & hard, :2]
    apart = constraints.groups_of(Kind.APART)
    apart = apart.pick(hard[apart.statement])
    _refuse_many(0, int((apart.sizes * (apart.sizes - 1) // 2).sum()))
    every = apart.pairs_with(np.ones(n, dtype=np.bool_))
    all_must, all_cannot = pairs_of_groups(group, _joined(group, np.concatenate([cannot, every])))
    new_must = not_in(all_must, must, n)
    new_cannot = not_in(all_cannot, cannot, n)
    entailed = type(constraints).build(n, must_link=new_must, cannot_link=new_cannot)
    return constraints | entailed


def _joined(group: IntArray, cannot: IntArray) -> IntArray:
    """The pairs of groups that some cannot-link keeps apart, each once."""
    k = int(group.max(initial=-1)) + 1
    low, high = np.sort(group[cannot], axis=1).T
    return np.column_stack(np.divmod(np.unique(low * k + high), max(k, 1)))


def _refuse_many(n_must: int, n_cannot: int) -> None:
    if n_must + n_cannot > _LIMIT:
        msg = (
            f"close: {n_must:,} must-links and {n_cannot:,} cannot-links are entailed, more than {_LIMIT:,}.\n"
            "Hint: `close(constraints, groups=True)` is equivalent and does not write out pairs; engines take the "
            "constraints as they are."
        )
        raise LinkwiseError(msg)


def pairs_of_groups(group: IntArray, joined: IntArray) -> tuple[IntArray, IntArray]:
    """All pairs inside groups, and all pairs between the two groups of each row of ``joined``."""
    size = np.bincount(group, minlength=1)
    n_must = int((size * (size - 1) // 2).sum())
    n_cannot = int((size[joined[:, 0]] * size[joined[:, 1]]).sum())
    _refuse_many(n_must, n_cannot)
    order = np.argsort(group, kind="stable")
    start = np.cumsum(size) - size
    return _pairs_inside(order, start, size), _pairs_between(order, start, size, joined)


def not_in(pairs: IntArray, known: IntArray, n: int) -> IntArray:
    """Return sorted pairs without those already there."""
    key = np.sort(np.minimum(pairs[:, 0], pairs[:, 1]) * n + np.maximum(pairs[:, 0], pairs[:, 1]))
    told = np.sort(np.minimum(known[:, 0], known[:, 1]) * n + np.maximum(known[:, 0], known[:, 1]))
    if len(told):
        key = key[told[np.minimum(np.searchsorted(told, key), len(told) - 1)] != key]
    return np.column_stack(np.divmod(key, max(n, 1)))


def _pairs_inside(order: IntArray, start: IntArray, size: IntArray) -> IntArray:
    """All pairs within runs of ``order``; run g is ``order[start[g]:start[g] + size[g]]``."""
    rank = np.arange(len(order)) - np.repeat(start, size)
    second = np.repeat(np.arange(len(order)), rank)  # each member pairs with the ``rank`` members before it
    offset = np.arange(len(second)) - np.repeat(np.cumsum(rank) - rank, rank)
    first = second - rank[second] + offset
    return np.column_stack([order[first], order[second]])


def _pairs_between(order: IntArray, start: IntArray, size: IntArray, joined: IntArray) -> IntArray:
    """All pairs between the two runs of each row of ``joined``."""
    count = size[joined[:, 0]] * size[joined[:, 1]]
    row = np.repeat(np.arange(len(joined)), count)
    offset = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
    i, j = np.divmod(offset, size[joined[row, 1]]) if len(row) else (offset, offset)
    return np.column_stack([order[start[joined[row, 0]] + i], order[start[joined[row, 1]] + j]])
