"""Spectral learning: bend the affinities by what was said, embed, and cluster the embedding so that it holds."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

from linkwise._compat import Interval, StrOptions
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.engines import REPORTED, SAMPLES, ConstrainedClusterer, Kept, PartitionMixin, kept_floats
from linkwise.engines.graph._affinity import AFFINITIES, read_affinity
from linkwise.engines.graph._bent_graph import bend
from linkwise.engines.graph._embedding import embed, normalize_rows
from linkwise.engines.partitional import LINKS, cop_kmeans, judge, read_problem
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem


@dataclass(frozen=True, eq=False)
class SpectralRun:
    """What `spectral_learning` found.

    Attributes
    ----------
    labels : ndarray of intp, shape (n_samples,)
        Cluster of each sample.
    embedding : ndarray or csr_array of shape (n_samples, n_components)
        The rows that k-means clustered: leading eigenvectors as columns, each row of length 1.
    eigenvalues : ndarray of shape (n_components,)
        Their eigenvalues, falling from 1; a large step after the first k says that k clusters are in the graph.
    inertia : float
        Sum of squared distances of the rows to the centers of their clusters.
    n_iter : int
        Iterations of the k-means that was kept.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import spectral_learning
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> run = spectral_learning(X, Constraints.build(4), 2, random_state=0)
    >>> run.embedding.shape, round(float(run.eigenvalues[0]), 6)
    ((4, 2), 1.0)
    """

    labels: IntArray
    embedding: Any
    eigenvalues: FloatArray
    inertia: float
    n_iter: int


def spectral_learning(
    X: Any,
    constraints: Constraints,
    n_clusters: int,
    *,
    affinity: str = "nearest_neighbors",
    gamma: float | None = None,
    n_neighbors: int = 10,
    n_init: int = 10,
    max_iter: int = 300,
    random_state: Any = None,
) -> SpectralRun:
    """Set affinities to what was said, embed the graph by its leading eigenvectors, and cut it where statements allow.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples, or with ``affinity="precomputed"`` a symmetric matrix of affinities >= 0. Not modified.
    constraints : Constraints
        Must-links, cannot-links, groups together or apart. Hard ones set affinities and hold in the result; soft ones
        move affinities part of the way, a weight w the share 1 - exp(-w), and hold if the graph agrees.
    n_clusters : int
        Number of clusters; each gets a sample.
    affinity : {"nearest_neighbors", "rbf", "precomputed"}, default="nearest_neighbors"
        Near neighbors, a sparse graph; exp(-gamma d^2) between all samples; or as given.
    gamma : float, optional
        Width for "rbf"; by default it reaches to the 7th neighbor of a typical sample.
    n_neighbors : int, default=10
        Neighbors of each sample, itself counted, for "nearest_neighbors".
    n_init : int, default=10
        Runs of k-means from different starts.
    max_iter : int, default=300
        Most iterations of one run.
    random_state : None, int, RandomState or Generator
        Seed of the starts.

    Returns
    -------
    SpectralRun
        Labels, embedding and eigenvalues.

    Raises
    ------
    InfeasibleConstraintsError
        The hard statements cannot hold together in so many clusters; the error explains why.
    GaveUpError
        The eigenvectors did not converge, or no labels were found for the hard statements and no proof that there
        are none.
    UnsupportedConstraintError
        There are statements of another kind, such as triplets, or rules.

    Notes
    -----
    **Cost** O(n^2) memory with "rbf" and O(entries) for a sparse graph; time mostly that of the eigenvectors, one
    multiplication by the graph in every step of Lanczos. Must-linked groups are never written out in a sparse graph.
    **Guarantee** every hard statement holds; exactly ``n_clusters`` clusters have samples; one seed gives one answer.
    Without statements this is the plain method of [1]_.
    **Departure from** [1]_ which sets affinities only and may break what was said: here the final k-means is
    `cop_kmeans`, so that hard statements hold; what follows from hard statements is set too, so saying it changes
    nothing; "as like as can be" is 1 for affinities computed here and the largest given one for a precomputed graph;
    weights are ours, and so is the graph of near neighbors as default, which
    separates better than exp(-gamma d^2) and scales. Diagonals are left out: the normalization cancels them.

    References
    ----------
    .. [1] S. D. Kamvar, D. Klein, C. D. Manning, "Spectral Learning", IJCAI 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import spectral_learning
    >>> X = np.array([[0.0], [0.4], [1.0], [4.0], [5.0], [5.6]])
    >>> known = Constraints.build(6, must_link=[(2, 3)])
    >>> labels = spectral_learning(X, known, 2, affinity="rbf", random_state=0).labels
    >>> [bool(labels[i] == labels[i + 1]) for i in range(5)]
    [True, True, True, False, True]
    """
    who = "spectral_learning"
    if affinity not in AFFINITIES:
        msg = f"{who}: affinity is {affinity!r}, expected one of {', '.join(map(repr, AFFINITIES))}."
        raise LinkwiseError(msg)
    rows, k = read_problem(X, constraints, n_clusters, LINKS, frozenset(), who)
    hard = constraints.select(constraints.is_hard)
    judge(hard, k, who)  # a contradiction is explained before the graph is made
    graph = bend(*read_affinity(rows, affinity, gamma=gamma, n_neighbors=n_neighbors, who=who), constraints, who)
    vectors, values = embed(graph, k, who)
    points = normalize_rows(vectors)
    run = cop_kmeans(points, hard, k, n_init=n_init, max_iter=max_iter, random_state=random_state)
    return SpectralRun(run.labels, points, values, run.inertia, run.n_iter)


class SpectralLearning(PartitionMixin, ConstrainedClusterer):
    """Cluster a graph of affinities that must-links and cannot-links have bent; shapes need not be round.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; each gets a sample.
    affinity : {"nearest_neighbors", "rbf", "precomputed"}, default="nearest_neighbors"
        Near neighbors, a sparse graph; exp(-gamma d^2) between all samples; or X is a symmetric matrix of
        affinities, dense or sparse.
    gamma : float, default=None
        Width for "rbf"; None for one that reaches to the 7th neighbor of a typical sample.
    n_neighbors : int, default=10
        Neighbors of each sample, itself counted, for "nearest_neighbors".
    n_init : int, default=10
        Runs of k-means from different starts.
    max_iter : int, default=300
        Most iterations of one run.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    embedding_ : ndarray or sparse matrix of shape (n_samples, n_components)
        Leading eigenvectors, rows scaled to length 1.
    eigenvalues_ : ndarray of shape (n_components,)
        Their eigenvalues, falling from 1.
    n_iter_ : int
        Iterations of the k-means that was kept.
    n_clusters_ : int
        Number of clusters found: always ``n_clusters``.
    certificate_ : Certificate
        What the independent check found to hold; ``soft_violated`` lists the soft statements that were overruled.
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.
    dropped_ : Constraints
        Always empty: soft statements are weighed.

    See Also
    --------
    KernelKMeans : the same criteria without eigenvectors, with a price for each broken statement.
    spectral_learning : the same as a function.

    Notes
    -----
    **Cost** O(n^2) memory with "rbf", O(entries) for a sparse graph. **Guarantee** every hard statement holds in
    ``labels_``, re-checked after each fit. A soft statement of weight w moves its affinity the share 1 - exp(-w) of
    the way. **Departure from** [1]_ hard statements are enforced in the last step; see `spectral_learning`.

    References
    ----------
    .. [1] S. D. Kamvar, D. Klein, C. D. Manning, "Spectral Learning", IJCAI 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, SpectralLearning
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    >>> known = Constraints.build(5, must_link=[(2, 3)])
    >>> SpectralLearning(2, random_state=0).fit(X, constraints=known).certificate_.ok
    True
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    weighs: ClassVar[bool] = True
    _explains_itself: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PartitionMixin._parameter_constraints,
        "affinity": [StrOptions(set(AFFINITIES))],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

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
        return spectral_learning(
            problem.X,
            problem.constraints,
            self.n_clusters,
            affinity=self.affinity,
            gamma=self.gamma,
            n_neighbors=self.n_neighbors,
            n_init=self.n_init,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )

    def _keep(self, outcome: SpectralRun, samples: Any, constraints: Constraints) -> None:
        self._keep_labels(outcome.labels, samples, constraints)
        self.embedding_ = outcome.embedding
        self.eigenvalues_ = outcome.eigenvalues
        self.n_iter_ = outcome.n_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.affinity == "precomputed"
        return tags
