"""Pairs of records worth comparing, found by blocks of equal or neighboring values, and how similar two records are."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from linkwise._messages import did_you_mean, many
from linkwise._validation import warn_user
from linkwise.exceptions import LinkwiseError

MOST_IN_BLOCK = 60  # records of one value that are all compared with each other
WINDOW = 6  # records that follow in the order of a column and are compared
_APART = re.compile(r"[\W_]+")
_GONE = frozenset(["", "na", "n a", "nan", "null", "none"])


def plain(value: Any) -> str:
    """A value as it is compared: without case, accents, punctuation and double blanks; "" if it is missing."""
    text = unicodedata.normalize("NFKD", "" if value is None else str(value)).casefold()
    words = _APART.sub(" ", "".join(c for c in text if not unicodedata.combining(c))).strip()
    return "" if words in _GONE else words


class Records:
    """Columns of records as they are compared, with the weight of each."""

    def __init__(self, columns: Mapping[str, Sequence[Any]], compare: Sequence[str]) -> None:
        self.names = tuple(compare)
        self.values = [[plain(value) for value in columns[name]] for name in compare]
        self.weights = [_rarity(values) for values in self.values]
        self._parts: list[dict[str, frozenset[str]]] = [{} for _ in compare]

    def similarity(self, i: int, j: int) -> float:
        """The weighted mean similarity over the columns that both records have; 0 if there is none."""
        total = weight = 0.0
        for column, rarity in enumerate(self.weights):
            alike = self.alike(column, i, j)
            if alike is not None:
                total += rarity * alike
                weight += rarity
        return total / weight if weight else 0.0

    def alike(self, column: int, i: int, j: int) -> float | None:
        """The share of letter triples that two values have in common (Dice); None where one is missing."""
        a, b = self.values[column][i], self.values[column][j]
        if not a or not b:
            return None
        if a == b:
            return 1.0
        first, second = self._triples(column, a), self._triples(column, b)
        return 2 * len(first & second) / (len(first) + len(second))

    def _triples(self, column: int, value: str) -> frozenset[str]:
        known = self._parts[column]
        found = known.get(value)
        if found is None:
            padded = f" {value} "
            found = known[value] = frozenset(padded[at : at + 3] for at in range(len(padded) - 2))
        return found


def _rarity(values: Sequence[str]) -> float:
    """How much an agreement says: minus the logarithm of the probability that two records agree by chance."""
    counts = Counter(value for value in values if value)
    n = sum(counts.values())
    if n < 2:
        return 0.0
    chance = sum(count * (count - 1) for count in counts.values()) / (n * (n - 1))
    return -math.log(max(chance, 1 / (n * n)))


def candidate_pairs(columns: Mapping[str, Sequence[Any]], block: Sequence[str]) -> list[tuple[int, int]]:
    """Pairs of records that are equal in a column of ``block``, or near in one written with ``~`` before it.

    Near are records that follow each other, up to `WINDOW` places, when the values are sorted: by their words in the
    order of the alphabet, and by their letters from the end. So a slip anywhere leaves them near in one of the two. A
    value of more than `MOST_IN_BLOCK` records is not evidence; its records are only compared along sorted order.
    """
    found: set[tuple[int, int]] = set()
    for one in block:
        near, name = one.startswith("~"), one.removeprefix("~")
        values = [plain(value) for value in columns[name]]
        if near:
            _add_neighbors(found, [" ".join(sorted(value.split())) for value in values])
            _add_neighbors(found, [value[::-1] for value in values])
            continue
        members: dict[str, list[int]] = {}
        for row, value in enumerate(values):
            if value:
                members.setdefault(value, []).append(row)
        large = {value: rows for value, rows in members.items() if len(rows) > MOST_IN_BLOCK}
        for value, rows in members.items():
            if value not in large:
                found.update((i, j) for at, i in enumerate(rows) for j in rows[at + 1 :])
        if large:
            value, rows = max(large.items(), key=lambda item: len(item[1]))
            warn_user(
                f"{name} {value!r} is in {len(rows):,} records"
                + (
                    f", and {many(len(large) - 1, 'other value')} in more than {MOST_IN_BLOCK}"
                    if len(large) > 1
                    else ""
                )
                + "; being equal there is no reason to compare records."
            )
    return sorted(found)


def _add_neighbors(found: set[tuple[int, int]], keys: Sequence[str]) -> None:
    order = sorted((row for row, key in enumerate(keys) if key), key=lambda row: (keys[row], row))
    for at, i in enumerate(order):
        found.update((min(i, j), max(i, j)) for j in order[at + 1 : at + 1 + WINDOW])


def require_columns(columns: Mapping[str, Sequence[Any]], wanted: Sequence[str], what: str) -> None:
    """Refuse names of columns that the records do not have."""
    for one in wanted:
        name = one.removeprefix("~")
        if name not in columns:
            other = did_you_mean(name, columns, f"the records have {', '.join(map(str, columns))}.")
            msg = f"{what} names the column {name!r}, which the records do not have.\nHint: {other}"
            raise LinkwiseError(msg)
