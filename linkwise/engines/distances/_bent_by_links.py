"""Distances changed by links: shortest paths on which moving between must-linked samples is free."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import scipy.sparse

from linkwise._memory import require_memory
from linkwise._threads import Workers
from linkwise._typing import Floats, IntArray
from linkwise._validation import read_dtype
from linkwise.constraints import LINKS, Constraints, require_understood
from linkwise.engines.distances._dense import (
    Metric,
    as_dense,
    metric_name,
    read_dissimilarities,
    read_vectors,
    require_sparse_metric,
    scaled,
    square_distances,
)
from linkwise.engines.distances._kernels_shortest_paths import _contract, _expand, mirror
from linkwise.engines.distances._shortest_paths import PIVOTS, shorten
from linkwise.exceptions import LinkwiseError
from linkwise.problem import Problem
from linkwise.problem.statements import bind

# Metrics that obey the triangle inequality. Not among them: squares, cosine, correlation, Bray-Curtis, and Jaccard,
# which SciPy extends to numbers in its own way.
TRIANGLE = frozenset(
    {
        "euclidean",
        "cityblock",
        "chebyshev",
        "canberra",
        "hamming",
        "jensenshannon",
        "mahalanobis",
        "seuclidean",
        "minkowski",
    }
)


def obeys_triangle(metric: Metric, metric_input: bool | None, *, who: str = "propagate") -> bool:
    """Whether the metric, or else the user, guarantees the triangle inequality."""
    return metric_name(metric, who=who) in TRIANGLE if metric_input is None else bool(metric_input)


def adjust(
    source: Any,
    group: IntArray,
    metric: Metric,
    dtype: npt.DTypeLike,
    *,
    triangle: bool,
    far: IntArray | None = None,
) -> Floats:
    """Return the shortest distances when going from a sample to a must-linked one is free, as a fresh square.

    Parameters are those of `adjust_groups`.
    """
    D = adjust_groups(source, group, metric, dtype, triangle=triangle, far=far)
    if group.max(initial=-1) + 1 < len(group):
        _expand(D, group)
    return D


def adjust_groups(
    source: Any,
    group: IntArray,
    metric: Metric,
    dtype: npt.DTypeLike,
    *,
    triangle: bool,
    far: IntArray | None = None,
) -> Floats:
    """Return the shortest distances between must-linked groups, in the corner of a square with a row for each sample.

    ``group`` numbers must-linked groups by first appearance. With ``triangle`` only must-linked samples are tried as
    stops, else all; pairs of groups in ``far`` are set to twice the largest distance. ``source`` holds finite vectors,
    or dissimilarities.
    """
    kind = np.dtype(dtype)
    size = np.bincount(group)
    n, m = len(group), len(size)
    stops = np.flatnonzero(size > 1)
    if len(stops) and not triangle:
        stops = np.arange(m)
    beside = len(stops) if triangle else min(len(stops), PIVOTS)
    require_memory(
        n * n * kind.itemsize + beside * m * (16 + kind.itemsize) + beside * beside * kind.itemsize,
        f"propagating through a dense {n} x {n} distance matrix in {kind}",
        ("dtype=np.float32 halves it; " if kind == np.float64 else "") + "cluster a sample of the rows.",
    )
    with Workers() as workers:
        D = fresh_distances(source, metric, kind, workers)
        if len(stops):
            # All samples of a component get the same distances: one row represents them until the paths are found.
            _contract(D, group)
            shorten(D, m, stops, workers)
        mirror(D, m)
    if far is not None and len(far):
        largest = float(D[:m, :m].max(initial=0.0))
        first, second = far.T
        D[first, second] = D[second, first] = min(2 * largest, float(np.finfo(kind).max)) if largest else 1.0
    return D


def fresh_distances(source: Any, metric: Metric, kind: np.dtype[Any], workers: Workers) -> Floats:
    """Return distances as a new square matrix with a zero diagonal."""
    name = metric_name(metric)
    if name == "precomputed":
        D = read_dissimilarities(source, dtype=kind, who="propagate")
    elif name == "euclidean":
        vectors, factor = scaled(source, kind)
        D = square_distances(vectors, dtype=kind, workers=workers)
        if factor != 1.0:
            largest = float(D.max(initial=0.0)) * factor
            limits = np.finfo(kind)
            if largest and not float(limits.smallest_normal) < largest < float(limits.max):
                msg = (
                    f"propagate: distances are up to {largest:.0e}, which {kind} cannot hold.\n"
                    f"Hint: dtype=np.float64, or rescale, for example X / {largest:.0e}."
                )
                raise LinkwiseError(msg)
            D *= kind.type(factor)
    else:
        D = square_distances(source, metric, dtype=kind, workers=workers)
    np.fill_diagonal(D, 0)
    return D


def propagate(
    X: Any,
    constraints: Constraints,
    *,
    metric: Metric = "euclidean",
    metric_input: bool | None = None,
    cannot_link: Literal["far", "keep"] = "far",
    dtype: npt.DTypeLike = np.float64,
) -> Floats:
    """Return dissimilarities in which must-linked samples coincide and cannot-linked ones are far apart.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Vectors; or with ``metric="precomputed"`` dissimilarities, square or condensed. Not modified.
    constraints : Constraints
        Must-links, cannot-links, groups together and groups apart; all are taken as hard.
    metric : str or callable, default="euclidean"
        Metric between vectors, or ``"precomputed"``.
    metric_input : bool, optional
        Whether the dissimilarities obey the triangle inequality, so that only must-linked samples can shorten a path.
        By default True for metrics known to obey it (Euclidean and others), and False for all others and for a
        precomputed matrix.
    cannot_link : {"far", "keep"}, default="far"
        "far" sets cannot-linked pairs to twice the largest of all shortened dissimilarities (1 if that is 0); "keep"
        leaves them unchanged, for a method that receives the constraints as well.
    dtype : {float64, float32}, default=float64
        Floating-point type of the computation and the result.

    Returns
    -------
    ndarray of shape (n_samples, n_samples)
        Symmetric, with a zero diagonal; suitable for any method that takes dissimilarities.

    Raises
    ------
    InfeasibleConstraintsError
        A cannot-link lies inside a must-linked component.
    UnsupportedConstraintError
        There are statements of other kinds, or rules.
    MemoryLimitError
        The matrices would not fit into memory; raised before anything is allocated.

    See Also
    --------
    ConstrainedCompleteLink : complete link on these dissimilarities; hard statements hold.

    Notes
    -----
    Must-linked pairs get distance 0, then every pair gets the length of its shortest path. Without must-links nothing
    is shortened, so dissimilarities that break the triangle inequality stay unchanged.

    **Cost** one n x n matrix of ``dtype``, and 3 n p numbers for p must-linked components; O(n^2 p) time at worst,
    O(n^3) when the triangle inequality is not known to hold. Most paths that cannot be shorter are skipped: for
    points in the plane all but a few per cent. **Guarantee** no pair of samples gets farther apart, except by a
    cannot-link; the result without cannot-links is a metric; applying the function again changes nothing (each up to
    rounding). **Departure from** [1]_ components of the given must-links replace pairs at distance 0, so that
    duplicates of a sample do not count as linked; cannot-links apply to all samples of both components; the largest
    distance is doubled, as adding 1 may be lost in rounding.

    References
    ----------
    .. [1] D. Klein, S. D. Kamvar, C. D. Manning, "From Instance-level Constraints to Space-Level Constraints: Making
       the Most of Prior Knowledge in Data Clustering", ICML 2002.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.engines import propagate
    >>> X = [[0.0], [1.0], [8.0], [10.0]]
    >>> propagate(X, Constraints.build(4, must_link=[(0, 3)]))[1].tolist()
    [1.0, 0.0, 3.0, 1.0]
    >>> propagate(X, Constraints.build(4, must_link=[(0, 3)], cannot_link=[(0, 1)]))[1].tolist()
    [6.0, 0.0, 3.0, 6.0]
    """
    if not isinstance(cannot_link, str) or cannot_link not in ("far", "keep"):
        msg = f'propagate: cannot_link is {cannot_link!r}, expected "far" or "keep".'
        raise LinkwiseError(msg)
    kind = read_dtype(dtype)
    if kind not in (np.float32, np.float64):
        msg = f"propagate: dtype is {kind}, expected float32 or float64.\nHint: dtype=np.float32 or dtype=np.float64."
        raise LinkwiseError(msg)
    source, n, metric, triangle = read_source(X, metric, metric_input)
    known = bind(constraints, X, n)
    require_understood(known, "propagate", LINKS)
    # contraction needs the statements only: X may be a condensed matrix, which has no row for each sample
    problem = Problem(np.empty((n, 0)), known.with_weight(np.inf), who="propagate")
    problem.require_consistent()
    far = problem.apart.pairs() if cannot_link == "far" else None
    return adjust(source, problem.group, metric, kind, triangle=triangle, far=far)


def read_source(
    X: Any, metric: Metric, metric_input: bool | None, *, who: str = "propagate"
) -> tuple[Any, int, Metric, bool]:
    """Read vectors or dissimilarities; return array, number of samples, metric and whether triangles hold."""
    triangle = obeys_triangle(metric, metric_input, who=who)
    if scipy.sparse.issparse(X) and metric != "precomputed":
        require_sparse_metric(who, metric_name(metric))
        X, metric = as_dense(X.tocsr(), metric_name(metric))
    if metric == "precomputed":
        source = np.asarray(X.toarray() if scipy.sparse.issparse(X) else X)
        n = len(source) if source.ndim != 1 else (1 + round(np.sqrt(1 + 8 * len(source)))) // 2
        return source, n, metric, triangle
    source = read_vectors(X, who=who)
    return source, len(source), metric, triangle
