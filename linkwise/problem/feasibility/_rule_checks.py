"""Verdicts under rules about clusters, by a proof, a witness, or a search on the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._messages import many
from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import (
    MaxCentroidDistance,
    MinSeparation,
    NeighborWithin,
    Rule,
    SizeBetween,
    must_links_within,
    neighbors_within,
)
from linkwise.problem.explain import Explanation, LinkGraph, explain, explain_hard, minimal_core, shrink
from linkwise.problem.feasibility._choices import Choices
from linkwise.problem.feasibility._coloring import ConflictGraph, Outcome, search_partitions
from linkwise.problem.feasibility._coloring_solver import Sizes
from linkwise.problem.feasibility._cuts_of_size import hierarchy_of_blocks
from linkwise.problem.feasibility._kernels_cuts_of_size import _take_out
from linkwise.problem.feasibility._n_clusters import Number
from linkwise.problem.statements import Budget, Hard
from linkwise.result import Dendrogram

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Status = Literal["feasible", "infeasible", "unknown"]
Witness = Dendrogram | IntArray | None
_WORK = 5.0  # for clusters of allowed sizes, and again for a minimal set without any
_ALL = 1.0  # for trying all partitions, and again for a minimal set without any


@dataclass(frozen=True, eq=False)
class _Data:
    """Facts about the data that each rule needs, computed once; empty without data."""

    known: bool
    near: dict[float, csr_array]
    close: dict[float, IntArray]


def settle_rules(
    hard: Hard, choices: Choices, block: IntArray, number: Number, k: int | None, X: Any, metric: str, budget: Budget
) -> tuple[Status, Witness, Explanation | None, str]:
    """Re-judge a verdict on the statements under the rules; return status, witness, explanation and sentence."""
    status, witness = number.status, number.witness
    rules = [rule for rule in hard.constraints.rules if not isinstance(rule, MaxCentroidDistance)]
    data = _Data(X is not None, {}, {})
    for rule in rules if data.known else ():
        if isinstance(rule, NeighborWithin):
            data.near[rule.epsilon] = neighbors_within(X, rule.epsilon, metric=metric)
        elif isinstance(rule, MinSeparation):
            data.close[rule.delta] = must_links_within(X, rule.delta, metric=metric)
    for rule in rules:
        why = _ruled_out(rule, hard, block, k, data)
        if why is not None:
            return "infeasible", None, why, why.because
    if status == "unknown":
        return "unknown", None, None, ""
    sizes = next((rule for rule in rules if isinstance(rule, SizeBetween)), None)
    by_size = Outcome.UNDECIDED
    found: list[Witness] = []
    if sizes is not None and not len(hard.triplets):
        by_size, labels_by_size = _divide(hard, block, rules, k, budget.share(_WORK))
        if by_size is Outcome.IMPOSSIBLE:
            why = _no_division(hard, rules, k)
            return "infeasible", None, why, why.because
        found = [labels_by_size] if by_size is Outcome.FOUND else []
    for candidate in [*_candidates(hard, block, witness, k, data), *found]:
        labels = candidate.cut_marked() if isinstance(candidate, Dendrogram) else candidate
        if labels is None or not choices.held(labels).all():
            continue
        if all(_holds(rule, labels, data) for rule in rules):
            return "feasible", candidate, None, ""
    decidable = data.known or all(isinstance(rule, SizeBetween) for rule in rules)
    if decidable and not len(hard.triplets):
        outcome, labels = _try_all(hard, choices, block, rules, k, data, budget.share(_ALL))
        if outcome is Outcome.FOUND:
            return "feasible", labels, None, ""
        if outcome is Outcome.IMPOSSIBLE:
            why = _no_partition(hard, choices, rules, k, data, budget.share(_ALL))
            return "infeasible", None, why, why.because
    names = ", ".join(str(rule) for rule in rules)
    rest = f"no clustering was found in which {names} does as well."
    if not decidable:
        rest = f"whether {names} can as well depends on X."
    return "unknown", None, None, f"The statements alone can hold; {rest}"


def _holds(rule: Rule, labels: IntArray, data: _Data) -> bool:
    """Whether a rule surely holds for these labels."""
    size = np.bincount(labels)
    if isinstance(rule, SizeBetween):
        return bool(size.min() >= rule.low and (rule.high is None or size.max() <= rule.high))
    if isinstance(rule, MinSeparation):
        if not data.known:
            return len(size) == 1
        pairs = data.close[rule.delta]
        return bool((labels[pairs[:, 0]] == labels[pairs[:, 1]]).all())
    if isinstance(rule, NeighborWithin):
        if not data.known:
            return bool(size.max() == 1)
        near = data.near[rule.epsilon]
        source = np.repeat(np.arange(len(labels)), np.diff(near.indptr))
        has = np.zeros(len(labels), dtype=np.bool_)
        has[source[labels[source] == labels[near.indices]]] = True
        return bool((has | (size[labels] == 1)).all())
    return False


def _candidates(hard: Hard, block: IntArray, witness: Witness, k: int | None, data: _Data) -> list[Witness]:
    """Clusterings in which the statements hold, to try the rules on: fine, coarse, and joined along neighbors."""
    tried: list[Witness] = []
    if len(hard.triplets):
        sizes = [None, 1] if k is None and not hard.separates else [k]
        tried += [hierarchy_of_blocks(hard.n, block, hard.triplets, hard.cannot, hard.apart, size) for size in sizes]
        return [tree for tree in tried if tree is not None]
    tried.append(witness)
    if data.near:  # the strictest of several holds them all
        tried.append(spread_neighbors(data.near[min(data.near)], block, k))
    for near in data.near.values():
        source = np.repeat(np.arange(hard.n), np.diff(near.indptr))
        tried.append(
            components(hard.n, np.concatenate([hard.must, np.column_stack([source, near.indices]).astype(np.intp)]))
        )
    if k is None:
        tried.append(np.zeros(hard.n, dtype=np.intp))
    return [
        labels
        for labels in tried
        if isinstance(labels, np.ndarray)
        and not len(hard.broken(labels)[0])
        and k in (None, int(labels.max(initial=-1)) + 1)
    ]


def _divide(
    hard: Hard, block: IntArray, rules: Sequence[Rule], k: int | None, budget: Budget
) -> tuple[Outcome, IntArray]:
    """Search clusters of allowed sizes, the wanted number or any, that respect all cannot-links."""
    bounds = [rule for rule in rules if isinstance(rule, SizeBetween)]
    low = max(rule.low for rule in bounds)
    high = min(hard.n if rule.high is None else rule.high for rule in bounds)
    graph = ConflictGraph(block, hard.cannot, hard.apart)
    sizes = Sizes(np.bincount(block), low, high)
    fewest = max(len(graph.clique()), -(-hard.n // high))
    numbers = range(fewest, min(graph.n, hard.n // low) + 1) if k is None else [k]
    undecided = False
    for number in numbers:
        outcome, color = (Outcome.UNDECIDED, block) if budget.over else graph.divide(number, sizes, budget)
        if outcome is Outcome.FOUND:
            return outcome, np.unique(color, return_inverse=True)[1].astype(np.intp)[block]
        undecided |= outcome is Outcome.UNDECIDED
    return (Outcome.UNDECIDED if undecided else Outcome.IMPOSSIBLE), block


def _no_division(hard: Hard, rules: Sequence[Rule], k: int | None) -> Explanation:
    """Sizes that do not fit, by exhaustive search: a minimal set of statements for which it still is so."""

    def impossible(subset: IntArray) -> bool:
        part = hard.only(subset)
        block = components(hard.n, part.must)
        return _divide(part, block, rules, k, budget)[0] is Outcome.IMPOSSIBLE

    budget = Budget(_WORK)
    core, complete = minimal_core(hard.numbers, impossible, budget)
    if impossible(core[:0]):
        core = core[:0]
    names = ", ".join(str(rule) for rule in rules if isinstance(rule, SizeBetween))
    where = "" if k is None else f" with {many(k, 'cluster')}"
    because = f"no clustering in which the statements hold{where} has sizes for which {names} holds."
    return explain_hard(hard, core, because, goal="" if k is None else many(k, "cluster"), complete=complete)


def _try_all(
    hard: Hard,
    choices: Choices,
    block: IntArray,
    rules: Sequence[Rule],
    k: int | None,
    data: _Data,
    budget: Budget,
) -> tuple[Outcome, IntArray]:
    """Try all partitions of a few blocks under cannot-links, choices and rules."""
    graph = ConflictGraph(block, hard.cannot, hard.apart)

    def accepted(label: IntArray) -> bool:
        labels = label[block]
        chosen = not len(choices) or bool(choices.held(labels).all())
        return chosen and all(_holds(rule, labels, data) for rule in rules)

    outcome, label = search_partitions(graph, accepted, k, budget)
    return outcome, label[block] if outcome is Outcome.FOUND else label


def _no_partition(
    hard: Hard, choices: Choices, rules: Sequence[Rule], k: int | None, data: _Data, budget: Budget
) -> Explanation:
    """No partition follows the rules, by exhaustive search: a minimal set of statements for which it still is so."""

    def impossible(subset: IntArray) -> bool:
        part = hard.only(subset)
        some = choices.only(subset)
        block = components(hard.n, part.must)
        return _try_all(part, some, block, rules, k, data, budget)[0] is Outcome.IMPOSSIBLE

    core, complete = minimal_core(np.union1d(hard.numbers, choices.statement), impossible, budget)
    names = ", ".join(str(rule) for rule in rules)
    goal = "" if k is None else many(k, "cluster")
    because = f"no clustering in which the statements hold{f' with {goal}' if goal else ''} follows {names}."
    return explain_hard(hard, core, because, goal=goal, complete=complete)


def _ruled_out(rule: Rule, hard: Hard, block: IntArray, k: int | None, data: _Data) -> Explanation | None:
    """Explain why no clustering can follow the rule, if that is certain."""
    n = hard.n
    if isinstance(rule, SizeBetween):
        goal = "" if k is None else many(k, "cluster")
        if n < rule.low * (k or 1) or (k is not None and rule.high is not None and n > rule.high * k):
            because = f"{rule} cannot hold for {n:,} samples{' in ' + goal if goal else ''}."
            return explain(hard.constraints, (), because, goal=goal)
        size = np.bincount(block, minlength=1)
        if rule.high is not None and size.max() > rule.high:
            return _too_large(rule.high, rule, hard, block, int(np.argmax(size)))
    if isinstance(rule, NeighborWithin) and data.known:
        alone = np.diff(data.near[rule.epsilon].indptr) == 0
        fewest = int(alone.sum()) + bool(not alone.all())
        if k is not None and k < fewest:
            because = (
                f"{int(alone.sum()):,} of {n:,} samples have no other near enough for {rule}, so there are at least "
                f"{fewest:,} clusters, not {k}."
            )
            return explain(hard.constraints, (), because, goal=many(k, "cluster"))
        held = np.flatnonzero(alone & (np.bincount(block, minlength=1)[block] > 1))
        if len(held):
            return _not_alone(rule, hard, block, int(held[0]))
    return None


def _too_large(high: int, rule: Rule, hard: Hard, block: IntArray, which: int) -> Explanation:
    samples = np.flatnonzero(block == which)
    because = f"they put {len(samples):,} samples into one cluster, but {rule} allows {high:,}."
    if len(hard.triplets):
        core, complete = shrink(hard, samples, lambda part, _: bool(np.bincount(part).max() > high))
        return explain_hard(hard, core, because, complete=complete)
    links = LinkGraph(hard.n, hard.must).around(int(samples[0]), high)
    return explain_hard(hard, hard.must_at[links], because)


def _not_alone(rule: Rule, hard: Hard, block: IntArray, sample: int) -> Explanation:
    name = hard.constraints.name(sample)
    because = f"sample {name} has no other sample near enough for {rule}, so it must stay alone in its cluster."
    touching = np.flatnonzero((hard.must == sample).any(axis=1))
    if len(touching):
        return explain_hard(hard, hard.must_at[touching[:1]], because)
    samples = np.flatnonzero(block == block[sample])
    core, complete = shrink(hard, samples, lambda part, at: bool((part == part[at[sample]]).sum() > 1))
    return explain_hard(hard, core, because, complete=complete)


# -- clusters along neighbors --------------------------------------------------------------------------------------


def spread_neighbors(near: csr_array, group: IntArray, k: int | None) -> IntArray | None:
    """Search ``k`` clusters, or as few as possible, in which every sample has an ε-neighbor or is alone.

    ``near`` holds the ε-neighbors of each sample; samples that must share a cluster share a ``group``, numbered from 0
    without gaps. Start with one cluster of all samples that have a neighbor at all, and take groups out of it one by
    one, each as a new cluster, as long as no sample left behind loses its last neighbor. Without must-links this ends
    with pairs of samples that have only each other, so every number of clusters from fewest to most is reached.

    **Cost** near-linear in the number of neighbors. **Guarantee** with must-links or separations that are never
    longer than ε finds the clustering if there is one; with other must-links the question is NP-complete and None
    proves nothing.
    """
    n = len(group)
    start, neighbor = near.indptr.astype(np.intp), near.indices.astype(np.intp)
    alone = np.diff(start) == 0
    size = np.bincount(group)
    if (alone & (size[group] > 1)).any():
        return None
    source = np.repeat(np.arange(n), np.diff(start))
    inside = np.zeros(n, dtype=np.bool_)
    inside[source[group[source] == group[neighbor]]] = True
    legal_alone = np.ones(len(size), dtype=np.bool_)
    legal_alone[group[~inside & (size[group] > 1)]] = False
    lonely = np.zeros(len(size), dtype=np.bool_)
    lonely[group[alone]] = True
    fewest = int(lonely.sum()) + bool((~lonely).any())
    wanted = (k if k is not None else fewest) - fewest
    if wanted < 0:
        return None
    order = np.argsort(group, kind="stable")
    begin = np.concatenate([[0], np.cumsum(size)]).astype(np.intp)
    out = _take_out(start, neighbor, group, begin, order, legal_alone, ~lonely, wanted)
    cluster = np.where(out | lonely, np.arange(len(size)), len(size))
    wanted -= int((out & ~lonely).sum())
    if wanted > 0:
        wanted = _divide_rest(source, neighbor, group, legal_alone, cluster, wanted)
    if wanted:
        return None
    labels = np.unique(cluster[group], return_inverse=True)[1]
    return labels.astype(np.intp)


def _divide_rest(
    source: IntArray, neighbor: IntArray, group: IntArray, legal_alone: BoolArray, cluster: IntArray, wanted: int
) -> int:
    """Divide the rest into connected parts, then parts into their groups; return how many are still wanted."""
    n_groups = len(cluster)
    left = np.flatnonzero(cluster == n_groups)
    ends = np.column_stack([group[source], group[neighbor]])
    ends = ends[(cluster[ends] == n_groups).all(axis=1)]
    part = components(n_groups, ends)[left]
    names = np.unique(part)
    for name in names[1:]:
        if wanted == 0:
            return 0
        cluster[left[part == name]] = left[part == name][0]
        wanted -= 1
    for name in names:
        members = left[part == name]
        if len(members) - 1 <= wanted and legal_alone[members].all():
            cluster[members] = members
            wanted -= len(members) - 1
    return wanted
