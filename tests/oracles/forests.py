"""Slow twins for proof forests: chains, bridges and what links need, from the definitions."""

from __future__ import annotations

from itertools import combinations


def reach(links, source, without=None):
    """Everything connected with ``source``, leaving out one link if told."""
    seen = {source}
    while True:
        more = {w for t, (u, v) in enumerate(links) if t != without for w in (u, v) if {u, v} & seen} - seen
        if not more:
            return seen
        seen |= more


def bridges_by_definition(links):
    """The links whose two ends are no longer connected without them."""
    return {t for t, (u, v) in enumerate(links) if v not in reach(links, u, without=t)}


def chain(links, x, y):
    """The links between x and y in a forest: those without which they are not connected."""
    return {t for t in range(len(links)) if y not in reach(links, x, without=t)}


def needed_by_definition(links, need, wanted):
    """The smallest set that holds ``wanted`` and, for each link in it, the chain to the sample it needs."""
    found = set(wanted)
    while True:
        more = {f for t in found if need[t] >= 0 for f in chain(links, links[t][0], need[t])} - found
        if not more:
            return found
        found |= more


def joined_by_definition(n, must, triplets):
    """The finest blocks: the least partition that must-links allow and in which no set of blocks is undividable.

    A set of blocks is undividable when triplets about three of them, or about two with c in one of them, connect it.
    """
    blocks = [{x} for x in range(n)]

    def of(x):
        return next(i for i, block in enumerate(blocks) if x in block)

    def merge(which):
        together = set().union(*(blocks[i] for i in which))
        rest = [block for i, block in enumerate(blocks) if i not in which]
        blocks[:] = [*rest, together]

    for a, b in must:
        if of(a) != of(b):
            merge({of(a), of(b)})
    changed = True
    while changed:
        changed = False
        for size in range(2, len(blocks) + 1):
            for chosen in combinations(range(len(blocks)), size):
                inside = [
                    (of(a), of(b)) for a, b, c in triplets if {of(a), of(b), of(c)} <= set(chosen) and of(a) != of(b)
                ]
                if inside and reach(inside, inside[0][0]) == set(chosen):
                    merge(set(chosen))
                    changed = True
                    break
            if changed:
                break
    return {frozenset(block) for block in blocks}
