"""CPU seconds and peak memory of the front door for ``front_door.py``, and the parts of the consensus that take most.

python benchmarks/_front_cost.py 1000 hard 500      one size, trust and number of pairs, in this process; prints JSON
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks._child import peak_bytes
from benchmarks._data import ONE_THREAD, blobs
from benchmarks._front_cells import random_pairs
from benchmarks._quality_tables import markdown
from linkwise import cluster
from linkwise.engines.consensus import _estimator, _views
from linkwise.exceptions import LinkwiseError
from linkwise.metrics import adjusted_rand

PAIRS, CLASSES, FEATURES = 1000, 10, 16
SPREAD = 1.0  # of the centers of classes, in widths of a class: classes overlap
LISTED = 6
STEPS: list[Callable[..., Any]] = [  # of the consensus, after its views
    _estimator._share,
    _estimator.link,
    _estimator.settle,
    _estimator.grow,
    _estimator._learn_metric,
    _estimator._place_rest,
]


@contextmanager
def counted() -> Iterator[Counter[str]]:
    """Count CPU seconds of methods of views, of maps with learned metrics, and of the steps after them."""
    spent: Counter[str] = Counter()

    def clocked(name: Callable[..., str], work: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*given: Any) -> Any:
            start = time.process_time()
            try:
                return work(*given)
            finally:
                spent[name(*given)] += time.process_time() - start

        return timed

    methods, learn = dict(_views._METHODS), _views._learn
    views: Any = _views
    for name, method in methods.items():
        views._METHODS[name] = clocked(lambda *_, name=name: f"method {name}", method)
    views._learn = clocked(lambda _maps, view, _known: f"map {view.map}, {view.learner or 'no'} metric", learn)
    for step in STEPS:
        setattr(_estimator, step.__name__, clocked(lambda *_, name=step.__name__: name.lstrip("_"), step))
    try:
        yield spent
    finally:
        views._METHODS.update(methods)
        views._learn = learn
        for step in STEPS:
            setattr(_estimator, step.__name__, step)


def spend(n: int, trust: str, pairs: int) -> dict[str, Any]:
    """Cluster once, after a small run that loads compiled code."""
    warnings.simplefilter("ignore")
    for size, amount in ((200, 50), (n, pairs)):
        X, y = blobs(size, d=FEATURES, classes=CLASSES, spread=SPREAD)
        said = random_pairs(y, amount, 0)
        with counted() as spent:
            start = time.process_time()
            try:
                found = cluster(X, said, CLASSES, trust=trust)
            except LinkwiseError as refused:
                return {"error": str(refused).partition("\n")[0]}
            seconds = time.process_time() - start
    parts = [(name, round(one, 2)) for name, one in spent.most_common(LISTED)]
    index = adjusted_rand(y, found.labels)
    return {"n": n, "trust": trust, "cpu": seconds, "peak": peak_bytes(), "ari": index, "parts": parts}


def cost_tables(sizes: Sequence[int], trusts: Sequence[str] = ("hard", "doubtful"), pairs: int = PAIRS) -> list[str]:
    """A line for each size and trust, each measured in a fresh process with one thread."""
    rows = []
    for n in sizes:
        for trust in trusts:
            command = [sys.executable, str(Path(__file__).resolve()), str(n), trust, str(pairs)]
            done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ | ONE_THREAD)
            one = json.loads(done.stdout)
            if "error" in one:
                rows.append([f"{n:,}", trust, "", "", "", one["error"]])
                continue
            memory = "" if one["peak"] is None else f"{one['peak'] / 1e6:,.0f}"
            parts = ", ".join(f"{name} {seconds:g}" for name, seconds in one["parts"])
            rows.append([f"{n:,}", trust, f"{one['cpu']:.1f}", memory, f"{one['ari']:.3f}", parts])
            print(f"{rows[-1]}", file=sys.stderr, flush=True)
    return markdown(["samples", "trust", "CPU s", "peak MB", "ARI", "largest parts, CPU s"], rows)


if __name__ == "__main__":
    print(json.dumps(spend(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))))
