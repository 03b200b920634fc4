"""Samples as they go into a method: values, names, and how they were prepared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.io._prepare import Preparation

__all__ = ["Table"]


@dataclass(frozen=True, eq=False)
class Table:
    r"""Samples read by `read_data`.

    Attributes
    ----------
    X : ndarray of float64 or CSR matrix, shape (n_samples, n_features)
        The features.
    ids : ndarray of shape (n_samples,)
        Names, as text, where a column or index gives them; else row numbers from 0.
    columns : tuple of str
        What each feature is called.
    notes : tuple of str
        What was done and what was noticed, one sentence each.
    preparation : Preparation
        How the features were made, to treat new rows alike: ``read_data(new, like=table)``.
    missing : ndarray of shape (n_missing, 2)
        Row and feature of every number that was missing and filled in; in `values` they are NaN.

    Examples
    --------
    >>> import io
    >>> from linkwise import read_data
    >>> table = read_data(io.StringIO("name,x,y\notter,1,2\nmink,3,4\n"), id="name")
    >>> table.ids.tolist(), table.columns, table.X.shape
    (['otter', 'mink'], ('x', 'y'), (2, 2))
    """

    X: Any
    ids: npt.NDArray[Any]
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()
    preparation: Preparation = field(default_factory=Preparation)
    missing: npt.NDArray[np.intp] = field(default_factory=lambda: np.empty((0, 2), dtype=np.intp))

    @property
    def values(self) -> Any:
        """The samples as the source has them, but for rounding: scales undone, NaN for what is missing; of texts, X."""
        if not isinstance(self.X, np.ndarray):
            return self.X
        made, values = self.preparation, np.array(self.X, dtype=np.float64)
        if len(made.shift):
            values[:, : len(made.shift)] = values[:, : len(made.shift)] * made.factor + made.shift
        values[self.missing[:, 0], self.missing[:, 1]] = np.nan
        return values

    def fill_words(self, feature: int) -> str:
        """What stands in for a missing number of a feature, as in ``median 116.25``."""
        made = self.preparation
        how = {"most_frequent": "most frequent value"}.get(str(made.impute), made.impute or "")
        return f"{how} {made.fill[feature]:g}" if feature < len(made.fill) else how

    @property
    def has_names(self) -> bool:
        """Whether the samples have names rather than row numbers."""
        return self.ids.dtype.kind not in "iu"

    def __len__(self) -> int:
        """The number of samples."""
        return int(self.X.shape[0])

    def __repr__(self) -> str:
        kind = "dense" if isinstance(self.X, np.ndarray) else "sparse"
        return f"Table({len(self):,} samples, {len(self.columns):,} features, {kind})"
