"""`PCKMeans`, `CVQE` and `LCVQE`: k-means in which a broken soft statement costs its weight or a distance."""

from __future__ import annotations

from typing import Any, ClassVar

from linkwise._compat import StrOptions
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.partitional._distortions import Measure
from linkwise.engines.partitional._penalties import BetweenCenters, Flat, SoftMethod, ToCenters
from linkwise.engines.partitional._soft_mixin import SoftMixin
from linkwise.problem.statements import SoftPairs


class PCKMeans(SoftMixin, ConstrainedClusterer):
    """k-means in which a broken soft statement costs its weight.

    See Also
    --------
    MPCKMeans : learns a metric as well.
    COPKMeans : keeps all statements.

    Notes
    -----
    The objective is the sum of squared distances to the centers plus the weights of the broken statements: a statement
    is broken only if that saves more squared distance than its weight.
    **Cost** O(n d k) per iteration, as k-means, and O(k) for each link and sweep over the samples in statements.
    Samples that no statement names are assigned as in k-means. Dense rows are copied once, in single precision.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; the objective never rises from one
    half-step to the next; all ``n_clusters`` clusters have samples: an empty one takes the sample that gains
    most by moving.
    **Departure from** [1]_ neighborhoods of must-links, hard or soft, only initialize the clusters; the assignment can
    move whole trees of linked samples.

    References
    ----------
    .. [1] S. Basu, A. Banerjee, R. J. Mooney, "Active Semi-Supervision for Pairwise Constrained Clustering", SDM 2004.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints, PCKMeans
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], weight=100.0)
    >>> model = PCKMeans(2, init=[[0.0], [9.0]]).fit(X, constraints=known)
    >>> model.labels_.tolist(), model.objective_
    ([0, 0, 0, 1], 38.0)
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        inference: str = "trees",
        init: Any = "neighborhoods",
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.inference = inference
        self.init = init

    def _method(self, measure: Measure, pairs: SoftPairs) -> SoftMethod:
        return Flat(measure, pairs)


class CVQE(SoftMixin, ConstrainedClusterer):
    """k-means in which a broken soft statement costs the squared distance between two centers.

    Parameters
    ----------
    update : {"symmetric", "printed"}, default="symmetric"
        Update of the centers for broken statements. "symmetric" moves all centers concerned, together. "printed" moves
        only the center of the first sample of each pair (the one with the lower number), as printed in [1]_; the result
        then depends on the order of samples, and the objective can rise.

    See Also
    --------
    LCVQE : penalties are distances between samples and centers, which pulls centers together less.
    PCKMeans : a broken statement costs its weight, whatever the distance.

    Notes
    -----
    The objective is half the sum of squared distances to the centers, plus for each broken soft statement half its
    weight times the squared distance between the two centers (must-link) or from the shared center to the nearest
    other center (cannot-link).
    **Cost** O(n d k + k^3) per iteration, and O(k^2) for each link and sweep over the samples in statements. Dense
    rows are copied once, in single precision.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; with "symmetric" the objective
    never rises from one half-step to the next; all ``n_clusters`` clusters have samples: an empty one takes the
    sample that gains most by moving.
    **Departure from** [1]_ "symmetric" moves all centers together to the minimum of the objective, by one linear
    system; the printed update ignores statements in which a cluster is that of the second sample.

    References
    ----------
    .. [1] I. Davidson, S. S. Ravi, "Clustering with Constraints: Feasibility Issues and the k-Means Algorithm",
       SDM 2005.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import CVQE
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], weight=10.0)
    >>> model = CVQE(2, init=[[0.0], [9.0]]).fit(X, constraints=known)
    >>> model.labels_.tolist(), model.objective_
    ([0, 0, 0, 1], 19.0)
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "update": [StrOptions({"symmetric", "printed"})],
    }

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        update: str = "symmetric",
        inference: str = "trees",
        init: Any = "k-means++",
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.update = update
        self.inference = inference
        self.init = init

    def _method(self, measure: Measure, pairs: SoftPairs) -> SoftMethod:
        return BetweenCenters(measure, pairs, printed=self.update == "printed")


class LCVQE(SoftMixin, ConstrainedClusterer):
    """k-means in which a broken soft statement costs the squared distances of its samples to other centers.

    See Also
    --------
    CVQE : penalties are distances between centers.
    PCKMeans : a broken statement costs its weight, whatever the distance.

    Notes
    -----
    The objective is half the sum of squared distances to the centers plus, for each broken soft statement, its
    weight times a quarter of the squared distances of each sample to the center of the other (must-link), or times
    half the squared distance of the sample farther from the shared center to its nearest other center (cannot-link).
    **Cost** O(n d k) per iteration, as k-means, and O(k) for each link and sweep over the samples in statements.
    Dense rows are copied once, in single precision.
    **Guarantee** hard statements hold in ``labels_``, re-checked after each fit; the objective never rises from one
    half-step to the next; all ``n_clusters`` clusters have samples: an empty one takes the sample that gains
    most by moving.
    **Departure from** [1]_ the text of the paper was not available: objective and centers follow from memory, and no
    figure of the paper was reproduced. All clusters are considered for each sample and not three pairs of them; the
    sample whose distance counts for a cannot-link can change as centers move, and a step of the centers that would
    raise the objective is shortened.

    References
    ----------
    .. [1] D. Pelleg, D. Baras, "K-Means with Large and Noisy Constraint Sets", ECML 2007.
    .. [2] I. Davidson, S. S. Ravi, "Clustering with Constraints: Feasibility Issues and the k-Means Algorithm",
       SDM 2005.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import LCVQE
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> known = Constraints.build(4, must_link=[(0, 2)], weight=10.0)
    >>> model = LCVQE(2, init=[[0.0], [9.0]]).fit(X, constraints=known)
    >>> model.labels_.tolist(), model.objective_
    ([0, 0, 0, 1], 19.0)
    """

    def __init__(
        self,
        n_clusters: int = 2,
        *,
        inference: str = "trees",
        init: Any = "k-means++",
        n_init: int | str = "race",
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        super().__init__(n_clusters, n_init=n_init, max_iter=max_iter, tol=tol, random_state=random_state)
        self.inference = inference
        self.init = init

    def _method(self, measure: Measure, pairs: SoftPairs) -> SoftMethod:
        return ToCenters(measure, pairs)
