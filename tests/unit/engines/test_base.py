"""The one `fit`: what it keeps, what it negotiates, and that a failure leaves everything as it was."""

from __future__ import annotations

import warnings
from typing import ClassVar

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from linkwise import ConstrainedAgglomerative, Constraints, Kind, ReCon
from linkwise.constraints import MaxCentroidDistance, MinSeparation, SizeBetween
from linkwise.engines import ConstrainedClusterer
from linkwise.engines.hierarchical import _agglomerative
from linkwise.engines.hierarchical.relative import _estimator
from linkwise.exceptions import (
    DeadEndError,
    InfeasibleConstraintsError,
    LinkwiseWarning,
    UnsupportedConstraintError,
    ViolationError,
)
from linkwise.problem import Problem
from linkwise.result import Dendrogram

X = np.array([[0.0], [1.0], [2.5], [9.0], [11.0], [14.0]])


def links(**given):
    return Constraints.build(6, **given)


def test_fit_keeps_what_scikit_learn_names():
    model = ConstrainedAgglomerative(3, linkage="single").fit(X, constraints=links(must_link=[(0, 5)]))
    assert model.labels_.dtype == np.intp
    assert model.n_clusters_ == 3
    assert model.n_leaves_ == 6
    assert model.n_features_in_ == 1
    assert model.n_connected_components_ == model.k_min_ == 1
    assert model.children_.shape == (5, 2)
    assert model.distances_.shape == (5,)
    assert (np.diff(model.distances_) >= 0).all()
    assert model.constraints_ == links(must_link=[(0, 5)])
    assert model.certificate_.ok
    assert_array_equal(model.dendrogram_.cut_marked(), model.labels_)
    assert_array_equal(model.fit_predict(X, constraints=links(must_link=[(0, 5)])), model.labels_)


def test_unfitted_estimators_say_so():
    model = ReCon()
    assert not hasattr(model, "children_")
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


def test_constraints_are_given_by_keyword_only():
    with pytest.raises(TypeError, match="positional"):
        ReCon().fit(X, None, links())


def test_labels_as_y_are_ignored():
    a = ConstrainedAgglomerative().fit(X, [0, 1, 0, 1, 0, 1])
    assert_array_equal(a.labels_, ConstrainedAgglomerative().fit(X).labels_)


def test_foreign_kinds_are_named_with_what_is_understood():
    said = links(must_link=[(0, 1)], triplets=[(0, 1, 2)], rules=SizeBetween(2))
    with pytest.raises(UnsupportedConstraintError) as caught:
        ConstrainedAgglomerative().fit(X, constraints=said)
    assert caught.value.kinds == ("triplets", "SizeBetween")
    assert "ConstrainedAgglomerative does not understand triplets and SizeBetween" in str(caught.value)
    mine = "must_link, cannot_link, together, apart, must_link_any, cannot_link_any, either"
    assert f"it understands {mine}, MaxCentroidDistance, MinSeparation, NeighborWithin" in str(caught.value)
    assert "Hint: COPKMeans keeps SizeBetween." in str(caught.value)
    with pytest.raises(UnsupportedConstraintError) as caught:
        ReCon().fit(X, constraints=said.with_rules(MaxCentroidDistance(1.0)))
    assert caught.value.kinds == ("MaxCentroidDistance",)


# -- soft statements ------------------------------------------------------------------------------------------------


def test_soft_statements_hold_when_they_can():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = ConstrainedAgglomerative().fit(X, constraints=links(must_link=[(0, 5)], weight=0.1))
    assert model.labels_[0] == model.labels_[5]
    assert model.constraints_.n_statements == 1


def test_the_cheapest_contradicting_soft_statement_is_left_out_with_a_warning():
    said = links(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], weight=[5, 1, np.inf])
    with pytest.warns(LinkwiseWarning, match=r"1 soft statement\(s\) contradict others, .*were left out") as caught:
        model = ConstrainedAgglomerative().fit(X, constraints=said)
    assert "#1 must_link(1, 2) weight 1" in str(caught[0].message)
    assert caught[0].filename == __file__
    assert [model.constraints_.describe(i) for i in range(2)] == ["#0 must_link(0, 1)", "#2 cannot_link(0, 2)"]
    assert model.labels_[0] == model.labels_[1] != model.labels_[2]


def test_contradicting_soft_triplets_are_left_out_too():
    said = links(triplets=[(0, 5, 1), (0, 1, 5), (2, 3, 4)], weight=[1, 2, np.inf])
    with pytest.warns(LinkwiseWarning, match=r"#0 triplet\(0, 5 \| 1\) weight 1"):
        model = ReCon().fit(X, constraints=said)
    assert model.dendrogram_.satisfies(said).tolist() == [False, True, True]


def test_what_was_left_out_can_be_looked_at():
    said = links(must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], weight=[5, 1, np.inf])
    with pytest.warns(LinkwiseWarning):
        model = ConstrainedAgglomerative().fit(X, constraints=said)
    assert [model.dropped_.describe(i) for i in range(model.dropped_.n_statements)] == ["#1 must_link(1, 2) weight 1"]
    assert model.dropped_.row.tolist() == [1]
    assert not model.fit(X, constraints=said.select([0, 2])).dropped_
    assert not model.fit(X).dropped_


def test_of_soft_hard_and_mixed_knowledge_the_lightest_gives_way():
    said = links(
        must_link=[(2, 3), (0, 4)],
        cannot_link=[(3, 2), (4, 0)],
        triplets=[(0, 1, 5), (1, 5, 0), (2, 3, 0)],
        weight=[np.inf, 9, 1, 3, 2, 1, 4],
    )
    for start in (False, True):
        model = ReCon(None, warm_start=start)
        with pytest.warns(LinkwiseWarning, match="3 soft statement"):
            model.fit(X, constraints=said)
        left_out = [model.dropped_.describe(i).split()[0] for i in range(3)]
        assert left_out == ["#2", "#3", "#5"]  # against a hard one; lighter than #1; lighter than #4
        assert model.certificate_.ok
        assert model.constraints_.n_statements == 4


def test_many_left_out_statements_are_counted():
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (0, 4), (1, 4)]
    chain = [(i, i + 1) for i in range(5)]
    said = links(must_link=chain, cannot_link=pairs, weight={"cannot_link": 1})
    with pytest.warns(LinkwiseWarning, match=r"8 soft statement\(s\)(.|\n)*and 3 more"):
        ConstrainedAgglomerative(1).fit(X, constraints=said)


@pytest.mark.parametrize(("n", "more"), [(4, None), (5, None), (6, "and 1 more"), (7, "and 2 more")])
def test_five_left_out_statements_are_listed_and_the_others_counted(n, more):
    pairs = [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3), (0, 4)][:n]
    said = links(must_link=[(i, i + 1) for i in range(5)], cannot_link=pairs, weight={"cannot_link": 1})
    with pytest.warns(LinkwiseWarning, match=rf"{n} soft statement\(s\)") as heard:
        ConstrainedAgglomerative(1).fit(X, constraints=said)
    text = str(heard[0].message)
    assert text.count("cannot_link(") == min(n, 5)
    assert (" more" in text) == (more is not None)
    assert more is None or text.endswith(f"  {more}")


def test_hard_contradictions_are_never_negotiated():
    said = links(must_link=[(0, 1)], cannot_link=[(0, 1), (2, 3)], weight=[np.inf, np.inf, 1])
    with pytest.raises(InfeasibleConstraintsError) as caught:
        ConstrainedAgglomerative().fit(X, constraints=said)
    assert caught.value.explanation.core == (0, 1)


def test_a_soft_statement_that_only_the_number_of_clusters_forbids_is_left_out():
    said = links(must_link=[(i, i + 1) for i in range(5)], weight=[np.inf, np.inf, np.inf, np.inf, 1])
    with pytest.warns(LinkwiseWarning, match=r"#4 must_link\(4, 5\)"):
        model = ConstrainedAgglomerative(2).fit(X, constraints=said)
    assert model.labels_.tolist() == [0, 0, 0, 0, 0, 1]


# -- failure leaves the state ---------------------------------------------------------------------------------------


def state(model):
    return {name: id(value) for name, value in vars(model).items()}


@pytest.mark.parametrize(
    ("change", "given", "error"),
    [
        ({}, {"X": np.array([[np.nan]])}, ValueError),
        ({"n_clusters": 0}, {}, ValueError),
        ({"n_clusters": 7}, {}, ValueError),
        ({}, {"constraints": links(must_link=[(0, 1)], cannot_link=[(0, 1)])}, InfeasibleConstraintsError),
        ({}, {"constraints": links(triplets=[(0, 1, 2)])}, UnsupportedConstraintError),
        ({}, {"constraints": Constraints.build(3)}, ValueError),
        ({}, {"constraints": "all"}, TypeError),
        ({"n_clusters": 1}, {"constraints": links(rules=[]), "X": X[:0]}, ValueError),
    ],
)
def test_a_failed_fit_leaves_everything_as_it_was(change, given, error):
    model = ConstrainedAgglomerative(3).fit(X, constraints=links(must_link=[(0, 5)]))
    model.set_params(**change)
    before = state(model)
    with pytest.raises(error):
        model.fit(**{"X": X, **given})
    assert state(model) == before


def test_a_first_fit_that_fails_leaves_an_unfitted_estimator():
    model = ConstrainedAgglomerative(2, dead_end="raise")
    with pytest.raises(DeadEndError):
        model.fit(
            np.array([[0.0], [6.0], [4.0], [4.1]]),
            constraints=Constraints.build(4, cannot_link=[(0, 1), (0, 2), (1, 3)]),
        )
    assert set(vars(model)) == set(model.get_params())


# -- a result that breaks its promise is withheld -------------------------------------------------------------------


def forget(monkeypatch, module, name, forgotten):
    """Let an engine solve the problem with other statements."""
    honest = getattr(module, name)

    def forgetful(problem, *rest, **more):
        less = Problem(problem.X, forgotten(problem.constraints), n_clusters=problem.n_clusters)
        return honest(less, *rest, **more)

    monkeypatch.setattr(module, name, forgetful)


def test_a_broken_engine_is_caught_by_the_certificate(monkeypatch):
    forget(monkeypatch, _agglomerative, "constrained_linkage", lambda known: Constraints.build(known.n_samples))
    model = ConstrainedAgglomerative()
    with pytest.raises(ViolationError, match="breaks hard statements or rules; it is not returned") as caught:
        model.fit(X, constraints=links(must_link=[(0, 5)]))
    assert caught.value.certificate.violated == (0,)
    assert not hasattr(model, "labels_")


def test_a_broken_triplet_engine_is_caught_as_well(monkeypatch):
    forget(monkeypatch, _estimator, "recon", lambda known: Constraints.build(known.n_samples))
    with pytest.raises(ViolationError) as caught:
        ReCon().fit(X, constraints=links(triplets=[(0, 5, 1)]))
    assert caught.value.certificate.violated == (0,)


def test_a_broken_rule_is_caught(monkeypatch):
    forget(monkeypatch, _agglomerative, "constrained_linkage", lambda known: known.with_rules())
    with pytest.raises(ViolationError, match=r"MinSeparation\(delta=1.2\) is broken"):
        ConstrainedAgglomerative(2, linkage="complete").fit(
            np.array([[0.0], [1.0], [2.0], [3.0], [4.0], [5.5]]), constraints=links(rules=MinSeparation(1.2))
        )


# -- what a subclass inherits ---------------------------------------------------------------------------------------


class OneCluster(ConstrainedClusterer):
    """The smallest estimator: everything in one cluster."""

    understands: ClassVar[frozenset[Kind]] = frozenset({Kind.MUST_LINK})

    def _solve(self, problem):
        return Dendrogram(problem.n_samples, np.full(problem.n_samples, -1), np.zeros(problem.n_samples))

    def _keep(self, outcome, problem):
        self.labels_ = np.zeros(problem.n_samples, dtype=np.intp)
        self.certificate_ = self._certify(self.labels_, problem)


def test_a_subclass_writes_two_methods():
    model = OneCluster().fit(X, constraints=links(must_link=[(0, 5)]))
    assert model.certificate_.ok
    assert model.n_features_in_ == 1
    with pytest.raises(UnsupportedConstraintError, match="OneCluster does not understand cannot_link"):
        OneCluster().fit(X, constraints=links(cannot_link=[(0, 5)]))


def test_the_base_class_itself_solves_nothing():
    with pytest.raises(NotImplementedError):
        ConstrainedClusterer().fit(X)
