"""Every cut of a small forest, and how well it agrees with statements, from the definition."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import inf

from tests.oracles.trees import displays, samples_below


def all_cuts(n, parent):
    """List each cut as its blocks and the two-way merges it undoes, as (node, position of the child given up).

    A node stays whole, or gives up its children from the last on; the children that stay are one block.
    """
    below = samples_below(n, parent)

    def cuts(node):
        found = [([below[node]], [])]
        children = [v for v in range(len(parent)) if parent[v] == node]
        for stay in range(1, len(children)):
            kept = frozenset().union(*(below[v] for v in children[:stay]))
            rest = cuts(children[0]) if stay == 1 else [([kept], [])]
            undone = ([], [(node, position) for position in range(stay, len(children))])
            found += joined([rest, *map(cuts, children[stay:]), [undone]])
        return found

    return joined([cuts(v) for v in range(len(parent)) if parent[v] < 0])


def joined(parts):
    """Every way to take one cut of each part."""
    return [([b for some, _ in way for b in some], [m for _, some in way for m in some]) for way in product(*parts)]


def agreement(n, parent, blocks, undone, statements, *, sized):
    """Value of a cut, greater is better: hard statements, hard triplets, weight of soft ones, the shape of the cut.

    A statement is its word, its samples and its weight, inf or a text such as "0.1".
    """
    block_of = {sample: at for at, block in enumerate(blocks) for sample in block}
    broken = shown = soft = 0
    for word, samples, weight in statements:
        spread = len({block_of[s] for s in samples})
        if word == "triplets":
            a, b, c = samples
            agrees = displays(n, parent, a, b, c) and block_of[a] == block_of[b] != block_of[c]
            shown += agrees and weight == inf
            soft += Fraction(weight) * agrees if weight != inf else 0
            continue
        faults = spread - 1 if word in {"must_link", "together"} else len(samples) - spread
        broken += faults if weight == inf else 0
        soft -= Fraction(weight) * faults if weight != inf else 0
    merges = sorted((p, position) for p in set(parent) - {-1} for position in range(1, parent.count(p)))
    shape = sum(merges.index(merge) for merge in undone) if sized else -len(blocks)
    return -broken, shown, soft, shape
