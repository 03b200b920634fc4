"""The hard statements as arrays that every test of feasibility reads, and the test itself."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Constraints, Groups, Kind


@dataclass(frozen=True, eq=False)
class Hard:
    """The hard statements as arrays, each with its number.

    A number below ``constraints.n_statements`` is the position of a statement; from there on it counts what cannot be
    dropped: the must-links a rule about distances adds, which ``rule`` names, and groups apart in the background of
    entries (see `expand`). ``squeezed`` is the number of samples when they were renumbered.
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
    squeezed: int | None = None

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
        groups = constraints.groups
        apart = groups.pick(((constraints.kind == Kind.APART) & hard)[groups.statement])
        return cls(constraints, must, must_at, cannot, cannot_at, triplets, triplets_at, apart, rule)

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.constraints.n_samples if self.squeezed is None else self.squeezed

    @cached_property
    def group(self) -> IntArray:
        """The group of each sample under must-links, numbered by first appearance."""
        group: IntArray = components(self.n, np.ascontiguousarray(self.must)) if len(self.must) else np.arange(self.n)
        return group

    def without_rules(self) -> Hard:
        """The same statements and groups without rules."""
        if not self.constraints.rules:
            return self
        made = replace(self, constraints=self.constraints.with_rules())
        made.__dict__["group"] = self.group
        return made

    @property
    def numbers(self) -> IntArray:
        """All statements, and what a rule added."""
        return np.unique(np.concatenate([self.must_at, self.cannot_at, self.triplets_at, self.apart.statement]))

    def without(self, numbers: IntArray) -> Hard:
        """The same knowledge without some statements."""
        gone = np.zeros(self.n_numbers, dtype=np.bool_)
        gone[numbers] = True
        return self.where(
            ~gone[self.must_at], ~gone[self.cannot_at], ~gone[self.triplets_at], ~gone[self.apart.statement]
        )

    @property
    def n_numbers(self) -> int:
        """One more than the largest number."""
        top = max(int(self.must_at.max(initial=-1)), int(self.apart.statement.max(initial=-1)))
        return max(self.constraints.n_statements, top + 1)

    def only(self, numbers: IntArray) -> Hard:
        """The same knowledge reduced to some statements."""
        return self.where(
            np.isin(self.must_at, numbers),
            np.isin(self.cannot_at, numbers),
            np.isin(self.triplets_at, numbers),
            np.isin(self.apart.statement, numbers),
        )

    def squeeze(self) -> tuple[Hard, IntArray]:
        """The same statements over the samples they name, numbered from 0, and which these are."""
        samples, place = renumber(self.n, self.must, self.cannot, self.triplets, self.apart.member)
        made = replace(
            self,
            must=place[self.must],
            cannot=place[self.cannot],
            triplets=place[self.triplets],
            apart=self.apart._replace(member=place[self.apart.member]),
            squeezed=len(samples),
        )
        return made, samples

    def where(self, must: BoolArray, cannot: BoolArray, triplets: BoolArray, apart: BoolArray) -> Hard:
        """The same knowledge reduced by one mask for each sort of statement."""
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
    def n_rows(self) -> int:
        """Number of pairs, triplets and memberships."""
        return len(self.must) + len(self.cannot) + len(self.triplets) + len(self.apart.member)

    @property
    def steps(self) -> float:
        """Counted work of one test of feasibility, see `Budget`."""
        size = self.n + self.n_rows
        return 10_000 + size * (25 if len(self.triplets) else 2)

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
        """Numbers of the must-links and triplets that are about these samples only."""
        chosen = np.zeros(self.n, dtype=np.bool_)
        chosen[samples] = True
        must, triplets = chosen[self.must].all(axis=1), chosen[self.triplets].all(axis=1)
        return np.unique(np.concatenate([self.must_at[must], self.triplets_at[triplets]]))


def renumber(n: int, *named: IntArray) -> tuple[IntArray, IntArray]:
    """The samples that arrays name, rising, and the place of each sample among them (-1 for the others)."""
    chosen = np.zeros(n, dtype=np.bool_)
    for samples in named:
        chosen[samples] = True
    samples = np.flatnonzero(chosen)
    place = np.full(n, -1, dtype=np.intp)
    place[samples] = np.arange(len(samples))
    return samples, place
