"""`NeighborhoodPropagation`: groups of samples that cannot-links keep apart claim all other samples."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse
from sklearn.utils.validation import check_is_fitted

from linkwise._compat import Interval, StrOptions
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import LINKS, Kind
from linkwise.engines import (
    REPORTED,
    ConstrainedClusterer,
    Kept,
    PartitionMixin,
    is_count,
    is_table,
)
from linkwise.engines.assignment import assign
from linkwise.engines.graph._similarity_columns import Field, Reach
from linkwise.engines.partitional import Loop, cop_kmeans
from linkwise.problem import Problem

MOST = 2000  # seeds that are used; more would add nothing
LESS = 0.3  # noise of seeds whose cluster is inferred, where that of the others is `noise`
EACH = 3  # samples that are seeds of a cluster that no statement reaches, where statements reach others
ALONE = 500  # seeds of all clusters together without statements, which keep to the k-means they start from
CANDIDATES = 200  # samples among which those that begin clusters which no statement reaches are looked for
ROUNDS = 20  # of inferring clusters; they settle after three or four


@dataclass(frozen=True, eq=False)
class PropagationRun:
    """Outcome of `NeighborhoodPropagation`."""

    labels: IntArray
    claims: FloatArray
    seeds: IntArray
    reach: Reach


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
    if sized.k < len(known):
        sized.witness()  # there is none, which is explained: more groups are apart pairwise than there are clusters
    covers = Field(sized.X, n_neighbors, cosine=metric == "cosine") if made is None else made
    owner = _owners(sized, known)
    named = _named(sized)
    inferred = np.flatnonzero((named & (owner < 0))[sized.group])
    seeds = np.flatnonzero(owner[sized.group] >= 0)
    free = np.flatnonzero(~named[sized.group])
    groups, unmet = owner, sized.k - len(known)
    if len(inferred) > len(seeds) or unmet > min(len(known), len(free), CANDIDATES) or (unmet and not len(seeds)):
        groups = _start(sized, covers, known, random_state)
        slack = np.full(sized.n_groups, LESS)
        slack[owner >= 0] = noise
        seeds = np.concatenate([_evenly(seeds), _evenly(inferred), _typical(sized, groups, named)])
    else:
        seeds, slack = _evenly(seeds), np.full(sized.n_groups, noise)
        if unmet:
            strangers = _strangers(covers, seeds, np.eye(sized.k)[owner[sized.group[seeds]]], free, unmet, noise)
            groups = owner.copy()
            groups[sized.group[strangers]] = np.arange(len(known), sized.k)
            seeds = np.concatenate([seeds, strangers])
    along = covers.along_graph(seeds)
    weights, claims = _claim(
        sized, covers.columns(seeds, along), seeds, groups, owner, slack[sized.group[seeds]], noise
    )
    labels = sized.expand(_fill(_assign(claims, sized, owner), claims, sized, owner))
    return PropagationRun(labels, claims, seeds, covers.reach(seeds, weights, along @ weights))


def _owners(problem: Problem, known: IntArray) -> IntArray:
    """Cluster of each group that follows: those of ``known``, and groups apart from all clusters but one; else -1."""
    k, owner = problem.k, np.full(problem.n_groups, -1, dtype=np.intp)
    owner[known] = np.arange(len(known))
    pairs = problem.apart.pairs()
    ends = np.concatenate([pairs, pairs[:, ::-1]])
    while k == len(known):
        apart = np.zeros((problem.n_groups, k), dtype=np.bool_)
        fixed = ends[owner[ends[:, 1]] >= 0]
        apart[fixed[:, 0], owner[fixed[:, 1]]] = True
        follows = np.flatnonzero((owner < 0) & (apart.sum(axis=1) == k - 1))
        if not len(follows):
            break
        owner[follows] = np.argmin(apart[follows], axis=1)
    return owner


def _claim(
    problem: Problem,
    columns: FloatArray,
    seeds: IntArray,
    groups: IntArray,
    owner: IntArray,
    slack: FloatArray,
    noise: float,
) -> tuple[FloatArray, FloatArray]:
    """Weights of the seeds and claims on all samples, after seeds whose cluster is inferred have settled.

    Each round assigns the groups at the greatest total claim of the other seeds, under all cannot-links. ``slack`` is
    the noise of each seed; seeds of clusters that would be empty get ``noise``.
    """
    at, k = groups[problem.group[seeds]], problem.k
    moves = (_named(problem) & (owner < 0))[problem.group[seeds]]
    inverse = np.linalg.inv(columns[seeds] + np.diag(slack))
    for _ in range(ROUNDS if moves.any() else 0):
        goal = np.eye(k)[at]
        weights = inverse @ goal
        others = columns @ weights
        others[seeds] = goal - weights / np.diag(inverse)[:, None]  # claims on a seed if it were not one
        found = np.where(moves, _assign(others, problem, owner)[problem.group[seeds]], at)
        if (found == at).all() or len(np.unique(found)) < len(np.unique(at)):  # no cluster may lose its last seed
            break
        at = found
    weights = inverse @ np.eye(k)[at]
    lost = np.setdiff1d(np.arange(k), _assign(columns @ weights, problem, owner))
    if len(lost):  # seeds that win no sample insist
        slack[np.isin(at, lost)] = noise
        weights = np.linalg.inv(columns[seeds] + np.diag(slack)) @ np.eye(k)[at]
    return weights, columns @ weights


def _named(problem: Problem) -> BoolArray:
    """Whether statements name the samples of each group."""
    named = np.asarray(problem.weight > 1)
    named[problem.apart.node] = True
    return named


def _evenly(samples: IntArray, most: int = MOST) -> IntArray:
    """At most that many samples, spread evenly over all."""
    return samples[np.unique(np.linspace(0, len(samples) - 1, min(len(samples), most)).astype(np.intp))]


def _start(problem: Problem, covers: Field, known: IntArray, random_state: Any) -> IntArray:
    """Clusters of the groups by k-means in the coordinates of the field, under all statements; ``known`` come first."""
    k = problem.k
    posed = Problem(covers.coordinates(max(2 * k, 4)), problem.constraints, n_clusters=k, who=problem.who)
    found = posed.reduce(cop_kmeans(posed, loop=Loop(n_init=10), random_state=random_state).labels)
    rename = np.full(k, -1, dtype=np.intp)
    rename[found[known]] = np.arange(len(known))
    rename[rename < 0] = np.arange(len(known), k)
    return np.asarray(rename[found])


def _typical(problem: Problem, groups: IntArray, named: BoolArray) -> IntArray:
    """Samples of each cluster that has no sample named by a statement."""
    at, each = groups[problem.group], EACH if named.any() else max(EACH, ALONE // problem.k)
    unreached = np.setdiff1d(np.arange(problem.k), groups[named])
    return np.concatenate([np.zeros(0, np.intp), *(_evenly(np.flatnonzero(at == c), each) for c in unreached)])


def _strangers(covers: Field, seeds: IntArray, goal: FloatArray, free: IntArray, count: int, noise: float) -> IntArray:
    """Samples to begin clusters that no statement reaches: each says most about samples that nothing claims so far.

    The last columns of ``goal`` are those of the new clusters, the others those of the seeds. One sample after the
    other becomes a seed, which changes the claims on all and the covariances of the candidates.
    """
    among = _evenly(free, CANDIDATES)
    columns = covers.columns(seeds)
    inverse = np.linalg.inv(columns[seeds] + noise * np.eye(len(seeds)))
    claims = columns @ (inverse @ goal)
    left = covers.columns(among) - columns @ (inverse @ columns[among].T)
    chosen: list[int] = []
    for new in range(goal.shape[1] - count, goal.shape[1]):
        unclaimed = np.maximum(1.0 - np.maximum(claims, 0.0).sum(axis=1), 0.0)
        step = left / (left[among, np.arange(len(among))] + noise)
        told = unclaimed @ np.clip(step, 0.0, 1.0)
        told[chosen] = -1.0
        best = int(told.argmax())
        claims += np.outer(step[:, best], np.eye(goal.shape[1])[new] - claims[among[best]])
        left -= np.outer(step[:, best], left[among[best]])
        chosen.append(best)
    return among[chosen]


def _fill(labels: IntArray, claims: FloatArray, problem: Problem, owner: IntArray) -> IntArray:
    """Labels of the groups, in which each empty cluster got the group that it claims most in comparison."""
    total = np.zeros((problem.n_groups, claims.shape[1]))
    np.add.at(total, problem.group, claims)
    for empty in np.setdiff1d(np.arange(claims.shape[1]), labels):
        own = total[np.arange(len(labels)), labels]
        stays = (owner >= 0) | (np.bincount(labels, minlength=claims.shape[1])[labels] < 2)
        labels[np.where(stays, -np.inf, total[:, empty] - own).argmax()] = empty
    return labels


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
    named = _named(problem)
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
    """Say what is wrong with a reach from a file."""
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
        Seed for the k-means that the inferred seeds start from.

    Attributes
    ----------
    claims_ : ndarray of shape (n_samples, n_clusters)
        How strongly each cluster claims each sample: near 1 for its own, near 0 far from all seeds.
    seeds_ : ndarray of intp
        Samples from which claims are computed: those of the neighborhoods, then those whose cluster is inferred.
    n_clusters_ : int
        Number of clusters found.

    See Also
    --------
    COPKMeans : k-means under the same statements, for a given number of clusters.

    Notes
    -----
    Samples joined by must-links are a neighborhood; a largest-first choice of neighborhoods that cannot-links keep
    apart pairwise becomes the clusters. Each claims a sample with the mean of a Gaussian field that is 1 on its own
    members and 0 on those of the others. Its covariance is the average of three: the inverse of the graph Laplacian of
    near neighbors, which alone would give the harmonic functions of [1]_, and a rational quadratic of the distance, in
    the features as they are and whitened. A sample goes to the strongest claim; samples that statements bind are
    assigned together, at the greatest total claim that keeps them all. Features should have comparable spreads:
    standardize first.

    Where at least half of ``n_clusters`` are neighborhoods, each other cluster begins with one sample: that which, as a
    seed, would change the values of most samples that nothing claims so far.

    There may be fewer neighborhoods, or statements may name more samples outside them than inside, as random pairs do.
    Then k-means under all statements, in the leading coordinates of the field, finds a cluster for each sample named,
    and some samples for each cluster that no statement reaches. All of these are seeds too, with a noise of 0.3. Those
    that statements name are assigned again, at the greatest total claim of the other seeds, until none moves. Without
    statements, the result is about that of this k-means.

    **Cost** the neighbors, one sparse factorization, and one solution per seed; no table of all pairs; for inferred
    seeds a k-means and a few exact assignments. **Guarantee** every hard statement holds in ``labels_``, re-checked
    after each fit; no cluster is empty; nothing is random unless clusters are inferred. A problem without a solution is
    explained; `GaveUpError` means that the search found neither labels for the statements nor a proof that there are
    none.
    **Departure from** [1]_ the rational quadratics, which carry claims across gaps in the graph and undo unequal
    spreads, a slight leak, and all that concerns inferred seeds.

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
        "_reach": Kept(_fault_of_reach, required=True, records=(Reach,)),
    }

    claims_: FloatArray
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

    def predict(self, X: Any) -> IntArray:
        """Return the cluster with the strongest claim on each row of X.

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
        return np.asarray(self._reach.claims(rows).argmax(axis=1), dtype=np.intp)

    def _read(self, X: Any) -> Any:
        return ConstrainedClusterer._read(self, X) if self.n_clusters is None else super()._read(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
