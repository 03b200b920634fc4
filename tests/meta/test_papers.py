"""The page of the papers: it is what its table says, and the names, commands, tests and errata of the table exist."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import inspect
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

import linkwise
from linkwise.cli._main import commands
from studies.papers import find_paper

ROOT = Path(__file__).parents[2]
SPEC = importlib.util.spec_from_file_location("write_papers", ROOT / "docs" / "write_papers.py")
WRITER = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(WRITER)
PAPERS = WRITER.read(ROOT / "docs" / "papers.toml")
ROWS = [pytest.param(row, id=f"{paper['number']} {row['item']}") for paper in PAPERS for row in paper["row"]]
ERRATA = set(re.findall(r"^### ([A-Z]\d+)\.", (ROOT / "docs" / "errata.md").read_text(encoding="utf-8"), re.MULTILINE))


def resolve(dotted: str) -> object:
    """The thing that a dotted name reaches by public names alone."""
    thing, path = None, ""
    for part in dotted.split("."):
        assert not part.startswith("_"), dotted
        path = f"{path}.{part}".lstrip(".")
        thing = getattr(thing, part) if hasattr(thing, part) else importlib.import_module(path)
    return thing


@cache
def functions(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}


def test_the_page_is_what_the_script_writes():
    assert (ROOT / "docs" / "papers.md").read_text(encoding="utf-8") == WRITER.page(PAPERS)


def test_papers_are_those_that_can_be_reproduced_and_no_item_is_listed_twice():
    assert [paper["number"] for paper in PAPERS] == ["000", "001", "002", "003", "004"]
    for paper in PAPERS:
        assert find_paper(paper["number"])
        items = [row["item"] for row in paper["row"]]
        assert len(items) == len(set(items))


@pytest.mark.parametrize("row", [case for case in ROWS if case.values[0]["status"] == "left out"])
def test_what_is_left_out_names_what_to_use_instead(row):
    assert re.search(r"\b[Uu]se [^.]*`\w", row["note"]), row["item"]


@pytest.mark.parametrize("row", ROWS)
def test_a_row_has_a_check_or_a_reason(row):
    assert set(row) <= {"item", "where", "check", "status", "errata", "note"}
    assert row["status"] in WRITER.STATUSES
    if row["status"] == "here":
        assert row["where"]
        assert row["check"]
    else:
        assert len(row["note"]) > 20
    assert set(row.get("errata", [])) <= ERRATA


@pytest.mark.parametrize("row", ROWS)
def test_names_and_commands_exist(row):
    for name in row.get("where", []):
        if name.startswith("linkwise "):
            verb, *rest = shlex.split(name)[1:]
            assert verb in [*commands.commands, "reproduce"]
            if verb == "reproduce":
                assert set(rest[2:]) <= set(find_paper(rest[0]).exhibits)
            continue
        dotted, parameters = re.fullmatch(r"([\w.]+)(?:\(([\w, ]+)\))?", name).groups()
        thing = resolve(dotted)
        if parameters:
            assert set(parameters.split(", ")) <= set(inspect.signature(thing).parameters), name


@pytest.mark.parametrize("row", ROWS)
def test_names_in_a_note_exist(row):
    for name in re.findall(r"`([A-Z]\w+|\w+\.\w+)(?=[`(])", row.get("note", "")):
        places = (linkwise, linkwise.engines, linkwise.constraints)
        assert ("." in name and resolve(f"linkwise.{name}")) or any(hasattr(place, name) for place in places), name


@pytest.mark.parametrize("row", ROWS)
def test_checks_are_tests_that_exist(row):
    for check in row.get("check", []):
        path, name = check.split("::")
        assert name.startswith("test_")
        assert name in functions(path), check


def test_every_erratum_is_named_by_a_row_of_its_paper():
    for paper, letter in zip(PAPERS, "RTUCB", strict=True):
        named = {entry for row in paper["row"] for entry in row.get("errata", [])}
        assert named == {entry for entry in ERRATA if entry[0] == letter}
