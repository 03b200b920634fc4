from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

import linkwise
from linkwise._kernels import njit
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


SHOW = "from linkwise._kernels._jit import _package_stamp; print(_package_stamp())"


def test_an_edit_of_any_kernel_file_renews_the_cache_of_all(tmp_path):
    home = Path(linkwise.__file__).parent
    for file in home.rglob("*.py"):
        copy = tmp_path / "linkwise" / file.relative_to(home)
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_bytes(file.read_bytes())
        os.utime(copy, (1_000_000, 1_000_000))

    def stamp():
        done = subprocess.run([sys.executable, "-c", SHOW], capture_output=True, text=True, check=True, cwd=tmp_path)
        return done.stdout

    first = stamp()
    assert stamp() == first
    unrelated = tmp_path / "linkwise" / "constraints" / "_rules.py"
    unrelated.write_bytes(unrelated.read_bytes() + b"# holds no kernel\n")
    assert stamp() == first
    kernel = tmp_path / "linkwise" / "problem" / "_layers.py"
    kernel.write_bytes(kernel.read_bytes() + b"# edited\n")
    assert stamp() != first
