"""The cannot-link graph in connected components that can be assigned independently, and must-linked samples as one row.

The graph is a list of cliques: a cannot-link is a clique of two samples, a group apart a clique of all its samples.
Groups are not written out as pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._sparse import is_sparse
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Groups, run_starts
from linkwise.problem.statements._soft_pairs import pairs_of_groups

# The shape of a component decides how it is solved.
CLIQUE, TREE, OTHER = 0, 1, 2


class Apart(NamedTuple):
    """The cannot-link graph as arrays for kernels.

    Samples are numbered among those that are named: place p is sample ``node[p]``. Clique q holds the places
    ``member[start[q]:start[q + 1]]``; place p is in the cliques ``clique[first[p]:first[p + 1]]``. Part t is made of
    the places ``place[begin[t]:begin[t + 1]]`` and has the shape ``shape[t]``.
    """

    node: IntArray
    start: IntArray
    member: IntArray
    first: IntArray
    clique: IntArray
    begin: IntArray
    place: IntArray
    shape: IntArray

    @property
    def n_places(self) -> int:
        """How many samples are named."""
        return len(self.node)

    def pairs(self) -> IntArray:
        """Return the pairs of samples that cannot be linked, smaller sample first; cliques are written out."""
        cliques = Groups(np.arange(len(self.start) - 1), self.start, self.member)
        return np.asarray(np.unique(np.sort(self.node[pairs_of_groups(cliques)], axis=1), axis=0), dtype=np.intp)

    def broken(self, labels: IntArray) -> int:
        """Count cliques in which two places share a label."""
        owner = np.repeat(np.arange(len(self.start) - 1), np.diff(self.start))
        key = np.stack([owner, labels[self.member]])
        order = np.lexsort(key[::-1])
        owner, label = key[:, order]
        twice = (owner[1:] == owner[:-1]) & (label[1:] == label[:-1])
        return len(np.unique(owner[1:][twice]))


def keep_apart(n_nodes: int, pairs: IntArray, groups: Groups) -> Apart:
    """Gather cannot-links and groups apart between ``n_nodes`` samples, after must-linked ones became one.

    No pair lies within one sample; repeats are dropped.
    """
    two = groups.sizes == 2
    owner = groups.owner
    pairs = np.concatenate([pairs, groups.member[two[owner]].reshape(-1, 2)])
    low, high = pairs.min(axis=1, initial=n_nodes), pairs.max(axis=1, initial=0)
    key = np.unique(low * n_nodes + high)
    large = groups.pick(~two) if two.any() else groups
    ends = np.stack(np.divmod(key, max(n_nodes, 1)), axis=1).ravel()
    named = np.concatenate([ends, large.member]).astype(np.intp)
    node, member = np.unique(named, return_inverse=True)
    member = member.reshape(-1).astype(np.intp)
    start = np.concatenate([np.arange(0, 2 * len(key), 2), 2 * len(key) + large.start]).astype(np.intp)
    size = np.diff(start)
    by_place = np.argsort(member, kind="stable")
    first = run_starts(member, len(node))
    which = np.repeat(np.arange(len(size)), size)
    # a clique is connected through its first member
    part = components(len(node), np.column_stack([member[start[:-1]][which], member]).astype(np.intp))
    n_parts = int(part.max(initial=-1)) + 1
    begin = run_starts(part, n_parts)
    shape = _shapes(part[member[start[:-1]]], size, np.diff(begin))
    place = np.argsort(part, kind="stable").astype(np.intp)
    return Apart(node.astype(np.intp), start, member, first, which[by_place].astype(np.intp), begin, place, shape)


def _shapes(part: IntArray, clique_size: IntArray, part_size: IntArray) -> IntArray:
    """Tell parts in which all are apart from all, parts without cycles, and the others."""
    n_parts = len(part_size)
    largest = np.zeros(n_parts, dtype=np.intp)
    np.maximum.at(largest, part, clique_size)
    links = np.bincount(part, minlength=n_parts)
    whole = (largest == part_size) | ((largest == 2) & (links == part_size * (part_size - 1) // 2))
    tree = (largest == 2) & (links == part_size - 1)
    return np.where(whole, CLIQUE, np.where(tree, TREE, OTHER)).astype(np.intp)


# -- must-linked samples as one ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Contracted:
    """Samples after hard must-links were contracted; made by `Problem.contract`.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_nodes, n_features)
        One row for each group of must-linked samples: their mean.
    weight : ndarray of float64, shape (n_nodes,)
        Number of samples in each group.
    group : ndarray of intp, shape (n_samples,)
        The row of each sample, numbered by first appearance.
    apart : Apart
        The cannot-link graph between the rows.
    """

    X: Any
    weight: FloatArray
    group: IntArray
    apart: Apart

    @property
    def n_nodes(self) -> int:
        """Number of rows."""
        return len(self.weight)


def mean_rows(X: Any, group: IntArray, size: FloatArray) -> Any:
    """Return the mean row of each group; rows that are alone in their group are copied."""
    from scipy.sparse import csr_array

    if is_sparse(X):
        share = csr_array((1.0 / size[group], (group, np.arange(len(group)))))
        return csr_array(share @ X)
    rows = np.array(X[np.unique(group, return_index=True)[1]])
    shared = np.flatnonzero(size[group] > 1)
    if len(shared):
        owner, place = np.unique(group[shared], return_inverse=True)
        add = csr_array((np.ones(len(shared)), (place.reshape(-1), np.arange(len(shared)))))
        rows[owner] = (add @ X[shared]) / size[owner, None]  # adds one sample after the other, whatever the machine
    return rows
