"""Decorators of kernels: compiled when first needed, kept on disk, and announced when it takes a while."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

from linkwise._kernels._announcement import announce
from linkwise._kernels._machine_code import KernelCache
from linkwise._kernels._tier import interpret_small, supported
from linkwise._kernels._turns import take_turns

announce()


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile with Numba when first needed and keep the machine code (`_machine_code`).

    Use as ``@njit`` or ``@njit(nogil=True)``. Signatures are never written out: that would compile at import. Where
    nothing can be kept on disk, kernels are compiled again in every process, and that is said. Small work is
    interpreted as long as that is cheaper (`_tier`).
    """
    if function is None:
        return lambda f: njit(f, **options)
    kernel = numba.njit(**options)(function)
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return kernel
    # The names of the cache are private to Numba. In a version without them code is not kept.
    if hasattr(kernel, "_cache") and Path(function.__code__.co_filename).is_file():
        kernel._cache = KernelCache(function)
        take_turns(kernel)
    if "no_cpython_wrapper" not in options and supported():
        interpret_small(kernel)
    return kernel


def inner(function: Callable[..., Any]) -> Any:
    """Compile a kernel that only other kernels call.

    It gets no entry from Python, which for a state of thirty arrays takes as long to compile as the kernel itself; so
    Python must not call it: Numba has no check for that and would crash. Tests reach it through its callers.
    """
    return njit(function, no_cpython_wrapper=True)
