"""Random ranks for samplers: statements are drawn by their rank in a list that is never written."""

from __future__ import annotations

import numpy as np

from linkwise._typing import IntArray
from linkwise.exceptions import LinkwiseError

MOST_RANKS = 2**63 - 1


def draw_ranks(rng: np.random.Generator, who: str, what: str, total: int, m: int, replace: bool) -> IntArray:
    """Draw ``m`` of the numbers below ``total``, each set (with ``replace``: each sequence) equally likely."""
    if total > MOST_RANKS:
        msg = f"{who}: there are {total:,} {what}, more than 64 bits can count.\nHint: take fewer samples first."
        raise LinkwiseError(msg)
    if m > total and (total == 0 or not replace):
        hint = f"\nHint: ask for at most {total:,}, or allow repeats with `replace=True`." if total else ""
        msg = f"{who}: {m:,} {what} are wanted, but there are {total:,}.{hint}"
        raise LinkwiseError(msg)
    if replace:
        return rng.integers(total, size=m) if m else np.empty(0, dtype=np.intp)
    return np.asarray(rng.choice(total, size=m, replace=False), dtype=np.intp) if m else np.empty(0, dtype=np.intp)


def share_out(rng: np.random.Generator, m: int, capacity: IntArray) -> IntArray:
    """Distribute ``m`` balls at random over bins, each equally likely until it is full; there is room for all."""
    count = np.zeros(len(capacity), dtype=np.intp)
    left = m
    while left:  # each round places all the rest or fills a bin
        free = np.flatnonzero(count < capacity)
        count[free] += rng.multinomial(left, np.full(len(free), 1 / len(free)))
        over = np.maximum(count - capacity, 0)
        count -= over
        left = int(over.sum())
    return count
