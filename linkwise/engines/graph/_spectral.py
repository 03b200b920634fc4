"""`SpectralLearning`: affinities changed by statements, their eigenvectors, and k-means under hard statements."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from linkwise._compat import StrOptions
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import NeighborWithin, Rule, SizeBetween
from linkwise.engines import REPORTED, SAMPLES, ConstrainedClusterer, Kept, kept_floats
from linkwise.engines.graph._affinity import AFFINITIES, AffinityMixin, read_affinity
from linkwise.engines.graph._bent_graph import bend
from linkwise.engines.graph._embedding import embed, normalize_rows
from linkwise.engines.partitional import Loop, cop_kmeans
from linkwise.problem import Problem


@dataclass(frozen=True, eq=False)
class SpectralRun:
    """Outcome of `SpectralLearning`."""

    labels: IntArray
    embedding: Any
    eigenvalues: FloatArray
    n_iter: int


class SpectralLearning(AffinityMixin, ConstrainedClusterer):
    """Cluster a graph whose affinities must-links and cannot-links have changed; clusters need not be round.

    Parameters
    ----------
    affinity : {"nearest_neighbors", "rbf", "precomputed"}, default="nearest_neighbors"
        Near neighbors, a sparse graph; exp(-gamma d^2) between all samples; or X is a symmetric matrix of
        affinities, dense or sparse.
    n_init : int, default=10
        Runs of k-means from different starts.
    max_iter : int, default=300
        Maximum number of iterations of one run.

    Attributes
    ----------
    embedding_ : ndarray or sparse matrix of shape (n_samples, n_components)
        Leading eigenvectors, rows scaled to length 1.
    eigenvalues_ : ndarray of shape (n_components,)
        Their eigenvalues, falling from 1; a large step after the first k suggests k clusters.
    n_iter_ : int
        Iterations of the k-means that was kept.

    See Also
    --------
    KernelKMeans : the same criteria without eigenvectors, with a cost for each broken statement.

    Notes
    -----
    Hard statements set affinities to the largest or to 0. A soft statement of weight w moves its affinity the share
    1 - exp(-w) of the way, and holds if the graph agrees.
    **Cost** O(n^2) memory with "rbf" and O(entries) for a sparse graph; time mostly that of the eigenvectors, one
    multiplication by the graph in every step of Lanczos. Must-linked groups are not written out in a sparse graph.
    **Guarantee** every hard statement, bound on sizes and ε (`NeighborWithin`, about the distances of X, not those of
    the eigenvectors) holds in ``labels_``, re-checked after each fit; exactly ``n_clusters`` clusters have samples.
    Without statements this is the plain method of [1]_. A problem without a solution is explained; `GaveUpError` means
    that the eigenvectors did not converge, or that the search found neither labels for the hard statements nor a proof
    that there are none.
    **Departure from** [1]_ which only sets affinities and may break statements: here the final k-means is that of
    `COPKMeans`, so that hard statements hold; consequences of hard statements are set too, so stating them changes
    nothing; the largest affinity is 1 for affinities computed here and the largest given one for a precomputed graph;
    weights are ours, and so is the graph of near neighbors as default, which separates better than exp(-gamma d^2) and
    scales. Diagonals are left out: the normalization cancels them.

    References
    ----------
    .. [1] S. D. Kamvar, D. Klein, C. D. Manning, "Spectral Learning", IJCAI 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import SpectralLearning
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    >>> known = Constraints.build(5, must_link=[(2, 3)])
    >>> SpectralLearning(2, random_state=0).fit(X, constraints=known).certificate_.ok
    True
    """

    understands_rules: ClassVar[frozenset[type[Rule]]] = frozenset({SizeBetween, NeighborWithin})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {"affinity": [StrOptions(set(AFFINITIES))]}

    embedding_: Any
    eigenvalues_: FloatArray
    n_iter_: int

    _saved: ClassVar[dict[str, Kept]] = {
        "embedding_": kept_floats(SAMPLES, None),
        "eigenvalues_": REPORTED,
        "n_iter_": REPORTED,
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        affinity: str = "nearest_neighbors",
        gamma: float | None = None,
        n_neighbors: int = 10,
        n_init: int = 10,
        max_iter: int = 300,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _solve(self, problem: Problem) -> SpectralRun:
        affinity = read_affinity(
            problem.X, self.affinity, gamma=self.gamma, n_neighbors=self.n_neighbors, who=problem.who
        )
        vectors, values = embed(bend(*affinity, problem), problem.k, problem.who)
        points = normalize_rows(vectors)
        said = problem.constraints
        hard = said.select(said.is_hard).with_rules(*(r for r in said.rules if not isinstance(r, NeighborWithin)))
        embedded = Problem(points, hard, n_clusters=problem.n_clusters, who=problem.who)
        loop = Loop(self.n_init, self.max_iter)
        run = cop_kmeans(embedded, loop=loop, random_state=self.random_state, near_in=problem)
        return SpectralRun(run.labels, points, values, run.n_iter)

    def _keep(self, outcome: SpectralRun, problem: Problem) -> None:
        self._keep_labels(outcome.labels, problem)
        self.embedding_ = outcome.embedding
        self.eigenvalues_ = outcome.eigenvalues
        self.n_iter_ = outcome.n_iter
