"""Taxonomies, labels and traces by definition: plain Python on small cases, sharing nothing with the package."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import numpy as np

from tests.oracles.relative import components
from tests.oracles.trees import ancestors

# -- taxonomies: a parent list, and the node of each sample (-1: none) -------------------------------------------------


def upwards(parent, node):
    """The node and everything above it, lowest first; "top" stands above all roots."""
    return [*ancestors(parent, node), "top"]


def meeting_depth(parent, node, x, y):
    """How many nodes the paths of two samples share: the larger, the lower they meet."""
    return len(set(upwards(parent, node[x])) & set(upwards(parent, node[y])))


def mlb_triples(parent, node):
    """All ordered triples of different samples of which x, y meet strictly below x, z."""
    items = [s for s, v in enumerate(node) if v >= 0]
    return {
        (x, y, z)
        for x, y, z in permutations(items, 3)
        if meeting_depth(parent, node, x, y) > meeting_depth(parent, node, x, z)
    }


def taxonomy_triplets(parent, node):
    """The same as triplets (a < b, c)."""
    return {(min(x, y), max(x, y), z) for x, y, z in mlb_triples(parent, node)}


def taxonomy_clades(parent, node):
    """The sets of two samples or more that are below one node, or below all roots together."""
    below = {}
    for sample, v in enumerate(node):
        if v >= 0:
            for above in upwards(parent, v):
                below.setdefault(above, set()).add(sample)
    return {frozenset(group) for group in below.values() if len(group) > 1}


def random_taxonomy(rng, n_nodes, n_samples, *, n_roots=1, share=0.8, shape="random"):
    """Nodes in shuffled numbers, samples on any of them, some on none."""
    if shape == "chain":
        above = [v - 1 for v in range(n_nodes)]
    else:
        above = [-1 if v < n_roots else int(rng.integers(v)) for v in range(n_nodes)]
    number = rng.permutation(n_nodes).tolist()
    parent = [0] * n_nodes
    for v, up in enumerate(above):
        parent[number[v]] = -1 if up < 0 else number[up]
    node = [int(rng.integers(n_nodes)) if rng.random() < share else -1 for _ in range(n_samples)]
    return parent, node


def cut_at_level(parent, node, level):
    """The class of each sample when cutting at a depth; None where it is not said."""
    found = []
    for v in node:
        if v < 0:
            found.append(None)
            continue
        path = upwards(parent, v)[-2::-1]  # from the root down to v
        if len(path) > level:
            found.append(path[level])
        else:
            found.append(v if v not in parent else None)
    return found


# -- labels ------------------------------------------------------------------------------------------------------------


def label_statements(y, unlabeled=-1):
    """All pairs and triplets a labeling gives: (must-links, cannot-links, triplets)."""
    known = [i for i, label in enumerate(y) if label != unlabeled]
    must = {(i, j) for i, j in combinations(known, 2) if y[i] == y[j]}
    cannot = {(i, j) for i, j in combinations(known, 2) if y[i] != y[j]}
    triplets = {(i, j, k) for i, j in must for k in known if y[k] != y[i]}
    return must, cannot, triplets


# -- traces and distances ----------------------------------------------------------------------------------------------


def contiguous(time, trace, max_gap, breaks):
    """Consecutive points of one trace with a short gap and no change between."""
    links = set()
    for name in {t for t in trace if t is not None}:
        points = sorted((i for i, t in enumerate(trace) if t == name), key=lambda i: (time[i], i))
        for i, j in pairwise(points):
            if time[j] - time[i] <= max_gap and not breaks[j]:
                links.add((min(i, j), max(i, j)))
    return links


def separated(position, limit, along=None, window=None):
    """Pairs more than ``limit`` apart, and within the window if there is one."""
    return {
        (i, j)
        for i, j in combinations(range(len(position)), 2)
        if abs(position[i] - position[j]) > limit and (along is None or abs(along[i] - along[j]) <= window)
    }


def joined(n, links):
    """The partition that must-links make, as a set of frozensets."""
    return set(components(range(n), links))


# -- samplers ----------------------------------------------------------------------------------------------------------


def too_uneven(counts):
    """Whether a chi-square test refuses, at one in a hundred thousand, that the counts are draws of equal chance."""
    from scipy.stats import chisquare

    return chisquare(np.asarray(counts)).pvalue < 1e-5


# -- edges: pairs of names with a strength, and logs of (context, item) -----------------------------------------------


def strengths(edges, ids):
    """Total strength of each pair of different samples."""
    total = {}
    for a, b, strength in edges:
        if a in ids and b in ids and a != b:
            pair = tuple(sorted((ids.index(a), ids.index(b))))
            total[pair] = total.get(pair, 0) + strength
    return total


def shared_contexts(log, ids):
    """Number of contexts in which both samples of each pair occur."""
    items = {}
    for context, item in log:
        items.setdefault(context, set()).add(item)
    edges = [(a, b, 1) for found in items.values() for a, b in combinations(sorted(found), 2)]
    return strengths(edges, ids)


# -- ontologies: is_a edges, and the terms of each sample --------------------------------------------------------------


def ontology_triplets(edges, terms_of):
    """Of each three samples the pair that more terms hold without the third than any other pair, and by how many."""

    def above(term):
        found = {term}
        for child, parent in edges:
            if child == term:
                found |= above(parent)
        return found

    holding = [set().union(*(above(term) for term in terms)) for terms in terms_of]
    made = {}
    for three in combinations([sample for sample, terms in enumerate(terms_of) if terms], 3):
        votes = []
        for c in three:
            a, b = (x for x in three if x != c)
            votes.append((len((holding[a] & holding[b]) - holding[c]), (a, b, c)))
        votes.sort(reverse=True)
        if votes[0][0] > votes[1][0]:
            made[votes[0][1]] = votes[0][0] - votes[1][0]
    return made
