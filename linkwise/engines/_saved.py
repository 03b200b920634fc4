"""Declarations of the fitted attributes that an estimator saves, and the checks they pass when they come from a file.

Each estimator or mixin lists its own attributes in ``_saved``; `linkwise.save` writes these and no others. Kernels do
no bounds checks, so `linkwise.load` returns an estimator only after every value has passed the check declared for it.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

SAMPLES, FEATURES = "constraints_.n_samples", "n_features_in_"
Check = Callable[[Any, Any], str]


def _accept(value: Any, model: Any) -> str:  # noqa: ARG001
    return ""


class Kept(NamedTuple):
    """Declaration of one fitted attribute.

    ``check`` takes the value and the estimator, whose attributes declared before have passed their checks; it returns
    what is wrong in words that follow the name of the attribute, or an empty string.
    """

    check: Check = _accept
    required: bool = False  # whether a file must hold it; attributes that older files lack are not required
    saved: bool = True  # False for caches, which a loaded estimator does without
    records: tuple[type, ...] = ()  # dataclasses and named tuples in the value, whose fields are written by name


REPORTED = Kept()  # shown to users only: any plain value will do
CACHE = Kept(saved=False)


def kept_floats(*shape: Any, optional: bool = False, least: float = -np.inf, total: float = 0.0) -> Kept:
    """Declare finite floats, dense or sparse.

    A side is a number, the name of an attribute that holds it, or None for any; a function returns the whole shape from
    the estimator. None of the values is below ``least``; with ``total`` they add up to it.
    """

    def check(value: Any, model: Any) -> str:
        if optional and value is None:
            return ""
        sides = [attrgetter(side)(model) if isinstance(side, str) else side for side in shape]
        if not is_table(value, *(sides[0](model) if callable(sides[0]) else sides)):
            return "has the wrong shape, or values that are not finite"
        if least > -np.inf and (value < least).any():
            return f"has values below {least:g}"
        return f"does not add up to {total:g}" if total and abs(value.sum() - total) >= 1e-6 else ""

    return Kept(check, required=not optional)


def kept_count(least: int = 0, *, required: bool = True) -> Kept:
    """Declare a whole number."""
    return Kept(lambda value, _: "" if is_count(value, least) else f"is not a whole number from {least} on", required)


def kept_instance(kind: type, *, required: bool = True) -> Kept:
    """Declare a value of a type, about the samples of the fit where it has a number of samples."""

    def check(value: Any, model: Any) -> str:
        if not isinstance(value, kind):
            return f"is not a {kind.__name__}"
        n = model.constraints_.n_samples
        return "" if getattr(value, "n_samples", n) == n else "is about other samples"

    return Kept(check, required)


def kept_labels(centers: str = "") -> Kept:
    """Declare labels of the samples; with ``centers``, clusters that have a row there may be empty."""

    def check(value: Any, model: Any) -> str:
        n = model.constraints_.n_samples
        if not n or not is_array(value, "i", n):
            return "has the wrong shape or type"
        top = max(model.n_clusters_, len(getattr(model, centers)) if centers else 0)
        return "" if ((value >= -1) & (value < top)).all() else "names clusters that do not exist"

    return Kept(check, required=True)


def gather(kind: type, name: str) -> dict[str, Any]:
    """Merge the dictionaries under that name along a class and its bases; what a subclass declares comes last."""
    merged: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        own = base.__dict__.get(name, {})
        merged = {key: one for key, one in merged.items() if key not in own} | own
    return merged


def require_sound(model: Any) -> None:
    """Refuse an estimator from a file that lacks a required attribute, or has a value that fails its check."""
    for name, kept in gather(type(model), "_saved").items():
        if name not in vars(model):
            fault = "is missing" if kept.required else ""
        else:
            fault = kept.check(vars(model)[name], model)
        if fault:
            msg = f"{name} {fault}"
            raise ValueError(msg)


def is_array(value: Any, kinds: str, *shape: int | None) -> bool:
    """Whether a value is an array of such types and sides; None is any side."""
    return isinstance(value, np.ndarray) and _has_sides(value, kinds, shape)


def is_table(value: Any, *shape: int | None) -> bool:
    """Whether a value holds finite floats, sparse or not, and has such sides; None is any side."""
    is_sparse = scipy.sparse.issparse(value)
    if not is_sparse and not isinstance(value, np.ndarray):
        return False
    return _has_sides(value, "f", shape) and bool(np.isfinite(value.data if is_sparse else value).all())


def _has_sides(value: Any, kinds: str, shape: tuple[int | None, ...]) -> bool:
    fits = value.dtype.kind in kinds and len(value.shape) == len(shape)
    return fits and all(want in (None, side) for side, want in zip(value.shape, shape, strict=True))


def is_count(value: Any, least: int = 0) -> bool:
    """Whether a value is a whole number from ``least`` on."""
    return type(value) is int and value >= least
