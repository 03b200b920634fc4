"""IHAC, BiHAC and BiiHAC as estimators: what they learn, what they tell, and text as it comes from a vectorizer."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from numpy.testing import assert_array_equal
from sklearn.exceptions import NotFittedError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from linkwise import Constraints, ReCon, Taxonomy
from linkwise.engines import IHAC, BiHAC, BiiHAC
from linkwise.engines.hierarchical.biased import _estimators
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError, LinkwiseWarning, MemoryLimitError
from linkwise.metrics import h_correlation

TEXTS = [f"{color} {thing}" for color in ("red", "green", "blue") for thing in ("apple", "car", "house")]
# what is blue is left out, so that no statement is about it
THINGS = Taxonomy.from_paths([None if "blue" in text else text.split()[1] for text in TEXTS])


@pytest.fixture(scope="module")
def news():
    """Texts on four topics in two fields, told in one of five styles; a style has louder words than a topic."""
    rng = np.random.default_rng(0)
    topic, style = np.arange(160) % 4, rng.integers(5, size=160)
    counts = np.zeros((160, 200))
    for i in range(160):
        counts[i] += rng.multinomial(30, np.full(200, 1 / 200))
        counts[i, 10 * topic[i] : 10 * topic[i] + 10] += rng.poisson(0.7, 10)
        counts[i, 40 + 10 * (topic[i] // 2) : 50 + 10 * (topic[i] // 2)] += rng.poisson(0.5, 10)
        counts[i, 60 + 10 * style[i] : 70 + 10 * style[i]] += rng.poisson(1.2, 10)
    parent, node = [-1, 0, 0, 1, 1, 2, 2], topic + 3
    known = np.where(np.arange(160) < 40, node, -1)
    return sp.csr_array(counts), Taxonomy(parent, node), Taxonomy(parent, known).triplets()


def quietly(model, X, constraints):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        return model.fit(X, constraints=constraints)


def test_what_is_broken_is_counted_merge_by_merge(news):
    X, _, said = news
    for estimator in (IHAC, BiHAC, BiiHAC):
        for linkage in ("average", "centroid"):
            options = {} if estimator is IHAC else {"max_iter": 4, "learning_rate": 2.0, "error_weights": "uniform"}
            model = quietly(estimator(6, linkage=linkage, **options), X, said)
            assert_array_equal(model.labels_, model.dendrogram_.cut(n_clusters=6))
            assert model.broken_.sum() == len(model.certificate_.violated)
            if options:
                assert len(model.objectives_) == len(model.steps_) == model.n_iter_
                if estimator is BiHAC:
                    assert model.objective_ == model.objectives_.min()


def test_contradictions_are_explained():
    said = Constraints.build(3, triplets=[(0, 1, 2), (0, 2, 1)])
    for estimator in (IHAC, BiHAC, BiiHAC):
        with pytest.raises(InfeasibleConstraintsError) as caught:
            estimator().fit(np.eye(3), constraints=said)
        assert caught.value.explanation.core == (0, 1)


@pytest.mark.parametrize(
    "options",
    [
        {"linkage": "ward"},
        {"error_weights": "triples"},
        {"max_iter": 0},
        {"n_iter_no_change": 0},
        {"learning_rate": -1.0},
        {"learning_rate": np.inf},
        {"tol": np.nan},
    ],
)
def test_wrong_options_are_named(options):
    with pytest.raises(ValueError, match=f"The '{next(iter(options))}' parameter of BiHAC must be"):
        BiHAC(**options).fit(np.eye(3))


def test_statements_help_on_samples_nobody_spoke_about(news):
    X, truth, said = news
    first = quietly(BiHAC(max_iter=1), X, said)
    models = {cls: quietly(cls(), X, said) for cls in (IHAC, BiHAC, BiiHAC)}
    plain = h_correlation(truth, first.dendrogram_)
    assert min(h_correlation(truth, model.dendrogram_) for model in models.values()) > plain + 0.05
    heavy = models[BiHAC].feature_weights_
    assert heavy[:60].mean() > 1.2 * heavy[60:110].mean()  # words of topics and fields against those of styles
    assert models[BiHAC].objective_ < first.objective_


def test_a_learned_term_has_a_name():
    words = TfidfVectorizer()
    X = words.fit_transform(TEXTS)
    said = THINGS.triplets()
    for estimator in (BiHAC, BiiHAC):
        model = estimator(3, learning_rate=0.5).fit(X, constraints=said)
        assert model.certificate_.ok
        assert {name for name, _ in model.top_features(3, names=words)} == {"apple", "car", "house"}
        assert model.top_features(3, names=words.get_feature_names_out()) == model.top_features(3, names=words)
        assert model.labels_.tolist() == [0, 1, 2] * 3  # what is blue too
        weights = [weight for _, weight in model.top_features(99)]
        assert weights == sorted(weights, reverse=True)
        assert len(weights) == X.shape[1]


def test_names_come_from_a_data_frame_or_are_numbers():
    said = Constraints.build(4, triplets=[(0, 2, 1)])
    X = np.array([[4.0, 0.0, 1.0], [3.0, 1.0, 0.0], [0.0, 4.0, 0.9], [1.0, 4.0, 0.0]])
    assert BiHAC(learning_rate=0.3).fit(X, constraints=said).top_features(1)[0][0] == 2
    model = BiHAC(learning_rate=0.3).fit(pd.DataFrame(X, columns=["a", "b", "c"]), constraints=said)
    assert model.top_features(1)[0][0] == "c"
    with pytest.raises(LinkwiseError, match="2 names for 3 features"):
        model.top_features(names=["a", "b"])
    with pytest.raises(NotFittedError, match="learned no weights"):
        BiHAC().top_features()


def test_text_goes_through_a_pipeline():
    pipe = make_pipeline(TfidfVectorizer(), BiiHAC(3, learning_rate=0.5))
    pipe.fit(TEXTS, biihac__constraints=THINGS.triplets())
    assert pipe[-1].labels_.tolist() == [0, 1, 2] * 3
    assert pipe[-1].top_features(1, names=pipe[:-1])[0][0] in {"apple", "car", "house"}


def test_a_warning_tells_how_many_statements_are_broken(news):
    X, _, said = news
    with pytest.warns(LinkwiseWarning, match=r"BiHAC promises nothing and broke [\d,]+ of [\d,]+ statements") as caught:
        model = BiHAC(max_iter=2).fit(X, constraints=said)
    assert not model.certificate_.ok
    assert f"{len(model.certificate_.violated):,} of {said.n_statements:,}" in str(caught[0].message)
    assert caught[0].filename == __file__


def test_it_ends_when_nothing_improves(news):
    X, _, said = news
    long = quietly(BiHAC(max_iter=30), X, said)
    short = quietly(BiHAC(max_iter=30, n_iter_no_change=2), X, said)
    best = np.minimum.accumulate(long.objectives_)
    stop = next(i for i in range(2, 30) if best[i] == best[i - 2]) + 1
    assert short.n_iter_ == stop
    assert_array_equal(short.objectives_, long.objectives_[:stop])
    assert quietly(BiHAC(max_iter=30, tol=1e9), X, said).n_iter_ == 1


def test_thousands_of_terms_are_never_spread_out(monkeypatch):
    X = sp.random_array((60, 40_000), density=0.001, format="csr", rng=np.random.default_rng(0))
    monkeypatch.setattr(sp.csr_array, "toarray", lambda *_: pytest.fail("spread out"))
    model = BiHAC(3, max_iter=2).fit(X, constraints=Constraints.build(60, triplets=[(0, 1, 2)], weight=0.5))
    assert model.feature_weights_.shape == (40_000,)


def test_too_many_samples_are_refused_before_anything_is_allocated(monkeypatch):
    monkeypatch.setattr("linkwise._memory.available_memory", lambda: 10**6)
    with pytest.raises(MemoryLimitError, match="similarities needs"):
        IHAC().fit(sp.csr_array((10_000, 3)))


@pytest.mark.parametrize("method", [BiHAC, BiiHAC, IHAC])
def test_the_closure_of_few_triplets_counts_as_all_triplets_of_the_hierarchy(method):
    rng = np.random.default_rng(3)
    folders = ["a/x", "a/x", "a/y", "a/y", "b", "b", "b/z", "b/z", None, None, None, None]
    known = Taxonomy.from_paths([None if path is None else f"all/{path}" for path in folders])
    X = rng.random((12, 5))
    options = {} if method is IHAC else {"learning_rate": 0.05, "max_iter": 3}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        closed = method(closure=True, **options).fit(X, constraints=known.triplets(minimal=True))
        every = method(**options).fit(X, constraints=known.triplets())
    assert closed.constraints_.n_statements < every.constraints_.n_statements
    assert_array_equal(closed.dendrogram_.parent, every.dendrogram_.parent)
    assert_array_equal(closed.broken_, every.broken_)


def test_a_closure_that_is_too_large_is_refused_with_a_way_out(monkeypatch):
    known = Taxonomy.from_paths(["all/x", "all/x", "all/x", "all/y", "all/y", "all/y"]).triplets(minimal=True)
    X = np.eye(6)
    assert IHAC(closure=True).fit(X, constraints=known).certificate_.ok
    monkeypatch.setattr(_estimators, "MOST_TRIPLETS", 17)
    refusal = r"IHAC\(closure=True\): .* 18 triplets are entailed, more than 17.\nHint: with closure=False the given"
    with pytest.raises(LinkwiseError, match=refusal):
        IHAC(closure=True).fit(X, constraints=known)
    monkeypatch.setattr(_estimators, "MOST_SAMPLES", 5)
    with pytest.raises(LinkwiseError, match=r"BiiHAC\(closure=True\): the hard statements name 6 samples"):
        BiiHAC(closure=True).fit(X, constraints=known)


def test_on_texts_bihac_breaks_statements_that_recon_keeps():
    draw = np.random.default_rng(0)
    X = sp.csr_array(draw.poisson(0.15, size=(60, 120)).astype(float)) + sp.csr_array(np.eye(60, 120))
    said = Taxonomy.from_paths([f"{i % 2}/{i % 6}" if i < 30 else None for i in range(60)]).triplets(minimal=True)
    with pytest.warns(LinkwiseWarning):
        broken = int((~BiHAC(6).fit(X, constraints=said).certificate_.held).sum())
    assert broken > 0.1 * said.n_statements
    assert ReCon(6, linkage="average").fit(X, constraints=said).certificate_.ok
