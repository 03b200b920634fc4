"""How labels and trees come in: class numbers of the samples that are judged, or an error a person can act on."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._typing import BoolArray, IntArray
from linkwise._value_columns import read_known
from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.result import Dendrogram


class Judged(NamedTuple):
    """The samples whose class is known, with class and cluster numbered from 0 on."""

    samples: IntArray
    classes: IntArray
    n_classes: int
    clusters: IntArray
    n_clusters: int
    n_samples: int  # all, those of unknown class included


def _array(who: str, name: str, values: Any, unlabeled: Any = None) -> tuple[npt.NDArray[Any], BoolArray]:
    """One value per sample, and which are known: those that are neither missing nor ``unlabeled``."""
    try:
        given = values if hasattr(values, "__array__") or np.ndim(values) == 1 else np.asarray(values)
    except ValueError as ragged:
        msg = f"{who}: {name} has entries of different lengths, expected one label per sample."
        raise LinkwiseError(msg) from ragged
    if np.ndim(given) != 1:
        shape = np.shape(values)  # of a sparse matrix too, which NumPy takes for one object
        msg = f"{who}: {name} has shape {shape}, expected one label per sample.\nHint: pass `np.ravel({name})`."
        raise LinkwiseError(msg)
    if len(given) == 0:
        msg = f"{who}: {name} is empty, expected at least one sample."
        raise LinkwiseError(msg)
    return read_known(f"{who}: {name}", given, unlabeled)


def _whole(who: str, name: str, values: Any) -> npt.NDArray[Any]:
    """One value per sample, none of them missing."""
    given, known = _array(who, name, values)
    if not known.all():
        msg = (
            f"{who}: {name} has no label for {int((~known).sum()):,} sample(s), such as {int(np.argmin(known))}; NaN "
            "and None are no labels.\nHint: drop these samples; only the truth may be unknown."
        )
        raise LinkwiseError(msg)
    return given


def _encode(who: str, name: str, given: npt.NDArray[Any]) -> tuple[IntArray, int]:
    """Number the labels 0 to k - 1 in sorted order; also return k."""
    if given.dtype.kind in "iu":
        low, high = int(given.min()), int(given.max())
        if max(-low, high) < 2**62 and high - low <= 4 * len(given):  # then a look-up table saves the sorting
            shifted = given.astype(np.intp) - low
            present = np.bincount(shifted) > 0
            return (np.cumsum(present) - 1)[shifted], int(present.sum())
    try:
        values, codes = np.unique(given, return_inverse=True)
    except TypeError as mixed:
        msg = f"{who}: {name} mixes values that cannot be compared.\nHint: make all labels text, or all numbers."
        raise LinkwiseError(msg) from mixed
    return codes.reshape(-1).astype(np.intp, copy=False), len(values)


def _known(who: str, y_true: Any, unlabeled: Any) -> tuple[npt.NDArray[Any], IntArray]:
    """The truth, and the samples whose class is known."""
    given, is_known = _array(who, "y_true", y_true, unlabeled)
    known = np.flatnonzero(is_known)
    if len(known) == 0:
        msg = (
            f"{who}: every entry of the truth is missing or {unlabeled!r}, which means 'not known'.\n"
            "Hint: pass `unlabeled=None` if it is a class."
        )
        raise LinkwiseError(msg)
    if len(known) < len(given) and unlabeled == -1 and (given[known] == 1).all() and (given[~is_known] == -1).all():
        warnings.warn(
            f"{who}: the truth holds only -1 and 1; -1 was read as 'not known', which leaves {len(known):,} samples "
            "of one class.\nHint: pass `unlabeled=None` if -1 is a class.",
            LinkwiseWarning,
            stacklevel=4,
        )
    return given, known


def read_judged(who: str, y_true: Any, labels: Any, unlabeled: Any) -> Judged:
    """Read true classes and clusters; samples of unknown class are left out, every cluster label is ordinary."""
    (truth, known), found = _known(who, y_true, unlabeled), _whole(who, "labels", labels)
    if len(truth) != len(found):
        msg = f"{who}: y_true has {len(truth):,} entries and labels {len(found):,}, expected one each per sample."
        raise LinkwiseError(msg)
    n = len(truth)
    if len(known) < n:
        truth, found = truth[known], found[known]
    return Judged(known, *_encode(who, "y_true", truth), *_encode(who, "labels", found), n)


def read_labels(who: str, name: str, labels: Any, n_samples: int) -> tuple[IntArray, int]:
    """Read one label for each of ``n_samples`` samples; return their numbers, and how many different ones there are."""
    given = _whole(who, name, labels)
    if len(given) != n_samples:
        msg = f"{who}: {name} has {len(given):,} entries, but there are {n_samples:,} samples."
        raise LinkwiseError(msg)
    return _encode(who, name, given)


def read_classes(who: str, y_true: Any, unlabeled: Any) -> tuple[int, IntArray, IntArray, int]:
    """Read true classes: how many samples, those of known class, their classes, how many classes."""
    truth, known = _known(who, y_true, unlabeled)
    return len(truth), known, *_encode(who, "y_true", truth[known])


def same_leaves(who: str, n_samples: int, dendrogram: Any) -> Dendrogram:
    """Refuse what is no dendrogram over ``n_samples`` samples."""
    tree = read_dendrogram(who, dendrogram)
    if tree.n_samples != n_samples:
        msg = (
            f"{who}: the truth is about {n_samples:,} samples, but the dendrogram has {tree.n_samples:,} leaves.\n"
            "Hint: judge a tree by exactly the samples it was built from, in the same order."
        )
        raise LinkwiseError(msg)
    return tree


def read_dendrogram(who: str, dendrogram: Any) -> Dendrogram:
    """Refuse what is no dendrogram."""
    if not isinstance(dendrogram, Dendrogram):
        hint = "`model.dendrogram_` of a fitted estimator, or `Dendrogram.from_linkage(Z)`."
        msg = f"{who} got {type(dendrogram).__name__}, expected a Dendrogram.\nHint: pass {hint}"
        raise LinkwiseError(msg)
    return dendrogram


def read_constraints(who: str, constraints: Any, n_samples: int) -> Constraints:
    """Refuse what is no table of constraints about ``n_samples`` samples."""
    if not isinstance(constraints, Constraints):
        msg = f"{who} got {type(constraints).__name__}, expected Constraints.\nHint: `Constraints.build(...)`."
        raise LinkwiseError(msg)
    if constraints.n_samples != n_samples:
        msg = f"{who}: the constraints speak about {constraints.n_samples:,} samples, the result about {n_samples:,}."
        raise LinkwiseError(msg)
    return constraints
