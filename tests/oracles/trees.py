"""Trees by definition: plain Python on parent lists and sets of samples, for small cases only."""

from __future__ import annotations

from itertools import combinations, permutations


def ancestors(parent, node):
    """The node itself and everything above it, lowest first."""
    path = []
    while node >= 0:
        path.append(node)
        node = parent[node]
    return path


def climb(parent, x, y):
    """Lowest common ancestor by walking up, -1 across trees."""
    above = set(ancestors(parent, x))
    return next((node for node in ancestors(parent, y) if node in above), -1)


def samples_below(n, parent):
    """The set of samples below each node."""
    below = [set() for _ in parent]
    for sample in range(n):
        for node in ancestors(parent, sample):
            below[node].add(sample)
    return [frozenset(group) for group in below]


def clades(n, parent):
    """The clusters of a tree with two samples or more: what "same tree" means."""
    return {group for group in samples_below(n, parent) if len(group) > 1}


def monotone_heights(n, parent, raw):
    """The largest raw height at or below each node."""
    below = [[v for v in range(len(parent)) if node in ancestors(parent, v)] for node in range(len(parent))]
    return [max(raw[v] for v in group) for group in below]


def displays(n, parent, a, b, c):
    """Whether some cluster holds a and b but not c."""
    return any(a in group and b in group and c not in group for group in samples_below(n, parent))


def all_triplets(n, parent):
    """Every displayed triplet, as (pair, odd one)."""
    found = set()
    for a, b in combinations(range(n), 2):
        found |= {(a, b, c) for c in range(n) if c not in (a, b) and displays(n, parent, a, b, c)}
    return found


def blocks(labels):
    """A label vector as a set of sets."""
    groups = {}
    for sample, label in enumerate(labels):
        groups.setdefault(label, set()).add(sample)
    return {frozenset(group) for group in groups.values()}


def refines(fine, coarse):
    """Whether every cluster of ``fine`` lies inside one of ``coarse``."""
    return all(any(group <= other for other in blocks(coarse)) for group in blocks(fine))


def undo_merges(n, parent, k):
    """The clusters after undoing the latest merges until k stand; many-way nodes lose their last child first."""
    below = samples_below(n, parent)
    pieces = [[v] for v, above in enumerate(parent) if above < 0]  # each cluster as the nodes it is made of
    while len(pieces) < k:
        torn = next((piece for piece in pieces if len(piece) > 1), None)
        if torn is None:
            torn = max(pieces)
            torn[:] = sorted(v for v, above in enumerate(parent) if above == torn[0])
        pieces.append([torn.pop()])
    return {frozenset().union(*(below[v] for v in piece)) for piece in pieces}


def satisfied_by(labels, triplet):
    """Definition 4.2 of Liu et al.: if c shares a cluster with a or b, all three share it."""
    a, b, c = (labels[x] for x in triplet)
    return c not in (a, b) or a == b


def breaks_a_trio(labels, triplets):
    """Triplets ab|c for which c shares a cluster with a or b, but not all three do."""
    return [triplet for triplet in triplets if not satisfied_by(labels, triplet)]


def tree_displays(tree, a, b, c):
    """`displays` for a set of clusters."""
    return any(a in group and b in group and c not in group for group in tree)


def random_forest(rng, n, *, widest=2, n_roots=1, shape="random"):
    """A parent list in merge order; ``rng`` is a ``random.Random``, ``widest`` the most children of a node."""
    parent = [-1] * n
    live = list(range(n))
    while len(live) > n_roots:
        width = min(rng.randint(2, widest), len(live) - n_roots + 1)
        picked = [live[-1], *rng.sample(live[:-1], width - 1)] if shape == "caterpillar" else rng.sample(live, width)
        for v in picked:
            parent[v] = len(parent)
            live.remove(v)
        live.append(len(parent))
        parent.append(-1)
    return parent


def forest_of_classes(rng, labels):
    """A binary parent list in which every class is a cluster, merged in random order across classes."""
    n = len(labels)
    parent = [-1] * n
    live = {s: {labels[s]} for s in range(n)}
    left = {c: list(labels).count(c) for c in set(labels)}  # pieces a class still has
    while len(live) > 1:
        allowed = [
            (x, y)
            for x, y in permutations(live, 2)
            if live[x] == live[y] or all(left[c] == 1 for c in live[x] | live[y])
        ]
        x, y = rng.choice(allowed)
        if live[x] == live[y]:
            left[next(iter(live[x]))] -= 1
        parent[x] = parent[y] = len(parent)
        live[len(parent)] = live.pop(x) | live.pop(y)
        parent.append(-1)
    return parent
