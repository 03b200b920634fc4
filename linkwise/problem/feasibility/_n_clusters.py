"""The numbers of clusters that hard statements allow: bounds, witnesses of a wanted size, proofs of failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._messages import many
from linkwise._typing import IntArray
from linkwise.constraints import Kind
from linkwise.problem.explain import (
    Explanation,
    LinkGraph,
    Suspects,
    explain_hard,
    minimal_core,
    name_list,
    shrink,
    spanning_links,
)
from linkwise.problem.feasibility._coloring import ConflictGraph, Outcome, spread
from linkwise.problem.feasibility._cuts_of_size import hierarchy_of_blocks, search_cut
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import bridges, finest_blocks
from linkwise.result import Dendrogram
from linkwise.trees import by_first_appearance

_WORK = 20.0  # for all of it
_CUT, _CORE = 5.0, 5.0  # for a cut of a wanted size, and for a minimal set without one
_NUMBER = 20_000  # steps besides those for statements and samples
_SEARCHED = 400  # blocks up to which a cut of a wanted size is searched for exhaustively


@dataclass(frozen=True, eq=False)
class Number:
    """The verdict on a number of clusters."""

    status: Literal["feasible", "infeasible", "unknown"]
    witness: Dendrogram | IntArray | None
    explanation: Explanation | None
    k_min: int
    k_max: int
    because: str


def decide_number(
    hard: Hard, block: IntArray, k: int | None, *, reasons: bool = True, budget: Budget | None = None
) -> Number:
    """Decide whether ``k`` clusters are possible, given the finest blocks of a contradiction-free input.

    ``reasons=False`` does without an explanation where they are not. The budget is 20 units by default.
    """
    budget = Budget(_WORK) if budget is None else budget
    budget.spend(_NUMBER + hard.steps)
    k_max = int(block.max(initial=-1)) + 1
    graph = ConflictGraph(block, hard.cannot, hard.apart)
    clique = graph.clique()
    k_min = len(clique)
    if k is None:
        return Number("feasible", None, None, k_min, k_max, "All hard statements can hold together.")

    def refuse(why: Callable[[], Explanation], least: int = k_min) -> Number:
        told = why() if reasons else None
        return Number("infeasible", None, told, least, k_max, "" if told is None else told.because)

    if k > k_max:
        return refuse(lambda: _too_many(hard, k, k_max))
    if k < k_min:
        return refuse(lambda: _too_few(hard, block, graph, clique, k))
    if len(hard.triplets):
        tree = hierarchy_of_blocks(hard.n, block, hard.triplets, hard.cannot, hard.apart, k)
        if tree is not None:
            return Number("feasible", tree, None, k_min, k_max, f"A hierarchy with {k} clusters exists.")
    outcome, color = graph.color(k, budget)
    if outcome is Outcome.IMPOSSIBLE:
        return refuse(lambda: _uncolorable(hard, k, budget.share(_CORE)), max(k_min, k + 1))
    if len(hard.triplets) and k_max <= _SEARCHED:
        status, tree = search_cut(hard, k, budget.share(_CUT))
        if status == "feasible":
            return Number("feasible", tree, None, k_min, k_max, f"A hierarchy with {k} clusters exists.")
        if status == "infeasible":
            return refuse(lambda: _no_such_cut(hard, k, budget.share(_CORE)))
    if outcome is Outcome.FOUND and not len(hard.triplets):
        labels = by_first_appearance(spread(color, k)[block], k)[0]
        because = f"A partition into {k} clusters exists{_easy(graph, k) if reasons else ''}."
        return Number("feasible", labels, None, k_min, k_max, because)
    because = (
        f"Whether {k} clusters suffice was not decided; at least {k_min} are needed, at most {k_max} are possible."
    )
    return Number("unknown", None, None, k_min, k_max, because)


def _easy(graph: ConflictGraph, k: int) -> str:
    """The reason why a coloring with ``k`` colors is found without search, if there is one, to end a sentence."""
    if not graph.max_degree:
        return ""
    if k > graph.max_degree:
        return f": no group of samples is apart from {k} others"
    if graph.peels(k):
        return f": groups of samples can be placed in an order in which each is apart from fewer than {k} before it"
    return ""


def _too_many(hard: Hard, k: int, k_max: int) -> Explanation:
    """More clusters than groups: any must-links that leave fewer than k groups prove it, one less does not."""
    kind = "must-links and triplets" if len(hard.triplets) else "must-links"
    group = "group" if k_max == 1 else "groups"
    because = f"the {kind} leave at most {k_max} {group} of samples, so there are no {k} clusters."
    used = np.flatnonzero(spanning_links(hard.n, hard.must))
    if len(used) > hard.n - k and len(np.unique(hard.must_at)) == len(hard.must_at):
        core, complete = hard.must_at[used[: hard.n - k + 1]], True
    else:
        core, complete = shrink(hard, np.arange(hard.n), lambda block, _: bool(block.max() + 1 < k))
    return explain_hard(hard, core, because, goal=many(k, "cluster"), complete=complete)


def tear_one_link(hard: Hard, k: int, k_max: int) -> Suspects | None:
    """Return must-links that, dropped alone, leave k groups; None if the number does not depend on links alone."""
    said = hard.must_at[hard.must_at < hard.constraints.n_statements]
    if len(hard.triplets) or (hard.constraints.kind[said] == Kind.TOGETHER).any():
        return None
    if k - k_max > 1:
        return Suspects((), k - k_max)
    torn = hard.must_at[bridges(hard.n, np.ascontiguousarray(hard.must))]
    return Suspects(tuple((int(s),) for s in torn[torn < hard.constraints.n_statements]))


def _too_few(hard: Hard, block: IntArray, graph: ConflictGraph, clique: IntArray, k: int) -> Explanation:
    """Prove that k + 1 blocks are pairwise apart, by statements that separate each pair and join each block."""
    whole = _one_group(hard, k)
    if whole is not None:
        statement, size = whole
        because = f"{size} samples are pairwise apart, so at least {size} clusters are needed, not {k}."
        return explain_hard(hard, np.array([statement]), because, goal=many(k, "cluster"))
    clique = clique[: k + 1]
    cover = graph.covering(clique)
    needed = len(clique) * (len(clique) - 1) // 2

    def apart(subset: IntArray) -> bool:
        pairs = {(int(u), int(v)) for q in subset for u in cover[q][1] for v in cover[q][1] if u < v}
        return len(pairs) == needed

    chosen, complete = np.arange(len(cover)), True
    if len(cover) > needed or any(len(blocks) > 2 for _, blocks in cover):
        chosen, complete = minimal_core(chosen, apart)
    groups = [cover[q][0] - graph.n_pairs for q in chosen if cover[q][0] >= graph.n_pairs]
    links = np.array([graph.link(cover[q][0]) for q in chosen if cover[q][0] < graph.n_pairs], dtype=np.intp)
    members = [hard.apart.of(g)[np.isin(block[hard.apart.of(g)], clique)] for g in groups]
    ends = np.unique(np.concatenate([hard.cannot[links].ravel(), *members]))
    forced, tied = _ties(hard, block, ends)
    because = (
        f"{len(clique)} groups of samples are pairwise apart, so at least {len(clique)} clusters are needed, not {k}."
    )
    core = np.concatenate([forced, hard.cannot_at[links], hard.apart.statement[groups].astype(np.intp)])
    return explain_hard(hard, core, because, goal=many(k, "cluster"), complete=complete and tied)


def _one_group(hard: Hard, k: int) -> tuple[int, int] | None:
    """The smallest group apart that alone needs more than k clusters, and its size."""
    sizes = hard.apart.sizes
    large = np.flatnonzero(sizes > k)
    if not len(large):
        return None
    g = int(large[np.argmin(sizes[large])])
    return int(hard.apart.statement[g]), int(sizes[g])


def _ties(hard: Hard, block: IntArray, ends: IntArray) -> tuple[IntArray, bool]:
    """Return a minimal set of statements that keep these samples in their blocks."""
    several = np.flatnonzero(np.bincount(block[ends], minlength=1) > 1)
    if not len(several):
        return ends[:0], True
    tied = ends[np.isin(block[ends], several)]
    if not len(hard.triplets) and len(np.unique(hard.must_at)) == len(hard.must_at):
        graph = LinkGraph(hard.n, hard.must)
        links = [graph.tree(int(own[0]), own[1:])[0] for own in (tied[block[tied] == b] for b in several)]
        return hard.must_at[np.concatenate(links)], True

    def still(part: IntArray, at: IntArray) -> bool:
        # Same grouping of the ends as before: parts only refine blocks, so counting the groups compares them.
        return len(np.unique(part[at[tied]])) == len(several)

    return shrink(hard, np.flatnonzero(np.isin(block, several)), still)


def _uncolorable(hard: Hard, k: int, budget: Budget) -> Explanation:
    """No clique proves it, but the search was exhaustive: a minimal set for which it still is."""

    def impossible(subset: IntArray) -> bool:
        part = hard.only(subset)
        if len(part.triplets):
            small = finest_blocks(hard.n, part.must, part.triplets)
        else:
            small = components(hard.n, part.must)
        budget.spend(part.steps)
        outcome, _ = ConflictGraph(small, part.cannot, part.apart).color(k, budget)
        return outcome is Outcome.IMPOSSIBLE

    core, complete = minimal_core(hard.numbers, impossible, budget)
    part = hard.only(core)
    names = name_list(hard.constraints, np.unique(np.concatenate([part.cannot.ravel(), part.apart.member])))
    because = f"every way to put samples {names} into {many(k, 'cluster')} joins a pair that must be apart."
    return explain_hard(hard, core, because, goal=many(k, "cluster"), complete=complete)


def _no_such_cut(hard: Hard, k: int, budget: Budget) -> Explanation:
    """No hierarchy has a cut of this size, by exhaustive search: a minimal set for which it still is so."""
    core, complete = minimal_core(
        hard.numbers, lambda some: search_cut(hard.only(some), k, budget)[0] == "infeasible", budget
    )
    because = (
        f"no hierarchy that satisfies them all has {many(k, 'cluster')} with the right samples together and apart."
    )
    return explain_hard(hard, core, because, goal=many(k, "cluster"), complete=complete)
