"""What the peer's Python runs for ``asking.py``: one run of one method; labels after every answer.

    python _asking_child.py METHOD DATA.npz OUT.npz SEED BUDGET WRONG

No part of linkwise is imported: this file has to run where only the peer is installed. ``WRONG`` is the share of wrong
answers. Whether the answer about a pair is wrong depends on the pair and the seed alone, so that every contender that
asks about it hears the same.
"""

from __future__ import annotations

import contextlib
import random
import signal
import sys
import time
import warnings
from typing import Any

import numpy as np

PATIENCE = 60  # seconds of computing that NPU gets; what it shows then is what it ends with


class Enough(Exception):  # noqa: N818
    """The budget is used up."""


class Person:
    """Answers from classes, sometimes wrongly; keeps what was asked and the labels shown at the time."""

    def __init__(self, y: Any, seed: int, budget: int, wrong: float) -> None:
        self.y, self.seed, self.budget, self.wrong = y, seed, budget, wrong
        self.asked: list[tuple[int, int, bool]] = []

    def same(self, a: int, b: int) -> bool:
        """Whether a and b belong together, as this person says."""
        if len(self.asked) >= self.budget:
            raise Enough
        low, high = min(int(a), int(b)), max(int(a), int(b))
        slip = np.random.default_rng([self.seed, low, high]).random() < self.wrong
        said = bool((self.y[low] == self.y[high]) != slip)
        self.asked.append((low, high, said))
        return said


def run_cobras(X: Any, y: Any, person: Person) -> Any:
    """COBRAS with k-means, as published; its last complete clustering counts while it asks on."""
    from cobras_ts.cobras_kmeans import COBRAS_kmeans

    class Asking:  # not derived from the package's Querier, whose folder imports a web server
        query_points = staticmethod(person.same)

        def update_clustering(self, _: Any) -> None:
            pass

        def continue_cluster_process(self) -> bool:
            return True

    outcome = COBRAS_kmeans(X, Asking(), person.budget).cluster()
    return [np.zeros(len(y), int)] + [np.asarray(labels, int) for labels in outcome[1]]


def run_npu(X: Any, y: Any, person: Person) -> Any:
    """NPU around PCKMeans, both of active-semi-supervised-clustering; it is told the number of clusters."""
    from active_semi_clustering.active.pairwise_constraints import NPU
    from active_semi_clustering.active.pairwise_constraints.example_oracle import MaximumQueriesExceeded
    from active_semi_clustering.semi_supervised.pairwise_constraints import PCKMeans

    rows: list[Any] = []

    class Oracle:
        max_queries_cnt = person.budget

        def query(self, i: int, j: int) -> bool:
            while len(rows) <= len(person.asked):  # the last clustering that was made counts
                rows.append(model.labels_.copy())
            try:
                return person.same(i, j)
            except Enough:
                raise MaximumQueriesExceeded from None

    def stop(*_: Any) -> None:
        raise Enough

    # with many answers its k-means may begin anew for ever, since a cluster is empty each time
    signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, PATIENCE)
    model = PCKMeans(n_clusters=len(np.unique(y)))
    with contextlib.suppress(Enough):
        NPU(clusterer=model).fit(X, oracle=Oracle())
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    return rows


METHODS = {"cobras": run_cobras, "npu": run_npu}


def main() -> None:
    """Run once, and keep labels, answers and seconds."""
    warnings.simplefilter("ignore")
    method, data, out, seed, budget, wrong = sys.argv[1:]
    with np.load(data) as file:
        X, y = file["X"], file["y"]
    random.seed(int(seed))
    np.random.seed(int(seed))  # noqa: NPY002  (the peers draw from the global generator)
    person = Person(y, int(seed), int(budget), float(wrong))
    start = time.process_time()
    rows = METHODS[method](X, y, person)
    seconds = time.process_time() - start
    rows = (rows + [rows[-1]] * int(budget))[: int(budget) + 1]  # who stops early keeps the last clustering
    asked = person.asked + [(-1, -1, False)] * (int(budget) - len(person.asked))
    np.savez_compressed(
        out, labels=np.array(rows, dtype=np.int16), asked=np.array(asked, dtype=np.int32), seconds=seconds
    )


if __name__ == "__main__":
    main()
