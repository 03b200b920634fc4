"""Confusion matrix of classes and clusters, with the clusters matched to classes or not."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._typing import IntArray
from linkwise.exceptions import LinkwiseError
from linkwise.metrics._read_labels import cells, names_of, read_judged

_MOST_CELLS = 50_000_000


class Confusion(NamedTuple):
    """Samples of each class (row) in each cluster (column); made by `confusion_matrix`, printed as a table.

    Examples
    --------
    >>> from linkwise.metrics import confusion_matrix
    >>> print(confusion_matrix(["owl", "owl", "elk"], [0, 0, 1]))
         1  0
    elk  1  0
    owl  0  2
    """

    matrix: IntArray
    classes: npt.NDArray[Any]
    clusters: npt.NDArray[Any]
    n_matched: int

    @property
    def accuracy(self) -> float:
        """Share of the samples in the cluster that was matched to their class; nan if clusters were not matched."""
        if not self.n_matched:
            return float("nan")
        return int(np.trace(self.matrix[: self.n_matched, : self.n_matched])) / int(self.matrix.sum())

    def __str__(self) -> str:
        """Lay the table out for a terminal."""
        table = [["", *map(str, self.clusters)]]
        table += [[str(name), *map(str, row)] for name, row in zip(self.classes, self.matrix.tolist(), strict=True)]
        wide = [max(map(len, column)) for column in zip(*table, strict=True)]
        lines = (
            [row[0].ljust(wide[0]), *(word.rjust(w) for word, w in zip(row[1:], wide[1:], strict=True))]
            for row in table
        )
        return "\n".join("  ".join(line) for line in lines)


def confusion_matrix(y_true: Any, labels: Any, *, match: bool = True, unlabeled: Any = -1) -> Confusion:
    """Count the samples of each class in each cluster.

    Parameters
    ----------
    y_true, labels, unlabeled
        As in `pairwise_scores`.
    match : bool, default=True
        Order the rows and columns so that the diagonal holds as many samples as possible: class and cluster number i
        are matched, the others follow in sorted order. False: classes and clusters in sorted order.

    Returns
    -------
    Confusion
        ``matrix`` of shape (n_classes, n_clusters), the names ``classes`` and ``clusters`` of its rows and columns,
        ``n_matched`` (0 with ``match=False``), and ``accuracy``, the share of the samples on the diagonal.

    Notes
    -----
    Matched classes are in sorted order. **Cost** O(n log n), and cubic in the number of clusters with ``match``.
    **Guarantee** no other one-to-one matching of classes and clusters has a larger diagonal. The tutorial [1]_ shows
    such tables to compare questions asked at random with those of an active strategy.

    References
    ----------
    .. [1] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> from linkwise.metrics import confusion_matrix
    >>> found = confusion_matrix([0, 0, 0, 1, 1, 2], [7, 7, 5, 5, 5, 4])
    >>> found.matrix.tolist(), found.clusters.tolist()
    ([[2, 1, 0], [0, 2, 0], [0, 0, 1]], [7, 5, 4])
    >>> round(found.accuracy, 3)
    0.833
    """
    from scipy.optimize import linear_sum_assignment

    who = "confusion_matrix"
    judged = read_judged(who, y_true, labels, unlabeled)
    classes = names_of(who, "y_true", y_true, judged.samples)
    clusters = names_of(who, "labels", labels, judged.samples)
    if len(classes) * len(clusters) > _MOST_CELLS:
        msg = (
            f"confusion_matrix: {len(classes):,} classes and {len(clusters):,} clusters make too large a table, "
            f"expected at most {_MOST_CELLS:,} cells.\nHint: `nmi` and `pairwise_scores` need no table."
        )
        raise LinkwiseError(msg)
    matrix = np.zeros((len(classes), len(clusters)), dtype=np.intp)
    row, column, count = cells(judged.classes, judged.clusters, judged.n_clusters)
    matrix[row, column] = count
    if not match:
        return Confusion(matrix, classes, clusters, 0)
    rows, columns = linear_sum_assignment(-matrix)
    rows = np.concatenate([rows, np.setdiff1d(np.arange(len(classes)), rows)])
    columns = np.concatenate([columns, np.setdiff1d(np.arange(len(clusters)), columns)])
    return Confusion(matrix[np.ix_(rows, columns)], classes[rows], clusters[columns], min(matrix.shape))
