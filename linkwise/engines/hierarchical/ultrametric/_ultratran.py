"""UltraTran: the largest ultrametric below the distances, once these are lowered to what triplets ask for."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import Interval, StrOptions
from linkwise.constraints import Constraints
from linkwise.engines import current_progress
from linkwise.engines.distances import as_dense
from linkwise.engines.hierarchical import HierarchyMixin
from linkwise.engines.hierarchical.ultrametric._base import _TripletWishes, read_distances, read_wishes
from linkwise.engines.hierarchical.ultrametric._strict import divide
from linkwise.engines.hierarchical.ultrametric._subdominant import join_sorted, spanning_edges
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem
from linkwise.result import Dendrogram

VARIANTS = ("faithful", "strict")


def ultratran(
    X: Any, constraints: Constraints, *, variant: str = "faithful", margin: float = 1e-3, metric: Any = "euclidean"
) -> Dendrogram:
    """Build the tree of the largest ultrametric below the distances after lowering them to what triplets ask for.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Vectors; or with ``metric="precomputed"`` dissimilarities, square or condensed. Not modified.
    constraints : Constraints
        Triplets ab|c.
    variant : {"faithful", "strict"}, default="faithful"
        ``"faithful"`` lowers d(a, b) to d(a, c) and d(b, c), once, and promises nothing about the tree.
        ``"strict"`` builds the largest ultrametric u below the distances with u(a, b) <= (1 - margin) u(a, c) for every
        triplet; all of them hold in the tree.
    margin : float, default=1e-3
        How much lower a and b meet in the strict variant, as a share; the faithful one has none.
    metric : str or callable, default="euclidean"
        How vectors are compared.

    Returns
    -------
    Dendrogram
        One binary tree; ``tree.satisfies(constraints)`` says what holds.

    Raises
    ------
    InfeasibleConstraintsError
        No tree displays all triplets.

    Notes
    -----
    **Cost** that of single linkage plus O((n + m) log(n + m)); the strict variant also explores, for each merge and
    each triplet, the smaller of the two sides it separates.
    **Guarantee** nowhere above the distances; without triplets single linkage; more triplets never raise an entry. The
    strict variant keeps every triplet of a consistent set and is the largest ultrametric that does so with this margin,
    hence does not depend on any order. The faithful variant guarantees no triplet, and often keeps few.
    **Departure from** [1]_ Algorithm 2 is a loop over three samples and all constraints, O(n^3) at least, whose minimum
    is never initialized and which lowers one of two symmetric entries only. Lowering both first and then taking the
    minimax closure gives what the loop gives when both entries are lowered, since its bounds are read from distances
    that do not change. A statement ab|c stands for both of the paper's comparisons, (a, b, c) and (b, a, c), which say
    the same in an ultrametric. Of merges at equal height those asked for go first. The strict variant is not in the
    paper.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.engines import ultratran
    >>> said = Constraints.build(4, triplets=[(0, 3, 1)])
    >>> tree = ultratran([[0.0], [1.0], [5.0], [6.5]], said, variant="strict")
    >>> tree.satisfies(said).all()
    np.True_
    """
    if variant not in VARIANTS:
        msg = f"ultratran does not know the variant {variant!r}.\nHint: variants are {', '.join(VARIANTS)}."
        raise LinkwiseError(msg)
    if not 0 < margin < 1:
        msg = f"ultratran got margin={margin}, expected a share between 0 and 1, neither included.\nHint: margin=1e-3."
        raise LinkwiseError(msg)
    distances = read_distances(X, metric, who="ultratran")
    n = distances.n_samples
    a, b, c = read_wishes(constraints, n, who="ultratran")
    edges, length = spanning_edges(distances, current_progress())
    if variant == "strict" and len(a):
        edges, length = divide(n, edges, length, a, b, c, margin)
    elif len(a):
        bound = np.minimum(distances.between(a, c), distances.between(b, c))
        # the wishes come first, so that a stable sort lets a and b meet before c joins at the same height
        edges = np.concatenate([np.column_stack([a, b]), edges])
        length = np.concatenate([bound, length])
    pairs, height = join_sorted(n, edges, length)
    return Dendrogram.from_merges(n, pairs, height, ids=constraints.ids)


class UltraTran(_TripletWishes):
    """Lower distances to what triplets ask for and build the largest ultrametric below them (single linkage).

    In the variant of the paper, the default, triplets are wishes: a tree that breaks some is returned, with a warning.

    Parameters
    ----------
    n_clusters : int or None, default=2
        Number of clusters of the cut; None with no ``distance_threshold`` gives one cluster.
    variant : {"faithful", "strict"}, default="faithful"
        ``"faithful"`` is the paper's method, which promises nothing; ``"strict"`` keeps every triplet.
    margin : float, default=1e-3
        How much lower a and b meet than c joins them in the strict variant, as a share.
    metric : str or callable, default="euclidean"
        How samples are compared, or ``"precomputed"``.
    distance_threshold : float or None, default=None
        Cut at this height instead of at a number of clusters; needs ``n_clusters=None``.

    Attributes
    ----------
    labels_ : ndarray of shape (n_samples,)
        Cluster of each sample, numbered by first appearance.
    dendrogram_ : Dendrogram
        The tree, with the clusters of ``labels_`` marked.
    satisfied_ : float
        Share of the statements in force that the tree keeps, by the independent check; 1.0 when there are none.
    certificate_ : Certificate
        What the independent check found, with every broken statement.
    n_clusters_, n_leaves_, n_connected_components_, children_, distances_, k_min_
        As in `ConstrainedAgglomerative`.
    constraints_ : Constraints
        The statements in force, numbered like the rows of X.
    dropped_ : Constraints
        The soft statements that were left out.

    See Also
    --------
    ReCon : a tree in which all triplets hold, for every linkage.
    IPoptim : moves distances as little as possible, then any linkage.

    Notes
    -----
    **Cost** see `ultratran`. **Guarantee** none about triplets in the faithful variant (``satisfied_`` says how many
    hold); all of them in the strict one. Triplets that contradict each other are an error when hard; soft ones are
    repaired and told. **Departure from** [1]_ see `ultratran`; contradictions are not removed at random.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, UltraTran
    >>> X = np.array([[0.0], [1.0], [5.0], [6.5]])
    >>> model = UltraTran(variant="strict").fit(X, constraints=Constraints.build(4, triplets=[(0, 3, 1)]))
    >>> model.satisfied_, model.labels_.tolist()
    (1.0, [0, 0, 1, 0])
    """

    linkage = "single"  # what the closure is; not a choice here
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        **HierarchyMixin._parameter_constraints,
        "variant": [StrOptions(set(VARIANTS))],
        "margin": [Interval(Real, 0, 1, closed="neither")],
        "metric": [str, callable],
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
        X, metric = as_dense(problem.X, problem.metric)
        return ultratran(X, problem.constraints, variant=self.variant, margin=self.margin, metric=metric)
