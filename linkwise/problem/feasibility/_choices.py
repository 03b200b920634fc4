"""Choices between pairs: "x shares a cluster with one of these", "x is apart from one of these".

A choice is a disjunction of must-links or of cannot-links. Alone either sort is easy: one cluster satisfies every
must-link choice, the finest clustering every cannot-link choice that can be satisfied at all. Mixed with statements of
the other sort the question is NP-complete, so it is decided by a search over the choices within a budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from linkwise._messages import many
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, Groups, Kind
from linkwise.problem.explain import explain_hard, minimal_core, name_list
from linkwise.problem.feasibility._cuts_of_size import hierarchy_of_blocks
from linkwise.problem.feasibility._n_clusters import Number, decide_number
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import blocks_or_none
from linkwise.result import Dendrogram

_WORK, _PREFERRED = 10.0, 5.0  # units to decide, and to choose what the data prefer
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

    def head(self, group: int) -> tuple[int, int]:
        """The sample that chooses, and the statement."""
        return int(self.groups.of(group)[0]), int(self.groups.statement[group])


def settle_choices(hard: Hard, choices: Choices, k: int | None, budget: Budget | None = None) -> Number:
    """Decide whether statements without a contradiction leave a way to make the choices."""
    work = Budget(2 * _WORK) if budget is None else budget
    block = blocks_or_none(hard)
    if block is None:
        msg = "contradictions are reported before choices are decided"
        raise AssertionError(msg)
    bounds = decide_number(hard, block, None)
    status, witness, _ = make_choices(hard, choices, k, work.share(_WORK))
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


class Made(NamedTuple):
    """The end of a search over choices: a witness if they can be made, and the statements with the links chosen."""

    status: Literal["feasible", "infeasible", "unknown"]
    witness: Dendrogram | IntArray | None = None
    hard: Hard | None = None


Far = Callable[[int, IntArray], FloatArray]  # distances of a sample from others


def make_choices(hard: Hard, choices: Choices, k: int | None, budget: Budget, far: Far | None = None) -> Made:
    """Make one choice after the other, fewest possibilities first, and backtrack from dead ends.

    By default a choice of cannot-links is made only where a clustering breaks it. With ``far`` each of them is made, so
    that the links alone entail all choices; the nearest sample is tried first for a must-link, the farthest for a
    cannot-link.
    """
    if k is None and far is None and choices.is_must.all() and not hard.separates:
        return Made("feasible", _one_cluster(hard))
    apart = np.flatnonzero(~choices.is_must) if far is not None else np.empty(0, dtype=np.intp)
    stack = [(hard, 0)]  # with the choices of cannot-links that were made
    undecided = False
    while stack:
        if budget.over:
            return Made("unknown")
        here, made = stack.pop()
        budget.spend(_NODE + _CHOICE * len(choices) + here.steps)
        block = blocks_or_none(here)
        if block is None:
            continue
        held = choices.held(block)
        if not held[~choices.is_must].all():  # every clustering is coarser than the blocks
            continue
        waiting = np.flatnonzero(choices.is_must & ~held)
        if len(waiting):
            options = [_others(choices, int(g), block, far) for g in waiting]
            best = int(np.argmin([len(found) for found in options]))
            head, statement = choices.head(int(waiting[best]))
            stack += [(here.with_must(head, int(y), statement), made) for y in reversed(options[best])]
            continue
        while made < len(apart) and _are_apart(here, block, choices.groups.of(int(apart[made]))):
            made += 1
        if made == len(apart):
            number = decide_number(here, block, k, reasons=False, budget=budget)
            undecided |= number.status == "unknown"
            if number.status != "feasible":
                continue
            witness = number.witness if k is not None else free_witness(here, block, marked=True)
            labels = witness.cut_marked() if isinstance(witness, Dendrogram) else witness
            broken = np.flatnonzero(~choices.held(np.asarray(labels)))
            if not len(broken):
                return Made("feasible", witness, here)
        g = int(apart[made]) if made < len(apart) else int(broken[0])
        head, statement = choices.head(g)
        others = _others(choices, g, block, far)
        stack += [(here.with_cannot(head, int(y), statement), made) for y in reversed(others)]
    return Made("unknown" if undecided else "infeasible")


def choose_links(hard: Hard, choices: Choices, k: int | None, far: Far) -> tuple[IntArray, IntArray] | None:
    """Choose links that entail all choices and can hold together, in the order that the data prefer; None if not found.

    Return the must-links and the cannot-links.
    """
    found = make_choices(hard, choices, k, Budget(_PREFERRED), far).hard
    return None if found is None else (found.must[len(hard.must) :], found.cannot[len(hard.cannot) :])


def links_in(labels: IntArray, choices: Choices, far: Far) -> tuple[IntArray, IntArray]:
    """For each choice the link that holds in a clustering and that the data prefer: must-links, and cannot-links."""
    pairs = np.empty((len(choices), 2), dtype=np.intp)
    for g in range(len(choices)):
        head, others = choices.groups.of(g)[0], choices.groups.of(g)[1:]
        others = others[(labels[others] == labels[head]) == choices.is_must[g]]
        pairs[g] = head, _preferred(int(head), others, far, nearest=bool(choices.is_must[g]))[0]
    return pairs[choices.is_must], pairs[~choices.is_must]


def _preferred(head: int, others: IntArray, far: Far, *, nearest: bool) -> IntArray:
    distance = far(head, others)
    return np.asarray(others[np.argsort(distance if nearest else -distance, kind="stable")], dtype=np.intp)


def _are_apart(hard: Hard, block: IntArray, members: IntArray) -> bool:
    """Whether statements keep the block of the first member apart from that of another."""
    head, others = block[members[0]], block[members[1:]]
    ends, owner, inside = block[hard.cannot], hard.apart.owner, block[hard.apart.member]
    around = [ends[ends[:, 0] == head, 1], ends[ends[:, 1] == head, 0], inside[np.isin(owner, owner[inside == head])]]
    return bool(np.isin(others[others != head], np.concatenate(around)).any())


def _others(choices: Choices, group: int, block: IntArray, far: Far | None = None) -> IntArray:
    """One sample of each block there is to choose from, other than the chooser's own."""
    members = choices.groups.of(group)
    others = members[1:][block[members[1:]] != block[members[0]]]
    if far is not None:
        others = _preferred(int(members[0]), others, far, nearest=bool(choices.is_must[group]))
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
