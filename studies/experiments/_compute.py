"""Compute one cell: data, knowledge, engine, measures, time. Whatever goes wrong becomes part of the record."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from linkwise._typing import IntArray
from linkwise.exceptions import DamagedDatasetError, DatasetNotFoundError, DeadEndError, LinkwiseError
from linkwise.result import Dendrogram
from studies.experiments._cell import Cell
from studies.experiments._default_measures import Measure
from studies.experiments._drawn_statements import draw
from studies.experiments._resolve import engine_named, fetch, prepare, solve

DONE, FAILED, TIMEOUT, UNAVAILABLE = "done", "failed", "timeout", "unavailable"
_DATA, _KNOWLEDGE, _ENGINE = range(3)
_WARNINGS = 5  # how many a record holds


def compute(cell: Cell, measures: Mapping[str, Measure], folder: str | Path | None = None) -> dict[str, Any]:
    """Compute a cell and return its outcome as plain values; only an interrupt gets out of here."""
    try:
        data = fetch(cell.data, cell.data_params, _seed(cell, _DATA), folder)
    except (DatasetNotFoundError, DamagedDatasetError) as error:
        return outcome(UNAVAILABLE, str(error))
    except Exception as error:  # noqa: BLE001 - a generator of the user's may raise anything
        return outcome(FAILED, _wording(error, "data"))
    found: dict[str, Any] = {"n_samples": data.n_samples}
    where = "knowledge"
    try:
        told = draw(data.y, cell.knowledge, cell.amount, cell.noise, _seed(cell, _KNOWLEDGE), data.taxonomy)
        said = told.constraints
        found |= {"n_statements": said.n_statements, "n_wrong": int(told.wrong.sum())}
        where = "engine"
        engine, X = engine_named(cell.engine), prepare(data.X, cell.prepare)
        # Linear algebra on one thread, whoever computes: sums add up in the same order, and times can be compared.
        with threadpool_limits(limits=1), warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            start = time.perf_counter()
            try:
                labels, tree = solve(engine, dict(cell.params), X, said, data.n_classes, _seed(cell, _ENGINE))
            except DeadEndError as error:
                labels, tree = _as_far_as_it_got(error)
                found["dead_end"] = error.k_min
            found["seconds"] = time.perf_counter() - start
        found["warnings"] = [str(one.message) for one in heard[:_WARNINGS]]
        _require_labels(labels, data.n_samples)
        found["n_clusters"] = len(np.unique(labels))
        values = {}
        for name, measure in measures.items():
            where = f"measure {name}"
            values[name] = _number(measure(data, labels, tree, said))
    except Exception as error:  # noqa: BLE001 - a failing engine must not stop the others
        return outcome(FAILED, _wording(error, where)) | found
    return outcome(DONE, None) | found | {"measures": values}


def outcome(status: str, error: str | None) -> dict[str, Any]:
    """What every record has, before anything is known."""
    blank = dict.fromkeys(("n_samples", "n_statements", "n_wrong", "n_clusters", "dead_end", "seconds"))
    return {"status": status, "error": error, **blank, "warnings": [], "measures": {}}


def _as_far_as_it_got(error: DeadEndError) -> tuple[IntArray, Dendrogram]:
    """The clusters at which merging ended. Leaving such cells out would judge an engine by its lucky ones."""
    if error.dendrogram is None or error.k_min is None:
        raise error
    return error.dendrogram.cut(n_clusters=error.k_min), error.dendrogram


def _require_labels(labels: Any, n_samples: int) -> None:
    if labels.shape != (n_samples,):
        msg = f"the labels have shape {labels.shape}, expected one for each of {n_samples} samples."
        raise LinkwiseError(msg)


def _seed(cell: Cell, stream: int) -> int:
    """A seed for one use, so that data, knowledge and engine do not share their chance."""
    return int(np.random.SeedSequence(cell.seed, spawn_key=(stream,)).generate_state(1)[0])


def _wording(error: Exception, where: str) -> str:
    return f"{where}: {type(error).__name__}: {error}"


def _number(value: Any) -> float | None:
    """A measure as JSON can hold it: what is not a finite number is null."""
    number = float(value)
    return number if math.isfinite(number) else None
