"""Which node a sample sits on: by a column of node names, or by nodes that bear the samples' own names."""

from __future__ import annotations

import difflib
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._wording import hint, many
from linkwise.constraints._columns import as_text, is_missing, number_values, read_column
from linkwise.exceptions import LinkwiseError
from linkwise.result._assemble import sample_numbers
from linkwise.result._read import read_names

__all__ = ["find_nodes", "place_by_column", "place_by_ids", "place_leaves"]

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]


def _register(names: npt.NDArray[Any] | None) -> dict[str, int]:
    """The node of every name, written as text; ~v for a name that v and another node share."""
    if names is None:
        return {}
    place: dict[str, int] = {}
    for v, name in enumerate(map(as_text, names.tolist())):
        if name and place.setdefault(name, v) != v:
            place[name] = ~v
    return place


def find_nodes(who: str, names: npt.NDArray[Any] | None, wanted: list[Any]) -> IntArray:
    """Find the nodes called by the wanted names; names are compared as text."""
    if names is None:
        msg = f"{who}: the nodes of this taxonomy have no names."
        raise LinkwiseError(msg)
    place = _register(names)
    found = np.array([place.get(as_text(name), len(names)) for name in wanted], dtype=np.intp)
    unknown = [name for name, v in zip(wanted, found.tolist(), strict=True) if v == len(names)]
    if unknown:
        close = difflib.get_close_matches(str(unknown[0]), list(place)[:100_000], n=1)
        hint = f"did you mean {close[0]!r}?" if close else "names are compared exactly, as text."
        shown = ", ".join(repr(name) for name in unknown[:5])
        msg = f"{who}: {len(unknown)} name(s) are no node of the taxonomy: {shown}.\nHint: {hint}"
        raise LinkwiseError(msg)
    shared = next((name for name, v in zip(wanted, found.tolist(), strict=True) if v < 0), None)
    if shared is not None:
        msg = (
            f"{who}: several nodes are called {shared!r}, expected a name of one node.\n"
            "Hint: make the names differ, for example by writing the parent's name in front."
        )
        raise LinkwiseError(msg)
    return found


def place_by_column(who: str, names: npt.NDArray[Any] | None, items: Any) -> IntArray:
    """Place sample i on the node called ``items[i]``; a missing value leaves it out."""
    column = read_column(f"{who}: items", items)
    code, distinct = number_values(f"{who}: items", column, ~is_missing(column))
    if not len(distinct):
        return code
    return np.where(code >= 0, find_nodes(who, names, distinct.tolist())[code], -1)


def place_by_ids(who: str, names: npt.NDArray[Any], is_leaf: BoolArray, ids: Any) -> tuple[IntArray, npt.NDArray[Any]]:
    """Place each sample on the node that bears its name; every leaf must be a sample, but not every sample a node."""
    known = read_names(ids)
    text = list(map(str, known.tolist()))
    samples = set(text)
    if len(samples) < len(text):
        msg = f"{who}: ids contains values that look alike as text, expected names that tell the nodes apart."
        raise LinkwiseError(msg)
    strange = [str(name) for name in names[is_leaf].tolist() if str(name) not in samples]
    if strange:
        close = difflib.get_close_matches(strange[0], text[:100_000], n=1)
        where = hint(
            command="name the leaves as the data name the samples.",
            python="say where samples sit with `items=`, one node per sample.",
        )
        shown = ", ".join(map(repr, strange[:5]))
        are = "is" if len(strange) == 1 else "are"
        missing = (
            f"{many(len(strange), 'leaf', 'leaves')} {are} not in {hint(command='the data', python='ids')}: {shown}"
        )
        source = hint(command="", python=f"{who}: ")
        msg = f"{source}{missing}.\nHint: {f'did you mean {close[0]!r}?' if close else where}"
        raise LinkwiseError(msg)
    place = _register(names)
    here = [name for name in text if name in place]
    node = np.full(len(text), -1, dtype=np.intp)
    node[[i for i, name in enumerate(text) if name in place]] = find_nodes(who, names, here) if here else []
    return node, known


def place_leaves(who: str, names: npt.NDArray[Any], is_leaf: BoolArray) -> tuple[IntArray, npt.NDArray[Any] | None]:
    """Make every leaf a sample: names 0 to n - 1 are sample numbers, others become ids in their order of appearance."""
    leaf = np.flatnonzero(is_leaf)
    called = names[leaf].tolist()
    if len(set(map(str, called))) < len(called):
        seen: set[str] = set()
        twice = next(name for name in map(str, called) if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        msg = f"{who}: the leaf name {twice!r} appears a second time, expected each sample in one place."
        raise LinkwiseError(msg)
    number, ids = sample_numbers(called, None)
    node = np.empty(len(leaf), dtype=np.intp)
    node[number] = leaf
    return node, ids
