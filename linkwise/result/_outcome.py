"""The parts of a result, read from an estimator, a clustering of `linkwise.cluster`, a dendrogram or labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._messages import did_you_mean
from linkwise._validation import is_whole
from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError
from linkwise.result._dendrogram import Dendrogram


@dataclass(frozen=True, eq=False)
class Outcome:
    """The parts of a result; None for missing ones."""

    n_samples: int
    tree: Dendrogram | None
    labels: npt.NDArray[Any] | None  # the requested, given or marked cut
    constraints: Constraints | None  # those of an estimator
    estimator: Any = None  # fitted

    def names(self, ids: Any, constraints: Constraints | None) -> npt.NDArray[Any] | None:
        """Return the names of the samples: as given, else those of the tree, else those of the constraints."""
        for source in (self.tree, constraints, self.constraints):
            if ids is None and source is not None:
                ids = source.ids
        if ids is None:
            return None
        names = np.empty(len(ids), dtype=object)
        names[:] = list(ids)
        if len(names) != self.n_samples:
            msg = f"ids has {len(names)} entries, expected one for each of the {self.n_samples} samples."
            raise LinkwiseError(msg)
        return names


def require_dendrogram(dendrogram: Any, who: str) -> Dendrogram:
    """Refuse an argument that is not a dendrogram."""
    if not isinstance(dendrogram, Dendrogram):
        hint = "`model.dendrogram_` of a fitted estimator, or `Dendrogram.from_linkage(Z)`."
        msg = f"{who} got {type(dendrogram).__name__}, expected a Dendrogram.\nHint: pass {hint}"
        raise LinkwiseError(msg)
    return dendrogram


def read_outcome(result: Any, labels: Any = None, *, who: str) -> Outcome:
    """Read a fitted estimator, a result of `linkwise.cluster`, a dendrogram or labels; ``labels`` take precedence."""
    if isinstance(result, Dendrogram):
        found = Outcome(result.n_samples, result, None if result.marked is None else result.cut_marked(), None)
    elif hasattr(result, "dendrogram_") or hasattr(result, "labels_"):
        tree, own = getattr(result, "dendrogram_", None), getattr(result, "labels_", None)
        own = None if own is None else np.asarray(own)
        n = tree.n_samples if tree is not None else 0 if own is None else len(own)
        found = Outcome(int(n), tree, own, getattr(result, "constraints_", None), result)
    elif hasattr(result, "estimator") and hasattr(result, "labels"):
        constraints = getattr(result.estimator, "constraints_", None)
        own = np.asarray(result.labels)
        found = Outcome(len(own), getattr(result, "dendrogram", None), own, constraints, result.estimator)
    else:
        try:
            own = None if isinstance(result, str) else np.asarray(result)
        except TypeError:  # has a length but no items, as Constraints do
            own = None
        if own is None or own.ndim != 1 or not len(own) or own.dtype.kind not in "iu":
            msg = (
                f"{who} got {type(result).__name__}, expected a fitted estimator, a Dendrogram or integer labels.\n"
                "Hint: fit the estimator first."
            )
            raise LinkwiseError(msg)
        found = Outcome(len(own), None, own, None)
    if labels is None:
        return found
    given = np.asarray(labels)
    if given.shape != (found.n_samples,):
        msg = f"labels has shape {given.shape}, expected one label for each of the {found.n_samples} samples."
        raise LinkwiseError(msg)
    return Outcome(found.n_samples, found.tree, given, found.constraints, found.estimator)


def place_of(sample: Any, names: npt.NDArray[Any] | None, n_samples: int, *, who: str) -> int:
    """Find a sample by its name, or by its number if samples have no names."""
    numeric = is_whole(sample)
    if names is not None:
        listed = names.tolist()
        at = [i for i, name in enumerate(listed) if type(name) is not bool and name == sample]
        at = at or [i for i, name in enumerate(listed) if str(name) == str(sample)]
        if len(at) > 1:
            msg = f"{who}: {sample!r} names {len(at)} samples, expected one.\nHint: give its number, such as {at[0]}."
            raise LinkwiseError(msg)
        if at:
            return at[0]
        if not numeric or any(isinstance(name, (int, np.integer)) for name in listed):
            hint = did_you_mean(sample, listed, f"samples have names such as {str(listed[0])!r}.", most=3)
            msg = f"{who}: there is no sample {sample!r}.\nHint: {hint}"
            raise LinkwiseError(msg)
    if isinstance(sample, str) and sample.isdecimal():
        sample, numeric = int(sample), True
    if not numeric or not 0 <= sample < n_samples:
        msg = f"{who}: the sample is {sample!r}, expected a number from 0 to {n_samples - 1}."
        raise LinkwiseError(msg)
    return int(sample)
