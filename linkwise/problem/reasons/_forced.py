"""Proofs for `why`: minimal sets of hard statements that force two samples together or apart."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.problem.entailment import Entailment
from linkwise.problem.explain import Core, find_core, in_words, minimal_core
from linkwise.problem.feasibility import check
from linkwise.problem.statements import Hard
from linkwise.problem.triplets import blocks_or_none

SUPPOSED = "the supposition"
_MOST_PAIRS = 1_000_000
_MOST_TRIED = 60


class Proof(NamedTuple):
    """A minimal set of statements that force a relation."""

    statements: tuple[int, ...]  # positions in the table that was given
    steps: tuple[str, ...] = ()  # the argument, from supposing the contrary; empty when it is the statement itself
    minimal: bool = True  # False if the budget was used up before the set was proven minimal


@dataclass(frozen=True, eq=False)
class Knowledge:
    """The hard statements that can be reasoned from exactly: pairs, triplets and groups."""

    said: Constraints  # those statements alone
    at: IntArray  # their positions in the table that was given

    @classmethod
    def of(cls, constraints: Constraints) -> Knowledge:
        """Select the statements to reason from; raises `InfeasibleConstraintsError` if they contradict each other."""
        at = np.flatnonzero(constraints.is_hard & (constraints.kind <= Kind.APART))
        said = constraints.select(at).with_rules()
        check(said).raise_if_infeasible()
        return cls(said, at)

    # -- one supposition ---------------------------------------------------------------------------------------------

    def against(self, kind: Kind, *samples: int) -> Proof | None:
        """The fewest statements that contradict a supposed one, or None when it may be added."""
        hard = self._suppose(kind, samples)
        core = find_core(hard)
        if core is None:
            return None
        number = self.said.n_statements
        statements = core.numbers[core.numbers < number]
        return Proof(self._given(statements), self._tell(hard, core), core.complete)

    def allows(self, kind: Kind, *samples: int) -> bool:
        """Whether a statement may be added."""
        return blocks_or_none(self._suppose(kind, samples)) is not None

    def single_keys(self, proof: Proof, kind: Kind, *samples: int) -> tuple[int, ...]:
        """Statements of a proof each of which, dropped alone, makes room for the supposed statement."""
        tried = proof.statements[:_MOST_TRIED]
        hard = self._suppose(kind, samples)
        place = {int(given): i for i, given in enumerate(self.at)}
        return tuple(s for s in tried if blocks_or_none(hard.without(np.array([place[s]]))) is not None)

    def _suppose(self, kind: Kind, samples: tuple[int, ...]) -> Hard:
        said: dict[str, Any] = {kind.word: [samples]}
        return Hard.of(self.said | Constraints.build(self.said.n_samples, **said))

    def _given(self, statements: IntArray) -> tuple[int, ...]:
        return tuple(int(s) for s in np.sort(self.at[statements]))

    def _tell(self, hard: Hard, core: Core) -> tuple[str, ...]:
        """Describe the argument; the supposed statement, like links of a rule, has a number past the table's end."""
        worded = replace(hard.only(core.numbers), constraints=self.said, rule=SUPPOSED)
        return in_words(worded, core)[1]

    # -- triplets, which are forced when both other ways to resolve the three are excluded -----------------------------

    def proves(self, a: int, b: int, c: int) -> Proof | None:
        """The fewest statements that force ab|c, or None when it is not forced."""
        first, second = self.against(Kind.TRIPLET, a, c, b), self.against(Kind.TRIPLET, b, c, a)
        if first is None or second is None:
            return None
        place = {int(given): i for i, given in enumerate(self.at)}
        both = np.array(sorted({place[s] for s in first.statements + second.statements}), dtype=np.intp)

        def forces(some: IntArray) -> bool:
            part = Knowledge(self.said.select(some), self.at[some])
            return not part.allows(Kind.TRIPLET, a, c, b) and not part.allows(Kind.TRIPLET, b, c, a)

        core, complete = minimal_core(both, forces)
        return Proof(self._given(core), (), complete and first.minimal and second.minimal)

    @cached_property
    def written_out(self) -> Constraints | None:
        """Return the statements as pairs and triplets; None if groups apart would become too many pairs."""
        if not len(self.said.groups.statement):
            return self.said
        apart = self.said.groups_of(Kind.APART)
        if int((apart.sizes.astype(np.int64) ** 2).sum()) > _MOST_PAIRS:
            return None
        pairs = apart.pairs_with(np.ones(self.said.n_samples, dtype=np.bool_))
        cannot = np.concatenate([self.said.of(Kind.CANNOT_LINK), pairs])
        return Constraints.build(
            self.said.n_samples,
            must_link=self.said.must_links()[0],
            cannot_link=np.unique(np.sort(cannot, axis=1), axis=0),
            triplets=self.said.of(Kind.TRIPLET),
        )

    def resolved_with(self, a: int, b: int) -> tuple[IntArray, BoolArray, BoolArray, BoolArray] | None:
        """Third samples c, and of each whether ab|c, ac|b and bc|a are forced; None if there are too many to write out.

        Samples about which nothing is said are in no forced triplet.
        """
        table = self.written_out
        if table is None:
            return None
        named = np.unique(table.items[table.items >= 0])
        c = named[(named != a) & (named != b)]
        pairs_speak = (table.kind == Kind.MUST_LINK).any() and (table.kind == Kind.CANNOT_LINK).any()
        if not len(c) or not ((table.kind == Kind.TRIPLET).any() or pairs_speak):
            none = np.zeros(0, dtype=np.bool_)
            return c[:0], none, none, none
        known = Entailment.of_feasible(table)
        first, second = np.full(len(c), a, dtype=np.intp), np.full(len(c), b, dtype=np.intp)
        return c, known.triplet(first, second, c), known.triplet(first, c, second), known.triplet(second, c, first)
