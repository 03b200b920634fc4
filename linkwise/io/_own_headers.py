"""Tables of knowledge under headers of their own: pairs with a verdict, and samples with their groups."""

from __future__ import annotations

import math

from linkwise._messages import hint
from linkwise._validation import warn_user
from linkwise.constraints import Kind
from linkwise.exceptions import ConstraintError
from linkwise.io._collect_statements import KINDS, Collector
from linkwise.io._columns import MISSING
from linkwise.io._implied_statements import GROUPS, SAMPLES, read_groups, read_paths
from linkwise.io._statements import RULES
from linkwise.io._text import read_rows, shown

# verdicts that say themselves what they mean, and those that mean what their header asks
_SAME = frozenset(
    {"same", "together", "equal", "match", "duplicate", "must_link", "must-link", "link"}
    | {"gleich", "zusammen", "identisch"}
)
_OTHER = frozenset(
    {"different", "apart", "distinct", "cannot_link", "cannot-link", "verschieden", "getrennt", "ungleich"}
)
_YES = frozenset(["yes", "y", "true", "1", "ja", "j", "wahr", "x", "+"])
_NO = frozenset(["no", "n", "false", "0", "nein", "falsch", "-"])
_UNKNOWN = MISSING | frozenset(["unknown", "unsure", "u", "maybe", "unbekannt", "unsicher"])
_TABLES = (".csv", ".tsv", ".xlsx")
Row = tuple[int, list[str]]


def read_own_headers(into: Collector, text: str, keys: list[str], ending: str) -> bool:
    """Read a table whose header linkwise does not know, if its cells leave one meaning; return whether it was read.

    Two names and a verdict make must-links and cannot-links; names of samples beside repeated words make groups, beside
    words with slashes a hierarchy.
    """
    ours = {"kind", "path", "parent"} & set(keys) or (set(SAMPLES) & set(keys) and set(GROUPS) & set(keys))
    if ending not in _TABLES or ours or len(keys) < 2 or len(set(keys)) < len(keys) or "" in keys:
        return False
    rows = [(line, [cell.strip() for cell in cells]) for line, cells in read_rows(text, into.name)]
    rows = [(line, cells) for line, cells in rows if not cells[0].startswith("#")]
    header, rows = rows[0][1], rows[1:]
    if not rows or any(len(cells) != len(keys) for _, cells in rows) or _is_row(into, header):
        return False
    at = next((i for i in range(len(keys)) if len(keys) > 2 and _is_verdict(rows, i, keys[i])), None)
    if at is not None:
        return _read_pairs(into, rows, header, at)
    return len(keys) == 2 and _read_two(into, text, rows, header)


def _is_row(into: Collector, header: list[str]) -> bool:
    """Whether a first line is a row: it names a sample, or a kind of statement."""
    if into.ids is not None and any(cell in into.known for cell in header):
        return True
    return header[0].lower().replace("-", "_") in {*KINDS, *RULES}


def _verdict(cell: str, key: str) -> Kind | None:
    """The kind of link that a cell stands for under a header; None if it is not known."""
    word = cell.lower()
    if word in _SAME or word in _OTHER:
        return Kind.MUST_LINK if word in _SAME else Kind.CANNOT_LINK
    if word in _YES or word in _NO:
        asks_same = key.removeprefix("is_") in _SAME
        return Kind.MUST_LINK if (word in _YES) == asks_same else Kind.CANNOT_LINK
    return None


def _is_verdict(rows: list[Row], at: int, key: str) -> bool:
    """Whether all cells of a column are verdicts; yes and no are only under a header that asks for the one or other."""
    words = {cells[at].lower() for _, cells in rows} - _UNKNOWN
    plain = _SAME | _OTHER
    asks = key.removeprefix("is_") in plain
    return bool(words) and words <= plain | ((_YES | _NO) if asks else frozenset())


def _read_pairs(into: Collector, rows: list[Row], header: list[str], at: int) -> bool:
    """Read two names and a verdict per row."""
    first, second = (i for i in range(len(header)) if i != at) if len(header) == 3 else _two_names(into, rows, at)
    if first < 0:
        return False
    for line, cells in rows:
        a, b, kind = cells[first], cells[second], _verdict(cells[at], header[at].lower())
        if not a or not b:
            into.skip(ConstraintError(f"{into.name}, line {line} names one sample, expected two."))
        elif kind is Kind.CANNOT_LINK and a == b:
            msg = f"{into.name}, line {line}: {shown(a)} cannot be apart from itself."
            into.skip(ConstraintError(msg))
        elif kind is not None:
            into.add(kind, (a, b), math.inf, line)
    warn_user(
        f"{into.name}: read as pairs of {header[first]} and {header[second]}, together or apart as {header[at]} says."
    )
    return True


def _two_names(into: Collector, rows: list[Row], verdict: int) -> tuple[int, int]:
    """The two columns of a wider table that name samples of the data; -1 where there are not exactly two."""
    named = [
        at
        for at in range(len(rows[0][1]))
        if at != verdict and into.ids is not None and all(cells[at] in into.known for _, cells in rows)
    ]
    return (named[0], named[1]) if len(named) == 2 else (-1, -1)


def _read_two(into: Collector, text: str, rows: list[Row], header: list[str]) -> bool:
    """Read samples and their groups; refuse two columns of samples, which may be together or apart."""
    columns = [[cells[at] for _, cells in rows] for at in (0, 1)]
    if into.ids is not None:
        share = [sum(cell in into.known for cell in column) / len(column) for column in columns]
        if min(share) > 0.5:
            both = f"{into.name}: both columns, {header[0]} and {header[1]}, name samples, but not whether they belong"
            advice = "write kind,a,b into the first line, and must_link or cannot_link before each row."
            msg = f"{both} together.\nHint: {advice}"
            raise ConstraintError(msg)
        names = 0 if share[0] >= share[1] else 1
        sure = share[names] > 0.5
    else:
        differ = [len(set(column)) for column in columns]
        names = 0 if differ[0] >= differ[1] else 1
        # a sample may be in two groups by mistake, which its reader says better than a word about headers
        sure = differ[names] == len(rows) or (3 * differ[names] > 2 * len(rows) and 2 * min(differ) <= len(rows))
    groups = [cell for cell in columns[1 - names] if cell.lower() not in MISSING]
    if sure and 2 * sum("/" in cell for cell in groups) > len(groups):
        read_paths(into, text, ["sample", "path"] if names == 0 else ["path", "sample"])
        warn_user(f"{into.name}: {header[1 - names]} was read as paths in a hierarchy, such as {shown(groups[0])}.")
        return True
    if not sure or len(set(groups)) == len(groups) or any("/" in cell for cell in groups):
        return False
    word = header[1 - names]
    meaning = word.lower() if word.lower() in GROUPS else "group"
    read_groups(into, text, ["sample", meaning] if names == 0 else [meaning, "sample"])
    if word.lower() in GROUPS:
        return True
    rename = f"call the column label instead of {word}"
    also = hint(command=f"{rename}, or for a column of the data give --labels {word}", python=rename)
    warn_user(
        f"{into.name}: samples of the same {word} are together; if those of different {word} are apart, too, {also}."
    )
    return True
