"""Choosing by held-out knowledge: what a search costs beside the fits it consists of."""

from __future__ import annotations

from benchmarks._data import blobs, statements
from linkwise import ConstrainedAgglomerative, KnowledgeSearchCV


class Search:
    """Numbers of clusters of one hierarchy, which grows one tree per fold whatever they are."""

    params = ([300, 1_000], [1, 9])
    param_names = ("n", "numbers of clusters")
    timeout = 600

    def setup(self, n, numbers):
        self.X, y = blobs(n, classes=4, spread=1.5)
        self.constraints = statements(y, "links", 100)
        self.grid = {"n_clusters": list(range(4, 4 + numbers))}
        self._fit()

    def _fit(self):
        search = KnowledgeSearchCV(ConstrainedAgglomerative(linkage="ward"), self.grid, cv=5, random_state=0)
        return search.fit(self.X, constraints=self.constraints)

    def time_search(self, *_):
        self._fit()

    def track_n_clusters(self, *_):
        return int(self._fit().n_clusters_)
