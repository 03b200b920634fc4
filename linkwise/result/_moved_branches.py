"""Clusters and branches of a tree: the top nodes of clusters, and samples outside the branch of their cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._messages import in_words, many
from linkwise._typing import BoolArray, IntArray
from linkwise.result._kernels_cuts import cluster_tops
from linkwise.trees import nearest_flagged

if TYPE_CHECKING:
    from linkwise.trees import Tree


@dataclass(frozen=True, eq=False)
class Moved:
    """Samples outside the branch of their cluster, because their branch was given to that cluster.

    Attributes
    ----------
    samples : ndarray of intp, shape (n_moved,)
        The samples, in increasing order.
    branch : ndarray of intp, shape (n_moved,)
        The branch of each: a node of the tree all of whose samples were given to the same cluster.
    cluster : ndarray of intp, shape (n_moved,)
        The cluster it was given to.
    home : dict of int to int
        For every cluster the number of samples in its branch.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import ReCon
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0], [40.0]])
    >>> model = ReCon(2, min_cluster_size=2).fit(X)
    >>> model.labels_.tolist(), model.moved_.samples.tolist(), model.moved_.cluster.tolist()
    ([0, 0, 0, 1, 1, 1, 1], [6], [1])
    >>> print(model.moved_)
    1 sample in 1 branch is outside the branch of its cluster: cluster 1 is not a branch of the tree.
    """

    samples: IntArray
    branch: IntArray
    cluster: IntArray
    home: dict[int, int]

    def __len__(self) -> int:
        return len(self.samples)

    @property
    def n_branches(self) -> int:
        """Number of branches that were given to another cluster."""
        return len(np.unique(self.branch))

    @property
    def clusters(self) -> list[int]:
        """The clusters that are not branches of the tree."""
        return [int(label) for label in np.unique(self.cluster)]

    def __str__(self) -> str:
        if not len(self):
            return "Every cluster is a branch of the tree."
        verb, whose = ("is", "its") if len(self) == 1 else ("are", "their")
        return f"{self.counted()} {verb} outside the branch of {whose} cluster: {self.listed()}."

    def counted(self) -> str:
        """Count samples and branches, as in ``5 samples in 2 branches``."""
        return f"{many(len(self), 'sample')} in {many(self.n_branches, 'branch')}"

    def listed(self) -> str:
        """List the clusters, as in ``clusters 1 and 4 are not branches of the tree``."""
        few = [str(label) for label in self.clusters]
        if len(few) == 1:
            return f"cluster {few[0]} is not a branch of the tree"
        if len(few) > 8:
            return f"{len(few):,} clusters are not branches of the tree"
        return f"clusters {in_words(few)} are not branches of the tree"


def samples_outside(tree: Tree, labels: Any) -> Moved:
    """Find the samples outside the branch of their cluster, which is the largest branch that is all in the cluster.

    Children of one node that are in one cluster count as one branch: a many-way node gives up children one at a time.
    """
    kinds, given = np.unique(np.asarray(labels), return_inverse=True)
    given = given.astype(np.intp)
    holder, _ = nearest_flagged(tree.parent, cluster_tops(tree.parent, given))
    holder = holder[: tree.n_samples]
    tops, first = np.unique(holder, return_index=True)
    at_home = are_home(tree.parent[tops], tree.leaf_count[tops], given[first])
    out = np.flatnonzero(~at_home[np.searchsorted(tops, holder)])
    inside = np.bincount(given[first][at_home], weights=tree.leaf_count[tops[at_home]], minlength=len(kinds))
    held = {int(kind): int(size) for kind, size in zip(kinds.tolist(), inside.tolist(), strict=True)}
    return Moved(out, holder[out], np.asarray(labels)[out].astype(np.intp), held)


def are_home(above: IntArray, size: IntArray, label: IntArray) -> BoolArray:
    """Return whether branches, each all in one cluster, are the largest of their cluster.

    ``above`` is the node above each; children of one node that are in one cluster count as one branch.
    """
    label = np.unique(label, return_inverse=True)[1]
    family = np.where(above >= 0, above, -1 - np.arange(len(above)))
    _, of = np.unique(np.stack([family, label]), axis=1, return_inverse=True)
    of = of.ravel()
    total = np.bincount(of, weights=size)
    order = np.lexsort((-of, total[of]))
    home = np.zeros(int(label.max(initial=-1)) + 1, dtype=np.intp)
    home[label[order]] = of[order]  # of repeated targets the last one wins: the largest, of equals the first
    return np.asarray(of == home[label])
