"""The files of the page: rules that need no browser."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
from pathlib import Path

import pytest

import linkwise

STATIC = Path(linkwise.__file__).parent / "app" / "static"
OURS = sorted(path for path in STATIC.glob("*") if path.suffix in (".js", ".css", ".html"))
LOCKS = [STATIC / "vendor" / "vendor.lock.json", Path(__file__).parent / "vendor" / "vendor.lock.json"]


@pytest.mark.parametrize("lock", LOCKS, ids=["page", "tests"])
def test_libraries_are_those_of_the_lock(lock):
    listed = json.loads(lock.read_text(encoding="utf-8"))
    assert {path.name for path in lock.parent.iterdir()} == {*listed, lock.name}
    for name, facts in listed.items():
        assert hashlib.sha256((lock.parent / name).read_bytes()).hexdigest() == facts["sha256"], name
    assert sum(name.endswith(".LICENSE") for name in listed) >= 1


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_a_file_is_short_and_safe(path):
    text = path.read_text(encoding="utf-8")
    code = "\n".join(line for line in text.split("\n") if not line.lstrip().startswith("//"))
    assert text.count("\n") <= 400
    assert path.suffix != ".css" or max(map(len, text.split("\n"))) <= 130
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|cssText", code)
    assert path.name == "transport.js" or not re.search(r"\bfetch\(|XMLHttpRequest|EventSource\(|WebSocket", code)
    assert all(name.startswith("./") for name in re.findall(r'from "([^"]+)"', code))
    assert not re.search(r"https?://", code)


def test_the_first_load_is_small():
    """What the start page needs before it is there; the workbench and the import follow."""
    first, waiting = {STATIC / "index.html", STATIC / "app.css"}, [STATIC / "main.js"]
    while waiting:
        path = waiting.pop()
        if path not in first:
            first.add(path)
            waiting += [
                (path.parent / name).resolve() for name in re.findall(r'from ?"(\.[^"]+)"', path.read_text("utf-8"))
            ]
    assert STATIC / "bench.js" not in first
    assert "bench.css" not in (STATIC / "index.html").read_text("utf-8")
    assert STATIC / "vendor" / "preact.js" in first
    assert sum(path.stat().st_size for path in first) <= 120_000
    assert sum(len(gzip.compress(path.read_bytes(), 9)) for path in first) <= 40_000
    assert sum(path.stat().st_size for path in (STATIC / "vendor").glob("*.js")) <= 30_000


def test_tests_that_need_a_browser_are_named_where_there_is_none():
    """`scripts/test` leaves out just those that ask for one of the fixtures of a browser, and says so."""
    script = (Path(__file__).parents[2] / "scripts" / "test").read_text(encoding="utf-8")
    listed = re.search(r"tests_in_a_browser=\(([^)]+)\)", script)[1].split()
    using = [
        f"tests/app/{path.name}"
        for path in sorted(Path(__file__).parent.glob("test_*.py"))
        if re.search(
            r"^def (?:test_\w+|let_in)\((?:browser|page|look)\b", path.read_text(encoding="utf-8"), re.MULTILINE
        )
    ]
    assert listed == using


def colors(css):
    return dict(re.findall(r"(--[a-z-]+): (#[0-9a-f]{6})", css))


def test_colors_are_those_of_reports():
    report = (Path(linkwise.__file__).parent / "report" / "page.css").read_text(encoding="utf-8")
    light, dark = report.split("@media (prefers-color-scheme: dark)")[:2]
    ours = (STATIC / "app.css").read_text(encoding="utf-8").split("* { box-sizing")[0]
    first, system, chosen = re.split(r"@media \(prefers-color-scheme: dark\)|:root\[data-theme", ours)
    assert colors(light).items() <= colors(first).items()
    assert colors(dark.split("\n}")[0]).items() <= colors(system).items()
    assert colors(system) == colors(chosen)
