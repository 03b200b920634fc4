"""Runners of tasks over blocks: one after the other in this process, or on the workers of a Dask client."""

from __future__ import annotations

import logging
import queue
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any

from linkwise import __version__
from linkwise._messages import hint, many, some_of
from linkwise._threads import threads_at_most
from linkwise.exceptions import LinkwiseError, ScaleError
from linkwise.scale._row_blocks import Block

Take = Callable[[int, Any], None]
MIB = 2**20
_DEATHS = 3  # times that a block may end its worker
_ALONE = 2  # times after which it is tried without others, so that no other block can be to blame
_WINDOW = 1_024  # tasks that the scheduler knows at a time
_STALL = 60.0  # seconds without a finished block after which a run ends, if blocks are quick
_MEDIANS = 20.0  # of the time between finished blocks, if they are not
_AT_WORK = 15.0  # times that limit, if all workers that have blocks compute
_COMPUTES = 1.0  # percent of a core that a worker uses at least which computes
_TICK = 1.0  # seconds between two looks at a stall


def _block_rows() -> str:
    return hint(command="--block-rows", python="block_rows")


def run_task(function: Callable[..., Any], block: Block, given: tuple[Any, ...]) -> Any:
    """Call the function on one thread, so that sums do not depend on the number of cores."""
    with threads_at_most(1):
        return function(block, *given)


def run_on_worker(version: str, function: Callable[..., Any], block: Block, given: tuple[Any, ...]) -> Any:
    """Call the function on a worker; what it raises names the block and the worker."""
    from distributed import get_worker

    here = str(get_worker().address)
    if __version__ != version:
        msg = f"worker {here} has linkwise {__version__}, this process has {version}.\nHint: install the same on all."
        raise ScaleError(msg, block.number, here)
    try:
        return run_task(function, block, given)
    except LinkwiseError:
        raise
    except OSError as bad:
        msg = (
            f"{block.describe()} failed on worker {here}: {bad}\n"
            "Hint: files and out must be there under the same names for all workers."
        )
        raise ScaleError(msg, block.number, here) from bad
    except Exception as bad:
        msg = f"{block.describe()} failed on worker {here}: {type(bad).__name__}: {bad}"
        if isinstance(bad, MemoryError):
            msg += "\nHint: a smaller block_rows needs less memory."
        raise ScaleError(msg, block.number, here) from bad


class LocalRunner:
    """Runs tasks in this process, in the order of blocks."""

    n_workers = 0

    def run(self, function: Callable[..., Any], blocks: Sequence[Block], given: tuple[Any, ...], take: Take) -> None:
        """Call ``function(block, *given)`` for each block, and ``take(place, result)`` with each result."""
        for place, block in enumerate(blocks):
            take(place, run_task(function, block, given))


class DaskRunner:
    """Runs tasks on Dask workers; a task names its rows, so a lost worker costs unfinished blocks only.

    Parameters
    ----------
    client : distributed.Client
        Where the tasks run.
    stall_after : float, optional
        Seconds without a finished block after which the run ends; by default the longer of a minute and 20 times the
        median time between finished blocks.
    say : callable
        Gets a line for each worker that ended.
    """

    def __init__(self, client: Any, stall_after: float | None, say: Callable[[str], None]) -> None:
        self.client, self.stall_after, self.say = client, stall_after, say
        self.gaps: list[float] = []
        self.runs = 0

    @property
    def n_workers(self) -> int:
        """Workers that are there now."""
        return len(self._workers())

    def memory_limit(self) -> int | None:
        """The smallest memory limit of the workers in bytes; None if they have none."""
        limits = [int(one.get("memory_limit") or 0) for one in self._workers().values()]
        return min((limit for limit in limits if limit), default=None)

    def _workers(self) -> dict[str, Any]:
        try:
            return dict(self.client.scheduler_info(n_workers=-1)["workers"])
        except TypeError:  # of older versions
            return dict(self.client.scheduler_info()["workers"])

    def run(self, function: Callable[..., Any], blocks: Sequence[Block], given: tuple[Any, ...], take: Take) -> None:
        """Call ``function(block, *given)`` for each block, and ``take(place, result)`` with each result.

        Results come in any order. Of several blocks that fail the first one is reported.
        """
        from distributed import KilledWorker

        self.runs += 1
        done: queue.SimpleQueue[tuple[int, int]] = queue.SimpleQueue()
        waiting = list(range(len(blocks)))[::-1]
        running: dict[int, Any] = {}
        deaths: dict[int, int] = {}
        alone: list[int] = []
        failed: dict[int, BaseException] = {}
        last = time.monotonic()

        def submit(place: int) -> None:
            turn = deaths.get(place, 0)
            key = f"linkwise-{id(self)}-{self.runs}-{blocks[place].number}-{turn}"
            future = self.client.submit(run_on_worker, __version__, function, blocks[place], given, key=key, pure=False)
            running[place] = future
            future.add_done_callback(lambda _, place=place, turn=turn: done.put((place, turn)))

        try:
            while waiting or running or alone:
                while waiting and len(running) < _WINDOW:
                    submit(waiting.pop())
                if not running and alone:
                    submit(alone.pop(0))
                try:
                    place, turn = done.get(timeout=_TICK)
                except queue.Empty:
                    self._refuse_stall(time.monotonic() - last, {place: blocks[place] for place in running})
                    continue
                if place not in running or turn != deaths.get(place, 0):
                    continue
                try:
                    result = running[place].result(timeout=self._limit())
                except KilledWorker as killed:
                    worker = str(getattr(killed.last_worker, "address", killed.last_worker))
                    deaths[place] = deaths.get(place, 0) + 1
                    self._note_death(worker, blocks[place], deaths[place], getattr(killed, "allowed_failures", 0))
                    del running[place]
                    (alone if deaths[place] >= _ALONE else waiting).append(place)
                except Exception as bad:  # noqa: BLE001 - what a worker raised before our code ran is worded here
                    failed[place] = bad if isinstance(bad, LinkwiseError) else self._unforeseen(blocks[place], bad)
                    del running[place]
                    later = [other for other in running if other > place]
                    self.client.cancel([running.pop(other) for other in later])
                    waiting = [other for other in waiting if other < place]
                    alone = [other for other in alone if other < place]
                else:
                    del running[place]
                    take(place, result)
                now = time.monotonic()
                self.gaps.append(now - last)
                last = now
        finally:
            if running:
                self.client.cancel(list(running.values()))
        if failed:
            raise failed[min(failed)]

    @staticmethod
    def _unforeseen(block: Block, bad: Exception) -> ScaleError:
        msg = (
            f"{block.describe()} could not be run on a worker: {type(bad).__name__}: {str(bad).strip()}\n"
            "Hint: workers need linkwise and its packages in the same versions as this process."
        )
        return ScaleError(msg, block.number)

    def _note_death(self, worker: str, block: Block, times: int, allowed: int) -> None:
        if times < _DEATHS:
            self.say(f"worker {worker} ended; {block.describe()} is done again.")
            return
        ended = times * (int(allowed) + 1)
        limit = self.memory_limit()
        room = "" if limit is None else f" Workers have {limit / MIB:,.0f} MiB."
        msg = (
            f"{block.describe()} ended {many(ended, 'worker')}, the last of them without other blocks; the last was "
            f"{worker}.{room}\nHint: a smaller {_block_rows()} needs less memory; the log of the worker tells more."
        )
        raise ScaleError(msg, block.number, worker)

    def _limit(self) -> float:
        if self.stall_after is not None:
            return self.stall_after
        return max(_STALL, _MEDIANS * median(self.gaps[-1_000:])) if self.gaps else _STALL

    def _refuse_stall(self, quiet: float, running: dict[int, Block]) -> None:
        """Raise if no block was finished for too long; name the workers that have them."""
        limit = self._limit()
        if self.stall_after is None:
            limit = max(limit, *(block.patience for block in running.values()), 0.0)
        if quiet < limit:
            return
        workers = self._workers()
        if not workers:
            msg = f"no block was finished in {quiet:.0f} s: there are no workers.\nHint: start some, and run again."
            raise ScaleError(msg)
        busy = {worker: keys for worker, keys in self.client.processing().items() if keys}
        named = [worker for worker in workers if worker in busy] or list(workers)
        computing = bool(busy) and all(_at_work(workers.get(one)) for one in busy)
        if computing and self.stall_after is None and quiet < _AT_WORK * limit:
            return
        words = [f"{worker} ({self._state(workers[worker])})" for worker in named]
        blocks = [running[place].describe() for place in sorted(running)]
        msg = (
            f"no block was finished in {quiet:.0f} s. Workers that have blocks: {some_of(words, 4)}. Unfinished: "
            f"{some_of(blocks, 2)}.\nHint: a paused worker is short of memory: use a smaller "
            f"{_block_rows()} or a larger limit{hint(command='', python='; stall_after=... waits longer')}."
        )
        raise ScaleError(msg, min(block.number for block in running.values()), named[0])

    @staticmethod
    def _state(worker: dict[str, Any]) -> str:
        used = worker.get("metrics", {}).get("memory", 0) / MIB
        limit = (worker.get("memory_limit") or 0) / MIB
        return f"{worker.get('status', 'unknown')}, {used:,.0f} of {limit:,.0f} MiB" if limit else f"{used:,.0f} MiB"


def _at_work(worker: dict[str, Any] | None) -> bool:
    """Whether a worker was heard of lately, is not paused, and computes: on a busy machine a block may take long."""
    if worker is None or worker.get("status") != "running":
        return False
    heard = time.time() - float(worker.get("last_seen", 0.0)) < _STALL
    return heard and float(worker.get("metrics", {}).get("cpu", 0.0)) >= _COMPUTES


@contextmanager
def local_workers(count: int, memory_limit: str | int = "auto") -> Iterator[Any]:
    """Start Dask workers on this machine, each a process with one thread, and end them after the block."""
    import dask
    from dask.utils import parse_bytes
    from distributed import Client, LocalCluster

    if memory_limit != "auto":
        try:
            memory_limit = int(parse_bytes(memory_limit))
        except ValueError as bad:
            msg = f"the memory limit is {memory_limit!r}, expected a number of bytes, such as 1GiB or 700MiB."
            raise ScaleError(msg) from bad

    settings = {
        "distributed.scheduler.allowed-failures": 0,
        "distributed.admin.log-length": 0,
        # On a busy machine a worker that ended needs long to start again; after this time it is given up.
        "distributed.deploy.lost-worker-timeout": "1h",
    }
    with (
        dask.config.set(settings),
        LocalCluster(
            n_workers=count,
            threads_per_worker=1,
            memory_limit=memory_limit,
            processes=True,
            dashboard_address="127.0.0.1:0",
            silence_logs=logging.CRITICAL,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextmanager
def remote_workers(address: str) -> Iterator[Any]:
    """Connect to a Dask scheduler, and disconnect after the block."""
    from distributed import Client

    try:
        client = Client(address, timeout=30)
    except (OSError, ValueError) as failed:
        msg = f"no Dask scheduler answers at {address} ({failed}).\nHint: an address reads tcp://host:8786."
        raise ScaleError(msg) from failed
    with client:
        yield client


class PairwiseSum:
    """Sums of arrays over blocks, added pairwise by block number whatever the order in which they come."""

    def __init__(self, count: int) -> None:
        self.counts = [count]
        while self.counts[-1] > 1:
            self.counts.append(-(-self.counts[-1] // 2))
        self._waiting: dict[tuple[int, int], tuple[Any, ...]] = {}
        self.total: tuple[Any, ...] = ()

    def add(self, number: int, parts: tuple[Any, ...]) -> None:
        """Add the parts of a block, each block once."""
        for level, count in enumerate(self.counts[:-1]):
            if number ^ 1 < count:
                other = self._waiting.pop((level, number ^ 1), None)
                if other is None:
                    self._waiting[level, number] = parts
                    return
                first, second = (parts, other) if number % 2 == 0 else (other, parts)
                parts = tuple(a + b for a, b in zip(first, second, strict=True))
            number //= 2
        self.total = parts
