"""One process compiles a kernel, the others wait for it and load; no process waits for one that is gone."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core import errors, event

import linkwise
from linkwise._kernels import _tier, _turns

KERNELS = """
from linkwise._kernels import njit

@njit
def callee(x):
    return x + 1

@njit
def caller(x):
    return callee(x) + callee(x + 0.5)

@njit
def wrong(x):
    return x.nothing
"""

# A process that says when it compiles and when it waits, and then goes on after a line was typed.
TELL = """
import sys
from numba.core import event
from linkwise._kernels import _turns
import kernels

class Tell(event.Listener):
    def on_start(self, event):
        print("compiles", event.data["dispatcher"].py_func.__name__, flush=True)
    def on_end(self, event):
        pass

event.register("numba:compile", Tell())
waits = iter(["waits"])

def pause():
    for word in waits:
        print(word, flush=True)
        sys.stdin.readline()

_turns.pause = pause
"""
FIRST = """
looks = kernels.callee._cache.load_overload

def look(*args):
    found = looks(*args)
    print("has its turn", flush=True)
    sys.stdin.readline()
    return found

kernels.callee._cache.load_overload = look
print(kernels.callee(1.0))
"""
SECOND = "print(kernels.caller(1.0))"

# A process without kernels, which takes a turn and keeps it until it ends.
HOLDER = """
import importlib.util, sys
from pathlib import Path
spec = importlib.util.spec_from_file_location("turns", sys.argv[1])
turns = importlib.util.module_from_spec(spec)
spec.loader.exec_module(turns)
print(turns._TURNS.take(Path(sys.argv[2]), 7), flush=True)
sys.stdin.readline()
"""


def process(*command, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "LINKWISE_INTERPRET": "0", **environment},
    )


def finish(child, typed=""):
    out = child.communicate(typed)[0].splitlines()
    assert child.returncode == 0
    return out


@pytest.fixture
def holder(tmp_path):
    child = process(HOLDER, _turns.__file__, str(tmp_path / "turns"))
    assert child.stdout.readline() == "True\n"
    yield child
    child.kill()
    child.communicate()


@pytest.fixture
def kernels(tmp_path, monkeypatch):
    monkeypatch.setattr(_tier.SETTINGS, "limit", 0)
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "kernels.py").write_text(KERNELS)
    spec = importlib.util.spec_from_file_location("kernels", tmp_path / "kernels.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Compiled(event.Listener):
    def __init__(self):
        self.names = []

    def on_start(self, event):
        self.names.append(event.data["dispatcher"].py_func.__name__)

    def on_end(self, event):
        pass


def test_what_one_process_compiles_another_waits_for_and_loads(tmp_path):
    (tmp_path / "kernels.py").write_text(KERNELS)
    path = os.pathsep.join([str(tmp_path), str(Path(linkwise.__file__).parents[1])])
    where = {"PYTHONPATH": path, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    first = process(TELL + FIRST, **where)
    assert first.stdout.readline() == "has its turn\n"
    second = process(TELL + SECOND, **where)
    assert second.stdout.readline() == "compiles caller\n"
    assert second.stdout.readline() == "waits\n"  # for what its kernel calls
    assert finish(first, "\n") == ["compiles callee", "2.0"]
    assert finish(second, "\n") == ["4.5"]


def test_a_killed_process_blocks_no_other(tmp_path, holder, monkeypatch):
    def end_it():
        holder.kill()
        holder.communicate()

    monkeypatch.setattr(_turns, "pause", end_it)
    turns = _turns._Turns()
    assert turns.take(tmp_path / "turns", 8)  # the turn of another kernel is free
    assert holder.poll() is None
    assert turns.take(tmp_path / "turns", 7)
    assert holder.poll() is not None


def test_waiting_has_an_end(tmp_path, holder, monkeypatch):
    pauses = []
    monkeypatch.setattr(_turns, "pause", lambda: pauses.append(1))
    monkeypatch.setattr(_turns, "TRIES", 5)
    assert not _turns._Turns().take(tmp_path / "turns", 7)
    assert len(pauses) == 5
    assert holder.poll() is None


def test_a_kernel_that_cannot_be_compiled_gives_its_turn_back(kernels):
    with pytest.raises(errors.TypingError):
        kernels.wrong(1)
    assert not _turns._TURNS._held
    assert not _turns._COMPILING.stack


def test_where_files_cannot_be_locked_kernels_are_compiled_all_the_same(kernels, monkeypatch):
    def refuse(*_):
        raise OSError("no locks here")

    monkeypatch.setattr(_turns, "_lock", refuse)
    with event.install_listener("numba:compile", Compiled()) as heard:
        assert kernels.caller(1.0) == 4.5
        assert kernels.caller(2.0) == 6.5
    assert heard.names == ["caller", "callee"]
    assert not _turns._TURNS._held


def test_a_turn_may_be_taken_twice_and_ends_with_the_second_return(tmp_path):
    turns, place = _turns._Turns(), tmp_path / "turns"
    assert turns.take(place, 7)
    assert turns.take(place, 7)
    assert turns.take(place, 8)
    turns.end(7)
    assert turns._held == {7: 1, 8: 1}
    turns.end(7)
    assert turns._held == {8: 1}
    turns.end(8)
    assert not turns._held


def test_without_a_folder_for_the_file_no_turn_is_taken(tmp_path):
    assert not _turns._Turns().take(tmp_path / "no" / "turns", 7)


def test_control_c_while_a_kernel_is_compiled_is_not_lost(tmp_path):
    script = tmp_path / "kernels_of_a_test.py"
    script.write_text(
        "import os, signal, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from numba.core import event\n"
        "from linkwise._kernels import njit\n"
        "class Press(event.Listener):\n"
        "    def on_start(self, event):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "    def on_end(self, event):\n"
        "        print('compiled', flush=True)\n"
        "@njit\n"
        "def double(x):\n"
        "    return 2 * x\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "press = Press()\n"
        "event.register('numba:compile', press)\n"
        "try:\n"
        "    double(21)\n"
        "except KeyboardInterrupt:\n"
        "    print('stopped')\n"
        "event.unregister('numba:compile', press)\n"
        "print(double(21), signal.getsignal(signal.SIGINT) is signal.default_int_handler)\n",
        encoding="utf-8",
    )
    root = str(Path(linkwise.__file__).parents[1])
    where = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "LINKWISE_INTERPRET": "0", "LINKWISE_QUIET": "1"}
    done = subprocess.run([sys.executable, str(script), root], capture_output=True, text=True, env=where, check=True)
    assert done.stdout.split() == ["compiled", "stopped", "42", "True"]
