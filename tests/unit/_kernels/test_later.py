"""Before Numba is loaded, kernels run in the interpreter on small arguments; then dispatchers take their places."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import numba
import numpy as np
import pytest

from linkwise._kernels import _later, _tier, njit
from linkwise._kernels._later import Kernel, can_wait, load_numba
from linkwise._threads import SLICES

ROOT = Path(__file__).parents[3]


@pytest.fixture(autouse=True)
def waiting(monkeypatch):
    monkeypatch.setattr(_tier.SETTINGS, "limit", _tier.LIMIT)
    monkeypatch.setattr(_tier, "PATIENCE", 1_000_000)  # as for a user
    monkeypatch.setattr(_later, "_WAITING", _later._Waiting())


def count(counts, rounds):
    for i in range(rounds):
        counts[i % len(counts)] += 1
    return counts.sum()


def waits(function, made):
    """A kernel that waits; when it is made, its calls are noted in a list."""

    def dispatcher(*arguments):
        made.append(len(arguments))
        return function(*arguments)

    return Kernel(function, lambda: dispatcher)


def test_small_calls_are_interpreted_and_large_ones_load_numba():
    made = []
    kernel = waits(count, made)
    assert kernel(np.zeros(3, np.int64), 10) == 10
    assert type(kernel(np.zeros(3, np.int64), 10)) is int  # as boxed by Numba
    assert made == []
    assert kernel(np.zeros(_tier.LIMIT + 1, np.int64), 10) == 10
    assert kernel(np.zeros(3, np.int64), 10) == 10
    assert made == [2, 2]


@pytest.mark.parametrize("why", ["limit", "single precision", "a name", "threads"])
def test_calls_that_cannot_be_interpreted_load_numba(monkeypatch, why):
    made = []
    kernel = waits(count, made)
    counts = np.zeros(3, np.float32 if why == "single precision" else np.int64)
    if why == "limit":
        monkeypatch.setattr(_tier.SETTINGS, "limit", 0)
    if why == "threads":
        monkeypatch.setattr(SLICES, "elements", 3)
    if why == "a name":
        with pytest.raises(TypeError):  # of the dispatcher here, which takes none
            kernel(counts, rounds=4)
    else:
        assert kernel(counts, 4) == 4
        assert made == [2]
    assert kernel.made is not None


def test_a_call_that_takes_too_long_is_undone_and_made_again():
    made, counts = [], np.zeros(3, np.int64)
    kernel = waits(count, made)
    rounds = _tier.patience(kernel) + 1
    assert kernel(counts, rounds) == rounds
    assert made == [2]


def test_all_kernels_together_have_the_rounds_that_loading_takes():
    made = []
    first, second = waits(count, made), waits(count, made)
    for kernel in (first, second):  # the last of them may end
        kernel(np.zeros(3, np.int64), _later.ROUNDS // 2 + 1)
    assert made == []
    first(np.zeros(3, np.int64), 1)
    assert made == [2]


def test_dispatchers_take_the_places_of_all_kernels(monkeypatch):
    scope = {}
    exec("def twice(x):\n    return 2 * x\ndef call_twice(x):\n    return twice(x)\n", scope)
    scope |= {name: Kernel(scope[name], lambda: "made") for name in ("twice", "call_twice")}
    monkeypatch.setattr(sys.modules[__name__], "elsewhere", scope["twice"], raising=False)
    assert scope["call_twice"](4) == 8  # kernels that it calls are interpreted as well
    load_numba()
    assert scope["twice"] == scope["call_twice"] == sys.modules[__name__].elsewhere == "made"
    load_numba()  # nothing is left to do


def test_what_numba_knows_about_a_kernel_can_be_asked_at_any_time():
    kernel = Kernel(count, lambda: numba.njit(nogil=True)(count))
    assert not hasattr(kernel, "__wrapped__")
    assert kernel.made is None
    assert kernel.targetoptions["nogil"]


def test_threads_load_numba_once():
    made, start = [], threading.Barrier(4)
    kernel = Kernel(count, lambda: made.append(1) or count)
    large = np.zeros(_tier.LIMIT + 1, np.int64)

    def call():
        start.wait()
        kernel(large, 1)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == [1]


def test_kernels_wait_only_where_nothing_is_asked_of_numba(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("NUMBA_")]:
        monkeypatch.delenv(name)
    assert numba.__name__ in sys.modules
    assert not can_wait(count)
    monkeypatch.delitem(sys.modules, "numba")
    assert can_wait(count)
    assert isinstance(njit(count), Kernel)
    assert not can_wait(lambda: tmp_path)
    assert not can_wait(lambda x=1: x)
    monkeypatch.setenv("NUMBA_CACHE_DIR", "somewhere")
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    assert can_wait(count)
    monkeypatch.setenv("NUMBA_BOUNDSCHECK", "1")
    assert not can_wait(count)
    assert _tier._Settings().limit == 0
    monkeypatch.delenv("NUMBA_BOUNDSCHECK")
    Path(".numba_config.yaml").touch()
    assert not can_wait(count)


WORK = """
import sys
import numpy as np
import linkwise as lw
table = lw.Constraints.build(30, must_link=[(0, 1), (2, 3)], cannot_link=[(0, 4), (1, 5)])
print(lw.check(table, n_clusters=3), lw.problem.onetree(5, [(0, 1, 2), (2, 3, 4)]).parent.tolist())
print("numba" in sys.modules)
from linkwise._kernels.inventory import kernels
from linkwise._kernels._later import Later
print(len(kernels()) > 300)
for module in list(sys.modules.values()):
    assert not any(isinstance(value, Later) for value in vars(module).values()), module
with lw._kernels.compiled_only():
    print(lw._kernels.disjoint_set.components(3, np.array([[0, 1]])).tolist())
"""


def test_a_process_that_does_little_loads_no_numba_and_one_that_does_more_finds_all_in_place():
    done = subprocess.run(
        [sys.executable, "-c", WORK],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env={name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")},
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1:] == ["False", "True", "[0, 0, 1]"]
