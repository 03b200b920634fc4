"""The commands from outside: what they write, what they say where, and the exit code."""

from __future__ import annotations

import csv
import html
import io
import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest

from linkwise import Dendrogram, check, read_knowledge
from linkwise.cli import main

DATA = "name,x,y\notter,0,0\nmink,0,1\nstoat,1,0\nseal,9,9\nwalrus,9,8\norca,30,1\n"
SAID = "type,a,b,c\nmust_link,otter,orca,\ncannot_link,otter,mink,\n"


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "said.csv").write_text(SAID)
    return tmp_path


def labels(path) -> dict[str, str]:
    with path.open(newline="") as file:
        return {row["sample"]: row["cluster"] for row in csv.DictReader(file)}


def test_cluster_writes_everything_and_obeys(here, capsys):
    code = main(["cluster", "data.csv", "--id", "name", "-c", "said.csv", "-k", "3", "-o", "out"])
    told = capsys.readouterr()
    assert (code, told.err) == (0, "")
    assert sorted(path.name for path in (here / "out").iterdir()) == [
        "dendrogram.png",
        "labels.csv",
        "model.lwm",
        "report.html",
        "tree.nwk",
    ]
    found = labels(here / "out" / "labels.csv")
    assert set(found) == {"otter", "mink", "stoat", "seal", "walrus", "orca"}
    assert found["otter"] == found["orca"] != found["mink"]
    assert len(set(found.values())) == 3
    assert "All 2 hard statements hold" in told.out
    listed = [line.strip() for line in told.out.splitlines() if line.strip().startswith("out")]
    assert sorted(listed) == sorted(str(path.relative_to(here)) for path in (here / "out").iterdir())
    assert "no picture" not in told.out
    assert (here / "out" / "dendrogram.png").read_bytes().startswith(b"\x89PNG")
    page = (here / "out" / "report.html").read_text(encoding="utf-8")
    assert "walrus" in page
    assert "All 2 statements hold." in page


def test_a_rule_about_sizes_is_obeyed_without_a_tree(here, capsys):
    (here / "size.csv").write_text("kind,a,b\nsize_between,3,3\n")
    options = ["cluster", "data.csv", "--id", "name", "-o", "out", "--force"]
    assert main(options) == 0
    assert main([*options, "-k", "2", "-c", "size.csv"]) == 0
    assert "size_between 3 to 3 holds." in capsys.readouterr().out
    assert sorted(path.name for path in (here / "out").iterdir()) == [
        "labels.csv",
        "links.png",
        "model.lwm",
        "report.html",
    ]  # nothing stays of the tree that was there before
    found = list(labels(here / "out" / "labels.csv").values())
    assert sorted(map(found.count, set(found))) == [3, 3]
    page = html.unescape((here / "out" / "report.html").read_text(encoding="utf-8"))
    assert "lw.cluster(table.X, said.constraints, n_clusters=2, method='COPKMeans')" in page
    for wrong in (["--height", "3"], ["--linkage", "ward"], ["--method", "copkmeans", "--linkage", "ward"]):
        assert main([*options, "-c", "size.csv", *wrong]) == 2
        told = capsys.readouterr().err
        assert f"{' '.join(wrong[-2:])} belongs to methods that make a tree; COPKMeans" in told
        assert "makes none.\nHint: give the number of clusters, as in -k 5, and no linkage." in told
    assert main([*options, "-k", "auto", "-c", "size.csv"]) == 0
    assert "have the largest silhouette" in capsys.readouterr().out


def test_many_rows_are_clustered_without_a_matrix_of_distances(here, capsys, monkeypatch):
    monkeypatch.setattr("linkwise._memory.MATRIX", 5)
    options = ["cluster", "data.csv", "--id", "name", "-c", "said.csv", "--force", "-o", "out"]
    assert main([*options, "-k", "3", "--effort", "quick"]) == 0
    told = capsys.readouterr()
    assert "COPKMeans(): 6 samples are too many for a matrix of distances." in told.out
    assert told.err == ""
    assert not (here / "out" / "tree.nwk").exists()
    ward = "ConstrainedAgglomerative(linkage='ward')"
    for more, method, why in (
        (["-k", "3"], "SparseAgglomerative(refine=True)", "6 samples are merged along nearest neighbors first."),
        (["--height", "3"], "SparseAgglomerative()", "since it is to be cut at a height"),
        (["-k", "3", "--linkage", "ward"], ward, "since ward linkage was asked for"),
        (["-k", "3", "--method", "agglomerative"], ward, "so Ward linkage"),
    ):
        assert main([*options, *more]) == 0
        told = capsys.readouterr()
        assert method in told.out
        assert why in told.out
        assert told.err == ""
        assert (here / "out" / "tree.nwk").exists()


def test_numbers_of_clusters_of_many_rows_are_compared_without_a_matrix_too(here, capsys, monkeypatch):
    heaps(here)
    monkeypatch.setattr("linkwise._memory.MATRIX", 5)
    monkeypatch.setattr("linkwise.selection._automatic.COMPARE", 10)
    assert main(["cluster", "heaps.csv", "--id", "name", "-c", "true.csv", "-k", "auto", "-o", "out"]) == 0
    told = capsys.readouterr().out
    assert "compared: ConstrainedAgglomerative, COPKMeans, PCKMeans with 2 to 12 clusters, 33 candidates" in told


def test_cluster_without_statements_uses_row_numbers(here, capsys):
    assert main(["cluster", "data.csv", "--drop", "name", "-k", "2", "-o", "out", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert list(labels(here / "out" / "labels.csv")) == ["0", "1", "2", "3", "4", "5"]


def test_the_tree_can_be_read_back(here):
    assert main(["cluster", "data.csv", "--id", "name", "-k", "2", "-o", "out", "--quiet"]) == 0
    tree = Dendrogram.from_newick((here / "out" / "tree.nwk").read_text())
    assert tree.n_samples == 6


def test_a_dead_end_is_left_and_told(here, capsys):
    (here / "trap.csv").write_text("name,x\na,0\nb,6\nc,4\nd,4.1\n")
    (here / "apart.csv").write_text("kind,a,b\ncannot_link,a,b\ncannot_link,a,c\ncannot_link,b,d\n")
    assert main(["cluster", "trap.csv", "--id", "name", "-c", "apart.csv", "-k", "2", "-o", "out"]) == 0
    told = capsys.readouterr()
    assert "All 3 hard statements hold: 3 cannot-links." in told.out
    assert (
        "  - greedy merging met a dead end at 3 clusters; 1 of 4 samples was moved so that all statements hold in 2"
        in told.out
    )
    assert told.err == ""
    assert labels(here / "out" / "labels.csv") == {"a": "0", "b": "1", "c": "1", "d": "0"}
    page = (here / "out" / "report.html").read_text(encoding="utf-8")
    assert "greedy merging met a dead end at 3 clusters; 1 of 4 samples was moved" in page


def test_recon_obeys_triplets(here, capsys):
    (here / "said.jsonl").write_text('{"type": "triplet", "a": "otter", "b": "walrus", "c": "mink"}\n')
    code = main(
        ["cluster", "data.csv", "--id", "name", "-c", "said.jsonl", "--method", "recon", "-k", "2", "-o", "out"]
    )
    assert code == 0, capsys.readouterr().err
    assert "The 1 hard statement holds: 1 triplet." in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "method"),
    [
        ("-c said.csv -k 3 --standardize", "ConstrainedCompleteLink"),
        ("-c said.csv --height 4.5", "ConstrainedCompleteLink"),
        ("-k auto", "ConstrainedAgglomerative"),
        ("-c trios.csv", "ReCon"),
        ("-c trios.csv --min-cluster-size 1", "ReCon"),
        ("-c trios.csv -k auto", "ReCon"),
        ("-c size.csv -k 2", "COPKMeans"),
        (
            "-c said.csv -k 3 --method copkmeans --set n_init=4 --set init=neighborhoods --set random_state=5",
            "COPKMeans",
        ),
        ("-c said.csv -k 3 --method agglomerative --set metric=cityblock", "ConstrainedAgglomerative"),
        ("-c said.csv --method correlationclustering", "CorrelationClustering"),
    ],
)
def test_the_recipe_in_the_report_gives_the_same_labels(here, options, method):
    (here / "trios.csv").write_text("kind,a,b,c\ntriplet,otter,orca,mink\ntriplet,seal,walrus,orca\n")
    (here / "size.csv").write_text("kind,a,b\nsize_between,3,3\n")
    assert main(["cluster", "data.csv", "--id", "name", *options.split(), "-o", "out", "--quiet"]) == 0
    page = (here / "out" / "report.html").read_text(encoding="utf-8")
    code = html.unescape(re.search(r"<pre><code>(.*?)</code></pre>", page, re.DOTALL)[1])
    assert "lw.cluster(" in code
    names: dict = {}
    exec(code, names)
    found = labels(here / "out" / "labels.csv")
    assert [str(label) for label in names["found"].labels] == list(found.values())
    assert type(names["found"].estimator).__name__ == method
    command = code.rpartition("# in a shell: linkwise ")[2]
    assert f"--method {method}" in command
    assert main([*shlex.split(command.replace("OUT", "again")), "--quiet"]) == 0
    assert labels(here / "again" / "labels.csv") == found


def test_a_contradiction_exits_3_and_names_lines(here, capsys):
    (here / "said.csv").write_text(SAID + "must_link,mink,orca,\n")
    assert main(["cluster", "data.csv", "--id", "name", "-c", "said.csv", "-k", "3", "-o", "out"]) == 3
    told = capsys.readouterr().err
    assert "line 2: must_link(otter, orca)" in told
    assert "line 4: must_link(mink, orca)" in told
    assert "Traceback" not in told
    assert not (here / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "Usage:"),
        (["clutser"], 2, "did you mean `linkwise cluster`"),
        (["cluster", "data.csv", "-o"], 2, "Option '-o' requires an argument"),
        (["cluster", "data.csv", "-k", "0", "-o", "out"], 2, "expected a number of clusters (1 or more) or auto"),
        (["cluster", "data.csv", "-k", "x", "-o", "out"], 2, "'x', expected a number of clusters (1 or more) or auto"),
        (["cluster", "data.csv", "--linkage", "wards", "-o", "out"], 2, "'wards' is not one of"),
        (["cluster", "data.csv", "--id", "name", "-k", "99", "-o", "out"], 2, "has only 6 rows"),
        (["cluster", "-", "-c", "-", "-o", "out"], 2, "only one input can come from standard input"),
        (["cluster", "data.csv", "--nothing"], 2, "No such option"),
        (["cluster", "none.csv", "-o", "out"], 1, "none.csv: No such file"),
        (["cluster", ".", "-o", "out"], 1, "is a folder"),
        (["cluster", "data.csv", "-o", "out"], 1, "Hint: if name names the samples: --id name"),
        (["cluster", "data.csv", "--id", "nme", "-o", "out"], 1, "which data.csv does not have"),
        (["cluster", "data.csv", "--id", "name", "-o", "data.csv"], 1, "is a file, expected a folder"),
        (["check", "said.csv", "--id", "name"], 2, "needs --data"),
        (["check", "none.csv"], 1, "No such file"),
        (["check", "data.csv"], 1, "expected kind,a,b,c,weight"),
        (["check", "said.csv", "-k", "50"], 2, "there are only 3 samples"),
        (["check", "said.csv", "-k", "50-60"], 2, "-k 50-60: there are only 3 samples"),
    ],
)
def test_what_is_wrong_is_said_on_stderr_with_the_right_code(here, capsys, arguments, code, words):
    assert main(arguments) == code
    told = capsys.readouterr()
    assert words in told.err + (told.out if not arguments else "")
    assert "Traceback" not in told.err


def test_results_are_replaced_only_with_force(here, capsys):
    arguments = ["cluster", "data.csv", "--id", "name", "-o", "out"]
    assert main(arguments) == 0
    assert main(arguments) == 1
    assert "give --force" in capsys.readouterr().err
    assert main([*arguments, "--force"]) == 0


def test_columns_of_very_different_spread_are_pointed_out(here, capsys):
    (here / "data.csv").write_text("x,y\n1,1000\n2,5000\n3,2000\n")
    assert main(["cluster", "data.csv", "-o", "out"]) == 0
    assert "warning: column y spreads" in capsys.readouterr().err
    assert main(["cluster", "data.csv", "-o", "out2", "--standardize"]) == 0
    assert capsys.readouterr().err == ""


def test_check_says_yes(here, capsys):
    assert main(["check", "said.csv"]) == 0
    assert "2 statements about 3 samples can all hold together." in capsys.readouterr().out


def test_check_says_no_with_fixes_and_lines(here, capsys):
    (here / "said.csv").write_text(SAID + "must_link,mink,orca,\n")
    assert main(["check", "said.csv", "--data", "data.csv", "--id", "name"]) == 3
    told = capsys.readouterr().out
    assert told.startswith("3 statements about 6 samples cannot all hold.\nRemoving any one of these repairs it:\n")
    assert told.count("line 3: cannot_link(mink, otter)") + told.count("line 3: cannot_link(otter, mink)") == 2


def test_check_for_too_few_clusters_says_no(here, capsys):
    (here / "said.csv").write_text("type,a,b\ncannot_link,x,y\ncannot_link,y,z\ncannot_link,x,z\n")
    assert main(["check", "said.csv", "-k", "2"]) == 4
    assert "2 clusters" in capsys.readouterr().out


@pytest.mark.parametrize("typed", ["2-3", "2..3", " 2 - 3 "])
def test_check_takes_a_range_of_numbers_of_clusters(here, capsys, typed):
    (here / "said.csv").write_text("kind,a,b\ncannot_link,x,y\ncannot_link,y,z\ncannot_link,x,z\ncannot_link,x,w\n")
    assert main(["check", "said.csv", "-k", typed]) == 0
    (here / "said.csv").write_text("kind,samples\napart,x;y;z;w\n")
    assert main(["check", "said.csv", "-k", typed]) == 4
    told = capsys.readouterr().out
    assert "cannot hold in 2 to 3 clusters" in told
    assert "Fewer clusters, down to 2, are impossible as well." in told


def test_check_speaks_json(here, capsys):
    (here / "said.csv").write_text(SAID + "must_link,mink,orca,\n")
    assert main(["check", "said.csv", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["status"] == "infeasible"
    assert sorted(item["line"] for item in told["conflict"]) == [2, 3, 4]


def test_check_lists_sets_where_no_single_statement_repairs_it(here, capsys):
    rows = ["must_link,x,y", "cannot_link,x,y", "must_link,u,v", "cannot_link,u,v"]
    (here / "said.csv").write_text("\n".join(["type,a,b", *rows]) + "\n")
    assert main(["check", "said.csv"]) == 3
    told = capsys.readouterr().out
    assert "Removing any one of these repairs it:\n  line 5: cannot_link(u, v) and line 3: cannot_link(x, y)\n" in told
    assert "x = y (line 2), but line 3 keeps x and y apart." in told
    assert main(["check", "said.csv", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    assert told["fixes"] == []
    assert [item["line"] for item in told["repairs"][0]] == [5, 3]
    assert len(told["repairs"]) == 4


def test_info_shows_versions(capsys):
    assert main(["info"]) == 0
    told = capsys.readouterr().out
    assert "numba" in told
    assert "cores" in told


def run(arguments, cwd, *, stdin=None, python=(), **environment):
    return subprocess.run(
        [sys.executable, *python, "-m", "linkwise", *arguments],
        cwd=cwd,
        input=stdin,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )


def test_data_can_come_from_standard_input(here):
    done = run(
        ["cluster", "-", "--id", "name", "-o", "out"],
        here,
        stdin=DATA,
    )
    assert (done.returncode, done.stderr) == (0, "")


def heaps(folder, n_each=12):
    """Three heaps of points, and true statements about some of them."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], n_each)
    points = rng.normal(size=(3 * n_each, 2)) + np.array([[0, 0], [6, 0], [0, 6]])[y]
    rows = "\n".join(f"s{i},{a:.3f},{b:.3f}" for i, (a, b) in enumerate(points))
    (folder / "heaps.csv").write_text(f"name,x,y\n{rows}\n")
    pairs = rng.choice(3 * n_each, size=(40, 2))
    said = [("must_link" if y[a] == y[b] else "cannot_link", a, b) for a, b in pairs if a != b]
    (folder / "true.csv").write_text("type,a,b\n" + "\n".join(f"{kind},s{a},s{b}" for kind, a, b in said) + "\n")


def test_the_number_of_clusters_is_found_by_what_was_held_out(here, capsys):
    heaps(here)
    assert main(["cluster", "heaps.csv", "--id", "name", "-c", "true.csv", "-k", "auto", "-o", "out"]) == 0
    told = capsys.readouterr().out
    assert "36 samples in 3 clusters." in told
    assert "held out" in told
    assert "compared: ConstrainedAgglomerative, ConstrainedCompleteLink, COPKMeans" in told
    assert len(set(labels(here / "out" / "labels.csv").values())) == 3
    page = (here / "out" / "report.html").read_text(encoding="utf-8")
    assert "n_clusters=3" in page


def test_without_enough_statements_the_heights_decide_and_that_is_said(here, capsys):
    heaps(here)
    assert main(["cluster", "heaps.csv", "--id", "name", "-k", "auto", "--linkage", "ward", "-o", "out"]) == 0
    told = capsys.readouterr().out
    assert "there are no statements to hold out" in told
    assert "3 clusters: the largest step" in told
    assert main(["cluster", "data.csv", "--id", "name", "-k", "many", "-o", "out2"]) == 2


# -- what was written is what is blamed --------------------------------------------------------------------------------

FAMILIES = """sample;label
Canis lupus;Hunde
Canis latrans;Hunde
Felis chaus;Katzen
Felis catus;Katzen
Ursus arctos;Baeren
Ursus maritimus;Baeren
Canis adustus;Katzen
Lynx lynx;Katzen
Vulpes vulpes;Hunde
"""
WRONG = 'fams.csv, line 8: Canis adustus is in "Katzen"'
IN_GROUP = "two.txt, line 1: Canis adustus is in together(Canis lupus, Canis latrans, Canis adustus)"


@pytest.fixture
def families(here):
    (here / "fams.csv").write_text(FAMILIES)
    (here / "two.txt").write_text("Canis lupus, Canis latrans, Canis adustus\n")
    return here


def left_apart(path):
    """Whether dogs, cats and bears are still three clusters in what a repair left."""
    said = read_knowledge(path).constraints
    names = said.ids.tolist()
    of = dict(zip(names, check(said).witness.tolist(), strict=True))
    return len({of["Canis lupus"], of["Felis chaus"], of["Ursus arctos"]}) == 3 and of["Felis chaus"] == of["Lynx lynx"]


def test_one_wrong_row_of_labels_is_the_first_advice(families, capsys):
    for command in ("check", "explain"):
        assert main([command, "fams.csv", "two.txt"]) == 3
        told = capsys.readouterr().out
        assert told.index(WRONG) < told.index(IN_GROUP)
        assert f"Removing any one of these repairs it:\n  {WRONG}\n  {IN_GROUP}\nWhy: these 4 cannot hold" in told
        assert 'is in "Hunde" (fams.csv, line ' in told
    assert main(["check", "fams.csv", "two.txt", "--json"]) == 3
    told = json.loads(capsys.readouterr().out)
    wrong = {
        "file": "fams.csv",
        "line": 8,
        "statement": 'Canis adustus is in "Katzen"',
        "sample": "Canis adustus",
    }
    assert told["fixes"][0] == told["repairs"][0][0] == wrong
    assert wrong in told["conflict"]


def test_repair_drops_the_wrong_row_and_keeps_the_families_apart(families, capsys):
    assert main(["repair", "fams.csv", "two.txt", "--auto", "-o", "auto.csv"]) == 0
    told = capsys.readouterr().out
    assert told == (
        f"1 of 12 entries must go, at a cost of 1; no cheaper repair exists.\n  {WRONG}\nauto.csv: 5 statements.\n"
    )
    assert main(["repair", "fams.csv", "two.txt", "--drop", "fams.csv:8", "-o", "drop.csv"]) == 0
    assert capsys.readouterr().out == f"1 of 12 entries dropped.\n  {WRONG}\ndrop.csv: 5 statements.\n"
    assert (families / "auto.csv").read_text() == (families / "drop.csv").read_text()
    assert left_apart("auto.csv")


def test_one_member_of_a_line_can_be_dropped(families, capsys):
    place = "two.txt:1:Canis adustus"
    assert main(["repair", "fams.csv", "two.txt", "--drop", place, "-o", "drop.csv"]) == 0
    assert IN_GROUP in capsys.readouterr().out
    assert "together,,,,Canis lupus;Canis latrans,," in (families / "drop.csv").read_text()
    assert left_apart("drop.csv")
    assert main(["repair", "fams.csv", "two.txt", "--drop", "two.txt:1:Lynx lynx", "-o", "none.csv"]) == 2
    assert "nothing in that line names 'Lynx lynx'" in capsys.readouterr().err
    assert main(["repair", "fams.csv", "two.txt", "--drop", "two.txt:1", "-o", "line.csv"]) == 0
    assert "3 of 12 entries dropped." in capsys.readouterr().out


def test_asking_offers_rows(families, capsys, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO("1\n"))
    assert main(["repair", "fams.csv", "two.txt", "--ask", "-o", "asked.csv"]) == 0
    told = capsys.readouterr().out
    assert f"[1] drop {WRONG}" in told
    assert left_apart("asked.csv")


def test_a_wanted_number_of_clusters_names_rows(families, capsys):
    (families / "few.csv").write_text("sample,label\na,x\nb,x\nc,y\nd,z\n")
    assert main(["check", "few.csv", "-k", "2"]) == 4
    told = capsys.readouterr().out
    assert 'Removing any one of these repairs it:\n  line 5: d is in "z"\n  line 4: c is in "y"\n' in told


def test_skipping_a_row_leaves_its_group(here, capsys):
    (here / "gg.csv").write_text("sample,group\notter,g\nmink,g\nzzz,g\nstoat,g\n")
    assert main(["check", "gg.csv", "--data", "data.csv", "--id", "name", "--skip-bad"]) == 0
    told = capsys.readouterr()
    assert "skipped 1 row or name:\n  gg.csv, line 4 names a sample that is not in the data: 'zzz'." in told.err
    assert "Between 1 and 4 clusters are possible." in told.out  # three of six samples are one group
    assert main(["check", "gg.csv", "--data", "data.csv", "--id", "name"]) == 1
    assert "gg.csv names samples that are not in the data: 'zzz' (line 4)" in capsys.readouterr().err


def test_check_counts_samples_in_groups_and_leaves_out_what_is_not_known(here, capsys):
    (here / "gg.csv").write_text("sample,group\notter,g\nmink,g\nstoat,g\nseal,h\nwalrus,h\n")
    assert main(["check", "gg.csv", "--data", "data.csv", "--id", "name"]) == 0
    told = capsys.readouterr().out
    assert "\n  5 of 6 samples named, in 2 connected parts; 4 of 15 pairs decided\n" in told
    assert "nknown" not in told
    assert "result=" not in told
    assert main(["check", "gg.csv", "--data", "data.csv", "--id", "name", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["utility"]["verdict"] is None


def test_columns_of_the_data_are_statements_and_results_have_a_folder_of_their_own(here):
    rows = [("a", "m1", "s1", 1), ("b", "m1", "s2", 9), ("c", "", "s1", 1), ("d", "m2", "s2", 9)]
    (here / "people.csv").write_text("name,mail,source,x\n" + "".join(",".join(map(str, row)) + "\n" for row in rows))
    told = ["--together", "mail", "--apart", "source"]
    assert main(["cluster", "people.csv", "--id", "name", *told, "-k", "2", "--quiet"]) == 0
    lines = (here / "people-clusters" / "labels.csv").read_text().splitlines()[1:]
    labels = dict(line.split(",")[:2] for line in lines)
    assert labels["a"] == labels["b"]
    assert labels["a"] != labels["c"]
    assert labels["b"] != labels["d"]
