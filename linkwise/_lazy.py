"""Lazy exports: the names of a package are listed once, in its stub, and are loaded when first used."""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Callable
from importlib import import_module
from os import PathLike
from typing import Any

__all__ = ["attach", "read_stub"]


_ROOT = os.path.dirname(os.path.dirname(__file__))  # noqa: PTH120 - pathlib would load twenty modules more


def read_stub(stub: str | PathLike[str]) -> tuple[dict[str, str], list[str]]:
    """Read the home of each name in a stub, and the names that are public.

    Public names come first; those after a string, such as "For other packages of linkwise", are for use inside. A star
    stands for the public names of another package.
    """
    homes: dict[str, str] = {}
    public: list[str] | None = None
    with open(stub, encoding="utf-8") as file:  # noqa: PTH123 - pathlib would load twenty modules more
        tree = ast.parse(file.read())
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            home = node.module or ""
            listed = [alias.name for alias in node.names]
            names = read_stub(os.path.join(_ROOT, *home.split("."), "__init__.pyi"))[1] if listed == ["*"] else listed  # noqa: PTH118
            homes |= dict.fromkeys(names, home)
        elif isinstance(node, ast.Expr) and public is None:
            public = list(homes)
    return homes, sorted(homes if public is None else public)


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return ``__getattr__``, ``__dir__`` and ``__all__`` of a package, read from the stub beside its file."""
    homes, public = read_stub(f"{file.removesuffix('.py')}.pyi")

    folders = {home.rpartition(".")[2]: package for home in homes.values() if home.rpartition(".")[0] == package}
    homes = {name: home for name, home in folders.items() if not name.startswith("_")} | homes

    def look_up(name: str) -> Any:
        if name not in homes:
            msg = f"module {package!r} has no attribute {name!r}"
            raise AttributeError(msg)
        home = homes[name]
        inside = os.path.join(os.path.dirname(file), *home.removeprefix(package).split("."), name)  # noqa: PTH118, PTH120
        if os.path.isdir(inside) or os.path.isfile(f"{inside}.py"):  # noqa: PTH112, PTH113
            value: Any = import_module(f"{home}.{name}")
        else:
            value = getattr(import_module(home), name)
        setattr(sys.modules[package], name, value)
        return value

    def listed() -> list[str]:
        """The public names, and the packages inside this one: what completion offers."""
        inside = os.path.dirname(file)  # noqa: PTH120
        rooms = [name for name in homes if homes[name] == package and os.path.isdir(os.path.join(inside, name))]  # noqa: PTH112, PTH118
        return sorted({*public, *rooms})

    return look_up, listed, public
