"""The picture of a study: means and bands are what they say, and nothing unlike is averaged."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats

from linkwise.exceptions import LinkwiseError
from studies.experiments import plot_records
from tests.unit.studies.experiments import toys


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def record(**more):
    base = {
        "engine": "m:A",
        "params": {},
        "data": "iris",
        "status": "done",
        "amount": 0,
        "seed": 0,
        "noise": 0.0,
        "f": 0.5,
    }
    return base | more


def table():
    rng = np.random.default_rng(0)
    return [
        record(engine=engine, params=params, amount=amount, seed=seed, f=float(rng.random()))
        for engine, params in (("m:A", {}), ("m:A", {"k": 2}), ("B", {}))
        for amount in (10, 0, 20)
        for seed in range(5)
    ]


def test_one_line_per_engine_with_mean_and_band():
    records = table()
    ax = plot_records(records, "amount", "f")
    assert [line.get_label() for line in ax.get_lines()] == ["A", "A(k=2)", "B"]
    first = ax.get_lines()[0]
    assert first.get_xdata().tolist() == [0, 10, 20]
    values = [
        [r["f"] for r in records if r["engine"] == "m:A" and not r["params"] and r["amount"] == amount]
        for amount in (0, 10, 20)
    ]
    np.testing.assert_allclose(first.get_ydata(), [np.mean(v) for v in values])
    low, high = stats.t.interval(0.95, 4, loc=np.mean(values[0]), scale=stats.sem(values[0]))
    edge = ax.collections[0].get_paths()[0].vertices
    at_zero = edge[edge[:, 0] == 0][:, 1]
    assert at_zero.min() == pytest.approx(low)
    assert at_zero.max() == pytest.approx(high)
    assert ax.get_title(loc="left") == "iris"


def test_a_single_seed_has_no_band():
    ax = plot_records([record(amount=0), record(amount=5)], "amount", "f")
    assert np.ptp(ax.collections[0].get_paths()[0].vertices[:, 1]) == 0


def test_what_failed_is_counted_in_the_legend():
    records = [*table(), record(status="failed", f=None), record(status="timeout", seed=9)]
    ax = plot_records(records, "amount", "f")
    assert ax.get_lines()[0].get_label() == "A, without 2 that failed"
    assert ax.get_lines()[2].get_label() == "B"


def test_nothing_unlike_is_averaged():
    records = [record(), record(data="wine")]
    with pytest.raises(LinkwiseError, match=r"differ in data: \"iris\", \"wine\".*\n.*where={'data': ...}"):
        plot_records(records, "amount", "f")
    assert plot_records(records, "amount", "f", where={"data": "wine"}).get_title(loc="left") == "wine"
    assert len(plot_records(records, "amount", "f", by="data").get_lines()) == 2
    with pytest.raises(LinkwiseError, match="differ in engine"):
        plot_records([record(), record(engine="B")], "amount", "f", by="noise")


@pytest.mark.parametrize(
    ("records", "options", "what"),
    [
        ([], {}, "nothing to draw"),
        ([record(status="failed")], {}, "nothing to draw"),
        ([record(f=float("nan"))], {}, "no finished record has a number"),
        ([record()], {"y": "g"}, "no record has a field 'g'; there are"),
        ([record()], {"x": "g"}, "no record has a field 'g'"),
        ([record()], {"where": {"data": "wine"}}, "nothing to draw"),
        ([record()], {"confidence": 95}, "confidence is 95"),
    ],
)
def test_what_cannot_be_drawn_is_said(records, options, what):
    with pytest.raises(LinkwiseError, match=what):
        plot_records(records, **{"x": "amount", "y": "f", **options})


def test_a_study_is_plotted_in_one_line(tmp_path):
    study = toys.study(tmp_path / "store", tmp_path / "log", 2)
    study.run()
    _, ax = plt.subplots()
    assert study.plot(x="amount", y="share", ax=ax) is ax
    assert len(ax.get_lines()) == 2
