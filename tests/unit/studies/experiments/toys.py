"""Engines, data and measures small enough to watch; importable, so that worker processes find them."""

from __future__ import annotations

import os
import sys
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from linkwise.datasets import Data
from studies.experiments import Cell, Study

HERE = "tests.unit.studies.experiments.toys"


def note(path, text):
    """Append one line in one system call, so that lines of several processes never mix."""
    handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    os.write(handle, f"{text}\n".encode())
    os.close(handle)


@contextmanager
def at_work(log, *, alone=False):
    """Share a lock with all who are at work; the system releases it when a process ends, however that ends.

    With ``alone``, wait until nobody else is at work.
    """
    import fcntl

    with Path(f"{log}.lock").open("a") as file:
        fcntl.flock(file, fcntl.LOCK_EX if alone else fcntl.LOCK_SH)
        yield


def logged(X, *, constraints, n_clusters, random_state, log, tag, gate=None):
    """Say that the cell was begun, wait until a file is there, if one is named, and say that it has ended."""
    with at_work(log):
        note(log, f"begin {tag}")
        for _ in range(100_000):  # ten minutes: whoever was to be killed ends, and what it notes shows that
            if gate is None or Path(gate).exists():
                break
            time.sleep(0.006)
        note(log, f"end {tag}")
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
    from linkwise.engines import agglomerate

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


def cells(log, n, gate=None, free=0):
    """``n`` cells that note in ``log`` when they are begun; all but the first ``free`` wait for the file ``gate``."""
    return [
        Cell(
            f"{HERE}:logged",
            "xor",
            data_params={"n_samples": 8},
            params={"log": str(log), "tag": tag, "gate": None if gate is None or tag < free else str(gate)},
        )
        for tag in range(n)
    ]


def study(store, log, n, gate=None, free=0):
    return Study(cells(log, n, gate, free), store, measures={"share": share_of_first})


def main(store, log, n, gate, free, n_jobs):
    """What the tests that kill a run start in a process of its own."""
    print(study(store, log, n, gate, free).run(n_jobs=n_jobs), file=sys.stderr)
