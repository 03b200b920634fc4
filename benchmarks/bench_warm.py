"""ReCon with a warm start: what one statement more or less costs, beside a fit from scratch.

    python benchmarks/bench_warm.py              the table: medians and worst cases (a few minutes)
    python benchmarks/bench_warm.py --quick      tiny sizes: does it run?

A row is one kind of change to as many triplets of classes as there are samples. Each of its rounds draws a statement,
fits cold, fits warm from the same earlier fit, and holds the two trees against each other. "position" is the share of
merges that stayed in place: 1.00 when the statement changes nothing, 0.00 when it touches the first merge.
"""

from __future__ import annotations

import copy
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

if __name__ == "__main__":
    sys.path[0] = str(Path(__file__).resolve().parents[1])

from benchmarks._data import blobs, digits, statements
from linkwise import Constraints, ReCon

CHANGES = ("triplet added", "triplet withdrawn", "cannot-link added", "cannot-link withdrawn", "must-link added")
DATA = {
    "digits": digits,
    "3 classes": lambda n: blobs(n, classes=3),
    "26 classes, spread 1": lambda n: blobs(n, classes=26, spread=1.0),
    "26 classes, spread 0.5": lambda n: blobs(n, classes=26, spread=0.5),
}


def change(y, known, kind, rng):
    """The statements before and after one of a kind comes or goes."""
    n = len(y)
    a = int(rng.integers(n))
    b = int(rng.choice(np.setdiff1d(np.flatnonzero(y == y[a]), [a])))
    c = int(rng.choice(np.flatnonzero(y != y[a])))
    if kind == "triplet withdrawn":
        return known, known.select(np.delete(np.arange(n), a))
    said = {"triplet": {"triplets": [(a, b, c)]}, "cannot-link": {"cannot_link": [(a, c)]}}
    more = known | Constraints.build(n, **said.get(kind.split()[0], {"must_link": [(a, b)]}))
    return (more, known) if kind.endswith("withdrawn") else (known, more)


class OneStatement:
    """A fit after one statement has come or gone."""

    params = ([300, 1_000, 3_000], list(DATA), list(CHANGES))
    param_names = ("n", "data", "change")
    timeout = 600

    def setup(self, n, data, kind):
        self.X, self.y = DATA[data](n)
        known = statements(self.y, "triplets", len(self.y))
        before, self.after = change(self.y, known, kind, np.random.default_rng(7))
        self.known = ReCon(None, warm_start=True).fit(self.X, constraints=before)

    def _warm(self):
        return copy.copy(self.known).fit(self.X, constraints=self.after)

    def _cold(self):
        return ReCon(None).fit(self.X, constraints=self.after)

    def time_warm(self, *_):
        self._warm()

    def time_cold(self, *_):
        self._cold()

    def track_position(self, n, *_):
        return self._warm().n_reused_ / (n - 1)

    def track_kept(self, *_):
        """1 when the tree is that of a cold fit."""
        return float((self._warm().dendrogram_.parent == self._cold().dendrogram_.parent).all())


def rows(n: int, rounds: int) -> Iterator[str]:
    """Lines of the table."""
    X, y = blobs(60, classes=3)  # so that nothing measured compiles
    known = statements(y, "tree", 60)
    model = ReCon(None, warm_start=True).fit(X, constraints=known)
    for kind in CHANGES:
        model.fit(X, constraints=change(y, known, kind, np.random.default_rng(7))[1])
    for name, make in DATA.items():
        X, y = make(n)
        known = statements(y, "triplets", len(y))
        yield f"{name}, n={len(y):,}"
        for kind in CHANGES:
            rng = np.random.default_rng(7)
            ratio, position, seconds, before = [], [], [], None
            for _ in range(rounds):
                earlier, later = change(y, known, kind, rng)
                if earlier is not known or before is None:
                    before = ReCon(None, warm_start=True).fit(X, constraints=earlier)
                warm, cold = copy.copy(before), ReCon(None)
                took = []
                for model in (cold, warm):
                    start = time.perf_counter()
                    model.fit(X, constraints=later)
                    took.append(time.perf_counter() - start)
                if not np.array_equal(warm.dendrogram_.parent, cold.dendrogram_.parent):
                    msg = f"{name}, {kind}: another tree"
                    raise AssertionError(msg)
                ratio.append(took[1] / took[0])
                seconds.append(took)
                position.append(warm.n_reused_ / (len(y) - 1))
            cold_s, warm_s = np.median(seconds, axis=0)
            yield (
                f"  {kind:22s} warm / cold median {np.median(ratio):.2f} worst {max(ratio):.2f}   "
                f"position median {np.median(position):.2f} least {min(position):.2f}   "
                f"{1e3 * warm_s:.1f} of {1e3 * cold_s:.1f} ms"
            )


def main(quick: bool) -> None:
    """Print the table."""
    for line in rows(200 if quick else 3_000, 3 if quick else 25):
        print(line, flush=True)


if __name__ == "__main__":
    main("--quick" in sys.argv)
