"""ReCon under triplets: statements that agree with the data, and statements that have nothing to do with it."""

from __future__ import annotations

from benchmarks._data import blobs, digits, statements
from benchmarks._tree_quality import adjusted_rand, share_held
from linkwise import ReCon
from linkwise.metrics import hierarchy_fscore


class _Triplets:
    """Measures of both data sets; subclasses draw the data in ``setup``."""

    timeout = 600

    def _draw(self, X, y, kind, m):
        self.X, self.y = X, y
        self.constraints = statements(y, kind, m)
        ReCon().fit(X[:300], constraints=self.constraints[:300])

    def _fit(self):
        return ReCon(n_clusters=len(set(self.y.tolist()))).fit(self.X, constraints=self.constraints)

    def time_fit(self, *_):
        self._fit()

    def peakmem_fit(self, *_):
        self._fit()

    def track_held(self, *_):
        return share_held(self._fit().dendrogram_, self.constraints)

    def track_adjusted_rand(self, *_):
        return adjusted_rand(self._fit().dendrogram_, self.y)

    def track_fscore(self, *_):
        return hierarchy_fscore(self.y, self._fit().dendrogram_)


class Overlapping(_Triplets):
    """26 overlapping classes, triplets of the classes or of a random tree."""

    params = ([300, 1_000, 3_000], [0, 0.1, 1], ["triplets", "tree"])
    param_names = ("n", "triplets per sample", "about")

    def setup(self, n, per_sample, about):
        X, y = blobs(n, classes=26, spread=1.0)
        self._draw(X, y, about, int(per_sample * n))


class Digits(_Triplets):
    """Handwritten digits with triplets of their classes."""

    params = ([0, 180, 900, 1_797, 5_000],)
    param_names = ("triplets",)

    def setup(self, triplets):
        X, y = digits()
        self._draw(X, y, "triplets", triplets)
