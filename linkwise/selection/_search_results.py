"""Results of a search: scores with errors from counts per candidate and fold, and the winner."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import BoolArray, FloatArray
from linkwise.metrics import adjusted_rand
from linkwise.selection._candidates import Candidate
from linkwise.selection._scores import KINDS, score_of

Results = dict[str, Any]


def collect(candidates: Sequence[Candidate], outcomes: Sequence[Sequence[Any]], scoring: Any) -> Results:
    """Make the table of all candidates; a row of ``outcomes`` has the fit with everything first, then the folds.

    A candidate that fails with all statements, or in half of the folds, has no score; folds it fails in are left out.
    """
    n, n_folds = len(candidates), len(outcomes[0]) - 1
    results: Results = {"params": [dict(candidate.params) for candidate in candidates]}
    results["method"] = np.array([candidate.method for candidate in candidates], dtype=object)
    results["words"] = np.array([candidate.words for candidate in candidates], dtype=object)
    for name in dict.fromkeys(name for candidate in candidates for name in candidate.params):
        column = np.ma.MaskedArray(np.empty(n, dtype=object), mask=True)
        for at, candidate in enumerate(candidates):
            if name in candidate.params:
                column[at] = candidate.params[name]
        results[f"param_{name}"] = column
    splits = np.full((n, n_folds), np.nan)
    without = np.full((n, n_folds), np.nan)  # the score of all folds but one
    mean, stability = np.full(n, np.nan), np.full(n, np.nan)
    kept = np.full((n, len(KINDS)), np.nan)
    n_clusters = np.zeros(n, dtype=np.intp)
    for at, (whole, *folds) in enumerate(outcomes):
        done = np.array([fold.labels is not None for fold in folds])
        if whole.labels is None or 2 * done.sum() <= n_folds:
            continue
        n_clusters[at] = int(whole.labels.max()) + 1
        splits[at], mean[at], without[at] = score_folds(folds, done, scoring)
        counts = np.sum([fold.counts for fold in folds], axis=0)
        kept[at] = np.divide(counts[:, 0], counts[:, 1], out=np.full(3, np.nan), where=counts[:, 1] > 0)
        stability[at] = np.mean([adjusted_rand(whole.labels, fold.labels) for fold in folds if fold.labels is not None])
    for fold in range(n_folds):
        results[f"split{fold}_test_score"] = splits[:, fold]
    results["mean_test_score"] = mean
    results["se_test_score"] = _spread(without)
    results["std_test_score"] = np.array([np.nanstd(row) if np.isfinite(row).any() else np.nan for row in splits])
    results["rank_test_score"] = _ranks(mean)
    for side, name in enumerate(KINDS):
        results[f"{name}_kept"] = kept[:, side]
    results["stability"] = stability
    results["n_clusters"] = n_clusters
    results["mean_fit_time"] = np.array([np.mean([one.seconds for one in row]) for row in outcomes])
    results["trouble"] = np.array([_trouble(row) for row in outcomes], dtype=object)
    results["tied"] = tied(mean, without)
    return results


def score_folds(folds: Sequence[Any], done: BoolArray, scoring: Any) -> tuple[FloatArray, float, FloatArray]:
    """The score of each fold, of all together, and of all but each."""
    if callable(scoring):
        single = np.array([fold.score for fold in folds])
        heard = np.isfinite(single)
        total, m = np.nansum(single), int(heard.sum())
        if m < 2:
            return single, float(total) if m else np.nan, np.full(len(folds), np.nan)
        return single, float(total / m), np.where(heard, (total - single) / (m - 1), np.nan)
    counts = np.array([fold.counts for fold in folds])
    whole = counts.sum(axis=0)
    single = np.array([score_of(scoring, one) for one in counts])
    without = np.array([score_of(scoring, whole - one) for one in counts])
    return single, score_of(scoring, whole), np.where(done, without, np.nan)


def _spread(without: FloatArray) -> FloatArray:
    """Standard error by the jackknife, of the score or of a difference between scores, in the last axis."""
    seen = np.isfinite(without)
    m = seen.sum(axis=-1)
    center = np.where(seen, without, 0.0).sum(axis=-1) / np.maximum(m, 1)
    square = np.where(seen, (without - center[..., None]) ** 2, 0.0).sum(axis=-1)
    return np.asarray(np.where(m > 1, np.sqrt((m - 1) / np.maximum(m, 1) * square), np.nan))


def tied(mean: FloatArray, without: FloatArray) -> BoolArray:
    """The candidates within one standard error of the best, where the error is that of the difference to the best."""
    if not np.isfinite(mean).any():
        return np.zeros(len(mean), dtype=np.bool_)
    top = int(np.nanargmax(mean))
    error = _spread(without[top] - without)
    gap = mean[top] - mean
    return np.asarray(np.isfinite(mean) & (gap <= np.where(np.isfinite(error), error, 0.0)))


def _ranks(mean: FloatArray) -> npt.NDArray[np.int32]:
    """1 for the best; those without a score share the last place."""
    order = np.argsort(-np.nan_to_num(mean, nan=-np.inf), kind="stable")
    rank = np.empty(len(mean), dtype=np.int32)
    rank[order] = np.arange(1, len(mean) + 1)
    for before, after in pairwise(order.tolist()):
        if mean[before] == mean[after] or (np.isnan(mean[before]) and np.isnan(mean[after])):
            rank[after] = rank[before]
    return rank


def _trouble(row: Sequence[Any]) -> str:
    failed = [one.trouble for one in row[1:] if one.trouble]
    if row[0].trouble or not failed:
        return str(row[0].trouble)
    return f"{len(failed)} of {len(row) - 1} folds: {failed[0]}"


def choose(results: Results, ties: str) -> int:
    """The place of the winner: the best, or among those tied with it the simplest or most stable."""
    mean, stability = results["mean_test_score"], np.nan_to_num(results["stability"], nan=-1.0)
    if not np.isfinite(mean).any():
        return 0
    clusters = results["n_clusters"]
    rivals = np.flatnonzero(results["tied"]) if ties != "best" else np.flatnonzero(np.isfinite(mean))
    keys = {
        "best": (clusters, -stability, -mean),
        "simple": (-mean, -stability, clusters),
        "stable": (clusters, -mean, -stability),
    }[ties]
    return int(rivals[np.lexsort(tuple(key[rivals] for key in keys))[0]])
