"""Profiles of clusters: distinctive features, typical samples, and samples close to another cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import FloatArray, IntArray
from linkwise.exceptions import LinkwiseError
from linkwise.report._facts import Trait

_TRAITS = 6
_EXEMPLARS = 5
_LEAST = 0.2  # smaller differences, in standard deviations, are not distinctive
_CELLS = 50_000_000  # entries of the distances from samples to clusters held at once


@dataclass(frozen=True, eq=False)
class Profiles:
    """Per cluster, in the order of its sorted labels: traits and exemplars; per sample: margin and nearest other."""

    traits: tuple[tuple[Trait, ...], ...]
    exemplars: tuple[tuple[int, ...], ...]
    margin: FloatArray
    other: npt.NDArray[Any]
    n_missing: int = 0


def profile(X: Any, labels: npt.NDArray[Any], metric: str, features: Any, values: Any = None) -> Profiles:
    """Describe clusters by their samples, in O(n k d), or O(n^2) for dissimilarities.

    ``"euclidean"`` and ``"cosine"`` compare samples with the centers of clusters, cosine after scaling rows to length
    one; ``"precomputed"`` takes the mean dissimilarity to the other members, and has no traits. A trait's difference is
    (mean in the cluster - mean over all) / standard deviation over all, each over the samples that have a value. Terms
    of texts come in the order of the difference times the share of the cluster's texts that have them.
    """
    kinds, group = np.unique(labels, return_inverse=True)
    group = group.ravel().astype(np.intp)
    size = np.bincount(group)
    rows = X.shape[0] if hasattr(X, "shape") else len(X)
    if rows != len(labels):
        msg = f"report: X has {rows:,} rows, but there are {len(labels):,} samples."
        raise LinkwiseError(msg)
    if metric == "precomputed":
        own, near, nearest = _own_and_next(_mean_dissimilarities(X, group, size), group)
        traits: tuple[tuple[Trait, ...], ...] = ((),) * len(kinds)
    else:
        table: Any = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X, dtype=np.float64)
        from sklearn.preprocessing import normalize

        own, near, nearest = _to_centers(normalize(table) if metric == "cosine" else table, group, size)
        traits = _traits(_read_values(table, values), group, size, features)
    gone = (
        0 if values is None or hasattr(values, "tocsr") else int(np.isnan(np.asarray(values, dtype=np.float64)).sum())
    )
    with np.errstate(invalid="ignore"):
        gap = (near - own) / np.maximum(np.maximum(own, near), np.finfo(float).tiny)
        margin = np.where(np.isinf(near), 1.0, gap)
    typical = [
        tuple(members[np.argsort(own[members], kind="stable")[:_EXEMPLARS]].tolist())
        for members in np.split(np.argsort(group, kind="stable"), np.cumsum(size)[:-1])
    ]
    return Profiles(traits, tuple(typical), margin, kinds[nearest], gone)


def _read_values(table: Any, values: Any) -> Any:
    """Read the data for means, by default those that were clustered."""
    if values is None:
        return table
    given = values.tocsr() if hasattr(values, "tocsr") else np.asarray(values, dtype=np.float64)
    if given.shape != table.shape:
        msg = f"report: values has shape {given.shape}, expected {table.shape}, the shape of X."
        raise LinkwiseError(msg)
    return given


def _group_means(table: Any, group: IntArray, size: IntArray) -> FloatArray:
    from scipy.sparse import csr_array

    n = len(group)
    pick = csr_array((np.ones(n), (group, np.arange(n))), shape=(len(size), n))
    total = pick @ table
    total = total.toarray() if hasattr(total, "toarray") else np.asarray(total)
    return np.asarray(total / size[:, None])


def _own_and_next(away: FloatArray, group: IntArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """The distance of samples to their own cluster and to the next one, and that cluster; inf without another."""
    at = np.arange(len(group))
    own = away[at, group]
    away[at, group] = np.inf
    nearest = away.argmin(axis=1)
    return own, away[at, nearest], nearest


def _to_centers(table: Any, group: IntArray, size: IntArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """Compare every sample with the center of every cluster, as `_own_and_next`, some samples at a time."""
    center = _group_means(table, group, size)
    square = np.asarray(table.multiply(table).sum(axis=1) if hasattr(table, "multiply") else (table**2).sum(axis=1))
    own, near = np.empty(len(group)), np.empty(len(group))
    nearest = np.empty(len(group), dtype=np.intp)
    step = max(1, _CELLS // max(center.size, len(size)))
    for start in range(0, len(group), step):
        part = slice(start, start + step)
        away = np.asarray(table[part] @ center.T)
        away *= -2
        away += (center**2).sum(axis=1)
        away += square.ravel()[part, None]
        own[part], near[part], nearest[part] = _own_and_next(away, group[part])
    return np.sqrt(np.maximum(own, 0.0)), np.sqrt(np.maximum(near, 0.0)), nearest


def _mean_dissimilarities(X: Any, group: IntArray, size: IntArray) -> FloatArray:
    table = np.asarray(X, dtype=np.float64)
    if table.shape != (len(group), len(group)):
        msg = f"report: X has shape {table.shape}, expected square dissimilarities, since metric is 'precomputed'."
        raise LinkwiseError(msg)
    total = _group_means(table.T, group, size).T * size
    others = np.repeat(size[None, :], len(group), axis=0)
    others[np.arange(len(group)), group] -= 1
    return np.asarray(total / np.maximum(others, 1))


def _traits(table: Any, group: IntArray, size: IntArray, features: Any) -> tuple[tuple[Trait, ...], ...]:
    terms = hasattr(table, "multiply")  # in texts, terms that occur are more distinctive than terms that do not
    here, known = _known(table, group, size, terms)
    count = known.sum(axis=0)
    mean = _group_means(here, group, size) * size[:, None] / np.maximum(known, 1)
    overall = (known * mean).sum(axis=0) / np.maximum(count, 1)
    second = here.multiply(here).sum(axis=0) if terms else (here**2).sum(axis=0)
    spread = np.sqrt(np.maximum(np.asarray(second).ravel() / np.maximum(count, 1) - overall**2, 0.0))
    safe = np.where(spread > 1e-9 * (1 + np.abs(overall)), spread, np.inf)
    difference = np.where(known > 0, (mean - overall) / safe, 0.0)
    d = len(overall)
    names = [f"feature {j}" for j in range(d)] if features is None else [str(name) for name in features]
    if len(names) != d:
        msg = f"report: features has {len(names):,} names, but X has {d:,} columns."
        raise LinkwiseError(msg)
    found = []
    often = _group_means((table != 0).astype(np.float64), group, size) if terms else None
    for g in range(len(size)):
        weight = difference[g] if terms else np.abs(difference[g])
        distinctive = weight >= _LEAST
        if often is not None:  # a term of one text among many, such as a signature, says little about the others
            weight = weight * often[g]
        top = np.argsort(-np.where(distinctive, weight, -1.0), kind="stable")[:_TRAITS]
        top = top[distinctive[top]]
        picked = (part[top].tolist() for part in (mean[g], overall, difference[g], spread))
        gone = np.rint(size[g] - known[g, top]).astype(np.intp).tolist()
        found.append(tuple(map(Trait, [names[j] for j in top.tolist()], *picked, gone)))
    return tuple(found)


def _known(table: Any, group: IntArray, size: IntArray, terms: bool) -> tuple[Any, FloatArray]:
    """Return the values with 0 for missing ones, and the number of known ones by cluster and feature."""
    if terms or not np.isnan(table).any():
        return table, np.repeat(size[:, None].astype(np.float64), table.shape[1], axis=1)
    there = ~np.isnan(table)
    return np.where(there, table, 0.0), np.rint(_group_means(there.astype(np.float64), group, size) * size[:, None])
