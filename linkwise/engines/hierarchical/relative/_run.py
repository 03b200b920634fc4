"""One run of ReCon's compiled loop: its arrays, its phases, and a start from the first merges of an earlier run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._memory import require_memory
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Groups
from linkwise.engines import Progress
from linkwise.engines.agglomeration import EUCLIDEAN_ONLY
from linkwise.engines.distances import scaled, square_distances
from linkwise.engines.hierarchical.relative import _kernels as kernels, _kernels_search as search
from linkwise.engines.hierarchical.relative._warm_start import Memory
from linkwise.exceptions import LinkwiseError
from linkwise.problem.triplets import Layers, grow
from linkwise.result import Dendrogram


def make_state(
    X: npt.NDArray[Any], code: int, metric: Any, n_items: int, *, vectors: bool
) -> tuple[search.ReConState, float]:
    """Allocate the loop's arrays; return them with the factor that restores the scale of the distances."""
    n = len(X)
    slots = n + n // 3 + 64
    factor = 1.0
    center = np.zeros((0, slots))
    matrix: npt.NDArray[Any] = np.zeros((1, 1))
    if vectors:
        shrunk, factor = scaled(X, np.float64)
        center = np.zeros((-(-X.shape[1] // 4) * 4, slots))
        center[: X.shape[1], :n] = shrunk.T
    else:
        require_memory(n * n * 8, f"a dense {n} x {n} distance matrix", 'linkage="centroid" on vectors needs none.')
        if metric == "precomputed":
            matrix = np.array(X, dtype=np.float64, order="C")
            if code in EUCLIDEAN_ONLY:
                np.square(matrix, out=matrix)
        else:
            shrunk, factor = scaled(X, np.float64) if metric == "euclidean" else (X, 1.0)
            matrix = square_distances(shrunk, metric, squared=code in EUCLIDEAN_ONLY)
    gone = np.full(slots, np.inf)
    gone[:n] = 0.0
    words = 4
    state = search.ReConState(
        center=center,
        matrix=matrix,
        place=np.arange(slots),
        size=np.ones(slots),
        gone=gone,
        node=np.arange(slots),
        item=np.full(slots, -1, np.int32),
        bound=np.full(slots, np.inf),
        low=np.full(slots // search.BLOCK + 2, -np.inf),
        neighbor=np.full(slots, -1, np.intp),
        row=np.zeros(slots),
        least=np.zeros(slots // search.BLOCK + 2),
        mask=np.zeros((2, n_items, words), np.uint64),
        live=np.zeros(words, np.uint64),
        left=np.zeros(64 * words, np.int64),
        free=np.arange(64 * words),
        scratch=np.zeros((2, n_items + 1), np.int32),
        block=np.full(slots, -1, np.intp),
        tag=np.full(slots, -1, np.intp),
        ends=np.zeros((2, 0), np.intp),
        entry=np.zeros((2, 0), np.intp),
        stamp=np.zeros((2, 0), np.int64),
        limit=np.full(1, np.inf),
        pairs=np.zeros((max(n - 1, 0), 2), np.intp),
        height=np.zeros(max(n - 1, 0)),
        count=np.zeros(13, np.int64),
    )
    state.count[search.N_SLOTS] = state.count[search.N_ALIVE] = n
    state.count[search.N_FREE] = 64 * words
    return state, factor


def make_past(slots: int, n_triplets: int, memory: Memory | None, *, record: bool, room: int) -> search.Past:
    """Lay out an earlier run's tree and searches for recalling, and room for the searches of this one."""
    tree = None if memory is None else memory.tree
    n_nodes = 0 if tree is None else tree.n_nodes
    slots = 0 if tree is None else slots
    node = np.full((4, n_nodes), -1, np.int64)
    old, died = np.full(slots, search.NEVER, np.int32), np.zeros(slots, np.int32)
    entry, far = (np.zeros((3, 0), np.int64), np.zeros(0)) if memory is None else (memory.entry, memory.far)
    entry = np.concatenate([entry, np.zeros((1, entry.shape[1]), np.int64)])
    room = room if record else 0
    if tree is not None:
        n = tree.n_samples
        above = tree.parent
        node[search.DIED] = np.where(above < 0, search.NEVER, above - n + 1)
        node[search.ABOVE] = above
        node[search.WHERE, :n] = old[:n] = np.arange(n)
        died[:n] = node[search.DIED, :n]
        kernels.link_entries(entry, node)
    edge = np.zeros((2, 0 if tree is None else slots // search.BLOCK + 2), np.int32)
    edge[0], edge[1] = -1, search.NEVER
    for block in range(edge.shape[1]):
        within = slice(block * search.BLOCK, min((block + 1) * search.BLOCK, 0 if tree is None else tree.n_samples))
        edge[0, block] = old[within].max(initial=-1)
        edge[1, block] = died[within].min(initial=search.NEVER)
    used = np.full(n_triplets if record else 0, search.NEVER, np.int64)
    return search.Past(entry, far, node, old, died, edge, np.zeros((3, room), np.int64), np.zeros(room), used)


def more_certificates(state: search.ReConState) -> search.ReConState:
    """Double the number of certificates that can be remembered."""
    words = len(state.live)
    unused = int(state.count[search.N_FREE])
    free = np.zeros(128 * words, np.int64)
    free[:unused] = state.free[:unused]
    free[unused : unused + 64 * words] = np.arange(64 * words, 128 * words)
    state.count[search.N_FREE] = unused + 64 * words
    return state._replace(
        mask=np.concatenate([state.mask, np.zeros_like(state.mask)], axis=2),
        live=np.concatenate([state.live, np.zeros_like(state.live)]),
        left=np.concatenate([state.left, np.zeros_like(state.left)]),
        free=free,
    )


class Run:
    """One run of the compiled loop, phase by phase; in between, arrays grow and progress is reported."""

    def __init__(
        self,
        state: search.ReConState,
        past: Any,
        layers: Layers,
        code: int,
        vectors: bool,
        progress: Progress | None,
    ) -> None:
        self.state, self.past, self.layers = state, past, layers
        self._code, self._vectors, self._progress = code, vectors, progress
        self._n = len(state.pairs) + 1
        self._chunk = max(100, 1_000_000_000 // (self._n * (len(state.center) + 8)))

    @property
    def n_merged(self) -> int:
        """Number of merges so far."""
        return int(self.state.count[search.N_MERGED])

    @property
    def n_alive(self) -> int:
        """Number of clusters now."""
        return int(self.state.count[search.N_ALIVE])

    def _alive(self) -> IntArray:
        return np.flatnonzero(self.state.gone[: self.state.count[search.N_SLOTS]] == 0.0)

    def clusters(self) -> IntArray:
        """The nodes of the clusters there are now."""
        return np.sort(self.state.node[self._alive()])

    def watch(self, links: IntArray, groups: Groups, block: IntArray) -> None:
        """Give the loop blocks, cannot-links and groups apart; a cannot-link is a group of two."""
        member = np.concatenate([links.ravel(), groups.member])
        group = np.concatenate([np.repeat(np.arange(len(links)), 2), len(links) + groups.owner])
        order = np.argsort(member, kind="stable")
        held, first, size = np.unique(member[order], return_index=True, return_counts=True)
        after = np.arange(1, len(order) + 1)
        after[first + size - 1] = -1
        self.state.block[: len(block)] = block
        self.state.tag[held] = np.arange(len(held))
        stamp = np.zeros((2, len(links) + len(groups.statement)), np.int64)
        stamp[1] = search.NEVER
        self.state = self.state._replace(
            ends=np.stack([first, first + size - 1]).astype(np.intp),
            entry=np.stack([group[order], after]).astype(np.intp),
            stamp=stamp,
        )

    def redo(self, tree: Dendrogram, height: FloatArray) -> None:
        """Make the first merges of the earlier run, which are known to be those of this one."""
        pairs = np.sort(tree.to_children()[: len(height)], axis=1)
        kernels.redo(self.state, self.past, self._code, self._vectors, pairs, height)

    def name_items(self, involved: IntArray) -> None:
        """Number the clusters, given by their nodes, that are items of the triplets."""
        number = np.full(2 * self._n, -1, np.int32)
        number[involved] = np.arange(len(involved), dtype=np.int32)
        alive = self._alive()
        self.state.item[alive] = number[self.state.node[alive]]

    def _vouch(self) -> None:
        """Record the triplets that prove the newest certificate."""
        state, layers = self.state, self.layers
        certificate = int(state.free[state.count[search.N_FREE]])
        kernels.vouch(
            state.mask,
            layers.item,
            layers.count,
            layers.triplet,
            self.past.used,
            certificate,
            int(state.left[certificate]) - 2,
            self.n_merged,
        )

    def phase(self, phase: int) -> None:
        """Merge until the phase has nothing left to merge."""
        state, alive = self.state, self._alive()
        state.count[search.PHASE] = phase
        state.neighbor[alive] = -1
        state.bound[alive] = -np.inf  # below every distance, so that all are searched before the next merge
        if phase == search.INSIDE:
            lone = np.bincount(state.block[alive])[state.block[alive]] == 1
            state.bound[alive[lone]] = np.inf
        state.low[:] = -np.inf
        while True:
            status = kernels.advance(self.state, self.past, self.layers, self._code, self._vectors, self._chunk)
            if self._progress is not None:
                self._progress(self.n_merged, self._n - 1)
            if status == kernels.MORE_ROOM:
                self.layers = grow(self.layers)
            elif status == kernels.LEARNED:
                self._vouch()
            elif status == kernels.MORE_CERTIFICATES:
                self.state = more_certificates(self.state)
            elif status == kernels.STUCK and phase == search.FREE:
                msg = (
                    "recon found no compatible merge for consistent triplets, which cannot be; please report the input."
                )
                raise LinkwiseError(msg)
            elif status != kernels.BUDGET:
                return
