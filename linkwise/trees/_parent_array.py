"""The immutable tree under `Dendrogram`: its arrays, their readers and checks, and arrays derived from them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from linkwise._kernels.lca import LcaIndex, prepare
from linkwise._messages import many
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import read_count
from linkwise.constraints import read_ids
from linkwise.exceptions import LinkwiseError
from linkwise.trees import _kernels as kernels


def read_nodes(name: str, values: Any, *, ndim: int = 1) -> IntArray:
    """Copy node or sample numbers into a new integer array; refuse values that are not whole numbers."""
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
        msg = f"{name} has shape {given.shape}, expected {many(ndim, 'dimension')}."
        raise LinkwiseError(msg)
    return np.array(given, dtype=np.intp, order="C")


def read_heights(name: str, values: Any, length: int, first: int) -> FloatArray:
    """Copy heights, one finite number per node; ``first`` is the node the first height belongs to."""
    try:
        height = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as bad:
        msg = f"{name} does not hold numbers, expected one height per node."
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
            "Hint: check the distances for NaN and inf; a sample that never merges is a root, not infinitely high."
        )
        raise LinkwiseError(msg)
    return height


def read_names(ids: Any) -> npt.NDArray[Any]:
    """Read identifiers as a one-dimensional array without repeats; refuse other types."""
    if isinstance(ids, (str, bytes)):
        msg = f"ids is {type(ids).__name__}, expected a list with one name per sample."
        raise LinkwiseError(msg)
    try:
        return read_ids(ids)
    except LinkwiseError:
        raise
    except (TypeError, ValueError) as bad:
        msg = f"ids is not a list of names ({bad}), expected text or numbers, one per sample."
        raise LinkwiseError(msg) from bad


def frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Make an array read-only; it must not be a caller's."""
    array.setflags(write=False)
    return array


_FAULTS = {
    kernels.OUTSIDE: "node {v} has the parent {p}, expected a node below {m}, or -1 for a root.",
    kernels.BELOW_SAMPLE: "node {v} has the parent {p}, which is a sample; samples have no children.",
    kernels.BACKWARD: (
        "node {v} has the parent {p}, but a parent is numbered after its children (so that there is no cycle).\n"
        "Hint: number inner nodes in the order of the merges."
    ),
    kernels.CHILDLESS: "inner node {v} has no children; only samples are leaves.",
    kernels.UNARY: (
        "inner node {v} has a single child, expected at least two.\nHint: connect the child to the node's own parent."
    ),
}


class Immutable:
    """The base of trees: immutable; derived arrays are cached properties."""

    _hint_to_change: ClassVar[str]

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"a {type(self).__name__} is immutable; {name} cannot be set.\nHint: {self._hint_to_change}"
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)


class Tree(Immutable):
    """A forest over samples as read-only arrays; `Dendrogram` adds queries and cuts."""

    _hint_to_change = "build a new one from `parent` and `raw_height`."

    n_samples: int
    n_nodes: int  # samples included
    n_roots: int  # separate trees
    roots: IntArray  # the nodes without a parent, in increasing order
    parent: IntArray
    height: FloatArray
    raw_height: FloatArray
    marked: IntArray | None
    ids: npt.NDArray[Any] | None
    joins: IntArray

    def __init__(
        self,
        n_samples: int,
        parent: Any,
        raw_height: Any = None,
        *,
        marked: Any = None,
        ids: Any = None,
        joins: Any = None,
    ) -> None:
        n = read_count(n_samples, "n_samples", low=1)
        above = frozen(read_nodes("parent", parent))
        if len(above) < n:
            msg = f"parent has {len(above)} entries, expected one per node, and the {n} samples are nodes too."
            raise LinkwiseError(msg)
        code, node = kernels.first_fault(n, above)
        if code != kernels.FINE:
            msg = "parent: " + _FAULTS[code].format(v=node, p=above[node], m=len(above))
            raise LinkwiseError(msg)
        if raw_height is None:
            raw = kernels.levels(above)
        else:
            raw = read_heights("raw_height", raw_height, len(above), 0)
            if raw[:n].any():
                where = int(np.flatnonzero(raw[:n])[0])
                msg = f"raw_height: sample {where} has the height {raw[where]}, expected 0 for every sample."
                raise LinkwiseError(msg)
            raw += 0.0  # -0.0 and 0.0 are one height: equal trees hash alike
        frozen(raw)
        put = object.__setattr__
        put(self, "n_samples", n)
        put(self, "n_nodes", len(above))
        put(self, "roots", frozen(np.flatnonzero(above < 0)))
        put(self, "n_roots", len(self.roots))
        put(self, "parent", above)
        put(self, "raw_height", raw)
        put(self, "height", frozen(kernels.monotone(above, raw)))
        put(self, "ids", None if ids is None else frozen(read_names(ids)))
        if self.ids is not None and len(self.ids) != n:
            msg = f"ids has {len(self.ids)} entries, expected one for each of the {n} samples."
            raise LinkwiseError(msg)
        put(self, "joins", frozen(self._read_joins(() if joins is None else joins)))
        put(self, "marked", None if marked is None else self._read_marks(marked))

    def _read_joins(self, joins: Any) -> IntArray:
        nodes = np.unique(read_nodes("joins", joins))
        if len(nodes) and (nodes[0] < self.n_samples or nodes[-1] >= self.n_nodes):
            worst = nodes[0] if nodes[0] < self.n_samples else nodes[-1]
            msg = f"joins names node {worst}, expected inner nodes: {self.n_samples} to {self.n_nodes - 1}."
            raise LinkwiseError(msg)
        above = self.parent[nodes]
        inside = (above >= 0) & ~np.isin(above, nodes)
        if inside.any():
            msg = (
                f"joins names node {int(nodes[inside][0])}, which lies below a merge; a join has only joins above it.\n"
                "Hint: `Dendrogram.joined()` joins the roots of a forest."
            )
            raise LinkwiseError(msg)
        return nodes

    def _read_marks(self, marked: Any) -> IntArray:
        nodes = np.sort(read_nodes("marked", marked))
        if len(nodes) and (nodes[0] < 0 or nodes[-1] >= self.n_nodes):
            worst = nodes[0] if nodes[0] < 0 else nodes[-1]
            msg = f"marked names node {worst}, but nodes are numbered 0 to {self.n_nodes - 1}."
            raise LinkwiseError(msg)
        flagged = np.zeros(self.n_nodes, dtype=np.bool_)
        flagged[nodes] = True
        cover, nested = kernels.nearest_flagged(self.parent, flagged)
        if nested >= 0 or int(flagged.sum()) < len(nodes):
            twice = nested if nested >= 0 else int(nodes[:-1][nodes[1:] == nodes[:-1]][0])
            msg = f"marked covers node {twice} twice, expected disjoint subtrees.\nHint: mark one node per cluster."
            raise LinkwiseError(msg)
        left_out = np.flatnonzero(cover[: self.n_samples] < 0)
        if len(left_out):
            msg = (
                f"marked leaves out {many(len(left_out), 'sample')}, such as {int(left_out[0])}; expected every sample "
                "below exactly one marked node.\nHint: mark a sample itself to make it a cluster."
            )
            raise LinkwiseError(msg)
        self.__dict__["_mark_above"] = frozen(cover)
        return frozen(nodes)

    # -- derived arrays; computed once, at first use ---------------------------------------------------------------

    @property
    def n_trees(self) -> int:
        """Number of separate trees that merging left: the number of roots, unless these were joined."""
        return self.n_roots - len(self.joins) + int(np.isin(self.parent, self.joins).sum())

    @property
    def is_tree(self) -> bool:
        """Whether there is one root."""
        return self.n_roots == 1

    @property
    def is_joined(self) -> bool:
        """Whether some nodes are joins: made to have one tree, not found by merging."""
        return len(self.joins) > 0

    @property
    def is_binary(self) -> bool:
        """Whether every inner node has exactly two children."""
        return self.n_nodes == 2 * self.n_samples - self.n_roots

    @property
    def child_start(self) -> IntArray:
        """Start of each node's children in `child`; ``intp[n_nodes + 1]``."""
        return self._children[0]

    @property
    def child(self) -> IntArray:
        """All children, those of one node together and in increasing order."""
        return self._children[1]

    @cached_property
    def _children(self) -> tuple[IntArray, IntArray]:
        start, child = kernels.child_lists(self.parent)
        return frozen(start), frozen(child)

    def children(self, node: int) -> IntArray:
        """Return the children of one node, in increasing order (a sample has none)."""
        start, child = self._children
        return child[start[node] : start[node + 1]]

    @cached_property
    def leaf_count(self) -> IntArray:
        """Number of samples below each node."""
        return frozen(kernels.leaf_counts(self.n_samples, self.parent))

    @cached_property
    def depth(self) -> IntArray:
        """Number of edges from each node up to its root."""
        return frozen(kernels.depths(self.parent))

    @cached_property
    def leaf_order(self) -> IntArray:
        """The samples from left to right, so that a drawing in this order has no crossing branches."""
        return frozen(kernels.leaf_preorder(self.n_samples, self.parent, self.leaf_count))

    @cached_property
    def _lca(self) -> LcaIndex:
        return prepare(self.parent)  # type: ignore[no-any-return]

    @cached_property
    def _mark_above(self) -> IntArray:
        """The marked node at or above each node; without marks the root of its tree, joins not counted."""
        top = self.parent < 0
        if self.is_joined:
            top |= np.isin(self.parent, self.joins)
            top[self.joins] = False
        cover, _ = kernels.nearest_flagged(self.parent, top)
        return frozen(cover)

    def name(self, sample: int) -> str:
        """Return the name of a sample: its identifier, or its number."""
        return str(sample) if self.ids is None else str(self.ids[sample])

    # -- a value: comparable, hashable, picklable ------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Tree):
            return NotImplemented
        return (
            self.n_samples == other.n_samples
            and np.array_equal(self.parent, other.parent)
            and np.array_equal(self.raw_height, other.raw_height)
            and equal_arrays(self.marked, other.marked)
            and equal_arrays(self.ids, other.ids)
            and equal_arrays(self.joins, other.joins)
        )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.n_samples, self.parent.tobytes(), self.raw_height.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(type(self), marked=self.marked, ids=self.ids, joins=self.joins)
        return make, (self.n_samples, self.parent, self.raw_height)

    def __repr__(self) -> str:
        shape = "1 tree" if self.is_tree else f"{self.n_roots:,} trees"
        if self.is_joined:
            shape += f" joined from {self.n_trees:,}"
        parts = [f"{self.n_nodes - self.n_samples:,} inner nodes", shape]
        if not self.is_binary:
            parts.append("many-way nodes")
        parts.append(f"height {self.height.max():.4g}")
        if self.marked is not None:
            parts.append(f"{len(self.marked):,} marked clusters")
        return f"{type(self).__name__}({self.n_samples:,} samples: {', '.join(parts)})"


def equal_arrays(one: npt.NDArray[Any] | None, other: npt.NDArray[Any] | None) -> bool:
    """Whether two arrays are equal, or both None."""
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)


def read_pairs(tree: Tree, who: str, i: Any, j: Any) -> tuple[IntArray, IntArray, tuple[int, ...]]:
    """Read two broadcasting arrays of nodes as flat ones, and the shape of the answer."""
    left, right = np.asarray(i), np.asarray(j)
    try:
        left, right = np.broadcast_arrays(left, right)
    except ValueError as bad:
        msg = f"{who} got shapes {left.shape} and {right.shape}, expected shapes that broadcast."
        raise LinkwiseError(msg) from bad
    flat = [read_nodes(who, side.reshape(-1)) for side in (left, right)]
    for side in flat:
        if len(side) and (side.min() < 0 or side.max() >= tree.n_nodes):
            worst = int(side.min() if side.min() < 0 else side.max())
            msg = f"{who} got node {worst}, but nodes are numbered 0 to {tree.n_nodes - 1}."
            raise LinkwiseError(msg)
    return flat[0], flat[1], left.shape


def refuse_cycle(parent: IntArray, word: Callable[[int], str]) -> IntArray:
    """Return the nodes with parents before children, or name the nodes of a cycle."""
    order: IntArray = kernels.top_down(parent)
    if len(order) == len(parent):
        return order
    lost = np.ones(len(parent), dtype=np.bool_)
    lost[order] = False
    node = int(np.flatnonzero(lost)[0])
    for _ in range(len(parent)):  # from below a cycle into it
        node = int(parent[node])
    ring = [node]
    while int(parent[ring[-1]]) != node:
        ring.append(int(parent[ring[-1]]))
    first = ring.index(min(ring))
    ring = ring[first:] + ring[:first]
    shown = [word(v) for v in ring[:5]] + ([f"… ({len(ring)} nodes)"] if len(ring) > 5 else [])
    msg = f"the taxonomy has a cycle, expected a forest: {' < '.join([*shown, word(ring[0])])}."
    raise LinkwiseError(msg)
