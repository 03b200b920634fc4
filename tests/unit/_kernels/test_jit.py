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
from linkwise._kernels import _dispatchers, njit
from linkwise._kernels._sources import kernel_sources, source_stamp
from linkwise._kernels.borrow import borrowed
from linkwise._lazy import read_stub

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
    for file in (*home.rglob("*.py"), *home.rglob("*.pyi")):
        copy = tmp_path / "linkwise" / file.relative_to(home)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())

    def stamps():
        show = "import sys; from pathlib import Path; from linkwise._kernels._sources import source_stamp\n"
        show += "for file in sys.argv[1:]: print(source_stamp(Path.cwd() / 'linkwise' / file))"
        files = [f"problem/triplets/{name}.py" for name in ("_kernels_incremental", "_onetree")]
        files += ["engines/hierarchical/relative/_kernels.py", "metrics/_kernels_paths.py"]
        command = [sys.executable, "-c", show, *files]
        done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
        return done.stdout.split()

    own, caller, by_door, other = stamps()
    # the same wherever the package lies
    assert own == source_stamp(home / "problem" / "triplets" / "_kernels_incremental.py")

    def edit(file):
        file = tmp_path / "linkwise" / file
        file.write_bytes(file.read_bytes() + b"# edited\n")

    edit("constraints/_rules.py")  # holds no kernel
    assert stamps() == [own, caller, by_door, other]
    edit("problem/triplets/_kernels_incremental.py")
    edited = stamps()
    assert edited[0] != own
    assert edited[1] != caller
    assert edited[2] != by_door
    assert edited[3] == other


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
                stub = module / "__init__.pyi"
                if stub.exists() and name in read_stub(stub)[0]:
                    module = home.parent.joinpath(*read_stub(stub)[0][name].split("."))
                places = {module.with_suffix(".py"), module / f"{name}.py"}
                assert places & covered, f"{file}: {kernel.name} uses {name} of {origin[name]}"


def test_where_numba_has_no_place_for_a_cache_code_is_never_kept(monkeypatch, tmp_path):
    """The name is private to Numba: a version without it must work as well."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    class Bare:
        def __init__(self, function):
            self.py_func = function

        def __call__(self, x):
            return self.py_func(x)

    monkeypatch.setattr(numba, "njit", lambda **_: Bare)
    monkeypatch.setattr(_dispatchers, "supported", lambda: False)
    assert njit(lambda x: x + 1)(1) == 2
    assert list(tmp_path.iterdir()) == []
