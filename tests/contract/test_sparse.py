"""Wide sparse data: every estimator takes them as they are, or refuses them by name with a hint."""

from __future__ import annotations

import itertools
import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone

from linkwise import Constraints, Kind, verify
from tests.contract.cases import CASES, CLUSTERERS

N, WIDE, CLASSES = 300, 50_000, 3
HALF_OF_DENSE = 8 * N * WIDE / 2


def ways(*, taken):
    """Cases and options with which sparse data are taken, or refused."""
    known = [(case, *way) for case in CASES for way in (({}, case.takes_sparse), *case.sparse_ways)]
    found = [(case, options) for case, options, takes in known if takes == taken]
    names = ["-".join([case.name, *map(str, options.values())]) for case, options in found]
    return pytest.mark.parametrize(("case", "options"), found, ids=names)


def documents(d, seed=0):
    """Rows of length 1 with some 60 of ``d`` terms each, half of them of the row's class, and the classes."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(N) % CLASSES)
    own = y[:, None] * 100 + rng.integers(100, size=(N, 60))
    terms = np.where(rng.random((N, 60)) < 0.5, own, rng.integers(d, size=(N, 60)))
    X = sp.csr_array((rng.random(N * 60), (np.repeat(np.arange(N), 60), terms.ravel())), shape=(N, d))
    return sp.csr_array(sp.diags_array(1.0 / np.sqrt(X.multiply(X).sum(axis=1))) @ X), y


def statements(kinds, y):
    """Pairs that the classes make true, or triplets where pairs are not understood."""
    rows = [np.flatnonzero(y == c) for c in range(CLASSES)]
    pairs = {
        Kind.MUST_LINK: [(r[i], r[i + 1]) for r in rows for i in (0, 2, 4)],
        Kind.CANNOT_LINK: [(rows[a][i], rows[a - 1][i]) for a in range(CLASSES) for i in (6, 7)],
    }
    found = {kind.word: pairs[kind] for kind in pairs if kind in kinds}
    triplets = [(r[i], r[i + 1], s[i]) for r, s in itertools.pairwise(rows) for i in range(8)]
    return Constraints.build(N, **found or {"triplets": triplets})


def make(case, options):
    return case.make(**{"n_clusters": CLASSES} if case.has("n_clusters") else {}, **options)


@contextmanager
def little_memory():
    """Fail if half as much memory is taken as dense samples would need."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < HALF_OF_DENSE
    finally:
        tracemalloc.stop()


@pytest.mark.filterwarnings("ignore::UserWarning")
@ways(taken=True)
def test_wide_sparse_data_are_taken_without_being_made_dense(case, options):
    narrow, y = documents(1_000)
    c = statements(case.kinds, y)
    model = make(case, options)
    clone(model).fit(narrow, constraints=c)  # compiles, which takes memory as well
    X, _ = documents(WIDE)
    before = X.copy()
    with little_memory():
        model.fit(X, constraints=c)
    assert (before != X).nnz == 0
    assert model.n_features_in_ == WIDE
    if case.answers in CLUSTERERS and not case.best_effort:
        assert verify(model.labels_, model.constraints_).ok


@ways(taken=False)
def test_sparse_data_are_refused_by_name_with_a_hint(case, options):
    X, y = documents(WIDE)
    with little_memory(), pytest.raises((TypeError, ValueError)) as refusal:
        make(case, options).fit(X, constraints=statements(case.kinds, y))
    message = str(refusal.value)
    assert message.startswith(case.name)
    assert "sparse X" in message or "X is sparse" in message
    assert "\nHint: " in message
