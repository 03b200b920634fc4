"""Repair by entries: the cheapest members of groups and labels to drop, instead of whole statements."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.problem.explain import Expansion, find_core
from linkwise.problem.statements import Hard
from linkwise.problem.triplets import blocks_or_none

_ORDERS = 5
_MOST_PAIRS = 300_000  # pairs of virtual samples that are written out for a proof; beyond, the first bounds have to do
_SWAPS = 100  # dropped members of groups for which a whole row is looked for that could go instead


class EntryRepair(NamedTuple):
    """Mask of the entries to drop, their cost, and a lower bound on the cost of any repair."""

    off: BoolArray
    cost: float
    bound: float


def repair_entries(
    expansion: Expansion, price: FloatArray, fixed: BoolArray, solve: Callable[[Constraints], tuple[IntArray, float]]
) -> EntryRepair:
    """Find the cheapest entries to drop at their ``price``, given that they cannot all hold; those ``fixed`` must stay.

    A conflict joins virtual samples that are apart by a chain of must-links, so without triplets it lies inside one
    connected part. There a few greedy orders come first. If s samples that are pairwise apart share a part, s - 1
    entries have to go, whatever is chosen: mostly that proves the greedy repair. Where it does not, the conflicting
    parts are written out as pairs and handed to ``solve``, which repairs a table of ordinary statements of which the
    hard ones stay, and returns those dropped and a lower bound.
    """
    table, e = expansion.table, len(expansion.entries)
    part = expansion.entries.is_member
    if (table.kind == Kind.TRIPLET).any():
        off, bound = _by_statements(_as_prices(expansion.everything, price, fixed), e, solve)
    else:
        blocks = _Blocks(expansion)
        off, bound = _greedy(blocks, price, fixed, part), blocks.bound(price, fixed)
        if bound < price[off].sum() * (1 - 1e-9) and blocks.n_pairs() <= _MOST_PAIRS:
            written, at = blocks.written_out(price, fixed)
            found, below = _by_statements(written, len(at), solve)
            other = np.zeros(e, dtype=np.bool_)
            other[at] = found
            off = other if price[other].sum() < price[off].sum() * (1 - 1e-9) else off
            bound = max(bound, below)
    off = _prefer_rows(expansion, off, price, fixed, part)
    cost = float(price[off].sum())
    return EntryRepair(off, cost, min(bound, cost))


def _as_prices(table: Constraints, price: FloatArray, fixed: BoolArray) -> Constraints:
    """Entries as soft statements at their prices; those that stay, and the background after them, as hard ones."""
    weight = np.full(table.n_statements, np.inf)
    weight[: len(price)] = np.where(fixed, np.inf, price)
    return table.with_weight(weight)


def _by_statements(
    table: Constraints, entries: int, solve: Callable[[Constraints], tuple[IntArray, float]]
) -> tuple[BoolArray, float]:
    dropped, bound = solve(table)
    off = np.zeros(entries, dtype=np.bool_)
    off[dropped] = True
    return off, bound


# -- parts without triplets --------------------------------------------------------------------------------------------


class _Blocks:
    """The entries of the connected parts in which something conflicts."""

    def __init__(self, expansion: Expansion) -> None:
        self.expansion, table = expansion, expansion.table
        self.must = np.flatnonzero(table.kind == Kind.MUST_LINK)
        self.cannot = np.flatnonzero(table.kind == Kind.CANNOT_LINK)
        self.block: IntArray = components(table.n_samples, np.ascontiguousarray(table.items[self.must, :2]))
        hard = Hard.of(expansion.everything)
        bad = np.zeros(table.n_samples, dtype=np.bool_)
        bad[self.block[hard.broken(self.block)[0][:, 0]]] = True
        self.must = self.must[bad[self.block[table.items[self.must, 0]]]]
        ends = self.block[table.items[self.cannot, :2]]
        self.cannot = self.cannot[(ends[:, 0] == ends[:, 1]) & bad[ends[:, 0]]]
        groups = expansion.background
        inside = bad[self.block[groups.member]]
        self.member, self.group = groups.member[inside], groups.owner[inside]
        self.order = np.lexsort((self.block[self.member], self.group))
        where = self.block[self.member[self.order]]
        of = self.group[self.order]
        begins = np.ones(len(of), dtype=np.bool_)
        begins[1:] = (where[1:] != where[:-1]) | (of[1:] != of[:-1])
        self.start = np.append(np.flatnonzero(begins), len(of))

    @property
    def sizes(self) -> IntArray:
        """How many virtual samples of one group of the background share a part, for each such pair."""
        return np.diff(self.start)

    def n_pairs(self) -> int:
        """Pairs of virtual samples that are apart and share a part."""
        return int((self.sizes * (self.sizes - 1) // 2).sum())

    def bound(self, price: FloatArray, fixed: BoolArray) -> float:
        """Return a lower bound: to separate s samples that share a part, s - 1 entries of it have to go."""
        n = len(self.block)
        least = np.full(n, np.inf)
        free = np.concatenate([self.must, self.cannot])
        free = free[~fixed[free]]
        block = self.block[self.expansion.table.items[free, 0]]
        np.minimum.at(least, block, price[free])
        needed = np.zeros(n, dtype=np.intp)
        needed[block] = 1  # a part in which something conflicts loses an entry at least
        np.maximum.at(needed, self.block[self.member[self.order[self.start[:-1]]]], self.sizes - 1)
        return float((needed[needed > 0] * least[needed > 0]).sum())

    def written_out(self, price: FloatArray, fixed: BoolArray) -> tuple[Constraints, IntArray]:
        """The conflicting parts as must-links and cannot-links, the entries first, and which entries they are."""
        table = self.expansion.table
        at = np.concatenate([self.must, self.cannot])
        pairs = []
        for low, high in zip(self.start[:-1], self.start[1:], strict=True):
            if high - low > 1:
                first, second = np.triu_indices(high - low, 1)
                members = self.member[self.order[low:high]]
                pairs.append(np.column_stack([members[first], members[second]]))
        apart = np.concatenate(pairs) if pairs else np.empty((0, 2), dtype=np.intp)
        apart = np.sort(apart, axis=1)
        items = np.full((len(at) + len(apart), 3), -1, dtype=np.intp)
        items[: len(at)], items[len(at) :, :2] = table.items[at], apart
        kind = np.concatenate([table.kind[at], np.full(len(apart), Kind.CANNOT_LINK, dtype=np.int8)])
        weight = np.concatenate([np.where(fixed[at], np.inf, price[at]), np.full(len(apart), np.inf)])
        return Constraints(table.n_samples, kind, items, weight, np.arange(len(items))), at


def _greedy(blocks: _Blocks, price: FloatArray, fixed: BoolArray, part: BoolArray) -> BoolArray:
    """The best of a few orders of insertion: dear entries first, then parts of a line, so that whole rows go first."""
    rng = np.random.default_rng(0)
    at = np.concatenate([blocks.must, blocks.cannot])
    best = np.ones(len(price), dtype=np.bool_)
    for turn in range(_ORDERS):
        ties = at if turn == 0 else rng.permutation(len(price))[at]
        order = at[np.lexsort((ties, ~part[at], -price[at], ~fixed[at]))]
        off = _insert(blocks, order, len(price))
        best = off if price[off].sum() < price[best].sum() * (1 - 1e-9) else best
    return best


def _insert(blocks: _Blocks, order: IntArray, count: int) -> BoolArray:
    """Insert entries in a given order and refuse each that joins samples that are apart."""
    table = blocks.expansion.table
    items, kinds = table.items[order, :2].tolist(), table.kind[order].tolist()
    parent: dict[int, int] = {}
    colors: dict[int, set[int]] = {}  # groups of the background with a member there
    foes: dict[int, set[int]] = {}  # ends of cannot-links that speak against a set
    for member, group in zip(blocks.member.tolist(), blocks.group.tolist(), strict=True):
        colors.setdefault(member, set()).add(group)

    def find(x: int) -> int:
        while parent.get(x, x) != x:
            parent[x] = x = parent.get(parent[x], parent[x])
        return x

    off = np.zeros(count, dtype=np.bool_)
    for number, (a, b), kind in zip(order.tolist(), items, kinds, strict=True):
        x, y = find(a), find(b)
        if kind == Kind.CANNOT_LINK:
            if x == y:
                off[number] = True
            else:
                foes.setdefault(x, set()).add(b)
                foes.setdefault(y, set()).add(a)
            continue
        if x == y:
            continue
        mine, other = colors.get(x, set()), colors.get(y, set())
        few, many = (mine, other) if len(mine) <= len(other) else (other, mine)
        hostile, against = (x, y) if len(foes.get(x, ())) <= len(foes.get(y, ())) else (y, x)
        if not few.isdisjoint(many) or any(find(z) == against for z in foes.get(hostile, ())):
            off[number] = True
            continue
        many |= few
        enemies = foes.pop(hostile, set())
        parent[x] = y
        colors[y] = many
        both = foes.get(against, set())
        both |= enemies
        foes.pop(against, None)
        foes[y] = both
    return off


# -- which of several equals -------------------------------------------------------------------------------------------


def _prefer_rows(
    expansion: Expansion, off: BoolArray, price: FloatArray, fixed: BoolArray, part: BoolArray
) -> BoolArray:
    """Where a whole row could go instead of a member of a group at the same price, let it go."""
    members = np.flatnonzero(off & part)
    if not len(members) or part.all():
        return off
    off = off.copy()
    hard = Hard.of(expansion.everything)
    e = len(off)
    for member in members[:_SWAPS].tolist():
        off[member] = False
        core = find_core(hard.without(np.flatnonzero(off)))
        rows = core.numbers[core.numbers < e] if core is not None else np.empty(0, dtype=np.intp)
        rows = rows[~part[rows] & ~fixed[rows] & (np.abs(price[rows] - price[member]) <= 1e-9 * price[member])]
        for row in rows[::-1].tolist():
            off[row] = True
            if blocks_or_none(hard.without(np.flatnonzero(off))) is not None:
                break
            off[row] = False
        else:
            off[member] = True
    return off


def blame_entries(expansion: Expansion, off: BoolArray, numbers: list[int]) -> list[IntArray]:
    """For each of some entries that are taken back, kept ones that it contradicts."""
    hard, others = Hard.of(expansion.everything), np.flatnonzero(off)
    told = []
    for number in numbers:
        core = find_core(hard.without(others[others != number]))
        found = others[:0] if core is None else core.numbers
        told.append(found[(found < len(off)) & (found != number)])
    return told
