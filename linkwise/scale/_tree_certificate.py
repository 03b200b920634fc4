"""The certificate of a tree over blocks: its files, the label files and the statements are read back by other code."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkwise._memory import require_memory
from linkwise._messages import many
from linkwise._typing import FloatArray, IntArray
from linkwise.scale._block_certificate import names_like, pairs_and_names


@dataclass(frozen=True)
class TreeCertificate:
    """What holds in the files of a tree.

    Attributes
    ----------
    n_rows, n_merges, n_trees : int
        Leaves, merges, and trees in which these leave the leaves.
    n_clusters, clusters_whole : int
        Clusters of the labels, and those that are all leaves below one node.
    sound : bool
        Whether each merge joins two nodes before it that no other joins, and is not lower than these.
    must_links, met_at_0, cannot_links, never_met : int
        Pairs of the statements; must-links whose samples meet at height 0, and cannot-links whose samples never meet.

    Examples
    --------
    >>> from linkwise.scale import TreeCertificate
    >>> TreeCertificate(5, 3, 2, 2, 2, True, 1, 1, 1, 1).ok
    True
    """

    n_rows: int
    n_merges: int
    n_trees: int
    n_clusters: int
    clusters_whole: int
    sound: bool
    must_links: int
    met_at_0: int
    cannot_links: int
    never_met: int

    @property
    def ok(self) -> bool:
        """Whether the tree is sound, all clusters are branches, and all statements hold."""
        held = self.must_links == self.met_at_0 and self.cannot_links == self.never_met
        return self.sound and self.clusters_whole == self.n_clusters and held

    def __str__(self) -> str:
        sound = "sound" if self.sound else "not sound"
        return (
            f"the tree of {many(self.n_rows, 'row')} and {many(self.n_merges, 'merge')} is {sound}; "
            f"{self.clusters_whole:,} of {self.n_clusters:,} clusters are branches; "
            f"{self.met_at_0:,} of {self.must_links:,} must-links meet at height 0, "
            f"{self.never_met:,} of {self.cannot_links:,} cannot-links never meet."
        )

    def as_dict(self) -> dict[str, Any]:
        """All fields, and whether all is well."""
        return {"ok": self.ok, **asdict(self)}


def read_merges(folder: Path) -> tuple[IntArray, FloatArray]:
    """Read the merges of a tree: row t makes node n + t."""
    import pyarrow.parquet as pq

    tables = [pq.read_table(path) for path in sorted(folder.glob("part-*.parquet"))]
    left, right, height = (
        np.concatenate([table.column(name).to_numpy() for table in tables]) for name in ("left", "right", "height")
    )
    return np.column_stack([left, right]), height


def certify_tree(folder: Path, labels: Path, statements: Any) -> TreeCertificate:
    """Read the tree and the labels back, and count what holds; ``statements`` are as the user gave them."""
    import pyarrow.parquet as pq

    paths = sorted(labels.glob("part-*.parquet"))
    pairs, wanted = pairs_and_names(statements, paths)
    parts = [pq.read_table(path) for path in paths]
    label, names = (np.concatenate([part.column(i).to_numpy() for part in parts]) for i in (1, 0))
    names = names_like(wanted, statements, names, 0)
    mine = np.flatnonzero(np.isin(names, wanted))
    at = mine[np.argsort(names[mine], kind="stable")]
    n = len(label)
    require_memory(100 * n, f"reading back the tree of {n:,} rows", "tree=False, or a machine with more memory.")
    joined, height = read_merges(folder)
    node = n + np.arange(len(joined))
    own = np.concatenate([np.zeros(n), height])
    sound = bool((joined >= 0).all() and (joined < node[:, None]).all())
    sound = sound and len(np.unique(joined)) == joined.size and bool((own[joined] <= height[:, None]).all())
    above = np.arange(n + len(joined))
    if sound:
        above[joined] = node[:, None]
    end, low = _ends(above), _ends(np.where(own[above] > 0, np.arange(len(above)), above))
    counts = {True: [0, 0], False: [0, 0]}
    for together, both in pairs:
        one, two = (at[np.searchsorted(wanted, both[:, side])] for side in range(2))
        held = low[one] == low[two] if together else end[one] != end[two]
        counts[together][0] += len(both)
        counts[together][1] += int(held.sum())
    clusters, whole = _whole_clusters(above, joined, label) if sound else (len(np.unique(label)), 0)
    trees = len(np.unique(end[:n]))
    return TreeCertificate(n, len(joined), trees, clusters, whole, sound, *counts[True], *counts[False])


def _ends(to: IntArray) -> IntArray:
    """Where the way from each node ends."""
    while True:
        further = to[to]
        if np.array_equal(further, to):
            return to
        to = further


def _whole_clusters(above: IntArray, joined: IntArray, label: Any) -> tuple[int, int]:
    """How many clusters there are, and how many of them are all the leaves below a node."""
    n = len(label)
    down = np.arange(len(above))
    down[n:] = joined[:, 0]
    some = label[_ends(down)]  # the cluster of one leaf below each node
    mixed = np.zeros(len(above), dtype=np.bool_)
    at = n + np.flatnonzero(some[joined[:, 0]] != some[joined[:, 1]])
    while len(at):
        mixed[at] = True
        at = np.unique(above[at])
        at = at[~mixed[at]]
    top = _ends(np.where(mixed[above], np.arange(len(above)), above))[:n]
    clusters, first = np.unique(label, return_index=True)
    of = np.zeros(int(clusters.max()) + 1, dtype=np.intp)
    of[clusters] = top[first]
    return len(clusters), len(clusters) - len(np.unique(label[top != of[label]]))
