"""The immutable arrays under `Taxonomy`: nodes in any numbering, the node of each sample, and their checks."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from linkwise._typing import IntArray
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram
from linkwise.sources import _kernels as kernels
from linkwise.trees import Immutable, equal_arrays, frozen, read_names, read_nodes, refuse_cycle


class Nodes(Immutable):
    """A forest of nodes and the node of each sample, as read-only arrays; `Taxonomy` adds queries and readers."""

    _hint_to_change = "build a new one, or place samples with `place`."

    parent: IntArray
    node: IntArray
    n_samples: int
    _order: IntArray  # nodes, each after its parent
    names: npt.NDArray[Any] | None
    ids: npt.NDArray[Any] | None

    def __init__(self, parent: Any, node: Any, *, names: Any = None, ids: Any = None) -> None:
        above = frozen(read_nodes("parent", parent))
        place = frozen(read_nodes("node", node))
        put = object.__setattr__
        put(self, "parent", above)
        put(self, "node", place)
        put(self, "n_samples", len(place))
        put(self, "names", None if names is None else frozen(_read_node_names(names, len(above))))
        put(self, "ids", None if ids is None else frozen(read_names(ids)))
        for what, values in (("parent", above), ("node", place)):
            outside = (values < -1) | (values >= len(above))
            if outside.any():
                where = int(np.flatnonzero(outside)[0])
                who = f"node {where} has the parent" if what == "parent" else f"sample {where} sits on node"
                none = "-1 for a root" if what == "parent" else "-1 for a sample that is not in the taxonomy"
                msg = f"{who} {values[where]}, but nodes are numbered 0 to {len(above) - 1} ({none})."
                raise LinkwiseError(msg)
        if self.ids is not None and len(self.ids) != self.n_samples:
            msg = f"ids has {len(self.ids)} entries, expected one for each of the {self.n_samples} samples."
            raise LinkwiseError(msg)
        put(self, "_order", frozen(refuse_cycle(above, self.node_name)))

    @property
    def n_nodes(self) -> int:
        """Number of nodes; samples are not nodes but sit on them."""
        return len(self.parent)

    @cached_property
    def items(self) -> IntArray:
        """The samples that are in the taxonomy, in increasing order."""
        return frozen(np.flatnonzero(self.node >= 0))

    @cached_property
    def depth(self) -> IntArray:
        """Number of edges from each node up to its root."""
        return frozen(kernels.depths(self.parent, self._order))

    @cached_property
    def _tree(self) -> Dendrogram | None:
        """The items as the leaves of a dendrogram, in the order of `items`; None when there are none."""
        if not len(self.items):
            return None
        up, _ = kernels.skeleton(self.parent, self._order, self.node[self.items])
        return Dendrogram(len(self.items), up)

    def node_name(self, node: int) -> str:
        """Return the name of a node, or its number when it has none."""
        name = None if self.names is None else self.names[node]
        return str(node) if name is None or name == "" else str(name)

    # -- a value: comparable, hashable, picklable ------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        """Whether all arrays are equal; the same nodes in another numbering are another taxonomy."""
        if not isinstance(other, Nodes):
            return NotImplemented
        return (
            np.array_equal(self.parent, other.parent)
            and np.array_equal(self.node, other.node)
            and equal_arrays(self.names, other.names)
            and equal_arrays(self.ids, other.ids)
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.parent.tobytes(), self.node.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), names=self.names, ids=self.ids), (self.parent, self.node)

    def __getitem__(self, samples: Any) -> Self:
        """Keep some samples (a list, mask or slice of them) and renumber them; the nodes stay."""
        chosen = np.arange(self.n_samples)[samples]
        if chosen.ndim != 1:
            msg = f"taxonomy[{samples!r}] picks one sample, expected a list, mask or slice of samples."
            raise LinkwiseError(msg)
        ids = None if self.ids is None else self.ids[chosen]
        return type(self)(self.parent, self.node[chosen], names=self.names, ids=ids)

    def __repr__(self) -> str:
        roots = int((self.parent < 0).sum())
        levels = int(self.depth.max()) + 1 if self.n_nodes else 0
        shape = f"{self.n_nodes:,} nodes, {levels:,} levels" + (f", {roots:,} roots" if roots > 1 else "")
        return f"{type(self).__name__}({len(self.items):,} of {self.n_samples:,} samples: {shape})"


def _read_node_names(names: Any, n_nodes: int) -> npt.NDArray[Any]:
    given = list(names)
    if len(given) != n_nodes:
        msg = f"names has {len(given)} entries, expected one for each of the {n_nodes} nodes."
        raise LinkwiseError(msg)
    if all(type(name) is str for name in given):
        return np.array(given, dtype=np.str_)
    column = np.empty(n_nodes, dtype=object)
    column[:] = given
    return column
