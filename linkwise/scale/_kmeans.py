"""Constrained k-means over blocks: sums of free rows from tasks, rows that statements name resolved here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from linkwise._messages import number
from linkwise._typing import FloatArray, IntArray
from linkwise.engines.assignment import ExactPlaces
from linkwise.engines.distances import means, nearest
from linkwise.exceptions import GaveUpError, ScaleError
from linkwise.problem import Problem, check
from linkwise.problem.statements import Hard
from linkwise.scale._block_tasks import Fetched, Shared, digest_of, fetch, step
from linkwise.scale._row_blocks import Source
from linkwise.scale._runner import PairwiseSum
from linkwise.scale._statement_files import Statements, locate

SAMPLE, _SAMPLE_BYTES = 65_536, 2**28  # rows from which the start is computed, and bytes of them, at most
_EXCHANGES, _WORK = 30, 2**36  # tries to put one center elsewhere; multiplications of all of them, at most
_ROUNDS, _STARTS, _POLISH = 5, 8, 20  # of k-means||; of k-means on its candidates; steps on the sample
_LEAST = 1e-100  # of the largest number: squared distances would lose digits, or become 0
_TOLERANCE = 1e-4  # of the mean variance of a column, as in scikit-learn: centers that move less have arrived


def sample_size(k: int, d: int) -> int:
    """How many rows, about, the start is computed from."""
    return max(10 * k, min(max(SAMPLE, 100 * k), _SAMPLE_BYTES // (8 * d)))


class Known(NamedTuple):
    """Rows that statements name, in the order of rows, and what is needed to place them."""

    rows: IntArray
    group: IntArray
    place: ExactPlaces | None
    weight: FloatArray
    means: FloatArray
    spread: float
    hard: Hard | None  # about rows by their place here

    def apart(self, labels: IntArray, k: int) -> IntArray:
        """The pairs of clusters between which a cannot-link or a group apart lies, for labels of groups."""
        if self.hard is None:
            return np.empty((0, 2), dtype=np.intp)
        label, groups = labels[self.group], self.hard.apart
        found = np.zeros((k, k), dtype=np.bool_)
        cannot = label[self.hard.cannot].reshape(-1, 2)
        found[cannot[:, 0], cannot[:, 1]] = True
        owner = np.asarray(groups.owner, dtype=np.intp)
        inside = np.zeros((int(owner.max(initial=-1)) + 1, k), dtype=np.float64)
        inside[owner, label[groups.member]] = 1.0
        found |= (inside.T @ inside) > 0
        return np.argwhere(np.triu(found | found.T, 1))


class Start(NamedTuple):
    """The result of fetching: a sample of the rows, the rows that are named, and the scale of movements."""

    sample: FloatArray
    known: Known
    tolerance: float


def fetch_all(source: Source, statements: Statements, files: Any, k: int, run: Any, shared: Shared, seed: int) -> Start:
    """Read every row once: refuse rows that cannot be used, draw a sample, and bring the rows that are named here."""
    shared.put("names", statements.names)
    share = min(1.0, sample_size(k, source.n_features) / source.n_rows)
    parts: list[Fetched | None] = [None] * len(source.blocks)
    sums = PairwiseSum(len(source.blocks))

    def take(place: int, found: Fetched) -> None:
        parts[place] = found
        sums.add(place, (found.total, found.squares))

    run("fetch", fetch, source.blocks, (shared, statements.by_id, share, seed), take)
    whole = [part for part in parts if part is not None]
    largest = max(part.largest for part in whole)
    if 0.0 < largest < _LEAST:
        msg = (
            f"the rows hold values up to {largest:.3g}: squared distances vanish in double precision.\n"
            "Hint: multiply the columns, so that their values are near 1."
        )
        raise ScaleError(msg)
    place, row = (np.concatenate([getattr(part, name) for part in whole]) for name in ("place", "row"))
    rows = np.concatenate([part.rows for part in whole])
    order = np.argsort(place, kind="stable")
    twice = np.flatnonzero(np.diff(place[order]) == 0)
    if len(twice):
        one, two = (source.where(int(row[order[twice[0] + side]])) for side in range(2))
        msg = f"{one} and {two} have the same name {statements.names[place[order[twice[0]]]]}; statements name it."
        raise ScaleError(msg)
    at = np.full(len(statements.names), -1, dtype=np.int64)
    at[place] = row
    found = locate(statements, at, files)
    mean, squares = (total / source.n_rows for total in sums.total)
    tolerance = _TOLERANCE * float(np.maximum(squares - mean * mean, 0.0).mean())
    return Start(np.concatenate([part.sample for part in whole]), _know(found, rows, k), tolerance)


def _know(found: Statements, rows: FloatArray, k: int) -> Known:
    shape = (0, rows.shape[1])
    if not len(found.names):
        return Known(found.names, np.empty(0, dtype=np.intp), None, np.empty(0), np.empty(shape), 0.0, None)
    problem = Problem(rows, found.table, who="scale.cluster")
    nodes = problem.contract()

    def witness() -> IntArray:
        verdict = check(found.table, n_clusters=min(k, nodes.n_nodes))
        verdict.raise_if_infeasible()
        if not isinstance(verdict.witness, np.ndarray):
            msg = (
                f"scale.cluster gave up: it found no {k} clusters in which all statements hold, nor a proof that there "
                f"are none.\n{verdict.because}\nHint: a larger n_clusters makes it easier."
            )
            raise GaveUpError(msg)
        return verdict.witness

    spread = float(((rows - nodes.X[nodes.group]) ** 2).sum())
    return Known(found.names, nodes.group, ExactPlaces(nodes, witness), nodes.weight, nodes.X, spread, problem.hard)


# -- the start ---------------------------------------------------------------------------------------------------------


def start_centers(sample: FloatArray, k: int, seed: int) -> FloatArray:
    """Centers of a sample by k-means||: candidates in rounds, weighed by their rows, clustered, then k-means steps."""
    rng = np.random.default_rng([seed, 2**31])
    if len(np.unique(sample, axis=0)) <= k:
        rows = np.unique(sample, axis=0)
        return np.concatenate([rows, np.repeat(rows[:1], k - len(rows), axis=0)])
    chosen = sample[[int(rng.integers(len(sample)))]]
    for _ in range(_ROUNDS):
        cost = nearest(sample, chosen)[1]
        key = np.full(len(cost), np.inf)
        far = cost > 0
        key[far] = rng.exponential(size=int(far.sum())) / cost[far]
        drawn = np.argsort(key, kind="stable")[: min(2 * k, int(far.sum()))]
        chosen = np.concatenate([chosen, sample[drawn]])
    chosen = np.unique(chosen, axis=0)
    weight = np.bincount(nearest(sample, chosen)[0], minlength=len(chosen)).astype(np.float64)
    best, least = chosen[:k], np.inf
    trial = sample[:: max(1, min(_STARTS, len(sample) // (10 * k)))]
    for _ in range(_STARTS):
        centers = _steps(chosen, weight, _plus_plus(chosen, weight, k, rng), 50)
        centers = _steps(trial, np.ones(len(trial)), centers, _POLISH)
        total = float(nearest(trial, centers)[1].sum())
        if total < least:
            best, least = centers, total
    return _steps(sample, np.ones(len(sample)), _exchange(trial, best, rng), _POLISH)


def _exchange(rows: FloatArray, centers: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Put a center that is missed little where rows are far from theirs, if that lowers the cost; some times."""
    k = len(centers)
    label, cost = nearest(rows, centers)
    tries = min(_EXCHANGES, _WORK // ((_POLISH + 2) * rows.size * k))
    for turn in range(tries if k > 1 else 0):
        if not cost.any():
            break
        missed = np.zeros(k)
        for gone in np.unique(label):
            mine = label == gone
            missed[gone] = (nearest(rows[mine], np.delete(centers, gone, axis=0))[1] - cost[mine]).sum()
        other = centers.copy()
        gone = int(np.argsort(missed, kind="stable")[turn % min(k, 4)])
        other[gone] = rows[int(rng.choice(len(rows), p=cost / cost.sum()))]
        other = _steps(rows, np.ones(len(rows)), other, _POLISH)
        moved = nearest(rows, other)
        if moved[1].sum() < cost.sum():
            centers, (label, cost) = other, moved
    return centers


def _plus_plus(rows: FloatArray, weight: FloatArray, k: int, rng: np.random.Generator) -> FloatArray:
    at = [int(rng.choice(len(rows), p=weight / weight.sum()))]
    cost = nearest(rows, rows[at])[1]
    while len(at) < k:
        mass = weight * cost
        trials = rng.choice(len(rows), size=4, p=mass / mass.sum()) if mass.sum() > 0 else np.arange(1)
        after = [np.minimum(cost, nearest(rows, rows[[t]])[1]) for t in trials]
        best = int(np.argmin([float((weight * c).sum()) for c in after]))
        at.append(int(trials[best]))
        cost = after[best]
    return rows[at]


def _steps(rows: FloatArray, weight: FloatArray, centers: FloatArray, most: int) -> FloatArray:
    for _ in range(most):
        labels = nearest(rows, centers)[0]
        before, centers = centers, means(rows, weight, labels, len(centers), otherwise=centers)
        if np.array_equal(before, centers):
            break
    return centers


# -- passes ------------------------------------------------------------------------------------------------------------


class State(NamedTuple):
    """Centers after some passes, and the labels of groups that belong to them."""

    centers: FloatArray
    labels: IntArray
    n_passes: int
    cost: float
    converged: bool


def resolve(known: Known, centers: FloatArray, before: IntArray | None) -> tuple[IntArray, float]:
    """Place the groups that statements name at minimum cost so that all hold; the labels and their cost."""
    if known.place is None:
        return np.empty(0, dtype=np.intp), 0.0
    placed = known.place(centers, before if before is not None and len(before) else None)
    return placed.labels, float((known.weight * placed.distance).sum()) + known.spread


def one_pass(source: Source, start: Start, state: State, run: Any, shared: Shared, say: Callable[[str], None]) -> State:
    """Assign all rows to the centers, and move the centers to the means."""
    known, k = start.known, len(state.centers)
    name = share_centers(shared, state.centers)
    sums, far = PairwiseSum(len(source.blocks)), {}

    def take(place: int, found: tuple[Any, ...]) -> None:
        sums.add(place, found[0])
        far[place] = found[1]

    run("step", step, source.blocks, (shared, name), take)
    count, total, inertia = sums.total
    labels, extra = resolve(known, state.centers, state.labels)
    if len(labels):
        weight = np.bincount(labels, weights=known.weight, minlength=k)
        moved = np.zeros_like(total)
        np.add.at(moved, labels, known.means * known.weight[:, None])
        count, total = count + weight, total + moved
    centers = np.where(count[:, None] > 0, total / np.maximum(count, 1.0)[:, None], state.centers)
    spare = iter(sorted(far, key=lambda place: (-far[place][0], place)))
    for empty in np.flatnonzero(count == 0):  # takes the row that fits worst, of another block each
        place = next(spare, None)
        if place is not None and far[place][0] > 0:
            centers[empty] = far[place][1]
    gap = float(((centers - state.centers) ** 2).sum())
    cost = inertia + extra
    say(f"pass {state.n_passes + 1}: cost {number(cost)}, centers moved by {number(gap**0.5)}.")
    return State(centers, labels, state.n_passes + 1, cost, gap <= start.tolerance)


def share_centers(shared: Shared, centers: FloatArray) -> str:
    """Share centers with the tasks under a name made of them."""
    name = f"centers-{digest_of(centers)}"
    shared.put(name, centers)
    return name
