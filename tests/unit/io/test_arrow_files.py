"""Parquet in and out: trees as they are, statements as those of CSV, labels in pieces."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from linkwise import Dendrogram, read_knowledge
from linkwise.exceptions import ConstraintError, LinkwiseError
from linkwise.io import read_tree, write_tree


def trees():
    forest = Dendrogram.from_merges(5, [(0, 1), (2, 5)], [2.0, 1.0], marked=[6, 3, 4])
    yield forest
    yield forest.joined()
    yield Dendrogram(3, [3, 3, -1, -1], ids=["a", "b,c", "d"])
    yield Dendrogram(3, [3, 3, 3, -1], ids=np.array([7, 9, 11]))


@pytest.mark.parametrize("tree", list(trees()))
def test_trees_come_back_equal(tmp_path, tree):
    write_tree(tmp_path / "t.parquet", tree)
    found = read_tree(tmp_path / "t.parquet")
    assert found == tree
    assert (found.ids is None) == (tree.ids is None)
    assert found.ids is None or found.ids.tolist() == tree.ids.tolist()


def test_other_parquet_is_not_taken_for_a_tree(tmp_path):
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "x.parquet")
    with pytest.raises(LinkwiseError, match=r"x\.parquet has the columns x, expected parent and height"):
        read_tree(tmp_path / "x.parquet")
    (tmp_path / "y.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(LinkwiseError, match=r"y\.parquet is not a readable Parquet"):
        read_tree(tmp_path / "y.parquet")


def test_statements_in_parquet_are_those_of_csv(tmp_path):
    rows = {"kind": ["must_link", "cannot_link", "triplet"], "a": ["x", "y,z", "x"], "b": ["y,z", "w", "w"]}
    rows |= {"c": [None, None, "y,z"], "weight": [None, 2.0, None]}
    pq.write_table(pa.table(rows), tmp_path / "s.parquet")
    (tmp_path / "s.csv").write_text(
        'kind,a,b,c,weight\nmust_link,x,"y,z",,\ncannot_link,"y,z",w,,2\ntriplet,x,w,"y,z",\n'
    )
    ids = ["w", "x", "y,z"]
    assert (
        read_knowledge(tmp_path / "s.parquet", ids).constraints == read_knowledge(tmp_path / "s.csv", ids).constraints
    )
    pq.write_table(pa.table({"kind": ["must_link", "near"], "a": [0, 1], "b": [1, 2]}), tmp_path / "bad.parquet")
    with pytest.raises(ConstraintError, match=r"bad\.parquet.*3.*near"):
        read_knowledge(tmp_path / "bad.parquet", 3)
