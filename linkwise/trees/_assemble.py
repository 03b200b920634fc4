"""Arrays of trees assembled from nodes in any order, and joins: nodes that make one tree of a forest."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import compress
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from linkwise._messages import many
from linkwise._typing import FloatArray, IntArray
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.trees._kernels import _order_keys, _pass_down, _sum_lengths, _without_unary
from linkwise.trees._parent_array import Tree, read_names

T = TypeVar("T", bound=Tree)

_ABOVE = 1.1  # height of a join, as a multiple of the highest merge


class Assembled(NamedTuple):
    """Arguments of the `Dendrogram` constructor, and the new number of each node (of a dropped one, its child's)."""

    n_samples: int
    parent: IntArray
    raw_height: FloatArray | None
    ids: npt.NDArray[Any] | None
    number: IntArray

    def numbers(self, nodes: list[int]) -> list[int]:
        """Return the numbers of given nodes, without the dropped ones."""
        number = self.number.tolist()
        return [number[v] for v in nodes if v + 1 == len(number) or number[v] != number[v + 1]]


def heights_of_lengths(above: Any, length: Any) -> FloatArray | None:
    """Turn branch lengths into heights over the deepest leaf below; None when there are no lengths at all."""
    up, given = np.array(above, dtype=np.intp), np.array(length, dtype=np.float64)
    missing = np.isnan(given) & (up >= 0)
    if missing.sum() == (up >= 0).sum():
        return None
    if missing.any():
        n_missing = int(missing.sum())
        rest = "has no length and was read as 0" if n_missing == 1 else "have no length and were read as 0"
        warnings.warn(f"Newick: {many(n_missing, 'branch')} {rest}.", LinkwiseWarning, stacklevel=3)
    height, spread = _sum_lengths(up, np.nan_to_num(given, nan=0.0))
    if spread > 1e-6 * height.max():
        warnings.warn(
            "Newick: leaves below one node are not equally far from it; the height is that of the farthest one.",
            LinkwiseWarning,
            stacklevel=3,
        )
    return height  # type: ignore[no-any-return]


def assemble(above: Any, is_leaf: Any, names: Sequence[Any], height: Any, ids: Any) -> Assembled:
    """Build the arrays from nodes listed in preorder.

    ``above`` is the position of each node's parent in the list, -1 for a root. Of ``names`` only those of leaves are
    read; `sample_numbers` matches them with ``ids``. ``height`` is None when unknown.
    """
    leaf = np.array(is_leaf, dtype=np.bool_)
    up, keep = _without_unary(np.array(above, dtype=np.intp), leaf)
    called = list(compress(names, leaf.tolist()))
    sample, known = sample_numbers(called, ids)
    n = len(called)
    raw = np.zeros(len(up)) if height is None else np.array(height, dtype=np.float64)
    post, level = _order_keys(up, raw.copy())
    inner = np.flatnonzero(keep & ~leaf)
    inner = inner[np.lexsort((post[inner], level[inner]))]
    number = np.full(len(up) + 1, -1, dtype=np.intp)  # the last entry serves a root's parent, -1
    number[np.flatnonzero(leaf)] = sample
    number[inner] = np.arange(n, n + len(inner))
    nodes = np.concatenate([np.flatnonzero(leaf), inner])
    parent = np.empty(len(nodes), dtype=np.intp)
    parent[number[nodes]] = number[up[nodes]]
    heights = np.empty(len(nodes))
    heights[number[nodes]] = raw[nodes]
    _pass_down(keep, number)
    return Assembled(n, parent, None if height is None else heights, known, number[:-1])


def sample_numbers(called: list[Any], ids: Any) -> tuple[IntArray, npt.NDArray[Any] | None]:
    """Match leaf names with samples: by ``ids``, else as numbers 0 to n - 1, else in order of appearance."""
    n = len(called)
    if ids is not None:
        known = read_names(ids)
        place = {str(value): i for i, value in enumerate(known.tolist())}
        if len(place) < len(known):
            msg = "ids contains values that look alike as text, expected a different name for each leaf."
            raise LinkwiseError(msg)
        missing = [name for name in called if str(name) not in place]
        if missing or n != len(known):
            absent = sorted(set(place) - {str(name) for name in called})
            which = f"leaf {missing[0]!r} is not in ids" if missing else f"id {absent[0]!r} is not a leaf"
            msg = f"the tree has {n} leaves, ids has {len(known)} names, and {which}; expected the same names in both."
            raise LinkwiseError(msg)
        return np.array([place[str(name)] for name in called], dtype=np.intp), known
    numbers = _whole_numbers(called)
    if numbers is not None and min(numbers) >= 0 and max(numbers) < n:
        return np.array(numbers, dtype=np.intp), None
    return np.arange(n), read_names(called)


def _whole_numbers(called: list[Any]) -> list[int] | None:
    """Names as whole numbers, if all are written as Python writes these: 7, not 07."""
    if not set(map(type, called)) <= {str, int}:
        return None
    try:
        numbers = [*map(int, called)]
    except ValueError:
        return None
    return numbers if [*map(str, numbers)] == [*map(str, called)] else None


# -- joins -------------------------------------------------------------------------------------------------------------


def join_roots(tree: T) -> T:
    """Put one node above all roots, higher than everything below it."""
    top = tree.n_nodes
    parent = np.append(np.where(tree.parent < 0, top, tree.parent), -1)
    height, joins = np.append(tree.raw_height, _height_above(tree.height)), np.append(tree.joins, top)
    return type(tree)(tree.n_samples, parent, height, marked=tree.marked, ids=tree.ids, joins=joins)


def _height_above(height: FloatArray) -> float:
    """Return a finite height, a tenth above the highest; 1 if all heights are 0."""
    highest = float(height.max())
    if highest == 0.0:
        return 1.0
    largest = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        return float(min(max(_ABOVE * highest, np.nextafter(highest, np.inf)), largest))


def part_joins(tree: T) -> T:
    """Take all joins away; the nodes below them become roots again, in the same order."""
    if tree.marked is not None and np.isin(tree.marked, tree.joins).any():
        node = int(np.intersect1d(tree.marked, tree.joins)[0])
        msg = (
            f"parted: node {node} is a join and is marked as a cluster, expected marks inside the joined trees.\n"
            "Hint: mark clusters inside the trees, or leave the marks out."
        )
        raise LinkwiseError(msg)
    keep = np.ones(tree.n_nodes, dtype=np.bool_)
    keep[tree.joins] = False
    number = np.append(np.where(keep, np.cumsum(keep) - 1, -1), -1)  # the last entry serves a root's parent, -1
    marked = None if tree.marked is None else number[tree.marked]
    return type(tree)(tree.n_samples, number[tree.parent[keep]], tree.raw_height[keep], marked=marked, ids=tree.ids)


def at_the_top(parent: IntArray, joins: list[int]) -> IntArray:
    """Return the joins of a file that have only joins above them, since another program may have moved the root."""
    called = np.zeros(len(parent) + 1, dtype=np.bool_)
    called[joins] = True
    called[-1] = True  # above a root
    found = [v for v in sorted(set(joins), reverse=True) if called[v]]
    for v in found:  # parents come after children, so each is settled before the nodes below it
        called[v] = called[parent[v]]
    return np.array([v for v in reversed(found) if called[v]], dtype=np.intp)
