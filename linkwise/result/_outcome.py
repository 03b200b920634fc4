"""What any result says, whatever it is: an estimator, a front-door clustering, a tree or a bare vector of labels."""

from __future__ import annotations

import difflib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError
from linkwise.result._dendrogram import Dendrogram

_MOST_COMPARED = 20_000


@dataclass(frozen=True, eq=False)
class Outcome:
    """A result as its parts; None for what it does not have.

    Attributes
    ----------
    n_samples : int
    tree : Dendrogram or None
    labels : ndarray of shape (n_samples,) or None
        The cut that was asked for, given, or marked.
    constraints : Constraints or None
        What an estimator obeyed.
    estimator : object or None
        The fitted estimator.
    """

    n_samples: int
    tree: Dendrogram | None
    labels: npt.NDArray[Any] | None
    constraints: Constraints | None
    estimator: Any = None

    def names(self, ids: Any, constraints: Constraints | None) -> npt.NDArray[Any] | None:
        """How the samples are called: as given, else as the tree says, else as the statements do."""
        if ids is None and self.tree is not None:
            ids = self.tree.ids
        for said in (constraints, self.constraints):
            if ids is None and said is not None:
                ids = said.ids
        if ids is None:
            return None
        names = np.empty(len(ids), dtype=object)
        names[:] = list(ids)
        if len(names) != self.n_samples:
            msg = f"ids has {len(names)} entries, expected one for each of the {self.n_samples} samples."
            raise LinkwiseError(msg)
        return names


def read_outcome(result: Any, labels: Any = None, *, who: str) -> Outcome:
    """Read a fitted estimator, what `linkwise.cluster` returns, a dendrogram or labels; ``labels`` take precedence."""
    if isinstance(result, Dendrogram):
        found = Outcome(result.n_samples, result, None if result.marked is None else result.cut_marked(), None)
    elif hasattr(result, "dendrogram_") or hasattr(result, "labels_"):
        tree, own = getattr(result, "dendrogram_", None), getattr(result, "labels_", None)
        own = None if own is None else np.asarray(own)
        n = tree.n_samples if tree is not None else 0 if own is None else len(own)
        found = Outcome(int(n), tree, own, getattr(result, "constraints_", None), result)
    elif hasattr(result, "estimator") and hasattr(result, "labels"):
        said = getattr(result.estimator, "constraints_", None)
        own = np.asarray(result.labels)
        found = Outcome(len(own), getattr(result, "dendrogram", None), own, said, result.estimator)
    else:
        try:
            own = None if isinstance(result, str) else np.asarray(result)
        except TypeError:  # what pretends to be a sequence, such as Constraints
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
    """Find the sample a person means: by name where there are names, else by number."""
    numeric = isinstance(sample, (int, np.integer)) and not isinstance(sample, (bool, np.bool_))
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
            near = difflib.get_close_matches(str(sample), [str(name) for name in listed[:_MOST_COMPARED]], 3)
            hint = f"did you mean {' or '.join(near)}?" if near else f"samples are called like {str(listed[0])!r}."
            msg = f"{who}: there is no sample {sample!r}.\nHint: {hint}"
            raise LinkwiseError(msg)
    if isinstance(sample, str) and sample.isdecimal():
        sample, numeric = int(sample), True
    if not numeric or not 0 <= sample < n_samples:
        msg = f"{who}: the sample is {sample!r}, expected a number from 0 to {n_samples - 1}."
        raise LinkwiseError(msg)
    return int(sample)
