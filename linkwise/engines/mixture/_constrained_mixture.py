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
from linkwise.engines.mixture._exact import Exact, divide, require_possible
from linkwise.engines.mixture._factors import Chunklets, read_chunklets
from linkwise.engines.mixture._kernels_gaussian import normalize_rows
from linkwise.engines.mixture._mixture_mixin import MAX_STATES, MixtureMixin
from linkwise.problem import Problem

SAMPLING = ("chunklets", "points")
_STEPS = 60
_FEW_STEPS = 4  # where each is as dear as an E-step: EM comes back to the weights anyway
_CHEAP = 10_000
_LEAST = 600.0  # weights further apart than this (in logarithms) would no longer be positive numbers


class Normalizer:
    """The prior's normalizer Z: the chance that chunklets drawn independently by the weights obey all cannot-links.

    Components that look alike have the same chance, so each shape is computed once and counted. ``power`` is how often
    the weight of its cluster counts for a chunklet: once, or once per sample.
    """

    def __init__(self, graph: Chunklets, exact: Exact, power: FloatArray, k: int, max_states: int) -> None:
        self.power = power
        self.free_power, self.free_count = _free(graph, power)
        node, self.count = _representatives(graph, exact, power)
        chosen = np.zeros(graph.n, dtype=np.bool_)
        chosen[node] = True
        pairs = chosen[graph.pairs[:, 0]] if len(graph.pairs) else np.zeros(0, dtype=np.bool_)
        self.shapes, _ = divide(graph, np.flatnonzero(chosen), pairs, k, max_states)
        count = np.zeros(graph.n)
        count[node] = self.count
        self.row_count = count[self.shapes.node]
        self.row_power = power[self.shapes.node]
        # the E-step asks where the M-step ended, and the M-step begins where the E-step asked
        self._last: tuple[FloatArray, float, FloatArray] = (np.empty(0), 0.0, np.empty(0))
        first = np.unique(self.shapes.component, return_index=True)[1]
        self.shape_count = self.row_count[first]

    @property
    def is_one(self) -> bool:
        """Whether Z is 1 whatever the weights are, so that they have a closed form."""
        return not len(self.shapes.node) and bool((self.free_power == 1).all())

    def log_z(self, log_weight: FloatArray) -> tuple[float, FloatArray]:
        """Return log Z and its gradient, the number of draws each cluster is expected to get."""
        if np.array_equal(log_weight, self._last[0]):
            return self._last[1], self._last[2]
        free = self.free_power[:, None] * log_weight
        each, chance = np.empty(len(free)), np.empty_like(free)
        normalize_rows(free, chance, each)
        total = float(self.free_count @ each)
        counts = (self.free_count * self.free_power) @ chance
        if len(self.shapes.node):
            sums, chance = self.shapes.marginals(self.row_power[:, None] * log_weight)
            total += float(self.shape_count @ sums)
            counts = counts + (self.row_count * self.row_power) @ chance
        self._last = (log_weight, total, counts)
        return total, counts

    def best_weights(self, counts: FloatArray, weights: FloatArray) -> FloatArray:
        """Return the weights under which ``counts`` draws per cluster are most likely, given that all is obeyed.

        The logarithm of that likelihood is concave in the log-weights; where the search ends early the weights are no
        worse than those given, which is all that the likelihood needs in order not to fall.
        """
        if self.is_one:
            return np.asarray(counts / counts.sum())
        best = self._climb(counts, np.log(weights))
        chance = np.exp(best - best.max())
        return np.asarray(chance / chance.sum())

    def _climb(self, counts: FloatArray, log_weight: FloatArray) -> FloatArray:
        """Maximize counts @ log_weight - log Z by quasi-Newton steps, none of which is taken unless it helps.

        The first guess at the curvature is that without cannot-links, which is nearly right when these are few.
        """
        total, expected = self.log_z(log_weight)
        value, gradient = float(counts @ log_weight) - total, counts - expected
        inverse = np.diag(1.0 / counts)
        for _ in range(_STEPS if self.shapes.plan.n_states.sum() < _CHEAP else _FEW_STEPS):
            step = inverse @ gradient
            gain = float(gradient @ step)
            if np.abs(gradient).max() <= 1e-9 * counts.sum() or gain <= 0 or np.ptp(log_weight) > _LEAST:
                break
            step *= min(1.0, 5.0 / np.abs(step).max())
            gain, shorter = float(gradient @ step), 1.0
            while True:
                tried = log_weight + shorter * step
                total, expected = self.log_z(tried)
                better = float(counts @ tried) - total
                if better >= value + 1e-4 * shorter * gain:
                    break
                shorter /= 2
                if shorter < 1e-6:
                    return log_weight
            moved, bent = tried - log_weight, gradient - (counts - expected)
            log_weight, value, gradient = tried, better, counts - expected
            curvature = float(moved @ bent)
            if curvature > 0:
                turn = np.eye(len(counts)) - np.outer(moved, bent) / curvature
                inverse = turn @ inverse @ turn.T + np.outer(moved, moved) / curvature
        return log_weight


def _free(graph: Chunklets, power: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The powers of chunklets no cannot-link touches, and how many there are of each."""
    touched = np.zeros(graph.n, dtype=np.bool_)
    touched[graph.pairs.ravel()] = True
    values, count = np.unique(power[~touched], return_counts=True)
    return values, count.astype(np.float64)


def _representatives(graph: Chunklets, exact: Exact, power: FloatArray) -> tuple[IntArray, FloatArray]:
    """Nodes of one component of each shape, and for each of these nodes how many components have the shape.

    Two components have one shape if they are equal after sorting their nodes by power and degree; more may be alike,
    which only costs time.
    """
    degree = np.bincount(graph.pairs.ravel(), minlength=graph.n)
    order = np.lexsort((exact.node, degree[exact.node], power[exact.node], exact.component))
    node, component = exact.node[order], exact.component[order]
    size = np.bincount(component, minlength=0)
    begin = np.cumsum(size) - size
    of, rank = np.zeros(graph.n, dtype=np.intp), np.zeros(graph.n, dtype=np.intp)
    of[node] = component
    rank[node] = np.arange(len(node)) - begin[component]
    pair_of = of[graph.pairs[:, 0]]
    ends = np.sort(rank[graph.pairs], axis=1)
    edge = np.lexsort((ends[:, 1], ends[:, 0], pair_of))
    n_edges = np.bincount(pair_of, minlength=len(size))
    edge_begin = np.cumsum(n_edges) - n_edges
    chosen, counts = [], []
    for n, m in np.unique(np.column_stack([size, n_edges]), axis=0):  # few: sizes, not components
        alike = np.flatnonzero((size == n) & (n_edges == m))
        rows = node[begin[alike][:, None] + np.arange(n)]
        pairs = ends[edge[edge_begin[alike][:, None] + np.arange(m)]]
        shape = np.concatenate([power[rows].astype(np.intp), (pairs[..., 0] * n + pairs[..., 1])], axis=1)
        _, at, count = np.unique(shape, axis=0, return_index=True, return_counts=True)
        chosen.append(rows[at].ravel())
        counts.append(np.repeat(count, n).astype(np.float64))
    if not chosen:
        return np.zeros(0, dtype=np.intp), np.zeros(0)
    return np.concatenate(chosen), np.concatenate(counts)


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
    ``max_states`` joint states (a chain, a tree or a cycle of any length needs ``n_clusters**2`` or
    ``n_clusters**3``), or, for groups apart, over the ``2**n_clusters`` sets of clusters they may take. Wider
    components raise `LinkwiseError`.

    **Cost** per iteration that of plain EM plus the tables: ``n_clusters**2`` for a single cannot-link. **Guarantee**
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
