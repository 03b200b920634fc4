"""Nothing is unreadable at any size: texts do not overlap, stay in the picture, and are as long as they may be."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import scipy.sparse

from linkwise import Constraints, check
from linkwise.plots import plot_conflict, plot_curve, plot_dendrogram, plot_heatmap, plot_links
from linkwise.plots._captions import name_of, plain_text, shorten, width_of
from linkwise.plots._tree_layout import lay_out
from tests.counting import calls
from tests.unit.plots.scenes import axes, faults, names, statements, texts_of, tree

SIZES = [2, 10, 150, 3_000]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # missing glyphs and layouts that collapse warn
        yield


@pytest.mark.parametrize("width", [4.5, 9.0])
@pytest.mark.parametrize("n", SIZES)
def test_a_dendrogram_is_readable(n, width):
    made, labels = tree(n)
    said = statements(n, min(10, n)) if n > 2 else None
    ax = plot_dendrogram(made, labels=labels, constraints=said, ids=names(n), title="A heading", ax=axes(width))
    assert faults(ax.figure) == []


@pytest.mark.parametrize("n", [150, 3_000])
def test_a_folded_dendrogram_is_readable_and_shows_every_cluster(n):
    made, labels = tree(n, k=7)
    ax = plot_dendrogram(made, labels=labels, ids=names(n), max_leaves=30, ax=axes())
    assert len(ax.get_xticks()) == 30
    assert faults(ax.figure) == []
    written = {t.get_text() for t in ax.texts}
    assert written == {str(c) for c in range(7)}


@pytest.mark.parametrize("n", SIZES)
def test_links_are_readable(n):
    rng = np.random.default_rng(0)
    made, labels = tree(n)
    said = statements(n, min(10, n)) if n > 2 else None
    ax = plot_links(rng.normal(size=(n, 5)), said, labels=labels, tree=made, ids=names(n), title="Links", ax=axes())
    assert faults(ax.figure) == []


@pytest.mark.parametrize("distances", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_heatmaps_are_readable(n, distances):
    made, labels = tree(n)
    X = np.random.default_rng(0).normal(size=(n, 70))
    features = [f"a feature with a long name {j}" for j in range(70)]
    ax = plot_heatmap(
        X, made, labels=labels, ids=names(n), features=features, distances=distances, title="T", ax=axes()
    )
    assert faults(ax.figure) == []


@pytest.mark.parametrize("length", [1, 5, 13, 500])
def test_conflicts_are_readable(length):
    chain = np.column_stack([np.arange(length), np.arange(1, length + 1)])
    said = Constraints.build(length + 1, must_link=chain, cannot_link=[(0, length)]).with_ids(
        [f"{name} {i}" for i, name in enumerate(names(length + 1))]
    )
    ax = plot_conflict(check(said).explanation, said, ax=axes())
    assert faults(ax.figure) == []


@pytest.mark.parametrize("lines", [1, 4, 9])
def test_curves_are_readable(lines):
    curves = {
        f"a method with $ome name {i}": (np.arange(300), np.random.default_rng(i).random((3, 300)))
        for i in range(lines)
    }
    ax = plot_curve(curves, title="Curves", ax=axes())
    assert faults(ax.figure) == []


def test_dollars_are_no_formulas():
    made, _ = tree(6)
    ax = plot_dendrogram(made, ids=["$x^2$", "b", "c", "d", "e", "f"], ax=axes())
    assert "$x^2$" in [words for words, _ in texts_of(ax.figure)]
    assert all(not label.get_parse_math() for label in ax.get_xticklabels())


def test_names_are_thinned_evenly_and_the_picture_says_so():
    made, labels = tree(150)
    ax = plot_dendrogram(made, labels=labels, ids=names(150), ax=axes())
    step = np.diff(ax.get_xticks())
    assert (step == step[0]).all()
    assert step[0] > 1
    assert "150 samples, every" in ax.get_xlabel()


def test_long_names_keep_both_ends_and_wide_letters_count_twice():
    assert shorten("abcdefghijklmnopqrstuvwxyz", 10) == "abcde…wxyz"
    assert width_of(shorten("水" * 40, 11)) <= 11
    assert shorten("short", 10) == "short"


def test_names_are_one_plain_line():
    assert plain_text("a\nb\tc\u202e") == "a b c"
    assert plain_text("") == "\u2013"
    assert name_of(None, 7) == "7"


@pytest.mark.parametrize("draw", ["dendrogram", "links", "heatmap", "distances", "sparse"])
def test_50_000_samples_are_drawn_without_a_mark_for_each(draw, tmp_path):
    n = 50_000
    made, labels = tree(n, k=9)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 6))
    said = statements(n, 200)
    rows = scipy.sparse.random_array((n, 2_000), density=0.002, rng=rng, format="csr")

    def picture():
        ax = axes()
        if draw == "dendrogram":
            plot_dendrogram(made, labels=labels, constraints=said, ids=np.arange(n), ax=ax)
        elif draw == "links":
            plot_links(X, said, labels=labels, tree=made, ax=ax)
        elif draw == "sparse":
            plot_links(rows, said, labels=labels, ax=ax)
        else:
            plot_heatmap(X, made, labels=labels, distances=draw == "distances", ax=ax)
        ax.figure.savefig(tmp_path / "big.png")

    assert calls(picture) < 2_000_000  # 230,000 to 800,000; a mark for each sample takes fifty calls or more


def test_the_number_of_a_cluster_of_few_does_not_hide_a_sample():
    X = np.array([[0.0, 0.0], [1.0, 0.2], [0.5, 1.0], [0.4, 0.6], [0.9, 0.8], [0.6, 0.5], [9.0, 9.0]])
    labels = [0, 0, 0, 0, 0, 0, 1]
    ax = plot_links(X, None, labels=labels, ax=axes())
    assert {text.get_text() for text in ax.texts} == {"0", "1"}
    spots = ax.transData.transform(X)
    for text in ax.texts:
        box = text.get_window_extent()
        assert not any(box.contains(*spot) for spot in spots), text.get_text()


def test_names_stand_right_under_the_deepest_arc():
    made, labels = tree(150)
    order = np.argsort(lay_out(made, labels).slot)
    near = Constraints.build(150, must_link=[(order[0], order[1])])
    far = Constraints.build(150, must_link=[(order[0], order[-1])])
    low = [plot_dendrogram(made, labels=labels, constraints=said, ax=axes()).get_ylim()[0] for said in (near, far)]
    assert 2 * low[0] > low[1]  # both are below 0, and the picture of the short arc ends far higher


def test_many_lines_are_fainter_than_few_and_broken_ones_are_not():
    rng = np.random.default_rng(0)
    X, pairs = rng.normal(size=(400, 2)), rng.permutation(400).reshape(-1, 2)
    alphas = []
    for said in (pairs[:10], pairs):
        ax = plot_links(X, Constraints.build(400, must_link=said), labels=np.zeros(400, dtype=int), ax=axes())
        alphas.append(np.max(ax.collections[0].get_alpha()))
    broken = plot_links(X, Constraints.build(400, cannot_link=pairs), labels=np.zeros(400, dtype=int), ax=axes())
    assert alphas[1] < 0.5 * alphas[0]
    assert np.min(broken.collections[0].get_alpha()) == alphas[0]


def test_large_amounts_have_separators():
    ax = plot_curve({"a": (np.array([0, 20_000, 40_000]), np.array([[0.1, 0.2, 0.3]]))}, ax=axes())
    ax.figure.draw_without_rendering()
    assert "20,000" in {tick.get_text() for tick in ax.get_xticklabels()}
