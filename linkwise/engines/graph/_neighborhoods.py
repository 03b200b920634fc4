"""`NeighborhoodPropagation`: groups of samples that cannot-links keep apart claim all other samples."""

from __future__ import annotations

from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from linkwise._compat import Interval, StrOptions
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import LINKS, Kind
from linkwise.engines import (
    FEATURES,
    REPORTED,
    ConstrainedClusterer,
    Kept,
    PartitionMixin,
    is_count,
    is_table,
    kept_floats,
)
from linkwise.engines.assignment import assign
from linkwise.engines.distances import nearest
from linkwise.engines.graph._similarity_columns import Field, Reach
from linkwise.engines.partitional import Loop, cop_kmeans
from linkwise.problem import Problem

MOST = 2000  # seeds that are used; more would add nothing


@dataclass(frozen=True, eq=False)
class PropagationRun:
    """Outcome of `NeighborhoodPropagation`; without claims and reach, but with centers, where k-means stepped in."""

    labels: IntArray
    claims: FloatArray | None = None
    seeds: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    reach: Reach | None = None
    centers: FloatArray | None = None


def propagate_neighborhoods(
    problem: Problem,
    *,
    n_neighbors: int = 10,
    noise: float = 0.01,
    metric: str = "euclidean",
    random_state: Any = 0,
    made: Field | None = None,
) -> PropagationRun:
    """Run `NeighborhoodPropagation` on the hard statements of a problem; ``made`` is the field of its samples."""
    known = _skeleton(problem)
    sized = _with_fewest_clusters(problem, known) if problem.n_clusters is None else problem
    k = sized.k
    if k > len(known):
        run = cop_kmeans(sized, loop=Loop(n_init=10), random_state=random_state)
        return PropagationRun(run.labels, centers=run.centers)
    if k < len(known):
        sized.witness()  # there is none, which is explained: more groups are apart pairwise than there are clusters
    owner = np.full(sized.n_groups, -1, dtype=np.intp)
    owner[known] = np.arange(len(known))
    seeds = np.flatnonzero(owner[sized.group] >= 0)
    seeds = seeds[np.unique(np.linspace(0, len(seeds) - 1, min(len(seeds), MOST)).astype(np.intp))]
    covers = Field(sized.X, n_neighbors, cosine=metric == "cosine") if made is None else made
    along = covers.along_graph(seeds)
    columns = covers.columns(seeds, along)
    weights = regress(columns[seeds], owner[sized.group[seeds]], k, noise)
    claims = columns @ weights
    labels = sized.expand(_assign(claims, sized, owner))
    return PropagationRun(labels, claims, seeds, covers.reach(seeds, weights, along @ weights))


def regress(covariance: FloatArray, owner: IntArray, k: int, noise: float) -> FloatArray:
    """Weights of the seeds' columns with which each neighborhood claims 1 of its own seeds and 0 of the others."""
    if not len(owner):
        return np.zeros((0, k))
    goal = np.zeros((len(owner), k))
    goal[np.arange(len(owner)), owner] = 1.0
    return np.asarray(np.linalg.solve(covariance + noise * np.eye(len(owner)), goal))


def _with_fewest_clusters(problem: Problem, known: IntArray) -> Problem:
    """The problem with the fewest clusters that statements leave, at least one for each known neighborhood."""

    def sized(k: int) -> Problem:
        return Problem(problem.X, problem.constraints, n_clusters=k, who=problem.who)

    found = sized(max(1, len(known)))
    if len(np.setdiff1d(problem.apart.node, known)):
        while found.verdict.status == "infeasible":
            found = sized(found.k + 1)  # a ring of five cannot-links needs three clusters, but has no clique of three
    return found


def _skeleton(problem: Problem) -> IntArray:
    """Groups that are apart pairwise, the largest first, in the order of their first samples."""
    m = problem.n_groups
    named = problem.weight > 1
    named[problem.apart.node] = True
    pairs = problem.apart.pairs()
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    beside = scipy.sparse.csr_array((np.ones(len(ends), dtype=np.intp), (ends[:, 0], ends[:, 1])), shape=(m, m))
    degree = np.diff(beside.indptr)
    chosen: list[int] = []
    apart_from = np.zeros(m, dtype=np.intp)
    while True:
        fits = np.flatnonzero(named & (apart_from == len(chosen)))
        if not len(fits):
            return np.sort(np.array(chosen, dtype=np.intp))
        best = int(fits[np.lexsort((fits, -problem.weight[fits], degree[fits] == 0))[0]])
        named[best] = False
        apart_from[beside.indices[beside.indptr[best] : beside.indptr[best + 1]]] += 1
        chosen.append(best)


def _assign(claims: FloatArray, problem: Problem, owner: IntArray) -> IntArray:
    """Labels of the groups: the strongest claim for free ones; the greatest total for cannot-linked ones."""
    total = np.zeros((problem.n_groups, claims.shape[1]))
    np.add.at(total, problem.group, claims)
    known = np.flatnonzero(owner >= 0)
    costs = -total
    costs[known] = np.inf
    costs[known, owner[known]] = 0.0
    labels = np.asarray(costs.argmin(axis=1), dtype=np.intp)
    node = problem.apart.node
    if (owner[node] < 0).any():
        found = assign(costs[node], problem.apart)
        if not found.solved:
            colors = problem.reduce(problem.witness())
            rename = np.full(claims.shape[1], -1, dtype=np.intp)
            rename[colors[known]] = owner[known]
            rename[rename < 0] = np.setdiff1d(np.arange(len(rename)), owner[known])
            found = assign(costs[node], problem.apart, rename[colors[node]])
        labels[node] = found.labels
    return labels


def _fault_of_reach(reach: Any, model: Any) -> str:
    """Say what is wrong with a reach from a file; it is None where there are centers instead."""
    if reach is None:
        return "" if model._centers is not None else "is missing"
    n, d, k = model.constraints_.n_samples, model.n_features_in_, model.n_clusters_
    n_seeds = len(reach.weights)
    if not (is_table(reach.rows, n, d) and is_count(reach.n_neighbors, 1)):
        return "has rows that are not the samples"
    if not (is_table(reach.scale, n) and (reach.scale > 0).all()):
        return "has scales that are not above 0"
    if not (is_table(reach.weights, n_seeds, k) and is_table(reach.along, n, k)):
        return "does not have one value per cluster"
    sides = [d] if reach.axes is None else [d, reach.axes.shape[1]]
    whitens = reach.axes is None or (is_table(reach.axes, d, sides[1]) and is_table(reach.middle, d))
    if not whitens or type(reach.cosine) is not bool:
        return "has axes that do not fit the features"
    fits = len(reach.spots) == len(reach.widths) == len(sides)
    if not fits or not all(is_table(spots, n_seeds, side) for spots, side in zip(reach.spots, sides, strict=True)):
        return "has seeds that do not fit its weights"
    return (
        "" if all(type(width) is float and width > 0 for width in reach.widths) else "has widths that are not above 0"
    )


class NeighborhoodPropagation(PartitionMixin, ConstrainedClusterer):
    """Cluster from few statements: groups that cannot-links keep apart claim the samples most similar to them.

    Made for answers to questions (`linkwise.active`): the number of clusters need not be given, and a cluster may have
    any shape or several places, as long as a must-link joins these.

    Parameters
    ----------
    n_clusters : int, default=None
        Number of clusters; None for as many as there are groups that cannot-links keep apart pairwise, or as the
        cannot-links need, and one without statements.
    n_neighbors : int, default=10
        Neighbors of each sample in the graph.
    noise : float, default=0.01
        How far a claim on a seed may give way to its surroundings.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Whether rows count as they are or by direction only, as texts should.
    random_state : int, RandomState instance or None, default=0
        Seed for the k-means that steps in when ``n_clusters`` exceeds the number of groups that are apart pairwise.

    Attributes
    ----------
    claims_ : ndarray of shape (n_samples, n_clusters) or None
        How strongly each cluster claims each sample: near 1 for its own, near 0 far from all seeds; None if k-means
        stepped in.
    seeds_ : ndarray of intp
        Samples of the neighborhoods, from which claims are computed.
    n_clusters_ : int
        Number of clusters found.

    See Also
    --------
    COPKMeans : the k-means that steps in, for a given number of clusters.

    Notes
    -----
    Samples joined by must-links are a neighborhood; a largest-first choice of neighborhoods that cannot-links keep
    apart pairwise becomes the clusters. Each claims a sample with the mean of a Gaussian field that is 1 on its own
    members and 0 on those of the others. Its covariance is the average of three: the inverse of the graph Laplacian of
    near neighbors, which alone would give the harmonic functions of [1]_, and a wide Gaussian of the distance, in the
    features as they are and whitened. A sample goes to the strongest claim; samples that statements bind are assigned
    together, at the greatest total claim that keeps them all. Features should have comparable spreads: standardize
    first.

    **Cost** the neighbors, one sparse factorization, and one solution per sample of a neighborhood; no table of all
    pairs. **Guarantee** every hard statement holds in ``labels_``, re-checked after each fit; nothing is random unless
    k-means steps in. A problem without a solution is explained; `GaveUpError` means that the search found neither
    labels for the statements nor a proof that there are none.
    **Departure from** [1]_ the plain Gaussians, which carry claims across gaps in the graph and undo unequal spreads,
    and a slight leak.

    References
    ----------
    .. [1] X. Zhu, Z. Ghahramani, J. Lafferty, "Semi-Supervised Learning Using Gaussian Fields and Harmonic Functions",
       ICML 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import NeighborhoodPropagation
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    >>> model = NeighborhoodPropagation().fit(X, constraints=Constraints.build(5, cannot_link=[(0, 4)]))
    >>> model.labels_.tolist(), model.predict([[1.5], [8.5]]).tolist()
    ([0, 0, 0, 1, 1], [0, 1])
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "noise": [Interval(Real, 0, None, closed="neither")],
        "metric": [StrOptions({"euclidean", "cosine"})],
        "random_state": ["random_state"],
    }

    _saved: ClassVar[dict[str, Kept]] = {
        "claims_": REPORTED,
        "seeds_": REPORTED,
        "_centers": kept_floats(None, FEATURES, optional=True),
        "_reach": Kept(_fault_of_reach, required=True, records=(Reach,)),
    }

    claims_: FloatArray | None
    seeds_: IntArray

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        n_neighbors: int = 10,
        noise: float = 0.01,
        metric: str = "euclidean",
        random_state: Any = 0,
    ) -> None:
        self.n_clusters = n_clusters  # type: ignore[assignment]
        self.n_neighbors = n_neighbors
        self.noise = noise
        self.metric = metric
        self.random_state = random_state

    def _metric(self) -> str:
        return "euclidean"  # only rules use it, and these are not understood

    def _judge(self, problem: Problem) -> None:
        problem.require_feasible()  # whether a number within the bounds is possible is decided where assigning is stuck

    def _solve(self, problem: Problem) -> PropagationRun:
        return propagate_neighborhoods(
            problem,
            n_neighbors=self.n_neighbors,
            noise=self.noise,
            metric=self.metric,
            random_state=self.random_state,
        )

    def _keep(self, outcome: PropagationRun, problem: Problem) -> None:
        self._keep_labels(outcome.labels, problem)
        self.claims_ = outcome.claims
        self.seeds_ = outcome.seeds
        self._reach: Any = outcome.reach
        self._centers = outcome.centers

    def predict(self, X: Any) -> IntArray:
        """Return the cluster with the strongest claim on each row of X, or the nearest center if k-means stepped in.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            New data. Statements bind the samples of `fit` only.

        Returns
        -------
        ndarray of intp, shape (n_samples,)
        """
        check_is_fitted(self)
        rows = self._validate(X, reset=False)
        if self._centers is not None:
            return nearest(rows, self._centers)[0]
        return np.asarray(self._reach.claims(rows).argmax(axis=1), dtype=np.intp)

    def _read(self, X: Any) -> Any:
        return ConstrainedClusterer._read(self, X) if self.n_clusters is None else super()._read(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
