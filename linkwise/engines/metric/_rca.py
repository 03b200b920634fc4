"""`RCA`, `DiscriminativeRCA` and `ChunkletLDA`: metrics in closed form from the scatter of chunklets."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._compat import Interval
from linkwise._kernels.disjoint_set import components
from linkwise._typing import FloatArray
from linkwise._validation import warn_user
from linkwise.constraints import LINKS, Constraints, Kind
from linkwise.engines.distances import in_unit, unit_of
from linkwise.engines.metric._kernels import join_means
from linkwise.engines.metric._learner_mixins import LearnedMetric, MetricLearner, identity_metric
from linkwise.engines.metric._matrices import SHRINKAGE, generalized_axes, shrink, whiten
from linkwise.engines.metric._pairs_and_comparisons import apart_pairs, finite_weights
from linkwise.exceptions import LinkwiseError


class Chunklets(NamedTuple):
    """Covariance within chunklets, and the weight of each sample in it: 0 outside of chunklets."""

    within: FloatArray
    weight: FloatArray


def chunklets(X: FloatArray, constraints: Constraints) -> Chunklets | None:
    """Return the covariance within the chunklets that must-links and groups together form; None if there are none.

    With weights, chunklets are formed at each level of weight from the statements that weigh at least as much, and
    their scatters are summed, each times the height of its level. Equal weights give plain chunklets, a weight that
    approaches 0 removes its statement gradually, and the samples' largest weights sum to their number.
    """
    pairs, statement = constraints.must_links()
    if not len(pairs):
        return None
    weight = finite_weights(constraints)[statement]
    order = np.argsort(-weight, kind="stable")
    named, inverse = np.unique(pairs, return_inverse=True)
    local = np.ascontiguousarray(inverse.reshape(pairs.shape)[order].astype(np.intp))
    step, mass = join_means(np.ascontiguousarray(X[named]), local, weight[order])
    largest = np.zeros(len(X))
    np.maximum.at(largest, pairs.ravel(), np.repeat(weight, 2))
    return Chunklets((step * mass[:, None]).T @ step / largest.sum(), largest)


def apart_scatter(X: FloatArray, constraints: Constraints) -> FloatArray | None:
    """Return the mean outer product of the differences between cannot-linked chunklets; None if there are none.

    A sample without must-links is a chunklet too, and each pair of chunklets counts once. With weights, this is done at
    each level of weight, for the statements that weigh at least as much, as in `chunklets`.
    """
    said = apart_pairs(constraints)
    links, statement = constraints.must_links()
    weight = finite_weights(constraints)[statement]
    levels = np.unique(np.concatenate([said.weight, weight]))
    scatter, count = np.zeros((X.shape[1], X.shape[1])), 0.0
    for level, height in zip(levels, np.diff(levels, prepend=0.0), strict=True):
        part = components(len(X), np.ascontiguousarray(links[weight >= level]))
        size = np.bincount(part)
        mean = np.column_stack([np.bincount(part, column) for column in X.T]) / size[:, None]
        heavy = said.weight >= level
        ends = np.sort(np.column_stack([part[said.first[heavy]], part[said.second[heavy]]]), axis=1)
        pair = np.unique((ends[:, 0] * len(size) + ends[:, 1])[ends[:, 0] != ends[:, 1]])
        rows = mean[pair // len(size)] - mean[pair % len(size)]
        scatter += height * (rows.T @ rows)
        count += height * len(pair)
    return scatter / count if count else None


def whitening(X: FloatArray, within: FloatArray, shrinkage: float | str) -> LearnedMetric:
    """Return the metric in which chunklets have unit covariance: the inverse root of their covariance."""
    map_, values, share = whiten(within, shrinkage)
    sign, kept = np.linalg.slogdet(covariance(X))
    kept = kept - np.log(values).sum()
    if sign <= 0 or not np.isfinite(kept):  # X does not vary along some directions
        kept = _information(np.linalg.eigvalsh(map_ @ covariance(X) @ map_))
    return LearnedMetric(map_, float(kept), shrinkage=share)


def covariance(X: FloatArray, weight: FloatArray | None = None) -> FloatArray:
    """Return the weighted covariance of the rows of X."""
    if weight is None:
        centered = X - X.mean(axis=0)
        return np.asarray(centered.T @ centered / len(X))
    centered = X - weight @ X / weight.sum()
    return np.asarray((centered * weight[:, None]).T @ centered / weight.sum())


def directions(
    wanted: FloatArray, within: FloatArray, share: float, n_components: int | None, *, seen_only: bool = True
) -> LearnedMetric:
    """Return the directions with the largest ratio of ``wanted`` to ``within``, scaled to unit scatter within.

    ``seen_only`` leaves out directions of ratio 0, even if fewer than ``n_components`` are left.
    """
    axes, ratio = generalized_axes(wanted, within)
    seen = int((ratio > 1e-10 * ratio[0]).sum()) if seen_only else len(ratio)
    kept = min(seen, n_components or seen)
    return LearnedMetric(axes[:kept], _information(ratio[:kept]), shrinkage=share)


def _information(ratio: npt.NDArray[np.floating[Any]]) -> float:
    """Return the sum of the logarithms of the ratios that are not 0."""
    return float(np.log(ratio[ratio > 1e-10 * ratio.max(initial=0.0)]).sum())


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
