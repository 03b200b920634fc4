"""Readers of taxonomies into named nodes: Newick, nested dictionaries or JSON, OBO, paths, and columns."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from itertools import compress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._files import parse_json, read_text_file
from linkwise._messages import hint, some_of
from linkwise._typing import BoolArray, IntArray
from linkwise._validation import read_choice
from linkwise._value_columns import as_text, is_missing, number_values, read_column
from linkwise.exceptions import LinkwiseError
from linkwise.trees._newick import read_newick
from linkwise.trees._parent_array import refuse_cycle

_NUMBER = r"[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+"
_SUPPORT = re.compile(rf"(?:{_NUMBER})(?:/(?:{_NUMBER}))*")  # also 95.2/98, as of two tests
_SUPPORT_AND_NAME = re.compile(rf"(?:{_NUMBER}):(.*\S.*)")


class NamedNodes(NamedTuple):
    """Nodes in the order of a text: the position of the parent of each (-1: none), and its name ("": none)."""

    parent: IntArray
    names: npt.NDArray[Any]

    @property
    def is_leaf(self) -> BoolArray:
        """Mask of the nodes without children."""
        leaf = np.ones(len(self.parent), dtype=np.bool_)
        leaf[self.parent[self.parent >= 0]] = False
        return leaf


def nodes_of_newick(text: Any, forest: bool, wanted: Collection[str] | None = None) -> NamedNodes:
    """Read Newick text, whose nodes are looked for by the ``wanted`` names; branch lengths are ignored.

    Inner nodes with the support of a clade, as in ``(a,b)95``, have no name; of ``'95:Canidae'`` the name is kept.
    Where all leaves are called by numbers, those of inner nodes are names, too.
    """
    nodes = read_newick(text, forest, wanted, negative=True)
    names = list(nodes.name)
    if not all(map(_SUPPORT.fullmatch, compress(names, nodes.is_leaf.tolist()))):
        for v in np.flatnonzero(~nodes.is_leaf).tolist():
            both = _SUPPORT_AND_NAME.fullmatch(names[v])
            names[v] = "" if _SUPPORT.fullmatch(names[v]) else names[v] if both is None else both[1].strip()
    return NamedNodes(nodes.above, np.array(names, dtype=np.str_))


# -- nested dictionaries and JSON --------------------------------------------------------------------------------------


def nodes_of_nested(nested: Any) -> NamedNodes:
    """Read nested dictionaries: ``{name: children}``, or ``{"name": ..., "children": [...]}``."""
    if isinstance(nested, (str, bytes)):
        try:
            nested = parse_json(nested)
        except ValueError as bad:
            msg = (
                f"from_nested: the text is not valid JSON ({bad}).\nHint: Newick text or a parent column is read, too."
            )
            raise LinkwiseError(msg) from bad
    if not isinstance(nested, (dict, list, tuple)):
        msg = f"from_nested got {type(nested).__name__}, expected a dictionary, or a list of them for several roots."
        raise LinkwiseError(msg)
    tops = [nested] if isinstance(nested, dict) else list(nested)
    listed = any(isinstance(top, dict) and "children" in top for top in tops)
    above: list[int] = []
    names: list[str] = []
    seen: set[int] = set()
    # a stack; a name stands for a node, None for a dictionary or list still to be opened
    todo: list[tuple[str | None, Any, int]] = [(None, nested, -1)]
    while todo:
        name, below, up = todo.pop()
        if name is not None:
            above.append(up)
            names.append(name)
            up = len(above) - 1
        if below is None or (isinstance(below, (dict, list, tuple)) and not below):
            continue
        if isinstance(below, (dict, list, tuple)):
            if id(below) in seen:
                msg = "from_nested: one dictionary or list appears in two places, expected a separate one for each."
                raise LinkwiseError(msg)
            seen.add(id(below))
        todo.extend(_open(below, listed, up)[::-1])
    if not above:
        msg = "from_nested got no nodes, expected at least one."
        raise LinkwiseError(msg)
    return NamedNodes(np.array(above, dtype=np.intp), _text_array(names))


def _open(below: Any, listed: bool, up: int) -> list[tuple[str | None, Any, int]]:
    """Return the nodes directly inside a dictionary, a list or a single value."""
    if isinstance(below, (list, tuple)):
        return [(None, one, up) if isinstance(one, dict) else (_name(one), None, up) for one in below]
    if not isinstance(below, dict):
        return [(_name(below), None, up)]
    if not listed:
        return [(_name(key), value, up) for key, value in below.items()]
    inside = below.get("children")
    if inside is not None and not isinstance(inside, (list, tuple)):
        msg = f"from_nested: 'children' is {type(inside).__name__}, expected a list of dictionaries."
        raise LinkwiseError(msg)
    name = below.get("name", "")
    if name == "" and not inside:
        msg = "from_nested: a leaf has no 'name', expected one for every leaf."
        raise LinkwiseError(msg)
    return [("" if name == "" else _name(name), inside, up)]


def _name(value: Any) -> str:
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (str, int, float, np.generic)) or value == "":
        msg = f"from_nested: a node is called {value!r}, expected text or a number."
        raise LinkwiseError(msg)
    return str(value)


def _text_array(names: list[str]) -> npt.NDArray[Any]:
    try:
        "".join(names).encode("utf-8")
    except UnicodeEncodeError as bad:
        msg = "from_nested: a name holds half of a surrogate pair, expected whole characters."
        raise LinkwiseError(msg) from bad
    return np.array(names, dtype=np.str_)


# -- OBO ---------------------------------------------------------------------------------------------------------------

_COMMENT = re.compile(r"(?<!\\)!.*")
_MODIFIER = re.compile(r"(?<!\\)\{.*")


class _Term:
    """One [Term] stanza: its first line, and the tags that are read."""

    __slots__ = ("above", "line", "name", "obsolete", "term")

    def __init__(self, line: int) -> None:
        self.line = line
        self.term = ""
        self.name = ""
        self.obsolete = False
        self.above: list[tuple[str, int]] = []


def nodes_of_obo(source: Any, parents: str, by: str) -> NamedNodes:
    """Read the is_a hierarchy of an OBO ontology; obsolete terms are skipped."""
    read_choice(parents, "parents", "from_obo", ("refuse", "first"))
    read_choice(by, "by", "from_obo", ("id", "name"))
    if not isinstance(source, (str, Path)):
        msg = f"from_obo got {type(source).__name__}, expected the text of an OBO file or a path."
        raise LinkwiseError(msg)
    terms, place = _terms_of(source, "from_obo")
    above = np.array([_parent(term, place, parents) for term in terms], dtype=np.intp)
    refuse_cycle(above, lambda v: f"{terms[v].term} (line {terms[v].line})")
    called = [term.name or term.term if by == "name" else term.term for term in terms]
    return NamedNodes(above, np.array(called, dtype=np.str_))


def edges_of_obo(source: str | Path, who: str) -> tuple[npt.NDArray[Any], IntArray, IntArray]:
    """Read the ids of the terms of an OBO ontology and all its is_a edges, as positions of child and parent."""
    terms, place = _terms_of(source, who)
    edges = [(v, _above(up, line, term, place, who)) for v, term in enumerate(terms) for up, line in term.above]
    found = np.array(edges, dtype=np.intp).reshape(-1, 2)
    return np.array([term.term for term in terms], dtype=np.str_), found[:, 0], found[:, 1]


def _terms_of(source: str | Path, who: str) -> tuple[list[_Term], dict[str, int]]:
    """The terms that are not obsolete, and their positions by id."""
    is_text = isinstance(source, str) and ("\n" in source or "\r" in source)
    text = str(source).removeprefix("\ufeff") if is_text else read_text_file(source)
    found = _stanzas(text.replace("\r\n", "\n").replace("\r", "\n"), who)
    terms = [term for term in found if not term.obsolete]
    if not terms:
        msg = f"{who} found no [Term] that is not obsolete, expected at least one.\nHint: is this an OBO file?"
        raise LinkwiseError(msg)
    place: dict[str, int] = {}
    for v, term in enumerate(terms):
        if place.setdefault(term.term, v) != v:
            first = terms[place[term.term]].line
            msg = f"{who}, line {term.line}: the term {term.term} is described twice, first on line {first}."
            raise LinkwiseError(msg)
    return terms, place


def _parent(term: _Term, place: dict[str, int], parents: str) -> int:
    named = list(dict.fromkeys(above for above, _ in term.above))
    if len(named) > 1 and parents == "refuse":
        msg = (
            f"from_obo, line {term.line}: {term.term} has {len(named)} parents ({some_of(named)}), expected one.\n"
            'Hint: `parents="first"` keeps the is_a that is listed first; `linkwise.sources.from_ontology` takes all.'
        )
        raise LinkwiseError(msg)
    if not named:
        return -1
    return _above(named[0], term.above[0][1], term, place, "from_obo")


def _above(up: str, line: int, term: _Term, place: dict[str, int], who: str) -> int:
    if up not in place:
        msg = f"{who}, line {line}: {term.term} is_a {up}, a term that is missing or obsolete."
        raise LinkwiseError(msg)
    return place[up]


def _stanzas(text: str, who: str) -> list[_Term]:
    found: list[_Term] = []
    now: _Term | None = None
    for number, line in enumerate(text.split("\n"), start=1):
        if line.startswith("["):
            if not line.rstrip().endswith("]"):
                msg = f"{who}, line {number}: {line.strip()[:40]!r} is not closed, expected a header such as [Term]."
                raise LinkwiseError(msg)
            _refuse_nameless(now, who)
            now = _Term(number) if line.strip() == "[Term]" else None
            if now is not None:
                found.append(now)
        elif now is not None and line.strip() and not line.startswith("!"):
            tag, colon, value = line.partition(":")
            if not colon:
                msg = f"{who}, line {number}: {line.strip()[:40]!r}, expected `tag: value`."
                raise LinkwiseError(msg)
            _take(now, tag.strip(), value, number, who)
    _refuse_nameless(now, who)
    return found


def _refuse_nameless(term: _Term | None, who: str) -> None:
    if term is not None and not term.term:
        msg = f"{who}, line {term.line}: the [Term] has no id, expected one."
        raise LinkwiseError(msg)


def _take(term: _Term, tag: str, value: str, number: int, who: str) -> None:
    if tag == "name":
        term.name = value.strip()
    elif tag in ("id", "is_a", "is_obsolete"):
        plain = _MODIFIER.sub("", _COMMENT.sub("", value)).strip()
        if not plain:
            msg = f"{who}, line {number}: {tag} has no value, expected one."
            raise LinkwiseError(msg)
        if tag == "id":
            if term.term:
                msg = f"{who}, line {number}: the stanza of {term.term} has a second id, expected one."
                raise LinkwiseError(msg)
            term.term = plain
        elif tag == "is_a":
            term.above.append((plain, number))
        else:
            term.obsolete = plain == "true"


# -- columns -----------------------------------------------------------------------------------------------------------


def nodes_of_paths(paths: Any, sep: str) -> tuple[NamedNodes, IntArray]:
    """Read one path per sample, from the root down; return the nodes and the node of each sample."""
    if not isinstance(sep, str) or not sep:
        msg = f"from_paths: sep is {sep!r}, expected the text between two names."
        raise LinkwiseError(msg)
    column = read_column("paths", paths)
    known = ~is_missing(column)
    code, distinct = number_values("paths", column, known)
    place: dict[tuple[int, str], int] = {}
    ends = np.empty(len(distinct), dtype=np.intp)
    for p, path in enumerate(distinct.tolist()):
        if not isinstance(path, str):
            msg = f"from_paths: sample {int(np.argmax(code == p))} has the path {path!r}, expected text."
            raise LinkwiseError(msg)
        parts = path.split(sep)
        if "" in parts:
            msg = (
                f"from_paths: sample {int(np.argmax(code == p))} has the path {path!r}, in which a name is empty.\n"
                f"Hint: take {sep!r} away from the ends{hint(command='', python=', or pass the right `sep=`')}."
            )
            raise LinkwiseError(msg)
        up = -1
        for part in parts:
            up = place.setdefault((up, part), len(place))
        ends[p] = up
    parent = np.array([up for up, _ in place], dtype=np.intp)
    names = np.array([part for _, part in place], dtype=np.str_)
    return NamedNodes(parent, names), np.where(known, ends[code] if len(ends) else -1, -1)


def edges_of_columns(child: Any, parent: Any, who: str) -> tuple[npt.NDArray[Any], IntArray, IntArray]:
    """Read a child and its parent from each row: all names, and the numbers of both; -1 where there is no parent."""
    columns = [read_column(f"{who}: {word}", values) for word, values in (("child", child), ("parent", parent))]
    if len(columns[0]) != len(columns[1]):
        msg = f"{who}: child has {len(columns[0]):,} entries and parent {len(columns[1]):,}, expected one each per row."
        raise LinkwiseError(msg)
    missing = [is_missing(column) for column in columns]
    if missing[0].any():
        msg = f"{who}: row {int(np.argmax(missing[0]))} has no child, expected one in every row."
        raise LinkwiseError(msg)
    both = np.empty(2 * len(columns[0]), dtype=object)
    both[:] = [as_text(value) for column in columns for value in column.tolist()]
    code, names = number_values(who, both, ~np.concatenate(missing))
    return names, code[: len(columns[0])], code[len(columns[0]) :]


def nodes_of_parents(child: Any, parent: Any) -> NamedNodes:
    """Read two columns: each child is below the parent in the same row; nodes without a parent are roots."""
    names, lower, upper = edges_of_columns(child, parent, "from_parents")
    above = np.full(len(names), -1, dtype=np.intp)
    above[lower] = upper
    odd = above[lower] != upper
    if odd.any():
        row = int(np.argmax(odd))
        last = int(np.flatnonzero((lower == lower[row]) & ~odd)[-1])
        msg = (
            f"from_parents: {names[lower[row]]!r} has two parents, {_called(names, upper[row])} in row {row} and "
            f"{_called(names, upper[last])} in row {last}, expected one."
        )
        raise LinkwiseError(msg)
    rows = np.zeros(len(names), dtype=np.intp)
    rows[lower] = np.arange(len(lower))
    refuse_cycle(above, lambda v: f"{names[v]!r} (row {rows[v]})")
    return NamedNodes(above, names.astype(np.str_) if len(names) else np.empty(0, dtype=np.str_))


def _called(names: npt.NDArray[Any], node: int) -> str:
    return repr(str(names[node])) if node >= 0 else "none"


def nodes_of_levels(columns: Any, unlabeled: Any) -> tuple[NamedNodes, IntArray]:
    """Read one label column per level, coarse to fine; the node of a sample is that of its last known label."""
    levels = _level_columns(columns)
    n = len(levels[0])
    if any(len(level) != n for level in levels):
        msg = (
            f"from_levels: the columns have {sorted({len(level) for level in levels})} entries, expected equal lengths."
        )
        raise LinkwiseError(msg)
    node = np.full(n, -1, dtype=np.intp)
    open_end = np.ones(n, dtype=np.bool_)
    parents: list[IntArray] = []
    names: list[str] = []
    for number, level in enumerate(levels):
        known = ~(is_missing(level) | np.asarray(level == unlabeled))
        gap = known & ~open_end
        if gap.any():
            sample = int(np.argmax(gap))
            msg = (
                f"from_levels: sample {sample} has {level[sample : sample + 1].tolist()[0]!r} in column {number}, "
                f"but nothing in column {number - 1} above it.\nHint: columns go from coarse to fine."
            )
            raise LinkwiseError(msg)
        code, distinct = number_values("from_levels", level, known)
        pair, first, inverse = np.unique(
            node[known] * (len(distinct) + 1) + code[known], return_index=True, return_inverse=True
        )
        parents.append(node[known][first])
        names += [str(distinct[c]) for c in code[known][first].tolist()]
        node[known] = len(names) - len(pair) + inverse
        open_end = known
    return NamedNodes(np.concatenate(parents), np.array(names, dtype=np.str_)), node


def _level_columns(columns: Any) -> list[npt.NDArray[Any]]:
    if isinstance(columns, Mapping):
        given = list(columns.values())
    elif hasattr(columns, "columns"):  # a data frame of pandas or polars
        given = [columns[name] for name in columns.columns]
    elif hasattr(columns, "ndim") and columns.ndim == 2:
        given = list(np.asarray(columns).T)
    else:
        given = list(columns)
    if not given:
        msg = "from_levels got no columns, expected at least one."
        raise LinkwiseError(msg)
    return [read_column(f"column {i}", values) for i, values in enumerate(given)]
