"""Agglomeration of vectors that follows relative statements as far as it can: by choosing merges, by learning weights.

iHAC lets a statement forbid a merge; biHAC lets it change the weights of the features, so that the merge is no longer
wanted; biiHAC does the one after the other. None of them can promise that every statement holds in the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints
from linkwise.engines.hierarchical.biased import _kernels as kernels
from linkwise.engines.hierarchical.biased._runs import Runner, Tree
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram


class AdaptiveRun(NamedTuple):
    """What `ihac`, `bihac` and `biihac` return.

    Attributes
    ----------
    dendrogram : Dendrogram
        One binary tree; heights are one minus the similarity at which clusters merged.
    weights : ndarray of shape (n_features,)
        The feature weights it was built with.
    error : float
        Its cluster error: one minus the share of the statements that hold, weighted as asked for.
    broken : ndarray of shape (n_samples - 1,)
        How many statements each merge broke; node ``n_samples + i`` of the tree is the outcome of merge i.
    errors : ndarray of shape (n_runs,)
        Cluster error of every learning run; empty when nothing was learned.
    steps : ndarray of shape (n_runs,)
        How many times each learning run changed the weights.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import ihac
    >>> run = ihac(np.eye(3), Constraints.build(3, triplets=[(0, 2, 1)]))
    >>> run.error, run.broken.tolist()
    (0.0, [0, 0])
    """

    dendrogram: Dendrogram
    weights: FloatArray
    error: float
    broken: IntArray
    errors: FloatArray
    steps: IntArray


def ihac(
    X: Any, constraints: Constraints, *, method: str = "average", weights: Any = None, error_weights: str = "node"
) -> AdaptiveRun:
    """Build the tree that merges the most similar clusters first among the merges that break no triplet.

    When every merge left breaks a triplet, the most similar pair is merged all the same: the method is greedy and can
    paint itself into a corner, so consistent triplets may be broken. ``broken`` counts them merge by merge.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Vectors, compared by their cosine. Not modified. A row of zeros has similarity 0 to every other.
    constraints : Constraints
        Triplets ab|c, the paper's must-link-before constraints; other kinds are not looked at.
    method : {"average", "centroid"}, default="average"
        Similarity of two clusters: the mean over pairs of members, or that of their centroids.
    weights : array-like of shape (n_features,), optional
        Weight of each feature in the cosine, at least 0; default: all 1.
    error_weights : {"node", "uniform"}, default="node"
        What ``error`` is one minus of: the H-correlation that gives every node of the known hierarchy the same weight
        (of the tree that BUILD makes of the triplets), or the share of triplets that hold.

    Returns
    -------
    AdaptiveRun

    Raises
    ------
    InfeasibleConstraintsError
        With ``error_weights="node"``: the triplets contradict each other, so they describe no hierarchy.

    See Also
    --------
    linkwise.engines.recon : keeps every triplet attainable, so that all hold in the end.
    IHAC : the same as an estimator.

    Notes
    -----
    **Cost** one n x n matrix of float64, besides a k x k one of counts for k samples spoken about; O(n²) time in
    practice and O(m log m) for m triplets. **Guarantee** none about triplets; the merges before the first one that
    breaks any break none. **Departure from** [2]_ [1]_ only cites the method and leaves open what happens when no
    merge is allowed. A merge breaks xy|z if it joins z with exactly one of x and y; [1]_ names only x. Ties go to the
    lowest-numbered pair.

    References
    ----------
    .. [1] K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints", 2009.
    .. [2] K. Bade, A. Nürnberger, "Creating a Cluster Hierarchy under Constraints of a Partially Known Hierarchy",
       SDM 2008.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import ihac
    >>> X = np.array([[4.0, 0.0, 1.0], [3.0, 1.0, 0.0], [0.0, 4.0, 0.0], [1.0, 4.0, 1.0]])
    >>> said = Constraints.build(4, triplets=[(0, 2, 1)])
    >>> ihac(X, said).dendrogram.satisfies(said).tolist()
    [True]
    """
    runner = Runner(X, constraints, who="ihac", method=method, error_weights=error_weights)
    start = runner.start_weights(weights)
    return _outcome(runner, runner.run(start, kernels.LEGAL), start, [], [])


def bihac(
    X: Any,
    constraints: Constraints,
    *,
    method: str = "average",
    learning_rate: float = 5.0,
    max_iter: int = 50,
    n_iter_no_change: int | None = None,
    tol: float = 1e-6,
    error_weights: str = "node",
    weights: Any = None,
) -> AdaptiveRun:
    """Learn feature weights under which plain agglomeration breaks few triplets; return the best tree met on the way.

    Each run clusters all samples under fixed weights. Wherever two clusters c1 and c2 meet and the merge is the first
    to break triplets in both, the weights are changed so that c1 becomes more similar to the most similar cluster it
    may join than to c2, and then likewise for c2. The next run uses the changed weights. The tree with the least
    error on the triplets is returned; it is what a run with the returned weights produces.

    Parameters
    ----------
    X, constraints, method, error_weights
        As in `ihac`; the error that decides between runs is that of ``error_weights``.
    learning_rate : float, default=5.0
        Length of a step of gradient ascent. The default is that of [1]_ for tf-idf vectors of 5,000 terms; a few dense
        features want much less, such as 0.1.
    max_iter : int, default=50
        Most runs, r_max in [1]_.
    n_iter_no_change : int, optional
        End after so many runs without a smaller error, r_ni in [1]_; default: only ``max_iter`` ends it.
    tol : float, default=1e-6
        End when no weight has changed by more in a run.
    weights : array-like of shape (n_features,), optional
        Weights to begin with; default: all 1. With ``max_iter=1`` this clusters under given weights.

    Returns
    -------
    AdaptiveRun

    Raises
    ------
    InfeasibleConstraintsError
        With ``error_weights="node"``: the triplets contradict each other, so they describe no hierarchy.

    See Also
    --------
    BiHAC : the same as an estimator.
    biihac : lets the triplets choose merges as well, under the learned weights.

    Notes
    -----
    **Cost** each run that of plain agglomeration in O(n²), plus the weighted products of the rows (sparse rows stay
    sparse), O(m log m) for m triplets, and for each change of weights one look at the samples of four clusters.
    **Guarantee** none about triplets; the error of the returned tree is that of the best run, hence never above that
    of plain agglomeration. Weights are at least 0 and sum to the number of features.
    **Departure from** [1]_ the weights are fixed during a run. The cluster a wrongly merged one should have met is
    looked for among all but its partner. A step that leaves no weight above 0 is not taken, nor one for a cluster of
    weighted norm 0. H-correlation weighs nodes as `linkwise.metrics.h_correlation` does.

    References
    ----------
    .. [1] K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints", 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import bihac
    >>> X = np.array([[4.0, 0.0, 1.0], [3.0, 1.0, 0.0], [0.0, 4.0, 0.9], [1.0, 4.0, 0.0]])
    >>> said = Constraints.build(4, triplets=[(0, 2, 1)])
    >>> run = bihac(X, said, learning_rate=0.3)
    >>> run.error, run.weights.round(2).tolist()
    (0.0, [0.0, 0.05, 2.95])
    """
    runner = Runner(X, constraints, who="bihac", method=method, error_weights=error_weights)
    return _learn(runner, learning_rate, max_iter, n_iter_no_change, tol, runner.start_weights(weights))


def biihac(
    X: Any,
    constraints: Constraints,
    *,
    method: str = "average",
    learning_rate: float = 5.0,
    max_iter: int = 50,
    n_iter_no_change: int | None = None,
    tol: float = 1e-6,
    error_weights: str = "node",
    weights: Any = None,
) -> AdaptiveRun:
    """Learn feature weights as `bihac` does, then merge under them only what breaks no triplet, as `ihac` does.

    Parameters
    ----------
    X, constraints, method, learning_rate, max_iter, n_iter_no_change, tol, error_weights, weights
        As in `bihac`.

    Returns
    -------
    AdaptiveRun
        ``errors`` and ``steps`` are those of the learning runs, all else is about the last one.

    See Also
    --------
    BiiHAC : the same as an estimator.

    Notes
    -----
    **Cost** that of `bihac` and of one `ihac`. **Guarantee** that of `ihac`: none about triplets.
    **Departure from** [1]_ as in both.

    References
    ----------
    .. [1] K. Bade, A. Nürnberger, "Learning a Metric during Hierarchical Clustering based on Constraints", 2009,
       last paragraph of section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.engines import biihac
    >>> X = np.array([[4.0, 0.0, 1.0], [3.0, 1.0, 0.0], [0.0, 4.0, 0.9], [1.0, 4.0, 0.0]])
    >>> biihac(X, Constraints.build(4, triplets=[(0, 2, 1)]), learning_rate=0.3).error
    0.0
    """
    runner = Runner(X, constraints, who="biihac", method=method, error_weights=error_weights)
    learned = _learn(runner, learning_rate, max_iter, n_iter_no_change, tol, runner.start_weights(weights), last=1)
    tree = runner.run(learned.weights, kernels.LEGAL, max_iter, max_iter + 1)
    return _outcome(runner, tree, learned.weights, learned.errors, learned.steps)


def _learn(
    runner: Runner,
    learning_rate: float,
    max_iter: int,
    n_iter_no_change: int | None,
    tol: float,
    weights: FloatArray,
    *,
    last: int = 0,
) -> AdaptiveRun:
    """The loop of figure 5; ``last`` runs follow it."""
    if max_iter < 1 or (n_iter_no_change is not None and n_iter_no_change < 1):
        msg = f"{runner.who}: max_iter is {max_iter}, n_iter_no_change {n_iter_no_change}, expected at least 1."
        raise LinkwiseError(msg)
    if not 0 <= learning_rate < np.inf or not tol >= 0:
        msg = f"{runner.who}: learning_rate is {learning_rate}, tol {tol}, expected finite numbers of at least 0."
        raise LinkwiseError(msg)
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
