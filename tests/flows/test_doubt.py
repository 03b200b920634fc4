"""From remarks in a hurry to clusters: doubt asks in a real terminal, and the rest is clustered and reported."""

from __future__ import annotations

import os
import pty
import select
import sys
import termios
from pathlib import Path

from linkwise import read_knowledge
from linkwise.cli import main
from tests.unit.cli.test_doubt import DOUBT, READ, WRONG, bodies, data, statements

ROOT = Path(__file__).parents[2]


def reads_keys(terminal: int) -> bool:
    """Whether a command waits for single keys; those pressed before are lost."""
    return not termios.tcgetattr(terminal)[3] & termios.ICANON


def typed(arguments: list[str], keys: str) -> tuple[int, str]:
    """Run a command in a terminal of its own, press a key whenever it waits for one, and return code and screen."""
    child, terminal = pty.fork()
    if not child:
        os.environ |= {"PYTHONPATH": str(ROOT), "LINKWISE_QUIET": "1", "TERM": "dumb"}
        os.execv(sys.executable, [sys.executable, "-m", "linkwise", *arguments])
    screen, left = b"", list(keys)
    while True:
        asked = screen.count(b"[d/k/s/u/q/?]") + screen.count(b"any other key")
        if left and asked > len(keys) - len(left) and reads_keys(terminal):
            os.write(terminal, left.pop(0).encode())
        if select.select([terminal], [], [], 0.05)[0]:
            try:
                screen += os.read(terminal, 4096)
            except OSError:  # the command has ended
                break
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), screen.decode(errors="replace")


def test_a_wrong_remark_is_dropped_by_a_key_and_the_rest_is_obeyed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("data.csv").write_text(data())
    Path("said.csv").write_text(statements())
    code, screen = typed([*DOUBT, "-o", "kept.csv"], "dudd ")
    assert code == 0, screen
    assert "2 of 2. said.csv:" in screen
    assert "took back the last decision." in screen
    assert bodies("said.csv") - bodies("kept.csv") == WRONG
    assert main(["cluster", *READ, "-c", "kept.csv", "-k", "3", "-o", "out", "--quiet"]) == 0
    assert main(["report", "out", "-o", "report.md", "--quiet"]) == 0
    n = read_knowledge("kept.csv").constraints.n_statements
    assert f"The data contradict none of {n} statements." in Path("report.md").read_text()
