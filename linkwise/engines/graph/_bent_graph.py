"""Affinity graphs changed by statements: hard pairs at the largest affinity or at none, soft ones part of the way.

Must-linked samples are a clique of equal affinities. The clique is not written out when the graph is sparse:
multiplying by it adds up the samples of each group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from linkwise._sparse import connected_parts
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.graph._affinity import without_diagonal
from linkwise.problem import Problem
from linkwise.problem.statements import NetPairs


@dataclass(frozen=True, eq=False)
class Graph:
    """Affinities changed by statements: ``table``, plus ``top`` between two samples of one group.

    ``table`` is dense or CSR, has no diagonal and holds nothing inside groups; ``group`` is the group of each sample.
    """

    table: Any
    group: IntArray
    top: float

    @property
    def n(self) -> int:
        """Number of samples."""
        return len(self.group)

    def degree(self) -> FloatArray:
        """Sum of the affinities of each sample."""
        size = np.bincount(self.group)[self.group]
        return np.asarray(np.asarray(self.table.sum(axis=1)).reshape(-1) + self.top * (size - 1.0))

    def times(self, x: FloatArray) -> FloatArray:
        """Multiply the affinities by a vector."""
        inside = np.bincount(self.group, weights=x)[self.group] - x
        return np.asarray(self.table @ x) + self.top * inside

    def dense(self) -> FloatArray:
        """Write the affinities out."""
        table = self.table.toarray() if scipy.sparse.issparse(self.table) else np.array(self.table)
        same = self.group[:, None] == self.group
        np.fill_diagonal(same, False)
        table[same] = self.top
        return np.asarray(table)

    def parts(self) -> IntArray:
        """Number the connected components."""
        links = self.table
        if not scipy.sparse.issparse(links):
            if self.n < 2 or (links[~np.eye(self.n, dtype=np.bool_)] > 0).all():
                return np.zeros(self.n, dtype=np.intp)
            links = scipy.sparse.csr_array(links > 0)
        # a group is connected through its first sample
        first = np.unique(self.group, return_index=True)[1][self.group]
        tie = scipy.sparse.csr_array((np.ones(self.n), (np.arange(self.n), first)), shape=(self.n, self.n))
        return connected_parts(links + tie)[1]


def bend(affinity: Any, top: float, problem: Problem) -> Graph:
    """Set affinities that hard statements decide to the largest or to 0, and move those of soft pairs towards it.

    A pair with weight w goes the share 1 - exp(-w) of the way. Consequences of hard statements count as stated.
    """
    top = top if top > 0 else 1.0
    table = without_diagonal(affinity)
    soft = problem.soft_pairs.net()
    if len(soft.pairs):
        table = _lean(table, top, soft)
    if problem.n_groups < problem.n_samples or problem.apart.n_places:
        table = _settle(table, problem)
    if scipy.sparse.issparse(table):
        table.eliminate_zeros()
    return Graph(table, problem.group, top)


def _lean(table: Any, top: float, soft: NetPairs) -> Any:
    i, j = soft.pairs.T
    now = np.asarray(table[i, j]).reshape(-1)
    step = -np.expm1(-np.abs(soft.weight)) * (np.where(soft.weight > 0, top, 0.0) - now)
    if not scipy.sparse.issparse(table):
        table[i, j] += step
        table[j, i] += step
        return table
    change = scipy.sparse.csr_array((step, (i, j)), shape=table.shape)
    return scipy.sparse.csr_array(table + change + change.T)


def _settle(table: Any, problem: Problem) -> Any:
    """Empty the entries that hard statements decide: pairs in one group, and cannot-linked pairs."""
    group, m = problem.group, problem.n_groups
    banned = problem.apart.pairs()
    if not scipy.sparse.issparse(table):
        decided = np.eye(m, dtype=np.bool_)
        decided[banned[:, 0], banned[:, 1]] = decided[banned[:, 1], banned[:, 0]] = True
        table[decided[group[:, None], group]] = 0.0
        return table
    entries = table.tocoo()
    low = np.minimum(group[entries.row], group[entries.col])
    high = np.maximum(group[entries.row], group[entries.col])
    gone = (low == high) | np.isin(low * m + high, banned[:, 0] * m + banned[:, 1])
    kept = (entries.data[~gone], (entries.row[~gone], entries.col[~gone]))
    return scipy.sparse.csr_array(kept, shape=table.shape)
