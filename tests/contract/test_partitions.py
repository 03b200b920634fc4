"""Our contract for every estimator that answers with labels alone, and each kind of statement it understands."""

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
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from linkwise import Constraints, COPKMeans, KernelKMeans, Kind, close, verify
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError, LinkwiseWarning, UnsupportedConstraintError
from tests.contract.discovery import PARTITIONS, blobs, said, truth
from tests.contract.test_contract import OPPOSITE, RULES, partition
from tests.oracles import spectral
from tests.profile import examples

pytestmark = pytest.mark.filterwarnings("ignore:.* promises nothing and broke:linkwise.exceptions.LinkwiseWarning")

# How an estimator without centers is shown to be the plain method when nothing was said: a function of X, the number
# of clusters and a seed that returns labels. Those with centers are compared with scikit-learn's KMeans.
PLAIN = {
    name: lambda X, k, seed: GaussianMixture(k, random_state=seed).fit_predict(X)
    for name in ("ConstrainedGaussianMixture", "PenalizedMixture")
}
# A Gaussian may end up without samples of which it is the likeliest source.
MAY_BE_EMPTY = ("ConstrainedGaussianMixture", "PenalizedMixture")
# Methods that learn a metric are plain k-means without one.
LEARNS = {"MKMeans": {"form": "none"}, "MPCKMeans": {"form": "none"}}

CASES = [(cls, kind) for cls in PARTITIONS for kind in Kind if kind in cls.understands]
each = pytest.mark.parametrize("estimator", PARTITIONS, ids=lambda cls: cls.__name__)
each_kind = pytest.mark.parametrize(("estimator", "kind"), CASES, ids=[f"{c.__name__}-{k.word}" for c, k in CASES])


def make(estimator, n_clusters=3, seed=0, **options):
    """Make an estimator; a seed is passed on to those that leave something to chance."""
    if "random_state" in estimator._parameter_constraints:
        options.setdefault("random_state", seed)
    return estimator(n_clusters, **options)


def means_stay(X, labels):
    """Where k-means goes from the means of some clusters."""
    means = [X[labels == c].mean(axis=0) for c in range(labels.max() + 1)]
    return KMeans(len(means), init=means, n_init=1).fit(X).labels_


def kmeans(X, k, seed):
    """Ten runs of k-means; that they are k-means is shown here too."""
    return COPKMeans(k, n_init=10, random_state=seed).fit(X).labels_


PLAIN |= {
    "KernelKMeans": lambda X, k, seed: means_stay(X, KernelKMeans(k, random_state=seed).fit(X).labels_),
    "NeighborhoodPropagation": kmeans,
    "SpectralLearning": lambda X, k, seed: kmeans(spectral.embedding(spectral.neighbor_graph(X, 10), k), k, seed),
}


def assert_same(a, b):
    """Two fitted estimators agree to the last bit."""
    assert_array_equal(a.labels_, b.labels_)
    for name in ("cluster_centers_", "inertia_"):
        assert hasattr(a, name) == hasattr(b, name)
        if hasattr(a, name):
            assert_array_equal(getattr(a, name), getattr(b, name))
    assert a.certificate_.to_dict() == b.certificate_.to_dict()


def assert_alike(a, b):
    """Two fitted estimators agree up to rounding and the names of the clusters."""
    assert partition(a.labels_) == partition(b.labels_)
    if hasattr(a, "inertia_"):
        assert_allclose(a.inertia_, b.inertia_, rtol=1e-6)


def broken_by_definition(labels, kind, rows):
    """Count broken statements from labels alone."""
    together = kind in (Kind.MUST_LINK, Kind.TOGETHER)
    return sum(len(np.unique(labels[list(row)])) != (1 if together else len(row)) for row in rows)


def test_the_walk_finds_the_estimators():
    assert {"COPKMeans", "ConstrainedKMeans", "SeededKMeans"} <= {cls.__name__ for cls in PARTITIONS}
    assert all(cls.understands for cls in PARTITIONS)


# -- none given equals the plain method -----------------------------------------------------------------------------


@each
def test_without_statements_it_is_the_plain_method(estimator):
    for seed in range(5):
        X, _ = blobs(seed, 60)
        if estimator.__name__ in PLAIN:
            model = make(estimator, 3, seed).fit(X)
            assert partition(model.labels_) == partition(PLAIN[estimator.__name__](X, 3, seed))
            continue
        if "init" in estimator._parameter_constraints:
            start = X[np.random.default_rng(seed).choice(len(X), 3, replace=False)]
            model = make(estimator, 3, init=start, **LEARNS.get(estimator.__name__, {})).fit(X)
            plain = KMeans(3, init=start, n_init=1).fit(X)
        else:  # what was found is where k-means stays
            model = make(estimator, 3, seed, tol=0.0).fit(X)
            plain = KMeans(3, init=model.cluster_centers_, n_init=1).fit(X)
        assert_array_equal(model.labels_, plain.labels_)
        assert_allclose(model.cluster_centers_, plain.cluster_centers_)
        assert model.inertia_ == pytest.approx(plain.inertia_)


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
    assert_same(make(estimator).fit(X, constraints=c), make(estimator).fit(X))


# -- hard ones hold, or an error explains ---------------------------------------------------------------------------


@each_kind
def test_hard_statements_hold_or_the_break_is_told(estimator, kind):
    for seed in range(examples(7, 1000)):
        X, y = blobs(seed)
        rows = truth(kind, y, seed)
        c = said(kind, rows, len(X))
        with warnings.catch_warnings(record=True) as heard:
            warnings.simplefilter("always")
            model = make(estimator, 3, seed).fit(X, constraints=c)
        broken = broken_by_definition(model.labels_, kind, rows)
        certificate = verify(model.labels_, c)
        assert len(certificate.violated) == broken
        assert model.certificate_.violated == certificate.violated
        told = [w for w in heard if "promises nothing and broke" in str(w.message)]
        assert len(told) == (broken > 0)
        assert model.n_clusters_ == len(np.unique(model.labels_)) == 3
        assert set(model.labels_.tolist()) == {0, 1, 2}
        if not estimator.best_effort:
            assert broken == 0
            assert model.certificate_.ok


@each_kind
def test_statements_matter(estimator, kind):
    """Guard against statements so easy that a method which ignores them would pass."""
    broken = []
    for seed in range(20):
        X, y = blobs(seed)
        broken.append(broken_by_definition(make(estimator, 3, seed).fit(X).labels_, kind, truth(kind, y, seed)))
    assert sum(count > 0 for count in broken) > 10


@each_kind
def test_contradictions_are_explained_and_the_old_state_is_kept(estimator, kind):
    X, y = blobs(14)
    model = make(estimator).fit(X, constraints=said(kind, truth(kind, y, 14), len(X)))
    before = dict(vars(model))
    c = Constraints.build(len(X), **OPPOSITE[kind])
    with pytest.raises(InfeasibleConstraintsError) as caught:
        model.fit(X, constraints=c)
    assert caught.value.explanation.core == tuple(range(c.n_statements))
    assert "Hint: " in str(caught.value)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


@each_kind
def test_a_wish_for_clusters_is_met_or_explained(estimator, kind):
    for seed in range(examples(2, 100)):
        X, y = blobs(seed, 12)
        c = said(kind, truth(kind, y, seed, m=10), 12)
        for k in (1, 2, 3, 4, 7, 11, 12):
            model, explained = make(estimator, k, seed), False
            try:
                model.fit(X, constraints=c)
            except InfeasibleConstraintsError as no:
                explained = bool(no.explanation.core)
            if explained:
                continue
            assert sorted(set(model.labels_.tolist())) == list(range(k))
            assert verify(model.labels_, c).ok or (estimator.best_effort and model.certificate_.violated)


@each
def test_more_clusters_than_samples_are_refused(estimator):
    with pytest.raises(LinkwiseError, match="n_clusters=5, but X has only n_samples=4"):
        make(estimator, 5).fit(np.eye(4))


@each
def test_a_clique_larger_than_the_number_of_clusters_is_explained(estimator):
    """A peer accepts this in silence."""
    if Kind.CANNOT_LINK not in estimator.understands:
        return
    X, _ = blobs(1)
    c = Constraints.build(len(X), cannot_link=[(0, 1), (0, 2), (1, 2)])
    with pytest.raises(InfeasibleConstraintsError, match="at least 3 clusters"):
        make(estimator, 2).fit(X, constraints=c)


# -- entailed ones change nothing -----------------------------------------------------------------------------------


@each_kind
def test_what_follows_changes_nothing(estimator, kind):
    for seed in range(examples(4, 200)):
        X, y = blobs(seed)
        c = said(kind, truth(kind, y, seed), len(X))
        a = make(estimator, 3, seed).fit(X, constraints=c)
        b = make(estimator, 3, seed).fit(X, constraints=close(c))
        assert_alike(a, b)


@each_kind
def test_saying_it_twice_changes_nothing(estimator, kind):
    X, y = blobs(5)
    rows = truth(kind, y, 5)
    once = make(estimator).fit(X, constraints=said(kind, rows, len(X)))
    twice = make(estimator).fit(X, constraints=said(kind, rows + [(b, a, *c) for a, b, *c in rows], len(X)))
    assert_array_equal(once.labels_, twice.labels_)


@each_kind
def test_saying_it_softly_holds_it_or_weighs_it(estimator, kind):
    X, y = blobs(5)
    rows = truth(kind, y, 5)
    once = make(estimator).fit(X, constraints=said(kind, rows, len(X)))
    softly = make(estimator).fit(X, constraints=said(kind, rows, len(X), weight=0.1))
    if not estimator.weighs:
        assert_same(once, softly)
    else:
        assert softly.certificate_.ok  # nothing hard was said
        assert softly.constraints_.n_statements == len(rows)


AGAINST = {
    Kind.MUST_LINK: (0, 6),
    Kind.CANNOT_LINK: (0, 1),
    Kind.TOGETHER: (0, 1, 6),
    Kind.APART: (0, 1),
}


@each_kind
def test_a_statement_of_next_to_no_weight_is_broken_where_statements_are_weighed(estimator, kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 2)) + np.repeat([[0.0], [40.0]], 6, axis=0)  # two heaps that nothing but force parts
    model = make(estimator, 2).fit(X, constraints=said(kind, [AGAINST[kind]], 12, weight=1e-9))
    broken = broken_by_definition(model.labels_, kind, [AGAINST[kind]])
    if estimator.best_effort:
        return  # promises nothing
    assert broken == estimator.weighs
    assert len(model.certificate_.soft_violated) == broken
    if estimator.weighs:
        assert model.constraints_.weight.tolist() == [1e-9]
        assert partition(model.labels_) == {frozenset(range(6)), frozenset(range(6, 12))}
    else:
        assert model.constraints_.is_hard.all()


@each_kind
def test_weight_zero_is_absence(estimator, kind):
    X, y = blobs(6)
    rows = truth(kind, y, 6)
    wrong = (0, 1) if kind in (Kind.MUST_LINK, Kind.TOGETHER) else (*rows[0][1:], rows[0][0])
    weight = [np.inf] * len(rows) + [0]
    with_zero = said(kind, [*rows, wrong], len(X), weight=weight)
    assert_same(
        make(estimator).fit(X, constraints=with_zero),
        make(estimator).fit(X, constraints=said(kind, rows, len(X))),
    )


@each_kind
def test_soft_contradictions_leave_something_out_or_are_weighed(estimator, kind):
    X, _ = blobs(15)
    c = Constraints.build(len(X), **OPPOSITE[kind], weight=[*range(1, 1 + sum(map(len, OPPOSITE[kind].values())))])
    if estimator.weighs:
        assert make(estimator).fit(X, constraints=c).constraints_.n_statements == c.n_statements
        return
    with pytest.warns(LinkwiseWarning, match=r"1 soft statement\(s\) contradict"):
        model = make(estimator).fit(X, constraints=c)
    assert model.constraints_.n_statements == c.n_statements - 1
    assert model.certificate_.ok or estimator.best_effort


# -- inputs ---------------------------------------------------------------------------------------------------------


@each_kind
def test_inputs_are_untouched(estimator, kind):
    X, y = blobs(7)
    c = said(kind, truth(kind, y, 7), len(X))
    X_before, copy = X.copy(), pickle.loads(pickle.dumps(c))
    options = {"init": X[:3].copy()} if "init" in estimator._parameter_constraints else {}
    make(estimator, **options).fit(X, constraints=c)
    assert_array_equal(X, X_before)
    assert X.flags.writeable
    assert c == copy
    if options:
        assert_array_equal(options["init"], X[:3])


@each_kind
def test_same_seed_same_answer_and_nothing_global_is_touched(estimator, kind):
    X, y = blobs(8)
    c = said(kind, truth(kind, y, 8), len(X))
    state = np.random.get_state()[1].copy()  # noqa: NPY002 - the global generator must not be used
    filters, errors = list(warnings.filters), np.geterr()
    assert_same(make(estimator).fit(X, constraints=c), make(estimator).fit(X, constraints=c))
    make(estimator, seed=None).fit(X, constraints=c)
    assert_array_equal(np.random.get_state()[1], state)  # noqa: NPY002
    assert warnings.filters == filters
    assert np.geterr() == errors


@each_kind
def test_the_order_of_statements_does_not_matter(estimator, kind):
    X, y = blobs(9)
    c = said(kind, truth(kind, y, 9), len(X))
    a = make(estimator).fit(X, constraints=c)
    b = make(estimator).fit(X, constraints=c.select(np.arange(c.n_statements)[::-1]))
    assert_alike(a, b)


@each_kind
def test_permuting_rows_permutes_the_result(estimator, kind):
    if "init" not in estimator._parameter_constraints:
        return  # starts are drawn by row number
    for seed in range(examples(3, 100)):
        X, y = blobs(seed)
        c = said(kind, truth(kind, y, seed), len(X))
        rng = np.random.default_rng(seed)
        order, start = rng.permutation(len(X)), X[rng.choice(len(X), 3, replace=False)]
        a = make(estimator, init=start).fit(X, constraints=c)
        b = make(estimator, init=start).fit(X[order], constraints=c[order])
        assert_array_equal(b.labels_, a.labels_[order])


@each_kind
def test_layouts_and_containers_agree(estimator, kind, tmp_path):
    X, y = blobs(10)
    X = X.astype(np.float32).astype(np.float64)  # what float32 holds exactly, so that all of these are the same numbers
    c = said(kind, truth(kind, y, 10), len(X))
    np.save(tmp_path / "X.npy", X)
    wide = np.zeros((len(X), 6))
    wide[:, ::3] = X
    expected = make(estimator).fit(X, constraints=c)
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
        assert_same(make(estimator).fit(variant, constraints=c), expected)


@each_kind
def test_sparse_data_agree_with_dense_where_they_are_taken(estimator, kind):
    if not estimator().__sklearn_tags__().input_tags.sparse:
        return
    X, y = blobs(10)
    X[X < 0] = 0.0
    c = said(kind, truth(kind, y, 10), len(X))
    a = make(estimator).fit(X, constraints=c)
    for form in (sp.csr_matrix, sp.csc_array, sp.coo_array):
        b = make(estimator).fit(form(X), constraints=c)
        assert_alike(a, b)
        if not hasattr(b, "predict"):
            continue
        assert_array_equal(b.predict(form(X)), b.predict(X))
        if hasattr(b, "transform"):
            assert_allclose(b.transform(form(X)), b.transform(X), atol=1e-6)


@each
def test_translation_rotation_and_scale_keep_the_partition(estimator):
    if "init" not in estimator._parameter_constraints:
        return  # starts are drawn by distances, which rounding changes
    X, y = blobs(11)
    c = said(Kind.MUST_LINK, truth(Kind.MUST_LINK, y, 11), len(X))
    turn = np.array([[0.6, -0.8], [0.8, 0.6]])
    start = X[:3]
    learns = {"form": "full"} if estimator.__name__ in LEARNS else {}
    a = make(estimator, init=start, **learns).fit(X, constraints=c)
    b = make(estimator, init=8.0 * (start @ turn) + 5.0, **learns).fit(8.0 * (X @ turn) + 5.0, constraints=c)
    assert_array_equal(a.labels_, b.labels_)


@each
@pytest.mark.parametrize("n", [1, 2, 5])
def test_degenerate_data_give_all_clusters(estimator, n):
    """One sample, as many clusters as samples, samples that are all equal, a constant feature."""
    rng = np.random.default_rng(0)
    for X in (np.zeros((n, 2)), np.column_stack([np.ones(n), rng.normal(size=n)]), rng.normal(size=(n, 1))):
        for k in range(1, n + 1):
            with warnings.catch_warnings(record=True) as heard:
                warnings.simplefilter("always")
                model = make(estimator, k).fit(X)
            found = sorted(set(model.labels_.tolist()))
            assert found == list(range(len(found)))
            told = [str(one.message) for one in heard if issubclass(one.category, LinkwiseWarning)]
            if len(found) < k:
                assert estimator.__name__ in MAY_BE_EMPTY
                assert any(f"instead of n_clusters={k}" in one for one in told)
            else:
                assert not told
            assert model.n_clusters_ == len(found)
            if hasattr(model, "cluster_centers_"):
                assert np.isfinite(model.cluster_centers_).all()


# -- foreign kinds --------------------------------------------------------------------------------------------------


@each
@pytest.mark.parametrize("kind", list(Kind), ids=lambda kind: kind.word)
def test_foreign_kinds_are_refused_by_name(estimator, kind):
    X, y = blobs(12)
    c = said(kind, truth(kind, y, 12), len(X))
    if kind in estimator.understands:
        assert make(estimator).fit(X, constraints=c).certificate_.n_statements == c.n_statements
        return
    with pytest.raises(UnsupportedConstraintError, match=f"{estimator.__name__} does not understand {kind.word}") as no:
        make(estimator).fit(X, constraints=c)
    assert no.value.kinds == (kind.word,)


@each
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_foreign_rules_are_refused_by_name(estimator, rule):
    X, _ = blobs(12)
    c = Constraints.build(len(X), rules=rule)
    name = type(rule).__name__
    if type(rule) in estimator.understands_rules:
        assert make(estimator).fit(X, constraints=c).certificate_.rules == ((rule, True),)
        return
    with pytest.raises(UnsupportedConstraintError, match=f"does not understand {name}") as no:
        make(estimator).fit(X, constraints=c)
    assert no.value.kinds == (name,)


# -- life cycle -----------------------------------------------------------------------------------------------------


@each_kind
def test_fitting_twice_cloning_and_saving(estimator, kind, tmp_path):
    X, y = blobs(13)
    c = said(kind, truth(kind, y, 13), len(X))
    model = make(estimator).fit(X, constraints=c)
    fresh = clone(model)
    assert not hasattr(fresh, "labels_")
    assert_same(fresh.fit(X, constraints=c), model)
    assert_same(fresh.fit(X[:5]).fit(X, constraints=c), model)
    assert_same(pickle.loads(pickle.dumps(model)), model)
    joblib.dump(model, tmp_path / "model.joblib")
    loaded = joblib.load(tmp_path / "model.joblib")
    assert_same(loaded, model)
    assert loaded.constraints_ == model.constraints_
    if hasattr(model, "predict"):
        assert_array_equal(loaded.predict(X), model.predict(X))


@each_kind
def test_predicting_samples_about_which_nothing_was_said_gives_their_labels(estimator, kind):
    if not hasattr(estimator, "predict"):
        return
    for seed in range(examples(5, 200)):
        X, y = blobs(seed, 60)
        rows = truth(kind, y, seed)
        model = make(estimator, 3, seed).fit(X, constraints=said(kind, rows, len(X)))
        free = np.setdiff1d(np.arange(len(X)), np.array(rows))
        assert len(free) > 20
        assert_array_equal(model.predict(X)[free], model.labels_[free])
        assert_array_equal(model.fit_predict(X, constraints=said(kind, rows, len(X))), model.labels_)


@each
def test_distances_to_centers_are_what_transform_gives(estimator):
    if not hasattr(estimator, "transform"):
        return
    X, _ = blobs(3)
    model = make(estimator, **LEARNS.get(estimator.__name__, {})).fit(X)
    away = np.sqrt(((X[:, None] - model.cluster_centers_) ** 2).sum(axis=2))
    assert_allclose(model.transform(X), away)
    assert list(model.get_feature_names_out()) == [f"{estimator.__name__.lower()}{i}" for i in range(3)]


@each
def test_new_rows_are_checked(estimator):
    if not hasattr(estimator, "predict"):
        return
    X, _ = blobs(3)
    model = make(estimator).fit(X)
    with pytest.raises(LinkwiseError, match="row 1, column 0"):
        model.predict([[0.0, 0.0], [np.nan, 0.0]])
    with pytest.raises(ValueError, match="2 features"):
        model.predict(np.zeros((3, 5)))


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
    with pytest.raises(ValueError, match="'n_clusters' parameter"):
        estimator(True).fit(np.eye(3)[:, :2])


@each
def test_every_fitted_attribute_is_documented(estimator):
    X, _ = blobs(16)
    model = make(estimator).fit(pd.DataFrame(X, columns=["a", "b"]))
    text = inspect.getdoc(estimator)
    from_sklearn = {"n_features_in_", "feature_names_in_"}
    fitted = {name for name in vars(model) if name.endswith("_")}
    assert [name for name in sorted(fitted - from_sklearn) if name not in text] == []
