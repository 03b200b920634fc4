"""Dispatchers: Numba's form of kernels, with our cache, turns between processes, and the interpreter for small work."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import types

from linkwise._kernels._announcement import announce
from linkwise._kernels._tier import interpret_small, supported
from linkwise._kernels._turns import take_turns
from linkwise._kernels.machine_code import KernelCache

announce()


def dispatcher(function: Callable[..., Any], options: dict[str, Any]) -> Any:
    """The kernel as Numba calls it."""
    kernel = numba.njit(**options)(function)
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return kernel
    # The names of the cache are private to Numba. In a version without them code is not kept.
    if hasattr(kernel, "_cache") and Path(function.__code__.co_filename).is_file():
        kernel._cache = KernelCache(function)
        take_constants_as_numbers(kernel)
        take_turns(kernel)
    if "no_cpython_wrapper" not in options and supported():
        interpret_small(kernel)
    return kernel


def take_constants_as_numbers(kernel: Any) -> None:
    """Compile a kernel once for all integers that other kernels write out in calls of it.

    Numba would compile it again for each, also for those that its first guess of a variable's type holds for constant:
    an eighth of all machine code, no faster than the rest.
    """
    compiles = kernel.compile

    def compile_plain(signature: Any) -> Any:
        plain = isinstance(signature, tuple)
        return compiles(tuple(types.unliteral(one) for one in signature) if plain else signature)

    kernel.compile = compile_plain
