"""No test looks at a clock or waits for a time to pass: each passes on a slow machine under full load."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
CLOCKS = r"(?:time|monotonic|perf_counter|process_time|thread_time)(?:_ns)?|sleep|setitimer|alarm"
# Files that may, and why. Each of them goes on when something has happened, not when some time is over.
MAY = {
    "unit/studies/experiments/test_interrupt.py": "looks again and again for what another process writes",
    "unit/studies/experiments/toys.py": "a cell that goes on when a file appears",
    "hostile/command_line.py": "a campaign started by hand, which reports cases that take too much processor time",
}
PATIENT = 600  # seconds: an end for what hangs, not a bound for what is slow
# Campaigns that are started by hand (`python -m tests.<name>`) may bound themselves: they are not tests.
FILES = sorted(path for path in TESTS.rglob("*.py") if path != Path(__file__) and path.name != "__main__.py")


def clocks(tree: ast.AST) -> list[str]:
    """Uses of clocks, also in programs that a test holds as text."""
    found = []
    turns = {  # the other tasks have theirs, and no time passes
        id(node.func)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node) == "asyncio.sleep(0)"
    }
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Attribute)
            and re.fullmatch(r"(?:time|signal|asyncio)\.(?:" + CLOCKS + ")", ast.unparse(node))
            and id(node) not in turns
        ) or (isinstance(node, ast.ImportFrom) and node.module == "time"):
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            held = re.search(r"\b(?:time|signal)\.(?:" + CLOCKS + r")\(|\bfrom time import\b|\bru_utime\b", node.value)
            if held:
                found.append(f"line {node.lineno}: {held.group()}")
    return found


def hurried(tree: ast.AST) -> list[str]:
    """Time-outs that a busy machine would meet."""
    return [
        f"line {node.value.lineno}: {ast.unparse(node)}"
        for node in ast.walk(tree)
        if isinstance(node, ast.keyword)
        and node.arg == "timeout"
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, int | float)
        and node.value.value < PATIENT
    ]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(TESTS).as_posix())
def test_no_clocks(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if path.relative_to(TESTS).as_posix() not in MAY:
        assert clocks(tree) == []
    assert hurried(tree) == []


def test_every_exception_is_one():
    for name in MAY:
        assert clocks(ast.parse((TESTS / name).read_text(encoding="utf-8"))), name


@pytest.mark.parametrize(
    "text",
    [
        "import time\nstart = time.perf_counter()",
        "import time\ntime.sleep(1)",
        "from time import monotonic",
        "CODE = 'import time; print(time.time())'",
        "import signal\nsignal.setitimer(signal.ITIMER_REAL, 1)",
    ],
)
def test_clocks_are_seen(text):
    assert clocks(ast.parse(text))


def test_short_time_outs_are_seen():
    assert hurried(ast.parse("run.communicate(timeout=30)"))
    assert not hurried(ast.parse("run.communicate(timeout=600)"))
    assert not clocks(ast.parse("import time\nprint(one.time, 'in time')"))
