"""What follows from what, by looking at every hierarchy with every cut; and what papers describe, literally."""

from __future__ import annotations

from functools import cache
from itertools import combinations

from tests.oracles.knowledge import cuts, trees
from tests.oracles.trees import tree_displays


@cache
def statements(n):
    """Every statement about n samples, as tuples; a triplet is written with its close pair in order."""
    pairs = list(combinations(range(n), 2))
    trios = [
        ("triplet", x, y, z) for a, b, c in combinations(range(n), 3) for x, y, z in ((a, b, c), (a, c, b), (b, c, a))
    ]
    return [("must_link", *p) for p in pairs] + [("cannot_link", *p) for p in pairs] + trios


def written(statement):
    """The same statement with the interchangeable samples in order."""
    word, a, b, *rest = statement
    return (word, *sorted((a, b)), *rest)


@cache
def bits(n):
    """A bit for every statement."""
    return {statement: 1 << i for i, statement in enumerate(statements(n))}


@cache
def worlds(n):
    """For every hierarchy on n samples, binary or not, and every cut of it: the statements that hold, as bits."""
    leaves = tuple(range(n))
    bit = bits(n)
    found = set()
    for tree in trees(leaves):
        shown = sum(b for s, b in bit.items() if s[0] == "triplet" and tree_displays(tree, *s[1:]))
        for cut in cuts(tree, leaves):
            label = {x: i for i, block in enumerate(cut) for x in block}
            pairs = (("must_link" if label[a] == label[b] else "cannot_link", a, b) for a, b in combinations(leaves, 2))
            found.add(shown + sum(bit[p] for p in pairs))
    return tuple(found)


def entailed(n, said):
    """The statements that hold in every world in which those said hold; None when there is no such world."""
    bit = bits(n)
    wanted = 0
    for statement in said:
        wanted |= bit[written(statement)]
    common = -1
    for world in worlds(n):
        if world & wanted == wanted:
            common &= world
    return None if common == -1 else {s for s, b in bit.items() if common & b}


def transitive_closure(comparisons):
    """Section III-B of Zheng and Li, literally: Floyd and Warshall's loops over all pairs named.

    A row i, j, k says d(i, j) < d(i, k). The result is a set of (i, j, k), or None when some pair is below itself.
    """
    less = {(frozenset((i, j)), frozenset((i, k))) for i, j, k in comparisons}
    nodes = {pair for edge in less for pair in edge}
    for middle in nodes:
        for low in nodes:
            for high in nodes:
                if (low, middle) in less and (middle, high) in less:
                    less.add((low, high))
    if any(low == high for low, high in less):
        return None
    found = set()
    for low, high in less:
        for i in low & high:  # pairs without a common item cannot be written as a comparison
            (j,), (k,) = low - {i}, high - {i}
            found.add((i, j, k))
    return found


def overlap(a, b, c, d):
    """Whether the projection of the segment ab onto the line through c and d shares a stretch with cd."""
    line = [q - p for p, q in zip(c, d, strict=True)]
    length = sum(x * x for x in line) ** 0.5
    if length == 0:
        return False

    def place(point):
        return sum((x - p) * w for x, p, w in zip(point, c, line, strict=True)) / length

    low, high = sorted((place(a), place(b)))
    return min(high, length) - max(low, 0.0) > 1e-8


def coherence(X, said):
    """Share of (pull, push) pairs of different statements of which neither overlaps the other; None without any."""
    pulls, pushes = [], []
    for number, (word, a, b, *rest) in enumerate(said):
        if word in ("must_link", "triplet"):
            pulls.append((number, X[a], X[b]))
        if word == "cannot_link":
            pushes.append((number, X[a], X[b]))
        pushes += [(number, X[x], X[c]) for c in rest for x in (a, b)]
    free = total = 0
    for number, a, b in pulls:
        for other, c, d in pushes:
            if number != other:
                total += 1
                free += not overlap(a, b, c, d) and not overlap(c, d, a, b)
    return free / total if total else None
