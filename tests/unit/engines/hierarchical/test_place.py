"""New samples join a fitted tree where the definition says, and the old part stays what it was."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.exceptions import NotFittedError

from linkwise import ConstrainedAgglomerative, Constraints, ReCon, verify
from linkwise.engines import BiHAC, UltraTran
from linkwise.engines.hierarchical import _new_samples
from linkwise.exceptions import LinkwiseError
from tests.oracles.place import place_by_definition
from tests.oracles.trees import clades
from tests.profile import examples

LINKAGES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")


def case(seed, n=18, m=7):
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    X = rng.normal(size=(n, 3)) + 1.5 * y[:, None]
    return X, y, rng.normal(size=(m, 3)) + 1.5 * rng.integers(3, size=m)[:, None]


def known(seed, y):
    rng = np.random.default_rng(seed)
    pairs = [tuple(rng.choice(len(y), 2, replace=False).tolist()) for _ in range(8)]
    trios = [tuple(rng.choice(len(y), 3, replace=False).tolist()) for _ in range(12)]
    return {
        "must_link": [(i, j) for i, j in pairs if y[i] == y[j]],
        "cannot_link": [(i, j) for i, j in pairs if y[i] != y[j]],
        "triplets": [(i, j, k) for i, j, k in trios if y[i] == y[j] != y[k]],
    }


def models(seed, y):
    said = known(seed, y)
    pairs = Constraints.build(len(y), must_link=said["must_link"], cannot_link=said["cannot_link"])
    for linkage in LINKAGES:
        yield ConstrainedAgglomerative(None, linkage=linkage), pairs
        yield ReCon(None, linkage=linkage), Constraints.build(len(y), **said)
    yield UltraTran(3), Constraints.build(len(y), triplets=said["triplets"])


@pytest.mark.filterwarnings("ignore:.*promises nothing")
def test_places_are_those_of_the_definition_and_the_old_part_stays():
    for seed in range(examples(6, 200)):
        X, y, new = case(seed)
        for model, said in models(seed, y):
            model.fit(X, constraints=said)
            tree, labels = model.dendrogram_, model.labels_
            nodes, heights, expected = place_by_definition(tree, labels, X, new, getattr(model, "linkage", "single"))
            found = model._places(new)
            assert_array_equal(found.node, nodes)
            assert_allclose(found.height, heights, rtol=1e-9)
            assert_array_equal(model.predict(new), expected)
            assert_array_equal(model.predict(X), labels)
            grown = model.place(new)
            n, m = len(X), len(new)
            assert grown.n_samples == n + m
            old = {c & frozenset(range(n)) for c in clades(n + m, grown.parent.tolist())}
            assert {c for c in old if len(c) > 1} == {c for c in clades(n, tree.parent.tolist()) if len(c) > 1}
            both = grown.cut_marked()
            for group in np.unique(both):
                inside = both == group
                assert len(set(labels[inside[:n]]) | set(expected[inside[n:]])) == 1
            # what was said about old samples still holds
            again = Constraints.build(n + m, **{k: v for k, v in known(seed, y).items() if said.of(KIND[k]).size})
            if not type(model).best_effort:
                assert verify(grown, again).ok
            assert_allclose(
                [grown.cophenetic(i, j) for i in range(n) for j in range(i)],
                [tree.cophenetic(i, j) for i in range(n) for j in range(i)],
            )


def _kinds():
    from linkwise import Kind

    return {"must_link": Kind.MUST_LINK, "cannot_link": Kind.CANNOT_LINK, "triplets": Kind.TRIPLET}


KIND = _kinds()


def test_a_precomputed_matrix_gives_the_same_places_as_vectors(monkeypatch):
    monkeypatch.setattr(_new_samples, "CHUNK", 200)  # a row or two at a time
    X, _, new = case(3)
    for linkage in ("single", "complete", "average", "weighted"):
        a = ConstrainedAgglomerative(3, linkage=linkage).fit(X)
        b = ConstrainedAgglomerative(3, linkage=linkage, metric="precomputed").fit(cdist(X, X))
        assert_array_equal(a.predict(new), b.predict(cdist(new, X)))
        assert a.place(new).parent.tolist() == b.place(cdist(new, X)).parent.tolist()
    for linkage in ("ward", "centroid", "median"):
        model = ConstrainedAgglomerative(3, linkage=linkage, metric="precomputed").fit(cdist(X, X))
        with pytest.raises(LinkwiseError, match="do not tell how far a new sample is from the center"):
            model.predict(cdist(new, X))


def test_sparse_and_other_metrics():
    X, _, new = case(4)
    X, new = np.abs(X), np.abs(new)
    for metric in ("cosine", "cityblock", "euclidean"):
        a = ConstrainedAgglomerative(3, linkage="average", metric=metric).fit(X)
        b = ConstrainedAgglomerative(3, linkage="average", metric=metric).fit(sp.csr_matrix(X))
        assert_array_equal(a.predict(new), b.predict(sp.csr_matrix(new)))
    learned = BiHAC(2).fit(X, constraints=Constraints.build(len(X), triplets=[(0, 1, 2)]))
    assert_array_equal(learned.predict(X), learned.labels_)
    assert set(learned.predict(new)) <= set(learned.labels_)


def test_outliers_keep_their_label():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [5.2], [50.0]])
    model = ReCon(2, linkage="average", min_cluster_size=2).fit(X)
    assert_array_equal(model.predict(X), model.labels_)


def test_deep_trees_and_many_samples():
    X = np.cumsum(np.arange(3000.0))[:, None]
    model = ConstrainedAgglomerative(None, linkage="single", distance_threshold=100.0).fit(X)
    assert model.place(X[::3] + 0.25).n_samples == 4000
    assert_array_equal(model.predict(X), model.labels_)


def test_nothing_new_one_sample_and_bad_input():
    model = ConstrainedAgglomerative(1).fit([[1.0, 2.0]])
    assert model.predict([[5.0, 5.0]]).tolist() == [0]
    assert model.place([[5.0, 5.0], [1.0, 2.0]]).n_samples == 3
    with pytest.raises(NotFittedError):
        ConstrainedAgglomerative().predict([[1.0]])
    with pytest.raises(ValueError, match="features"):
        model.predict([[1.0]])
    with pytest.raises(LinkwiseError, match=r"ConstrainedAgglomerative.predict: X contains NaN"):
        model.predict([[np.nan, 1.0]])
    frame = pd.DataFrame({"a": [0.0, 1.0, 5.0], "b": [0.0, 1.0, 5.0]})
    fitted = ConstrainedAgglomerative(2).fit(frame)
    with pytest.raises(ValueError, match="feature names"):
        fitted.predict(frame.rename(columns={"a": "z"}))
