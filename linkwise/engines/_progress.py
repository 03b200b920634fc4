"""`progress`, a context manager that reports how far the fits inside it have come."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[int, int], object]
_CALLBACK: ContextVar[Progress | None] = ContextVar("linkwise_progress", default=None)


@contextmanager
def progress(callback: Progress) -> Iterator[None]:
    """Report the progress of every fit inside the block as ``callback(done, total)``.

    Parameters
    ----------
    callback : callable
        Called a few times per second during long fits, with the number of merges done and their maximum; short fits
        may end without a call.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import ConstrainedAgglomerative
    >>> from linkwise.engines import progress
    >>> seen = []
    >>> with progress(lambda done, total: seen.append((done, total))):
    ...     _ = ConstrainedAgglomerative().fit(np.eye(4))
    >>> seen[-1]
    (3, 3)
    """
    token = _CALLBACK.set(callback)
    try:
        yield
    finally:
        _CALLBACK.reset(token)


def current_progress() -> Progress | None:
    """Return the callback in force, if any."""
    return _CALLBACK.get()
