"""Base of mixture estimators: parameters, refusals, and densities and labels of new rows."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from linkwise._compat import Interval, StrOptions
from linkwise._memory import require_memory
from linkwise._messages import many
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints
from linkwise.engines import FEATURES, REPORTED, SAMPLES, Kept, PartitionMixin, kept_floats, kept_labels
from linkwise.engines.mixture._em import STARTS, Beliefs, Mixture, Settings, climb, random_source
from linkwise.engines.mixture._gaussian import COVARIANCE_TYPES, Gaussians, count_parameters, log_density
from linkwise.engines.mixture._kernels_gaussian import normalize_rows
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem

MAX_STATES = 2**20


def require_covariance_memory(k: int, d: int, covariance_type: str, who: str) -> None:
    """Refuse covariances that memory cannot hold."""
    if covariance_type in ("full", "tied"):
        require_memory(
            4 * k * d * d * 8,
            f"{who}: {k} covariances of {d} x {d}",
            'covariance_type="diag", or fewer features, as from sklearn.decomposition.PCA.',
        )


def covariance_shape(covariance_type: str, k: int, d: int) -> tuple[int, ...]:
    """Shape of the covariances of k Gaussians in d features, as in scikit-learn."""
    return {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[covariance_type]


_PER_GAUSSIAN = kept_floats(lambda model: covariance_shape(model.covariance_type, *model.means_.shape))


class MixtureMixin(PartitionMixin):
    """Gaussians per cluster: fitted attributes, and densities and labels of new rows.

    Parameters
    ----------
    n_clusters : int
        Number of Gaussians.
    covariance_type : {"full", "tied", "diag", "spherical"}
        As in scikit-learn's `GaussianMixture`.
    tol : float
        Stop when the objective per sample changes by less than ``tol``.
    reg_covar : float
        Share of each feature's variance that is added to its variance in every cluster, so that none is zero;
        `GaussianMixture` adds the number itself, in which data of small units drown.
    max_iter : int
        Maximum number of iterations of one run.
    n_init : int
        Number of starts, of which the best is kept.
    init : {"kmeans", "k-means++", "random", "random_from_data"} or array
        How to start, as in `GaussianMixture` but on chunklets;
        or means to start from, of shape (n_clusters, n_features).
    max_states : int
        Largest table exact inference may use.
    random_state : int, RandomState instance or None
        Seed for initialization and sampling.

    Attributes
    ----------
    responsibilities_ : ndarray of shape (n_samples, n_clusters)
        Probability of each cluster for each sample of `fit`, given the statements and their weights.
    weights_, means_, covariances_, precisions_cholesky_, converged_, n_iter_
        As in `GaussianMixture`.
    n_clusters_ : int
        How many clusters got samples; a warning tells if these are fewer than ``n_clusters``, and Gaussians that are
        not the most probable one of any sample come last.
    n_approximated_ : int
        Number of samples in components too wide for exact inference.
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "covariance_type": [StrOptions(set(COVARIANCE_TYPES))],
        "tol": [Interval(Real, 0.0, None, closed="left")],
        "reg_covar": [Interval(Real, 0.0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions(set(STARTS)), "array-like"],
        "max_states": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    _saved: ClassVar[dict[str, Kept]] = {
        "means_": kept_floats(None, FEATURES),
        "covariances_": _PER_GAUSSIAN,
        "precisions_cholesky_": _PER_GAUSSIAN,
        "weights_": kept_floats(lambda model: (len(model.means_),), least=0, total=1),
        "responsibilities_": kept_floats(SAMPLES, None),
        "labels_": kept_labels("means_"),
        "lower_bound_": REPORTED,
        "lower_bounds_": REPORTED,
        "converged_": REPORTED,
        "n_iter_": REPORTED,
        "n_approximated_": REPORTED,
    }

    covariance_type: str
    tol: float
    reg_covar: float
    max_iter: int
    n_init: int
    init: Any
    max_states: int
    random_state: Any

    weights_: FloatArray
    means_: FloatArray
    covariances_: FloatArray
    precisions_cholesky_: FloatArray
    responsibilities_: FloatArray
    lower_bound_: float
    lower_bounds_: FloatArray
    converged_: bool
    n_iter_: int
    n_approximated_: int

    def _validate(self, X: Any, *, reset: bool) -> Any:
        if scipy.sparse.issparse(X):
            msg = (
                f"{type(self).__name__} was given sparse X, expected dense vectors: covariances are dense.\n"
                "Hint: reduce the dimensions first, as with sklearn.decomposition.TruncatedSVD, or pass X.toarray()."
            )
            raise LinkwiseError(msg)
        return super()._validate(X, reset=reset)  # type: ignore[misc]

    def _read(self, X: Any) -> Any:
        samples, who = super()._read(X), type(self).__name__
        shape = (self.n_clusters, samples.shape[1])
        if not isinstance(self.init, str) and (np.shape(self.init) != shape or not np.isfinite(self.init).all()):
            msg = f"{who}: init has shape {np.shape(self.init)}, expected finite means of shape {shape}."
            raise LinkwiseError(msg)
        require_covariance_memory(*shape, self.covariance_type, who)
        return samples

    def _climb(
        self,
        problem: Problem,
        beliefs: Beliefs,
        sample_weight: FloatArray | None = None,
        start: FloatArray | None = None,
    ) -> Mixture:
        """Fit the mixture, from means ``start`` if given, and warn if some Gaussians got no samples."""
        settings = Settings.of(self) if start is None else Settings.of(self)._replace(init=start)
        outcome = climb(problem.X, beliefs, problem.k, settings, sample_weight)
        found = len(np.unique(outcome.labels))
        if found < problem.k:
            warn_user(
                f"{problem.who} found {many(found, 'cluster')} instead of n_clusters={problem.k}: the other Gaussians "
                "are not the most probable one of any sample.\n"
                f"Hint: n_clusters={found}, more starts (n_init), or cannot-links between the samples."
            )
        return outcome

    def _keep(self, outcome: Mixture, problem: Problem) -> None:
        self.weights_, self.means_ = outcome.weights, outcome.means
        self.covariances_, self.precisions_cholesky_ = outcome.covariances, outcome.precisions_cholesky
        self.responsibilities_ = outcome.responsibilities
        self.lower_bound_, self.lower_bounds_ = float(outcome.lower_bounds[-1]), outcome.lower_bounds
        self.converged_, self.n_iter_ = outcome.converged, len(outcome.lower_bounds)
        self.n_approximated_ = outcome.n_approximated
        self._keep_labels(outcome.labels, problem)

    # -- new rows -----------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> IntArray:
        """Return the most probable cluster of each row of X, by its values alone.

        For the samples of `fit` see ``labels_``, which depend on the statements as well.
        """
        return np.asarray(np.argmax(self._joint(X), axis=1))

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probability of each cluster for each row of X."""
        return self._normalized(X)[0]

    def score_samples(self, X: Any) -> FloatArray:
        """Return the log-density of each row of X under the mixture."""
        return self._normalized(X)[1]

    def score(self, X: Any, y: Any = None) -> float:
        """Return the mean log-density of the rows of X; ``y`` is ignored, but Constraints as ``y`` are refused."""
        if isinstance(y, Constraints):
            msg = (
                f"{type(self).__name__}.score got Constraints as y, expected none: it is the mean log-density of X.\n"
                "Hint: score(X); linkwise.verify(model.labels_, constraints) tells which statements hold."
            )
            raise TypeError(msg)
        return float(self.score_samples(X).mean())

    def bic(self, X: Any) -> float:
        """Return the Bayesian information criterion of the mixture on X; lower is better."""
        each = self.score_samples(X)
        return float(-2 * each.sum() + self._n_parameters() * np.log(len(each)))

    def aic(self, X: Any) -> float:
        """Return Akaike's information criterion of the mixture on X; lower is better."""
        return float(-2 * self.score_samples(X).sum() + 2 * self._n_parameters())

    def sample(self, n_samples: int = 1) -> tuple[FloatArray, IntArray]:
        """Draw rows from the mixture; return them with the cluster each was drawn from."""
        check_is_fitted(self)
        random = random_source(self.random_state)
        labels = np.sort(random.choice(len(self.weights_), size=n_samples, p=self.weights_)).astype(np.intp)
        k, d = self.means_.shape
        covariances = self.covariances_
        if self.covariance_type == "tied":
            covariances = np.broadcast_to(covariances, (k, d, d))
        elif self.covariance_type in ("diag", "spherical"):
            covariances = np.eye(d) * (covariances[:, None, None] if covariances.ndim == 1 else covariances[:, None, :])
        rows = np.empty((n_samples, d))
        for j in range(k):
            chosen = labels == j
            rows[chosen] = random.multivariate_normal(self.means_[j], covariances[j], size=int(chosen.sum()))
        return rows, labels

    def _n_parameters(self) -> int:
        k, d = self.means_.shape
        return count_parameters(k, d, self.covariance_type)

    def _joint(self, X: Any) -> FloatArray:
        check_is_fitted(self)
        rows = self._validate(X, reset=False)
        center = self.means_.mean(axis=0)
        gaussians = Gaussians(self.means_ - center, self.covariances_, self.precisions_cholesky_)
        return log_density(rows - center, gaussians, self.covariance_type) + np.log(self.weights_)

    def _normalized(self, X: Any) -> tuple[FloatArray, FloatArray]:
        joint = self._joint(X)
        chance, total = np.empty_like(joint), np.empty(len(joint))
        normalize_rows(joint, chance, total)
        return chance, total
