"""The contract of estimators that may break statements: everything but the promise, and no broken one untold."""

from __future__ import annotations

import inspect
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.base import clone

from linkwise import Constraints, Kind, verify
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseWarning, UnsupportedConstraintError
from tests.contract.discovery import ADAPTIVE, blobs, said, truth
from tests.contract.test_contract import OPPOSITE, RULES, assert_same, broken_by_definition, clusters, partition
from tests.profile import examples

each = pytest.mark.parametrize("estimator", ADAPTIVE, ids=lambda cls: cls.__name__)
CASES = [(cls, kind) for cls in ADAPTIVE for kind in Kind if kind in cls.understands]
each_kind = pytest.mark.parametrize(("estimator", "kind"), CASES, ids=[f"{c.__name__}-{k.word}" for c, k in CASES])


def fit(model, X, constraints=None):
    """Fit, without the warning about what was broken."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*promises nothing and broke", LinkwiseWarning)
        return model.fit(X, constraints=constraints)


def linkages(cls):
    """The linkages an estimator takes; None when it has no such parameter."""
    options = cls._parameter_constraints.get("linkage")
    return sorted(options[0].options) if options else [None]


def dressed(cls, n_clusters=None):
    """The estimator with each linkage it takes; learning in small steps, where it learns.

    Large steps on two features leave one of them, and then all samples are equally similar: nothing but ties.
    """
    calm = {"learning_rate": 0.05} if "learning_rate" in cls._parameter_constraints else {}
    for linkage in linkages(cls):
        yield cls(n_clusters, **calm) if linkage is None else cls(n_clusters, linkage=linkage, **calm)


def test_the_walk_finds_the_estimators():
    assert {"IHAC", "BiHAC", "BiiHAC"} <= {cls.__name__ for cls in ADAPTIVE}
    assert all(cls.understands for cls in ADAPTIVE)


# -- what is broken is told -----------------------------------------------------------------------------------------


@each_kind
def test_a_broken_statement_is_warned_about_and_listed(estimator, kind):
    told = 0
    for seed in range(examples(6, 100)):
        X, y = blobs(seed)
        rows = truth(kind, y, seed, m=20)
        c = said(kind, rows, len(X))
        for model in dressed(estimator):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                model.fit(X, constraints=c)
            broken = broken_by_definition(model, kind, rows)
            assert len(model.certificate_.violated) == len(verify(model.dendrogram_, c).violated) == broken
            words = [str(warning.message) for warning in caught if warning.category is LinkwiseWarning]
            wanted = f"{estimator.__name__} promises nothing and broke {broken} of {len(rows)} statements"
            assert [word.startswith(wanted) for word in words] == [True] * (broken > 0)
            assert all("Hint: " in word for word in words)
            assert_array_equal(model.dendrogram_.cut_marked(), model.labels_)
            told += broken > 0
    assert told > 0


@each_kind
def test_statements_make_a_difference(estimator, kind):
    before = after = 0
    for seed in range(10):
        X, y = blobs(seed)
        rows = truth(kind, y, seed)
        before += broken_by_definition(fit(estimator(None), X), kind, rows)
        after += broken_by_definition(fit(estimator(None), X, said(kind, rows, len(X))), kind, rows)
    assert after < before


@each_kind
def test_contradictions_are_explained_and_leave_the_state(estimator, kind):
    X, y = blobs(0)
    model = fit(estimator(None), X, said(kind, truth(kind, y, 0), len(X)))
    before = dict(vars(model))
    c = Constraints.build(len(X), **OPPOSITE[kind])
    with pytest.raises(InfeasibleConstraintsError) as caught:
        model.fit(X, constraints=c)
    assert caught.value.explanation.core == tuple(range(c.n_statements))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


@each_kind
def test_soft_contradictions_warn(estimator, kind):
    X, _ = blobs(15)
    c = Constraints.build(len(X), **OPPOSITE[kind], weight=[*range(1, 1 + sum(map(len, OPPOSITE[kind].values())))])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*promises nothing and broke", LinkwiseWarning)
        with pytest.warns(LinkwiseWarning, match=r"1 soft statement\(s\) contradict"):
            model = estimator(None).fit(X, constraints=c)
    assert model.constraints_.n_statements == c.n_statements - 1


# -- what was said, in any form -------------------------------------------------------------------------------------


@each_kind
@pytest.mark.parametrize("empty", ["none", "rows", "zero"])
def test_nothing_said_is_unconstrained(estimator, kind, empty):
    X, y = blobs(3)
    c = {
        "none": None,
        "rows": said(kind, [], len(X)),
        "zero": said(kind, truth(kind, y, 0), len(X), weight=0.0),
    }[empty]
    assert_same(estimator(3).fit(X, constraints=c), estimator(3).fit(X))


@each_kind
def test_saying_it_twice_or_softly_or_in_another_order_changes_nothing(estimator, kind):
    X, y = blobs(5)
    rows = truth(kind, y, 5)
    once = fit(estimator(None), X, said(kind, rows, len(X)))
    twice = fit(estimator(None), X, said(kind, rows + [(b, a, *c) for a, b, *c in rows], len(X)))
    assert_array_equal(once.dendrogram_.parent, twice.dendrogram_.parent)
    assert_same(once, fit(estimator(None), X, said(kind, rows, len(X), weight=0.1)))
    back = fit(estimator(None), X, said(kind, rows[::-1], len(X)))
    assert clusters(once.dendrogram_) == clusters(back.dendrogram_)


@each
@pytest.mark.parametrize("kind", list(Kind), ids=lambda kind: kind.word)
def test_foreign_kinds_are_refused_by_name(estimator, kind):
    X, _ = blobs(12)
    row = {2: (0, 1), 3: (0, 1, 2)}.get(kind.arity, (0, 1, 2))
    c = said(kind, [row], len(X))
    if kind in estimator.understands:
        assert fit(estimator(None), X, c).certificate_.n_statements == 1
        return
    with pytest.raises(UnsupportedConstraintError, match=f"{estimator.__name__} does not understand {kind.word}") as no:
        estimator(None).fit(X, constraints=c)
    assert no.value.kinds == (kind.word,)


@each
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_foreign_rules_are_refused_by_name(estimator, rule):
    X, _ = blobs(12)
    with pytest.raises(UnsupportedConstraintError, match=f"does not understand {type(rule).__name__}"):
        estimator(None).fit(X, constraints=Constraints.build(len(X), rules=rule))


# -- data -----------------------------------------------------------------------------------------------------------


@each_kind
def test_every_number_of_clusters_is_met(estimator, kind):
    X, y = blobs(1, 12)
    c = said(kind, truth(kind, y, 1), 12)
    for k in range(1, 13):
        assert fit(estimator(k), X, c).n_clusters_ == k


@each_kind
def test_inputs_and_the_world_are_untouched_and_the_answer_is_the_same(estimator, kind):
    X, y = blobs(8)
    c = said(kind, truth(kind, y, 8), len(X))
    before, items = X.copy(), c.items.copy()
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - the global generator must not be used
    errors = np.geterr()
    assert_same(fit(estimator(None), X, c), fit(estimator(None), X, c))
    assert_array_equal(X, before)
    assert_array_equal(c.items, items)
    assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert np.geterr() == errors


@each_kind
def test_layouts_and_containers_agree(estimator, kind, tmp_path):
    X, y = blobs(10)
    X = X.astype(np.float32).astype(np.float64)
    c = said(kind, truth(kind, y, 10), len(X))
    np.save(tmp_path / "X.npy", X)
    expected = fit(estimator(None), X, c)
    variants = [
        X.astype(np.float32),
        np.asfortranarray(X),
        X[::-1][::-1],
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        X.tolist(),
        pd.DataFrame(X, columns=["a", "b"]),
        pl.DataFrame(X, schema=["a", "b"]),
    ]
    for variant in variants:
        assert_same(fit(estimator(None), variant, c), expected)


@each_kind
def test_sparse_data_agree_with_dense(estimator, kind):
    X, y = blobs(10)
    c = said(kind, truth(kind, y, 10), len(X))
    for model in dressed(estimator):
        if model.__sklearn_tags__().input_tags.sparse:
            a = clusters(fit(model, X, c).dendrogram_)
            assert a == clusters(fit(clone(model), sp.csr_matrix(X), c).dendrogram_)


@each_kind
def test_permuting_rows_permutes_the_result(estimator, kind):
    for seed in range(examples(3, 50)):
        X, y = blobs(seed)
        c = said(kind, truth(kind, y, seed), len(X))
        order = np.random.default_rng(seed).permutation(len(X))
        for model in dressed(estimator):
            a, b = fit(model, X, c), fit(clone(model), X[order], c[order])
            back = {frozenset(order[list(group)].tolist()) for group in clusters(b.dendrogram_)}
            assert back == clusters(a.dendrogram_)
            assert {frozenset(order[list(group)].tolist()) for group in partition(b.labels_)} == partition(a.labels_)


@each_kind
def test_fitting_twice_cloning_and_saving(estimator, kind):
    X, y = blobs(13)
    c = said(kind, truth(kind, y, 13), len(X))
    model = fit(estimator(None), X, c)
    fresh = clone(model)
    assert not hasattr(fresh, "labels_")
    assert_same(fit(fit(fresh, X[:5]), X, c), model)
    assert_same(pickle.loads(pickle.dumps(model)), model)


# -- documentation --------------------------------------------------------------------------------------------------


@each
def test_docs_answer_the_three_questions_and_say_that_nothing_is_promised(estimator):
    text = inspect.getdoc(estimator)
    assert "**Best effort" in text[: text.index("Parameters\n---")]
    notes = text[text.index("Notes\n-----") :]
    for word in ("**Cost**", "**Guarantee**", "**Departure"):
        assert word in notes
    for section in ("Parameters", "Attributes", "References", "Examples", "See Also"):
        assert f"{section}\n{'-' * len(section)}" in text


@each
def test_every_parameter_and_attribute_is_documented_and_checked(estimator):
    names = set(estimator().get_params())
    assert names == set(estimator._parameter_constraints)
    text = inspect.getdoc(estimator)
    assert all(f"\n{name} : " in text for name in names)
    for name in names:
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            estimator(**{name: object()}).fit(np.eye(3)[:, :2])
    X, _ = blobs(16)
    model = estimator(3).fit(pd.DataFrame(X, columns=["a", "b"]))
    fitted = {name for name in vars(model) if name.endswith("_")} | {"children_", "distances_"}
    unnamed = fitted - {"n_features_in_", "feature_names_in_"}
    assert [name for name in sorted(unnamed) if name not in text] == []
