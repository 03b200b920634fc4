"""Disjunctions of links: at least one of several must-links and cannot-links holds.

A disjunction is a group with two members for each of its links: the smaller sample first says "together", the larger
first says "apart". Outside of tables a link is a tuple such as ``("must_link", 4, 9)``; in files and frames the words
stand in the kind, as in ``must_link or cannot_link``, and the samples in one list.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from linkwise._typing import BoolArray, IntArray
from linkwise.constraints._groups import Groups, gather
from linkwise.constraints._kinds import Kind, read_numbers, trivial
from linkwise.exceptions import ConstraintError, LinkwiseWarning

T = TypeVar("T")
_LINKS = (Kind.CANNOT_LINK.word, Kind.MUST_LINK.word)  # by whether the samples belong together
_HINT = 'Hint: write either=[[("must_link", 0, 1), ("cannot_link", 2, 3)]] for one disjunction of two links.'


class Links(NamedTuple):
    """The links of several disjunctions as they were given: the disjunction of each, its word and its two samples."""

    rows: int
    owner: list[int]
    is_must: list[bool]
    ends: list[Any]  # two for each link

    def placed(self, found: IntArray) -> list[list[tuple[str, int, int]]]:
        """Return the disjunctions with other values for ``ends``."""
        rows: list[list[tuple[str, int, int]]] = [[] for _ in range(self.rows)]
        pairs = found.reshape(-1, 2).tolist()
        for owner, is_must, (a, b) in zip(self.owner, self.is_must, pairs, strict=True):
            rows[owner].append((_LINKS[is_must], a, b))
        return rows


def parse_links(given: Any) -> Links:
    """Read lists of links; the values that name samples are not checked."""
    links = Links(0, [], [], [])
    if given is None:
        return links
    if _is_flat(given):
        msg = f"either is {type(given).__name__}, expected a list of disjunctions, each a list of links.\n{_HINT}"
        raise ConstraintError(msg)
    count = 0
    for row in given:
        if _is_flat(row):
            msg = f"either holds {row!r}, expected disjunctions, each a list of links.\n{_HINT}"
            raise ConstraintError(msg)
        for link in row:
            parts = () if _is_flat(link) else tuple(link)
            if len(parts) != 3 or not (isinstance(parts[0], str) and parts[0] in _LINKS):
                msg = f"either (row {count}) holds {link!r}, expected links such as ('must_link', 0, 1).\n{_HINT}"
                raise ConstraintError(msg)
            links.owner.append(count)
            links.is_must.append(parts[0] == Kind.MUST_LINK.word)
            links.ends.extend(parts[1:])
        count += 1
    return links._replace(rows=count)


def _is_flat(value: Any) -> bool:
    return isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Iterable)


def read_disjunctions(given: Any, n_samples: int, name: Callable[[int], str] = str) -> tuple[BoolArray, Groups]:
    """Read lists of links; return a mask without the trivial ones, and the others as groups numbered by position.

    A link between a sample and itself either holds or cannot hold, so that it decides the disjunction or goes.
    """
    links = parse_links(given)
    values = np.asarray(links.ends) if links.ends else np.empty(0, dtype=np.intp)
    if values.dtype.kind in "iu" and {bool, np.bool_} & set(map(type, links.ends)):
        values = np.array(links.ends, dtype=object)
    owner, is_must = np.array(links.owner, dtype=np.intp), np.array(links.is_must, dtype=np.bool_)
    pair = read_numbers(Kind.EITHER.word, values, n_samples, np.repeat(owner, 2)).reshape(-1, 2)
    itself = pair[:, 0] == pair[:, 1]
    always = np.zeros(links.rows, dtype=np.bool_)
    always[owner[itself & is_must]] = True
    possible = np.bincount(owner[~itself], minlength=links.rows) > 0
    if (~always & ~possible).any():
        row = int(np.flatnonzero(~always & ~possible)[0])
        own = [name(int(sample)) for sample in pair[owner == row, 0]]
        said = f"only cannot_link({own[0]}, {own[0]}), which never holds" if own else "no links"
        msg = f"either (row {row}) has {said}, expected at least one link that can hold.\n{_HINT}"
        raise ConstraintError(msg)
    owner, is_must, pair = owner[~itself], is_must[~itself], pair[~itself]
    member = orient(pair, is_must)
    order = np.lexsort((member[:, 1], member[:, 0], owner))
    owner, member = owner[order], member[order]
    new = np.ones(len(order), dtype=np.bool_)
    new[1:] = (owner[1:] != owner[:-1]) | (member[1:] != member[:-1]).any(axis=1)
    owner, member = owner[new], member[new]
    low, high = member.min(axis=1), member.max(axis=1)
    order = np.lexsort((high, low, owner))
    both = (owner[order[1:]] == owner[order[:-1]]) & (low[order[1:]] == low[order[:-1]])
    both &= high[order[1:]] == high[order[:-1]]
    always[owner[order[1:]][both]] = True
    if always.any():
        form = "either with a must_link(i, i), or with both links of one pair,"
        warnings.warn(trivial(int(always.sum()), form), LinkwiseWarning, stacklevel=4)
    stay = ~always[owner]
    sizes = 2 * np.bincount(owner[stay], minlength=links.rows)[~always]
    return ~always, gather(np.flatnonzero(~always), sizes, member[stay].ravel())


def orient(pair: IntArray, is_must: BoolArray) -> IntArray:
    """Put the smaller sample of a must-link first, and the larger of a cannot-link."""
    low, high = pair.min(axis=1), pair.max(axis=1)
    return np.column_stack([np.where(is_must, low, high), np.where(is_must, high, low)])


# -- in words ------------------------------------------------------------------------------------------------------


def links_of(members: Sequence[int] | IntArray) -> list[tuple[str, int, int]]:
    """Return the links of one disjunction, smaller samples first, from the members of its group."""
    ends = [int(sample) for sample in members]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return [(_LINKS[a < b], min(a, b), max(a, b)) for a, b in pairs]


def write_links(links: Sequence[tuple[str, T, T]]) -> tuple[str, list[T]]:
    """Return the kind and the list of samples by which files and frames say a disjunction."""
    said = [*links, links[0]] if len(links) == 1 else links
    return " or ".join(word for word, _, _ in said), [sample for _, a, b in said for sample in (a, b)]


def links_said(kind: str, samples: Sequence[T]) -> list[tuple[str, T, T]] | None:
    """Return the links of a disjunction from its kind and samples; None if the kind is of another sort."""
    words = kind.replace(" or ", "_or_").split("_or_")
    if len(words) < 2 or not set(words) <= set(_LINKS):
        return None
    if len(samples) != 2 * len(words):
        msg = f"{' or '.join(words)} names {len(samples)} samples, expected {2 * len(words)}: two for each link."
        raise ConstraintError(msg)
    return [(word, samples[2 * i], samples[2 * i + 1]) for i, word in enumerate(words)]
