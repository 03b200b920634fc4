"""Verdicts on a range of numbers of clusters, from the verdicts on single numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from linkwise._messages import some_of
from linkwise._typing import IntArray
from linkwise.constraints import MaxCentroidDistance, MinSeparation
from linkwise.problem.explain import Explanation, explain_hard, minimal_core
from linkwise.problem.statements import Budget, Hard
from linkwise.result import Dendrogram

if TYPE_CHECKING:
    from linkwise.problem.feasibility._check import Verdict

_WORK, _CORE = 20.0, 5.0  # units of work for all numbers of a range, and for a minimal set of statements without any


def every_number_between(hard: Hard, *, has_choices: bool, has_data: bool) -> bool:
    """Whether all numbers of clusters between two possible ones are possible, up to the finest blocks.

    A cluster of several blocks can be divided: samples that are apart stay apart, blocks stay whole, and a hierarchy of
    the blocks shows how, with all triplets. Choices, sizes and neighbors may need the cluster whole.
    """
    follows = (MaxCentroidDistance, MinSeparation) if has_data else MaxCentroidDistance
    return not has_choices and all(isinstance(rule, follows) for rule in hard.constraints.rules)


def settle_range(
    hard: Hard,
    low: int,
    high: int,
    *,
    convex: bool,
    judge: Callable[[int | None, Budget], Verdict],
    judge_only: Callable[[IntArray, int, Budget], Verdict],
) -> Verdict:
    """Decide whether some number of clusters from ``low`` to ``high`` is possible.

    ``judge`` gives the verdict on one number, ``judge_only`` that on some of the statements. ``convex`` tells that all
    numbers between two possible ones are possible: then one number decides. Otherwise they are tried one by one,
    those near the number of a witness for any number first.
    """
    budget = Budget(_WORK)
    free = judge(None, budget)
    if free.status == "infeasible" or low == high:
        return free if free.status == "infeasible" else judge(low, budget)
    few, most = free.k_min or 1, free.k_max or hard.n
    if convex or low > most:
        verdict = judge(low if low > most else min(high, most), budget)
        if verdict.explanation is None:
            return verdict
        why = _one_end(verdict.explanation, low, high, more=low > most)
        return replace(verdict, because=why.because, explanation=why)
    numbers = np.arange(max(low, few), min(high, most) + 1)
    labels = free.witness.cut_marked() if isinstance(free.witness, Dendrogram) else free.witness
    if labels is not None:
        numbers = numbers[np.argsort(np.abs(numbers - len(np.unique(labels))), kind="stable")]
    refused, undecided = {}, []
    for k in numbers.tolist():
        if budget.over:
            undecided.append(k)
            continue
        verdict = judge(k, budget)
        if verdict.status == "feasible":
            return verdict
        if verdict.explanation is None:
            undecided.append(k)
        else:
            refused[k] = verdict.explanation
    beyond = [] if undecided else ([few - 1] if low < few else []) + ([most + 1] if high > most else [])
    for k in beyond:
        outside = judge(k, budget).explanation
        if outside is not None:
            refused[k] = outside
    if undecided or not refused:
        listed = some_of(sorted(undecided) or range(low, high + 1))
        because = f"Whether some of {_goal(low, high)} are possible was not decided; open: {listed}."
        return replace(free, status="unknown", witness=None, because=because)
    why = _no_number(hard, low, high, refused, judge_only, budget)
    return replace(free, status="infeasible", witness=None, explanation=why, because=why.because)


def _one_end(why: Explanation, low: int, high: int, *, more: bool) -> Explanation:
    """The explanation for one end of a range, which rules out all other numbers as well."""
    further = f"More clusters, up to {high}" if more else f"Fewer clusters, down to {low}"
    return replace(why, because=f"{why.because} {further}, are impossible as well.", goal=_goal(low, high))


def _no_number(
    hard: Hard,
    low: int,
    high: int,
    refused: dict[int, Explanation],
    judge_only: Callable[[IntArray, int, Budget], Verdict],
    budget: Budget,
) -> Explanation:
    """Explain that no number of a range is possible: the reason at each end, by a minimal set of statements."""
    work = budget.share(_CORE)

    def impossible(some: IntArray) -> bool:
        return all(judge_only(some, k, work).status == "infeasible" for k in range(low, high + 1))

    together = np.unique(np.concatenate([np.array(why.core, dtype=np.intp) for why in refused.values()]))
    core, complete = minimal_core(together, impossible, work)
    ends = _ends(sorted(refused), low, high)
    because = " ".join(f"{words}: {refused[k].because}" for words, k in ends)
    why = explain_hard(hard, core, because, goal=_goal(low, high), complete=complete)
    return replace(why, rules=tuple(dict.fromkeys(rule for k in refused for rule in refused[k].rules)))


def _ends(numbers: Sequence[int], low: int, high: int) -> list[tuple[str, int]]:
    """The smallest and largest numbers that were refused, in words with the ends of the range that they stand for."""
    first, last = numbers[0], numbers[-1]
    if first == last:
        return [(_goal(low, high), first)]
    return [(_goal(low, max(low, first)), first), (_goal(min(high, last), high), last)]


def _goal(low: int, high: int) -> str:
    return f"{low} to {high} clusters" if low < high else f"{low} cluster{'' if low == 1 else 's'}"
