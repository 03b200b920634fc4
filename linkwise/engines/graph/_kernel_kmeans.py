"""Semi-supervised kernel k-means: soft statements as entries of the kernel, hard ones by exact assignment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from linkwise._compat import Interval, StrOptions
from linkwise._random import make_generator
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.engines import REPORTED, ConstrainedClusterer, Kept, PartitionMixin
from linkwise.engines.assignment import Cloud, contract
from linkwise.engines.graph._affinity import KERNELS, read_affinity
from linkwise.engines.graph._gram import OBJECTIVES, Gram, make_gram
from linkwise.engines.graph._kernel_init import STARTS, KernelStart, read_start
from linkwise.engines.graph._kernel_loop import Ended, Loop, run_kernel_kmeans
from linkwise.engines.partitional import LINKS, judge, read_problem
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem
from linkwise.problem.statements import Leanings, read_leanings


@dataclass(frozen=True, eq=False)
class KernelRun:
    """What `kernel_kmeans` found.

    Attributes
    ----------
    labels : ndarray of intp, shape (n_samples,)
        Cluster of each sample.
    objective : float
        The criterion, soft statements included; see `kernel_kmeans`.
    history : ndarray
        The criterion after each step of the run that was kept; it never rises.
    shift : float
        What was put on the diagonal to make the kernel positive semidefinite, per unit of node weight.
    n_iter : int
        Steps of that run.
    best_assignment : bool
        Whether each step of that run was shown to assign at least cost where cannot-links are hard.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import kernel_kmeans
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> run = kernel_kmeans(X, Constraints.build(4, must_link=[(0, 1)], weight=1.0), 2, random_state=0)
    >>> round(run.objective, 9), run.shift >= 0
    (0.5, True)
    """

    labels: IntArray
    objective: float
    history: FloatArray
    shift: float
    n_iter: int
    best_assignment: bool = True


def kernel_kmeans(
    X: Any,
    constraints: Constraints,
    n_clusters: int,
    *,
    objective: str = "hmrf",
    kernel: str = "linear",
    gamma: float | None = None,
    n_neighbors: int = 10,
    start: Any = "auto",
    shift: float | None = None,
    n_init: int = 3,
    max_iter: int = 100,
    random_state: Any = None,
) -> KernelRun:
    """Cluster vectors, a kernel or a graph so that few samples lie far from their own and little weight is broken.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Samples, or with ``kernel="precomputed"`` a symmetric kernel or graph, dense or sparse. Not modified.
    constraints : Constraints
        Must-links, cannot-links, groups together or apart. Soft ones change the criterion by their weight, of a soft
        group every pair; hard ones hold.
    n_clusters : int
        Number of clusters; each gets a sample.
    objective : {"hmrf", "ratio_association", "ratio_cut", "normalized_cut"}, default="hmrf"
        What is minimized, see Notes.
    kernel : {"linear", "rbf", "nearest_neighbors", "precomputed"}, default="linear"
        Inner products, for "hmrf" only; exp(-gamma d^2); near neighbors, a sparse graph; or as given.
    gamma : float, optional
        Width for "rbf"; by default it reaches to the 7th neighbor of a typical sample.
    n_neighbors : int, default=10
        Neighbors of each sample, itself counted, for "nearest_neighbors".
    start : {"auto", "neighborhoods", "k-means++", "spectral"} or array of labels, default="auto"
        Must-linked groups, completed by k-means++; k-means++ alone; k-means on the leading eigenvectors of the kernel;
        or labels. "auto" is "neighborhoods" for "hmrf" and "spectral" for graphs, where two samples without an edge
        do not tell how far apart they are.
    shift : float, optional
        What to put on the diagonal, per unit of node weight; by default the least that makes the kernel positive
        semidefinite.
    n_init : int, default=3
        Runs from different starts, of which the best is kept; one is enough where a start leaves nothing to chance.
    max_iter : int, default=100
        Most steps of one run.
    random_state : None, int, RandomState or Generator
        Seed of the starts.

    Returns
    -------
    KernelRun
        Labels and the criterion.

    Raises
    ------
    InfeasibleConstraintsError
        The hard statements cannot hold together in so many clusters; the error explains why.
    GaveUpError
        No labels were found for the hard statements, and no proof that there are none.
    UnsupportedConstraintError
        There are statements of another kind, such as triplets, or rules.

    Notes
    -----
    A cluster c with members S_c and degree deg(c), the sum of its affinities to all samples, contributes

    - "hmrf": the squared distances of its members to its mean in feature space,
    - "ratio_association": minus its affinities inside, over its size,
    - "ratio_cut": its affinities to others, over its size,
    - "normalized_cut": its affinities to others, over its degree,

    and in each case the weights of the soft cannot-links inside it minus those of the soft must-links inside it, over
    the same size or degree. Weights are thus in units of squared distance times size, or of affinity.

    All of these are weighted kernel k-means [1]_. A step assigns all samples; when that no longer helps, samples move
    one by one, which gets out of places where the shift holds the first kind of step; and so on until neither helps.

    **Cost** O(n^2) memory and time per step, O(entries + n k) for a sparse graph. **Guarantee** every hard statement
    holds; exactly ``n_clusters`` clusters have samples; the criterion never rises; the result is a local optimum of
    both kinds of step unless ``max_iter`` ends it. Without statements "hmrf" with the linear kernel is k-means.
    **Departure from** [1]_ an unordered pair adds half its weight to both of its entries of the kernel, and normalized
    cut has K = shift D^-1 + D^-1 (A + W) D^-1; hard statements hold; samples also move one by one; the shift is no
    larger than it must be.

    References
    ----------
    .. [1] B. Kulis, S. Basu, I. Dhillon, R. Mooney, "Semi-supervised Graph Clustering: A Kernel Approach", ICML 2005.
    .. [2] I. Dhillon, Y. Guan, B. Kulis, "Weighted Graph Cuts without Eigenvectors: A Multilevel Approach", IEEE TPAMI
       29 (2007).

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import kernel_kmeans
    >>> X = np.array([[0.0], [1.0], [2.2], [8.0], [9.0]])
    >>> doubtful = Constraints.build(5, must_link=[(2, 3)], weight=300.0)
    >>> labels = kernel_kmeans(X, doubtful, 2, random_state=0).labels
    >>> bool(labels[2] == labels[3])
    True
    """
    who = "kernel_kmeans"
    _require(who, objective, kernel, shift, n_init, max_iter)
    rows, k = read_problem(X, constraints, n_clusters, LINKS, frozenset(), who)
    begin = read_start(start, objective, rows.shape[0], k, who)
    hard = constraints.select(constraints.is_hard)
    witness = judge(hard, k, who)
    cloud = contract(np.zeros((rows.shape[0], 0)), constraints)
    leanings = read_leanings(constraints, who)
    table = _kernel(rows, objective, kernel, gamma, n_neighbors, who)
    gram = make_gram(table, objective, leanings, cloud.group, k, who)
    put = _shift(gram, objective, kernel, leanings) if shift is None else float(shift)
    loop = Loop(gram, cloud.apart, k, put, int(max_iter), _on_nodes(cloud, witness))
    source = KernelStart(begin, gram, cloud, k, make_generator(random_state))
    best: Ended | None = None
    for _ in range(int(n_init) if source.varies else 1):
        ended = run_kernel_kmeans(loop, source.labels())
        best = ended if best is None or ended.history[-1] < best.history[-1] else best
    if best is None:
        raise AssertionError
    return KernelRun(best.labels[cloud.group], float(best.history[-1]), best.history, put, best.n_iter, best.best)


def _require(who: str, objective: str, kernel: str, shift: Any, n_init: Any, max_iter: Any) -> None:
    for name, value, known in (("objective", objective, OBJECTIVES), ("kernel", kernel, KERNELS)):
        if value not in known:
            msg = f"{who}: {name} is {value!r}, expected one of {', '.join(map(repr, known))}."
            raise LinkwiseError(msg)
    if kernel == "linear" and objective != "hmrf":
        msg = (
            f'{who}: objective="{objective}" cuts a graph, and inner products (kernel="linear") are none: they can be '
            'negative.\nHint: kernel="nearest_neighbors", "rbf" or "precomputed".'
        )
        raise LinkwiseError(msg)
    for name, value in (("n_init", n_init), ("max_iter", max_iter)):
        if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
            msg = f"{who}: {name} is {value!r}, expected a whole number >= 1."
            raise LinkwiseError(msg)
    if shift is not None and (isinstance(shift, bool) or not isinstance(shift, Real) or not 0 <= float(shift) < np.inf):
        msg = f"{who}: shift is {shift!r}, expected a number >= 0, or None."
        raise LinkwiseError(msg)


def _kernel(rows: Any, objective: str, kernel: str, gamma: float | None, n_neighbors: int, who: str) -> Any:
    """Affinities or inner products; the latter about the mean, which changes no distance and saves digits."""
    if kernel == "linear" and not scipy.sparse.issparse(rows):
        rows = rows - rows.mean(axis=0)
    table = read_affinity(rows, kernel, gamma=gamma, n_neighbors=n_neighbors, who=who, signed=objective == "hmrf")[0]
    if kernel == "linear" and scipy.sparse.issparse(rows):
        mean = table.mean(axis=0)
        table = table - mean - mean[:, None] + mean.mean()
    return table


def _shift(gram: Gram, objective: str, kernel: str, leanings: Leanings) -> float:
    """The least shift; none where the kernel is positive semidefinite by its making."""
    if objective == "hmrf" and kernel in ("linear", "rbf") and not len(leanings.pairs):
        return 0.0
    return gram.least_shift()


def _on_nodes(cloud: Cloud, witness: Callable[[], IntArray]) -> Callable[[], IntArray]:
    def colors() -> IntArray:
        out = np.empty(cloud.n_nodes, dtype=np.intp)
        out[cloud.group] = witness()
        return out

    return colors


class KernelKMeans(PartitionMixin, ConstrainedClusterer):
    """Cluster vectors, a kernel or a graph, weighing soft statements against the fit and holding hard ones.

    Parameters
    ----------
    n_clusters : int, default=2
        Number of clusters; each gets a sample.
    objective : {"hmrf", "ratio_association", "ratio_cut", "normalized_cut"}, default="hmrf"
        What is minimized: squared distances to means in feature space, or a criterion of a graph.
    kernel : {"linear", "rbf", "nearest_neighbors", "precomputed"}, default="linear"
        Inner products, for "hmrf" only; exp(-gamma d^2); near neighbors, a sparse graph; or X is a symmetric kernel
        or graph, dense or sparse.
    gamma : float, default=None
        Width for "rbf"; None for one that reaches to the 7th neighbor of a typical sample.
    n_neighbors : int, default=10
        Neighbors of each sample, itself counted, for "nearest_neighbors".
    start : {"auto", "neighborhoods", "k-means++", "spectral"} or array of labels, default="auto"
        Where runs start; "auto" is "neighborhoods" for "hmrf" and "spectral" otherwise.
    shift : float, default=None
        What to put on the diagonal; None for the least that makes the kernel positive semidefinite.
    n_init : int, default=3
        Runs from different starts, of which the best is kept.
    max_iter : int, default=100
        Most steps of one run.
    random_state : int, RandomState instance or None, default=None
        Seed of the starts.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample.
    objective_ : float
        The criterion, soft statements included.
    shift_ : float
        What was put on the diagonal.
    n_iter_ : int
        Steps of the run that was kept.
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
    SpectralLearning : bends affinities and cuts by eigenvectors.
    COPKMeans : k-means in which all statements hold, for more samples than a kernel has room for.
    kernel_kmeans : the same as a function, with the criteria explained.

    Notes
    -----
    **Cost** O(n^2) memory and time per step, O(entries + n k) for a sparse graph. **Guarantee** every hard statement
    holds in ``labels_``, re-checked after each fit; the criterion never rises. **Departure from** [1]_ see
    `kernel_kmeans`. Normalized cut under a graph of constraints is ``objective="normalized_cut"``.

    References
    ----------
    .. [1] B. Kulis, S. Basu, I. Dhillon, R. Mooney, "Semi-supervised Graph Clustering: A Kernel Approach", ICML 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, KernelKMeans
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], cannot_link=[(0, 1)])
    >>> labels = KernelKMeans(2, random_state=0).fit(X, constraints=known).labels_
    >>> bool(labels[0] == labels[2] != labels[1])
    True
    """

    understands: ClassVar[frozenset[Kind]] = LINKS
    weighs: ClassVar[bool] = True
    _explains_itself: ClassVar[bool] = True
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **PartitionMixin._parameter_constraints,
        "objective": [StrOptions(set(OBJECTIVES))],
        "kernel": [StrOptions(set(KERNELS))],
        "gamma": [Interval(Real, 0, None, closed="neither"), None],
        "n_neighbors": [Interval(Integral, 1, None, closed="left")],
        "start": [StrOptions(set(STARTS)), "array-like"],
        "shift": [Interval(Real, 0, None, closed="left"), None],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
    }

    objective_: float
    shift_: float
    n_iter_: int

    _saved: ClassVar[dict[str, Kept]] = dict.fromkeys(("objective_", "shift_", "n_iter_"), REPORTED)

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        objective: str = "hmrf",
        kernel: str = "linear",
        gamma: float | None = None,
        n_neighbors: int = 10,
        start: Any = "auto",
        shift: float | None = None,
        n_init: int = 3,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.objective = objective
        self.kernel = kernel
        self.gamma = gamma
        self.n_neighbors = n_neighbors
        self.start = start
        self.shift = shift
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _solve(self, problem: Problem) -> KernelRun:
        return kernel_kmeans(
            problem.X,
            problem.constraints,
            self.n_clusters,
            objective=self.objective,
            kernel=self.kernel,
            gamma=self.gamma,
            n_neighbors=self.n_neighbors,
            start=self.start,
            shift=self.shift,
            n_init=self.n_init,
            max_iter=self.max_iter,
            random_state=self.random_state,
        )

    def _keep(self, outcome: KernelRun, samples: Any, constraints: Constraints) -> None:
        self._keep_labels(outcome.labels, samples, constraints)
        self.objective_ = outcome.objective
        self.shift_ = outcome.shift
        self.n_iter_ = outcome.n_iter

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags
