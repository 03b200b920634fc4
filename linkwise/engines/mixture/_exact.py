"""Exact inference over components of the graph of statements, each by the cheapest exact way."""

from __future__ import annotations

from typing import NamedTuple, NoReturn

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.engines.mixture._factors import Chunklets, too_wide
from linkwise.engines.mixture._kernels_cliques import clique_best, clique_marginals
from linkwise.engines.mixture._kernels_elimination import Plan, eliminate
from linkwise.engines.mixture._kernels_tables import best_labels, marginals
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError


def make_plan(
    n: int,
    component: IntArray,
    pairs: IntArray,
    same: FloatArray,
    other: FloatArray,
    found: tuple[IntArray, IntArray, IntArray],
    k: int,
) -> Plan:
    """Lay out the tables of nodes 0 to n - 1 for an order that `eliminate` found.

    ``component`` numbers the connected components 0, 1, ... without gaps; ``pairs`` are different, smaller end first.
    """
    order, start, neighbor = found
    by_component = np.argsort(component[order], kind="stable")
    node = order[by_component]
    position = np.empty(n, dtype=np.intp)
    position[node] = np.arange(n)
    sizes = np.diff(start)
    owner = np.repeat(position[order], sizes)
    member = position[neighbor]
    at = np.lexsort((member, owner))
    owner, member = owner[at], member[at]
    count = sizes[by_component]
    begin = np.concatenate([[0], np.cumsum(count)]).astype(np.intp)
    parent = np.full(n, -1, dtype=np.intp)
    parent[count > 0] = member[begin[:-1][count > 0]]
    # where a member of a separator stands in the table of the parent: found by its place among all (table, member)
    above = parent[owner]
    slot = np.searchsorted(owner * n + member, above * n + member)
    place = np.where(member == above, 0, slot - begin[above] + 1)
    same_at, other_at = _factors(position, pairs, same, other, owner * n + member, n)
    states = np.asarray(k, dtype=np.intp) ** (count + 1)
    first = np.concatenate([[0], np.cumsum(np.bincount(component))]).astype(np.intp)
    before = np.cumsum(states) - states
    offset = before - np.repeat(before[first[:-1]], np.diff(first))
    total = np.add.reduceat(states, first[:-1]) if n else np.zeros(1, dtype=np.intp)
    widest = int(count.max(initial=0)) + 1
    return Plan(
        node, begin, member, place.astype(np.intp), same_at, other_at, parent, first, offset, states,
        int(total.max(initial=0)), widest,
    )  # fmt: skip


def _factors(
    position: IntArray, pairs: IntArray, same: FloatArray, other: FloatArray, key: IntArray, n: int
) -> tuple[FloatArray, FloatArray]:
    """Hand each pair's factors to the separator entry that joins its two tables; entries that only fill in get 0."""
    a, b = position[pairs[:, 0]], position[pairs[:, 1]]
    at = np.searchsorted(key, np.minimum(a, b) * n + np.maximum(a, b))
    same_at, other_at = np.zeros(len(key)), np.zeros(len(key))
    same_at[at], other_at[at] = same, other
    return same_at, other_at


# A component whose tables are each small enough may still be long: all of them are held at once.
TABLES_AT_ONCE = 64


class Exact(NamedTuple):
    """Components inference is exact for: tables along a tree, and cliques by the sets of clusters they take.

    ``node`` holds the chunklet of every row the methods return: those of the tables, then those of the cliques.
    ``component`` is the component of each row; those of the tables come first.
    """

    node: IntArray
    component: IntArray
    plan: Plan
    clique: IntArray  # starts of the cliques among the last rows of ``node``

    def marginals(self, unary: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return the log-sum of each component and the label probabilities of each row, from rows of log-weights."""
        n = len(self.plan.node)
        total, out = marginals(self.plan, unary[:n])
        if n == len(self.node):
            return total, out
        more, rest = clique_marginals(self.clique, unary[n:])
        return np.concatenate([total, more]), np.concatenate([out, rest])

    def best(self, unary: FloatArray) -> tuple[FloatArray, IntArray]:
        """Return the log of the best joint labeling of each component and its labels."""
        n = len(self.plan.node)
        total, out = best_labels(self.plan, unary[:n])
        if n == len(self.node):
            return total, out
        more, rest = clique_best(self.clique, unary[n:])
        return np.concatenate([total, more]), np.concatenate([out, rest])


class Wide(NamedTuple):
    """Chunklets in components that are too wide, each with its component (0, 1, ...), and the width of each."""

    node: IntArray
    component: IntArray
    width: IntArray

    def refuse(self, what: str, k: int, max_states: int, who: str) -> NoReturn:
        """Raise an error about the widest component; ``what`` says of which statements it is made."""
        worst = int(np.argmax(self.width))
        many = int((self.component == worst).sum())
        raise LinkwiseError(too_wide(who, many, int(self.width[worst]), k, max_states, what))


def require_possible(sums: FloatArray) -> None:
    """Raise if the log-sum of a component says that it has no labeling."""
    if not (sums > -np.inf).all():
        msg = (
            "the hard cannot-links of one connected set cannot all hold in that few clusters: no labeling is left.\n"
            "Hint: a larger n_clusters, or fewer hard cannot-links; `repair(constraints)` finds which to drop."
        )
        raise InfeasibleConstraintsError(msg)


def widest_table(k: int, max_states: int) -> int:
    """How many separator variables a table may have; one is always allowed, so pairs are always exact."""
    most = 1
    while k > 1 and k ** (most + 2) <= max_states:
        most += 1
    return most if k > 1 else 64


def divide(
    graph: Chunklets, nodes: IntArray, pairs: BoolArray, k: int, max_states: int, *, tables_only: bool = False
) -> tuple[Exact, Wide]:
    """Split ``nodes`` under the chosen ``pairs`` into components, and find a way through each that is exact.

    A node without pairs becomes a component. ``nodes`` rise and hold the ends of all chosen pairs.
    """
    ends = np.searchsorted(nodes, graph.pairs[pairs])
    same, other = graph.same[pairs], graph.other[pairs]
    component = components(len(nodes), np.ascontiguousarray(ends)) if len(nodes) else nodes
    clique = _cliques(component, ends, (same == -np.inf) & (other == 0), k, 0 if tables_only else max_states)
    tried = _find_order(component, ends, ~clique, k, max_states)
    wide = tried.width > 0
    narrow = ~clique & ~wide
    way = _find_order(component, ends, narrow, k, max_states) if wide.any() else tried
    number = np.cumsum(narrow) - 1
    inside = narrow[component[ends[:, 0]]] if len(ends) else np.zeros(0, dtype=np.bool_)
    local = way.place[ends[inside]] if len(way.rows) else np.zeros((0, 2), dtype=np.intp)
    of = number[component[way.rows]]
    plan = make_plan(len(way.rows), of, np.sort(local, axis=1), same[inside], other[inside], way.found, k)
    members = np.flatnonzero(clique[component])
    members = members[np.argsort(component[members], kind="stable")]
    sizes = np.bincount(component, minlength=len(clique))
    start = np.concatenate([[0], np.cumsum(sizes[clique])]).astype(np.intp)
    after = int(narrow.sum()) + np.repeat(np.arange(int(clique.sum())), sizes[clique])
    exact = Exact(
        nodes[np.concatenate([way.rows[plan.node], members])],
        np.concatenate([of[plan.node], after]),
        plan,
        start,
    )
    rows = np.flatnonzero(wide[component])
    return exact, Wide(nodes[rows], (np.cumsum(wide) - 1)[component[rows]], tried.width[wide])


def _cliques(component: IntArray, ends: IntArray, forbids: BoolArray, k: int, max_states: int) -> BoolArray:
    """Mark the components in which any two nodes are apart, if sets of clusters are the cheaper way there."""
    size = np.bincount(component, minlength=1 if len(component) else 0)
    joined = np.bincount(component[ends[forbids, 0]], minlength=len(size))
    stated = np.bincount(component[ends[:, 0]], minlength=len(size))
    whole = (joined == size * (size - 1) // 2) & (stated == joined) & (size >= 3)
    if k * 2.0**k > max_states:
        return np.zeros(len(size), dtype=np.bool_)
    return np.asarray(whole & (4 * k * 2.0**k < float(k) ** np.minimum(size, 64)))


class _Way(NamedTuple):
    rows: IntArray
    place: IntArray  # of each node among the rows, -1 for those left out
    found: tuple[IntArray, IntArray, IntArray]
    width: IntArray  # of each component that is too wide, 0 for the others


def _find_order(component: IntArray, ends: IntArray, wanted: BoolArray, k: int, max_states: int) -> _Way:
    """Order the nodes of the wanted components; note which of these are too wide, and how wide at least."""
    rows = np.flatnonzero(wanted[component])
    if not len(rows):  # the most common case, and the one that need not wait for anything to be compiled
        nothing = np.zeros(0, dtype=np.intp)
        return _Way(rows, nothing, (nothing, np.zeros(1, dtype=np.intp), nothing), np.zeros(len(wanted), dtype=np.intp))
    place = np.full(len(component), -1, dtype=np.intp)
    place[rows] = np.arange(len(rows))
    inside = place[ends[:, 0]] >= 0
    found = eliminate(len(rows), np.ascontiguousarray(place[ends[inside]]), widest_table(k, max_states))
    order, start, member, left = found
    of = component[rows]
    width = np.full(len(wanted), np.iinfo(np.intp).max)
    np.minimum.at(width, of[left > 0], left[left > 0])
    width[width == np.iinfo(np.intp).max] = 0
    count = np.diff(start)
    states = np.bincount(of[order], float(k) ** (count + 1), minlength=len(wanted))
    heavy = (states > TABLES_AT_ONCE * float(max_states)) & (width == 0)
    if heavy.any():
        most = np.zeros(len(wanted), dtype=np.intp)
        np.maximum.at(most, of[order], count)
        width[heavy] = most[heavy]
    return _Way(rows, place, (order, start, member), width)
