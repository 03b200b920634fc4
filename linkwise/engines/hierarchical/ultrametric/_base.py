"""Triplets and comparisons as arrays, distances and weights of pairs, and a base of estimators without guarantee."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from scipy.spatial.distance import squareform

from linkwise._compat import StrOptions
from linkwise._memory import require_memory
from linkwise._random import make_generator
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints, Kind
from linkwise.engines import REPORTED, ConstrainedClusterer, Kept
from linkwise.engines.distances import (
    as_dense,
    metric_name,
    read_dissimilarities,
    read_vectors,
    scaled,
    square_distances,
)
from linkwise.engines.hierarchical import HierarchyMixin
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem, check, close_comparisons, repair
from linkwise.result import Dendrogram

_CHUNK = 1 << 16


class Triplets(NamedTuple):
    """The triplets ab|c, one array per place."""

    a: IntArray
    b: IntArray
    c: IntArray

    @classmethod
    def of(cls, problem: Problem) -> Self:
        """Read the triplets of a problem."""
        columns = problem.constraints.of(Kind.TRIPLET).T
        return cls(*(np.ascontiguousarray(column, dtype=np.intp) for column in columns))


class Comparisons(NamedTuple):
    """Comparisons d(a, b) < d(a, c), one array per place, and the triplet each comes from; -1 for an entailed one."""

    a: IntArray
    b: IntArray
    c: IntArray
    triplet: IntArray

    @classmethod
    def of(cls, triplets: Triplets, anchor: IntArray | None = None, *, closure: bool = False) -> Self:
        """List both comparisons of each triplet, or the one that starts at its anchor; close their order if asked."""
        a, b, c = triplets
        m = np.arange(len(a))
        if anchor is None:
            found = cls(np.concatenate([a, b]), np.concatenate([b, a]), np.concatenate([c, c]), np.concatenate([m, m]))
        else:
            found = cls(anchor, np.where(anchor == a, b, a), c, m)
        if not closure or not len(a):
            return found
        rows = np.column_stack(found[:3])
        known = {tuple(row) for row in rows.tolist()}
        more = np.array([row for row in close_comparisons(rows).tolist() if tuple(row) not in known], dtype=np.intp)
        every = np.concatenate([rows, more.reshape(-1, 3)])
        a, b, c = (np.ascontiguousarray(column) for column in every.T)
        return cls(a, b, c, np.concatenate([found.triplet, np.full(len(every) - len(rows), -1, dtype=np.intp)]))


def read_anchors(anchors: Any, problem: Problem, random_state: Any) -> IntArray | None:
    """Return the sample at which the one comparison of each triplet starts; None if a triplet makes both."""
    if anchors is None:
        return None
    at = problem.constraints.kind == Kind.TRIPLET
    pair = problem.constraints.items[at, :2]
    if isinstance(anchors, str):  # "random"
        side = make_generator(random_state).integers(2, size=len(pair))
        return np.ascontiguousarray(pair[np.arange(len(pair)), side])
    given, row = np.asarray(anchors), problem.constraints.row[at]
    if given.ndim != 1 or given.dtype.kind not in "iu" or len(given) <= row.max(initial=-1):
        msg = (
            f"{problem.who}: anchors have shape {given.shape} and type {given.dtype}, expected a whole number for each "
            f"of the {int(row.max(initial=-1)) + 1:,} statements.\n"
            "Hint: anchors=rows[:, 0] beside Constraints.build(n_samples, triplets=rows)."
        )
        raise LinkwiseError(msg)
    found: IntArray = given[row].astype(np.intp)
    foreign = np.flatnonzero((found != pair[:, 0]) & (found != pair[:, 1]))
    if len(foreign):
        which = problem.constraints.describe(int(np.flatnonzero(at)[foreign[0]]))
        msg = (
            f"{problem.who}: the anchor of {which} is sample {found[foreign[0]]}, expected one of its close pair.\n"
            "Hint: anchors=rows[:, 0] beside Constraints.build(n_samples, triplets=rows)."
        )
        raise LinkwiseError(msg)
    return found


class Distances(NamedTuple):
    """Vectors with Euclidean distances, or a square of dissimilarities."""

    source: npt.NDArray[Any]
    metric: str  # "euclidean" or "precomputed"
    n_samples: int

    def between(self, i: IntArray, j: IntArray) -> FloatArray:
        """Return distances of the pairs ``i[t], j[t]``; the two differ."""
        if self.metric == "euclidean":
            out = np.empty(len(i))
            vectors, factor = scaled(self.source, np.float64)
            for start in range(0, len(i), _CHUNK):
                part = slice(start, start + _CHUNK)
                gap = vectors[i[part]] - vectors[j[part]]
                out[part] = np.sqrt(np.einsum("ij,ij->i", gap, gap)) * factor
            return out
        found = self.source[i, j]
        found = np.asarray(found, dtype=np.float64)
        if not (np.isfinite(found).all() and (found >= 0).all()):
            read_dissimilarities(self.source)  # says which entry, and why
        return found

    def square(self) -> FloatArray:
        """Return a fresh square matrix of the distances; given ones are validated first."""
        n = self.n_samples
        require_memory(n * n * 8, f"a dense {n} x {n} distance matrix", "cluster a sample of the rows.")
        if self.metric == "euclidean":
            vectors, factor = scaled(self.source, np.float64)
            D = square_distances(vectors)
            return np.asarray(D if factor == 1.0 else D * factor, dtype=np.float64)
        return np.asarray(read_dissimilarities(self.source), dtype=np.float64)


INVERSES: dict[str, int] = {"inverse": 1, "inverse_square": 2}  # weights as powers of 1 / distance


def read_pair_weights(weight: Any, n: int, *, who: str) -> Any:
    """Return weights of pairs as a square matrix of positive numbers; None and the names of `INVERSES` stay."""
    if weight is None or (isinstance(weight, str) and weight in INVERSES):
        return weight
    square = None if isinstance(weight, str) else np.asarray(weight, dtype=np.float64)
    if square is not None and square.ndim == 1 and len(square) == n * (n - 1) // 2:
        square = squareform(square, checks=False)
    if square is None or square.shape != (n, n):
        shape = f"{weight!r}" if square is None else f"an array of shape {square.shape}"
        msg = (
            f"{who}: the weights of pairs are {shape}, expected {n:,} x {n:,} numbers or the {n * (n - 1) // 2:,} "
            'above the diagonal.\nHint: an array, "inverse" or "inverse_square".'
        )
        raise LinkwiseError(msg)
    off = ~np.eye(n, dtype=np.bool_)
    if not (np.isfinite(square[off]).all() and (square[off] > 0).all() and np.array_equal(square[off], square.T[off])):
        msg = (
            f"{who}: the weights of pairs are not all finite, above 0 and symmetric.\nHint: (W + W.T) / 2 is symmetric."
        )
        raise LinkwiseError(msg)
    return square


def weigh_pairs(weight: Any, pairs: IntArray, apart: FloatArray, *, who: str) -> FloatArray:
    """Return the weights of pairs that `read_pair_weights` read; ``apart`` are the distances of these pairs."""
    if weight is None:
        return np.ones(len(apart))
    if not isinstance(weight, str):
        return np.asarray(weight[pairs[:, 0], pairs[:, 1]], dtype=np.float64)
    zero = np.flatnonzero(apart <= 0)
    if len(zero):
        pair = tuple(pairs[zero[0]].tolist())
        msg = (
            f'{who}: the samples {pair} have distance 0, whose weight under "{weight}" would be infinite.\n'
            "Hint: drop one of the two samples, or give an array of weights."
        )
        raise LinkwiseError(msg)
    middle = float(np.median(apart)) if len(apart) else 1.0
    scaled_down: FloatArray = middle / apart  # near 1, so that no weight overflows; a common factor changes nothing
    return scaled_down * scaled_down if INVERSES[weight] == 2 else scaled_down


def weigh_square(weight: Any, D: FloatArray, *, who: str) -> FloatArray:
    """Return the weights of all pairs as a square matrix with zeros on the diagonal."""
    i, j = np.triu_indices(len(D), 1)
    weights = weigh_pairs(weight, np.column_stack([i, j]), D[i, j], who=who)
    return np.asarray(squareform(weights), dtype=np.float64)


def distances_of(problem: Problem) -> Distances:
    """Return the distances of a problem; metrics other than Euclidean are computed at once into a matrix."""
    return _compare(*as_dense(problem.X, problem.metric))


def read_distances(X: Any, metric: Any, *, who: str) -> Distances:
    """Read vectors or dissimilarities that were not validated yet, as `distances_of` does for others."""
    if metric_name(metric, who=who) != "precomputed":
        return _compare(read_vectors(X, who=who), metric)
    source = np.asarray(X)
    if source.ndim != 2 or source.shape[0] != source.shape[1]:
        source = read_dissimilarities(source, who=who)  # condensed, or an error
    return _compare(source, "precomputed")


def _compare(source: npt.NDArray[Any], metric: Any) -> Distances:
    name, n = metric_name(metric), len(source)
    if name in ("euclidean", "precomputed"):
        return Distances(source, name, n)
    require_memory(n * n * 8, f"a dense {n} x {n} distance matrix", "cluster a sample of the rows.")
    return Distances(square_distances(source, metric), "precomputed", n)


def drop_at_random(constraints: Constraints, random_state: Any) -> IntArray:
    """Drop one statement of a contradiction at random until there is none; return the positions that stay."""
    generator, kept = make_generator(random_state), np.arange(constraints.n_statements)
    hard = constraints.with_weight(np.inf)
    while (why := check(hard.select(kept)).explanation) is not None:
        core = np.sort(np.array(why.core, dtype=np.intp))
        kept = np.delete(kept, core[generator.integers(len(core))])
    return kept


class _BestEffortTriplets(HierarchyMixin, ConstrainedClusterer):
    """Base of estimators that follow triplets without a guarantee: only contradictions are errors.

    Parameters
    ----------
    anchors : None, "random" or array-like of shape (n_statements,), default=None
        How many comparisons of distances a triplet ab|c makes. None: both, d(a, b) < d(a, c) and d(a, b) < d(b, c). An
        array has the sample, a or b, at which the one comparison of each statement starts, in the order in which the
        statements were given: ``anchors=rows[:, 0]`` beside ``triplets=rows``. ``"random"`` draws it. In a tree the one
        comparison says as much as both; before the tree is built it asks for less.
    conflicts : {"raise", "random", "cheapest"}, default="raise"
        What happens to statements that no tree displays together. ``"raise"``: an error if they are hard; soft ones are
        repaired. ``"random"``: one statement of a contradiction is dropped at random until there is none, hard or soft.
        ``"cheapest"``: `repair` drops the cheapest, hard or soft. ``dropped_`` has those left out.
    random_state : int, RandomState, Generator or None, default=None
        Seed of ``anchors="random"`` and ``conflicts="random"``.

    Attributes
    ----------
    satisfied_ : float
        Share of the statements in force that the tree keeps, by the independent check; 1.0 when there are none.
    """

    understands: ClassVar[frozenset[Kind]] = frozenset({Kind.TRIPLET})
    best_effort: ClassVar[bool] = True

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "anchors": [StrOptions({"random"}), "array-like", None],
        "conflicts": [StrOptions({"raise", "random", "cheapest"})],
        "random_state": ["random_state", np.random.Generator],
    }
    _added_parameters: ClassVar[dict[str, Any]] = {"anchors": None, "conflicts": "raise", "random_state": None}

    _saved: ClassVar[dict[str, Kept]] = {"satisfied_": REPORTED}

    anchors: Any
    conflicts: str
    random_state: Any
    satisfied_: float

    def _pose(self, samples: Any, constraints: Constraints) -> Problem:
        if self.conflicts == "raise":
            return super()._pose(samples, constraints)
        every = np.arange(constraints.n_statements)
        if self.conflicts == "random":
            kept = drop_at_random(constraints, self.random_state)
        else:
            kept = np.setdiff1d(every, repair(constraints, keep="most").dropped)
        problem = super()._pose(samples, constraints.select(kept))
        if len(kept) < len(every):
            self.dropped_ = constraints.with_rules().select(np.setdiff1d(every, kept))
            warn_user(
                f"{len(every) - len(kept)} of {len(every)} statements contradict others and were left out "
                f'(conflicts="{self.conflicts}"); `dropped_` lists them.'
            )
        return problem

    def _judge(self, problem: Problem) -> None:
        problem.require_consistent()  # triplets alone leave every number of clusters possible

    def _anchors(self, problem: Problem) -> IntArray | None:
        """Where the comparison of each triplet starts, for the engine."""
        return read_anchors(self.anchors, problem, self.random_state)

    def _keep(self, outcome: Dendrogram, problem: Problem) -> None:
        super()._keep(outcome, problem)
        held = self.certificate_.held
        self.satisfied_ = float(held.mean()) if len(held) else 1.0
