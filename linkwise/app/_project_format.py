"""The format of a project file: its schema, its seals, and how its rows become statements."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

from linkwise.app._log import Statement

APPLICATION = 0x4C575031  # "LWP1"
VERSION = 1
MAGIC = b"SQLite format 3\x00"
SCHEMA = """
create table meta (key text primary key, value text not null) strict;
create table log (seq integer primary key autoincrement, id text not null unique, who text not null, via text not null,
                  op text not null, body text not null, basis integer not null,
                  at text not null, digest text not null) strict;
create trigger log_keeps before update on log begin select raise(abort, 'the log is append-only'); end;
create trigger log_holds before delete on log begin select raise(abort, 'the log is append-only'); end;
create table file (n integer primary key, name text not null, kind text not null, sha256 text not null unique,
                   bytes blob not null) strict;
create table item (n integer primary key, id text not null unique, body text not null) strict;
create table cache (name text not null, version integer not null, bytes blob not null,
                    primary key (name, version)) strict;
""".strip().split(";\n")
ROWS = "select seq, id, who, via, op, body, basis, at, digest from log"


def seal_of(row: Sequence[Any]) -> str:
    """The seal of a row of the log, over all of its columns."""
    return hashlib.sha256(json.dumps(list(row), ensure_ascii=True).encode()).hexdigest()[:16]


def written(body: Any) -> str:
    """Write the body of a row as JSON."""
    return json.dumps(body, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def read_item(text: str) -> dict[str, Any]:
    """Read what people see of an item; a ValueError where it is not what `written` made of one."""
    body = json.loads(text)
    texts = (body.get("text"), body.get("picture")) if isinstance(body, dict) else (0,)
    if not all(one is None or isinstance(one, str) for one in texts) or not isinstance(body.get("values", []), list):
        msg = "this is not an item"
        raise ValueError(msg)
    return dict(body)


def read_rows(found: Iterable[Sequence[Any]]) -> list[Statement]:
    """Return rows of the log as statements."""
    return [
        Statement(a, key, who, via, op, json.loads(body), basis, at)
        for a, key, who, via, op, body, basis, at, _ in found
    ]
