"""`ConstrainedGaussianMixture`: exact EM for mixtures of Gaussians given must- and cannot-links."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise._compat import StrOptions
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import LINKS, Kind
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.mixture._em import Mixture
from linkwise.engines.mixture._exact import divide, require_possible
from linkwise.engines.mixture._factors import Chunklets, read_chunklets
from linkwise.engines.mixture._kernels_gaussian import normalize_rows
from linkwise.engines.mixture._mixture_mixin import MAX_STATES, MixtureMixin
from linkwise.engines.mixture._weights import Normalizer
from linkwise.problem import Problem


class Given:
    """Beliefs about the labels of chunklets, given the data and that every statement holds.

    ``sampling`` says how often the weight of a cluster counts for a chunklet: once ("chunklets") or once for each of
    its samples ("points").
    """

    rough_samples = 0

    def __init__(self, graph: Chunklets, k: int, sampling: str, max_states: int, who: str) -> None:
        self.graph = graph
        self.power = graph.size.astype(np.float64) if sampling == "points" else np.ones(graph.n)
        everywhere = np.ones(len(graph.pairs), dtype=np.bool_)
        self.exact, wide = divide(graph, np.unique(graph.pairs), everywhere, k, max_states)
        if len(wide.node):
            wide.refuse("one connected set of cannot-links", k, max_states, who)
        self.free = np.ones(graph.n, dtype=np.bool_)
        self.free[self.exact.node] = False
        self.normalizer = Normalizer(graph, self.exact, self.power, k, max_states)

    def log_weight(self, log_density: FloatArray, weights: FloatArray) -> FloatArray:
        """Log of density times prior of every chunklet in every cluster, statements left aside."""
        return self.graph.gather(log_density) + self.power[:, None] * np.log(weights)

    def expect(self, log_density: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
        """Return the log-likelihood of the data given the statements, and the label probabilities of each chunklet."""
        unary = self.log_weight(log_density, weights)
        total, chance = np.empty(len(unary)), np.empty_like(unary)
        normalize_rows(unary, chance, total)
        if not len(self.exact.node):
            value = float(total.sum())
        else:
            sums, chance[self.exact.node] = self.exact.marginals(unary[self.exact.node])
            require_possible(sums)
            value = float(total[self.free].sum() + sums.sum())
        if not self.normalizer.is_one:
            value -= self.normalizer.log_z(np.log(weights))[0]
        return value, chance

    def counts(self, chance: FloatArray) -> FloatArray:
        """How often the weight of each cluster is expected to count."""
        return np.asarray(self.power @ chance + 10 * np.finfo(np.float64).eps)

    def weigh(self, chance: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the mixing weights that make these beliefs most likely."""
        return self.normalizer.best_weights(self.counts(chance), weights)

    def forget(self) -> None:
        """Nothing is carried from one E-step to the next."""

    def decide(self, unary: FloatArray) -> IntArray:
        """Return the most probable label of every chunklet, jointly in each component of the cannot-links."""
        labels: IntArray = np.argmax(unary, axis=1)
        if len(self.exact.node):
            sums, labels[self.exact.node] = self.exact.best(unary[self.exact.node])
            require_possible(sums)
        return labels


SAMPLING = ("chunklets", "points")


class ConstrainedGaussianMixture(MixtureMixin, ConstrainedClusterer):
    """Fit a mixture of Gaussians in which must-linked samples share a cluster and cannot-linked ones do not.

    Parameters
    ----------
    sampling : {"chunklets", "points"}, default="chunklets"
        Whether must-linked samples were drawn as a whole, so that the weight of their cluster counts once, or one by
        one, so that it counts for each.
    max_states : int, default=2**20
        Largest table exact inference may use; wider sets of cannot-links are refused.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Most probable labels, jointly for samples that cannot-links connect.
    lower_bound_, lower_bounds_ : float, ndarray
        Log-likelihood per sample of the data given the statements, in the last and in every iteration.
    n_approximated_ : int
        Always 0 here: inference is exact.

    See Also
    --------
    PenalizedMixture : statements that may be wrong, weighed against the data.

    Notes
    -----
    The model of [1]_. Must-linked samples form a chunklet with one label; its density is the product of theirs. Labels
    of chunklets are drawn by the mixing weights, given that every cannot-link holds. Chunklets that cannot-links
    connect are summed over jointly: along a tree of tables found by a least-fill order, each over at most
    ``max_states`` joint states (a chain, a tree or a cycle of any length needs n_clusters**2 or **3), or, for groups
    apart, over the 2**n_clusters sets of clusters they may take. Wider components raise `LinkwiseError`.

    **Cost** per iteration that of plain EM plus the tables: n_clusters**2 for a single cannot-link. **Guarantee**
    ``labels_`` are the most probable joint labeling, and every hard statement holds in it, re-checked after each fit.
    With ``reg_covar=0`` the objective never falls; adding to the variances, as `GaussianMixture` does too, can lower it
    by about as much as is added. Without statements the result is that of `GaussianMixture` from the same start with
    the same amounts added to the variances: ``reg_covar`` is relative here, so that results do not depend on the units
    of X. (It also differs for tied covariances started by "k-means++" or "random_from_data": there the first covariance
    of scikit-learn depends on the position of the origin.) `predict` is about new rows and uses no statements.
    **Departure from** [1]_ the mixing weights have no closed form under cannot-links (nor under must-links with
    ``sampling="points"``), because the chance that all statements hold depends on them. The paper takes gradient steps
    or approximates that chance; here it is exact, and quasi-Newton steps solve the concave problem in every M-step (a
    few of them where each costs as much as an E-step).

    References
    ----------
    .. [1] N. Shental, A. Bar-Hillel, T. Hertz, D. Weinshall, "Computing Gaussian mixture models with EM using
       equivalence constraints", NIPS 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import ConstrainedGaussianMixture, Constraints
    >>> X = np.array([[0.0], [0.2], [0.4], [5.0], [5.3], [5.1]])
    >>> known = Constraints.build(6, must_link=[(0, 1)], cannot_link=[(0, 3), (4, 1)])
    >>> model = ConstrainedGaussianMixture(2, random_state=0).fit(X, constraints=known)
    >>> print(model.certificate_)
    All 3 hard statements hold: 1 must-link, 2 cannot-links.
    >>> model.predict([[0.1], [5.2]]).tolist() == model.labels_[[0, 3]].tolist()
    True
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "sampling": [StrOptions(set(SAMPLING))],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        covariance_type: str = "full",
        sampling: str = "chunklets",
        tol: float = 1e-3,
        reg_covar: float = 1e-6,
        max_iter: int = 100,
        n_init: int = 1,
        init: str | npt.ArrayLike = "kmeans",
        max_states: int = MAX_STATES,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.covariance_type = covariance_type
        self.sampling = sampling
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init = init
        self.max_states = max_states
        self.random_state = random_state

    def _solve(self, problem: Problem) -> Mixture:
        graph = read_chunklets(problem, self.max_states)
        return self._climb(problem, Given(graph, problem.k, self.sampling, self.max_states, problem.who))
