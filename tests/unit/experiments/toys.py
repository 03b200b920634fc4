"""Engines, data and measures small enough to watch; importable, so that worker processes find them."""

from __future__ import annotations

import os
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from linkwise.datasets import Data
from linkwise.experiments import Cell, Study

HERE = "tests.unit.experiments.toys"


def note(path, text):
    """Append one line in one system call, so that lines of several processes never mix."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{text}\n".encode())
    os.close(handle)


def logged(X, *, constraints, n_clusters, random_state, log, tag, nap=0.0):
    """Say that the cell was begun and by which process, and sleep."""
    note(log, f"begin {tag}")
    note(log, f"by {os.getpid()}")
    for _ in range(round(nap / 0.05)):
        time.sleep(0.05)
    return np.arange(len(X)) % n_clusters


def waiting(X, *, constraints, n_clusters, random_state, log, go):
    """Say that the cell was begun, and wait until a file is there."""
    note(log, "begin waiting")
    while not Path(go).exists():
        time.sleep(0.01)
    return np.arange(len(X)) % n_clusters


def failing(X, *, constraints, n_clusters, random_state):
    raise RuntimeError("no luck today")


def dying(X, *, constraints, n_clusters, random_state):
    os._exit(7)


def short(X, *, constraints, n_clusters, random_state):
    return [0, 1]


def warning(X, *, constraints, n_clusters, random_state):
    warnings.warn("careful", UserWarning, stacklevel=1)
    return np.zeros(len(X), dtype=int)


def spoiling(X, *, constraints, n_clusters, random_state):
    """Cluster by the sign of the first column, then ruin the samples."""
    labels = (X[:, 0] > 0).astype(int)
    X[:] = 0
    return labels


def chance(X, *, constraints, n_clusters, random_state):
    return np.random.default_rng(random_state).integers(n_clusters, size=len(X))


def tree(X, *, constraints, n_clusters, random_state):
    from linkwise import agglomerate

    return agglomerate(X, method="average")


class Listener:
    """An estimator that remembers what it was given; workers of other tests are spared loading scikit-learn."""

    heard = None

    def __init__(self, n_clusters=5, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def get_params(self, deep=True):
        return {"n_clusters": self.n_clusters, "random_state": self.random_state}

    def set_params(self, **params):
        vars(self).update(params)
        return self

    def fit(self, X, y=None, *, constraints=None):
        type(self).heard = (X, constraints, self.n_clusters, self.random_state)
        self.labels_ = np.zeros(len(X), dtype=int)
        return self


def gaps(random_state=None):
    X = np.array([[1.0, 5.0], [np.nan, 5.0], [3.0, 5.0], [5.0, 5.0]])
    return Data(X, np.array([0, 0, 1, 1]), "gaps", label_names=("a", "b"))


def no_data():
    return 3


def share_of_first(data, labels, dendrogram, constraints):
    return float(np.mean(np.asarray(labels) == labels[0]))


def nothing(data, labels, dendrogram, constraints):
    return float("nan")


def broken(data, labels, dendrogram, constraints):
    raise ValueError("cannot measure")


def cells(log, n, nap):
    """``n`` cells that note in ``log`` when they are begun."""
    return [
        Cell(
            f"{HERE}:logged",
            "xor",
            data_params={"n_samples": 8},
            params={"log": str(log), "tag": tag, "nap": nap},
        )
        for tag in range(n)
    ]


def study(store, log, n, nap):
    return Study(cells(log, n, nap), store, measures={"share": share_of_first})


def main(store, log, n, nap, n_jobs):
    """What the tests that kill a run start in a process of its own."""
    print(study(store, log, n, nap).run(n_jobs=n_jobs), file=sys.stderr)
