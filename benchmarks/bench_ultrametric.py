"""Methods that take triplets as wishes: UltraTran in both variants, IPoptim in both, HACoc."""

from __future__ import annotations

from benchmarks._data import blobs, statements
from benchmarks._tree_quality import adjusted_rand, share_held
from linkwise import HACoc, IPoptim, UltraTran
from linkwise.engines import hacoc, ipoptim, ultratran

FUNCTIONS = {
    "UltraTran": ultratran,
    "UltraTran strict": lambda X, known: ultratran(X, known, variant="strict"),
    "IPoptim": ipoptim,
    "IPoptim joint": lambda X, known: ipoptim(X, known, enforce="joint"),
    "HACoc": hacoc,
}
ESTIMATORS = {
    "UltraTran": UltraTran(),
    "UltraTran strict": UltraTran(variant="strict"),
    "IPoptim": IPoptim(),
    "IPoptim joint": IPoptim(enforce="joint"),
    "HACoc": HACoc(),
}


class Wishes:
    """Overlapping classes, triplets of the classes or of a random tree; the share that holds is a result here."""

    params = ([300, 1_000, 3_000], [0.1, 1], ["triplets", "tree"], sorted(FUNCTIONS))
    param_names = ("n", "triplets per sample", "about", "method")
    timeout = 600

    def setup(self, n, per_sample, about, method):
        self.X, self.y = blobs(n, classes=26, spread=1.0)
        self.constraints = statements(self.y, about, int(per_sample * n))
        self.method = FUNCTIONS[method]
        self.method(self.X[:100], self.constraints[:100])

    def time_tree(self, *_):
        self.method(self.X, self.constraints)

    def peakmem_tree(self, *_):
        self.method(self.X, self.constraints)

    def track_satisfied(self, *_):
        return share_held(self.method(self.X, self.constraints), self.constraints)

    def track_adjusted_rand(self, *_):
        return adjusted_rand(self.method(self.X, self.constraints), self.y)


class Fits:
    """The estimators under triplets that their data agree with, so that nothing breaks and nothing is warned about."""

    params = ([300, 1_000, 3_000], sorted(ESTIMATORS))
    param_names = ("n", "method")

    def setup(self, n, method):
        X, y = blobs(n, classes=10, spread=10.0)
        self.X, self.constraints = X, statements(y, "triplets", n)
        self.model = ESTIMATORS[method].fit(X[:100], constraints=self.constraints[:100])

    def time_fit(self, *_):
        self.model.fit(self.X, constraints=self.constraints)

    def peakmem_fit(self, *_):
        self.model.fit(self.X, constraints=self.constraints)

    def track_held(self, *_):
        return self.model.fit(self.X, constraints=self.constraints).satisfied_
