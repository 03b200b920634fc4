"""Scatter within and between chunklets, the groups that must-links join, and metrics made from it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels.disjoint_set import components
from linkwise._typing import FloatArray
from linkwise.constraints import Constraints
from linkwise.engines.metric._kernels import join_means
from linkwise.engines.metric._learner_mixins import LearnedMetric
from linkwise.engines.metric._matrices import generalized_axes, whiten
from linkwise.engines.metric._pairs_and_comparisons import apart_pairs, finite_weights


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
