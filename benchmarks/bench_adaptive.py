"""iHAC, biHAC and biiHAC on texts of thousands of words whose place in a taxonomy is known for some."""

from __future__ import annotations

import warnings

import numpy as np

from linkwise import Taxonomy
from linkwise.datasets import noisy_taxonomy
from linkwise.engines import IHAC, BiHAC, BiiHAC
from linkwise.exceptions import LinkwiseWarning
from linkwise.metrics import h_correlation


def _fit(model, X, constraints):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        return model.fit(X, constraints=constraints)


class Texts:
    """Texts on eleven nodes, most of their words noise; every triplet of the labeled ones is said."""

    params = ([300, 1_000], [5, 30])
    param_names = ("texts", "labeled per node")
    timeout = 600

    def setup(self, texts, labeled):
        data = noisy_taxonomy(texts, n_nodes=12, features="text", n_features=5_000, noise=0.8, random_state=0)
        node = data.taxonomy.node
        told = np.concatenate([np.flatnonzero(node == v)[:labeled] for v in np.unique(node)])
        known = np.full(texts, -1)
        known[told] = node[told]
        self.X, self.truth = data.X, Taxonomy(data.taxonomy.parent, node)
        self.constraints = Taxonomy(data.taxonomy.parent, known).triplets()
        _fit(BiHAC(max_iter=2), self.X[:40], self.constraints[:40])  # loads or compiles the kernels

    def _fit(self, model):
        return _fit(model, self.X, self.constraints)

    def time_ihac(self, *_):
        self._fit(IHAC())

    def time_bihac(self, *_):
        self._fit(BiHAC())

    def time_biihac(self, *_):
        self._fit(BiiHAC())

    def peakmem_bihac(self, *_):
        self._fit(BiHAC(max_iter=2))

    def track_h_correlation_of_bihac(self, *_):
        return h_correlation(self.truth, self._fit(BiHAC()).dendrogram_)

    def track_h_correlation_of_biihac(self, *_):
        return h_correlation(self.truth, self._fit(BiiHAC()).dendrogram_)

    def track_share_of_statements_that_hold_in_ihac(self, *_):
        return 1.0 - len(self._fit(IHAC()).certificate_.violated) / self.constraints.n_statements
