"""What a data set is: samples, their classes, where both come from, and the taxonomy of the classes if there is one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.exceptions import LinkwiseError

__all__ = ["Data", "Taxonomy"]


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """A tree (or forest) of classes; items may belong to inner nodes as well as to leaves.

    Attributes
    ----------
    parent : ndarray of intp, shape (n_nodes,)
        The node above each node, -1 above a top node.
    names : tuple of str
        What each node is called.
    of_class : ndarray of intp, shape (n_classes,)
        The node of each class, so that ``of_class[y]`` is the node of each sample; -1 for a class outside the tree.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise.datasets import Taxonomy
    >>> tree = Taxonomy(np.array([-1, 0, 0]), ("animal", "bird", "fish"), np.array([1, 2]))
    >>> tree.path(2)
    ('fish', 'animal')
    >>> tree.depth.tolist()
    [0, 1, 1]
    """

    parent: npt.NDArray[np.intp]
    names: tuple[str, ...]
    of_class: npt.NDArray[np.intp]

    def __post_init__(self) -> None:
        n = len(self.names)
        if self.parent.shape != (n,) or ((self.parent < -1) | (self.parent >= n)).any():
            msg = f"parent has shape {self.parent.shape}, expected the number of a node or -1 for each of {n} nodes."
            raise LinkwiseError(msg)
        if ((self.of_class < -1) | (self.of_class >= n)).any():
            msg = f"of_class names a node outside 0 to {n - 1}; -1 stands for a class outside the taxonomy."
            raise LinkwiseError(msg)
        if (self.depth < 0).any():
            msg = "parent contains a cycle, expected a tree: every node leads to a top node, whose parent is -1."
            raise LinkwiseError(msg)

    @property
    def n_nodes(self) -> int:
        """How many nodes there are, inner ones included."""
        return len(self.names)

    @property
    def depth(self) -> npt.NDArray[np.intp]:
        """Steps from each node up to its top node; -1 for a node on a cycle, which the constructor refuses."""
        depth = np.full(len(self.parent), -1, dtype=np.intp)
        above = np.arange(len(self.parent))
        for step in range(len(self.parent)):  # one pass per level, all nodes at once
            above = np.where(above >= 0, self.parent[above], -1)
            arrived = (above < 0) & (depth < 0)
            depth[arrived] = step
            if (depth >= 0).all():
                break
        return depth

    def path(self, node: int) -> tuple[str, ...]:
        """Names from ``node`` up to its top node."""
        names = []
        while node >= 0:
            names.append(self.names[node])
            node = int(self.parent[node])
        return tuple(names)


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
    taxonomy : Taxonomy or None
        The tree the classes belong to.

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
    categorical: npt.NDArray[np.bool_] | None = None
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

    @property
    def node(self) -> npt.NDArray[np.intp]:
        """The node of the taxonomy each sample belongs to."""
        if self.taxonomy is None or self.y.ndim == 2:
            why = "has no taxonomy" if self.taxonomy is None else "lets a sample belong to several classes"
            msg = f"{self.name} {why}, so there is no one node for each sample."
            raise LinkwiseError(msg)
        return np.asarray(self.taxonomy.of_class[self.y])

    def __repr__(self) -> str:
        """Name and size on one line."""
        text = f"{self.n_samples:,} samples, {self.n_features:,} features, {self.n_classes} classes"
        if self.taxonomy is not None:
            text += f", a taxonomy of {self.taxonomy.n_nodes} nodes"
        return f"Data({self.name}: {text})"
