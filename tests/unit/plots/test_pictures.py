"""Pictures: the right things are drawn, and nothing needs a screen."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from linkwise import Constraints, Dendrogram, check
from linkwise.exceptions import LinkwiseError
from linkwise.plots import plot_clusters, plot_conflict, plot_curve, plot_dendrogram, plot_heatmap, plot_links
from linkwise.plots._style import BLAMED, cluster_color, luminance, text_on
from tests.counting import calls

TREE = Dendrogram.from_merges(4, np.array([[0, 1], [2, 3], [4, 5]]), np.array([1.0, 3.0, 5.0]))


def axes():
    return Figure(figsize=(6, 4), layout="constrained").subplots()


def test_branches_wear_the_color_of_their_cluster():
    ax = plot_dendrogram(TREE, labels=[0, 0, 1, 1], ax=axes())
    drawn = {to_hex(color) for color in ax.collections[0].get_colors()}
    assert drawn == {cluster_color(0), cluster_color(1), cluster_color(-1)}


def test_a_cluster_keeps_its_color_whatever_the_number_of_clusters():
    many = [cluster_color(label) for label in range(60)]
    assert len(set(many)) == 60
    assert many[3] == cluster_color(3)


def test_numbers_on_cluster_colors_can_be_read():
    for label in range(-1, 80):
        color = cluster_color(label)
        light, dark = sorted((luminance(color), luminance(text_on(color))), reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.3  # WCAG asks for 4.5, and for 3 when the letters are bold and large


def test_names_stand_under_their_leaves_in_drawn_order():
    tree = Dendrogram.from_merges(3, np.array([[0, 2], [1, 3]]), np.array([1.0, 2.0]))
    ax = plot_dendrogram(tree, ids=["a", "b", "c"], ax=axes())
    assert [text.get_text() for text in ax.get_xticklabels()] == ["b", "a", "c"]


def test_the_marked_cut_is_used_when_no_labels_are_given():
    tree = Dendrogram.from_merges(3, np.array([[0, 1], [2, 3]]), np.array([1.0, 2.0]), marked=[3, 2])
    ax = plot_dendrogram(tree, ax=axes())
    drawn = {to_hex(color) for color in ax.collections[0].get_colors()}
    assert {cluster_color(0), cluster_color(1)} <= drawn


def test_statements_become_arcs_below_the_leaves_with_a_legend():
    said = Constraints.build(4, must_link=[(0, 1)], cannot_link=[(0, 2), (1, 3)])
    ax = plot_dendrogram(TREE, labels=[0, 0, 1, 1], constraints=said, ax=axes())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["must-link (1)", "cannot-link (2)"]
    arcs = [c for c in ax.collections if len(c.get_paths()) == 2 and len(c.get_paths()[0].vertices) > 10]
    assert len(arcs) == 1
    assert all((path.vertices[:, 1] < 0).all() for path in arcs[0].get_paths())


def test_of_too_many_statements_the_blamed_and_broken_come_first_and_the_legend_says_so():
    said = Constraints.build(4, must_link=[(0, 1)] * 200, cannot_link=[(0, 1)], triplets=[(0, 1, 2)])
    ax = plot_dendrogram(TREE, labels=[0, 0, 1, 1], constraints=said, blamed=[0, 200], max_arcs=10, ax=axes())
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "must-link (8 of 200 drawn)",
        "cannot-link (1)",
        "triplet ab|c (1)",
        "thick: broken (1)",
        "blamed (2)",
    ]


def test_broken_statements_are_thick_and_blamed_ones_glow():
    said = Constraints.build(4, must_link=[(0, 1), (0, 2)])
    ax = plot_dendrogram(TREE, labels=[0, 0, 1, 1], constraints=said, blamed=[1], ax=axes())
    glow, arcs = [c for c in ax.collections if len(c.get_paths()[0].vertices) > 10]
    assert to_hex(glow.get_colors()[0]) == BLAMED
    assert len(glow.get_paths()) == 1
    assert arcs.get_linewidths()[1] > arcs.get_linewidths()[0]


def test_an_explanation_can_be_blamed():
    said = Constraints.build(4, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 1)])
    ax = plot_dendrogram(TREE, constraints=said, blamed=check(said).explanation, ax=axes())
    assert "blamed (2)" in [text.get_text() for text in ax.get_legend().get_texts()]
    with pytest.raises(LinkwiseError, match="blamed names statement 9"):
        plot_dendrogram(TREE, constraints=said, blamed=[9], ax=axes())


def test_folding_gives_every_cluster_its_share():
    n = 3_000
    merges = np.column_stack([np.r_[0, n + np.arange(n - 2)], np.arange(1, n)])  # a chain
    tree = Dendrogram.from_merges(n, merges, np.arange(1.0, n))
    labels = np.where(np.arange(n) < n // 2, 0, 1 + np.arange(n) % 2)  # of which only one is a branch
    ax = plot_dendrogram(tree, labels=labels, max_leaves=25, ax=axes())
    assert len(ax.get_xticks()) == 25


def test_a_forest_and_a_single_sample_can_be_drawn(tmp_path):
    forest = Dendrogram.from_merges(5, np.array([[0, 1], [2, 3]]), np.array([1.0, 2.0]))
    lone = Dendrogram.from_merges(1, np.empty((0, 2), dtype=int), np.empty(0))
    for tree in (forest, lone):
        ax = plot_dendrogram(tree, labels=np.zeros(tree.n_samples, dtype=int), ax=axes())
        ax.figure.savefig(tmp_path / "tree.svg")


def test_a_folded_tree_says_how_many_samples_a_branch_holds():
    ax = plot_dendrogram(TREE, max_leaves=2, ax=axes())
    assert [text.get_text() for text in ax.get_xticklabels()] == ["2 samples", "2 samples"]


def test_100_000_leaves_are_drawn_without_a_line_for_each(tmp_path):
    n = 100_000
    tree = Dendrogram.from_merges(n, np.arange(2 * n - 2).reshape(-1, 2), np.arange(1.0, n))
    labels = tree.cut(n_clusters=12)

    def picture():
        plot_dendrogram(tree, labels=labels, ax=axes()).figure.savefig(tmp_path / "big.png")

    assert calls(picture) < 1_500_000  # 400,000; a line for each leaf takes millions


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


def lines_of(ax):
    return [c for c in ax.collections if type(c).__name__ == "LineCollection"]


def test_every_kind_of_statement_is_drawn_between_its_samples():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [5.0, 5.0], [6.0, 5.0]])
    said = Constraints.build(4, must_link=[(0, 1)], cannot_link=[(1, 2)], triplets=[(2, 3, 0)])
    ax = plot_links(X, said, labels=[0, 0, 1, 1], tree=TREE, ax=axes())
    must, cannot, close, away = (c.get_paths()[0].vertices for c in lines_of(ax))
    assert must.tolist() == X[[0, 1]].tolist()
    assert cannot.tolist() == X[[1, 2]].tolist()
    assert close.tolist() == X[[2, 3]].tolist()
    assert away.tolist() == [[5.5, 5.0], [0.0, 0.0]]  # from between the close two to the third


def test_sparse_rows_are_projected_on_their_singular_vectors():
    dense = np.abs(np.random.default_rng(0).normal(size=(40, 9)))
    ax = plot_links(scipy.sparse.csr_array(dense), None, ax=axes())
    drawn = np.linalg.norm(ax.collections[0].get_offsets(), axis=0)
    assert drawn == pytest.approx(np.linalg.svd(dense)[1][:2])
    assert "not centered" in ax.get_xlabel()


def test_many_features_are_projected_like_few():
    X = np.random.default_rng(0).normal(size=(60, 500)) * np.linspace(3, 1, 500)
    drawn = plot_links(X, None, ax=axes()).collections[0].get_offsets()
    assert np.linalg.norm(drawn, axis=0) == pytest.approx(np.linalg.svd(X - X.mean(0))[1][:2])


def test_heatmap_rows_follow_the_tree_and_columns_are_standardized():
    tree = Dendrogram.from_merges(3, [(0, 2), (1, 3)], [1.0, 5.0])
    X = np.array([[0.0, 5.0], [9.0, 5.0], [3.0, 5.0]])
    image = plot_heatmap(X, tree, ax=axes()).images[0].get_array()
    z = (X[:, 0] - X[:, 0].mean()) / X[:, 0].std()
    assert image[:, 0].tolist() == pytest.approx(z[[1, 0, 2]].tolist())
    assert image[:, 1].tolist() == [0, 0, 0]  # a constant feature has no color


def test_heatmap_of_distances_shows_the_distances():
    X = np.array([[0.0], [9.0], [3.0]])
    tree = Dendrogram.from_merges(3, [(0, 2), (1, 3)], [1.0, 5.0])
    image = plot_heatmap(X, tree, distances=True, ax=axes()).images[0].get_array()
    assert image.tolist() == [[0, 9, 6], [9, 0, 3], [6, 3, 0]]
    given = plot_heatmap(np.abs(X - X.T), tree, metric="precomputed", ax=axes()).images[0].get_array()
    assert given.tolist() == image.tolist()


def test_heatmap_averages_many_rows_and_says_so():
    n = 5_000
    tree = Dendrogram.from_merges(n, np.arange(2 * n - 2).reshape(-1, 2), np.arange(1.0, n))
    ax = plot_heatmap(np.random.default_rng(0).normal(size=(n, 3)), tree, ax=axes())
    assert len(ax.images[0].get_array()) == 1_000
    assert "5 to a line" in ax.get_ylabel()
    with pytest.raises(LinkwiseError, match="X has 3 rows, but the tree has 5,000"):
        plot_heatmap(np.eye(3), tree, ax=axes())


def test_heatmap_of_many_features_takes_those_that_differ_between_clusters():
    X = np.random.default_rng(0).normal(size=(4, 200)) * 0.01
    X[:2, 150] += 100.0
    names = [f"f{j}" for j in range(200)]
    for table in (X, scipy.sparse.csr_array(X)):
        ax = plot_heatmap(table, TREE, labels=[0, 0, 1, 1], features=names, ax=axes())
        assert ax.images[0].get_array().shape == (4, 60)
        assert "60 of 200 features" in ax.get_xlabel()


def test_curves_show_the_mean_and_its_band():
    ax = plot_curve({"a": {0: [1.0, 3.0], 5: [2.0]}}, ax=axes())
    assert ax.lines[0].get_xydata().tolist() == [[0, 2], [5, 2]]
    low, high = (
        ax.collections[0].get_paths()[0].vertices[:, 1].min(),
        ax.collections[0].get_paths()[0].vertices[:, 1].max(),
    )
    assert high - 2 == pytest.approx(12.706, abs=0.01)  # Student's t with one degree of freedom times one
    assert 2 - low == pytest.approx(12.706, abs=0.01)


def test_curves_take_plain_arrays_in_any_order_and_leave_gaps():
    ax = plot_curve([10, 0, 5], [[0.9, 0.5, np.nan]], ax=axes())
    drawn = ax.lines[0].get_xydata()
    assert drawn[:, 0].tolist() == [0, 5, 10]
    assert np.isnan(drawn[1, 1])
    assert ax.get_legend() is None


@pytest.mark.parametrize("wrong", [{}, [1, 2], {"a": ([0, 1], [1.0])}, {"a": 3}, {"a": {}}])
def test_curves_refuse_what_cannot_be_drawn(wrong):
    with pytest.raises(LinkwiseError, match="plot_curve"):
        plot_curve(wrong, ax=axes())


def test_a_conflict_is_drawn_with_its_statements_and_what_repairs_it():
    said = Constraints.from_ids(["a", "b", "c", "d"], must_link=[("a", "b"), ("b", "c")], cannot_link=[("a", "c")])
    why = check(said).explanation
    ax = plot_conflict(why, said, ax=axes())
    written = [text.get_text() for text in ax.texts]
    assert {"a", "b", "c", "#0", "#1", "#2"} == set(written)
    glowing = [line for line in ax.lines if line.get_linewidth() == 7]
    assert len(glowing) == len(why.suspects) == 3
    assert "dropping any one of these repairs it" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_a_conflict_of_triplets_and_groups_can_be_drawn():
    knot = Constraints.build(4, triplets=[(0, 1, 2), (1, 2, 3), (2, 3, 0), (0, 2, 1)])
    groups = Constraints.build(6, together=[[0, 1, 2, 3]], apart=[[3, 4, 0]])
    for said in (knot, groups):
        ax = plot_conflict(check(said).explanation, said, ax=axes())
        assert ax.get_title(loc="left") == "2 statements cannot hold together"
    with pytest.raises(LinkwiseError, match="not about these constraints"):
        plot_conflict([], knot, ax=axes())
