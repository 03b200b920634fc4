"""The facts of a report, computed again from their definitions."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import adjusted_rand_score

from linkwise import ConstrainedAgglomerative, Constraints, Dendrogram, ReCon, check, cluster, repair
from linkwise.active import Query
from linkwise.exceptions import LinkwiseError
from linkwise.plots import match_labels
from linkwise.report import gather_facts
from linkwise.report._profiles import profile

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 5)) + 4 * (np.arange(40) % 3)[:, None] * np.array([1, 1, 0, 0, -1])
LABELS = np.arange(40) % 3
SAID = Constraints.build(40, must_link=[(0, 4), (1, 2)], cannot_link=[(3, 6), (0, 1)], triplets=[(0, 3, 1), (5, 6, 7)])


def branches(tree):
    below = [{i} for i in range(tree.n_samples)] + [set() for _ in range(tree.n_nodes - tree.n_samples)]
    for node, above in enumerate(tree.parent.tolist()):
        if above >= 0:
            below[above] |= below[node]
    return {frozenset(s) for s in below if 1 < len(s) < tree.n_samples}


@pytest.fixture(scope="module")
def fitted():
    plain = ConstrainedAgglomerative(4, linkage="average").fit(X)
    return plain, ReCon(4).fit(X, constraints=SAID)


def test_traits_are_standardized_differences_of_means_the_largest_first():
    facts = gather_facts(LABELS, X=X, features=list("abcde"))
    for cluster_ in facts.clusters:
        mean = X[cluster_.label == LABELS].mean(axis=0)
        difference = (mean - X.mean(axis=0)) / X.std(axis=0)
        wanted = [j for j in np.argsort(-np.abs(difference)) if abs(difference[j]) >= 0.2]
        assert [t.feature for t in cluster_.traits] == ["abcde"[j] for j in wanted][:6]
        assert [t.difference for t in cluster_.traits] == pytest.approx(difference[wanted].tolist())
        assert [t.mean for t in cluster_.traits] == pytest.approx(mean[wanted].tolist())


def test_terms_of_texts_are_those_that_are_more_frequent():
    dense = np.where(RNG.random((40, 12)) < 0.2, RNG.random((40, 12)), 0.0)
    dense[LABELS == 1, 3] = 5.0
    facts = gather_facts(LABELS, X=scipy.sparse.csr_array(dense), features=[f"term{j}" for j in range(12)])
    assert facts.texts
    assert facts.clusters[1].traits[0].feature == "term3"
    assert all(t.difference > 0 for c in facts.clusters for t in c.traits)


def test_constant_features_distinguish_nothing():
    facts = gather_facts(LABELS, X=np.column_stack([np.full(40, 1e9), X[:, 0]]))
    assert all(t.feature != "feature 0" for c in facts.clusters for t in c.traits)


@pytest.mark.parametrize("metric", ["euclidean", "cosine", "precomputed"])
def test_margins_and_exemplars_follow_their_definition(metric):
    table = X
    if metric == "precomputed":
        table = np.sqrt(((X[:, None] - X[None]) ** 2).sum(-1))
    found = profile(table, LABELS, metric, None)
    rows = X / np.linalg.norm(X, axis=1)[:, None] if metric == "cosine" else X
    for i in range(40):
        away = {}
        for label in range(3):
            others = [j for j in range(40) if LABELS[j] == label]
            if metric == "precomputed":
                away[label] = np.mean([table[i, j] for j in others if j != i])
            else:
                away[label] = np.linalg.norm(rows[i] - rows[others].mean(axis=0))
        own = away.pop(int(LABELS[i]))
        nearest = min(away, key=away.get)
        assert found.other[i] == nearest
        assert found.margin[i] == pytest.approx((away[nearest] - own) / max(own, away[nearest]))
    if metric == "euclidean":
        for label, typical in enumerate(found.exemplars):
            members = np.flatnonzero(label == LABELS)
            center = X[members].mean(axis=0)
            closest = members[np.argsort(np.linalg.norm(X[members] - center, axis=1))][:5]
            assert list(typical) == closest.tolist()


def test_the_doubtful_are_those_with_the_smallest_margins():
    facts = gather_facts(LABELS, X=X, constraints=SAID)
    margin = profile(X, LABELS, "euclidean", None).margin
    assert [d.margin for d in facts.doubtful] == sorted(margin.tolist())[: len(facts.doubtful)]
    named = {str(i): int((SAID.items == i).sum()) for i in range(40)}
    assert [d.statements for d in facts.doubtful] == [named[d.name] for d in facts.doubtful]


@pytest.mark.parametrize("seed", range(20))
def test_clusters_are_matched_so_that_fewest_samples_move(seed):
    rng = np.random.default_rng(seed)
    k_old, k_new = rng.integers(1, 5, size=2)
    old, new = rng.integers(k_old, size=15), rng.integers(k_new, size=15)
    moved = int((match_labels(old, new) != new).sum())
    kinds = np.unique(new).tolist() + [-1 - i for i in range(4)]
    olds = np.unique(old)
    fewest = min(
        int((np.array([dict(zip(olds, names, strict=False))[o] for o in old]) != new).sum())
        for names in permutations(kinds, len(olds))
    )
    assert moved == fewest
    renamed = match_labels(old, new)
    assert adjusted_rand_score(renamed, old) == 1.0 or len(set(old.tolist())) == 1  # only names have changed


def test_the_comparison_is_what_the_two_results_say(fitted):
    plain, model = fitted
    found = gather_facts(model, constraints=SAID, before=plain).comparison
    assert found.adjusted_rand == pytest.approx(adjusted_rand_score(plain.labels_, model.labels_))
    assert sum(flow.size for flow in found.flows) == 40
    assert sum(flow.size for flow in found.flows if flow.before != flow.after) == found.n_moved
    assert len(found.moves) == found.n_moved
    old, new = branches(plain.dendrogram_), branches(model.dendrogram_)
    assert (found.branches_kept, found.n_branches) == (len(old & new), len(old))
    labels = plain.labels_
    before = []
    for kind, (a, b, _) in zip(SAID.kind, SAID.items, strict=True):
        before.append((labels[a] == labels[b]) == (kind == 0))
    before[4:] = plain.dendrogram_.satisfies(SAID)[4:]
    assert found.held_before == sum(before)
    assert found.held_after == 6
    assert [c.text for c in found.changes] == [SAID.describe(i) for i in range(6) if not before[i]]
    for change in found.changes:
        i = next(i for i in range(6) if SAID.describe(i) == change.text)
        a, b = SAID.items[i, :2]
        assert change.height_before == plain.dendrogram_.cophenetic(a, b)


def test_the_same_result_before_and_after_changes_nothing(fitted):
    plain, _ = fitted
    found = gather_facts(plain, before=plain).comparison
    assert (found.n_moved, found.adjusted_rand, found.n_changes) == (0, 1.0, 0)
    assert found.branches_kept == found.n_branches


def test_labels_alone_and_the_front_door_can_be_reported():
    facts = gather_facts([0, 0, 1], constraints=Constraints.build(3, must_link=[(0, 1)]), before=[0, 1, 1])
    assert facts.sketch is None
    assert facts.n_broken == 0
    assert facts.comparison.changes[0].height_before is None
    found = cluster(X, SAID, 4)
    facts = gather_facts(found, X=X)
    assert facts.reasons == found.reasons
    assert facts.n_statements == SAID.n_statements


def test_explanations_repairs_and_queries_are_told_in_words():
    said = Constraints.build(4, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)])
    why, fixed = check(said).explanation, repair(said)
    facts = gather_facts(
        [0, 0, 1, 1],
        constraints=fixed.kept,
        conflicts=[why],
        repair=fixed,
        ids=["w", "x", "y", "z"],
        questions=[Query((0, 3)), "Anything else?", *[Query((0, 1, 2))] * 9],
    )
    assert facts.conflicts[0].statements == why.lines
    assert facts.conflicts[0].suspects == why.fixes
    assert facts.repairs == fixed.because
    assert facts.questions[:2] == ("Do w and z belong together?", "Anything else?")
    assert len(facts.questions) == 5


def test_soft_statements_that_were_left_out_are_told():
    said = Constraints.build(40, must_link=[(0, 1)]) | Constraints.build(40, cannot_link=[(0, 1)], weight=1.0)
    with pytest.warns(UserWarning, match="left out"):
        model = ConstrainedAgglomerative(2).fit(X, constraints=said)
    facts = gather_facts(model, constraints=said)
    assert facts.repairs == ("#1 cannot_link(0, 1) weight 1",)
    assert (facts.n_soft, facts.n_broken) == (1, 0)


@pytest.mark.parametrize(
    ("wrong", "match"),
    [
        ({"X": X[:3]}, "X has 3 rows"),
        ({"X": X, "features": ["a"]}, "features has 1 names, but X has 5"),
        ({"X": X, "metric": "precomputed"}, "expected square"),
        ({"before": [0, 1]}, "before has 2 samples"),
        ({"ids": ["a"]}, "ids has 1 entries"),
        ({"labels": [0]}, "labels has shape"),
    ],
)
def test_what_does_not_fit_is_refused(wrong, match):
    with pytest.raises(LinkwiseError, match=match):
        gather_facts(Dendrogram.from_merges(40, _chain(40), np.arange(1.0, 40)), **{"labels": LABELS, **wrong})


def _chain(n):
    return np.column_stack([np.r_[0, n + np.arange(n - 2)], np.arange(1, n)])


def test_pandas_columns_name_the_features():
    import pandas as pd

    facts = gather_facts(LABELS, X=pd.DataFrame(X, columns=list("vwxyz")))
    assert {t.feature for c in facts.clusters for t in c.traits} <= set("vwxyz")
