"""The independent parts of a contradiction, each with its way to find conflicts, complete a choice and search."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.problem.explain import contradiction
from linkwise.problem.repairs._anneal_partition import best_partition, broken_in
from linkwise.problem.repairs._anneal_tree import best_tree, tree_of
from linkwise.problem.repairs._greedy_insertion import insert_in_order
from linkwise.problem.repairs._kernels_anneal_tree import broken_by, resolve
from linkwise.problem.repairs._kernels_link_cycles import light_cycles
from linkwise.problem.repairs._kernels_tree_cores import small_cores, stuck_parts
from linkwise.problem.repairs._link_cycles import Incidence, cycle_parts
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import blocks_or_none, onetree

_PAIRS = (Kind.MUST_LINK, Kind.CANNOT_LINK)
_KNOWN = (*_PAIRS, Kind.TRIPLET)
_CALL, _CYCLE, _LINK, _READ = 50_000, 300, 3, 1  # steps of a look, for each cycle, each link and each row read
_SMALL = 0.3  # units for making one contradiction small


def independent_parts(table: Constraints) -> Iterator[IntArray]:
    """Yield sets of statements that can be repaired independently; those without conflicts are left out.

    A minimal contradiction hangs together by the samples it names. Without must-links every sample may be a cluster
    of its own, without cannot-links all may share one, so then only triplets can contradict each other.
    """
    kind = table.kind
    if not np.isin(kind, _KNOWN).all():
        yield np.arange(table.n_statements)
        return
    links = [np.column_stack([table.items[:, 0], table.items[:, k]])[table.items[:, k] >= 0] for k in (1, 2)]
    group = components(table.n_samples, np.ascontiguousarray(np.concatenate(links)))[table.items[:, 0]]
    order = np.argsort(group, kind="stable")
    for at in np.split(order, np.flatnonzero(np.diff(group[order])) + 1):
        said = {int(k) for k in np.unique(kind[at])}
        if said >= set(_KNOWN):
            yield at
            continue
        if said >= set(_PAIRS):
            yield from _numbered(at, cycle_parts(*_local(table, at, 2), kind[at] == Kind.MUST_LINK))
        rows = at[kind[at] == Kind.TRIPLET]
        if len(rows):
            yield from _numbered(rows, stuck_parts(*_local(table, rows, 3)))


def _numbered(at: IntArray, part: IntArray) -> Iterator[IntArray]:
    order = np.argsort(part, kind="stable")[int((part < 0).sum()) :]
    if len(order):
        yield from np.split(at[order], np.flatnonzero(np.diff(part[order])) + 1)


def _local(table: Constraints, at: IntArray, width: int) -> tuple[int, IntArray]:
    """Number the samples that some statements name; how many, and the statements in these numbers."""
    names, small = np.unique(table.items[at, :width], return_inverse=True)
    return len(names), np.ascontiguousarray(small.reshape(-1, width), dtype=np.intp)


def part_of(table: Constraints, at: IntArray, rng: np.random.Generator) -> Part:
    """Read some statements, all taken as hard, as the sort of part they are, with the samples they name."""
    chosen = table.select(at)
    if np.isin(chosen.kind, _PAIRS).all():
        return PairsPart(_compact(chosen), rng)
    if (chosen.kind == Kind.TRIPLET).all():
        return TripletsPart(_compact(chosen), rng)
    return MixedPart(_compact(chosen) if np.isin(chosen.kind, _KNOWN).all() else chosen, rng)


@cache
def make_ready(triplets: bool, search: bool) -> None:
    """Load or compile the kernels of a sort of part on a contradiction of two statements, before a clock runs."""
    pair = [(0, 1)]
    if triplets:
        table = Constraints.build(3, triplets=[(0, 1, 2), (1, 2, 0)])
    else:
        table = Constraints.build(2, must_link=pair, cannot_link=pair)
    part = part_of(table, np.arange(2), np.random.default_rng(0))
    free = Budget(np.inf)
    part.find(np.zeros(2), free)
    off = part.complete(np.arange(2), free)
    if search:
        part.search(off, np.ones(2), free)


def _compact(table: Constraints) -> Constraints:
    names = np.unique(table.items)
    return table[names[names >= 0]]


class PairsPart:
    """Must-links and cannot-links: contradictions are cycles, repairs are partitions."""

    fractional = True

    def __init__(self, table: Constraints, rng: np.random.Generator) -> None:
        self.table, self.rng, self.n = table, rng, table.n_samples
        self.pairs = np.ascontiguousarray(table.items[:, :2])
        self.is_must: BoolArray = table.kind == Kind.MUST_LINK
        self.must = np.flatnonzero(self.is_must)
        cannot = np.flatnonzero(~self.is_must)
        self.cannot = cannot[np.argsort(self.pairs[cannot, 0], kind="stable")]
        self.graph = Incidence(self.n, self.pairs[self.must])

    def find(self, x: FloatArray, budget: Budget) -> list[IntArray]:
        """The lightest cycle through each cannot-link, among equals a short one, three times if that differs."""
        graph = self.graph
        found: list[IntArray] = []
        limit = 1.0 - x[self.cannot] - 1e-4
        for _ in range(3):
            length = x[self.must] + 1e-6 * (1.0 + self.rng.random(len(self.must)))
            for low in range(0, len(self.cannot), 500):
                if found and budget.over:
                    return found
                some = self.cannot[low : low + 500]
                which, start, member, followed = light_cycles(
                    graph.start, graph.other, graph.link, length, self.pairs[some], limit[low : low + 500]
                )
                budget.spend(_CALL + _CYCLE * len(which) + _LINK * followed)
                chains = np.split(self.must[member], start[1:-1]) if len(which) else []
                found += [np.append(chain, some[w]) for w, chain in zip(which, chains, strict=True)]
        return found

    def complete(self, order: IntArray, budget: Budget) -> BoolArray:
        """Insert statements in order and mask those refused."""
        return insert_in_order(self.table, order, budget)

    def search(self, off: BoolArray, price: FloatArray, budget: Budget) -> BoolArray:
        """Start from the clusters of a repair, search for better ones, and return the statements they break."""
        kept = self.pairs[self.is_must & ~off]
        label = best_partition(self.pairs, self.is_must, price, components(self.n, kept), budget, self.rng)
        return broken_in(label, self.pairs, self.is_must)


class TripletsPart:
    """Triplets: contradictions are stuck sets of leaves, repairs are trees."""

    fractional = True

    def __init__(self, table: Constraints, rng: np.random.Generator) -> None:
        self.table, self.rng, self.n = table, rng, table.n_samples
        self.triplets = np.array(table.items)
        self.most = int(np.clip(200_000 // table.n_statements, 1, 40))

    def find(self, x: FloatArray, budget: Budget) -> list[IntArray]:
        """Small contradictions among statements below some values, whose members sum to less than 1."""
        found: list[IntArray] = []
        order = np.lexsort((self.rng.permutation(len(x)), np.round(x, 9)))
        highest = -1
        for most in (1e-9, 0.1, 0.2, 0.35, 0.5, 0.7, 1.0 - 1e-6):
            rows = order[: np.searchsorted(x[order], most, side="right")]
            if len(rows) <= highest:
                continue
            highest = len(rows)
            if found and budget.over:
                break
            start, member, read = small_cores(self.n, self.triplets, x, rows, self.most, self.rng)
            budget.spend(_CALL + _READ * read)
            cores = np.split(member, start[1:-1]) if len(start) > 1 else []
            found += [core for core in cores if x[core].sum() < 1.0 - 1e-6]
        return found

    def complete(self, order: IntArray, budget: Budget) -> BoolArray:
        """Insert statements in order and mask those refused."""
        return insert_in_order(self.table, order, budget)

    def search(self, off: BoolArray, price: FloatArray, budget: Budget) -> BoolArray:
        """Start from a tree of a repair, search for better ones, and return the statements that the best breaks."""
        parent = onetree(self.n, self.triplets[~off]).parent
        start = resolve(self.n, parent)
        found = best_tree(self.n, self.triplets, price, start, budget, self.rng)
        broken: BoolArray = broken_by(tree_of(found), self.triplets)
        return broken


class MixedPart:
    """Statements of several kinds: contradictions come from the general test, one after the other."""

    fractional = False

    def __init__(self, table: Constraints, rng: np.random.Generator) -> None:
        self.table, self.rng = table, rng

    def find(self, x: FloatArray, budget: Budget) -> list[IntArray]:
        """Return disjoint minimal contradictions, so that each adds a new constraint to the programme."""
        found: list[IntArray] = []
        remaining = np.flatnonzero(x < 0.5)
        while True:
            hard = Hard.of(self.table.select(remaining))
            budget.spend(_CALL + hard.steps)
            if blocks_or_none(hard) is not None:
                return found
            core = np.array(contradiction(hard, fixes=False, budget=budget.share(_SMALL)).core, dtype=np.intp)
            found.append(remaining[core])
            remaining = np.delete(remaining, core)
            if budget.over:
                return found

    def complete(self, order: IntArray, budget: Budget) -> BoolArray:
        """Insert statements in order and mask those refused."""
        return insert_in_order(self.table, order, budget)

    def search(self, off: BoolArray, price: FloatArray, budget: Budget) -> BoolArray:
        """Search among the pairs alone and among the triplets alone; return the statements that either breaks."""
        broken = off.copy()
        for kinds in (_PAIRS, (Kind.TRIPLET,)):
            mine = np.flatnonzero(np.isin(self.table.kind, kinds))
            if blocks_or_none(Hard.of(self.table.select(mine))) is not None:
                broken[mine] = False
                continue
            half = budget.share(budget.left / 2)
            broken[mine] = part_of(self.table, mine, self.rng).search(off[mine], price[mine], half)
        return broken


Part = PairsPart | TripletsPart | MixedPart
