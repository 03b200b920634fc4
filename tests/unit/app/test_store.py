"""The file of a project: what is kept, what is refused, and what can be read of a damaged one."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import sqlite3
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from linkwise.app import _store
from linkwise.app._log import New, read_body
from linkwise.app._project_checks import ProjectError
from linkwise.app._project_format import seal_of
from linkwise.app._salvage import salvage
from linkwise.app._standing import fold
from linkwise.app._store import Store

OLD = Path(__file__).parent / "projects" / "version-1.lw.gz"
DATA = b"name,abv\nOrval,6.2\nJever,4.9\n"


def new(n, **changes):
    body = read_body("say", {"kind": "must_link", "items": [f"Orval {n}", "é" * (n % 40)]})
    return New(**{"id": f"key {n}", "who": "ann", "via": "key", "op": "say", "body": body, "basis": n} | changes)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "beers.lw"


@pytest.fixture
def store(path):
    originals = [("beers.csv", "table", DATA), ("said.jsonl", "knowledge", b"{}"), ("again.jsonl", "knowledge", b"{}")]
    made = Store.create(path, {"name": "beers"}, originals, [(f"item {n}", {"values": [n]}) for n in range(5)])
    yield made
    made.close()


def refusal(path, **options):
    with pytest.raises(ProjectError) as refused:
        Store.open(path, **options)
    assert "Traceback" not in str(refused.value)
    return refused.value.code, str(refused.value)


# -- keeping -----------------------------------------------------------------------------------------------------------


def test_what_was_put_in_comes_out_after_reopening(path, store):
    made = store.append([new(1), new(2)])
    assert [one.seq for one in made] == [2, 3]
    store.cache("tree", 3, b"abc")
    store.cache("tree", 4, b"abcd")
    store.close()
    with Store.open(path) as again:
        rows = again.statements()
        assert rows[1:] == made
        assert again.statements(since=2) == made[1:]
        assert fold(rows).project["name"] == "beers"
        assert again.file() == ("beers.csv", "table", DATA)
        assert again.files() == [(1, "beers.csv", "table"), (2, "said.jsonl", "knowledge")]
        assert again.items() == [(f"item {n}", {"values": [n]}) for n in range(5)]
        assert again.items(1, 1) == [("item 1", {"values": [1]})]
        assert again.cached("tree") == (4, b"abcd")
        assert again.cached("map") is None


def test_a_statement_is_saved_once_however_often_it_is_sent(path, store):
    first = store.append([new(1), new(2), new(1)])
    assert first[0] == first[2]
    store.close()
    with Store.open(path) as again:
        assert again.append([new(2, basis=77), new(3)])[0] == first[1]
        assert again.seq == 4


def test_the_same_id_with_other_content_saves_nothing(store):
    store.append([new(1)])
    for rows in ([new(5), new(1, op="cut", body={})], [new(5), new(5, who="bob")]):
        with pytest.raises(ProjectError, match="another statement") as refused:
            store.append(rows)
        assert refused.value.code == "conflict"
    assert store.seq == 2
    assert [one.id for one in store.append([new(5)])] == ["key 5"]


def test_the_settings_that_make_a_commit_durable_are_on(store):
    found = {name: store._database.execute(f"pragma {name}").fetchone()[0] for name in
             ("journal_mode", "synchronous", "locking_mode", "trusted_schema")}  # fmt: skip
    assert found == {"journal_mode": "truncate", "synchronous": 3, "locking_mode": "exclusive", "trusted_schema": 0}


def test_the_log_cannot_be_changed(store):
    store.append([new(1)])
    for command in ("update log set who = 'eve'", "delete from log"):
        with pytest.raises(sqlite3.IntegrityError, match="append-only"):
            store._database.execute(command)


def test_a_file_that_exists_is_never_replaced(path, tmp_path):
    path.write_text("mine")
    with pytest.raises(ProjectError, match="exists already"):
        Store.create(path, {"name": "x"})
    assert path.read_text() == "mine"
    assert [one.name for one in tmp_path.iterdir()] == ["beers.lw"]


def test_copies_are_kept_every_so_many_statements_and_at_the_end(path, store, monkeypatch):
    monkeypatch.setattr(_store, "EVERY", 3)
    monkeypatch.setattr(_store, "KEPT", 4)
    for n in range(20):
        store.append([new(n)])
    store.close()
    copies = sorted(Path(f"{path}-copies").iterdir())
    assert [one.name for one in copies] == [f"beers-{n:07d}.lw" for n in (13, 16, 19, 21)]
    for one in copies:
        with Store.open(one) as copy:
            assert copy.seq == int(one.stem[-7:])
            assert copy.file()[2] == DATA
    assert sorted(one.name for one in path.parent.iterdir()) == ["beers.lw", "beers.lw-copies"]


@pytest.mark.skipif(os.name != "posix", reason="files have no owner's bits here")
def test_only_the_owner_may_read_a_project_and_its_copies(path, store):
    store.copy(path.with_name("copy.lw"))
    for one in (path, path.with_name("copy.lw")):
        assert one.stat().st_mode & 0o077 == 0


def test_a_copy_that_cannot_be_made_loses_nothing(path, store, monkeypatch):
    monkeypatch.setattr(_store, "EVERY", 1)
    Path(f"{path}-copies").write_text("in the way")
    store.append([new(1)])
    assert "could not be made" in store.trouble
    assert store.seq == 2


# -- one at a time -----------------------------------------------------------------------------------------------------

OTHER = """
import sys
from linkwise.app import ProjectError, Store
try:
    Store.open(sys.argv[1])
except ProjectError as error:
    print(error.code, error)
with Store.open(sys.argv[1], readonly=True) as seen:
    print(seen.seq, seen.readonly, len(seen.items()))
"""


def test_a_second_process_learns_where_the_project_is_open_and_may_look(path, store):
    store.announce("http://127.0.0.1:4567")
    store.append([new(1)])
    assert refusal(path)[0] == "locked"  # in the same process
    with Store.open(path, readonly=True) as seen:
        assert seen.statements() == store.statements()
    salvage(path)  # reads the file with another handle, which must not let go of the lock
    done = subprocess.run([sys.executable, "-c", OTHER, path], capture_output=True, text=True, check=True)
    assert done.stdout.startswith(f"locked {path} is open already at http://127.0.0.1:4567.")
    assert done.stdout.endswith("2 True 5\n")
    assert store.append([new(2)])[0].seq == 3
    store.close()
    Store.open(path).close()


def test_looking_changes_nothing(path, store):
    store.append([new(1)])
    store.close()
    before = path.read_bytes()
    with Store.open(path, readonly=True) as seen:
        assert seen.seq == 2
        seen.copy(path.with_name("copy.lw"))
        for command in (lambda: seen.append([new(2)]), lambda: seen.cache("a", 1, b"")):
            with pytest.raises(ProjectError) as refused:
                command()
            assert refused.value.code == "readonly"
    assert path.read_bytes() == before
    assert Store.open(path.with_name("copy.lw")).seq == 2
    assert not list(path.parent.glob("*journal"))


def test_a_file_without_permission_to_write_is_open_for_looking(path, store, monkeypatch):
    store.close()
    monkeypatch.setattr(_store.os, "access", lambda *given: False)
    with Store.open(path) as seen:
        assert seen.readonly


# -- refusing ----------------------------------------------------------------------------------------------------------


def test_a_project_of_version_1_opens(path):
    path.write_bytes(gzip.decompress(OLD.read_bytes()))
    with Store.open(path) as old:
        rows = old.statements()
        assert [one.op for one in rows] == ["open", "answer", "answer", "say", "move", "undo", "cut"]
        now = fold(rows)
        assert (now.project["name"], now.undone, now.cut) == ("beers", {5}, {"k": 2})
        assert (old.file()[0], [name for name, _ in old.items()]) == (
            "beers.csv",
            ["Orval", "Jever", "Chimay", "Beck's"],
        )
        assert old.append([new(1)])[0].seq == 8


def test_a_newer_project_is_refused_untouched(path):
    raw = bytearray(gzip.decompress(OLD.read_bytes()))
    raw[60:64] = (2).to_bytes(4, "big")
    path.write_bytes(raw)
    Path(f"{path}-journal").write_bytes(b"x" * 600)
    code, words = refusal(path)
    assert code == "newer"
    assert "pip install --upgrade linkwise" in words
    assert path.read_bytes() == raw
    assert sorted(one.name for one in path.parent.iterdir()) == ["beers.lw", "beers.lw-journal"]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (DATA, "is not a project"),
        (b"SQLite format 3\x00", "is not a project"),
        (b"\x00" * 5000, "not"),
    ],
)
def test_files_that_are_not_projects_are_refused(path, content, words):
    path.write_bytes(content)
    code, said = refusal(path)
    assert code == "foreign"
    assert words in said
    assert path.read_bytes() == content


def test_what_is_not_a_file_is_refused(tmp_path):
    assert refusal(tmp_path)[0] == "foreign"
    assert "does not exist" in refusal(tmp_path / "none.lw")[1]


def test_a_database_of_another_program_is_refused(path):
    with sqlite3.connect(path) as other:
        other.execute("create table log (a)")
    assert "another program" in refusal(path)[1]


@pytest.mark.parametrize(
    "command",
    [
        "create trigger evil after insert on log begin delete from file; end",
        "create view more as select * from log",
        "create table more (a)",
        "create index more on log (who)",
        "drop trigger log_keeps",
        "drop table cache",
        "create virtual table more using fts5(a)",
    ],
)
def test_a_schema_that_linkwise_did_not_make_is_refused(path, store, command):
    store.close()
    with sqlite3.connect(path) as evil:
        evil.execute(command)
    evil.close()
    before = hashlib.sha256(path.read_bytes()).digest()
    code, words = refusal(path)
    assert code == "foreign"
    assert "did not make" in words
    assert hashlib.sha256(path.read_bytes()).digest() == before


@pytest.mark.parametrize(
    "command",
    [
        "update log set body = '{}' where seq = 3",
        "update log set who = 'eve' where seq = 2",
        "delete from log where seq = 2",
        "delete from log where seq = 4",
        "update log set seq = 9 where seq = 4",
    ],
)
def test_rows_that_were_altered_or_removed_by_another_program_are_noticed(path, store, command):
    store.append([new(n) for n in range(3)])
    store.close()
    with sqlite3.connect(path) as evil:
        triggers = [row[0] for row in evil.execute("select sql from sqlite_schema where type = 'trigger'")]
        evil.execute("drop trigger log_keeps")
        evil.execute("drop trigger log_holds")
        evil.execute(command)
        for one in triggers:
            evil.execute(one)
    evil.close()
    assert refusal(path)[0] == "damaged"


def test_a_journal_that_names_another_file_is_refused_before_sqlite_removes_that_file(path, store, tmp_path):
    """SQLite takes the name at the end of a journal for that of a second journal, which it may remove."""
    store.close()
    mine = tmp_path / "thesis.txt"
    mine.write_text("years of work")
    name = os.fsencode(mine)
    head = bytes.fromhex("d9d505f920a163d7") + struct.pack(">5I", 0, 0, path.stat().st_size // 4096, 512, 4096)
    trailer = struct.pack(">I", 1) + name + struct.pack(">2I", len(name), sum(name)) + head[:8]
    Path(f"{path}-journal").write_bytes(head.ljust(512, b"\0") + trailer)
    for options in ({}, {"readonly": True}):
        code, words = refusal(path, **options)
        assert code == "foreign"
        assert "beers.lw-journal was not written by linkwise" in words
    assert mine.read_text() == "years of work"
    with sqlite3.connect(path) as bare:  # what would have happened
        bare.execute("select count(*) from log").fetchone()
    assert not mine.exists()


BAD = [
    ("undo", {"target": "x"}), ("answer", {"items": 5, "answer": "yes"}), ("move", {}), ("name", {"items": ["a"]}),
    ("cut", {"k": "many"}), ("import", {"name": "f", "statements": [{}]}), ("people", []), ("repair", {"targets": [3]}),
]  # fmt: skip


@pytest.mark.parametrize(("op", "body"), BAD, ids=[op for op, _ in BAD])
def test_sealed_rows_that_are_no_statements_are_refused(path, store, op, body):
    """Anyone can make a seal, so it says nothing about who wrote a row."""
    row = (2, "k", "eve", "menu", op, json.dumps(body), 0, "")
    store._database.execute("insert into log values (?, ?, ?, ?, ?, ?, ?, ?, ?)", (*row, seal_of(row)))
    store.close()
    code, words = refusal(path)
    assert code == "damaged"
    assert "row 2 of the log is not a statement" in words


@pytest.mark.parametrize("body", ["{", "[]", '{"values": 3}', '{"text": {}}', "[" * 100_000])
def test_items_that_linkwise_did_not_write_are_refused(path, store, body):
    store._database.execute("insert into item (id, body) values ('x', ?)", (body,))
    with pytest.raises(ProjectError, match="an item is not what linkwise writes") as refused:
        store.items()
    assert refused.value.code == "damaged"


# -- names and links ---------------------------------------------------------------------------------------------------


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are text elsewhere")
@pytest.mark.parametrize(
    "name", [b"two words & 'quotes'.lw", "Übung 🍺 \u202e.lw".encode(), b"latin \xe9.lw", b"-rf.lw", b"a\nb.lw"]
)
def test_files_of_any_name_are_made_opened_copied_and_kept(tmp_path, name):
    path = tmp_path / os.fsdecode(name)
    with Store.create(path, {"name": "x"}) as made:
        made.announce("http://127.0.0.1:1/")
        made.append([new(1)])
        made.copy(path.with_name("copy.lw"))
        assert "\n" not in refusal(path)[1].split("\nHint")[0]
    assert made.trouble == ""
    assert len(list(Path(f"{path}-copies").iterdir())) == 1
    for one in (path, path.with_name("copy.lw")):
        with Store.open(one) as again:
            assert again.seq == 2


@pytest.mark.skipif(os.name != "posix", reason="links need rights here")
def test_a_project_behind_a_link_is_the_file_itself(path, store, tmp_path):
    (tmp_path / "desk").mkdir()
    link = tmp_path / "desk" / "mine.lw"
    link.symlink_to(path)
    assert refusal(link)[0] == "locked"
    store.append([new(1)])
    store.close()
    with Store.open(link) as again:
        again.append([new(2)])
    with Store.open(path) as again:
        assert again.seq == 3
    assert sorted(one.name for one in link.parent.iterdir()) == ["mine.lw"]


@pytest.mark.skipif(os.name != "posix", reason="links need rights here")
def test_the_note_about_an_open_project_is_not_written_through_a_link(path, store, tmp_path):
    mine = tmp_path / "mine.txt"
    mine.write_text("kept")
    Path(f"{path}-open").symlink_to(mine)
    store.announce("http://127.0.0.1:4567")
    assert mine.read_text() == "kept"
    assert "4567" in Path(f"{path}-open").read_text()
    assert Path(f"{path}-open").stat().st_mode & 0o077 == 0


# -- salvage -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("harm", ["flip", "zero", "cut", "head"])
def test_damage_is_refused_or_harmless_and_whole_rows_can_be_read(path, store, harm):
    long = {"op": "note", "body": read_body("note", {"items": ["a"], "text": "long " * 400})}
    rows = store.append([new(n, **({} if n % 9 else long)) for n in range(60)])
    store.close()
    whole = path.read_bytes()
    assert [one.seq for one in salvage(path)] == list(range(1, 62))
    rng = random.Random(harm)
    for _ in range(12):
        raw = bytearray(whole)
        at = rng.randrange(len(raw))
        if harm == "flip":
            raw[at] ^= 1 << rng.randrange(8)
        elif harm == "zero":
            raw[at // 4096 * 4096 : at // 4096 * 4096 + 4096] = bytes(4096)
        elif harm == "cut":
            del raw[at:]
        else:
            raw[:100] = bytes(100)
        path.write_bytes(raw)
        Path(f"{path}-journal").unlink(missing_ok=True)
        found = salvage(path)
        assert set(map(str, found[1:])) <= set(map(str, rows))  # nothing invented, nothing altered
        if harm == "head":
            assert len(found) >= 60
        assert path.read_bytes() == bytes(raw)
        try:
            with Store.open(path) as opened:
                opened._copied = opened.seq
                assert opened.statements()[1:] == rows
        except ProjectError as refused:
            assert refused.code in ("damaged", "foreign", "newer")  # noqa: PT017


def test_a_damaged_original_is_not_handed_out(path, store):
    store.close()
    raw = path.read_bytes()
    assert raw.count(DATA) == 1
    path.write_bytes(raw.replace(DATA, DATA.replace(b"6.2", b"9.2")))
    with Store.open(path) as opened, pytest.raises(ProjectError, match="not what was put in"):
        opened.file()


def test_a_damaged_project_points_to_its_newest_copy(path, store):
    store.append([new(1)])
    store.close()
    path.write_bytes(path.read_bytes()[:9000])
    code, words = refusal(path)
    assert code == "damaged"
    assert "beers-0000002.lw; open that" in words
    assert "copied while it was being saved" in words
