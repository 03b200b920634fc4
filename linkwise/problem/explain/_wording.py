"""The text of a contradiction: the reason in one sentence, then step by step."""

from __future__ import annotations

import numpy as np

from linkwise._kernels.disjoint_set import find, make, union
from linkwise._messages import in_words as join_words
from linkwise.problem.explain._core import CHAIN, KNOT, Core
from linkwise.problem.explain._explanation import name_list
from linkwise.problem.statements import Hard
from linkwise.problem.triplets import BY_ITSELF, BY_THIRD, grow_forest, path, unite_blocks

_SPELLED = 12  # steps that are written out


def in_words(hard: Hard, core: Core) -> tuple[str, tuple[str, ...]]:
    """Word a contradiction: the reason, and the steps that lead to it."""
    part = hard.only(core.numbers)
    if core.sort == CHAIN:
        return _chain(part, core)
    return _knot(part) if core.sort == KNOT else _union(part, core)


def _row(hard: Hard, number: int) -> str:
    """Return the reference to a statement, as in ``#4``, or the rule that adds a link."""
    if number >= hard.constraints.n_statements:
        return hard.rule
    return f"#{int(hard.constraints.row[number])}"


def _cut(lines: list[str], total: int) -> list[str]:
    more = total - _SPELLED
    return lines if more <= 1 else [*lines[:_SPELLED], f"... and {more:,} more steps"]


def spelled(steps: list[str]) -> list[str]:
    """Leave out steps in the middle of a long chain."""
    more = len(steps) - _SPELLED - 1
    return steps if more <= 0 else [*steps[:_SPELLED], f"... {more:,} more ...", steps[-1]]


def _chain(hard: Hard, core: Core) -> tuple[str, tuple[str, ...]]:
    name = hard.constraints.name
    a, b = core.pair or (0, 0)
    forest = grow_forest(hard.n, np.ascontiguousarray(hard.must), np.array([a]))
    samples = path(forest, a, b)
    by = hard.must_at[forest.link[samples[1:]]]
    ends = np.append(by[1:] != by[:-1], True)  # a way through one group is one step
    samples, by = np.append(samples[:1], samples[1:][ends]), by[ends]
    names, row = name_list(hard.constraints, samples), _row(hard, core.by)
    because = f"must-link is transitive, so samples {names} share one cluster, which {row} forbids."
    told = [f"{name(int(s))} ({_row(hard, int(t))})" for s, t in zip(samples[1:], by, strict=True)]
    return because, (f"{name(a)} = {' = '.join(spelled(told))}, but {row} keeps {name(a)} and {name(b)} apart.",)


def _knot(hard: Hard) -> tuple[str, tuple[str, ...]]:
    local, samples = hard.squeeze()
    names = name_list(hard.constraints, samples)
    if len(samples) == 3:
        because = f"no hierarchy satisfies both: they resolve the three samples {names} in different ways."
    else:
        because = f"no hierarchy satisfies them all: every way to divide samples {names} breaks one."
    forest = grow_forest(local.n, np.ascontiguousarray(local.triplets[:, :2]), local.triplets[0, :1])
    steps = []
    for v in forest.order[1 : _SPELLED + 2]:
        t = forest.link[v]
        above, here, third = (
            hard.constraints.name(int(samples[s])) for s in (forest.above[v], v, local.triplets[t, 2])
        )
        steps.append(
            f"{_row(hard, int(local.triplets_at[t]))} keeps {above} and {here} together, for {third} is here too."
        )
    first = f"Wherever samples {names} are first divided into parts:"
    return because, (first, *_cut(steps, len(samples) - 1), "So all of them stay together, and nothing is divided.")


def _union(hard: Hard, core: Core) -> tuple[str, tuple[str, ...]]:
    name = hard.constraints.name
    a, b = core.pair or (0, 0)
    row = _row(hard, core.by)
    because = (
        f"no hierarchy with a cut satisfies them all: the must-links and triplets together put samples {name(a)} and "
        f"{name(b)} into one cluster, which {row} forbids."
    )
    local, samples = hard.squeeze()
    made = unite_blocks(local.n, local.must, local.triplets)
    number = np.concatenate([local.must_at, local.triplets_at])[made.reason]
    sets = make(local.n)
    steps: list[str] = []
    told = 0
    while told < len(made.link):
        step = made.step[told]
        stop = told + 1
        while step > BY_THIRD and stop < len(made.step) and made.step[stop] == step:
            stop += 1
        x, y = made.link[told]
        rows = [_row(hard, int(s)) for s in number[told:stop]]
        if step == BY_ITSELF:
            steps.append(f"{rows[0]} puts {name(int(samples[x]))} and {name(int(samples[y]))} into one cluster.")
        elif step == BY_THIRD:
            third = local.triplets[made.reason[told] - len(local.must), 2]
            x, y = (x, y) if find(sets, x) == find(sets, third) else (y, x)
            c, mate, other = (name(int(samples[s])) for s in (third, x, y))
            steps.append(f"{rows[0]}: {c} is in one cluster with {mate}, so {other} is as well.")
        else:
            tied = name_list(hard.constraints, samples[np.unique(made.link[told:stop])])
            more = [f"{len(rows) - _SPELLED:,} more"] if len(rows) > _SPELLED else []
            by = join_words([*rows[:_SPELLED], *more])
            steps.append(f"{by}: the clusters of samples {tied} cannot be divided from each other, so they are one.")
        for p, q in made.link[told:stop]:
            union(sets, p, q)
        told = stop
    return because, (*_cut(steps, len(steps)), f"But {row} keeps {name(a)} and {name(b)} apart.")
