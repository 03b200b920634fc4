"""The journey of docs/many-samples.md: its code and its commands, with results kept short as for many.

On 4,000 rows, on 50,000 in the full profile.
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from linkwise.cli import _cluster_verb, main
from linkwise.io import read_tree
from linkwise.metrics import adjusted_rand
from tests.profile import examples

PAGE = Path(__file__).parents[2] / "docs" / "many-samples.md"
N = examples(4_000, 50_000)


def blocks(language):
    part = PAGE.read_text(encoding="utf-8").split("## A million rows", 1)[1].split("\n## ", 1)[0]
    return re.findall(rf"```{language}\n(.*?)```", part, flags=re.DOTALL)


@pytest.mark.filterwarnings("ignore:greedy merging met a dead end")
def test_the_journey(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(_cluster_verb, "MANY", N)
    (code,), (commands,) = blocks("python"), blocks("sh")
    assert "1_000_000" in code
    made: dict = {}
    exec(code.replace("1_000_000", f"{N}"), made)
    said = []
    for line in commands.strip().splitlines():
        assert main(shlex.split(line)[1:]) == 0, line
        said.append(capsys.readouterr().out)
    assert "can all hold: " in said[0]
    assert "hard statements hold" in said[1]
    assert f"tree.parquet holds the tree, since {N:,} samples are many for Newick" in said[1]
    assert sorted(path.name for path in Path("result").iterdir()) == [
        "dendrogram.png",
        "labels.csv",
        "model.lwm",
        "report.html",
        "tree.parquet",
    ]
    labels = np.loadtxt("result/labels.csv", delimiter=",", skiprows=1, dtype=int)[:, 1]
    tree = read_tree("result/tree.parquet")
    assert adjusted_rand(tree.cut_marked(), labels) == 1
    kind, a, b = (np.array(column) for column in pq.read_table("said.parquet").columns)
    assert ((labels[a] == labels[b]) == (kind == "must_link")).all()
    assert adjusted_rand(labels, made["y"]) > 0.8
    new = pq.read_table("new-labels.parquet")
    assert new.num_rows == 1_000
    assert adjusted_rand(new.column("cluster").to_numpy(), np.repeat(np.arange(20), 50)) > 0.8
    assert json.loads(Path("short.json").read_text())
    assert Path("top.png").stat().st_size > 10_000
    assert main(["convert", "result/tree.parquet", "tree.json"]) == 0
    assert read_tree("tree.json") == tree


def test_members_are_not_listed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(0).normal(size=(60, 2))
    np.save("x.npy", X)
    assert main(["cluster", "x.npy", "-k", "3", "--method", "agglomerative", "-o", "long"]) == 0
    monkeypatch.setattr(_cluster_verb, "MANY", 60)
    assert main(["cluster", "x.npy", "-k", "3", "--method", "agglomerative", "-o", "short"]) == 0
    assert Path("short/report.html").stat().st_size < Path("long/report.html").stat().st_size
    assert (Path("long/tree.nwk").exists(), Path("short/tree.nwk").exists()) == (True, False)
