"""`Gram`: the matrix behind every criterion of semi-supervised kernel k-means, over groups of must-linked samples.

Weighted kernel k-means with kernel K and node weights a never needs K, only T = diag(a) K diag(a) and the masses a: the
criterion is a constant minus the sum over clusters of z T z / (z a), z being the members. For normalized cut with
K = D^-1 (A + W) D^-1 and a = D this T is A + W, as sparse as the graph. Must-linked samples are one node: rows and
columns of T add up, and so do masses.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.graph._embedding import start_vector
from linkwise.engines.graph._kernels_gram import _dense_sums, _sparse_sums
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem

OBJECTIVES: tuple[str, ...] = ("hmrf", "ratio_association", "ratio_cut", "normalized_cut")
_FEW = 400  # nodes up to which the whole matrix is decomposed


@dataclass(frozen=True, eq=False)
class Gram:
    """The matrix T, the masses and the constant of a criterion."""

    table: Any  # symmetric, dense or CSR, without the shift
    mass: FloatArray  # of the nodes, positive
    diagonal: FloatArray  # of the table
    constant: float  # the criterion when every cluster contributes nothing

    @property
    def n(self) -> int:
        """Number of nodes."""
        return len(self.mass)

    def sums(self, labels: IntArray, k: int) -> FloatArray:
        """Sum the entries of each row over the nodes of each cluster."""
        if scipy.sparse.issparse(self.table):
            return _sparse_sums(self.table.data, self.table.indices, self.table.indptr, labels, k)  # type: ignore[no-any-return]
        return _dense_sums(self.table, labels, k)  # type: ignore[no-any-return]

    def columns(self, nodes: IntArray) -> FloatArray:
        """Return some columns, dense."""
        if scipy.sparse.issparse(self.table):
            return np.asarray(self.table[nodes].toarray().T)  # symmetric
        return np.asarray(self.table[:, nodes])

    def squared(self, nodes: IntArray) -> FloatArray:
        """Squared distances in feature space of all nodes to some; negative values of an indefinite table become 0."""
        own = self.diagonal / self.mass**2
        out = own[:, None] + own[nodes] - 2.0 * self.columns(nodes) / (self.mass[:, None] * self.mass[nodes])
        out[nodes, np.arange(len(nodes))] = 0.0
        return np.asarray(np.maximum(out, 0.0))

    def scaled(self) -> LinearOperator:
        """The table between inverse roots of the masses, which has to be positive semidefinite."""
        root = 1.0 / np.sqrt(self.mass)

        def times(x: FloatArray) -> FloatArray:
            return np.asarray(root * (self.table @ (root * x.reshape(-1))))

        return LinearOperator((self.n, self.n), matvec=times, dtype=np.float64)

    def scaled_dense(self) -> FloatArray:
        """The same, written out."""
        table = self.table.toarray() if scipy.sparse.issparse(self.table) else self.table
        root = 1.0 / np.sqrt(self.mass)
        return np.asarray(root[:, None] * table * root)

    def least_shift(self) -> float:
        """The smallest multiple of the masses on the diagonal that makes the kernel positive semidefinite."""
        if self.n <= _FEW:
            lowest = float(scipy.linalg.eigvalsh(self.scaled_dense(), subset_by_index=[0, 0])[0])
            return max(0.0, -lowest)
        scaled = self.scaled()
        try:
            value, vector = eigsh(scaled, 1, which="SA", v0=start_vector(self.n), tol=1e-4)
        except ArpackNoConvergence:  # the discs of Gershgorin hold all eigenvalues
            return self._gershgorin()
        missed = float(np.linalg.norm(scaled @ vector[:, 0] - value[0] * vector[:, 0]))
        return min(max(0.0, missed - float(value[0])), self._gershgorin())

    def _gershgorin(self) -> float:
        root = np.sqrt(self.mass)
        around = np.asarray(abs(self.table) @ (1.0 / root)) / root - np.abs(self.diagonal) / self.mass
        return max(0.0, float((around - self.diagonal / self.mass).max()))


def make_gram(affinity: Any, objective: str, problem: Problem) -> Gram:
    """Build the table of a criterion from affinities (or inner products) and the statements of a problem.

    A soft pair of weight w adds w/2 to both of its entries, or takes it away, so that a broken pair counts once.
    """
    n, soft, group = problem.n_samples, problem.soft_pairs.net(), problem.group
    mass = np.ones(n)
    constant = 0.0
    if objective == "hmrf":
        constant = float(affinity.diagonal().sum())
    elif objective == "normalized_cut":
        mass, constant = np.asarray(affinity.sum(axis=1)).reshape(-1), float(problem.k)
        alone = np.flatnonzero(mass <= 0)
        if len(alone):
            msg = (
                f"{problem.who}: {len(alone):,} sample(s) have no affinity to any, the first in row {alone[0]}; a "
                'normalized cut divides by it.\nHint: give samples an affinity to themselves, or objective="ratio_cut".'
            )
            raise LinkwiseError(msg)
    elif objective == "ratio_cut":
        degree = np.asarray(affinity.sum(axis=1)).reshape(-1)
        affinity = affinity - (scipy.sparse.diags_array(degree) if scipy.sparse.issparse(affinity) else np.diag(degree))
    i, j = soft.pairs.T
    half = soft.weight / 2
    if scipy.sparse.issparse(affinity):
        bonus = scipy.sparse.csr_array((half, (i, j)), shape=(n, n))
        table = _join(scipy.sparse.csr_array(affinity + bonus + bonus.T), group)
        table.sum_duplicates()
        table.sort_indices()
        table.indices, table.indptr = table.indices.astype(np.intp), table.indptr.astype(np.intp)
    else:
        table = np.array(affinity)
        table[i, j] += half
        table[j, i] += half
        table = _join(table, group)
    return Gram(table, np.bincount(group, weights=mass).astype(np.float64), np.array(table.diagonal()), constant)


def _join(table: Any, group: IntArray) -> Any:
    """Add up rows and columns of each group."""
    n, m = len(group), int(group.max(initial=-1)) + 1
    if m == n:
        return table
    pick = scipy.sparse.csr_array((np.ones(n), (group, np.arange(n))), shape=(m, n))
    joined = pick @ table @ pick.T
    if scipy.sparse.issparse(table):
        return scipy.sparse.csr_array(joined)
    joined = np.asarray(joined)
    return np.ascontiguousarray((joined + joined.T) / 2)
