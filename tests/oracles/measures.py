"""Measures by definition: plain Python over all pairs, triples, clusters and levels, for small cases only."""

from __future__ import annotations

from itertools import combinations, permutations
from math import log

from tests.oracles.relative import components
from tests.oracles.sources import mlb_triples
from tests.oracles.trees import ancestors, climb, samples_below, tree_displays

NOWHERE = -1


# -- labels ----------------------------------------------------------------------------------------------------


def pair_decisions(y, labels, pairs=None):
    """Over the given pairs, or all: together in both, in the clusters only, in the classes only, in neither."""
    count = {(True, True): 0, (False, True): 0, (True, False): 0, (False, False): 0}
    for i, j in combinations(range(len(y)), 2) if pairs is None else pairs:
        count[y[i] == y[j], labels[i] == labels[j]] += 1
    return count[True, True], count[False, True], count[True, False], count[False, False]


def pairwise_scores(y, labels):
    """Precision, recall and F; a share of nothing is 1."""
    both, cluster_only, class_only, _ = pair_decisions(y, labels)
    precision = both / (both + cluster_only) if both + cluster_only else 1.0
    recall = both / (both + class_only) if both + class_only else 1.0
    return precision, recall, (2 * precision * recall / (precision + recall) if precision + recall else 0.0)


def rand(y, labels, pairs=None):
    """Agreeing pairs over pairs; None when there is none."""
    both, cluster_only, class_only, neither = pair_decisions(y, labels, pairs)
    total = both + cluster_only + class_only + neither
    return (both + neither) / total if total else None


def free_pairs(n, must, cannot, soft=()):
    """The pairs that no chain of must-links, and no cannot-link between two such groups, decides or soft links name."""
    group = {i: block for block in components(range(n), must) for i in block}
    decided = {frozenset((i, j)) for i in range(n) for j in group[i]} | {frozenset(pair) for pair in soft}
    for a, b in cannot:
        decided |= {frozenset((i, j)) for i in group[a] for j in group[b]}
    return [(i, j) for i, j in combinations(range(n), 2) if frozenset((i, j)) not in decided]


def purity(y, labels):
    """Each sample scores if its class is the commonest of its cluster, ties being won by one class."""
    clusters = [[y[i] for i in range(len(y)) if labels[i] == label] for label in set(labels)]
    return sum(max(members.count(c) for c in members) for members in clusters) / len(y)


def nmi(y, labels):
    """Mutual information over the arithmetic mean of the entropies; 1 when both are nothing."""
    n = len(y)

    def share(values, value):
        return sum(v == value for v in values) / n

    def entropy(values):
        return -sum(share(values, v) * log(share(values, v)) for v in set(values))

    joint = list(zip(y, labels, strict=True))
    shared = entropy(y) + entropy(labels) - entropy(joint)
    mean = (entropy(y) + entropy(labels)) / 2
    return shared / mean if mean > 0 else 1.0


def confusion(y, labels):
    """Samples of each class in each cluster, in sorted order, and the largest diagonal of any matching."""
    classes, clusters = sorted(set(y)), sorted(set(labels))
    table = [[sum((a, b) == (c, k) for a, b in zip(y, labels, strict=True)) for k in clusters] for c in classes]
    narrow = table if len(classes) <= len(clusters) else [list(column) for column in zip(*table, strict=True)]
    width = max(len(classes), len(clusters))
    best = max(
        sum(row[j] for row, j in zip(narrow, way, strict=True)) for way in permutations(range(width), len(narrow))
    )
    return table, best


# -- trees against classes -------------------------------------------------------------------------------------


def f_measure(group, members):
    """F of a cluster for a class, both sets."""
    both = len(group & members)
    return 2 * both / (len(group) + len(members)) if both else 0.0


def best_f(n, parent, members, judged):
    """Best F of any cluster of the tree for a class, over the judged samples."""
    return max(f_measure(group & judged, members & judged) for group in samples_below(n, parent))


def classes_of(y, unlabeled=-1):
    """The classes as sets of samples."""
    return [{i for i, v in enumerate(y) if v == c} for c in sorted(set(y)) if c != unlabeled]


def fscore_by_class(n, parent, y):
    classes = classes_of(y)
    judged = set().union(*classes)
    return sum(len(members) * best_f(n, parent, members, judged) for members in classes) / len(judged)


def levels_of(n, parent):
    """Replay the merges: the nodes that are clusters before the first and after each."""
    levels = [set(range(n))]
    for node in range(n, len(parent)):
        levels.append({v for v in levels[-1] if parent[v] != node} | {node})
    return levels


def level_purity(n, parent, y):
    """Mean over the levels of the purity of their clusters."""
    judged = [i for i in range(n) if y[i] != -1]
    values = []
    for level in levels_of(n, parent):
        cluster = {i: node for node in level for i in samples_below(n, parent)[node]}
        values.append(purity([y[i] for i in judged], [cluster[i] for i in judged]))
    return sum(values) / len(values)


def level_distortion(n, parent, X):
    """Mean over the levels of the mean squared distance from the center of the cluster."""
    total, levels = 0.0, levels_of(n, parent)
    for level in levels:
        for node in level:
            rows = [X[i] for i in samples_below(n, parent)[node]]
            center = [sum(column) / len(rows) for column in zip(*rows, strict=True)]
            total += sum((x - c) ** 2 for row in rows for x, c in zip(row, center, strict=True))
    return total / n / len(levels)


def fscore_by_levels(n, parent, y):
    """Replay the merges; at every level each cluster scores with its best class."""
    classes = classes_of(y)
    judged = set().union(*classes)
    below = samples_below(n, parent)
    levels = levels_of(n, parent)
    total = 0.0
    for level in levels:
        for node in level:
            group = below[node] & judged
            total += len(group) / len(judged) * max(f_measure(group, members) for members in classes)
    return total / len(levels)


def dendrogram_purity(n, parent, y):
    """Mean over pairs of one class of the share of that class in the smallest cluster that holds both."""
    below = samples_below(n, parent)
    judged = {i for i in range(n) if y[i] != -1}
    shares = []
    for i, j in combinations(sorted(judged), 2):
        if y[i] == y[j]:
            node = climb(parent, i, j)
            group = (below[node] if node >= 0 else set(range(n))) & judged
            shares.append(sum(y[v] == y[i] for v in group) / len(group))
    return sum(shares) / len(shares) if shares else 1.0


def dasgupta_cost(n, parent, similarity):
    """Similarity times size of the smallest common cluster, over pairs."""
    below = samples_below(n, parent)
    total = 0.0
    for i, j in combinations(range(n), 2):
        node = climb(parent, i, j)
        total += similarity[i][j] * (len(below[node]) if node >= 0 else n)
    return total


# -- trees against hierarchies; a gold hierarchy is (parent of each node, node of each sample) --------------------


def hangs_below(parent, node, v):
    """The samples on or below a node of a hierarchy."""
    return {i for i, place in enumerate(node) if place != NOWHERE and v in ancestors(parent, place)}


def gold_triples(parent, node):
    """All ordered (x, y, z) whose x and y meet strictly below where either meets z, by the node where x and y meet."""
    found = {}
    for x, y, z in mlb_triples(parent, node):
        found.setdefault(climb(parent, node[x], node[y]), []).append((x, y, z))
    return found


def h_correlation(parent, node, n, learned):
    """By node, and over all triples alike."""
    by_node = gold_triples(parent, node)
    below = samples_below(n, learned)
    hits = {v: [tree_displays(below, *triple) for triple in triples] for v, triples in by_node.items()}
    if not hits:
        return 1.0, 1.0
    every = [hit for of_node in hits.values() for hit in of_node]
    return sum(sum(h) / len(h) for h in hits.values()) / len(hits), sum(every) / len(every)


def class_f(parent, node, n, learned, labeled=()):
    """Mean best F of classes without and with subclasses, on samples that are not labeled; None for no class."""
    judged = {i for i in range(n) if node[i] != NOWHERE} - set(labeled)
    means = {True: [], False: []}
    for v in range(len(parent)):
        members = hangs_below(parent, node, v) & judged
        is_leaf = v not in parent
        is_top = parent[v] < 0 and list(parent).count(-1) == 1 and not is_leaf
        if members and not is_top:
            means[is_leaf].append(best_f(n, learned, members, judged))
    return tuple(sum(m) / len(m) if m else None for m in (means[True], means[False]))


# -- random cases ------------------------------------------------------------------------------------------------


def random_labels(rng, n, *, unlabeled=0.0):
    """Classes of many kinds: few, all one, all different; some samples may be unlabeled, never all.

    They begin at 2, since classes that are only -1 and 1 make a measure ask what -1 means.
    """
    k = rng.choice([1, 2, 3, n])
    y = rng.sample(range(n), n) if k == n else [rng.randrange(k) for _ in range(n)]
    keep = rng.randrange(n)
    return [-1 if i != keep and rng.random() < unlabeled else v + 2 for i, v in enumerate(y)]
