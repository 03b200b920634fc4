"""`Memory` of a run of ReCon for the next one, and the number of its merges that other statements leave in place.

Every merge is the first, by distance and then by age, among the pairs that the statements allow at its turn. So the
first k merges stay when

- no merge among them contradicts a new statement: after them all triplets can still be displayed, and no new
  cannot-link lies within a cluster below the cut;
- every closer pair that was refused on the way is still refused: no withdrawn statement had a part in a refusal by
  then. Each refutation is therefore recorded with triplets that prove it, and each cannot-link with the first pair it
  kept apart.

Blocks are merged first; where statements change the blocks, no merge is known to stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Groups, Kind
from linkwise.engines.hierarchical.relative._kernels import clusters_after
from linkwise.engines.hierarchical.relative._kernels_search import NEVER
from linkwise.problem import onetree
from linkwise.result import Dendrogram


class Statements(NamedTuple):
    """The statements of a run in one order, each once, so that two runs can be compared."""

    n: int
    triplets: IntArray  # [m, 3]
    links: IntArray  # [l, 2] cannot-links
    groups: Groups  # groups apart
    block: IntArray | None  # [n] the finest clusters possible; None where there are only triplets

    @classmethod
    def of(cls, constraints: Constraints, block: IntArray | None) -> Self:
        """Put statements in order and leave out repeats."""
        n = constraints.n_samples
        triplets = constraints.of(Kind.TRIPLET)
        pair = np.sort(triplets[:, :2], axis=1)
        key = np.unique((pair[:, 0] * n + pair[:, 1]) * n + triplets[:, 2])
        links = np.unique(_pair_keys(n, constraints.of(Kind.CANNOT_LINK)))
        return cls(
            n,
            np.column_stack([key // (n * n), key // n % n, key % n]),
            np.column_stack([links // n, links % n]),
            constraints.groups_of(Kind.APART),
            block,
        )

    @property
    def triplet_keys(self) -> IntArray:
        """One rising number per triplet."""
        return (self.triplets[:, 0] * self.n + self.triplets[:, 1]) * self.n + self.triplets[:, 2]

    @property
    def link_keys(self) -> IntArray:
        """One rising number per cannot-link."""
        return _pair_keys(self.n, self.links)

    @property
    def blocks(self) -> IntArray:
        """The blocks; each sample is one where there are only triplets."""
        return np.arange(self.n) if self.block is None else self.block


def _pair_keys(n: int, pairs: IntArray) -> IntArray:
    low_first = np.sort(pairs, axis=1)
    return low_first[:, 0] * n + low_first[:, 1]


class ClusterTriplets(NamedTuple):
    """Triplets about clusters, without those that a cluster of a and b fulfills already."""

    involved: IntArray  # the clusters, by node
    items: IntArray  # [k, 3] triplets about them
    origin: IntArray  # position of each triplet among all


def over_clusters(triplets: IntArray, at: IntArray) -> ClusterTriplets | None:
    """Write triplets over the clusters ``at`` that hold the samples; None when a cluster breaks one."""
    moved = at[triplets]
    origin = np.flatnonzero(moved[:, 0] != moved[:, 1])
    involved, items = np.unique(moved[origin], return_inverse=True)
    items = items.reshape(-1, 3)
    if ((items[:, 2] == items[:, 0]) | (items[:, 2] == items[:, 1])).any():
        return None
    return ClusterTriplets(involved, items, origin)


@dataclass(frozen=True)
class Memory:
    """A finished run: its input, its merges, the statements they depend on, and its searches."""

    settings: tuple[Any, ...]
    X: npt.NDArray[Any]
    statements: Statements
    tree: Dendrogram
    height: FloatArray  # of each merge, on the scale of the loop
    factor: float  # by which the loop's distances are to be multiplied
    end: int  # merges below the marked cut; -1 without one
    used: npt.NDArray[np.int64]  # [m] merges before the first refutation a triplet helped to prove
    parted: npt.NDArray[np.int64]  # [l] merges before the first pair a cannot-link kept apart
    entry: npt.NDArray[np.int64]  # [3, e] searches
    far: FloatArray  # [e]

    def fits(self, settings: tuple[Any, ...], X: npt.NDArray[Any]) -> bool:
        """Whether the run was on the same data with the same parameters."""
        return self.settings == settings and self.X.shape == X.shape and bool((self.X == X).all())

    def cut_after(self, statements: Statements, n_clusters: int, limit: float) -> int:
        """Return how many merges are below the marked cut when the first are those of a run under ``statements``."""
        if statements.block is None:
            return -1
        if self.end >= 0:
            return self.end
        beyond = np.flatnonzero(self.height > limit)
        return int(min(statements.n - n_clusters, beyond[0] if len(beyond) else statements.n - 1))

    def n_kept(self, statements: Statements, end: int) -> int:
        """Return how many of the first merges other statements leave in place; -1 when the triplets contradict."""
        n = statements.n
        if not np.array_equal(self.statements.blocks, statements.blocks):
            return 0
        kept = n - 1
        gone = ~np.isin(self.statements.triplet_keys, statements.triplet_keys, assume_unique=True)
        kept = min(kept, int(self.used[gone].min(initial=kept)))
        parted = ~np.isin(self.statements.link_keys, statements.link_keys, assume_unique=True)
        kept = min(kept, int(self.parted[parted].min(initial=kept)))
        inside = n - int(statements.blocks.max(initial=-1)) - 1
        if not _same_groups(self.statements.groups, statements.groups):
            kept = min(kept, inside)
        new = statements.links[~np.isin(statements.link_keys, self.statements.link_keys, assume_unique=True)]
        meet = self.tree.lca(new[:, 0], new[:, 1]) - n
        kept = min(kept, int(meet[meet < end].min(initial=kept)))
        fresh = statements.triplets[~np.isin(statements.triplet_keys, self.statements.triplet_keys, assume_unique=True)]
        return self._before_contradiction(statements.triplets, fresh, kept)

    def _before_contradiction(self, triplets: IntArray, fresh: IntArray, kept: int) -> int:
        """Return the most merges, up to ``kept``, after which all triplets can still be displayed; -1 if none do."""
        n = self.tree.n_samples
        a, b, c = fresh.T
        pair = self.tree.lca(a, b)
        first = np.minimum(self.tree.lca(a, c), self.tree.lca(b, c))
        if (pair < first).all():  # the whole tree displays what is new, and the rest anyway
            return kept
        kept = min(kept, int((first[pair >= first] - n).min()))

        def lost_after(merges: int) -> bool:
            left = over_clusters(triplets, clusters_after(self.tree.parent, n, merges))
            return left is None or onetree(len(left.involved), left.items).parent is None

        low, high, step = kept, kept + 1, 1  # lost after `high` merges at the latest
        while low >= 0 and lost_after(low):
            low, high, step = max(low - step, 0) if low else -1, low, 4 * step
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if lost_after(middle) else (middle, high)
        return low


def carry(old_keys: IntArray, old: npt.NDArray[np.int64], keys: IntArray, merges: int) -> npt.NDArray[np.int64]:
    """Carry values of statements from the first merges over to the statements of this run; `NEVER` for new ones."""
    known = np.full(len(keys), NEVER, np.int64)
    place = np.searchsorted(old_keys, keys)
    place[place == len(old_keys)] = 0
    if len(old_keys):
        same = (old_keys[place] == keys) & (old[place] < merges)
        known[same] = old[place[same]]
    return known


def _same_groups(x: Groups, y: Groups) -> bool:
    return np.array_equal(x.member, y.member) and np.array_equal(x.owner, y.owner)
