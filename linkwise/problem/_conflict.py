"""Contradictions that no number of clusters resolves: found exactly, shrunk to a minimal core, put into words."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from linkwise._kernels.disjoint_set import components
from linkwise.constraints import Constraints, Groups, Kind
from linkwise.problem._blocks import finest_blocks
from linkwise.problem._explain import Explanation, explain, minimal_core, name_list
from linkwise.problem._onetree import onetree
from linkwise.problem._paths import LinkGraph

__all__ = ["Hard", "blocks_or_none", "contradiction", "shrink"]

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
_CHAINS_TRIED = 16
_SECONDS = 3.0


@dataclass(frozen=True, eq=False)
class Hard:
    """The hard statements as arrays, each with its number.

    A number below ``constraints.n_statements`` is the position of a statement; from there on it counts the must-links
    a rule about distances adds, which ``rule`` names.
    """

    constraints: Constraints
    must: IntArray
    must_at: IntArray
    cannot: IntArray
    cannot_at: IntArray
    triplets: IntArray
    triplets_at: IntArray
    apart: Groups
    rule: str = ""

    @classmethod
    def of(cls, constraints: Constraints, near: IntArray | None = None, rule: str = "") -> Hard:
        """Read the hard statements, and add pairs that a rule must-links; choices are left to `settle_choices`."""
        hard = constraints.is_hard
        must, must_at = constraints.must_links()
        if not hard.all():
            must, must_at = must[hard[must_at]], must_at[hard[must_at]]
        if near is not None and len(near):
            must = np.concatenate([must, near])
            must_at = np.concatenate([must_at, constraints.n_statements + np.arange(len(near))])
        cannot_at, triplets_at = (
            np.flatnonzero((constraints.kind == kind) & hard) for kind in (Kind.CANNOT_LINK, Kind.TRIPLET)
        )
        cannot, triplets = constraints.items[cannot_at, :2], constraints.items[triplets_at]
        apart = constraints.groups_of(Kind.APART)
        apart = apart.pick(hard[apart.statement])
        return cls(constraints, must, must_at, cannot, cannot_at, triplets, triplets_at, apart, rule)

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.constraints.n_samples

    def without(self, number: int) -> Hard:
        """The same knowledge without one statement."""
        return self._where(
            self.must_at != number,
            self.cannot_at != number,
            self.triplets_at != number,
            self.apart.statement != number,
        )

    def only(self, numbers: IntArray) -> Hard:
        """The same knowledge reduced to some statements."""
        return self._where(
            np.isin(self.must_at, numbers),
            np.isin(self.cannot_at, numbers),
            np.isin(self.triplets_at, numbers),
            np.isin(self.apart.statement, numbers),
        )

    def _where(self, must: BoolArray, cannot: BoolArray, triplets: BoolArray, apart: BoolArray) -> Hard:
        return replace(
            self,
            must=self.must[must],
            must_at=self.must_at[must],
            cannot=self.cannot[cannot],
            cannot_at=self.cannot_at[cannot],
            triplets=self.triplets[triplets],
            triplets_at=self.triplets_at[triplets],
            apart=self.apart.pick(apart),
        )

    def with_must(self, first: int, second: int, number: int) -> Hard:
        """The same knowledge with one must-link more, which counts as part of statement ``number``."""
        return replace(
            self,
            must=np.concatenate([self.must, np.array([[first, second]], dtype=np.intp)]),
            must_at=np.append(self.must_at, number),
        )

    def with_cannot(self, first: int, second: int, number: int) -> Hard:
        """The same knowledge with one cannot-link more, which counts as part of statement ``number``."""
        return replace(
            self,
            cannot=np.concatenate([self.cannot, np.array([[first, second]], dtype=np.intp)]),
            cannot_at=np.append(self.cannot_at, number),
        )

    @property
    def separates(self) -> bool:
        """Whether any statement keeps samples apart."""
        return bool(len(self.cannot) or len(self.apart.statement))

    def broken(self, block: IntArray) -> tuple[IntArray, IntArray]:
        """Pairs of samples in one block that are to be apart, and the statement of each.

        Of the samples of a group that share a block three pairs are listed at most: one pair shows the conflict, and
        three samples show that no single division of the block resolves it.
        """
        inside = block[self.cannot[:, 0]] == block[self.cannot[:, 1]]
        pairs, at = self.cannot[inside], self.cannot_at[inside]
        if not len(self.apart.statement):
            return pairs, at
        owner, member = self.apart.owner, self.apart.member
        order = np.lexsort((block[member], owner))
        owner, member = owner[order], member[order]
        found, by = [pairs], [at]
        for step in (1, 2):
            same = (owner[step:] == owner[:-step]) & (block[member[step:]] == block[member[:-step]])
            found.append(np.column_stack([member[:-step][same], member[step:][same]]))
            by.append(self.apart.statement[owner[step:][same]])
        return np.concatenate(found), np.concatenate(by)

    def inside(self, samples: IntArray) -> IntArray:
        """Numbers of the must-links and triplets that speak about these samples only."""
        chosen = np.zeros(self.n, dtype=np.bool_)
        chosen[samples] = True
        must, triplets = chosen[self.must].all(axis=1), chosen[self.triplets].all(axis=1)
        return np.unique(np.concatenate([self.must_at[must], self.triplets_at[triplets]]))

    def explain(
        self, core: IntArray, because: str, suspects: Sequence[int] = (), *, goal: str = "", complete: bool = True
    ) -> Explanation:
        """Word a conflict among numbered statements; what a rule added is told apart from what was said."""
        m = self.constraints.n_statements
        name = self.constraints.name
        core = np.unique(core)
        derived = self.must[np.isin(self.must_at, core[core >= m])]
        rules = [f"{self.rule} joins samples {name(int(a))} and {name(int(b))}" for a, b in derived]
        said = [int(s) for s in core if s < m]
        kept = [s for s in suspects if s < m]
        return explain(self.constraints, said, because, suspects=kept, goal=goal, rules=rules, complete=complete)


def blocks_or_none(hard: Hard) -> IntArray | None:
    """The finest clusters possible, or None when the statements contradict each other."""
    block: IntArray = components(hard.n, hard.must)
    if len(hard.broken(block)[0]):
        return None
    if not len(hard.triplets):
        return block
    if onetree(hard.n, hard.triplets).parent is None:
        return None
    block = finest_blocks(hard.n, hard.must, hard.triplets)
    return None if len(hard.broken(block)[0]) else block


def contradiction(hard: Hard, *, fixes: bool = True) -> Explanation:
    """Explain why `blocks_or_none` returned None; ``fixes=False`` does without the search for single fixes."""
    block: IntArray = components(hard.n, hard.must)
    pairs, at = hard.broken(block)
    if len(pairs):
        return _chain_conflict(hard, pairs, at, fixes)
    stuck = onetree(hard.n, hard.triplets).stuck if len(hard.triplets) else None
    if stuck is not None:
        return _triplet_conflict(hard, stuck, fixes)
    return _mixed_conflict(hard, fixes)


def _chain_conflict(hard: Hard, broken: IntArray, broken_at: IntArray, fixes: bool) -> Explanation:
    """A chain of must-links between two samples that are to be apart: the shortest of those looked at."""
    graph = LinkGraph(hard.n, hard.must)
    length = [int(graph.distance(int(a), np.array([b]))[0]) for a, b in broken[:_CHAINS_TRIED]]
    best = int(np.argmin(length))
    a, b = (int(v) for v in broken[best])
    links, samples = graph.chain(a, b)
    number = int(broken_at[best])
    used, groups = np.unique(hard.must_at[links]), len(np.unique(hard.must_at)) < len(hard.must_at)
    if groups:  # a chain may pass through one group twice and then has links to spare
        used, _ = minimal_core(used, lambda subset: _joined(hard.only(subset), a, b))
    core = np.append(used, number)
    if groups or len(hard.triplets) or not fixes:
        suspects, complete = _single_fixes(hard, core) if fixes else ([], False)
    else:
        suspects = hard.must_at[graph.separators(a, links, broken)].tolist()
        suspects += [number] if (broken_at == number).all() else []
        complete = True
    row = hard.constraints.describe(number).split(" ", 1)[0]
    names = name_list(hard.constraints, samples)
    because = f"must-link is transitive, so samples {names} share one cluster, which {row} forbids."
    return hard.explain(core, because, suspects, complete=complete)


def _joined(hard: Hard, a: int, b: int) -> bool:
    block = components(hard.n, hard.must)
    return bool(block[a] == block[b])


def _triplet_conflict(hard: Hard, stuck: IntArray, fixes: bool) -> Explanation:
    """Two answers about one trio if there are such, else a minimal set that no hierarchy satisfies."""
    pair = _one_trio_two_ways(hard.triplets)
    if pair is not None:
        core, complete = hard.triplets_at[pair], True
        names = name_list(hard.constraints, np.sort(hard.triplets[pair[0]]))
        because = f"no hierarchy satisfies both: they resolve the three samples {names} in different ways."
    else:
        rows = _focus(hard.triplets, stuck)
        picked, complete = minimal_core(rows, lambda rows: _inconsistent(hard.triplets[rows]))
        core = hard.triplets_at[picked]
        names = name_list(hard.constraints, np.unique(hard.triplets[picked]))
        because = f"no hierarchy satisfies them all: every way to divide samples {names} breaks one."
    suspects, searched = _single_fixes(hard, core) if fixes else ([], False)
    return hard.explain(core, because, suspects, complete=complete and searched)


def _one_trio_two_ways(triplets: IntArray) -> IntArray | None:
    trio = np.sort(triplets, axis=1)
    order = np.lexsort((trio[:, 2], trio[:, 1], trio[:, 0]))
    same = (trio[order[1:]] == trio[order[:-1]]).all(axis=1)
    odd = triplets[order, 2]
    clash = np.flatnonzero(same & (odd[1:] != odd[:-1]))
    return order[clash[0] : clash[0] + 2] if len(clash) else None


def _focus(triplets: IntArray, stuck: IntArray) -> IntArray:
    """Rows inside the stuck set, again and again while that shrinks them: only they can matter."""
    rows = np.arange(len(triplets))
    items: IntArray | None = stuck
    while items is not None:
        inside = rows[np.isin(triplets[rows], items).all(axis=1)]
        if len(inside) == len(rows):
            break
        rows = inside
        names, small = np.unique(triplets[rows], return_inverse=True)
        again = onetree(len(names), small.reshape(-1, 3)).stuck
        items = None if again is None else names[again]
    return rows


def _inconsistent(triplets: IntArray) -> bool:
    names, small = np.unique(triplets, return_inverse=True)
    return onetree(len(names), small.reshape(-1, 3)).parent is None


def shrink(hard: Hard, samples: IntArray, broken: Callable[[IntArray, IntArray], bool]) -> tuple[IntArray, bool]:
    """Minimise the must-links and triplets inside ``samples`` for which ``broken(block, position)`` stays true.

    ``block`` numbers the blocks of these samples, ``position`` says where among them a sample is; ``broken`` must stay
    true when blocks grow.
    """
    numbers = hard.inside(samples)
    position = np.full(hard.n, -1, dtype=np.intp)
    position[samples] = np.arange(len(samples))
    local = hard.only(numbers)

    def conflicts(subset: IntArray) -> bool:
        part = local.only(subset)
        block = finest_blocks(len(samples), position[part.must], position[part.triplets])
        return bool(broken(block, position))

    return minimal_core(numbers, conflicts)


def _mixed_conflict(hard: Hard, fixes: bool) -> Explanation:
    """A cannot-link inside a block that must-links and triplets force together."""
    block = finest_blocks(hard.n, hard.must, hard.triplets)
    broken, broken_at = hard.broken(block)
    a, b = (int(v) for v in broken[0])
    samples = np.flatnonzero(block == block[a])
    forced, complete = shrink(hard, samples, lambda block, at: bool(block[at[a]] == block[at[b]]))
    number = int(broken_at[0])
    core = np.append(forced, number)
    suspects, searched = _single_fixes(hard, core) if fixes else ([], False)
    name = hard.constraints.name
    row = hard.constraints.describe(number).split(" ", 1)[0]
    because = (
        f"no hierarchy with a cut satisfies them all: the must-links and triplets together put samples {name(a)} and "
        f"{name(b)} into one cluster, which {row} forbids."
    )
    return hard.explain(core, because, suspects, complete=complete and searched)


def _single_fixes(hard: Hard, core: IntArray) -> tuple[list[int], bool]:
    """Statements of the core each of which, dropped alone, makes all hard statements hold together."""
    deadline = time.monotonic() + _SECONDS
    found: list[int] = []
    for number in core:
        if time.monotonic() > deadline:
            return found, False
        if blocks_or_none(hard.without(int(number))) is not None:
            found.append(int(number))
    return found, True
