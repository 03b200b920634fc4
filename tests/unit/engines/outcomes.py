"""The outcome of an engine, as `fit` of its estimator gets it, and its half-steps as they happen."""

from __future__ import annotations


def outcome(estimator, X, constraints, n_clusters, *, watch=None, **parameters):
    """Fit and return what `_solve` returned; ``watch`` is called after each half-step of k-means methods."""
    kept = {}

    def solve(self, problem):
        kept["outcome"] = estimator._solve(self, problem)
        return kept["outcome"]

    made = type(estimator.__name__, (estimator,), {"_solve": solve, "_watch": staticmethod(watch) if watch else None})
    made.__init__ = estimator.__init__
    made(n_clusters, **parameters).fit(X, constraints=constraints)
    return kept["outcome"]
