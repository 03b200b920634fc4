"""`AlternativeKMeans`: k-means on the part of the data that given clusterings do not explain."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from linkwise._random import make_generator
from linkwise._typing import FloatArray, IntArray
from linkwise._value_columns import number_values, read_known
from linkwise.constraints import LINKS, Kind
from linkwise.engines import FEATURES, REPORTED, ConstrainedClusterer, Kept, kept_floats
from linkwise.engines.assignment import ExactPlaces
from linkwise.engines.distances import squared, squared_to, typical_variance
from linkwise.engines.partitional._centroid_mixin import CentroidMixin
from linkwise.engines.partitional._init import Start, read_init
from linkwise.engines.partitional._loop import KMeansRun, Loop, fill_empty
from linkwise.engines.partitional._race import race
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem


@dataclass(frozen=True, eq=False)
class AlternativeRun(KMeansRun):
    """Outcome of `AlternativeKMeans`."""

    shifts: FloatArray = field(default_factory=lambda: np.empty((0, 0)))
    objective: float = np.inf


class AlternativeKMeans(CentroidMixin, ConstrainedClusterer):
    """Find a clustering that differs from given ones: k-means on what these do not explain.

    Parameters
    ----------
    different_from : array-like of shape (n_samples,) or (n_samples, n_clusterings), default=None
        One known clustering of the samples of `fit`, or several as columns: any labels without missing values. None:
        plain k-means.

    Attributes
    ----------
    shifts_ : ndarray of shape (n_combinations, n_features)
        How far each combination of given clusters that occurs moves its samples, on average 0 over the samples.
    objective_ : float
        Sum of squared distances of the samples to the center of their cluster plus the shift of their given clusters.
    inertia_ : float
        Sum of squared Euclidean distances of the samples to the centers of their clusters, shifts left aside.

    See Also
    --------
    COPKMeans : the same without a clustering to differ from.

    Notes
    -----
    A sample is modeled as the center of its cluster plus a shift for each of its given clusters. Assignment and a least
    squares fit of centers and shifts alternate. A cluster that repeats a given one explains nothing that its shift does
    not, so the new clusters follow the strongest structure besides. **Cost** O(n d (k + m)) per iteration for m given
    clusters, and (k + m)^3. **Guarantee** every hard statement holds in ``labels_``, re-checked after each fit; the
    objective never rises; all clusters have samples. New rows go to the nearest sum of a center and a shift.
    **Departure from** [1]_ which maximizes the information that clusters hold about discrete features given the known
    clustering, I(C; Y | Z), and coordinates clusters across the known ones by a bound on I(C; Y): this is its form for
    Gaussians of one variance, in which the same centers for all known clusters coordinate them.

    References
    ----------
    .. [1] D. Gondek, T. Hofmann, "Non-Redundant Data Clustering", ICDM 2004.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise.engines import AlternativeKMeans
    >>> X = np.array([[0.0, 0.0], [0.0, 2.0], [9.0, 0.0], [9.0, 2.0]])
    >>> AlternativeKMeans(2, different_from=[0, 0, 1, 1], random_state=0).fit_predict(X).tolist()
    [0, 1, 0, 1]
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"different_from": ["array-like", None]}
    _saved: ClassVar[dict[str, Kept]] = {"shifts_": kept_floats(None, FEATURES), "objective_": REPORTED}

    shifts_: FloatArray
    objective_: float

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        different_from: Any = None,
        init: Any = "k-means++",
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.different_from = different_from
        self.init = init

    def _solve(self, problem: Problem) -> AlternativeRun:
        k, rng, loop = problem.k, make_generator(self.random_state), Loop.of(self)
        model = Shifted(problem, read_given(self.different_from, problem.n_samples, problem.who), loop)
        cloud = problem.contract(problem.X - model.alone())
        start = Start(read_init(self.init, k, problem.X.shape[1], problem.who), cloud, k, rng)
        drawn = race(start)[:1] if loop.race and start.varies else []
        n_runs = loop.n_runs if start.varies else 1
        ended = [model.run(drawn.pop() if drawn else start.centers()) for _ in range(n_runs)]
        return min(ended, key=lambda run: run.objective)  # the first of equals

    def _keep(self, outcome: AlternativeRun, problem: Problem) -> None:  # type: ignore[override]
        super()._keep(outcome, problem)
        self.shifts_ = outcome.shifts
        self.objective_ = outcome.objective

    def predict(self, X: Any) -> IntArray:
        """Return for each row of X the cluster whose center, plus some shift of given clusters, is nearest.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data. Neither its given clusters nor statements about it are known.

        Returns
        -------
        ndarray of intp, shape (n_samples,)
        """
        rows = self._read_new(X)
        away = np.min([squared(rows - shift, self.cluster_centers_) for shift in self.shifts_], axis=0)
        return np.asarray(away.argmin(axis=1), dtype=np.intp)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = False
        return tags


def read_given(different_from: Any, n: int, who: str) -> IntArray:
    """Number the clusters of each given clustering; shape (n_samples, n_clusterings)."""
    if different_from is None:
        return np.empty((n, 0), dtype=np.intp)
    given = different_from if hasattr(different_from, "__array__") else np.asarray(different_from)
    shape = np.shape(given)
    if len(shape) not in (1, 2) or shape[0] != n:
        msg = (
            f"{who}: different_from has shape {shape}, expected ({n},), or ({n}, m) for m clusterings, one row for "
            "each sample of X.\nHint: different_from=earlier.labels_."
        )
        raise LinkwiseError(msg)
    table = np.asarray(given).reshape(n, -1)
    codes = np.empty(table.shape, dtype=np.intp)
    for j in range(table.shape[1]):
        column, known = read_known(f"{who}: different_from", table[:, j])
        if not known.all():
            msg = f"{who}: different_from has no label for sample {int(np.argmin(known))}, expected one for each."
            raise LinkwiseError(msg)
        codes[:, j] = number_values(f"{who}: different_from", column, known)[0]
    return codes


class Shifted:
    """Samples as sums of a center and shifts: assignment and least squares in turn."""

    def __init__(self, problem: Problem, given: IntArray, loop: Loop) -> None:
        self.problem, self.loop = problem, loop
        self.tolerance = loop.tol * typical_variance(problem.X)
        offset = np.concatenate([[0], np.cumsum(given.max(axis=0, initial=-1) + 1)]).astype(np.intp)
        self.column, self.n_given = given + offset[:-1], int(offset[-1])
        self.first: IntArray = np.zeros(1, dtype=np.intp)  # a sample of each combination of given clusters
        if given.shape[1]:
            self.first = np.unique(given, axis=0, return_index=True)[1].astype(np.intp)

    def alone(self) -> FloatArray:
        """Return the shift of each sample if there is one center."""
        return self._fit(np.zeros(self.problem.n_samples, dtype=np.intp), 1)[1]

    def run(self, centers: FloatArray) -> AlternativeRun:
        """Alternate from given centers until labels repeat or centers stop moving."""
        problem, k = self.problem, len(centers)
        shift, before, best, n_iter, done = self.alone(), None, True, 0, False
        while n_iter < self.loop.max_iter and not done:
            n_iter += 1
            cloud = problem.contract(problem.X - shift)
            placed = ExactPlaces(cloud, problem.witness)(centers, before)
            labels, _ = fill_empty(cloud, placed, centers)
            best &= placed.best
            done = before is not None and np.array_equal(labels, before)
            last, before = centers, labels
            centers, shift = self._fit(problem.expand(labels), k)
            value = float(squared_to(problem.X - shift, centers, problem.expand(labels)).sum())
            if self.loop.watch is not None:
                self.loop.watch(problem.expand(labels), value)
            done = done or float(((centers - last) ** 2).sum()) <= self.tolerance
        expanded = problem.expand(labels)
        inertia = float(squared_to(problem.X, centers, expanded).sum())
        return AlternativeRun(expanded, centers, inertia, n_iter, best, shift[self.first], value)

    def _fit(self, labels: IntArray, k: int) -> tuple[FloatArray, FloatArray]:
        """Return the best centers for these labels and the shift of each sample, whose mean is 0."""
        from scipy.sparse import csr_array

        X, n = self.problem.X, self.problem.n_samples
        columns = np.column_stack([labels, k + self.column])
        shape = (n, k + self.n_given)
        at = np.arange(0, columns.size + 1, columns.shape[1])
        design = csr_array((np.ones(columns.size), columns.ravel(), at), shape=shape)
        # centers and shifts are determined up to constants, which the pseudo-inverse and the mean fix
        effect = np.linalg.pinv((design.T @ design).toarray(), hermitian=True) @ (design.T @ X)
        shift = effect[k + self.column].sum(axis=1)
        mean = shift.mean(axis=0)
        return np.ascontiguousarray(effect[:k] + mean), np.asarray(shift - mean)
