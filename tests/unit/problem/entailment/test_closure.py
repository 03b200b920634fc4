"""close(), and the pairs that distances entail."""

from __future__ import annotations

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from linkwise import Constraints, close
from linkwise.constraints import Kind
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem import must_links_within, neighbors_within
from linkwise.problem.entailment import _closure
from tests.oracles import generators, relative
from tests.oracles.entailment import bits, entailed, statements, worlds
from tests.profile import examples


def test_closure_is_all_pairs_inside_and_between_linked_components():
    rng = np.random.default_rng(0)
    for _ in range(examples(14, 500)):
        n = int(rng.integers(2, 15))
        y = rng.integers(0, 4, n)
        pairs = [(a, b) for a, b in combinations(range(n), 2) if rng.random() < 0.2]
        must = [(a, b) for a, b in pairs if y[a] == y[b]]
        cannot = [(a, b) for a, b in pairs if y[a] != y[b]]
        closed = close(Constraints.build(n, must_link=must, cannot_link=cannot))
        graph = nx.Graph(must)
        graph.add_nodes_from(range(n))
        group = {x: i for i, part in enumerate(nx.connected_components(graph)) for x in part}
        apart = {frozenset((group[a], group[b])) for a, b in cannot}
        assert {tuple(p) for p in closed.of(Kind.MUST_LINK).tolist()} == {
            p for p in combinations(range(n), 2) if group[p[0]] == group[p[1]]
        }
        assert {tuple(p) for p in closed.of(Kind.CANNOT_LINK).tolist()} == {
            p for p in combinations(range(n), 2) if frozenset((group[p[0]], group[p[1]])) in apart
        }
        assert close(closed).n_statements == closed.n_statements


def test_soft_statements_and_triplets_are_kept_and_not_reasoned_from():
    c = Constraints.build(5, must_link=[(0, 1), (1, 2)], triplets=[(2, 3, 4)], weight=[np.inf, 1.0, np.inf])
    closed = close(c)
    assert closed.n_statements == 3
    assert closed.weight.tolist() == [np.inf, 1.0, np.inf]


def test_given_statements_come_first_with_their_numbers():
    closed = close(Constraints.build(3, must_link=[(1, 2), (0, 1)]))
    assert [closed.describe(i) for i in range(3)] == ["#0 must_link(1, 2)", "#1 must_link(0, 1)", "#2 must_link(0, 2)"]


def test_contradictions_are_raised():
    with pytest.raises(InfeasibleConstraintsError):
        close(Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)]))


def test_too_many_pairs_are_refused_with_their_number():
    n = 4000
    chain = np.column_stack([np.arange(n - 1), np.arange(1, n)])
    with pytest.raises(LinkwiseError, match="7,998,000 must-links and 0 cannot-links") as raised:
        close(Constraints.build(n, must_link=chain))
    assert "Hint" in str(raised.value)


@pytest.mark.parametrize("metric", ["euclidean", "l1", "chebyshev", "cosine", "precomputed"])
@pytest.mark.parametrize("features", [1, 3, 25])
def test_close_pairs_agree_with_all_distances(metric, features):
    from scipy.spatial.distance import cdist

    rng = np.random.default_rng(features)
    X = rng.integers(1, 4, (40, features)).astype(float)
    D = cdist(X, X, {"l1": "cityblock", "precomputed": "euclidean"}.get(metric, metric))
    data = D if metric == "precomputed" else X
    radius = float(np.median(D))
    pairs = must_links_within(data, radius, metric=metric)
    i, j = np.triu_indices(40, 1)
    expected = D[i, j] < radius
    clear = np.abs(D[i, j] - radius) > 1e-12  # rounding may decide otherwise exactly at the radius
    got = np.zeros((40, 40), bool)
    got[pairs[:, 0], pairs[:, 1]] = True
    assert (got[i, j] == expected)[clear].all()
    assert (pairs[:, 0] < pairs[:, 1]).all()
    near = neighbors_within(data, radius, metric=metric)
    full = np.zeros((40, 40), bool)
    full[np.repeat(np.arange(40), np.diff(near.indptr)), near.indices] = True
    assert (full == full.T).all()
    assert not full.diagonal().any()
    assert (full[i, j] == (D[i, j] <= radius))[clear].all()


def test_exactly_at_the_radius_separation_is_strict_and_neighborhood_is_not():
    X = [[0.0], [1.0], [1.0]]
    assert must_links_within(X, 1.0).tolist() == [[1, 2]]
    assert neighbors_within(X, 1.0).nnz == 6
    assert must_links_within(X, 0.0).tolist() == []


def test_distances_must_be_square():
    with pytest.raises(LinkwiseError, match="square"):
        must_links_within([[0.0, 1.0]], 1.0, metric="precomputed")


# -- triplets written out ------------------------------------------------------------------------------------------


def triplets_of(c):
    return {tuple(row) for row in c.of(Kind.TRIPLET).tolist()}


def test_the_closure_of_triplets_is_extensive_monotone_idempotent_and_has_the_same_trees():
    """T7."""
    rng = np.random.default_rng(1)
    grew = 0
    for _ in range(examples(60, 2000)):
        n = int(rng.integers(3, 7))
        said = generators.consistent_triplets(rng, n)
        c = Constraints.build(n, triplets=said)
        closed = close(c, triplets=True)
        assert triplets_of(c) <= triplets_of(closed)
        assert close(closed, triplets=True) == closed
        fewer = Constraints.build(n, triplets=said[::2])
        assert triplets_of(close(fewer, triplets=True)) <= triplets_of(closed)
        for tree in relative.binary_trees(tuple(range(n))):
            shown = all(relative.displays(tree, s) for s in said)
            assert shown == all(relative.displays(tree, s) for s in triplets_of(closed))
        grew += closed.n_statements > c.unique().n_statements
    assert grew > 10


@pytest.mark.parametrize("pairs", [False, True])
def test_everything_entailed_together_is_written_and_nothing_else(pairs):
    rng = np.random.default_rng(2)
    for _ in range(examples(20, 3000)):
        n = int(rng.choice([3, 4, 5]))
        world = worlds(n)[int(rng.integers(len(worlds(n))))]
        held = [s for s in statements(n) if world & bits(n)[s] and (pairs or s[0] == "triplet")]
        said = [s for s in held if rng.random() < rng.choice([0.1, 0.4])]
        closed = close(Constraints.from_ids(range(n), said), triplets=True)
        words = ("must_link", "cannot_link", "triplet")
        found = [
            (words[k], *(x for x in row if x >= 0)) for k, row in zip(closed.kind, closed.items.tolist(), strict=True)
        ]
        assert len(found) == len(set(found))
        named = {x for s in said for x in s[1:]}
        assert set(found) == {s for s in entailed(n, said) if named.issuperset(s[1:])}
        assert entailed(n, said) == set(found)  # nothing is entailed about samples nobody named
        assert close(closed, triplets=True) == closed


def test_links_alone_are_closed_as_ever_and_their_triplets_added():
    c = Constraints.build(4, must_link=[(0, 1), (1, 2)], cannot_link=[(2, 3)])
    assert triplets_of(close(c)) == set()
    assert triplets_of(close(c, triplets=True)) == {(0, 1, 3), (0, 2, 3), (1, 2, 3)}
    assert close(c, triplets=True).select(slice(0, 6)) == close(c)


def test_writing_out_too_much_is_refused(monkeypatch):
    n = 402
    chain = [(i, i + 1, i + 2) for i in range(400)]
    with pytest.raises(LinkwiseError, match=r"name 402 samples[\s\S]*Hint: `implies"):
        close(Constraints.build(n, triplets=chain), triplets=True)
    monkeypatch.setattr(_closure, "_LIMIT", 3)
    with pytest.raises(LinkwiseError, match="and 4 triplets are entailed, more than 3"):
        close(Constraints.build(4, triplets=[(0, 1, 2), (1, 2, 3)]), triplets=True)


def test_what_just_fits_is_written_out(monkeypatch):
    said = [Constraints.build(5, apart=[range(5)]), Constraints.build(5, must_link=[(i, i + 1) for i in range(4)])]
    monkeypatch.setattr(_closure, "_LIMIT", 10)
    assert [len(close(c).of(kind)) for c, kind in zip(said, (Kind.CANNOT_LINK, Kind.MUST_LINK), strict=True)] == [
        10,
        10,
    ]
    monkeypatch.setattr(_closure, "_LIMIT", 9)
    for c, words in zip(said, ("0 must-links and 10 cannot-links", "10 must-links and 0 cannot-links"), strict=True):
        with pytest.raises(LinkwiseError, match=f"close: {words} are entailed, more than 9"):
            close(c)


def test_groups_are_closed_as_the_pairs_they_stand_for_or_as_groups():
    said = Constraints.build(7, must_link=[(0, 1)], together=[[1, 2, 3]], apart=[[3, 4, 5]])
    pairs = Constraints.build(7, must_link=[(0, 1), (1, 2), (2, 3)], cannot_link=[(3, 4), (4, 5), (3, 5)])
    for kind in (Kind.MUST_LINK, Kind.CANNOT_LINK):
        rows = [{tuple(pair) for pair in close(c).of(kind).tolist()} for c in (said, pairs)]
        assert rows[0] == rows[1]
    short = close(said, groups=True)
    assert [short.describe(i) for i in range(said.n_statements, short.n_statements)] == ["#3 together(0, 1, 2, 3)"]
    assert close(short, groups=True) == short


def test_a_hundred_thousand_samples_in_groups_are_closed_as_groups():
    source = np.repeat(np.arange(1000), 100)
    said = Constraints.from_groups(source, say="apart") | Constraints.from_groups(np.tile(np.arange(100), 1000))
    short = close(said, groups=True)
    assert short.n_statements == said.n_statements
    with pytest.raises(LinkwiseError, match=r"close\(constraints, groups=True\)"):
        close(said)
