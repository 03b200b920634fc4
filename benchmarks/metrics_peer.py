"""Metric learners beside those of metric-learn: seconds and objectives, on the same data and statements.

metric-learn 0.7.0 does not run on current versions of scikit-learn, so it gets an environment of its own, once:

    python -m venv ENV && ENV/bin/pip install "metric-learn==0.7.0" "scikit-learn==1.4.2" "numpy<2"
    python benchmarks/metrics_peer.py --peer ENV/bin/python            everything (about ten minutes)
    python benchmarks/metrics_peer.py --peer ENV/bin/python --quick    tiny sizes: does it run?

Both sides alternate, with one thread for linear algebra, and the least CPU seconds of the rounds count, so that a busy
machine does not disturb. The peer's fit gets its pairs ready-made; ours starts from X and constraints. A peer that
takes longer than ``--limit`` seconds is stopped.

Objectives are computed here, from the matrices, by the definitions. MMC: the sum of distances over cannot-links where
squared distances over must-links sum to 1 (larger is better); where must-links are fewer than features that has no
bound, and a tenth of their scatter is replaced by a round one, as ours does, "*". RCA: the log-determinant of the
metric where the mean squared distance within chunklets is 1 (larger is better). ITML: divergence from the identity
plus what the bounds give way (smaller). LSML: divergence from the identity plus the mean squared residual (smaller).
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

from linkwise import Constraints
from linkwise.engines import ITML, LSML, RCA, XingMetric

# What the peer's Python runs: one fit of the whole after a brief one, its seconds and its matrix.
CHILD = """
import json, sys, time, warnings
import numpy as np
import metric_learn as ml
warnings.simplefilter("ignore")
data = np.load(sys.argv[1]); name = sys.argv[2]
X, must, cannot, trio, chunk = (data[k] for k in ("X", "must", "cannot", "trio", "chunk"))
pairs = X[np.concatenate([must, cannot])]
y = np.r_[np.ones(len(must), int), -np.ones(len(cannot), int)]
few = np.r_[0:4, len(must):len(must) + 4]
quad = X[np.concatenate([trio[:, [0, 1, 0, 2]], trio[:, [0, 1, 1, 2]]])]
def learn(small):  # a first fit of a few rounds loads what is loaded lazily
    told, brief = ((pairs[few], y[few]), {"max_iter": 2}) if small else ((pairs, y), {})
    if name.startswith("MMC"):
        brief = {"max_iter": 2, "max_proj": 5} if small else {}
        return ml.MMC(diagonal=name.endswith("diagonal"), **brief).fit(*told)
    if name == "ITML":
        return ml.ITML(**brief).fit(*told, bounds=data["bounds"].copy())
    if name == "LSML":
        return ml.LSML(**brief).fit(quad[:4] if small else quad)
    return ml.RCA().fit(X, chunk)
try:
    learn(True)
except Exception:
    pass
seconds = []
while sum(seconds) < 0.1 and len(seconds) < 7:  # what is over in no time is measured several times
    start = time.process_time()
    try:
        M = learn(False).get_mahalanobis_matrix()
        failure = ""
    except Exception as error:
        M, failure = np.full((X.shape[1],) * 2, np.nan), type(error).__name__
    seconds.append(time.process_time() - start)
print(json.dumps({"seconds": min(seconds), "M": M.tolist(), "failure": failure}))
"""

# seconds after which the peer is not asked again: no round would change the picture
LONG = 10.0
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class Case(NamedTuple):
    """Samples, and pairs and triplets that their classes make true."""

    X: Any
    must: Any
    cannot: Any
    trio: Any
    chunk: Any
    bounds: Any


def make_case(n: int, d: int, m: int, seed: int = 0) -> Case:
    """Five classes told apart by three directions among d, and m statements, half must-links; m triplets."""
    rng = np.random.default_rng(seed)
    y = rng.integers(5, size=n)
    X = rng.normal(size=(n, d))
    X[:, :3] += 2 * rng.normal(size=(5, 3))[y]
    X = X @ np.linalg.qr(rng.normal(size=(d, d)))[0] * np.exp(0.3 * rng.normal(size=d))
    pairs = rng.integers(n, size=(40 * m, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    must, cannot = pairs[same][: m // 2], pairs[~same][: m // 2]
    trio = rng.integers(n, size=(60 * m, 3))
    a, b, c = trio.T
    trio = trio[(y[a] == y[b]) & (y[a] != y[c]) & (a != b)][:m]
    chunk = _chunks(n, must)
    few = X[rng.permutation(n)[:300]]
    squared = ((few[:, None] - few) ** 2).sum(-1)[np.triu_indices(len(few), 1)]
    return Case(X, must, cannot, trio, chunk, np.percentile(squared, (5, 95)))


def _chunks(n: int, must: Any) -> Any:
    """Number of each sample's chunklet, -1 for none, as the peer wants them."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    graph = coo_array((np.ones(len(must)), must.T), shape=(n, n))
    part = connected_components(graph, directed=False)[1]
    alone = np.bincount(part)[part] < 2
    chunk = np.unique(np.where(alone, -1, part), return_inverse=True)[1]
    return chunk - 1 if alone.any() else chunk


def divergence(M: Any) -> float:
    """LogDet divergence from the identity."""
    return float(np.trace(M) - np.linalg.slogdet(M)[1] - len(M))


def squared(M: Any, rows: Any) -> Any:
    """Squared lengths of rows under M."""
    return np.maximum(np.einsum("ij,ij->i", rows @ M, rows), 0.0)


def xing_objective(M: Any, case: Case) -> float:
    """Sum over cannot-links, where must-links sum to 1; a singular scatter of must-links is rounded off."""
    near, far = (case.X[pairs[:, 0]] - case.X[pairs[:, 1]] for pairs in (case.must, case.cannot))
    scatter = near.T @ near
    if len(near) < len(scatter):
        scatter = 0.9 * scatter + 0.1 * np.trace(scatter) / len(scatter) * np.eye(len(scatter))
    return float(np.sqrt(squared(M, far)).sum() / np.sqrt(np.sum(M * scatter)))


def rca_objective(M: Any, case: Case) -> float:
    """Log-determinant of the metric scaled to a mean squared distance of 1 within chunklets."""
    centered = [case.X[case.chunk == k] - case.X[case.chunk == k].mean(axis=0) for k in range(case.chunk.max() + 1)]
    within = np.concatenate(centered)
    sign, logdet = np.linalg.slogdet(M / squared(M, within).mean())
    return float(logdet) if sign > 0 else float("nan")


def itml_objective(M: Any, case: Case) -> float:
    """Divergence plus what bounds give way, with γ = 1."""
    low, high = case.bounds
    short = np.maximum(squared(M, case.X[case.must[:, 0]] - case.X[case.must[:, 1]]) / low, 1.0)
    long_ = np.minimum(squared(M, case.X[case.cannot[:, 0]] - case.X[case.cannot[:, 1]]) / high, 1.0)
    return divergence(M) + sum(float((r - np.log(r) - 1).sum()) for r in (short, long_))


def lsml_objective(M: Any, case: Case) -> float:
    """Divergence plus the mean squared residual of the two comparisons of each triplet."""
    a, b, c = (case.X[k] for k in case.trio.T)
    near = np.sqrt(squared(M, a - b))
    excess = [np.maximum(near - np.sqrt(squared(M, other)), 0.0) for other in (a - c, b - c)]
    return divergence(M) + float((np.concatenate(excess) ** 2).mean())


class Method(NamedTuple):
    """A method of both sides: ours, what it is told, what counts, and whether more of it is better."""

    name: str
    ours: Callable[[Case], Any]
    told: Callable[[Case], Constraints]
    objective: Callable[[Any, Case], float]
    larger: bool


def _links(case: Case) -> Constraints:
    return Constraints.build(len(case.X), must_link=case.must, cannot_link=case.cannot)


METHODS = (
    Method("MMC full", lambda _: XingMetric(), _links, xing_objective, True),
    Method("MMC diagonal", lambda _: XingMetric(form="diagonal"), _links, xing_objective, True),
    Method("RCA", lambda _: RCA(), lambda c: Constraints.build(len(c.X), must_link=c.must), rca_objective, True),
    Method("ITML", lambda case: ITML(bounds=case.bounds), _links, itml_objective, False),
    Method(
        "LSML",
        lambda _: LSML(C=1.0, unit=1.0),
        lambda c: Constraints.build(len(c.X), triplets=c.trio),
        lsml_objective,
        False,
    ),
)


def run_peer(python: str, data: str, name: str, limit: float) -> tuple[float, Any, str]:
    """Seconds and matrix of one fit of the peer; what stopped it, if anything did."""
    try:
        done = subprocess.run(
            [python, "-c", CHILD, data, name],
            capture_output=True,
            text=True,
            check=False,
            timeout=limit,
            env={**os.environ, **ONE_THREAD},
        )
    except subprocess.TimeoutExpired:
        return limit, None, "stopped"
    if done.returncode:
        hint = "Hint: the head of this file says how to install it."
        msg = f"{python} could not run metric-learn:\n{done.stderr[-800:]}\n{hint}"
        raise SystemExit(msg)
    report = json.loads(done.stdout.splitlines()[-1])
    return report["seconds"], np.array(report["M"], dtype=float), report["failure"]


def measure(method: Method, case: Case, python: str, rounds: int, limit: float) -> str:
    """One line of the table."""
    told, model = method.told(case), method.ours(case)
    with tempfile.TemporaryDirectory() as folder:
        data = str(Path(folder) / "case.npz")
        np.savez(data, **case._asdict())
        model.fit(case.X, constraints=told)  # loads what is loaded lazily
        ours, theirs, failure, M = [], [], "", None
        for _ in range(rounds):
            spent: list[float] = []
            while sum(spent) < 0.1 and len(spent) < 7:  # as the peer does
                start = time.process_time()
                model.fit(case.X, constraints=told)
                spent.append(time.process_time() - start)
            ours += spent
            if not theirs or theirs[-1] < LONG:
                seconds, M, failure = run_peer(python, data, method.name, limit)
                theirs.append(seconds)
    mine, other = method.objective(model.get_mahalanobis_matrix(), case), float("nan")
    if M is not None and np.isfinite(M).all():
        with np.errstate(all="ignore"):
            other = method.objective((M + M.T) / 2, case)
    star = "*" if method.name.startswith("MMC") and len(case.must) < case.X.shape[1] else ""
    better = mine >= other if method.larger else mine <= other
    close = abs(mine - other) <= 1e-3 * max(abs(mine), 1e-9)
    word = failure or ("no number" if np.isnan(other) else "equal" if close else "better" if better else "WORSE")
    sign = "<" if failure == "stopped" else ""
    d, m = case.X.shape[1], 2 * len(case.must)
    ratio = sign + format(min(ours) / min(theirs), ".3f")
    return (
        f"{method.name:13} {d:4} {m:6}  {min(ours):9.4f} {min(theirs):9.4f} {ratio:>7}"
        f"  {mine:14.6f} {other:14.6f}  {word}{star}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peer", required=True, help="the Python of an environment with metric-learn")
    parser.add_argument("--quick", action="store_true", help="tiny sizes")
    parser.add_argument("--only", default="", help="methods whose names contain this")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds the peer may take")
    chosen = parser.parse_args(arguments)
    sizes = ((60, 3, 20),) if chosen.quick else tuple((1000, d, m) for d in (10, 100) for m in (100, 2000))
    times, values = f"{'ours s':>9} {'peer s':>9} {'ratio':>7}", f"{'ours':>14} {'peer':>14}"
    print(f"{'method':13} {'d':>4} {'told':>6}  {times}  {values}  objective")
    for method in [method for method in METHODS if chosen.only in method.name]:
        for n, d, m in sizes:
            print(measure(method, make_case(n, d, m), chosen.peer, 1 if chosen.quick else chosen.rounds, chosen.limit))
            sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main())
