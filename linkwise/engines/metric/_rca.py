"""Relevant components, discriminative components and discriminants from chunklets: metrics in closed form."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import Interval
from linkwise._typing import FloatArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints, Kind
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


def relevant_components(
    X: Any, constraints: Constraints, *, n_components: int | None = None, shrinkage: float | str = "auto"
) -> LearnedMetric:
    """Learn the metric of `RCA`."""
    X, unit = _read(X, n_components)
    found = chunklets(X, constraints)
    if n_components is not None and n_components < X.shape[1]:
        return _directions(covariance(X), found, shrinkage, n_components, unit, seen_only=False)
    if found is None or not found.within.any():
        return identity_metric(X)._replace(shrinkage=0.0 if found is None else 1.0)
    return whitening(X, found.within, shrinkage).of_unit(unit)


def discriminative_components(
    X: Any, constraints: Constraints, *, n_components: int | None = None, shrinkage: float | str = "auto"
) -> LearnedMetric:
    """Learn the metric of `DiscriminativeRCA`."""
    given, (X, unit) = X, _read(X, n_components)
    between = apart_scatter(X, constraints)
    if between is None or not between.any():
        if constraints.n_statements:
            warn_user(
                "discriminative components part cannot-linked chunklets, but none that differ are cannot-linked; the "
                "relevant components are used instead.\nHint: add cannot-links, or use `RCA`."
            )
        return relevant_components(given, constraints, n_components=n_components, shrinkage=shrinkage)
    return _directions(between, chunklets(X, constraints), shrinkage, n_components, unit)


def chunklet_lda(
    X: Any, constraints: Constraints, *, n_components: int | None = None, shrinkage: float | str = "auto"
) -> LearnedMetric:
    """Learn the metric of `ChunkletLDA`."""
    given, (X, unit) = X, _read(X, n_components)
    found = chunklets(X, constraints)
    if found is None:
        return relevant_components(given, constraints, n_components=n_components)
    between = covariance(X, found.weight) - found.within
    if np.trace(between) <= 1e-12 * np.trace(found.within):
        warn_user(
            "discriminants part chunklets, but the must-links form only one, or all have the same mean; the relevant "
            "components are used instead.\nHint: add must-links in other clusters, or use `RCA`."
        )
        return relevant_components(given, constraints, n_components=n_components, shrinkage=shrinkage)
    return _directions(between, found, shrinkage, n_components, unit)


def _read(X: Any, n_components: int | None) -> tuple[FloatArray, float]:
    """Vectors in a unit of ordinary size, and the unit; refuse more directions than there are."""
    rows = np.asarray(X, dtype=np.float64)
    d = rows.shape[1]
    if n_components is not None and n_components > d:
        msg = f"n_components={n_components} was asked for, but X has only n_features={d}.\nHint: at most {d}."
        raise LinkwiseError(msg)
    unit = unit_of(rows)
    return in_unit(rows, unit), unit


def _directions(
    wanted: FloatArray,
    found: Chunklets | None,
    shrinkage: float | str,
    n_components: int | None,
    unit: float,
    *,
    seen_only: bool = True,
) -> LearnedMetric:
    """Directions of a scatter against the one within chunklets; a round one where that says nothing.

    Both scatters are measured in ``unit``, but for the round one, which is 1 in the units of the data.
    """
    if found is None or not found.within.any():
        share = 0.0 if found is None else 1.0
        made = directions(wanted, np.eye(len(wanted)), share, n_components, seen_only=seen_only)
        return made._replace(objective=made.objective + 2 * len(made.components) * float(np.log(unit)))
    within, share = shrink(found.within, shrinkage)
    return directions(wanted, within, share, n_components, seen_only=seen_only).of_unit(unit)


class _ClosedForm(MetricLearner):
    """A metric of chunklets: how many directions to keep, and how singular scatter is shrunk."""

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "shrinkage": SHRINKAGE,
    }

    def __init__(self, n_components: int | None = None, *, shrinkage: float | str = "auto") -> None:
        self.n_components = n_components
        self.shrinkage = shrinkage


class RCA(_ClosedForm):
    """Relevant component analysis: directions in which must-linked samples vary count less.

    Parameters
    ----------
    n_components : int, optional
        Keep so many directions, those that show most of the data for what they show within chunklets (Fisher).
    shrinkage : "auto" or float between 0 and 1, default="auto"
        Share of the covariance within chunklets that is replaced by a round one of the same trace; "auto" is 0.1
        where it is singular (few must-links, constant features), and 0 elsewhere.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        The inverse root of the covariance within chunklets, or the directions kept. Without statements the identity,
        or the principal components.
    objective_ : float
        The information kept: the log-determinant of the covariance of X in the new space.
    shrinkage_ : float
        The share that was replaced.

    Notes
    -----
    **Cost** O(n d²) + O(d³); groups are never written out as pairs. **Guarantee** closed form: of all maps with the
    same mean squared distance within chunklets it keeps most information. **Departure from** [1]_ statements may have
    weights: chunklets are then formed at each level of weight and added up; singular covariances are shrunk, where the
    paper reduces dimensions first.

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

    def _metric_from(self, samples: Any, constraints: Constraints) -> LearnedMetric:
        return relevant_components(samples, constraints, n_components=self.n_components, shrinkage=self.shrinkage)


class DiscriminativeRCA(_ClosedForm):
    """Discriminative component analysis: the directions that part cannot-linked chunklets most.

    Parameters
    ----------
    n_components : int, optional
        Keep at most so many directions; by default all along which cannot-linked chunklets differ.
    shrinkage : "auto" or float between 0 and 1, default="auto"
        As for `RCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        One row per direction, of unit spread within chunklets. Without statements the identity.
    objective_ : float
        Sum of the logarithms of between to within along the directions.
    shrinkage_ : float
        The share that was replaced.

    Notes
    -----
    **Cost** O((n + m) d²) for each level of weight there is, and O(d³). **Guarantee** closed form, a generalized
    eigenproblem. **Departure from** [1]_ the
    scatter within is pooled over samples, as in `RCA`, where the paper averages over chunklets first;
    weights count as there. Without must-links a round scatter stands
    for the one within; without cannot-links the result is that of `RCA`, with a warning.

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

    understands = frozenset({Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TOGETHER, Kind.APART})

    def _metric_from(self, samples: Any, constraints: Constraints) -> LearnedMetric:
        return discriminative_components(samples, constraints, n_components=self.n_components, shrinkage=self.shrinkage)


class ChunkletLDA(_ClosedForm):
    """Linear discriminants of the groups that must-links form, as if each group were a class.

    Parameters
    ----------
    n_components : int, optional
        Keep at most so many directions; by default all along which chunklets differ.
    shrinkage : "auto" or float between 0 and 1, default="auto"
        As for `RCA`.

    Attributes
    ----------
    components_ : ndarray of shape (n_components, n_features)
        One row per direction, of unit spread within chunklets. Without statements the identity.
    objective_ : float
        Sum of the logarithms of between to within along the directions.
    shrinkage_ : float
        The share that was replaced.

    Notes
    -----
    Solves S_between v = ratio S_within v. A direction's squared correlation with the best function of the chunklets is
    ratio / (1 + ratio), so these are the canonical directions between samples and the chunklets they are in.

    **Cost** O(n d²) + O(d³). **Guarantee** closed form: no direction has a larger ratio than the first, none that is
    uncorrelated with it than the second, and so on. **Departure from** [1]_ the paper was not at hand: that it takes
    must-linked groups for classes of a discriminant analysis, in the form of canonical correlations, is from memory;
    the tutorial [2]_ says no more than that it is a variant of it. Directions are scaled to unit spread within
    chunklets, as everywhere here, and samples in no chunklet are not looked at.

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

    def _metric_from(self, samples: Any, constraints: Constraints) -> LearnedMetric:
        return chunklet_lda(samples, constraints, n_components=self.n_components, shrinkage=self.shrinkage)
