"""Exact inference over statements agrees with writing down every labeling; so do the mixing weights."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from linkwise import Constraints
from linkwise.engines.mixture._constrained_mixture import Given
from linkwise.engines.mixture._exact import divide, widest_table
from linkwise.engines.mixture._factors import Chunklets, read_chunklets
from linkwise.engines.mixture._kernels_elimination import eliminate
from linkwise.engines.mixture._penalized_mixture import Penalized
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem import Problem
from tests.oracles.mixture import Enumeration
from tests.profile import examples

pytestmark = pytest.mark.kernels


def draw(rng, *, soft=False):
    """Draw a small instance: statements as lists, a table of them, log-densities and weights."""
    n, k = int(rng.integers(1, 7)), int(rng.integers(1, 4))
    pairs = [(i, j) for i in range(n) for j in range(i)]
    share = rng.random()
    must = [p for p in pairs if rng.random() < 0.4 * share * rng.random()]
    cannot = [p for p in pairs if rng.random() < share]
    prices = []
    if soft:
        prices = [(*p, bool(rng.random() < 0.5), float(rng.exponential())) for p in pairs if rng.random() < share]
        cannot = [p for p in cannot if rng.random() < 0.3]
    together = [(i, j) for i, j, wish, _ in prices if wish]
    apart = [(i, j) for i, j, wish, _ in prices if not wish]
    table = Constraints.build(n, must_link=must, cannot_link=cannot)
    table |= Constraints.build(n, must_link=together, weight=[w for *_, wish, w in prices if wish])
    table |= Constraints.build(n, cannot_link=apart, weight=[w for *_, wish, w in prices if not wish])
    log_density = rng.normal(size=(n, k)) * rng.choice([0.1, 3.0, 300.0])
    weights = rng.dirichlet(np.ones(k)) + 1e-3
    return n, k, must, cannot, prices, table, log_density, weights / weights.sum()


def chunklets(table, k):
    problem = Problem(np.zeros((table.n_samples, 1)), table, n_clusters=k, who="test")
    problem.blocks  # noqa: B018  (raises if statements contradict each other)
    return read_chunklets(problem, 2**20)


def given(table, k, sampling):
    return Given(chunklets(table, k), k, sampling, 2**20, "test")


@pytest.mark.parametrize("sampling", ["chunklets", "points"])
def test_beliefs_given_the_statements_agree_with_enumeration(sampling):
    rng = np.random.default_rng(1)
    impossible = 0
    for _ in range(examples(167, 20_000)):
        n, k, must, cannot, _, table, log_density, weights = draw(rng)
        model = Enumeration(n, k, must, cannot, sampling=sampling)
        if not len(model.rows):
            impossible += 1
            with pytest.raises(InfeasibleConstraintsError):
                given(table, k, sampling).expect(log_density, weights)
            continue
        beliefs = given(table, k, sampling)
        value, chance = beliefs.expect(log_density, weights)
        expected, responsibilities = model.expect(log_density, weights)
        assert_allclose(value, expected, rtol=1e-9, atol=1e-9)
        assert_allclose(chance[beliefs.graph.of], responsibilities, atol=1e-9)
        labels = beliefs.decide(beliefs.log_weight(log_density, weights))[beliefs.graph.of]
        each = model.log_weights(log_density, weights)
        at = np.flatnonzero((model.rows == labels).all(axis=1))
        assert len(at) == 1
        assert_allclose(each[at[0]], each.max(), rtol=1e-9, atol=1e-9)
        found = beliefs.weigh(chance, weights)
        counts = model.counts(responsibilities)
        assert_allclose(model.prior_counts(found), counts, atol=1e-6 * max(counts.sum(), 1))
    assert impossible > 5


def test_beliefs_under_prices_agree_with_enumeration():
    rng = np.random.default_rng(2)
    paid = 0
    for _ in range(examples(500, 20_000)):
        n, k, must, cannot, prices, table, log_density, weights = draw(rng, soft=True)
        model = Enumeration(n, k, must, cannot, prices, "points", normalized=False)
        if not len(model.rows):
            continue
        paid += len(prices) > 0
        graph = chunklets(table, k)
        beliefs = Penalized(graph, k, "refuse", 2**20, 1, None, 0, "test")
        value, chance = beliefs.expect(log_density, weights)
        expected, responsibilities = model.expect(log_density, weights)
        assert_allclose(value, expected, rtol=1e-9, atol=1e-9)
        assert_allclose(chance[graph.of], responsibilities, atol=1e-9)
        labels = beliefs.decide(beliefs.log_weight(log_density, weights))[graph.of]
        each = model.log_weights(log_density, weights)
        reached = each[(model.rows == labels).all(axis=1)]
        assert_allclose(reached, each.max(), rtol=1e-9, atol=1e-9)
    assert paid > 100


def whole(n, k):
    pairs = np.array([(i, j) for i in range(n) for j in range(i + 1, n)])
    return Chunklets(np.arange(n), np.ones(n, int), pairs, np.full(len(pairs), -np.inf), np.zeros(len(pairs)), 0.0)


@pytest.mark.parametrize(("n", "k"), [(5, 6), (6, 6), (5, 7)])
def test_groups_apart_go_by_sets_of_clusters_and_by_tables_to_the_same_end(n, k):
    graph, everywhere = whole(n, k), np.ones(n * (n - 1) // 2, bool)
    unary = np.random.default_rng(n * k).normal(size=(n, k)) * 50
    by_sets, _ = divide(graph, np.arange(n), everywhere, k, 2**20)
    by_tables, _ = divide(graph, np.arange(n), everywhere, k, 2**20, tables_only=True)
    assert len(by_sets.clique) == 2
    assert len(by_tables.clique) == 1
    for one, other in zip(
        by_sets.marginals(unary[by_sets.node]), by_tables.marginals(unary[by_tables.node]), strict=True
    ):
        order = np.argsort(by_tables.node) if one.ndim == 2 else slice(None)
        assert_allclose(one, other[order], rtol=1e-9, atol=1e-9)
    assert_allclose(by_sets.best(unary[by_sets.node])[0], by_tables.best(unary[by_tables.node])[0])
    labels = by_sets.best(unary[by_sets.node])[1]
    assert len(set(labels)) == n
    assert_allclose(unary[by_sets.node][np.arange(n), labels].sum(), by_sets.best(unary[by_sets.node])[0][0])


def test_a_group_apart_with_more_members_than_clusters_has_no_labeling():
    graph = whole(4, 3)
    exact, _ = divide(graph, np.arange(4), np.ones(6, bool), 3, 2**20)
    assert exact.marginals(np.zeros((4, 3)))[0][0] == -np.inf


@pytest.mark.parametrize(
    ("name", "pairs", "width"),
    [
        ("path", [(i, i + 1) for i in range(40)], 1),
        ("star", [(0, i) for i in range(1, 40)], 1),
        ("tree", [((i - 1) // 2, i) for i in range(1, 40)], 1),
        ("cycle", [(i, (i + 1) % 40) for i in range(40)], 2),
        ("ladder", [(i, i + 2) for i in range(38)] + [(i, i + 1) for i in range(0, 40, 2)], 2),
        ("clique", [(i, j) for i in range(6) for j in range(i)], 5),
    ],
)
def test_least_fill_finds_the_width_of_simple_graphs(name, pairs, width):
    n = max(max(p) for p in pairs) + 1
    rows = np.sort(np.array(pairs), axis=1)
    order, start, _, left = eliminate(n, rows, 19)
    assert sorted(order) == list(range(n))
    assert np.diff(start).max() == width
    assert not left.any()
    _, _, _, left = eliminate(n, rows, width - 1)
    assert left.any()


def test_pairs_are_always_exact_and_tables_grow_with_what_is_allowed():
    assert widest_table(2, 2**20) == 19
    assert widest_table(5, 2**20) == 7
    assert widest_table(5000, 10) == 1


def test_a_wide_component_is_refused_by_its_width_and_the_others_are_not_touched():
    rng = np.random.default_rng(0)
    tangle = [(i, j) for i in range(40) for j in range(i) if rng.random() < 0.4]
    table = Constraints.build(44, cannot_link=[*tangle, (40, 41), (42, 43)])
    graph = chunklets(table, 30)
    exact, wide = divide(graph, np.unique(graph.pairs), np.ones(len(graph.pairs), bool), 30, 2**20)
    assert sorted(exact.node) == [40, 41, 42, 43]
    assert sorted(wide.node) == list(range(40))
    assert wide.width[0] > widest_table(30, 2**20)
    with pytest.raises(LinkwiseError, match=rf"ties 40 groups .* \(width {wide.width[0]}\).*\nHint: .*max_states"):
        given(table, 30, "chunklets")


def test_long_narrow_components_are_exact():
    n, k = 3000, 3
    table = Constraints.build(n, cannot_link=[(i, i + 1) for i in range(n - 1)])
    beliefs = given(table, k, "chunklets")
    value, chance = beliefs.expect(np.zeros((n, k)), np.full(k, 1 / k))
    # all labelings are equally likely, so they cancel against the normalizer
    assert_allclose(value, 0, atol=1e-8)
    assert_allclose(chance, 1 / k, atol=1e-9)


def test_components_of_one_shape_are_counted_instead_of_computed_again():
    pairs = [(2 * i, 2 * i + 1) for i in range(300)]
    threes = [(600 + 3 * i, 601 + 3 * i) for i in range(100)] + [(601 + 3 * i, 602 + 3 * i) for i in range(100)]
    beliefs = given(Constraints.build(900, cannot_link=pairs + threes), 3, "chunklets")
    assert len(beliefs.normalizer.shapes.node) == 5
    weights = np.array([0.5, 0.3, 0.2])
    pair = np.log(1 - (weights**2).sum())
    three = np.log((weights * (1 - weights) ** 2).sum())
    assert_allclose(beliefs.normalizer.log_z(np.log(weights))[0], 300 * pair + 100 * three)
