"""Base of strategies that place samples in neighborhoods: Explore and Consolidate, min-max, uncertainty."""

from __future__ import annotations

import numpy as np

from linkwise._typing import FloatArray
from linkwise.active._strategy import Inquiry, Items
from linkwise.active._strategy_view import Scene


class Placing(Inquiry):
    """Pick a sample, then ask which neighborhood it belongs to, the likeliest first, until a yes or a no to all.

    A neighborhood is a group of samples known to belong together; those of the skeleton are known to differ pairwise.
    Everything is read off the statements, nothing else is kept: a sample that was begun with and is neither in a
    neighborhood of the skeleton nor apart from all of them is the one being placed. A subclass writes `pick` and
    `order`.
    """

    in_bulk = True  # all is read off the statements

    def __init__(self, scene: Scene, n_clusters: int | None = None) -> None:
        super().__init__(scene)
        self.n_clusters = n_clusters
        self._read_at = -1

    # -- what a subclass writes ---------------------------------------------------------------------------------

    def pick(self) -> int | None:
        """Choose the next sample to place, one of ``self.free``; or None to end."""
        raise NotImplementedError

    def order(self, sample: int) -> list[int]:
        """Return the neighborhoods of the skeleton, the likeliest for this sample first."""
        raise NotImplementedError

    def representative(self, sample: int, group: int) -> int:  # noqa: ARG002
        """Choose the member of a neighborhood that a sample is compared with; by default its first."""
        return group

    # -- the dialogue -------------------------------------------------------------------------------------------

    def propose(self) -> Items | None:
        """Return the next question about the sample being placed, or about the next one picked."""
        self._read()
        if not self.skeleton:
            return None
        for sample in self.loose:
            if (found := self._question(sample)) is not None:
                return found
        while self.free.any() and (picked := self.pick()) is not None:
            if (found := self._question(picked)) is not None:
                return found
            self.free[picked] = False
        return None

    def reread(self) -> None:
        """Derive skeleton and samples again."""
        self._read_at = -1

    def _question(self, sample: int) -> Items | None:
        """Return the next open question that places a sample, or None if there is none left."""
        known, group = self.scene.known, self.scene.known.group(sample)
        apart = known.apart(group)
        if self.n_clusters is not None and len(self.skeleton) >= self.n_clusters:
            left = [other for other in self.skeleton if other not in apart]
            if len(left) <= 1:
                return None  # where it belongs follows from the number of clusters
        for other in self.order(sample):
            if other in apart or other == group:
                continue
            pair = tuple(sorted((sample, self.representative(sample, other))))
            if not known.decides(pair):
                return pair
        return None

    def _read(self) -> None:
        """Derive skeleton, loose groups and free samples from the constraints."""
        known = self.scene.known
        if self._read_at == len(known.answers):
            return
        self._read_at = len(known.answers)
        self.skeleton: list[int] = []
        self.loose: list[int] = []
        for group in known.groups():
            apart = known.apart(group)
            (self.skeleton if all(other in apart for other in self.skeleton) else self.loose).append(group)
        if not self.skeleton and self.scene.n_samples > 1:
            self.skeleton = [int(self.scene.rng(0).integers(self.scene.n_samples))]
        self.implied = self._imply() if len(self.skeleton) == self.n_clusters else {}
        self.loose = [group for group in self.loose if group not in self.implied]
        self.free = np.ones(self.scene.n_samples, dtype=np.bool_)
        self.placed = [sample for group in (*self.skeleton, *self.implied) for sample in known.members(group)]
        self.free[self.placed] = False
        for group in self.loose:
            self.free[known.members(group)] = False

    def _imply(self) -> dict[int, int]:
        """Groups that can only belong to one neighborhood, since the others differ and there is no further one."""
        known, found = self.scene.known, {}
        for group in self.loose:
            left = set(self.skeleton) - known.apart(group)
            if len(left) == 1:
                found[group] = left.pop()
        return found

    # -- distances ----------------------------------------------------------------------------------------------

    def nearness(self) -> FloatArray:
        """Distance of every sample to the nearest one placed."""
        placed = tuple(self.placed)
        before: tuple[tuple[int, ...], FloatArray] | None = getattr(self, "_near", None)
        near = np.full(self.scene.n_samples, np.inf)
        todo = placed
        if before is not None and set(before[0]) <= set(placed):
            near, todo = before[1].copy(), tuple(set(placed) - set(before[0]))
        for sample in todo:
            np.minimum(near, self.scene.distances_from(sample), out=near)
        self._near = placed, near
        return near
