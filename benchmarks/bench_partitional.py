"""k-means under links and sizes: what the statements cost beside the plain method, and what they are worth."""

from __future__ import annotations

import linkwise
from benchmarks._data import blobs, statements
from linkwise import Constraints, COPKMeans
from linkwise.constraints import SizeBetween
from linkwise.engines import AlternativeKMeans, ConstrainedKMeans, FrequencySensitiveKMeans, SeededKMeans
from linkwise.metrics import rand

CLASSES = 10


class HardKMeans:
    """Links drawn from the classes: none, a tenth, or one per sample; one start."""

    params = ([1_000, 10_000, 100_000], [0, 0.1, 1])
    param_names = ("n", "links per sample")
    timeout = 600

    def setup(self, n, per_sample):
        self.X, self.y = blobs(n, classes=CLASSES, spread=1.0)
        self.constraints = statements(self.y, "links", int(per_sample * n))
        self._fit()

    def _fit(self):
        return COPKMeans(CLASSES, n_init=1, random_state=0).fit(self.X, constraints=self.constraints)

    def time_fit(self, *_):
        self._fit()

    def peakmem_fit(self, *_):
        self._fit()

    def track_inertia_per_sample(self, *_):
        return self._fit().inertia_ / len(self.X)

    def track_rand(self, *_):
        return rand(self._fit().labels_, self.y)


class Seeds:
    """A tenth of the labels known."""

    params = ([1_000, 10_000],)
    param_names = ("n",)

    def setup(self, n):
        self.X, self.y = blobs(n, classes=CLASSES, spread=1.0)
        known = self.y.copy()
        known[n // 10 :] = -1
        self.seeds = Constraints.from_labels(known)
        self._fit(ConstrainedKMeans)

    def _fit(self, method):
        return method(CLASSES, random_state=0).fit(self.X, constraints=self.seeds)

    def time_constrained(self, *_):
        self._fit(ConstrainedKMeans)

    def track_rand_constrained(self, *_):
        return rand(self._fit(ConstrainedKMeans).labels_, self.y)

    def time_seeded(self, *_):
        # told nothing: a broken seed would be warned about
        SeededKMeans(CLASSES, random_state=0).fit(self.X)


class Sizes:
    """Clusters of nearly equal size, by flow."""

    params = ([1_000, 10_000],)
    param_names = ("n",)

    def setup(self, n):
        self.X, _ = blobs(n, classes=CLASSES, spread=1.0)
        self.constraints = Constraints.build(n, rules=SizeBetween(int(0.95 * n / CLASSES), int(1.05 * n / CLASSES)))
        self._fit()

    def _fit(self):
        return COPKMeans(CLASSES, n_init=1, random_state=0).fit(self.X, constraints=self.constraints)

    def time_fit(self, *_):
        self._fit()

    def track_inertia_per_sample(self, *_):
        return self._fit().inertia_ / len(self.X)


class SoftKMeans:
    """Links that are weighed, a tenth as many as samples: each method that weighs, one start."""

    params = (["PCKMeans", "MKMeans", "MPCKMeans", "HMRFKMeans", "CVQE", "LCVQE"], [1_000, 10_000])
    param_names = ("method", "n")
    timeout = 600

    def setup(self, method, n):
        self.X, self.y = blobs(n, classes=CLASSES, spread=1.0)
        self.constraints = statements(self.y, "links", n // 10).with_weight(2.0)
        self._fit(method)

    def _fit(self, method):
        return getattr(linkwise, method)(CLASSES, n_init=1, random_state=0).fit(self.X, constraints=self.constraints)

    def time_fit(self, method, _):
        self._fit(method)

    def track_rand(self, method, _):
        return rand(self._fit(method).labels_, self.y)


class Variants:
    """Clusters of about equal size, and clusters that differ from the classes; one start."""

    params = ([1_000, 10_000], ["balanced", "different"])
    param_names = ("n", "variant")
    timeout = 600

    def setup(self, n, variant):
        self.X, self.y = blobs(n, classes=CLASSES, spread=1.0)
        self.constraints = statements(self.y, "links", n // 10)
        self.variant = variant
        self._fit()

    def _fit(self):
        if self.variant == "balanced":
            model = FrequencySensitiveKMeans(CLASSES, n_init=1, random_state=0)
        else:
            model = AlternativeKMeans(CLASSES, different_from=self.y, n_init=1, random_state=0)
        return model.fit(self.X, constraints=self.constraints)

    def time_fit(self, *_):
        self._fit()

    def track_rand(self, *_):
        return rand(self._fit().labels_, self.y)
