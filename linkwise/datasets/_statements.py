"""Statements drawn from true classes: without repeats, with an exact number of wrong ones, in array code."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import LinkwiseError

__all__ = ["KINDS", "disagrees", "draw_statements"]

IntArray = npt.NDArray[np.intp]
KINDS = ("none", "must_link", "cannot_link", "pairs", "triplets", "labels")


class _Sorted(NamedTuple):
    """Samples in the order of their classes: the class of place p fills the places ``start[p]`` to ``end[p] - 1``."""

    sample: IntArray
    start: IntArray
    end: IntArray


def draw_statements(y: Any, kind: str, amount: int, noise: float, rng: np.random.Generator) -> Constraints:
    """Draw ``amount`` different statements that are true of ``y``, then make ``round(noise * amount)`` of them wrong.

    A wrong pair is a must-link for a cannot-link or the reverse; a wrong triplet pulls the odd sample in; a wrong label
    (kind ``"labels"``, where ``amount`` counts labelled samples) is another class.
    """
    classes, k = _classes(y)
    n = len(classes)
    if kind not in KINDS:
        msg = f"knowledge of kind {kind!r} is not known; expected one of {', '.join(KINDS)}."
        raise LinkwiseError(msg)
    if kind == "none" or amount == 0:
        return Constraints.build(n)
    if kind == "labels":
        return _labels(classes, k, amount, noise, rng)
    place = _sort(classes)
    total = _partners(place, kind)
    possible = int(total.sum())
    if amount > possible:
        msg = f"{amount:,} different {kind} were asked for, but the classes of {n:,} samples give only {possible:,}."
        raise LinkwiseError(msg)
    drawn = np.sort(rng.choice(possible, size=amount, replace=False, shuffle=False))
    ends = np.cumsum(total)
    first = np.searchsorted(ends, drawn, side="right")
    rest = drawn - (ends[first] - total[first])
    wrong = _choose(amount, noise, rng)
    if kind == "triplets":
        return _triplets(place, first, rest, wrong, rng)
    second = rest + (place.end[first] if kind == "cannot_link" else first + 1)
    pairs = np.column_stack([place.sample[first], place.sample[second]])
    together = (classes[pairs[:, 0]] == classes[pairs[:, 1]]) ^ wrong
    return Constraints.build(n, must_link=pairs[together], cannot_link=pairs[~together])


def disagrees(constraints: Constraints, y: Any) -> npt.NDArray[np.bool_]:
    """Mask of the pairs and triplets that are not true of flat classes ``y``; a triplet wants a and b alike, c not.

    Statements of other kinds are not judged: their mask is False.
    """
    classes = np.asarray(y)
    a, b, c = (classes[constraints.items[:, i]] for i in range(3))  # the padding -1 reads a value that is not used
    kind = constraints.kind
    wrong = (kind == Kind.MUST_LINK) & (a != b)
    wrong |= (kind == Kind.CANNOT_LINK) & (a == b)
    wrong |= (kind == Kind.TRIPLET) & ((a != b) | (a == c))
    return np.asarray(wrong, dtype=bool)


def _classes(y: Any) -> tuple[IntArray, int]:
    labels = y if hasattr(y, "toarray") else np.asarray(y)
    if labels.ndim != 1:
        msg = f"y has shape {labels.shape}, expected one class for each sample: statements follow from single classes."
        raise LinkwiseError(msg)
    names, classes = np.unique(labels, return_inverse=True)
    return classes.astype(np.intp), len(names)


def _sort(classes: IntArray) -> _Sorted:
    sample = np.argsort(classes, kind="stable")
    count = np.bincount(classes)
    end = np.cumsum(count)
    return _Sorted(sample, np.repeat(end - count, count), np.repeat(end, count))


def _partners(place: _Sorted, kind: str) -> IntArray:
    """How many statements begin at each place; a pair belongs to the earlier of its two."""
    n = len(place.sample)
    here = np.arange(n)
    if kind == "pairs":
        return n - 1 - here
    if kind == "cannot_link":
        return n - place.end
    alike = place.end - 1 - here
    if kind == "must_link":
        return alike
    return alike * (n - (place.end - place.start))


def _triplets(
    place: _Sorted, first: IntArray, rest: IntArray, wrong: npt.NDArray[np.bool_], rng: np.random.Generator
) -> Constraints:
    n = len(place.sample)
    outside = n - (place.end[first] - place.start[first])
    second = first + 1 + rest // outside
    third = rest % outside
    third = np.where(third >= place.start[first], third + n - outside, third)  # step over the pair's own class
    rows = place.sample[np.column_stack([first, second, third])]
    swap = wrong & (rng.random(len(rows)) < 0.5)
    rows[swap] = rows[swap][:, [2, 1, 0]]
    swap = wrong & ~swap
    rows[swap] = rows[swap][:, [0, 2, 1]]
    return Constraints.build(n, triplets=rows)


def _labels(classes: IntArray, k: int, amount: int, noise: float, rng: np.random.Generator) -> Constraints:
    n = len(classes)
    if amount > n:
        msg = f"{amount:,} labels were asked for, but there are only {n:,} samples."
        raise LinkwiseError(msg)
    known = np.full(n, -1, dtype=np.intp)
    chosen = np.sort(rng.choice(n, size=amount, replace=False, shuffle=False))
    wrong = _choose(amount, noise, rng)
    if wrong.any() and k < 2:
        msg = "wrong labels need a second class, but y has only one."
        raise LinkwiseError(msg)
    shift = np.where(wrong, rng.integers(1, max(k, 2), size=amount), 0)
    known[chosen] = (classes[chosen] + shift) % k
    return Constraints.from_labels(known)


def _choose(amount: int, noise: float, rng: np.random.Generator) -> npt.NDArray[np.bool_]:
    wrong = np.zeros(amount, dtype=bool)
    wrong[rng.choice(amount, size=round(noise * amount), replace=False, shuffle=False)] = True
    return wrong
