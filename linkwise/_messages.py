"""How messages are worded: counts with their nouns, figures, hints for a shell or for Python, and where notices go."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_ALL_BUT_NOTHING = 1e-9  # a share of the scale below which a number is rounding error
_listener: list[Callable[[str], None]] = []  # of the command that runs; of the process, as kernels compile in threads


def many(count: int, word: str, plural: str | None = None) -> str:
    """A number with its noun, as in ``1 branch`` or ``1,204 samples``.

    Examples
    --------
    >>> from linkwise._messages import many
    >>> many(1, "sample"), many(1204, "sample"), many(2, "branch"), many(3, "leaf", "leaves")
    ('1 sample', '1,204 samples', '2 branches', '3 leaves')
    """
    several = plural or (f"{word}es" if word.endswith(("ch", "x", "ss")) else f"{word}s")
    return f"{count:,} {word if count == 1 else several}"


def number(value: float, scale: float = 0.0) -> str:
    """A figure with as many digits as one reads; next to ``scale``, what is only rounding error is 0.

    Examples
    --------
    >>> from linkwise._messages import number
    >>> number(116.25), number(20412.3), number(-1.59e-17, scale=1.0)
    ('116', '20,412', '0')
    """
    if abs(value) <= _ALL_BUT_NOTHING * abs(scale):
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


# -- who listens -------------------------------------------------------------------------------------------------------


@contextmanager
def in_shell(say: Callable[[str], None]) -> Iterator[None]:
    """Inside the block a command runs: hints name its options, and notices go to ``say``."""
    _listener.append(say)
    try:
        yield
    finally:
        _listener.pop()


def spoken_in_shell() -> bool:
    """Whether a command is running, so that a message should name options rather than arguments."""
    return bool(_listener)


def hint(*, command: str, python: str) -> str:
    """Choose the words of a hint: what to type in a shell while a command runs, else what to write in Python.

    Examples
    --------
    >>> from linkwise._messages import hint
    >>> hint(command="--impute median", python="impute='median'")
    "impute='median'"
    """
    return command if spoken_in_shell() else python


def notice(text: str) -> None:
    """Say something by the way: on standard error, or as the running command wants it."""
    if _listener:
        _listener[-1](text)
    else:
        print(f"linkwise: {text}", file=sys.stderr, flush=True)
