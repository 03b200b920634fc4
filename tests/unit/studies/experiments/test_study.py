"""A study computes each cell once, in any order and number of processes, and goes on whatever happens to one."""

from __future__ import annotations

import csv
import importlib.util
import json
import sys
from collections import Counter
from types import SimpleNamespace

import polars as pl
import pytest

from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from studies.experiments import Cell, Study, _workers, grid, read_records
from studies.experiments._default_measures import default_measures
from tests.unit.studies.experiments import toys

SMALL = {"data": "xor", "data_params": {"n_samples": 24}}
MEASURES = {"share": toys.share_of_first}


def toy(name, **more):
    return Cell(f"{toys.HERE}:{name}", **{**SMALL, **more})


def begun(log):
    lines = log.read_text().split("\n") if log.exists() else []
    return Counter(line.removeprefix("begin ") for line in lines if line.startswith("begin "))


def without_time(records):
    """Records as text, so that a measure without a number equals itself."""
    return [repr({name: value for name, value in record.items() if name != "seconds"}) for record in records]


# -- once ---------------------------------------------------------------------------------------------------------


def test_a_finished_cell_is_not_computed_again_also_by_another_study(tmp_path):
    log = tmp_path / "log"
    first = toys.study(tmp_path / "store", log, 5)
    summary = first.run()
    assert (summary.total, summary.reused, summary.done) == (5, 0, 5)
    assert first.run().reused == 5
    larger = toys.study(tmp_path / "store", log, 8)
    summary = larger.run()
    assert (summary.reused, summary.done) == (5, 3)
    assert begun(log) == {str(tag): 1 for tag in range(8)}


def test_cells_of_the_same_content_are_one(tmp_path):
    cells = toys.cells(tmp_path / "log", 3)
    study = Study([*cells, *cells], tmp_path / "store", measures=MEASURES)
    assert study.cells == tuple(cells)
    study.run()
    assert max(begun(tmp_path / "log").values()) == 1


def test_a_file_cut_short_is_computed_again_and_only_that(tmp_path):
    log = tmp_path / "log"
    study = toys.study(tmp_path / "store", log, 3)
    study.run()
    before = study.records()
    victim = min((tmp_path / "store").glob("??/*.json"))
    victim.write_bytes(victim.read_bytes()[:-20])
    assert len(study.records()) == 2
    assert study.run().done == 1
    assert sorted(begun(log).values()) == [1, 1, 2]
    assert without_time(study.records()) == without_time(before)


def test_another_tag_another_version_or_other_measures_are_other_results(tmp_path, monkeypatch):
    log, store = tmp_path / "log", tmp_path / "store"
    cells = toys.cells(log, 1)
    Study(cells, store, measures=MEASURES).run()
    Study(cells, store, measures=MEASURES, code="changed").run()
    Study(cells, store, measures={"other": toys.share_of_first}).run()
    monkeypatch.setattr("linkwise.__version__", "99.0")
    Study(cells, store, measures=MEASURES).run()
    assert begun(log) == {"0": 4}
    assert len(read_records(store)) == 4
    assert {record["version"] for record in read_records(store)} > {"99.0"}


# -- the same -----------------------------------------------------------------------------------------------------


def test_the_number_of_processes_and_the_order_change_nothing(tmp_path):
    cells = grid(
        engine=["ConstrainedAgglomerative", f"{toys.HERE}:chance"],
        data="xor",
        data_params={"n_samples": 30},
        amount=[0, 10],
        noise=0.2,
        knowledge="must_link",
        seed=range(2),
    )
    measures = {name: default_measures()[name] for name in ("pairwise_f", "satisfaction")}
    alone, together, backwards = (
        Study(order, tmp_path / name, measures=measures)
        for order, name in ((cells, "a"), (cells, "b"), (cells[::-1], "c"))
    )
    alone.run()
    summary = together.run(n_jobs=2)
    assert summary.done == 8, together.records()
    backwards.run()
    assert without_time(alone.records()) == without_time(together.records())
    assert without_time(alone.records()) == without_time(backwards.records())[::-1]


# -- going on -----------------------------------------------------------------------------------------------------


def test_one_engine_that_fails_does_not_stop_the_others(tmp_path):
    study = Study([toy("failing"), toy("chance")], tmp_path, measures=MEASURES)
    summary = study.run()
    assert (summary.done, summary.failed) == (1, 1)
    assert "no luck today" in study.records()[0]["error"]
    assert study.run().reused == 2
    assert study.run(retry=True).failed == 1


def test_a_process_that_dies_costs_one_cell(tmp_path):
    study = Study([toy("chance", seed=1), toy("dying"), toy("chance", seed=2)], tmp_path, measures=MEASURES)
    summary = study.run(n_jobs=2)
    assert (summary.done, summary.failed) == (2, 1)
    assert "died (exit code 7)" in study.records()[1]["error"]


def test_a_cell_out_of_time_is_stopped_and_a_higher_limit_tries_again(tmp_path, monkeypatch):
    log = tmp_path / "log"
    slow = toy("logged", params={"log": str(log), "tag": "slow", "gate": str(tmp_path / "never")})
    study = Study([slow, toy("chance")], tmp_path / "store", measures=MEASURES)
    # by this clock an hour goes by whenever the slow cell is begun, and no time otherwise
    monkeypatch.setattr(_workers, "time", SimpleNamespace(monotonic=lambda: 3600.0 * begun(log)["slow"]))
    summary = study.run(time_limit=0.2)
    assert (summary.done, summary.timed_out) == (1, 1)
    assert study.records()[0]["error"] == "stopped after 0.2 seconds"
    assert study.run(time_limit=0.1).reused == 2
    assert study.run(time_limit=0.3).timed_out == 1
    assert begun(log)["slow"] == 2


def test_a_missing_data_set_is_reported_once_and_the_others_go_on(tmp_path, monkeypatch):
    monkeypatch.delenv("LINKWISE_DATA", raising=False)
    cells = [toy("chance", data=data, data_params={}, seed=seed) for seed in range(3) for data in ("glass", "iris")]
    study = Study(cells, tmp_path / "store", measures=MEASURES)
    with pytest.warns(LinkwiseWarning, match="without glass, the study went on") as heard:
        summary = study.run()
    assert len([one for one in heard if "glass" in str(one.message)]) == 1
    assert summary.done == 3
    assert list(summary.unavailable) == ["glass"]
    assert "LINKWISE_DATA" in str(summary)
    folder = tmp_path / "data"
    folder.mkdir()
    (folder / "glass.csv").write_text("x,label\n1,a\n2,b\n3,b\n")
    again = Study(cells, tmp_path / "store", measures=MEASURES, data=folder).run()
    assert (again.reused, again.done) == (3, 3)  # what was missing is tried again


def test_wrong_wishes_are_refused_before_anything_is_computed(tmp_path):
    with pytest.raises(LinkwiseError, match="did you mean 'ReCon'"):
        Study([Cell("RecCon", "iris")], tmp_path / "a").run()
    with pytest.raises(LinkwiseError, match=r"the data set 'no\.such:thing' cannot be imported"):
        Study([Cell("ReCon", "no.such:thing")], tmp_path / "a").run()
    assert not (tmp_path / "a").exists()
    for wrong in ({"n_jobs": 0}, {"n_jobs": 1.5}, {"time_limit": 0}, {"time_limit": float("inf")}):
        with pytest.raises(LinkwiseError, match=f"{next(iter(wrong))} is .*, expected"):
            Study([], tmp_path / "a").run(**wrong)
    with pytest.raises(LinkwiseError, match="a measure is called seed"):
        Study([], tmp_path, measures={"seed": toys.nothing})


def test_a_measure_that_no_process_can_import_is_said(tmp_path):
    study = Study([toy("chance")], tmp_path, measures={"local": lambda *given: 0.0})
    with pytest.raises(LinkwiseError, match="cannot be sent to another process"):
        study.run(n_jobs=2)
    assert study.run().done == 1


def test_progress_is_told_to_a_callback(tmp_path):
    seen = []
    study = toys.study(tmp_path / "store", tmp_path / "log", 3)
    study.run(progress=lambda finished, total, record: seen.append((finished, total, record["share"])))
    assert seen == [(1, 3, 0.5), (2, 3, 0.5), (3, 3, 0.5)]


def test_a_bar_is_shown_only_on_a_terminal_or_when_told_to(tmp_path, capsys):
    toys.study(tmp_path / "a", tmp_path / "log", 2).run()
    assert capsys.readouterr().err == ""
    toys.study(tmp_path / "b", tmp_path / "log", 2).run(progress=True)
    assert "2/2" in capsys.readouterr().err


def test_an_error_in_a_callback_ends_the_run_and_keeps_what_is_finished(tmp_path):
    study = toys.study(tmp_path / "store", tmp_path / "log", 4)

    def stop(finished, total, record):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study.run(progress=stop)
    assert len(study.records()) == 1
    assert study.run().reused == 1


# -- what comes of it ---------------------------------------------------------------------------------------------


@pytest.fixture
def done(tmp_path):
    study = Study([toy("chance", seed=seed) for seed in range(3)] + [toy("failing")], tmp_path / "s", measures=MEASURES)
    study.run()
    return study


def test_records_are_plain_values_in_the_order_of_the_cells(done):
    records = done.records()
    assert [record["seed"] for record in records] == [0, 1, 2, 0]
    assert records[0]["params"] == {}
    assert records[0]["data_params"] == {"n_samples": 24}
    assert {"share", "seconds", "status", "version", "code", "key"} <= set(records[0])
    assert repr(done).startswith("Study(4 cells, results in ")


def test_csv(done, tmp_path):
    done.to_csv(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["status"] for row in rows] == ["done"] * 3 + ["failed"]
    assert [float(row["share"]) for row in rows[:3]] == [record["share"] for record in done.records()[:3]]
    assert rows[3]["share"] == ""
    assert json.loads(rows[0]["data_params"]) == {"n_samples": 24}


def test_parquet_holds_the_records_or_says_what_it_needs(done, tmp_path):
    path = tmp_path / "out.parquet"
    if importlib.util.find_spec("pyarrow") is None:
        with pytest.raises(ImportError, match="not installed"):
            done.to_parquet(path)
        return
    done.to_parquet(path)
    table = pl.read_parquet(path)
    assert table["share"].to_list() == [record.get("share") for record in done.records()]
    assert table["status"].to_list() == ["done"] * 3 + ["failed"]
    assert json.loads(table["data_params"][0]) == {"n_samples": 24}


def test_parquet_without_pyarrow_says_how_to_get_it(done, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r"pip install 'linkwise\[io\]'"):
        done.to_parquet(tmp_path / "out.parquet")
    assert not (tmp_path / "out.parquet").exists()
