"""`UltraTran` and `subdominant_ultrametric`: the largest ultrametric below distances, which triplets may lower."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import Interval, StrOptions
from linkwise._typing import FloatArray, IntArray
from linkwise.engines import current_progress
from linkwise.engines.agglomeration import agglomerate, join_edges, merge_all
from linkwise.engines.hierarchical.ultrametric._base import (
    Comparisons,
    Distances,
    Triplets,
    _BestEffortTriplets,
    distances_of,
)
from linkwise.engines.hierarchical.ultrametric._kernels_heights import _between_samples
from linkwise.engines.hierarchical.ultrametric._kernels_strict import WISHED, Graph, _divide
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem
from linkwise.result import Dendrogram

VARIANTS = ("faithful", "strict")


def subdominant_ultrametric(X: Any, *, metric: Any = "euclidean") -> Dendrogram:
    """Build the tree of the largest ultrametric that is nowhere above the distances.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Vectors; or with ``metric="precomputed"`` dissimilarities, square or condensed. Not modified.
    metric : str or callable, default="euclidean"
        How vectors are compared.

    Returns
    -------
    Dendrogram
        ``tree.cophenetic(i, j)`` is the ultrametric: the least, over all paths from i to j, of the longest step.

    Notes
    -----
    **Cost** O(n^2 d) time, O(n d) memory on Euclidean vectors. **Guarantee** every ultrametric below the distances is
    below this one. It is single linkage, whose merge heights are the edges of a minimum spanning tree; it is called the
    minimal transitive dissimilarity in [1]_. **Departure from** [1]_ which computes it in O(n^3) and says it lies above
    the distances, where it lies below.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> from linkwise.engines import subdominant_ultrametric
    >>> tree = subdominant_ultrametric([[0.0], [1.0], [3.0], [6.0]])
    >>> tree.cophenetic(0, [1, 2, 3]).tolist()
    [1.0, 2.0, 3.0]
    """
    return agglomerate(X, method="single", metric=metric)


def spanning_edges(distances: Distances, progress: Any = None) -> tuple[IntArray, FloatArray]:
    """Edges between samples, shortest first, whose longest step on a path is the subdominant ultrametric.

    Single linkage as it is computed elsewhere joins clusters; any sample of each stands for it here, which changes the
    tree that spans the samples but not the longest step between two of them.
    """
    merges = merge_all(distances.source, method="single", metric=distances.metric, progress=progress)
    return _between_samples(distances.n_samples, merges.pairs), merges.height


def join_sorted(n: int, edges: IntArray, length: FloatArray) -> tuple[IntArray, FloatArray]:
    """Merge along edges from short to long, the earlier of equals first; return merges and heights."""
    order = np.argsort(length, kind="stable")
    return join_edges(n, edges[order], length[order], None)


def ultratran(
    problem: Problem,
    *,
    variant: str = "faithful",
    margin: float = 1e-3,
    anchor: IntArray | None = None,
    closure: bool = False,
) -> Dendrogram:
    """Build the tree of `UltraTran`."""
    distances, n = distances_of(problem), problem.n_samples
    a, b, c = Triplets.of(problem)
    edges, length = spanning_edges(distances, current_progress())
    if variant == "strict" and len(a):
        edges, length = divide(n, edges, length, a, b, c, margin)
    elif len(a):
        compared = Comparisons.of(Triplets(a, b, c), anchor, closure=closure)
        bound = distances.between(compared.a, compared.c)
        # the pairs of triplets come first, so that a stable sort lets a and b meet before c joins at the same height
        edges = np.concatenate([np.column_stack([compared.a, compared.b]), edges])
        length = np.concatenate([bound, length])
    pairs, height = join_sorted(n, edges, length)
    return Dendrogram.from_merges(n, pairs, height, ids=problem.constraints.ids)


def divide(
    n: int, edges: IntArray, length: FloatArray, a: IntArray, b: IntArray, c: IntArray, margin: float
) -> tuple[IntArray, FloatArray]:
    """Return n - 1 edges, lowest first, whose minimax closure is the largest ultrametric that keeps the triplets.

    ``edges`` connect all samples, sorted by ``length``; the triplets are consistent. Where distances of zero leave no
    room below them, the order of the edges still lets a and b meet before c.

    Ultrametrics u with u(a, b) <= (1 - margin) min(u(a, c), u(b, c)) are closed under pointwise maxima, so there is a
    largest one below any distances. Lowering every broken pair to its bound and closing again comes down to it from
    above, but can creep by one margin a round. Dividing from the top takes as many steps as there are merges: in a set
    of samples, a and b of each triplet inside it part below the top of the set, so the top is no higher than the
    longest edge that is needed to connect the groups such pairs form; and it can be that high. So keep a minimum
    spanning tree in which a wished pair counts as shorter than everything as long as its triplet lies inside one set.
    Its longest edge is the top: take it out. Triplets whose c is now on the other side have got their wish; their pair
    becomes an ordinary edge, of (1 - margin) times that height, and if it was in the tree, the shortest edge across the
    gap takes its place. Repeat until every sample is alone.
    """
    end = np.concatenate([np.column_stack([a, b]), edges])
    lengths = np.concatenate([np.full(len(a), WISHED), length])
    start, around = _incidence(n, end)
    triplets = np.column_stack([a, b, c])
    at, of = _incidence(n, triplets)
    # a tree edge is pushed when it enters and when its length changes: at most once per edge, and once per triplet
    room = len(end) + len(a) + 1
    graph = Graph(
        end=end,
        length=lengths,
        in_tree=np.zeros(len(end), np.bool_),
        start=start,
        around=around,
        home=np.zeros(n, np.intp),
        queue=np.empty((2, n), np.intp),
        seen=np.full(n, -1, np.intp),
        stamp=np.zeros(1, np.intp),
        heap_key=np.empty(room),
        heap_edge=np.empty(room, np.intp),
        heap_size=np.zeros(1, np.intp),
    )
    cut, height = _divide(graph, triplets, at, of, 1.0 - margin)
    if len(cut) < n - 1:
        msg = "the strict ultrametric met triplets that contradict each other; please report the input."
        raise LinkwiseError(msg)
    return end[cut[::-1]], height[::-1]


def _incidence(n: int, rows: IntArray) -> tuple[IntArray, IntArray]:
    """For each sample, the rows that name it: those of x are ``found[start[x]:start[x + 1]]``."""
    row = np.repeat(np.arange(len(rows)), rows.shape[1])
    order = np.argsort(rows.ravel(), kind="stable")
    start = np.searchsorted(rows.ravel()[order], np.arange(n + 1))
    return start.astype(np.intp), row[order]


class UltraTran(_BestEffortTriplets):
    """Lower distances as triplets ask and build the largest ultrametric below them (single linkage).

    The variant of the paper, the default, guarantees no triplet: a tree that breaks some is returned, with a warning.

    Parameters
    ----------
    variant : {"faithful", "strict"}, default="faithful"
        ``"faithful"``, the paper's method, lowers d(a, b) to d(a, c) and d(b, c), once, and guarantees no triplet.
        ``"strict"`` builds the largest ultrametric u below the distances with u(a, b) <= (1 - margin) u(a, c) for every
        triplet; all of them hold in the tree.
    margin : float, default=1e-3
        How much lower a and b meet than c joins them in the strict variant, as a share.
    closure : bool, default=False
        Whether comparisons that follow from others by the order of distances lower distances as well
        (`close_comparisons`), as the paper prepares them. The strict variant keeps these anyway, and both comparisons
        of every triplet: ``anchors`` and ``closure`` change the faithful variant only.

    See Also
    --------
    ReCon : a tree in which all triplets hold, for every linkage.
    IPoptim : moves distances as little as possible, then any linkage.

    Notes
    -----
    **Cost** that of single linkage plus O((n + m) log(n + m)); the strict variant also explores, for each merge and
    each triplet, the smaller of the two sides it separates.
    **Guarantee** the ultrametric is nowhere above the distances; without triplets it is single linkage; more triplets
    never raise an entry. The strict variant keeps every triplet of a consistent set and is the largest ultrametric that
    does so with this margin, so it does not depend on any order. The faithful variant guarantees no triplet, and often
    keeps few (``satisfied_``). Triplets that contradict each other are an error when hard; soft ones are repaired, with
    a warning.
    **Departure from** [1]_ Algorithm 2 is a loop over three samples and all constraints, O(n^3) at least, whose minimum
    is never initialized and which lowers one of two symmetric entries only. Lowering both first and then taking the
    minimax closure gives what the loop gives when both entries are lowered, since its bounds are read from distances
    that do not change. A statement ab|c stands for both of the paper's comparisons, (a, b, c) and (b, a, c), which mean
    the same in an ultrametric, unless ``anchors`` choose one; ``closure=True`` and ``conflicts="random"`` are the
    paper's preparation. Of merges at equal height those that triplets ask for go first. The strict variant is not in
    the paper.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import UltraTran
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> model = UltraTran(variant="strict").fit(X, constraints=Constraints.build(4, triplets=[(0, 3, 1)]))
    >>> model.satisfied_, model.labels_.tolist()
    (1.0, [0, 0, 1, 0])
    """

    linkage = "single"  # what the closure is; not a choice here
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "variant": [StrOptions(set(VARIANTS))],
        "margin": [Interval(Real, 0, 1, closed="neither")],
        "closure": ["boolean"],
    }
    _added_parameters: ClassVar[dict[str, Any]] = {"closure": False}

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        variant: str = "faithful",
        margin: float = 1e-3,
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
        anchors: Any = None,
        closure: bool = False,
        conflicts: str = "raise",
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.variant = variant
        self.margin = margin
        self.metric = metric
        self.distance_threshold = distance_threshold
        self.anchors = anchors
        self.closure = closure
        self.conflicts = conflicts
        self.random_state = random_state

    def _solve(self, problem: Problem) -> Dendrogram:
        return ultratran(
            problem,
            variant=self.variant,
            margin=self.margin,
            anchor=self._anchors(problem),
            closure=self.closure,
        )
