"""How arrays come in: array-likes to clean arrays of our own, or an error a person can act on."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.constraints._sources import read_ids
from linkwise.exceptions import LinkwiseError

__all__ = ["read_heights", "read_names", "read_nodes", "read_sample_count"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]


def read_sample_count(n_samples: Any) -> int:
    if isinstance(n_samples, (bool, np.bool_)) or not isinstance(n_samples, (int, np.integer)) or n_samples < 1:
        msg = f"n_samples is {n_samples!r}, expected a whole number >= 1."
        raise LinkwiseError(msg)
    return int(n_samples)


def read_nodes(name: str, values: Any, *, ndim: int = 1) -> IntArray:
    """Copy node or sample numbers into a fresh integer array, refusing what is no whole number."""
    try:
        given = np.asarray(values)
    except ValueError as ragged:
        msg = f"{name} has rows of different lengths, expected whole numbers in a table."
        raise LinkwiseError(msg) from ragged
    if given.size == 0:
        given = given.astype(np.intp).reshape(given.shape if given.ndim == ndim else (0, 2)[:ndim])
    if given.dtype.kind == "f" and ((np.abs(given) < 2**53) & (given == np.floor(given))).all():
        given = given.astype(np.intp)  # SciPy keeps node numbers as floats
    if given.dtype.kind not in "iu":
        msg = f"{name} holds {given.dtype} values, expected whole numbers.\nHint: convert with `.astype(int)`."
        raise LinkwiseError(msg)
    if given.ndim != ndim:
        msg = f"{name} has shape {given.shape}, expected {ndim} dimension(s)."
        raise LinkwiseError(msg)
    return np.array(given, dtype=np.intp, order="C")


def read_heights(name: str, values: Any, length: int, first: int) -> FloatArray:
    """Copy heights, one finite number per node; ``first`` is the node the first height belongs to."""
    try:
        height = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as bad:
        msg = f"{name} holds values that are no numbers, expected one height per node."
        raise LinkwiseError(msg) from bad
    if height.shape != (length,):
        each = "node" if first == 0 else "merge"
        msg = f"{name} has shape {height.shape}, expected ({length},): one height per {each}."
        raise LinkwiseError(msg)
    wrong = ~np.isfinite(height)
    if wrong.any():
        where = int(np.flatnonzero(wrong)[0])
        msg = (
            f"{name}: node {where + first} has the height {height[where]}, expected a finite number.\n"
            "Hint: check the distances for NaN and inf; what never merges is a root of its own, not infinitely high."
        )
        raise LinkwiseError(msg)
    return height


def read_names(ids: Any) -> npt.NDArray[Any]:
    """Read identifiers as a one-dimensional array without repeats, wording whatever is none."""
    if isinstance(ids, (str, bytes)):
        msg = f"ids is {type(ids).__name__}, expected a list with one name per sample."
        raise LinkwiseError(msg)
    try:
        return read_ids(ids)
    except LinkwiseError:
        raise
    except (TypeError, ValueError) as bad:
        msg = f"ids is no list of names ({bad}), expected text or numbers, one per sample."
        raise LinkwiseError(msg) from bad
