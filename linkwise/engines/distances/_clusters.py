"""Distances between clusters of vectors: lists of the nearest, or all."""

from __future__ import annotations

import itertools

import numpy as np

from linkwise._threads import SLICE, Workers
from linkwise._typing import Bits, Floats, IntArray
from linkwise.engines.distances._kernels_clusters import (
    BAND,
    BLOCK,
    LARGEST,
    WEIGHTED_MEAN,
    Lists,
    Members,
    Met,
    join_lists,
    list_nearest,
    store_clusters,
)
from linkwise.engines.distances._kernels_dense import Neighbors


class ClustersOfVectors:
    """Clusters that `label` numbers from 0; their distance is the largest of their members', or their (weighted) mean.

    Distances of vectors are Euclidean, squared ones for the largest; those of pairs in ``forbidden`` are infinite.

    Attributes
    ----------
    order, first
        The vectors, cluster by cluster, and where each cluster begins.
    ban_start, ban
        The forbidden partners of the vectors in this order, by their places in it. Where there are none, ``ban_start``
        has one entry.
    """

    def __init__(
        self, vectors: Floats, label: IntArray, kind: int, share: Floats, forbidden: IntArray | None = None
    ) -> None:
        n = len(vectors)
        self.vectors, self.kind, self.share, self.root = vectors, kind, share, kind != LARGEST
        self.order = np.argsort(label, kind="stable")
        self.sizes = np.bincount(label)
        self.first = _ends(self.sizes)
        self.ban_start, self.ban = np.zeros(1, np.intp), np.zeros(0, np.intp)
        if forbidden is not None and len(forbidden):
            self.ban_start, self.ban = _partners(_inverse(self.order)[forbidden], n)

    def __len__(self) -> int:
        return len(self.sizes)

    def nearest(self, length: int, workers: Workers) -> tuple[IntArray, Floats, Floats]:
        """Return the ``length`` nearest others of each, -1 where there are fewer, their distances, and the last ones.

        The last distance is infinite where there are fewer. Among equals at the end of a list it may hold any.
        """
        runs, m, kind = workers.threads, len(self), self.vectors.dtype
        gap = np.full((runs, m, length), np.inf, kind)
        reach = np.full((runs, m), np.inf, kind)
        lists = Lists(np.full((runs, m, length), -1, np.intp), gap, reach, _bits(reach))
        members = self._members()
        # far apart bands in turn: where samples come sorted, each would otherwise be nearer than all before
        bands = np.random.default_rng(0).permutation(len(members.block_of))
        for some in np.array_split(bands, self._calls()):
            workers.over(list_nearest, runs, SLICE // runs, members, self.kind, self.root, lists, some)
        join_lists(lists)
        return lists.nearest[0], lists.gap[0], lists.reach[0]

    def store(self, D: Floats, workers: Workers) -> Neighbors:
        """Write all distances to ``D``, infinite ones on the diagonal, and return the nearest neighbors."""
        runs, m, kind = workers.threads, len(self), self.vectors.dtype
        gap = np.full((runs, m), np.inf, kind)
        met = Met(np.full((runs, m), -1, np.intp), gap, _bits(gap))
        members = self._members()
        bands = len(members.block_of)
        ends = np.linspace(0, bands, self._calls() + 1).astype(int).tolist()
        for begin, end in itertools.pairwise(ends):
            workers.over(store_clusters, runs, SLICE // runs, members, self.kind, self.root, D, met, begin, end)
        low = gap.min(axis=0)
        nearest = np.where((gap == low) & (met.nearest >= 0), met.nearest, m).min(axis=0)
        nearest[nearest == m] = -1
        return Neighbors(nearest, low, _bits(low))

    def _calls(self) -> int:
        """Kernel calls that all pairs take, so that Python sees Ctrl-C between them."""
        n, d = self.vectors.shape
        return int(1 + n * n * (8 + d) // 32 // SLICE)

    def _members(self) -> Members:
        n, first = len(self.vectors), self.first
        block = _stretches(first, np.array([0, len(self)]), BLOCK)
        base = first[block]
        band = _stretches(first, block, BAND)
        block_of = np.searchsorted(block, band[:-1], side="right") - 1
        # within a block: one of each cluster, then the others
        cluster = np.repeat(np.arange(len(self)), self.sizes)
        home = np.searchsorted(block, cluster, side="right") - 1
        others = np.ones(n, np.bool_)
        others[first[:-1]] = False
        layout = np.lexsort((others, home))
        place = _inverse(layout)
        ban_start, ban = self.ban_start, self.ban
        if len(ban):
            rows = np.repeat(np.arange(n), np.diff(ban_start))
            ban_start, ban = _partners(np.stack([place[rows], place[ban]], axis=1), n, both=False)
        share = self.share[self.order]
        whole = np.ones(len(self)) if self.kind == WEIGHTED_MEAN else self.sizes
        return Members(
            np.array(self.vectors[self.order][layout].T, order="C"),
            block,
            base,
            (cluster - block[home])[layout],
            band,
            block_of,
            first,
            place,
            share[layout],
            whole.astype(self.vectors.dtype),
            ban_start,
            ban,
        )


def _bits(distances: Floats) -> Bits:
    """The same memory read as integers."""
    return distances.view(np.int64 if distances.dtype == np.float64 else np.int32)


def _ends(sizes: IntArray) -> IntArray:
    ends = np.zeros(len(sizes) + 1, np.intp)
    np.cumsum(sizes, out=ends[1:])
    return ends


def _inverse(order: IntArray) -> IntArray:
    inverse = np.empty(len(order), np.intp)
    inverse[order] = np.arange(len(order))
    return inverse


def _stretches(first: IntArray, bounds: IntArray, most: int) -> IntArray:
    """Divide clusters at the bounds, and further where a stretch would hold more than ``most`` vectors."""
    ends = [0]
    for bound in bounds[1:].tolist():
        while ends[-1] < bound:
            fits = int(np.searchsorted(first, first[ends[-1]] + most, side="right")) - 1
            ends.append(min(bound, max(ends[-1] + 1, fits)))
    return np.array(ends, np.intp)


def _partners(pairs: IntArray, n: int, *, both: bool = True) -> tuple[IntArray, IntArray]:
    """List the partners of each in ascending order, and where the list of each begins."""
    if both:
        pairs = np.concatenate([pairs, pairs[:, ::-1]])
    pairs = pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]
    return _ends(np.bincount(pairs[:, 0], minlength=n)), np.ascontiguousarray(pairs[:, 1])
