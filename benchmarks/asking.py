"""How many answers it takes: the strategies of linkwise.active beside COBRAS and NPU, on twelve data sets.

COBRAS and active-semi-supervised-clustering do not run on current versions of NumPy; they get an environment, once:

    python -m venv ENV && ENV/bin/pip install "numpy<1.24" "scipy<1.11" "scikit-learn<1.3" \\
        active-semi-supervised-clustering==0.0.1 && ENV/bin/pip install --no-deps cobras-ts==0.1.3
    LINKWISE_DATA=... python benchmarks/asking.py --peer ENV/bin/python --keep FOLDER        everything (hours)
    LINKWISE_DATA=... python benchmarks/asking.py --peer ENV/bin/python --keep FOLDER --quick    does it run?

Every contender gets the same samples: gaps filled with means, nominal columns written out as zeros and ones, others
standardised. Whether an answer is wrong depends on the seed, the pair and how often it was asked, so whoever asks the
same hears the same. After each answer the labels the contender would show are compared with the classes. Only those
that need the number of clusters are told it: Explore/Consolidate, NPU and random pairs with k-means.

Results are kept in FOLDER, one file per contender, set and share of wrong answers; a run computes what is missing.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import adjusted_rand_score

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from linkwise import PCKMeans, datasets
from linkwise.active import Dialogue, ExpectedGain, ExploreConsolidate, RandomPairs
from linkwise.engines import propagate_neighbourhoods
from linkwise.engines.spectral._field import Field

SETS = "iris wine ionosphere glass breast vote pima zoo soybean crabs digits_389 letters_ijlt".split()
NOMINAL = {"soybean"}  # numbers in the file, but codes for words
BUDGET, SEEDS, FEW_SEEDS = 150, 20, 5
WRONG = (0.0, 0.05, 0.1)
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
SHOWN = (5, 10, 20, 30, 50, 75, 100, 150)


def prepare(name: str) -> tuple[Any, Any]:
    """Samples as every contender gets them, and their classes."""
    data = datasets.load(name)
    words = np.zeros(data.X.shape[1], bool) if data.categorical is None else data.categorical
    columns = []
    for at, column in enumerate(np.asarray(data.X, dtype=float).T):
        there = column[~np.isnan(column)]
        levels = np.unique(there)
        if (words[at] or name in NOMINAL) and len(levels) > 2:
            columns += [np.where(column == level, 1.0, 0.0) for level in levels]
        elif len(levels) > 1:
            columns.append((np.where(np.isnan(column), there.mean(), column) - there.mean()) / there.std())
    return np.ascontiguousarray(np.column_stack(columns)), data.y


class Person:
    """Answers by classes, and errs now and then; the twin of the one in ``_asking_child.py``."""

    def __init__(self, y: Any, seed: int, wrong: float) -> None:
        self.y, self.seed, self.wrong = y, seed, wrong
        self.times: dict[tuple[int, ...], int] = {}

    def __call__(self, items: tuple[int, ...]) -> bool:
        times = self.times[items] = self.times.get(items, 0) + 1
        salt = [self.seed, *items] + [times] * (times > 1)
        slip = np.random.default_rng(salt).random() < self.wrong
        return bool((self.y[items[0]] == self.y[items[1]]) != slip)


def converse(X: Any, y: Any, seed: int, wrong: float, strategy: Any, show: Callable[[Dialogue], Any]) -> Any:
    """Labels after each answer of one dialogue."""
    talk, person = Dialogue(X, strategy=strategy, budget=BUDGET, random_state=seed), Person(y, seed, wrong)
    labels = [show(talk)]
    while (query := talk.ask()) is not None:
        talk.tell(query, person(query.items))
        labels.append(show(talk))
    return labels


def propagated(X: Any) -> Callable[[Dialogue], Any]:
    """Show what NeighbourhoodPropagation makes of the answers; the field of the samples is made once."""
    made = Field(X)
    return lambda talk: propagate_neighbourhoods(X, talk.constraints, made=made).labels


def k_means(X: Any, k: int) -> Callable[[Dialogue], Any]:
    """Show what PCKMeans makes of the answers, told the number of clusters."""
    return lambda talk: (
        PCKMeans(k, random_state=0, n_init=1).fit(X, constraints=talk.constraints.with_weight(1.0)).labels_
    )


def run_here(name: str, X: Any, y: Any, seed: int, wrong: float) -> Any:
    """One run of one of our contenders."""
    k = len(np.unique(y))
    if name == "ours":
        return converse(X, y, seed, wrong, ExpectedGain(), propagated(X))
    if name == "random":
        return converse(X, y, seed, wrong, RandomPairs(), propagated(X))
    if name == "random k-means":
        return converse(X, y, seed, wrong, RandomPairs(), k_means(X, k))
    return converse(X, y, seed, wrong, ExploreConsolidate(k), k_means(X, k))
