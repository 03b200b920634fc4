"""Methods that do not guarantee triplets, and the search over trees for the least-squares ultrametric."""

from __future__ import annotations

import warnings

import numpy as np

from benchmarks._data import blobs, statements
from benchmarks._tree_quality import adjusted_rand, share_held
from linkwise.engines import HACoc, IPoptim, LeastSquaresUltrametric, UltraTran, fit_ultrametric
from linkwise.exceptions import LinkwiseWarning

ESTIMATORS = {
    "UltraTran": UltraTran(),
    "UltraTran strict": UltraTran(variant="strict"),
    "IPoptim": IPoptim(),
    "IPoptim joint": IPoptim(enforce="joint"),
    "HACoc": HACoc(),
}


class BestEffort:
    """Overlapping classes, triplets of the classes or of a random tree; the share that holds is a result here."""

    params = ([300, 1_000, 3_000], [0.1, 1], ["triplets", "tree"], sorted(ESTIMATORS))
    param_names = ("n", "triplets per sample", "about", "method")
    timeout = 600

    def setup(self, n, per_sample, about, method):
        self.X, self.y = blobs(n, classes=26, spread=1.0)
        self.constraints = statements(self.y, about, int(per_sample * n))
        self.model = ESTIMATORS[method]
        self._tree(100)

    def _tree(self, rows=None):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinkwiseWarning)
            return self.model.fit(self.X[:rows], constraints=self.constraints[:rows]).dendrogram_

    def time_tree(self, *_):
        self._tree()

    def peakmem_tree(self, *_):
        self._tree()

    def track_satisfied(self, *_):
        return share_held(self._tree(), self.constraints)

    def track_adjusted_rand(self, *_):
        return adjusted_rand(self._tree(), self.y)


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


class Searches:
    """Moves of subtrees until none lowers the sum of squares: time, and the loss as a share of average linkage's."""

    params = ([20, 50, 100], [0, 1])
    param_names = ("n", "triplets per sample")

    def setup(self, n, per_sample):
        self.X, y = blobs(n, classes=4, spread=1.0)
        self.constraints = statements(y, "triplets", per_sample * n)
        self.model = LeastSquaresUltrametric(search="local", n_kicks=0, budget=60.0, random_state=0)

    def time_fit(self, *_):
        self.model.fit(self.X, constraints=self.constraints)

    def peakmem_fit(self, *_):
        self.model.fit(self.X, constraints=self.constraints)

    def track_share_of_average_linkage(self, *_):
        i, j = np.triu_indices(len(self.X), 1)
        apart = np.sqrt(((self.X[i] - self.X[j]) ** 2).sum(axis=1))
        plain = float(((fit_ultrametric(self.X).cophenetic(i, j) - apart) ** 2).sum())
        return self.model.fit(self.X, constraints=self.constraints).objective_ / plain

    def track_held(self, *_):
        return share_held(self.model.fit(self.X, constraints=self.constraints).dendrogram_, self.constraints)
