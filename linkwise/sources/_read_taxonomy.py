"""Readers of taxonomies: Newick, nested dictionaries, OBO, parent columns, paths, label columns, a dendrogram."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt

from linkwise._messages import did_you_mean, hint, many, some_of
from linkwise._typing import BoolArray, IntArray
from linkwise._value_columns import as_text, first_repeat, is_missing, number_values, read_column
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram, require_dendrogram
from linkwise.sources._taxonomy_nodes import Nodes
from linkwise.trees import (
    NamedNodes,
    nodes_of_levels,
    nodes_of_nested,
    nodes_of_newick,
    nodes_of_obo,
    nodes_of_parents,
    nodes_of_paths,
    read_names,
    sample_numbers,
)


def _register(names: npt.NDArray[Any] | None) -> dict[str, int]:
    """Return the node of every name as text; ~v for a name that v shares with another node."""
    if names is None:
        return {}
    place: dict[str, int] = {}
    for v, name in enumerate(map(as_text, names.tolist())):
        if name and place.setdefault(name, v) != v:
            place[name] = ~v
    return place


def find_nodes(who: str, names: npt.NDArray[Any] | None, wanted: list[Any]) -> IntArray:
    """Find nodes by name; names are compared as text."""
    if names is None:
        msg = f"{who} got names of nodes, but the nodes of this taxonomy have no names."
        raise LinkwiseError(msg)
    place = _register(names)
    found = np.array([place.get(as_text(name), len(names)) for name in wanted], dtype=np.intp)
    unknown = [name for name, v in zip(wanted, found.tolist(), strict=True) if v == len(names)]
    if unknown:
        listed = f"{many(len(unknown), 'name')} not in the taxonomy: {some_of([repr(name) for name in unknown])}"
        msg = f"{who} got {listed}.\nHint: {did_you_mean(unknown[0], place, 'names are compared exactly, as text.')}"
        raise LinkwiseError(msg)
    shared = next((name for name, v in zip(wanted, found.tolist(), strict=True) if v < 0), None)
    if shared is not None:
        msg = (
            f"{who}: several nodes are called {shared!r}, expected a unique name.\n"
            "Hint: make the names differ, for example by writing the parent's name in front."
        )
        raise LinkwiseError(msg)
    return found


def place_by_column(who: str, names: npt.NDArray[Any] | None, items: Any) -> IntArray:
    """Place sample i on the node named ``items[i]``; samples with a missing value are left out."""
    column = read_column(f"{who}: items", items)
    code, distinct = number_values(f"{who}: items", column, ~is_missing(column))
    if not len(distinct):
        return code
    return np.where(code >= 0, find_nodes(who, names, distinct.tolist())[code], -1)


def place_by_ids(who: str, names: npt.NDArray[Any], is_leaf: BoolArray, ids: Any) -> tuple[IntArray, npt.NDArray[Any]]:
    """Place each sample on the node of the same name; every leaf must be a sample, but not every sample a node."""
    known = read_names(ids)
    text = list(map(str, known.tolist()))
    samples = set(text)
    if len(samples) < len(text):
        msg = f"{who}: ids contains values that look alike as text, expected a different name for each node."
        raise LinkwiseError(msg)
    strange = [str(name) for name in names[is_leaf].tolist() if str(name) not in samples]
    if strange:
        where = hint(
            command="give the leaves the names of the samples, or --skip-bad to leave these leaves out.",
            python="give the node of each sample with `items=`.",
        )
        are = "is" if len(strange) == 1 else "are"
        missing = f"{many(len(strange), 'leaf', 'leaves')} {are} not in {hint(command='the data', python='ids')}"
        source = hint(command="", python=f"{who}: ")
        shown = some_of([repr(name) for name in strange])
        msg = f"{source}{missing}: {shown}.\nHint: {did_you_mean(strange[0], text, where)}"
        raise LinkwiseError(msg)
    place = _register(names)
    here = [name for name in text if name in place]
    node = np.full(len(text), -1, dtype=np.intp)
    node[[i for i, name in enumerate(text) if name in place]] = find_nodes(who, names, here) if here else []
    return node, known


def place_leaves(who: str, names: npt.NDArray[Any], is_leaf: BoolArray) -> tuple[IntArray, npt.NDArray[Any] | None]:
    """Make every leaf a sample: names 0 to n - 1 are sample numbers, others become ids in their order of appearance."""
    leaf = np.flatnonzero(is_leaf)
    called = names[leaf].tolist()
    twice = first_repeat(map(str, called))
    if twice is not None:
        msg = f"{who}: the leaf name {twice!r} appears twice, expected each sample in one place."
        raise LinkwiseError(msg)
    number, ids = sample_numbers(called, None)
    node = np.empty(len(leaf), dtype=np.intp)
    node[number] = leaf
    return node, ids


class Readers(Nodes):
    """The part of `Taxonomy` that reads other notations."""

    @classmethod
    def from_newick(cls, text: str, ids: Any = None, *, items: Any = None, forest: bool = False) -> Self:
        """Read Newick text; names of inner nodes are kept, branch lengths are ignored.

        Parameters
        ----------
        text : str
            One tree, ended by a semicolon.
        ids : array-like of shape (n_samples,), optional
            The name of each sample. Without ``items``, a sample sits on the node that bears its name, be it a leaf or
            an inner node; every leaf must be a sample, a sample need not be in the tree. Without ``ids`` and ``items``
            the leaves are the samples: names 0 to n - 1 are sample numbers, other names become ids in their order.
        items : array-like of shape (n_samples,), optional
            The name of the node each sample sits on; None, NaN or "" for a sample that is not in the taxonomy.
            As in `Dendrogram.from_newick`, an underscore outside quotes may be a blank of these names, or of ids.
        forest : bool, default=False
            Read all trees of the text.

        Returns
        -------
        Taxonomy

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> tree = Taxonomy.from_newick("((cat,dog)mammal,carp);", ids=["carp", "cat", "dog", "mammal", "yeast"])
        >>> tree
        Taxonomy(4 of 5 samples: 5 nodes, 3 levels)
        >>> tree.triplets(minimal=True).describe(0)
        '#0 triplet(cat, dog | carp)'
        """
        wanted = None
        if items is not None:
            wanted = set(map(as_text, read_column("from_newick: items", items).tolist()))
        elif ids is not None:
            wanted = set(map(str, read_names(ids).tolist()))
        return cls._placed("from_newick", nodes_of_newick(text, forest, wanted), ids, items)

    @classmethod
    def from_nested(cls, nested: Any, ids: Any = None, *, items: Any = None) -> Self:
        """Read nested dictionaries, or JSON text of them.

        Parameters
        ----------
        nested : dict, list or str
            ``{name: children}``, where the children are another dictionary, a list of names and dictionaries, one
            name, or nothing; or dictionaries ``{"name": ..., "children": [...]}``. A list at the top holds several
            roots.
        ids, items
            As in `from_newick`.

        Returns
        -------
        Taxonomy

        Notes
        -----
        JSON is refused where it repeats a key, holds NaN, or is nested more deeply than Python's reader can go.

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> tree = Taxonomy.from_nested({"animal": ["sponge", {"mammal": ["cat", "dog"]}], "plant": "oak"})
        >>> tree.ids.tolist()
        ['sponge', 'cat', 'dog', 'oak']
        """
        return cls._placed("from_nested", nodes_of_nested(nested), ids, items)

    @classmethod
    def from_obo(
        cls, source: Any, items: Any = None, *, ids: Any = None, parents: str = "refuse", by: str = "id"
    ) -> Self:
        r"""Read the ``is_a`` hierarchy of an OBO ontology, such as the Gene Ontology.

        Parameters
        ----------
        source : str or Path
            The text of the file, or the path of a file. Obsolete terms and relations other than ``is_a`` are
            skipped.
        items, ids
            The term each sample is annotated with, and its name, as in `place`; without items there are no samples.
        parents : {"refuse", "first"}, default="refuse"
            What to do with a term of several parents: refuse the file, naming the term, or keep the first.
        by : {"id", "name"}, default="id"
            Names of the nodes: the ids or the names of the terms.

        Returns
        -------
        Taxonomy

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> text = "[Term]\nid: X:1\nname: thing\n\n[Term]\nid: X:2\nname: cat\nis_a: X:1 ! thing\n"
        >>> Taxonomy.from_obo(text, ["X:2", "X:2", "X:1"])
        Taxonomy(3 of 3 samples: 2 nodes, 2 levels)
        """
        nodes = nodes_of_obo(source, parents, by)
        return cls(nodes.parent, np.empty(0, dtype=np.intp), names=nodes.names)._with_column("from_obo", items, ids)

    @classmethod
    def from_parents(cls, child: Any, parent: Any, items: Any = None, *, ids: Any = None) -> Self:
        """Read two columns: every ``child`` is directly below the ``parent`` in the same row.

        Parameters
        ----------
        child, parent : array-like of shape (rows,)
            Names of nodes. A root has no row, or one without a parent (None, NaN or "").
        items, ids
            As in `place`; without items there are no samples.

        Returns
        -------
        Taxonomy

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> Taxonomy.from_parents(["cat", "dog"], ["mammal", "mammal"], ["cat", "cat", "dog", "mammal"])
        Taxonomy(4 of 4 samples: 3 nodes, 2 levels)
        """
        nodes = nodes_of_parents(child, parent)
        return cls(nodes.parent, np.empty(0, dtype=np.intp), names=nodes.names)._with_column("from_parents", items, ids)

    @classmethod
    def from_paths(cls, paths: Any, *, sep: str = "/", ids: Any = None) -> Self:
        """Read one path per sample, from the root down to the node the sample sits on.

        Parameters
        ----------
        paths : array-like of shape (n_samples,)
            Such as ``"Animal/Mammal/Cat"``; None, NaN or "" for a sample that is not in the taxonomy.
        sep : str, default="/"
            The text between two names.
        ids : array-like of shape (n_samples,), optional
            The name of each sample.

        Returns
        -------
        Taxonomy
            A node is called by its own name, without those above it; equal names in different places are two nodes.

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> tree = Taxonomy.from_paths(["animal/cat", "animal/cat", "animal", "plant", None])
        >>> tree.triplets(minimal=True).items.tolist()
        [[0, 1, 2], [0, 2, 3]]
        """
        nodes, node = nodes_of_paths(paths, sep)
        return cls(nodes.parent, node, names=nodes.names, ids=ids)

    @classmethod
    def from_levels(cls, columns: Any, *, unlabeled: Any = -1, ids: Any = None) -> Self:
        """Read one label column per level, from coarse to fine.

        Parameters
        ----------
        columns : sequence of array-likes, mapping, data frame or array of shape (n_samples, n_levels)
            Labels; the same label below two different coarser ones is two nodes.
        unlabeled : scalar, default=-1
            The value that means "not known", beside None, NaN and "". A sample sits on the node of its last known
            label.
        ids : array-like of shape (n_samples,), optional
            The name of each sample.

        Returns
        -------
        Taxonomy

        Notes
        -----
        One column of class labels is the two-level hierarchy of Liu, Zhang and Wang (KDD 2011, figure 1), and its
        minimal triplets are the (k - 1)(n - k) informative constraints of their section 5.2.

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> Taxonomy.from_levels([[0, 0, 0, 1, 1], ["a", "a", "b", "a", ""]])
        Taxonomy(5 of 5 samples: 5 nodes, 2 levels, 2 roots)
        """
        nodes, node = nodes_of_levels(columns, unlabeled)
        return cls(nodes.parent, node, names=nodes.names, ids=ids)

    @classmethod
    def from_dendrogram(cls, dendrogram: Dendrogram) -> Self:
        """Turn an existing clustering into a taxonomy: every sample sits on its own leaf.

        Examples
        --------
        >>> from linkwise import Dendrogram, Taxonomy
        >>> Taxonomy.from_dendrogram(Dendrogram(3, [3, 3, 4, 4, -1])).count_triples()
        2
        """
        require_dendrogram(dendrogram, "from_dendrogram")
        return cls(dendrogram.parent, np.arange(dendrogram.n_samples), ids=dendrogram.ids)

    def place(self, items: Any, *, ids: Any = None) -> Self:
        """Return the same nodes with other samples on them.

        Parameters
        ----------
        items : array-like of shape (n_samples,)
            The name of the node each sample sits on; None, NaN or "" for a sample that is not in the taxonomy.
        ids : array-like of shape (n_samples,), optional
            The name of each sample.

        Returns
        -------
        Taxonomy

        Examples
        --------
        >>> from linkwise import Taxonomy
        >>> Taxonomy.from_parents(["cat", "dog"], ["mammal", "mammal"]).place(["dog", None, "cat", "dog"]).node.tolist()
        [1, -1, 0, 1]
        """
        return self._with_column("place", items, ids)

    def _with_column(self, who: str, items: Any, ids: Any) -> Self:
        if items is None:
            if ids is None:
                return self
            msg = f"{who} got ids but no items, expected the node each sample sits on.\nHint: `items=[...]`."
            raise LinkwiseError(msg)
        return type(self)(self.parent, place_by_column(who, self.names, items), names=self.names, ids=ids)

    @classmethod
    def _placed(cls, who: str, nodes: NamedNodes, ids: Any, items: Any) -> Self:
        if items is not None:
            node = place_by_column(who, nodes.names, items)
            return cls(nodes.parent, node, names=nodes.names, ids=ids)
        if ids is None:
            node, ids = place_leaves(who, nodes.names, nodes.is_leaf)
        else:
            node, ids = place_by_ids(who, nodes.names, nodes.is_leaf, ids)
        return cls(nodes.parent, node, names=nodes.names, ids=ids)
