"""A clustering of a wanted size in which every sample has a near neighbor in its cluster, or is alone.

Start with one cluster of all samples that have a neighbor at all, and take groups out of it one by one, each as a
new cluster, as long as no sample left behind loses its last neighbor. Without must-links this ends with pairs of
samples that have only each other, so every number of clusters from fewest to most is reached.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, IntArray
from linkwise.problem.feasibility._kernels_cuts_of_size import _take_out


def spread_neighbors(near: csr_array, group: IntArray, k: int | None) -> IntArray | None:
    """Search ``k`` clusters, or as few as possible, in which every sample has an ε-neighbor or is alone.

    Parameters
    ----------
    near : csr_array of shape (n, n)
        Who has whom within ε; symmetric, nothing on the diagonal.
    group : ndarray of intp, shape (n,)
        Samples that must share a cluster share a number, counted from 0 without gaps.
    k : int, optional
        Number of clusters.

    Returns
    -------
    ndarray of intp or None
        Labels, or None when none were found.

    Notes
    -----
    **Cost** near-linear in the number of neighbors. **Guarantee** with must-links or separations that are never
    longer than ε finds the clustering if there is one; with other must-links the question is NP-complete and None
    proves nothing.
    """
    n = len(group)
    start, neighbor = near.indptr.astype(np.intp), near.indices.astype(np.intp)
    alone = np.diff(start) == 0
    size = np.bincount(group)
    if (alone & (size[group] > 1)).any():
        return None
    source = np.repeat(np.arange(n), np.diff(start))
    inside = np.zeros(n, dtype=np.bool_)
    inside[source[group[source] == group[neighbor]]] = True
    legal_alone = np.ones(len(size), dtype=np.bool_)
    legal_alone[group[~inside & (size[group] > 1)]] = False
    lonely = np.zeros(len(size), dtype=np.bool_)
    lonely[group[alone]] = True
    fewest = int(lonely.sum()) + bool((~lonely).any())
    wanted = (k if k is not None else fewest) - fewest
    if wanted < 0:
        return None
    order = np.argsort(group, kind="stable")
    begin = np.concatenate([[0], np.cumsum(size)]).astype(np.intp)
    out = _take_out(start, neighbor, group, begin, order, legal_alone, ~lonely, wanted)
    cluster = np.where(out | lonely, np.arange(len(size)), len(size))
    wanted -= int((out & ~lonely).sum())
    if wanted > 0:
        wanted = _divide_rest(source, neighbor, group, legal_alone, cluster, wanted)
    if wanted:
        return None
    labels = np.unique(cluster[group], return_inverse=True)[1]
    return labels.astype(np.intp)


def _divide_rest(
    source: IntArray, neighbor: IntArray, group: IntArray, legal_alone: BoolArray, cluster: IntArray, wanted: int
) -> int:
    """Divide the rest into connected parts, then parts into their groups; return how many are still wanted."""
    n_groups = len(cluster)
    left = np.flatnonzero(cluster == n_groups)
    ends = np.column_stack([group[source], group[neighbor]])
    ends = ends[(cluster[ends] == n_groups).all(axis=1)]
    part = components(n_groups, ends)[left]
    names = np.unique(part)
    for name in names[1:]:
        if wanted == 0:
            return 0
        cluster[left[part == name]] = left[part == name][0]
        wanted -= 1
    for name in names:
        members = left[part == name]
        if len(members) - 1 <= wanted and legal_alone[members].all():
            cluster[members] = members
            wanted -= len(members) - 1
    return wanted
