"""A run that is killed at any moment goes on where it was: what was finished is never begun again."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from tests.profile import examples
from tests.unit.experiments import toys

ROOT = Path(__file__).resolve().parents[3]


def start(store, log, n, nap, n_jobs):
    code = f"from tests.unit.experiments.toys import main; main({str(store)!r}, {str(log)!r}, {n}, {nap}, {n_jobs})"
    return subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )


def lines(log):
    return log.read_text().splitlines() if log.exists() else []


def begun(log):
    return [line.removeprefix("begin ") for line in lines(log) if line.startswith("begin ")]


def alive(pid):
    """Whether a process runs; one that ended and was not waited for does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_for_the_end_of_workers(log):
    """Wait until no process that began a cell is left; a test that hangs here found one that lives on."""
    for pid in {line.removeprefix("by ") for line in lines(log) if line.startswith("by ")}:
        while int(pid) != os.getpid() and alive(pid):
            time.sleep(0.01)


def wait_for(condition, run):
    while not condition():
        assert run.poll() is None or condition(), run.communicate()[1]
        time.sleep(0.001)


@pytest.mark.parametrize(
    ("n_jobs", "n", "nap", "rounds"),
    [(1, examples(100, 1000), 0.0, examples(2, 20)), (2, examples(16, 100), 0.05, examples(1, 20))],
    ids=["writing most of the time", "two processes, computing"],
)
def test_a_killed_run_continues_without_repeating_a_cell(tmp_path, n_jobs, n, nap, rounds):
    store, log = tmp_path / "store", tmp_path / "log"
    rng = np.random.default_rng(n)
    study = toys.study(store, log, n, nap)
    kills = 0
    for _ in range(rounds):
        finished = {str(record["params"]["tag"]) for record in study.records()}
        before = len(begun(log))
        run = start(store, log, n, nap, n_jobs)
        target = before + int(rng.integers(1, n // (rounds + 1)))
        wait_for(lambda target=target, run=run: len(begun(log)) >= target or run.poll() is not None, run)
        for _ in range(int(rng.integers(100))):  # a moment, each time another one
            begun(log)
        if run.poll() is None:
            os.kill(run.pid, signal.SIGKILL)
            kills += 1
        run.communicate()
        assert not finished & set(begun(log)[before:]), "a finished cell was begun again"
    run = start(store, log, n, nap, n_jobs)
    said = run.communicate(timeout=600)[1]
    assert run.returncode == 0, said
    records = study.records()
    assert [record["params"]["tag"] for record in records] == list(range(n))
    assert all(record["status"] == "done" for record in records)
    times = Counter(begun(log))
    assert kills >= 1
    assert set(times) == {str(tag) for tag in range(n)}
    assert sum(times.values()) <= n + kills * n_jobs  # only what was in the hands of a worker is begun anew
    assert study.run().reused == n


def test_workers_end_with_their_killed_parent(tmp_path):
    store, log = tmp_path / "store", tmp_path / "log"
    run = start(store, log, 4, 60.0, 2)
    wait_for(lambda: len(begun(log)) >= 2, run)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    wait_for_the_end_of_workers(log)


def test_an_interrupt_ends_the_run_and_its_workers_and_keeps_what_is_finished(tmp_path):
    store, log = tmp_path / "store", tmp_path / "log"
    n, nap = 9, 0.2
    study = toys.study(store, log, n, nap)
    run = start(store, log, n, nap, 2)
    wait_for(lambda: len(begun(log)) >= 4, run)
    os.kill(run.pid, signal.SIGINT)
    said = run.communicate(timeout=600)[1]
    assert "KeyboardInterrupt" in said
    finished = {str(record["params"]["tag"]) for record in study.records()}
    assert finished
    wait_for_the_end_of_workers(log)
    before = len(begun(log))
    assert study.run().reused == len(finished)
    assert not finished & set(begun(log)[before:])
    assert len(study.records()) == n


def test_a_script_without_its_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from tests.unit.experiments.toys import main\n"
        f"main({str(tmp_path / 's')!r}, {str(tmp_path / 'l')!r}, 2, 0, 2)\n"
    )
    ended = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert ended.returncode != 0
    assert "if __name__ == '__main__':" in ended.stderr.splitlines()[-1]
    assert not (tmp_path / "l").exists()
