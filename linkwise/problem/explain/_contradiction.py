"""Contradictions that no number of clusters resolves: found exactly, with fixes and a minimal proof."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import IntArray
from linkwise.constraints import Kind
from linkwise.problem.explain._core import CHAIN, KNOT, Core, find_core
from linkwise.problem.explain._explanation import Explanation, explain_hard, minimal_core
from linkwise.problem.explain._fixes import WORK, Doubt, Suspects, find_suspects
from linkwise.problem.explain._link_paths import LinkGraph
from linkwise.problem.explain._wording import in_words
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import bridges, finest_blocks, onetree

Also = Callable[[Hard, IntArray, Budget], IntArray | None]


def contradiction(
    hard: Hard,
    *,
    fixes: bool = True,
    rank: Doubt | None = None,
    core: Core | None = None,
    also: Also | None = None,
    budget: Budget | None = None,
) -> Explanation:
    """Explain why `blocks_or_none` returned None.

    ``fixes`` asks for statements to drop, of which ``rank`` says what to doubt first, by default the newest. ``core``
    is the conflict to explain, by default a small one. ``also`` finds a conflict with what is not among the hard
    statements, such as choices, given statements without contradiction, the numbers of those dropped and a budget.
    """
    core = find_core(hard, budget=budget) if core is None else core
    if core is None:
        msg = "contradiction: the statements do not contradict each other"
        raise AssertionError(msg)
    work = Budget(WORK) if budget is None else budget.share(WORK)
    suspects = _suspects(hard, core, rank or Doubt(hard.constraints), also, work) if fixes else None
    because, steps = in_words(hard, core)
    return explain_hard(hard, core.numbers, because, suspects=suspects, steps=steps, complete=core.complete and fixes)


def _suspects(hard: Hard, core: Core, rank: Doubt, also: Also | None, budget: Budget) -> Suspects:
    """Find hard statements to drop so that the others hold together; links of a rule cannot be dropped."""
    m = hard.constraints.n_statements
    said = core.numbers[core.numbers < m]
    rng = np.random.default_rng(1)

    def conflict_without(numbers: IntArray) -> IntArray | None:
        left = hard.without(numbers)
        other = find_core(left, rng=rng, budget=budget, sort=core.sort)  # of a sort before, the core would be one
        if other is None:
            return None if also is None else also(left, numbers, budget)
        return other.numbers[other.numbers < m]

    candidates = said if core.shared is None else np.intersect1d(said, core.shared)
    if core.sort == CHAIN:
        candidates = _cut_every_chain(hard, said)
        candidates = candidates[candidates < m]
        if len(candidates) and also is None and not len(hard.triplets) and not _has_groups(hard):
            return Suspects(tuple((int(s),) for s in rank(candidates)))
    elif core.sort == KNOT:
        candidates = np.intersect1d(candidates, _ties(hard))
    return find_suspects(said, conflict_without, rank, candidates=candidates, budget=budget)


def _has_groups(hard: Hard) -> bool:
    said = hard.must_at[hard.must_at < hard.constraints.n_statements]
    return bool((hard.constraints.kind[said] == Kind.TOGETHER).any())


def _cut_every_chain(hard: Hard, core: IntArray) -> IntArray:
    """Members of the core without which no two samples that are to be apart are joined by must-links.

    With groups together, which go as a whole, every member stays a candidate.
    """
    if _has_groups(hard):
        return core
    pairs, at = hard.broken(components(hard.n, hard.must))
    links = np.flatnonzero(np.isin(hard.must_at, core))
    graph = LinkGraph(hard.n, hard.must)
    cut = hard.must_at[graph.separators(int(pairs[0, 0]), links, pairs)]
    return np.append(cut, at[:1]) if (at == at[0]).all() else cut


def _ties(hard: Hard) -> IntArray:
    """Triplets that alone tie together a set which cannot be divided: others leave it tied when they go."""
    stuck = onetree(hard.n, hard.triplets).stuck
    if stuck is None:
        return hard.triplets_at
    position = np.full(hard.n, -1, dtype=np.intp)
    position[stuck] = np.arange(len(stuck))
    rows = np.flatnonzero((position[hard.triplets] >= 0).all(axis=1))
    return hard.triplets_at[rows[bridges(len(stuck), position[hard.triplets[rows, :2]])]]


def shrink(hard: Hard, samples: IntArray, broken: Callable[[IntArray, IntArray], bool]) -> tuple[IntArray, bool]:
    """Minimize the must-links and triplets inside ``samples`` for which ``broken(block, position)`` stays true.

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

    return minimal_core(numbers, conflicts, each=25 * (len(samples) + len(numbers)))
