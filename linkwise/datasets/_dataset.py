"""The record of a data set: samples, their classes, the source of both, and the taxonomy of the classes if any."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import BoolArray
from linkwise.sources import Taxonomy


@dataclass(frozen=True, eq=False, repr=False)
class Data:
    """Samples with their true classes, names, source and description.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_array of shape (n_samples, n_features)
        The samples. Missing values are NaN.
    y : ndarray of intp, shape (n_samples,)
        The class of each sample, a position in ``label_names``. Where samples belong to several classes at once, a
        sparse matrix of zeros and ones instead, one column per class.
    name, source, description : str
        Name of the set, as given to `load`, or of the generator; the source; one or two sentences about the data.
    feature_names, label_names : tuple of str
        Names of the columns, empty where the source names none, and of the classes.
    categorical : ndarray of bool, shape (n_features,), or None
        Columns whose numbers are ranks of words and not measurements.
    ids : mapping from str to ndarray
        Columns that name samples rather than describe them.
    taxonomy : linkwise.Taxonomy or None
        The tree the classes belong to, with each sample on the node of its class (``taxonomy.node``, -1 for a class
        outside the tree); samples of several classes sit on no node.

    Notes
    -----
    **Guarantee** the fields cannot be set. The arrays belong to the caller, and changing them has no other effect.

    Examples
    --------
    >>> from linkwise.datasets import xor
    >>> data = xor(n_samples=40, random_state=0)
    >>> data
    Data(xor: 40 samples, 2 features, 2 classes)
    >>> data.X.shape, data.counts
    ((40, 2), {'0': 20, '1': 20})
    """

    X: Any
    y: Any
    name: str
    feature_names: tuple[str, ...] = ()
    label_names: tuple[str, ...] = ()
    source: str = ""
    description: str = ""
    categorical: BoolArray | None = None
    ids: Mapping[str, npt.NDArray[Any]] = field(default_factory=dict)
    taxonomy: Taxonomy | None = None

    @property
    def n_samples(self) -> int:
        """Number of samples."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns of X."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """Number of classes that occur; for samples of several classes, number of columns of ``y``."""
        return int(self.y.shape[1]) if self.y.ndim == 2 else len(np.unique(self.y))

    @property
    def counts(self) -> dict[str, int]:
        """Number of samples of each class."""
        k = len(self.label_names)
        many = np.asarray(self.y.sum(axis=0)).ravel() if self.y.ndim == 2 else np.bincount(self.y, minlength=k)
        return {name: int(count) for name, count in zip(self.label_names, many, strict=True)}

    def __repr__(self) -> str:
        """Name and size on one line."""
        text = f"{self.n_samples:,} samples, {self.n_features:,} features, {self.n_classes} classes"
        if self.taxonomy is not None:
            text += f", a taxonomy of {self.taxonomy.n_nodes} nodes"
        return f"Data({self.name}: {text})"
