"""The taxonomy, a known hierarchy of some samples, as triplets, flat classes, links or a dendrogram."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from linkwise._random import make_generator
from linkwise._typing import BoolArray, IntArray
from linkwise._validation import read_choice, read_count
from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram, stretches
from linkwise.sources import _kernels as kernels
from linkwise.sources._random_ranks import draw_ranks
from linkwise.sources._read_taxonomy import Readers, find_nodes

_SAFE = 2_000_000  # n**3 / 2 triplets at most, so that many leaves never overflow 64 bits


def _boxes(tree: Dendrogram) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Return the children, the ends of their leaves, and the sizes of the second and third side of their boxes."""
    child = np.flatnonzero(tree.parent >= 0)
    above = tree.parent[child]
    begin = stretches(tree)
    end = begin + tree.leaf_count
    return child, end[child], end[above] - end[child], tree.n_samples - tree.leaf_count[above]


def count_displayed(tree: Dendrogram) -> int:
    """Count the triplets ab|c a tree displays (ab|c and ba|c are one), exactly whatever their number."""
    child, _, later, outside = _boxes(tree)
    size = tree.leaf_count[child]
    if tree.n_samples <= _SAFE:
        return int((size * later * outside).sum())
    return sum(x * y * z for x, y, z in zip(size.tolist(), later.tolist(), outside.tolist(), strict=True))


def triplets_at(tree: Dendrogram, rank: IntArray) -> IntArray:
    """List the triplets at the given ranks, ``intp[len(rank), 3]``; there are fewer than 2**63 of them."""
    child, end, later, outside = _boxes(tree)
    volume = np.cumsum(tree.leaf_count[child] * later * outside)
    box = np.searchsorted(volume, rank, side="right")
    size = tree.leaf_count[child[box]]
    offset = rank - np.where(box > 0, volume[box - 1], 0)
    first, third = np.divmod(offset, outside[box])
    first, second = np.divmod(first, later[box])
    above = tree.parent[child[box]]
    inside = tree.leaf_count[above]
    third += np.where(third >= end[box] + later[box] - inside, inside, 0)  # step over the leaves below the node
    order = tree.leaf_order
    return np.column_stack([order[end[box] - size + first], order[end[box] + second], order[third]])


def named(made: Constraints, ids: npt.NDArray[Any] | None) -> Constraints:
    """Give the samples of a table their names."""
    return made if ids is None else Constraints.from_ids(ids) | made


class Taxonomy(Readers):
    """An immutable tree of named nodes with samples on some of them; inner nodes may carry samples too.

    A sample on a node is a member of every cluster from that node up. So two samples meet where the paths from their
    nodes to the root meet, and a sample on an inner node v is like a leaf directly below v. Several roots are allowed:
    samples below different roots never meet.

    Parameters
    ----------
    parent : array-like of shape (n_nodes,)
        Parent of every node, -1 for a root; nodes are numbered in any order.
    node : array-like of shape (n_samples,)
        The node each sample sits on; -1 for a sample that is not in the taxonomy.
    names : array-like of shape (n_nodes,), optional
        Names of the nodes; "" for one without a name. Names may repeat, but a repeated name cannot be looked up.
    ids : array-like of shape (n_samples,), optional
        The user's name for each sample.

    Attributes
    ----------
    n_samples, n_nodes : int
        How many samples and nodes there are.
    items : ndarray of intp
        The samples that are in the taxonomy.
    depth : ndarray of intp, shape (n_nodes,)
        Edges from each node up to its root.

    Notes
    -----
    This is the known hierarchy of [1]_, section 2. It stands for every *must-link-before* triple: x and y are linked on
    a lower level than x and z. **Cost** O(nodes + samples) memory and time to build and query; no method recurses.

    References
    ----------
    .. [1] K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints".

    See Also
    --------
    linkwise.sources.from_dendrogram : an existing clustering as constraints.

    Examples
    --------
    >>> from linkwise import Taxonomy
    >>> tree = Taxonomy.from_paths(["animal/cat", "animal/cat", "animal/dog", "animal", "plant", None])
    >>> tree
    Taxonomy(5 of 6 samples: 4 nodes, 2 levels, 2 roots)
    >>> tree.count_triples()
    16
    >>> tree.triplets(minimal=True)
    Constraints(6 samples: 4 triplets; all hard)
    >>> tree.pairs(level=1)
    Constraints(6 samples: 1 must-link, 3 cannot-links; all hard)
    """

    # -- as triplets -------------------------------------------------------------------------------------------------

    def count_triples(self) -> int:
        """Count the must-link-before triples, without listing them.

        These are the ordered triples (x, y, z) of different samples of which x and y meet strictly below where x and z
        meet. A triplet xy|z is two of them, (x, y, z) and (y, x, z).

        Returns
        -------
        int
            Exact, however large.

        Notes
        -----
        **Cost** O(nodes + samples). The number grows with the cube of the number of samples: five samples on each node
        of the hierarchy "Reuters 1" of Bade and Nürnberger give 37,200, ten give 307,800 (section 4.3).

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> Taxonomy.from_paths(["a", "a", "b"]).count_triples()
        2
        """
        return 0 if self._tree is None else 2 * count_displayed(self._tree)

    def triplets(self, *, minimal: bool = False, weight: Any = np.inf) -> Constraints:
        """List the triplets that the taxonomy displays; more than five million are refused.

        Parameters
        ----------
        minimal : bool, default=False
            Instead of every triplet, list only those that carry all the others: for every node v that divides samples,
            (branches of v - 1) x (branches beside v), where a sample on an inner node is a separate branch.
        weight : float or array-like, default=inf
            Cost of breaking one triplet.

        Returns
        -------
        Constraints

        Notes
        -----
        **Cost** linear in the number of triplets; with ``minimal`` that is O(n) when degrees are bounded, and
        (k - 1)(n - k) for k classes. **Guarantee** BUILD on either set gives the clades of the taxonomy back, and the
        minimal set implies every other triplet. The decomposition is that of Liu, Zhang and Wang (KDD 2011), sections
        4.3 and 5.2.

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> tree = Taxonomy.from_paths(["animal/cat", "animal/cat", "animal", "plant"])
        >>> tree.triplets().items.tolist()
        [[0, 1, 3], [0, 1, 2], [0, 2, 3], [1, 2, 3]]
        >>> tree.triplets(minimal=True).items.tolist()
        [[0, 1, 2], [0, 2, 3]]
        """
        if self._tree is None:
            return named(Constraints.build(self.n_samples), self.ids)
        rows = self.items[self._tree.triplets(minimal=minimal).of(Kind.TRIPLET)]
        return named(Constraints.build(self.n_samples, triplets=rows, weight=weight), self.ids)

    def sample_triplets(
        self, m: int, random_state: Any = None, *, replace: bool = False, weight: Any = np.inf
    ) -> Constraints:
        """Draw random triplets that the taxonomy displays, all equally likely, without listing them.

        Parameters
        ----------
        m, random_state, replace, weight
            How many triplets, and how they are drawn, as in `linkwise.sources.label_pairs`.

        Returns
        -------
        Constraints

        Notes
        -----
        **Cost** O(nodes + samples + m log n). **Guarantee** exactly uniform: triplets are drawn by their rank in
        a list that is never written.

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> tree = Taxonomy.from_levels([[0] * 500 + [1] * 500])
        >>> tree.sample_triplets(100, random_state=0)
        Constraints(1,000 samples: 100 triplets; all hard)
        """
        m, rng = read_count(m, "m", "sample_triplets"), make_generator(random_state)
        total = 0 if self._tree is None else count_displayed(self._tree)
        rank = draw_ranks(rng, "sample_triplets", "triplets", total, m, replace)
        if self._tree is None or not m:
            return named(Constraints.build(self.n_samples), self.ids)
        rows = self.items[triplets_at(self._tree, rank)]
        return named(Constraints.build(self.n_samples, triplets=rows, weight=weight), self.ids)

    # -- as flat clusters --------------------------------------------------------------------------------------------

    def labels(
        self, *, level: int | None = None, nodes: Iterable[Any] | None = None, above: Literal["skip", "own"] = "skip"
    ) -> IntArray:
        """Read the taxonomy as flat classes: one per node of a cut through it.

        Parameters
        ----------
        level : int, optional
            Cut at the nodes of this depth (roots have depth 0). A branch that ends higher up is a class as a whole.
        nodes : iterable, optional
            Instead, the names of the nodes to cut at (or their numbers, when nodes have no names); none above another.
        above : {"skip", "own"}, default="skip"
            Samples on inner nodes above the cut could belong to any class below. "skip" leaves them without a class,
            "own" makes the samples of each such node a class.

        Returns
        -------
        ndarray of intp, shape (n_samples,)
            The node that is each sample's class; -1 for samples without one.

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> tree = Taxonomy.from_paths(["animal/cat", "animal/cat/lion", "animal/dog", "animal", "plant", None])
        >>> [None if v < 0 else tree.node_name(v) for v in tree.labels(level=1)]
        ['cat', 'cat', 'dog', None, 'plant', None]
        >>> [None if v < 0 else tree.node_name(v) for v in tree.labels(nodes=["animal"])]
        ['animal', 'animal', 'animal', 'animal', None, None]
        """
        read_choice(above, "above", "labels", ("skip", "own"))
        if (level is None) == (nodes is None):
            got = "neither" if level is None else "both"
            msg = f"labels got {got} of level and nodes, expected one.\nHint: `level=1`."
            raise LinkwiseError(msg)
        flagged = self._cut_at_level(level) if level is not None else self._cut_at_nodes(list(nodes or ()))
        holder, nested = kernels.cover(self.parent, self._order, flagged)
        if nested >= 0:
            msg = (
                f"labels: the node {self.node_name(nested)!r} is below {self.node_name(int(holder[nested]))!r}, "
                "expected nodes of which none is below another."
            )
            raise LinkwiseError(msg)
        if above == "own":
            holder = np.where(holder < 0, np.arange(self.n_nodes), holder)
        return np.where(self.node >= 0, holder[self.node] if self.n_nodes else -1, -1)

    def _cut_at_level(self, level: Any) -> BoolArray:
        deepest = int(self.depth.max(initial=0))
        read_count(level, "level", "labels", high=deepest, note=" (0: the roots)")
        leaf = np.ones(self.n_nodes, dtype=np.bool_)
        leaf[self.parent[self.parent >= 0]] = False
        return np.asarray((self.depth == level) | (leaf & (self.depth < level)))

    def _cut_at_nodes(self, wanted: list[Any]) -> BoolArray:
        flagged = np.zeros(self.n_nodes, dtype=np.bool_)
        if self.names is not None:
            flagged[find_nodes("labels", self.names, wanted)] = True
            return flagged
        for v in wanted:
            flagged[read_count(v, "the node", "labels", high=self.n_nodes - 1)] = True
        return flagged

    def pairs(
        self,
        *,
        level: int | None = None,
        nodes: Iterable[Any] | None = None,
        above: Literal["skip", "own"] = "skip",
        weight: Any = np.inf,
    ) -> Constraints:
        """List the must-links and cannot-links of a cut through the taxonomy.

        Parameters
        ----------
        level, nodes, above
            The cut, as in `labels`.
        weight : float or array-like, default=inf
            Cost of breaking one statement.

        Returns
        -------
        Constraints
            A chain of must-links in each class and one cannot-link between two, which entail all pairs.

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> tree = Taxonomy.from_paths(["animal/cat", "animal/cat", "animal/dog", "plant"])
        >>> tree.pairs(level=0)
        Constraints(4 samples: 2 must-links, 1 cannot-link; all hard)
        """
        classes = self.labels(level=level, nodes=nodes, above=above)
        return named(Constraints.from_labels(classes, weight=weight), self.ids)

    # -- as a tree ---------------------------------------------------------------------------------------------------

    def to_dendrogram(self) -> Dendrogram:
        r"""Return the samples that are in the taxonomy as the leaves of a dendrogram.

        Sample i of the dendrogram is the i-th of `items`. A sample on an inner node becomes a leaf directly below it;
        nodes that divide no samples are left out.

        Returns
        -------
        Dendrogram
            Its ids are those of the samples, or their numbers when some samples are not in the taxonomy.

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> Taxonomy.from_paths(["animal/cat", None, "animal/cat", "animal"]).to_dendrogram().to_newick()
        '(3:2.0,(0:1.0,2:1.0):1.0);\n'
        """
        if self._tree is None:
            msg = "to_dendrogram: no sample is in the taxonomy.\nHint: place samples on it with `place`."
            raise LinkwiseError(msg)
        numbers = self.items if len(self.items) < self.n_samples else None
        ids = numbers if self.ids is None else self.ids[self.items]
        return Dendrogram(self._tree.n_samples, self._tree.parent, ids=ids)
