"""`group_records`: records of the same thing, found among pairs that blocks propose, under constraints."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from linkwise._data_frames import read_frame
from linkwise._messages import hint, many
from linkwise._typing import IntArray
from linkwise._validation import read_number
from linkwise.constraints import LINKS, Constraints, Kind
from linkwise.exceptions import LinkwiseError, UnsupportedConstraintError
from linkwise.problem import Problem, check
from linkwise.result import Certificate, verify
from linkwise.selection._record_pairs import Records, candidate_pairs, require_columns

_LIKE = 0.7  # similarity from which a value that differs is called similar


@dataclass(frozen=True)
class Evidence:
    """Why a record is in its group: the most similar other record, and how each column compares.

    Attributes
    ----------
    record, other : int
        The record, and the one of its group that is most similar.
    similarity : float
        How similar the two are, from 0 to 1.
    agree, similar, differ : tuple of str
        The columns that both have, by how they compare.

    Examples
    --------
    >>> from linkwise.selection import group_records
    >>> found = group_records({"name": ["Ann Lee", "Ann Lea"], "city": ["Graz", "Graz"]}, block=["city"], threshold=0.5)
    >>> found.evidence([0, 1])[0].agree
    ('city',)
    """

    record: int
    other: int
    similarity: float
    agree: tuple[str, ...]
    similar: tuple[str, ...]
    differ: tuple[str, ...]

    def __str__(self) -> str:
        parts = [
            f"{word} {', '.join(names)}"
            for word, names in (("same", self.agree), ("similar", self.similar), ("other", self.differ))
            if names
        ]
        return f"{self.similarity:.2f}: {'; '.join(parts)}"


@dataclass(frozen=True, eq=False)
class RecordGroups:
    """The groups that `group_records` found.

    Attributes
    ----------
    labels : ndarray of shape (n_records,)
        Group of every record, numbered by first appearance; a record without a duplicate is a group of its own.
    certificate : Certificate
        The independent check of every statement.
    n_compared : int
        Pairs that were compared, of all ``n (n - 1) / 2``.
    weights : dict
        How much each column counts: minus the logarithm of the probability that two records agree in it by chance.
    names : tuple of str
        What the records are called.

    Examples
    --------
    >>> from linkwise.selection import group_records
    >>> found = group_records({"mail": ["a@x.org", "b@x.org", "A@x.org"]}, block=["mail"])
    >>> found.groups(), found.n_groups, found.n_duplicates
    ([[0, 2]], 2, 1)
    """

    labels: IntArray
    certificate: Certificate
    n_compared: int
    weights: dict[str, float]
    names: tuple[str, ...]
    _records: Records

    @property
    def n_groups(self) -> int:
        """How many groups there are, with those of one record."""
        return int(self.labels.max(initial=-1)) + 1

    @property
    def n_duplicates(self) -> int:
        """How many records repeat another one: records less groups."""
        return len(self.labels) - self.n_groups

    def groups(self) -> list[list[int]]:
        """The records of each group of two or more, the largest group first."""
        order = np.argsort(self.labels, kind="stable")
        parts = np.split(order, np.flatnonzero(np.diff(self.labels[order])) + 1)
        return sorted((part.tolist() for part in parts if len(part) > 1), key=lambda rows: (-len(rows), rows))

    def evidence(self, group: Sequence[int]) -> list[Evidence]:
        """Compare each record of a group with the one of it that is most similar."""
        found = []
        for i in group:
            j = max((j for j in group if j != i), key=lambda j: (self._records.similarity(i, j), -j))
            agree: list[str] = []
            similar: list[str] = []
            differ: list[str] = []
            for column, name in enumerate(self._records.names):
                alike = self._records.alike(column, i, j)
                if alike is not None:
                    (agree if alike == 1 else similar if alike >= _LIKE else differ).append(name)
            similarity = self._records.similarity(i, j)
            found.append(Evidence(i, j, similarity, tuple(agree), tuple(similar), tuple(differ)))
        return found

    def __str__(self) -> str:
        n = len(self.labels)
        verb = "repeats another" if self.n_duplicates == 1 else "repeat others"
        again = f"{many(self.n_duplicates, 'record')} {verb}, in {many(len(self.groups()), 'group')}"
        lines = [
            f"{many(n, 'record')} in {many(self.n_groups, 'group')}: {again}.",
            f"{self.n_compared:,} of {n * (n - 1) // 2:,} pairs were compared.",
        ]
        if self.certificate.held.size:
            lines.append(str(self.certificate))
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"RecordGroups({many(len(self.labels), 'record')} in {many(self.n_groups, 'group')})"


def group_records(
    columns: Any,
    constraints: Constraints | None = None,
    *,
    block: Sequence[str],
    compare: Sequence[str] | None = None,
    threshold: float = 0.7,
) -> RecordGroups:
    """Group records that are about the same thing, without a number of groups and without comparing all pairs.

    Parameters
    ----------
    columns : mapping of str to sequence, data frame, or Table
        The columns of the records, compared as text; or what `linkwise.io.read_records` read.
    constraints : Constraints, optional
        Hard pairs and groups, such as "the same customer number belongs together" and "at most one of each source".
    block : sequence of str
        Columns that propose pairs: records that are equal in one of them are compared, and so are records that are near
        in a column with ``~`` before its name. Pairs that no column proposes are not compared.
    compare : sequence of str, optional
        Columns that decide how similar two records are; by default all.
    threshold : float, default=0.7
        Two groups are joined if the mean similarity of their records is at least this, from 0 to 1.

    Returns
    -------
    RecordGroups

    Notes
    -----
    Values are compared without case, accents and punctuation, by the letter triples that they share; a column counts
    with minus the logarithm of the probability that two records agree in it by chance, as in [1]_, and columns that one
    of the two does not have do not count. The most similar groups are joined first (average linkage), among those with
    a proposed pair between them. **Cost** O(p log p) for p proposed pairs: at most 60 for each record and column of
    equal values and 12 for one of near values. **Guarantee** every hard statement holds.

    References
    ----------
    .. [1] I. P. Fellegi, A. B. Sunter, "A Theory for Record Linkage", JASA 64, 1969.

    Examples
    --------
    >>> from linkwise.selection import group_records
    >>> people = {
    ...     "name": ["Ann Lee", "Lee, Ann", "Bob Ray", "Rob Ray", "Cy Dow"],
    ...     "mail": ["ann@x.org", "", "ray@y.org", "ray@y.org", "cy@z.org"],
    ... }
    >>> found = group_records(people, block=["mail", "~name"], threshold=0.6)
    >>> found.labels.tolist()
    [0, 0, 1, 1, 2]
    >>> print(found.evidence([2, 3])[0])
    0.82: same mail; similar name
    """
    names: Sequence[str] | None = None
    if hasattr(columns, "beside"):
        names, columns = [str(name) for name in columns.ids.tolist()], columns.beside
    elif not isinstance(columns, Mapping):
        frame = read_frame("group_records", columns, "columns by name, a data frame or a Table of `read_records`")
        columns = {name: frame[name].to_list() for name in frame.columns}
    given = {str(name): list(values) for name, values in columns.items()}
    sizes = {len(values) for values in given.values()}
    if len(sizes) != 1:
        msg = f"group_records: columns have {sorted(sizes)} values, expected equally many, and one column or more."
        raise LinkwiseError(msg)
    n = sizes.pop()
    option = hint(command="--block", python="group_records: block")
    require_columns(given, block, option)
    if not block:
        msg = f"{option} names no column, expected one or more that propose pairs, such as email or ~name."
        raise LinkwiseError(msg)
    chosen = list(given) if compare is None else list(compare)
    require_columns(given, chosen, hint(command="--compare", python="group_records: compare"))
    least = read_number(threshold, "threshold", "group_records")
    if not 0 < least <= 1:
        msg = f"group_records: threshold is {threshold!r}, expected a similarity above 0 and up to 1."
        raise LinkwiseError(msg)
    known = _require_links(constraints, n)
    records = Records(given, chosen)
    pairs = candidate_pairs(given, block)
    labels = _Merging(records, known, least).run(pairs)
    called = tuple(map(str, range(n))) if names is None else tuple(names)
    weights = dict(zip(records.names, records.weights, strict=True))
    return RecordGroups(labels, verify(labels, known), len(pairs), weights, called, records)


def _require_links(constraints: Constraints | None, n: int) -> Constraints:
    """Refuse statements that groups of records cannot obey."""
    known = Constraints.build(n) if constraints is None else constraints
    if known.n_samples != n:
        msg = f"group_records: the constraints are about {known.n_samples:,} samples, but there are {n:,} records."
        raise LinkwiseError(msg)
    others = {Kind(kind) for kind in np.unique(known.kind).tolist()} - LINKS
    if others or known.rules or not known.is_hard.all():
        what = ", ".join(sorted(kind.word for kind in others)) or ("rules" if known.rules else "soft statements")
        msg = f"group_records takes hard must-links, cannot-links and groups, but the constraints hold {what}."
        raise UnsupportedConstraintError(msg, tuple(kind.word for kind in others))
    check(known).raise_if_infeasible()
    return known


class _Merging:
    """Groups of records that grow, with the similarities between those that a pair joins."""

    def __init__(self, records: Records, known: Constraints, threshold: float) -> None:
        self.records, self.threshold = records, threshold
        self.of = Problem(
            np.empty((known.n_samples, 0)), known, who="group_records"
        ).group.tolist()  # the group each record began in
        self.members: dict[int, list[int]] = {}
        for record, start in enumerate(self.of):
            self.members.setdefault(start, []).append(record)
        self.rivals: dict[int, set[int]] = {start: set() for start in self.members}
        self.sets: dict[int, set[int]] = {start: set() for start in self.members}
        for a, b in known.of(Kind.CANNOT_LINK).tolist():
            self.rivals[self.of[a]].add(self.of[b])
            self.rivals[self.of[b]].add(self.of[a])
        apart = known.groups_of(Kind.APART)
        for number in range(len(apart.statement)):
            for record in apart.of(number).tolist():
                self.sets[self.of[record]].add(number)

    def run(self, pairs: Sequence[tuple[int, int]]) -> IntArray:
        """Join groups, the most similar first, and return the group of each record."""
        self.total: dict[int, dict[int, float]] = {start: {} for start in self.members}
        for i, j in pairs:
            a, b = self.of[i], self.of[j]
            if a != b and b not in self.total[a]:
                self._connect(a, b, self._sum(a, b))
        self.heap: list[tuple[float, int, int, float]] = []
        for a, others in self.total.items():
            for b, total in others.items():
                if a < b:
                    self._push(a, b, total)
        while self.heap:
            _, a, b, total = heapq.heappop(self.heap)
            if a in self.members and b in self.members and self.total[a].get(b) == total and not self._barred(a, b):
                self._join(a, b)
        labels = np.empty(len(self.of), dtype=np.intp)
        for start, rows in self.members.items():
            labels[rows] = start
        _, first, where = np.unique(labels, return_index=True, return_inverse=True)
        rank = np.empty(len(first), dtype=np.intp)
        rank[np.argsort(first, kind="stable")] = np.arange(len(first))
        return rank[where]

    def _sum(self, a: int, b: int) -> float:
        similarity = self.records.similarity
        return sum(similarity(i, j) for i in self.members[a] for j in self.members[b])

    def _connect(self, a: int, b: int, total: float) -> None:
        self.total[a][b] = self.total[b][a] = total

    def _push(self, a: int, b: int, total: float) -> None:
        mean = total / (len(self.members[a]) * len(self.members[b]))
        if mean >= self.threshold and not self._barred(a, b):
            heapq.heappush(self.heap, (-mean, min(a, b), max(a, b), total))

    def _barred(self, a: int, b: int) -> bool:
        return b in self.rivals[a] or not self.sets[a].isdisjoint(self.sets[b])

    def _join(self, a: int, b: int) -> None:
        """Put group b into group a."""
        others = (self.total[a].keys() | self.total[b].keys()) - {a, b}
        sums = {}
        for c in others:
            parts = [self.total[one].get(c) for one in (a, b)]
            sums[c] = sum(self._sum(one, c) if part is None else part for one, part in zip((a, b), parts, strict=True))
        self.members[a] += self.members.pop(b)
        for c in self.rivals.pop(b):
            self.rivals[c].discard(b)
            self.rivals[c].add(a)
            self.rivals[a].add(c)
        self.sets[a] |= self.sets.pop(b)
        for c in self.total.pop(b):
            self.total[c].pop(b, None)
        for c, total in sums.items():
            self._connect(a, c, total)
            self._push(a, c, total)
