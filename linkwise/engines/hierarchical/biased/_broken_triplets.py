"""Triplets that merges break, counted while clusters grow.

A merge breaks xy|z if it joins z with exactly one of x and y. So a triplet can be broken only while its three samples
lie in three clusters, and the first merge of two of these settles it: x with y holds it, z with either breaks it. Until
then it is one count against each of the pairs (z, x) and (z, y) of clusters.

Two samples meet once in a run. Triplets are therefore listed under each of their three pairs, and a merge looks at the
lists of the pairs that meet in it: every list is read once per run, front to back.
"""

from __future__ import annotations

import numpy as np

from linkwise._kernels.lca import prepare, query_many
from linkwise.constraints import Constraints, Kind
from linkwise.engines.hierarchical.biased._kernels_broken_triplets import Live, Triples, _list_pairs
from linkwise.problem import onetree


def read_triples(constraints: Constraints, *, nodes: bool) -> Triples:
    """Number the samples named and list each triplet once; with ``nodes`` find the node each belongs to.

    With ``nodes`` the triplets must not contradict each other.
    """
    given = constraints.of(Kind.TRIPLET)
    given = given[given[:, 0] != given[:, 1]]
    named = np.zeros(constraints.n_samples, dtype=np.bool_)
    named[given] = True
    sample = np.flatnonzero(named)
    k = len(sample)
    items = (np.cumsum(named) - 1)[given]
    low, high = np.minimum(items[:, 0], items[:, 1]), np.maximum(items[:, 0], items[:, 1])
    # not np.unique, whose hashing takes ten times as long on keys as regular as these
    key = np.sort((low * k + high) * k + items[:, 2])
    key = key[np.append(True, key[1:] != key[:-1])] if k else key
    row = np.stack(np.unravel_index(key, (k, k, k)), axis=1) if k else np.zeros((0, 3), dtype=np.intp)
    node = np.zeros(len(row), dtype=np.intp)
    if nodes and k:
        parent = onetree(k, row).parent
        if parent is None:
            msg = "read_triples: the triplets contradict each other, which `fit` refuses; please report the input."
            raise AssertionError(msg)
        node = query_many(prepare(parent), row[:, 0].copy(), row[:, 1].copy())
    asked = np.bincount(node)
    group = (np.cumsum(asked > 0) - 1)[node]
    start, stop, of_pair, entry, conflict = _list_pairs(row.astype(np.int64), group.astype(np.int64), k)
    total = asked[asked > 0].astype(np.int64)
    return Triples(sample.astype(np.int64), start, stop, of_pair, entry, total, conflict)


def open_triples(triples: Triples) -> Live:
    """Begin a run: every item a cluster of its own, every triplet open."""
    k = len(triples.sample)
    return Live(
        conflict=triples.conflict.copy() if k else np.zeros((1, 1), dtype=np.int32),
        label=np.arange(k, dtype=np.int64),
        last=np.arange(k, dtype=np.int64),
        after=np.full(k, -1, dtype=np.int64),
        size=np.ones(k, dtype=np.int64),
        settled=np.zeros(k, dtype=np.int64),
        found=np.zeros(len(triples.total), dtype=np.int64),
    )
