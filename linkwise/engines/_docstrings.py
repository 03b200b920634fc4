"""Docstrings of estimators, completed by the entries that their base classes hold."""

from __future__ import annotations

import inspect
import re
from functools import cache
from typing import Any

_SECTION = re.compile(r"^([A-Z][A-Za-z ]+)\n-{3,}\n", re.MULTILINE)
_NEXT_ENTRY = re.compile(r"\n+(?=\S)")


def inherit_entries(cls: type) -> None:
    """Add to a docstring the parameters and attributes that only base classes document, nearest base first.

    A base class may document parameters that not all of its subclasses have. Those of the signature are taken, in its
    order and with its defaults.
    """
    if cls.__dict__.get("__doc__") is None:  # python -OO
        return
    head, own = _sections(cls.__dict__["__doc__"])
    own = dict(own)
    inherited = [_sections(base.__dict__.get("__doc__") or "")[1] for base in cls.__mro__[1:]]
    signature = inspect.signature(cls).parameters
    parameters = dict(_entries(own.pop("Parameters", "")))
    attributes = dict(_entries(own.pop("Attributes", "")))
    for sections in inherited:
        for name, text in _entries(sections.get("Parameters", "")).items():
            if name in signature and name not in parameters:
                parameters[name] = _with_default(text, signature[name].default)
        for name, text in _entries(sections.get("Attributes", "")).items():
            attributes.setdefault(name, text)
    order = [name for name in signature if name in parameters]  # then those of a base class that its subclasses have
    parameters = {name: parameters[name] for name in [*order, *parameters]}
    listed = {"Parameters": parameters, "Attributes": attributes}
    written = {title: _join(entries) for title, entries in listed.items() if entries} | own
    cls.__doc__ = "\n\n".join([head, *(f"{title}\n{'-' * len(title)}\n{text}" for title, text in written.items())])


@cache
def _sections(docstring: str) -> tuple[str, dict[str, str]]:
    """Return the text before the first section of a docstring, and the text of each section."""
    head, *rest = _SECTION.split(inspect.cleandoc(docstring))
    return head.strip(), {title: text.strip() for title, text in zip(rest[::2], rest[1::2], strict=True)}


@cache
def _entries(section: str) -> dict[str, str]:
    """Return the type and text of each name; names on one line have the same."""
    found = {}
    for entry in filter(None, _NEXT_ENTRY.split(section)):
        title, _, text = entry.partition("\n")
        names, colon, kind = title.partition(" : ")
        found.update(dict.fromkeys(names.split(", "), f"{colon}{kind}\n{text}"))
    return found


def _join(entries: dict[str, str]) -> str:
    """Write entries below each other, and names of the same type and text on one line."""
    names: dict[str, list[str]] = {}
    for name, text in entries.items():
        names.setdefault(text, []).append(name)
    return "\n".join(", ".join(same) + text for text, same in names.items())


def _with_default(text: str, default: Any) -> str:
    """Give an entry of a base class the default of the signature."""
    kind, _, rest = text.partition("\n")
    value = f'"{default}"' if isinstance(default, str) else f"{default:g}" if isinstance(default, float) else default
    return f"{kind.partition(', default=')[0]}, default={value}\n{rest}"
