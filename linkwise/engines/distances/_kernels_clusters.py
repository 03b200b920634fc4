"""Distances between clusters of vectors, computed from those of their members: all of them, or the smallest of each."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._kernels import inner, njit
from linkwise._kernels.borrow import borrowed
from linkwise._typing import Bits, Floats, IntArray
from linkwise.engines.distances._kernels_dense import Neighbors, meet, write_distances

# Vectors whose clusters are rows, and columns, of a tile, which stays in the cache of the second level.
BAND = 32
BLOCK = 256

# Columns that are searched for near ones at a time.
PIECE = 32

# What the distance of two clusters is, of the distances of their members.
LARGEST = 0
MEAN = 1
WEIGHTED_MEAN = 2


class Members(NamedTuple):
    """Clusters of vectors, in blocks of clusters: first one vector of each, then all others."""

    columns: Floats  # (features, vectors)
    block: IntArray  # (blocks + 1,): its clusters
    base: IntArray  # (blocks + 1,): its vectors
    part: IntArray  # (vectors,): of the others of a block, the cluster, counted within the block
    band: IntArray  # (bands + 1,): clusters of one block that are rows of a tile
    block_of: IntArray  # (bands,)
    first: IntArray  # (clusters + 1,): where its members begin in `place`
    place: IntArray  # (vectors,): where they are
    share: Floats  # (vectors,): weight in the mean of its cluster
    whole: Floats  # (clusters,): sum of these
    ban_start: IntArray  # (vectors + 1,): its forbidden partners in `ban`; one entry if there are none
    ban: IntArray  # ascending for each vector


class Lists(NamedTuple):
    """The nearest other clusters of each, ascending, as runs over different pairs have found them."""

    nearest: IntArray  # (runs, clusters, length)
    gap: Floats
    reach: Floats  # (runs, clusters): the last of them; all that is nearer is in the list
    bits: Bits  # the same memory read as integers


class Met(NamedTuple):
    """The nearest other cluster of each, as runs over different pairs have found it."""

    nearest: IntArray  # (runs, clusters)
    gap: Floats
    bits: Bits  # the same memory read as integers


@inner
def _forbid(members: Members, i: int, left: int, right: int, out: Floats) -> None:
    """Make the distances of vector ``i`` to its forbidden partners infinite."""
    low = members.ban_start[i]
    stop = members.ban_start[i + 1]
    high = stop
    while low < high:
        middle = (low + high) // 2
        if members.ban[middle] < left:
            low = middle + 1
        else:
            high = middle
    while low < stop and members.ban[low] < right:
        out[members.ban[low] - left] = np.inf
        low += 1


@inner
def _write_row(members: Members, kind: int, root: bool, a: int, block: int, out: Floats, other: Floats) -> None:
    """Write the distances of cluster ``a`` to those of a block to the front of ``out``; ``other`` is overwritten."""
    left = members.base[block]
    right = members.base[block + 1]
    width = right - left
    clusters = members.block[block + 1] - members.block[block]
    bans = members.ban_start.shape[0] > 1
    first = members.first[a]
    last = members.first[a + 1]
    for t in range(first, last):
        i = members.place[t]
        row = out if t == first else other
        write_distances(members.columns, i, left, right, root, row)
        if bans:
            _forbid(members, i, left, right, row)
        if kind == WEIGHTED_MEAN:
            weight = members.share[i]
            for k in range(width):
                row[k] *= weight
        if t > first:
            if kind == LARGEST:
                for k in range(width):
                    out[k] = max(out[k], other[k])
            else:
                for k in range(width):
                    out[k] += other[k]
    part = members.part[left:right]
    if kind == LARGEST:
        for k in range(clusters, width):
            out[part[k]] = max(out[part[k]], out[k])
        return
    if kind == WEIGHTED_MEAN:
        share = members.share[left:right]
        for k in range(width):
            out[k] *= share[k]
    for k in range(clusters, width):
        out[part[k]] += out[k]
    if width > clusters or last - first > 1:
        weight = members.whole[a]
        whole = members.whole[members.block[block] : members.block[block + 1]]
        for k in range(clusters):
            out[k] /= weight * whole[k]


@inner
def _insert(lists: Lists, run: int, a: int, b: int, gap: float) -> None:
    """Put ``b`` into the list of ``a``, and what is last there out of it."""
    gaps = lists.gap[run, a]
    nearest = lists.nearest[run, a]
    t = gaps.shape[0] - 1
    while t > 0 and gaps[t - 1] > gap:
        gaps[t] = gaps[t - 1]
        nearest[t] = nearest[t - 1]
        t -= 1
    gaps[t] = gap
    nearest[t] = b
    lists.reach[run, a] = gaps[gaps.shape[0] - 1]


@inner
def _list_row(lists: Lists, run: int, a: int, left: int, out: Floats, bits: Bits) -> None:
    """Let ``a`` and the clusters from ``left`` on know of each other, at the distances ``out``."""
    reach = lists.reach[run]
    reach_bits = lists.bits[run]
    for start in range(0, out.shape[0], PIECE):
        stop = min(out.shape[0], start + PIECE)
        # distances read as integers, whose minimum becomes vector instructions
        piece = bits[start:stop]
        theirs = reach_bits[left + start : left + stop]
        low = piece[0]
        best = piece[0] - theirs[0]
        for k in range(stop - start):
            low = min(low, piece[k])
            best = min(best, piece[k] - theirs[k])
        if best < 0:
            for k in range(start, stop):
                if out[k] < reach[left + k]:
                    _insert(lists, run, left + k, a, out[k])
        if low < reach_bits[a]:
            for k in range(start, stop):
                if out[k] < reach[a]:
                    _insert(lists, run, a, left + k, out[k])


@njit(nogil=True)
def list_nearest(members: Members, kind: int, root: bool, lists: Lists, bands: IntArray, start: int, stop: int) -> None:
    """List the nearest clusters of those of some bands and, as far as these are concerned, of all after them.

    Run ``r`` of R takes bands r, r + R, ... of the list; this call does the runs from ``start`` to ``stop``.
    """
    members = borrowed(members)
    lists = borrowed(lists)
    widest = 0
    for block in range(members.block.shape[0] - 1):
        widest = max(widest, members.base[block + 1] - members.base[block])
    out = np.empty(widest, members.columns.dtype)
    bits = out.view(lists.bits.dtype)
    other = np.empty(widest, members.columns.dtype)
    runs = lists.reach.shape[0]
    for run in range(start, stop):
        for t in range(run, bands.shape[0], runs):
            own = members.block_of[bands[t]]
            for block in range(own, members.block.shape[0] - 1):
                left = members.block[block]
                clusters = members.block[block + 1] - left
                width = members.base[block + 1] - members.base[block]
                for a in range(members.band[bands[t]], members.band[bands[t] + 1]):
                    _write_row(members, kind, root, a, block, out[:width], other[:width])
                    begin = a - left + 1 if block == own else 0  # of two in one block the later one lists the pair
                    _list_row(lists, run, a, left + begin, out[begin:clusters], bits[begin:clusters])


@njit(nogil=True)
def join_lists(lists: Lists) -> None:
    """Put the nearest of all runs into the lists of the first."""
    lists = borrowed(lists)
    for run in range(1, lists.reach.shape[0]):
        for a in range(lists.reach.shape[1]):
            for t in range(lists.gap.shape[2]):
                if lists.gap[run, a, t] < lists.reach[0, a]:
                    _insert(lists, 0, a, lists.nearest[run, a, t], lists.gap[run, a, t])


@njit(nogil=True)
def store_clusters(
    members: Members, kind: int, root: bool, D: Floats, met: Met, begin: int, end: int, start: int, stop: int
) -> None:
    """Write the distances of the clusters of some bands to these and later ones to ``D``, both ways round.

    Run ``r`` of R takes bands ``begin + r``, ``begin + r + R``, ...; this call does runs from ``start`` to ``stop``.
    """
    members = borrowed(members)
    met = borrowed(met)
    widest = 0
    for block in range(members.block.shape[0] - 1):
        widest = max(widest, members.base[block + 1] - members.base[block])
    tile = np.empty((BAND, widest), members.columns.dtype)
    bits = tile.view(met.bits.dtype)
    other = np.empty(widest, members.columns.dtype)
    runs = met.gap.shape[0]
    for run in range(start, stop):
        near = Neighbors(met.nearest[run], met.gap[run], met.bits[run])
        for band in range(begin + run, end, runs):
            top = members.band[band]
            bottom = members.band[band + 1]
            own = members.block_of[band]
            for block in range(own, members.block.shape[0] - 1):
                left = members.block[block]
                clusters = members.block[block + 1] - left
                width = members.base[block + 1] - members.base[block]
                for a in range(top, bottom):
                    out = tile[a - top, :width]
                    _write_row(members, kind, root, a, block, out, other[:width])
                    if block == own:
                        for k in range(a - left + 1):  # of two in one block the later one lists the pair
                            out[k] = np.inf
                    meet(near, a, left, left + clusters, out[:clusters], bits[a - top, :clusters])
                    for k in range(a - left if block == own else 0, clusters):
                        D[a, left + k] = out[k]
                for b in range(left, left + clusters):
                    row = D[b]
                    for a in range(top, min(b, bottom)):
                        row[a] = tile[a - top, b - left]
