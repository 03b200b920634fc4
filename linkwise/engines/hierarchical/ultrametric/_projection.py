"""`project_triplets`: the sparse projection of the distances that triplets name onto those that agree with them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints
from linkwise.engines.hierarchical.ultrametric._base import (
    Comparisons,
    Distances,
    Triplets,
    read_distances,
    read_pair_weights,
    weigh_pairs,
)
from linkwise.engines.hierarchical.ultrametric._kernels_active_set import Ties, _solve_all
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem
from linkwise.problem.entailment import read_comparisons, require_no_circle
from linkwise.problem.statements import bind

HEAVY = 1e12  # weight that holds a variable in place
L1_ROUNDS = 200


def least_squares(
    wish: FloatArray, weight: FloatArray, left: IntArray, right: IntArray, gap: FloatArray, part: IntArray
) -> tuple[FloatArray, FloatArray, int]:
    """Minimize sum(weight * (x - wish)^2) under ``x[left] + gap <= x[right]``, exactly, after finitely many steps.

    Constraints that hold with equality tie variables into *blocks*: in a block all variables move together, at
    distances the gaps fix, so its best position is a weighted mean. While a constraint is broken, the two blocks it
    is about become one; if it lies within one block, that block is first opened at the tie between the two that
    pulls least. When nothing is broken, a tie whose multiplier is negative only hinders and is opened. No broken
    constraint and no negative multiplier are the Kuhn-Tucker conditions, so the end is the optimum [1]_.

    Parameters
    ----------
    wish, weight : ndarray of shape (k,)
        What each variable would like to be, and how much.
    left, right, gap : ndarray of shape (m,)
        The constraints.
    part : ndarray of shape (k,)
        Numbers of parts no constraint connects, 0 upwards; each is solved on its own.

    Returns
    -------
    x : ndarray of shape (k,)
    multiplier : ndarray of shape (m,)
        Of the constraints, 0 or more.
    stuck : int
        -1, or a part that could not be solved: its constraints form a cycle.

    References
    ----------
    .. [1] T. Dwyer, K. Marriott, P. J. Stuckey, "Fast Node Overlap Removal", Graph Drawing 2005.
    """
    k = len(wish)
    ends = np.column_stack([left, right]).ravel()
    order = np.argsort(ends, kind="stable")
    start = np.searchsorted(ends[order], np.arange(k + 1)).astype(np.intp)
    problem = Ties(
        wish=wish,
        weight=weight,
        left=left,
        right=right,
        gap=gap,
        start=start,
        around=order // 2,
        tied=np.zeros(len(left), np.bool_),
        x=wish.copy(),
        pull=np.zeros(len(left)),
        noise=np.zeros(len(left)),
        order=np.empty(k, np.intp),
        via=np.empty(k, np.intp),
        offset=np.empty(k),
        force=np.empty(k),
        error=np.empty(k),
        seen=np.zeros(k, np.intp),
        stamp=np.zeros(1, np.intp),
    )
    parts = np.arange(int(part.max(initial=-1)) + 2)
    v_list = np.argsort(part, kind="stable")
    c_list = np.argsort(part[left], kind="stable")
    v_start = np.searchsorted(part[v_list], parts).astype(np.intp)
    c_start = np.searchsorted(part[left][c_list], parts).astype(np.intp)
    scale = max(float(np.abs(wish).max(initial=0.0)), float(np.abs(gap).max(initial=0.0)))
    stuck = int(_solve_all(problem, v_start, v_list, c_start, c_list, 1e-13 * max(scale, 1e-300)))
    return problem.x, np.where(problem.tied, np.maximum(2.0 * problem.pull, 0.0), 0.0), stuck


class Projection(NamedTuple):
    """Pairs of samples that triplets name, with the distances they had and got; made by `project_triplets`.

    Attributes
    ----------
    pairs : ndarray of intp, shape (k, 2)
        Each pair once, the smaller sample first.
    before, after : ndarray of float64, shape (k,)
        Their distances as given and as moved. All other pairs keep theirs.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.engines import project_triplets
    >>> moved = project_triplets([[0.0], [3.0], [1.0]], Constraints.build(3, triplets=[(0, 1, 2)]), margin=0)
    >>> moved.pairs.tolist(), moved.before.tolist(), moved.after.tolist()
    ([[0, 1], [0, 2], [1, 2]], [3.0, 1.0, 2.0], [2.0, 2.0, 2.0])
    """

    pairs: IntArray
    before: FloatArray
    after: FloatArray


class Named(NamedTuple):
    """Comparisons ``distance[left] < distance[right]`` over the pairs they name."""

    pairs: IntArray
    left: IntArray
    right: IntArray
    triplet: IntArray  # where each comparison comes from
    part: IntArray  # of each pair; no comparison connects two parts


def name_pairs(n: int, compared: Comparisons) -> Named:
    """List the pairs of samples that comparisons name."""
    a, b, c, triplet = compared
    first, second = np.concatenate([a, a]), np.concatenate([b, c])
    key = np.minimum(first, second) * np.int64(n) + np.maximum(first, second)
    named, place = np.unique(key, return_inverse=True)
    left, right = (np.ascontiguousarray(part) for part in place.astype(np.intp).reshape(2, -1))
    part = components(len(named), np.column_stack([left, right]))
    pairs = np.column_stack([named // n, named % n]).astype(np.intp)
    return Named(pairs, left, right, triplet, part)


def project(
    named: Named, target: FloatArray, gap: FloatArray, *, norm: str = "l2", weight: FloatArray | None = None
) -> FloatArray:
    """Return the non-negative distances closest to ``target`` with ``x[left] + gap <= x[right]``."""
    weight = np.ones(len(target)) if weight is None else weight
    x = _project_weighted(named, target, weight, gap)
    if norm == "l2":
        return x
    # Least absolute deviations as a sequence of weighted squares; a distance that did not move becomes very heavy.
    scale = max(float(np.abs(x - target).max(initial=0.0)), 1e-300)
    best, least = x, float((weight * np.abs(x - target)).sum())
    for turn in range(L1_ROUNDS):
        smooth = scale * max(0.7**turn, 1e-9)
        x = _project_weighted(named, target, weight * (smooth / np.maximum(np.abs(x - target), smooth)), gap)
        total = float((weight * np.abs(x - target)).sum())
        if total < least * (1 - 1e-12):
            best, least = x, total
        elif smooth == scale * 1e-9:
            break
    return best


def _project_weighted(named: Named, target: FloatArray, weight: FloatArray, gap: FloatArray) -> FloatArray:
    x, _, stuck = least_squares(target, weight, named.left, named.right, gap, named.part)
    _require_solved(stuck)
    low = np.unique(named.part[x < 0])
    if not len(low):
        return x
    # A gap below a small distance reaches under zero. Solve those parts again, all held up by one heavy variable at 0.
    again = np.isin(named.part, low)
    number = np.cumsum(again) - 1
    rows = again[named.left]
    k = int(again.sum())
    weights = np.append(weight[again], HEAVY * float(weight[again].sum()))
    left = np.concatenate([number[named.left[rows]], np.full(k, k)]).astype(np.intp)
    right = np.concatenate([number[named.right[rows]], np.arange(k)]).astype(np.intp)
    held, _, stuck = least_squares(
        np.append(target[again], 0.0),
        weights,
        left,
        right,
        np.concatenate([gap[rows], np.zeros(k)]),
        np.zeros(k + 1, np.intp),
    )
    _require_solved(stuck)
    x[again] = np.maximum(held[:k], 0.0)
    return x


def _require_solved(stuck: int) -> None:
    if stuck >= 0:
        msg = "the projection onto consistent triplets found no end, which cannot be; please report the input."
        raise LinkwiseError(msg)


def project_triplets(
    X: Any,
    constraints: Any,
    *,
    margin: float = 1e-3,
    norm: str = "l2",
    metric: Any = "euclidean",
    pair_weight: Any = None,
) -> Projection:
    """Move the distances that triplets name as little as possible so that d(a, b) is below d(a, c) and d(b, c).

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Vectors; or with ``metric="precomputed"`` dissimilarities, square or condensed. Not modified.
    constraints : Constraints, or array-like of shape (m, 3)
        Triplets ab|c, which make two comparisons each; or rows ``a, b, c`` that make one each, d(a, b) < d(a, c), and
        say nothing about b and c.
    margin : float, default=1e-3
        By how much, as a share of the mean of the distances named. Without one many comparisons end in a tie, which
        no tree needs to respect.
    norm : {"l2", "l1"}, default="l2"
        Whether squares or absolute values of the moves are summed.
    metric : str or callable, default="euclidean"
        How vectors are compared.
    pair_weight : None, {"inverse", "inverse_square"} or array-like, default=None
        The weight of each pair in the sum, above 0: a square matrix or its upper triangle; or 1 / d and 1 / d**2 of the
        given distances; None weighs all alike.

    Returns
    -------
    Projection

    Raises
    ------
    InfeasibleConstraintsError
        No tree displays all triplets; or comparisons form a circle.

    See Also
    --------
    linkwise.problem.repair_comparisons : which comparisons to drop when they form circles.

    Notes
    -----
    **Cost** independent of n: at most 3 m unknowns, solved apart where no triplet connects them; O(k) for each of the
    O(k) steps, mostly, of a part with k comparisons. **Guarantee** the exact minimum for ``"l2"``, which is an isotonic
    regression when the margin is 0; distances stay at or above 0, and at margin 0 between the least and the largest
    named. For ``"l1"`` a minimum up to the tolerance of iterative re-weighting; it need not be the only one.
    Comparisons that follow from others change nothing, so a closure beforehand has no effect.
    **Departure from** [1]_ Algorithm 1 cycles through projections on vectors of all n (n - 1) / 2 distances and
    approaches the solution that is computed here; its index in line 11 makes it diverge as printed, and its E is the
    inverse of the E it is said to be: ``pair_weight`` is the E of the objective (7). A triplet of `Constraints` stands
    for both of the paper's comparisons, (a, b, c) and (b, a, c); rows are the paper's. ``margin=0`` is the paper's.

    References
    ----------
    .. [1] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.engines import project_triplets
    >>> X, said = [[0.0], [3.0], [1.0]], Constraints.build(3, triplets=[(0, 1, 2)])
    >>> project_triplets(X, said, margin=0.75).after.tolist()
    [1.0, 2.5, 2.5]
    >>> project_triplets(X, [(0, 1, 2)], margin=0).after.tolist()  # d(0, 1) and d(0, 2) only
    [2.0, 2.0]
    >>> project_triplets(X, [(0, 1, 2)], margin=0, pair_weight=[3.0, 1.0, 1.0]).after.tolist()  # d(0, 1) is dear
    [2.5, 2.5]
    """
    if norm not in ("l1", "l2"):
        msg = f'project_triplets does not know the norm {norm!r}.\nHint: norm="l2" or norm="l1".'
        raise LinkwiseError(msg)
    distances = read_distances(X, metric, who="project_triplets")
    n = distances.n_samples
    named = name_pairs(n, _read_comparisons(constraints, X, distances))
    weight = read_pair_weights(pair_weight, n, who="project_triplets")
    before = distances_named(distances, named)
    weights = weigh_pairs(weight, named.pairs, before, who="project_triplets")
    after = project(named, before, gaps(named, before, margin), norm=norm, weight=weights)
    return Projection(named.pairs, before, after)


def _read_comparisons(constraints: Any, X: Any, distances: Distances) -> Comparisons:
    """Read triplets that some tree displays, or rows that form no circle."""
    if isinstance(constraints, Constraints):
        bound = bind(constraints, X, distances.n_samples)
        problem = Problem(distances.source, bound, metric=distances.metric, who="project_triplets")
        problem.require_consistent()
        return Comparisons.of(Triplets.of(problem))
    rows = read_comparisons(constraints, who="project_triplets")
    require_no_circle(rows, who="project_triplets")
    if rows.max(initial=-1) >= distances.n_samples:
        msg = (
            f"project_triplets: a comparison names sample {int(rows.max())}, but samples are numbered 0 to "
            f"{distances.n_samples - 1}.\nHint: comparisons hold row positions in X."
        )
        raise LinkwiseError(msg)
    a, b, c = (np.ascontiguousarray(column) for column in rows.T)
    return Comparisons(a, b, c, np.arange(len(rows)))


def distances_named(distances: Distances, named: Named) -> FloatArray:
    """Return the distances of the pairs that are named."""
    return distances.between(np.ascontiguousarray(named.pairs[:, 0]), np.ascontiguousarray(named.pairs[:, 1]))


def gaps(named: Named, before: FloatArray, margin: float) -> FloatArray:
    """Return the margin as a distance, for every comparison."""
    if not margin >= 0:
        msg = f"margin is {margin}, expected a share of the mean distance, at least 0.\nHint: margin=1e-3."
        raise LinkwiseError(msg)
    # sorted first, so that the sum does not depend on how samples are numbered
    return np.full(len(named.left), margin * float(np.mean(np.sort(before))) if len(before) else 0.0)
