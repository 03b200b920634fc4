"""Packages that load a module of theirs when one of its names is first used."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

__all__ = ["loads_from"]


def loads_from(
    package: str, names: Sequence[str], modules: Sequence[str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a package that looks for names in what its modules export, in order.

    Looking into a module loads it, so the light ones, and those asked for most, come first.
    """

    def look_up(name: str) -> Any:
        if name in modules:
            return import_module(f"{package}.{name}")
        for module in modules if name in names else ():
            home = import_module(f"{package}.{module}")
            if name in home.__all__:
                value = getattr(home, name)
                setattr(sys.modules[package], name, value)
                return value
        msg = f"module {package!r} has no attribute {name!r}"
        raise AttributeError(msg)

    return look_up, lambda: sorted(names)
