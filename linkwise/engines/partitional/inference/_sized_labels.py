"""Labels of low cost and penalty under bounds on the sizes of clusters."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.assignment import Neighborhoods, SizedPlaces
from linkwise.engines.partitional.inference._energy import PairCharges, sum_rows
from linkwise.problem.statements import Contracted, SoftPairs

_SWEEPS = 20  # over all blocks; each that changes labels lowers the cost, so this only stops a crawl


class SizedLabels:
    """Assign rows within sizes, block by block of rows among which no soft pair runs.

    While all other rows stay, the penalties of a block are costs of its rows, so that `SizedPlaces` assigns it: at
    minimum cost if sizes are the only hard statements. A block never raises the cost. With ``near`` the labels are
    repaired last until every sample has a neighbor in its cluster.
    """

    def __init__(
        self,
        cloud: Contracted,
        bounds: tuple[int, int],
        pairs: SoftPairs,
        witness: Callable[[], IntArray],
        near: Neighborhoods | None = None,
    ) -> None:
        self.cloud, self.pairs, self.near = cloud, pairs, near
        self._places = SizedPlaces(cloud, bounds, witness)
        u, v = cloud.group[pairs.first], cloud.group[pairs.second]
        self._inner, self._links = np.flatnonzero(u == v), np.flatnonzero(u != v)
        self._u, self._v = u[self._links], v[self._links]
        self._block = _color(cloud.n_nodes, self._u, self._v)

    def __call__(self, table: FloatArray, charges: PairCharges, before: IntArray | None) -> tuple[IntArray, float]:
        """Return labels of the samples and their cost with penalties, never above that of the labels ``before``.

        ``table`` holds the costs of all samples.
        """
        cloud = self.cloud
        own = table if cloud.n_nodes == len(table) else sum_rows(table, cloud.group, cloud.n_nodes)
        if len(self._inner):
            inside = cloud.group[self.pairs.first[self._inner]]
            own = own + sum_rows(charges.same[self._inner], inside, cloud.n_nodes)
        at = self._links
        links = PairCharges(
            charges.first[at], charges.second[at], charges.same[at], charges.weight[at], charges.between
        )
        stay = None if before is None else before[np.unique(cloud.group, return_index=True)[1]]
        starts = [self._places.assign_costs(own - own.min(axis=1, keepdims=True), stay)[0]]
        if stay is not None and len(self._links):
            starts.append(stay)
        found = [self._descend(own, links, labels) for labels in starts]
        labels, cost = min(found, key=lambda one: one[1])
        if self.near is not None:
            price = _LinkedPrice(self, own, links)
            labels = self.near.settle(price, labels, stay, own.shape[1])
            cost = price.total(labels)
        if stay is not None and (kept := self._cost(own, links, stay)) <= cost:
            labels, cost = stay, kept
        return labels[cloud.group], cost

    def _cost(self, own: FloatArray, links: PairCharges, labels: IntArray) -> float:
        return float(own[np.arange(len(own)), labels].sum() + links.at(labels[self._u], labels[self._v]).sum())

    def _descend(self, own: FloatArray, links: PairCharges, labels: IntArray) -> tuple[IntArray, float]:
        cost = self._cost(own, links, labels)
        for _ in range(_SWEEPS if len(self._links) else 0):
            before = cost
            for block in range(int(self._block.max()) + 1):
                trial = self._places.assign_costs(self._block_costs(own, links, labels, block), labels)[0]
                value = self._cost(own, links, trial)
                if value < cost:
                    labels, cost = trial, value
            if cost >= before - 1e-13 * abs(before):
                break
        return labels, cost

    @staticmethod
    def charges(links: PairCharges, at: IntArray, there: IntArray, left: FloatArray, right: FloatArray) -> FloatArray:
        """Return what some pairs charge for each cluster of one end, given the clusters of the other ends."""
        charge = left[at] + right[at, there][:, None]
        if len(links.between):
            charge = charge + links.weight[at, None] * links.between[:, there].T
        charge[np.arange(len(at)), there] = links.same[at, there]
        return charge

    def _block_costs(self, own: FloatArray, links: PairCharges, labels: IntArray, block: int) -> FloatArray:
        """Return the costs of the rows of a block given the labels of the others, which must not change."""
        k = own.shape[1]
        costs = own.copy()
        for mine, theirs, left, right in (
            (self._u, self._v, links.first, links.second),
            (self._v, self._u, links.second, links.first),
        ):
            at = np.flatnonzero(self._block[mine] == block)
            costs += sum_rows(self.charges(links, at, labels[theirs[at]], left, right), mine[at], len(own))
        costs -= costs.min(axis=1, keepdims=True)
        others = self._block != block
        forbidden = 1.0 + float(costs[~others].max(axis=1, initial=0.0).sum())
        costs[others] = np.where(np.arange(k) == labels[others][:, None], 0.0, forbidden)
        return costs


class _LinkedPrice:
    """The cost of a row in each cluster, with the penalties of its soft pairs."""

    def __init__(self, sized: SizedLabels, own: FloatArray, links: PairCharges) -> None:
        self._sized, self._own, self._links = sized, own, links
        self._at: dict[int, tuple[list[int], list[int]]] = {}
        for link, (u, v) in enumerate(zip(sized._u.tolist(), sized._v.tolist(), strict=True)):
            self._at.setdefault(u, ([], []))[0].append(link)
            self._at.setdefault(v, ([], []))[1].append(link)

    def of(self, row: int, labels: IntArray) -> FloatArray:
        """Return the cost of a row in each cluster while all other rows stay."""
        out: FloatArray = self._own[row]
        if row not in self._at:
            return out
        links, sized = self._links, self._sized
        for held, theirs, left, right in (
            (self._at[row][0], sized._v, links.first, links.second),
            (self._at[row][1], sized._u, links.second, links.first),
        ):
            at = np.array(held, dtype=np.intp)
            out = out + sized.charges(links, at, labels[theirs[at]], left, right).sum(axis=0)
        return out

    def total(self, labels: IntArray) -> float:
        """Return the cost of all labels."""
        return self._sized._cost(self._own, self._links, labels)


def _color(n: int, u: IntArray, v: IntArray) -> IntArray:
    """Number rows so that no link joins two of the same number; rows without links have 0."""
    color = np.zeros(n, dtype=np.intp)
    near: dict[int, list[int]] = {}
    for a, b in zip(u.tolist(), v.tolist(), strict=True):
        near.setdefault(a, []).append(b)
        near.setdefault(b, []).append(a)
    done: set[int] = set()
    for a, others in near.items():
        taken = {int(color[b]) for b in others if b in done}
        color[a] = next(c for c in range(len(others) + 1) if c not in taken)
        done.add(a)
    return color
