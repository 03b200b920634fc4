"""`RCA`, `DiscriminativeRCA` and `ChunkletLDA`: metrics in closed form from the scatter of chunklets."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import Interval
from linkwise._typing import FloatArray
from linkwise._validation import warn_user
from linkwise.constraints import LINKS, Constraints, Kind
from linkwise.engines.distances import in_unit, unit_of
from linkwise.engines.metric._chunklet_scatter import (
    Chunklets,
    apart_scatter,
    chunklets,
    covariance,
    directions,
    whitening,
)
from linkwise.engines.metric._learner_mixins import LearnedMetric, MetricLearner, identity_metric
from linkwise.engines.metric._matrices import SHRINKAGE, shrink
from linkwise.exceptions import LinkwiseError


class _ClosedForm(MetricLearner):
    """Base of the metrics from chunklets: number of directions, and shrinkage of a singular scatter."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "shrinkage": SHRINKAGE,
    }

    def __init__(self, n_components: int | None = None, *, shrinkage: float | str = "auto") -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage

    def _in_unit(self, X: FloatArray) -> tuple[FloatArray, float]:
        """Return X in a unit of ordinary size, and the unit; raise if there are fewer features than directions."""
        d = X.shape[1]
        if self.n_components is not None and self.n_components > d:
            msg = (
                f"{type(self).__name__} got n_components={self.n_components}, but X has only n_features={d}.\n"
                f"Hint: n_components={d} or less."
            )
            raise LinkwiseError(msg)
        unit = unit_of(X)
        return in_unit(X, unit), unit

    def _relevant(self, X: FloatArray, found: Chunklets | None, unit: float) -> LearnedMetric:
        """Return the metric of `RCA`, which replaces the others where these are undefined."""
        if self.n_components is not None and self.n_components < X.shape[1]:
            return self._directions(covariance(X), found, unit, seen_only=False)
        if found is None or not found.within.any():
            return identity_metric(X)._replace(shrinkage=0.0 if found is None else 1.0)
        return whitening(X, found.within, self.shrinkage).of_unit(unit)

    def _directions(
        self, wanted: FloatArray, found: Chunklets | None, unit: float, *, seen_only: bool = True
    ) -> LearnedMetric:
        """Return the directions of a scatter relative to the one within chunklets, or to a round one if that is 0.

        Scatters are measured in ``unit``, except the round one, which is 1 in the units of the data.
        """
        if found is None or not found.within.any():
            share = 0.0 if found is None else 1.0
            made = directions(wanted, np.eye(len(wanted)), share, self.n_components, seen_only=seen_only)
            return made._replace(objective=made.objective + 2 * len(made.components) * float(np.log(unit)))
        within, share = shrink(found.within, self.shrinkage)
        return directions(wanted, within, share, self.n_components, seen_only=seen_only).of_unit(unit)


class RCA(_ClosedForm):
    """Relevant component analysis: reduce the weight of directions in which must-linked samples vary.

    Parameters
    ----------
    n_components : int, optional
        Number of directions to keep: those with the largest ratio of total variance to variance within chunklets
        (Fisher). By default all.
    shrinkage : "auto" or float between 0 and 1, default="auto"
        Share of the covariance within chunklets that is replaced by a round one of the same trace; "auto" is 0.1
        if the covariance is singular (few must-links, constant features), and 0 otherwise.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The inverse root of the covariance within chunklets, or the directions kept. Without statements the identity,
        or the leading principal components.
    objective_ : float
        The information kept: the log-determinant of the covariance of X in the new space.
    shrinkage_ : float
        The share of the covariance that was replaced.

    Notes
    -----
    **Cost** O(n d²) + O(d³); the pairs of groups are never listed. **Guarantee** closed form: of all maps with the same
    mean squared distance within chunklets it keeps the most information. **Departure from** [1]_ statements may have
    weights: chunklets are then formed at each level of weight and their scatters summed; singular covariances are
    shrunk, where the paper reduces dimensions first.

    References
    ----------
    .. [1] A. Bar-Hillel, T. Hertz, N. Shental, D. Weinshall, "Learning distance functions using equivalence relations",
       ICML 2003.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import RCA
    >>> X = np.array([[0.0, 0.0], [0.2, 2.0], [3.0, 2.0], [3.2, 0.0]])
    >>> said = Constraints.build(4, must_link=[(0, 1), (2, 3)])
    >>> RCA().fit(X, constraints=said).pair_distance(X[[(0, 1), (0, 3)]]).round(1).tolist()
    [2.8, 32.0]
    """

    understands = frozenset({Kind.MUST_LINK, Kind.TOGETHER})

    def _metric_from(self, X: Any, constraints: Constraints) -> LearnedMetric:
        X, unit = self._in_unit(X)
        return self._relevant(X, chunklets(X, constraints), unit)


class DiscriminativeRCA(_ClosedForm):
    """Discriminative component analysis: the directions that best separate cannot-linked chunklets.

    Parameters
    ----------
    n_components : int, optional
        Maximum number of directions; by default all along which cannot-linked chunklets differ.
    shrinkage : "auto" or float between 0 and 1, default="auto"
        As in `RCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        One row per direction, of unit spread within chunklets. Without statements the identity.
    objective_ : float
        Sum of the logarithms of the ratios of scatter between to scatter within, over the directions.
    shrinkage_ : float
        The share of the covariance that was replaced.

    Notes
    -----
    **Cost** O((n + m) d²) for each level of weight, and O(d³). **Guarantee** closed form, a generalized eigenproblem.
    **Departure from** [1]_ the scatter within is pooled over samples, with weights as in `RCA`, where the paper
    averages over chunklets first. Without must-links a round scatter replaces the one within; without cannot-links the
    result is that of `RCA`, with a warning.

    References
    ----------
    .. [1] S. C. H. Hoi, W. Liu, M. R. Lyu, W.-Y. Ma, "Learning distance metrics with contextual constraints for image
       retrieval", CVPR 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import DiscriminativeRCA
    >>> X = np.array([[0.0, 0.0], [0.2, 2.0], [3.0, 2.0], [3.2, 0.0]])
    >>> said = Constraints.build(4, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 3)])
    >>> DiscriminativeRCA().fit(X, constraints=said).transform(X).shape
    (4, 1)
    """

    understands = LINKS

    def _metric_from(self, X: Any, constraints: Constraints) -> LearnedMetric:
        X, unit = self._in_unit(X)
        found, between = chunklets(X, constraints), apart_scatter(X, constraints)
        if between is not None and between.any():
            return self._directions(between, found, unit)
        if constraints.n_statements:
            warn_user(
                "DiscriminativeRCA separates cannot-linked chunklets, but there are no cannot-links between chunklets "
                "with different means; the metric of RCA is used instead.\nHint: add cannot-links, or use `RCA`."
            )
        return self._relevant(X, found, unit)


class ChunkletLDA(_ClosedForm):
    """Linear discriminant analysis with the groups of must-linked samples as classes.

    Parameters
    ----------
    n_components : int, optional
        Maximum number of directions; by default all along which chunklets differ.
    shrinkage : "auto" or float between 0 and 1, default="auto"
        As in `RCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        One row per direction, of unit spread within chunklets. Without statements the identity.
    objective_ : float
        Sum of the logarithms of the ratios of scatter between to scatter within, over the directions.
    shrinkage_ : float
        The share of the covariance that was replaced.

    Notes
    -----
    Solves S_between v = ratio S_within v. A direction's squared correlation with the best function of the chunklets is
    ratio / (1 + ratio), so these are the canonical directions between samples and the chunklets they are in.

    **Cost** O(n d²) + O(d³). **Guarantee** closed form: no direction has a larger ratio than the first, none that is
    uncorrelated with it than the second, and so on. **Departure from** [1]_ the paper was not available: that it uses
    must-linked groups as the classes of a discriminant analysis, in the form of canonical correlations, is from memory;
    the tutorial [2]_ only mentions that it is a variant of it. Directions are scaled to unit spread within chunklets,
    as in `RCA`, and samples outside of chunklets are not used.

    References
    ----------
    .. [1] T. De Bie, M. Momma, N. Cristianini, "Efficiently learning the metric using side-information", ALT 2003.
    .. [2] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import ChunkletLDA
    >>> X = np.array([[0.0, 0.0], [0.2, 2.0], [3.0, 2.0], [3.2, 0.0]])
    >>> ChunkletLDA().fit(X, constraints=Constraints.build(4, must_link=[(0, 1), (2, 3)])).transform(X).shape
    (4, 1)
    """

    understands = frozenset({Kind.MUST_LINK, Kind.TOGETHER})

    def _metric_from(self, X: Any, constraints: Constraints) -> LearnedMetric:
        X, unit = self._in_unit(X)
        found = chunklets(X, constraints)
        if found is None:
            return self._relevant(X, found, unit)
        between = covariance(X, found.weight) - found.within
        if np.trace(between) <= 1e-12 * np.trace(found.within):
            warn_user(
                "ChunkletLDA separates chunklets, but the must-links form only one, or all have the same mean; the "
                "metric of RCA is used instead.\nHint: add must-links in other clusters, or use `RCA`."
            )
            return self._relevant(X, found, unit)
        return self._directions(between, found, unit)
