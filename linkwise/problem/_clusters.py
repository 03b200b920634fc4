"""How many clusters the hard statements leave room for: bounds, witnesses of a wanted size, proofs of failure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from linkwise._kernels.disjoint_set import components
from linkwise.problem._blocks import finest_blocks, hierarchy_of_blocks
from linkwise.problem._colouring import ConflictGraph, Outcome, spread
from linkwise.problem._conflict import Hard, shrink
from linkwise.problem._explain import Explanation, minimal_core, name_list
from linkwise.problem._paths import LinkGraph, spanning_links
from linkwise.result import Dendrogram

__all__ = ["Number", "decide_number"]

IntArray = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Number:
    """What is known about a number of clusters."""

    status: Literal["feasible", "infeasible", "unknown"]
    witness: Dendrogram | IntArray | None
    explanation: Explanation | None
    k_min: int
    k_max: int
    because: str


def decide_number(hard: Hard, block: IntArray, k: int | None) -> Number:
    """Decide whether ``k`` clusters are possible, given the finest blocks of a contradiction-free input."""
    k_max = int(block.max(initial=-1)) + 1
    graph = ConflictGraph(k_max, block[hard.cannot])
    clique = graph.clique()
    k_min = len(clique)
    if k is None:
        return Number("feasible", None, None, k_min, k_max, "All hard statements can hold together.")
    if k > k_max:
        why = _too_many(hard, k, k_max)
        return Number("infeasible", None, why, k_min, k_max, why.because)
    if k < k_min:
        why = _too_few(hard, block, graph, clique[: k + 1], k)
        return Number("infeasible", None, why, k_min, k_max, why.because)
    if len(hard.triplets):
        tree = hierarchy_of_blocks(hard.n, block, hard.triplets, hard.cannot, k)
        if tree is not None:
            return Number("feasible", tree, None, k_min, k_max, f"A hierarchy with {k} clusters exists.")
    outcome, colour = graph.colour(k)
    if outcome is Outcome.IMPOSSIBLE:
        why = _uncolourable(hard, k)
        return Number("infeasible", None, why, max(k_min, k + 1), k_max, why.because)
    if outcome is Outcome.FOUND and not len(hard.triplets):
        labels = _by_appearance(spread(colour, k)[block])
        return Number("feasible", labels, None, k_min, k_max, f"A partition into {k} clusters exists.")
    because = (
        f"Whether {k} clusters suffice was not decided; at least {k_min} are needed, at most {k_max} are possible."
    )
    return Number("unknown", None, None, k_min, k_max, because)


def _by_appearance(labels: IntArray) -> IntArray:
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.intp)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse]


def _too_many(hard: Hard, k: int, k_max: int) -> Explanation:
    """More clusters than groups: any must-links that leave fewer than k groups prove it, one less does not."""
    kind = "must-links and triplets" if len(hard.triplets) else "must-links"
    group = "group" if k_max == 1 else "groups"
    because = f"the {kind} leave at most {k_max} {group} of samples, so there are no {k} clusters."
    used = np.flatnonzero(spanning_links(hard.n, hard.must))
    if len(used) > hard.n - k:
        core, complete = hard.must_at[used[: hard.n - k + 1]], True
    else:
        core, complete = shrink(hard, np.arange(hard.n), lambda block, _: bool(block.max() + 1 < k))
    return hard.explain(core, because, goal=_clusters(k), complete=complete)


def _too_few(hard: Hard, block: IntArray, graph: ConflictGraph, clique: IntArray, k: int) -> Explanation:
    """Show k + 1 groups pairwise apart: a cannot-link per pair, and what holds the ends inside each group together."""
    first, second = np.triu_indices(len(clique), 1)
    edges = graph.edge(clique[first], clique[second])
    forced, complete = _ties(hard, block, hard.cannot[edges])
    because = (
        f"{len(clique)} groups of samples are pairwise apart, so at least {len(clique)} clusters are needed, not {k}."
    )
    return hard.explain(np.append(forced, hard.cannot_at[edges]), because, goal=_clusters(k), complete=complete)


def _ties(hard: Hard, block: IntArray, cannot: IntArray) -> tuple[IntArray, bool]:
    """Statements that keep the ends of these cannot-links in their blocks, none of them to spare."""
    ends = np.unique(cannot)
    several = np.flatnonzero(np.bincount(block[ends], minlength=1) > 1)
    if not len(several):
        return ends[:0], True
    if not len(hard.triplets):
        graph = LinkGraph(hard.n, hard.must)
        links = [graph.tree(int(own[0]), own[1:])[0] for own in (ends[block[ends] == b] for b in several)]
        return hard.must_at[np.concatenate(links)], True
    tied = ends[np.isin(block[ends], several)]

    def still(part: IntArray, at: IntArray) -> bool:
        # Same grouping of the ends as before: parts only refine blocks, so counting the groups compares them.
        return len(np.unique(part[at[tied]])) == len(several)

    return shrink(hard, np.flatnonzero(np.isin(block, several)), still)


def _uncolourable(hard: Hard, k: int) -> Explanation:
    """No clique proves it, but the search was exhaustive: a minimal set for which it still is."""

    def impossible(subset: IntArray) -> bool:
        part = hard.only(subset)
        if len(part.triplets):
            small = finest_blocks(hard.n, part.must, part.triplets)
        else:
            small = components(hard.n, part.must)
        outcome, _ = ConflictGraph(int(small.max()) + 1, small[part.cannot]).colour(k)
        return outcome is Outcome.IMPOSSIBLE

    everything = np.concatenate([hard.must_at, hard.triplets_at, hard.cannot_at])
    core, complete = minimal_core(everything, impossible)
    names = name_list(hard.constraints, np.unique(hard.cannot[np.isin(hard.cannot_at, core)]))
    because = f"every way to put samples {names} into {_clusters(k)} joins a pair that is to be apart."
    return hard.explain(core, because, goal=_clusters(k), complete=complete)


def _clusters(k: int) -> str:
    return f"{k} cluster{'' if k == 1 else 's'}"
