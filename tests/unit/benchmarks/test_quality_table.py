"""The quality table tells everyone the same, keeps what it computed, leaves no engine out, and counts right."""

from __future__ import annotations

import sys
import threading

import numpy as np
import pytest

from benchmarks import _quality_child as child, _quality_knowledge as knowledge, _quality_run as run, quality
from benchmarks._quality_contenders import CONTENDERS, Contender, Found, labels_of, missing_engines
from benchmarks._quality_knowledge import Knowledge, amounts, as_pairs, draw, samples
from benchmarks._quality_tables import Results, area, harm, interval, main_tables, rank_all
from linkwise import Kind, check

FEW = ["COPKMeans", "ReCon triplets", "KMeans"]


@pytest.fixture(scope="module")
def told():
    """Statements about xor, by the share of wrong answers."""
    return {wrong: draw("xor", "random", wrong, 3) for wrong in (0.0, 0.05, 0.1)}


@pytest.fixture
def others():
    """A Python that is asked as others are, and ended afterwards."""
    yield sys.executable
    run.end_children()


# -- what everybody is told ----------------------------------------------------------------------------------------


def test_sets_are_cut_to_the_same_samples_every_time():
    X, y = samples("xor")
    samples.cache_clear()
    again = samples("xor")[0]
    assert X.shape == (knowledge.MOST, 2)
    assert np.array_equal(X, again)
    assert set(y) == {0, 1}


def test_amounts_grow_to_one_per_sample():
    assert amounts(300) == [0, 10, 25, 50, 75, 100, 300]
    assert amounts(101) == [0, 10, 25, 50, 100, 101]


def test_smaller_amounts_are_the_beginning_of_larger_ones(told):
    y = samples("xor")[1]
    known = Knowledge(len(y), told[0.0])
    few, many = known.said("pairs", 10), known.said("pairs", 25)
    assert np.array_equal(few.items, many.items[:10])
    assert np.array_equal(few.kind, many.kind[:10])
    a, b = many.items[:, :2].T
    assert np.array_equal(many.kind == Kind.MUST_LINK, y[a] == y[b])
    assert known.touched("pairs", 10).sum() <= 20


def test_wrong_answers_are_about_the_same_pairs_and_nested(told):
    lists = {wrong: np.array(record["pairs"]) for wrong, record in told.items()}
    slips = {wrong: rows[:, 2] != lists[0.0][:, 2] for wrong, rows in lists.items()}
    assert all(np.array_equal(rows[:, :2], lists[0.0][:, :2]) for rows in lists.values())
    assert 0 < slips[0.05].sum() < slips[0.1].sum() < 60
    assert not (slips[0.05] & ~slips[0.1]).any()


def test_triplets_are_turned_not_replaced(told):
    y = samples("xor")[1]
    right, wrong = (np.array(told[share]["triplets"]) for share in (0.0, 0.1))
    a, b, c = right.T
    assert ((y[a] == y[b]) & (y[a] != y[c])).all()
    assert np.array_equal(np.sort(right, axis=1), np.sort(wrong, axis=1))
    assert 0 < (right[:, 2] != wrong[:, 2]).sum() < 60


def test_who_must_hold_them_gets_what_can_be_held(told):
    known = Knowledge(len(samples("xor")[1]), told[0.1])
    n = known.n_samples
    assert check(known.said("pairs", n).with_weight(np.inf), n_clusters=2).status == "infeasible"
    kept = known.kept("pairs", n, told_k=True)
    assert check(kept, n_clusters=2).status == "feasible"
    assert kept.is_hard.all()
    assert n - 60 < kept.n_statements < n
    assert kept.n_statements <= known.kept("pairs", n, told_k=False).n_statements


def test_informative_ones_are_those_k_means_gets_wrong():
    X, y = samples("iris")
    said = Knowledge(len(y), draw("iris", "informative", 0.0, 0)).said("pairs", 25)
    plain = knowledge.plain_labels(X, 3, 0)
    a, b = said.items[:, :2].T
    assert ((plain[a] == plain[b]) != (y[a] == y[b])).all()


def test_a_dialogue_asks_about_as_many_pairs_as_there_are_samples():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 15)
    rows = knowledge.converse(rng.normal(size=(30, 2)) + 6 * y[:, None], y, 0.0, 0)
    assert 0 < len(rows) <= 30
    assert all((y[a] == y[b]) == said for a, b, said in rows)


def test_pairs_keep_the_order_of_rows():
    said = as_pairs(5, [(0, 1, 0), (1, 2, 1), (3, 4, 0)])
    assert said.items[:, :2].tolist() == [[0, 1], [1, 2], [3, 4]]
    assert (said.kind == Kind.MUST_LINK).tolist() == [False, True, False]


# -- who takes part ------------------------------------------------------------------------------------------------


def test_no_engine_is_left_out():
    assert missing_engines() == set()


def test_an_engine_nobody_entered_is_named(monkeypatch):
    monkeypatch.delitem(CONTENDERS, "UltraTran")
    assert missing_engines() == {"UltraTran"}


def test_every_peer_has_a_method_in_the_child():
    assert {name for name, who in CONTENDERS.items() if who.whose == "peer"} == set(child.METHODS)


def test_labels_of_another_shape_are_refused():
    assert labels_of(Found([5, -1, 5]), 3).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="expected one for each of 4 samples"):
        labels_of(Found([0, 1]), 4)


def test_a_tree_is_cut_by_the_order_of_merges():
    Z = np.array([[0, 1, 9.0, 2], [2, 3, 1.0, 2], [4, 5, 2.0, 4]])  # heights that do not grow
    assert len(set(child.cut(Z, 3).tolist())) == 3
    a, b, c, d = child.cut(Z, 2)
    assert a == b != c == d


def test_a_peer_that_is_not_there_says_so(tmp_path, others):
    run.write_samples(["xor"], tmp_path)
    ask = {"method": "COBRAS", "seed": 0, "limit": 5.0, "wrong": 0.0, "amounts": [10]}
    ask |= {part: str(tmp_path / f"xor-{part}.npy") for part in ("X", "y")}
    assert "COBRAS" not in run.what_runs([others])
    assert "No module named 'cobras_ts'" in run.ask_child(others, ask, 600.0)["error"]


def test_a_peer_that_ends_is_started_anew(others):
    for _ in range(2):  # without a seed it dies of the question
        answer = run.ask_child(others, {"method": "nobody"}, 600.0)
        assert answer["error"] == "its process ended, or was silent for 600 seconds"
    assert run.ask_child(others, {"method": "nobody", "seed": 0}, 600.0)["error"] == "KeyError: 'limit'"


# -- counting ------------------------------------------------------------------------------------------------------


def test_each_step_of_a_curve_has_the_same_weight():
    assert area([0.0, 1.0, 1.0]) == 0.75
    assert area([0.4]) == 0.4
    assert area([0.2, 0.2, 0.2, 0.2]) == pytest.approx(0.2)


def test_ranks_are_by_set_and_equals_share_them():
    ranks = rank_all({"a": [0.9, 0.5], "b": [0.1, 0.5], "c": [0.5, 0.7]})
    assert {name: list(values) for name, values in ranks.items()} == {"a": [1, 2.5], "b": [3, 2.5], "c": [2, 1]}


def test_an_interval_holds_the_mean_and_shrinks_with_agreement():
    low, high = interval([1, 2, 3, 4, 5, 6, 7, 8])
    assert 2.5 < low < 4.5 < high < 6.5
    assert interval([3, 3, 3]) == (3, 3)


def point(amount, ari, **more):
    """One result."""
    return {
        "amount": amount,
        "ari": ari,
        "free": ari,
        "held": 1.0,
        "dead_end": False,
        "error": None,
        "seconds": 0.1,
    } | more


def test_tables_of_hand_made_results():
    def task(name, data, source):
        return {"curve": name, "set": data, "source": source, "wrong": 0.0, "seed": 0}

    results = Results(
        [
            (task("COPKMeans", "one", "none"), {"points": [point(0, 0.5)]}),
            (task("COPKMeans", "one", "random"), {"points": [point(10, 0.4), point(25, 0.7)]}),
            (task("COPKMeans", "two", "none"), {"points": [point(0, 0.0)]}),
            (task("COPKMeans", "two", "random"), {"points": [point(10, 0.0, error="x", held=None), point(25, 1.0)]}),
            (task("KMeans", "one", "none"), {"points": [point(0, 0.6)]}),
            (task("KMeans", "two", "none"), {"points": [point(0, 0.1)]}),
        ]
    )
    place = ("random", 0.0)
    assert results.areas("COPKMeans", ["one", "two"], place).tolist() == pytest.approx([0.5, 0.25])
    assert results.areas("KMeans", ["one", "two"], place).tolist() == [0.6, 0.1]
    assert results.areas("COPKMeans", ["one", "three"], place) is None
    share, loss = harm(results, "COPKMeans", ["one", "two"], [place])
    assert (share, loss) == (0.25, pytest.approx(0.1))
    lines = main_tables(results, ["COPKMeans", "KMeans"], ["one", "two"], [place])
    assert "| COPKMeans | 0.375 | 0.375 | 0.375 | 100% | 25% | 25.0% | 0% | 100 |" in lines
    assert "| KMeans (plain) | 1.5 (1.0 2.0) | 1.5 (1.0 2.0) |" in lines


def test_who_fails_or_is_slow_counts_zero(tmp_path, monkeypatch):
    def slow(_case):
        threading.Event().wait()  # until it is stopped

    def failing(_case):
        msg = "no"
        raise ValueError(msg)

    for fit, limit, words in ((slow, 0.05, "stopped after 0.05 seconds"), (failing, 600, "ValueError: no")):
        monkeypatch.setattr(run, "LIMIT", limit)
        monkeypatch.setitem(CONTENDERS, "COPKMeans", Contender("pairs", fit))
        task = {"curve": "COPKMeans", "set": "xor", "source": "none", "wrong": 0.0, "seed": 0, "params": {}}
        (found,) = run.compute_curve(task, str(tmp_path), "")["points"]
        assert found["ari"] == 0.0
        assert found["error"].startswith(words)


# -- the command ---------------------------------------------------------------------------------------------------


def test_a_quick_run_prints_tables_and_is_not_computed_again(tmp_path, capsys, monkeypatch):
    command = ["--quick", "--keep", str(tmp_path / "keep"), "--only", *FEW, "--sets", "iris"]
    files = ["--csv", str(tmp_path / "all.csv"), "--figure", str(tmp_path / "a.png"), "--out", str(tmp_path / "a.md")]
    assert quality.main(command + files) == 0
    first = capsys.readouterr().out
    assert "## Told pairs" in first
    assert "## Told triplets" in first
    assert (tmp_path / "a.md").read_text(encoding="utf-8") + "\n" == first
    assert (tmp_path / "a.png").stat().st_size > 1000
    # two sets: COPKMeans and ReCon without and with knowledge, KMeans without; 6 amounts on either set
    assert len((tmp_path / "all.csv").read_text(encoding="utf-8").splitlines()) == 1 + 3 * 2 + 2 * 2 * 6

    done = []
    real = run.compute
    monkeypatch.setattr(run, "compute", lambda task, *more: done.append(task) or real(task, *more))
    assert quality.main(command) == 0
    assert done == []
    assert quality.main([*command, "--again", "COPKMeans"]) == 0
    assert [task["curve"] for task in done] == ["COPKMeans"] * 4
    assert "ms" in capsys.readouterr().out
