"""A file of statements as rows of a project: the log of `linkwise ask`, or anything that `read_knowledge` reads."""

from __future__ import annotations

import hashlib
import math
import uuid
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from linkwise._messages import many
from linkwise.app import KINDS, MOST_ROWS, New, Statement, read_body
from linkwise.app.files._answers_file import from_answers, header_of, holds_answers
from linkwise.constraints import Kind
from linkwise.exceptions import LinkwiseError
from linkwise.io import named_file, read_knowledge, statements_of


def read_statements(name: str, raw: bytes, ids: Sequence[str], X: Any, rows: Sequence[Statement]) -> list[New]:
    r"""Return the statements that a file adds to a project.

    Parameters
    ----------
    name, raw : str and bytes
        The file, in any form that `linkwise.read_knowledge` reads. Of a log of `linkwise ask` each answer is a
        statement of its own, and those that the project has are left out; all of anything else are one, an import.
    ids, X : sequence of str, and samples
        The items.
    rows : sequence of Statement
        The project so far.

    Examples
    --------
    >>> from linkwise.app.files import read_statements
    >>> (new,) = read_statements("said.txt", b"otter = mink\notter != seal\n", ["otter", "mink", "seal"], None, [])
    >>> new.op, [(one["line"], one["kind"], one["items"]) for one in new.body["statements"]]
    ('import', [(1, 'must_link', ['otter', 'mink']), (2, 'cannot_link', ['otter', 'seal'])])
    """
    if holds_answers(raw):
        return from_answers(name, raw, ids, rows, lambda: header_of(X))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what was trimmed; a file without statements is refused below
        said = read_knowledge(named_file(name, raw), np.array(ids, dtype=object))
    if said.constraints.rules:
        msg = (
            f"{name} holds rules about sizes or distances, and a project keeps statements about items only.\n"
            "Hint: leave them out here; `linkwise cluster` takes them."
        )
        raise LinkwiseError(msg)
    found = [(int(said.line[row]), kind, items, weight) for kind, items, weight, row in statements_of(said.constraints)]
    if not found:
        msg = f"{name} holds no statements.\nHint: write lines such as: otter = mink"
        raise LinkwiseError(msg)
    if len(found) > MOST_ROWS:
        msg = f"{name} holds {many(len(found), 'statement')}, at most {MOST_ROWS:,} are taken.\nHint: divide the file."
        raise LinkwiseError(msg)
    for line, kind, _, _ in found:
        if kind.name.lower() not in KINDS:
            msg = f"{name}, line {line}: a project cannot keep a {Kind(kind).title}.\nHint: leave such lines out."
            raise LinkwiseError(msg)
    found.sort(key=lambda one: one[0])
    lines = [line for line, *_ in found]
    by_line = lines[0] > 0 and len(set(lines)) == len(
        lines
    )  # else several stem from one line, or from a tree as a whole
    statements = [
        {
            "line": line if by_line else number,
            "kind": kind.name.lower(),
            "items": [str(item) for item in items],
            "weight": None if math.isinf(weight) else weight,
        }
        for number, (line, kind, items, weight) in enumerate(found, start=1)
    ]
    body = {"name": name, "sha256": hashlib.sha256(raw).hexdigest(), "statements": statements, "by_line": by_line}
    return [New(uuid.uuid4().hex, "", "import", "import", read_body("import", body))]
