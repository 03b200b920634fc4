"""The inventory of kernels: all compiled functions of the package, found by walking its kernel files."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from numba.core.dispatcher import Dispatcher

from linkwise._kernels._later import load_numba
from linkwise._kernels._tier import kernels_under

_HOME = Path(__file__).parents[1]


@cache
def kernels() -> dict[str, Any]:
    """Every kernel by the name of its module, from the package on, and its own; imports all kernel files."""
    load_numba()
    found = {}
    for file in sorted({*_HOME.rglob("_kernels*.py"), *_HOME.glob("_kernels/*.py")}):
        place = ".".join(file.relative_to(_HOME).with_suffix("").parts).removesuffix(".__init__")
        module = import_module(f"linkwise.{place}")
        for name, value in vars(module).items():
            if isinstance(value, Dispatcher) and value.py_func.__module__ == module.__name__:
                found[f"{place}.{name}"] = value
    return found


def with_callees(some: Iterable[Any]) -> set[str]:
    """The names of some kernels and of all that these call."""
    called = {under for kernel in some for under in kernels_under(kernel)}
    return {name for name, kernel in kernels().items() if kernel in called}
