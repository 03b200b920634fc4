"""Frequency-sensitive k-means: passes as defined, and sizes that are more similar than those of k-means."""

from __future__ import annotations

import numpy as np
from numpy.testing import assert_allclose

from linkwise import Constraints, COPKMeans
from linkwise.engines import FrequencySensitiveKMeans
from tests.oracles.centers import compete_by_definition
from tests.profile import examples
from tests.unit.engines.outcomes import outcome


def test_passes_are_what_the_definition_says():
    agreed, seed = 0, 0
    while agreed < examples(200, 1000):
        seed += 1
        rng = np.random.default_rng(seed)
        n, k = 6, 2 + seed % 2
        X = rng.normal(size=(n, 2)) * rng.exponential(size=(n, 1))
        must, cannot = [(0, 1)] * (seed % 2), [(1, 2), (2, 3)][: seed % 3]
        start = X[rng.choice(n, k, replace=False)]
        wanted = compete_by_definition(X.tolist(), k, must, cannot, start.tolist(), 5)
        if wanted is None:
            continue
        seen = []

        def watch(labels, centers, frequencies, seen=seen):
            seen.append((labels, centers, frequencies))

        table = Constraints.build(n, must_link=must, cannot_link=cannot)
        outcome(FrequencySensitiveKMeans, X, table, k, init=start, max_iter=5, watch=watch)
        group = np.unique([0 if must and i == 1 else i for i in range(n)], return_inverse=True)[1]
        for (labels, centers, frequencies), expected in zip(seen, wanted, strict=False):
            assert labels[group].tolist() == expected[0]
            assert_allclose(centers, expected[1])
            assert_allclose(frequencies, expected[2])
        agreed += 1


def test_sizes_are_more_similar_than_those_of_k_means():
    closer = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        far = np.arange(150) >= 120
        X = rng.normal(size=(150, 2)) * np.where(far, 0.3, 1.0)[:, None] + 2.5 * far[:, None]
        plain, model = (one(4, n_init=5, random_state=0).fit(X) for one in (COPKMeans, FrequencySensitiveKMeans))
        closer.append(np.bincount(model.labels_).std() < np.bincount(plain.labels_).std())
        assert model.predict(X).tolist() == model.labels_.tolist()
        assert_allclose(model.frequencies_.sum(), 4)
    assert sum(closer) >= 8
