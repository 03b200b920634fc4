"""The benchmark classes run at their smallest parameters and report sound figures, so they cannot rot unseen.

Nothing here is timed: how fast things are is for ``asv`` and ``benchmarks/peers.py`` to say.
"""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import benchmarks
import linkwise
from benchmarks._data import (
    SHAPES,
    blobs,
    chain,
    digits,
    links_of_classes,
    random_tree,
    statements,
    tree_of_shape,
    triplets_of_classes,
    triplets_of_tree,
)
from benchmarks._tree_quality import adjusted_rand, share_held
from linkwise import Constraints, Dendrogram, Kind
from linkwise.problem import onetree

FOLDER = Path(benchmarks.__file__).parent
MODULES = [importlib.import_module(f"benchmarks.{path.stem}") for path in sorted(FOLDER.glob("bench_*.py"))]
CLASSES = [
    thing
    for module in MODULES
    for name, thing in sorted(inspect.getmembers(module, inspect.isclass))
    if thing.__module__ == module.__name__ and not name.startswith("_")
]
SHARES = ("held", "accepted", "refused", "kept", "different_found", "renumbered_back", "cuts_agree", "heights_finite")


def methods(benchmark: object, prefix: str) -> list[str]:
    return [name for name in dir(benchmark) if name.startswith(prefix)]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: f"{kind.__module__.split('.')[-1]}.{kind.__name__}")
def test_a_benchmark_runs_at_its_smallest_parameters(kind, monkeypatch):
    monkeypatch.setattr("benchmarks.bench_start.ROUNDS", 1)
    smallest = [values[0] for values in kind.params]
    assert len(kind.param_names) == len(kind.params)
    benchmark = kind()
    benchmark.setup(*smallest)
    timed = methods(benchmark, "time_") + methods(benchmark, "peakmem_")
    for name in timed:
        getattr(benchmark, name)(*smallest)
    raw = methods(benchmark, "timeraw_")
    for name in raw:
        subprocess.run([sys.executable, "-c", getattr(benchmark, name)(*smallest)], capture_output=True, check=True)
    tracked = methods(benchmark, "track_")
    assert timed or raw
    assert tracked, "a benchmark that only times cannot show that faster got worse"
    for name in tracked:
        value = getattr(benchmark, name)(*smallest)
        assert np.isfinite(value)
        if name.removeprefix("track_") in SHARES:
            assert value <= 1
            assert value == 1 or name == "track_kept"


def test_every_estimator_is_benchmarked():
    text = "".join(path.read_text(encoding="utf-8") for path in FOLDER.glob("bench_*.py"))
    known = {name: getattr(linkwise.engines, name) for name in linkwise.engines.__all__}
    estimators = [name for name, one in known.items() if hasattr(one, "fit") and getattr(one, "understands", ())]
    assert len(estimators) >= 2
    assert [name for name in estimators if name not in text] == []


def test_the_asv_configuration_is_plain_json_and_its_folders_are_ignored():
    settings = json.loads((FOLDER / "asv.conf.json").read_text(encoding="utf-8"))
    assert settings["project"] == "linkwise"
    assert (FOLDER / settings["benchmark_dir"]).resolve() == FOLDER.resolve()
    for key in ("env_dir", "results_dir", "html_dir"):
        assert settings[key].startswith("../.venv/")


def test_statements_of_classes_agree_with_the_classes():
    _, y = blobs(200, classes=7)
    a, b, c = triplets_of_classes(y, 500).of(Kind.TRIPLET).T
    assert (y[a] == y[b]).all()
    assert (y[a] != y[c]).all()
    assert (a != b).all()
    links = links_of_classes(y, 500)
    apart = statements(y, "cannot-links", 300)
    assert apart.n_statements == 300
    assert (y[apart.of(Kind.CANNOT_LINK)[:, 0]] != y[apart.of(Kind.CANNOT_LINK)[:, 1]]).all()
    must, cannot = links.of(Kind.MUST_LINK), links.of(Kind.CANNOT_LINK)
    assert len(must) == len(cannot) == 250
    assert (y[must[:, 0]] == y[must[:, 1]]).all()
    assert (y[cannot[:, 0]] != y[cannot[:, 1]]).all()


def test_a_random_tree_displays_the_triplets_drawn_from_it():
    tree = random_tree(60)
    assert tree.is_binary
    assert tree.is_tree
    constraints = triplets_of_tree(tree, 400)
    assert tree.satisfies(constraints).all()
    assert len(np.unique(constraints.items)) == 60
    assert not random_tree(60, seed=9).satisfies(constraints).all()


def test_trees_have_the_shape_they_are_named_for_and_display_what_is_drawn_from_them():
    depth, widest = {}, {}
    for shape in SHAPES:
        tree = tree_of_shape(64, shape)
        assert tree.is_tree
        said = triplets_of_tree(tree, 500)
        assert said.n_statements == 500
        assert tree.satisfies(said).all()
        widest[shape] = np.bincount(tree.parent[:-1]).max()
        level = np.zeros(len(tree.parent), int)
        for node in range(len(tree.parent) - 2, -1, -1):
            level[node] = level[tree.parent[node]] + 1
        depth[shape] = level.max()
    assert widest == {"random": 2, "balanced": 2, "caterpillar": 2, "fans": 10}
    assert (depth["balanced"], depth["caterpillar"]) == (6, 63)
    assert depth["fans"] <= 3 < 6 < depth["random"] < 63


def test_a_chain_says_just_enough_for_a_caterpillar():
    rows = chain(50)
    assert len(rows) == 48
    parent = onetree(50, rows).parent
    assert (np.bincount(parent[parent >= 0])[50:] == 2).all()
    assert np.count_nonzero(parent[:50, None] == parent[:50]) == 52  # one cherry: the others have no leaf for a sister
    assert len(onetree(50, rows[1:]).parent) < len(parent)


def test_the_same_seed_draws_the_same_data():
    assert np.array_equal(blobs(50)[0], blobs(50)[0])
    assert not np.array_equal(blobs(50)[0], blobs(50, seed=1)[0])
    assert digits(30)[0].shape == (30, 64)
    y = blobs(50)[1]
    assert statements(y, "tree", 20) == statements(y, "tree", 20)
    assert not statements(y, "links", 0)


def test_quality_is_one_for_a_tree_of_the_classes_and_less_for_another():
    y = np.array([0, 0, 1, 1])
    good = Dendrogram.from_merges(4, [(0, 1), (2, 3), (4, 5)], [1.0, 1.0, 2.0])
    bad = Dendrogram.from_merges(4, [(0, 2), (1, 3), (4, 5)], [1.0, 1.0, 2.0])
    said = Constraints.build(4, triplets=[(0, 1, 2)])
    assert adjusted_rand(good, y) == share_held(good, said) == 1
    assert adjusted_rand(bad, y) < 0.5
    assert share_held(bad, said) == 0
    assert share_held(bad, Constraints.build(4)) == 1
