"""Each paper's numbers: small runs give numbers in range, draw by draw the same, and what is said of them is true."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
import scipy.sparse

from linkwise import Taxonomy, datasets
from linkwise.papers import Found, Settings
from linkwise.papers import _bade as bade
from linkwise.papers import _davidson as davidson
from linkwise.papers import _klein as klein
from linkwise.papers import _liu as liu
from linkwise.papers import _zheng as zheng
from linkwise.papers._sets import on_hand, scaled


@pytest.fixture
def settings(tmp_path):
    return Settings(quick=True, store=tmp_path)


# -- Klein, Kamvar, Manning --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", klein.LINES)
def test_methods_keep_what_they_are_told_and_score_in_range(line):
    X, y, metric = klein.points("xor", 3, 40, None)
    labels, known = klein.solve(line, X, y, metric, 6, 3, None)
    assert known.n_statements <= 6
    for (a, b), same in zip(known.items[:, :2].tolist(), known.kind == 0, strict=True):
        assert (labels[a] == labels[b]) == same
    found = klein.score("xor", line, 6, 3, 40)
    assert 0 <= found["constrained_rand"] <= 1
    assert found == klein.score("xor", line, 6, 3, 40)


def test_how_many_statements_a_score_takes():
    def need(*values):
        return klein.needed([Found("a", x, value) for x, value in zip((0, 5, 10), values, strict=True)], "a")

    assert need(0.5, 0.95, 0.99) == 5
    assert need(0.95, 0.5, 0.99) == 10
    assert need(0.9, 0.9, 0.9) == 0
    assert need(0.5, 0.5, 0.5) == float("inf")


@pytest.mark.parametrize(
    ("asked", "told", "cop", "fits"),
    [(5, 20, 30, True), (5, 5, 30, True), (20, 5, 30, False), (5, 40, 30, False), (9, 9, 9, False)],
)
def test_the_order_of_the_paper_is_told_from_others(asked, told, cop, fits):
    assert klein.as_in_the_paper({"active CCL": asked, "CCL": told, "CKM": cop}) == fits


def test_the_figures_of_a_paper_say_what_their_numbers_say(settings, monkeypatch):
    monkeypatch.setattr(klein, "GRID", (0, 8, 8, 8, 40))
    small = {name: partial(lambda draw, _, **seed: draw(40, **seed), draw) for name, draw in klein.SHAPES.items()}
    monkeypatch.setattr(klein, "SHAPES", small)
    (figure,) = klein.accuracy("8", ["xor"])(settings)
    need = [klein.needed(figure.found, line) for line in ("active CCL", "CCL", "CKM")]
    assert (figure.verdict == "same") == (need == sorted(need) and need[0] < need[2])
    assert {one.x for one in figure.found} == {0, 8}
    mix, *_ = klein.mixes(settings)
    assert len(mix.lines()) == 5
    picture, *_ = klein.pictures(settings)
    assert [len(panel.labels) for panel in picture.panels] == [len(picture.panels[0].X)] * 6


# -- Liu, Zhang, Wang --------------------------------------------------------------------------------------------------


def test_all_informative_triplets_give_the_classes_and_no_triplets_the_baseline():
    assert liu.score("iris", "ReCon + Euclidean", "informative", 1.0, 0)["f"] == 1.0
    plain = liu.score("iris", "Hierarchical", "random", 0.0, 0)["f"]
    assert liu.score("iris", "ReCon + Euclidean", "random", 0.0, 5)["f"] == plain
    learned = liu.score("iris", "K-Means + SVM-Metric", "random", 0.5, 0)["f"]
    assert learned != liu.score("iris", "K-Means", "random", 0.5, 0)["f"]


def test_the_ordering_of_schemes_is_judged_by_their_means():
    held = {
        (scheme, share): [{"f": 0.9 if scheme == "ReCon + Euclidean" else 0.5, "seconds": 1.0}]
        for scheme in liu.SCHEMES
        for share in (0.0, 0.5, 1.0)
    }
    assert liu._judge("wine", "random", held)[0] == "same"
    assert liu._judge("iris", "random", held)[0] == "different"
    assert liu._judge("wine", "informative", held)[0] == "different"  # 0.9 is not 100 %
    held["ReCon + Euclidean", 1.0] = [{"f": 1.0, "seconds": 1.0}]
    assert liu._judge("wine", "informative", held)[0] == "same"
    assert liu._judge("iris", "informative", held)[0] == "same"  # the exception is about random triplets


# -- Zheng, Li ---------------------------------------------------------------------------------------------------------


def test_a_row_below_the_paper_is_named():
    rows = [
        Found("Iris, HAC", "FScore", 0.8906, printed=0.8906),
        Found("Iris, IPoptim", "FScore", 0.89, 0.001, 10, 0.93),
    ]
    rows.append(Found("Iris, HAC", "milliseconds", 2.0, printed=100.0))
    verdict, why = zheng._judge_table(rows)
    assert verdict == "different"
    assert "below the paper: Iris IPoptim." in why
    assert "To four digits: Iris, HAC." in why
    assert zheng._judge_table(rows[::2])[0] == "same"


def test_sets_are_scaled_as_named():
    X = scaled("wine", "minmax").X
    assert (X.min(), X.max()) == (0.0, 1.0)
    np.testing.assert_allclose(np.linalg.norm(scaled("iris", "unit").X, axis=1), 1.0)


# -- Davidson, Basu ----------------------------------------------------------------------------------------------------


def test_trials_are_the_same_whatever_block_they_are_in():
    whole = davidson.trials("iris", 0, 3)
    last = davidson.trials("iris", 2, 1)
    assert set(whole) == set(davidson.METHODS)
    for method in davidson.METHODS:
        assert whole[method][2] == last[method][0]
        assert all(0 <= value <= 1 for row in whole[method] for value in row)


def test_distances_are_counted_as_the_tutorial_counts_them():
    found = davidson.count("iris")
    assert found["all"] == 149**2
    assert found["all"] >= found["delta 0.002"] >= found["delta 0.01"] >= found["delta 0.02"]
    assert 0 < found["gamma share"] < 1


# -- Bade, Nürnberger --------------------------------------------------------------------------------------------------


@pytest.fixture
def texts(monkeypatch):
    rng = np.random.default_rng(0)
    node = np.repeat([1, 3, 4, 5, 6], 12)  # 0 -> 1, 2; 2 -> 3, 4; root 7 -> 5, 6 below it
    parent = np.array([-1, 0, 0, 2, 2, 7, 7, -1])
    X = scipy.sparse.csr_array(
        rng.poisson(0.6, size=(60, 30)) + 3.0 * (rng.random((60, 30)) < 0.1) * (node[:, None] > 3)
    )
    data = datasets.Data(X, node, "made", taxonomy=Taxonomy(parent, node))
    monkeypatch.setattr(bade.datasets, "load", lambda *_: data)
    bade.read.cache_clear()
    yield bade.read("made", 40, None)
    bade.read.cache_clear()


def test_labels_leave_out_what_the_setting_hides(texts):
    rng = np.random.default_rng(1)
    assert len(bade.unknown_nodes(texts, 1, rng)) == 0
    (leaf,) = bade.unknown_nodes(texts, 2, rng)
    assert leaf in texts.node
    hidden = bade.unknown_nodes(texts, 3, rng)
    assert len(hidden) > 1
    told = bade.label(texts, 3, hidden, rng)
    assert not np.isin(texts.node[told], hidden).any()
    assert (np.unique(texts.node[told], return_counts=True)[1] == 3).all()


def test_three_measures_of_four_methods(texts):
    found = bade.score("made", 1, 3, 0, runs=2, terms=40)
    assert set(found) == set(bade.METHODS)
    assert all(0 <= value <= 1 for values in found.values() for value in values)
    held = {
        (setting, 5): [{m: [v] * 3 for m, v in zip(bade.METHODS, (0.5, s, 0.7, 0.7), strict=True)}]
        for setting, s in ((1, 0.8), (3, 0.4))
    }
    assert bade._judge(held, (5,), 0, 1)[0] == "same"
    assert bade._judge(held, (5,), 0, 3)[0] == "same"


def test_sets_that_are_not_there_are_left_out_and_named(settings, monkeypatch):
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    assert on_hand(settings, ["iris", "crabs"]) == ["iris"]
    assert on_hand(settings, ["crabs"]) == []
    assert len(settings.notes) == 1
    assert "Without crabs" in settings.notes[0]
