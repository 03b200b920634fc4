"""Hold `COPKMeans` and `PCKMeans` against a peer and scikit-learn's KMeans: seconds, inertia, broken statements.

    python benchmarks/kmeans.py                                everything (some minutes)
    python benchmarks/kmeans.py --peer-python PATH/bin/python  the peer lives in another environment
    python benchmarks/kmeans.py --soft                         the methods that weigh statements
    python benchmarks/kmeans.py --quick                        tiny sizes: does it run?

The peer is COPKMeans of active-semi-supervised-clustering 0.0.1 (pip install active-semi-supervised-clustering), or its
PCKMeans with --soft. It runs in a process of its own, with a time limit, and only its fit is timed. Statements are
drawn from classes that overlap: two samples by chance, and their classes say which. Every seed is another start, the
data stay; all have at most 100 iterations and otherwise their defaults: linkwise lets eight starts race, unless it says
"one start", the others have one. Seconds are means over seeds, of one fit each; so "times" compares sums over the same
seeds: how many times as long the other takes as linkwise by default, by the clock and in seconds of a processor. The
first run of linkwise is a warm-up and is not kept.

With --soft, `PCKMeans` is held against the peer on statements that were closed first, as the peer does, by the peer's
objective doubled: inertia and 2 for each broken statement. A step of `PCKMeans` is held against one Lloyd iteration of
KMeans from the same centers, and `MPCKMeans` against the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])
    os.environ["LINKWISE_INTERPRET"] = "0"  # compiled kernels for small data too

from benchmarks._data import blobs
from linkwise import Constraints, COPKMeans, Kind, MPCKMeans, PCKMeans, close, verify
from linkwise.problem import Problem

CLASSES, STEPS = 10, 100
# (samples, statements, with the peer)
CASES = (
    (1_000, 100, True),
    (1_000, 1_000, True),
    (10_000, 1_000, True),
    (10_000, 10_000, False),
    (100_000, 5_000, False),
)
QUICK = ((200, 20, False),)
CHILD = """
import json, sys, time
import numpy as np
from active_semi_clustering.semi_supervised import pairwise_constraints
data = np.load(sys.argv[1])
ml, cl = [[tuple(row) for row in data[name].tolist()] for name in ("must", "cannot")]
np.random.seed(int(sys.argv[2]))
model = getattr(pairwise_constraints, sys.argv[4])(n_clusters=int(sys.argv[3]), max_iter=int(sys.argv[5]))
start, cpu = time.perf_counter(), time.process_time()
try:
    model.fit(data["X"], ml=ml, cl=cl)
    said = {"labels": model.labels_.tolist()}
except Exception as error:
    said = {"error": type(error).__name__}
print(json.dumps({"seconds": time.perf_counter() - start, "cpu": time.process_time() - cpu, **said}))
"""


class Run(NamedTuple):
    """What one contender did on one seed; ``cpu`` counts the seconds of all threads."""

    seconds: float
    cpu: float
    inertia: float
    broken: int
    said: str = ""


def draw(n: int, m: int, seed: int = 0) -> tuple[Any, Constraints]:
    """Samples of overlapping classes, and statements about random pairs of them."""
    X, y = blobs(n, classes=CLASSES, spread=1.0, seed=seed)
    pairs = np.random.default_rng(seed).integers(n, size=(2 * m, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]][:m]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    return X, Constraints.build(n, must_link=pairs[same], cannot_link=pairs[~same])


def judge(X: Any, labels: Any, c: Constraints) -> tuple[float, int]:
    """Inertia around the means of the labels, and how many statements these break."""
    labels = np.asarray(labels, dtype=np.intp)
    cost = sum(((X[labels == j] - X[labels == j].mean(axis=0)) ** 2).sum() for j in np.unique(labels))
    return float(cost), len(verify(labels, c).violated)


def clock(X: Any, c: Constraints, fit: Callable[[], Any]) -> Run:
    """Time one fit, and judge its labels."""
    start, cpu = time.perf_counter(), time.process_time()
    model = fit()
    return Run(time.perf_counter() - start, time.process_time() - cpu, *judge(X, model.labels_, c))


def ours(X: Any, c: Constraints, seed: int, **options: Any) -> Run:
    """One fit of linkwise."""
    model = COPKMeans(CLASSES, max_iter=STEPS, random_state=seed, **options)
    return clock(X, c, lambda: model.fit(X, constraints=c))


def plain(X: Any, c: Constraints, seed: int) -> Run:
    """One fit of scikit-learn, which is told nothing."""
    from sklearn.cluster import KMeans

    return clock(X, c, lambda: KMeans(CLASSES, n_init=1, max_iter=STEPS, random_state=seed).fit(X))


def peer(python: str, limit: float, method: str = "COPKMeans") -> Callable[[Any, Constraints, int], Run]:
    """One fit of the peer in a process of its own."""

    def run(X: Any, c: Constraints, seed: int) -> Run:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "data.npz")
            np.savez(path, X=X, must=c.of(Kind.MUST_LINK), cannot=c.of(Kind.CANNOT_LINK))
            command = [python, "-W", "ignore", "-c", CHILD, str(path), str(seed), str(CLASSES), method, str(STEPS)]
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=limit)
            except subprocess.TimeoutExpired:
                return Run(limit, np.nan, np.nan, -1, f"not done after {limit:g} s")
        if done.returncode:
            return Run(np.nan, np.nan, np.nan, -1, "does not run: " + done.stderr.strip().splitlines()[-1])
        found = json.loads(done.stdout)
        if "error" in found:
            return Run(found["seconds"], found["cpu"], np.nan, -1, "failed: " + found["error"])
        return Run(found["seconds"], found["cpu"], *judge(X, found["labels"], c))

    return run


def word(n: int, m: int, runs: dict[str, list[Run]], charge: float = 0.0) -> list[str]:
    """Word one line per contender; the first is the one that others are compared with.

    ``charge`` is what a broken statement adds to the inertia in the objective.
    """
    first, lines = next(iter(runs.values())), []
    for who, found in runs.items():
        wall, cpu = (np.mean([getattr(run, name) for run in found]) for name in ("seconds", "cpu"))
        times = [np.mean([getattr(run, name) for run in first]) for name in ("seconds", "cpu")]
        fine = [run for run in found if not run.said]
        cost = f"{np.mean([run.inertia + charge * run.broken for run in fine]):.7g}" if fine else "-"
        broken = "/".join("-" if run.broken < 0 else str(run.broken) for run in found)
        notes = "; ".join(sorted({run.said for run in found if run.said}))
        lines.append(
            f"{n:>7} {m:>6} {who:<22} {wall:>9.4f} {cpu:>9.4f} {wall / times[0]:>7.2f} {cpu / times[1]:>7.2f} "
            f"{cost:>10} {broken:>10}  {notes}".rstrip()
        )
    return lines


HEADER = (
    f"{'n':>7} {'said':>6} {'who':<22} {'wall s':>9} {'cpu s':>9} {'times':>7} {'(cpu)':>7} "
    f"{'objective':>10} {'broken':>10}"
)


def table(cases: Any, seeds: int, python: str, limit: float) -> list[str]:
    """Run every case and word one line per contender."""
    lines = [HEADER]
    for n, m, with_peer in cases:
        X, c = draw(n, m)
        contenders: dict[str, Callable[[Any, Constraints, int], Run]] = {
            "COPKMeans": ours,
            "COPKMeans, one start": lambda X, c, seed: ours(X, c, seed, n_init=1),
            "COPKMeans, three runs": lambda X, c, seed: ours(X, c, seed, n_init=3),
            "scikit-learn, untold": plain,
        }
        if with_peer:
            contenders["the peer's COPKMeans"] = peer(python, limit)
        ours(X, c, 0)
        lines += word(n, m, {who: [run(X, c, seed) for seed in range(seeds)] for who, run in contenders.items()})
    return lines


# -- methods that weigh statements -------------------------------------------------------------------------------------


def soft_against_peer(n: int, m: int, seeds: int, python: str, limit: float) -> list[str]:
    """Hold PCKMeans against the peer's: seconds, and the objective both make small."""
    X, c = draw(n, m)
    c = close(c)
    softly = c.with_weight(2.0)

    def fit(X: Any, c: Constraints, seed: int, **options: Any) -> Run:
        model = PCKMeans(CLASSES, max_iter=STEPS, random_state=seed, **options)
        return clock(X, c, lambda: model.fit(X, constraints=softly))

    fit(X, c, 0)
    contenders: dict[str, Callable[[Any, Constraints, int], Run]] = {
        "PCKMeans": fit,
        "PCKMeans, one start": lambda X, c, seed: fit(X, c, seed, n_init=1),
        "PCKMeans, three runs": lambda X, c, seed: fit(X, c, seed, n_init=3),
        "the peer's PCKMeans": peer(python, limit, "PCKMeans"),
    }
    runs = {who: [run(X, c, seed) for seed in range(seeds)] for who, run in contenders.items()}
    return word(n, m, runs, charge=2.0)


def soft_per_iteration(n: int, m: int, repeats: int) -> list[str]:
    """Hold one iteration of PCKMeans against one of KMeans from the same centers."""
    from sklearn.cluster import KMeans

    X, c = draw(n, m)
    c, steps = c.with_weight(2.0), 20
    start = X[np.random.default_rng(0).choice(n, CLASSES, replace=False)]
    own = PCKMeans(CLASSES, init=start, max_iter=steps, tol=0.0)
    plain = KMeans(CLASSES, init=start, n_init=1, max_iter=steps, tol=0.0, algorithm="lloyd")
    runs: dict[str, Callable[[], int]] = {
        "PCKMeans, per step": lambda: own._solve(Problem(X, c, n_clusters=CLASSES, who="PCKMeans")).n_iter,
        "KMeans, per step": lambda: int(plain.fit(X).n_iter_),
    }
    least = dict.fromkeys(runs, np.inf)
    for turn in range(repeats + 1):  # the first turn is a warm-up
        for who, run in runs.items():
            begin = time.perf_counter()
            done = run()
            if turn:
                least[who] = min(least[who], (time.perf_counter() - begin) / done)
    step = least["PCKMeans, per step"]
    return [f"{n:>7} {m:>6} {who:<22} {took:>9.4f} {step / took:>8.4f}" for who, took in least.items()]


def soft_by_the_clock(n: int, m: int, repeats: int) -> list[str]:
    """Time MPCKMeans, from several starts as it does by default."""
    X, c = draw(n, m)
    c, least = c.with_weight(1.0), np.inf
    for turn in range(repeats + 1):
        begin = time.perf_counter()
        MPCKMeans(CLASSES, random_state=0).fit(X, constraints=c)
        least = min(least, time.perf_counter() - begin) if turn else least
    return [f"{n:>7} {m:>6} {'MPCKMeans':<22} {least:>9.4f}"]


def soft_table(seeds: int, python: str, limit: float, *, quick: bool) -> list[str]:
    """Run all that is about methods that weigh statements."""
    lines = [HEADER]
    for n, m in ((200, 20),) if quick else ((1_000, 100), (1_000, 1_000), (10_000, 1_000)):
        lines += soft_against_peer(n, m, seeds, python, limit)
    lines.append(f"{'n':>7} {'said':>6} {'who':<22} {'least s':>9} {'ratio':>8}")
    lines += soft_per_iteration(*((500, 50, 1) if quick else (100_000, 5_000, 7)))
    return lines + soft_by_the_clock(*((200, 20, 1) if quick else (10_000, 1_000, 3)))


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="kmeans.py", description=__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="starts of each contender (default 5)")
    parser.add_argument("--peer-python", default=sys.executable, help="interpreter that has the peer")
    parser.add_argument("--limit", type=float, default=600.0, help="seconds after which a run of the peer is ended")
    parser.add_argument("--quick", action="store_true", help="tiny sizes: shows that it runs")
    parser.add_argument("--soft", action="store_true", help="the methods that weigh statements")
    given = parser.parse_args(arguments)
    if given.soft:
        print("\n".join(soft_table(given.seeds, given.peer_python, given.limit, quick=given.quick)))
        return 0
    for line in table(QUICK if given.quick else CASES, given.seeds, given.peer_python, given.limit):
        print(line.rstrip())
    return 0


if __name__ == "__main__":
    sys.exit(main())
