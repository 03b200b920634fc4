"""The study of constants in ``front_door.py``: values of each chosen on all sets but one, and scored on that one.

Views do not depend on most constants: they are fitted once and mixed again for each value. Other numbers of folds, and
other doubtful statements left out, cost fits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from benchmarks._front_cells import Kept, Task, random_pairs, samples, told_triplets, told_wrong, views_kept
from benchmarks._quality_tables import markdown
from linkwise import cluster
from linkwise.engines.consensus import _estimator, _moves, _votes
from linkwise.metrics import adjusted_rand

MODULES: list[Any] = [_estimator, _moves, _votes]
Scores = Mapping[str, Sequence[float]]  # of each set, the score of each value


class Constant(NamedTuple):
    """A constant of the consensus, the values to compare (the first is in force), and the cells that show it."""

    name: str
    values: tuple[Any, ...]
    cells: str

    def show(self, value: Any) -> str:
        """A value in words."""
        return "/".join(f"{one:.3g}" for one in np.atleast_1d(value))


_RIDGE = np.array([0.1, 0.5])
_TRIPLETS = tuple(float(np.log(odds)) for odds in (4.0, 1.5, 9.0, 99.0))
CONSTANTS = [
    Constant("FLOOR", (0.02, 0.001, 0.1, 0.3), "pairs"),
    Constant("_SLOPE", (6.0, 3.0, 12.0), "pairs"),
    Constant("_RIDGE", (_RIDGE, _RIDGE / 4, _RIDGE * 8), "pairs"),
    Constant("_MOST", (5.0, 1.0, 50.0), "pairs"),
    Constant("_SWEEPS", (6, 0, 1), "pairs"),
    Constant("FOLDS", (5, 3, 10), "pairs"),
    Constant("SUSPECT", (0.8, 0.5, 0.7, 0.9), "wrong"),
    Constant("_SLOPE", (6.0, 3.0, 12.0), "wrong"),
    Constant("_RIDGE", (_RIDGE, _RIDGE / 4, _RIDGE * 8), "wrong"),
    Constant("_RATE", (40.0, 10.0, 160.0), "wrong"),
    Constant("SPLITS", (2, 1), "wrong"),
    Constant("_TRIPLET", _TRIPLETS, "few triplets"),
    Constant("_TRIPLET", _TRIPLETS, "many triplets"),
]


@contextmanager
def in_force(name: str, value: Any) -> Iterator[None]:
    """Give a constant another value in all modules of the consensus that have it."""
    places = [place for place in MODULES if hasattr(place, name)]
    before = [getattr(place, name) for place in places]
    for place in places:
        setattr(place, name, value)
    try:
        yield
    finally:
        for place, old in zip(places, before, strict=True):
            setattr(place, name, old)


def only_door(task: Task, kept: Kept) -> dict[str, Any]:
    """The front door alone, told pairs."""
    X, y = samples(task["set"])
    said = random_pairs(y, task["amount"], task["seed"])
    with views_kept(kept):
        found = cluster(X, said, int(y.max()) + 1, random_state=task["seed"])
    return {"ari": adjusted_rand(y, found.labels)}


RUNS: dict[str, tuple[Callable[[Task, Kept], dict[str, Any]], Task]] = {
    "pairs": (only_door, {"amount": 100}),
    "wrong": (told_wrong, {"amount": 100, "wrong": 5}),
    "few triplets": (told_triplets, {"share": 0.1}),
    "many triplets": (told_triplets, {"share": 0.25}),
}


def study(constant: Constant, sets: Sequence[str], seeds: Sequence[int], kept: Kept) -> dict[str, list[float]]:
    """The mean index on each set for each value."""
    run, what = RUNS[constant.cells]
    found: dict[str, list[float]] = {}
    for name in sets:
        found[name] = []
        for value in constant.values:
            task = {**what, "set": name, "constant": constant.name, "value": constant.show(value)}
            ari = []
            for seed in seeds:
                with in_force(constant.name, value):
                    one = {**task, "seed": seed}
                    ari.append(kept.once({**one, "cells": constant.cells}, lambda one=one: run(one, kept))["ari"])
            found[name].append(float(np.mean(ari)))
    return found


def choose_elsewhere(scores: Scores) -> dict[str, int]:
    """For each set, the value that is best on the mean of all others; the first of equals."""
    return {
        name: int(np.round(np.mean([scores[other] for other in scores if other != name], axis=0), 4).argmax())
        for name in scores
    }


def table(found: Sequence[tuple[Constant, Scores]]) -> list[str]:
    """One line for each constant: its values with their means, the choices made on other sets, and their score."""
    rows = []
    for constant, scores in found:
        means = np.mean(list(scores.values()), axis=0)
        listed = ", ".join(f"{constant.show(v)}: {m:.3f}" for v, m in zip(constant.values, means, strict=True))
        chosen = choose_elsewhere(scores)
        counts = np.bincount(list(chosen.values()), minlength=len(means))
        choices = ", ".join(f"{constant.show(constant.values[at])} ({counts[at]})" for at in np.flatnonzero(counts))
        outside = float(np.mean([scores[name][at] for name, at in chosen.items()]))
        rows.append([f"`{constant.name}`", constant.cells, listed, choices, f"{means[0]:.3f}", f"{outside:.3f}"])
    head = [
        "constant",
        "cells",
        "values: mean (first in force)",
        "chosen without the set (sets)",
        "in force",
        "left out",
    ]
    return markdown(head, rows)
