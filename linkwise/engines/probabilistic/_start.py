"""Where EM starts: responsibilities of the chunklets, the way scikit-learn's `GaussianMixture` starts on samples."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from linkwise.engines.probabilistic._chunklets import Chunklets, sum_rows

__all__ = ["STARTS", "random_source", "start"]

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.intp]

STARTS = ("kmeans", "k-means++", "random", "random_from_data")


def random_source(random_state: Any) -> np.random.RandomState:
    """Where random numbers come from; None stands for new ones, never for NumPy's global generator."""
    return np.random.RandomState() if random_state is None else check_random_state(random_state)


def start(
    X: FloatArray,
    graph: Chunklets,
    k: int,
    init: str | FloatArray,
    random: np.random.RandomState,
    decide: Callable[[FloatArray], IntArray],
) -> FloatArray:
    """Return responsibilities of each chunklet.

    ``init`` is one of `STARTS` or the centres to start from. Labels found by k-means or by nearest centres are changed,
    as little as possible in the sum of squares, until ``decide`` lets them stand.
    """
    n = graph.n
    out = np.zeros((n, k))
    if isinstance(init, str) and init == "random":
        out[:] = random.uniform(size=(n, k))
        return np.asarray(out / out.sum(axis=1)[:, None])
    points, weight = _centres(X, graph)
    if isinstance(init, str) and init == "random_from_data":
        out[random.choice(n, size=k, replace=False), np.arange(k)] = 1
        return out
    if isinstance(init, str) and init == "k-means++":
        _, chosen = kmeans_plusplus(points, k, sample_weight=weight, random_state=random)
        out[chosen, np.arange(k)] = 1
        return out
    if isinstance(init, str):
        with warnings.catch_warnings():  # that k-means left a cluster empty is of no interest: it is only a start
            warnings.simplefilter("ignore", ConvergenceWarning)
            found: Any = KMeans(n_clusters=k, n_init=1, random_state=random).fit(points, sample_weight=weight)
        labels, centres = found.labels_, found.cluster_centers_
    else:
        labels, centres = None, init
    if labels is None or len(graph.pairs):
        labels = _nearest(X, graph, centres, decide)
    out[np.arange(n), labels] = 1
    return out


def _centres(X: FloatArray, graph: Chunklets) -> tuple[FloatArray, FloatArray | None]:
    """The mean of each chunklet, weighted by its size."""
    if graph.plain:
        return X, None
    total = np.zeros((graph.n, X.shape[1]))
    sum_rows(graph.of, X, total)
    return total / graph.size[:, None], graph.size.astype(np.float64)


def _nearest(
    X: FloatArray, graph: Chunklets, centres: FloatArray, decide: Callable[[FloatArray], IntArray]
) -> IntArray:
    """Labels of the chunklets under equal round Gaussians at the centres, as wide as the samples lie from them."""
    square = np.empty((len(X), len(centres)))
    for j, centre in enumerate(centres):
        difference = X - centre
        np.einsum("ij,ij->i", difference, difference, out=square[:, j])
    variance = float(square.min(axis=1).mean()) / X.shape[1]
    variance = max(variance, np.finfo(np.float64).eps * float(square.max())) or 1.0  # samples may lie on the centres
    return decide(graph.gather(square / (-2 * variance)))
