"""Decorators of kernels: compiled when first needed, kept on disk, and announced when it takes a while."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from linkwise._kernels._later import Kernel, can_wait


def njit(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile with Numba when first needed and keep the machine code (`machine_code`).

    Use as ``@njit`` or ``@njit(nogil=True)``. Signatures are never written out: that would compile at import. Where
    nothing can be kept on disk, kernels are compiled again in every process, and that is said. Small work is
    interpreted as long as that is cheaper (`_tier`), and before Numba is loaded at all (`_later`).
    """
    if function is None:
        return lambda f: njit(f, **options)

    def make() -> Any:
        from linkwise._kernels._dispatchers import dispatcher

        return dispatcher(function, options)

    return Kernel(function, make) if can_wait(function) else make()


def inner(function: Callable[..., Any]) -> Any:
    """Compile a kernel that only other kernels call.

    It gets no entry from Python, which for a state of thirty arrays takes as long to compile as the kernel itself; so
    Python must not call it: Numba has no check for that and would crash. Tests reach it through its callers.
    """
    return njit(function, no_cpython_wrapper=True)
