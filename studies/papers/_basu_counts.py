"""The tutorial's distance calculations: all of them, and those that δ and γ leave, without a matrix of distances."""

from __future__ import annotations

from collections.abc import Iterator
from math import isqrt
from pathlib import Path

import numpy as np

from linkwise import datasets
from linkwise._typing import FloatArray
from linkwise.engines import ConstrainedAgglomerative
from linkwise.result import Dendrogram
from studies.papers._computations import compute_all
from studies.papers._exhibit import Exhibit, Found, Settings, Table
from studies.papers._prepared_sets import on_hand
from studies.papers._verdict_rules import in_range

DELTAS, GAMMAS = (0.002, 0.01, 0.02), (0.25, 0.5, 0.9)  # quantiles of the distances
# distance calculations: all, under δ, under γ
COUNTS = {
    "iris": (22_201, 3_275, 19_830),
    "breast": (487_204, 59_726, 431_321),
    "pendigits_38": (3_996_001, 990_118, 3_432_021),
    "pima": (588_289, 61_381, 501_323),
    "census_adult": (2_347_305_601, 563_034_601, 1_992_232_981),
}
_ROUNDING = 1e-12  # of the larger distance, as in `gamma_linkage`


def count(data: str, data_folder: Path | None = None) -> dict[str, float]:
    """Distance calculations: all, after δ has joined what is close, and under γ with a pivot."""
    X = np.asarray(datasets.load(data, data_folder).X, dtype=np.float64)
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    n = len(X)
    some = np.random.default_rng(0).choice(n, min(n, 500), replace=False)
    gaps = np.sqrt(((X[some][:, None] - X[some]) ** 2).sum(-1))[np.triu_indices(len(some), 1)]
    values = {"all": float((n - 1) ** 2)}
    steps = _tree(X, "single").raw_height[n:]  # merges below δ are what δ joins
    for quantile in DELTAS:
        blocks = n - int((steps < np.quantile(gaps, quantile)).sum())
        values[f"delta {quantile}"] = float((blocks - 1) ** 2)
    tree = _tree(X, "centroid")
    for quantile in GAMMAS:
        computed, everything = count_under_gamma(X, tree, float(np.quantile(gaps, quantile)))
        values[f"gamma {quantile}"] = computed / everything
    return values


def _tree(X: FloatArray, linkage: str) -> Dendrogram:
    """Return the tree of all samples, which these linkages make without a matrix of distances."""
    return ConstrainedAgglomerative(None, linkage=linkage).fit(X).dendrogram_


def count_under_gamma(X: FloatArray, tree: Dendrogram, gamma: float) -> tuple[int, int]:
    """Return how many distances `gamma_linkage` computes with one pivot, and how many the same merges take without.

    ``tree`` has all merges of closest centroids, of which γ allows the first ones; what each of them costs depends on
    the distances to the pivot alone, the cluster of sample 0.
    """
    n = len(X)
    too_far = np.flatnonzero(tree.raw_height[n:] > gamma)
    n_merges = int(too_far[0]) if len(too_far) else n - 1
    center, size, slot = X.copy(), np.ones(n), np.arange(n + n_merges)  # a cluster is kept in its lowest sample's slot
    away = np.sqrt(((X - X[0]) ** 2).sum(axis=1))  # from the pivot; NaN where no other cluster is
    away[0] = np.nan
    line = np.sort(away[1:])
    last = np.searchsorted(
        line * (1.0 - _ROUNDING), gamma + line, side="right"
    )  # after those the pivot does not rule out
    computed = n - 1 + int((last - np.arange(1, n)).sum())
    everything = n * (n - 1) // 2
    for t, children in enumerate(tree.child.reshape(-1, 2)[:n_merges].tolist()):
        i, j = sorted(slot[children].tolist())
        slot[n + t] = i
        center[i] = (size[i] * center[i] + size[j] * center[j]) / (size[i] + size[j])
        size[i] += size[j]
        away[j] = np.nan
        n_others = n - t - 2
        everything += n_others
        here = np.sqrt(((center[i] - center[0]) ** 2).sum())
        if i == 0:
            away[1:] = np.where(np.isnan(away[1:]), np.nan, np.sqrt(((center[1:] - center[0]) ** 2).sum(axis=1)))
            computed += n_others
        else:  # the cluster itself is counted in place of the pivot
            away[i] = here
            computed += int(np.count_nonzero(np.abs(away - here) <= gamma + _ROUNDING * np.maximum(away, here)))
    return computed, everything


def count_tables(settings: Settings) -> Iterator[Exhibit]:
    """Distance calculations that δ and γ save."""
    sets = on_hand(settings, [name for name in COUNTS if not settings.quick or name in ("iris", "breast")])
    made = compute_all(settings, "basu2006", count, [{"data": name} for name in sets])
    found, ranges = [], {}
    for name, values in zip(sets, made, strict=True):
        everything, delta, gamma = COUNTS[name]
        found.append(Found(name, "all", values["all"], printed=everything))
        found += [Found(name, f"δ at the {q:.1%} quantile", values[f"delta {q}"], printed=delta) for q in DELTAS]
        shares = [values[f"delta {q}"] / values["all"] for q in DELTAS]
        ranges[f"{name}, δ"] = (min(shares), max(shares), delta / everything)
        shares = [values[f"gamma {q}"] for q in GAMMAS]
        found += [
            Found(name, f"γ at the {q:.0%} quantile: share computed", share, printed=gamma / everything)
            for q, share in zip(GAMMAS, shares, strict=True)
        ]
        ranges[f"{name}, γ"] = (min(shares), 1.0, gamma / everything)
    alike = [name for name, values in zip(sets, made, strict=True) if values["all"] == COUNTS[name][0]]
    others = [
        f"{name} has {isqrt(int(values['all'])) + 1:,} rows where {isqrt(COUNTS[name][0]) + 1:,} are printed"
        for name, values in zip(sets, made, strict=True)
        if name not in alike
    ]
    yield Table(
        "Distance calculations",
        "what δ and γ save",
        tuple(found),
        in_range(
            ranges,
            leading=(
                f"The count of all distances, (n - 1)^2, is the printed one on {', '.join(alike) or 'no set'}"
                f"{''.join(f'; {said}' for said in others)}. The values of δ and γ are not printed; shares of all "
                "distances at the quantiles shown, for γ up to no rule at all"
            ),
        ),
    )
