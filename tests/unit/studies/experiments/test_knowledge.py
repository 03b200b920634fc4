"""What a study tells an engine: different statements, true of classes or a taxonomy, and wrong as often as asked."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse

from linkwise import Taxonomy, check
from linkwise.constraints import Constraints, Kind
from linkwise.datasets import noisy_taxonomy
from linkwise.exceptions import LinkwiseError
from linkwise.problem import onetree
from studies.experiments import knowledge
from studies.experiments._drawn_statements import draw
from tests.oracles import sources as oracle, trees

Y = np.repeat([0, 1, 2], 20)
TREE = Taxonomy(np.array([-1, 0, 0, 1, 1]), np.repeat([1, 2, 3, 4], 15))


@given(
    st.lists(st.integers(-1, 3), min_size=2, max_size=9),
    st.sampled_from(["must_link", "cannot_link", "pairs", "triplets"]),
    st.integers(0, 2**32 - 1),
)
def test_asking_for_all_gives_each_true_statement_once(y, kind, seed):
    must, cannot, triplets = oracle.label_statements(y)
    wanted = {"must_link": must, "cannot_link": cannot, "pairs": must | cannot, "triplets": triplets}[kind]
    said = knowledge(y, kind, len(wanted), seed=seed)
    assert said.n_statements == len(wanted)
    assert {tuple(row) for row in said.of(Kind.MUST_LINK).tolist()} == wanted & must
    assert {tuple(row) for row in said.of(Kind.CANNOT_LINK).tolist()} == wanted & cannot
    assert {tuple(row) for row in said.of(Kind.TRIPLET).tolist()} == wanted & triplets
    with pytest.raises(LinkwiseError, match=f"but there are {len(wanted)}"):
        knowledge(y, kind, len(wanted) + 1, seed=seed)


@pytest.mark.parametrize("kind", ["must_link", "cannot_link", "pairs", "triplets", "informative", "taxonomy"])
@pytest.mark.parametrize("noise", [0.0, 0.25, 1.0])
def test_the_number_of_wrong_ones_is_exact_and_none_comes_twice(kind, noise):
    said, wrong = draw(Y, kind, 40, noise, 0, TREE)
    assert said.n_statements == len(wrong) == 40
    assert wrong.sum() == 40 * noise
    assert len(np.unique(np.sort(said.items, axis=1), axis=0)) == 40
    right = said.select(~wrong)
    assert check(right).status == "feasible"
    for one in range(40):
        a, b, c = said.items[one]
        if kind == "taxonomy":
            meet = oracle.meeting_depth(TREE.parent, TREE.node, a, b) > oracle.meeting_depth(
                TREE.parent, TREE.node, a, c
            )
            assert meet == (not wrong[one])
        elif said.kind[one] == Kind.TRIPLET:
            assert (Y[a] == Y[b] != Y[c]) == (not wrong[one])
        else:
            assert ((said.kind[one] == Kind.MUST_LINK) == (Y[a] == Y[b])) == (not wrong[one])


@pytest.mark.parametrize("seed", range(3))
def test_informative_triplets_say_together_what_the_classes_are(seed):
    y = np.array([2, 0, 0, 1, -1, 1, 2, 2, 0])
    said = knowledge(y, "informative", 2 * (8 - 3), seed=seed)
    expected = {frozenset(np.flatnonzero(y == label).tolist()) for label in range(3)}
    made = trees.clades(9, onetree(9, said.of(Kind.TRIPLET)).parent.tolist())
    assert {group for group in made if len(group) < 8} == expected
    with pytest.raises(LinkwiseError, match="11 informative triplets are wanted, but there are 10"):
        knowledge(y, "informative", 11, seed=seed)


def test_a_taxonomy_gives_triplets_within_a_class_of_classes():
    data = noisy_taxonomy(60, random_state=0)
    said = knowledge(data.y, "taxonomy", 50, seed=1, taxonomy=data.taxonomy)
    assert {tuple(row) for row in said.of(Kind.TRIPLET).tolist()} <= oracle.taxonomy_triplets(
        data.taxonomy.parent.tolist(), data.taxonomy.node.tolist()
    )
    three = data.y[said.items]
    assert ((three[:, 0] != three[:, 1]) & (three[:, 0] != three[:, 2]) & (three[:, 1] != three[:, 2])).any()


def test_labels_speak_of_as_many_samples_as_asked_and_noise_gives_others():
    y = np.repeat([4, 7, 9, -1], 10)
    said, wrong = draw(y, "labels", 12, 0.0, 0, None)
    assert len(np.unique(said.items[:, :2])) == 12
    assert said.items.max() < 30  # what is not known is not told
    assert not wrong.any()
    for a, b in said.of(Kind.MUST_LINK):
        assert y[a] == y[b]
    told, wrong = draw(y, "labels", 12, 0.5, 0, None)
    for one in range(told.n_statements):
        a, b = told.items[one, :2]
        assert wrong[one] == ((told.kind[one] == Kind.MUST_LINK) != (y[a] == y[b]))
    assert wrong.any()
    assert check(told).status == "feasible"  # wrong labels are wrong, but never contradict each other


@pytest.mark.parametrize(
    ("y", "kind", "amount", "noise", "what"),
    [
        ([0, 1], "guesses", 1, 0.0, "expected one of"),
        ([[0, 1]], "pairs", 1, 0.0, "one value per sample"),
        (sparse.csr_array(np.eye(2)), "pairs", 1, 0.0, r"has shape \(2, 2\), expected one value per sample"),
        (sparse.csr_array(np.eye(2)), "labels", 1, 0.0, r"has shape \(2, 2\), expected one value per sample"),
        ([0, 1], "labels", 3, 0.0, "3 labels are wanted, but there are 2"),
        ([0, 0], "labels", 2, 0.5, "second class"),
        ([0, 0, 1], "triplets", 1, 1.5, "from 0 to 1"),
        ([0, 0, 1], "labels", 1, -1, "from 0 to 1"),
        ([0, 1], "taxonomy", 1, 0.0, "there is none"),
    ],
)
def test_impossible_wishes_are_refused(y, kind, amount, noise, what):
    with pytest.raises(LinkwiseError, match=what):
        knowledge(y, kind, amount, noise, 0)


def test_nothing_said_is_an_empty_table():
    assert knowledge([0, 1], "none", 5) == Constraints.build(2)
    assert knowledge([0, 1], "pairs", 0) == Constraints.build(2)
    assert knowledge(sparse.csr_array(np.eye(2)), "none", 0) == Constraints.build(2)


def test_the_seed_decides():
    for kind in ("pairs", "informative", "labels"):
        first, again, other = (knowledge(Y, kind, 30, 0.1, seed) for seed in (4, 4, 5))
        assert first == again
        assert first != other
