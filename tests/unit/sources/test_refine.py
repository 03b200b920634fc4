"""A known hierarchy refined by a tree: against a version with sets, and what is promised of names and known samples."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from linkwise import Dendrogram, Taxonomy
from linkwise.engines import BiiHAC, agglomerate
from linkwise.exceptions import LinkwiseError
from linkwise.sources import refine
from tests.oracles import refinement as oracle
from tests.profile import examples

PARENTS = ([-1, 0, 0, 1, 1], [-1, -1, 0, 0, 1], [-1, 0, 1], [-1, -1], [-1])


def instance(seed):
    rng = np.random.default_rng(seed)
    n, parent = int(rng.integers(3, 15)), PARENTS[seed % len(PARENTS)]
    node = rng.integers(-1, len(parent), size=n)
    node[rng.random(n) < 0.4] = -1
    node[int(rng.integers(n))] = int(rng.integers(len(parent)))
    # near classes, so that places are often pure
    X = rng.normal(size=(n, 2)) + 3 * np.column_stack([node % 2, node // 2])
    chance = float(rng.choice([0.0, 0.05, 0.31, 0.87, 1.3]))
    return agglomerate(X, method="average"), parent, node, int(rng.integers(1, 4)), chance


def sets_of(tree):
    members = [{i} for i in range(tree.n_samples)] + [set() for _ in range(len(tree.parent) - tree.n_samples)]
    for v, p in enumerate(tree.parent.tolist()):
        if p >= 0:
            members[p] |= members[v]
    return [frozenset(own) for own in members]


def test_places_samples_and_branches_are_those_of_the_definition():
    n_cases, branches, strange = examples(200, 2000), 0, 0
    for seed in range(n_cases):
        tree, parent, node, min_size, chance = instance(seed)
        clusters = sets_of(tree)
        above = tree.parent
        stays = {
            v: float(tree.height[above[at]] - tree.height[at]) if above[at] >= 0 else np.inf
            for at, v in enumerate(clusters)
        }
        at, placed, new = oracle.place(clusters, stays, parent, node.tolist(), min_size, chance)
        found = refine(tree, Taxonomy(parent, node), min_size=min_size, chance=chance)
        assert [None if v < 0 else clusters[v] for v in found.found_at.tolist()] == [at[c] for c in range(len(parent))]
        branches += len(new)
        strange += len(new) - refine(tree, Taxonomy(parent, node), min_size=min_size, chance=0).n_new
        assert found.taxonomy.parent[len(parent) :].tolist() == [c for c, _ in new]
        for number, (_, own) in enumerate(new):
            for i in own:
                placed[i] = len(parent) + number
        assert found.taxonomy.node.tolist() == placed
        assert (found.taxonomy.node[node >= 0] == node[node >= 0]).all()
    assert branches > 0.2 * n_cases
    assert strange > 0.1 * n_cases


def test_a_new_subject_becomes_a_branch_called_by_its_words_and_known_folders_take_what_belongs_to_them():
    rng = np.random.default_rng(0)
    words = [f"{topic}{i}" for topic in ("bank", "goal", "moon") for i in range(6)]
    topic = np.repeat([0, 1, 2], 15)
    X = rng.poisson(0.15, size=(45, 18)).astype(float)
    for i, t in enumerate(topic):
        X[i, 6 * t : 6 * t + 6] += rng.poisson(2.0, size=6)
    told = [f"mail/{('money', 'sport')[t]}" if t < 2 and i % 15 < 5 else None for i, t in enumerate(topic)]
    known = Taxonomy.from_paths(told)
    model = BiiHAC(learning_rate=1.0, max_iter=5).fit(sp.csr_array(X), constraints=known.triplets())
    for table in (X, sp.csr_array(X)):
        found = refine(model.dendrogram_, known, table, names=words, n_terms=2, chance=0)
        assert found.n_new == 1
        assert all(term.startswith("moon") for term in found.terms[0])
        paths = found.paths()
        name = f"mail/{' '.join(found.terms[0])}"
        assert sum(path == name for path in paths[30:]) >= 13
        assert sum(path == "mail/money" for path in paths[:15]) >= 13
        assert [path for path, was in zip(paths, told, strict=True) if was] == [was for was in told if was]


def test_a_part_of_a_class_too_large_to_be_unknown_by_chance_is_a_branch_beside_it():
    rng = np.random.default_rng(1)
    center = np.repeat([[0.0, 0.0], [2.0, 0.0], [20.0, 0.0]], 30, axis=0)
    tree = agglomerate(center + rng.normal(size=center.shape) * 0.3, method="average")
    told = [("sport/ball", None, "work")[i // 30] if i % 30 < 8 else None for i in range(90)]
    known = Taxonomy.from_paths(told)
    found = refine(tree, known)
    assert found.paths()[30:60] == ["sport/new 1"] * 30
    assert found.paths()[:30] + found.paths()[60:] == ["sport/ball"] * 30 + ["work"] * 30
    assert refine(tree, known, chance=0).n_new == 0
    few = refine(tree, Taxonomy.from_paths([path if i in (0, 60) else None for i, path in enumerate(told)]))
    assert few.n_new == 0  # of one known sample nothing follows


def test_names_do_not_repeat_and_are_numbers_without_features():
    tree = Dendrogram.from_newick("(((0,1),(2,3)),(4,5),(6,7));")
    known = Taxonomy.from_paths(["new 1", "new 1", "b", "b", None, None, None, None])
    found = refine(tree, known)
    assert found.taxonomy.names.tolist() == ["new 1", "b", "new 1 *", "new 2"]
    assert found.paths(sep=">")[4:] == ["new 2"] * 2 + ["new 1 *"] * 2
    assert refine(tree, known, min_size=3).n_new == 0
    assert refine(tree, known, min_size=3).paths()[4:] == [None] * 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"known": Taxonomy.from_paths([None, None])}, "no sample is in the known hierarchy"),
        ({"known": Taxonomy.from_paths(["a"])}, "the tree has 2 samples, the known hierarchy 1"),
        ({"known": [1]}, "known is list, expected a Taxonomy"),
        ({"X": np.eye(2), "names": ["a"]}, "1 names for 2 features"),
        ({"min_size": 0}, "min_size"),
        ({"chance": -0.1}, "chance"),
    ],
)
def test_bad_input_is_explained(change, words):
    given = {"tree": Dendrogram.from_newick("(0,1);"), "known": Taxonomy.from_paths(["a", None])} | change
    with pytest.raises(LinkwiseError, match=words):
        refine(given.pop("tree"), given.pop("known"), given.pop("X", None), **given)
