"""The vote of many views: what it costs, and what statements are worth in it."""

from __future__ import annotations

from benchmarks._data import blobs, statements
from linkwise import Consensus
from linkwise.metrics import rand

CLASSES = 10


class Votes:
    """Links drawn from the classes, hard or doubtful."""

    params = ([300, 3_000], ["hard", "doubtful"])
    param_names = ("n", "trust")
    timeout = 600

    def setup(self, n, trust):
        self.X, self.y = blobs(n, classes=CLASSES, spread=1.0)
        self.constraints = statements(self.y, "links", 100).with_trust(trust)
        self._fit()

    def _fit(self):
        return Consensus(CLASSES).fit(self.X, constraints=self.constraints)

    def time_fit(self, *_):
        self._fit()

    def peakmem_fit(self, *_):
        self._fit()

    def track_rand(self, *_):
        return rand(self._fit().labels_, self.y)
