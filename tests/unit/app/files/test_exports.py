"""Exports: the Python and the command that the app writes make the same files in a process of their own."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import shlex
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import linkwise as lw
from linkwise.app._fitter import Fitter
from linkwise.app._items import items_of
from linkwise.app._log import New, Statement, read_body
from linkwise.app._store import Store
from linkwise.app.files import read_items, sample
from linkwise.app.files._exports import State
from linkwise.cli import main
from linkwise.exceptions import LinkwiseError
from tests.app.pictures import archive, square

ROOT = Path(lw.__file__).parents[1]


def log(*rows):
    told = [("open", {"name": "beers"}), *rows]
    return [
        Statement(n, f"key {n}", "ann", "menu", op, read_body(op, body), 0, "") for n, (op, body) in enumerate(told, 1)
    ]


def state_of(file, raw, roles, options, rows, seq=None):
    reading = read_items(file, raw, roles, options)
    fitter = Fitter(items_of(reading.table, reading.roles), rows, lambda told, body: None)
    assert fitter.work()
    return State.of(file, raw, reading, fitter, seq)


def beers():
    """A table with all that makes reading difficult: semicolons, decimal commas, gaps, words and spaces in names."""
    rng = np.random.default_rng(5)
    lines = ["the name;abv %;ibu;style;remark's"]
    for n in range(45):
        middle = (4.5, 7.0, 11.0)[n % 3]
        ibu = "n.a." if n == 7 else f"{middle * 5 + rng.normal():.2f}".replace(".", ",")
        lines.append(f"beer {n} «é»;{f'{middle + rng.normal(0, 0.8):.2f}'.replace('.', ',')};{ibu};{'ABC'[n % 3]};-{n}")
    return "\n".join(lines).encode("cp1252")


NAMES = [f"beer {n} «é»" for n in range(45)]
SAID = [
    ("say", {"kind": "must_link", "items": [NAMES[0], NAMES[4]]}),
    ("answer", {"items": [NAMES[1], NAMES[2]], "answer": "no", "confidence": 0.8}),
    ("say", {"kind": "triplet", "items": [NAMES[3], NAMES[5], NAMES[9]], "weight": 0.5}),
    ("say", {"kind": "apart", "items": [NAMES[10], NAMES[11], NAMES[12]]}),
    ("say", {"kind": "cannot_link", "items": [NAMES[0], NAMES[4]]}),  # contradicts the first
    ("move", {"A": [NAMES[20]], "B": [NAMES[21]], "a": NAMES[20], "b": NAMES[21], "reading": "branch"}),
    ("cut", {"k": 5}),
]  # fmt: skip


def run_again(state, folder, *, fresh=True):
    """Save what the code needs, run it, in processes of its own or here, and return its files and those of the app."""
    for kind in state.kinds:
        if kind in ("data", "said", "features"):
            file, _, raw = state.export(kind)
            (folder / file).write_bytes(raw)
    (folder / "again.py").write_text(state.python)
    words = shlex.split(state.shell)
    assert words[0] == "linkwise"
    if fresh:
        for command in (["again.py"], ["-m", *words]):
            told = {"cwd": folder, "env": {**os.environ, "PYTHONPATH": str(ROOT)}, "capture_output": True, "text": True}
            done = subprocess.run([sys.executable, *command], check=False, **told)
            assert done.returncode == 0, done.stderr
    else:
        with contextlib.chdir(folder):
            exec(compile(state.python, "again.py", "exec"), {})
            assert main(words[1:]) == 0
    names = ("labels.csv", "tree.nwk")
    return [[Path(where, name).read_bytes() for name in names] for where in (folder, folder / "again")], [
        state.export(kind)[2] for kind in ("labels", "tree")
    ]


def test_numbers_come_out_the_same_from_the_app_from_python_and_from_the_shell(tmp_path):
    state = state_of("my beers.csv", beers(), None, None, log(*SAID))
    assert state.reading.arguments["decimal"] == ","
    again, mine = run_again(state, tmp_path)
    assert again == [mine, mine]
    assert len({line.rsplit(",", 1)[1] for line in mine[0].decode().split("\n")[1:-1]}) == 5
    assert any("#7" in gap for gap in state.gaps)
    assert not any("otherwise" in gap for gap in state.gaps)
    assert state.n_otherwise == 0


def test_texts_come_out_the_same_from_the_app_from_python_and_from_the_shell(tmp_path):
    file, roles, options, raw = sample("letters to a bank")
    rows = log(("say", {"kind": "must_link", "items": ["lost card", "stolen card"]}),
               ("answer", {"items": ["lost card", "pin change", "loan rate"], "answer": "third"}))  # fmt: skip
    state = state_of(file, raw, roles, options, rows)
    again, mine = run_again(state, tmp_path)
    assert again == [mine, mine]
    assert state.gaps == []
    rows = list(csv.reader(io.StringIO(mine[0].decode())))
    assert rows[0] == ["sample", "cluster", "cluster_name"]
    assert all(name for *_, name in rows[1:])


def test_pictures_come_out_the_same_through_their_features(tmp_path):
    raw = archive({f"{n % 3}-{n}.png": square(n % 3, n) for n in range(12)})
    state = state_of(
        "photos.zip", raw, None, None, log(("say", {"kind": "must_link", "items": ["0-0", "1-1"]}), ("cut", {"k": 3}))
    )
    again, mine = run_again(state, tmp_path, fresh=False)
    assert again == [mine, mine]
    groups = dict(line.split(",") for line in mine[0].decode().splitlines()[1:])
    assert groups["0-0"] == groups["1-1"]
    assert len({groups[f"2-{n}"] for n in range(2, 12, 3)}) == 1


def test_what_the_file_cannot_say_is_read_from_features_and_named(tmp_path):
    raw = b"name,x,y\n" + b"".join(b"otter,%d,%d\n" % (n % 7, n * n % 11) for n in range(12))
    roles = {"name": "name", "x": "number", "y": "number"}
    options = {"names": "number", "scale": "standard", "decimal": ".", "encoding": "", "missing": "[]"}
    rows = log(("say", {"kind": "cannot_link", "items": ["otter (1)", "otter (2)"]}), ("cut", {"height": 2.5}))
    state = state_of("otters.csv", raw, roles, options, rows)
    again, mine = run_again(state, tmp_path, fresh=False)
    assert again == [mine, mine]
    assert b"otter (12)" in mine[0]
    assert "features.csv" in state.python
    assert len(state.gaps) == 2


def test_an_earlier_state_is_exported_as_it_was():
    rows = log(*SAID[:2], ("cut", {"k": 5}), ("undo", {"target": 2}))
    now, before = (state_of("beers.csv", beers(), None, None, rows, seq) for seq in (None, 4))
    assert (now.table.n_statements, before.table.n_statements) == (1, 2)
    assert before.said_jsonl().count(b"beer") > now.said_jsonl().count(b"beer")


def test_every_listed_file_can_be_made():
    labels = state_of("beers.csv", beers(), None, None, log(*SAID)).labels
    some = [name for name, label in zip(NAMES, labels.tolist(), strict=True) if label == 2]
    state = state_of("beers.csv", beers(), None, None, log(*SAID, ("name", {"items": some, "text": "Pils"})))
    listed = state.listed()
    assert {one["kind"] for one in listed["kinds"]} >= {"labels", "tree", "said", "answers", "report", "model", "table"}
    made = {one["kind"]: state.export(one["kind"]) for one in listed["kinds"]}
    with zipfile.ZipFile(io.BytesIO(made["all"][2])) as archive:
        assert set(archive.namelist()) == {file for kind, (file, *_) in made.items() if kind != "all"} | {
            "again.py",
            "again.sh",
        }
    assert b"<html" in made["report"][2].lower()
    assert made["table"][2].decode().startswith("sample,abv %,ibu,style,")
    assert made["table"][2].count(b",Pils,") == len(some)
    assert made["data"][2] == beers()
    with pytest.raises(LinkwiseError, match="no export"):
        state.export("passwords")


def test_a_project_is_clustered_by_the_command_line_as_it_is_on_screen(tmp_path, capsys):
    path = tmp_path / "my beers.lw"
    roles = {"the name": "name", "abv %": "number", "ibu": "number", "style": "category", "remark's": "show"}
    told = {"name": "beers", "file": {"name": "beers.csv", "kind": "csv"}, "roles": roles}
    state = state_of("beers.csv", beers(), roles, None, log(*SAID))
    with Store.create(path, told, [("beers.csv", "csv", beers())]) as store:
        store.append([New(f"k{n}", "ann", "menu", op, read_body(op, body)) for n, (op, body) in enumerate(SAID)])
        before = path.read_bytes()
        with contextlib.chdir(tmp_path):  # while it is open elsewhere
            assert main(["cluster", path.name, "-o", "out"]) == 0
            assert main(["cluster", path.name, "-o", "seven", "-k", "7"]) == 0
            capsys.readouterr()
            assert main(["cluster", path.name, "--id", "x"]) == 2
            assert "says how its table is read" in capsys.readouterr().err
    assert (tmp_path / "out" / "labels.csv").read_bytes() == state.export("labels")[2]
    assert (tmp_path / "out" / "tree.nwk").read_bytes() == state.export("tree")[2]
    assert (tmp_path / "seven" / "labels.csv").read_text().count(",6\n") > 0
    assert path.read_bytes()[:4096] == before[:4096]
