"""Readers of files from which statements follow: taxonomies, groups and labels, trees, and logs of dialogues."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from linkwise._messages import hint, many, some_of
from linkwise.constraints import Kind
from linkwise.exceptions import ConstraintError, LinkwiseError
from linkwise.io._collect_statements import KINDS, Collector
from linkwise.io._columns import MISSING
from linkwise.io._prepare import Table
from linkwise.io._text import read_rows, shown
from linkwise.result import Dendrogram
from linkwise.sources import Taxonomy

SAMPLES = ("sample", "id", "name", "item")
GROUPS = ("group", "label", "class", "cluster")  # the last three also say that samples of two of them are apart


def read_newick(into: Collector, text: str) -> None:
    """Read a tree as triplets; the samples are its leaves, or nodes with the names of samples."""
    _take(into, _of_leaves(into, lambda ids: Taxonomy.from_newick(text, ids)))


def read_nested(into: Collector, nested: Any) -> None:
    """Read nested JSON as triplets."""
    _take(into, _of_leaves(into, lambda ids: Taxonomy.from_nested(nested, ids)))


def _of_leaves(into: Collector, read: Callable[[Any], Taxonomy]) -> Callable[[Any], Taxonomy]:
    """Leave out leaves that are not samples, where bad ones are skipped."""

    def reading(ids: list[str] | None) -> Taxonomy:
        if ids is None or not into.skip_bad:
            return read(ids)
        bare, samples = read(None), set(ids)
        leaves = [str(name) for name in (range(bare.n_samples) if bare.ids is None else bare.ids.tolist())]
        strange = [name for name in leaves if not {name, name.replace("_", " ")} & samples]
        if not strange:
            return read(ids)
        _skip_leaves(into, strange)
        whole = read([*ids, *strange])
        return Taxonomy(whole.parent, whole.node[: len(ids)], names=whole.names, ids=ids)

    return reading


def _skip_leaves(into: Collector, strange: list[str]) -> None:
    """Skip leaves that are not samples, or refuse them."""
    are = f"{many(len(strange), 'leaf', 'leaves')} {'is' if len(strange) == 1 else 'are'}"
    into.skip(ConstraintError(f"{into.name}: {are} not in the data: {some_of([shown(name) for name in strange])}."))


def read_tree(into: Collector, text: str) -> None:
    """Read a dendrogram as `Dendrogram.to_json` wrote it."""
    try:
        tree = Dendrogram.from_json(text)
    except LinkwiseError as bad:
        msg = f"{into.name}: {bad}"
        raise ConstraintError(msg) from bad
    said = tree.triplets(minimal=True)
    names = [str(i) for i in range(tree.n_samples)] if tree.ids is None else [str(v) for v in tree.ids.tolist()]
    into.add_many(Kind.TRIPLET, names, said.items, np.zeros(said.n_statements, dtype=np.intp))


def _take(into: Collector, read: Callable[[Any], Taxonomy], lines: dict[str, int] | None = None) -> None:
    known = None if into.ids is None else [str(value) for value in into.ids.tolist()]
    try:
        taxonomy = read(known)
        said = taxonomy.triplets(minimal=True)
    except LinkwiseError as bad:
        msg = f"{into.name}: {bad}"
        raise ConstraintError(msg) from bad
    names = [str(i) for i in range(taxonomy.n_samples)] if taxonomy.ids is None else taxonomy.ids.tolist()
    place = np.array([(lines or {}).get(name, 0) for name in names] or [0], dtype=np.intp)
    into.add_many(Kind.TRIPLET, names, said.items, place[said.items[:, 0]])
    if taxonomy.names is not None:
        into.taxonomies.append((taxonomy, [str(name) for name in names]))


# -- two columns -------------------------------------------------------------------------------------------------------


def _two_columns(
    into: Collector, text: str, first: int, second: int, what: str
) -> tuple[list[str], list[str], list[int]]:
    """Return the cells of two columns and their lines; the first column must not be empty."""
    rows = ((line, cells) for line, cells in read_rows(text, into.name) if not cells[0].lstrip().startswith("#"))
    next(rows)
    found: tuple[list[str], list[str], list[int]] = ([], [], [])
    for line, cells in rows:
        here = cells[first].strip() if first < len(cells) else ""
        if not here:
            into.skip(ConstraintError(f"{into.name}, line {line}: there is no {what}."))
        else:
            found[0].append(here)
            found[1].append(cells[second].strip() if second < len(cells) else "")
            found[2].append(line)
    return found


def _refuse_repeats(
    into: Collector, rows: tuple[list[str], list[str], list[int]]
) -> tuple[list[str], list[str], list[int]]:
    """Refuse a sample that is in two rows; with ``skip_bad`` the first row counts."""
    seen: dict[str, int] = {}
    kept = []
    for at, (name, line) in enumerate(zip(rows[0], rows[2], strict=True)):
        if seen.setdefault(name, line) == line:
            kept.append(at)
        else:
            first = hint(command="--skip-bad, which keeps the first", python="skip_bad=True, which keeps the first")
            msg = (
                f"{into.name}, line {line}: {shown(name)} is in line {seen[name]} already.\n"
                f"Hint: a sample has one row; delete one of the two, or give {first}."
            )
            into.skip(ConstraintError(msg))
    return [rows[0][at] for at in kept], [rows[1][at] for at in kept], [rows[2][at] for at in kept]


def read_groups(into: Collector, text: str, keys: list[str]) -> None:
    """Read samples and their groups: those of one group belong together; with labels, those of two are apart."""
    sample = next(i for i, key in enumerate(keys) if key in SAMPLES)
    group = next(i for i, key in enumerate(keys) if key in GROUPS)
    samples, groups, lines = _refuse_repeats(into, _two_columns(into, text, sample, group, "sample"))
    known = [at for at, name in enumerate(groups) if name.lower() not in MISSING]  # no group: nothing is said
    into.add_labels(
        [samples[at] for at in known],
        [groups[at] for at in known],
        [lines[at] for at in known],
        keys[group],
        apart=keys[group] != "group",
    )
    if into.ids is None:
        for name in samples:
            into.code(name, 0)


def read_column(into: Collector, table: Table, column: str, how: str) -> None:
    """Read a column of the samples' own table as groups that are together or apart, or as labels."""
    into.open_file(f"column {column}")
    cells = [(row, cell) for row, cell in enumerate(table.beside[column]) if cell.lower() not in MISSING]
    names = [str(name) for name in table.ids.tolist()]
    if how != "apart":
        rows = [row for row, _ in cells]
        lines, groups = table.lines[rows].tolist(), [cell for _, cell in cells]
        into.add_labels([names[row] for row in rows], groups, lines, column, apart=how == "labels")
        return
    members: dict[str, list[int]] = {}
    for row, cell in cells:
        members.setdefault(cell, []).append(row)
    for cell, rows in members.items():
        if len(rows) > 1:
            kind = Kind.CANNOT_LINK if len(rows) == 2 else Kind.APART
            into.append(kind, rows, math.inf, int(table.lines[rows[0]]), f"{column} {cell}")


def read_paths(into: Collector, text: str, keys: list[str]) -> None:
    """Read one path per sample, as in Animal/Mammal/Cat."""
    sample = next(i for i, key in enumerate(keys) if key in SAMPLES)
    found = _two_columns(into, text, sample, keys.index("path"), "sample")
    samples, paths, lines = _refuse_repeats(into, found)
    sep = "/" if any("/" in path for path in paths) else ">" if any(">" in path for path in paths) else "/"
    tidy = [sep.join(part.strip() for part in path.split(sep)) for path in paths]
    _take(into, lambda _: Taxonomy.from_paths(tidy, sep=sep, ids=samples), dict(zip(samples, lines, strict=True)))


def read_parents(into: Collector, text: str, keys: list[str]) -> None:
    """Read two columns, child and parent; the samples are the leaves, or nodes with the names of samples."""
    child = next(i for i, key in enumerate(keys) if key in ("child", "node", *SAMPLES))
    children, parents, lines = _two_columns(into, text, child, keys.index("parent"), "child")

    def read(ids: list[str] | None) -> Taxonomy:
        bare = Taxonomy.from_parents(children, parents)
        names = [] if bare.names is None else bare.names.tolist()
        above = set(bare.parent.tolist())
        leaves = [name for v, name in enumerate(names) if v not in above]
        if ids is None:
            return bare.place(leaves, ids=leaves)
        strange = sorted(set(leaves) - set(ids))
        if strange:
            _skip_leaves(into, strange)
        nodes = set(names)
        return bare.place([name if name in nodes else None for name in ids], ids=ids)

    _take(into, read, dict(zip(children, lines, strict=True)))


# -- the log of a dialogue ---------------------------------------------------------------------------------------------


def is_dialogue(first: Any) -> bool:
    """Whether the first object of a file begins the log of a dialogue."""
    return isinstance(first, dict) and str(first.get("format", "")).startswith("linkwise.dialogue/")


def read_answers(into: Collector, objects: Iterator[tuple[int, dict[str, Any]]]) -> None:
    """Add the trusted answers; samples are found by the names in the log where row numbers are not enough."""
    from linkwise.active import FORMAT, Known, is_entry, standing

    _, header = next(objects)
    n = header.get("n_samples")
    if header["format"] != FORMAT or type(n) is not int or n < 0:
        msg = f"{into.name} is the log of a dialogue of the format {header['format']!r}, expected {FORMAT!r}."
        raise ConstraintError(msg)
    entries, lines = [], []
    for line, entry in objects:
        if not is_entry(entry) or max(entry.get("items", [0])) >= n:
            into.skip(ConstraintError(f"{into.name}, line {line}: expected an answer, or the withdrawal of one."))
            continue
        entries.append(entry)
        if "undo" not in entry:
            lines.append(line)
    known = Known(n)
    for told in standing(entries):
        known.take(told)
    named = {row: str(name) for entry in entries for row, name in _named(entry)}
    same = into.ids is None or len(into.ids) == n
    numbers = all(name == str(row) for row, name in named.items())  # rows of other data would be taken for them
    nameless = numbers or not {row for told in known.trusted for row in told.items} <= {*named}
    if into.ids is not None and not same and nameless:
        msg = (
            f"{into.name} is the log of a dialogue about {n:,} samples, but the data has {len(into.ids):,}.\n"
            "Hint: a log without names refers to samples by row number, so it fits only the data it was asked about."
        )
        raise ConstraintError(msg)
    names: Any = named
    if into.ids is not None and same:
        names = [str(v) for v in into.ids.tolist()]
    elif nameless:
        names = [str(i) for i in range(n)]
        for name in names:
            into.code(name, 0)
    for told in known.trusted:
        if told.statement is not None:
            word, *items = told.statement
            into.add(KINDS[word], [names[i] for i in items], math.inf, lines[told.number], told.who)


def _named(entry: dict[str, Any]) -> Iterator[tuple[int, Any]]:
    """Return the rows of an answer, and the names of the samples where it gives them."""
    items, names = entry.get("items", ()), entry.get("names", ())
    return zip(items, names, strict=True) if len(items) == len(names) else iter(())
