"""Processes that compute cells: a cell can be stopped when its time is up, and a crash costs one cell.

Pools from the standard library and joblib can do neither, and their workers outlive a killed parent; hence a small loop
over pipes. Workers never write results: the parent does, so a record exists once.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
import time
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from linkwise.exceptions import LinkwiseError
from studies.experiments._cell import Cell
from studies.experiments._compute import FAILED, TIMEOUT, compute, outcome
from studies.experiments._default_measures import Measure

Task = tuple[str, Cell]  # the key says where the answer is kept
Answer = tuple[Task, dict[str, Any]]
READY = "ready"


def compute_here(
    tasks: Iterable[Task], measures: Mapping[str, Measure], folder: str | Path | None
) -> Generator[Answer, None, None]:
    """Compute cells one after the other in this process."""
    for task in tasks:
        yield task, compute(task[1], measures, folder)


def compute_apart(
    tasks: Iterable[Task],
    measures: Mapping[str, Measure],
    folder: str | Path | None,
    *,
    n_jobs: int,
    time_limit: float | None,
) -> Generator[Answer, None, None]:
    """Compute cells in ``n_jobs`` processes and yield them as they get ready; closing leaves no process behind.

    ``tasks`` is read one at a time when a worker is free, so the caller can still decide to leave some out.
    """
    waiting, workers = iter(tasks), list[_Worker]()
    upcoming = next(waiting, None)
    try:
        while True:
            for worker in [worker for worker in workers if worker.idle]:
                if upcoming is None:
                    break
                if worker.give(upcoming, time_limit):
                    upcoming = next(waiting, None)
                else:
                    workers.remove(worker)  # it died between two cells; another takes its place
            while upcoming is not None and len(workers) < n_jobs:
                workers.append(_Worker(measures, folder))  # all at once: each takes a while to get ready
            if upcoming is None and not any(worker.task for worker in workers):
                return
            for worker in _next_heard(workers):
                answer = worker.hear(time_limit)
                if not worker.alive:
                    workers.remove(worker)
                if answer is not None:
                    yield answer
    finally:
        for worker in workers:
            worker.stop()


def _next_heard(workers: list[_Worker]) -> list[_Worker]:
    """Wait until workers are ready, have answered, have died or have run out of time."""
    deadline = min(worker.deadline for worker in workers)
    left = None if deadline == float("inf") else max(0.0, deadline - time.monotonic())
    spoken = wait([worker.pipe for worker in workers if not worker.idle], left)
    now = time.monotonic()
    return [worker for worker in workers if worker.pipe in spoken or worker.deadline <= now]


@dataclass(eq=False)
class _Worker:
    """One process and the pipe to it."""

    measures: Mapping[str, Measure]
    folder: str | Path | None
    task: Task | None = None
    deadline: float = float("inf")
    ready: bool = False
    alive: bool = True
    pipe: Connection = field(init=False)

    def __post_init__(self) -> None:
        context = multiprocessing.get_context("spawn")  # fork would copy threads' locks in whatever state they are
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_serve, args=(theirs, dict(self.measures), self.folder), daemon=True)
        try:
            self.process.start()
        except (AttributeError, TypeError, pickle.PicklingError) as error:
            msg = (
                f"the study cannot be sent to another process: {error}\n"
                "Hint: measures must be functions of an importable module, or run with n_jobs=1 and no time_limit."
            )
            raise LinkwiseError(msg) from error
        finally:
            theirs.close()  # the child holds the only other end, so its death is heard as the end of the pipe

    @property
    def idle(self) -> bool:
        return self.ready and self.task is None

    def give(self, task: Task, time_limit: float | None) -> bool:
        """Hand over a cell; False if there is nobody to take it."""
        try:
            self.pipe.send(task[1])
        except OSError:
            self.stop()
            return False
        self.task = task
        self.deadline = float("inf") if time_limit is None else time.monotonic() + time_limit
        return True

    def hear(self, time_limit: float | None) -> Answer | None:
        """Return the cell and what became of it, or None if the worker only said that it is ready."""
        task, late = self.task, self.deadline <= time.monotonic()
        try:
            said = self.pipe.recv() if self.pipe.poll() else None
        except (EOFError, OSError):
            return self._mourn(task)
        if task is None:
            self.ready = self.ready or said == READY
            return None
        if said is not None:
            self.task, self.deadline = None, float("inf")
            return task, said
        if not late:
            return None
        self.stop()
        return task, outcome(TIMEOUT, f"stopped after {time_limit:g} seconds") | {"time_limit": time_limit}

    def _mourn(self, task: Task | None) -> Answer:
        self.stop()
        if task is None:
            msg = (
                "a worker process ended before it could begin; what it said is above.\n"
                "Hint: in a script, call `run` under `if __name__ == '__main__':`, or give n_jobs=1 and no time_limit."
            )
            raise LinkwiseError(msg)
        return task, outcome(FAILED, f"engine: the process that computed it died (exit code {self.process.exitcode})")

    def stop(self) -> None:
        self.alive = False
        self.process.kill()
        self.process.join()
        self.pipe.close()


def _serve(pipe: Connection, measures: dict[str, Measure], folder: str | Path | None) -> None:
    """What a worker does all day."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    threading.Thread(target=_follow_parent, daemon=True).start()
    pipe.send(READY)
    while True:
        try:
            cell = pipe.recv()
        except EOFError:
            return
        answer = compute(cell, measures, folder)
        try:
            pipe.send(answer)
        except OSError:
            return


def _follow_parent() -> None:
    """End with the parent, also in the middle of a cell: nobody is left to hear the answer."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
