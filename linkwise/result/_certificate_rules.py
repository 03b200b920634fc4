"""The rules half of the independent checker: separation, neighborhood, distance of merged centroids, and size."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array

from linkwise._sparse import connected_parts
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, MaxCentroidDistance, MinSeparation, NeighborWithin, Rule, SizeBetween
from linkwise.exceptions import LinkwiseError

_SLACK = 1e-9  # distances are recomputed here, perhaps in another order of summation than in the engine
_CELLS = 1 << 22
_NORMS = {"euclidean": 2, "l2": 2, "manhattan": 1, "cityblock": 1, "l1": 1, "chebyshev": np.inf}
_Finding = tuple[Rule, bool | None, str]


@dataclass(frozen=True, eq=False)
class Clustering:
    """The clustering to check: a cluster per sample, and the tree if there is one.

    ``labels`` are cluster numbers or the marked nodes; ``owner`` gives every node the marked node at or above it, and
    nodes above the cut a number past the last node.
    """

    labels: IntArray
    has_cut: bool
    parent: IntArray | None = None
    owner: IntArray | None = None


def check_rules(constraints: Constraints, clustering: Clustering, X: Any, metric: str) -> list[_Finding]:
    """Return (rule, whether it holds or None, a note) for each rule."""
    if not constraints.rules:
        return []
    distances = None if X is None else _Distances(X, metric, constraints.n_samples)
    findings: list[_Finding] = []
    for rule in constraints.rules:
        if isinstance(rule, SizeBetween):
            findings.append((rule, *_sizes(rule, clustering)))
        elif distances is None:
            findings.append((rule, None, "it needs X"))
        elif isinstance(rule, MinSeparation):
            findings.append((rule, *_separation(rule, clustering, distances)))
        elif isinstance(rule, NeighborWithin):
            findings.append((rule, *_neighbors(rule, clustering, distances)))
        elif isinstance(rule, MaxCentroidDistance):
            findings.append((rule, *_reach(rule, clustering, distances, constraints)))
        else:
            findings.append((rule, None, "the checker does not know this rule"))
    return findings


class _Distances:
    """Distances from some samples to all or to some, computed in slices that stay small."""

    def __init__(self, X: Any, metric: str, n_samples: int) -> None:
        data = np.asarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
        expected = (n_samples, n_samples) if metric == "precomputed" else (n_samples,)
        if data.ndim != 2 or data.shape[: len(expected)] != expected:
            wanted = "a square matrix of distances" if metric == "precomputed" else "rows"
            msg = f"verify: X has shape {data.shape}, expected {wanted} for the {n_samples:,} samples."
            raise LinkwiseError(msg)
        self.data = data
        self.metric = {"l2": "euclidean", "manhattan": "cityblock", "l1": "cityblock"}.get(metric, metric)

    def between(self, rows: IntArray, columns: IntArray) -> FloatArray:
        from scipy.spatial.distance import cdist

        if self.metric == "precomputed":
            return np.asarray(self.data[np.ix_(rows, columns)])
        return np.asarray(cdist(self.data[rows], self.data[columns], metric=self.metric))

    def slices(self, samples: IntArray) -> Iterator[tuple[IntArray, FloatArray]]:
        step = max(1, _CELLS // max(1, len(samples)))
        for start in range(0, len(samples), step):
            rows = samples[start : start + step]
            yield rows, self.between(rows, samples)


def _sizes(rule: SizeBetween, clustering: Clustering) -> tuple[bool | None, str]:
    if not clustering.has_cut:
        return None, "the hierarchy has no marked cut"
    size = np.unique(clustering.labels, return_counts=True)[1]
    bad = (size < rule.low) | (size > (np.inf if rule.high is None else rule.high))
    if not bad.any():
        return True, ""
    return False, f"{int(bad.sum()):,} of {len(size):,} clusters, such as one of {int(size[bad][0]):,} samples"


def _separation(rule: MinSeparation, clustering: Clustering, distances: _Distances) -> tuple[bool | None, str]:
    everything, label = np.arange(len(clustering.labels)), clustering.labels
    for rows, D in distances.slices(everything):
        close = (rule.delta * (1 - _SLACK) > D) & (label[rows][:, None] != label[None, :])
        if close.any():
            i, j = (int(v[0]) for v in np.nonzero(close))
            return False, f"samples {int(rows[i])} and {j} are {D[i, j]:.6g} apart but in different clusters"
    return True, ""


def _neighbors(rule: NeighborWithin, clustering: Clustering, distances: _Distances) -> tuple[bool | None, str]:
    order = np.argsort(clustering.labels, kind="stable")
    ends = np.flatnonzero(np.diff(clustering.labels[order])) + 1
    for members in np.split(order, ends):
        if len(members) < 2:
            continue
        start = 0
        for rows, D in distances.slices(members):
            D[np.arange(len(rows)), start + np.arange(len(rows))] = np.inf
            alone = D.min(axis=1) > rule.epsilon * (1 + _SLACK)
            if alone.any():
                sample = int(rows[np.flatnonzero(alone)[0]])
                return False, f"sample {sample} has no other member of its cluster within {rule.epsilon:g}"
            start += len(rows)
    return True, ""


def _reach(
    rule: MaxCentroidDistance, clustering: Clustering, distances: _Distances, constraints: Constraints
) -> tuple[bool | None, str]:
    parent, owner = clustering.parent, clustering.owner
    if parent is None or owner is None:
        return None, "it is about merges, which labels do not have"
    norm = _NORMS.get(distances.metric)
    if norm is None:
        return None, f"no centroids under the metric {distances.metric!r}"
    n, nodes = len(clustering.labels), len(parent)
    centroid, forced = _node_sums(parent, n, distances.data, _forced_groups(constraints, distances))
    inside = owner[:nodes] != nodes
    judged = np.flatnonzero(inside & ~forced)
    judged = judged[judged >= n]
    child = np.flatnonzero(parent >= 0)
    child = child[np.argsort(parent[child], kind="stable")]
    start = np.searchsorted(parent[child], judged)
    stop = np.searchsorted(parent[child], judged, side="right")
    # Neighboring children first: for a two-way node that is the whole check, vectorized.
    two = judged[stop - start == 2]
    first = child[start[stop - start == 2]]
    second = child[start[stop - start == 2] + 1]
    gap = np.linalg.norm(centroid[first] - centroid[second], ord=norm, axis=1)
    limit = rule.gamma * (1 + _SLACK)
    if (gap > limit).any():
        worst = int(np.argmax(gap))
        return False, f"the two parts of node {int(two[worst])} have centroids {gap[worst]:.6g} apart"
    for at in np.flatnonzero(stop - start > 2):
        parts = centroid[child[start[at] : stop[at]]]
        for part in parts:
            wide = np.linalg.norm(parts - part, ord=norm, axis=1).max()
            if wide > limit:
                return False, f"parts of node {int(judged[at])} have centroids {wide:.6g} apart"
    return True, ""


def _forced_groups(constraints: Constraints, distances: _Distances) -> IntArray:
    """Number the groups that hard must-links and the separation rule join at any distance."""
    n = constraints.n_samples
    pairs, statement = constraints.must_links()
    pairs = pairs[constraints.is_hard[statement]]
    group = _joined(n, pairs[:, 0], pairs[:, 1])
    for rule in constraints.rules:
        if isinstance(rule, MinSeparation):
            for rows, D in distances.slices(np.arange(n)):
                i, j = np.nonzero(rule.delta > D)
                group = _joined(n, group[rows[i]], group[j])[group]
    return group


def _joined(n: int, first: IntArray, second: IntArray) -> IntArray:
    graph = coo_array((np.ones(len(first), np.int8), (first, second)), shape=(n, n))
    return connected_parts(graph)[1]


def _node_sums(parent: IntArray, n: int, data: FloatArray, group: IntArray) -> tuple[FloatArray, BoolArray]:
    """Return the centroid of every node, and whether all its samples are of one group."""
    nodes = len(parent)
    depth = np.where(parent < 0, 0, 1)
    pointer = np.where(parent < 0, np.arange(nodes), parent)
    while True:
        depth = depth + depth[pointer]
        further = pointer[pointer]
        if np.array_equal(further, pointer):
            break
        pointer = further
    total = np.zeros((nodes, data.shape[1]))
    total[:n] = data
    count = np.zeros(nodes)
    count[:n] = 1
    low = np.full(nodes, np.iinfo(np.intp).max)
    high = np.full(nodes, -1, dtype=np.intp)
    low[:n] = high[:n] = group
    order = np.argsort(-depth, kind="stable")
    for level in np.split(order, np.flatnonzero(np.diff(depth[order])) + 1):
        below = level[parent[level] >= 0]
        np.add.at(total, parent[below], total[below])
        np.add.at(count, parent[below], count[below])
        np.minimum.at(low, parent[below], low[below])
        np.maximum.at(high, parent[below], high[below])
    return total / count[:, None], low == high
