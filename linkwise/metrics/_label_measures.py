"""Measures of label vectors over whole clusters: purity, shared information, chance-corrected agreement, silhouette."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.metrics._read_labels import Judged, cells, read_judged, read_labels


def purity(y_true: Any, labels: Any, *, unlabeled: Any = -1) -> float:
    """Share of the samples that belong to the commonest class of their cluster.

    Parameters as in `pairwise_scores`.

    Returns
    -------
    float
        Above 0, up to 1. Splitting a cluster never lowers it, and singletons have 1: compare equal numbers of clusters.

    Notes
    -----
    The weighted purity of the tutorial of Basu and Davidson, "Clustering with Constraints" (2006): the purity of each
    cluster, weighted by its size.

    Examples
    --------
    >>> from linkwise.metrics import purity
    >>> purity([0, 0, 1, 1], [0, 0, 0, 1])
    0.75
    """
    judged = read_judged("purity", y_true, labels, unlabeled)
    _, cluster, count = cells(judged.classes, judged.clusters, judged.n_clusters)
    best = np.zeros(judged.n_clusters, dtype=np.intp)
    np.maximum.at(best, cluster, count)
    return int(best.sum()) / len(judged.samples)


def nmi(y_true: Any, labels: Any, *, unlabeled: Any = -1) -> float:
    """Information that classes and clusters share, divided by the mean of the information in each.

    Parameters as in `pairwise_scores`.

    Returns
    -------
    float
        From 0 (independent) to 1 (the same partition). Many small clusters raise it: see `adjusted_mutual_info`.

    Notes
    -----
    I(C; K) / ((H(C) + H(K)) / 2), the arithmetic mean as in the tutorial of Basu and Davidson, "Clustering with
    Constraints" (2006); scikit-learn's default is the same. When classes and clusters are both all one, it is 1.

    Examples
    --------
    >>> from linkwise.metrics import nmi
    >>> nmi([0, 0, 1, 1], [5, 5, 3, 3]), nmi([0, 0, 1, 1], [0, 1, 0, 1])
    (1.0, 0.0)
    """
    judged = read_judged("nmi", y_true, labels, unlabeled)
    if _are_same(judged):  # no rounding
        return 1.0
    row, column, count = cells(judged.classes, judged.clusters, judged.n_clusters)
    n = len(judged.samples)
    by_class, by_cluster = np.bincount(judged.classes), np.bincount(judged.clusters)
    # log(n * cell / (row * column)) from logarithms, since the products outgrow 64 bits before the counts do
    bits = np.log(n) + np.log(count) - np.log(by_class[row]) - np.log(by_cluster[column])
    shared = float((count / n * bits).sum())
    mean = (_entropy(by_class) + _entropy(by_cluster)) / 2
    return min(max(shared / mean, 0.0), 1.0)


def _are_same(judged: Judged) -> bool:
    """Whether every class is a cluster."""
    count = cells(judged.classes, judged.clusters, judged.n_clusters)[2]
    return len(count) == judged.n_classes == judged.n_clusters


def _entropy(size: IntArray) -> float:
    share = size / size.sum()
    return float(-(share * np.log(share)).sum())


def adjusted_rand(y_true: Any, labels: Any, *, unlabeled: Any = -1) -> float:
    """Rand index corrected so that random clusterings have 0 on average; computed by scikit-learn.

    Parameters as in `pairwise_scores`.

    Returns
    -------
    float
        From -1 to 1 (the least that occurs is -0.5).

    References
    ----------
    .. [1] L. Hubert, P. Arabie, "Comparing Partitions", Journal of Classification 2, 1985.

    Examples
    --------
    >>> from linkwise.metrics import adjusted_rand
    >>> adjusted_rand([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    from sklearn.metrics import adjusted_rand_score

    judged = read_judged("adjusted_rand", y_true, labels, unlabeled)
    return float(adjusted_rand_score(judged.classes, judged.clusters))


def adjusted_mutual_info(y_true: Any, labels: Any, *, unlabeled: Any = -1) -> float:
    """Shared information corrected so that random clusterings have 0 on average; computed by scikit-learn.

    Parameters as in `pairwise_scores`.

    Returns
    -------
    float
        At most 1; slightly below 0 for clusterings worse than chance. The arithmetic mean normalizes, as in `nmi`.

    Notes
    -----
    **Cost** O(number of classes x n): the expectation is summed over all tables with the same margins.

    References
    ----------
    .. [1] N. X. Vinh, J. Epps, J. Bailey, "Information Theoretic Measures for Clusterings Comparison", JMLR 11, 2010.

    Examples
    --------
    >>> from linkwise.metrics import adjusted_mutual_info
    >>> adjusted_mutual_info([0, 0, 1, 1], [1, 1, 0, 0])
    1.0
    """
    from sklearn.metrics import adjusted_mutual_info_score

    judged = read_judged("adjusted_mutual_info", y_true, labels, unlabeled)
    if _are_same(judged):  # scikit-learn before 1.7 has 0 where every sample is a class
        return 1.0
    return float(adjusted_mutual_info_score(judged.classes, judged.clusters, average_method="arithmetic"))


def silhouette(X: Any, labels: Any, *, metric: str = "euclidean", M: Any = None) -> float:
    """Mean silhouette: how much closer samples are to their own cluster than to the next one; needs no classes.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features) or (n_samples, n_samples)
        Samples, or with ``metric="precomputed"`` their distances. No truth is needed.
    labels : array-like of shape (n_samples,)
        The cluster of each sample.
    metric : str, default="euclidean"
        Any metric scikit-learn's ``pairwise_distances`` knows, or ``"precomputed"``.
    M : array-like of shape (n_features, n_features) or (n_features,), optional
        A learned metric: distances are sqrt((x - y)' M (x - y)). Symmetric, without negative eigenvalues; a vector
        stands for a diagonal matrix. Goes with ``metric="euclidean"`` only.

    Returns
    -------
    float
        Mean over samples of (b - a) / max(a, b), where a is the mean distance to the own cluster and b that to the
        nearest other one: from -1 to 1. Samples alone in their cluster count 0. nan, with a warning, for one cluster,
        as there is no other to compare with.

    Notes
    -----
    **Cost** O(n²) time, computed by scikit-learn in slices.

    References
    ----------
    .. [1] P. J. Rousseeuw, "Silhouettes: a Graphical Aid to the Interpretation and Validation of Cluster Analysis",
       Journal of Computational and Applied Mathematics 20, 1987.

    Examples
    --------
    >>> from linkwise.metrics import silhouette
    >>> X = [[0.0, 0.0], [0.0, 9.0], [1.0, 0.0], [1.0, 9.0]]
    >>> silhouette(X, [0, 0, 1, 1]) < 0 < silhouette(X, [0, 0, 1, 1], M=[1.0, 0.0])
    True
    """
    from sklearn.metrics import silhouette_score

    data = X if hasattr(X, "tocsr") else np.asarray(X)
    if data.ndim != 2:
        msg = f"silhouette: X has shape {data.shape}, expected two dimensions."
        raise LinkwiseError(msg)
    codes, k = read_labels("silhouette", "labels", labels, data.shape[0])
    if M is not None:
        data = _stretched(data, M, metric)
    if k == 1:
        warnings.warn(
            "silhouette: all samples are in one cluster, and there is no other to compare with, so the mean is nan.",
            LinkwiseWarning,
            stacklevel=2,
        )
        return float("nan")
    if k == data.shape[0]:  # refused by scikit-learn, defined by Rousseeuw: a sample alone counts 0
        return 0.0
    return float(silhouette_score(data, codes, metric=metric))


def _stretched(data: Any, M: Any, metric: str) -> FloatArray:
    """Return samples whose Euclidean distances are the distances under M."""
    if metric != "euclidean":
        msg = f'silhouette: metric is {metric!r}, expected "euclidean" with M.\nHint: leave `metric` out.'
        raise LinkwiseError(msg)
    samples = np.asarray(data.toarray() if hasattr(data, "toarray") else data, dtype=np.float64)
    matrix = np.asarray(M, dtype=np.float64)
    d = samples.shape[1]
    if matrix.shape == (d,):
        matrix = np.diag(matrix)
    if matrix.shape != (d, d):
        msg = f"silhouette: M has shape {matrix.shape}, expected ({d}, {d}) or ({d},), as X has {d} features."
        raise LinkwiseError(msg)
    size = float(np.abs(matrix).max(initial=0.0))
    if not np.isfinite(size) or not np.allclose(matrix, matrix.T, rtol=0, atol=1e-8 * size):
        msg = "silhouette: M is not symmetric and finite, expected a metric.\nHint: pass `(M + M.T) / 2`."
        raise LinkwiseError(msg)
    value, vector = np.linalg.eigh((matrix + matrix.T) / 2)
    if value[0] < -1e-8 * size:
        msg = f"silhouette: M has the negative eigenvalue {value[0]:.3g}, expected none below 0."
        raise LinkwiseError(msg)
    return np.asarray(samples @ (vector * np.sqrt(np.maximum(value, 0.0))))
