"""`UltraTran`: the largest ultrametric below the distances after triplets have lowered these."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import Interval, StrOptions
from linkwise.engines import current_progress
from linkwise.engines.hierarchical.ultrametric._base import Triplets, _BestEffortTriplets, distances_of
from linkwise.engines.hierarchical.ultrametric._strict import divide
from linkwise.engines.hierarchical.ultrametric._subdominant import join_sorted, spanning_edges
from linkwise.problem import Problem
from linkwise.result import Dendrogram

VARIANTS = ("faithful", "strict")


def ultratran(problem: Problem, *, variant: str = "faithful", margin: float = 1e-3) -> Dendrogram:
    """Build the tree of `UltraTran`."""
    distances, n = distances_of(problem), problem.n_samples
    a, b, c = Triplets.of(problem)
    edges, length = spanning_edges(distances, current_progress())
    if variant == "strict" and len(a):
        edges, length = divide(n, edges, length, a, b, c, margin)
    elif len(a):
        bound = np.minimum(distances.between(a, c), distances.between(b, c))
        # the pairs of triplets come first, so that a stable sort lets a and b meet before c joins at the same height
        edges = np.concatenate([np.column_stack([a, b]), edges])
        length = np.concatenate([bound, length])
    pairs, height = join_sorted(n, edges, length)
    return Dendrogram.from_merges(n, pairs, height, ids=problem.constraints.ids)


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
    the same in an ultrametric. Of merges at equal height those that triplets ask for go first. Contradictions are not
    removed at random. The strict variant is not in the paper.

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
    }

    def __init__(
        self,
        n_clusters: int | None = 2,
        *,
        variant: str = "faithful",
        margin: float = 1e-3,
        metric: Any = "euclidean",
        distance_threshold: float | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.variant = variant
        self.margin = margin
        self.metric = metric
        self.distance_threshold = distance_threshold

    def _solve(self, problem: Problem) -> Dendrogram:
        return ultratran(problem, variant=self.variant, margin=self.margin)
