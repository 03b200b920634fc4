"""Import and export of trees: merges, SciPy, scikit-learn, Newick, JSON, nested dictionaries, networkx."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise._validation import read_count
from linkwise.exceptions import LinkwiseError
from linkwise.trees import _interchange as formats, _kernels as kernels
from linkwise.trees._assemble import Assembled, assemble, at_the_top, heights_of_lengths, join_roots, part_joins
from linkwise.trees._newick import read_newick, write_newick
from linkwise.trees._parent_array import Tree, frozen, read_heights, read_names, read_nodes


class Exchange(Tree):
    """The part of `Dendrogram` that reads and writes other notations."""

    @classmethod
    def from_merges(
        cls, n_samples: int, merges: Any, raw_height: Any, *, sort: bool = False, marked: Any = None, ids: Any = None
    ) -> Self:
        """Build a binary tree or forest from merges in the order they happened.

        Parameters
        ----------
        n_samples : int
            Number of samples, the nodes 0 to ``n_samples - 1``.
        merges : array-like of shape (m, 2)
            Row t joins two nodes into node ``n_samples + t``; fewer than ``n_samples - 1`` rows make a forest.
        raw_height : array-like of shape (m,)
            Height of each merge as the method computed it, inversions included.
        sort : bool, default=False
            Renumber the merges by height, for algorithms that find them in another order. Equal heights keep their
            order, and a merge lower than one it builds on counts as high as that one.
        marked : array-like of nodes, optional
            The marked cut, in the numbers of ``merges``.
        ids : array-like of shape (n_samples,), optional
            The user's name for each sample.

        Returns
        -------
        Dendrogram

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> tree = Dendrogram.from_merges(4, [(2, 3), (0, 1), (4, 5)], [2.0, 1.0, 3.0], sort=True)
        >>> tree.lca(0, 1), tree.lca(2, 3)
        (np.int64(4), np.int64(5))
        """
        n = read_count(n_samples, "n_samples", low=1)
        pairs = read_nodes("merges", merges, ndim=2)
        if pairs.shape[1] != 2:
            msg = f"merges has shape {pairs.shape}, expected two nodes in each row."
            raise LinkwiseError(msg)
        code, t, parent = kernels.parents_of_merges(n, pairs)
        if code:
            left, right = (int(v) for v in pairs[t])
            early = f"but it can only join nodes 0 to {n + t - 1}"
            what = ("", early, "expected two different nodes", "but a node merges once")[code]
            msg = f"merges: row {t} joins {left} and {right}, {what}.\nHint: row t makes node n_samples + t."
            raise LinkwiseError(msg)
        raw = np.concatenate([np.zeros(n), read_heights("raw_height", raw_height, len(pairs), n)])
        if sort:
            parent, raw, marked = _by_height(n, parent, raw, marked)
        return cls(n, parent, raw, marked=marked, ids=ids)

    @classmethod
    def from_linkage(cls, Z: Any, *, ids: Any = None) -> Self:
        """Read a SciPy linkage matrix; inversions are kept as raw heights.

        Parameters
        ----------
        Z : array-like of shape (n_samples - 1, 4)
            As `scipy.cluster.hierarchy.linkage` returns it.
        ids : array-like of shape (n_samples,), optional
            The user's name for each sample.

        Returns
        -------
        Dendrogram

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> Dendrogram.from_linkage([[0, 1, 0.5, 2], [2, 3, 1.0, 3]])
        Dendrogram(3 samples: 2 inner nodes, 1 tree, height 1)
        """
        n, merges, raw = formats.merges_of_linkage(Z)
        made = cls.from_merges(n, merges, raw, ids=ids)
        formats.check_counts(made, np.asarray(Z, dtype=np.float64)[:, 3])
        return made

    def to_linkage(self, *, binary: bool = False, join: bool = False) -> FloatArray:
        """Write a SciPy linkage matrix: monotone heights, rows sorted by height (equal heights in merge order).

        Parameters
        ----------
        binary : bool, default=False
            Split nodes of more than two children into merges at equal height instead of refusing them.
        join : bool, default=False
            Join the roots of a forest above the highest merge, as `joined` does, instead of refusing it; a join of
            several trees becomes merges at one height, which are the last rows.

        Returns
        -------
        ndarray of shape (n_samples - 1, 4)

        Notes
        -----
        **Guarantee** `scipy.cluster.hierarchy.is_valid_linkage` and ``is_monotonic`` hold. **Cost** O(n log n).
        Raw heights, marks, joins and ids are not part of a linkage.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> Dendrogram(3, [3, 3, 3, -1]).to_linkage(binary=True).tolist()
        [[0.0, 1.0, 1.0, 2.0], [2.0, 3.0, 1.0, 3.0]]

        Samples 0 and 1 merge at 2.0, and 2 stays apart:

        >>> Dendrogram.from_merges(3, [(0, 1)], [2.0]).to_linkage(join=True).tolist()
        [[0.0, 1.0, 2.0, 2.0], [2.0, 3.0, 2.2, 3.0]]
        """
        return formats.write_linkage(self.joined() if join else self, binary)

    @classmethod
    def from_children(
        cls, children: Any, distances: Any = None, *, n_samples: int | None = None, ids: Any = None
    ) -> Self:
        """Read scikit-learn's ``children_`` and, when computed, ``distances_``.

        Parameters
        ----------
        children : array-like of shape (m, 2)
            Row t holds the two children of node ``n_samples + t``.
        distances : array-like of shape (m,), optional
            Heights of the merges; without them merge t has the height t + 1.
        n_samples : int, optional
            Needed when the tree was not built to the root (``n_leaves_`` in scikit-learn); m + 1 otherwise.
        ids : array-like of shape (n_samples,), optional
            The user's name for each sample.

        Returns
        -------
        Dendrogram

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> Dendrogram.from_children([[0, 1], [2, 3]]).height.tolist()
        [0.0, 0.0, 0.0, 1.0, 2.0]
        """
        m = len(children)
        height = np.arange(1, m + 1) if distances is None else distances
        return cls.from_merges(m + 1 if n_samples is None else n_samples, children, height, ids=ids)

    def to_children(self) -> IntArray:
        """Write scikit-learn's ``children_``: row t holds the children of node ``n_samples + t``, in merge order.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> Dendrogram.from_children([[1, 0], [2, 3]]).to_children().tolist()
        [[0, 1], [2, 3]]
        """
        return formats.write_children(self)

    @classmethod
    def from_newick(cls, text: str, ids: Any = None, *, forest: bool = False) -> Self:
        """Read Newick text; branch lengths become heights over the deepest leaf below.

        Parameters
        ----------
        text : str
            One tree, ended by a semicolon. Quoted names, comments in brackets, names of inner nodes (ignored) and
            inner nodes with one child (dropped) are fine. Comments by which `to_newick` marks joins are understood.
        ids : array-like of shape (n_samples,), optional
            The leaf names in sample order. Without them, names 0 to n - 1 are sample numbers, other names become ids
            in their order of appearance. A name without quotes that is not an id is read with blanks for underscores
            if it then is one, with a warning: ``Canis_lupus`` is ``Canis lupus``, as the grammar of Newick has it.
        forest : bool, default=False
            Read all trees of the text into one forest.

        Returns
        -------
        Dendrogram
            Inner nodes are numbered by height, because Newick carries no merge order.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> tree = Dendrogram.from_newick("((otter:1,mink:1):2,'sea lion':3);")
        >>> tree.ids.tolist(), tree.height.tolist()
        (['otter', 'mink', 'sea lion'], [0.0, 0.0, 0.0, 1.0, 3.0])
        """
        wanted = None if ids is None else set(map(str, read_names(ids).tolist()))
        nodes = read_newick(text, forest, wanted)
        height = heights_of_lengths(nodes.above, nodes.length)
        made = assemble(nodes.above, nodes.is_leaf, nodes.name, height, ids)
        return cls._assembled(made, None, made.numbers(nodes.joins))

    def to_newick(self, *, join: bool = False, node_names: Mapping[int, str] | None = None) -> str:
        r"""Write Newick text, one line per tree; lengths are differences of monotone heights.

        Ids (or sample numbers) are the leaf names, quoted where needed. Marks and raw heights are left out; `to_json`
        keeps everything.

        Parameters
        ----------
        join : bool, default=False
            Join the trees of a forest above the highest merge, as `joined` does, so that the text holds one tree:
            many programs read the first one only. The join carries the comment ``[&&NHX:linkwise_join=3]`` (the
            number of trees), which other programs ignore and `from_newick` understands.
        node_names : mapping of int to str, optional
            Names of inner nodes by number. Programs read them as names of clades (ete3 with ``format=1``).

        Returns
        -------
        str

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> Dendrogram.from_merges(3, [(0, 2), (1, 3)], [0.5, 2.0], ids=["a", "b c", "d"]).to_newick()
        "('b c':2.0,(a:0.5,d:0.5):1.5);\n"
        >>> Dendrogram.from_merges(3, [(0, 2)], [2.0]).to_newick(join=True)
        '(1:2.2,(0:2.0,2:2.0):0.20000000000000018)[&&NHX:linkwise_join=2];\n'
        """
        return write_newick(self.joined() if join else self, node_names)

    def joined(self) -> Self:
        """Return one tree: the roots of a forest meet in a *join*, a tenth above the highest merge.

        A join is made for programs that read one tree only. It is not a merge: ``joins`` lists such nodes, the
        trees below them still count as separate clusters where nothing is marked, and `parted` takes them away.

        Returns
        -------
        Dendrogram
            The same nodes and one more; a tree is returned as it is.

        Notes
        -----
        **Cost** O(n). **Guarantee** every statement that holds in the forest holds in the joined tree.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> forest = Dendrogram.from_merges(4, [(0, 1)], [2.0])
        >>> tree = forest.joined()
        >>> tree, tree.joins.tolist(), tree.children(5).tolist()
        (Dendrogram(4 samples: 2 inner nodes, 1 tree joined from 3, many-way nodes, height 2.2), [5], [2, 3, 4])
        >>> tree.parted() == forest
        True
        """
        return self if self.is_tree else join_roots(self)

    def parted(self) -> Self:
        """Return the forest from which a joined tree was made; a tree without joins is returned unchanged.

        A join that is marked as a cluster, which the forest cannot have, is refused.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> Dendrogram.from_newick("((a:1,b:1):1,c:2)[&&NHX:linkwise_join=2];").parted()
        Dendrogram(3 samples: 1 inner nodes, 2 trees, height 1)
        """
        return part_joins(self) if self.is_joined else self

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read JSON text of `to_json`: an equal tree, with node numbers, raw heights, marks, joins and ids.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> tree = Dendrogram(3, [3, 3, -1, -1], ids=["a", "b", "c"])
        >>> Dendrogram.from_json(tree.to_json()) == tree
        True
        """
        document = formats.read_json(text)
        del document["format"]
        return cls(**document)

    def to_json(self) -> str:
        """Write all arrays as JSON under a versioned header; `from_json` gives an equal tree back.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> Dendrogram(2, [2, 2, -1]).to_json()[:34]
        '{"format":"linkwise.dendrogram/1",'
        """
        return formats.write_json(self)

    @classmethod
    def from_nested(cls, nested: Any, ids: Any = None) -> Self:
        """Read nested dictionaries ``{"name", "height", "children"}``, or a list of them as a forest.

        Leaves have a name and no children; inner nodes need no name, and either all or none of them a height. Names are
        matched with samples as in `from_newick`.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> Dendrogram.from_nested({"height": 2, "children": [{"name": "a"}, {"name": "b"}]}).ids.tolist()
        ['a', 'b']
        """
        return cls._assembled(*formats.nodes_of_nested(nested, ids))

    def to_nested(self) -> Any:
        """Write nested dictionaries: the root's for a tree, a list of roots' for a forest.

        Marked nodes carry ``"marked": True``, joins ``"join": True``, nodes that were lifted also their
        ``"raw_height"``.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> Dendrogram(2, [2, 2, -1]).to_nested()
        {'height': 1.0, 'children': [{'name': 0, 'height': 0.0}, {'name': 1, 'height': 0.0}]}
        """
        return formats.write_nested(self)

    @classmethod
    def from_networkx(cls, graph: Any, ids: Any = None) -> Self:
        """Read a directed networkx forest with edges from parents to children.

        Node attributes ``name``, ``height``, ``raw_height``, ``marked`` and ``join`` are used where present; a leaf
        without a name is called by its node. Names are matched with samples as in `from_newick`.

        Examples
        --------
        >>> import networkx as nx
        >>> from linkwise import Dendrogram
        >>> Dendrogram.from_networkx(nx.DiGraph([("root", "a"), ("root", "b")])).ids.tolist()
        ['a', 'b']
        """
        return cls._assembled(*formats.nodes_of_graph(graph, ids))

    def to_networkx(self) -> Any:
        """Write a networkx ``DiGraph`` of node numbers with edges from parents to children.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> list(Dendrogram(2, [2, 2, -1]).to_networkx().edges)
        [(2, 0), (2, 1)]
        """
        return formats.write_graph(self)

    @classmethod
    def _assembled(cls, made: Assembled, marked: Any, joins: list[int]) -> Self:
        top = at_the_top(made.parent, joins)
        return cls(made.n_samples, made.parent, made.raw_height, marked=marked, ids=made.ids, joins=top)


def _by_height(n: int, parent: IntArray, raw: FloatArray, marked: Any) -> tuple[IntArray, FloatArray, Any]:
    """Renumber the inner nodes by monotone height; equal heights keep their order, so children stay before parents."""
    height = kernels.monotone(frozen(parent), frozen(raw))
    order = np.concatenate([np.arange(n), n + np.argsort(height[n:], kind="stable")])
    number = np.empty(len(parent) + 1, dtype=np.intp)
    number[order] = np.arange(len(parent))
    number[-1] = -1  # a root's parent -1 stays -1
    if marked is not None:
        nodes = read_nodes("marked", marked)
        known = (nodes >= 0) & (nodes < len(parent))
        marked = np.where(known, number[np.where(known, nodes, 0)], nodes)  # the constructor words what is out of range
    return number[parent[order]], raw[order], marked
