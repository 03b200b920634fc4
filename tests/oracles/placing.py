"""Where a sample may hang in a rooted tree, from the definition: every place, every pair of places, every answer."""

from __future__ import annotations

import numpy as np


def ancestors(parent, v):
    up = [v]
    while parent[up[-1]] >= 0:
        up.append(parent[up[-1]])
    return up


def leaves(parent, item, v):
    return [u for u in range(len(parent)) if item[u] >= 0 and v in ancestors(parent, u)]


def places(parent, item):
    """All places: on the edge above a node, below an inner node."""
    return [("edge", v) for v in range(len(parent))] + [("node", v) for v in range(len(parent)) if item[v] < 0]


def answer(parent, place, one, two):
    """What a sample at a place makes of the question about it and two leaves: which one is odd."""
    at = place[1]
    v = next(u for u in ancestors(parent, one) if u in ancestors(parent, two))
    above = ancestors(parent, at)
    if v not in above or place == ("edge", v):
        return 0  # outside
    if at == v:
        return 3
    branch = above[above.index(v) - 1]
    if branch in ancestors(parent, one):
        return 1
    return 2 if branch in ancestors(parent, two) else 3


def loss(parent, item, p, q):
    """Square of the share of the leaves below the node where two places meet."""
    if p == q:
        return 0.0
    if p[0] == "edge" and p[1] in ancestors(parent, q[1]):
        meet = p[1]
    elif q[0] == "edge" and q[1] in ancestors(parent, p[1]):
        meet = q[1]
    else:
        meet = next(u for u in ancestors(parent, p[1]) if u in ancestors(parent, q[1]))
    return (len(leaves(parent, item, meet)) / len(leaves(parent, item, 0))) ** 2


def risk(parent, item, chance):
    whole = sum(chance.values())
    if whole <= 0:
        return 0.0
    return sum(a * b * loss(parent, item, p, q) for p, a in chance.items() for q, b in chance.items()) / whole**2


def expected_gain(parent, item, chance, one, two):
    """By how much the answer to the question about two leaves lowers the risk, on average."""
    left = 0.0
    for said in range(4):
        part = {p: c for p, c in chance.items() if answer(parent, p, one, two) == said}
        left += sum(part.values()) * risk(parent, item, part)
    return risk(parent, item, chance) - left


def guess(parent, item, alike, own, blend, rates):
    """Chances of all places; ``alike`` is a dictionary from leaves to likeness."""
    chance = dict.fromkeys(places(parent, item), 0.0)
    score = {}
    for v in range(len(parent)):
        near = [alike[u] for u in leaves(parent, item, v) if u != own]
        mean = np.mean(near) if near else 0.0
        score[v] = mean if v == 0 else blend * score[parent[v]] + (1 - blend) * mean
    heard = [v for v in range(len(parent)) if item[v] >= 0 and v != own]
    weight = np.exp([score[v] for v in heard])
    n_leaves = len(leaves(parent, item, 0))
    for v, share in zip(heard, 0.98 * weight / weight.sum() + 0.02 / n_leaves, strict=True):
        left = share
        for u in ancestors(parent, v):
            if item[u] < 0:
                chance["node", u] += left * rates[1]
                left *= 1 - rates[1]
            stays = left if u == 0 else left * rates[0 if u == v else 2]
            chance["edge", u] += stays
            left -= stays
    return chance
