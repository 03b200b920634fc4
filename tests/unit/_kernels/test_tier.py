"""Kernels run in the interpreter on small arguments, with the bits of compiled code, until they have looped enough."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import numba
import numpy as np
import pytest

import linkwise
from linkwise._kernels import _tier, compiled_only, njit
from linkwise._kernels.borrow import borrowed
from linkwise._kernels.inventory import kernels
from linkwise._threads import SLICES, Workers
from tests.profile import FULL

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def tier(monkeypatch):
    monkeypatch.setattr(_tier.SETTINGS, "limit", _tier.LIMIT)


def kernel(function):
    """A kernel without a place on the disk, as other tests may have compiled it already."""
    made = numba.njit(function)
    _tier.interpret_small(made)
    return made


def patience(monkeypatch, rounds):
    monkeypatch.setattr(_tier, "PATIENCE", rounds)
    monkeypatch.setattr(_tier, "ROUNDS_PER_BYTE", 0)


def n_compiled(made):
    return len(made.overloads)


class State(NamedTuple):
    counts: np.ndarray
    step: int


@numba.njit
def bump(state, i):
    state.counts[i] += state.step


def count(state, rounds):
    state = borrowed(state)
    for i in range(rounds):
        bump(state, i % len(state.counts))
    return State(state.counts, rounds), state.counts[0] > 0, state.counts[0], 0.5 * state.counts[0]


def test_a_small_call_is_interpreted_with_the_kernels_it_calls():
    made, counts = kernel(count), np.zeros(3, np.int64)
    state, some, first, half = made(State(counts, 2), 4)
    assert n_compiled(made) == n_compiled(bump) == 0
    assert counts.tolist() == [4, 2, 2]
    assert state.counts is counts
    assert [type(value) for value in (state.step, some, first, half)] == [int, bool, int, float]  # as boxed by Numba


@pytest.mark.parametrize("counts", [np.zeros(_tier.LIMIT + 1, np.int64), np.zeros(3, np.float32)])
def test_large_arguments_and_single_precision_are_compiled_at_once(counts):
    made = kernel(lambda state: state.counts[0] + state.step)
    assert made(State(counts, 2)) == 2
    assert n_compiled(made) == 1


def test_a_kernel_that_has_looped_enough_is_compiled_whatever_the_clock_says(monkeypatch):
    patience(monkeypatch, 10 * (_tier.CALL + 11))
    made = kernel(count)
    for _ in range(10):
        made(State(np.zeros(3, np.int64), 1), 10)
        assert n_compiled(made) == 0
    made(State(np.zeros(3, np.int64), 1), 10)
    assert n_compiled(made) == 1
    assert made(State(np.zeros(6, np.int64)[::2], 1), 10)[2] == 4
    assert n_compiled(made) == 1  # another signature has patience of its own
    made._compile_for_args = None  # a compiled call asks for nothing
    assert made(State(np.zeros(3, np.int64), 1), 10)[2] == 4


def test_patience_grows_with_the_code_that_would_be_compiled():
    long, short = (
        kernels()[f"engines.hierarchical.relative._kernels{name}"] for name in (".advance", "_search.conflicting")
    )
    assert _tier._size_of_code(long) > 50 * _tier._size_of_code(short) > 1000


def wander(state, rng, steps):
    first = 0.0
    for i in range(3):
        state.counts[i] += 1
        first += rng.random()
    while steps > 0:  # counted by the loop inside
        for _ in range(10):
            steps -= 1
            state.counts[0] += int(2 * rng.random())
    return first


def test_a_search_is_interrupted_undone_and_repeated_in_compiled_code(monkeypatch):
    patience(monkeypatch, 1000)
    made, outcomes = kernel(wander), []
    for run in (made, wander):
        counts, rng = np.arange(6)[::2].copy(), np.random.default_rng(0)
        outcomes.append((run(State(counts, 1), rng, 5000), counts.tolist(), rng.random()))
    assert n_compiled(made) == 1
    assert outcomes[0] == outcomes[1]


def test_read_only_arrays_stay_so_and_errors_come_through():
    def fill(array):
        if len(array) == 0:
            raise ValueError("empty")
        array[0] = np.sqrt(array[0]) / 1.0
        return np.float64(1.0) / array[1:2]

    made, fixed = kernel(fill), np.ones(2)
    assert made(np.array([-1.0, 0.0])).tolist() == [np.inf]  # and no warning
    fixed.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        made(fixed)
    with pytest.raises(ValueError, match="empty"):
        made(fixed[:0])
    assert n_compiled(made) == 0


def test_threads_count_for_themselves(monkeypatch):
    patience(monkeypatch, 10_000)
    made = kernel(count)
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda _: made(State(np.zeros(3, np.int64), 1), 900)[2], range(40))
    assert set(found) == {300}
    assert n_compiled(made) == 1


def fill(out, start, stop):
    for i in range(start, stop):
        for _ in range(20):
            out[i] += 1


def test_beside_other_threads_a_call_is_never_undone(monkeypatch):
    """To put an array back would undo what the others wrote to it."""
    patience(monkeypatch, 100)
    made, out = kernel(fill), np.zeros(400, np.int64)
    monkeypatch.setattr(SLICES, "elements", 400)
    made(out, 0, 50)
    assert n_compiled(made) == 0  # ten times its patience
    made(out, 50, 100)
    assert n_compiled(made) == 1
    assert (out == np.repeat([20, 0], [100, 300])).all()


@pytest.mark.parametrize("cost", [1, _tier.SHARED])
def test_threads_share_an_array(monkeypatch, cost):
    patience(monkeypatch, 10_000)
    made, out = kernel(fill), np.zeros(400, np.int64)
    with Workers(4) as workers:
        for done in range(1, 6):
            workers.over(made, 400, cost, out)
            assert (out == 20 * done).all()
            assert cost == 1 or n_compiled(made) == 1  # much work is compiled at once
    assert n_compiled(made) == 1
    assert SLICES.elements == 0


def test_code_on_the_disk_is_used(tmp_path, monkeypatch):
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))

    def double(x):
        return x + x

    with compiled_only():
        assert njit(double)(np.ones(2)).tolist() == [2.0, 2.0]
    again = njit(double)
    again(np.ones(2))
    assert sum(again.stats.cache_hits.values()) == n_compiled(again) == 1
    again(np.ones((2, 2)))  # another signature, which is not there
    assert n_compiled(again) == 1


@pytest.mark.parametrize(
    ("asked", "checks", "limit"),
    [("", 0, _tier.LIMIT), ("0", 0, 0), ("100", 0, 100), ("no", 0, _tier.LIMIT), ("", 1, 0)],
)
def test_the_environment_can_turn_it_off(monkeypatch, asked, checks, limit):
    monkeypatch.setenv("LINKWISE_INTERPRET", asked)
    monkeypatch.setattr(numba.config, "BOUNDSCHECK", checks)
    assert _tier._Settings().limit == limit


class Renamed:
    """A dispatcher of a Numba that calls its hook something else."""

    __slots__ = ("py_func",)

    def __init__(self, function):
        self.py_func = function

    def __call__(self, *arguments):
        return self.py_func(*arguments)


@pytest.mark.parametrize("other", [Renamed, lambda function: function])
def test_with_an_unknown_numba_kernels_are_compiled_as_usual(monkeypatch, tmp_path, other):
    with monkeypatch.context() as patch:
        patch.setattr(numba, "njit", other)
        _tier.supported.cache_clear()
        assert not _tier.supported()
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    made = njit(lambda x: x + 1)  # the answer is kept
    _tier.supported.cache_clear()
    assert made(1) == 2
    assert n_compiled(made) == 1
    assert _tier.supported()  # the installed one


# -- the kernels of the library ----------------------------------------------------------------------------------------


def small_work(*arguments, **environment):
    done = subprocess.run(
        [sys.executable, "-m", "tests.small_work", *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "NUMBA_BOUNDSCHECK": "0", "PYTHONPATH": os.pathsep.join(sys.path), **environment},
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    return {line for line in lines if "compiled:" not in line}, next(line for line in lines if "compiled:" in line)


# In the short run only tasks whose kernels other tests compile as well.
SEEDS, COMPILED = ("24", ()) if FULL else ("1", ("average-pairs", "complete-plain", "ward-plain"))


def test_first_use_on_small_data_compiles_nothing_and_gives_the_bits_of_compiled_code(tmp_path):
    """Journeys of a newcomer and random tasks in a process that finds no compiled code."""
    interpreted, compiled = small_work(SEEDS, NUMBA_CACHE_DIR=str(tmp_path))
    assert compiled == "compiled:"
    assert len(interpreted) >= 35
    again, _ = small_work(SEEDS, *COMPILED, LINKWISE_INTERPRET="0")
    assert len(again) >= len(COMPILED) * int(SEEDS)
    assert again <= interpreted


SUMS = {"sum", "mean", "dot", "std", "var", "prod"}
ROUNDED = SUMS | {"exp", "log", "log2", "log10", "expm1", "log1p", "power", "linalg"}


def test_no_kernel_uses_an_operation_whose_last_bits_differ_when_compiled():
    """NumPy's exp, log and sums round otherwise than Numba's, and x ** 2 is x * x in compiled code only."""
    found, files = [], sorted({Path(one.py_func.__code__.co_filename) for one in kernels().values()})
    for file in files:
        for function in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef) or not function.decorator_list:
                continue
            for node in ast.walk(function):
                ours = isinstance(node, ast.Attribute) and ast.unparse(node.value) == "np" and node.attr in ROUNDED
                method = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in SUMS
                power = isinstance(node, ast.BinOp) and isinstance(node.op, (ast.Pow, ast.MatMult))
                if ours or method or (power and isinstance(node.right, ast.Constant)):
                    found.append(
                        f"{file.relative_to(Path(linkwise.__file__).parent)}:{node.lineno} {ast.unparse(node)}"
                    )
    assert len(files) > 50
    assert found == []
