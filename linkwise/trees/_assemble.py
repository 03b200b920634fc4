"""Assembly of tree arrays from nodes in any order: unary nodes dropped, samples first, inner nodes by height."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._messages import many
from linkwise._typing import FloatArray, IntArray
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.trees._kernels import _order_keys, _pass_down, _sum_lengths, _without_unary
from linkwise.trees._parent_array import read_names


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


def heights_of_lengths(above: Sequence[int], length: Sequence[float]) -> FloatArray | None:
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


def assemble(above: Sequence[int], is_leaf: Sequence[bool], names: Sequence[Any], height: Any, ids: Any) -> Assembled:
    """Build the arrays from nodes listed in preorder.

    Parameters
    ----------
    above : sequence of int
        Position of each node's parent in the list, which comes earlier; -1 for a root.
    is_leaf : sequence of bool
        Which nodes are samples.
    names : sequence
        Name of each node; only the leaves' names are read, and they are unique.
    height : array-like or None
        Raw height of every node; None when unknown.
    ids : array-like or None
        The names in sample order. When None, names that are the numbers 0 to n - 1 are sample numbers; other names
        become ids in their order of appearance.
    """
    leaf = np.array(is_leaf, dtype=np.bool_)
    up, keep = _without_unary(np.array(above, dtype=np.intp), leaf)
    called = [names[v] for v in np.flatnonzero(leaf).tolist()]
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
    numbers = {str(i): i for i in range(n)}
    if all(type(name) in (str, int) and str(name) in numbers for name in called):
        return np.array([numbers[str(name)] for name in called], dtype=np.intp), None
    return np.arange(n), read_names(called)
