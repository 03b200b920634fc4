"""Expectation-maximization: starts, parameters, the loop and its outcome."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from sklearn.cluster import KMeans, kmeans_plusplus
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.distances import in_unit, unit_of
from linkwise.engines.mixture._factors import Chunklets
from linkwise.engines.mixture._gaussian import Gaussians, fit_gaussians, log_density
from linkwise.engines.mixture._kernels_gaussian import sum_rows

STARTS = ("kmeans", "k-means++", "random", "random_from_data")


def random_source(random_state: Any) -> np.random.RandomState:
    """A source of random numbers; None stands for a new one, never for NumPy's global generator."""
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

    ``init`` is one of `STARTS` or the centers to start from. Labels found by k-means or by nearest centers are changed,
    as little as possible in the sum of squares, until ``decide`` lets them stand.
    """
    n = graph.n
    out = np.zeros((n, k))
    if isinstance(init, str) and init == "random":
        out[:] = random.uniform(size=(n, k))
        return np.asarray(out / out.sum(axis=1)[:, None])
    points, weight = _centers(X, graph)
    if isinstance(init, str) and init == "random_from_data":
        out[random.choice(n, size=k, replace=False), np.arange(k)] = 1
        return out
    if isinstance(init, str) and init == "k-means++":
        _, chosen = kmeans_plusplus(points, k, sample_weight=weight, random_state=random)
        out[chosen, np.arange(k)] = 1
        return out
    if isinstance(init, str):
        with warnings.catch_warnings():  # k-means may leave a cluster empty: it is only a start
            warnings.simplefilter("ignore", ConvergenceWarning)
            found: Any = KMeans(n_clusters=k, n_init=1, random_state=random).fit(points, sample_weight=weight)
        labels, centers = found.labels_, found.cluster_centers_
    else:
        labels, centers = None, init
    if labels is None or len(graph.pairs):
        labels = _nearest(X, graph, centers, decide)
    out[np.arange(n), labels] = 1
    return out


def _centers(X: FloatArray, graph: Chunklets) -> tuple[FloatArray, FloatArray | None]:
    """The mean of each chunklet, weighted by its size."""
    if graph.plain:
        return X, None
    total = np.zeros((graph.n, X.shape[1]))
    sum_rows(graph.of, X, total)
    return total / graph.size[:, None], graph.size.astype(np.float64)


def _nearest(
    X: FloatArray, graph: Chunklets, centers: FloatArray, decide: Callable[[FloatArray], IntArray]
) -> IntArray:
    """Labels of the chunklets under equal round Gaussians at the centers, as wide as the samples lie from them."""
    square = np.empty((len(X), len(centers)))
    for j, center in enumerate(centers):
        difference = X - center
        np.einsum("ij,ij->i", difference, difference, out=square[:, j])
    variance = float(square.min(axis=1).mean()) / X.shape[1]
    variance = max(variance, np.finfo(np.float64).eps * float(square.max())) or 1.0  # samples may lie on the centers
    return decide(graph.gather(square / (-2 * variance)))


ROUNDING = 16 * float(np.finfo(np.float64).eps)  # remainder of a constant after its mean was subtracted, relative to it


class Beliefs(Protocol):
    """The model of the labels of chunklets that EM needs: `Given` or `Penalized`."""

    graph: Chunklets
    rough_samples: int

    def log_weight(self, log_density: FloatArray, weights: FloatArray) -> FloatArray:
        """Log of density times prior of every chunklet in every cluster."""

    def expect(self, log_density: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective and the label probabilities of each chunklet."""

    def counts(self, chance: FloatArray) -> FloatArray:
        """Return how often the weight of each cluster is expected to count."""

    def weigh(self, chance: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the mixing weights for these label probabilities."""

    def decide(self, unary: FloatArray) -> IntArray:
        """Return labels in which every hard statement holds."""

    def forget(self) -> None:
        """Start again: another start is tried."""


class Settings(NamedTuple):
    """The parameters of EM, as in `ConstrainedGaussianMixture`; `climb` reads ``reg_covar`` as a share of variances."""

    covariance_type: str
    tol: float
    reg_covar: Any
    max_iter: int
    n_init: int
    init: Any
    random_state: Any

    @classmethod
    def of(cls, model: Any) -> Settings:
        """Read the parameters of an estimator, which scikit-learn has validated."""
        return cls(*(getattr(model, name) for name in cls._fields))


@dataclass(frozen=True, eq=False)
class Mixture:
    """A mixture of Gaussians, shaped as in scikit-learn's `GaussianMixture`, and its labels of the fitted samples.

    ``lower_bounds`` is the objective per sample after every E-step.
    """

    labels: IntArray
    responsibilities: FloatArray
    weights: FloatArray
    means: FloatArray
    covariances: FloatArray
    precisions_cholesky: FloatArray
    lower_bounds: FloatArray
    converged: bool
    n_approximated: int


class _Run(NamedTuple):
    weights: FloatArray
    gaussians: Gaussians
    bounds: list[float]
    converged: bool


def climb(
    X: FloatArray, beliefs: Beliefs, k: int, settings: Settings, sample_weight: FloatArray | None = None
) -> Mixture:
    """Fit a mixture by EM from ``n_init`` starts, and keep the best.

    Samples count alike in the Gaussians, or with their weights; the beliefs then count them alike.

    Works on centered data in a unit of ordinary size, so that neither the origin nor the units cost digits.
    Gaussians that are not the most probable one of any sample come last.
    """
    shift = X.mean(axis=0)
    centered = X - shift
    unit = unit_of(centered)
    centered = in_unit(centered, unit)
    random = random_source(settings.random_state)
    graph = beliefs.graph
    init = settings.init
    if not isinstance(init, str):
        init = in_unit(np.asarray(init, dtype=np.float64) - shift, unit)
    settings = settings._replace(reg_covar=settings.reg_covar * _spread(centered, shift / unit))
    best = _climb_once(centered, beliefs, k, init, random, settings, sample_weight)
    for _ in range(settings.n_init - 1):
        run = _climb_once(centered, beliefs, k, init, random, settings, sample_weight)
        best = run if run.bounds[-1] > best.bounds[-1] else best
    if not best.converged:
        warnings.warn(
            f"EM did not converge in {settings.max_iter} iterations; the best found so far is returned.\n"
            "Hint: a larger max_iter or tol, or more starts (n_init).",
            ConvergenceWarning,
            stacklevel=2,
        )
    density = log_density(centered, best.gaussians, settings.covariance_type)
    _, chance = beliefs.expect(density, best.weights)
    labels = beliefs.decide(beliefs.log_weight(density, best.weights))[graph.of].astype(np.intp)
    used = np.bincount(labels, minlength=k) > 0
    order = np.concatenate([np.flatnonzero(used), np.flatnonzero(~used)])
    covariances, cholesky = best.gaussians.covariances * unit * unit, best.gaussians.cholesky / unit
    if settings.covariance_type != "tied":
        covariances, cholesky = covariances[order], cholesky[order]
    return Mixture(
        np.argsort(order)[labels],
        graph.spread(chance)[:, order],
        best.weights[order],
        best.gaussians.means[order] * unit + shift,
        covariances,
        cholesky,
        np.array(best.bounds) - X.shape[1] * np.log(unit) * (1.0 if sample_weight is None else sample_weight.mean()),
        best.converged,
        beliefs.rough_samples,
    )


def _spread(centered: FloatArray, mean: FloatArray) -> FloatArray:
    """The variance of each feature; that of a typical one, or 1, where a feature varies by rounding only."""
    variance = np.einsum("ij,ij->j", centered, centered) / len(centered)
    typical = float(variance.mean()) or 1.0
    return np.where(variance > (ROUNDING * mean) ** 2, variance, typical)


def climb_weighted(
    X: FloatArray, beliefs: Beliefs, k: int, settings: Settings, sample_weight: FloatArray
) -> tuple[FloatArray, Gaussians]:
    """Fit a mixture by EM from one start, each sample counting with its weight; return mixing weights and Gaussians.

    The E-step is that of `climb`: the weight of a sample changes how much it counts, not its labels. Mixing weights are
    the shares of the clusters, as the chance that all statements hold says nothing about samples of different weight.
    There is no warning if it does not converge: one of many mixtures may be a little worse.
    """
    shift = X.mean(axis=0)
    random = random_source(settings.random_state)
    run = _climb_once(X - shift, beliefs, k, settings.init, random, settings, sample_weight)
    return run.weights, run.gaussians._replace(means=run.gaussians.means + shift)


def _climb_once(
    X: FloatArray,
    beliefs: Beliefs,
    k: int,
    init: Any,
    random: np.random.RandomState,
    settings: Settings,
    sample_weight: FloatArray | None = None,
) -> _Run:
    graph, kind = beliefs.graph, settings.covariance_type

    def share(chance: FloatArray) -> FloatArray:
        """How much every sample counts for every cluster."""
        return graph.spread(chance) if sample_weight is None else graph.spread(chance) * sample_weight[:, None]

    beliefs.forget()
    chance = start(X, graph, k, init, random, beliefs.decide)
    # the beliefs of a start may contradict the statements, and then no weights would make them likely
    counts = beliefs.counts(chance)
    weights = counts / counts.sum()
    gaussians = fit_gaussians(X, graph.spread(chance), kind, settings.reg_covar)
    bounds: list[float] = []
    for _ in range(settings.max_iter):
        value, chance = beliefs.expect(log_density(X, gaussians, kind), weights)
        bounds.append(value / len(X))
        if sample_weight is None:
            weights = beliefs.weigh(chance, weights)
        else:
            counts = share(chance).sum(axis=0) + 10 * np.finfo(np.float64).eps
            weights = counts / counts.sum()
        gaussians = fit_gaussians(X, share(chance), kind, settings.reg_covar)
        if len(bounds) > 1 and abs(bounds[-1] - bounds[-2]) < settings.tol:
            return _Run(weights, gaussians, bounds, True)
    return _Run(weights, gaussians, bounds, False)
