"""Our contract, for every estimator and each kind of statement it understands."""

from __future__ import annotations

import inspect
import pickle
import warnings

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone

from linkwise import (
    Constraints,
    Kind,
    MaxCentroidDistance,
    MinSeparation,
    NeighborWithin,
    SizeBetween,
    agglomerate,
    close,
    verify,
)
from linkwise.exceptions import DeadEndError, InfeasibleConstraintsError, LinkwiseWarning, UnsupportedConstraintError
from tests.contract.discovery import CASE_IDS, CASES, ESTIMATORS, blobs, linkages, make, said, truth
from tests.oracles.trees import clades
from tests.profile import examples

# What methods that promise nothing say when they break a statement; `test_hard_statements_hold` looks at it.
pytestmark = pytest.mark.filterwarnings("ignore:.* promises nothing and broke:linkwise.exceptions.LinkwiseWarning")

RULES = (MinSeparation(0.01), NeighborWithin(100.0), MaxCentroidDistance(100.0), SizeBetween(1))
OPPOSITE = {
    Kind.MUST_LINK: {"must_link": [(0, 1)], "cannot_link": [(0, 1)]},
    Kind.CANNOT_LINK: {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]},
    Kind.TRIPLET: {"triplets": [(0, 1, 2), (0, 2, 1)]},
    Kind.TOGETHER: {"cannot_link": [(0, 2)], "together": [(0, 1, 2)]},
    Kind.APART: {"must_link": [(0, 2)], "apart": [(0, 1, 2)]},
}

each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda cls: cls.__name__)
each_kind = pytest.mark.parametrize(("estimator", "kind"), CASES, ids=CASE_IDS)


def each_linkage(*names):
    """Every estimator with each linkage it offers, or with those of the names."""
    cases = [(cls, name) for cls in ESTIMATORS for name in linkages(cls) if not names or name in names]
    return pytest.mark.parametrize(
        ("estimator", "linkage"), cases, ids=[f"{cls.__name__}-{name}" for cls, name in cases]
    )


def each_kind_and_linkage(*names):
    """Every estimator, kind of statement and linkage, or only the linkages of the names."""
    cases = [(*case, name) for case in CASES for name in linkages(case[0]) if not names or name in names]
    return pytest.mark.parametrize(
        ("estimator", "kind", "linkage"), cases, ids=[f"{c.__name__}-{k.word}-{name}" for c, k, name in cases]
    )


def offered(estimator, wanted):
    """The wanted linkage, or the one an estimator has."""
    return wanted if wanted in linkages(estimator) else linkages(estimator)[0]


def partition(labels):
    return {frozenset(np.flatnonzero(labels == v).tolist()) for v in np.unique(labels)}


def clusters(tree):
    """All clusters of the tree, as sets of samples."""
    return clades(tree.n_samples, tree.parent.tolist())


def legal(groups, kind, rows):
    """Leave out clusters that split a must-link: how a forced group comes about follows the order of its rows."""
    if kind not in (Kind.MUST_LINK, Kind.TOGETHER):
        return groups
    return {group for group in groups if all(len({a in group for a in row}) == 1 for row in rows)}


def assert_same(a, b):
    """Two fitted estimators agree to the last bit."""
    assert_array_equal(a.labels_, b.labels_)
    assert_array_equal(a.dendrogram_.parent, b.dendrogram_.parent)
    assert_array_equal(a.dendrogram_.raw_height, b.dendrogram_.raw_height)
    assert a.certificate_.to_dict() == b.certificate_.to_dict()


def test_the_walk_finds_the_estimators():
    names = {"ConstrainedAgglomerative", "ConstrainedCompleteLink", "HACoc", "IPoptim", "ReCon", "UltraTran"}
    assert names <= {cls.__name__ for cls in ESTIMATORS}
    assert all(cls.understands for cls in ESTIMATORS)
    assert {cls.__name__ for cls in ESTIMATORS if cls.best_effort} == {"HACoc", "IPoptim", "UltraTran"}


# -- none given equals the plain method -----------------------------------------------------------------------------


@each_linkage()
def test_without_statements_it_is_the_plain_method(estimator, linkage):
    for seed in range(5):
        X, _ = blobs(seed, 40)
        tree = agglomerate(X, method=linkage)
        model = make(estimator, 3, linkage=linkage).fit(X)
        assert clusters(model.dendrogram_) == clusters(tree)
        assert_allclose(np.sort(model.dendrogram_.raw_height), np.sort(tree.raw_height), rtol=1e-9)
        assert partition(model.labels_) == partition(tree.cut(n_clusters=3))
        assert model.k_min_ == 1


@each_linkage("single", "complete", "average", "weighted", "centroid", "median")
def test_precomputed_euclidean_distances_equal_vectors(estimator, linkage):
    X, _ = blobs(1, 30)
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    a = make(estimator, 3, linkage=linkage).fit(X)
    b = make(estimator, 3, linkage=linkage, metric="precomputed").fit(D)
    assert partition(a.labels_) == partition(b.labels_)
    assert_allclose(np.sort(a.dendrogram_.raw_height), np.sort(b.dendrogram_.raw_height), rtol=1e-7)


@each
@pytest.mark.parametrize("metric", ["cityblock", "manhattan", "l1", "l2", "cosine", "chebyshev", "canberra"])
def test_other_metrics_equal_the_plain_method(estimator, metric):
    X, _ = blobs(2, 30)
    linkage = offered(estimator, "average")
    model = make(estimator, 3, linkage=linkage, metric=metric).fit(X)
    assert partition(model.labels_) == partition(agglomerate(X, method=linkage, metric=metric).cut(n_clusters=3))


@each
def test_aliases_of_euclidean_go_with_ward(estimator):
    X, _ = blobs(2)
    linkage = offered(estimator, "ward")
    a, b = (make(estimator, 3, linkage=linkage, metric=metric).fit(X) for metric in ("euclidean", "l2"))
    assert_same(a, b)


@each_kind
@pytest.mark.parametrize(
    "empty",
    [(), [], None, np.empty((0, 2), int), np.empty((0, 3)), pd.DataFrame(), "generator", "labels", "zero"],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_nothing_said_in_any_container_is_unconstrained(estimator, kind, empty):
    X, y = blobs(3)
    if isinstance(empty, str):
        c = {
            "generator": lambda: said(kind, iter(()), len(X)),
            "labels": lambda: Constraints.from_labels(np.full(len(X), -1)),
            "zero": lambda: said(kind, truth(kind, y, 0), len(X), weight=0.0),
        }[empty]()
    else:
        c = said(kind, empty, len(X))
    assert_same(estimator(3).fit(X, constraints=c), estimator(3).fit(X))


# -- hard ones hold, or an error explains ---------------------------------------------------------------------------


def broken_by_definition(model, kind, rows):
    """Count broken statements from labels and clusters alone."""
    if kind is Kind.TRIPLET:
        groups = clusters(model.dendrogram_)
        return sum(not any({a, b} <= g and c not in g for g in groups) for a, b, c in rows)
    together = kind in (Kind.MUST_LINK, Kind.TOGETHER)
    return sum(len(np.unique(model.labels_[list(row)])) != (1 if together else len(row)) for row in rows)


def assert_told(model, kind, rows, c, heard):
    """Hard statements hold; or the method has promised nothing, and warning, certificate and share say what broke."""
    broken = broken_by_definition(model, kind, rows)
    certificate = verify(model.dendrogram_, c)
    assert len(certificate.violated) == broken
    assert model.certificate_.violated == certificate.violated
    assert len(heard) == (broken > 0)
    if type(model).best_effort:
        assert model.satisfied_ == pytest.approx(1 - broken / len(rows))
        assert all(f"broke {broken} of {len(rows)} statements" in str(warning.message) for warning in heard)
        assert verify(model.labels_, c).ok or broken
    else:
        assert broken == 0
        assert model.certificate_.ok
        assert verify(model.labels_, c).ok


@each_kind_and_linkage()
def test_hard_statements_hold_or_the_break_is_told(estimator, kind, linkage):
    for seed in range(examples(4, 300)):
        X, y = blobs(seed)
        rows = truth(kind, y, seed)
        c = said(kind, rows, len(X))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            model = make(estimator, linkage=linkage).fit(X, constraints=c)
        assert_told(model, kind, rows, c, heard)
        assert_array_equal(model.dendrogram_.cut_marked(), model.labels_)


@each_kind
def test_statements_matter(estimator, kind):
    """Guard against statements so easy that a method which ignores them would pass."""
    broken = 0
    for seed in range(3):
        X, y = blobs(seed)
        broken += broken_by_definition(estimator(3).fit(X), kind, truth(kind, y, seed))
    assert broken > 0


@each_kind
def test_contradictions_are_explained(estimator, kind):
    X, _ = blobs(0)
    c = Constraints.build(len(X), **OPPOSITE[kind])
    with pytest.raises(InfeasibleConstraintsError) as caught:
        estimator(None).fit(X, constraints=c)
    assert caught.value.explanation.core == tuple(range(c.n_statements))
    assert "Hint: " in str(caught.value)


@pytest.mark.filterwarnings("ignore:greedy merging met a dead end")
@each_kind
def test_a_wish_for_clusters_is_met_or_explained(estimator, kind):
    for seed in range(examples(4, 100)):
        X, y = blobs(seed, 12)
        c = said(kind, truth(kind, y, seed, m=10), 12)
        for k in range(1, 13):
            model, explained = estimator(k), False
            try:
                model.fit(X, constraints=c)
            except InfeasibleConstraintsError as no:
                explained = bool(no.explanation.core)
            except DeadEndError as no:
                explained = no.k_min > k
            if explained:
                continue
            assert model.n_clusters_ == k
            assert verify(model.labels_, c).ok or (estimator.best_effort and model.certificate_.violated)


# -- entailed ones change nothing -----------------------------------------------------------------------------------


def clearly(X, a, b, c):
    """Whether a and b are much closer to each other than to c."""
    return np.linalg.norm(X[a] - X[b]) < 0.8 * min(np.linalg.norm(X[a] - X[c]), np.linalg.norm(X[b] - X[c]))


@each_kind_and_linkage()
def test_statements_that_hold_anyway_change_nothing(estimator, kind, linkage):
    for seed in range(examples(4, 200)):
        X, y = blobs(seed)
        rows = truth(kind, y, seed)
        if estimator.best_effort:  # what the tree says may follow from what was moved; the data must say it as well
            rows = []
        first = make(estimator, linkage=linkage).fit(X, constraints=said(kind, rows, len(X)))
        tree = first.dendrogram_
        if estimator.best_effort:
            more = [row for row in tree.triplets().of(Kind.TRIPLET).tolist() if clearly(X, *row)][::5]
            assert more
            again = make(estimator, linkage=linkage).fit(X, constraints=said(kind, more, len(X)))
        elif kind is Kind.TRIPLET:
            more = tree.triplets(minimal=True).of(Kind.TRIPLET).tolist()[::2]
            again = make(estimator, linkage=linkage).fit(X, constraints=said(kind, [*rows, *more], len(X)))
        else:
            again = make(estimator, linkage=linkage).fit(X, constraints=close(said(kind, rows, len(X))))
        assert clusters(again.dendrogram_) == clusters(tree)
        assert_allclose(np.sort(again.dendrogram_.raw_height), np.sort(tree.raw_height), rtol=1e-9)


@each_kind
def test_saying_it_twice_or_softly_changes_nothing(estimator, kind):
    X, y = blobs(5)
    rows = truth(kind, y, 5)
    once = estimator(None).fit(X, constraints=said(kind, rows, len(X)))
    twice = estimator(None).fit(X, constraints=said(kind, rows + [(b, a, *c) for a, b, *c in rows], len(X)))
    softly = estimator(None).fit(X, constraints=said(kind, rows, len(X), weight=0.1))
    assert_array_equal(once.dendrogram_.parent, twice.dendrogram_.parent)
    assert_same(once, softly)


@each_kind
def test_weight_zero_is_absence(estimator, kind):
    X, y = blobs(6)
    rows = truth(kind, y, 6)
    wrong = (0, 1) if kind in (Kind.MUST_LINK, Kind.TOGETHER) else (*rows[0][1:], rows[0][0])
    weight = [np.inf] * len(rows) + [0]
    with_zero = said(kind, [*rows, wrong], len(X), weight=weight)
    assert_same(
        estimator(None).fit(X, constraints=with_zero), estimator(None).fit(X, constraints=said(kind, rows, len(X)))
    )


# -- inputs ---------------------------------------------------------------------------------------------------------


@each_kind
def test_inputs_are_untouched(estimator, kind):
    X, y = blobs(7)
    c = said(kind, truth(kind, y, 7), len(X))
    X_before, items, copy = X.copy(), c.items.copy(), pickle.loads(pickle.dumps(c))
    estimator(None).fit(X, constraints=c)
    assert_array_equal(X, X_before)
    assert X.flags.writeable
    assert_array_equal(c.items, items)
    assert c == copy
    D = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    D_before = D.copy()
    make(estimator, linkage="average", metric="precomputed").fit(D, constraints=c)
    assert_array_equal(D, D_before)
    assert D.flags.writeable


@each_kind
def test_same_input_same_answer(estimator, kind):
    X, y = blobs(8)
    c = said(kind, truth(kind, y, 8), len(X))
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - the global generator must not be used
    filters, errors = list(warnings.filters), np.geterr()
    assert_same(estimator(None).fit(X, constraints=c), estimator(None).fit(X, constraints=c))
    assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert warnings.filters == filters
    assert np.geterr() == errors


@each_kind
def test_the_order_of_statements_does_not_matter(estimator, kind):
    X, y = blobs(9)
    c = said(kind, truth(kind, y, 9), len(X))
    a = estimator(None).fit(X, constraints=c)
    b = estimator(None).fit(X, constraints=c.select(np.arange(c.n_statements)[::-1]))
    assert clusters(a.dendrogram_) == clusters(b.dendrogram_)
    assert_array_equal(a.labels_, b.labels_)


@each_kind_and_linkage()
def test_permuting_rows_permutes_the_result(estimator, kind, linkage):
    for seed in range(examples(3, 100)):
        X, y = blobs(seed)
        rows = truth(kind, y, seed)
        if kind in (Kind.MUST_LINK, Kind.TOGETHER) and linkage in ("weighted", "median"):
            # these weigh halves by history, and a forced group of three has one: that of its rows
            rows = [row[:2] for row in rows]
            rows = [row for i, row in enumerate(rows) if not any(set(row) & set(other) for other in rows[:i])]
        c = said(kind, rows, len(X))
        order = np.random.default_rng(seed).permutation(len(X))
        a = make(estimator, linkage=linkage).fit(X, constraints=c)
        b = make(estimator, linkage=linkage).fit(X[order], constraints=c[order])
        back = {frozenset(order[list(group)].tolist()) for group in clusters(b.dendrogram_)}
        assert legal(back, kind, rows) == legal(clusters(a.dendrogram_), kind, rows)
        assert {frozenset(order[list(group)].tolist()) for group in partition(b.labels_)} == partition(a.labels_)


@each_kind_and_linkage("average", "ward", "single")
def test_layouts_and_containers_agree(estimator, kind, linkage, tmp_path):
    X, y = blobs(10)
    X = X.astype(np.float32).astype(np.float64)  # what float32 holds exactly, so that all of these are the same numbers
    c = said(kind, truth(kind, y, 10), len(X))
    np.save(tmp_path / "X.npy", X)
    wide = np.zeros((len(X), 6))
    wide[:, ::3] = X
    expected = make(estimator, linkage=linkage).fit(X, constraints=c)
    variants = [
        X.astype(np.float32),
        np.asfortranarray(X),
        wide[:, ::3],
        X[::-1][::-1],
        np.load(tmp_path / "X.npy", mmap_mode="r"),
        X.tolist(),
        pd.DataFrame(X, columns=["a", "b"]),
        pl.DataFrame(X, schema=["a", "b"]),
        pd.DataFrame(X, index=[f"i{i}" for i in range(len(X))]),
    ]
    for variant in variants:
        assert_same(make(estimator, linkage=linkage).fit(variant, constraints=c), expected)


@each_kind
def test_sparse_data_agree_with_dense(estimator, kind):
    X, y = blobs(10)
    c = said(kind, truth(kind, y, 10), len(X))
    for linkage in [name for name in linkages(estimator) if name not in ("ward", "centroid", "median")]:
        for metric in ("euclidean", "cosine", "cityblock"):
            a = make(estimator, linkage=linkage, metric=metric).fit(X, constraints=c)
            b = make(estimator, linkage=linkage, metric=metric).fit(sp.csr_matrix(X), constraints=c)
            assert clusters(a.dendrogram_) == clusters(b.dendrogram_)
            assert partition(a.labels_) == partition(b.labels_)


@each
def test_translation_rotation_and_scale_keep_the_tree(estimator):
    X, _ = blobs(11)
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    for linkage in linkages(estimator):
        a = make(estimator, 3, linkage=linkage).fit(X)
        b = make(estimator, 3, linkage=linkage).fit(8.0 * (X @ turn) + 5.0)
        assert clusters(a.dendrogram_) == clusters(b.dendrogram_)
        assert_allclose(np.sort(b.distances_), 8.0 * np.sort(a.distances_), rtol=1e-9)


# -- foreign kinds --------------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("kind", list(Kind), ids=lambda kind: kind.word)
def test_foreign_kinds_are_refused_by_name(estimator, kind):
    X, y = blobs(12)
    c = said(kind, truth(kind, y, 12), len(X))
    if kind in estimator.understands:
        assert estimator(None).fit(X, constraints=c).certificate_.n_statements == c.n_statements
        return
    with pytest.raises(UnsupportedConstraintError, match=f"{estimator.__name__} does not understand {kind.word}") as no:
        estimator(None).fit(X, constraints=c)
    assert no.value.kinds == (kind.word,)


@each
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_foreign_rules_are_refused_by_name(estimator, rule):
    X, _ = blobs(12)
    c = Constraints.build(len(X), rules=rule)
    name = type(rule).__name__
    if type(rule) in estimator.understands_rules:
        assert estimator(None).fit(X, constraints=c).certificate_.rules == ((rule, True),)
        return
    with pytest.raises(UnsupportedConstraintError, match=f"does not understand {name}") as no:
        estimator(None).fit(X, constraints=c)
    assert no.value.kinds == (name,)


# -- life cycle -----------------------------------------------------------------------------------------------------


@each_kind
def test_fitting_twice_cloning_and_saving(estimator, kind, tmp_path):
    X, y = blobs(13)
    c = said(kind, truth(kind, y, 13), len(X))
    model = estimator(None).fit(X, constraints=c)
    fresh = clone(model)
    assert not hasattr(fresh, "labels_")
    assert_same(fresh.fit(X, constraints=c), model)
    assert_same(fresh.fit(X[:5]).fit(X, constraints=c), model)
    assert_same(pickle.loads(pickle.dumps(model)), model)
    joblib.dump(model, tmp_path / "model.joblib")
    loaded = joblib.load(tmp_path / "model.joblib")
    assert_same(loaded, model)
    assert loaded.constraints_ == model.constraints_
    assert_array_equal(loaded.children_, model.children_)


@each_kind
def test_a_failed_fit_leaves_the_state(estimator, kind):
    X, y = blobs(14)
    model = estimator(None).fit(X, constraints=said(kind, truth(kind, y, 14), len(X)))
    before = dict(vars(model))
    with pytest.raises(InfeasibleConstraintsError):
        model.fit(X, constraints=Constraints.build(len(X), **OPPOSITE[kind]))
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


@each_kind
def test_soft_contradictions_warn_and_the_rest_holds(estimator, kind):
    X, _ = blobs(15)
    c = Constraints.build(len(X), **OPPOSITE[kind], weight=[*range(1, 1 + sum(map(len, OPPOSITE[kind].values())))])
    with pytest.warns(LinkwiseWarning, match=r"1 soft statement\(s\) contradict"):
        model = estimator(None).fit(X, constraints=c)
    assert model.constraints_.n_statements == c.n_statements - 1
    assert model.certificate_.ok or estimator.best_effort


# -- documentation --------------------------------------------------------------------------------------------------


@each
def test_docs_answer_the_three_questions(estimator):
    text = inspect.getdoc(estimator)
    notes = text[text.index("Notes\n-----") :]
    for word in ("**Cost**", "**Guarantee**", "**Departure"):
        assert word in notes
    for section in ("Parameters", "Attributes", "References", "Examples", "See Also"):
        assert f"{section}\n{'-' * len(section)}" in text


@each
def test_every_parameter_is_documented_and_checked(estimator):
    names = set(estimator().get_params())
    assert names == set(estimator._parameter_constraints)
    text = inspect.getdoc(estimator)
    assert all(f"\n{name} : " in text for name in names)
    for name in names:
        with pytest.raises(ValueError, match=f"'{name}' parameter"):
            estimator(**{name: object()}).fit(np.eye(3)[:, :2])


@each
def test_every_fitted_attribute_is_documented(estimator):
    X, _ = blobs(16)
    model = estimator(3).fit(pd.DataFrame(X, columns=["a", "b"]))
    text = inspect.getdoc(estimator)
    from_sklearn = {"n_features_in_", "feature_names_in_"}
    fitted = {name for name in vars(model) if name.endswith("_")} | {"children_", "distances_"}
    assert [name for name in sorted(fitted - from_sklearn) if name not in text] == []
