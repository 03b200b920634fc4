"""Slow twins for the knowledge layer, from the definitions: all trees, all cuts, all partitions, all subsets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cache
from itertools import chain, combinations, product

from tests.oracles.relative import components
from tests.oracles.trees import ancestors, tree_displays

Clade = frozenset[int]
Tree = frozenset[Clade]  # the inner clades, the root's included


def partitions(items: Sequence[int]) -> Iterator[list[tuple[int, ...]]]:
    """Every way to divide items into non-empty blocks."""
    if not items:
        yield []
        return
    first, rest = items[0], items[1:]
    for size in range(len(rest) + 1):
        for others in combinations(rest, size):
            left = [x for x in rest if x not in others]
            for more in partitions(left):
                yield [(first, *others), *more]


@cache
def trees(leaves: tuple[int, ...]) -> tuple[Tree, ...]:
    """Every rooted tree on the leaves, many-way nodes included."""
    if len(leaves) == 1:
        return (frozenset(),)
    found = []
    for parts in partitions(leaves):
        if len(parts) > 1:
            below = product(*(trees(part) for part in parts))
            found += [frozenset({frozenset(leaves)}).union(*subtrees) for subtrees in below]
    return tuple(found)


def cuts(tree: Tree, leaves: Iterable[int]) -> Iterator[list[Clade]]:
    """Every set of disjoint clades (leaves are clades too) that covers the leaves."""
    clades = list(tree | {frozenset([x]) for x in leaves})

    def cover(rest: Clade) -> Iterator[list[Clade]]:
        if not rest:
            yield []
            return
        lowest = min(rest)
        for clade in clades:
            if lowest in clade and clade <= rest:
                for more in cover(rest - clade):
                    yield [clade, *more]

    yield from cover(frozenset(leaves))


def pairs_hold(blocks: Iterable[Iterable[int]], must: Iterable[Sequence[int]], cannot: Iterable[Sequence[int]]) -> bool:
    """Whether the pairs hold in a partition."""
    label = {x: i for i, block in enumerate(blocks) for x in block}
    return all(label[a] == label[b] for a, b in must) and all(label[a] != label[b] for a, b in cannot)


def feasible_sizes(
    n: int, must: Sequence[Sequence[int]], cannot: Sequence[Sequence[int]], triplets: Sequence[Sequence[int]]
) -> set[int]:
    """The cluster counts for which a hierarchy with a cut satisfies everything; empty when contradictory."""
    leaves = tuple(range(n))
    found: set[int] = set()
    for tree in trees(leaves):
        if all(tree_displays(tree, *t) for t in triplets):
            for cut in cuts(tree, leaves):
                if len(cut) not in found and pairs_hold(cut, must, cannot):
                    found.add(len(cut))
    return found


def feasible_partition_sizes(n: int, must: Sequence[Sequence[int]], cannot: Sequence[Sequence[int]]) -> set[int]:
    """The same for pairs alone, over set partitions."""
    return {len(blocks) for blocks in partitions(range(n)) if pairs_hold(blocks, must, cannot)}


def cheapest_repair(weights: Sequence[float], consistent: Callable[[tuple[int, ...]], bool]) -> float:
    """Least weight to drop, over all subsets."""
    m = len(weights)
    subsets = chain.from_iterable(combinations(range(m), size) for size in range(m + 1))
    return min(
        sum(weights[i] for i in range(m) if i not in kept)
        for kept in map(frozenset, subsets)
        if consistent(tuple(kept))
    )


def links_consistent(n: int, must: Iterable[Sequence[int]], cannot: Iterable[Sequence[int]]) -> bool:
    """Whether no cannot-link joins two samples connected by must-links."""
    groups = components(range(n), must)
    return not any(group.issuperset(pair) for pair in cannot for group in groups)


def statement_holds(parent: Sequence[int], marked: Sequence[int] | None, kind: int, items: Sequence[int]) -> bool:
    """One statement in one tree, by walking up: kind 0 must-link, 1 cannot-link, 2 triplet."""
    a, b, c = items
    up_a, up_b = ancestors(parent, a), ancestors(parent, b)
    if kind < 2:
        tops = set(marked) if marked is not None else {up_a[-1], up_b[-1]}
        same = next(v for v in up_a if v in tops) == next(v for v in up_b if v in tops)
        return same == (kind == 0)
    up_c = ancestors(parent, c)
    shared = [v for v in up_a if v in up_b]
    return bool(shared) and shared[0] not in up_c


def group_holds(word: str, members: Sequence[int], label: Sequence[int] | dict[int, int]) -> bool:
    """A statement about any number of samples, from its meaning."""
    first, others = members[0], members[1:]
    return {
        "together": all(label[x] == label[y] for x, y in combinations(members, 2)),
        "apart": all(label[x] != label[y] for x, y in combinations(members, 2)),
        "must_link_any": any(label[first] == label[y] for y in others),
        "cannot_link_any": any(label[first] != label[y] for y in others),
    }[word]


def feasible_sizes_with_groups(
    n: int,
    must: Sequence[Sequence[int]],
    cannot: Sequence[Sequence[int]],
    triplets: Sequence[Sequence[int]],
    groups: Sequence[tuple[str, Sequence[int]]],
) -> set[int]:
    """`feasible_sizes` with statements about groups; without triplets over all partitions, which is the same."""
    leaves = tuple(range(n))
    found: set[int] = set()
    if triplets:
        shown = (tree for tree in trees(leaves) if all(tree_displays(tree, *t) for t in triplets))
        every = (cut for tree in shown for cut in cuts(tree, leaves))
    else:
        every = partitions(leaves)
    for cut in every:
        if len(cut) not in found and pairs_hold(cut, must, cannot):
            label = {x: i for i, block in enumerate(cut) for x in block}
            if all(group_holds(word, members, label) for word, members in groups):
                found.add(len(cut))
    return found
