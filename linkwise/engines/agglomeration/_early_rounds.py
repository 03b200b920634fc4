"""The first rounds of average, weighted and complete linkage of Euclidean vectors, without a matrix.

Computing all distances takes a fraction of the time of storing them: the matrix of 10,000 samples is 800 MB, which the
system must provide and every round reads. So the first rounds keep a list of the nearest clusters of each. Whatever is
not listed is farther than the end of the list, and stays so when clusters merge, since the linkages are reducible: as
long as the nearest of a cluster's list is nearer than that, it is the nearest of all. When the lists tell no more,
about half of the clusters are left, a quarter of a matrix, whose distances are computed from those of their members.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._threads import Workers
from linkwise._typing import FloatArray, Floats, IntArray
from linkwise.constraints import Groups
from linkwise.engines.agglomeration._contracted_points import Points
from linkwise.engines.agglomeration._kernels_early_rounds import Listed, round_on_lists
from linkwise.engines.agglomeration._kernels_linkages import AVERAGE, COMPLETE, WEIGHTED
from linkwise.engines.agglomeration._kernels_rounds import ALIVE, MERGES, NEW, PENDING, WIDTH
from linkwise.engines.distances import LARGEST, MEAN, WEIGHTED_MEAN, ClustersOfVectors

KINDS = {COMPLETE: LARGEST, AVERAGE: MEAN, WEIGHTED: WEIGHTED_MEAN}

# Bytes up to which a matrix hardly leaves the caches, and features, for each byte of a number, from which computing
# distances twice costs more than it saves (measured).
CACHED = 2**26
WIDE = 12

LENGTH = 16  # of a list

MANY = 50  # pairs for each sample up to which groups are written out


class Early(NamedTuple):
    """What the early rounds have made: clusters in the order of their lowest-numbered samples."""

    clusters: ClustersOfVectors
    size: Floats
    node: IntArray
    floor: FloatArray  # height at which each was made
    done: int  # merges, noted in the arrays of the start


def saves_time(shape: tuple[int, ...], dtype: np.dtype[Any], code: int, apart: Groups | None) -> bool:
    """Whether early rounds are for this linkage, these data, and groups of which no two samples may meet."""
    n, d = shape
    pairs = 0 if apart is None else int((apart.sizes * (apart.sizes - 1) // 2).sum())
    large = n * n * dtype.itemsize > CACHED and d < WIDE * dtype.itemsize
    return code in KINDS and large and pairs <= MANY * n


def merge_early(
    vectors: Floats,
    start: Points,
    label: IntArray,
    code: int,
    forbidden: IntArray | None,
    workers: Workers,
    report: Callable[[int], object],
) -> Early:
    """Merge clusters as long as lists of nearest ones tell how; ``label`` numbers the groups ``start`` describes."""
    kind, dtype = KINDS[code], vectors.dtype
    share = _halved(label, dtype) if kind == WEIGHTED_MEAN else np.ones(len(label), dtype)
    clusters = ClustersOfVectors(vectors, label, kind, share, forbidden)
    m = len(clusters)
    listed, listed_gap, reach = clusters.nearest(min(LENGTH, max(1, m - 1)), workers)
    ban = np.searchsorted(clusters.first, clusters.ban, side="right") - 1
    slots = np.arange(m, dtype=np.intp)
    count = np.zeros(8, np.intp)
    count[WIDTH] = count[ALIVE] = count[PENDING] = m
    count[MERGES] = start.done
    state = Listed(
        vectors=np.ascontiguousarray(vectors[clusters.order]),
        first=clusters.first,
        share=share[clusters.order],
        scale=np.ones(m, dtype),
        whole=np.ones(m, dtype) if kind == WEIGHTED_MEAN else start.size.copy(),
        listed=listed,
        listed_gap=listed_gap,
        reach=reach.copy(),
        cluster=slots.copy(),
        after=np.full(m, -1, np.intp),
        last=slots.copy(),
        seen=np.zeros(m, np.intp),
        ban_start=clusters.ban_start,
        ban=ban,
        size=start.size.copy(),
        node=start.node.copy(),
        alive=np.ones(m, np.bool_),
        nearest=np.full(m, NEW, np.intp),
        gap=np.full(m, np.inf, dtype),
        floor=np.zeros(m),
        pending=slots.copy(),
        pair=np.empty((m // 2 + 1, 2), np.intp),
        merges=start.merges,
        height=start.height,
        tally=count,
    )
    while count[PENDING]:
        round_on_lists(state, kind, kind != LARGEST)
        report(int(count[MERGES]))
    living = state.alive
    now = (np.cumsum(living) - 1)[state.cluster]
    left = ClustersOfVectors(vectors, now[label], kind, share * state.scale[label], forbidden)
    return Early(left, state.size[living], state.node[living], state.floor[living], int(count[MERGES]))


def _halved(label: IntArray, dtype: npt.DTypeLike) -> Floats:
    """Weigh the members of each group as if merged one by one: the last one half, the one before it a quarter."""
    order = np.argsort(label, kind="stable")
    sizes = np.bincount(label)
    later = np.repeat(np.cumsum(sizes), sizes) - 1 - np.arange(len(label))  # members that come after
    share = np.empty(len(label), dtype)
    share[order] = np.ldexp(1.0, -np.minimum(later + 1, np.repeat(sizes, sizes) - 1))
    return share
