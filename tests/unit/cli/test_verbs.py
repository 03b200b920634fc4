"""Verbs beside cluster and check: what they write and say, as text and as JSON, and the exit code."""

from __future__ import annotations

import io
import json
import re

import pytest

from linkwise.cli import main
from linkwise.io import read_knowledge, read_labels, read_tree

DATA = "name,x,y,kind\notter,0,0,a\nmink,0,1,a\nstoat,1,0,a\nseal,9,9,b\nwalrus,9,8,b\norca,30,1,c\n"
SAID = "kind,a,b,note\nmust_link,otter,orca,both swim\ncannot_link,otter,mink,\n"
BAD = "kind,a,b\nmust_link,x,y\nmust_link,y,z\ncannot_link,x,z\nmust_link,u,v\ncannot_link,u,v\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Results with and without knowledge, made once."""
    folder = tmp_path_factory.mktemp("made")
    (folder / "data.csv").write_text(DATA)
    (folder / "said.csv").write_text(SAID)
    start = ["cluster", str(folder / "data.csv"), "--id", "name", "--drop", "kind", "-k", "3", "--quiet"]
    assert main([*start, "-o", str(folder / "plain")]) == 0
    assert main([*start, "-c", str(folder / "said.csv"), "-o", str(folder / "out")]) == 0
    return folder


@pytest.fixture
def here(made, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("data.csv", "said.csv"):
        (tmp_path / name).write_text((made / name).read_text())
    for name in ("plain", "out"):
        (tmp_path / name).symlink_to(made / name)
    (tmp_path / "bad.csv").write_text(BAD)
    return tmp_path


def spoken(capsys, *arguments, code=0):
    capsys.readouterr()  # what was said before is no JSON
    assert main([*arguments, "--json"]) == code
    told = capsys.readouterr()
    return json.loads(told.out)


def test_new_rows_are_assigned_from_a_file_or_a_pipe(here, capsys, monkeypatch):
    (here / "new.csv").write_text("name,x,y\nvole,0.5,0.5\nwhale,9,8.5\n")
    assert main(["assign", "plain", "new.csv"]) == 0
    piped = capsys.readouterr().out
    of = dict(zip(*(column.tolist() for column in read_labels("plain/labels.csv")), strict=True))
    assert piped == f"sample,cluster\nvole,{of['otter']}\nwhale,{of['seal']}\n"
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO((here / "new.csv").read_bytes())))
    assert main(["assign", "plain/model.lwm", "-o", "labels.tsv"]) == 0
    assert read_labels(here / "labels.tsv")[0].tolist() == ["vole", "whale"]
    told = spoken(capsys, "assign", "plain", "new.csv")
    assert [row["sample"] for row in told["assigned"]] == ["vole", "whale"]


def test_new_rows_need_the_columns_of_the_model(here, capsys):
    (here / "new.csv").write_text("name,x\nvole,0.5\n")
    assert main(["assign", "plain", "new.csv"]) == 1
    assert "lacks 1 of the 2 columns the model was made from: y" in capsys.readouterr().err


def test_why_names_each_line_once(here, capsys):
    taxonomy = "sample,path\notter,near/wet\nmink,near/dry\nstoat,near/dry\nseal,far/a\nwalrus,far/a\norca,far/b\n"
    (here / "taxonomy.csv").write_text(taxonomy)
    options = ["-c", "taxonomy.csv"]
    assert (
        main(["cluster", "data.csv", "--id", "name", "--drop", "kind", *options, "-k", "3", "-o", "tree", "--quiet"])
        == 0
    )
    assert main(["why", "tree", "otter", "mink", *options]) == 0
    told = capsys.readouterr().out
    assert "#" not in told
    for listed in re.findall(r"lines? ([\d, and]+) force", told):
        numbers = re.findall(r"\d+", listed)
        assert numbers == sorted(set(numbers), key=int)
    assert re.search(r"; (line \d+ forces|lines \d+(, \d+)* and \d+ force) that", told)


def test_why_names_numbers_or_lines(here, capsys):
    assert main(["why", "out", "otter", "mink"]) == 0
    assert "#1 cannot_link(otter, mink)" in capsys.readouterr().out
    assert main(["why", "out", "otter", "mink", "-c", "said.csv"]) == 0
    told = capsys.readouterr().out
    assert "line 3 cannot_link(otter, mink)" in told
    assert "#" not in told
    assert spoken(capsys, "why", "out", "otter", "orca")["forced"] == "together"


@pytest.mark.parametrize(
    ("kind", "ending", "begins"),
    [("tree", "png", b"\x89PNG"), ("links", "svg", b"<?xml"), ("heatmap", "png", b"\x89PNG")],
)
def test_pictures_are_drawn_and_not_replaced(here, capsys, kind, ending, begins):
    arguments = ["plot", "plain", "-o", f"picture.{ending}", "--kind", kind, "--quiet"]
    assert main(arguments) == 0
    assert (here / f"picture.{ending}").read_bytes().startswith(begins)
    assert main(arguments) == 1
    assert "give --force" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0


@pytest.mark.parametrize("ending", ["html", "md", "json"])
def test_reports_of_a_model_that_was_saved(here, ending):
    assert main(["report", "out", "--before", "plain", "-o", f"report.{ending}", "--title", "Sea and land"]) == 0
    assert "Sea and land" in (here / f"report.{ending}").read_text(encoding="utf-8")


def test_scores_find_samples_by_name_or_row(here, capsys):
    by_name = spoken(capsys, "score", "plain", "data.csv", "--column", "kind", "--id", "name")
    assert by_name["samples"] == 6
    assert by_name["adjusted_rand"] == pytest.approx(1.0)
    (here / "truth.csv").write_text("row,kind\n1,a\n2,a\n3,a\n4,b\n5,\n6,c\n")
    assert spoken(capsys, "score", "plain", "truth.csv", "--column", "kind")["samples"] == 5
    assert "constrained_rand" in spoken(capsys, "score", "out", "data.csv", "--column", "kind")
    assert main(["score", "plain", "data.csv", "--column", "nothing"]) == 1
    assert "which data.csv does not have" in capsys.readouterr().err


def test_scores_and_reports_show_classes_against_clusters(here, capsys):
    table = spoken(capsys, "score", "plain", "data.csv", "--column", "kind", "--id", "name")["confusion"]
    assert sum(map(sum, table["counts"])) == 6
    assert table["accuracy"] == 1.0
    assert main(["score", "plain", "data.csv", "--column", "kind", "--id", "name"]) == 0
    assert "Classes by clusters, matched: 1.0000 of the samples" in capsys.readouterr().out
    for ending in ("html", "md", "json"):
        assert main(["report", "plain", "-o", f"judged.{ending}", "--truth", "data.csv", "--column", "kind"]) == 0
        text = (here / f"judged.{ending}").read_text(encoding="utf-8")
        assert ("accuracy" if ending == "json" else "Known classes") in text
    assert main(["report", "plain", "-o", "other.md", "--column", "kind"]) == 2
    assert "belong to --truth" in capsys.readouterr().err


def test_what_moved_between_two_results(here, capsys):
    told = spoken(capsys, "compare", "plain", "out")
    assert {row["sample"] for row in told["moved"]} <= {"otter", "mink", "stoat", "orca"}
    assert told["moved"]
    assert main(["compare", "plain", "plain/labels.csv"]) == 0
    assert "0 samples moved." in capsys.readouterr().out


def test_explain_lists_every_conflict_with_lines(here, capsys):
    assert main(["explain", "bad.csv"]) == 3
    told = capsys.readouterr().out
    assert "cannot all hold: 2 conflicts." in told
    assert told.index("Removing any one of these repairs it:") < told.index("Why:")
    assert "line 4: cannot_link(x, z)" in told
    assert main(["explain", "said.csv"]) == 0
    assert len(spoken(capsys, "explain", "bad.csv", code=3)["conflicts"]) == 2
    assert spoken(capsys, "explain", "said.csv", "-k", "1", code=4)["conflicts"][0]["conflict"][0]["line"] == 3


def test_repair_drops_the_lines_it_is_told_and_writes_only_what_holds(here, capsys):
    assert main(["repair", "bad.csv", "--drop", "4", "-o", "left.csv"]) == 3
    assert "still cannot all hold; nothing was written" in capsys.readouterr().out
    assert not (here / "left.csv").exists()
    told = spoken(capsys, "repair", "bad.csv", "--drop", "4", "--drop", "6", "-o", "left.csv")
    assert [row["line"] for row in told["dropped"]] == [4, 6]
    assert read_knowledge(here / "left.csv").constraints.n_statements == 3
    assert main(["repair", "bad.csv", "--drop", "4", "--drop", "6", "-o", "left.csv"]) == 1
    assert main(["repair", "bad.csv", "--drop", "9", "-o", "other.csv"]) == 2
    assert "there is no statement in that line" in capsys.readouterr().err


def test_repair_asks_and_keeps_notes(here, capsys, monkeypatch):
    (here / "noted.csv").write_text(SAID + "must_link,mink,orca,\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("what\n1\n"))
    assert main(["repair", "noted.csv", "--ask", "-o", "left.jsonl"]) == 0
    assert "[1] drop line" in capsys.readouterr().out
    assert read_knowledge(here / "left.jsonl").constraints.n_statements == 2
    monkeypatch.setattr("sys.stdin", io.StringIO("q\n"))
    assert main(["repair", "noted.csv", "--ask", "-o", "none.csv"]) == 130
    assert not (here / "none.csv").exists()


def test_repair_by_itself_drops_the_fewest(here, capsys):
    assert len(spoken(capsys, "repair", "bad.csv", "--auto", "-o", "left.csv")["dropped"]) == 2
    assert main(["check", "left.csv"]) == 0


def test_repair_for_a_number_of_clusters_drops_what_does_not_fit(here, capsys, monkeypatch):
    (here / "apart.csv").write_text("kind,a,b,weight\ncannot_link,x,y,\ncannot_link,y,z,\ncannot_link,x,z,2\n")
    assert spoken(capsys, "repair", "apart.csv", "--auto", "-o", "all.csv")["dropped"] == []
    told = spoken(capsys, "repair", "apart.csv", "--auto", "-k", "2", "-o", "left.csv")
    assert [row["line"] for row in told["dropped"]] == [4]
    assert main(["check", "left.csv", "-k", "2"]) == 0
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n"))
    (here / "hard.csv").write_text("kind,a,b\ncannot_link,x,y\ncannot_link,y,z\ncannot_link,x,z\n")
    assert main(["repair", "hard.csv", "--ask", "-k", "2", "-o", "asked.csv"]) == 0
    assert main(["check", "asked.csv", "-k", "2"]) == 0


def test_check_tells_bounds_coverage_and_use(here, capsys):
    told = spoken(capsys, "check", "said.csv", "--data", "data.csv", "--id", "name", "--drop", "kind", "-k", "3")
    assert (told["k_min"], told["k_max"]) == (2, 5)
    assert told["utility"]["coverage"] == pytest.approx(0.5)
    assert 0 <= told["utility"]["informativeness"] <= 1
    assert (told["max_degree"], told["inductiveness"]) == (1, 1)


def test_check_tells_degree_and_inductiveness_of_cannot_links(here, capsys):
    (here / "star.csv").write_text("kind,a,b\ncannot_link,x,y\ncannot_link,x,z\ncannot_link,x,w\n")
    assert main(["check", "star.csv"]) == 0
    line = "Maximum cannot-link degree 3, inductiveness 1: 2 clusters or more are possible without search."
    assert line in capsys.readouterr().out.splitlines()


def test_the_most_telling_statements_are_written(here, capsys):
    told = spoken(capsys, "select", "said.csv", "-m", "1", "-o", "best.csv")
    assert len(told["chosen"]) == 1
    assert read_knowledge(here / "best.csv").constraints.n_statements == 1


def test_knowledge_and_trees_change_their_form(here, capsys):
    (here / "lines.txt").write_text("otter mink | seal\notter != seal\n")
    assert main(["convert", "lines.txt", "said.jsonl", "--data", "data.csv", "--id", "name"]) == 0
    assert read_knowledge("said.jsonl").constraints.n_statements == 2
    for source, target in (("plain", "tree.json"), ("tree.json", "tree.npy"), ("out/tree.nwk", "tree.nwk")):
        assert main(["convert", source, target]) == 0, capsys.readouterr().err
        assert read_tree(target).n_samples == 6
    assert sorted(read_tree("tree.json").ids.tolist()) == ["mink", "orca", "otter", "seal", "stoat", "walrus"]


def test_texts_categories_gaps_and_several_files(here, capsys):
    (here / "notes.csv").write_text("id,body\n1,a cat sat\n2,the cat ran\n3,stocks fell\n4,stocks rose\n")
    assert main(["cluster", "notes.csv", "--id", "id", "--text", "body", "-k", "2", "-o", "texts", "--quiet"]) == 0
    labels = read_labels("texts/labels.csv")[1].tolist()
    assert labels[0] == labels[1] != labels[2] == labels[3]
    (here / "gaps.csv").write_text("x,y,z\n1,2,u\n2,,v\n9,9,u\n")
    (here / "more.csv").write_text("kind,a,b\ncannot_link,0,1\n")
    (here / "most.csv").write_text("kind,a,b\ncannot_link,0,2\n")
    options = ["--categories", "z", "--impute", "median", "--scale", "minmax", "-c", "more.csv", "-c", "most.csv"]
    assert spoken(capsys, "cluster", "gaps.csv", *options, "-o", "gaps")["statements"] == 2


def test_texts_are_asked_about_as_texts(here, capsys, monkeypatch):
    (here / "notes.csv").write_text("id,body\n1,a cat sat\n2,the cat ran\n3,stocks fell\n4,stocks rose\n")
    monkeypatch.setattr("sys.stdin", io.StringIO("n\nq\n"))
    assert main(["ask", "notes.csv", "--id", "id", "--text", "body", "-l", "log.jsonl", "--budget", "2"]) == 0
    told = capsys.readouterr().out
    assert "1: a cat sat\n" in told or "3: stocks fell\n" in told or "2: the cat ran\n" in told
    assert "saved 1: no." in told


def test_errors_and_warnings_are_json_when_asked(here, capsys):
    assert main(["cluster", "none.csv", "-o", "new", "--json"]) == 1
    told = json.loads(capsys.readouterr().err)
    assert (told["exit_code"], told["kind"]) == (1, "FileNotFoundError")
    assert main(["cluster", "data.csv", "-k", "x", "-o", "new", "--json"]) == 2
    assert "expected a number of clusters (1 or more) or auto" in json.loads(capsys.readouterr().err)["error"]
    (here / "wide.csv").write_text("x,y\n1,1000\n2,5000\n3,2000\n")
    assert main(["cluster", "wide.csv", "-o", "new", "--json"]) == 0
    told = capsys.readouterr()
    assert "spreads" in json.loads(told.err)["warning"]
    assert json.loads(told.out)["samples"] == 3
    assert main(["info", "--json"]) == 0
    assert "numba" in json.loads(capsys.readouterr().out)


def test_every_verb_takes_json_and_helps():
    from linkwise.cli._main import commands

    for name, verb in commands.commands.items():
        assert "--json" in [option for param in verb.params for option in param.opts], name
        assert verb.short_help, name
        assert verb.help, name
