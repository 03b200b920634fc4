"""A known hierarchy put onto a tree, from sets of samples: which clusters are the classes, and who belongs where."""

from __future__ import annotations

from fractions import Fraction
from math import comb


def place(clusters, stays, known_parent, known_node, min_size, chance):
    """Return the cluster of each class (None without), the class of each sample, and new branches as (class, samples).

    ``clusters`` are frozensets, those of single samples included, in the order of their nodes; ``stays`` is how long
    each stays unmerged. Samples of ``known_node`` -1 are new.
    """
    n, classes = len(known_node), range(len(known_parent))
    told = frozenset(i for i in range(n) if known_node[i] >= 0)
    line = {c: [c] for c in classes}
    for c in classes:
        while known_parent[line[c][-1]] >= 0:
            line[c].append(known_parent[line[c][-1]])
    below = {c: frozenset(i for i in told if c in line[known_node[i]]) for c in classes}
    tops = [v for v in clusters if not any(v < w for w in clusters)]
    one_root = sum(p < 0 for p in known_parent) == 1 and len(tops) == 1
    at, score = dict.fromkeys(classes), {}

    def f(c, v):
        return 2 * len(v & below[c]) / (len(v & told) + len(below[c]))

    for c in sorted(classes, key=lambda c: len(line[c])):
        if not below[c]:
            continue
        held = next((at[p] for p in line[c][1:] if at[p] is not None), None)
        if held is None and one_root and len(line[c]) == 1:
            at[c] = tops[0]
        else:
            may = [v for v in clusters if held is None or v <= held]
            at[c] = max(may, key=lambda v: (f(c, v), stays[v], -clusters.index(v)))
        score[c] = f(c, at[c])
    lost = [
        c
        for c in score
        for r in score
        if at[r] == at[c] and r not in line[c] and c not in line[r] and (-score[r], r) < (-score[c], c)
    ]
    for c in lost:
        at[c] = None

    def owner(v):
        """The class with the lowest place around a cluster; of two at one place that which is below the other."""
        around = [c for c in classes if at[c] is not None and v <= at[c]]
        return min(around, key=lambda c: (len(at[c]), -len(line[c])), default=-1)

    node = [owner(frozenset([i])) for i in range(n)]
    kinds = {}
    for v in clusters:
        around = [w for w in clusters if v < w]
        parent = min(around, key=len, default=None)
        if not v & told and (parent is None or parent & told):
            beside = parent is None or any(at[c] is not None and at[c] < parent for c in classes)
            kinds[v] = "beside" if beside else "inside"
    apart = frozenset().union(*[v for v, kind in kinds.items() if kind == "beside"])
    branches = []
    for v in reversed(clusters):
        if v not in kinds or len(v) < min_size:
            continue
        c = owner(v)
        if kinds[v] == "beside":
            branches.append((c, v))
            continue
        if c < 0:
            continue
        own = [i for i in range(n) if i not in apart and owner(frozenset([i])) == c]
        known = sum(i in told for i in own)
        none = Fraction(comb(len(own) - len(v), known), comb(len(own), known))
        if chance > 0 and none * (len(own) // len(v)) <= chance:
            only = sum(p < 0 for p in known_parent) == 1
            branches.append((known_parent[c] if known_parent[c] >= 0 or not only else c, v))
    for i in told:
        node[i] = known_node[i]
    return at, node, branches
