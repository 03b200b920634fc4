"""Labels and trees as files."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.cluster.hierarchy import is_valid_linkage

from linkwise import Dendrogram
from linkwise.exceptions import LinkwiseError
from linkwise.io import read_labels, read_tree, write_labels, write_tree
from tests.oracles.trees import clades

TREE = Dendrogram.from_merges(3, [(0, 1), (3, 2)], [1.0, 2.0])
NAMES = np.array(["=otter", "mi,nk", "seal"])


def test_labels_as_text(tmp_path):
    write_labels(tmp_path / "l.csv", [0, 0, 1], NAMES)
    assert (tmp_path / "l.csv").read_text() == 'sample,cluster\n\'=otter,0\n"mi,nk",0\nseal,1\n'
    write_labels(tmp_path / "l.tsv", np.array([0, 0, 1]))
    assert (tmp_path / "l.tsv").read_text() == "sample\tcluster\n0\t0\n1\t0\n2\t1\n"


def test_names_like_formulas_come_back_as_they_were(tmp_path):
    names = ["=1+1", "'=1+1", "@b", "-5", "'-5", "plain", "o'clock"]
    for ending in ("csv", "tsv", "parquet"):
        write_labels(tmp_path / f"labels.{ending}", range(7), names)
        assert read_labels(tmp_path / f"labels.{ending}")[0].tolist() == names
    assert "\n'=1+1," in (tmp_path / "labels.csv").read_text()


def test_labels_as_parquet(tmp_path):
    import pyarrow.parquet

    write_labels(tmp_path / "l.parquet", [0, 0, 1], NAMES)
    table = pyarrow.parquet.read_table(tmp_path / "l.parquet")
    assert table.to_pydict() == {"sample": ["=otter", "mi,nk", "seal"], "cluster": [0, 0, 1]}
    write_labels(tmp_path / "l.parquet", [0, 0, 1])
    assert pyarrow.parquet.read_table(tmp_path / "l.parquet").to_pydict() == {"sample": [0, 1, 2], "cluster": [0, 0, 1]}


def test_trees_in_three_forms(tmp_path):
    for name in ("t.nwk", "t.json", "t.npy"):
        write_tree(tmp_path / name, TREE, ids=["a", "b", "c"])
    assert (tmp_path / "t.nwk").read_text() == "(c:2.0,(a:1.0,b:1.0):1.0);\n"
    back = Dendrogram.from_json((tmp_path / "t.json").read_text())
    assert np.array_equal(back.parent, TREE.parent)
    Z = np.load(tmp_path / "t.npy", allow_pickle=False)
    assert is_valid_linkage(Z)
    assert np.array_equal(Dendrogram.from_linkage(Z).parent, TREE.parent)


@pytest.mark.parametrize("name", ["t.nwk", "t.json", "t.npy"])
def test_a_tree_comes_back_from_every_form(tmp_path, name):
    write_tree(tmp_path / name, TREE)
    back = read_tree(tmp_path / name)
    assert back.height[2:].tolist() == [0.0, 1.0, 2.0]
    assert clades(3, back.parent) == clades(3, TREE.parent)


def test_a_tree_with_names_keeps_its_own(tmp_path):
    named = Dendrogram(2, [2, 2, -1], ids=["otter", "seal"])
    write_tree(tmp_path / "t.nwk", named, ids=["a", "b"])
    assert (tmp_path / "t.nwk").read_text() == "(otter:1.0,seal:1.0);\n"


@pytest.mark.parametrize(
    ("write", "words"),
    [
        (lambda path: write_labels(path / "l.xlsx", [0]), r"ends in '\.xlsx', expected \.csv, \.tsv or \.parquet"),
        (lambda path: write_labels(path / "l.csv", [0], ["a", "b"]), "1 labels for 2 samples"),
        (lambda path: write_labels(path / "l.parquet", [0], ["a", "b"]), "1 labels for 2 samples"),
        (lambda path: write_tree(path / "t.svg", TREE), r"ends in '\.svg', expected \.nwk, \.json, \.parquet or \.npy"),
        (lambda path: write_tree(path / "t.npy", Dendrogram(2, [-1, -1])), "holds one tree"),
    ],
)
def test_what_cannot_be_written_leaves_no_file(tmp_path, write, words):
    with pytest.raises(LinkwiseError, match=words):
        write(tmp_path)
    assert list(tmp_path.iterdir()) == []
