"""Must-linked samples as one weighted row, with the conflicts between such rows and the way back to samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse

from linkwise._typing import FloatArray, IntArray
from linkwise.problem.statements._conflict_graph import Apart


@dataclass(frozen=True, eq=False)
class Contracted:
    """Samples after hard must-links were contracted; made by `Problem.contract`.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_nodes, n_features)
        One row for each group of must-linked samples: their mean.
    weight : ndarray of float64, shape (n_nodes,)
        Number of samples in each group.
    group : ndarray of intp, shape (n_samples,)
        The row of each sample, numbered by first appearance.
    apart : Apart
        The cannot-link graph between the rows.
    """

    X: Any
    weight: FloatArray
    group: IntArray
    apart: Apart

    @property
    def n_nodes(self) -> int:
        """Number of rows."""
        return len(self.weight)


def mean_rows(X: Any, group: IntArray, size: FloatArray) -> Any:
    """Return the mean row of each group; rows that are alone in their group are copied."""
    if scipy.sparse.issparse(X):
        share = scipy.sparse.csr_array((1.0 / size[group], (group, np.arange(len(group)))))
        return scipy.sparse.csr_array(share @ X)
    rows = np.array(X[np.unique(group, return_index=True)[1]])
    shared = np.flatnonzero(size[group] > 1)
    if len(shared):
        owner, place = np.unique(group[shared], return_inverse=True)
        add = scipy.sparse.csr_array((np.ones(len(shared)), (place.reshape(-1), np.arange(len(shared)))))
        rows[owner] = (add @ X[shared]) / size[owner, None]  # adds one sample after the other, whatever the machine
    return rows
