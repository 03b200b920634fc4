"""Agglomeration under must-links and cannot-links: cost and worth of the statements."""

from __future__ import annotations

from benchmarks._data import blobs, links_of_classes, statements
from benchmarks._tree_quality import adjusted_rand, share_held
from linkwise import ConstrainedAgglomerative, Constraints, Kind, SparseAgglomerative, check, close, repair, verify


class Constrained:
    """Links drawn from the classes: none, a tenth, one or ten per sample."""

    params = ([300, 1_000, 3_000, 10_000], [0, 0.1, 1, 10], ["average", "complete", "ward"])
    param_names = ("n", "links per sample", "method")
    timeout = 600

    def setup(self, n, per_sample, method):
        self.X, self.y = blobs(n, classes=10, spread=1.0)
        self.method = method
        self.constraints = statements(self.y, "links", int(per_sample * n))
        self._fit(300)

    def _fit(self, rows=None):
        model = ConstrainedAgglomerative(n_clusters=None, linkage=self.method)
        return model.fit(self.X[:rows], constraints=self.constraints[:rows])

    def time_fit(self, *_):
        self._fit()

    def peakmem_fit(self, *_):
        self._fit()

    def track_held(self, *_):
        return share_held(self._fit().dendrogram_, self.constraints)

    def track_adjusted_rand(self, *_):
        return adjusted_rand(self._fit().dendrogram_, self.y)


class Sparse:
    """Many samples along nearest neighbors, with a tenth as many links."""

    params = ([10_000, 100_000, 1_000_000], [1.0, 0.3])
    param_names = ("n", "spread")
    timeout = 1200

    def setup(self, n, spread):
        self.X, self.y = blobs(n, classes=20, spread=spread)
        self.constraints = statements(self.y, "links", n // 10)
        self._fit(300)

    def _fit(self, rows=None):
        return SparseAgglomerative(20).fit(self.X[:rows], constraints=self.constraints[:rows])

    def time_fit(self, *_):
        self._fit()

    def peakmem_fit(self, *_):
        self._fit()

    def track_held(self, *_):
        return share_held(self._fit().dendrogram_, self.constraints)


class Knowledge:
    """What is asked of the links alone: feasible, entailed, repaired, verified."""

    params = ([300, 3_000, 30_000], [1, 10])
    param_names = ("n", "links per sample")
    timeout = 600

    def setup(self, n, per_sample):
        _, self.y = blobs(n, classes=10)
        self.constraints = links_of_classes(self.y, n * per_sample)
        # a few soft statements that the others contradict, for `repair` to find
        wrong = self.constraints.of(Kind.MUST_LINK)[::50]
        self.mixed = self.constraints | Constraints.build(n, cannot_link=wrong, weight=1.0)
        check(self.constraints[:300])
        verify(self.y, self.constraints)

    def time_check(self, *_):
        check(self.constraints)

    def time_close(self, *_):
        close(self.constraints)

    def time_repair(self, *_):
        repair(self.mixed, keep="hard")

    def time_verify(self, *_):
        verify(self.y, self.constraints)

    def peakmem_check(self, *_):
        check(self.constraints)

    def track_kept(self, *_):
        return repair(self.mixed, keep="hard").kept.n_statements / self.mixed.n_statements
