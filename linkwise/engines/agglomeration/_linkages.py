"""Linkages: their names, their integer codes inside kernels, and their Lance-Williams rules."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._memory import row_pitch
from linkwise.engines.agglomeration._kernels_linkages import AVERAGE, CENTROID, COMPLETE, MEDIAN, SINGLE, WARD, WEIGHTED
from linkwise.exceptions import LinkwiseError

LINKAGES: dict[str, int] = {
    "single": SINGLE,
    "complete": COMPLETE,
    "average": AVERAGE,
    "weighted": WEIGHTED,
    "ward": WARD,
    "centroid": CENTROID,
    "median": MEDIAN,
}

# Merging two clusters never brings a third one closer than the nearer of the two was. Heights then never decrease,
# and reciprocal nearest neighbors may be merged in any order. Centroid and median linkage lack this.
REDUCIBLE = frozenset({SINGLE, COMPLETE, AVERAGE, WEIGHTED, WARD})

# These work on centroids, and so on squared Euclidean distances between vectors.
EUCLIDEAN_ONLY = frozenset({WARD, CENTROID, MEDIAN})


def linkage_code(name: str, *, who: str = "agglomerate") -> int:
    """Return the kernel code of a linkage name, or say which name was probably meant."""
    if isinstance(name, str) and name in LINKAGES:
        return LINKAGES[name]
    near = get_close_matches(str(name).lower(), LINKAGES, n=1, cutoff=0.5)
    guess = f"did you mean {near[0]!r}? Linkages" if near else "linkages"
    msg = f"{who} does not know the linkage {name!r}.\nHint: {guess} are {', '.join(LINKAGES)}."
    raise LinkwiseError(msg)


# Points up to which a matrix of their distances pays for ward, centroid and median, which could do without (measured).
FEW = 1250


def plan_memory(n: int, method: str, metric: str, dtype: npt.DTypeLike = np.float64) -> int:
    """Return the most bytes `agglomerate` allocates for its distances, beside the input and O(n) of bookkeeping.

    ``metric`` is the name of a metric, ``"callable"`` or ``"precomputed"``.
    """
    code = linkage_code(method)
    if metric == "euclidean" and (code == SINGLE or (code in EUCLIDEAN_ONLY and n > FEW)):
        return 0
    return n * row_pitch(n, dtype) * np.dtype(dtype).itemsize


def leaner(method: int, dtype: np.dtype[Any]) -> str:
    """Name what takes less memory than a dense matrix for this linkage."""
    ways = []
    if dtype == np.float64:
        ways.append("dtype=np.float32 halves it")
    if method not in EUCLIDEAN_ONLY and method != SINGLE:
        ways.append('method="ward", "centroid" or "single" on Euclidean vectors need no matrix at all')
    ways.append("cluster a sample of the rows")
    return "; ".join(ways) + "."
