"""What a data set is: samples, their classes, where both come from, and the taxonomy of the classes if there is one."""

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
    """Samples with their true classes, and what is known about both.

    Attributes
    ----------
    X : ndarray or scipy.sparse.csr_array of shape (n_samples, n_features)
        The samples. Missing values are NaN.
    y : ndarray of intp, shape (n_samples,)
        The class of each sample, a position in ``label_names``. Where samples belong to several classes at once, a
        sparse matrix of zeros and ones instead, one column per class.
    name : str
        What `load` or the generator calls the set.
    feature_names : tuple of str
        One per column, or empty where the source names none.
    label_names : tuple of str
        What each class is called.
    source : str
        Where the data come from.
    description : str
        What they are, in a sentence or two.
    categorical : ndarray of bool, shape (n_features,), or None
        Columns whose numbers are ranks of words and not measurements.
    ids : mapping from str to ndarray
        Columns that name samples rather than describe them.
    taxonomy : linkwise.Taxonomy or None
        The tree the classes belong to, with each sample on the node of its class (``taxonomy.node``, -1 for a class
        outside the tree); samples of several classes sit on no node.

    Notes
    -----
    **Guarantee** the fields cannot be set anew. The arrays are the caller's own: changing them changes nobody else's.

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
        """How many samples there are."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """How many columns describe a sample."""
        return int(self.X.shape[1])

    @property
    def n_classes(self) -> int:
        """How many classes occur; for samples of several classes, how many columns ``y`` has."""
        return int(self.y.shape[1]) if self.y.ndim == 2 else len(np.unique(self.y))

    @property
    def counts(self) -> dict[str, int]:
        """How many samples each class has."""
        k = len(self.label_names)
        many = np.asarray(self.y.sum(axis=0)).ravel() if self.y.ndim == 2 else np.bincount(self.y, minlength=k)
        return {name: int(count) for name, count in zip(self.label_names, many, strict=True)}

    def __repr__(self) -> str:
        """Name and size on one line."""
        text = f"{self.n_samples:,} samples, {self.n_features:,} features, {self.n_classes} classes"
        if self.taxonomy is not None:
            text += f", a taxonomy of {self.taxonomy.n_nodes} nodes"
        return f"Data({self.name}: {text})"
