"""What a move of a branch says: where it lands, what the tree shows already, and what speaks against it."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from linkwise.app._drag import branch_body
from linkwise.exceptions import LinkwiseError
from tests.app.engine_work import blobs, fitter, opened, random_moves, row, smallest_branch

N = 120
ITEMS, _ = blobs(N)


def told(made, a, b):
    return {one["reading"]: one for one in made.drag(a, b, made.now.seq)["readings"]}


def test_moves_land_where_they_say_and_undo_brings_the_former_tree_back():
    made, heard = fitter(ITEMS, opened())
    before = heard.last("tree")[1]
    seq = 1
    for a, b in islice(random_moves(np.random.default_rng(0), made), 6):
        for reading, one in told(made, a, b).items():
            body = one["body"]
            seq += 1
            made.add([row(seq, "move", body, via="drag")])
            made.work()
            assert heard.last("tree")[0]["marks"][str(seq)] == "holds"
            A, B = made.roll.rows(body["A"]), made.roll.rows(body["B"])
            together = smallest_branch(made.now.picture, A + B)
            if reading == "branch":
                assert together == len(A) + len(B)
                assert smallest_branch(made.now.picture, A) == len(A)
                assert smallest_branch(made.now.picture, B) == len(B)
            elif reading == "group":
                assert len(set(made.now.picture.labels[A + B])) == 1
            seq += 1
            made.add([row(seq, "undo", {"target": seq - 1})])
            made.work()
            assert made.now.picture.pack(0) == made.at(1).picture.pack(0)
    assert made.now.picture.pack(1) == before


def test_what_the_tree_shows_already_is_known_and_changes_nothing():
    made, _ = fitter(ITEMS, opened())
    parent, n = made.now.picture.sketch.parent, N
    mother = next(int(v) for v in parent[:n] if (parent[:n] == v).sum() == 2)
    a, b = (int(v) for v in np.flatnonzero(parent == mother))
    one = told(made, a, b)
    assert one["branch"]["already"]
    assert "apart" not in one or not one["apart"]["already"]
    labels = made.now.picture.pack(0)
    made.add([row(2, "move", one["branch"]["body"])])
    made.work()
    assert made.now.picture.pack(0) == labels


def test_contradictions_are_told_before_the_drop_with_the_statements_to_change():
    made, _ = fitter(ITEMS, opened())
    a, b = next(random_moves(np.random.default_rng(2), made, least=3))
    body = branch_body(ITEMS, made.now.picture, a, b)
    made.add(
        [
            row(2, "say", {"kind": "cannot_link", "items": [body["A"][1], body["B"][0]]}),
            row(3, "say", {"kind": "must_link", "items": ["i0", "i1"]}),
        ]
    )
    made.work()
    rows = made.roll.rows([*body["A"], *body["B"]])
    A, B = made.roll.rows(body["A"]), made.roll.rows(body["B"])
    parent, size = made.now.picture.sketch.parent, made.now.picture.sketch.width
    nodes = {}
    for v in range(len(parent)):
        nodes.setdefault(frozenset(made.now.picture.below(v).tolist()), v)
    if frozenset(A) in nodes and frozenset(B) in nodes:
        found = told(made, nodes[frozenset(A)], nodes[frozenset(B)])
        assert found["group"]["contradicts"] == {"seqs": [2]}
        assert found["branch"]["contradicts"] is None
    else:
        pytest.fail(f"the branches should have stayed: {len(rows)}, {size.max()}")


def test_moves_that_make_no_sense_are_refused():
    made, _ = fitter(ITEMS, opened())
    root = len(made.now.picture.sketch.parent) - 1
    for a, b in ((0, 0), (0, root), (root, 0)):
        with pytest.raises(LinkwiseError, match="outside of it"):
            made.drag(a, b)
    with pytest.raises(LinkwiseError, match="no branch 999"):
        made.drag(0, 999)
    with pytest.raises(LinkwiseError, match="the tree has changed"):
        made.drag(0, 1, 7)
