"""`LeastSquaresUltrametric`: a search over trees for the ultrametric closest to the distances, triplets kept."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, NamedTuple

import numpy as np

from linkwise._compat import Interval, StrOptions
from linkwise._memory import require_memory
from linkwise._random import make_generator
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Kind
from linkwise.engines import REPORTED, ConstrainedClusterer, Kept, current_progress
from linkwise.engines.agglomeration import agglomerate
from linkwise.engines.hierarchical import HierarchyMixin
from linkwise.engines.hierarchical.relative import ReCon
from linkwise.engines.hierarchical.ultrametric._base import (
    INVERSES,
    Triplets,
    distances_of,
    read_pair_weights,
    weigh_square,
)
from linkwise.engines.hierarchical.ultrametric._kernels_heights import _pool_upwards, _sums_at_nodes
from linkwise.engines.hierarchical.ultrametric._kernels_tree_search import (
    Shape,
    Sums,
    _displays,
    _enumerate,
    _improve,
    _move,
)
from linkwise.problem import Problem
from linkwise.problem.statements import Budget
from linkwise.result import Dendrogram

STARTS = ("average", "complete", "single", "weighted")  # linkages whose trees the search starts from
SMALL = 9  # up to this number of samples the enumeration ends within a moment
_TOLERANCE = 1e-11  # of the sum of squares: what counts as an improvement


class Fitted(NamedTuple):
    """The tree found, its weighted sum of squares, and whether no tree has a smaller one."""

    tree: Dendrogram
    loss: float
    optimal: bool


def least_squares_ultrametric(
    problem: Problem,
    *,
    search: str = "auto",
    pair_weight: Any = None,
    n_kicks: int = 10,
    budget: float = 2.0,
    random_state: Any = None,
) -> Fitted:
    """Build the tree of `LeastSquaresUltrametric`."""
    n, D = problem.n_samples, distances_of(problem).square()
    W = weigh_square(read_pair_weights(pair_weight, n, who=problem.who), D, who=problem.who)
    rows = np.column_stack(Triplets.of(problem))
    tolerance = _TOLERANCE * float((W * D * D).sum()) / 2
    left = Budget(budget)
    found = _search(problem, D, W, rows, tolerance, n_kicks, left, make_generator(random_state))
    optimal = n <= 2
    if n > 2 and (search == "exact" or (search == "auto" and n <= SMALL)):
        found, optimal = _enumerated(D, W, rows, found, tolerance, left)
    tree = _with_heights(found, D, W, problem.constraints.ids)
    i, j = np.triu_indices(n, 1)
    return Fitted(tree, float((W[i, j] * (D[i, j] - tree.cophenetic(i, j)) ** 2).sum()), optimal)


def _search(
    problem: Problem,
    D: FloatArray,
    W: FloatArray,
    rows: IntArray,
    tolerance: float,
    n_kicks: int,
    budget: Budget,
    generator: np.random.Generator,
) -> Shape:
    """Improve the trees of several linkages, then the best of them after random moves."""
    n, progress = len(D), current_progress()
    total = len(STARTS) + n_kicks
    require_memory(2 * 8 * (2 * n - 1) ** 2, f"sums between {2 * n - 1} branches", "ReCon needs no such tables.")
    room = np.zeros((2 * n - 1, 2 * n - 1))
    sums = Sums(room, room.copy())
    sums.total[:n, :n], sums.mass[:n, :n] = W * D, W

    def improve(shape: Shape, done: int) -> float:
        steps = int(min(budget.left, 1e9) * 1e8)
        explained, rest = _improve(shape, n, sums, rows, tolerance, steps)
        budget.spend(steps - rest)
        if progress is not None:
            progress(done, total)
        return float(explained)

    best = _shape_of(_start(problem, D, STARTS[0]))
    most = improve(best, 1)
    for at, method in enumerate(STARTS[1:]):
        if budget.over:
            break
        shape = _shape_of(_start(problem, D, method))
        explained = improve(shape, at + 2)
        if explained > most + tolerance:
            best, most = shape, explained
    for kick in range(n_kicks if n > 3 else 0):
        shape = Shape(*(part.copy() for part in best))
        for _ in range(2 + n // 10):
            _move_at_random(shape, n, rows, generator)
        explained = improve(shape, len(STARTS) + kick + 1)
        if explained > most + tolerance:
            best, most = shape, explained
        if budget.over:
            break
    if progress is not None:
        progress(total, total)
    return best


def _start(problem: Problem, D: FloatArray, method: str) -> Dendrogram:
    """The tree of a linkage, which keeps the triplets."""
    if not problem.constraints.n_statements:
        return agglomerate(D, method=method, metric="precomputed")
    known = problem.constraints.with_rules()
    tree: Dendrogram = (
        ReCon(n_clusters=None, linkage=method, metric="precomputed").fit(D, constraints=known).dendrogram_
    )
    return tree


def _shape_of(tree: Dendrogram) -> Shape:
    parent = np.array(tree.parent, dtype=np.intp)
    children = np.full((len(parent), 2), -1, dtype=np.intp)
    children[tree.n_samples :] = tree.to_children()
    return Shape(parent, *(np.ascontiguousarray(column) for column in children.T))


def _move_at_random(shape: Shape, n: int, rows: IntArray, generator: np.random.Generator) -> None:
    """Move a random subtree to a random place; leave it where it is if the triplets do not allow that."""
    x, y = (int(v) for v in generator.integers(2 * n - 1, size=2))
    p, node = int(shape.parent[x]), y
    while node >= 0 and node != x:
        node = int(shape.parent[node])
    if p < 0 or node == x or y in (p, int(shape.left[p]), int(shape.right[p])):
        return
    home = _move(shape, x, y)
    if not _displays(shape, rows, np.zeros(2 * n - 1, np.intp), np.zeros(1, np.intp)):
        _move(shape, x, int(home))


def _enumerated(
    D: FloatArray, W: FloatArray, rows: IntArray, known: Shape, tolerance: float, budget: Budget
) -> tuple[Shape, bool]:
    """Go through all trees that can beat the one known; return the best, and whether none was left out."""
    n = len(D)
    samples = _spread_order(D)
    rank = np.empty(n, np.intp)
    rank[samples] = np.arange(n)
    last = rank[rows].max(axis=1, initial=-1)
    by_last = np.argsort(last, kind="stable")
    start = np.searchsorted(last[by_last], np.arange(n + 1)).astype(np.intp)
    best, shape = (Shape(*(part.copy() for part in known)) for _ in range(2))
    limit = _loss_of(known, D, W)
    steps = int(min(budget.left, 1e9) * 1e8)
    _, rest = _enumerate(
        shape, n, D, W, samples, np.ascontiguousarray(rows[by_last]), start, limit, tolerance, best, steps
    )
    budget.spend(steps - rest)
    return best, rest > 0


def _spread_order(D: FloatArray) -> IntArray:
    """Samples, each the farthest from those before it: losses rise early, and more trees are left out."""
    order = [int(D.sum(axis=1).argmax())]
    near = D[order[0]].copy()
    while len(order) < len(D):
        near[order] = -1.0
        order.append(int(near.argmax()))
        near = np.minimum(near, D[order[-1]])
    return np.array(order, dtype=np.intp)


def _loss_of(shape: Shape, D: FloatArray, W: FloatArray) -> float:
    tree, (i, j) = _with_heights(shape, D, W, None), np.triu_indices(len(D), 1)
    return float((W[i, j] * (D[i, j] - tree.cophenetic(i, j)) ** 2).sum())


def _with_heights(shape: Shape, D: FloatArray, W: FloatArray, ids: Any) -> Dendrogram:
    """Return the tree with the heights that fit best, its merges sorted by height."""
    n = len(D)
    root = int(np.flatnonzero(shape.parent < 0)[0])
    order = [root] if n > 1 else []
    for node in order:  # parents before children
        order += [child for child in (int(shape.left[node]), int(shape.right[node])) if child >= n]
    place = np.arange(2 * n - 1)
    place[order[::-1]] = np.arange(n, 2 * n - 1)
    pairs = [(int(place[shape.left[node]]), int(place[shape.right[node]])) for node in order[::-1]]
    plain = Dendrogram.from_merges(n, np.array(pairs, dtype=np.intp).reshape(-1, 2), np.arange(1.0, n))
    total, mass = (_sums_at_nodes(plain.parent, plain.leaf_order, values)[0] for values in (W * D, W))
    wish = np.divide(total, mass, out=np.zeros(len(total)), where=mass > 0)
    height = _pool_upwards(plain.parent, wish, mass)[n:]
    return Dendrogram.from_merges(n, np.array(pairs, dtype=np.intp).reshape(-1, 2), height, ids=ids, sort=True)


class LeastSquaresUltrametric(HierarchyMixin, ConstrainedClusterer):
    """Search for the tree and the heights whose ultrametric is closest to the distances; all triplets hold.

    Parameters
    ----------
    search : {"auto", "local", "exact"}, default="auto"
        ``"local"`` moves subtrees as long as the sum of squares falls, from several starts. ``"exact"`` goes on with
        all trees that could be better, until none is left or the budget is spent. ``"auto"`` is exact up to 9 samples.
    pair_weight : None, {"inverse", "inverse_square"} or array-like, default=None
        The weight of each pair in the sum of squares, above 0: a square matrix or its upper triangle; or 1 / d and
        1 / d**2 of the given distances; None weighs all alike.
    n_kicks : int, default=10
        How often the best tree is changed at random and improved again.
    budget : float, default=2.0
        Work for the whole search, in units of about a second, counted and not clocked.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the random moves.

    Attributes
    ----------
    objective_ : float
        The weighted sum of squares between distances and ultrametric, each pair once.
    optimal_ : bool
        Whether no tree that keeps the triplets has a smaller loss, up to rounding.

    See Also
    --------
    fit_heights : the best heights for a given tree.
    IPoptim : moves distances as triplets ask, then any linkage.
    ReCon : a tree in which all triplets hold, for far more samples.

    Notes
    -----
    The best heights of a tree are an isotonic regression (`fit_heights`), so the search is over binary trees; every
    ultrametric belongs to one, with ties for nodes of more than two children. A move takes a subtree off and puts it
    beside any other node (subtree pruning and regrafting). The exact search inserts the samples one by one at every
    edge; the loss of the samples so far never falls when more are inserted, so trees above the best loss are left out.
    Triplets hold in the tree, but may tie in height where the data do not support them: with strict heights a least
    loss need not exist.

    **Cost** O(n^2) memory; O(n) time for each of the O(n^2) moves of a sweep, so a few hundred samples. The exact
    search is exponential: a moment up to 9 samples. **Guarantee** every triplet of a consistent set holds; no single
    move improves the tree unless the budget ended; never worse than the best heights on the trees it starts from,
    average, complete, single and weighted linkage (those of `ReCon` where there are triplets).
    **Departure from** [1]_ this is the program (4), and with triplets (7) to (9) with both conditions enforced, which
    Algorithm 1 leaves out; the paper gives no search. The problem is NP-hard [2]_.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.
    .. [2] M. Krivanek, J. Moravek, "NP-hard problems in hierarchical-tree clustering", Acta Informatica 1986.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import LeastSquaresUltrametric
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> model = LeastSquaresUltrametric(random_state=0).fit(X)
    >>> model.labels_.tolist(), model.optimal_, round(model.objective_, 3)
    ([0, 0, 1, 1], True, 3.25)
    >>> said = Constraints.build(4, triplets=[(0, 2, 1)])
    >>> forced = LeastSquaresUltrametric(random_state=0).fit(X, constraints=said)
    >>> forced.certificate_.ok, bool(forced.objective_ > model.objective_)
    (True, True)
    """

    understands: ClassVar[frozenset[Kind]] = frozenset({Kind.TRIPLET})
    linkage = "average"  # of new samples; the tree itself has none

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "search": [StrOptions({"auto", "local", "exact"})],
        "pair_weight": [StrOptions(set(INVERSES)), "array-like", None],
        "n_kicks": [Interval(Integral, 0, None, closed="left")],
        "budget": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state", np.random.Generator],
    }

    _saved: ClassVar[dict[str, Kept]] = {"objective_": REPORTED, "optimal_": REPORTED}

    objective_: float
    optimal_: bool

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        search: str = "auto",
        pair_weight: Any = None,
        n_kicks: int = 10,
        budget: float = 2.0,
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.search = search
        self.pair_weight = pair_weight
        self.n_kicks = n_kicks
        self.budget = budget
        self.metric = metric
        self.distance_threshold = distance_threshold
        self.random_state = random_state

    def _judge(self, problem: Problem) -> None:
        problem.require_consistent()  # triplets alone leave every number of clusters possible

    def _solve(self, problem: Problem) -> Dendrogram:
        found = least_squares_ultrametric(
            problem,
            search=self.search,
            pair_weight=self.pair_weight,
            n_kicks=self.n_kicks,
            budget=self.budget,
            random_state=self.random_state,
        )
        self.objective_, self.optimal_ = found.loss, found.optimal
        return found.tree
