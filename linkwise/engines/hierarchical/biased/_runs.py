"""Runs of iHAC, biHAC and biiHAC: agglomeration of vectors that chooses merges, or learns weights, by triplets.

iHAC lets a triplet forbid a merge; biHAC lets it change the weights of the features, so that the merge is no longer
the closest; biiHAC does the one after the other. None of them guarantees that every triplet holds in the end.

A merge breaks xy|z if it joins z with exactly one of x and y. So a triplet can be broken only while its three samples
lie in three clusters, and the first merge of two of these settles it: x with y holds it, z with either breaks it. Until
then it is one count against each of the pairs (z, x) and (z, y) of clusters. Two samples meet once in a run. Triplets
are therefore listed under each of their three pairs, and a merge looks at the lists of the pairs that meet in it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse

from linkwise._kernels.lca import prepare, query_many
from linkwise._memory import require_memory
from linkwise._random import make_generator
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.engines import current_progress
from linkwise.engines.hierarchical.biased import _kernels as kernels
from linkwise.engines.hierarchical.biased._before import learn_before
from linkwise.engines.hierarchical.biased._kernels_broken_triplets import Live, Triples, _list_pairs
from linkwise.exceptions import InvalidArgumentError
from linkwise.problem import Problem, onetree
from linkwise.result import Dendrogram

METHODS = {"average": kernels.AVERAGE, "centroid": kernels.CENTROID}
_WORK = 200_000_000  # entries looked at between two looks at the keyboard


class Listed(NamedTuple):
    """Triplets, each once, with their samples numbered by ``sample``."""

    sample: IntArray
    row: IntArray
    group: IntArray  # the node of the known hierarchy that each belongs to, or 0
    total: IntArray  # triplets of each group


def list_triples(constraints: Constraints, *, nodes: bool) -> Listed:
    """Number the samples named and list each triplet once; with ``nodes`` find the node each belongs to.

    With ``nodes`` the triplets must not contradict each other.
    """
    given = constraints.of(Kind.TRIPLET)
    given = given[given[:, 0] != given[:, 1]]
    named = np.zeros(constraints.n_samples, dtype=np.bool_)
    named[given] = True
    sample = np.flatnonzero(named)
    k = len(sample)
    items = (np.cumsum(named) - 1)[given]
    low, high = np.minimum(items[:, 0], items[:, 1]), np.maximum(items[:, 0], items[:, 1])
    # not np.unique, whose hashing takes ten times as long on keys as regular as these
    key = np.sort((low * k + high) * k + items[:, 2])
    key = key[np.append(True, key[1:] != key[:-1])] if k else key
    row = np.stack(np.unravel_index(key, (k, k, k)), axis=1) if k else np.zeros((0, 3), dtype=np.intp)
    node = np.zeros(len(row), dtype=np.intp)
    if nodes and k:
        parent = onetree(k, row).parent
        if parent is None:
            msg = "list_triples: the triplets contradict each other, which `fit` refuses; please report the input."
            raise AssertionError(msg)
        node = query_many(prepare(parent), row[:, 0].copy(), row[:, 1].copy())
    asked = np.bincount(node)
    group = (np.cumsum(asked > 0) - 1)[node]
    return Listed(sample, row, group, asked[asked > 0])


def read_triples(listed: Listed) -> Triples:
    """Make triplets ready for the kernels."""
    k = len(listed.sample)
    start, stop, of_pair, entry, conflict = _list_pairs(listed.row.astype(np.int64), listed.group.astype(np.int64), k)
    total = listed.total.astype(np.int64)
    return Triples(listed.sample.astype(np.int64), start, stop, of_pair, entry, total, conflict)


def part_samples(constraints: Constraints, share: float, random_state: Any) -> tuple[Constraints, Constraints]:
    """Keep back a share of the samples that triplets name: triplets about the others, and those about any of these."""
    named = np.unique(constraints.of(Kind.TRIPLET))
    held = make_generator(random_state).choice(named, size=round(share * len(named)), replace=False)
    at = np.flatnonzero(constraints.kind == Kind.TRIPLET)
    touches = np.isin(constraints.of(Kind.TRIPLET), held).any(axis=1)
    learned, judged = constraints.select(at[~touches]), constraints.select(at[touches])
    if not learned.n_statements or not judged.n_statements:
        which = "learn from" if not learned.n_statements else "judge by"
        msg = (
            f"validation_fraction={share} keeps {len(held):,} of {len(named):,} samples back, which leaves no triplet "
            f"to {which}.\nHint: use validation_fraction=None, which judges by the triplets it learns from."
        )
        raise InvalidArgumentError(msg)
    return learned, judged


def open_triples(triples: Triples) -> Live:
    """Begin a run: every item a cluster of its own, every triplet open."""
    k = len(triples.sample)
    return Live(
        conflict=triples.conflict.copy() if k else np.zeros((1, 1), dtype=np.int32),
        label=np.arange(k, dtype=np.int64),
        last=np.arange(k, dtype=np.int64),
        after=np.full(k, -1, dtype=np.int64),
        size=np.ones(k, dtype=np.int64),
        settled=np.zeros(k, dtype=np.int64),
        found=np.zeros(len(triples.total), dtype=np.int64),
    )


class Tree(NamedTuple):
    """Merges of one run."""

    pairs: npt.NDArray[np.int64]
    similarity: FloatArray
    broken: npt.NDArray[np.int64]
    events: npt.NDArray[np.int64]
    error: float


class Runner:
    """Rows and triplets made ready for any number of runs."""

    def __init__(
        self,
        problem: Problem,
        *,
        method: str,
        error_weights: str,
        validation_fraction: float | None = None,
        random_state: Any = None,
    ) -> None:
        self._ids = problem.constraints.ids
        self.n, self.d = problem.X.shape
        self._method = METHODS[method]
        self._rows = _vectors(problem.X)
        self._said, self._nodes = problem.constraints, error_weights == "node"
        self._judged: Listed | None = None
        learned = problem.constraints
        if validation_fraction is not None:
            learned, judged = part_samples(problem.constraints, validation_fraction, random_state)
            self._judged = list_triples(judged, nodes=self._nodes)
        self._listed = list_triples(learned, nodes=self._nodes)
        self._triples = read_triples(self._listed)
        k = len(self._triples.sample)
        require_memory(
            8 * self.n * self.n + 20 * k * k,
            f"{problem.who} with a dense {self.n} x {self.n} matrix of similarities",
            "cluster a sample of the rows.",
        )
        self._total = np.empty((self.n, self.n))

    def start_weights(self, weights: FloatArray | None) -> FloatArray:
        """Return ones, or a copy of the weights given, scaled to meet conditions (3)."""
        if weights is None:
            return np.ones(self.d)
        given = np.array(weights, dtype=np.float64)
        total = float(given.sum())
        return given if np.isclose(total, self.d, rtol=1e-9) else given * (self.d / total)

    def run(self, weights: FloatArray, mode: int, before: int = 0, at_most: int = 1) -> Tree:
        """Merge everything; progress is reported as that of run number ``before`` of ``at_most``."""
        n, live, callback = self.n, open_triples(self._triples), current_progress()
        merging = self._begin(weights)
        chunk = max(100, _WORK // (3 * n))
        for begin in range(0, n - 1, chunk):
            end = min(begin + chunk, n - 1)
            kernels.advance(merging, self._triples, live, self._method, mode, begin, end)
            if callback is not None:
                callback(before * (n - 1) + end, at_most * (n - 1))
        share = live.found / self._triples.total
        if self._judged is not None:
            share = _shares_that_hold(self._judged, n, merging.pairs)
        return Tree(
            merging.pairs,
            merging.similarity,
            merging.broken,
            merging.events[: merging.n_events[0]],
            1.0 - float(share.mean()) if len(share) else 0.0,
        )

    @property
    def keeps_back(self) -> bool:
        """Whether some triplets are kept back."""
        return self._judged is not None

    def comparisons(self) -> tuple[IntArray, IntArray | None]:
        """The triplets to learn from and those to judge by, as numbers of samples."""
        judged = None if self._judged is None else self._judged.sample[self._judged.row]
        return self._listed.sample[self._listed.row], judged

    def use_all(self) -> None:
        """From now on let runs follow, and be judged by, all triplets, those kept back included."""
        if self._judged is not None:
            self._judged = None
            self._listed = list_triples(self._said, nodes=self._nodes)
            self._triples = read_triples(self._listed)

    def adapt(self, tree: Tree, weights: FloatArray, rate: float) -> tuple[FloatArray, int]:
        """The weights after a run that was made with ``weights``, and how many steps led there."""
        changed = weights.copy()
        return changed, int(kernels.adapt(self._rows, tree.pairs, tree.events, changed, rate))

    def dendrogram(self, tree: Tree) -> Dendrogram:
        """The tree, with one minus the similarity as height."""
        height = np.maximum(1.0 - tree.similarity, 0.0)
        return Dendrogram.from_merges(self.n, tree.pairs, height, ids=self._ids)

    def _begin(self, weights: FloatArray) -> kernels.Merging:
        n, rows, total = self.n, self._rows, self._total
        if len(rows.dense):
            scaled = rows.dense * np.sqrt(weights)
            np.matmul(scaled, scaled.T, out=total)
        else:
            kernels.products(rows.start, rows.column, rows.value, weights, total)
        inverse = np.ones(n)
        if self._method == kernels.AVERAGE:
            kernels.cosines(total)
        else:
            norm = np.sqrt(np.maximum(np.diag(total), 0.0))
            inverse = np.divide(1.0, norm, out=np.zeros(n), where=norm > 0)
        item = np.full(n, -1, dtype=np.int64)
        item[self._triples.sample] = np.arange(len(self._triples.sample))
        return kernels.Merging(
            total=total,
            inverse=inverse,
            size=np.ones(n, dtype=np.int64),
            node=np.arange(n, dtype=np.int64),
            item=item,
            spoiled=np.zeros(n, dtype=np.bool_),
            alive=np.arange(n, dtype=np.int64),
            best=np.zeros(n),
            partner=np.full(n, -1, dtype=np.int64),
            pairs=np.zeros((n - 1, 2), dtype=np.int64),
            similarity=np.zeros(n - 1),
            broken=np.zeros(n - 1, dtype=np.int64),
            events=np.zeros((n - 1, 4), dtype=np.int64),
            n_events=np.zeros(1, dtype=np.int64),
        )


def _shares_that_hold(listed: Listed, n: int, pairs: npt.NDArray[np.int64]) -> FloatArray:
    """The share of the triplets of each group that a tree of merges displays."""
    parent = np.full(2 * n - 1, -1, dtype=np.intp)
    parent[pairs] = np.arange(n, 2 * n - 1)[:, None]
    index = prepare(parent)
    x, y, z = (listed.sample[column] for column in listed.row.T)
    held = query_many(index, x, y) < query_many(index, x, z)  # both are above x, and later merges have higher numbers
    return np.bincount(listed.group[held], minlength=len(listed.total)) / listed.total


def _vectors(X: Any) -> kernels.Vectors:
    """Copy the rows, scaled by a power of two so that no square of a common size is lost; cosines do not change."""
    compressed = scipy.sparse.issparse(X)
    given: Any = scipy.sparse.csr_array(X, copy=True) if compressed else np.asarray(X)
    if compressed:
        given.sum_duplicates()
    values = np.array(given.data if compressed else given, dtype=np.float64, order="C")
    largest = float(np.abs(values).max(initial=0.0))
    values = np.ldexp(values, -int(np.frexp(largest)[1]))
    none, no_index = np.zeros(0), np.zeros(0, dtype=np.int64)
    if not compressed:
        return kernels.Vectors(values, no_index, no_index, none)
    start, column = given.indptr.astype(np.int64), given.indices.astype(np.int64)
    return kernels.Vectors(np.zeros((0, 0)), start, column, values)


class AdaptiveRun(NamedTuple):
    """Outcome of a run; ``errors`` and ``steps`` have one value for each learning run."""

    dendrogram: Dendrogram  # one binary tree; heights are one minus the similarity at which clusters merged
    weights: FloatArray  # the feature weights it was built with
    error: float  # one minus the share of the triplets that hold, weighted as asked for
    broken: IntArray  # number of triplets that each merge broke
    errors: FloatArray
    steps: IntArray  # number of times each learning run changed the weights


def ihac(
    problem: Problem, *, method: str = "average", weights: FloatArray | None = None, error_weights: str = "node"
) -> AdaptiveRun:
    """Run `IHAC`, under given feature weights if there are any."""
    runner = Runner(problem, method=method, error_weights=error_weights)
    start = runner.start_weights(weights)
    return _outcome(runner, runner.run(start, kernels.LEGAL), start, [], [])


def bihac(
    problem: Problem,
    *,
    method: str = "average",
    error_weights: str = "node",
    weights: FloatArray | None = None,
    **learning: Any,
) -> AdaptiveRun:
    """Run `BiHAC`, beginning with given feature weights if there are any."""
    runner, learning = _make_runner(problem, method, error_weights, learning)
    if learning.pop("learn", "during") == "before":
        return _run_after(runner, problem, kernels.FREE, learning)
    learned = _learn(runner, runner.start_weights(weights), **learning)
    return learned._replace(broken=_broken_of_all(runner, learned))


def biihac(
    problem: Problem, *, method: str = "average", error_weights: str = "node", max_iter: int = 50, **learning: Any
) -> AdaptiveRun:
    """Run `BiiHAC`; ``errors`` and ``steps`` are those of the learning runs, all else is about the last one."""
    runner, learning = _make_runner(problem, method, error_weights, learning)
    if learning.pop("learn", "during") == "before":
        return _run_after(runner, problem, kernels.LEGAL, {"max_iter": max_iter, **learning})
    learned = _learn(runner, runner.start_weights(None), max_iter=max_iter, last=1, **learning)
    runner.use_all()
    tree = runner.run(learned.weights, kernels.LEGAL, max_iter, max_iter + 1)
    return _outcome(runner, tree, learned.weights, learned.errors, learned.steps)


def _broken_of_all(runner: Runner, learned: AdaptiveRun) -> IntArray:
    """How many triplets each merge broke, those kept back included."""
    if not runner.keeps_back:
        return learned.broken
    runner.use_all()
    return runner.run(learned.weights, kernels.FREE).broken.astype(np.intp)


def _make_runner(
    problem: Problem, method: str, error_weights: str, learning: dict[str, Any]
) -> tuple[Runner, dict[str, Any]]:
    """The runner, and what is left of the options: those of learning."""
    kept = {key: learning[key] for key in ("validation_fraction", "random_state") if key in learning}
    runner = Runner(problem, method=method, error_weights=error_weights, **kept)
    return runner, {key: value for key, value in learning.items() if key not in kept}


def _run_after(runner: Runner, problem: Problem, mode: int, learning: dict[str, Any]) -> AdaptiveRun:
    """Learn the weights from the triplets alone, then make one run."""
    options = {"learning_rate": 5.0, "max_iter": 50, "n_iter_no_change": None, "tol": 1e-6, **learning}
    learnable, judged = runner.comparisons()
    named = np.unique(learnable if judged is None else np.concatenate([learnable, judged]))
    rows = (np.searchsorted(named, learnable), None if judged is None else np.searchsorted(named, judged))
    learned = learn_before(problem.X[named], *rows, **options)
    error = runner.run(learned.weights, mode).error if mode == kernels.FREE and runner.keeps_back else None
    runner.use_all()
    run = _outcome(runner, runner.run(learned.weights, mode), learned.weights, learned.failing, learned.steps)
    return run if error is None else run._replace(error=error)


def _learn(
    runner: Runner,
    weights: FloatArray,
    *,
    learning_rate: float = 5.0,
    max_iter: int = 50,
    n_iter_no_change: int | None = None,
    tol: float = 1e-6,
    last: int = 0,
) -> AdaptiveRun:
    """Run the loop of figure 5, which ``last`` more runs follow."""
    best: Tree | None = None
    best_weights, since = weights, 0
    errors: list[float] = []
    steps: list[int] = []
    while True:
        tree = runner.run(weights, kernels.FREE, len(errors), max_iter + last)
        changed, taken = runner.adapt(tree, weights, learning_rate)
        errors.append(tree.error)
        steps.append(taken)
        since += 1
        if best is None or tree.error < best.error:
            best, best_weights, since = tree, weights, 0
        still = not taken or float(np.abs(changed - weights).max()) <= tol
        if still or len(errors) == max_iter or (n_iter_no_change is not None and since >= n_iter_no_change):
            return _outcome(runner, best, best_weights, errors, steps)
        weights = changed


def _outcome(runner: Runner, tree: Tree, weights: FloatArray, errors: Any, steps: Any) -> AdaptiveRun:
    return AdaptiveRun(
        runner.dendrogram(tree),
        weights,
        tree.error,
        tree.broken.astype(np.intp),
        np.asarray(errors, dtype=np.float64),
        np.asarray(steps, dtype=np.intp),
    )
