"""Threads: count the cores, and run a kernel over slices of a range on all of them, interruptible, with progress.

Kernels release the interpreter lock and write to disjoint places, so plain threads suffice and results never depend
on their number. This needs no compiled thread pool: nothing to load, nothing that dislikes ``fork``, and between two
slices Python sees Ctrl-C.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any

from threadpoolctl import threadpool_limits


def cores() -> int:
    """Count the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


# Elements one slice handles: a tenth of a second or so, long against the 20 microseconds of handing it to a thread.
SLICE = 100_000_000


class _Slices(threading.local):
    """The elements of the job whose slices this thread handles, 0 outside: other threads write to the same arrays."""

    elements = 0


SLICES = _Slices()

_MOST: ContextVar[int | None] = ContextVar("linkwise_threads", default=None)


@contextmanager
def threads_at_most(count: int) -> Iterator[None]:
    """Limit the number of threads inside the block: ours, and those of BLAS and OpenMP.

    Kernels are compiled without threads, so Numba needs no limit.
    """
    token = _MOST.set(count)
    try:
        with threadpool_limits(limits=count):
            yield
    finally:
        _MOST.reset(token)


class Workers:
    """Threads beside the caller's that last for one computation; started at the first large step."""

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or _MOST.get() or cores()
        self._pool: ThreadPoolExecutor | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def over(self, kernel: Callable[..., Any], n_items: int, cost: int, *arguments: Any) -> None:
        """Call ``kernel(*arguments, start, stop)`` on slices that cover ``range(n_items)``, and wait for all.

        ``cost`` is the number of elements one item touches.
        """
        self.begin(kernel, n_items, cost, *arguments)()

    def begin(self, kernel: Callable[..., Any], n_items: int, cost: int, *arguments: Any) -> Callable[[], None]:
        """Start the same and return a function to be called once, which takes part in the work and waits for the rest.

        Until then the caller may do something else, best in kernels that release the interpreter lock as well.
        """
        slices = max(4 * self.threads if self.threads > 1 else 1, n_items * cost // SLICE)
        step = max(1, -(-n_items // slices))
        starts = iter(range(0, n_items, step))

        def work() -> None:
            before, SLICES.elements = SLICES.elements, n_items * cost
            try:
                for start in starts:  # shared by all threads: who is free takes the next
                    kernel(*arguments, start, min(n_items, start + step))
            except BaseException:
                for _ in starts:  # an error, or Ctrl-C: the others need not go on
                    pass
                raise
            finally:
                SLICES.elements = before

        helpers = min(self.threads, -(-n_items // step)) - 1
        if helpers > 0 and self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads - 1, thread_name_prefix="linkwise")
        futures = [self._pool.submit(work) for _ in range(helpers)] if self._pool is not None else []

        def finish() -> None:
            work()
            for future in futures:
                future.result()

        return finish
