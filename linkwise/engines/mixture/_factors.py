"""`Chunklets`: must-linked samples as one variable each, and the other statements as log-factors of two of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.mixture._kernels_gaussian import sum_rows
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem


class Chunklets(NamedTuple):
    """Chunklets (samples that hard must-links join) and the log-factors between two of them.

    ``of`` is the chunklet of each sample and ``size`` how many samples each has. Row e of ``pairs``, smaller number
    first and no pair twice, has the log-factor ``same[e]`` when both get one label (-inf: forbidden) and ``other[e]``
    when not. ``constant`` is the log-factor of the soft statements the chunklets settle whatever the labels are.
    """

    of: IntArray
    size: IntArray
    pairs: IntArray
    same: FloatArray
    other: FloatArray
    constant: float

    @property
    def n(self) -> int:
        """Number of chunklets."""
        return len(self.size)

    @property
    def plain(self) -> bool:
        """Whether no two samples share a chunklet."""
        return len(self.of) == len(self.size)

    def gather(self, rows: FloatArray) -> FloatArray:
        """Sum rows of samples over each chunklet."""
        if self.plain:
            return rows
        out = np.zeros((self.n, rows.shape[1]))
        sum_rows(self.of, rows, out)
        return out

    def spread(self, values: FloatArray) -> FloatArray:
        """Give every sample the row of its chunklet."""
        return values if self.plain else values[self.of]


def read_chunklets(problem: Problem, max_states: int) -> Chunklets:
    """Turn the statements of a problem into log-factors between pairs of chunklets.

    A group apart that no exact method can take is refused before its pairs are written out.
    """
    k, largest = problem.k, int(problem.hard.apart.sizes.max(initial=0))
    if k**largest > max_states and k * 2**k > max_states and k > 1:
        raise LinkwiseError(too_wide(problem.who, largest, largest - 1, k, max_states, "a group apart"))
    of, n, apart, soft = problem.group, problem.n_groups, problem.apart.pairs(), problem.soft_pairs
    ends = np.sort(np.concatenate([apart, of[np.column_stack([soft.first, soft.second])]]), axis=1)
    same = np.concatenate([np.full(len(apart), -np.inf), np.where(soft.must, 0.0, -soft.weight)])
    other = np.concatenate([np.zeros(len(apart)), np.where(soft.must, -soft.weight, 0.0)])
    across = ends[:, 0] != ends[:, 1]
    key, inverse = np.unique(ends[across, 0] * n + ends[across, 1], return_inverse=True)
    same_sum, other_sum = (np.bincount(inverse, part[across], len(key)).astype(np.float64) for part in (same, other))
    pairs = np.column_stack(np.divmod(key, n))
    return Chunklets(of, problem.weight.astype(np.intp), pairs, same_sum, other_sum, float(same[~across].sum()))


def too_wide(who: str, n_chunklets: int, width: int, k: int, max_states: int, what: str) -> str:
    """Word the refusal of statements that tie too many chunklets together for exact inference."""
    return (
        f"{who}: {what} ties {n_chunklets:,} groups of samples together so closely (width {width}) that exact "
        f"inference needs tables over {width + 1} of them at once, {k}**{width + 1} states; max_states={max_states:,} "
        "allows fewer.\n"
        "Hint: state fewer cannot-links among these samples, raise max_states, or use "
        'PenalizedMixture(wide="gibbs"), which samples where it cannot sum.'
    )
