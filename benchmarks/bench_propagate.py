"""Must-links that bend space: what propagation costs, and what it is worth to complete link."""

from __future__ import annotations

import numpy as np

from benchmarks._data import blobs, statements
from benchmarks._tree_quality import adjusted_rand, share_held
from linkwise import ConstrainedCompleteLink
from linkwise.engines import active_complete_link, propagate


class Propagation:
    """Samples in the plane or in 16 dimensions; a tenth, a third or nearly all of them linked in pairs."""

    params = ([300, 1_000, 3_000], [2, 16], [0.1, 0.33, 0.95], [True, False])
    param_names = ("n", "d", "linked share", "triangle inequality known")
    timeout = 600

    def setup(self, n, d, share, known):
        self.X, self.y = blobs(n, d=d, classes=10, spread=1.0)
        self.constraints = statements(self.y, "must-links", int(share * n / 2))
        propagate(self.X[:50], self.constraints[:50], metric_input=known)

    def _propagate(self, known):
        return propagate(self.X, self.constraints, metric_input=known)

    def time_propagate(self, _n, _d, _share, known):
        self._propagate(known)

    def peakmem_propagate(self, _n, _d, _share, known):
        self._propagate(known)

    def track_distance_within_classes(self, _n, _d, _share, known):
        """Mean propagated distance of classmates over that of strangers: the smaller, the better."""
        D = self._propagate(known)
        same = self.y[:, None] == self.y
        return float(D[same].mean() / D[~same].mean())


class CompleteLink:
    """Links drawn from overlapping classes: a tenth, one or three per sample."""

    params = ([300, 1_000, 3_000], [0.1, 1, 3], ["complete", "average"])
    param_names = ("n", "links per sample", "linkage")
    timeout = 600

    def setup(self, n, per_sample, linkage):
        self.X, self.y = blobs(n, classes=10, spread=1.0)
        self.constraints = statements(self.y, "links", int(per_sample * n))
        self.model = ConstrainedCompleteLink(None, linkage=linkage)
        self.model.fit(self.X[:300], constraints=self.constraints[:300])

    def _fit(self):
        return self.model.fit(self.X, constraints=self.constraints)

    def time_fit(self, *_):
        self._fit()

    def peakmem_fit(self, *_):
        self._fit()

    def track_held(self, *_):
        return share_held(self._fit().dendrogram_, self.constraints)

    def track_adjusted_rand(self, *_):
        return adjusted_rand(self._fit().dendrogram_, self.y)


class Questions:
    """A dialogue with somebody who knows the classes."""

    params = ([300, 1_000, 3_000], [20, 100])
    param_names = ("n", "budget")
    timeout = 600

    def setup(self, n, budget):
        self.X, self.y = blobs(n, classes=10, spread=1.0)
        self._run(budget)

    def _run(self, budget):
        run = active_complete_link(self.X, budget)
        while (pair := run.ask()) is not None:
            run.tell(pair, bool(self.y[pair[0]] == self.y[pair[1]]))
        return run

    def time_run(self, _n, budget):
        self._run(budget)

    def peakmem_run(self, _n, budget):
        self._run(budget)

    def track_adjusted_rand(self, _n, budget):
        return adjusted_rand(self._run(budget).dendrogram, self.y)

    def track_share_of_true_answers(self, _n, budget):
        known = self._run(budget).constraints
        a, b = known.items[:, 0], known.items[:, 1]
        return float(np.mean((self.y[a] == self.y[b]) == (known.kind == 0)))
