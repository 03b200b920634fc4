"""Exports of a project: files of one state, and the Python and the command that make them again without the app."""

from __future__ import annotations

import io
import json
import re
import shlex
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._messages import many, some_of
from linkwise._typing import IntArray
from linkwise.app import Fitter, Standing, Statement, Store, Unit, fold, items_of
from linkwise.app.files._answers_file import header_of, to_answers
from linkwise.app.files._reading import MOST_ASKED, Reading, read_items
from linkwise.exceptions import LinkwiseError
from linkwise.io import csv_line, labels_csv, named_file, save, typed_columns, write_knowledge, write_tree

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.report import Facts
    from linkwise.selection import Clustering

FEATURES = "features.csv"
_LISTS = ("columns", "drop", "text", "categories")


@dataclass(frozen=True, eq=False)
class State:
    """One state of a project, as its exports need it.

    Attributes
    ----------
    file, raw : str and bytes
        The original that the items were read from.
    reading : Reading
        The items.
    rows, standing : sequence of Statement, and Standing
        The log up to this state, and what stands of it.
    units, table : sequence of Unit, and Constraints
        What is relied on, statements in doubt left out; as a table, moves of branches written out.
    labels : ndarray
        The groups on screen.
    linkage : dict
        The linkage, and the metric where it is not the usual one.
    names : sequence of dict
        Names of groups on screen: ``cluster`` and ``text``.
    """

    file: str
    raw: bytes
    reading: Reading
    rows: Sequence[Statement]
    standing: Standing
    units: Sequence[Unit]
    table: Constraints
    labels: IntArray
    linkage: Mapping[str, str]
    names: Sequence[Mapping[str, Any]] = field(default=())

    @classmethod
    def of(cls, file: str, raw: bytes, reading: Reading, fitter: Fitter, seq: int | None) -> State:
        """Return the state after a row of the log, or the newest."""
        moment = fitter.at(seq)
        return cls(
            file=file,
            raw=raw,
            reading=reading,
            rows=[one for one in fitter.rows if one.seq <= moment.seq],
            standing=moment.standing,
            units=moment.units,
            table=moment.table,
            labels=moment.picture.labels,
            linkage=fitter.items.linkage,
            names=fitter.names(moment),
        )

    # -- the result, made as the code makes it -----------------------------------------------------------------------

    @cached_property
    def said(self) -> Constraints:
        """The statements by name."""
        return self.table.with_ids(np.array([str(name) for name in self.reading.table.ids.tolist()], dtype=object))

    @property
    def arguments(self) -> dict[str, Any]:
        """Keywords of `linkwise.cluster`."""
        cut = self.standing.cut or {}
        k = len(set(self.labels.tolist()))
        where = {"distance_threshold": cut["height"]} if "height" in cut else {"n_clusters": k}
        undo = {"cut": "merges"}  # statements about three items shape the tree, not the number of groups
        return {**where, "method": "ReCon", "linkage": self.linkage["linkage"], "min_cluster_size": 1, "params": undo}

    @cached_property
    def found(self) -> Clustering:
        """The result of the code, from the same numbers that it reads."""
        from linkwise.selection import cluster

        said = self.table if self.table.n_statements else None
        return cluster(self.samples, said, **self.arguments)

    @property
    def samples(self) -> Any:
        """What is compared."""
        return self.reading.table.X

    @property
    def ids(self) -> Any:
        """Names of the items, None where rows are only counted."""
        return self.reading.table.ids if self.reading.table.has_names else None

    @property
    def named(self) -> bool:
        """Whether groups are called by words of the texts that the code reads."""
        return "text" in self.reading.roles.values() and self.source != FEATURES

    @property
    def n_otherwise(self) -> int:
        """How many items have other companions on screen than in the exported files."""
        pairs, place, count = np.unique(
            np.column_stack([self.labels, self.found.labels]), axis=0, return_inverse=True, return_counts=True
        )
        one, two = np.bincount(pairs[:, 0], count), np.bincount(pairs[:, 1] - pairs[:, 1].min(), count)
        same = (count == one[pairs[:, 0]]) & (count == two[pairs[:, 1] - pairs[:, 1].min()])
        return int((~same[place.ravel()]).sum())

    # -- files -------------------------------------------------------------------------------------------------------

    def _written(self, name: str, write: Any) -> bytes:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            write(path)
            return path.read_bytes()

    def labels_csv(self) -> bytes:
        """The group of every item, and its name where groups are called by words of their texts."""
        names = self.facts.cluster_names if self.named else None
        return labels_csv(self.reading.table.ids, self.found.labels, names=names).encode()

    def tree_nwk(self) -> bytes:
        """The tree as Newick."""
        tree = self.found.dendrogram
        if tree is None:  # never: the method of `arguments` makes one
            msg = "the method made no tree."
            raise LinkwiseError(msg)
        nodes = dict(self.facts.node_names) if self.named else None
        return self._written("tree.nwk", lambda path: write_tree(path, tree, ids=self.ids, join=True, node_names=nodes))

    def said_jsonl(self) -> bytes:
        """The statements that are relied on, in ASCII: a command has one encoding for all of its files."""
        text = self._written("said.jsonl", lambda path: write_knowledge(path, self.said)).decode()
        return "".join(json.dumps(json.loads(line)) + "\n" for line in text.splitlines()).encode()

    def said_file(self, name: str) -> io.BytesIO:
        """The statements that are relied on as an open file of a name."""
        return named_file(name, self.said_jsonl())

    def answers_jsonl(self) -> bytes:
        """The answers as a log of `linkwise ask`."""
        ids = [str(name) for name in self.reading.table.ids.tolist()]
        return to_answers(self.rows, ids, header_of(self.samples))

    def table_csv(self) -> bytes:
        """Every column that people see, the group as on screen, and its number in the files that the code writes."""
        table, called = self.reading.table, {one["cluster"]: one["text"] for one in self.names}
        columns = dict(table.beside)
        lines = [csv_line("sample", *columns, "group", "cluster")]
        on_screen = [called.get(at, f"group {at + 1}" if at >= 0 else "") for at in self.labels.tolist()]
        rows = zip(table.ids.tolist(), *columns.values(), on_screen, self.found.labels.tolist(), strict=True)
        lines += [csv_line(*row) for row in rows]
        return "".join(lines).encode()

    def features_csv(self) -> bytes:
        """What is compared, with names as they are here, so that `read_data` gives the very same numbers."""
        X = self.samples if isinstance(self.samples, np.ndarray) else self.samples.toarray()
        names = [f"f{at}" for at in range(X.shape[1])]
        lines = [csv_line("sample", *names)]
        ids = [str(name) for name in self.reading.table.ids.tolist()]
        lines += [csv_line(name, *map(repr, row)) for name, row in zip(ids, X.tolist(), strict=True)]
        return "".join(lines).encode()

    def model_lwm(self) -> bytes:
        """The fitted model, for `linkwise assign`."""
        return self._written("model.lwm", lambda path: save(self.found.estimator, path, data=self.reading.table))

    def report_html(self) -> bytes:
        """The report."""
        from linkwise.report import write_report

        return self._written("report.html", lambda path: write_report(path, self.facts))

    @cached_property
    def facts(self) -> Facts:
        """What the report says, and what groups are called."""
        from linkwise.report import gather_facts
        from linkwise.selection import fit_without_constraints

        table = self.reading.table
        said = self.said if self.table.n_statements else None
        return gather_facts(
            self.found,
            X=self.samples,
            features=table.columns,
            values=table.values,
            constraints=said,
            ids=table.ids,
            before=None if said is None else fit_without_constraints(self.found, self.samples),
            texts=table.texts if self.named else (),
            title=f"{Path(self.file).stem} in {many(self.found.n_clusters, 'group')}",
            reasons=self.found.reasons,
            recipe=f"{self.python}\n# in a shell: {self.shell}",
        )

    def everything(self) -> bytes:
        """The files and the code that makes them, in one archive."""
        made = io.BytesIO()
        with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
            for kind in self.kinds:
                if kind != "all":
                    file, _, content = self.export(kind)
                    archive.writestr(zipfile.ZipInfo(file, (1980, 1, 1, 0, 0, 0)), content)
            for file, text in (("again.py", self.python), ("again.sh", self.shell + "\n")):
                archive.writestr(zipfile.ZipInfo(file, (1980, 1, 1, 0, 0, 0)), text.encode())
        return made.getvalue()

    # -- the list ----------------------------------------------------------------------------------------------------

    @property
    def source(self) -> str:
        """The file that the code reads: the original, or the numbers where `read_data` cannot repeat the reading."""
        return FEATURES if self.reading.arguments is None else _plain_name(self.file)

    @cached_property
    def kinds(self) -> dict[str, tuple[str, str, str]]:
        """File name, type and words of every kind of export."""
        stem = re.sub(r"[^\w.-]+", "-", Path(self.file).stem).strip("-.") or "project"
        found = {
            "table": ("table.csv", "text/csv", "all columns, and the group of every item as on screen"),
            "labels": ("labels.csv", "text/csv", "the groups alone, numbered by the code below"),
            "tree": ("tree.nwk", "text/plain", "the tree, as Newick"),
            "report": ("report.html", "text/html", "a report to read and to pass on"),
            "model": ("model.lwm", "application/zip", "the fitted model, for `linkwise assign`"),
            "data": (_plain_name(self.file), "application/octet-stream", "the original, which the code reads"),
        }
        if self.table.n_statements:
            words = f"{many(self.table.n_statements, 'statement')} to read in elsewhere"
            found["said"] = ("said.jsonl", "application/jsonl", words)
        if len(self.labels) <= MOST_ASKED:
            words = "the answers, to go on with `linkwise ask --strategy mixed`"
            found["answers"] = ("answers.jsonl", "application/jsonl", words)
        if self.source == FEATURES:
            found["features"] = (FEATURES, "text/csv", "what is compared, which the code reads")
        return found | {"all": (f"{stem}.zip", "application/zip", "all of these, and the code")}

    def listed(self) -> dict[str, Any]:
        """What can be exported, the code, and what the code cannot say, as the page reads it."""
        kinds = [{"kind": kind, "file": file, "words": words} for kind, (file, _, words) in self.kinds.items()]
        return {"kinds": kinds, "python": self.python, "shell": self.shell, "gaps": self.gaps}

    def export(self, kind: str) -> tuple[str, str, bytes]:
        """Return name, type and content of a file."""
        make = {
            "labels": self.labels_csv, "table": self.table_csv, "tree": self.tree_nwk, "report": self.report_html,
            "model": self.model_lwm, "answers": self.answers_jsonl, "data": lambda: self.raw, "said": self.said_jsonl,
            "features": self.features_csv, "all": self.everything,
        }  # fmt: skip
        if kind not in self.kinds:
            msg = f"there is no export {kind!r}.\nHint: {', '.join(self.kinds)}."
            raise LinkwiseError(msg)
        file, media, _ = self.kinds[kind]
        return file, media, make[kind]()

    # -- code --------------------------------------------------------------------------------------------------------

    @property
    def _reading(self) -> dict[str, Any]:
        return {"id": "sample"} if self.reading.arguments is None else self.reading.arguments

    @property
    def _beside(self) -> str:
        return f"{self.source} and said.jsonl" if self.table.n_statements else self.source

    @cached_property
    def python(self) -> str:
        """A program that writes labels.csv and tree.nwk."""
        from linkwise import __version__

        said = ["said = lw.read_knowledge('said.jsonl', table)"] if self.table.n_statements else []
        given = ", said.constraints" if said else ""
        ids = "ids=table.ids, " if self.ids is not None else ""
        named, names, nodes = [], "", ""
        if self.named:  # groups are called by their texts
            told = "X=table.X, features=table.columns, values=table.values, ids=table.ids, texts=table.texts"
            named = [f"facts = gather_facts(found, {told})"]
            names, nodes = ", names=facts.cluster_names", ", node_names=dict(facts.node_names)"
        lines = [
            f"# Made with linkwise {__version__}; run it beside {self._beside}.",
            "import linkwise as lw",
            "from linkwise.io import write_labels, write_tree",
            *(["from linkwise.report import gather_facts"] if self.named else []),
            "",
            f"table = lw.read_data({self.source!r}{_keywords(self._reading)})",
            *said,
            f"found = lw.cluster(table.X{given}{_keywords(self.arguments)})",
            *named,
            f"write_labels('labels.csv', found.labels, ids=table.ids{names})",
            f"write_tree('tree.nwk', found.dendrogram, {ids}join=True{nodes})",
        ]
        return "\n".join(lines) + "\n"

    @cached_property
    def shell(self) -> str:
        """A command that writes the same files into a folder."""
        words = ["linkwise cluster", shlex.quote(self.source if self.source[0] != "-" else f"./{self.source}")]
        for option, value in self._reading.items():
            if (option, value) == ("encoding", "utf-16"):
                continue  # the first bytes of the file say so, and said.jsonl is not
            if option in _LISTS:
                words.append(typed_columns(option, value))
            else:
                words += [f"--{option} {shlex.quote(one)}" for one in ([value] if isinstance(value, str) else value)]
        words += ["-c said.jsonl"] if self.table.n_statements else []
        told = self.arguments
        cut = f"-k {told['n_clusters']}" if "n_clusters" in told else f"--height {told['distance_threshold']!r}"
        words += [
            cut,
            "--method recon",
            f"--linkage {told['linkage']}",
            "--min-cluster-size 1",
            "--set cut=merges",
            "-o again",
        ]
        return " ".join(words)

    @cached_property
    def gaps(self) -> list[str]:
        """What the code cannot say, or says in another way."""
        found = list(self.reading.gaps)
        if self.source == FEATURES:
            found.append(f"The code reads {FEATURES}, the numbers that items are compared by, not {self.file}.")
        moves = sorted({unit.seq for unit in self.units if unit.kind == "branch"})
        if moves:
            which = some_of([f"#{seq}" for seq in moves])
            found.append(f"said.jsonl holds moved branches as triplets, which are about the items of now: {which}.")
        if n := self.n_otherwise:
            found.append(f"{many(n, 'item')} {'is' if n == 1 else 'are'} grouped otherwise on screen than by the code.")
        return found


def _plain_name(file: str) -> str:
    """The last part of a name, without what a shell or a program could take for something else."""
    name = "".join(letter for letter in Path(file.replace("\\", "/")).name if letter.isprintable())
    return name if name not in ("", ".", "..", "-") else "data"


def _keywords(arguments: Mapping[str, Any]) -> str:
    return "".join(f", {name}={value!r}" for name, value in arguments.items())


def state_of_project(path: Any) -> State:
    """Return the newest state of a project; it is looked at only, be it open elsewhere or not."""
    with Store.open(path, readonly=True) as store:
        rows, (file, _, raw) = store.statements(), store.file()
    project = fold(rows).project
    reading = read_items(file, raw, project["roles"], project["options"])
    fitter = Fitter(items_of(reading.table, reading.roles), rows, lambda told, body: None)  # noqa: ARG005
    fitter.work()
    return State.of(file, raw, reading, fitter, None)
