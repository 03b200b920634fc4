"""Hard statements: they hold or an error explains, those that follow change nothing, and foreign ones are refused."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from linkwise import Constraints, Kind, close, verify
from linkwise.constraints import MaxCentroidDistance, MinSeparation, NeighborWithin, SizeBetween
from linkwise.exceptions import (
    DeadEndError,
    InfeasibleConstraintsError,
    LinkwiseError,
    LinkwiseWarning,
    UnsupportedConstraintError,
)
from tests.contract.agreement import assert_alike, count_broken
from tests.contract.cases import ALL, CLUSTERERS, TREE, each, fit
from tests.contract.discovery import blobs, table, truth
from tests.profile import examples

RULES = (MinSeparation(0.01), NeighborWithin(100.0), MaxCentroidDistance(100.0), SizeBetween(1))
# Statements of which one is of the kind, that contradict each other only all together.
OPPOSITE = {
    Kind.MUST_LINK: {"must_link": [(0, 1)], "cannot_link": [(0, 1)]},
    Kind.CANNOT_LINK: {"must_link": [(0, 1), (1, 2)], "cannot_link": [(0, 2)]},
    Kind.TRIPLET: {"triplets": [(0, 1, 2), (0, 2, 1)]},
    Kind.TOGETHER: {"cannot_link": [(0, 2)], "together": [(0, 1, 2)]},
    Kind.APART: {"must_link": [(0, 2)], "apart": [(0, 1, 2)]},
}


def takes_a_number(case):
    """Whether the number of clusters is a parameter."""
    return case.has("n_clusters")


@each(CLUSTERERS, "kind", "linkage")
def test_hard_statements_hold_or_the_break_is_reported(case, kind, linkage):
    for seed in range(examples(5, 300 if case.answers == TREE else 1000)):
        X, y = blobs(seed)
        rows = truth(kind, y, seed, m=20 if case.best_effort else 8)
        c = table(kind, rows, len(X))
        model = case.make(linkage=linkage, seed=seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, constraints=c)
        broken = count_broken(model, kind, rows)
        assert broken == 0 or case.best_effort
        certificate = verify(model.dendrogram_ if case.answers == TREE else model.labels_, c)
        assert len(certificate.violated) == broken
        assert model.certificate_.violated == certificate.violated
        assert model.certificate_.ok == (broken == 0)
        assert verify(model.labels_, c).ok or broken
        words = [str(one.message) for one in caught if one.category is LinkwiseWarning]
        start = f"{case.name} promises nothing and broke {broken} of {len(rows)} statements"
        assert [word.startswith(start) and "Hint: " in word for word in words] == [True] * (broken > 0)
        if case.best_effort and case.has("metric"):
            assert model.satisfied_ == pytest.approx(1 - broken / len(rows))
        if case.answers == TREE:
            assert_array_equal(model.dendrogram_.cut_marked(), model.labels_)
        elif takes_a_number(case):
            assert model.n_clusters_ == 3
        assert sorted(set(model.labels_.tolist())) == list(range(model.n_clusters_))


@each(CLUSTERERS, "kind", where=takes_a_number)
def test_statements_matter(case, kind):
    """Guard against statements so easy that a method which ignores them would pass."""
    broken = []
    for seed in range(10):
        X, y = blobs(seed)
        broken.append(count_broken(case.make(seed=seed, n_clusters=3).fit(X), kind, truth(kind, y, seed)))
    assert sum(count > 0 for count in broken) > 5


@each((TREE,), where=lambda case: case.best_effort)
def test_best_effort_breaks_some_triplets_but_fewer_than_without(case):
    without = after = 0
    for seed in range(10):
        X, y = blobs(seed)
        rows = truth(Kind.TRIPLET, y, seed, m=20)
        without += count_broken(case.make().fit(X), Kind.TRIPLET, rows)
        after += count_broken(fit(case.make(), X, table(Kind.TRIPLET, rows, len(X))), Kind.TRIPLET, rows)
    assert 0 < after < without


@each(CLUSTERERS, "kind")
def test_contradictions_are_explained(case, kind):
    X, _ = blobs(0)
    c = Constraints.build(len(X), **OPPOSITE[kind])
    with pytest.raises(InfeasibleConstraintsError, match="Hint: ") as caught:
        case.make().fit(X, constraints=c)
    assert caught.value.explanation.core == tuple(range(c.n_statements))


@pytest.mark.filterwarnings("ignore:greedy merging met a dead end")
@each(CLUSTERERS, "kind", where=takes_a_number)
def test_a_requested_number_of_clusters_is_met_or_explained(case, kind):
    few = ((1, 3, 7, 12), (2, 4, 11))  # each number by turns: a tree is cut, labels are a fit each
    for seed in range(examples(2, 100)):
        X, y = blobs(seed, 12)
        c = table(kind, truth(kind, y, seed, m=10), 12)
        for k in range(1, 13) if case.answers == TREE else few[seed % 2]:
            try:
                model = fit(case.make(n_clusters=k, seed=seed), X, c)
            except (InfeasibleConstraintsError, DeadEndError) as no:
                error = no
            else:
                assert model.n_clusters_ == k
                assert sorted(set(model.labels_.tolist())) == list(range(k))
                assert verify(model.labels_, c).ok or (case.best_effort and model.certificate_.violated)
                continue
            assert error.k_min > k if isinstance(error, DeadEndError) else error.explanation.core
            assert not (case.best_effort and kind is Kind.TRIPLET)  # their trees can be cut anywhere


@each(CLUSTERERS, where=takes_a_number)
def test_more_clusters_than_samples_are_refused(case):
    with pytest.raises(LinkwiseError, match="n_clusters=5, but X has only n_samples=4"):
        case.make(n_clusters=5).fit(np.eye(4))


@each(CLUSTERERS, where=lambda case: takes_a_number(case) and Kind.CANNOT_LINK in case.kinds)
def test_a_clique_larger_than_the_number_of_clusters_is_explained(case):
    """A peer accepts this in silence."""
    X, _ = blobs(1)
    c = Constraints.build(len(X), cannot_link=[(0, 1), (0, 2), (1, 2)])
    with pytest.raises(InfeasibleConstraintsError, match="at least 3 clusters"):
        case.make(n_clusters=2).fit(X, constraints=c)


# -- statements that follow --------------------------------------------------------------------------------------------


@each(CLUSTERERS, "kind", "linkage", where=lambda case: case.answers != TREE or not case.best_effort)
def test_statements_that_follow_change_nothing(case, kind, linkage):
    if kind is Kind.TRIPLET and (case.counts_triplets or case.searches):
        return  # each triplet is evidence of its own, also one that holds in the tree anyway; or it turns a search
    for seed in range(examples(2, 200)):
        X, y = blobs(seed)
        c = table(kind, truth(kind, y, seed), len(X))
        model = case.make(linkage=linkage, seed=seed)
        once = fit(model, X, c)
        if kind is Kind.TRIPLET:
            more = c | table(kind, once.dendrogram_.triplets(minimal=True).of(kind)[::2], len(X))
        else:
            more = close(c)
        assert_alike(once, fit(model, X, more), rtol=1e-9)


def clearly(X, a, b, c):
    """Whether a and b are much closer to each other than to c."""
    return np.linalg.norm(X[a] - X[b]) < 0.8 * min(np.linalg.norm(X[a] - X[c]), np.linalg.norm(X[b] - X[c]))


@each((TREE,), "linkage", where=lambda case: case.best_effort and case.has("metric"))
def test_triplets_of_the_plain_tree_that_distances_agree_with_change_nothing(case, linkage):
    for seed in range(examples(4, 200)):
        X, _ = blobs(seed)
        model = case.make(linkage=linkage)
        once = fit(model, X)
        more = [row for row in once.dendrogram_.triplets().of(Kind.TRIPLET).tolist() if clearly(X, *row)][::5]
        assert more
        assert_alike(once, fit(model, X, table(Kind.TRIPLET, more, len(X))), rtol=1e-9)


@each(CLUSTERERS, "kind")
def test_stating_twice_changes_nothing(case, kind):
    X, y = blobs(5)
    rows = truth(kind, y, 5)
    once = fit(case.make(), X, table(kind, rows, len(X)))
    twice = fit(case.make(), X, table(kind, rows + [(b, a, *c) for a, b, *c in rows], len(X)))
    assert_array_equal(once.labels_, twice.labels_)
    if case.answers == TREE:
        assert_array_equal(once.dendrogram_.parent, twice.dendrogram_.parent)


# -- foreign statements ------------------------------------------------------------------------------------------------


@each(ALL)
def test_foreign_kinds_are_refused_by_name(case):
    X, y = blobs(12)
    taken = case.kinds | case.estimator.resolves
    for kind in Kind:
        c = table(kind, truth(kind, y, 12), len(X))
        if kind not in taken:
            with pytest.raises(UnsupportedConstraintError, match=f"{case.name} does not understand {kind.word}") as no:
                case.make().fit(X, constraints=c)
            assert no.value.kinds == (kind.word,)
        elif case.answers in CLUSTERERS:
            assert fit(case.make(), X, c).certificate_.n_statements == c.n_statements


@each(ALL)
def test_foreign_rules_are_refused_by_name(case):
    X, _ = blobs(12)
    for rule in RULES:
        c, name = Constraints.build(len(X), rules=rule), type(rule).__name__
        if type(rule) in case.rules | case.estimator.resolves_rules:
            assert case.make().fit(X, constraints=c).certificate_.rules == ((rule, True),)
            continue
        with pytest.raises(UnsupportedConstraintError, match=f"does not understand {name}") as no:
            case.make().fit(X, constraints=c)
        assert no.value.kinds == (name,)
