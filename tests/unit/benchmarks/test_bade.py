"""The experiment of Bade and Nürnberger runs, and draws labels as it says; on made texts, which are always there."""

from __future__ import annotations

import json
from types import SimpleNamespace

import numpy as np
import pytest

from benchmarks import bade
from linkwise.datasets import noisy_taxonomy


@pytest.fixture
def data():
    return noisy_taxonomy(90, n_nodes=8, features="text", n_features=80, noise=0.5, random_state=1)


@pytest.fixture
def texts(data, monkeypatch):
    monkeypatch.setattr(bade, "load", lambda _: data)
    return bade.read("made", 40)


def test_terms_are_weighted_and_the_heaviest_kept(texts, data):
    assert texts.X.shape == (90, 40)
    assert ((texts.X > 0).sum(axis=0) >= 5).all()
    assert not np.array_equal(texts.X.data, np.round(texts.X.data))
    assert np.array_equal(texts.node, data.y + 1)


def test_unknown_classes_have_no_labels(texts):
    rng = np.random.default_rng(0)
    assert len(bade.unknown_nodes(texts, 1, rng)) == 0
    (leaf,) = bade.unknown_nodes(texts, 2, rng)
    assert leaf not in texts.parent
    hidden = bade.unknown_nodes(texts, 3, rng)
    (top,) = [v for v in hidden if texts.parent[v] not in hidden]
    assert 1 < len(hidden) < 8  # a whole subtree, but not the whole tree
    assert texts.parent[texts.parent[top]] < 0
    assert set(np.flatnonzero(np.isin(texts.parent, hidden))) == set(hidden) - {top}
    told = bade.label(texts, 5, np.array([leaf]), rng)
    per_node = np.bincount(texts.node[told], minlength=8)
    size = np.bincount(texts.node, minlength=8)
    assert per_node[leaf] == 0
    known = (np.arange(8) != leaf) & (size > 0)
    assert np.array_equal(per_node[known], np.minimum(5, np.maximum(1, size[known] // 3)))


@pytest.mark.usefixtures("texts")
def test_the_script_prints_and_writes_figures(capsys, tmp_path):
    file = tmp_path / "figures.json"
    options = ["--data", "made", "--settings", "1", "2", "--per-class", "3", "--draws", "1", "--runs", "2"]
    assert bade.main([*options, "--json", str(file)]) == 0
    assert capsys.readouterr().out.count("| made |") == 2
    for line in json.loads(file.read_text(encoding="utf-8")):
        row = SimpleNamespace(**line).draws[0]
        assert all(0 <= value <= 1 for method in bade.METHODS for value in row[method])
        assert row["train"][1] <= row["train"][0]
