"""Choices between pairs: "x shares a cluster with one of these", "x is apart from one of these".

A choice is a disjunction of must-links or of cannot-links. Alone either sort is easy: one cluster satisfies every
must-link choice, the finest clustering every cannot-link choice that can be satisfied at all. Mixed with statements of
the other sort the question is NP-complete, so it is decided by a search over the choices within a budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from linkwise._messages import many
from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Constraints, Groups, Kind
from linkwise.problem.explain import explain_hard, minimal_core, name_list
from linkwise.problem.feasibility._cuts_of_size import hierarchy_of_blocks
from linkwise.problem.feasibility._n_clusters import Number, decide_number
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import blocks_or_none
from linkwise.result import Dendrogram

_WORK = 10.0
_NODE, _CHOICE = 15_000, 1_000  # steps of a branch, and those for each choice in it


@dataclass(frozen=True, eq=False)
class Choices:
    """The hard choices; ``is_must`` marks those of must-links, the others are of cannot-links."""

    groups: Groups
    is_must: BoolArray

    @classmethod
    def of(cls, constraints: Constraints) -> Choices:
        """Read the hard choices."""
        groups = constraints.groups
        kind = constraints.kind[groups.statement]
        wanted = ((kind == Kind.MUST_LINK_ANY) | (kind == Kind.CANNOT_LINK_ANY)) & constraints.is_hard[groups.statement]
        return cls(groups.pick(wanted), kind[wanted] == Kind.MUST_LINK_ANY)

    def __len__(self) -> int:
        return len(self.is_must)

    def only(self, numbers: IntArray) -> Choices:
        """The choices among some statements."""
        keep = np.isin(self.groups.statement, numbers)
        return Choices(self.groups.pick(keep), self.is_must[keep])

    def without(self, numbers: IntArray) -> Choices:
        """The choices that are not among some statements."""
        keep = ~np.isin(self.groups.statement, numbers)
        return Choices(self.groups.pick(keep), self.is_must[keep])

    def held(self, labels: IntArray) -> BoolArray:
        """Which choices hold when the samples of a cluster, or of a block, share a label."""
        kind = np.where(self.is_must, Kind.MUST_LINK_ANY, Kind.CANNOT_LINK_ANY).astype(np.int8)
        return self.groups.hold(kind, labels)


def settle_choices(hard: Hard, choices: Choices, k: int | None, budget: Budget | None = None) -> Number:
    """Decide whether statements without a contradiction leave a way to make the choices."""
    work = Budget(2 * _WORK) if budget is None else budget
    block = blocks_or_none(hard)
    if block is None:
        msg = "contradictions are reported before choices are decided"
        raise AssertionError(msg)
    bounds = decide_number(hard, block, None)
    status, witness = make_choices(hard, choices, k, work.share(_WORK))
    goal = "" if k is None else many(k, "cluster")
    where = f" in {goal}" if goal else ""
    if status == "feasible":
        because = f"The choices can be made so that all hard statements hold together{where}."
        return Number("feasible", witness, None, bounds.k_min, bounds.k_max, because)
    if status == "unknown":
        because = f"Whether the choices can be made so that all hard statements hold{where} was not decided."
        return Number("unknown", None, None, bounds.k_min, bounds.k_max, because)
    core, complete = choice_core(hard, choices, k, work.share(_WORK))
    heads = choices.only(core).groups
    names = name_list(hard.constraints, np.unique(heads.member[heads.start[:-1]]))
    because = f"whatever samples {names} choose breaks another statement{where}."
    why = explain_hard(hard, core, because, goal=goal, complete=complete)
    return Number("infeasible", None, why, bounds.k_min, bounds.k_max, why.because)


def choice_core(hard: Hard, choices: Choices, k: int | None, budget: Budget) -> tuple[IntArray, bool]:
    """Shrink statements that leave no way to make the choices to a minimal set that does not."""
    everything = np.union1d(hard.numbers, choices.groups.statement)
    return minimal_core(
        everything,
        lambda some: make_choices(hard.only(some), choices.only(some), k, budget)[0] == "infeasible",
        budget,
    )


def free_witness(hard: Hard, block: IntArray, *, marked: bool = False) -> Dendrogram | IntArray:
    """The finest clustering possible: labels, or with triplets a hierarchy, marked if asked or if there are pairs."""
    if not len(hard.triplets):
        return block
    tree = hierarchy_of_blocks(hard.n, block, hard.triplets, hard.cannot, hard.apart)
    if tree is None:
        msg = "the finest blocks always have a hierarchy"
        raise AssertionError(msg)
    if marked or len(hard.must) or hard.separates:
        return tree
    return Dendrogram(hard.n, tree.parent, tree.raw_height)


def make_choices(
    hard: Hard, choices: Choices, k: int | None, budget: Budget
) -> tuple[Literal["feasible", "infeasible", "unknown"], Dendrogram | IntArray | None]:
    """Make one choice after the other, fewest possibilities first, and backtrack from dead ends."""
    if k is None and choices.is_must.all() and not hard.separates:
        return "feasible", _one_cluster(hard)
    stack = [hard]
    undecided = False
    while stack:
        if budget.over:
            return "unknown", None
        here = stack.pop()
        budget.spend(_NODE + _CHOICE * len(choices) + here.steps)
        block = blocks_or_none(here)
        if block is None:
            continue
        held = choices.held(block)
        if not held[~choices.is_must].all():  # every clustering is coarser than the blocks
            continue
        waiting = np.flatnonzero(choices.is_must & ~held)
        if len(waiting):
            options = [_others(choices, int(g), block) for g in waiting]
            best = int(np.argmin([len(found) for found in options]))
            statement = int(choices.groups.statement[waiting[best]])
            head = int(choices.groups.of(int(waiting[best]))[0])
            stack += [here.with_must(head, int(y), statement) for y in reversed(options[best])]
            continue
        number = decide_number(here, block, k, reasons=False, budget=budget)
        undecided |= number.status == "unknown"
        if number.status != "feasible":
            continue
        witness = number.witness if k is not None else free_witness(here, block, marked=True)
        labels = witness.cut_marked() if isinstance(witness, Dendrogram) else witness
        broken = np.flatnonzero(~choices.held(np.asarray(labels)))
        if not len(broken):
            return "feasible", witness
        g = int(broken[0])
        head = int(choices.groups.of(g)[0])
        statement = int(choices.groups.statement[g])
        stack += [here.with_cannot(head, int(y), statement) for y in reversed(_others(choices, g, block))]
    return ("unknown" if undecided else "infeasible"), None


def _others(choices: Choices, group: int, block: IntArray) -> IntArray:
    """One sample of each block there is to choose from, other than the chooser's own."""
    members = choices.groups.of(group)
    others = members[1:][block[members[1:]] != block[members[0]]]
    _, first = np.unique(block[others], return_index=True)
    return np.asarray(others[np.sort(first)], dtype=np.intp)


def _one_cluster(hard: Hard) -> Dendrogram | IntArray:
    everything = np.zeros(hard.n, dtype=np.intp)
    if not len(hard.triplets):
        return everything
    tree = hierarchy_of_blocks(hard.n, np.arange(hard.n), hard.triplets, hard.cannot, hard.apart, 1)
    if tree is None:
        msg = "consistent triplets have a hierarchy with one cluster"
        raise AssertionError(msg)
    return tree
