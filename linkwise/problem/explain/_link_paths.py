"""The must-link graph: shortest chains, spanning links, and single statements that resolve a conflict."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from linkwise._sparse import breadth_first, narrow
from linkwise._typing import IntArray
from linkwise.problem.explain._kernels_link_paths import _subtree_xor


class LinkGraph:
    """Must-links as a graph; chains, which are shortest, come back as positions in ``pairs``.

    **Cost** O(n + m) to build and per search.
    """

    def __init__(self, n: int, pairs: IntArray) -> None:
        from scipy.sparse import coo_array

        low, high = pairs.min(axis=1, initial=n), pairs.max(axis=1, initial=0)
        key, self._link = np.unique(low * n + high, return_index=True)
        self._key, self.n, self.pairs = key, n, pairs
        ends = np.divmod(key, max(n, 1))
        self._graph = coo_array((np.ones(len(key)), ends), shape=(n, n)).tocsr()
        self._graph = narrow(self._graph + self._graph.T)

    def _links(self, first: IntArray, second: IntArray) -> IntArray:
        wanted = np.minimum(first, second) * self.n + np.maximum(first, second)
        return np.asarray(self._link[np.searchsorted(self._key, wanted)], dtype=np.intp)

    def tree(self, root: int, targets: Iterable[int]) -> tuple[IntArray, IntArray]:
        """Return the links and the samples of the union of shortest chains from ``root`` to each target."""
        _, above = breadth_first(self._graph, root)
        seen = {root}
        path: list[int] = []
        for target in targets:
            here = int(target)
            while here not in seen:
                seen.add(here)
                path.append(here)
                here = int(above[here])
        lower = np.array(path, dtype=np.intp)
        return self._links(lower, above[lower]), np.array(sorted(seen), dtype=np.intp)

    def around(self, source: int, count: int) -> IntArray:
        """Return the links of a tree that joins ``source`` to ``count`` other samples, nearest first."""
        order, above = breadth_first(self._graph, source)
        near = order[1 : count + 1]
        return self._links(near, above[near])

    def separators(self, source: int, links: IntArray, apart: IntArray) -> IntArray:
        """Return those of ``links`` without which no pair of ``apart`` is joined any more.

        A link does that if it lies on a cycle with nothing and on the chain of every pair. Both are read from sums
        over subtrees of one search tree: each link outside the tree, and each pair, puts a random 64-bit number on its
        two ends, and exclusive-or leaves on a tree link the sum over what crosses it. A false positive needs two equal
        sums of random 64-bit numbers.
        """
        order, above = breadth_first(self._graph, source)
        reached = np.zeros(self.n, dtype=np.bool_)
        reached[order] = True
        if not reached[apart].all():
            return links[:0]
        in_tree = np.zeros(len(self.pairs), dtype=np.bool_)
        in_tree[self._links(order[1:], above[order[1:]])] = True
        rng = np.random.default_rng(0)
        outside = self.pairs[~in_tree]
        cycles = self._crossing(order, above, outside, rng.integers(1, 2**63, len(outside), dtype=np.uint64))
        tags = rng.integers(1, 2**63, len(apart), dtype=np.uint64)
        crossed = self._crossing(order, above, apart, tags)
        lower = order[1:]
        cuts = (cycles[lower] == 0) & (crossed[lower] == np.bitwise_xor.reduce(tags))
        return np.intersect1d(links, self._links(lower[cuts], above[lower[cuts]]))

    def _crossing(
        self, order: IntArray, above: IntArray, pairs: IntArray, tags: npt.NDArray[np.uint64]
    ) -> npt.NDArray[np.uint64]:
        value = np.zeros(self.n, dtype=np.uint64)
        np.bitwise_xor.at(value, pairs[:, 0], tags)
        np.bitwise_xor.at(value, pairs[:, 1], tags)
        result: npt.NDArray[np.uint64] = _subtree_xor(order, above, value)
        return result
