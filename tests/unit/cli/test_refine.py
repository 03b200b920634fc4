"""From texts and folders of some of them to a refined hierarchy: cluster and refine on the command line."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from linkwise.cli import main

SUBJECTS = {
    "animals/cats": "cat purr whisker paw meow",
    "animals/dogs": "dog bark leash paw bone",
    "money/stocks": "stock share market broker price",
    "money/loans": "loan rate bank price credit",
}
NEW = "rocket orbit launch planet moon"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    texts, folders, truth = [("id", "text")], [("sample", "path")], {}
    for number, (path, words) in enumerate([*SUBJECTS.items(), ("space", NEW)]):
        word = words.split()
        for i in range(8):
            name = f"t{number}{i}"
            texts.append((name, " ".join(word[(i + j) % 5] for j in range(3)) + f" x{i}"))
            truth[name] = path
            if i < 3 and path != "space":
                folders.append((name, path))
    for file, rows in (("texts.csv", texts), ("folders.csv", folders)):
        with (tmp_path / file).open("w", newline="") as out:
            csv.writer(out).writerows(rows)
    return truth


@pytest.mark.filterwarnings("ignore")
def test_new_documents_get_folders_and_a_new_subject_gets_a_branch(files, capsys):
    cluster = ["cluster", "texts.csv", "--id", "id", "--text", "text", "-c", "folders.csv", "-k", "5", "-o", "out"]
    assert main([*cluster, "--method", "biihac", "--set", "max_iter=5"]) == 0
    capsys.readouterr()
    assert main(["refine", "out", "folders.csv", "-o", "refined.csv", "--terms", "2"]) == 0
    told = capsys.readouterr().out
    assert "12 of 40 samples known, 20 placed on known classes, 8 on 1 new branch, 0 nowhere." in told
    with Path("refined.csv").open(newline="") as file:
        rows = {row["sample"]: row for row in csv.DictReader(file)}
    for name, path in files.items():
        if path == "space":
            assert rows[name]["how"] == "new"
            assert set(rows[name]["path"].split()) <= set(NEW.split())
        else:
            assert rows[name]["path"] == path
            assert rows[name]["how"] in ("known", "placed")
    assert main(["refine", "out", "folders.csv", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["samples"] == {"known": 12, "placed": 20, "new": 8, "nowhere": 0}
    assert {one["path"]: one["f"] for one in found["classes"]} == dict.fromkeys([*SUBJECTS, "animals", "money"], 1.0)
    assert main(["refine", "out", "folders.csv", "-o", "refined.csv"]) == 1  # exists
    Path("strange.csv").write_text("sample,path\nnobody,animals\n")
    assert main(["refine", "out", "strange.csv"]) == 1
    assert "1 sample of it is not in out" in capsys.readouterr().err


@pytest.mark.filterwarnings("ignore")
def test_all_triplets_of_folders_count_and_not_only_the_fewest(files, capsys):
    from linkwise import load

    cluster = [
        "cluster",
        "texts.csv",
        "--id",
        "id",
        "--text",
        "text",
        "-c",
        "folders.csv",
        "-k",
        "5",
        "--method",
        "ihac",
    ]
    assert main([*cluster, "-o", "all"]) == 0
    assert main([*cluster, "-o", "few", "--set", "closure=False"]) == 0
    assert [load(f"{name}/model.lwm").closure for name in ("all", "few")] == [True, False]
    assert "IHAC(closure=True): the method asked for." in capsys.readouterr().out
