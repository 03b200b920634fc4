"""Run a kernel over a range of items in slices: on all cores, interruptible, with a progress callback.

Kernels release the interpreter lock and write to disjoint places, so plain threads suffice and results never depend
on their number. This needs no compiled thread pool: nothing to load, nothing that dislikes ``fork``, and between two
slices Python sees Ctrl-C.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any

from threadpoolctl import threadpool_limits

from linkwise._cores import cores

__all__ = ["Workers", "threads_at_most"]

# Elements one slice handles: a tenth of a second or so, long against the 20 microseconds of handing it to a thread.
SLICE = 100_000_000
# Elements up to which, if all items take alike, each thread gets one slice: more would only take longer to hand over.
SHORT = 50_000_000


_MOST: ContextVar[int | None] = ContextVar("linkwise_threads", default=None)


@contextmanager
def threads_at_most(count: int) -> Iterator[None]:
    """Use no more than so many threads inside the block: ours, and those of BLAS and OpenMP.

    Kernels are compiled without threads of their own, so Numba has no number to be told.
    """
    token = _MOST.set(count)
    try:
        with threadpool_limits(limits=count):
            yield
    finally:
        _MOST.reset(token)


class Workers:
    """Threads that live as long as one computation; started when the first large step comes."""

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

    def over(self, kernel: Callable[..., Any], n_items: int, cost: int, *arguments: Any, alike: bool = False) -> None:
        """Call ``kernel(*arguments, start, stop)`` on slices that cover ``range(n_items)``.

        ``cost`` is the number of elements one item touches; ``alike`` says that no item touches many more than another.
        """
        each = 1 if alike and n_items * cost < SHORT else 4
        slices = max(each * self.threads if self.threads > 1 else 1, n_items * cost // SLICE)
        step = max(1, -(-n_items // slices))
        if self.threads == 1 or step >= n_items:
            for start in range(0, n_items, step):
                kernel(*arguments, start, min(n_items, start + step))
            return
        if self._pool is None:
            self._pool = ThreadPoolExecutor(self.threads, thread_name_prefix="linkwise")
        futures = [
            self._pool.submit(kernel, *arguments, start, min(n_items, start + step))
            for start in range(0, n_items, step)
        ]
        for future in futures:
            future.result()
