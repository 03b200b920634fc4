"""Newick text read as arrays, all marks at once; the reader mark by mark takes what is unusual or wrong."""

from __future__ import annotations

import math
import re
from itertools import compress
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._typing import BoolArray, FloatArray, IntArray

_JOIN = re.compile(r"\[&&NHX:(?:[^\]]*:)?linkwise_join=[0-9]+(?::[^\]]*)?\]")
_REGION = re.compile(r"'[^']*'|\[[^\]]*\]")
_QUOTED = re.compile(r"'(?:[^']|'')*'")
_OPEN, _CLOSE, _COMMA, _COLON, _END, _COMMENT, _QUOTE = (ord(mark) for mark in "(),:;['")
_MARKS = np.zeros(128, dtype=np.bool_)
_MARKS[[_OPEN, _CLOSE, _COMMA, _COLON, _END]] = True
_PARTS = np.zeros(128, dtype=np.bool_)  # of quotes and comments
_PARTS[[_COMMENT, ord("]"), _QUOTE]] = True
_FOLLOWS = np.zeros((128, 128), dtype=np.bool_)  # which mark may come after which
for _first, _next in (("(,", "(,):"), (")", ",):;"), (":", ",);"), (";", "(")):
    _FOLLOWS[np.ix_([*map(ord, _first)], [*map(ord, _next)])] = True


class NewickNodes(NamedTuple):
    """The nodes of one or more trees in the order in which the text opens them, parents before children."""

    above: IntArray
    name: list[str]
    length: FloatArray  # nan where the text gives none
    is_leaf: BoolArray
    joins: list[int]  # inner nodes that a comment calls joins


class NewickText(NamedTuple):
    """What a text holds: its nodes, where each begins, those with an underscore outside quotes, and its trees."""

    nodes: NewickNodes
    opened: list[int]
    underscored: list[int]
    n_trees: int


def is_join(comment: str) -> bool:
    """Whether a comment calls its node a join."""
    return _JOIN.fullmatch(comment) is not None


def read_at_once(text: str, *, negative: bool = False) -> NewickText | None:
    """Read trees that begin with a parenthesis and end with a semicolon; None if anything is unusual or wrong."""
    marks = _Marks.of(text)
    if marks is None:
        return None
    kind, creates = marks.kind, _created(marks.kind)
    opens = kind == _OPEN
    owner = creates - 2  # of '(': the node that it opens; its first child comes next
    match = _matching(kind)
    if match is None:
        return None
    current = np.where(kind == _CLOSE, owner[match], creates - 1)
    colons = np.flatnonzero(kind == _COLON)
    current[colons] = current[colons - 1]
    n_nodes = int(creates[-1])
    above = np.full(n_nodes, -1, dtype=np.intp)
    opened = np.zeros(n_nodes, dtype=np.intp)
    child = np.flatnonzero(opens | (kind == _COMMA))
    above[creates[child] - 1] = owner[match[child]]
    opened[creates[child] - 1] = marks.at[child] + 1
    root = np.flatnonzero(np.r_[True, kind[:-1] == _END] & opens)
    opened[owner[root]] = marks.at[root]
    is_leaf = np.ones(n_nodes, dtype=np.bool_)
    is_leaf[owner[opens]] = False
    length = np.full(n_nodes, math.nan)
    try:
        length[current[colons]] = [*map(float, marks.tokens(colons))]
    except ValueError:
        return None
    given = length[current[colons]]
    if not np.isfinite(given).all() or (not negative and (given < 0).any()):
        return None
    named = np.flatnonzero((kind == _CLOSE) | ((opens | (kind == _COMMA)) & (np.r_[kind[1:], _END] != _OPEN)))
    words = _names_of(marks.tokens(named), quotes="'" in text)
    if words is None:
        return None
    at = current[named].tolist()
    name = [""] * n_nodes
    for node, word in zip(at, words.names, strict=True):
        name[node] = word
    if not all(compress(name, is_leaf.tolist())):
        return None
    joins = [
        int(current[mark]) for mark in marks.joins if kind[mark] in (_CLOSE, _COLON) and not is_leaf[current[mark]]
    ]
    nodes = NewickNodes(above, name, length, is_leaf, joins)
    return NewickText(nodes, opened.tolist(), sorted(at[i] for i in words.underscored), int((kind == _END).sum()))


class _Marks(NamedTuple):
    """The marks outside quotes and comments, where they stand, and where the word after each ends."""

    text: str
    kind: IntArray
    at: IntArray
    end: IntArray
    joins: list[int]  # for each comment that is about a join, the mark before it

    def tokens(self, marks: IntArray) -> list[str]:
        """The words after some marks."""
        return [
            self.text[a:b].strip() for a, b in zip((self.at[marks] + 1).tolist(), self.end[marks].tolist(), strict=True)
        ]

    @classmethod
    def of(cls, text: str) -> _Marks | None:
        """Find the marks; None if one cannot come after another, or if there are words where none can be."""
        if '"' in text:
            return None
        code = _codes(text)
        inside = np.zeros(len(code), dtype=np.bool_)
        comments = np.empty((0, 2), dtype=np.intp)
        if "'" in text or "[" in text:
            regions = np.array([found.span() for found in _REGION.finditer(text)], dtype=np.intp).reshape(-1, 2)
            change = np.zeros(len(code) + 1, dtype=np.int8)
            np.add.at(change, regions[:, 0], 1)
            np.add.at(change, regions[:, 1], -1)
            inside = np.cumsum(change[:-1], dtype=np.int8).astype(np.bool_)
            comments = regions[code[regions[:, 0]] == _COMMENT]
        plain = code if code.dtype == np.uint8 else np.minimum(code, 127)
        if ("]" in text or "'" in text or "[" in text) and (_PARTS[plain] & ~inside).any():
            return None
        is_mark = _MARKS[plain] & ~inside
        if _parted_words(code, is_mark, inside):
            return None
        is_mark[comments[:, 0]] = True
        at = np.flatnonzero(is_mark)
        kind = code[at].astype(np.intp)
        end = np.r_[at[1:], len(code)]
        real = np.flatnonzero(kind != _COMMENT)
        if not len(real) or text[: at[0]].strip():
            return None
        told = np.flatnonzero(kind == _COMMENT)
        if any(text[a:b].strip() for a, b in zip(comments[:, 1].tolist(), end[told].tolist(), strict=True)):
            return None
        before = np.searchsorted(real, told) - 1
        spoken = [is_join(text[a:b]) for a, b in comments.tolist()]
        joins = [mark for mark, join in zip(before.tolist(), spoken, strict=True) if join and mark >= 0]
        made = cls(text, kind[real], at[real], end[real], joins)
        return made if made._are_in_order() else None

    def _are_in_order(self) -> bool:
        first, last = self.kind[:-1], self.kind[1:]
        if self.kind[0] != _OPEN or self.kind[-1] != _END or not _FOLLOWS[first, last].all():
            return False
        blank = np.flatnonzero(np.r_[last == _OPEN, True])
        return not any(self.tokens(blank[self.end[blank] - self.at[blank] > 1]))


def _codes(text: str) -> npt.NDArray[Any]:
    if text.isascii():
        return np.frombuffer(text.encode("ascii"), dtype=np.uint8)
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)


def _parted_words(code: npt.NDArray[Any], is_mark: BoolArray, inside: BoolArray) -> bool:
    """Whether blanks outside quotes and comments stand between two words."""
    if code.dtype != np.uint8 and any(chr(c).isspace() for c in np.unique(code[code > 127]).tolist()):
        return True  # other blanks: the reader mark by mark knows them
    blank = (code == 32) | ((code >= 9) & (code <= 13)) | ((code >= 28) & (code <= 31))
    blank &= ~inside
    runs = np.flatnonzero(np.diff(np.r_[False, blank, False])).reshape(-1, 2)  # begin and end
    runs = runs[(runs[:, 0] > 0) & (runs[:, 1] < len(code))]
    word = ~(is_mark[runs - [1, 0]] | inside[runs - [1, 0]])
    return bool(word.all(axis=1).any())


def _created(kind: IntArray) -> IntArray:
    """How many nodes there are after each mark: '(' and ',' begin one, and the first '(' of a tree its root."""
    opens = kind == _OPEN
    root = opens & np.r_[True, kind[:-1] == _END]
    return np.cumsum(opens.astype(np.intp) + (kind == _COMMA) + root)


def _matching(kind: IntArray) -> IntArray | None:
    """For each mark inside parentheses the '(' around it, for ')' the one that it closes; None if unbalanced."""
    depth = np.cumsum((kind == _OPEN).astype(np.intp) - (kind == _CLOSE))
    if (depth < 0).any() or (depth[kind == _END] != 0).any() or (depth[kind == _COMMA] < 1).any():
        return None
    found = np.zeros(len(kind), dtype=np.intp)
    some = np.flatnonzero((kind == _OPEN) | (kind == _COMMA) | (kind == _CLOSE))
    level = depth[some] + (kind[some] == _CLOSE)
    order = some[np.argsort(level, kind="stable")]  # the first of each level is a '('
    place = np.where(kind[order] == _OPEN, np.arange(len(order)), 0)
    found[order] = order[np.maximum.accumulate(place)]
    return found


class _Words(NamedTuple):
    names: list[str]
    underscored: list[int]


def _names_of(tokens: list[str], *, quotes: bool) -> _Words | None:
    """The names that some words are, and the positions of those with an underscore outside quotes."""
    if not quotes:
        return _Words(tokens, [i for i, word in enumerate(tokens) if "_" in word])
    names, underscored = [], []
    for i, word in enumerate(tokens):
        if "'" in word:
            if not _QUOTED.fullmatch(word):
                return None
            word = word[1:-1].replace("''", "'")  # noqa: PLW2901 - as written
        elif "_" in word:
            underscored.append(i)
        names.append(word)
    return _Words(names, underscored)
