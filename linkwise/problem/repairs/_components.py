"""The independent parts of a contradiction, each with its way to find conflicts, complete a choice and search."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, Kind, run_starts
from linkwise.problem.explain import contradiction
from linkwise.problem.repairs._annealing import best_partition, best_tree, broken_in, tree_of
from linkwise.problem.repairs._hitting_sets import Conflicts
from linkwise.problem.repairs._kernels_anneal_tree import broken_by, resolve
from linkwise.problem.repairs._kernels_insertion import _insert_pairs
from linkwise.problem.repairs._kernels_link_cycles import blocks, light_cycles
from linkwise.problem.repairs._kernels_tree_cores import small_cores, stuck_parts
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import LiveTriplets, blocks_or_none, onetree

_PAIRS = (Kind.MUST_LINK, Kind.CANNOT_LINK)
_KNOWN = (*_PAIRS, Kind.TRIPLET)
_CALL, _CYCLE, _LINK, _READ = 50_000, 300, 3, 1  # steps of a look, for each cycle, each link and each row read
_SMALL = 0.3  # units for making one contradiction small
_INSERT, _PAIR, _TRIPLET = 30_000, 8, 400  # steps of an insertion, and for each sample and statement


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


class Incidence:
    """The links at every sample as CSR: ``other`` ends and numbers of ``link``."""

    def __init__(self, n: int, pairs: IntArray) -> None:
        ends = np.concatenate([pairs[:, 0], pairs[:, 1]])
        order = np.argsort(ends, kind="stable")
        self.start = run_starts(ends, n)
        self.other = np.concatenate([pairs[:, 1], pairs[:, 0]])[order]
        self.link = order % max(len(pairs), 1)


def cycle_parts(n: int, pairs: IntArray, is_must: BoolArray) -> IntArray:
    """Number the sets of pairs that can be repaired independently; -1 for pairs in no contradiction at all.

    A cannot-link between samples that no chain of must-links joins closes no cycle. Of the rest, a cycle lies inside
    one block (biconnected component), and a block without cannot-link has nothing to contradict.
    """
    group = components(n, pairs[is_must])
    used = np.flatnonzero(is_must | (group[pairs[:, 0]] == group[pairs[:, 1]]))
    graph = Incidence(n, pairs[used])
    block = blocks(graph.start, graph.other, graph.link)
    guilty = np.unique(block[~is_must[used]])
    number = np.full(len(used), -1, dtype=np.intp)
    number[guilty] = np.arange(len(guilty))
    part = np.full(len(pairs), -1, dtype=np.intp)
    part[used] = number[block]
    return part


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


class Part(Conflicts):
    """Statements that are repaired independently of others."""

    fractional = True

    def __init__(self, table: Constraints, rng: np.random.Generator) -> None:
        self.table, self.rng, self.n = table, rng, table.n_samples

    def complete(self, order: IntArray, budget: Budget) -> BoolArray:
        """Insert statements in order and mask those refused."""
        return insert_in_order(self.table, order, budget)

    def search(self, off: BoolArray, price: FloatArray, budget: Budget) -> BoolArray:
        """Search from the repair ``off`` for a cheaper one; mask the statements that it breaks."""
        raise NotImplementedError


class PairsPart(Part):
    """Must-links and cannot-links: contradictions are cycles, repairs are partitions."""

    def __init__(self, table: Constraints, rng: np.random.Generator) -> None:
        super().__init__(table, rng)
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

    def search(self, off: BoolArray, price: FloatArray, budget: Budget) -> BoolArray:
        """Start from the clusters of a repair, search for better ones, and return the statements they break."""
        kept = self.pairs[self.is_must & ~off]
        label = best_partition(self.pairs, self.is_must, price, components(self.n, kept), budget, self.rng)
        return broken_in(label, self.pairs, self.is_must)


class TripletsPart(Part):
    """Triplets: contradictions are stuck sets of leaves, repairs are trees."""

    def __init__(self, table: Constraints, rng: np.random.Generator) -> None:
        super().__init__(table, rng)
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

    def search(self, off: BoolArray, price: FloatArray, budget: Budget) -> BoolArray:
        """Start from a tree of a repair, search for better ones, and return the statements that the best breaks."""
        parent = onetree(self.n, self.triplets[~off]).parent
        start = resolve(self.n, parent)
        found = best_tree(self.n, self.triplets, price, start, budget, self.rng)
        broken: BoolArray = broken_by(tree_of(found), self.triplets)
        return broken


class MixedPart(Part):
    """Statements of several kinds: contradictions come from the general test, one after the other."""

    fractional = False

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


# -- greedy insertion ----------------------------------------------------------------------------------------------


def insert_in_order(table: Constraints, order: IntArray, budget: Budget | None = None) -> BoolArray:
    """Mask the statements refused when all are inserted in ``order``, whatever their weight.

    What that takes is spent from the budget, which does not end it. **Cost** near-linear for pairs or for triplets
    alone; for a mix, a logarithmic number of feasibility tests per refused statement. **Guarantee** the rest holds
    together, and no refused statement could be added to it.
    """
    refused = np.zeros(table.n_statements, dtype=np.bool_)
    budget = Budget(np.inf) if budget is None else budget
    size = table.n_samples + table.n_statements
    if np.isin(table.kind, (Kind.MUST_LINK, Kind.CANNOT_LINK)).all():
        taken = _insert_pairs(table.n_samples, table.items[order], table.kind[order] == Kind.MUST_LINK)
        refused[order] = ~taken
        budget.spend(_INSERT + _PAIR * size)
    elif (table.kind == Kind.TRIPLET).all():
        _insert_triplets(table, order, refused)
        budget.spend(_INSERT + _TRIPLET * size)
    else:
        _insert_mixed(table, order, refused, budget)
    return refused


def _insert_triplets(table: Constraints, order: IntArray, refused: BoolArray) -> None:
    live = LiveTriplets(table.n_samples)
    rows = table.items[order]
    start = 0
    while start < len(order):
        stop = live.add_many(rows[start:])
        if stop < 0:
            return
        refused[order[start + stop]] = True
        start += stop + 1


def _insert_mixed(table: Constraints, order: IntArray, refused: BoolArray, budget: Budget) -> None:
    """Insert whole runs and halve those that contradict: the outcome of one-by-one insertion with fewer tests."""
    taken = order[:0]
    runs = [order]
    while runs:
        run = runs.pop()
        trial = np.concatenate([taken, run])
        hard = Hard.of(table.select(trial))
        budget.spend(_INSERT + hard.steps)
        if blocks_or_none(hard) is not None:
            taken = trial
        elif len(run) == 1:
            refused[run] = True
        else:
            first, second = np.array_split(run, 2)
            runs += [second, first]
