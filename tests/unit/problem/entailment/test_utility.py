"""utility(): the expected benefit of statements before they are used."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from linkwise import Constraints, Dendrogram, Kind, close, verify
from linkwise.exceptions import LinkwiseError
from linkwise.problem import utility
from linkwise.problem.entailment import _utility
from tests.oracles.entailment import coherence
from tests.profile import examples


def statements(rng, n, kinds):
    said = []
    for word in kinds:
        size = 3 if word == "triplet" else 2
        said += [(word, *rng.choice(n, size=size, replace=False).tolist()) for _ in range(rng.integers(0, 7))]
    return said


@pytest.mark.parametrize("kinds", [("must_link", "cannot_link"), ("triplet",), ("must_link", "cannot_link", "triplet")])
def test_coherence_is_the_share_of_forces_that_do_not_overlap(kinds):
    rng = np.random.default_rng(0)
    seen = set()
    for case in range(examples(60, 2000)):
        n, d = int(rng.integers(3, 10)), int(rng.integers(1, 4))
        X = (
            rng.integers(0, 4, (n, d)).astype(float)
            if case % 2
            else rng.normal(size=(n, d)) * 10.0 ** rng.integers(-3, 4)
        )
        said = statements(rng, n, kinds)
        if case % 2 == 0:
            X /= np.abs(X).max()  # the twin compares lengths with a fixed small number
        found = utility(Constraints.from_ids(range(n), said), X)
        expected = coherence(X.tolist(), said)
        assert found.coherence_exact
        assert np.isnan(found.coherence) if expected is None else found.coherence == pytest.approx(expected, abs=1e-12)
        seen.add(expected)
    assert len(seen) > 10


def test_coherence_does_not_depend_on_place_turn_or_scale():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(30, 3))
    pairs = rng.permutation(30).reshape(-1, 2)
    c = Constraints.build(30, must_link=pairs[:7], cannot_link=pairs[7:])
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    first = utility(c, X).coherence
    assert 0 < first < 1
    assert utility(c, 1e-6 * X @ turn + 3.0).coherence == first


def test_a_sample_of_the_pairs_is_close_to_all_of_them(monkeypatch):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 2))
    c = Constraints.build(
        200, must_link=rng.permutation(200).reshape(-1, 2), triplets=rng.permutation(198).reshape(-1, 3), weight=1.0
    )
    exact = utility(c, X)
    monkeypatch.setattr(_utility, "_MOST_WORK", 10)
    monkeypatch.setattr(_utility, "_DRAWN", 40_000)
    sampled = utility(c, X, random_state=5)
    assert not sampled.coherence_exact
    assert sampled.coherence == utility(c, X, random_state=5).coherence
    assert abs(sampled.coherence - exact.coherence) < 5 * 0.5 / np.sqrt(40_000)
    assert "from a sample" in str(sampled)


def test_informativeness_is_the_share_the_result_breaks():
    rng = np.random.default_rng(3)
    for _ in range(examples(30, 500)):
        n = int(rng.integers(3, 10))
        said = statements(rng, n, ("must_link", "cannot_link", "triplet"))
        c = Constraints.from_ids(range(n), said)
        labels = rng.integers(0, 3, n)
        found = utility(c, rng.normal(size=(n, 2)), result=labels).informativeness
        if not said:
            assert np.isnan(found)
            continue
        same = {(a, b): labels[a] == labels[b] for a in range(n) for b in range(n)}
        broken = 0
        for word, a, b, *rest in said:
            if word == "triplet":
                broken += same[a, rest[0]] != same[b, rest[0]]
            else:
                broken += same[a, b] != (word == "must_link")
        assert found == pytest.approx(broken / len(said))


def test_the_result_may_be_a_function_or_a_hierarchy():
    c = Constraints.build(4, triplets=[(0, 1, 2), (0, 2, 1)], weight=1.0)
    X = np.arange(4.0)[:, None]
    tree = Dendrogram.from_merges(4, [(0, 1), (4, 2), (5, 3)], [1.0, 2.0, 3.0])
    assert utility(c, X, result=tree).informativeness == 0.5
    assert utility(c, X, result=lambda data: (data[:, 0] > 1).astype(int)).informativeness == 0.5
    pairs = Constraints.build(4, cannot_link=[(0, 3)])
    with pytest.raises(LinkwiseError, match=r"marked cut[\s\S]*Hint: pass labels"):
        utility(pairs, X, result=tree)
    assert utility(pairs, X, result=tree.cut(n_clusters=2)).informativeness == 0.0


def test_coverage_counts_samples_parts_and_pairs():
    rng = np.random.default_rng(4)
    for _ in range(examples(30, 500)):
        n = int(rng.integers(3, 12))
        y = rng.integers(0, 3, n)
        pairs = [(a, b) for a, b in combinations(range(n), 2) if rng.random() < 0.2]
        must = [p for p in pairs if y[p[0]] == y[p[1]]]
        cannot = [p for p in pairs if y[p[0]] != y[p[1]]]
        c = Constraints.build(n, must_link=must, cannot_link=cannot)
        found = utility(c, np.zeros((n, 1)))
        assert found.coverage == pytest.approx(len({x for p in pairs for x in p}) / n)
        assert found.decided == pytest.approx(close(c).n_statements / (n * (n - 1) / 2))
        assert found.feasible
    apart = Constraints.build(9, must_link=[(0, 1)], triplets=[(2, 3, 4), (4, 5, 6)])
    assert utility(apart, np.zeros((9, 1))).n_parts == 2


@pytest.mark.parametrize(
    ("c", "result", "start"),
    [
        (Constraints.build(4), None, "There are no statements"),
        (Constraints.build(4, must_link=[(0, 1)], cannot_link=[(0, 1)]), None, "Not as they are"),
        (Constraints.build(4, must_link=[(0, 1)]), None, "Unknown: pass result="),
        (
            Constraints.build(4, must_link=[(0, 3)], cannot_link=[(1, 2)]),
            None,
            "Unknown without result=; the statements pull",
        ),
        (Constraints.build(4, must_link=[(0, 1)]), [0, 0, 1, 1], "Unlikely to change much"),
        (Constraints.build(4, must_link=[(0, 3)], cannot_link=[(1, 2)]), [0, 0, 1, 1], "May harm"),
        (Constraints.build(4, must_link=[(1, 2)]), [0, 0, 1, 1], "Likely to help"),
    ],
)
def test_the_verdict_says_what_to_expect(c, result, start):
    found = utility(c, [[0.0], [1.0], [2.0], [3.0]], result=result)
    assert found.verdict.startswith(start)
    assert str(found).startswith(start)


def test_data_that_does_not_fit_is_refused():
    c = Constraints.build(3, must_link=[(0, 1)])
    for X in ([[0.0], [1.0]], [0.0, 1.0, 2.0], [[0.0], [np.nan], [1.0]]):
        with pytest.raises(LinkwiseError, match="3 rows of finite numbers"):
            utility(c, X)
    with pytest.raises(LinkwiseError, match="expected Constraints"):
        utility([(0, 1)], [[0.0], [1.0]])


def test_broken_statements_agree_with_the_certificate():
    rng = np.random.default_rng(6)
    c = Constraints.build(50, must_link=rng.permutation(50).reshape(-1, 2))
    labels = rng.integers(0, 3, 50)
    certificate = verify(labels, c)
    assert utility(c, rng.normal(size=(50, 2)), result=labels).informativeness == 1 - certificate.held.mean()


# -- groups ------------------------------------------------------------------------------------------------------------


def written_out(c):
    """The same statements with groups as all their pairs."""
    pairs = {"must_link": [], "cannot_link": []}
    for kind, word, of in ((Kind.TOGETHER, "must_link", Kind.MUST_LINK), (Kind.APART, "cannot_link", Kind.CANNOT_LINK)):
        groups = c.groups_of(kind)
        pairs[word] = c.of(of).tolist() + [
            pair for g in range(len(groups.statement)) for pair in combinations(groups.of(g).tolist(), 2)
        ]
    return Constraints.build(c.n_samples, **pairs, triplets=c.of(Kind.TRIPLET))


def test_groups_count_as_all_their_pairs():
    rng = np.random.default_rng(0)
    seen = set()
    for _ in range(examples(60, 600)):
        n = int(rng.integers(6, 14))
        pick = lambda size, n=n: rng.choice(n, size, replace=False).tolist()  # noqa: E731
        c = Constraints.build(
            n,
            must_link=[pick(2) for _ in range(rng.integers(0, 2))],
            cannot_link=[pick(2) for _ in range(rng.integers(0, 3))],
            together=[pick(3) for _ in range(rng.integers(0, 3))],
            apart=[pick(int(rng.integers(2, 6))) for _ in range(rng.integers(0, 4))],
        )
        X = rng.normal(size=(n, 2))
        one, other = utility(c, X), utility(written_out(c), X)
        assert (one.coverage, one.n_parts, one.feasible) == (other.coverage, other.n_parts, other.feasible)
        if one.feasible:  # a contradiction decides nothing, in either form
            assert one.decided == pytest.approx(other.decided)
        seen.add(round(one.decided, 2))
    assert len(seen) > 10


def test_groups_pull_and_push_as_their_pairs_do():
    rng = np.random.default_rng(1)
    c = Constraints.build(
        12, together=[[0, 1, 2], [3, 4, 5, 6]], apart=[[0, 3, 7, 8], [1, 9, 10]], cannot_link=[(2, 11)]
    )
    X = rng.normal(size=(12, 3))
    assert utility(c, X).coherence == pytest.approx(utility(written_out(c), X).coherence)
    assert utility(c, X).coherence_exact


def test_large_groups_are_sampled(monkeypatch):
    rng = np.random.default_rng(2)
    c = Constraints.build(60, together=[range(20)], apart=[range(20, 60)])
    X = rng.normal(size=(60, 2))
    exact = utility(c, X)
    monkeypatch.setattr(_utility, "_MOST_PAIRS", 150)
    drawn = utility(c, X)
    assert exact.coherence_exact
    assert not drawn.coherence_exact
    assert drawn.coherence == pytest.approx(exact.coherence, abs=0.15)


def test_choices_name_samples_and_decide_nothing():
    found = utility(Constraints.build(5, must_link_any=[[0, 1, 2]]), np.zeros((5, 1)))
    assert (found.coverage, found.n_parts, found.decided) == (0.6, 1, 0.0)


def test_pairs_are_not_counted_where_large_groups_overlap_too_much(monkeypatch):
    monkeypatch.setattr(_utility, "_MOST_OVERLAP", 3)
    found = utility(Constraints.build(5, apart=[[0, 1, 2], [0, 1, 3]]), np.zeros((5, 1)))
    assert np.isnan(found.decided)
    assert found.counts == "4 of 5 samples named, in 1 connected part"
