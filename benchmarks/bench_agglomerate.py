"""Unconstrained agglomeration: dense linkages in both precisions, linkages on vectors, with the quality of the cut."""

from __future__ import annotations

import numpy as np

from benchmarks._data import blobs
from benchmarks._tree_quality import adjusted_rand
from linkwise.engines import agglomerate
from linkwise.metrics import hierarchy_fscore


class Agglomerate:
    """One linkage, one size, one precision."""

    params = (
        [300, 1_000, 3_000, 10_000],
        ["average", "complete", "weighted", "single", "ward", "centroid", "median"],
        ["float64", "float32"],
    )
    param_names = ("n", "method", "dtype")
    timeout = 600

    def setup(self, n, method, dtype):
        self.X, self.y = blobs(n, classes=10, spread=1.0)
        self.options = {"method": method, "dtype": dtype}
        agglomerate(self.X[:300], **self.options)  # loads or compiles the kernels

    def time_agglomerate(self, *_):
        agglomerate(self.X, **self.options)

    def peakmem_agglomerate(self, *_):
        agglomerate(self.X, **self.options)

    def track_adjusted_rand(self, *_):
        return adjusted_rand(agglomerate(self.X, **self.options), self.y)

    def track_fscore(self, *_):
        return hierarchy_fscore(self.y, agglomerate(self.X, **self.options))


class Precomputed:
    """The same from distances that the user brings."""

    params = ([300, 1_000, 3_000], ["average", "complete", "single"])
    param_names = ("n", "method")

    def setup(self, n, method):
        from scipy.spatial.distance import pdist

        X, self.y = blobs(n, classes=10, spread=1.0)
        self.condensed = pdist(X)
        self.options = {"method": method, "metric": "precomputed"}
        agglomerate(pdist(X[:100]), **self.options)

    def time_condensed(self, *_):
        agglomerate(self.condensed, **self.options)

    def peakmem_condensed(self, *_):
        agglomerate(self.condensed, **self.options)

    def track_adjusted_rand(self, *_):
        return adjusted_rand(agglomerate(self.condensed, **self.options), self.y)


class Large:
    """Sizes at which only O(n d) memory will do."""

    params = ([1_000, 20_000, 50_000], ["ward", "single"])
    param_names = ("n", "method")
    timeout = 600

    def setup(self, n, method):
        self.X, _ = blobs(n)
        self.options = {"method": method}
        agglomerate(self.X[:300], **self.options)

    def time_agglomerate(self, *_):
        agglomerate(self.X, **self.options)

    def peakmem_agglomerate(self, *_):
        agglomerate(self.X, **self.options)

    def track_heights_finite(self, *_):
        return float(np.isfinite(agglomerate(self.X, **self.options).height).mean())
