"""The picture of a search: a line per method, the chosen candidate ringed, the impossible on the lower edge."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import make_blobs

from linkwise import ConstrainedAgglomerative, KnowledgeSearchCV
from linkwise.exceptions import LinkwiseError
from linkwise.plots import plot_search
from linkwise.sources import label_pairs

mpl.use("Agg")
X, Y = make_blobs(60, centers=[[0, 0], [6, 0], [0, 6]], cluster_std=1.0, random_state=1)
GRID = {"linkage": ["ward", "average"], "n_clusters": [1, 3, 5]}


@pytest.fixture(scope="module")
def search():
    return KnowledgeSearchCV(ConstrainedAgglomerative(), GRID, cv=4, random_state=0).fit(
        X, constraints=label_pairs(Y, 40, 0)
    )


def test_scores_stand_over_the_number_of_clusters_and_the_chosen_one_is_marked(search):
    ax = plot_search(search, title="three heaps")
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert {"chosen", "could not be fitted"} <= set(words)
    assert sum(word.startswith("ConstrainedAgglomerative(linkage=") for word in words) == 2
    ring = next(mark for mark in ax.collections if mark.get_label() == "chosen")
    x, y = ring.get_offsets()[0]
    assert round(x) == search.n_clusters_
    assert y == pytest.approx(search.best_score_)
    crosses = next(mark for mark in ax.collections if mark.get_label() == "could not be fitted")
    assert set(np.round(crosses.get_offsets()[:, 0])) == {1.0}
    ax.figure.draw_without_rendering()
    at = crosses.get_offset_transform().transform(crosses.get_offsets())
    lowest = ax.transData.transform((0, np.nanmin(search.cv_results_["mean_test_score"])))[1]
    assert (at[:, 1] == ax.get_window_extent().y0).all(), "on the axis, which is below all scores"
    assert (at[:, 1] < lowest).all()
    assert ax.get_xlim()[0] <= 1.0
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("n_clusters", "kappa on held-out statements")


def test_words_stand_side_by_side(search):
    ax = plot_search(search, "linkage")
    assert [text.get_text() for text in ax.get_xticklabels()] == ["ward", "average"]


def test_what_cannot_be_drawn_is_said(search):
    with pytest.raises(LinkwiseError, match="expected a searched parameter"):
        plot_search(search, "metric")
    with pytest.raises(LinkwiseError, match="not fitted"):
        plot_search(KnowledgeSearchCV(ConstrainedAgglomerative(), GRID))


def test_a_long_legend_stands_beside_the_lines():
    grid = {"linkage": ["ward", "average", "complete", "single", "weighted", "median"], "n_clusters": [2, 3]}
    said = label_pairs(Y, 40, 0)
    ax = plot_search(KnowledgeSearchCV(ConstrainedAgglomerative(), grid, cv=3, random_state=0).fit(X, constraints=said))
    ax.figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1
