"""The metric nearest to given distances under links: a least-squares problem with a constraint for each triangle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from linkwise._memory import require_memory
from linkwise._threads import Workers
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import read_count, read_number
from linkwise.constraints import LINKS, Constraints, require_understood
from linkwise.engines.distances._bent_by_links import fresh_distances, read_source
from linkwise.engines.distances._dense import Metric
from linkwise.exceptions import GaveUpError, LinkwiseError
from linkwise.problem import Problem
from linkwise.problem.statements import bind

_SIDES = ((0, 1, 2), (1, 0, 2), (2, 0, 1))  # each side of a triangle against the two others


def nearest_metric(
    X: Any,
    constraints: Constraints,
    *,
    metric: Metric = "euclidean",
    far: float | None = None,
    tol: float = 1e-6,
    max_iter: int = 10_000,
) -> FloatArray:
    """Return the metric nearest to given distances in which must-links are 0 and cannot-links are far.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Vectors; or with ``metric="precomputed"`` dissimilarities, square or condensed. Not modified.
    constraints : Constraints
        Must-links, cannot-links, groups together and groups apart; all are taken as hard.
    metric : str or callable, default="euclidean"
        Metric between vectors, or ``"precomputed"``.
    far : float, optional
        Distance of cannot-linked samples; by default the largest given distance.
    tol : float, default=1e-6
        Stop when no triangle inequality is broken by more, and no distance moves by more in a sweep, as a share of
        the largest distance.
    max_iter : int, default=10000
        Maximum number of sweeps over all triangles.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        Symmetric, with a zero diagonal; triangle inequalities hold up to ``tol``.

    Raises
    ------
    InfeasibleConstraintsError
        A cannot-link lies inside a must-linked component.
    GaveUpError
        ``max_iter`` sweeps were not enough.
    MemoryLimitError
        The multipliers of the triangles would not fit into memory; raised before anything is allocated.

    See Also
    --------
    propagate : shortest paths instead, for thousands of samples.

    Notes
    -----
    [1]_ calls this well-founded but ineffective, since no general solver of its time took more than a dozen samples.
    Distances between two must-linked components must be equal in any such metric, so one variable stands for them,
    weighted by their number. Distances are projected onto one triangle inequality after the other, with a multiplier
    for each (Hildreth's method); triples whose indices have the same sum modulo n share no pair and are handled at
    once.

    **Cost** O(n^3) time per sweep and memory, for n must-linked components: some hundred are possible. **Guarantee**
    the sum of squared changes of all distances that are not given by a link is minimal, up to ``tol``.
    **Departure from** [1]_ the norm, left open there, is the Euclidean one; ``far`` is the example it gives.

    References
    ----------
    .. [1] D. Klein, S. D. Kamvar, C. D. Manning, "From Instance-level Constraints to Space-Level Constraints: Making
       the Most of Prior Knowledge in Data Clustering", ICML 2002.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.engines import nearest_metric
    >>> X = [[0.0], [1.0], [8.0], [10.0]]
    >>> nearest_metric(X, Constraints.build(4, must_link=[(0, 3)])).round(2).tolist()
    [[0.0, 5.0, 5.0, 0.0], [5.0, 0.0, 7.0, 5.0], [5.0, 7.0, 0.0, 5.0], [0.0, 5.0, 5.0, 0.0]]
    """
    tol = read_number(tol, "tol", "nearest_metric")
    max_iter = read_count(max_iter, "max_iter", "nearest_metric", low=1)
    source, n, metric, _ = read_source(X, metric, None, who="nearest_metric")
    known = bind(constraints, X, n)
    require_understood(known, "nearest_metric", LINKS)
    problem = Problem(np.empty((n, 0)), known.with_weight(np.inf), who="nearest_metric")
    problem.require_consistent()
    m = problem.n_groups
    require_memory(8 * (n * n + m**3), f"multipliers for the triangles of {m} components", "use `propagate`.")
    with Workers() as workers:
        given = np.asarray(fresh_distances(source, metric, np.dtype(np.float64), workers))
    largest = float(given.max(initial=0.0))
    reach = largest if far is None else read_number(far, "far", "nearest_metric")
    if reach < 0 or tol <= 0:
        msg = f"nearest_metric: far is {reach} and tol is {tol}, expected far >= 0 and tol > 0."
        raise LinkwiseError(msg)
    size = np.bincount(problem.group, minlength=m).astype(np.float64)
    D = np.zeros((m, m))
    np.add.at(D, (problem.group[:, None], problem.group[None, :]), given)
    weight = np.outer(size, size)
    D /= weight
    ease = 1.0 / weight
    pairs = problem.apart.pairs()
    for u, v in (pairs.T, pairs.T[::-1]):
        D[u, v], ease[u, v] = reach, 0.0
    np.fill_diagonal(D, 0.0)
    _project(D, ease, tol * max(largest, reach), max_iter)
    return np.ascontiguousarray(D[np.ix_(problem.group, problem.group)])


def _project(D: FloatArray, ease: FloatArray, close: float, max_iter: int) -> None:
    """Project distances onto all triangle inequalities, in place; ``ease`` is the inverse weight, 0 for fixed ones."""
    m = len(D)
    batches = [(triple, np.zeros((3, triple.shape[1]))) for triple in _disjoint_triples(m)]
    flat, loose = D.ravel(), ease.ravel()
    for _ in range(max_iter):
        moved = worst = 0.0
        for sides, dual in batches:
            e = loose[sides]
            total = e.sum(axis=0)
            free = total > 0
            for long, *others in _SIDES:
                excess = flat[sides[long]] - flat[sides[others[0]]] - flat[sides[others[1]]]
                worst = max(worst, float(excess.max(initial=0.0)))
                step = np.divide(excess, total, out=np.zeros_like(excess), where=free)
                step = np.maximum(step, -dual[long])
                dual[long] += step
                flat[sides[long]] -= step * e[long]
                for other in others:
                    flat[sides[other]] += step * e[other]
                moved = max(moved, float((np.abs(step) * e.max(axis=0)).max(initial=0.0)))
        if worst <= close and moved <= close:
            break
    else:
        msg = (
            f"nearest_metric: after {max_iter:,} sweeps a triangle inequality is still broken by {worst:.2g}.\n"
            "Hint: a larger max_iter or tol, or `propagate`, which needs no search."
        )
        raise GaveUpError(msg)
    D[:] = np.triu(D, 1) + np.triu(D, 1).T


def _disjoint_triples(m: int) -> Iterator[IntArray]:
    """Yield, for batches of triples i < j < k that share no pair, where their three pairs stand in a flat matrix."""
    i, j = np.triu_indices(m, 1)
    for total in range(m):
        k = (total - i - j) % m
        kept = k > j
        if kept.any():
            a, b, c = i[kept], j[kept], k[kept]
            yield np.stack([a * m + b, a * m + c, b * m + c])
