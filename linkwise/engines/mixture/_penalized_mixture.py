"""`PenalizedMixture`: mixtures of Gaussians that weigh soft statements against the fit to the data."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise._compat import Interval, StrOptions
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import LINKS, Kind
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.mixture._em import Mixture, random_source
from linkwise.engines.mixture._exact import divide, require_possible
from linkwise.engines.mixture._factors import Chunklets, read_chunklets
from linkwise.engines.mixture._kernels_gaussian import normalize_rows
from linkwise.engines.mixture._label_factors import Anchors, read_anchored, start_of
from linkwise.engines.mixture._mixture_mixin import MAX_STATES, MixtureMixin
from linkwise.engines.mixture._wide_components import Gibbs, MeanField
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem


class Penalized:
    """Beliefs about the labels of chunklets under factors of pairs: exact where narrow, else as ``wide`` says.

    ``allowed`` gives each chunklet a label such that all hard statements hold; only Gibbs sampling needs it.
    """

    def __init__(
        self,
        graph: Chunklets,
        k: int,
        wide: str,
        max_states: int,
        n_sweeps: int,
        allowed: IntArray | None,
        seed: int,
        who: str,
        anchors: Anchors | None = None,
    ) -> None:
        self.anchors = anchors
        self.graph, self.size = graph, graph.size.astype(np.float64)
        everywhere = np.ones(len(graph.pairs), dtype=np.bool_)
        self.exact, rest = divide(graph, np.unique(graph.pairs), everywhere, k, max_states)
        self.rough: MeanField | Gibbs | None = None
        self.rough_samples = int(graph.size[rest.node].sum())
        if len(rest.node):
            if wide == "refuse":
                rest.refuse("one connected set of statements", k, max_states, who)
            if wide == "mean_field":
                self.rough = MeanField(graph, rest.node, k, max_states, n_sweeps, who)
            else:
                self.rough = Gibbs(graph, rest.node, self._begin(graph, rest.node, allowed, who), n_sweeps, seed)
        self.free = np.ones(graph.n, dtype=np.bool_)
        self.free[self.exact.node] = False
        self.free[rest.node] = False

    @staticmethod
    def _begin(graph: Chunklets, nodes: IntArray, allowed: IntArray | None, who: str) -> IntArray:
        forbids = np.isin(graph.pairs[:, 0], nodes) & (graph.same == -np.inf)
        if allowed is None and forbids.any():
            msg = (
                f"{who}: no labeling is known in which all hard statements hold, and sampling has to begin at one.\n"
                "Hint: a larger n_clusters, fewer cannot-links, or a finite weight for them."
            )
            raise LinkwiseError(msg)
        return np.zeros(len(nodes), dtype=np.intp) if allowed is None else allowed[nodes]

    def log_weight(self, log_density: FloatArray, weights: FloatArray) -> FloatArray:
        """Log of density times prior of every chunklet in every cluster, statements left aside."""
        return self.graph.gather(log_density) + self.size[:, None] * np.log(weights)

    def expect(self, log_density: FloatArray, weights: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective, log of the sum of prior, price and density, and the label probabilities."""
        unary = self._with_labels(self.log_weight(log_density, weights))
        total, chance = np.empty(len(unary)), np.empty_like(unary)
        normalize_rows(unary, chance, total)
        alone = total[self.free]
        value = self.graph.constant if self.anchors is not None else float(alone.sum()) + self.graph.constant
        if len(self.exact.node):
            sums, chance[self.exact.node] = self.exact.marginals(unary[self.exact.node])
            require_possible(sums)
            value += float(sums.sum())
        if self.rough is not None:
            bound, chance[self.rough.node] = self.rough.expect(unary[self.rough.node])
            require_possible(np.array([bound]))
            value += bound
        if self.anchors is not None:
            share = self.anchors.weight
            value = float(alone @ share[self.free]) + float(share[~self.free].max(initial=0.0)) * value
        return value, chance

    def _with_labels(self, unary: FloatArray) -> FloatArray:
        return unary if self.anchors is None else unary + self.anchors.factor

    def counts(self, chance: FloatArray) -> FloatArray:
        """How many samples each cluster is expected to have."""
        size = self.size if self.anchors is None else self.size * self.anchors.weight
        return np.asarray(size @ chance + 10 * np.finfo(np.float64).eps)

    def weigh(self, chance: FloatArray, weights: FloatArray) -> FloatArray:  # noqa: ARG002
        """Return the share of the samples each cluster is expected to have."""
        counts = self.counts(chance)
        return np.asarray(counts / counts.sum())

    def decide(self, unary: FloatArray) -> IntArray:
        """Return the most probable label of every chunklet, jointly where that can be had."""
        unary = self._with_labels(unary)
        labels: IntArray = np.argmax(unary, axis=1)
        if len(self.exact.node):
            sums, labels[self.exact.node] = self.exact.best(unary[self.exact.node])
            require_possible(sums)
        if self.rough is not None:
            labels[self.rough.node] = self.rough.decide(unary[self.rough.node])
        return labels

    def forget(self) -> None:
        """Start again: another start is tried."""
        if self.rough is not None:
            self.rough.forget()


WIDE = ("mean_field", "gibbs", "refuse")


def _one_labeling(problem: Problem) -> IntArray | None:
    """A label for each chunklet such that all hard statements hold, if one can be found."""
    witness = problem.verdict.witness
    if not isinstance(witness, np.ndarray):
        return None
    return problem.reduce(np.unique(witness, return_inverse=True)[1])


def _renamed(labels: IntArray, anchors: Anchors, k: int) -> IntArray:
    """Rename clusters so that chunklets with a hard label are in the cluster of their class."""
    name = np.full(k, -1, dtype=np.intp)
    fixed = np.flatnonzero(np.isinf(anchors.factor).any(axis=1))
    name[labels[fixed]] = anchors.factor[fixed].argmax(axis=1)
    name[name < 0] = np.setdiff1d(np.arange(k), name)
    return np.asarray(name[labels])


class PenalizedMixture(MixtureMixin, ConstrainedClusterer):
    """Fit a mixture of Gaussians that weighs soft statements against the data and never breaks hard ones.

    Parameters
    ----------
    wide : {"mean_field", "gibbs", "refuse"}, default="mean_field"
        What to do in components too wide for exact inference: approximate by averages, approximate by sampling, or
        raise an error.
    n_sweeps : int, default=50
        Passes over wide components in every E-step; mean field stops earlier when nothing changes.
    alpha : float or None, default=None
        Weight in the likelihood of samples without statements. None, with ``beta`` None: all samples count alike, and
        labels are pairs.
    beta : float or None, default=None
        Weight of labeled samples; samples that other statements name have the weight 1 - alpha - beta.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Most probable labels, jointly for samples that statements connect where inference is exact.
    lower_bound_, lower_bounds_ : float, ndarray
        The objective per sample, in the last and in every iteration; see Notes.

    See Also
    --------
    ConstrainedGaussianMixture : all statements hold, with a prior that is normalized exactly.

    Notes
    -----
    A weight is a log-odds: a labeling that breaks a statement of weight w counts exp(-w) times as much. Of a soft group
    every pair carries the weight. The objective is the log of the sum, over all labelings, of density, mixing weights
    and exp(-weight) of the broken statements; for wide components a lower bound of their part of it.

    With ``alpha`` and ``beta`` labels (`Constraints.from_labels`) name clusters: a labeled sample counts exp(-w) times
    as much in any cluster but that of its class, and the first means are those of the classes, in the order of their
    names as text, then samples far from these. The objective is then alpha times the log-likelihood of samples without
    statements, plus beta times that of labeled ones, plus 1 - alpha - beta times that of samples that other statements
    connect [2]_.

    Samples joined by hard must-links are one variable. Components of the graph of the other statements are summed over
    exactly where tables of ``max_states`` suffice. In a wide one, mean field keeps blocks exact that hard cannot-links
    connect, and blocks depend only on each other's averages; Gibbs sampling draws single labels and swaps two labels
    along hard cannot-links. Hard cannot-links that are too wide by themselves raise `LinkwiseError` unless ``wide`` is
    "gibbs".

    **Cost** per iteration that of plain EM plus the tables, or ``n_sweeps`` passes over the statements of wide
    components. **Guarantee** hard statements hold in ``labels_``, re-checked after each fit. With ``reg_covar=0`` the
    objective never falls with exact inference and mean field; sampled values move both ways. Two statements of weight v
    and w about one pair are one of weight v + w; weight 0 is none; without statements the result is that of
    `GaussianMixture` but for the variances that ``reg_covar`` adds. **Departure from** [1]_ the prior's normalizer,
    which depends on the mixing weights and is out of reach in wide components, is left out of the objective and of the
    M-step, so the mixing weights are the expected shares of the clusters. **Departure from** [2]_ which approximates by
    mean field throughout; a labeled sample that another statement names counts as connected.

    References
    ----------
    .. [1] Z. Lu, T. K. Leen, "Semi-supervised learning with penalized probabilistic clustering", NIPS 2004.
    .. [2] T. Lange, M. H. C. Law, A. K. Jain, J. M. Buhmann, "Learning with constrained and unlabeled data", CVPR
       2005.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import PenalizedMixture
    >>> X = np.array([[0.0], [0.2], [0.4], [5.0], [5.3], [5.1]])
    >>> known = Constraints.build(6, must_link=[(0, 3)], cannot_link=[(1, 2)], weight={"must_link": 0.5})
    >>> model = PenalizedMixture(2, random_state=0).fit(X, constraints=known)
    >>> bool(model.labels_[1] != model.labels_[2])
    True
    >>> model.certificate_.ok
    True
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    weighs: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "wide": [StrOptions(set(WIDE))],
        "n_sweeps": [Interval(Integral, 1, None, closed="left")],
        "alpha": [Interval(Real, 0.0, 1.0, closed="both"), None],
        "beta": [Interval(Real, 0.0, 1.0, closed="both"), None],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        covariance_type: str = "full",
        wide: str = "mean_field",
        n_sweeps: int = 50,
        alpha: float | None = None,
        beta: float | None = None,
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
        self.wide = wide
        self.n_sweeps = n_sweeps
        self.alpha = alpha
        self.beta = beta
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init = init
        self.max_states = max_states
        self.random_state = random_state

    def _solve(self, problem: Problem) -> Mixture:
        # sampling takes any number of cannot-links, so no group apart is too large to be written out
        gibbs = self.wide == "gibbs"
        most = np.iinfo(np.intp).max if gibbs else self.max_states
        anchors: Anchors | None = None
        if self.alpha is None and self.beta is None:
            graph = read_chunklets(problem, most)
        else:
            graph, anchors = read_anchored(problem, most, *self._read_shares(problem.who))
        allowed, seed = None, 0
        if gibbs:
            seed = int(random_source(self.random_state).randint(2**31 - 1))
            if (graph.same == -np.inf).any():
                allowed = _one_labeling(problem)
        k, who = problem.k, problem.who
        if anchors is not None and allowed is not None:
            allowed = _renamed(allowed, anchors, k)
        beliefs = Penalized(graph, k, self.wide, self.max_states, self.n_sweeps, allowed, seed, who, anchors)
        if anchors is None:
            return self._climb(problem, beliefs)
        start = start_of(problem.X, anchors, k) if len(anchors.sample) and isinstance(self.init, str) else None
        return self._climb(problem, beliefs, anchors.weight[graph.of], start)

    def _read_shares(self, who: str) -> tuple[float, float]:
        if self.alpha is None or self.beta is None or self.alpha + self.beta > 1 + 1e-12:
            msg = (
                f"{who}: alpha is {self.alpha} and beta is {self.beta}, expected two numbers with a sum of at most 1.\n"
                "Hint: alpha=1/3, beta=1/3 lets all samples count alike."
            )
            raise LinkwiseError(msg)
        return float(self.alpha), min(float(self.beta), 1.0 - float(self.alpha))
