"""`progress`, a context manager that reports how far the fits inside it have come."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Progress = Callable[[int, int], object]
_CALLBACK: ContextVar[Progress | None] = ContextVar("linkwise_progress", default=None)


class _Line:
    """A line on standard error, written again and again: the share that is done, and the time that is left.

    In a file, where a line stays, there is one for each tenth.
    """

    def __init__(self) -> None:
        self.stays = not (sys.stderr.isatty() or "ipykernel" in sys.modules)
        self.width = self.done = self.tenth = 0
        self.began = self.last = time.monotonic()

    def __call__(self, done: int, total: int) -> None:
        now, tenth = time.monotonic(), 10 * done // max(total, 1)
        if done < self.done:  # another fit
            self.began, self.tenth = now, 0
        self.done = done
        spent = now - self.began
        if spent < 1.0 or (tenth == self.tenth if self.stays else now - self.last < 0.2):
            return
        left = spent / max(done, 1) * max(total - done, 0)
        self.last, self.tenth = now, tenth
        self.write(f"{100 * done // max(total, 1)} % after {spent:.0f} s, about {left:.0f} s left")

    def write(self, text: str) -> None:
        """Show a text in place of the one before."""
        if self.stays:
            sys.stderr.write(f"linkwise: {text}\n" if text else "")
        else:
            sys.stderr.write(f"\r{text:<{self.width}}" if text else f"\r{'':<{self.width}}\r")
        self.width = max(self.width, len(text))
        sys.stderr.flush()


@contextmanager
def progress(callback: Progress | None = None) -> Iterator[None]:
    """Report the progress of every fit inside the block as ``callback(done, total)``, or on a line.

    Parameters
    ----------
    callback : callable, optional
        Called a few times per second during long fits, with the number of merges done and their maximum; short fits
        may end without a call. Without it the share that is done and the time that is left are shown on standard error,
        in a terminal, a notebook or a file.

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
    line = _Line() if callback is None else None
    token = _CALLBACK.set(callback or line)
    try:
        yield
    finally:
        _CALLBACK.reset(token)
        if line is not None and line.width:
            line.write("")


def current_progress() -> Progress | None:
    """Return the callback in force, if any."""
    return _CALLBACK.get()
