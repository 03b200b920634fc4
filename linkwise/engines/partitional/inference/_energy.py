"""The graph of samples that statements bind: hard must-links merge samples into nodes, other pairs are links.

The assignment step is the same for all soft k-means methods: samples outside the graph take their best cluster, and the
others get labels of low energy on this graph, where links add the penalties of the method.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines.assignment import assign
from linkwise.engines.partitional.inference._kernels_energy import (
    Charges,
    Graph,
    cheapest_labels,
    descend,
    energies,
    improve_by_trees,
)
from linkwise.engines.partitional.inference._relaxed_labels import believe, relax
from linkwise.problem.statements import Apart, Contracted, SoftPairs

INFERENCES = ("trees", "icm", "bp", "lp")


class PairCharges(NamedTuple):
    """Penalties of pairs of samples; all of shape (n_pairs, n_clusters) but the last two.

    A pair whose samples share cluster ``a`` costs ``same[p, a]``; one whose samples are in ``a`` and ``b`` costs
    ``first[p, a] + second[p, b] + weight[p] * between[a, b]``.
    """

    first: FloatArray
    second: FloatArray
    same: FloatArray
    weight: FloatArray
    between: FloatArray

    def at(self, a: IntArray, b: IntArray) -> FloatArray:
        """Return the penalty of each pair for these labels of its samples."""
        p = np.arange(len(a))
        apart = self.first[p, a] + self.second[p, b]
        if len(self.between):
            apart = apart + self.weight * self.between[a, b]
        return np.where(a == b, self.same[p, a], apart)


@dataclass(frozen=True, eq=False)
class Field:
    """The graph of the samples that statements bind."""

    sample: IntArray  # bound samples, in rising order
    node: IntArray  # node of each of them; hard must-links make several samples one node
    n_nodes: int
    graph: Graph  # links between nodes, the first ``n_soft`` of them soft, the others hard cannot-links
    n_soft: int
    pairs: SoftPairs
    link: IntArray  # link of each pair, or -1 for a pair within one node, given by ``inner``
    flipped: BoolArray
    inner: IntArray
    apart: Apart  # hard cannot-links between places; ``place`` gives their nodes
    place: IntArray
    part: IntArray  # connected component of each node

    @property
    def exact(self) -> bool:
        """Whether "trees" finds labels of minimum energy in one step: no component has a cycle."""
        return bool(self.graph.tree.all())

    def own_costs(self, table: FloatArray, charges: PairCharges) -> FloatArray:
        """Sum the costs of the bound samples, one row each, and the penalties of pairs within one node, over nodes."""
        own = table if len(self.sample) == self.n_nodes else sum_rows(table, self.node, self.n_nodes)
        within = np.flatnonzero(self.link < 0)
        if len(within):
            own = own + sum_rows(charges.same[within], self.inner[within], self.n_nodes)
        return np.ascontiguousarray(own)

    def link_charges(self, charges: PairCharges) -> Charges:
        """Sum the penalties of pairs over the links between nodes; hard links forbid equal labels."""
        k, n_links = charges.same.shape[1], len(self.graph.ends)
        at = np.flatnonzero(self.link >= 0)
        turn = self.flipped[at, None]
        first, second = charges.first[at], charges.second[at]
        sides = np.where(turn, second, first), np.where(turn, first, second), charges.same[at]
        left, right, same = (sum_rows(rows, self.link[at], n_links) for rows in sides)
        same[self.n_soft :] = np.inf
        # a hard link may join nodes that a soft pair joins as well
        weight = np.bincount(self.link[at], weights=charges.weight[at], minlength=n_links).astype(np.float64)
        return Charges(left.reshape(n_links, k), right, same, weight, np.ascontiguousarray(charges.between))

    def settle(
        self,
        own: FloatArray,
        charges: Charges,
        before: IntArray | None,
        *,
        inference: str,
        order: IntArray,
        witness: Callable[[], IntArray],
    ) -> tuple[IntArray, float]:
        """Label the nodes so that hard links hold and the energy is low, never above that of the labels ``before``.

        "icm" and "trees" move one node at a time, from the labels before and from those that are best without
        soft links, and keep the better for each component; "trees" then moves whole trees. "bp" and "lp" take the
        labels of lowest belief or largest fraction, or for a component those before if these are better. ``witness``
        returns labels of all samples in which the hard statements hold, or raises; it is called only when the
        assignment finds none.
        """
        if inference in ("bp", "lp"):
            if inference == "bp":
                scores = believe(own, self.graph, charges, self.part)
            else:
                scores = -relax(own, self.graph, charges)[0]
            labels = self._allowed(scores, cheapest_labels(scores), before, witness)
            value = energies(own, self.graph, charges, labels)
            if before is not None:
                stay = energies(own, self.graph, charges, before)
                labels = np.where((value < stay)[self.part], labels, before)
                value = np.minimum(value, stay)
            return labels, float(value.sum())
        cheapest = cheapest_labels(own)
        labels = self._allowed(own, cheapest, before, witness)
        if inference == "trees":  # a component that is a tree needs no start
            order = order[~self.graph.tree[self.part[order]]]
        if len(order):
            descend(own, self.graph, charges, order, labels)
        if before is not None:
            other = np.array(before, dtype=np.intp)
            if len(order):
                descend(own, self.graph, charges, order, other)
                better = energies(own, self.graph, charges, labels) < energies(own, self.graph, charges, other)
                other = np.where(better[self.part], labels, other)
            labels = other
        if inference == "trees":
            return labels, float(improve_by_trees(own, self.graph, charges, cheapest, labels))
        return labels, float(energies(own, self.graph, charges, labels).sum())

    def _allowed(
        self, costs: FloatArray, cheapest: IntArray, before: IntArray | None, witness: Callable[[], IntArray]
    ) -> IntArray:
        """Return the cheapest label of each node, or where hard links join nodes, labels of low cost that keep them."""
        labels = cheapest.copy()
        if len(self.place):
            costs = costs[self.place]
            found = assign(costs, self.apart, None if before is None else before[self.place])
            if not found.solved:
                colors = np.empty(self.n_nodes, dtype=np.intp)
                colors[self.node] = witness()[self.sample]
                found = assign(costs, self.apart, colors[self.place])
            labels[self.place] = found.labels
        return labels


def bind_samples(cloud: Contracted, pairs: SoftPairs) -> Field:
    """Return the graph of all samples that a statement names; ``cloud`` holds the hard statements."""
    bound = cloud.weight > 1
    bound[cloud.apart.node] = True
    bound[cloud.group[pairs.first]] = bound[cloud.group[pairs.second]] = True
    number = np.cumsum(bound) - 1
    sample = np.flatnonzero(bound[cloud.group])
    node, n_nodes = number[cloud.group[sample]].astype(np.intp), int(bound.sum())
    u, v = number[cloud.group[pairs.first]], number[cloud.group[pairs.second]]
    inside = u == v
    low, high = np.minimum(u, v), np.maximum(u, v)
    hard = number[_hard_pairs(cloud.apart)]
    hard_key = np.unique(hard.min(axis=1, initial=n_nodes) * n_nodes + hard.max(axis=1, initial=0))
    key = low * n_nodes + high
    soft_key = np.setdiff1d(key[~inside], hard_key)
    keys = np.concatenate([soft_key, hard_key])
    rank = np.argsort(keys, kind="stable")
    link = np.full(len(key), -1, dtype=np.intp)
    if (~inside).any():
        link[~inside] = rank[np.searchsorted(keys, key[~inside], sorter=rank)]
    ends = np.stack(np.divmod(keys, max(n_nodes, 1)), axis=1).astype(np.intp)
    graph = _make_graph(n_nodes, ends)
    place = number[cloud.apart.node].astype(np.intp)
    part = np.empty(n_nodes, dtype=np.intp)
    part[graph.place] = np.repeat(np.arange(len(graph.tree)), np.diff(graph.begin))
    inner = u.astype(np.intp)
    return Field(sample, node, n_nodes, graph, len(soft_key), pairs, link, u > v, inner, cloud.apart, place, part)


def _hard_pairs(apart: Apart) -> IntArray:
    """List hard cannot-links as pairs: no clique is larger than the number of clusters, so they are few."""
    sizes = np.diff(apart.start)
    parts = [apart.member[apart.start[:-1][sizes == 2][:, None] + np.arange(2)].reshape(-1, 2)]
    for q in np.flatnonzero(sizes > 2).tolist():
        members = apart.member[apart.start[q] : apart.start[q + 1]]
        parts.append(np.column_stack([members[i] for i in np.triu_indices(len(members), 1)]))
    return np.asarray(apart.node[np.concatenate(parts)].reshape(-1, 2), dtype=np.intp)


def _make_graph(n_nodes: int, ends: IntArray) -> Graph:
    q = np.arange(len(ends))
    mine, theirs = np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])
    link, side = np.concatenate([q, q]), np.repeat(np.arange(2), len(ends))
    by_node = np.lexsort((theirs, mine))
    first = np.zeros(n_nodes + 1, dtype=np.intp)
    np.cumsum(np.bincount(mine, minlength=n_nodes), out=first[1:])
    part = components(n_nodes, ends) if len(ends) else np.arange(n_nodes)
    n_parts = int(part.max(initial=-1)) + 1
    size = np.bincount(part, minlength=n_parts)
    begin = np.zeros(n_parts + 1, dtype=np.intp)
    np.cumsum(size, out=begin[1:])
    n_links = np.bincount(part[ends[:, 0]], minlength=n_parts)
    return Graph(
        ends,
        first,
        theirs[by_node].astype(np.intp),
        link[by_node].astype(np.intp),
        side[by_node].astype(np.intp),
        begin,
        np.argsort(part, kind="stable").astype(np.intp),
        n_links == size - 1,
    )


def sum_rows(rows: FloatArray, to: IntArray, n: int) -> FloatArray:
    """Sum the rows that have the same number ``to``."""
    k = rows.shape[1]
    flat = to[:, None] * k + np.arange(k)
    return np.bincount(flat.ravel(), weights=rows.ravel(), minlength=n * k).reshape(n, k).astype(np.float64)
