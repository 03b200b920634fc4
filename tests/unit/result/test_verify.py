"""verify(): agrees with walking up the tree, notices every mutation, and reads well."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from linkwise import Constraints, verify
from linkwise.constraints import MaxCentroidDistance, MinSeparation, NeighborWithin, Rule, SizeBetween
from linkwise.exceptions import LinkwiseError
from tests.oracles.knowledge import statement_holds
from tests.oracles.trees import satisfied_by
from tests.profile import examples


def _tree(n, parent, marked=None):
    return SimpleNamespace(n_samples=n, parent=np.array(parent), marked=None if marked is None else np.array(marked))


def _random_tree(rng, n):
    """A forest with many-way nodes and a random cut."""
    tops, parent, node = list(range(n)), [], n
    parent = [-1] * n
    while len(tops) > 1 and rng.random() < 0.93:
        size = min(len(tops), 2 + int(rng.integers(0, 2)))
        chosen = rng.choice(len(tops), size, replace=False)
        for c in chosen:
            parent[tops[c]] = node
        tops = [t for i, t in enumerate(tops) if i not in chosen] + [node]
        parent.append(-1)
        node += 1
    marked, stack = [], list(tops)
    children = {v: [u for u in range(len(parent)) if parent[u] == v] for v in range(n, len(parent))}
    while stack:
        v = stack.pop()
        if v < n or rng.random() < 0.4:
            marked.append(v)
        else:
            stack += children[v]
    return _tree(n, parent, marked if rng.random() < 0.7 else None)


def _random_constraints(rng, n, m=12):
    pairs = [[rng.choice(n, 2, replace=False) for _ in range(m)] for _ in range(2)]
    triplets = [rng.choice(n, 3, replace=False) for _ in range(m)]
    weight = rng.choice([1.0, np.inf], 3 * m)
    return Constraints.build(n, must_link=pairs[0], cannot_link=pairs[1], triplets=triplets, weight=weight)


def test_every_statement_agrees_with_walking_up_the_tree():
    rng = np.random.default_rng(0)
    for _ in range(examples(150, 3000)):
        n = int(rng.integers(3, 12))
        tree, c = _random_tree(rng, n), _random_constraints(rng, n)
        certificate = verify(tree, c)
        parent = tree.parent.tolist()
        expected = [
            statement_holds(parent, tree.marked, k, i) for k, i in zip(c.kind.tolist(), c.items.tolist(), strict=True)
        ]
        assert certificate.held.tolist() == expected
        assert not certificate.faults
        assert certificate.violated == tuple(i for i, ok in enumerate(expected) if not ok and c.is_hard[i])
        assert certificate.soft_violated == tuple(i for i, ok in enumerate(expected) if not ok and not c.is_hard[i])
        assert certificate.ok == (not certificate.violated)


def test_labels_follow_definition_42():
    rng = np.random.default_rng(1)
    for _ in range(examples(60, 1000)):
        n = int(rng.integers(3, 9))
        labels, c = rng.integers(0, 3, n), _random_constraints(rng, n)
        expected = [
            satisfied_by(labels, i) if k == 2 else (labels[i[0]] == labels[i[1]]) == (k == 0)
            for k, i in zip(c.kind.tolist(), c.items.tolist(), strict=True)
        ]
        assert verify(labels, c).held.tolist() == expected


def test_swapping_two_leaves_is_noticed():
    tree = _tree(6, [6, 6, 7, 8, 8, 9, 7, 10, 9, 10, -1], marked=[7, 9])
    triplets = [(0, 1, 2), (0, 2, 3), (3, 4, 5), (4, 5, 1)]
    c = Constraints.build(6, must_link=[(0, 2), (3, 5)], cannot_link=[(0, 3), (2, 5)], triplets=triplets)
    assert verify(tree, c).ok
    for a in range(6):
        for b in range(a + 1, 6):
            parent = tree.parent.copy()
            parent[[a, b]] = parent[[b, a]]
            assert verify(_tree(6, parent, tree.marked), c).ok == (parent[a] == tree.parent[a])


@pytest.mark.parametrize(
    ("parent", "marked", "words"),
    [
        ([4, 4, 5, 5, 6, 9, -1], None, "outside"),
        ([4, 4, 5, 5, 6, 4, -1], None, "does not come after"),
        ([1, 4, 5, 5, 6, 6, -1], None, "is a leaf"),
        ([5, 5, 5, 5, 6, 6, -1], None, "no children"),
        ([4, 4], None, "fewer than"),
        ([4.0, 4, 5, 5, 6, 6, -1], None, "integer"),
        ([4, 4, 5, 5, 6, 6, -1], [4, 6], "below marked node 6"),
        ([4, 4, 5, 5, 6, 6, -1], [4, 2], "in no marked cluster"),
        ([4, 4, 5, 5, 6, 6, -1], [4, 5, 5], "twice"),
        ([4, 4, 5, 5, 6, 6, -1], [4, 7], "nodes are 0 to 6"),
        ([4, 4, 5, 5, 6, 6, -1], [4.5, 5], "node numbers"),
    ],
)
def test_an_unsound_tree_vouches_for_nothing(parent, marked, words):
    certificate = verify(_tree(4, parent, marked), Constraints.build(4, must_link=[(0, 1)], rules=[SizeBetween(1)]))
    assert not certificate.ok
    assert words in str(certificate)
    assert certificate.violated == (0,)


def test_results_for_other_samples_are_refused():
    c = Constraints.build(3)
    for result in ([0, 1], [[0, 1, 2]], [0.0, np.nan, 1.0], _tree(2, [2, 2, -1])):
        with pytest.raises(LinkwiseError, match="verify"):
            verify(result, c)
    with pytest.raises(LinkwiseError, match=r"labels have shape \(3, 1\), expected one label per sample"):
        verify([[0], [1], [2]], c)


def test_a_million_triplets_on_a_caterpillar():
    n = 100_000
    parent = np.concatenate([[n], np.arange(n, 2 * n - 1), np.arange(n + 1, 2 * n - 1), [-1]])
    rng = np.random.default_rng(0)
    rows = np.sort(
        np.array(
            [
                rng.integers(0, n // 3, 10**6),
                rng.integers(n // 3, 2 * n // 3, 10**6),
                rng.integers(2 * n // 3, n, 10**6),
            ]
        ).T
    )
    c = Constraints.build(n, triplets=rows)
    # looking at every sample for every triplet would take hours, and so would climbing from leaf to root
    assert verify(_tree(n, parent), c).ok
    assert not verify(_tree(n, parent), Constraints.build(n, triplets=rows[:1000, [1, 2, 0]])).held.any()


def test_certificate_says_what_holds():
    c = Constraints.build(
        5, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 4)], triplets=[(0, 1, 4)], weight=[np.inf, 2, np.inf, np.inf]
    )
    certificate = verify([0, 0, 1, 1, 1], c)
    assert str(certificate) == (
        "All 3 hard statements hold: 1 must-link, 1 cannot-link, 1 triplet.\n0 of 1 soft statement holds."
    )
    assert certificate.counts == {"must_link": (1, 2), "cannot_link": (1, 1), "triplets": (1, 1)}
    assert str(verify([0], Constraints.build(1))) == "There are no hard statements."
    assert not certificate.held.flags.writeable


def test_certificate_counts_groups_where_there_are_any():
    groups = Constraints.build(
        6, together=[[0, 1, 2], [0, 3]], apart=[[0, 4, 5]], must_link_any=[[3, 4, 5]], cannot_link_any=[[0, 1, 3]]
    )
    labels = [0, 0, 0, 1, 1, 2]
    nothing = {"must_link": (0, 0), "cannot_link": (0, 0), "triplets": (0, 0)}
    counts = {"together": (1, 2), "apart": (1, 1), "must_link_any": (1, 1), "cannot_link_any": (1, 1)}
    assert verify(labels, groups).counts == nothing | counts
    assert verify(labels, Constraints.build(6)).counts == nothing
    assert verify(labels, groups).to_dict()["counts"]["together"] == {"held": 1, "total": 2}


def test_certificate_lists_twenty_broken_statements_and_counts_the_rest():
    certificate = verify(np.arange(50), Constraints.build(50, must_link=[(i, i + 1) for i in range(49)]))
    text = str(certificate)
    assert text.startswith("49 of 49 hard statements are broken:\n  #0 must_link(0, 1)")
    assert text.endswith("... and 29 more")
    assert len(certificate.shown) == 20


def test_certificate_is_json():
    c = Constraints.build(3, must_link=[(0, 1)], rules=[MinSeparation(1), SizeBetween(1, 2)])
    facts = json.loads(json.dumps(verify([0, 1, 1], c).to_dict()))
    assert facts["ok"] is False
    assert facts["violated"] == [0]
    assert [rule["held"] for rule in facts["rules"]] == [None, True]


# -- rules -----------------------------------------------------------------------------------------------------

LINE = np.array([[0.0], [1.0], [5.0], [6.0]])


@pytest.mark.parametrize(
    ("rule", "labels", "held"),
    [
        (MinSeparation(2.0), [0, 0, 1, 1], True),
        (MinSeparation(1.0), [0, 1, 2, 3], True),
        (MinSeparation(1.5), [0, 1, 1, 1], False),
        (NeighborWithin(1.0), [0, 0, 1, 1], True),
        (NeighborWithin(1.0), [0, 0, 0, 1], False),
        (NeighborWithin(0.5), [0, 1, 2, 3], True),
        (SizeBetween(2, 2), [0, 0, 1, 1], True),
        (SizeBetween(2), [0, 0, 0, 1], False),
        (SizeBetween(1, 2), [0, 0, 0, 1], False),
        (MaxCentroidDistance(1.0), [0, 0, 1, 1], None),
    ],
)
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "precomputed"])
def test_rules_on_labels(rule, labels, held, metric):
    X = np.abs(LINE - LINE.T) if metric == "precomputed" else LINE
    certificate = verify(labels, Constraints.build(4, rules=[rule]), X=X, metric=metric)
    assert certificate.rules == ((rule, held),)
    assert certificate.ok == (held is not False)


def test_rules_without_data_are_listed_as_unchecked():
    certificate = verify([0, 0], Constraints.build(2, rules=[MinSeparation(1)]))
    assert certificate.ok
    assert "MinSeparation(delta=1.0) was not checked: it needs X." in str(certificate)


def test_size_of_a_tree_without_cut_is_unchecked():
    certificate = verify(_tree(2, [2, 2, -1]), Constraints.build(2, rules=[SizeBetween(1)]))
    assert certificate.rules[0][1] is None


def test_reach_looks_at_merges_inside_clusters_and_spares_forced_ones():
    parent = [4, 4, 5, 5, 6, 6, -1]
    c = Constraints.build(4, rules=[MaxCentroidDistance(1.0)])
    assert verify(_tree(4, parent, [4, 5]), c, X=LINE).rules[0][1] is True
    assert verify(_tree(4, parent, [6]), c, X=LINE).rules[0][1] is False
    assert verify(_tree(4, parent), c, X=LINE).rules[0][1] is False
    assert verify(_tree(4, [4, 4, 4, 4, -1]), c, X=LINE).rules[0][1] is False
    forced = Constraints.build(4, must_link=[(0, 3), (1, 2), (1, 3)], rules=[MaxCentroidDistance(1.0)])
    assert verify(_tree(4, parent, [6]), forced, X=LINE).rules[0][1] is True
    near = Constraints.build(4, rules=[MaxCentroidDistance(0.5), MinSeparation(1.5)])
    assert verify(_tree(4, parent, [4, 5]), near, X=LINE).ok
    assert verify(_tree(4, parent, [4, 5]), c, X=np.abs(LINE - LINE.T), metric="precomputed").rules[0][1] is None


def test_reach_between_the_parts_of_a_many_way_node_is_that_of_each_pair():
    triangle = np.array([[0.0, 0.0], [1.0, 0.0], [0.5, 0.75**0.5]])
    for gamma, held in ((1.001, True), (0.999, False)):
        c = Constraints.build(3, rules=[MaxCentroidDistance(gamma)])
        assert verify(_tree(3, [3, 3, 3, -1]), c, X=triangle).rules[0][1] is held


def test_a_rule_of_somebody_else_is_listed_as_unchecked():
    class Odd(Rule):
        pass

    certificate = verify([0, 0], Constraints.build(2, rules=[Odd()]), X=[[0.0], [1.0]])
    assert certificate.rules == ((Odd(), None),)
    assert "was not checked: the checker does not know this rule." in str(certificate)


def test_data_of_another_shape_are_refused():
    with pytest.raises(LinkwiseError, match="X has shape"):
        verify([0, 0], Constraints.build(2, rules=[MinSeparation(1)]), X=[[1.0]])
