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
from tests.unit.studies.experiments import toys

ROOT = Path(__file__).resolve().parents[4]


def start(store, log, n, gate, free, n_jobs):
    where = ", ".join(repr(str(path)) for path in (store, log))
    code = f"from tests.unit.studies.experiments.toys import main; main({where}, {n}, {str(gate)!r}, {free}, {n_jobs})"
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


def assert_workers_ended(log):
    """No worker is at work any more, and none ended as if nothing had happened: the gate is closed."""
    before = [line for line in lines(log) if line.startswith("end ")]
    with toys.at_work(log, alone=True):
        assert [line for line in lines(log) if line.startswith("end ")] == before, "a worker lived on"


def wait_for(condition, run):
    """Look again and again: what happens in another process takes as long as it takes."""
    for _ in range(600_000):
        if condition():
            return
        assert run.poll() is None or condition(), run.communicate()[1]
        time.sleep(0.001)
    pytest.fail("nothing happened in ten minutes")


@pytest.mark.parametrize(
    ("n_jobs", "n", "rounds"),
    [(1, examples(34, 1000), examples(2, 20)), (2, examples(6, 100), examples(1, 20))],
    ids=["one process", "two processes"],
)
def test_a_killed_run_continues_without_repeating_a_cell(tmp_path, n_jobs, n, rounds):
    store, log, gate = tmp_path / "store", tmp_path / "log", tmp_path / "gate"
    rng = np.random.default_rng(n)
    free = n - n_jobs  # the last cells wait, so that no run ends before it is killed
    study = toys.study(store, log, n, gate, free)
    for _ in range(rounds):
        finished = {str(record["params"]["tag"]) for record in study.records()}
        before = len(begun(log))
        run = start(store, log, n, gate, free, n_jobs)
        # killed after this cell was begun: at once, or some cells later when the machine is busy
        target = before + min(int(rng.integers(1, n // (rounds + 1))), n - len(finished))
        wait_for(lambda target=target: len(begun(log)) >= target, run)
        os.kill(run.pid, signal.SIGKILL)
        run.communicate()
        assert not finished & set(begun(log)[before:]), "a finished cell was begun again"
    gate.touch()
    run = start(store, log, n, gate, free, n_jobs)
    said = run.communicate()[1]
    assert run.returncode == 0, said
    records = study.records()
    assert [record["params"]["tag"] for record in records] == list(range(n))
    assert all(record["status"] == "done" for record in records)
    times = Counter(begun(log))
    assert set(times) == {str(tag) for tag in range(n)}
    assert sum(times.values()) <= n + rounds * n_jobs  # only what was in the hands of a worker is begun again
    assert study.run().reused == n


def test_workers_end_with_their_killed_parent(tmp_path):
    store, log, gate = tmp_path / "store", tmp_path / "log", tmp_path / "gate"
    run = start(store, log, 4, gate, 0, 2)
    wait_for(lambda: len(begun(log)) >= 2, run)
    os.kill(run.pid, signal.SIGKILL)
    run.communicate()
    assert_workers_ended(log)


def test_an_interrupt_ends_the_run_and_its_workers_and_keeps_what_is_finished(tmp_path):
    store, log, gate = tmp_path / "store", tmp_path / "log", tmp_path / "gate"
    n, free = 9, 3
    study = toys.study(store, log, n, gate, free)
    run = start(store, log, n, gate, free, 2)
    wait_for(lambda: len(begun(log)) == free + 2 and study.records(), run)
    os.kill(run.pid, signal.SIGINT)
    said = run.communicate()[1]
    assert "KeyboardInterrupt" in said
    finished = {str(record["params"]["tag"]) for record in study.records()}
    assert finished <= {"0", "1", "2"}
    assert finished
    assert_workers_ended(log)
    gate.touch()
    before = len(begun(log))
    assert study.run().reused == len(finished)
    assert not finished & set(begun(log)[before:])
    assert len(study.records()) == n


def test_a_script_without_its_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "from tests.unit.studies.experiments.toys import main\n"
        f"main({str(tmp_path / 's')!r}, {str(tmp_path / 'l')!r}, 2, None, 0, 2)\n"
    )
    ended = subprocess.run(
        [sys.executable, str(script)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode != 0
    assert "if __name__ == '__main__':" in ended.stderr.splitlines()[-1]
    assert not (tmp_path / "l").exists()
