"""Data sets as the papers prepared them, and the number of clusters that scores are taken at."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

from linkwise._typing import FloatArray
from linkwise.constraints import Constraints
from linkwise.datasets import Data, load
from linkwise.exceptions import DatasetNotFoundError, LinkwiseError
from studies.papers._exhibit import Settings

SAMPLES = {"letters_3000": "letter", "digits_3000": "pendigits"}  # 3,000 rows of all classes


def on_hand(settings: Settings, sets: Iterable[str]) -> list[str]:
    """Return the sets that can be loaded here; of each other one the page says that it was left out."""
    there = []
    for name in sets:
        try:
            load(SAMPLES.get(name, name), settings.data)
        except DatasetNotFoundError:
            note = f"Without {name}: it is not on this machine (docs/datasets.md says how to get it)."
            if note not in settings.notes:
                settings.notes.append(note)
                settings.say(note)
        else:
            there.append(name)
    return there


def exactly(labels: Any, k: int, who: str) -> Any:
    """Return labels of exactly k clusters; others have no place among scores at the paper's k."""
    found = len(np.unique(labels))
    if found != k:
        msg = f"{who} returned {found} clusters, expected exactly {k}: a score of these would not be the paper's."
        raise LinkwiseError(msg)
    return labels


def _sample(name: str, data: Any) -> Data:
    whole = load(SAMPLES[name], data)
    rows = np.sort(np.random.default_rng(0).choice(whole.n_samples, 3000, replace=False))
    return replace(whole, X=whole.X[rows], y=whole.y[rows], ids={}, taxonomy=None)


def scaled(name: str, scale: str = "none", data: Any = None) -> Data:
    """Load a data set; ``"minmax"`` brings every feature to [0, 1], ``"unit"`` every row to length 1."""
    found = _sample(name, data) if name in SAMPLES else load(name, data)
    X = found.X
    if scale == "minmax":
        low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
        X = (X - low) / np.where(high > low, high - low, 1.0)
    elif scale == "unit":
        X = normalize(X)
    return replace(found, X=X)


def complete(name: str, data: Any = None) -> tuple[FloatArray, Any]:
    """Return the rows without gaps, as they are, and their classes."""
    found = load(name, data)
    X = np.ascontiguousarray(found.X, dtype=np.float64)
    whole = np.isfinite(X).all(axis=1)
    return X[whole], np.asarray(found.y)[whole]


def random_pairs(y: Any, n_pairs: int, rng: np.random.Generator, weight: float) -> Constraints:
    """Draw pairs of samples, and say of them what their classes say."""
    pairs = np.array([rng.choice(len(y), 2, replace=False) for _ in range(n_pairs)], dtype=np.intp).reshape(-1, 2)
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return Constraints.build(len(y), must_link=pairs[same], cannot_link=pairs[~same], weight=weight)
