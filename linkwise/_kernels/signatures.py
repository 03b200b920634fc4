"""The list of signatures that kernels are called with, recorded from use, and ahead-of-time compiling by that list.

A line of ``signatures.txt`` is the name of a kernel and the types of its arguments: ``float64[2C]`` is an array with
two axes in C order, with ``r`` at the end if it is read-only, and a named tuple has its class before the parentheses.
``python -m tests.kernel_work record`` writes the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import typeof

from linkwise._kernels.inventory import kernels

types: Any = numba.types
FILE = Path(__file__).with_name("signatures.txt")
_ARRAY = re.compile(r"(\w+)\[(\d)([ACF])(r?)\]")


def listed(lines: Iterable[str] | None = None) -> Iterator[tuple[str, tuple[Any, ...]]]:
    """Every recorded signature: the name of a kernel, and the types of its arguments."""
    for line in FILE.read_text(encoding="utf-8").splitlines() if lines is None else lines:
        name, _, arguments = line.partition("(")
        yield name, tuple(_read(re.findall(r"[\w.:]+(?:\[\w+\])?|[()]", arguments)[::-1]))


def line_of(name: str, arguments: Iterable[Any]) -> str | None:
    """A line of the list; None if a type has no words, such as that of a function."""
    words = [_words(one) for one in arguments]
    return None if None in words else f"{name}({', '.join(map(str, words))})"


def compile_listed() -> int:
    """Compile every recorded signature whose code is not kept yet; return how many these are."""
    done = 0
    for name, arguments in listed():
        kernel = kernels()[name]
        if kernel._cache.key(arguments) not in kernel._cache.known(kernel.targetctx):
            kernel.compile(arguments)
            done += 1
    return done


def _words(one: Any) -> str | None:
    if isinstance(one, types.Array):
        kind = _words(one.dtype)
        return f"{kind}[{one.ndim}{one.layout}{'' if one.mutable else 'r'}]" if kind and one.aligned else None
    if isinstance(one, types.BaseTuple):
        parts = [_words(part) for part in one.types]
        named = getattr(one, "instance_class", None)
        kind = f"{named.__module__}:{named.__qualname__}" if named else "tuple"
        return None if None in parts else f"{kind}({', '.join(map(str, parts))})"
    return next((word for word, known in _scalars().items() if known == one), None)


@cache
def _scalars() -> dict[str, Any]:
    plain = {f"{kind}{bits}": getattr(types, f"{kind}{bits}") for kind in ("int", "uint") for bits in (8, 16, 32, 64)}
    floats = {"float32": types.float32, "float64": types.float64}
    return {**plain, **floats, "bool": types.boolean, "none": types.none, "generator": typeof(np.random.default_rng(0))}


def _read(words: list[str]) -> list[Any]:
    """The types up to the next closing parenthesis; words are taken from the end of the list."""
    found: list[Any] = []
    while (word := words.pop()) != ")":
        if words[-1] == "(":
            words.pop()
            module, _, name = word.partition(":")
            kind = getattr(import_module(module), name) if name else tuple
            found.append(types.BaseTuple.from_types(tuple(_read(words)), kind))
        elif array := _ARRAY.fullmatch(word):
            inside, axes, layout, fixed = array.groups()
            found.append(types.Array(_scalars()[inside], int(axes), layout, readonly=bool(fixed)))
        else:
            found.append(_scalars()[word])
    return found
