"""Names of clusters and of nodes: clades of a taxonomy, classes of labeled samples, or terms of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import IntArray
from linkwise.result import stretches

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.report._facts import Trait
    from linkwise.result import Dendrogram

_ENOUGH = 0.5  # share of the samples of cluster and clade that both have, from which a cluster is named after the clade
_TERMS = 3
_CLADES = 3  # at most this many clades name one cluster together
_MOST_CLASSES = 100


@dataclass(frozen=True)
class Names:
    """Names of some clusters by label, and of some inner nodes of the tree by number."""

    clusters: dict[int, str] = field(default_factory=dict)
    nodes: dict[int, str] = field(default_factory=dict)


def name_clusters(
    labels: npt.NDArray[Any],
    tree: Dendrogram | None,
    constraints: Constraints | None,
    taxonomies: Sequence[Any],
    terms: Sequence[tuple[Trait, ...]] = (),
) -> Names:
    """Name clusters after clades, classes or terms, and nodes of the tree after clades.

    Only samples that the taxonomy or the labels place count. A cluster with exactly those of a clade has its name, one
    with exactly those of two or three clades their names, others that of the clade with the best overlap of at least
    one half of all samples of either, worded as *mostly*, *and more*, or, for a cluster inside a clade, *part of*.
    Clusters without such a name are called by their ``terms``, given by cluster in the order of their labels. A node
    has the name of a clade if the samples below it are those of the clade.
    """
    headings = [Headings(one.parent, one.node, _words_of(one)) for one in taxonomies]
    headings += _classes(constraints, len(labels))
    order = np.argsort(labels, kind="stable")
    found_labels, start = np.unique(labels[order], return_index=True)
    kinds = found_labels.tolist()
    clusters: dict[int, str] = {}
    nodes: dict[int, str] = {}
    for heading in headings:
        if tree is not None:
            nodes = heading.nodes_of(tree) | nodes
        for label, members in zip(kinds, np.split(order, start[1:]), strict=True):
            found = heading.name_of(members) if label not in clusters else ""
            if found:
                clusters[label] = found
    if terms:
        for label, traits in zip(kinds, terms, strict=True):
            if traits and label not in clusters:
                clusters[label] = ", ".join(trait.feature for trait in traits[:_TERMS])
    if tree is not None:
        free = {label: name for label, name in clusters.items() if name not in nodes.values()}
        nodes = _branches(tree, dict(zip(kinds, np.split(order, start[1:]), strict=True)), free) | nodes
    return Names(clusters, nodes)


def _branches(tree: Dendrogram, members: dict[int, npt.NDArray[np.intp]], names: dict[int, str]) -> dict[int, str]:
    """Name the inner nodes below which are exactly the samples of a cluster with a name."""
    named = [label for label in members if label in names and len(members[label]) > 1]
    if not named:
        return {}
    slot = np.empty(tree.n_samples, dtype=np.intp)
    slot[tree.leaf_order] = np.arange(tree.n_samples)
    ends = np.array([[slot[members[label]].min(), slot[members[label]].max()] for label in named])
    tops = tree.lca(*tree.leaf_order[ends].T).tolist()
    return {
        node: names[label]
        for label, node in zip(named, tops, strict=True)
        if node >= 0 and tree.leaf_count[node] == len(members[label])
    }


def _words_of(taxonomy: Any) -> list[str]:
    """The names of the nodes of a taxonomy; "" for one that is called like a sample on it."""
    if taxonomy.names is None:
        return [""] * len(taxonomy.parent)
    words = [str(name) for name in taxonomy.names.tolist()]
    if taxonomy.ids is not None:
        for sample in taxonomy.items.tolist():
            node = int(taxonomy.node[sample])
            if words[node] == str(taxonomy.ids[sample]):
                words[node] = ""
    return words


def _classes(constraints: Constraints | None, n: int) -> list[Headings]:
    """Classes and groups of samples, as headings without levels; many groups, such as addresses, give no names."""
    labels = None if constraints is None else constraints.labels
    if labels is None or not len(labels.sample):
        return []
    words = ["" if str(name).isdecimal() else str(name) for name in labels.name.tolist()]
    found = []
    for source in range(len(labels.apart)):
        if np.count_nonzero(labels.source == source) > _MOST_CLASSES:
            continue
        mine = labels.source[labels.label] == source
        node = np.full(n, -1, dtype=np.intp)
        node[labels.sample[mine]] = labels.label[mine]
        found.append(Headings(np.full(len(labels.name), -1, dtype=np.intp), node, words))
    return found


class Headings:
    """Named nodes of a forest, and the samples below each: those between two places of a walk through it."""

    def __init__(self, parent: IntArray, node: IntArray, words: list[str]) -> None:
        self.parent, self.words = parent, words
        above = parent.tolist()
        self.down = _parents_first(above)
        below = [1] * len(above)
        for v in reversed(self.down):
            if above[v] >= 0:
                below[above[v]] += below[v]
        first, free, roots = [0] * len(above), [0] * len(above), 0
        for v in self.down:
            if above[v] < 0:
                first[v], roots = roots, roots + below[v]
            else:
                first[v] = free[above[v]]
                free[above[v]] += below[v]
            free[v] = first[v] + 1
        self.first, self.last = np.array(first, dtype=np.intp), np.array(first, dtype=np.intp) + below
        self.sample = np.flatnonzero(node >= 0)
        self.place = self.first[node[self.sample]]  # of each placed sample on the walk
        self.at = np.full(len(node), -1, dtype=np.intp)
        self.at[self.sample] = self.place
        self.named = np.array([v for v, word in enumerate(words) if word], dtype=np.intp)
        self.size = self._count(np.sort(self.place))

    def _count(self, places: IntArray) -> IntArray:
        """How many of some places, in order, are below each named node."""
        ends = (np.searchsorted(places, side[self.named]) for side in (self.first, self.last))
        start, stop = ends
        return (stop - start).astype(np.intp)

    def name_of(self, members: IntArray) -> str:
        """Name a cluster; "" if no clade is close to it."""
        places = np.sort(self.at[members])
        places = places[places >= 0]
        if not len(places) or not len(self.named):
            return ""
        both = self._count(places)
        share = both / np.maximum(len(places) + self.size - both, 1)
        deep = np.lexsort((self.last[self.named] - self.first[self.named], -share))  # of equals the deepest
        best = int(deep[0])
        word = self.words[int(self.named[best])]
        if share[best] == 1:
            return word
        several = self._clades_of(both)
        if 1 < len(several) <= _CLADES and both[several].sum() == len(places):
            words = [self.words[v] for v in self.named[several]]
            return f"{', '.join(words[:-1])} and {words[-1]}"
        whole = (both == len(places)) & (self.size < len(self.sample))
        if whole.any():
            inside = np.flatnonzero(whole)
            return f"part of {self.words[int(self.named[inside[np.argmin(self.size[inside])]])]}"
        if share[best] < _ENOUGH or self.size[best] == len(self.sample):
            return ""
        return f"{word} and more" if both[best] == self.size[best] else f"mostly {word}"

    def _clades_of(self, both: IntArray) -> IntArray:
        """Find the clades whose samples are all in a cluster, without clades inside others, as places in ``named``."""
        inside = np.flatnonzero((both == self.size) & (both > 0))
        inside = inside[np.lexsort((-self.last[self.named[inside]], self.first[self.named[inside]]))]
        last = self.last[self.named[inside]]
        alike = (last[1:] <= last[:-1]) & (both[inside[1:]] == both[inside[:-1]])
        deepest = ~np.append(alike, False)[: len(inside)]  # of clades with the same samples
        inside, last = inside[deepest], last[deepest]
        highest = np.maximum.accumulate(np.append(-1, last))[:-1]
        return np.asarray(inside[last > highest], dtype=np.intp)

    def nodes_of(self, tree: Dendrogram) -> dict[int, str]:
        """Name the inner nodes below which are exactly the placed samples of a clade."""
        order = tree.leaf_order
        slot = np.empty(tree.n_samples, dtype=np.intp)
        slot[order] = np.arange(tree.n_samples)
        low, high = [tree.n_samples] * len(self.parent), [-1] * len(self.parent)
        at_place = np.full(len(self.parent), -1, dtype=np.intp)
        at_place[self.first] = np.arange(len(self.parent))
        for sample, v in zip(slot[self.sample].tolist(), at_place[self.place].tolist(), strict=True):
            low[v], high[v] = min(low[v], sample), max(high[v], sample)
        for v, above in zip(reversed(self.down), self.parent[self.down[::-1]].tolist(), strict=True):
            if above >= 0:
                low[above], high[above] = min(low[above], low[v]), max(high[above], high[v])
        several = self.named[self.size > 1]
        if not len(several):
            return {}
        top = tree.lca(order[np.array(low)[several]], order[np.array(high)[several]])
        placed = np.zeros(tree.n_samples + 1, dtype=np.intp)
        placed[1:] = np.cumsum(self.at[order] >= 0)
        begin = stretches(tree)
        found: dict[int, str] = {}
        deep_last = np.argsort(-(self.last - self.first)[several], kind="stable")  # of clades alike the deepest stays
        size = dict(zip(self.named.tolist(), self.size.tolist(), strict=True))
        for v, node in zip(several[deep_last].tolist(), top[deep_last].tolist(), strict=True):
            if node >= 0 and placed[begin[node] + tree.leaf_count[node]] - placed[begin[node]] == size[v]:
                found[node] = self.words[v]
        return found


def _parents_first(above: list[int]) -> list[int]:
    """Nodes in an order in which each comes after its parent."""
    children: list[list[int]] = [[] for _ in above]
    order: list[int] = []
    for v, up in enumerate(above):
        (order if up < 0 else children[up]).append(v)
    for v in order:  # grows while it is read
        order.extend(children[v])
    return order
