"""Graphs and kernels under must- and cannot-links: what statements cost beside the plain method, and what they bring.

``python -m benchmarks.bench_spectral`` prints times relative to scikit-learn's `SpectralClustering`, and the agreement
with the classes.
"""

from __future__ import annotations

import time

import numpy as np
from sklearn.cluster import SpectralClustering
from sklearn.metrics import adjusted_rand_score

from benchmarks._data import blobs, digits, statements
from linkwise import Constraints
from linkwise.engines import CorrelationClustering, KernelKMeans, NeighborhoodPropagation, SpectralLearning

CLUSTERS = 10


class Spectral:
    """Near-neighbor graphs, with links drawn from the classes."""

    params = ([300, 3_000], [0, 0.5])
    param_names = ("n", "links per sample")
    timeout = 600

    def setup(self, n, per_sample):
        self.X, self.y = blobs(n, classes=CLUSTERS, spread=1.0)
        self.constraints = statements(self.y, "links", int(per_sample * n))
        self.soft = self.constraints.with_weight(1.0) if per_sample else self.constraints
        self._spectral()
        self._cut()

    def _spectral(self):
        return SpectralLearning(CLUSTERS, random_state=0).fit(self.X, constraints=self.constraints)

    def _cut(self):
        model = KernelKMeans(CLUSTERS, objective="normalized_cut", kernel="nearest_neighbors", random_state=0)
        return model.fit(self.X, constraints=self.soft)

    def time_spectral(self, *_):
        self._spectral()

    def time_cut(self, *_):
        self._cut()

    def peakmem_spectral(self, *_):
        self._spectral()

    def track_agreement_spectral(self, *_):
        return float(adjusted_rand_score(self.y, self._spectral().labels_))

    def track_agreement_cut(self, *_):
        return float(adjusted_rand_score(self.y, self._cut().labels_))


class Neighborhoods:
    """Groups known to differ claim the rest: few labels against many samples."""

    params = ([300, 3_000], [2, 10])
    param_names = ("n", "labels per class")
    timeout = 600

    def setup(self, n, labels):
        self.X, self.y = blobs(n, classes=CLUSTERS, spread=1.0)
        known = np.full(n, -1)
        for label in range(CLUSTERS):
            rows = np.flatnonzero(self.y == label)[:labels]
            known[rows] = label
        self.constraints = Constraints.from_labels(known)
        self._fit()

    def _fit(self):
        return NeighborhoodPropagation().fit(self.X, constraints=self.constraints)

    def time_fit(self, *_):
        self._fit()

    def peakmem_fit(self, *_):
        self._fit()

    def track_agreement(self, *_):
        return float(adjusted_rand_score(self.y, self._fit().labels_))


class Correlation:
    """Statements alone, a few of them wrong."""

    params = ([300, 3_000],)
    param_names = ("n",)
    timeout = 600

    def setup(self, n):
        self.X, self.y = blobs(n, d=2, classes=3)
        self.said = noisy(self.y, 10 * n, 0.05)

    def _fit(self):
        return CorrelationClustering(budget=1.0).fit(self.X, constraints=self.said)

    def time_correlation(self, *_):
        self._fit()

    def track_agreement_correlation(self, *_):
        return float(adjusted_rand_score(self.y, self._fit().labels_))


def noisy(y, m, wrong, seed=0):
    """Draw soft pairs, a share of them turned round."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(len(y), size=(m, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = (y[pairs[:, 0]] == y[pairs[:, 1]]) != (rng.uniform(size=len(pairs)) < wrong)
    return Constraints.build(len(y), must_link=pairs[same], cannot_link=pairs[~same], weight=1.0)


def _seconds(job, rounds=3):
    best, answer = np.inf, None
    for _ in range(rounds):
        begin = time.perf_counter()
        answer = job()
        best = min(best, time.perf_counter() - begin)
    return best, answer


def main():
    """Print times relative to scikit-learn and agreement with the classes, by the number of links."""
    print("best of three; seconds as a ratio to scikit-learn's SpectralClustering on 10 neighbors; adjusted Rand index")
    for name, (X, y) in {"digits": digits(), "blobs 5,000 x 16": blobs(5_000, classes=CLUSTERS, spread=1.0)}.items():
        plain, model = _seconds(
            lambda X=X: SpectralClustering(CLUSTERS, affinity="nearest_neighbors", random_state=0).fit(X)
        )
        print(f"{name}: scikit-learn {plain:.2f} s, {adjusted_rand_score(y, model.labels_):.3f}")
        for share in (0, 0.1, 0.5):
            said = statements(y, "links", int(share * len(y)))
            soft = said.with_weight(1.0) if share else said
            for label, job in {
                "SpectralLearning": lambda X=X, said=said: SpectralLearning(CLUSTERS, random_state=0).fit(
                    X, constraints=said
                ),
                "KernelKMeans, normalized cut, soft": lambda X=X, soft=soft: KernelKMeans(
                    CLUSTERS, objective="normalized_cut", kernel="nearest_neighbors", random_state=0
                ).fit(X, constraints=soft),
            }.items():
                took, model = _seconds(job)
                agreed = adjusted_rand_score(y, model.labels_)
                print(f"  {share:>3} links per sample  {label:<36} {took / plain:5.2f}  {agreed:.3f}")


if __name__ == "__main__":
    main()
