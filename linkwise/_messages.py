"""Wording of messages: counts with nouns, figures, shortened lists, hints for a shell or for Python, notices."""

from __future__ import annotations

import difflib
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import Any

_ALL_BUT_NOTHING = 1e-9  # a share of the scale below which a number is rounding error
_MOST_COMPARED = 100_000  # names among which a similar one is looked for
_listener: list[Callable[[str], None]] = []  # of the running command; shared by threads, since kernels compile in them


def many(count: int, word: str, plural: str | None = None) -> str:
    """Word a number with its noun, as in ``1 branch`` or ``1,204 samples``."""
    several = plural or (f"{word}es" if word.endswith(("ch", "x", "ss")) else f"{word}s")
    return f"{count:,} {word if count == 1 else several}"


def number(value: float, scale: float = 0.0) -> str:
    """Word a figure with the digits worth reading; 0 if it is rounding error compared to ``scale``."""
    if abs(value) <= _ALL_BUT_NOTHING * abs(scale):
        return "0"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def in_words(words: Sequence[str], last: str = "and") -> str:
    """Join words with commas and a last conjunction, as in ``a, b and c``."""
    return f" {last} ".join([*([", ".join(words[:-1])] if len(words) > 1 else []), *words[-1:]])


def and_more(shown: int, total: int, lead: str = " ") -> str:
    """Word how many things of a list are not shown, as in `` and 1,204 more``; "" if all are."""
    return f"{lead}and {total - shown:,} more" if total > shown else ""


def more_lines(shown: int, total: int, lead: str = "  ... ") -> list[str]:
    """Word how many things of a list are not shown as the last line of the list; no line if all are."""
    return [and_more(shown, total, lead)] if total > shown else []


def some_of(things: Sequence[Any], most: int = 5) -> str:
    """List the first few things, and how many more there are, as in ``3, 1 and 2 more``."""
    return ", ".join(str(thing) for thing in things[:most]) + and_more(min(most, len(things)), len(things))


def did_you_mean(name: object, choices: Iterable[Any], otherwise: str, most: int = 1) -> str:
    """Word a hint about a misspelled name: the most similar choices, or ``otherwise`` if none is similar."""
    near = difflib.get_close_matches(str(name), [str(choice) for choice in islice(choices, _MOST_COMPARED)], n=most)
    return f"did you mean {in_words([repr(one) for one in near], 'or')}?" if near else otherwise


# -- the running command -----------------------------------------------------------------------------------------------


@contextmanager
def in_shell(say: Callable[[str], None]) -> Iterator[None]:
    """Mark the block as the run of a command: hints name its options, and notices go to ``say``."""
    _listener.append(say)
    try:
        yield
    finally:
        _listener.pop()


@contextmanager
def without_notices() -> Iterator[None]:
    """Drop notices inside the block, where a person is answering questions."""
    with in_shell(lambda _: None):
        yield


def spoken_in_shell() -> bool:
    """Whether a command is running, so that a message should name options rather than arguments."""
    return bool(_listener)


def hint(*, command: str, python: str) -> str:
    """Choose the wording of a hint: for a shell while a command runs, else for Python."""
    return command if spoken_in_shell() else python


def notice(text: str) -> None:
    """Print a notice on standard error, or pass it to the running command."""
    if _listener:
        _listener[-1](text)
    else:
        print(f"linkwise: {text}", file=sys.stderr, flush=True)
