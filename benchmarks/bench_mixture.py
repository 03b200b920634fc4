"""Mixtures of Gaussians under must- and cannot-links: what the statements cost per iteration, and what they are worth.

``python -m benchmarks.bench_mixture`` prints the time of one EM iteration relative to scikit-learn's `GaussianMixture`.
"""

from __future__ import annotations

import time
import warnings
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from benchmarks._data import blobs, statements
from linkwise import ConstrainedGaussianMixture, Constraints
from linkwise.engines import PenalizedMixture

ITERATIONS = 12


def _fit(model, X, constraints=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X) if constraints is None else model.fit(X, constraints=constraints)


class Mixture:
    """A fixed number of EM iterations, with links drawn from the classes."""

    params = ([1_000, 20_000], [0, 0.1, 1], ["full", "diag"])
    param_names = ("n", "links per sample", "covariance_type")
    timeout = 600

    def setup(self, n, per_sample, covariance_type):
        self.X, self.y = blobs(n, d=10, classes=5, spread=1.0)
        self.constraints = statements(self.y, "links", int(per_sample * n))
        # exact inference refuses what a link per sample ties together; a price lets mean field in
        self.soft = self.constraints.with_weight(3.0) if per_sample else self.constraints
        self.narrow = self.constraints if per_sample < 1 else Constraints.build(n)
        self.options = {"covariance_type": covariance_type, "max_iter": ITERATIONS, "tol": 0.0, "random_state": 0}
        self._constrained()
        self._penalized()

    def _constrained(self):
        return _fit(ConstrainedGaussianMixture(5, **self.options), self.X, self.narrow)

    def _penalized(self):
        return _fit(PenalizedMixture(5, **self.options), self.X, self.soft)

    def time_constrained(self, *_):
        self._constrained()

    def time_penalized(self, *_):
        self._penalized()

    def peakmem_constrained(self, *_):
        self._constrained()

    def track_held(self, *_):
        held = self._constrained().certificate_.held
        return float(held.mean()) if len(held) else 1.0

    def track_adjusted_rand_constrained(self, *_):
        return float(adjusted_rand_score(self.y, self._constrained().labels_))

    def track_adjusted_rand_penalized(self, *_):
        return float(adjusted_rand_score(self.y, self._penalized().labels_))


def seconds_per_iteration(fit, *, few=3, many=15, rounds=5):
    """Least time of ``fit(many)`` less ``fit(few)`` over rounds, per iteration: what is done once drops out."""
    fit(few)
    least = [np.inf, np.inf]
    for _ in range(rounds):
        for place, count in enumerate((few, many)):
            begin = time.perf_counter()
            fit(count)
            least[place] = min(least[place], time.perf_counter() - begin)
    return (least[1] - least[0]) / (many - few)


def main() -> None:
    """Print ratios for 20,000 samples in 10 dimensions, 5 clusters, 2,000 true links."""
    X, y = blobs(20_000, d=10, classes=5, spread=1.0)
    links = statements(y, "links", 2_000)
    print("seconds per EM iteration, 20,000 x 10, 5 clusters; ratio to scikit-learn's GaussianMixture")
    for kind in ("full", "tied", "diag", "spherical"):
        options = {"covariance_type": kind, "tol": 0.0, "random_state": 0}

        def plain(count, options=options):
            _fit(GaussianMixture(5, init_params="random", max_iter=count, **options), X)

        def told(count, said, cls=ConstrainedGaussianMixture, options=options):
            _fit(cls(5, init="random", max_iter=count, **options), X, said)

        base = seconds_per_iteration(plain)
        ours = {
            "no statements": seconds_per_iteration(partial(told, said=Constraints.build(len(X)))),
            "2,000 links": seconds_per_iteration(partial(told, said=links)),
            "2,000 links of weight 3": seconds_per_iteration(
                partial(told, said=links.with_weight(3.0), cls=PenalizedMixture)
            ),
        }
        row = ", ".join(f"{name} {value:.4f} ({value / base:.2f} x)" for name, value in ours.items())
        print(f"{kind:10} scikit-learn {base:.4f}, {row}")


if __name__ == "__main__":
    main()
