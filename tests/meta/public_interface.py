"""The public interface as lines of text: every public name with its parameters, methods and fields.

``python -m tests.meta.public_interface`` writes public_interface.txt, whose difference shows in a review what users of
the last version will notice.
"""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import linkwise

KEPT = Path(__file__).with_suffix(".txt")


def packages() -> list[str]:
    """Packages whose stub lists public names; the others serve linkwise itself."""
    found = [
        one.name
        for one in pkgutil.walk_packages(linkwise.__path__, "linkwise.")
        if one.ispkg and not any(part.startswith("_") for part in one.name.split(".")[1:])
    ]
    return ["linkwise", *(name for name in found if getattr(importlib.import_module(name), "__all__", []))]


def public_names() -> list[tuple[str, str]]:
    """All public names with the package that lists them."""
    listed = {(package, name) for package in packages() for name in importlib.import_module(package).__all__}
    return sorted((package, name) for package, name in listed if not name.startswith("_"))


def interface() -> Iterator[str]:
    """Each public thing once, under the shortest name it has, and where else it is listed."""
    homes: dict[int, list[str]] = {}
    things: dict[int, Any] = {}
    for package, name in public_names():
        thing = getattr(importlib.import_module(package), name)
        key = id(thing) if inspect.isclass(thing) or inspect.isroutine(thing) else hash(f"{package}.{name}")
        homes.setdefault(key, []).append(f"{package}.{name}")
        things[key] = thing
    for key, names in sorted(homes.items(), key=lambda item: min(item[1], key=len)):
        first, *others = sorted(names, key=lambda name: (name.count("."), name))
        also = f"  (also {', '.join(others)})" if others else ""
        yield f"{first}{_signature(things[key])}{also}"
        if inspect.isclass(things[key]):
            yield from (f"    {line}" for line in sorted(_members(things[key])))


def _members(kind: type) -> Iterator[str]:
    """Public fields and methods that linkwise defines, inherited ones included."""
    fields = {one.name for one in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    yield from (f"{name}" for name in fields if not name.startswith("_"))
    for name in dir(kind):
        owner = next((base for base in kind.__mro__ if name in vars(base)), object)
        if name.startswith("_") or name in fields or not owner.__module__.startswith("linkwise"):
            continue
        if name.startswith("set_") and name.endswith("_request"):  # made by scikit-learn
            continue
        member = inspect.getattr_static(kind, name)
        if isinstance(member, (staticmethod, classmethod)):
            member = member.__func__
        if inspect.isfunction(member):
            yield f"{name}{_signature(member)}"
        elif isinstance(member, property) or hasattr(member, "__get__"):
            yield name


def _signature(thing: Any) -> str:
    """Parameters with their defaults; types are the business of mypy."""
    if not (inspect.isclass(thing) or inspect.isroutine(thing)):
        return ""
    try:
        found = inspect.signature(thing)
    except ValueError:  # of built-in types
        return ""
    bare = [
        one.replace(annotation=inspect.Parameter.empty, default=_default(one.default))
        for one in found.parameters.values()
    ]
    return str(found.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def _default(value: Any) -> Any:
    """A default that reads the same with every version of NumPy: types and arrays are three dots."""
    plain = value is inspect.Parameter.empty or isinstance(value, (bool, int, float, str, type(None)))
    return value if plain or value == () else ...


if __name__ == "__main__":
    KEPT.write_text("\n".join(interface()) + "\n", encoding="utf-8")
