from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

import linkwise
from linkwise._kernels import njit
from linkwise._kernels._jit import kernel_sources, source_stamp
from linkwise._kernels.borrow import borrowed

pytestmark = pytest.mark.kernels


class State(NamedTuple):
    counts: np.ndarray
    scale: float


@numba.njit
def add_one(state):
    state = borrowed(state)
    state.counts[0] += 1
    return state.counts.sum() * state.scale


def test_borrowed_arrays_are_the_same_memory():
    state = State(np.zeros(3), 2.0)
    assert add_one(state) == 2.0
    assert add_one(state) == 4.0
    assert state.counts.tolist() == [2.0, 0.0, 0.0]


def test_kernels_may_be_decorated_with_and_without_options():
    assert njit(lambda x: x + 1)(1) == njit(nogil=True)(lambda x: x + 1)(1) == 2


def test_an_edit_renews_the_cache_of_the_files_that_use_it_and_of_no_others(tmp_path):
    home = Path(linkwise.__file__).parent
    for file in home.rglob("*.py"):
        copy = tmp_path / "linkwise" / file.relative_to(home)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())

    def stamps():
        show = "import sys; from pathlib import Path; from linkwise._kernels._jit import source_stamp\n"
        show += "for file in sys.argv[1:]: print(source_stamp(Path.cwd() / 'linkwise' / file))"
        files = ["problem/_layers.py", "problem/_onetree.py", "metrics/_kernels_paths.py"]
        command = [sys.executable, "-c", show, *files]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        return done.stdout.split()

    own, caller, other = stamps()
    assert own == source_stamp(home / "problem" / "_layers.py")  # the same wherever the package lies

    def edit(file):
        file = tmp_path / "linkwise" / file
        file.write_bytes(file.read_bytes() + b"# edited\n")

    edit("constraints/_rules.py")  # holds no kernel
    assert stamps() == [own, caller, other]
    edit("problem/_layers.py")
    edited = stamps()
    assert edited[0] != own
    assert edited[1] != caller
    assert edited[2] == other


def test_the_stamp_of_a_kernel_covers_every_file_it_takes_names_from():
    """Whatever a kernel's code loads from another file of linkwise must change its stamp."""
    home = Path(linkwise.__file__).parent
    for file in sorted(home.rglob("*.py")):
        if b"njit" not in file.read_bytes() or file.name == "_jit.py":
            continue
        tree = ast.parse(file.read_text())
        origin = {
            (name.asname or name.name): node.module
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("linkwise")
            for name in node.names
        }
        kernels = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.FunctionDef)
            and any("njit" in ast.unparse(how) or ast.unparse(how) == "inner" for how in node.decorator_list)
        ]
        covered = kernel_sources(file)
        for kernel in kernels:
            body = ast.Module(kernel.body, [])
            loaded = {node.id for node in ast.walk(body) if isinstance(node, ast.Name)} & set(origin)
            for name in loaded:
                module = home.parent.joinpath(*origin[name].split("."))
                places = {module.with_suffix(".py"), module / f"{name}.py"}
                assert places & covered, f"{file}: {kernel.name} uses {name} of {origin[name]}"


def test_compiling_is_announced_once_in_true_words_where_the_command_wants_it(monkeypatch):
    from types import SimpleNamespace

    from linkwise._kernels._jit import _Announce, njit
    from linkwise._wording import in_shell

    monkeypatch.setenv("LINKWISE_QUIET", "0")
    event = SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=njit)})
    for kept, words in ((True, "once for this kind of work"), (False, "each time, since no folder")):
        heard, announce = [], _Announce()
        announce.kept = kept
        with in_shell(heard.append):
            announce.on_start(event)
            announce.on_start(event)
        assert len(heard) == 1
        assert words in heard[0]
        assert "per installation" not in heard[0]
