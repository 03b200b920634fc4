"""Call the function behind an estimator on plain arrays: without validation, labels and certificate."""

from __future__ import annotations

from functools import wraps

import numpy as np
import scipy.sparse as sp

from linkwise.problem import Problem


def posed(function):
    """Return the function with samples and statements as arguments in place of a problem."""

    @wraps(function)
    def call(X, constraints, *, metric="euclidean", n_clusters=None, **options):
        X = sp.csr_array(X) if sp.issparse(X) else np.ascontiguousarray(X, dtype=np.float64)
        return function(Problem(X, constraints, metric=metric, n_clusters=n_clusters), **options)

    return call
