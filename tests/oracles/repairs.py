"""Slow twins for repairs, from the definitions: every tree with every cut, every subset, every place of a subtree."""

from __future__ import annotations

from functools import cache
from itertools import combinations

from tests.oracles.knowledge import cuts, trees
from tests.oracles.relative import onetree

MUST, CANNOT, TRIPLET = range(3)


@cache
def _worlds(n):
    """Every tree over n leaves with every cut through it: (clades, cluster of each leaf)."""
    found = set()
    for tree in trees(tuple(range(n))):
        for cut in cuts(tree, range(n)):
            cluster = {x: min(block) for block in cut for x in block}
            found.add((tree, tuple(cluster[x] for x in range(n))))
    return tuple(found)


@cache
def _truths(n, kind, items):
    """In which worlds a statement holds, as bits of one number."""
    bits = 0
    for at, (tree, cluster) in enumerate(_worlds(n)):
        a, b, c = items
        if kind == TRIPLET:
            holds = any(a in clade and b in clade and c not in clade for clade in tree)
        else:
            holds = (cluster[a] == cluster[b]) == (kind == MUST)
        bits |= holds << at
    return bits


def consistent(n, statements):
    """Whether one world satisfies all statements, each a kind and a triple of samples."""
    bits = (1 << len(_worlds(n))) - 1
    for kind, items in statements:
        bits &= _truths(n, kind, tuple(items))
    return bool(bits)


def cheapest_subset(n, statements, weights):
    """Least weight to drop so that the rest is consistent, over all subsets, grown one statement at a time."""
    full = (1 << len(_worlds(n))) - 1
    reached = {full: 0.0}  # worlds that satisfy what was kept -> least weight dropped so far
    for (kind, items), weight in zip(statements, weights, strict=True):
        truth = _truths(n, kind, tuple(items))
        after: dict[int, float] = {}
        for worlds, cost in reached.items():
            for kept, price in ((worlds & truth, cost), (worlds, cost + weight)):
                if kept and price < after.get(kept, float("inf")):
                    after[kept] = price
        reached = after
    return min(reached.values())


def minimal_conflicts(m, holds):
    """All sets of statement numbers that conflict although no proper subset does; ``holds(subset)`` is the test."""
    found: list[frozenset[int]] = []
    for size in range(1, m + 1):
        for chosen in combinations(range(m), size):
            if not any(core <= set(chosen) for core in found) and not holds(chosen):
                found.append(frozenset(chosen))
    return found


def other_answers(kind, items):
    """What else could have been said about the samples of one statement."""
    a, b, c = items
    if kind == TRIPLET:
        return [(kind, (a, c, b)), (kind, (b, c, a))]
    return [(CANNOT if kind == MUST else MUST, (a, b, c))]


def share_of_wrong(statements, dropped, holds, *, few):
    """The share of wrong statements as the model of `Repair.noise` says, ``holds(statements)`` being the test.

    A dropped statement shares its blame with the kept ones that could go in its place. Checked are the dropped ones,
    those with a share of blame, and of the kept ones those that follow from the others. Each kind has its own rate
    where as many as ``few`` of it were checked.
    """
    kept = [s for s in range(len(statements)) if s not in dropped]
    blame = dict.fromkeys(range(len(statements)), 0.0)
    for d in dropped:
        equal = [d, *(s for s in kept if holds([statements[t] for t in (*kept, d) if t != s]))]
        for s in equal:
            blame[s] += 1 / len(equal)
    follows = {
        s
        for s in kept
        if not any(holds([*(statements[t] for t in kept if t != s), other]) for other in other_answers(*statements[s]))
    }
    said, wrong, checked = [], [], []
    for kind in sorted({kind for kind, _ in statements}):
        mine = {s for s, (k, _) in enumerate(statements) if k == kind}
        said.append(len(mine))
        wrong.append(sum(blame[s] for s in mine))
        blamed = [s for s in mine if s in kept and blame[s] > 0]
        checked.append(len(mine & set(dropped)) + len(mine & follows) + len(blamed))
    pooled = sum(wrong) / sum(checked)
    rates = [w / c if c >= few else pooled for w, c in zip(wrong, checked, strict=True)]
    return min(1.0, sum(s * r for s, r in zip(said, rates, strict=True)) / sum(said))


def triplets_hold(triplets):
    """Whether some tree displays all triplets, by the literal algorithm."""
    items = {x for t in triplets for x in t}
    return not items or onetree([tuple(t) for t in triplets], items) is not None


def regrafts(parent, pruned):
    """Every tree made by moving a subtree onto another edge: target -> parent dictionary, with the old joint reused."""
    parent = dict(enumerate(parent))
    joint = parent[pruned]
    sibling = next(x for x, above in parent.items() if above == joint and x != pruned)
    rest = dict(parent)
    rest[sibling] = parent[joint]

    def inside(node):
        while node != -1 and node != pruned:
            node = parent[node]
        return node == pruned

    found = {}
    for target in parent:
        if target == joint or inside(target):
            continue
        moved = dict(rest)
        moved[joint] = rest[target]
        moved[target] = joint
        found[target] = [moved[node] for node in sorted(moved)]
    return found
