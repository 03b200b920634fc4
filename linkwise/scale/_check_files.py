"""`check_files`: can the pairs in files of any size hold? With each contradiction and the must-links behind it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._kernels.disjoint_set import components
from linkwise._memory import require_memory
from linkwise._messages import many
from linkwise._validation import read_count
from linkwise.constraints import Constraints, Kind
from linkwise.engines import current_progress
from linkwise.exceptions import ConstraintError, ScaleError
from linkwise.problem import check
from linkwise.scale._kernels_gate import (
    SPAN,
    Bits,
    Longs,
    Slots,
    color_back,
    find_roots,
    join,
    mark,
    neighbor_lists,
    peel,
    rank,
    steps_up,
)
from linkwise.scale._statement_files import Pairs, read_pairs, statement_paths

_MOST_BITS = 2**33  # names of 0 to this are numbered by one bit each
_MOST_NAMES = 2**31 - 1
_STEP = 2**22  # edges looked at at once
_SHOWN = 3  # contradictions, and must-links at either end of a way, that are written out
_ONES: Bits = np.array([int(byte).bit_count() for byte in range(256)], dtype=np.uint8)


class StatementRow(NamedTuple):
    """A row of a file of statements, counted from 0, and the two samples that it names.

    Examples
    --------
    >>> from linkwise.scale import StatementRow
    >>> print(StatementRow("said.csv", 4, "ann", "bob"))
    said.csv, row 4 (ann, bob)
    """

    file: str
    row: int
    a: Any
    b: Any

    def __str__(self) -> str:
        return f"{self.file}, row {self.row:,} ({self.a}, {self.b})"


@dataclass(frozen=True)
class Contradiction:
    """A cannot-link between two samples that must-links join.

    Attributes
    ----------
    cannot_link : StatementRow
        The cannot-link.
    must_links : tuple of StatementRow
        Must-links that lead from its first sample to its second, in this order. Often there are other ways as well.

    Examples
    --------
    >>> from linkwise.scale import Contradiction, StatementRow
    >>> way = (StatementRow("said.csv", 0, 1, 2), StatementRow("said.csv", 1, 2, 3))
    >>> print(Contradiction(StatementRow("said.csv", 2, 1, 3), way))
    cannot_link said.csv, row 2 (1, 3), but must-links join them: said.csv, row 0 (1, 2); said.csv, row 1 (2, 3)
    """

    cannot_link: StatementRow
    must_links: tuple[StatementRow, ...]

    def __str__(self) -> str:
        way = [str(link) for link in self.must_links]
        if len(way) > 2 * _SHOWN:
            between = many(len(way) - 2 * _SHOWN, "must-link") + " between"
            way = [*way[:_SHOWN], between, *way[-_SHOWN:]]
        return f"cannot_link {self.cannot_link}, but must-links join them: {'; '.join(way)}"


@dataclass(frozen=True)
class FilesVerdict:
    """Whether the pairs in some files can all hold.

    Attributes
    ----------
    status : {"feasible", "infeasible", "unknown"}
        The answer; "unknown" only for a number of clusters.
    because : str
        The reason.
    n_must_links, n_cannot_links : int
        Rows of either kind.
    n_contradictions : int
        Cannot-links between samples that must-links join.
    contradictions : tuple of Contradiction
        These, in the order of rows, as many as were asked for.
    conflict : tuple of StatementRow
        Cannot-links that together need more clusters than there are, if that is the reason.

    Examples
    --------
    >>> from linkwise.scale import FilesVerdict
    >>> FilesVerdict("feasible", "no cannot-link joins samples that must-links join.", 4, 2).ok
    True
    """

    status: str
    because: str
    n_must_links: int
    n_cannot_links: int
    n_contradictions: int = 0
    contradictions: tuple[Contradiction, ...] = ()
    conflict: tuple[StatementRow, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether all statements can hold."""
        return self.status == "feasible"

    def __str__(self) -> str:
        said = f"{many(self.n_must_links, 'must-link')} and {many(self.n_cannot_links, 'cannot-link')}"
        can = {"feasible": "can all hold", "infeasible": "cannot all hold", "unknown": "were not decided"}[self.status]
        lines = [f"{said} {can}: {self.because}", *(f"  {one}" for one in self.contradictions[:_SHOWN])]
        if self.n_contradictions > _SHOWN:
            lines.append(f"  and {self.n_contradictions - _SHOWN:,} more")
        return "\n".join([*lines, *(f"  cannot_link {row}" for row in self.conflict[:_SHOWN])])


def check_files(
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    n_clusters: int | None = None,
    *,
    n_rows: int | None = None,
    most: int = 1_000,
) -> FilesVerdict:
    r"""Decide whether the must-links and cannot-links in files can all hold, and list contradictions with proofs.

    Parameters
    ----------
    files : str, path or sequence of these
        Parquet or CSV files with columns kind, a, b; ``kind`` is ``must_link`` or ``cannot_link``, samples are row
        numbers or names.
    n_clusters : int, optional
        Ask for a clustering with this number of clusters; default: any number.
    n_rows : int, optional
        The number of samples, named or not. Row numbers beyond are refused, and so are more clusters than groups.
    most : int, default=1000
        Contradictions that are written out; all are counted.

    Returns
    -------
    FilesVerdict

    See Also
    --------
    linkwise.check : the same for a table in memory, of all kinds of statements.

    Notes
    -----
    Files are read batch by batch: once for the names, once for the must-links, once for the cannot-links. Must-links
    are joined in a union-find beside which each join keeps its row, so the must-links between any two samples can be
    listed. With ``n_clusters`` groups with fewer than ``n_clusters`` others to be apart from are taken away again and
    again, since they always find a cluster; what is left, often nothing, is decided by `linkwise.check`.

    **Cost** near-linear; 12 to 16 bytes for each sample that a must-link names, and one bit for each row where samples
    are row numbers below 2^33, else the names themselves. With ``n_clusters`` all samples named count, and 16 bytes
    for each cannot-link besides. **Guarantee** exact, unless the status is "unknown"; a number of clusters is called
    possible after clusters were found and every cannot-link was compared with them.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from linkwise.scale import check_files
    >>> with tempfile.TemporaryDirectory() as place:
    ...     file = Path(place, "said.csv")
    ...     _ = file.write_text("kind,a,b\nmust_link,1,2\nmust_link,2,3\ncannot_link,1,3\n")
    ...     verdict = check_files(file)
    >>> verdict.status, [row.row for row in verdict.contradictions[0].must_links]
    ('infeasible', [0, 1])
    """
    k = None if n_clusters is None else read_count(n_clusters, "n_clusters", "scale.check_files", low=1)
    gate = _Gate(statement_paths(files, "scale.check_files"), n_rows, everything=k is not None)
    if not gate.n_must and k is None:
        return gate.verdict("feasible", "there is no must-link.")
    gate.join_must_links()
    found = gate.contradictions(most)
    if found[0]:
        return gate.verdict(
            "infeasible", f"{many(found[0], 'cannot-link')} between samples that must-links join.", *found
        )
    if k is None:
        return gate.verdict("feasible", "no cannot-link is between samples that must-links join.")
    return gate.decide(k)


class _Gate:
    """The names in some files, numbered, and what must-links join."""

    def __init__(self, paths: list[str], n_rows: int | None, *, everything: bool) -> None:
        self.paths, self.n_rows = paths, n_rows
        self.begin: dict[str, int] = {}
        self.n_must = self.n_cannot = self.total = self.read = 0
        self.passes = 4 if everything else 2  # after the one that numbers names
        self._number(everything)
        wide = np.int64 if self.total >= 2**31 else np.int32
        require_memory(
            len(self.names) * (8 + np.dtype(wide).itemsize),
            f"joining {many(len(self.names), 'sample')} by must-links",
            "fewer statements, or a machine with more memory.",
        )
        self.above: Slots = np.full(len(self.names), -1, dtype=np.int32)
        self.proof: Slots = np.full(len(self.names), -1, dtype=np.int32)
        self.proof_row = np.full(len(self.names), -1, dtype=wide)

    # -- reading -----------------------------------------------------------------------------------------------------

    def _number(self, everything: bool) -> None:
        """Count rows, and number the names of must-links, or of all statements."""
        words = False
        bits = _BitNames()
        sorted_ = _SortedNames()
        for batch in read_pairs(self.paths):
            self.begin.setdefault(batch.file, self.total)
            self.total += len(batch.kind)
            must = int((batch.kind == Kind.MUST_LINK).sum())
            self.n_must += must
            self.n_cannot += len(batch.kind) - must
            ends = batch.ends
            if ends.dtype.kind == "i":
                self._require_rows(batch)
            elif not words:
                words = True
                sorted_.take_over(bits)
            ends = (ends if everything else ends[batch.kind == Kind.MUST_LINK]).ravel()
            if words:
                sorted_.add(ends.astype(str))
            elif sorted_.parts or not bits.add(ends):
                sorted_.take_over(bits, str_=False)
                sorted_.add(ends)
        self.names: _BitNames | _SortedNames = sorted_ if sorted_.parts else bits
        self.names.finish()
        if len(self.names) > _MOST_NAMES:
            msg = f"the statements name {len(self.names):,} samples, and at most {_MOST_NAMES:,} can be told apart."
            raise ScaleError(msg)

    def _require_rows(self, batch: Pairs) -> None:
        if self.n_rows is None:
            return
        bad = np.flatnonzero(((batch.ends < 0) | (batch.ends >= self.n_rows)).any(axis=1))
        if len(bad):
            pair = ", ".join(str(end) for end in batch.ends[bad[0]])
            msg = (
                f"{batch.file}, row {batch.first + int(bad[0]):,} is about rows {pair}, but the data have rows 0 to "
                f"{self.n_rows - 1:,}.\nHint: statements hold row numbers."
            )
            raise ConstraintError(msg)

    def pairs(self, kind: Kind) -> Iterator[tuple[Slots, Slots, Longs, Pairs]]:
        """The pairs of a kind batch by batch: their numbers, or -1, their rows among all files, and the batch."""
        report = current_progress()
        for batch in read_pairs(self.paths):
            at = np.flatnonzero(batch.kind == kind)
            ends = batch.ends[at]
            yield (
                self.names.number(ends[:, 0]),
                self.names.number(ends[:, 1]),
                at + (self.begin[batch.file] + batch.first),
                batch,
            )
            self.read += len(batch.kind)
            if report is not None:
                report(self.read, self.passes * self.total)

    def join_must_links(self) -> None:
        """Join what must-links join."""
        for first, second, rows, _ in self.pairs(Kind.MUST_LINK):
            join(self.above, self.proof, self.proof_row, first, second, rows)

    def _roots(self, names: Slots) -> Slots:
        found = np.empty(len(names), dtype=np.int32)
        find_roots(self.above, names, found)
        return found

    # -- contradictions ----------------------------------------------------------------------------------------------

    def contradictions(self, most: int) -> tuple[int, tuple[Contradiction, ...]]:
        """Count cannot-links inside a set of must-links, and list the first of them with a way between their ends."""
        count = 0
        kept: list[tuple[StatementRow, Longs]] = []
        for first, second, rows, batch in self.pairs(Kind.CANNOT_LINK):
            one = self._roots(first)
            bad = np.flatnonzero((one == self._roots(second)) & (one >= 0))
            for i in bad[: most - len(kept)].tolist():
                at = int(rows[i]) - self.begin[batch.file] - batch.first
                row = StatementRow(batch.file, batch.first + at, *batch.ends[at].tolist())
                kept.append((row, self._way(int(first[i]), int(second[i]))))
            count += len(bad)
        link = self._rows_of(np.concatenate([way for _, way in kept])) if kept else {}
        return count, tuple(
            Contradiction(row, _in_direction(row.a, [link[at] for at in way.tolist()])) for row, way in kept
        )

    def _way(self, a: int, b: int) -> Longs:
        """The rows of the must-links between two samples of a set, in order."""
        ways: tuple[list[int], list[int]] = ([], [])
        ends = [a, b]
        depth = [int(steps_up(self.proof, a)), int(steps_up(self.proof, b))]
        while ends[0] != ends[1]:
            side = 0 if depth[0] >= depth[1] else 1
            ways[side].append(int(self.proof_row[ends[side]]))
            ends[side] = int(self.proof[ends[side]])
            depth[side] -= 1
        return np.array(ways[0] + ways[1][::-1], dtype=np.int64)

    def _rows_of(self, wanted: Longs) -> dict[int, StatementRow]:
        """Read some rows again, by their number among all files."""
        wanted, found = np.unique(wanted), {}
        for batch in read_pairs(self.paths):
            begin = self.begin[batch.file] + batch.first
            low, high = np.searchsorted(wanted, [begin, begin + len(batch.kind)])
            for at in wanted[low:high].tolist():
                ends = batch.ends[at - begin].tolist()
                found[at] = StatementRow(batch.file, at - self.begin[batch.file], *ends)
        return found

    # -- a number of clusters ----------------------------------------------------------------------------------------

    def decide(self, k: int) -> FilesVerdict:
        """Decide whether k clusters suffice, after no contradiction was found."""
        del self.proof, self.proof_row
        count = int((self.above < 0).sum())
        if self.n_rows is not None and self.n_rows - len(self.names) + count < k:
            apart = self.n_rows - len(self.names) + count
            return self.verdict("infeasible", f"must-links leave {many(apart, 'group')}, fewer than {k:,} clusters.")
        vertex: Slots = np.cumsum(self.above < 0, dtype=np.int32)  # of roots; other names are looked up by theirs
        vertex -= 1
        require_memory(
            16 * self.n_cannot,
            f"comparing {many(self.n_cannot, 'cannot-link')} with {many(k, 'cluster')}",
            "n_clusters=None asks for contradictions only.",
        )
        codes: Longs = np.empty(self.n_cannot, dtype=np.int64)
        filled = 0
        for u, v, _ in self._between(vertex):
            codes[filled : filled + len(u)] = np.minimum(u, v).astype(np.int64) * count + np.maximum(u, v)
            filled += len(u)
        codes.sort()
        if len(codes):
            codes = codes[np.concatenate([[True], codes[1:] != codes[:-1]])]
        start = np.zeros(count + 2, dtype=np.int64)
        adjacent: Slots = np.empty(2 * len(codes), dtype=np.int32)
        neighbor_lists(codes, count, start, adjacent)
        del codes
        start = start[: count + 1]
        degree, order = np.empty(count, dtype=np.int32), np.empty(count, dtype=np.int32)
        peeled = int(peel(start, adjacent, k, degree, order))
        color: Slots = np.full(count, -1, dtype=np.int32)
        if peeled < count:
            refused = self._color_core(start, adjacent, degree >= 0, color, k, vertex)
            if refused is not None:
                return refused
        color_back(start, adjacent, order[:peeled], color, k)
        for u, v, _ in self._between(vertex):
            if (color[u] == color[v]).any() or (color[u] >= k).any() or (color[v] >= k).any():
                msg = "the clusters found break a cannot-link.\nHint: this is a fault of linkwise; please report it."
                raise ScaleError(msg)
        used = int(color.max(initial=0)) + 1
        return self.verdict(
            "feasible",
            f"{many(used, 'cluster')} {'keeps' if used == 1 else 'keep'} all cannot-links, and {k:,} were asked for.",
        )

    def _between(self, vertex: Slots) -> Iterator[tuple[Slots, Slots, Longs]]:
        for first, second, rows, _ in self.pairs(Kind.CANNOT_LINK):
            yield vertex[self._roots(first)], vertex[self._roots(second)], rows

    def _color_core(
        self, start: Longs, adjacent: Slots, inside: npt.NDArray[np.bool_], color: Slots, k: int, vertex: Slots
    ) -> FilesVerdict | None:
        """Color the groups that peeling leaves, component by component; a verdict if that fails."""
        members = np.flatnonzero(inside)
        parts = [np.empty((0, 2), dtype=np.intp)]
        ahead = np.cumsum(start[members + 1] - start[members]) // _STEP
        for some in np.split(members, np.flatnonzero(np.diff(ahead)) + 1):
            degree = start[some + 1] - start[some]
            u = np.repeat(some, degree)
            v = adjacent[np.repeat(start[some] - np.cumsum(degree) + degree, degree) + np.arange(len(u))]
            once = (u < v) & inside[v]
            parts.append(np.searchsorted(members, np.column_stack([u[once], v[once]])))
        edges = np.concatenate(parts)
        part = components(len(members), edges)
        for number in range(int(part.max()) + 1):
            mine = np.flatnonzero(part == number)
            own = edges[part[edges[:, 0]] == number]
            verdict = check(Constraints.build(len(mine), cannot_link=np.searchsorted(mine, own)), n_clusters=k)
            if verdict.status == "infeasible" and verdict.explanation is not None:
                pairs = members[own[list(verdict.explanation.core)]]
                return self.verdict(
                    "infeasible", verdict.because, conflict=self._first_rows(pairs, vertex, len(inside))
                )
            if not isinstance(verdict.witness, np.ndarray):
                return self.verdict(verdict.status, verdict.because)
            color[members[mine]] = verdict.witness
        return None

    def _first_rows(self, pairs: Any, vertex: Slots, count: int) -> tuple[StatementRow, ...]:
        """The first cannot-link between each of some pairs of groups."""
        wanted = np.sort(pairs, axis=1) @ np.array([count, 1], dtype=np.int64)
        first: dict[int, int] = {}
        for u, v, rows in self._between(vertex):
            code = np.minimum(u, v).astype(np.int64) * count + np.maximum(u, v)
            for i in np.flatnonzero(np.isin(code, wanted)).tolist():
                first.setdefault(int(code[i]), int(rows[i]))
        found = self._rows_of(np.array(sorted(first.values()), dtype=np.int64))
        return tuple(found[row] for row in sorted(found))

    def verdict(
        self,
        status: str,
        because: str,
        n_contradictions: int = 0,
        contradictions: tuple[Contradiction, ...] = (),
        conflict: tuple[StatementRow, ...] = (),
    ) -> FilesVerdict:
        """The answer about these files."""
        return FilesVerdict(status, because, self.n_must, self.n_cannot, n_contradictions, contradictions, conflict)


def _in_direction(begin: Any, way: list[StatementRow]) -> tuple[StatementRow, ...]:
    """Turn must-links around where needed, so that each begins where the one before ends."""
    turned = []
    for link in way:
        turned.append(link if str(link.a) == str(begin) else link._replace(a=link.b, b=link.a))
        begin = turned[-1].b
    return tuple(turned)


class _BitNames:
    """Row numbers, each a bit; a name's number is the count of bits before it."""

    def __init__(self) -> None:
        self.bits: Bits = np.zeros(SPAN // 8, dtype=np.uint8)
        self.before: Longs = np.zeros(1, dtype=np.int64)
        self.count = 0

    def __len__(self) -> int:
        return self.count

    def add(self, names: Longs) -> bool:
        """Add names; False if one of them is too large or negative."""
        if not len(names):
            return True
        low, high = int(names.min()), int(names.max())
        if low < 0 or high >= _MOST_BITS:
            return False
        if high // 8 >= len(self.bits):
            size = max(2 * len(self.bits), (high // SPAN + 1) * (SPAN // 8))
            self.bits = np.concatenate([self.bits, np.zeros(size - len(self.bits), dtype=np.uint8)])
        mark(self.bits, names)
        return True

    def values(self) -> Longs:
        """All names."""
        return np.flatnonzero(np.unpackbits(self.bits, bitorder="little"))

    def finish(self) -> None:
        """Count bits, after the last name was added."""
        counts = np.zeros(len(self.bits) * 8 // SPAN + 1, dtype=np.int64)
        step = 2**22
        for low in range(0, len(self.bits), step):
            ones = _ONES[self.bits[low : low + step]].reshape(-1, SPAN // 8).sum(axis=1, dtype=np.int64)
            at = low * 8 // SPAN + 1
            counts[at : at + len(ones)] = ones
        self.before = np.cumsum(counts)
        self.count = int(self.before[-1])

    def number(self, names: Longs) -> Slots:
        """The number of each name, or -1."""
        found = np.empty(len(names), dtype=np.int32)
        rank(self.bits, _ONES, self.before, np.ascontiguousarray(names), found)
        return found


class _SortedNames:
    """Names that are words or large numbers, sorted."""

    def __init__(self) -> None:
        self.parts: list[npt.NDArray[Any]] = []

    def __len__(self) -> int:
        return len(self.parts[0])

    def take_over(self, bits: _BitNames, *, str_: bool = True) -> None:
        """Begin with names that were added as bits, or before as numbers."""
        kept = [*self.parts, bits.values()]
        self.parts = [part.astype(str) if str_ else part for part in kept]
        bits.bits = bits.bits[:0]

    def add(self, names: npt.NDArray[Any]) -> None:
        """Add names; parts of about the same length are united, so that each name is sorted few times."""
        self.parts.append(np.unique(names))
        while len(self.parts) > 1 and 2 * len(self.parts[-1]) >= len(self.parts[-2]):
            last = self.parts.pop()
            self.parts[-1] = np.unique(np.concatenate([self.parts[-1], last]))

    def finish(self) -> None:
        """Unite all parts."""
        self.parts = [np.unique(np.concatenate(self.parts))]

    def number(self, names: npt.NDArray[Any]) -> Slots:
        """The number of each name, or -1."""
        all_ = self.parts[0]
        asked = names.astype(str) if all_.dtype.kind == "U" else names
        at = np.minimum(np.searchsorted(all_, asked), max(len(all_) - 1, 0))
        found = np.full(len(names), -1, dtype=np.int32)
        if len(all_):
            known = all_[at] == asked
            found[known] = at[known]
        return found
