"""`KernelKMeans`: semi-supervised kernel k-means; soft statements change the kernel, hard ones hold by assignment."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, ClassVar

import numpy as np
import scipy.sparse

from linkwise._compat import Interval, StrOptions
from linkwise._random import make_generator
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import NeighborWithin, Rule
from linkwise.engines import REPORTED, ConstrainedClusterer, Kept
from linkwise.engines.assignment import Neighborhoods
from linkwise.engines.graph._affinity import KERNELS, AffinityMixin, read_affinity
from linkwise.engines.graph._gram import OBJECTIVES, Gram, make_gram
from linkwise.engines.graph._kernel_loop import STARTS, KernelStart, Loop, read_start, run_kernel_kmeans
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem


@dataclass(frozen=True, eq=False)
class KernelRun:
    """Outcome of `KernelKMeans`; ``history`` is the criterion after each step of the run that was kept."""

    labels: IntArray
    objective: float
    history: FloatArray
    shift: float
    n_iter: int


def _kernel(problem: Problem, objective: str, kernel: str, gamma: float | None, n_neighbors: int) -> Any:
    """Affinities or inner products; the latter about the mean, which changes no distance and saves digits."""
    rows, who = problem.X, problem.who
    if kernel == "linear" and objective != "hmrf":
        msg = (
            f'{who}: objective="{objective}" cuts a graph, but inner products (kernel="linear") are not affinities: '
            'they can be negative.\nHint: kernel="nearest_neighbors", "rbf" or "precomputed".'
        )
        raise LinkwiseError(msg)
    if kernel == "linear" and not scipy.sparse.issparse(rows):
        rows = rows - rows.mean(axis=0)
    table = read_affinity(rows, kernel, gamma=gamma, n_neighbors=n_neighbors, who=who, signed=objective == "hmrf")[0]
    if kernel == "linear" and scipy.sparse.issparse(rows):
        mean = table.mean(axis=0)
        table = table - mean - mean[:, None] + mean.mean()
    return table


def _shift(gram: Gram, objective: str, kernel: str, problem: Problem) -> float:
    """The least shift; none where the kernel is positive semidefinite by construction."""
    if objective == "hmrf" and kernel in ("linear", "rbf") and not len(problem.soft_pairs.net().pairs):
        return 0.0
    return gram.least_shift()


class KernelKMeans(AffinityMixin, ConstrainedClusterer):
    """Cluster vectors, a kernel or a graph, weighing soft statements against the fit and holding hard ones.

    Parameters
    ----------
    objective : {"hmrf", "ratio_association", "ratio_cut", "normalized_cut"}, default="hmrf"
        Criterion to minimize: squared distances to means in feature space, or one of a graph; see Notes.
    kernel : {"linear", "rbf", "nearest_neighbors", "precomputed"}, default="linear"
        Inner products, for "hmrf" only; exp(-gamma d^2); near neighbors, a sparse graph; or X is a symmetric kernel
        or graph, dense or sparse.
    init : {"auto", "neighborhoods", "k-means++", "spectral"} or array of labels, default="auto"
        Must-linked groups, completed by k-means++; k-means++ alone; k-means on the leading eigenvectors of the kernel;
        or labels. "auto" is "neighborhoods" for "hmrf" and "spectral" for graphs, in which samples without an edge have
        no distance.
    shift : float, default=None
        Number to add to the diagonal, per unit of node weight; None for the least that makes the kernel positive
        semidefinite.
    n_init : int, default=3
        Runs from different starts, of which the best is kept. There is one run where nothing is random.
    max_iter : int, default=100
        Maximum number of steps of one run.

    Attributes
    ----------
    objective_ : float
        The criterion, soft statements included.
    shift_ : float
        Number that was added to the diagonal.
    n_iter_ : int
        Steps of the run that was kept.

    See Also
    --------
    SpectralLearning : changes affinities and cuts by eigenvectors.
    COPKMeans : k-means in which all statements hold, for more samples than a kernel has room for.

    Notes
    -----
    A cluster c with members S_c and degree deg(c), the sum of its affinities to all samples, contributes

    - "hmrf": the squared distances of its members to its mean in feature space,
    - "ratio_association": minus its affinities inside, over its size,
    - "ratio_cut": its affinities to others, over its size,
    - "normalized_cut": its affinities to others, over its degree,

    and in each case the weights of the soft cannot-links inside it minus those of the soft must-links inside it, over
    the same size or degree. Weights are in units of squared distance times size, or of affinity; of a soft group every
    pair counts with the weight of the group.

    All of these are weighted kernel k-means [2]_. A step assigns all samples; when that no longer helps, samples move
    one by one, which leaves labelings where the shift blocks the first kind of step; and so on until neither helps.

    **Cost** O(n^2) memory and time per step, O(entries + n k) for a sparse graph. **Guarantee** every hard statement
    holds in ``labels_``, re-checked after each fit; exactly ``n_clusters`` clusters have samples; the criterion never
    rises; the result is a local optimum of both kinds of step unless ``max_iter`` ends it. Without statements "hmrf"
    with the linear kernel is k-means. A problem without a solution is explained; `GaveUpError` means that the search
    found neither labels for the hard statements nor a proof that there are none. With ε (`NeighborWithin`), which is
    about the distances of X, labels are repaired after each step: it holds, and no legal move of one group is better.
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
    >>> from linkwise.engines import KernelKMeans
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], cannot_link=[(0, 1)])
    >>> labels = KernelKMeans(2, random_state=0).fit(X, constraints=known).labels_
    >>> bool(labels[0] == labels[2] != labels[1])
    True
    """

    understands_rules: ClassVar[frozenset[type[Rule]]] = frozenset({NeighborWithin})
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "objective": [StrOptions(set(OBJECTIVES))],
        "kernel": [StrOptions(set(KERNELS))],
        "init": [StrOptions(set(STARTS)), "array-like"],
        "shift": [Interval(Real, 0, None, closed="left"), None],
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
        init: Any = "auto",
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
        self.init = init
        self.shift = shift
        self.n_init = n_init
        self.max_iter = max_iter
        self.random_state = random_state

    def _solve(self, problem: Problem) -> KernelRun:
        begin = read_start(self.init, self.objective, problem.n_samples, problem.k, problem.who)
        table = _kernel(problem, self.objective, self.kernel, self.gamma, self.n_neighbors)
        gram = make_gram(table, self.objective, problem)
        shift = _shift(gram, self.objective, self.kernel, problem) if self.shift is None else float(self.shift)
        near = Neighborhoods.of(problem, problem.contract(np.zeros((problem.n_samples, 0))))
        loop = Loop(gram, problem, shift, self.max_iter, near)
        source = KernelStart(begin, gram, problem, make_generator(self.random_state))
        runs = (run_kernel_kmeans(loop, source.labels()) for _ in range(self.n_init if source.varies else 1))
        best = min(runs, key=lambda ended: float(ended.history[-1]))  # of equals the first
        return KernelRun(problem.expand(best.labels), float(best.history[-1]), best.history, shift, best.n_iter)

    def _keep(self, outcome: KernelRun, problem: Problem) -> None:
        self._keep_labels(outcome.labels, problem)
        self.objective_ = outcome.objective
        self.shift_ = outcome.shift
        self.n_iter_ = outcome.n_iter
