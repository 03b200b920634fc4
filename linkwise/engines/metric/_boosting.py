"""Boosting on pairs of samples: weights of hypotheses, and updates of the pair weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.metric._pairs_and_comparisons import Pairs

# consecutive hypotheses no better than chance after which boosting stops: weights no longer change, only random draws
PATIENCE = 10


class Labeled(NamedTuple):
    """Pairs with a label, +1 for pairs that belong together and -1 for others, and positive weights."""

    first: IntArray
    second: IntArray
    label: FloatArray
    weight: FloatArray


def label_pairs_of(together: Pairs, apart: Pairs) -> Labeled:
    """Label near pairs +1 and far pairs -1; pairs of weight 0 are left out."""
    first, second, weight = (np.concatenate([a, b]) for a, b in zip(together, apart, strict=True))
    label = np.concatenate([np.ones(len(together.first)), -np.ones(len(apart.first))])
    keep = weight > 0
    return Labeled(first[keep], second[keep], label[keep], weight[keep])


class PairWeights:
    """Weights of all pairs of n samples, which add up to 1; one number is the weight of every unlabeled pair.

    A labeled pair starts with the weight of its statement, an unlabeled one with 1.
    """

    def __init__(self, n: int, pairs: Labeled) -> None:
        self.pairs = pairs
        ends = np.sort(np.column_stack([pairs.first, pairs.second]), axis=1)
        known = np.unique(ends[:, 0] * n + ends[:, 1])
        degree = np.bincount(known // n, minlength=n) + np.bincount(known % n, minlength=n)
        self.unlabeled_partners = (n - 1 - degree).astype(np.float64)
        self.labeled = pairs.weight.astype(np.float64)
        self.unlabeled = 1.0
        self._normalize()

    def update(self, step: float, margin: FloatArray) -> None:
        """Raise the weight of pairs with a negative margin; lower that of unlabeled pairs as if always right."""
        self.labeled *= np.exp(-step * margin)
        self.unlabeled *= float(np.exp(-step))
        self._normalize()

    def _normalize(self) -> None:
        # both orders of a pair count in the square of all pairs
        total = 2 * self.labeled.sum() + self.unlabeled * self.unlabeled_partners.sum()
        if total > 0:
            self.labeled /= total
            self.unlabeled /= float(total)

    def of_samples(self) -> FloatArray:
        """Return the weight of each sample: the sum over its pairs."""
        n, (first, second, _, _) = len(self.unlabeled_partners), self.pairs
        labeled = np.bincount(first, self.labeled, n) + np.bincount(second, self.labeled, n)
        return np.asarray(labeled + self.unlabeled * self.unlabeled_partners)


class Ensemble(NamedTuple):
    """Result of boosting: the hypotheses to keep, their weights, and the loss after every round."""

    kept: IntArray
    step: FloatArray
    losses: FloatArray


def overlap(one: FloatArray, other: FloatArray) -> FloatArray:
    """Return the similarity of two samples, from -1 (different clusters) to 1, from the rows of their memberships.

    It is the shared probability of two distributions, scaled to [-1, 1].
    """
    return np.asarray(1.0 - np.abs(one - other).sum(axis=1))


def best_step(weight: FloatArray, margin: FloatArray, smoothing: float) -> float:
    """Return the step that lowers the exponential loss Σ weight exp(-step margin) most; 0 if none lowers it.

    ``weight`` adds up to 1. ``smoothing`` adds two virtual pairs, of which one is always wrong; without it a hypothesis
    without error would get infinite weight. The loss is convex, so the root of its derivative is the minimum; it lies
    between 0 and the minimum without smoothing, so the plain loss falls as well.
    """

    def slope(step: float) -> float:
        return float(2.0 * smoothing * np.sinh(step) - weight @ (margin * np.exp(-step * margin)))

    if slope(0.0) >= 0.0:
        return 0.0
    return float(brentq(slope, 0.0, float(np.arcsinh(0.5 / smoothing)) + 1e-9, xtol=1e-13, rtol=1e-13))


def boost(n: int, pairs: Labeled, learn: Callable[[FloatArray, FloatArray], FloatArray], n_rounds: int) -> Ensemble:
    """Boost hypotheses about pairs: weigh each by its accuracy, and raise the weights of the pairs it got wrong.

    ``learn``, given weights of samples (mean 1) and of the labeled pairs (sum 1), returns memberships of samples in
    clusters, one row each, which add up to 1. Hypotheses that are not more often right than wrong are not kept and do
    not change weights; boosting stops after `PATIENCE` of these in a row.
    """
    weights = PairWeights(n, pairs)
    share = pairs.weight / pairs.weight.sum()
    smoothing = 0.5 * float(share @ share)  # half a pair, as if all pairs weighed the same
    kept, steps, losses, score, in_vain = [], [], [1.0], np.zeros(len(share)), 0
    for round_ in range(n_rounds):
        of_samples, of_pairs = weights.of_samples(), weights.labeled / weights.labeled.sum()
        membership = learn(of_samples / of_samples.mean(), of_pairs)
        margin = pairs.label * overlap(membership[pairs.first], membership[pairs.second])
        step = best_step(of_pairs, margin, smoothing)
        if step > 0.0:
            weights.update(step, margin)
            kept.append(round_)
            steps.append(step)
            score += step * margin
        losses.append(float(share @ np.exp(-score)))
        in_vain = 0 if step > 0.0 else in_vain + 1
        if in_vain == PATIENCE:
            break
    return Ensemble(np.array(kept, dtype=np.intp), np.array(steps, dtype=np.float64), np.array(losses))
