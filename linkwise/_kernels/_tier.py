"""Interpreted calls of kernels on small arguments, where compiling takes longer than the work itself.

Numba's dispatcher calls its method ``_compile_for_args`` when it has no machine code for the types of a call, and then
calls the function that this returns. Here it returns the kernel's own Python code as long as the arguments are small
and the kernel has not looped much in this process. Loops are counted, by a ``range`` that adds up lengths: the choice
depends on the work, never on a clock. A call that uses up the count is undone and made again in compiled code, so a
search of any length starts here as well. Calls of compiled kernels never come here. Both ways give the same bits.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, partial
from types import CellType, FunctionType, ModuleType, SimpleNamespace
from typing import Any

import numpy as np

from linkwise._threads import SLICES

# Elements of the largest array of an interpreted call: a square matrix of 200 samples. Two such positions multiplied
# stay below 2**31, so that interpreted integers of 32 bits, which wrap around, do not.
LIMIT = 40_000
# Rounds of loops that a kernel may make in the interpreter before it is compiled: they take about as long as compiling,
# which grows with the size of the code in bytes, or a second or so. Each call counts for CALL rounds more.
ROUNDS_PER_BYTE = 300
PATIENCE = 1_000_000
CALL = 50
# Elements of a job that threads share, for which its kernels are compiled at once.
SHARED = 2_000_000
_ENDLESS = 1 << 62


class _Settings:
    """The largest array of an interpreted call; 0 compiles every kernel."""

    def __init__(self) -> None:
        asked = os.environ.get("LINKWISE_INTERPRET", "")
        self.limit = min(int(asked), LIMIT) if asked.isdecimal() else LIMIT
        if _bounds_are_checked():
            self.limit = 0  # in compiled code


def _bounds_are_checked() -> bool:
    """Whether Numba is asked to check bounds; it reads the variable when it is loaded."""
    if "numba" in sys.modules:
        return bool(sys.modules["numba"].config.BOUNDSCHECK)
    return os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0")


SETTINGS = _Settings()


@contextmanager
def compiled_only() -> Iterator[None]:
    """Compile every kernel that is called inside the block, whatever the size of its arguments."""
    before, SETTINGS.limit = SETTINGS.limit, 0
    try:
        yield
    finally:
        SETTINGS.limit = before


def interpret_small(dispatcher: Any) -> None:
    """Let a kernel run in the interpreter while its arguments are small and no machine code is in memory or on disk."""
    if dispatcher.py_func.__defaults__:
        return  # Numba passes objects of its own for arguments that are left out
    compiles = dispatcher._compile_for_args
    kept: Any = getattr(dispatcher, "_cache", None)
    on_disk: Any = None  # the signatures in the cache, listed at the first call
    most = -1
    left: dict[Any, int] = {}  # rounds; of all signatures together, or of each once one of them is compiled

    def interpret_or_compile(*arguments: Any, **others: Any) -> Any:
        nonlocal on_disk, most
        limit = SETTINGS.limit
        if not limit or others or SLICES.elements > SHARED or largest_array(arguments) > limit:
            return compiles(*arguments, **others)
        if on_disk is None:
            most = patience(dispatcher)
            left.setdefault(None, most)
            on_disk = kept.known(dispatcher.targetctx) if hasattr(kept, "known") else set()
        if on_disk and kept.key(_types(dispatcher, arguments)) in on_disk:
            return compiles(*arguments)
        signature = None if left[None] >= 0 else _types(dispatcher, arguments)
        if left.setdefault(signature, most) < 0:
            return compiles(*arguments)
        return partial(run, signature)

    def run(signature: Any, *arguments: Any) -> Any:
        try:
            return interpret(dispatcher, arguments, left[signature])
        except TooLongError:
            pass
        finally:
            left[signature] = min(left[signature], rounds_left())
            if left[signature] < 0:
                left[_types(dispatcher, arguments)] = -1
        return dispatcher(*arguments)

    dispatcher._compile_for_args = interpret_or_compile


def patience(kernel: Any) -> int:
    """The rounds that a kernel may make before it is compiled."""
    return max(PATIENCE, ROUNDS_PER_BYTE * _size_of_code(kernel))


def interpret(kernel: Any, arguments: tuple[Any, ...], rounds: int) -> Any:
    """Call a kernel in the interpreter; undo its work and raise `TooLongError` if it needs more than these rounds."""
    # Beside other threads nothing may be put back, which would undo their work: such a call runs to its end.
    lent = _ENDLESS if SLICES.elements else 0
    saved = [] if lent else [*_states(arguments)]
    _METER.left = lent + rounds - CALL
    try:
        with np.errstate(all="ignore"):
            return _plain(interpreted(kernel)(*arguments))
    except TooLongError:
        for changed, state in saved:
            _restore(changed, state)
        raise
    finally:
        _METER.left -= lent


def rounds_left() -> int:
    """The rounds that the last interpreted call of this thread has left; negative if it needed more."""
    return _METER.left


def _types(dispatcher: Any, arguments: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(dispatcher.typeof_pyval(argument) for argument in arguments)


def largest_array(arguments: tuple[Any, ...]) -> int:
    """Elements of the largest array, also inside tuples; arguments that cannot be interpreted are larger than LIMIT.

    Compiled code turns a number of single precision that meets a literal into a double, the interpreter does not.
    """
    largest = 0
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            size = LIMIT + 1 if argument.dtype == np.float32 and argument.size else argument.size
        elif isinstance(argument, tuple):
            size = largest_array(argument)
        elif isinstance(argument, np.float32) or is_kernel(argument):
            size = LIMIT + 1
        else:
            continue
        largest = max(largest, size)
    return largest


def _states(arguments: tuple[Any, ...]) -> Iterator[tuple[Any, Any]]:
    """Everything that a kernel can change: arrays and generators, each with a copy of its state."""
    for argument in arguments:
        if isinstance(argument, np.ndarray):
            if argument.flags.writeable:
                yield argument, argument.copy()
        elif isinstance(argument, tuple):
            yield from _states(argument)
        elif isinstance(argument, np.random.Generator):
            yield argument, argument.bit_generator.state


def _restore(changed: Any, state: Any) -> None:
    """Put the state back into an array or a generator."""
    if isinstance(changed, np.ndarray):
        changed[...] = state
    else:
        changed.bit_generator.state = state


def _plain(value: Any) -> Any:
    """The value as compiled code gives it back: NumPy's scalars are Python's numbers, also inside tuples."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        parts = [_plain(part) for part in value]
        return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
    return value


# -- counted loops -----------------------------------------------------------------------------------------------------


class TooLongError(Exception):
    """An interpreted kernel has used up its rounds."""


class _Meter(threading.local):
    """The rounds that are left to the interpreted kernel of this thread."""

    left = 0


_METER = _Meter()


def _counted(*bounds: Any) -> range:
    """``range`` as interpreted kernels know it."""
    rounds = range(*bounds)
    _METER.left -= len(rounds) + 1
    if _METER.left < 0:
        raise TooLongError
    return rounds


# -- the interpreted form of a kernel ----------------------------------------------------------------------------------

_FORMS: dict[int, Any] = {}  # by the identity of the kernel's Python function
_SCOPES: dict[int, dict[str, Any]] = {}  # by the identity of a module's globals


def interpreted(kernel: Any) -> Any:
    """The kernel's Python function, with the kernels that it calls in their interpreted forms as well."""
    function = kernel.py_func
    form = _FORMS.get(id(function))
    if form is None:
        cells = function.__closure__ and tuple(CellType(_form(cell.cell_contents)) for cell in function.__closure__)
        code, scope = function.__code__, _scope(function.__globals__)
        form = _FORMS[id(function)] = FunctionType(code, scope, function.__name__, function.__defaults__, cells)
    return form


def is_kernel(value: Any) -> bool:
    """Whether a value is a kernel, as a dispatcher of Numba or before Numba is loaded."""
    return isinstance(getattr(value, "py_func", None), FunctionType)


def _scope(names: dict[str, Any]) -> dict[str, Any]:
    """The globals of a module, with kernels in their interpreted forms."""
    scope = _SCOPES.get(id(names))
    if scope is None:
        scope = _SCOPES[id(names)] = {"range": _counted}
        scope.update({name: _form(value) for name, value in names.items()})
    return scope


def _form(value: Any) -> Any:
    """The value itself, or what stands for it in the interpreter: a kernel's form, or that of a module of kernels."""
    if is_kernel(value):
        return interpreted(value)
    if isinstance(value, ModuleType) and value.__name__.startswith("linkwise."):
        return SimpleNamespace(**_scope(vars(value)))
    return getattr(value, "interpreted", value)


def _callees(kernel: Any) -> list[Any]:
    """The kernels whose names a kernel uses."""
    function = kernel.py_func
    found = [function.__globals__.get(name) for name in function.__code__.co_names]
    return [one for one in found if is_kernel(one)]


def kernels_under(kernel: Any) -> set[Any]:
    """A kernel and all that it calls."""
    found, left = {kernel}, [kernel]
    while left:
        more = {*_callees(left.pop())} - found
        found |= more
        left += more
    return found


def _size_of_code(kernel: Any) -> int:
    """Bytes of the Python code of a kernel and all that it calls."""
    return sum(len(one.py_func.__code__.co_code) for one in kernels_under(kernel))


# -- does this version of Numba have the hook? -------------------------------------------------------------------------


@cache
def supported() -> bool:
    """Whether this Numba asks ``_compile_for_args`` for a function and calls it; the name is private to Numba."""
    import numba

    try:
        probe: Any = numba.njit(_probe)
        probe._compile_for_args = lambda *_: lambda x: x + 2
        return probe(1) == 3 and hasattr(probe, "typeof_pyval") and hasattr(probe, "targetctx")
    except Exception:  # noqa: BLE001  # whatever it is, kernels are compiled as usual
        return False


def _probe(x: int) -> int:
    return x + 1
