"""Triplets from ontologies: against their definition, against taxonomies, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from linkwise import ReCon, Taxonomy, check, verify
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.sources import from_ontology
from tests.oracles.sources import ontology_triplets, random_taxonomy
from tests.profile import examples

OBO = """format-version: 1.2

[Term]
id: T:1
name: thing

[Term]
id: T:2
is_a: T:1 ! thing

[Term]
id: T:3
is_a: T:1

[Term]
id: T:4
is_a: T:2
is_a: T:3

[Term]
id: T:5
is_a: T:3
is_a: T:2 {source="x"} ! y

[Term]
id: T:6
is_a: T:3

[Typedef]
id: part_of
"""


def _random(rng):
    """A graph without cycles of terms under shuffled names, and up to three terms for each sample."""
    t = int(rng.integers(2, 12))
    order = [f"t{v}" for v in rng.permutation(t)]
    edges = [(order[v], order[u]) for v in range(1, t) for u in range(v) if rng.random() < 0.4]
    n = int(rng.integers(3, 8))
    terms = [sorted(set(rng.choice(order, rng.integers(0, 4)).tolist())) for _ in range(n)]
    return edges, [[one for one in some if any(one in edge for edge in edges)] for some in terms]


def _made(edges, terms, **options):
    ids = [f"s{i}" for i in range(len(terms))]
    rows = [(ids[i], term) for i, some in enumerate(terms) for term in some] or [("nobody", None)]
    columns = ([child for child, _ in edges], [parent for _, parent in edges])
    return from_ontology(columns, [s for s, _ in rows], [t for _, t in rows], ids=ids, **options)


@pytest.mark.filterwarnings("ignore::linkwise.exceptions.LinkwiseWarning")
def test_triplets_and_leads_agree_with_their_definition():
    rng = np.random.default_rng(0)
    some = 0
    for _ in range(examples(250, 2000)):
        edges, terms = _random(rng)
        if not edges:
            continue
        found = _made(edges, terms)
        by_hand = ontology_triplets(edges, terms)
        assert dict(zip(map(tuple, found.items.tolist()), found.weight.tolist(), strict=True)) == by_hand
        some += len(by_hand)
    assert some > 600


def test_a_tree_gives_the_triplets_of_its_taxonomy():
    rng = np.random.default_rng(1)
    for _ in range(examples(40, 400)):
        parent, node = random_taxonomy(rng, int(rng.integers(2, 10)), 7, n_roots=int(rng.integers(1, 3)))
        tree = Taxonomy(np.array(parent), np.array(node))
        edges = [(f"v{v}", f"v{up}") for v, up in enumerate(parent) if up >= 0]
        edges += [(f"v{v}", None) for v, up in enumerate(parent) if up < 0]
        found = _made(edges, [[f"v{v}"] if v >= 0 else [] for v in node])
        assert found.with_ids(None).with_weight(np.inf) == tree.triplets()
        assert check(found.with_weight(np.inf)).status == "feasible"


def test_all_parents_of_an_obo_file_count():
    ids = ["a", "b", "c"]
    both = from_ontology(OBO, ids, ["T:4", "T:5", "T:6"], ids=ids, scale=2.0)
    assert both.describe(0) == "#0 triplet(a, b | c) weight 2"
    first = Taxonomy.from_obo(OBO, ["T:4", "T:5", "T:6"], parents="first", ids=ids)
    assert first.triplets().describe(0) == "#0 triplet(b, c | a)"


def test_an_obo_file_may_be_a_path(tmp_path):
    (tmp_path / "x.obo").write_text(OBO.replace("\n", "\r\n"))
    ids = ["a", "b", "c"]
    given = (ids, ["T:4", "T:5", "T:6"])
    assert from_ontology(tmp_path / "x.obo", *given, ids=ids) == from_ontology(OBO, *given, ids=ids)


def test_some_triplets_are_drawn_of_all():
    rng = np.random.default_rng(2)
    edges, terms = [("a", "r"), ("b", "r"), ("c", "a"), ("d", "a"), ("d", "b"), ("e", "b")], []
    terms = [[str(rng.choice(list("abcde")))] for _ in range(20)]
    everything = _made(edges, terms)
    some = _made(edges, terms, m=40, random_state=0)
    assert some.n_statements == 40
    assert not some - everything
    assert some != _made(edges, terms, m=40, random_state=1)
    assert some == _made(edges, terms, m=40, random_state=0)
    with pytest.raises(LinkwiseError, match="are wanted, but there are"):
        _made(edges, terms, m=everything.n_statements + 1)


def test_many_samples_are_drawn_without_being_listed():
    rng = np.random.default_rng(3)
    edges = [(f"t{v}", f"t{(v - 1) // 2}") for v in range(1, 63)]
    terms = [[f"t{int(rng.integers(31, 63))}"] for _ in range(2000)]
    found = _made(edges, terms, m=3000, random_state=0)
    assert found.n_statements == found.unique().n_statements == 3000
    assert check(found.with_weight(np.inf)).status == "feasible"  # a tree
    parent = np.array([-1, *((v - 1) // 2 for v in range(1, 63))])
    tree = Taxonomy(parent, np.array([int(some[0][1:]) for some in terms])).to_dendrogram()
    assert tree.satisfies(found.with_ids(None)).all()
    with pytest.raises(LinkwiseError, match="expected at most 5,000,000"):
        _made(edges, terms)
    with pytest.raises(LinkwiseError, match="10 triplets are wanted, but only 0 were found"):
        _made([("x", "y")], [["x"]] * 400, m=10)


def test_a_method_keeps_what_can_hold():
    edges = [("a", "p"), ("b", "p"), ("b", "q"), ("c", "q"), ("a", "s"), ("b", "s"), ("d", None)]
    said = _made(edges, [["a"], ["b"], ["c"], ["d"]])
    assert "triplet(s0, s1 | s2) weight 1" in said.describe(0)
    model = ReCon(2).fit([[0.0], [1.0], [1.1], [9.0]], constraints=said)
    assert verify(model.dendrogram_, said.with_weight(np.inf)).held.all()


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        ([("x", "y"), ("y", "z"), ("z", "x")], "is below itself"),
        ([("x", "x")], "'x' is below itself"),
        ([("x", "y"), (None, "y")], "row 1 has no child"),
    ],
)
def test_edges_that_make_no_sense(edges, words):
    with pytest.raises(LinkwiseError, match=words):
        _made(edges, [["x"], ["x"], ["x"]])


def test_annotations_that_make_no_sense():
    ids = ["a", "b", "c"]
    columns = (["x", "y"], ["top", "top"])
    with pytest.raises(LinkwiseError, match=r"'topp' is not a term of the ontology.\nHint: did you mean 'top'"):
        from_ontology(columns, ids, ["x", "topp", "y"], ids=ids)
    with pytest.raises(LinkwiseError, match="sample has 3 entries and term 2"):
        from_ontology(columns, ids, ["x", "y"], ids=ids)
    with pytest.raises(LinkwiseError, match="child has 1 entries and parent 2"):
        from_ontology((["x"], ["y", "z"]), ids, ids, ids=ids)
    with pytest.raises(LinkwiseError, match="is_a is int, expected OBO text"):
        from_ontology(3, ids, ids, ids=ids)
    with pytest.raises(LinkwiseError, match="ids holds 1 repeats"):
        from_ontology(columns, ids, ["x", "x", "y"], ids=["a", "a", "b"])
    with pytest.raises(LinkwiseError, match="from_ontology, line 4: T:2 is_a T:9, a term that is missing"):
        from_ontology("[Term]\nid: T:2\n\nis_a: T:9\n", ids, ids, ids=ids)
    with pytest.warns(LinkwiseWarning, match="no annotation names one of the 3 ids"):
        assert from_ontology(columns, ["z"], ["x"], ids=ids).n_statements == 0
