"""Dense distances: computed from vectors in any metric, or read from a precomputed matrix."""

from __future__ import annotations

import math
from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse

from linkwise._kernels.condensed import samples_from_length
from linkwise._memory import require_memory
from linkwise._threads import Workers
from linkwise._typing import BoolArray, FloatArray, Floats
from linkwise._validation import require_numbers, warn_user
from linkwise.engines.distances._kernels_dense import TALL, Neighbors, _copy_if_fair, _expand, _fill_rows
from linkwise.exceptions import LinkwiseError

Metric = str | Callable[[Any, Any], float]

_ALIASES = {"l2": "euclidean", "l1": "cityblock", "manhattan": "cityblock"}
METRICS = (
    "euclidean",
    "sqeuclidean",
    "cityblock",
    "chebyshev",
    "cosine",
    "correlation",
    "canberra",
    "braycurtis",
    "hamming",
    "jaccard",
    "jensenshannon",
    "mahalanobis",
    "seuclidean",
    "minkowski",
)


def metric_name(metric: Metric, *, who: str = "agglomerate") -> str:
    """Return the canonical name of a metric: one of METRICS, ``"precomputed"`` or ``"callable"``."""
    if callable(metric):
        return "callable"
    name = _ALIASES.get(metric, metric) if isinstance(metric, str) else repr(metric)
    if name == "precomputed" or name in METRICS:
        return name
    known = (*METRICS, *_ALIASES, "precomputed")
    near = get_close_matches(str(metric).lower(), known, n=1, cutoff=0.6)
    guess = f"did you mean {near[0]!r}? Metrics" if near else "metrics"
    msg = (
        f"{who} does not know the metric {metric!r}.\nHint: {guess} are {', '.join(known)}, or a function of two rows."
    )
    raise LinkwiseError(msg)


def scaled(X: FloatArray, dtype: npt.DTypeLike) -> tuple[Floats, float]:
    """Return the vectors in the compute type, and the factor to multiply distances by afterwards.

    In single precision rows are first centered and brought to a size near 1 (by a power of two, which is exact), so
    that neither a common offset nor small or large units cost digits. Double precision is unchanged unless squares
    would underflow. Raises if squared distances would overflow.
    """
    largest = max(float(X.max(initial=0.0)), -float(X.min(initial=0.0)))
    if not math.isfinite(4.0 * largest * largest * max(1, X.shape[1])):
        msg = (
            f"X holds values up to {largest:.3g}: squared distances overflow double precision.\n"
            f"Hint: rescale, for example X / {largest:.0e}."
        )
        raise LinkwiseError(msg)
    if np.dtype(dtype) == np.float32:
        X = X - X.mean(axis=0) if len(X) else X
        largest = float(np.max(np.abs(X), initial=0.0))
    elif largest == 0.0 or largest > 1e-100:
        return np.ascontiguousarray(X, dtype=dtype), 1.0
    if largest == 0.0:
        return np.ascontiguousarray(X, dtype=dtype), 1.0
    exponent = int(np.frexp(largest)[1])
    return np.ascontiguousarray(np.ldexp(X, -exponent), dtype=dtype), float(np.ldexp(1.0, exponent))


WIDE_ENOUGH = 2_000_000  # elements of work from which threads pay


def square_distances(
    X: Floats,
    metric: Metric = "euclidean",
    *,
    squared: bool = False,
    dtype: npt.DTypeLike = np.float64,
    workers: Workers | None = None,
    pitch: int | None = None,
    near: Neighbors | None = None,
) -> Floats:
    """Compute the full square of distances between the rows of ``X``, in rows of ``pitch`` entries (default n_samples).

    For Euclidean distances X is in the compute type already (see `scaled`); a function is evaluated for both orders of
    every pair. ``near`` is filled as well, unless the work is large enough for threads, or the metric is not Euclidean.
    The diagonal is 0, or infinite where ``near`` was filled; columns from n_samples on are undefined.
    """
    n = len(X)
    D = np.empty((n, n if pitch is None else pitch), dtype=dtype)
    name = metric_name(metric)
    if name in ("euclidean", "sqeuclidean"):
        columns = np.ascontiguousarray(X.T, dtype=dtype)
        root = (name == "euclidean") and not squared
        unused = Neighbors.of(0, dtype)
        bands, cost = -(-n // TALL), TALL * n * (8 + X.shape[1]) // 32
        if bands * cost < WIDE_ENOUGH:
            _fill_rows(columns, D, root, unused if near is None else near, 0, bands)
        elif workers is not None:
            workers.over(_fill_rows, bands, cost, columns, D, root, unused)
        else:
            with Workers() as own:
                own.over(_fill_rows, bands, cost, columns, D, root, unused)
        if name == "sqeuclidean" and squared:
            np.square(D[:, :n], out=D[:, :n])
        return D
    _fill_by_name(X, metric, name, D[:, :n])
    if squared:
        np.square(D[:, :n], out=D[:, :n])
    return D


def _fill_by_name(X: Floats, metric: Metric, name: str, D: Floats) -> None:
    """Fill ``D`` with distances of SciPy's metrics or of a function, a few rows at a time."""
    from scipy.spatial.distance import cdist

    X = np.ascontiguousarray(X, dtype=np.float64)
    options: dict[str, Any] = {}
    if name == "cosine":
        _require_directions(np.asarray(X.any(axis=1)))
    elif name == "seuclidean":
        options["V"] = np.var(X, axis=0, ddof=1)
    elif name == "mahalanobis":
        options["VI"] = np.linalg.inv(np.atleast_2d(np.cov(X.T))).T.copy()
    step = max(1, 4_000_000 // max(1, len(X)))
    for start in range(0, len(X), step):
        rows = slice(start, start + step)
        block = cdist(X[rows], X, metric if name == "callable" else name, **options)
        block[np.arange(len(block)), np.arange(start, start + len(block))] = 0.0
        if name != "callable":
            # one minus a cosine may round to just below zero
            np.maximum(block, 0.0, out=block)
        # a negative zero has the sign bit set, which kernels that compare bits would take for the smallest number
        block += 0.0
        bad = np.isnan(block) | (block < 0)
        if bad.any():
            i, j = (int(p[0]) for p in np.nonzero(bad))
            msg = (
                f"metric {_label(metric)} gives {block[i, j]} for rows {start + i} and {j} of X; "
                "distances must be numbers of at least 0.\nHint: look at these two rows."
            )
            raise LinkwiseError(msg)
        D[rows] = block
    if name == "callable":
        _require_symmetry(D, f"metric {_label(metric)}")
    elif name == "correlation":
        np.maximum(D, D.T, out=D)


def _label(metric: Metric) -> str:
    return repr(metric) if isinstance(metric, str) else getattr(metric, "__name__", "callable") + "()"


def _require_directions(nonzero: BoolArray) -> None:
    """Raise if some rows hold only zeros, which have no cosine."""
    zero = np.flatnonzero(~nonzero).tolist()
    if zero:
        shown = ", ".join(map(str, zero[:5])) + (f" and {len(zero) - 5} more" if len(zero) > 5 else "")
        msg = (
            f"cosine distance is undefined for rows of zeros: rows {shown} of X.\n"
            "Hint: drop these rows or use another metric."
        )
        raise LinkwiseError(msg)


def _require_symmetry(D: Floats, who: str) -> None:
    """Raise if D differs from its transpose by more than rounding; compares in blocks, without a second matrix."""
    worst, where = 0.0, (0, 0)
    tolerance = 1e-8 if D.dtype == np.float64 else 1e-5
    step = max(1, 4_000_000 // max(1, len(D)))
    for start in range(0, len(D), step):
        rows = D[start : start + step].astype(np.float64)
        mirrored = D[:, start : start + step].T.astype(np.float64)
        with np.errstate(invalid="ignore"):
            off = np.abs(rows - mirrored) - tolerance * np.maximum(rows, mirrored)
        off[np.isinf(rows) & np.isinf(mirrored)] = 0.0
        at = np.unravel_index(int(np.argmax(off)), off.shape)
        if off[at] > worst:
            worst, where = float(off[at]), (start + int(at[0]), int(at[1]))
    if worst > 0:
        i, j = where
        msg = (
            f"{who} is not symmetric: the worst pair is ({i}, {j}), with {D[i, j]:.6g} in one direction "
            f"and {D[j, i]:.6g} in the other.\nHint: symmetrize, for example (D + D.T) / 2."
        )
        raise LinkwiseError(msg)


def read_dissimilarities(
    D: Any, *, dtype: npt.DTypeLike = np.float64, who: str = "agglomerate", pitch: int | None = None
) -> Floats:
    """Read a square or condensed matrix into a new square one, or raise an error that explains the fault.

    The result has a zero diagonal, is symmetric up to rounding, and has rows of ``pitch`` entries (default n); columns
    from n on are undefined. Errors name the worst or the first pair at fault.
    """
    given = np.asarray(D)
    if given.dtype.kind not in "biuf":
        msg = (
            f"{who} expects numbers as dissimilarities, but got dtype {given.dtype}.\nHint: convert with astype(float)."
        )
        raise LinkwiseError(msg)
    if given.ndim == 1:
        n = samples_from_length(len(given))
        if n is None:
            k = (1 + int(np.sqrt(1 + 8 * len(given)))) // 2
            msg = (
                f"{who} got {len(given)} condensed dissimilarities, which is not n (n - 1) / 2 for any n "
                f"({k} samples have {k * (k - 1) // 2}, {k + 1} have {k * (k + 1) // 2}).\n"
                "Hint: scipy.spatial.distance.pdist makes such vectors, squareform converts them."
            )
            raise LinkwiseError(msg)
    elif given.ndim == 2 and given.shape[0] == given.shape[1]:
        n = len(given)
    else:
        msg = (
            f"{who} got a matrix of shape {given.shape} as dissimilarities, which is not square.\n"
            'Hint: pass vectors with metric="euclidean", or n x n dissimilarities with metric="precomputed".'
        )
        raise LinkwiseError(msg)
    base = np.empty((n, n if pitch is None else pitch), dtype=dtype)
    out = base[:, :n]
    plain = given.ndim == 2 and given.dtype in (np.float64, np.float32) and given.flags.c_contiguous
    if plain and _copy_if_fair(given, base, 1e-8 if base.dtype == np.float64 else 1e-5):
        return base
    _require_dissimilarities(given, n, who)
    with np.errstate(over="ignore"):
        if given.ndim == 2:
            out[...] = given
        else:
            _expand(np.ascontiguousarray(given, dtype=dtype), base)
        np.abs(out, out=out)  # a negative zero has the sign bit set, which kernels that compare bits would misread
    if np.isinf(out.max(initial=0.0)):
        msg = (
            f"{who} got dissimilarities too large for {np.dtype(dtype)}.\nHint: rescale them, or use dtype=np.float64."
        )
        raise LinkwiseError(msg)
    if given.ndim == 2:
        _require_symmetry(out, f"{who}: the matrix")
    return base


def _require_dissimilarities(given: npt.NDArray[Any], n: int, who: str) -> None:
    """Raise on entries that are not dissimilarities, naming the first such pair."""
    from linkwise._kernels.condensed import condensed_pair

    flat = given.reshape(-1) if given.ndim == 1 else given
    checks = (("missing (NaN)", np.isnan), ("infinite", np.isinf), ("negative", lambda v: v < 0))
    for word, wrong in checks:
        if given.dtype.kind in "bu" or (given.dtype.kind == "i" and word != "negative"):
            continue
        bad = wrong(flat)
        if bad.any():
            first = np.argmax(bad)
            i, j = divmod(int(first), n) if given.ndim == 2 else condensed_pair(n, int(first))
            msg = (
                f"{who} got a {word} dissimilarity for the pair ({i}, {j}).\n"
                "Hint: dissimilarities are finite numbers of at least 0; a similarity s can be turned into 1 - s."
            )
            raise LinkwiseError(msg)
    if given.ndim == 2 and n:
        diagonal = np.abs(np.diagonal(given).astype(np.float64))
        if diagonal.max() > 1e-8 * max(1.0, float(given.max())):
            i = int(diagonal.argmax())
            msg = (
                f"{who} got a matrix whose diagonal is not zero: entry ({i}, {i}) is {given[i, i]:.6g}.\n"
                "Hint: is this a similarity? Dissimilarities of a sample to itself are 0."
            )
            raise LinkwiseError(msg)


def read_vectors(X: Any, *, who: str = "agglomerate") -> FloatArray:
    """Return finite vectors in double precision; warn when they look like a distance matrix."""
    if type(X) is np.ndarray and X.ndim == 2 and X.dtype == np.float64 and X.size and np.isfinite(X).all():
        # nothing to check or convert: check_array alone would cost a tenth of clustering a small input
        vectors: FloatArray = np.ascontiguousarray(X)
        warn_of_distances(vectors, who=who)
        return vectors
    from sklearn.utils import check_array

    require_numbers(X)
    # the sum that scikit-learn tries first may overflow although all entries are finite
    with np.errstate(over="ignore", invalid="ignore"):
        vectors = check_array(X, dtype=np.float64, order="C", input_name="X")
    warn_of_distances(vectors, who=who)
    return vectors


def warn_of_distances(X: FloatArray, *, who: str) -> None:
    """Warn if vectors look like a distance matrix."""
    if looks_like_distances(X):
        warn_user(
            f"{who}: X is square, symmetric and zero on the diagonal: it looks like distances but is read as vectors.\n"
            'Hint: metric="precomputed" reads it as dissimilarities.'
        )


def looks_like_distances(X: FloatArray) -> bool:
    """Whether a matrix could hold distances: square, symmetric, zero diagonal, no negative entry."""
    if X.ndim != 2 or X.shape[0] != X.shape[1] or len(X) < 2 or np.diagonal(X).any():
        return False
    return bool(X.any() and X.min() >= 0 and np.array_equal(X, X.T))


def sparse_distances(rows: Any, columns: Any, metric: Any) -> FloatArray:
    """Return distances between the rows of two matrices, either of which may be sparse."""
    from sklearn.metrics import pairwise_distances

    rows, columns = (  # the index type scikit-learn's city-block kernel requires
        type(X)((X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32)), shape=X.shape)
        if scipy.sparse.issparse(X) and X.indices.dtype != np.int32 and X.nnz < 2**31
        else X
        for X in (rows, columns)
    )
    return np.asarray(pairwise_distances(rows, columns, metric=metric), dtype=np.float64)


_SPARSE_METRICS = ("euclidean", "cityblock", "cosine")


def require_sparse_metric(who: str, metric: str) -> None:
    """Raise if a metric does not support sparse vectors."""
    if metric not in _SPARSE_METRICS:
        msg = (
            f"{who} with metric={metric!r} takes no sparse X.\n"
            f"Hint: sparse data go with metric {', '.join(_SPARSE_METRICS)}; or pass X.toarray()."
        )
        raise LinkwiseError(msg)


def as_dense(X: Any, metric: Any) -> tuple[Any, Any]:
    """Return sparse vectors as their distances, and anything else unchanged; also the metric to use."""
    if not scipy.sparse.issparse(X):
        return X, metric
    n = X.shape[0]
    if metric == "cosine":
        _require_directions(np.asarray(abs(X).sum(axis=1)).ravel() != 0)
    require_memory(2 * n * n * 8, f"a dense {n} x {n} distance matrix", "cluster a sample of the rows.")
    distances = sparse_distances(X, X, metric)
    np.fill_diagonal(distances, 0.0)
    return (distances + distances.T) / 2, "precomputed"
