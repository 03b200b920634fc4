"""The view of a dialogue that strategies get: samples, constraints and the current clustering."""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
import scipy.sparse
from sklearn.base import clone
from sklearn.preprocessing import normalize
from sklearn.utils import check_array

from linkwise._typing import FloatArray, IntArray
from linkwise._validation import require_finite, require_numbers
from linkwise.active._answered import Known
from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError, LinkwiseWarning

T = TypeVar("T")


class Scene:
    """Samples and constraints, as a strategy sees them.

    Parameters
    ----------
    X : array-like or sparse matrix of shape (n_samples, n_features)
        Finite numbers. Not modified.
    known, estimator : Known and clusterer, optional
        What is known, at first nothing; the estimator of the clustering that `labels` returns.
    metric, seed : {"euclidean", "cosine"} and int, optional
        How samples are compared, by default by cosine for sparse X, else Euclidean; where chance comes from.
    n_clusters : int, optional
        The number of clusters, if it is known.

    Attributes
    ----------
    budget_left : int or None
        Number of questions that may still be asked; None without a limit.

    Examples
    --------
    >>> from linkwise.active import Scene
    >>> scene = Scene([[0.0, 0.0], [3.0, 4.0]])
    >>> scene.distances_from(0).tolist(), scene.known.same(0, 1)
    ([0.0, 5.0], None)
    """

    def __init__(
        self,
        X: Any,
        known: Known | None = None,
        *,
        estimator: Any = None,
        metric: Literal["euclidean", "cosine"] | None = None,
        seed: int = 0,
        n_clusters: int | None = None,
    ) -> None:
        require_numbers(X)
        samples = check_array(
            X, accept_sparse="csr", dtype=np.float64, order="C", ensure_all_finite=False, estimator="Dialogue"
        )
        require_finite(samples, X, who="Dialogue")
        sparse = scipy.sparse.issparse(samples)
        if metric not in (None, "euclidean", "cosine"):
            msg = f'Dialogue: metric is {metric!r}, expected "euclidean" or "cosine".'
            raise LinkwiseError(msg)
        self.X = scipy.sparse.csr_array(samples) if sparse else samples
        self.n_samples = int(samples.shape[0])
        self.metric: str = metric or ("cosine" if sparse else "euclidean")
        if known is not None:
            self.known = known
        self.seed = seed
        self.n_clusters = n_clusters
        self.budget_left: int | None = None
        self._estimator = estimator
        self._memo: dict[Hashable, Any] = {}
        self._labels: tuple[int, IntArray] | None = None

    @cached_property
    def known(self) -> Known:
        """What is known; at first nothing."""
        return Known(self.n_samples)

    def rng(self, *salt: int) -> np.random.Generator:
        """Return a source of chance that depends on the seed and ``salt`` alone."""
        return np.random.default_rng([self.seed, *salt])

    def once(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return a value that depends on samples and seed alone; computed once, kept when answers are withdrawn."""
        if key not in self._memo:
            self._memo[key] = make()
        found: T = self._memo[key]
        return found

    def distances_from(self, sample: int) -> FloatArray:
        """Return the distances from one sample to all."""
        rows, squared = self.once("rows", self._rows)
        row = rows[[sample]] if scipy.sparse.issparse(rows) else rows[sample]
        product = rows @ row.T
        product = product.toarray().ravel() if scipy.sparse.issparse(product) else product
        if self.metric == "cosine":
            gap = np.maximum(1.0 - product, 0.0)
        else:
            gap = np.sqrt(np.maximum(squared + squared[sample] - 2.0 * product, 0.0))
        gap[sample] = 0.0
        return np.asarray(gap)

    def labels(self) -> IntArray:
        """Return the labels of the dialogue's estimator, fitted with all constraints.

        An estimator that cannot keep them all, as when more samples are apart than it may make clusters, gets them as
        soft statements: a strategy needs an idea of the clusters, not a result.
        """
        at = len(self.known.answers)
        if self._labels is None or self._labels[0] != at:
            said = self.known.constraints
            try:
                fitted = fit_to(self._estimator, self.X, said)
            except LinkwiseError:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", LinkwiseWarning)
                    fitted = fit_to(self._estimator, self.X, said.with_weight(1.0))
            self._labels = at, np.asarray(fitted.labels_, dtype=np.intp)
        return self._labels[1]

    def forget(self, known: Known) -> None:
        """Start again with other constraints on the same samples."""
        self.known = known
        self._labels = None

    def fingerprint(self) -> str:
        """Return a short name of the samples, the same on every machine for the same numbers."""
        parts = (self.X.data, self.X.indices, self.X.indptr) if scipy.sparse.issparse(self.X) else (self.X,)
        digest = hashlib.sha256(str(self.X.shape).encode())
        for part in parts:
            whole = part.astype("<f8" if part.dtype.kind == "f" else "<i8", copy=False)
            digest.update(np.ascontiguousarray(whole).tobytes())
        return digest.hexdigest()[:16]

    def _rows(self) -> tuple[Any, FloatArray]:
        """Rows ready to be multiplied, centered so that little is lost in the squares, and their squared lengths."""
        X = self.X
        if self.metric == "cosine":
            return normalize(X), np.ones(self.n_samples)
        if scipy.sparse.issparse(X):
            return X, np.asarray(X.multiply(X).sum(axis=1)).ravel()
        X = X - X.mean(axis=0)
        return X, (X**2).sum(axis=1)


def fit_to(estimator: Any, X: Any, constraints: Constraints, model: Any = None) -> Any:
    """Fit a fresh copy of an estimator, or ``model``, with those statements that it understands."""
    model = clone(estimator) if model is None else model
    kinds = getattr(model, "understands", None)
    if kinds is not None:
        constraints = constraints.select(np.flatnonzero(np.isin(constraints.kind, [int(kind) for kind in kinds])))
    return model.fit(X, constraints=constraints)
