"""`agglomerate` and the choice of the exact and cheapest algorithm for a linkage, its data and its rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._memory import require_memory, row_pitch
from linkwise._threads import Workers
from linkwise._typing import BoolArray, FloatArray, Floats, IntArray
from linkwise._validation import read_dtype
from linkwise.constraints import Groups
from linkwise.engines.agglomeration import (
    _early_rounds,
    _kernels_any_dense,
    _kernels_rounds,
    _kernels_rounds_dense,
    _kernels_small_points,
    _linkages,
    _rounds_dense,
    _rounds_points,
    _spanning_tree,
)
from linkwise.engines.agglomeration._contracted_points import Points, gather, make_few
from linkwise.engines.agglomeration._kernels_any_dense import ALIVE, Table, _part
from linkwise.engines.agglomeration._kernels_linkages import COMPLETE, SINGLE, WARD
from linkwise.engines.agglomeration._linkages import EUCLIDEAN_ONLY, REDUCIBLE, leaner, linkage_code
from linkwise.engines.distances import (
    Metric,
    Neighbors,
    metric_name,
    read_dissimilarities,
    read_vectors,
    scaled,
    square_distances,
)
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from linkwise.result import Dendrogram

Progress = Callable[[int, int], object]


class Merges(NamedTuple):
    """The merges of one run, in the order in which they were, or count as having been, made.

    Merge ``t`` joins the nodes ``pairs[t]`` and creates node ``n + t``. Unconstrained and cannot-link runs of reducible
    linkages come sorted by height; centroid, median and runs under gamma or epsilon in merge order.
    """

    pairs: IntArray
    height: FloatArray


def merge_all(
    source: npt.NDArray[Any],
    *,
    method: str,
    metric: Metric = "euclidean",
    forced: IntArray | None = None,
    forbidden: IntArray | None = None,
    apart: Groups | None = None,
    gamma: float | None = None,
    epsilon: float | None = None,
    near: csr_array | None = None,
    moved: tuple[IntArray, FloatArray] | None = None,
    weight: FloatArray | None = None,
    dtype: npt.DTypeLike = np.float64,
    progress: Progress | None = None,
) -> Merges:
    """Merge the closest legal clusters until no legal pair is left; fewer than n - 1 merges if the rules leave none.

    ``source`` holds finite vectors, or square or condensed dissimilarities ("precomputed"), and is not modified. Groups
    of ``forced``, which numbers them per sample, are merged first, in index order, at height 0. Pairs in ``forbidden``
    and members of a group in ``apart`` never share a cluster; none of these lie within a forced group. ``gamma`` is the
    largest distance of centroids that may be merged (Euclidean vectors only); with ``epsilon`` a singleton is merged
    only into a cluster that holds a sample within this distance, with ``near`` one of the samples that this matrix has
    an entry for. ``moved`` are pairs and their distances instead, for
    linkages that work on a matrix. With ``weight``, for Ward and centroid linkage of Euclidean vectors and without
    ``forced``, each vector is the mean of that many samples. ``progress(merges_done, merges_at_most)`` is called from
    time to time.

    **Cost** O(n^2) time and O(n d) memory for ward, centroid, median and unconstrained single on Euclidean vectors;
    O(n^2) memory otherwise, and with gamma or epsilon up to O(n^3) time. **Guarantee** every merge joins a closest
    legal pair at its turn. Ties go to the clusters with the lowest-numbered samples wherever distances are compared at
    once; of several greedy orders among ties one is followed, always the same one for the same input.
    """
    code = linkage_code(method)
    kind = np.dtype(dtype)
    if apart is not None:  # copies, since kernels would be compiled once more for arrays that cannot be written
        apart = apart._replace(start=apart.start.copy(), member=apart.member.copy())
    run = _Run(code, metric_name(metric), metric, kind, forced, forbidden, apart, moved, weight, progress)
    with Workers() as workers:
        if gamma is not None or epsilon is not None or near is not None:
            return _dynamic(source, run, gamma, epsilon, workers, near)
        if run.metric == "euclidean" and code in EUCLIDEAN_ONLY:
            return _from_points(source, run, workers)
        if code == SINGLE and forbidden is None and apart is None and moved is None and run.metric == "euclidean":
            return _from_tree(source, run)
        if code in REDUCIBLE and code != WARD:
            return _by_rounds(source, run, workers)
        return _dynamic(source, run, None, None, workers)


def merge_groups(
    D: Floats,
    group: IntArray,
    *,
    method: str,
    forbidden: IntArray | None = None,
    apart: Groups | None = None,
    progress: Progress | None = None,
) -> Merges:
    """Merge groups of samples, whose distances stand in the corner of ``D`` (overwritten), as `merge_all` would.

    ``group`` numbers the groups by first appearance; ``forbidden`` and ``apart`` are about samples. Linkages are those
    that need no vectors: "single", "complete", "average" and "weighted".
    """
    code, n = linkage_code(method), len(group)
    start = gather(np.empty((n, 0), D.dtype), code, group, forbidden, apart)
    m = len(start.key)
    D[np.arange(m), np.arange(m)] = np.inf
    _forbid(D, start.forbidden, start.apart)
    rows = _rounds_dense.make_rows(D, m, start)

    def report(done: int) -> None:
        if progress is not None:
            progress(done, n - 1)

    with Workers() as workers:
        _rounds_dense.run_rounds(rows, code, workers, report)
    done = int(rows.tally[_kernels_rounds.MERGES])
    return _in_order(rows.merges[:done], rows.height[:done], n)


class _Run(NamedTuple):
    """The settings that every algorithm gets."""

    code: int
    metric: str
    given_metric: Metric
    dtype: np.dtype[Any]
    forced: IntArray | None
    forbidden: IntArray | None
    apart: Groups | None
    moved: tuple[IntArray, FloatArray] | None
    weight: FloatArray | None
    progress: Progress | None


def _report(run: _Run, done: int, total: int) -> None:
    if run.progress is not None:
        run.progress(int(done), int(total))


def _dense(
    source: npt.NDArray[Any], run: _Run, workers: Workers, *, squared: bool, near: Neighbors | None = None
) -> tuple[Floats, float]:
    """Return distances as a fresh padded square and the factor that restores their scale."""
    if run.metric == "precomputed":
        n = len(source) if source.ndim == 2 else (1 + round(np.sqrt(1 + 8 * len(source)))) // 2
    else:
        n = len(source)
    pitch = _allow_matrix(n, run)
    if run.metric == "precomputed":
        D = read_dissimilarities(source, dtype=run.dtype, pitch=pitch)
        if squared:
            np.square(D[:, :n], out=D[:, :n])
        return D, 1.0
    if run.metric == "euclidean":
        vectors, factor = scaled(source, run.dtype)
    else:
        vectors, factor = source, 1.0
    D = square_distances(
        vectors, run.given_metric, squared=squared, dtype=run.dtype, workers=workers, pitch=pitch, near=near
    )
    return D, factor


def _allow_matrix(n: int, run: _Run, *, at_most: bool = False) -> int:
    """Return the pitch of the rows of a matrix, or say that it does not fit into memory."""
    pitch = row_pitch(n, run.dtype)
    needed = n * pitch * run.dtype.itemsize
    what = "a dense distance matrix of up to" if at_most else "a dense distance matrix of"
    require_memory(needed, f"{what} {n} x {n} in {run.dtype}", leaner(run.code, run.dtype))
    return pitch


def _forbid(D: Floats, forbidden: IntArray | None, apart: Groups | None) -> None:
    if forbidden is not None and len(forbidden):
        D[forbidden[:, 0], forbidden[:, 1]] = np.inf
        D[forbidden[:, 1], forbidden[:, 0]] = np.inf
    if apart is not None:
        _part(D, apart.start, apart.member)


def _by_rounds(source: npt.NDArray[Any], run: _Run, workers: Workers) -> Merges:
    """Dense and reducible: rounds of reciprocal nearest neighbors."""
    # Minima and maxima are indifferent to squaring: the roots of n - 1 heights replace those of n^2 distances.
    squared = run.metric == "euclidean" and run.code in (SINGLE, COMPLETE)
    plain = run.metric == "euclidean" and run.moved is None
    if plain and _early_rounds.saves_time(source.shape, run.dtype, run.code, run.apart):
        return _by_early_rounds(source, run, workers, squared)
    near = _neighbors(len(source), run)
    D, factor = _dense(source, run, workers, squared=squared, near=near)
    n = len(D)
    if near is None or not near.found:
        np.fill_diagonal(D, np.inf)
    if run.moved is not None:
        (i, j), value = run.moved[0].T, run.moved[1] / factor
        D[i, j] = D[j, i] = value**2 if squared else value
    _forbid(D, run.forbidden, run.apart)
    rows = _rounds_dense.make_rows(D, n, near=near)
    if run.forced is not None:
        _kernels_rounds_dense.force(rows, run.code, run.forced)
    _rounds_dense.run_rounds(rows, run.code, workers, lambda done: _report(run, done, n - 1))
    done = int(rows.tally[_kernels_rounds.MERGES])
    height = rows.height[:done]
    return _in_order(rows.merges[:done], (np.sqrt(height) if squared else height) * factor, n)


def _by_early_rounds(source: npt.NDArray[Any], run: _Run, workers: Workers, squared: bool) -> Merges:
    """Dense and reducible: rounds on lists of nearest clusters first, then on the matrix of those that are left."""
    # Before the merges take their time: how many clusters they leave depends on the data.
    _allow_matrix(len(source), run, at_most=True)
    vectors, factor = scaled(source, run.dtype)
    n = len(vectors)

    def report(done: int) -> None:
        _report(run, done, n - 1)

    start = gather(np.empty((n, 0), run.dtype), run.code, run.forced, None, None)
    label = start.key
    if run.forced is not None:
        row_of = np.empty(n, np.intp)
        row_of[run.forced[start.key]] = np.arange(len(start.key))
        label = row_of[run.forced]
    forbidden = run.forbidden
    if run.apart is not None:
        pairs = run.apart.pairs_with(np.ones(n, np.bool_))
        forbidden = pairs if forbidden is None else np.concatenate([forbidden, pairs])
    early = _early_rounds.merge_early(vectors, start, label, run.code, forbidden, workers, report)
    m = len(early.clusters)
    D = np.empty((m, row_pitch(m, run.dtype)), run.dtype)
    near = early.clusters.store(D, workers)
    start = start._replace(size=early.size, node=early.node, done=early.done)
    rows = _rounds_dense.make_rows(D, m, start, near)
    rows.floor[:] = early.floor
    _rounds_dense.run_rounds(rows, run.code, workers, report)
    done = int(rows.tally[_kernels_rounds.MERGES])
    height = rows.height[:done]
    return _in_order(rows.merges[:done], (np.sqrt(height) if squared else height) * factor, n)


def _neighbors(n: int, run: _Run) -> Neighbors | None:
    """Ask for nearest neighbors where the distances alone decide about them."""
    bare = run.forced is None and run.forbidden is None and run.apart is None and run.moved is None
    bare &= run.weight is None
    free = run.metric == "euclidean" and bare
    return Neighbors.of(n, run.dtype) if free else None


def _in_order(pairs: IntArray, height: FloatArray, n: int) -> Merges:
    """Sort merges by height, keeping the given order among equals, and renumber the nodes they create."""
    order = np.argsort(height, kind="stable")
    rank = np.empty(len(order) + n, np.intp)
    rank[:n] = np.arange(n)
    rank[n + order] = np.arange(n, n + len(order))
    return Merges(np.sort(rank[pairs[order]], axis=1), height[order])


def _dynamic(
    source: npt.NDArray[Any],
    run: _Run,
    gamma: float | None,
    epsilon: float | None,
    workers: Workers,
    pairs_near: csr_array | None = None,
) -> Merges:
    """Anything on a dense matrix, step by step."""
    squared = run.code in EUCLIDEAN_ONLY
    near = apart = None
    if epsilon is not None:
        D, factor = _dense(source, run, workers, squared=False)
        near = np.less_equal(D[:, : len(D)], epsilon / factor)
        if squared:
            np.square(D[:, : len(D)], out=D[:, : len(D)])
    else:
        D, factor = _dense(source, run, workers, squared=squared)
    n = len(D)
    if pairs_near is not None:
        near = np.zeros((n, n), dtype=np.bool_)
        near[np.repeat(np.arange(n), np.diff(pairs_near.indptr)), pairs_near.indices] = True
    widest = 0.0
    if gamma is not None:
        require_memory(n * n * 8, f"a dense {n} x {n} matrix of centroid distances", "cluster a sample of the rows.")
        moved, scale = scaled(np.asarray(source, np.float64), np.float64)
        apart = square_distances(moved, squared=True, workers=workers)
        widest = (gamma / scale) ** 2
    _forbid(D, run.forbidden, run.apart)
    table = make_table(D, apart, near)
    if run.forced is not None:
        _kernels_any_dense.force_groups(table, run.code, run.forced)
    while not table.tally[_kernels_any_dense.FINISHED]:
        _kernels_any_dense.merge_closest(table, run.code, widest, max(1, 30_000_000 // max(1, n)))
        _report(run, table.tally[_kernels_any_dense.MERGES], n - 1)
    done = int(table.tally[_kernels_any_dense.MERGES])
    height = table.height[:done]
    if squared:
        height = np.sqrt(np.maximum(height, 0.0))
    pairs = np.sort(table.merges[:done], axis=1)
    if run.code in REDUCIBLE and gamma is None and near is None:
        return _in_order(pairs, height * factor, n)
    return Merges(pairs, height * factor)


def _from_points(source: npt.NDArray[Any], run: _Run, workers: Workers) -> Merges:
    """Ward, centroid and median on Euclidean vectors: distances between clusters come from their centroids."""
    vectors, factor = scaled(source, run.dtype)
    n = len(vectors)
    start = gather(vectors, run.code, run.forced, run.forbidden, run.apart)
    if run.weight is not None:
        start = start._replace(size=run.weight.astype(run.dtype))
    if len(start.P) > _linkages.FEW:
        done = _rounds_points.merge_points(start, run.code, workers, lambda done: _report(run, done, n - 1))
    else:
        done = _merge_few(start, run, workers)
    height = np.sqrt(start.height[:done]) * factor
    if run.code == WARD:
        return _in_order(start.merges[:done], height, n)
    return Merges(np.sort(start.merges[:done], axis=1), height)


def _merge_few(start: Points, run: _Run, workers: Workers) -> int:
    """Merge so few points that storing all distances is cheaper than computing them again."""
    m, size = len(start.P), start.size
    near = _neighbors(m, run)
    pitch = row_pitch(m, run.dtype)
    D = square_distances(start.P, squared=True, dtype=run.dtype, workers=workers, pitch=pitch, near=near)
    if near is None or not near.found:
        np.fill_diagonal(D, np.inf)
    _forbid(D, start.forbidden, start.apart)
    if run.code == WARD:
        if start.done or run.weight is not None:
            D[:, :m] *= 2 * np.multiply.outer(size, size) / np.add.outer(size, size)
        rows = _rounds_dense.make_rows(D, m, start, near)
        _rounds_dense.run_rounds(rows, run.code, workers, lambda done: _report(run, done, len(start.merges)))
        return int(rows.tally[_kernels_rounds.MERGES])
    few = make_few(start, D, near)
    _kernels_small_points.merge_few(few, run.code, start.forbidden is not None or start.apart is not None)
    done = int(few.tally[_kernels_rounds.MERGES])
    _report(run, done, len(start.merges))
    return done


def _from_tree(source: npt.NDArray[Any], run: _Run) -> Merges:
    """Single linkage without cannot-links: the minimum spanning tree, its edges by length."""
    vectors, factor = scaled(source, run.dtype)
    n = len(vectors)
    edges, squares = _spanning_tree.spanning_tree(vectors, run.forced, lambda done: _report(run, done, n - 1))
    order = np.argsort(squares, kind="stable")
    pairs, height = _spanning_tree.join_edges(n, edges[order], squares[order], run.forced)
    return Merges(pairs, np.sqrt(height) * factor)


def agglomerate(
    X: Any,
    *,
    method: str = "average",
    metric: Metric = "euclidean",
    dtype: npt.DTypeLike = np.float64,
    progress: Progress | None = None,
) -> Dendrogram:
    """Build the dendrogram that always merges the two closest clusters.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Vectors; or with ``metric="precomputed"`` dissimilarities, square or condensed. Not modified.
    method : {"single", "complete", "average", "weighted", "ward", "centroid", "median"}, default="average"
        How the distance of two clusters follows from their members.
    metric : str or callable, default="euclidean"
        How vectors are compared: a name SciPy knows, a function of two rows, or ``"precomputed"``. Ward, centroid and
        median need Euclidean vectors, or dissimilarities that are Euclidean distances.
    dtype : {float64, float32}, default=float64
        Type to compute in. Single precision takes half the memory; distances that differ in the seventh digit may swap.
    progress : callable, optional
        Called as ``progress(done, total)`` with numbers of merges, several times a second.

    Returns
    -------
    Dendrogram
        One binary tree; ``raw_height`` equals the third column of SciPy's ``linkage``.

    Raises
    ------
    LinkwiseError
        Unknown names, a linkage that does not go with the metric, or a matrix that does not hold dissimilarities.
    MemoryLimitError
        When the distances would not fit into memory; they are not allocated then.

    Notes
    -----
    **Cost** O(n^2 d) time for every linkage. Ward, centroid, median and single on Euclidean vectors take O(n d) memory,
    all others one n x n matrix of ``dtype`` (see `plan_memory`), of which complete, average and weighted linkage of
    many Euclidean vectors need about a third. All cores are used; results do not depend on their number.
    **Guarantee** the tree is that of the greedy definition; ties go to the clusters that hold the lowest-numbered
    samples, as far as they are compared at once. Ward, centroid and median on dissimilarities follow the formula of
    Lance and Williams, as SciPy does: what it gives is the greedy tree of their definitions if these are Euclidean
    distances, and has no such meaning for others, where a height that would be imaginary is 0.

    Examples
    --------
    >>> from linkwise.engines import agglomerate
    >>> tree = agglomerate([[0.0], [1.0], [5.0], [7.0]], method="single")
    >>> tree.raw_height[4:].tolist()
    [1.0, 2.0, 4.0]
    >>> tree.cut(n_clusters=2).tolist()
    [0, 0, 1, 1]
    """
    from linkwise.result import Dendrogram

    name = metric_name(metric)
    require_fitting(method, name)
    kind = read_dtype(dtype)
    if kind not in (np.float32, np.float64):
        msg = f"agglomerate computes in float32 or float64, not in {kind}.\nHint: dtype=np.float32 or dtype=np.float64."
        raise LinkwiseError(msg)
    if name == "precomputed":
        source = np.asarray(X)
        n = len(source) if source.ndim != 1 else (1 + round(np.sqrt(1 + 8 * len(source)))) // 2
    else:
        source = read_vectors(X)
        n = len(source)
    merges = merge_all(source, method=method, metric=metric, dtype=kind, progress=progress)
    return Dendrogram.from_merges(n, merges.pairs, merges.height)


def require_fitting(method: str, metric: str, *, who: str = "agglomerate") -> None:
    """Raise when a linkage that works on centroids is asked to work with another metric than Euclidean distances."""
    if linkage_code(method, who=who) not in EUCLIDEAN_ONLY or metric in ("euclidean", "precomputed"):
        return
    msg = (
        f'{who}: method="{method}" is defined by Euclidean distances between vectors, but metric is {metric!r}.\n'
        'Hint: metric="euclidean", or method="average", which takes any metric.'
    )
    raise LinkwiseError(msg)


def make_table(D: Floats, apart: Floats | None = None, near: BoolArray | None = None) -> Table:
    """Start with singletons; ``D``, ``apart`` and ``near`` are taken over and will be overwritten."""
    n = len(D)
    slots = np.arange(n, dtype=np.intp)
    count = np.zeros(4, np.intp)
    count[ALIVE] = n
    return Table(
        D=D,
        apart=np.zeros((1, 1), D.dtype) if apart is None else apart,
        near=np.zeros((1, 1), np.bool_) if near is None else near,
        size=np.ones(n, D.dtype),
        node=slots.copy(),
        slots=slots,
        nearest=np.full(n, -1, np.intp),
        gap=np.full(n, -np.inf, D.dtype),
        exact=np.zeros(n, np.bool_),
        merges=np.empty((max(n - 1, 0), 2), np.intp),
        height=np.empty(max(n - 1, 0)),
        tally=count,
    )
