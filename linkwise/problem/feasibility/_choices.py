"""Choices between links: "x shares a cluster with one of these", "x is apart from one of these", "either or".

A choice is a disjunction of must-links, of cannot-links, or of both. Alone the first two sorts are easy: one cluster
satisfies every must-link choice, the finest clustering every cannot-link choice that can be satisfied at all. Mixed
with statements of the other sort the question is NP-complete, so it is decided by a search over the choices within a
budget.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from linkwise._messages import many, some_of
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, Kind, run_starts
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
    """The hard choices: links in a row, those of choice g from ``start[g]`` to ``start[g + 1]``."""

    statement: IntArray  # of each choice
    start: IntArray
    pair: IntArray
    is_must: BoolArray
    heads: BoolArray  # whether the first sample of all links of a choice is the one that chooses

    @classmethod
    def of(cls, constraints: Constraints) -> Choices:
        """Read the hard choices."""
        groups = constraints.groups
        kind = constraints.kind[groups.statement]
        wanted = (kind >= Kind.MUST_LINK_ANY) & constraints.is_hard[groups.statement]
        if not wanted.any():
            return _NO_CHOICES
        groups, kind = groups.pick(wanted), kind[wanted]
        owner, pair, is_must = groups.links(kind)
        return cls(groups.statement, run_starts(owner, len(kind)), pair, is_must, kind != Kind.EITHER)

    def __len__(self) -> int:
        return len(self.statement)

    @property
    def owner(self) -> IntArray:
        """The choice of each link."""
        return np.repeat(np.arange(len(self)), np.diff(self.start))

    def only(self, numbers: IntArray) -> Choices:
        """The choices among some statements."""
        return self._pick(np.isin(self.statement, numbers))

    def without(self, numbers: IntArray) -> Choices:
        """The choices that are not among some statements."""
        return self._pick(~np.isin(self.statement, numbers))

    def _pick(self, keep: BoolArray) -> Choices:
        if keep.all():
            return self
        sizes, links = np.diff(self.start), keep[self.owner]
        start = np.concatenate([[0], np.cumsum(sizes[keep])])
        return Choices(self.statement[keep], start, self.pair[links], self.is_must[links], self.heads[keep])

    def any_of(self, links: BoolArray) -> BoolArray:
        """Which choices have a link that a mask picks."""
        return np.bincount(self.owner[links], minlength=len(self)) > 0

    def held(self, labels: IntArray) -> BoolArray:
        """Which choices hold when the samples of a cluster, or of a block, share a label."""
        return self.any_of((labels[self.pair[:, 0]] == labels[self.pair[:, 1]]) == self.is_must)

    def of_choice(self, choice: int) -> tuple[IntArray, BoolArray]:
        """The links of one choice: pairs, and which of them are must-links."""
        at = slice(self.start[choice], self.start[choice + 1])
        return self.pair[at], self.is_must[at]


_NONE, _FALSE = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.bool_)
_NO_CHOICES = Choices(_NONE, np.zeros(1, dtype=np.intp), _NONE.reshape(0, 2), _FALSE, _FALSE)


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
    made = choices.only(core)
    if not len(made):  # the other statements alone leave no such number of clusters
        number = decide_number(hard, block, k, budget=work)
        if number.status == "infeasible":
            return number
    because = f"{_whatever(hard.constraints, made)} breaks another statement{where}."
    why = explain_hard(hard, core, because, goal=goal, complete=complete)
    return Number("infeasible", None, why, bounds.k_min, bounds.k_max, why.because)


def _whatever(table: Constraints, choices: Choices) -> str:
    """Word that no way to make some choices is left."""
    if not len(choices):
        return "whatever is chosen"
    first = choices.pair[choices.start[:-1][choices.heads], 0]
    links = some_of([f"#{row}" for row in table.row[choices.statement[~choices.heads]]])
    if not len(first):
        return f"whichever link of {links} holds"
    chosen = f"whatever samples {name_list(table, np.unique(first))} choose"
    return f"{chosen}, and whichever link of {links} holds," if links else chosen


def choice_core(hard: Hard, choices: Choices, k: int | None, budget: Budget) -> tuple[IntArray, bool]:
    """Shrink statements that leave no way to make the choices to a minimal set that does not."""
    everything = np.union1d(hard.numbers, choices.statement)
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


Dislike = Callable[[IntArray, BoolArray], FloatArray]  # the smaller, the more the data like a must-link or cannot-link


def make_choices(hard: Hard, choices: Choices, k: int | None, budget: Budget, dislike: Dislike | None = None) -> Made:
    """Make one choice after the other, fewest possibilities first, and backtrack from dead ends.

    By default a choice that cannot-links can meet is made only where a clustering breaks it. With ``dislike`` each of
    them is made, so that the links alone entail all choices, and the link that the data like most is tried first.
    """
    if k is None and dislike is None and choices.any_of(choices.is_must).all() and not hard.separates:
        return Made("feasible", _one_cluster(hard))
    waits = np.flatnonzero(choices.any_of(~choices.is_must)) if dislike is not None else np.empty(0, dtype=np.intp)
    stack = [(hard, 0)]  # with the choices of `waits` that were made
    undecided = False
    while stack:
        if budget.over:
            return Made("unknown")
        here, made = stack.pop()
        budget.spend(_NODE + _CHOICE * len(choices) + here.steps)
        block = blocks_or_none(here)
        if block is None:
            continue
        joined = block[choices.pair[:, 0]] == block[choices.pair[:, 1]]  # in every clustering, as all are coarser
        forced = np.flatnonzero(~choices.any_of(joined == choices.is_must))
        if len(forced):
            options = [_options(choices, int(g), block, dislike) for g in forced]
            best = int(np.argmin([len(found) for found in options]))
            stack += _branches(here, made, choices, int(forced[best]), options[best])
            continue
        while made < len(waits) and _is_entailed(here, block, *choices.of_choice(int(waits[made]))):
            made += 1
        if made == len(waits):
            number = decide_number(here, block, k, reasons=False, budget=budget)
            undecided |= number.status == "unknown"
            if number.status != "feasible":
                continue
            witness = number.witness if k is not None else free_witness(here, block, marked=True)
            labels = witness.cut_marked() if isinstance(witness, Dendrogram) else witness
            broken = np.flatnonzero(~choices.held(np.asarray(labels)))
            if not len(broken):
                return Made("feasible", witness, here)
        g = int(waits[made]) if made < len(waits) else int(broken[0])
        stack += _branches(here, made, choices, g, _options(choices, g, block, dislike))
    return Made("unknown" if undecided else "infeasible")


def choose_links(hard: Hard, choices: Choices, k: int | None, dislike: Dislike) -> tuple[IntArray, IntArray] | None:
    """Choose links that entail all choices and can hold together, in the order that the data prefer; None if not found.

    Return the must-links and the cannot-links.
    """
    found = make_choices(hard, choices, k, Budget(_PREFERRED), dislike).hard
    return None if found is None else (found.must[len(hard.must) :], found.cannot[len(hard.cannot) :])


def links_in(labels: IntArray, choices: Choices, dislike: Dislike) -> tuple[IntArray, IntArray]:
    """For each choice the link that holds in a clustering and that the data prefer: must-links, and cannot-links."""
    best, must = np.empty((len(choices), 2), dtype=np.intp), np.empty(len(choices), dtype=np.bool_)
    for g in range(len(choices)):
        pair, is_must = choices.of_choice(g)
        good = (labels[pair[:, 0]] == labels[pair[:, 1]]) == is_must
        pair, is_must = pair[good], is_must[good]
        first = int(np.argsort(dislike(pair, is_must), kind="stable")[0])
        best[g], must[g] = pair[first], is_must[first]
    return best[must], best[~must]


def _branches(
    hard: Hard, made: int, choices: Choices, choice: int, options: list[tuple[int, int, bool]]
) -> list[tuple[Hard, int]]:
    """The statements with each of some links in place of a choice, the first link last."""
    number = int(choices.statement[choice])
    return [
        ((hard.with_must if is_must else hard.with_cannot)(a, b, number), made) for a, b, is_must in reversed(options)
    ]


def _is_entailed(hard: Hard, block: IntArray, pair: IntArray, is_must: BoolArray) -> bool:
    """Whether one of some links follows from the blocks and from what is kept apart."""
    ends = block[pair]
    if (ends[is_must, 0] == ends[is_must, 1]).any():
        return True
    banned, owner, inside = block[hard.cannot], hard.apart.owner, block[hard.apart.member]
    for head in np.unique(ends[~is_must, 0]):
        others = ends[~is_must & (ends[:, 0] == head), 1]
        around = [
            banned[banned[:, 0] == head, 1],
            banned[banned[:, 1] == head, 0],
            inside[np.isin(owner, owner[inside == head])],
        ]
        if np.isin(others[others != head], np.concatenate(around)).any():
            return True
    return False


def _options(choices: Choices, choice: int, block: IntArray, dislike: Dislike | None) -> list[tuple[int, int, bool]]:
    """The links of a choice that the blocks leave open, one for each pair of blocks, in the order they are tried."""
    pair, is_must = choices.of_choice(choice)
    is_open = block[pair[:, 0]] != block[pair[:, 1]]
    pair, is_must = pair[is_open], is_must[is_open]
    if dislike is not None:
        order = np.argsort(dislike(pair, is_must), kind="stable")
        pair, is_must = pair[order], is_must[order]
    ends = np.sort(block[pair], axis=1)
    _, first = np.unique(2 * (ends[:, 0] * len(block) + ends[:, 1]) + is_must, return_index=True)
    first = np.sort(first)
    return [(int(a), int(b), bool(must)) for (a, b), must in zip(pair[first], is_must[first], strict=True)]


def _one_cluster(hard: Hard) -> Dendrogram | IntArray:
    everything = np.zeros(hard.n, dtype=np.intp)
    if not len(hard.triplets):
        return everything
    tree = hierarchy_of_blocks(hard.n, np.arange(hard.n), hard.triplets, hard.cannot, hard.apart, 1)
    if tree is None:
        msg = "consistent triplets have a hierarchy with one cluster"
        raise AssertionError(msg)
    return tree
