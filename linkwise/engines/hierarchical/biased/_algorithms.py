"""Runs of iHAC, biHAC and biiHAC: agglomeration of vectors that chooses merges, or learns weights, by triplets.

iHAC lets a triplet forbid a merge; biHAC lets it change the weights of the features, so that the merge is no longer
the closest; biiHAC does the one after the other. None of them guarantees that every triplet holds in the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.engines.hierarchical.biased import _kernels as kernels
from linkwise.engines.hierarchical.biased._runs import Runner, Tree
from linkwise.problem import Problem
from linkwise.result import Dendrogram


class AdaptiveRun(NamedTuple):
    """Outcome of a run.

    Attributes
    ----------
    dendrogram : Dendrogram
        One binary tree; heights are one minus the similarity at which clusters merged.
    weights : ndarray of shape (n_features,)
        The feature weights it was built with.
    error : float
        Its cluster error: one minus the share of the triplets that hold, weighted as asked for.
    broken : ndarray of shape (n_samples - 1,)
        Number of triplets each merge broke; node ``n_samples + i`` of the tree is the outcome of merge i.
    errors : ndarray of shape (n_runs,)
        Cluster error of every learning run; empty without learning.
    steps : ndarray of shape (n_runs,)
        Number of times each learning run changed the weights.
    """

    dendrogram: Dendrogram
    weights: FloatArray
    error: float
    broken: IntArray
    errors: FloatArray
    steps: IntArray


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
    runner = Runner(problem, method=method, error_weights=error_weights)
    return _learn(runner, runner.start_weights(weights), **learning)


def biihac(
    problem: Problem, *, method: str = "average", error_weights: str = "node", max_iter: int = 50, **learning: Any
) -> AdaptiveRun:
    """Run `BiiHAC`; ``errors`` and ``steps`` are those of the learning runs, all else is about the last one."""
    runner = Runner(problem, method=method, error_weights=error_weights)
    learned = _learn(runner, runner.start_weights(None), max_iter=max_iter, last=1, **learning)
    tree = runner.run(learned.weights, kernels.LEGAL, max_iter, max_iter + 1)
    return _outcome(runner, tree, learned.weights, learned.errors, learned.steps)


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
