"""docs/tutorial.md, journeys.md and journey-*.md: every command runs, in order, in an empty folder for each journey.

Commands end with the exit code the page says, and print what the page shows. Journeys through real data run where
these are: in the folder that LINKWISE_DATA names, or in shared/data beside the clone.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from linkwise.cli import main

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"```(shell|text)(?: exit=(\d+))?\n(.*?)```", flags=re.DOTALL)
DATA = Path(os.environ.get("LINKWISE_DATA", ROOT.parent / "shared" / "data"))


class Block(NamedTuple):
    """Commands, or with the kind "text" what the commands before print."""

    kind: str
    exit: int
    content: str


def journeys() -> dict[str, list[Block]]:
    """The tutorial, each section of the page with three journeys, and each page of one."""
    found = {"tutorial": (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")}
    for section in (ROOT / "docs" / "journeys.md").read_text(encoding="utf-8").split("\n## ")[1:]:
        found[section.split(":")[0].lower()] = section
    for page in sorted((ROOT / "docs").glob("journey-*.md")):
        if "```shell" in (text := page.read_text(encoding="utf-8")):
            found[page.stem] = text
    return {
        name: [Block(kind, int(code or 0), content) for kind, code, content in BLOCK.findall(text)]
        for name, text in found.items()
    }


JOURNEYS = journeys()
REAL = [name for name, blocks in JOURNEYS.items() if any("datasets import load\n" in block.content for block in blocks)]
RUN = [name for name in JOURNEYS if name not in REAL or DATA.is_dir()]


def commands(block: str) -> list[str]:
    """Commands of a block: one per line, but a here-document or a quoted script is one with the line it begins on."""
    found: list[str] = []
    until = None
    for line in block.splitlines():
        if until is None:
            found.append(line)
            until = "END" if "<<'END'" in line else '" > ' if line.endswith('"') and line.count('"') == 1 else None
        else:
            found[-1] += "\n" + line
            until = None if line.startswith(until) else until
    return found


def run(command: str, monkeypatch) -> tuple[int, str, str]:
    """Run a command as a shell would; `linkwise` in this process, since starting one each time takes seconds."""
    piped, _, own = command.rpartition(" | ")
    own, _, target = own.partition(" > ") if "\n" not in command else (own, "", "")
    if not own.startswith("linkwise "):
        script = command.replace("python -c", f"{shlex.quote(sys.executable)} -c", 1)
        done = subprocess.run(["bash", "-ec", script], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout, done.stderr
    if piped:
        given = subprocess.run(["bash", "-ec", piped], capture_output=True, check=True).stdout
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(shlex.split(own)[1:])
    if target:
        Path(target).write_text(out.getvalue(), encoding="utf-8")
    return code, out.getvalue(), err.getvalue()


def travel(blocks: list[Block], monkeypatch) -> dict[str, str]:
    """Run all commands of a journey, and hold what they print against what the page shows."""
    said: dict[str, str] = {}
    printed: list[str] = []
    for kind, expected, content in blocks:
        if kind == "text":
            assert_shown(content.splitlines(), printed)
            continue
        printed = []
        for command in commands(content):
            code, out, err = run(command, monkeypatch)
            assert code == expected, f"{command}\n{out}\n{err}"
            assert "Traceback" not in err
            said[command] = out
            printed += out.splitlines() + err.splitlines()
    return said


def assert_shown(shown: list[str], printed: list[str]) -> None:
    """Every line of the page was printed, in this order; dots at the end of a line stand for its rest."""
    rest = iter(printed)
    for line in (line for line in shown if line != "..."):
        begins = line.removesuffix("...")
        here = any(got == line or (begins != line and got.startswith(begins)) for got in rest)
        assert here, (
            "the page shows, and no command printed in its turn:\n" + line + "\nprinted:\n" + "\n".join(printed)
        )


@pytest.mark.parametrize("name", RUN)
def test_every_command_of_a_journey_does_what_the_page_says(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if name in REAL:
        monkeypatch.setenv("LINKWISE_DATA", str(DATA))
    said = travel(JOURNEYS[name], monkeypatch)
    if name.startswith("journey-"):
        return
    wanted = {"cluster", "explain", "check", "repair", "score", "why", "plot", "report", "ask", "assign"}
    used = {word.split()[1] for word in re.findall(r"\blinkwise \w+", "\n".join(said))}
    assert wanted - used <= ({"explain", "check"} if name != "tutorial" else set())
    assert {"explain", "check"} & used
    if name == "tutorial":
        check_tutorial(said, tmp_path)


def check_tutorial(said: dict[str, str], folder: Path) -> None:
    """Statements are told by line, and what comes from a pipe is assigned as what comes from a file."""
    assert "line 7: cannot_link(iris-051, iris-053)" in said["linkwise explain said.csv"]
    assert "line 6" not in said["linkwise why out iris-051 iris-101"]
    assert "line 6" in said["linkwise why out iris-051 iris-101 -c repaired.csv"]
    assert [line.split(",")[0] for line in said["linkwise assign out new.csv"].split()] == ["sample", "new-1", "new-2"]
    assert (folder / "new-labels.csv").read_text() == said["linkwise assign out new.csv"]


def test_no_journey_is_lost():
    pages = [f"journey-{who}" for who in ("analyst", "asker", "biologist", "records", "texts")]
    assert list(JOURNEYS) == ["tutorial", "zoo", "news", "meters", *pages]
    assert REAL == ["zoo", "news"]
    assert [sum(block.kind == "shell" for block in blocks) for blocks in JOURNEYS.values()] == [
        18,
        12,
        9,
        5,
        5,
        2,
        3,
        3,
        4,
    ]
