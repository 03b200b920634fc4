"""The dendrogram, the result of hierarchical engines: queries, cuts, and checks of constraints."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from linkwise._kernels.lca import below_many, query_many, splits_off
from linkwise._notebook import card
from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Constraints, Kind, require_constraints
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.result import _cuts
from linkwise.result._agreement import labels_in_agreement
from linkwise.result._small_branches import OutlierCut, cut_without_outliers, shortfalls
from linkwise.result._triplets import triplets_of
from linkwise.trees import Exchange, read_pairs


class Dendrogram(Exchange):
    """An immutable hierarchy of samples: one tree, or a forest where merging had to stop.

    The samples are the nodes 0 to ``n_samples - 1``; inner nodes follow in merge order, so children come
    before their parents. Nodes may have more than two children.

    Parameters
    ----------
    n_samples : int
        Number of samples.
    parent : array-like of shape (n_nodes,)
        Parent of every node; -1 for a root.
    raw_height : array-like of shape (n_nodes,), optional
        Height of every node as the method computed it, 0 for samples; inversions are allowed. By default the number of
        edges down to the deepest sample below.
    marked : array-like of nodes, optional
        The *marked cut*: disjoint subtrees that cover all samples, the clusters inside which must-links hold and across
        which cannot-links hold.
    ids : array-like of shape (n_samples,), optional
        The user's name for each sample.
    joins : array-like of nodes, optional
        Nodes at the top that are not merges but join the trees of a forest, as `joined` makes them.

    Attributes
    ----------
    height : ndarray of float64, shape (n_nodes,)
        Monotone heights: the larger of a node's raw height and its children's heights.
    n_nodes, n_roots : int
        How many nodes and separate trees there are; ``roots`` lists the latter.
    child_start, child : ndarray of intp
        Children of node v: ``child[child_start[v]:child_start[v + 1]]``, also ``children(v)``, in increasing order.
    leaf_count, depth : ndarray of intp, shape (n_nodes,)
        Samples below each node; edges up to the root.
    leaf_order : ndarray of intp, shape (n_samples,)
        Samples from left to right in a drawing without crossings.
    is_tree, is_binary, is_joined : bool
        Whether there is one root; whether every inner node has two children; whether some nodes are joins.
    n_trees : int
        How many trees merging left: the number of roots, or of joined trees.

    Notes
    -----
    **Cost** O(n) memory and time to build; no method recurses, so depth is not limited. **Guarantee** the arrays are
    read-only copies; derived arrays are computed at first use. Two dendrograms are equal when parents,
    raw heights, marks, joins and ids are.

    See Also
    --------
    linkwise.verify : check a result against constraints by independent code.

    Examples
    --------
    >>> from linkwise import Dendrogram
    >>> tree = Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [1.0, 2.0, 5.0])
    >>> tree
    Dendrogram(4 samples: 3 inner nodes, 1 tree, height 5)
    >>> tree.cut(n_clusters=3).tolist()
    [0, 0, 1, 2]
    >>> tree.cut(height=2.0).tolist()
    [0, 0, 1, 1]
    """

    def _repr_html_(self) -> str:
        from linkwise.result._tree_sketch import sketch

        return card(str(self), more=sketch(self))

    # -- queries -----------------------------------------------------------------------------------------------------

    def lca(self, i: Any, j: Any) -> Any:
        """Find the lowest node that has both ``i`` and ``j`` below it, or -1 when they are in different trees.

        Parameters
        ----------
        i, j : int or array-like of int
            Nodes (samples or inner); the two broadcast against each other.

        Returns
        -------
        int or ndarray of intp

        Notes
        -----
        **Cost** O(n) once per tree, then O(1) per pair, whatever the depth.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> tree = Dendrogram.from_merges(4, [(0, 1), (4, 2)], [1.0, 2.0])
        >>> tree.lca(0, [1, 2, 3]).tolist()
        [4, 5, -1]
        """
        first, second, shape = read_pairs(self, "lca", i, j)
        answer = query_many(self._lca, first, second).reshape(shape)
        return answer if shape else answer[()]

    def cophenetic(self, i: Any, j: Any) -> Any:
        """Return the monotone height at which ``i`` and ``j`` meet; ``inf`` when they are in different trees.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> tree = Dendrogram.from_merges(4, [(0, 1), (4, 2)], [1.0, 2.0])
        >>> tree.cophenetic(0, [0, 1, 2, 3]).tolist()
        [0.0, 1.0, 2.0, inf]
        """
        node = np.asarray(self.lca(i, j))
        answer = np.where(node >= 0, self.height[node], np.inf)
        return answer if answer.ndim else answer[()]

    def is_below(self, u: Any, v: Any) -> Any:
        """Return whether ``u`` lies in the subtree of ``v``; every node lies in its own subtree.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> tree = Dendrogram.from_merges(3, [(0, 1), (3, 2)], [1.0, 2.0])
        >>> tree.is_below([0, 2, 3], 3).tolist()
        [True, False, True]
        """
        first, second, shape = read_pairs(self, "is_below", u, v)
        answer = below_many(self._lca, first, second).reshape(shape)
        return answer if shape else answer[()]

    def satisfies(self, constraints: Constraints) -> BoolArray:
        """Return for every statement whether it holds in the hierarchy.

        A triplet ab|c holds when a and b meet strictly below where either meets c (or c is in another tree). A
        must-link or group holds inside a marked cluster, a cannot-link across two; without marks, each tree is one.

        Parameters
        ----------
        constraints : Constraints
            Statements about the same samples. Rules about clusters are not judged.

        Returns
        -------
        ndarray of bool, shape (constraints.n_statements,)

        Notes
        -----
        **Cost** O(n) once per tree, then O(1) per statement.

        Examples
        --------
        >>> from linkwise import Constraints, Dendrogram
        >>> tree = Dendrogram.from_merges(3, [(0, 1), (3, 2)], [1.0, 2.0], marked=[3, 2])
        >>> links = {"must_link": [(0, 1)], "cannot_link": [(0, 1)]}
        >>> tree.satisfies(Constraints.build(3, **links, triplets=[(0, 1, 2), (0, 2, 1)])).tolist()
        [True, False, True, False]
        """
        require_constraints(constraints, "satisfies", self.n_samples, of="the tree")
        a, b, c = (np.ascontiguousarray(column) for column in constraints.items.T)
        triplet = constraints.kind == Kind.TRIPLET
        holds = np.empty(constraints.n_statements, dtype=np.bool_)
        holds[triplet] = splits_off(self._lca, a[triplet], b[triplet], c[triplet])
        groups = constraints.groups
        holds[groups.statement] = groups.hold(constraints.kind[groups.statement], self._mark_above)
        pair = constraints.kind <= Kind.CANNOT_LINK
        together = self._mark_above[a[pair]] == self._mark_above[b[pair]]
        holds[pair] = together == (constraints.kind[pair] == Kind.MUST_LINK)
        return holds

    def triplets(self, *, minimal: bool = False) -> Constraints:
        """List the triplets that the tree displays as constraints; more than five million are refused.

        Parameters
        ----------
        minimal : bool, default=False
            Instead of every triplet, list only (children of v - 1) x (siblings of v) for each inner node v below
            another: n - 2 for a binary tree. They determine the hierarchy.

        Returns
        -------
        Constraints

        Notes
        -----
        **Guarantee** BUILD on either set gives the hierarchy back; a many-way node stays one. Roots of a forest count
        as siblings, as in `satisfies`. A tree's triplets need not follow from the statements it was built from: never
        report them as implied. The n - 2 for binary trees are those of [1]_, section 4.3.

        References
        ----------
        .. [1] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with Relative Constraints", KDD 2011.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> tree = Dendrogram.from_newick("(((0,1),2),3);")
        >>> tree.triplets(minimal=True).items.tolist()
        [[0, 1, 2], [0, 2, 3]]
        >>> tree.triplets().n_statements
        4
        """
        return triplets_of(self, minimal)

    # -- cutting -----------------------------------------------------------------------------------------------------

    def cut(self, *, n_clusters: int | None = None, height: float | None = None) -> IntArray:
        """Cut the hierarchy into flat clusters, by their number or at a height.

        Parameters
        ----------
        n_clusters : int, optional
            How many clusters, from ``n_roots`` to ``n_samples``. The latest merges are undone first; a node of several
            children gives them up one at a time, the last first.
        height : float, optional
            Each highest node whose monotone height is at most this is a cluster.

        Returns
        -------
        ndarray of intp, shape (n_samples,)
            Labels 0 to k - 1, numbered by first appearance.

        Notes
        -----
        **Cost** O(n). **Guarantee** exactly ``n_clusters`` clusters whatever ties, inversions and duplicates; a cut
        with more clusters refines one with fewer, and so does a lower one; no cut breaks a triplet that the tree
        displays (if c is with a or b, all three are together).

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> tree = Dendrogram.from_newick("((0:1,1:1):3,(2:2,3:2):2);")
        >>> tree.cut(n_clusters=3).tolist(), tree.cut(height=2).tolist()
        ([0, 0, 1, 2], [0, 0, 1, 1])
        """
        if n_clusters is not None and height is None:
            return _cuts.labels_at_number(self, n_clusters)
        if height is not None and n_clusters is None:
            return _cuts.labels_at_height(self, height)
        got = "neither" if n_clusters is None else "both"
        msg = f"cut got {got} of n_clusters and height, expected exactly one.\nHint: `cut(n_clusters=3)`."
        raise LinkwiseError(msg)

    def cut_marked(self) -> IntArray:
        """Label the samples by the marked cut, the clusters in which must-links and cannot-links hold.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> Dendrogram.from_merges(3, [(0, 1), (3, 2)], [1.0, 2.0], marked=[3, 2]).cut_marked().tolist()
        [0, 0, 1]
        """
        return _cuts.labels_of_marks(self)

    def cut_constrained(self, constraints: Constraints, n_clusters: int) -> IntArray:
        """Cut into ``n_clusters`` clusters, splitting first the nodes that constraints require to be split.

        From the roots, the next node to split is one that has a cannot-link to separate at or below it; then one that
        separates c from a and b of a triplet ab|c; then any other; then one that separates a from b of a triplet; last
        one that separates a must-link. Among equals, the latest merge.

        Parameters
        ----------
        constraints : Constraints
            Statements about the same samples; weights play no role, and neither do triplets the tree breaks.
        n_clusters : int
            How many clusters, from ``n_roots`` to ``n_samples``.

        Returns
        -------
        ndarray of intp, shape (n_samples,)

        Notes
        -----
        **Cost** O(n + m + k log k). **Guarantee** exactly ``n_clusters`` clusters; a cut with more clusters refines one
        with fewer; given the complete informative triplets of a labeling and a tree that displays them, the cut at its
        number of classes returns the classes. **Departure from the paper** ReCon's cut by merge order does not.

        Examples
        --------
        >>> from linkwise import Constraints, Dendrogram
        >>> tree = Dendrogram.from_merges(4, [(0, 1), (4, 2), (5, 3)], [1.0, 2.0, 3.0])
        >>> tree.cut_constrained(Constraints.build(4, cannot_link=[(0, 1)]), 4).tolist()
        [0, 1, 2, 3]
        """
        require_constraints(constraints, "cut_constrained", self.n_samples, of="the tree")
        return _cuts.labels_by_knowledge(self, constraints, n_clusters)

    def cut_agreeing(self, constraints: Constraints, n_clusters: int | None = None) -> IntArray:
        """Choose the branches that agree best with constraints as clusters, each at its own height.

        The cut breaks the fewest hard statements. Of such cuts it shows the most hard triplets (a and b together, c in
        another cluster), then the greatest weight of soft statements; then it has the fewest clusters, or with
        ``n_clusters`` undoes the latest merges.

        Parameters
        ----------
        constraints : Constraints
            Statements about the same samples; those of weight ``inf`` are hard.
        n_clusters : int, optional
            How many clusters, from ``n_roots`` to ``n_samples``. By default as few as agree best.

        Returns
        -------
        ndarray of intp, shape (n_samples,)
            Labels 0 to k - 1, numbered by first appearance.

        Raises
        ------
        LinkwiseError
            There is no cut with ``n_clusters`` clusters, or a statement leaves a choice between pairs.

        See Also
        --------
        cut_constrained : a finer cut refines a coarser one.

        Notes
        -----
        A node of several children gives them up one at a time, the last first, as in `cut`. A broken group counts once
        for each cluster beyond the first that holds its samples if they belong together, and for each sample that
        shares its cluster with one before it if they belong apart. No flat cut breaks a triplet that the tree displays;
        others play no role.

        **Cost** O(n + m); with ``n_clusters`` O(n k + m) time and up to 4 n k bytes. **Guarantee** the cut is optimal.
        So if some cut of the tree, with ``n_clusters`` clusters if given, breaks no hard statement, this one breaks
        none; without statements it is ``cut(n_clusters=...)``, or each tree is one cluster. Weights are added with 15
        digits of the largest, fewer for more than a thousand of them. **Departure from** [1]_ hard statements, weights,
        groups, triplets and a number of clusters; every sample has a cluster, none is noise; after the statements the
        number of clusters decides, not their stability.

        References
        ----------
        .. [1] R. J. G. B. Campello, D. Moulavi, A. Zimek, J. Sander, "A Framework for Semi-Supervised and Unsupervised
           Optimal Extraction of Clusters from Hierarchies", Data Mining and Knowledge Discovery 27, 2013.

        Examples
        --------
        >>> from linkwise import Constraints, Dendrogram
        >>> tree = Dendrogram.from_merges(5, [(0, 1), (5, 2), (3, 4), (6, 7)], [1.0, 3.0, 4.0, 9.0])
        >>> said = Constraints.build(5, must_link=[(3, 4)], cannot_link=[(1, 2)])
        >>> tree.cut_agreeing(said).tolist()
        [0, 0, 1, 2, 2]
        >>> tree.cut(height=4.0).tolist(), tree.cut(height=2.0).tolist()  # no height does this
        ([0, 0, 0, 1, 1], [0, 0, 1, 2, 3])
        """
        require_constraints(constraints, "cut_agreeing", self.n_samples, of="the tree")
        return labels_in_agreement(self, constraints, n_clusters)

    def cut_outliers(
        self,
        n_clusters: int,
        *,
        min_size: int,
        constraints: Constraints | None = None,
        X: Any = None,
        exact: bool = False,
    ) -> OutlierCut:
        """Cut into clusters of at least ``min_size`` samples, then give smaller branches to the nearest allowed one.

        Parameters
        ----------
        n_clusters : int
            How many clusters.
        min_size : int
            Branches with fewer samples are ignored while cutting. Lowered, with a warning, when there are not enough
            branches of that size.
        constraints : Constraints, optional
            Statements that placing a branch must not break; they also decide the order of splits, as in
            `cut_constrained`.
        X : array-like of shape (n_samples, n_features), optional
            Nearest then means the closest centroid. By default it means the lowest meeting point in the tree, ties
            going to the cluster of the lowest sample.
        exact : bool, default=False
            Count branches that no cluster can take among the ``n_clusters``, so that there are exactly as many. For
            these, fewer large clusters are made; where no number of them fits, ``min_size`` is lowered, with a warning.
            By default such branches come on top.

        Returns
        -------
        OutlierCut
            ``labels``, ``n_clusters``, the nodes ``apart`` that no cluster could take, and ``min_size_used``.

        Notes
        -----
        **Cost** O(n + m) and, for each small branch, O(k) distances; up to log(k) log(min_size) times that if
        ``exact``. **Guarantee** placing a branch breaks no cannot-link and no triplet's trio (if c is with a or b, all
        three are together); it follows its must-links. A tree (not a forest) always has an exact cut; where there is
        none, a warning names the number reached. **Departure from the paper** ReCon, section 4.2.1, takes the nearest
        cluster even where that breaks a constraint.

        Examples
        --------
        >>> from linkwise import Dendrogram
        >>> tree = Dendrogram.from_newick("(((0:1,1:1):1,(2:1,3:1):1):5,4:7);")
        >>> tree.cut_outliers(2, min_size=2).labels.tolist()
        [0, 0, 1, 1, 0]
        """
        if constraints is not None:
            require_constraints(constraints, "cut_outliers", self.n_samples, of="the tree")
        found = cut_without_outliers(self, n_clusters, min_size, constraints, X, exact)
        for words in shortfalls(found, n_clusters, min_size, name="min_size", exact=exact):
            warnings.warn(f"cut_outliers: {words}", LinkwiseWarning, stacklevel=2)
        return found
