"""One cell: what an engine is given, what is recorded, and what becomes of things that go wrong."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from linkwise import Constraints, Taxonomy, metrics
from linkwise.datasets import Data, noisy_taxonomy
from linkwise.engines import agglomerate
from linkwise.exceptions import LinkwiseError
from studies.experiments import Cell
from studies.experiments._compute import compute
from studies.experiments._default_measures import default_measures
from studies.experiments._resolve import engine_named, prepare
from tests.unit.studies.experiments import toys

SMALL = {"data": "xor", "data_params": {"n_samples": 24}}


def toy(name, **more):
    return Cell(f"{toys.HERE}:{name}", **{**SMALL, **more})


def run(cell, **measures):
    return compute(cell, measures or default_measures())


def test_a_cell_that_is_done_says_everything():
    record = run(Cell("ConstrainedAgglomerative", "iris", knowledge="must_link", amount=40))
    assert record["status"] == "done", record["error"]
    assert record["dead_end"] is None
    assert record["n_samples"] == 150
    assert record["n_statements"] == 40
    assert record["n_wrong"] == 0
    assert record["n_clusters"] == 3
    assert record["seconds"] > 0
    assert record["measures"]["satisfaction"] == 1.0
    assert 0 < record["measures"]["pairwise_f"] <= 1
    json.dumps(record, allow_nan=False)


def test_a_dead_end_is_measured_where_it_ended_and_said():
    cells = [
        Cell("ConstrainedAgglomerative", "iris", "cannot_link", 300, seed=seed, params={"dead_end": "raise"})
        for seed in range(3)
    ]
    records = [run(cell) for cell in cells]
    assert all(record["status"] == "done" for record in records)
    ended = [record for record in records if record["dead_end"] is not None]
    assert ended
    for record in ended:
        assert record["n_clusters"] == record["dead_end"] > 3
        assert record["measures"]["satisfaction"] == 1.0


def test_the_same_cell_gives_the_same_and_another_seed_something_else():
    first, again, other = (run(toy("chance", seed=seed))["measures"] for seed in (1, 1, 2))
    assert first == again
    assert first != other


def test_engines_are_given_the_same_samples_and_the_same_knowledge():
    heard = []
    for params in ({}, {"n_clusters": 7}):
        record = run(toy("Listener", amount=9, noise=0.34, seed=5, params=params))
        assert record["status"] == "done"
        assert record["n_wrong"] == 3
        heard.append(toys.Listener.heard)
    (X, said, n_clusters, seed), (X_again, said_again, n_given, seed_again) = heard
    assert np.array_equal(X, X_again)
    assert said == said_again
    assert (n_clusters, n_given) == (2, 7)
    assert seed == seed_again


def test_an_engine_that_ruins_its_samples_ruins_no_other_cell():
    spoiled = [run(toy("spoiling"), share=toys.share_of_first)["measures"] for _ in range(2)]
    assert spoiled[0] == spoiled[1]
    assert spoiled[0]["share"] < 1


def test_a_method_without_knowledge_can_be_compared():
    record = run(Cell("sklearn.cluster:KMeans", "iris", amount=10))
    assert record["status"] == "done", record["error"]
    assert record["measures"]["adjusted_rand"] > 0.6
    record = run(Cell("sklearn.mixture:GaussianMixture", "iris"))
    assert record["n_clusters"] == 3


def test_a_function_may_return_a_tree():
    record = run(toy("tree", knowledge="triplets", amount=6))
    assert record["n_clusters"] == 2
    assert record["measures"]["satisfaction"] is not None


@pytest.mark.parametrize(
    "cell",
    [
        Cell("ReCon", knowledge="triplets", amount=12, **SMALL),
        Cell("ReCon", "noisy_taxonomy", knowledge="taxonomy", amount=12, data_params={"n_samples": 24, "n_nodes": 5}),
    ],
)
def test_triplets_reach_the_engine_that_knows_them(cell):
    record = run(cell)
    assert record["status"] == "done", record["error"]
    assert (record["n_statements"], record["n_wrong"]) == (12, 0)
    assert (record["measures"]["h_correlation"] is None) == (cell.knowledge == "triplets")
    assert record["measures"]["satisfaction"] == 1.0


@pytest.mark.parametrize(
    ("cell", "error"),
    [
        (toy("failing"), "engine: RuntimeError: no luck today"),
        (toy("short"), "engine: LinkwiseError: the labels have shape"),
        (
            Cell("ConstrainedAgglomerative", knowledge="triplets", amount=3, **SMALL),
            "engine: UnsupportedConstraintError",
        ),
        (Cell("ReCon", knowledge="pairs", amount=9999, **SMALL), "knowledge: LinkwiseError: .*9,999 pairs .* are 276"),
        (Cell("ReCon", knowledge="taxonomy", amount=3, **SMALL), "knowledge: LinkwiseError: .* needs a taxonomy"),
        (toy("chance", data=f"{toys.HERE}:no_data", data_params={}), "data: LinkwiseError: .* returned int"),
        (toy("chance", data_params={"n_samples": 1}), "data: LinkwiseError: xor: n_samples"),
        (toy("chance", data_params={"color": 1}), "data: TypeError"),
        (toy("chance", data="iris"), "data: LinkwiseError: iris is loaded"),
    ],
)
def test_what_goes_wrong_becomes_part_of_the_record(cell, error):
    record = run(cell)
    assert record["status"] == "failed"
    assert record["measures"] == {}
    with pytest.raises(AssertionError, match=error):
        raise AssertionError(record["error"])


def test_a_measure_that_fails_is_named_and_one_without_a_number_is_null():
    assert "measure bad: ValueError: cannot measure" in run(toy("chance"), bad=toys.broken)["error"]
    assert run(toy("chance"), none=toys.nothing)["measures"] == {"none": None}


def test_a_missing_data_set_is_not_a_failure_of_the_engine(monkeypatch):
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    record = run(Cell("ReCon", "soybean"))
    assert record["status"] == "unavailable"
    assert "LINKWISE_DATA" in record["error"]


def test_warnings_are_heard_and_do_not_stop():
    assert run(toy("warning"))["warnings"] == ["careful"]


def test_standard_preparation_fills_gaps_and_scales():
    X = prepare(toys.gaps().X, "standard")
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), [1, 0], atol=1e-12)
    assert X[1, 0] == 0  # the gap became the mean
    text = noisy_taxonomy(30, features="text", random_state=0).X
    length = np.sqrt((prepare(text, "standard").toarray() ** 2).sum(axis=1))
    np.testing.assert_allclose(length, 1)
    raw = prepare(text, "raw")
    assert raw is not text
    assert (raw != text).nnz == 0


def test_sparse_data_go_through_an_engine():
    cell = Cell(
        "ConstrainedAgglomerative",
        "noisy_taxonomy",
        amount=20,
        prepare="standard",
        params={"linkage": "average"},
        data_params={"n_samples": 40, "n_nodes": 5, "features": "text"},
    )
    record = run(cell)
    assert record["status"] == "done", record["error"]


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("ReConn", "did you mean 'ReCon'"),
        ("no.such:thing", "cannot be imported"),
        ("numpy:nothing", "cannot be imported"),
    ],
)
def test_an_engine_that_does_not_exist(name, hint):
    with pytest.raises(LinkwiseError, match=hint):
        engine_named(name)


# -- the measures --------------------------------------------------------------------------


def test_labels_are_judged_by_the_measures_of_the_library():
    rng = np.random.default_rng(0)
    y, labels = rng.integers(3, size=(2, 12))
    data, said = Data(np.zeros((12, 1)), y, "dice"), Constraints.build(12, must_link=[(0, 1), (1, 2)])
    given = default_measures()
    for name in ("pairwise_f", "rand", "adjusted_rand", "nmi"):
        assert given[name](data, labels, None, said) == getattr(metrics, name)(y, labels)
    assert given["constrained_rand"](data, labels, None, said) == metrics.constrained_rand(y, labels, said)
    decided = Constraints.from_labels(y)
    assert np.isnan(given["constrained_rand"](data, labels, None, decided))
    assert np.isnan(given["hierarchy_fscore"](data, labels, None, said))
    assert np.isnan(given["h_correlation"](data, labels, None, said))


def test_trees_are_judged_by_classes_and_where_there_is_one_by_the_taxonomy():
    data = noisy_taxonomy(40, n_nodes=5, random_state=0)
    found = agglomerate(data.X, method="average")
    given = default_measures()
    assert given["hierarchy_fscore"](data, None, found, None) == metrics.hierarchy_fscore(data.y, found)
    assert given["h_correlation"](data, None, found, None) == metrics.h_correlation(data.taxonomy, found) > 0.5
    assert np.isnan(given["h_correlation"](replace(data, taxonomy=None), None, found, None))
    nobody = Taxonomy(data.taxonomy.parent, np.full(40, -1))
    assert np.isnan(given["h_correlation"](replace(data, taxonomy=nobody), None, found, None))


def test_pairs_are_kept_in_labels_and_triplets_in_the_tree():
    kept = default_measures()["satisfaction"]
    said = Constraints.build(4, must_link=[(0, 1), (0, 2)], cannot_link=[(0, 3)], triplets=[(0, 1, 2), (0, 3, 1)])
    assert kept(None, [0, 0, 1, 1], None, said) == pytest.approx(2 / 3)
    tree = agglomerate(np.array([[0.0], [0.1], [5.0], [6.0]]), method="average")
    assert kept(None, [0, 0, 1, 1], tree, said) == pytest.approx(3 / 5)
    assert np.isnan(kept(None, [0, 0, 1, 1], None, Constraints.build(4)))
