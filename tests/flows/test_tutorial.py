"""docs/tutorial.md: every command runs in an empty folder, in order, and ends with the exit code the page says."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
import subprocess
import sys
from pathlib import Path

from linkwise.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "tutorial.md"
BLOCKS = re.findall(r"```shell(?: exit=(\d+))?\n(.*?)```", PAGE.read_text(encoding="utf-8"), flags=re.DOTALL)


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


def test_every_command_of_the_tutorial_does_what_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    said: dict[str, str] = {}
    for expected, block in BLOCKS:
        for command in commands(block):
            code, out, err = run(command, monkeypatch)
            assert code == int(expected or 0), f"{command}\n{out}\n{err}"
            assert "Traceback" not in err
            said[command] = out
    assert "line 7: cannot_link(iris-051, iris-053)" in said["linkwise explain said.csv"]
    assert "line 6" not in said["linkwise why out iris-051 iris-101"]
    assert "line 6" in said["linkwise why out iris-051 iris-101 -c repaired.csv"]
    assert [line.split(",")[0] for line in said["linkwise assign out new.csv"].split()] == ["sample", "new-1", "new-2"]
    assert (tmp_path / "new-labels.csv").read_text() == said["linkwise assign out new.csv"]
    assert len(BLOCKS) == 15
