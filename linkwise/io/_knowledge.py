"""`read_knowledge`: constraints from files of several formats, each statement with its file and line."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import numpy.typing as npt

from linkwise._messages import more_lines
from linkwise._typing import IntArray
from linkwise._validation import warn_user
from linkwise.constraints import Constraints, Entry, read_ids
from linkwise.exceptions import ConstraintError, LinkwiseError
from linkwise.io import _implied_statements as implied
from linkwise.io._collect_statements import Collector, singular
from linkwise.io._own_headers import read_own_headers
from linkwise.io._prepare import Table
from linkwise.io._statements import (
    header_keys,
    json_lines,
    read_csv_statements,
    read_json,
    read_json_statements,
    read_lines,
)
from linkwise.io._text import delimiter_of, is_path, read_rows, read_text, source_name
from linkwise.io._write_knowledge import statements_of
from linkwise.sources import Taxonomy

if TYPE_CHECKING:
    from linkwise.problem import Explanation

FORMATS = ("statements", "lines", "groups", "paths", "parents", "newick", "json")
_LONGEST = 2**23
_JSON_LINES = (".jsonl", ".ndjson")
_NEWICK = (".nwk", ".newick", ".tree", ".tre", ".nh")


@dataclass(frozen=True, eq=False)
class Knowledge:
    r"""Constraints, and where each statement was read; made by `read_knowledge`.

    Attributes
    ----------
    constraints : Constraints
        What was said.
    files, file, line : tuple of str, and ndarrays of intp
        The files, as messages call them; by the statement's ``row``, which file and which line of it, 0 where a
        statement comes from a tree as a whole.
    label_file, label_line : ndarray of intp
        The same for each row of a file of groups or labels, by its ``row`` in ``constraints.labels``.
    taxonomies : tuple of Taxonomy
        The taxonomies that were read, with all samples in the order of ``constraints``; reports name clusters and nodes
        of trees after their clades.
    notes, skipped : mapping of int to str, and tuple of str
        The note beside a statement, by its ``row``; rows and names that were skipped, with ``skip_bad=True``.

    Notes
    -----
    A file of labels is rows, and each row is an `Entry`. The statements that follow from them belong to several rows,
    so their place is all of these; that of an entry is the one row that gives the sample its label.

    Examples
    --------
    >>> import io
    >>> from linkwise import read_knowledge
    >>> said = read_knowledge(io.StringIO("otter mink | seal\notter != seal\n"))
    >>> said.constraints
    Constraints(3 samples: 1 cannot-link, 1 triplet; all hard)
    >>> said.word(0)
    'line 2: cannot_link(otter, seal)'
    """

    constraints: Constraints
    files: tuple[str, ...]
    _: KW_ONLY
    file: IntArray
    line: IntArray
    notes: Mapping[int, str] = field(default_factory=dict)
    skipped: tuple[str, ...] = ()
    label_file: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    label_line: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    taxonomies: tuple[Taxonomy, ...] = ()

    def file_of(self, statement: int | Entry) -> str:
        """The file a statement or entry was read from."""
        return self._place(statement)[0]

    def line_of(self, statement: int | Entry) -> int:
        """The line a statement or entry was read from (the first of several); 0 for a tree as a whole."""
        return self._place(statement)[1]

    def _place(self, statement: int | Entry) -> tuple[str, int]:
        said = self.constraints
        if isinstance(statement, Entry) and statement.label >= 0:
            row = said.labels.row[statement.label]
            return self.files[int(self.label_file[row])], int(self.label_line[row])
        row = said.row[statement.statement if isinstance(statement, Entry) else statement]
        return self.files[int(self.file[row])], int(self.line[row])

    def note_of(self, statement: int) -> str:
        """Return the note beside a statement, or ""."""
        return self.notes.get(int(self.constraints.row[statement]), "")

    def where(self, statement: int | Entry) -> str:
        """Name the place of a statement or entry: its line or lines, and its file where there are several."""
        file, line = self._place(statement)
        if not line:
            return file
        lines = [line] if isinstance(statement, Entry) else self._lines_of(statement)
        place = f"line {line}" if len(lines) == 1 else f"lines {lines[0]} to {lines[-1]}"
        place = f"lines {lines[0]} and {lines[1]}" if len(lines) == 2 else place
        return place if len(self.files) == 1 else f"{file}, {place}"

    def _lines_of(self, statement: int) -> list[int]:
        """The lines of a statement; of one that follows from labels, those of the samples it names."""
        said, labels = self.constraints, self.constraints.labels
        if not labels or labels.owner[statement] < 0:
            return [self.line_of(statement)]
        rows = np.isin(labels.sample, said.samples_of(statement)) & (
            labels.source[labels.label] == labels.owner[statement]
        )
        return sorted(self.label_line[labels.row[rows]].tolist())

    def word(self, statement: int | Entry) -> str:
        """Word a statement or entry with its place."""
        return f"{self.where(statement)}: {self.body(statement)}"

    def body(self, statement: int | Entry) -> str:
        """Word a statement or entry without its place."""
        said = self.constraints
        if not isinstance(statement, Entry):
            return said.describe(statement).split(" ", 1)[1]
        if statement.label >= 0:
            label = said.labels.name[said.labels.label[statement.label]]
            return f'{said.name(statement.sample)} is in "{label}"'
        whole = self.body(statement.statement)
        return whole if statement.sample < 0 else f"{said.name(statement.sample)} is in {whole}"

    def entries_at(self, file: str, line: int, sample: str | None = None) -> list[Entry]:
        """Quote a line of a file: a row, or a whole statement; with ``sample`` only the part about that sample."""
        said = self.constraints
        return [
            entry
            for entry in said.entries()
            if self._place(entry) == (file, line)
            and (sample is None or (entry.sample >= 0 and said.name(entry.sample) == sample))
        ]

    def with_trust(self, trust: Any) -> Knowledge:
        r"""Weigh statements by the probability that they are right, which may differ between files.

        Parameters
        ----------
        trust : float, "doubtful", "hard", or a mapping of files to these
            As in `Constraints.with_trust`; statements of files that are not in a mapping stay as they are. A statement
            that has a weight in its file keeps it.

        Returns
        -------
        Knowledge

        Examples
        --------
        >>> import tempfile, pathlib
        >>> from linkwise import read_knowledge
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     files = [pathlib.Path(folder, name) for name in ("sure.txt", "guess.txt")]
        ...     _ = [file.write_text("otter = mink\n") for file in files]
        ...     said = read_knowledge(files, ids=["otter", "mink"])
        >>> said.with_trust({said.files[1]: 0.9}).constraints.weight.round(1).tolist()
        [inf, 2.2]
        """
        made = self.constraints
        if not isinstance(trust, Mapping):
            return replace(self, constraints=made.with_trust(trust, keep_weights=True))
        strange = [str(file) for file in trust if file not in self.files]
        if strange:
            msg = f"with_trust: {strange[0]} is not among the files: {', '.join(self.files)}."
            raise LinkwiseError(msg)
        of_file = self.file[made.row]
        for at, file in enumerate(self.files):
            if file in trust:
                weight = made.with_trust(trust[file], keep_weights=True).weight
                made = made.with_weight(np.where(of_file == at, weight, made.weight))
        return replace(self, constraints=made)

    def as_python(self, shown: int = 200) -> list[str]:
        """Write statements as the tuples that `Constraints.from_ids` takes; the last entry counts those left out."""
        said = self.constraints
        lines = []
        for kind, named, weight, _ in statements_of(said, shown):
            given = [named] if kind.is_group else named
            lines.append(repr((singular(kind), *given, *([] if np.isinf(weight) else [weight]))))
        left_out = said.n_statements - len(lines)
        return [*lines, f"# ... and {left_out:,} more"] if left_out else lines

    def explain(self, why: Explanation, shown: int = 20) -> str:
        """Describe a conflict with files and lines: fixes first, then the proof."""
        lines = []
        fixes = [" and ".join(self.word(entry) for entry in group) for group in why.repairs]
        at_least = why.at_least if why.written is None else why.written.at_least
        if fixes:
            lines.append("Removing any one of these repairs it:" if len(fixes) > 1 else "Removing this repairs it:")
            lines += [f"  {fix}" for fix in fixes[:shown]]
            lines += [f"  ... or one of {len(fixes) - shown:,} more"] if len(fixes) > shown else []
        elif at_least > 1 and not why.goal:
            lines.append(f"No single change repairs it; at least {at_least:,} are needed.")
        if why.core:
            entries = why.entries
            goal = f" in {why.goal}" if why.goal else " together"
            who = "this one" if len(entries) == 1 else f"these {len(entries):,}"
            lines.append(f"Why: {who} cannot hold{goal}:")
            lines += [f"  {self.word(entry)}" for entry in entries[:shown]]
            lines += more_lines(shown, len(entries))
        lines += [f"  {rule}" for rule in why.rules]
        return "\n".join([*lines, self._argue(why)])

    def _argue(self, why: Explanation) -> str:
        """The argument, with lines in place of the numbers of statements."""
        if why.written is not None and why.written.told:
            from linkwise.problem.explain import fill_in

            because, *steps = fill_in(why.written.told, why.written.entries, self.where)
            return "\n".join([because, *(f"  {step}" for step in steps)])
        argument = "\n".join([why.because, *(f"  {step}" for step in why.steps)])
        for statement in sorted(why.core, key=lambda s: -int(self.constraints.row[s])):  # long numbers first
            argument = argument.replace(f"#{int(self.constraints.row[statement])}", self.where(statement))
        return argument

    def __repr__(self) -> str:
        return f"Knowledge({', '.join(self.files)}: {self.constraints!r})"


# -- reading -----------------------------------------------------------------------------------------------------------


def read_knowledge(
    source: Any,
    ids: Any = None,
    *,
    format: Literal["statements", "lines", "groups", "paths", "parents", "newick", "json"] | None = None,  # noqa: A002
    skip_bad: bool = False,
    encoding: str | None = None,
    together: Sequence[str] = (),
    apart: Sequence[str] = (),
    labels: Sequence[str] = (),
) -> Knowledge:
    r"""Read constraints about samples from one file or several, and from columns of the samples' own table.

    Parameters
    ----------
    source : str, Path, file, or a sequence of them
        CSV or JSON lines of statements, plain lines such as ``a b | c``, groups, taxonomies (paths, child and parent,
        Newick, nested JSON), or the log of a `linkwise.active.Dialogue`; ``"-"`` for standard input. All files together
        make one table.
    ids : array-like, Table or int, optional
        The names of the samples in the order of the rows of X; a number n for the names 0 to n - 1. Without it the
        samples are those the files name.
    format : {"statements", "lines", "groups", "paths", "parents", "newick", "json"}, optional
        What the files hold; by default found out from their endings and first lines.
    skip_bad : bool, default=False
        Skip rows that cannot be read, samples and leaves of a tree that are not in the data, and list them in
        ``skipped``. A group and a tree stay without them.
    encoding : str, optional
        Encoding of the files, as for `read_data`; one that is UTF-8 is read as such, with a warning.
    together, apart, labels : sequence of str
        Columns that the Table in ``ids`` has kept, as in ``read_data(..., keep=["email"])``. Samples with the same
        value of ``together`` belong together; those with the same value of ``apart`` are apart, as in "at most one per
        source"; ``labels`` puts equal values together and different ones apart. An empty cell says nothing.

    Returns
    -------
    Knowledge

    Notes
    -----
    The forms are described in docs/files.md; `write_knowledge` is the way back. A taxonomy becomes the fewest triplets
    that determine it. Of a dialogue's log only answers count that were not taken back and that hold together. **Cost**
    O(size of the files).

    Examples
    --------
    >>> import io
    >>> from linkwise import read_knowledge
    >>> text = "kind,a,b,c,weight\nmust_link,otter,mink,,\ntriplet,otter,mink,seal,2\n"
    >>> read_knowledge(io.StringIO(text), ids=["mink", "seal", "otter"]).constraints
    Constraints(3 samples: 1 must-link, 1 triplet; 1 of 2 soft)
    """
    if format is not None and format not in FORMATS:
        msg = f"read_knowledge: format is {format!r}, expected {', '.join(map(repr, FORMATS))} or None."
        raise LinkwiseError(msg)
    sources = list(source) if isinstance(source, (list, tuple)) else [source]
    into = Collector(_read_ids(ids), skip_bad=skip_bad)
    for one in sources:
        into.open_file(source_name(one))
        before = into.trimmed
        _read_one(into, read_text(one, encoding, unless_utf8=True), format, one)
        if into.trimmed > before:
            warn_user(f"{into.name}: {into.trimmed - before:,} name(s) had spaces around them, which were taken away.")
    asked = (("together", together), ("apart", apart), ("labels", labels))
    for column, how in [(column, how) for how, columns in asked for column in columns]:
        if not isinstance(ids, Table) or column not in ids.beside:
            msg = f"read_knowledge: {how} names the column {column!r}, expected one that the Table in ids has kept."
            raise LinkwiseError(msg)
        implied.read_column(into, ids, column, how)
    made, file, line = into.finish(named=not isinstance(ids, (int, np.integer)))
    if not made and not into.skipped:
        warn_user(f"{', '.join(into.files)}: there are no statements.")
    label_file, label_line = (np.array(part, dtype=np.intp) for part in (into.label_file, into.label_line))
    return Knowledge(
        made,
        tuple(into.files),
        file=file,
        line=line,
        notes=into.notes,
        skipped=tuple(into.skipped),
        label_file=label_file,
        label_line=label_line,
        taxonomies=into.placed_taxonomies(made),
    )


def _read_ids(ids: Any) -> npt.NDArray[Any] | None:
    if ids is None:
        return None
    if isinstance(ids, (int, np.integer)) and not isinstance(ids, bool):
        return np.arange(int(ids))
    return read_ids(ids.ids if isinstance(ids, Table) else ids)


def _read_one(into: Collector, text: str, form: str | None, source: Any) -> None:
    _refuse_long_lines(into.name, text)
    ending = Path(into.name.removesuffix(".gz")).suffix.lower() if is_path(source) else ""
    if text.lstrip()[:6].upper() == "#NEXUS":
        msg = (
            f"{into.name} is a NEXUS file, expected a tree in Newick.\n"
            "Hint: save it as Newick; with Biopython: Bio.Phylo.convert('t.nex', 'nexus', 't.nwk', 'newick')"
        )
        raise ConstraintError(msg)
    if form is None and read_own_headers(into, text, _header(text), ending):
        return
    form = form or _recognize(text, ending)
    if form == "json":
        _read_json(into, text)
    elif form == "newick":
        implied.read_newick(into, text)
    elif form == "lines":
        read_lines(into, text)
    elif form == "statements" and (ending in _JSON_LINES or text.lstrip().startswith("{")):
        _read_objects(into, text)
    elif form == "statements":
        read_csv_statements(into, text)
    elif form is not None:
        keys = _header(text)
        reader = {"groups": implied.read_groups, "paths": implied.read_paths, "parents": implied.read_parents}[form]
        wanted = {"groups": "sample,group", "paths": "sample,path", "parents": "child,parent"}[form]
        if len(keys) == 2 and _of_columns(keys) is None:
            _require_header(into, text, keys, wanted)
            keys = wanted.split(",")  # two columns, whatever they are called
        if form != _of_columns(keys):
            msg = f"{into.name}: the header is {', '.join(keys)}, expected {wanted}."
            raise ConstraintError(msg)
        reader(into, text, keys)


def _require_header(into: Collector, text: str, keys: list[str], wanted: str) -> None:
    """Refuse two columns whose first line repeats values of other lines, so that it is a row and not a header."""
    rows = (cells for _, cells in read_rows(text, into.name) if not cells[0].lstrip().startswith("#"))
    next(rows)
    column = {cells[1].strip().lower() for cells in rows if len(cells) == 2}
    if keys[0] in map(str.lower, into.known) or keys[1] in column:
        msg = (
            f"{into.name} starts with {', '.join(keys)}, expected a header.\nHint: write {wanted} into the first line."
        )
        raise ConstraintError(msg)


def _recognize(text: str, ending: str) -> str | None:
    """Return the format of a text; None if it has nothing but comments."""
    start = text.lstrip()
    if ending in _JSON_LINES:
        return "statements"
    if ending in _NEWICK or start.startswith("("):
        return "newick"
    if start.startswith(("{", "[")) or ending == ".json":
        return "json"
    lines = (line.strip() for line in text.split("\n"))
    first = next((line for line in lines if line and not line.startswith("#")), None)
    if first is None:
        return None
    keys = _header(text)
    found = _of_columns(keys)
    if found is not None:
        return found
    begins = first.lower().lstrip('"')
    if ending in (".csv", ".tsv", ".xlsx") and "|" not in first:
        return "statements"  # its reader says what a header looks like
    return "statements" if begins.startswith(("kind|", "type|", "kind ", "type ")) else "lines"


def _header(text: str) -> list[str]:
    rows = (cells for _, cells in read_rows(text, "", delimiter_of(text)) if not cells[0].lstrip().startswith("#"))
    try:
        return header_keys(next(rows, []))
    except LinkwiseError:  # a quotation mark in a plain line
        return []


def _of_columns(keys: list[str]) -> str | None:
    """Return the format of a table with these columns, if it is a supported one."""
    if "kind" in keys:
        return "statements"
    if any(key in keys for key in implied.SAMPLES):
        if "path" in keys:
            return "paths"
        if any(key in keys for key in implied.GROUPS):
            return "groups"
    if "parent" in keys and any(key in keys for key in ("child", "node", *implied.SAMPLES)):
        return "parents"
    return None


def _refuse_long_lines(name: str, text: str) -> None:
    if len(text) <= _LONGEST or name.lower().endswith((*_NEWICK, ".json")):
        return  # a tree may well stand on one line
    for number, line in enumerate(io.StringIO(text), start=1):
        if len(line) > _LONGEST and line.lstrip()[:1] not in ("(", "["):
            msg = f"{name}, line {number} is {len(line):,} characters long, at most {_LONGEST:,} are read."
            raise ConstraintError(msg)


def _read_objects(into: Collector, text: str) -> None:
    """Read JSON lines: statements, or the log of a dialogue."""
    try:
        head = read_json(text.lstrip().split("\n", 1)[0], into.name)
    except ConstraintError:
        head = None  # worded with its line below
    if implied.is_dialogue(head):
        implied.read_answers(
            into, json_lines(into, text[: text.rfind("\n") + 1])
        )  # a line cut short was never acknowledged
    else:
        read_json_statements(into, json_lines(into, text))


def _read_json(into: Collector, text: str) -> None:
    """Read JSON lines, a list of statements, a dendrogram or a nested taxonomy."""
    first = text.lstrip().split("\n", 1)[0]
    rest = text.lstrip()[len(first) :].strip()
    try:
        head = read_json(first, into.name)
    except ConstraintError:
        head = None
    if isinstance(head, dict) and (
        {"kind", "type"} & set(head) or (rest and "format" in head) or implied.is_dialogue(head)
    ):
        _read_objects(into, text)
        return
    if head is None and rest.lstrip().startswith("{") and text.lstrip().startswith("{") and first.strip() != "{":
        _read_objects(into, text)  # lines of which the first is broken: say so by its number
        return
    document = read_json(text, into.name)
    if isinstance(document, list) and all(isinstance(one, dict) and {"kind", "type"} & set(one) for one in document):
        read_json_statements(into, iter(enumerate(document, start=1)))
        return
    if isinstance(document, dict) and "format" in document:
        if str(document["format"]).startswith("linkwise.dendrogram/"):
            implied.read_tree(into, text)
        else:
            read_json_statements(into, iter([(1, document)]))
    elif isinstance(document, (dict, list)):
        implied.read_nested(into, text)
    else:
        msg = f"{into.name} holds {type(document).__name__} {str(document)[:40]!r}, expected statements or a taxonomy."
        raise ConstraintError(msg)
