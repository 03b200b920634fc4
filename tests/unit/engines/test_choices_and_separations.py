"""Choices and separations in every method that takes links: legal results, true refusals, by all partitions."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from linkwise import Constraints, check, cluster, load, save, verify
from linkwise.constraints import MaxCentroidDistance, MinSeparation, NeighborWithin, SizeBetween
from linkwise.engines import (
    CVQE,
    LCVQE,
    ConstrainedAgglomerative,
    ConstrainedCompleteLink,
    ConstrainedGaussianMixture,
    ConstrainedKMeans,
    COPKMeans,
    CorrelationClustering,
    HMRFKMeans,
    KernelKMeans,
    MPCKMeans,
    NeighborhoodPropagation,
    PCKMeans,
    PenalizedMixture,
    ReCon,
    SpectralLearning,
)
from linkwise.exceptions import (
    DeadEndError,
    InfeasibleConstraintsError,
    LinkwiseWarning,
    UnsupportedConstraintError,
)
from tests.oracles.partitions import all_labels, draw_statements, holding, sizes
from tests.oracles.relative import components

SAID = {"must_link": 1, "cannot_link": 3, "apart": 1, "must_link_any": 2, "cannot_link_any": 2, "either": 2}
MAIN = [ConstrainedAgglomerative, COPKMeans, ReCon]
OTHERS = [
    ConstrainedCompleteLink,
    ConstrainedGaussianMixture,
    ConstrainedKMeans,
    CVQE,
    HMRFKMeans,
    KernelKMeans,
    LCVQE,
    MPCKMeans,
    PCKMeans,
    PenalizedMixture,
    SpectralLearning,
]


def _seeded(method, k):
    return method(k, random_state=0) if "random_state" in method(k).get_params() else method(k)


def _instance(rng, *, separated):
    n = int(rng.integers(3, 7))
    said = draw_statements(rng, n, SAID)
    X = rng.random((n, 2))
    asked, rules = {}, []
    if separated:
        asked["delta"] = float(rng.uniform(0, 0.5))
        rules.append(MinSeparation(asked["delta"]))
    return Constraints.build(n, **said, rules=rules), X, sizes(n), holding(n, said, X, **asked)


def test_the_data_choose_among_links_of_both_sorts():
    X = np.array([[0.0], [0.1], [5.0], [5.2], [10.0]])
    near, far = ("must_link", 0, 1), ("must_link", 0, 4)
    split, keep = ("cannot_link", 2, 3), ("cannot_link", 0, 3)
    for links, chosen in (([far, near], "must_link(0, 1)"), ([split, keep], "cannot_link(0, 3)")):
        model = COPKMeans(2, random_state=0).fit(X, constraints=Constraints.build(5, either=[links]))
        assert model.chosen_.describe(0) == f"#0 {chosen}"
    mixed = Constraints.build(5, either=[[far, keep], [("cannot_link", 1, 2), near]])
    model = ConstrainedAgglomerative(2).fit(X, constraints=mixed)
    links = [model.chosen_.describe(i).split(" ", 1)[1] for i in range(model.chosen_.n_statements)]
    assert sorted(links) == ["cannot_link(0, 3)", "must_link(0, 1)"]
    assert model.certificate_.ok


@pytest.mark.parametrize(("method", "count"), [(m, 250) for m in MAIN] + [(m, 30) for m in OTHERS])
def test_results_are_legal_and_refusals_true(method, count):
    rng = np.random.default_rng(1)
    stuck = infeasible = 0
    for at in range(count):
        table, X, n_clusters, holds = _instance(rng, separated=at % 2 == 0)
        k = int(rng.integers(1, table.n_samples + 1))
        possible = all_labels(table.n_samples)[holds & (n_clusters == k)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model = _seeded(method, k).fit(X, constraints=table)
            except InfeasibleConstraintsError:
                infeasible += 1
                assert not len(possible), (table, k)
                continue
            except DeadEndError:
                stuck += 1
                continue
        first = np.unique(model.labels_, return_index=True)[1]
        renamed = np.argsort(np.argsort(first))[model.labels_]
        assert (possible == renamed).all(axis=1).any(), (table, k, model.labels_)
        assert len(model.certificate_.held) == table.n_statements
    assert 0 < infeasible < count
    assert stuck <= (count // 50 if method is ReCon else 0)


def test_methods_that_find_the_number_of_clusters_take_choices():
    rng = np.random.default_rng(4)
    for at in range(60):
        table, X, _, holds = _instance(rng, separated=at % 2 == 0)
        for model in (ConstrainedAgglomerative(None), ReCon(None), CorrelationClustering(), NeighborhoodPropagation()):
            if not holds.any():
                with pytest.raises(InfeasibleConstraintsError):
                    model.fit(X, constraints=table)
                continue
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                model.fit(X, constraints=table)
            assert verify(model.labels_, table, X=X).ok


def test_the_data_choose_the_nearest_and_the_farthest():
    X = np.array([[0.0], [5.0], [1.0], [9.0], [20.0], [21.0]])
    said = Constraints.build(6, must_link_any=[(0, 1, 2, 3)], cannot_link_any=[(4, 3, 5)])
    model = COPKMeans(3, random_state=0).fit(X, constraints=said)
    assert model.chosen_.describe_each([0, 1]) == ("#0 must_link(0, 2)", "#1 cannot_link(3, 4)")
    assert model.constraints_ == said
    assert "1 must-link choice" in str(model.certificate_)


def test_a_choice_that_others_make_adds_no_link():
    said = Constraints.build(4, must_link=[(0, 3)], must_link_any=[(0, 1, 3)], cannot_link=[(1, 2)])
    said |= Constraints.build(4, cannot_link_any=[(1, 0, 2)])
    model = ConstrainedAgglomerative(2).fit(np.arange(4.0)[:, None], constraints=said)
    assert model.chosen_.n_statements == 0
    assert model.certificate_.ok


def test_another_choice_is_made_where_the_nearest_is_forbidden_or_needs_more_clusters():
    X = np.array([[0.0], [1.0], [4.0], [9.0]])
    said = Constraints.build(4, must_link_any=[(0, 1, 2)], cannot_link=[(0, 1)])
    assert COPKMeans(2, random_state=0).fit(X, constraints=said).chosen_.items[0, :2].tolist() == [0, 2]
    said = Constraints.build(4, must_link_any=[(0, 1, 2)], cannot_link=[(2, 1), (2, 3), (1, 3), (0, 3)])
    assert ReCon(3).fit(X, constraints=said).certificate_.ok


def test_choices_under_rules_about_sizes_follow_a_clustering_that_keeps_both():
    X = np.array([[0.0], [0.1], [0.2], [5.0], [5.1], [9.0]])
    said = Constraints.build(6, together=[[0, 1], [2, 3]], must_link_any=[(4, 3, 5)], rules=[SizeBetween(2, 2)])
    model = COPKMeans(3, random_state=0).fit(X, constraints=said)
    assert model.chosen_.items[0, :2].tolist() == [4, 5]
    assert model.certificate_.ok


def test_soft_choices_hold_unless_they_contradict():
    X = np.arange(5.0)[:, None]
    said = Constraints.build(5, must_link=[(0, 1)]) | Constraints.build(
        5, must_link_any=[(3, 2, 4)], cannot_link_any=[(0, 1)], weight=1.0
    )
    with pytest.warns(LinkwiseWarning, match=r"1 soft statement.*left out"):
        model = COPKMeans(2, random_state=0).fit(X, constraints=said)
    assert model.dropped_.describe(0).startswith("#2 cannot_link_any(0: 1)")
    assert model.labels_[3] in (model.labels_[2], model.labels_[4])


def test_soft_choices_and_similarities_are_refused_with_words():
    X = np.arange(6.0)[:, None]
    soft = Constraints.build(6, must_link_any=[(0, 1, 2)], weight=1.0)
    with pytest.raises(UnsupportedConstraintError, match="PCKMeans weighs soft statements, but not must_link_any"):
        PCKMeans(2).fit(X, constraints=soft)
    rule = Constraints.build(6, rules=MinSeparation(0.5))
    with pytest.raises(UnsupportedConstraintError, match="SpectralLearning got similarities as X"):
        SpectralLearning(2, affinity="precomputed").fit(np.ones((6, 6)), constraints=rule)
    choice = Constraints.build(6, must_link_any=[(0, 5, 1)])
    assert KernelKMeans(2, kernel="precomputed").fit(X @ X.T, constraints=choice).certificate_.ok


@pytest.mark.parametrize("method", [ConstrainedGaussianMixture, PenalizedMixture])
@pytest.mark.parametrize("rule", [NeighborWithin(1.0), MaxCentroidDistance(1.0)])
def test_rules_that_are_no_links_are_refused_with_a_method_that_can(method, rule):
    said = Constraints.build(8, rules=rule)
    able = "ReCon" if isinstance(rule, NeighborWithin) else "ConstrainedAgglomerative"
    with pytest.raises(UnsupportedConstraintError, match=f"Hint: ConstrainedAgglomerative keeps {type(rule).__name__}"):
        method(2).fit(np.arange(8.0)[:, None], constraints=said)
    with pytest.raises(UnsupportedConstraintError, match=f"Hint: method='{able}'"):
        cluster(np.arange(8.0)[:, None], said, 2, method=method.__name__)


@pytest.mark.parametrize("metric", ["euclidean", "cityblock", "precomputed"])
def test_a_separation_equals_its_must_links(metric):
    rng = np.random.default_rng(2)
    X = rng.random((20, 2))
    far = np.abs(X[:, None] - X[None]).sum(axis=2) if metric != "euclidean" else np.linalg.norm(X[:, None] - X, axis=2)
    near = [(i, j) for i in range(20) for j in range(i) if far[i, j] < 0.15]
    groups = components(range(20), near)
    data = far if metric == "precomputed" else X
    for model in (ReCon(4, metric=metric, linkage="average"), ConstrainedCompleteLink(4, metric=metric)):
        ruled = model.fit(data, constraints=Constraints.build(20, rules=MinSeparation(0.15))).labels_.copy()
        linked = model.fit(data, constraints=Constraints.build(20, must_link=near)).labels_
        assert_array_equal(ruled, linked)
        assert all(len(set(ruled[list(group)])) == 1 for group in groups)


def test_the_front_door_takes_choices_and_tells_the_links():
    X = np.random.default_rng(0).random((60, 2))
    said = Constraints.build(60, must_link_any=[(0, 1, 2, 3)], cannot_link_any=[(4, 5, 6)], cannot_link=[(7, 8)])
    for k in (3, (2, 4), "auto", None):
        found = cluster(X, said, k)
        assert found.certificate.ok
        assert len(found.certificate.held) == said.n_statements
        assert any("in place of 2 choices" in reason for reason in found.reasons), found.reasons
    trio = said | Constraints.build(60, triplets=[(10, 11, 12)])
    for k in (3, (2, 4), None):
        found = cluster(X, trio, k)
        assert type(found.estimator) is ReCon
        assert found.certificate.ok


def test_a_saved_model_keeps_the_links_chosen(tmp_path):
    X = np.arange(6.0)[:, None]
    model = COPKMeans(2).fit(X, constraints=Constraints.build(6, must_link_any=[(0, 1, 2)]))
    save(model, tmp_path / "model.lwm")
    assert load(tmp_path / "model.lwm").chosen_ == model.chosen_


def test_many_choices_are_made_within_the_budget():
    rng = np.random.default_rng(6)
    n = 300
    X = rng.random((n, 2))
    must = [rng.choice(n, 4, replace=False).tolist() for _ in range(60)]
    cannot = [rng.choice(n, 4, replace=False).tolist() for _ in range(60)]
    said = Constraints.build(n, must_link_any=must, cannot_link_any=cannot)
    model = COPKMeans(5, random_state=0).fit(X, constraints=said)
    assert model.certificate_.ok
    assert check(said, n_clusters=5).status == "feasible"


def test_links_chosen_carry_the_names_of_samples():
    said = Constraints.from_ids(["x", "y", "z"], must_link_any=[("x", "y", "z")])
    found = cluster(np.array([[0.0], [1.0], [9.0]]), said, 2)
    assert "links in place of 1 choice: must_link(x, y)." in found.reasons
