"""Pictures: the right things are drawn, and nothing needs a screen."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from linkwise import Constraints, Dendrogram
from linkwise.plots import plot_clusters, plot_dendrogram
from linkwise.plots._palette import cluster_colour

TREE = Dendrogram.from_merges(4, np.array([[0, 1], [2, 3], [4, 5]]), np.array([1.0, 3.0, 5.0]))


def axes():
    return Figure(figsize=(6, 4), layout="constrained").subplots()


def test_branches_wear_the_colour_of_their_cluster():
    ax = plot_dendrogram(TREE, labels=[0, 0, 1, 1], ax=axes())
    drawn = {to_hex(colour) for colour in ax.collections[0].get_colors()}
    assert drawn == {cluster_colour(0), cluster_colour(1), cluster_colour(-1)}


def test_a_cluster_keeps_its_colour_whatever_the_number_of_clusters():
    many = [cluster_colour(label) for label in range(60)]
    assert len(set(many)) == 60
    assert many[3] == cluster_colour(3)


def test_names_stand_under_their_leaves_in_drawn_order():
    tree = Dendrogram.from_merges(3, np.array([[0, 2], [1, 3]]), np.array([1.0, 2.0]))
    ax = plot_dendrogram(tree, ids=["a", "b", "c"], ax=axes())
    assert [text.get_text() for text in ax.get_xticklabels()] == ["b", "a", "c"]


def test_the_marked_cut_is_used_when_no_labels_are_given():
    tree = Dendrogram.from_merges(3, np.array([[0, 1], [2, 3]]), np.array([1.0, 2.0]), marked=[3, 2])
    ax = plot_dendrogram(tree, ax=axes())
    drawn = {to_hex(colour) for colour in ax.collections[0].get_colors()}
    assert {cluster_colour(0), cluster_colour(1)} <= drawn


def test_statements_become_arcs_below_the_leaves_with_a_legend():
    said = Constraints.build(4, must_link=[(0, 1)], cannot_link=[(0, 2), (1, 3)])
    ax = plot_dendrogram(TREE, labels=[0, 0, 1, 1], constraints=said, ax=axes())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["must-link (1)", "cannot-link (2)"]
    arcs = [c for c in ax.collections if len(c.get_paths()) == 2 and len(c.get_paths()[0].vertices) > 10]
    assert len(arcs) == 1
    assert all((path.vertices[:, 1] < 0).all() for path in arcs[0].get_paths())


def test_too_many_statements_are_not_drawn():
    said = Constraints.build(4, must_link=[(0, 1)] * 200)
    assert plot_dendrogram(TREE, constraints=said, ax=axes()).get_legend() is None


def test_a_forest_and_a_single_sample_can_be_drawn(tmp_path):
    forest = Dendrogram.from_merges(5, np.array([[0, 1], [2, 3]]), np.array([1.0, 2.0]))
    lone = Dendrogram.from_merges(1, np.empty((0, 2), dtype=int), np.empty(0))
    for tree in (forest, lone):
        ax = plot_dendrogram(tree, labels=np.zeros(tree.n_samples, dtype=int), ax=axes())
        ax.figure.savefig(tmp_path / "tree.svg")


def test_a_folded_tree_says_how_many_samples_a_branch_holds():
    ax = plot_dendrogram(TREE, max_leaves=2, ax=axes())
    assert [text.get_text() for text in ax.get_xticklabels()] == ["2 samples", "2 samples"]


def test_100_000_leaves_are_drawn_in_seconds(tmp_path):
    n = 100_000
    tree = Dendrogram.from_merges(n, np.arange(2 * n - 2).reshape(-1, 2), np.arange(1.0, n))
    start = time.perf_counter()
    plot_dendrogram(tree, labels=tree.cut(n_clusters=12), ax=axes()).figure.savefig(tmp_path / "big.png")
    assert time.perf_counter() - start < 15  # about one second; generous, since machines are shared


def test_clusters_are_drawn_through_principal_components():
    X = np.random.default_rng(0).normal(size=(50, 5)) * [10, 5, 1, 1, 1]
    said = Constraints.build(50, must_link=[(0, 1)], cannot_link=[(2, 3)])
    ax = plot_clusters(X, np.arange(50) % 3, said, ax=axes())
    assert ax.get_xlabel().startswith("component 1")
    drawn = np.concatenate([c.get_offsets() for c in ax.collections if len(c.get_offsets()) > 1])
    assert len(drawn) == 50
    assert drawn[:, 0].var() == pytest.approx(np.linalg.svd(X - X.mean(0))[1][0] ** 2 / 50)


@pytest.mark.parametrize("shape", [(1, 5), (3, 1), (4, 2), (2, 3)])
def test_few_samples_or_features_can_be_drawn(shape):
    ax = plot_clusters(np.arange(float(np.prod(shape))).reshape(shape), np.zeros(shape[0], dtype=int), ax=axes())
    assert len(ax.collections) == 1


def test_labels_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="expected one label for each of the 3 samples"):
        plot_clusters(np.eye(3), [0, 1], ax=axes())


def test_without_matplotlib_the_error_says_what_to_install():
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from linkwise.plots import plot_clusters\n"
        "try: plot_clusters([[0.0, 1.0]], [0])\n"
        "except ImportError as e: print(e)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'linkwise[plot]'" in done.stdout
