"""`LSML`: a metric from comparisons of distances, by least squares or by a margin."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar

import numpy as np

from linkwise._compat import Interval, StrOptions
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import warn_user
from linkwise.constraints import LINKS, Constraints, Kind
from linkwise.engines.distances import in_unit, unit_of
from linkwise.engines.metric._learner_mixins import LearnedMetric, MetricLearner, identity_metric
from linkwise.engines.metric._logdet import PRIOR, Loss, components_near, nearest_to_prior, read_prior
from linkwise.engines.metric._pairs_and_comparisons import (
    Pairs,
    apart_pairs,
    differences,
    finite_weights,
    squared_lengths,
    together_pairs,
    without_coincident,
)
from linkwise.exceptions import LinkwiseError

FAR_OUT = 1e-60  # smallest squared unit relative to squared distances; its inverse is the largest


def _square(unit: float, typical: float) -> float:
    """Return the square of a unit; raise if typical squared distances are too far from it."""
    if not FAR_OUT < unit * unit / typical < 1 / FAR_OUT:
        msg = (
            f"LSML: distances are about {np.sqrt(typical) / unit:.0e} times the given unit, and their squares "
            'overflow.\nHint: unit="auto" takes it from the data.'
        )
        raise LinkwiseError(msg)
    return unit * unit


def _mean_square(p: FloatArray, trios: Pairs, short: FloatArray, long_: FloatArray) -> float:
    """Return the weighted mean squared distance over both sides of all comparisons."""
    start, middle = len(p) - len(short) - len(long_), len(p) - len(long_)
    total = float(trios.weight @ (p[trios.first] + p[trios.second]))
    total += float(short @ p[start:middle] * long_.sum() + long_ @ p[middle:] * short.sum())
    return total / float(2 * (trios.weight.sum() + short.sum() * long_.sum()))


def _named(X: FloatArray, constraints: Constraints) -> tuple[FloatArray, Pairs, FloatArray, FloatArray]:
    """Return the differences that are compared: those of triplets, then of must-links, then of cannot-links.

    Also returns the pairs of them that triplets compare, and the weights of must-links and cannot-links.
    """
    said = np.flatnonzero(constraints.kind == Kind.TRIPLET)
    a, b, c = constraints.items[said].T
    weight, m = finite_weights(constraints)[said], len(said)
    rows = np.concatenate([X[a] - X[b], X[a] - X[c], X[b] - X[c]])
    at = np.arange(m)
    trios = Pairs(np.concatenate([at, at]), np.concatenate([m + at, 2 * m + at]), np.concatenate([weight, weight]))
    distinct = squared_lengths(rows)[trios.second] > 0
    if not distinct.all():
        warn_user(
            f"LSML: {int((~distinct).sum()):,} comparison(s) require a positive distance between samples that "
            "have the same features; they were left out."
        )
        trios = trios.pick(distinct)
    near = together_pairs(constraints)
    far, far_weight = without_coincident(X, apart_pairs(constraints), who="LSML")
    if not len(near.first) or not len(far):  # nothing to compare with
        near, far, far_weight = near.pick(near.weight < 0), far[:0], far_weight[:0]
    return np.concatenate([rows, differences(X, near), far]), trios, near.weight, far_weight


def _loss(
    form: str,
    first: IntArray,
    second: IntArray,
    weight: FloatArray,
    short: FloatArray,
    long_: FloatArray,
    scale: float,
) -> Loss:
    """Return the loss of squared lengths p: listed comparisons, then all of ``short`` with all of ``long_``."""
    n_links = len(short) + len(long_)
    margin = 1.0 if form == "margin" else 0.0

    def loss(p: FloatArray) -> tuple[float, FloatArray]:
        # squared residuals compare lengths, margins compare squared lengths
        y = p if form == "margin" else np.sqrt(np.maximum(p, 0.0))
        excess = np.maximum(y[first] - y[second] + margin, 0.0)
        value = float(weight @ excess**2)
        pull = 2 * weight * excess
        slope = np.zeros(len(p))
        if len(first):
            slope += np.bincount(first, pull, minlength=len(p)) - np.bincount(second, pull, minlength=len(p))
        if n_links:
            start = len(p) - n_links
            more, low, high = _all_with_all(
                y[start : start + len(short)] + margin, short, y[start + len(short) :], long_
            )
            value += scale * more
            slope[start : start + len(short)] += scale * low
            slope[start + len(short) :] += scale * high
        if form != "margin":
            slope = slope / (2 * np.maximum(y, 1e-150))
        return value, slope

    return loss


def _all_with_all(
    x: FloatArray, weight: FloatArray, y: FloatArray, other: FloatArray
) -> tuple[float, FloatArray, FloatArray]:
    """Return Σ_i Σ_j w_i v_j max(x_i - y_j, 0)² and its slopes, by sorting and running sums."""

    def moments(values: FloatArray, masses: FloatArray) -> tuple[FloatArray, FloatArray]:
        order = np.argsort(values, kind="stable")
        ranked, mass = values[order], masses[order]
        sums = np.zeros((3, len(values) + 1))
        for k, part in enumerate((mass, mass * ranked, mass * ranked**2)):
            np.cumsum(part, out=sums[k, 1:])
        return ranked, sums

    ranked, sums = moments(y, other)
    zeroth, first, second = sums[:, np.searchsorted(ranked, x)]
    value = float(weight @ (zeroth * x**2 - 2 * first * x + second))
    low = 2 * weight * (zeroth * x - first)
    ranked, sums = moments(x, weight)
    rest = sums[:, -1:] - sums[:, np.searchsorted(ranked, y, side="right")]
    high = -2 * other * (rest[1] - rest[0] * y)
    return value, low, high


class LSML(MetricLearner):
    """Change a prior metric as little as possible so that it agrees with comparisons of distances.

    Minimizes the LogDet divergence of the matrix from the prior plus C times the mean loss of the comparisons: of
    d(a, b) < d(a, c) and d(a, b) < d(b, c) for each triplet ab|c, and of d(a, b) < d(c, e) for each must-link (a, b)
    and each cannot-link (c, e).

    Parameters
    ----------
    loss : {"residual", "margin"}, default="residual"
        Loss of a comparison d(near) < d(far): "residual" is max(d(near) - d(far), 0)², "margin" is
        max(1 + d²(near) - d²(far), 0)².
    C : float, default=100.0
        Weight of the mean loss.
    unit : "auto" or float, default="auto"
        Unit of the distances in the loss. "auto" is the root mean square of the compared distances under the prior, so
        that neither the units of X nor its number of features matter; 1.0 uses the units of X.

    Notes
    -----
    **Cost** per round O(m r²) + O(r³) for m pairs that span r directions; all comparisons of must-links with
    cannot-links count, in O(m log m), without being listed. **Guarantee** no metric is better by more than ``gap_``.
    **Departure from** [1]_ each must-link is compared with each cannot-link, where such comparisons are usually drawn
    at random; the margin and the unit are additions (``C=1.0, unit=1.0`` is the paper's). Comparisons whose far pair
    coincides are dropped with a warning.

    References
    ----------
    .. [1] E. Y. Liu, Z. Guo, X. Zhang, V. Jojic, W. Wang, "Metric learning from relative comparisons by minimizing
       squared residual", ICDM 2012.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import LSML
    >>> X = np.array([[0.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    >>> model = LSML().fit(X, constraints=Constraints.build(3, triplets=[(0, 1, 2)]))
    >>> model.pair_distance(X[[(0, 1), (0, 2)]]).round(2).tolist()
    [1.29, 1.25]
    """

    understands = LINKS | {Kind.TRIPLET}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "loss": [StrOptions({"residual", "margin"})],
        "C": [Interval(Real, 0, None, closed="neither")],
        "unit": [StrOptions({"auto"}), Interval(Real, 0, None, closed="neither")],
        "prior": PRIOR,
    }

    def __init__(
        self,
        *,
        loss: str = "residual",
        C: float = 100.0,
        unit: float | str = "auto",
        prior: Any = "identity",
        max_iter: int = 2000,
        tol: float = 1e-7,
    ) -> None:
        self.loss = loss
        self.C = C
        self.unit = unit
        self.prior = prior
        self.max_iter = max_iter
        self.tol = tol

    def _metric_from(self, X: Any, constraints: Constraints) -> LearnedMetric:
        size = unit_of(X)
        X = in_unit(X, size)
        rows, trios, short, long_ = _named(X, constraints)
        if not len(trios.weight) and not (len(short) and len(long_)):
            if constraints.n_statements:
                warn_user(
                    "LSML compares distances, but there are neither triplets nor both must-links and cannot-links "
                    "between samples that differ; the metric stays Euclidean.\n"
                    "Hint: `RCA` learns from must-links alone."
                )
            return identity_metric(X)
        before = read_prior(self.prior, X)
        each = self.C / (trios.weight.sum() + short.sum() * long_.sum())
        loss = _loss(self.loss, trios.first, trios.second, trios.weight * each, short, long_, each)
        D = before.towards(rows)
        typical = _mean_square(squared_lengths(D), trios, short, long_)
        # under the covariance prior distances have no unit, and the metric has that of the data
        own = isinstance(self.prior, str) and self.prior == "covariance" and before.root is not None
        scale = typical if self.unit == "auto" else _square(float(self.unit) / (1.0 if own else size), typical)

        def measured(p: FloatArray) -> tuple[float, FloatArray]:
            value, slope = loss(p / scale)
            return value, slope / scale

        found = nearest_to_prior(D, measured, max_iter=self.max_iter, tol=self.tol)
        components = components_near(found, before, X.shape[1])
        return LearnedMetric(components, found.value, found.n_iter, found.gap).of_unit(size if own else 1.0)
