"""`FrequencySensitiveKMeans`: k-means in which large clusters are less attractive, so that sizes become similar."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from linkwise._random import make_generator
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import LINKS, Kind
from linkwise.engines import ConstrainedClusterer, Kept, kept_floats
from linkwise.engines.assignment import Placement, assign
from linkwise.engines.distances import means, squared, squared_to
from linkwise.engines.partitional._centroid_mixin import CentroidMixin
from linkwise.engines.partitional._init import Start, read_init
from linkwise.engines.partitional._loop import KMeansRun, Loop, fill_empty
from linkwise.engines.partitional._race import race
from linkwise.problem import Problem
from linkwise.problem.statements import Contracted

_PATIENCE = 5  # passes with the same labels after which a run has settled


@dataclass(frozen=True, eq=False)
class FrequencyRun(KMeansRun):
    """Outcome of `FrequencySensitiveKMeans`; ``cost`` is the frequency-weighted cost of the last assignment."""

    frequencies: FloatArray = field(default_factory=lambda: np.empty(0))
    cost: float = np.inf


class FrequencySensitiveKMeans(CentroidMixin, ConstrainedClusterer):
    """Cluster around means so that the distance to a center counts times the frequency of its cluster so far.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_clusters,)
        Mean share of the samples that each cluster had over all passes, times ``n_clusters``: 1 if sizes are equal.

    See Also
    --------
    COPKMeans : with `SizeBetween`, sizes within exact bounds.

    Notes
    -----
    Each pass assigns samples at the minimum sum of squared distances times frequencies, takes the means, and adds the
    sizes to the frequencies. A run ends when labels were the same in five passes; of several runs the one with the
    lowest such sum is kept.
    **Cost** O(n d k) per pass, and the assignment of the samples in cannot-links as in `COPKMeans`.
    **Guarantee** every hard statement holds in ``labels_``, re-checked after each fit; all clusters have samples. Sizes
    are more similar than those of k-means, not equal, and no objective is promised to fall: frequencies change it.
    **Departure from** [1]_ a pass treats all samples at once, so that the result does not depend on their order, and
    distances are squared Euclidean: scale the rows to length 1 for directions, which [1]_ is about. That text was not
    available, and none of its figures was reproduced.

    References
    ----------
    .. [1] A. Banerjee, J. Ghosh, "Frequency Sensitive Competitive Learning for Balanced Clustering on High-dimensional
       Hyperspheres", IEEE Transactions on Neural Networks 15, 2004.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise.engines import FrequencySensitiveKMeans
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [8.0]])
    >>> model = FrequencySensitiveKMeans(2, init=[[2.0], [8.0]]).fit(X)
    >>> np.bincount(model.labels_).tolist()
    [4, 2]
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    _saved: ClassVar[dict[str, Kept]] = {
        "frequencies_": kept_floats(lambda model: (len(model.cluster_centers_),), least=0)
    }

    frequencies_: FloatArray

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        init: Any = "k-means++",
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.init = init

    def _solve(self, problem: Problem) -> FrequencyRun:
        k, cloud, rng, loop = problem.k, problem.contract(), make_generator(self.random_state), Loop.of(self)
        start = Start(read_init(self.init, k, problem.X.shape[1], problem.who), cloud, k, rng)
        place = FrequencyPlaces(cloud, problem.X, problem.witness)
        drawn = race(start)[:1] if loop.race and start.varies else []
        n_runs = loop.n_runs if start.varies else 1
        ended = [compete(place, drawn.pop() if drawn else start.centers(), loop) for _ in range(n_runs)]
        best = min(ended, key=lambda run: run.cost)  # the first of equals
        labels = problem.expand(best.labels)
        inertia = float(squared_to(problem.X, best.centers, labels).sum())
        return FrequencyRun(labels, best.centers, inertia, best.n_iter, best.best_assignment, best.frequencies)

    def _keep(self, outcome: FrequencyRun, problem: Problem) -> None:  # type: ignore[override]
        super()._keep(outcome, problem)
        self.frequencies_ = outcome.frequencies

    def predict(self, X: Any) -> IntArray:
        """Return for each row of X the center whose squared distance times frequency is least.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data. Statements apply to the samples of `fit` only.

        Returns
        -------
        ndarray of intp, shape (n_samples,)
        """
        rows = self._read_new(X)
        return np.asarray((squared(rows, self.cluster_centers_) * self.frequencies_).argmin(axis=1), dtype=np.intp)


class FrequencyPlaces:
    """Assign rows at the minimum sum of squared distances times frequencies; no cannot-link breaks.

    ``witness`` returns labels of all samples in which all statements hold, or raises; it is called only when the
    assignment finds no labels.
    """

    def __init__(self, cloud: Contracted, X: Any, witness: Callable[[], IntArray]) -> None:
        self.cloud, self.witness = cloud, witness
        self.within = _spread_within(cloud, X) / cloud.weight

    def __call__(self, centers: FloatArray, frequencies: FloatArray, before: IntArray | None) -> Placement:
        """Assign all rows."""
        node, apart = self.cloud.apart.node, self.cloud.apart
        away = (squared(self.cloud.X, centers) + self.within[:, None]) * frequencies
        labels = away.argmin(axis=1).astype(np.intp)
        best = True
        if len(node):
            costs = self.cloud.weight[node, None] * away[node]
            found = assign(costs, apart, None if before is None else before[node])
            if not found.solved:
                colors = np.empty(self.cloud.n_nodes, dtype=np.intp)
                colors[self.cloud.group] = self.witness()
                found = assign(costs, apart, colors[node])
            labels[node], best = found.labels, found.best
        return Placement(labels, away[np.arange(len(labels)), labels], best)


def compete(place: FrequencyPlaces, centers: FloatArray, loop: Loop) -> FrequencyRun:
    """Alternate between assigning rows, taking means and counting sizes, from given centers."""
    cloud, k = place.cloud, len(centers)
    wins, before, same, best = np.zeros(k), None, 0, True
    frequencies = np.ones(k)
    for n_iter in range(1, loop.max_iter + 1):
        placed = place(centers, frequencies, before)
        labels, centers = fill_empty(cloud, placed, centers)
        best &= placed.best
        run = FrequencyRun(labels, centers, 0.0, n_iter, best, frequencies, float(cloud.weight @ placed.distance))
        if loop.watch is not None:
            loop.watch(labels, centers, frequencies)
        same = same + 1 if before is not None and np.array_equal(labels, before) else 0
        if same == _PATIENCE:
            break
        before, centers = labels, means(cloud.X, cloud.weight, labels, k)
        wins += np.bincount(labels, cloud.weight, minlength=k)
        frequencies = wins * (k / wins.sum())
    return run


def _spread_within(cloud: Contracted, X: Any) -> FloatArray:
    """Return the sum of squared distances of the samples of each row from it; 0 for a row of one sample."""
    shared = np.flatnonzero(cloud.weight[cloud.group] > 1)
    out = np.zeros(cloud.n_nodes)
    if len(shared):
        gap = X[shared] - cloud.X[cloud.group[shared]]
        squares = gap.multiply(gap) if scipy.sparse.issparse(gap) else gap**2
        np.add.at(out, cloud.group[shared], np.asarray(squares.sum(axis=1)).ravel())
    return out
