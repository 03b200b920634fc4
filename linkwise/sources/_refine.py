"""A known hierarchy refined by a clustering of more samples: its classes found in the tree, and new branches named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import issparse

from linkwise._messages import many
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import read_count, read_number
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram, require_dendrogram
from linkwise.sources._taxonomy import Taxonomy


@dataclass(frozen=True, eq=False)
class Refinement:
    """A known hierarchy with more samples on its nodes, and with branches that were not known.

    Attributes
    ----------
    taxonomy : Taxonomy
        The known nodes, with their numbers and names, then the new branches. Samples of the known hierarchy stay where
        they were; a sample that belongs nowhere has node -1.
    found_at : ndarray of intp, shape (n_known_nodes,)
        The node of the tree that each known class was found at; -1 for one without samples, or whose place another
        class has.
    f : ndarray of float64, shape (n_known_nodes,)
        F of each class and its place in the tree, on the samples of the known hierarchy; NaN without a place.
    terms : tuple of tuple of str
        Of each new branch the features that set it apart from all other samples, strongest first.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Taxonomy
    >>> from linkwise.engines import agglomerate
    >>> from linkwise.sources import refine
    >>> X = np.array([[9, 0, 0], [8, 1, 0], [0, 9, 0], [1, 8, 0], [0, 0, 8], [0, 0, 9], [1, 0, 9], [7, 0, 0]])
    >>> known = Taxonomy.from_paths(["all/cats", "all/cats", "all/dogs", "all/dogs", None, None, None, None])
    >>> found = refine(agglomerate(X, method="average"), known, X, names=["purr", "bark", "sing"])
    >>> found.paths()
    ['all/cats', 'all/cats', 'all/dogs', 'all/dogs', 'all/sing', 'all/sing', 'all/sing', 'all/cats']
    >>> found.n_new, found.terms
    (1, (('sing',),))
    """

    taxonomy: Taxonomy
    found_at: IntArray
    f: FloatArray
    terms: tuple[tuple[str, ...], ...]

    @property
    def n_new(self) -> int:
        """Number of new branches."""
        return len(self.terms)

    def paths(self, sep: str = "/") -> list[str | None]:
        """Write the place of each sample as names from the root down; None for a sample that belongs nowhere.

        Parameters
        ----------
        sep : str, default="/"
            The text between two names.

        Returns
        -------
        list of str or None
        """
        tree = self.taxonomy
        written: dict[int, str] = {}
        for v in np.argsort(tree.depth, kind="stable").tolist():
            above = int(tree.parent[v])
            written[v] = (f"{written[above]}{sep}" if above >= 0 else "") + tree.node_name(v)
        return [None if v < 0 else written[v] for v in tree.node.tolist()]


def refine(
    tree: Dendrogram,
    known: Taxonomy,
    X: Any = None,
    *,
    names: Any = None,
    min_size: int = 2,
    n_terms: int = 3,
    chance: float = 0.05,
) -> Refinement:
    """Put all samples of a tree onto a known hierarchy of some of them, and propose branches for what fits nowhere.

    Parameters
    ----------
    tree : Dendrogram
        A clustering of all samples, such as ``dendrogram_`` of `linkwise.engines.BiiHAC` fitted with the triplets of
        ``known``.
    known : Taxonomy
        The known hierarchy: some samples on its nodes, all others at -1.
    X : array-like or sparse array of shape (n_samples, n_features), optional
        Features that name new branches; without them branches are called new 1, new 2, ...
    names : array-like of shape (n_features,) or a vectorizer, optional
        What the features are called; default: their numbers.
    min_size : int, default=2
        Fewest samples of a new branch. Smaller ones sit on the class they hang below.
    n_terms : int, default=3
        Most features in a name.
    chance : float, default=0.05
        A part inside a class that holds none of its known samples is a new branch beside the class, if among known
        samples drawn evenly some such part of the class would be without any at most this often; 0 for no such branch.

    Returns
    -------
    Refinement

    Raises
    ------
    LinkwiseError
        The two are about different numbers of samples, the known hierarchy has no samples, or names do not match X.

    Notes
    -----
    From the top down, each class takes the node below the place of its parent with the highest F on known samples. The
    nodes of a chain that hold the same known samples have the same F: of these the one that stays longest unmerged is
    taken, then the lowest. A root takes the same way the whole tree as its choice, and the only root takes all of it.
    Of two classes at one node that with the higher F keeps it, then the lower-numbered. A sample belongs to the class
    of the lowest place above it; a part of the tree without known samples that hangs above the places of all classes
    below is a new branch of the class it hangs in. A part of s samples inside a class of N, of which K are known, is
    without any of them with probability C(N - s, K) / C(N, K) if these are drawn evenly. There are at most N // s such
    parts; where the product is at most ``chance``, the part is not the class as it is known: a branch beside it.

    **Cost** O(classes x nodes) time, O(nodes) memory. **Guarantee** every known sample keeps its node, and the
    hierarchy of known classes is unchanged. **Departure from** Bade and Nürnberger (2009), figure 3: the paper draws
    the task and leaves open how the tree becomes a hierarchy again; the rules are ours. Branches are proposed one level
    deep.

    See Also
    --------
    linkwise.metrics.class_f : the best cluster of each class, without regard for the hierarchy.

    Examples
    --------
    >>> from linkwise import Dendrogram, Taxonomy
    >>> from linkwise.sources import refine
    >>> tree = Dendrogram.from_newick("((0,1,4),(2,3));")
    >>> refine(tree, Taxonomy.from_paths(["a", "a", "b", "b", None])).paths()
    ['a', 'a', 'b', 'b', 'a']
    """
    require_dendrogram(tree, "refine")
    if not isinstance(known, Taxonomy):
        msg = f"refine: known is {type(known).__name__}, expected a Taxonomy.\nHint: `Taxonomy.from_paths(folders)`."
        raise LinkwiseError(msg)
    if known.n_samples != tree.n_samples:
        msg = f"refine: the tree has {many(tree.n_samples, 'sample')}, the known hierarchy {known.n_samples:,}."
        raise LinkwiseError(msg)
    if not len(known.items):
        msg = "refine: no sample is in the known hierarchy.\nHint: place samples on it with `place`."
        raise LinkwiseError(msg)
    min_size = read_count(min_size, "min_size", "refine", low=1)
    n_terms = read_count(n_terms, "n_terms", "refine", low=1)
    chance = read_number(chance, "chance", "refine")
    called = None if X is None else _called(X, names)
    found_at, f = _find_classes(tree, known)
    node, branches = _place_samples(tree, known, found_at, min_size, chance)
    members = [np.flatnonzero(node == known.n_nodes + b) for b in range(len(branches))]
    terms = tuple(_terms(X, called, own, n_terms) for own in members)
    old = [known.node_name(v) for v in range(known.n_nodes)]
    made = Taxonomy(
        np.append(known.parent, branches).astype(np.intp),
        node,
        names=_new_names(old, terms),
        ids=known.ids if known.ids is not None else tree.ids,
    )
    return Refinement(made, found_at, f, terms)


def _find_classes(tree: Dendrogram, known: Taxonomy) -> tuple[IntArray, FloatArray]:
    """The node of the tree for each class, and its F on known samples."""
    above, m = tree.parent, len(tree.parent)
    labeled = _counts_below(tree, known.node >= 0)
    stays = np.where(above >= 0, tree.height[above] - tree.height, np.inf)
    under = _ancestors(known)
    found_at, f = np.full(known.n_nodes, -1, dtype=np.intp), np.full(known.n_nodes, np.nan)
    only_root = int((known.parent < 0).sum()) == 1 and int((above < 0).sum()) == 1
    for c in np.argsort(known.depth, kind="stable").tolist():
        samples = np.isin(known.node, np.flatnonzero(under[:, c]))
        if not samples.any():
            continue
        inside = _counts_below(tree, samples)
        score = 2.0 * inside / (labeled + int(samples.sum()))
        allowed = np.ones(m, dtype=np.bool_)
        p = int(known.parent[c])
        while p >= 0 and found_at[p] < 0:
            p = int(known.parent[p])
        if p >= 0:
            allowed = _below(tree, int(found_at[p]))
        if p < 0 and only_root:
            best = int(np.flatnonzero(above < 0)[0])
        else:
            candidates = np.flatnonzero(allowed)
            best = int(candidates[np.lexsort((candidates, -stays[candidates], -score[candidates]))[0]])
        found_at[c], f[c] = best, score[best]
    for c in range(known.n_nodes):  # of two at one node the better stays; a class above another may share its node
        rivals = np.flatnonzero((found_at == found_at[c]) & (found_at[c] >= 0))
        rivals = rivals[~under[rivals, c] & ~under[c, rivals]]
        if any((-f[r], r) < (-f[c], c) for r in rivals.tolist()):
            found_at[c], f[c] = -1, np.nan
    return found_at, f


def _place_samples(
    tree: Dendrogram, known: Taxonomy, found_at: IntArray, min_size: int, chance: float
) -> tuple[IntArray, list[int]]:
    """The node of each sample, and the class that each new branch hangs below (-1: a new root)."""
    n, above = tree.n_samples, tree.parent
    holder = np.full(len(above), -1, dtype=np.intp)
    for c in np.argsort(known.depth, kind="stable").tolist():  # a class below another takes a node they share
        if found_at[c] >= 0:
            holder[found_at[c]] = c
    has_place = holder >= 0
    places = _counts_below_nodes(tree, has_place)
    labeled = _counts_below(tree, known.node >= 0)
    order = np.argsort(-np.arange(len(above)))  # parents before children
    for v in order.tolist():
        if holder[v] < 0 and above[v] >= 0:
            holder[v] = holder[above[v]]
    free = (labeled == 0) & ((above < 0) | (labeled[above] > 0))  # the largest parts without known samples
    # a part beside a place of a class below; parts inside a class without such a place belong to it
    beside = free & ((above < 0) | (places[above] > has_place[above]))
    inside = np.flatnonzero(free & ~beside & (holder >= 0) & (tree.leaf_count >= min_size))
    node = holder[:n].copy()
    branches: list[int] = []
    hangs_below = {v: int(holder[v]) for v in np.flatnonzero(beside & (tree.leaf_count >= min_size)).tolist()}
    outside = np.zeros(n, dtype=np.bool_)
    for v in np.flatnonzero(beside).tolist():
        outside |= _below(tree, v)[:n]
    hangs_below |= _strange_parts(tree, known, inside, holder, outside, chance)
    for v in sorted(hangs_below, reverse=True):
        node[_below(tree, v)[:n]] = known.n_nodes + len(branches)
        branches.append(hangs_below[v])
    node[known.items] = known.node[known.items]
    return node, branches


def _strange_parts(
    tree: Dendrogram,
    known: Taxonomy,
    inside: IntArray,
    holder: IntArray,
    outside: npt.NDArray[np.bool_],
    chance: float,
) -> dict[int, int]:
    """Parts inside classes that are too large to hold no known sample by chance, with the class each hangs below."""
    own = np.flatnonzero(~outside & (holder[: tree.n_samples] >= 0))
    size = np.bincount(holder[own], minlength=known.n_nodes)
    told = np.bincount(holder[own[known.node[own] >= 0]], minlength=known.n_nodes)
    several = int((known.parent < 0).sum()) > 1
    found: dict[int, int] = {}
    for v in inside.tolist():
        c, part = int(holder[v]), int(tree.leaf_count[v])
        drawn = np.arange(told[c])
        without = float(np.prod((size[c] - part - drawn) / (size[c] - drawn)))
        if chance > 0 and without * (size[c] // part) <= chance:
            found[v] = int(known.parent[c]) if known.parent[c] >= 0 or several else c
    return found


def _counts_below(tree: Dendrogram, samples: npt.NDArray[np.bool_]) -> IntArray:
    """How many of some samples are below each node."""
    flags = np.zeros(len(tree.parent), dtype=np.bool_)
    flags[: tree.n_samples] = samples
    return _counts_below_nodes(tree, flags)


def _counts_below_nodes(tree: Dendrogram, flags: npt.NDArray[np.bool_]) -> IntArray:
    """How many flagged nodes are at or below each node."""
    count = flags.astype(np.intp)
    for v, p in enumerate(tree.parent.tolist()):  # children have lower numbers
        if p >= 0:
            count[p] += count[v]
    return count


def _below(tree: Dendrogram, node: int) -> npt.NDArray[np.bool_]:
    """A mask of the nodes at or below one."""
    inside = np.zeros(len(tree.parent), dtype=np.bool_)
    inside[node] = True
    for v in range(node - 1, -1, -1):
        p = tree.parent[v]
        inside[v] = p >= 0 and inside[p]
    return inside


def _ancestors(known: Taxonomy) -> npt.NDArray[np.bool_]:
    """Entry (v, c): whether node v is c or below it."""
    under = np.eye(known.n_nodes, dtype=np.bool_)
    for v in np.argsort(known.depth, kind="stable").tolist():
        if known.parent[v] >= 0:
            under[v] |= under[known.parent[v]]
    return under


def _called(X: Any, names: Any) -> list[str]:
    """The names of the features."""
    d = np.shape(X)[1]
    if hasattr(names, "get_feature_names_out"):
        names = names.get_feature_names_out()
    called = [str(name) for name in (range(d) if names is None else names)]
    if len(called) != d:
        msg = f"refine: {len(called):,} names for {many(d, 'feature')}."
        raise LinkwiseError(msg)
    return called


def _terms(X: Any, called: list[str] | None, own: IntArray, n_terms: int) -> tuple[str, ...]:
    """The features whose mean in a branch is most above that in all other samples."""
    if called is None:
        return ()
    rest = np.setdiff1d(np.arange(np.shape(X)[0]), own)
    table = X if issparse(X) else np.asarray(X)
    lead = np.asarray(table[own].mean(axis=0)).ravel()
    if len(rest):
        lead = lead - np.asarray(table[rest].mean(axis=0)).ravel()
    best = np.argsort(-lead, kind="stable")[:n_terms]
    return tuple(called[t] for t in best.tolist() if lead[t] > 0)


def _new_names(old: list[str], terms: tuple[tuple[str, ...], ...]) -> list[str]:
    """All names: the old ones, and for each branch its terms, or a number; no new name repeats another."""
    taken, made = set(old), []
    for number, words in enumerate(terms, start=1):
        name = " ".join(words) or f"new {number}"
        while name in taken:
            name += " *"
        taken.add(name)
        made.append(name)
    return old + made
