"""Samples after must-linked ones became one: weighted means, what is still to be apart, and the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from linkwise._kernels.disjoint_set import components
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Groups, Kind
from linkwise.engines.distances import join_rows, means
from linkwise.problem.statements import Apart, keep_apart


@dataclass(frozen=True, eq=False)
class Cloud:
    """What k-means moves: rows with weights, some of them to be apart.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_nodes, n_features)
        The samples; must-linked ones are one row, their mean.
    weight : ndarray of float64, shape (n_nodes,)
        How many samples each row stands for.
    group : ndarray of intp, shape (n_samples,)
        The row of each sample.
    apart : Apart
        Which rows must be in different clusters.
    """

    X: Any
    weight: FloatArray
    group: IntArray
    apart: Apart

    @property
    def n_nodes(self) -> int:
        """Number of rows."""
        return len(self.weight)


def contract(X: Any, constraints: Constraints) -> Cloud:
    """Join must-linked samples and write what is to be apart over the joined ones; only hard statements count.

    The caller has made sure that nothing that is to be apart is must-linked.
    """
    n, hard = constraints.n_samples, constraints.is_hard
    must, at = constraints.must_links()
    must = must[hard[at]]
    group: IntArray = components(n, np.ascontiguousarray(must)) if len(must) else np.arange(n)
    pairs = group[constraints.items[(constraints.kind == Kind.CANNOT_LINK) & hard, :2]]
    groups = constraints.groups_of(Kind.APART)
    groups = groups.pick(hard[groups.statement])
    groups = Groups(groups.statement, groups.start, group[groups.member])
    n_nodes = int(group.max(initial=-1)) + 1
    apart = keep_apart(n_nodes, pairs.reshape(-1, 2), groups)
    weight = np.bincount(group, minlength=n_nodes).astype(np.float64)
    if n_nodes == n:
        return Cloud(X, weight, group, apart)
    if scipy.sparse.issparse(X):
        return Cloud(join_rows(X, 1.0 / weight[group], group, n_nodes), weight, group, apart)
    return Cloud(means(X, np.ones(n), group, n_nodes), weight, group, apart)
