"""Newick text, read and written without recursion: quotes, comments, branch lengths, one tree per line."""

from __future__ import annotations

import math
import re
import warnings
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from linkwise._messages import many
from linkwise.exceptions import LinkwiseError, LinkwiseWarning
from linkwise.trees._newick_arrays import NewickNodes, NewickText, is_join, read_at_once

if TYPE_CHECKING:
    from linkwise.trees._parent_array import Tree

_LARGE = 20_000  # characters from which all marks are looked for at once
_PLAIN = re.compile(r"[^\s()\[\]{}:;,'\"_]+")
_TOKEN = re.compile(  # one mark, name or comment, and the plain branch length that may follow it
    r"""\s*(?:
        ([(),:;])
      | ('(?:[^']|'')*'|"[^"]*")
      | (\[[^\]]*\])
      | ([^\s()\[\]:;,'"][^\s()\[\]:;,']*)
    )(?: :([0-9.eE+-]+)(?![^\s()\[\]:;,]) )?""",
    re.VERBOSE,
)


def write_newick(tree: Tree, node_names: Mapping[int, str] | None = None) -> str:
    """Write each tree on its own line; lengths are differences of monotone heights."""
    n = tree.n_samples
    start, child = tree.child_start.tolist(), tree.child.tolist()
    names = [str(s) for s in range(n)] if tree.ids is None else [_quote(str(name)) for name in tree.ids.tolist()]
    last = np.zeros(tree.n_nodes, dtype=np.bool_)
    last[tree.child[tree.child_start[n + 1 :] - 1]] = True  # no comma after the last child
    length = (tree.height[tree.parent] - tree.height).tolist()
    tails = [f":{above!r}" if end else f":{above!r}," for above, end in zip(length, last.tolist(), strict=True)]
    roots = tree.roots.tolist()
    for root in roots:
        tails[root] = ";\n"
    for node in tree.joins.tolist():  # the comment stands after the length, where all readers expect it
        tail = tails[node]
        at = len(tail) - len(tail.lstrip(":0123456789.e+-"))
        tails[node] = f"{tail[:at]}[&&NHX:linkwise_join={start[node + 1] - start[node]}]{tail[at:]}"
    for node, name in (node_names or {}).items():
        if node >= n and name:
            tails[node] = _quote(name) + tails[node]
    pieces: list[str] = []
    todo = roots[::-1]  # ~v stands for closing v
    while todo:
        node = todo.pop()
        if node < 0:
            pieces.append(f"){tails[~node]}")
        elif node < n:
            pieces.append(f"{names[node]}{tails[node]}")
        else:
            pieces.append("(")
            todo.append(~node)
            todo.extend(child[start[node] : start[node + 1]][::-1])
    return "".join(pieces)


def _quote(name: str) -> str:
    if not name:
        msg = "to_newick: the id of a sample is empty, expected a name.\nHint: rename it, or use `to_json`."
        raise LinkwiseError(msg)
    return name if _PLAIN.fullmatch(name) else "'" + name.replace("'", "''") + "'"


def _fail(text: str, position: int, what: str, hint: str = "") -> NoReturn:
    line = text.count("\n", 0, position) + 1
    shown = text[max(0, position - 15) : position + 15].replace("\n", " ")
    tail = f"\nHint: {hint}" if hint else ""
    msg = f"Newick: {what} at character {position} (line {line}), near {shown!r}.{tail}"
    raise LinkwiseError(msg)


class _Reader:
    """State of the parser: the open node, and the part of it that was read."""

    FRESH, CLOSED, NAMED, LENGTH, DONE = range(5)  # nothing read; children read; name read; ':' read; length read

    def __init__(self, text: str, *, negative: bool = False) -> None:
        self.text = text
        self.negative = negative  # whether branch lengths may be below zero, as neighbor joining makes them
        self.above: list[int] = []
        self.name: list[str] = []
        self.length: list[float] = []
        self.is_leaf: list[bool] = []
        self.joins: list[int] = []
        self.opened: list[int] = []  # where in the text each node begins
        self.underscored: list[int] = []  # nodes whose name has an underscore outside quotes
        self.node = -1
        self.state = self.DONE
        self.n_trees = 0

    def fail(self, position: int, what: str, hint: str = "") -> NoReturn:
        _fail(self.text, position, what, hint)

    def read(self) -> NewickText:
        """What was read."""
        nodes = NewickNodes(
            np.array(self.above, dtype=np.intp),
            self.name,
            np.array(self.length, dtype=np.float64),
            np.array(self.is_leaf, dtype=np.bool_),
            self.joins,
        )
        return NewickText(nodes, self.opened, self.underscored, self.n_trees)

    def begin(self, above: int, position: int) -> None:
        self.node = len(self.above)
        self.above.append(above)
        self.name.append("")
        self.length.append(math.nan)
        self.is_leaf.append(True)
        self.opened.append(position)
        self.state = self.FRESH

    def finish(self, position: int) -> None:
        if self.state == self.LENGTH:
            self.fail(position, "a number is missing after ':'")
        if self.is_leaf[self.node] and not self.name[self.node]:
            self.fail(position, "a leaf has no name", "every leaf needs a name; is there a comma too many?")

    def mark(self, mark: str, position: int) -> None:
        if self.node < 0:
            if mark != "(":
                self.fail(position, f"unexpected {mark!r} outside a tree")
            self.begin(-1, position)
        if mark == "(":
            if self.state != self.FRESH:
                self.fail(position, "unexpected '('", "a comma is missing, or a name with parentheses is not quoted.")
            self.is_leaf[self.node] = False
            self.begin(self.node, position + 1)
        elif mark == ":":
            self.colon(position)
        else:
            self.finish(position)
            above = self.above[self.node]
            if mark == ";":
                if above >= 0:
                    self.fail(position, "parentheses are unbalanced: ';' before every '(' was closed")
                self.node = -1
                self.n_trees += 1
            elif above < 0:
                self.fail(position, f"parentheses are unbalanced: {mark!r} outside every '('")
            elif mark == ",":
                self.begin(above, position + 1)
            else:
                self.node = above
                self.state = self.CLOSED

    def colon(self, position: int) -> None:
        if self.node < 0 or self.state > self.NAMED:
            self.fail(position, "unexpected ':'")
        self.state = self.LENGTH

    def word(self, word: str, position: int, quoted: bool) -> None:
        if self.node < 0:
            self.begin(-1, position)
        if self.state == self.LENGTH:
            self.length[self.node] = self.number(word, position, quoted)
            self.state = self.DONE
        elif self.state in (self.FRESH, self.CLOSED):
            self.name[self.node] = word
            self.state = self.NAMED
            if not quoted and "_" in word:
                self.underscored.append(self.node)
        else:
            self.fail(position, f"unexpected {word!r}", "names with spaces or quotes are written 'like this'.")

    def comment(self, comment: str) -> None:
        """Pass over a comment, unless it calls an inner node a join."""
        if self.node >= 0 and not self.is_leaf[self.node] and is_join(comment):
            self.joins.append(self.node)

    def number(self, word: str, position: int, quoted: bool) -> float:
        try:
            length = math.nan if quoted else float(word)
        except ValueError:
            self.fail(position, f"{word!r} is not a branch length")
        if not math.isfinite(length) or (length < 0 and not self.negative):
            self.fail(position, f"the branch length is {word}, expected a finite number >= 0")
        return length


def read_newick(
    text: Any, forest: bool, wanted: Collection[str] | None = None, *, negative: bool = False
) -> NewickNodes:
    """Read one tree, or all trees when ``forest``, into arrays of nodes; errors name the place in the text.

    Branch lengths below zero are refused unless ``negative``.

    Names stay as written, but for one case. By the grammar an underscore outside quotes is a blank: a name without
    quotes that is not ``wanted`` as written, but is wanted with blanks, is read with blanks.
    """
    if not isinstance(text, str):
        msg = f"from_newick got {type(text).__name__}, expected text.\nHint: read a file with `path.read_text()`."
        raise LinkwiseError(msg)
    text = text.removeprefix("\ufeff")
    found = read_at_once(text, negative=negative) if len(text) >= _LARGE else None
    if found is None or (found.n_trees > 1 and not forest):
        found = _read_by_marks(text, forest, negative)
    if wanted is not None:
        _read_underscores(found, wanted)
    _refuse_repeats(text, found)
    return found.nodes


def _read_by_marks(text: str, forest: bool, negative: bool) -> NewickText:
    reader = _Reader(text, negative=negative)
    position, end = 0, len(text.rstrip())
    while position < end:
        token = _TOKEN.match(text, position)
        if token is None:
            at = end - len(text[position:end].lstrip())
            what = {
                "[": "a comment is never closed",
                "'": "a quote is never closed",
                '"': "a quote is never closed",
            }.get(text[at], f"unexpected {text[at]!r}")
            reader.fail(at, what)
        mark, quoted, comment, word, length = token.groups()
        position = token.end()
        if comment is not None:
            reader.comment(comment)
        else:
            at = token.start(1 if mark else 4 if word else 2)
            if reader.node < 0 and reader.n_trees and not forest:
                reader.fail(at, "a second tree begins", "read several trees into one forest with `forest=True`.")
            if mark:
                reader.mark(mark, at)
            elif word:
                reader.word(word, at, quoted=False)
            else:
                name = quoted[1:-1].replace("''", "'") if quoted[0] == "'" else quoted[1:-1]
                reader.word(name, at, quoted=True)
        if length:
            reader.colon(token.start(5) - 1)
            reader.word(length, token.start(5), quoted=False)
    if reader.node >= 0:
        if reader.above[reader.node] >= 0:
            where = reader.opened[reader.above[reader.node]]
            reader.fail(where, "parentheses are unbalanced: the text ends before this '(' is closed")
        warnings.warn("Newick: the ';' at the end is missing; the text may be cut off.", LinkwiseWarning, stacklevel=4)
        reader.mark(";", end)
    if not reader.n_trees:
        msg = "Newick: the text holds no tree, expected at least one.\nHint: a tree looks like `((a:1,b:1):2,c:3);`."
        raise LinkwiseError(msg)
    return reader.read()


def _read_underscores(found: NewickText, wanted: Collection[str]) -> None:
    """Put blanks for the underscores of names that are wanted so, and not as they are written.

    That is what the notation says; where others are wanted as they are written, a warning tells which were read how.
    """
    name = found.nodes.name
    written = next((name[v] for v in found.underscored if name[v] in wanted), None)
    blank = {v: name[v].replace("_", " ") for v in found.underscored if name[v] not in wanted}
    blank = {v: word for v, word in blank.items() if word in wanted}
    if blank and written is not None:
        first = next(iter(blank))
        warnings.warn(
            f"Newick: the underscores of {many(len(blank), 'name')} without quotes were read as blanks, since samples "
            f"are called so: {name[first]} is {blank[first]!r}; others are read as they are written: {written!r}.\n"
            f"Hint: write '{blank[first]}' in the tree, in quotes.",
            LinkwiseWarning,
            stacklevel=4,
        )
    for v, word in blank.items():
        name[v] = word


def _refuse_repeats(text: str, found: NewickText) -> None:
    leaves = np.flatnonzero(found.nodes.is_leaf).tolist()
    called = [found.nodes.name[v] for v in leaves]
    if len(set(called)) == len(called):
        return
    seen: set[str] = set()
    for v, name in zip(leaves, called, strict=True):
        if name in seen:
            _fail(text, found.opened[v], f"the leaf name {name!r} appears a second time")
        seen.add(name)
