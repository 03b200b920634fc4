"""Wide sparse data: every estimator takes them as they are, or refuses them by name and says what to do."""

from __future__ import annotations

import itertools
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from linkwise import Constraints, Kind, verify
from linkwise.engines import ConstrainedClusterer
from linkwise.engines._base import ConstrainedEstimator
from linkwise.engines.metric import DistanceLearner, MetricLearner
from linkwise.problem import Problem
from tests.contract.discovery import estimators

BASES = (ConstrainedClusterer, DistanceLearner, MetricLearner)
ALL = [cls for cls in estimators(ConstrainedEstimator) if cls not in BASES]
NAMES = [cls.__name__ for cls in ALL]
# Estimators that work on covariances, centroids or matrices of features, for which wide sparse data are no input.
REFUSE = {
    *("ChunkletLDA", "ConstrainedGaussianMixture", "DiscriminativeRCA", "DistBoost", "ITML", "LSML", "MKMeans"),
    *("MPCKMeans", "PenalizedMixture", "RCA", "ReCon", "XingMetric"),
}
# Other ways to use some of them: what they are told, and whether they take sparse data then.
OTHERS = (
    ("ConstrainedAgglomerative", {"linkage": "average", "metric": "cosine"}, True),
    ("ConstrainedAgglomerative", {"linkage": "ward"}, False),
    ("ConstrainedCompleteLink", {"metric": "cosine"}, True),
    ("HMRFKMeans", {"distortion": "cosine", "form": "none"}, True),
    ("HMRFKMeans", {"distortion": "kl", "form": "none"}, True),
    ("HMRFKMeans", {"form": "diagonal"}, False),
    ("IPoptim", {"metric": "cosine"}, True),
    ("KernelKMeans", {"kernel": "linear", "objective": "hmrf"}, True),
    ("KernelKMeans", {"kernel": "rbf"}, True),
    ("ReCon", {"linkage": "average", "metric": "cosine"}, True),
    ("ReCon", {"linkage": "ward"}, False),
    ("SpectralLearning", {"affinity": "rbf"}, True),
    ("UltraTran", {"metric": "cosine"}, True),
    ("XingMetric", {"form": "diagonal"}, True),
)
WAYS = [(name, {}, name not in REFUSE) for name in NAMES] + list(OTHERS)
TAKEN = [(name, options) for name, options, taken in WAYS if taken]
REFUSED = [(name, options) for name, options, taken in WAYS if not taken]
N, WIDE, CLASSES = 300, 50_000, 3


def ids(ways):
    return ["-".join([name, *map(str, options.values())]) for name, options in ways]


def documents(d, seed=0):
    """Rows of length 1 with some 60 of ``d`` terms each, half of them of the row's class, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % CLASSES)
    own = y[:, None] * 100 + rng.integers(100, size=(N, 60))
    terms = np.where(rng.random((N, 60)) < 0.5, own, rng.integers(d, size=(N, 60)))
    X = sp.csr_array((rng.random(N * 60), (np.repeat(np.arange(N), 60), terms.ravel())), shape=(N, d))
    return sp.csr_array(sp.diags_array(1.0 / np.sqrt(X.multiply(X).sum(axis=1))) @ X), y


def told(cls, y):
    """Statements of a kind the estimator knows that the classes make true."""
    rows = [np.flatnonzero(y == c) for c in range(CLASSES)]
    pairs = {
        Kind.MUST_LINK: [(r[i], r[i + 1]) for r in rows for i in (0, 2, 4)],
        Kind.CANNOT_LINK: [(rows[a][i], rows[a - 1][i]) for a in range(CLASSES) for i in (6, 7)],
    }
    said = {kind.word: found for kind, found in pairs.items() if kind in cls.understands}
    if not said:
        said = {"triplets": [(r[i], r[i + 1], s[i]) for r, s in itertools.pairwise(rows) for i in range(8)]}
    return Constraints.build(N, **said)


def make(name, options):
    cls = ALL[NAMES.index(name)]
    model = cls(**options)
    free = {"n_clusters": CLASSES, "random_state": 0}
    return model.set_params(**{key: value for key, value in free.items() if key in model.get_params()})


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(("name", "options"), TAKEN, ids=ids(TAKEN))
def test_wide_sparse_data_are_taken_without_being_made_dense(name, options):
    narrow, y = documents(1_000)
    c = told(ALL[NAMES.index(name)], y)
    model = make(name, options)
    clone(model).fit(narrow, constraints=c)  # compiles, which takes memory of its own
    X, _ = documents(WIDE)
    before = X.copy()
    tracemalloc.start()
    try:
        model.fit(X, constraints=c)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    dense = 8 * N * WIDE
    assert peak < dense / 2
    assert (before != X).nnz == 0
    assert model.n_features_in_ == WIDE
    if isinstance(model, ConstrainedClusterer) and not model.best_effort:
        assert verify(model.labels_, model.constraints_).ok


@pytest.mark.parametrize(("name", "options"), REFUSED, ids=ids(REFUSED))
def test_sparse_data_are_refused_by_name_with_what_to_do(name, options):
    X, y = documents(WIDE)
    tracemalloc.start()
    try:
        with pytest.raises((TypeError, ValueError)) as refusal:
            make(name, options).fit(X, constraints=told(ALL[NAMES.index(name)], y))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    message = str(refusal.value)
    assert message.startswith(name)
    assert "sparse X" in message or "X is sparse" in message
    assert "\nHint: " in message
    assert peak < 8 * N * WIDE / 2


def test_contracting_sparse_samples_keeps_them_sparse_and_their_means():
    X, y = documents(500)
    c = told(ALL[NAMES.index("COPKMeans")], y)
    weight = np.linspace(1.0, 2.0, N)
    small, _ = Problem(X, c, weight=weight).contract()
    dense, _ = Problem(X.toarray(), c, weight=weight).contract()
    assert sp.issparse(small.X)
    np.testing.assert_allclose(small.X.toarray(), dense.X, atol=1e-12)
    np.testing.assert_allclose(small.weight, dense.weight)
