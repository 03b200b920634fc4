"""From the words of a cell to the things they mean: engines and data sets, found by name in whatever process."""

from __future__ import annotations

import difflib
import importlib
import inspect
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.preprocessing import normalize

from linkwise import datasets
from linkwise._typing import IntArray
from linkwise.datasets import Data
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram

GENERATORS = ("cellwalls", "circles", "noisy_taxonomy", "stormclouds", "xor")


def engine_named(name: str) -> Any:
    """Find an engine: a public name of `linkwise.engines`, or ``module:name``."""
    if ":" in name:
        return _import(name, "engine")
    from linkwise import engines

    found = getattr(engines, name, None) if name in dir(engines) else None
    if not (inspect.isclass(found) and hasattr(found, "fit")):
        known = [word for word in dir(engines) if hasattr(getattr(engines, word), "fit")]
        raise _unknown(name, known)
    return found


def require_found(name: str) -> None:
    """Refuse a data set written ``module:name`` that cannot be imported; others are looked for when needed."""
    if ":" in name:
        _import(name, "data set")


def fetch(name: str, params: tuple[tuple[str, Any], ...], seed: int, folder: str | Path | None) -> Data:
    """Make or load a data set; the last few are kept, since neighboring cells use the same."""
    return _fetch(
        name, params, seed if name in GENERATORS or ":" in name else 0, None if folder is None else str(folder)
    )


@lru_cache(maxsize=4)
def _fetch(name: str, params: tuple[tuple[str, Any], ...], seed: int, folder: str | None) -> Data:
    if name in GENERATORS or ":" in name:
        make = getattr(datasets, name) if name in GENERATORS else _import(name, "data set")
        given = dict(params)
        if "random_state" in inspect.signature(make).parameters:
            given.setdefault("random_state", seed)
        made = make(**given)
        if not isinstance(made, Data):
            msg = f"{name} returned {type(made).__name__}, expected a linkwise.datasets.Data."
            raise LinkwiseError(msg)
        return made
    if params:
        msg = f"{name} is loaded, not drawn, and takes no data_params; it was given {dict(params)}."
        raise LinkwiseError(msg)
    return datasets.load(name, folder)


def prepare(X: Any, how: str) -> Any:
    """Bring samples into the form an engine gets them in, always as a copy: an engine may change it."""
    if how == "raw":
        return X.copy()
    if sparse.issparse(X):
        return normalize(X)
    known = ~np.isnan(X)
    mean = np.where(known, X, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    centered = np.where(known, X, mean) - mean
    spread = centered.std(axis=0)
    return centered / np.where(spread > 0, spread, 1.0)


def solve(
    engine: Any, params: dict[str, Any], X: Any, constraints: Any, n_clusters: int, seed: int
) -> tuple[IntArray, Dendrogram | None]:
    """Run an engine, estimator or function, and return labels and the tree, if it makes one."""
    if not inspect.isclass(engine):
        return _read_answer(
            engine(X, constraints=constraints, n_clusters=n_clusters, random_state=seed, **params), n_clusters
        )
    estimator: Any = engine(**params)
    own = estimator.get_params()
    filled = {"n_clusters": n_clusters, "n_components": n_clusters, "random_state": seed}
    estimator.set_params(**{key: value for key, value in filled.items() if key in own and key not in params})
    if "constraints" in inspect.signature(estimator.fit).parameters:
        estimator.fit(X, constraints=constraints)
    else:
        estimator.fit(X)  # a method without knowledge, to compare with
    labels = estimator.labels_ if hasattr(estimator, "labels_") else estimator.predict(X)
    return np.asarray(labels), getattr(estimator, "dendrogram_", None)


def _read_answer(answer: Any, n_clusters: int) -> tuple[IntArray, Dendrogram | None]:
    if isinstance(answer, Dendrogram):
        return answer.cut(n_clusters=n_clusters), answer
    if isinstance(answer, tuple):
        labels, tree = answer
        return np.asarray(labels), tree
    return np.asarray(answer), None


def _import(name: str, what: str) -> Any:
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        msg = (
            f"the {what} {name!r} cannot be imported: {error}\n"
            "Hint: write 'package.module:name' of something any process can import, so not of a notebook's cell."
        )
        raise LinkwiseError(msg) from error


def _unknown(name: str, known: list[str]) -> LinkwiseError:
    close = difflib.get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else "others are written 'package.module:name'."
    return LinkwiseError(f"there is no engine called {name!r}; linkwise has {', '.join(known)}.\nHint: {hint}")
