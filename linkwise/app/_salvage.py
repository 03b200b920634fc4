"""Reading what is whole in a damaged project, without SQLite."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from linkwise.app._log import OPS, Statement
from linkwise.app._project_format import MAGIC, read_rows, seal_of


def salvage(path: str | Path) -> list[Statement]:
    """Read every row of the log that is whole, from the pages of a damaged project; the file is not touched.

    Notes
    -----
    The pages are read without SQLite, so that a damaged index, schema or tree does not hide rows in pages that are
    whole. A row counts if the seal over its columns holds.
    """
    path = Path(path)
    raw = path.read_bytes()
    size = int.from_bytes(raw[16:18], "big") if raw[:16] == MAGIC else 4096
    size = 65536 if size == 1 else size
    if size < 512 or size & (size - 1):
        size = 4096
    found: dict[int, Statement] = {}
    for start in range(0, len(raw) - size + 1, size):
        page = start + (100 if start == 0 else 0)
        if raw[page] != 0x0D:  # a leaf of a table
            continue
        count = int.from_bytes(raw[page + 3 : page + 5], "big")
        for at in range(min(count, size // 2)):
            where = int.from_bytes(raw[page + 8 + 2 * at : page + 10 + 2 * at], "big")
            if 8 <= where < size:
                row = _cell(raw, start + where, size)
                if row is not None:
                    found[row.seq] = row
    return [found[seq] for seq in sorted(found)]


def _cell(raw: bytes, at: int, size: int) -> Statement | None:
    """Read the cell of a table as a row of the log; None if it is not one, or not whole."""
    try:
        length, at = _varint(raw, at)
        seq, at = _varint(raw, at)
        payload = _payload(raw, at, length, size)
        head, place = _varint(payload, 0)
        kinds = []
        while place < head:
            kind, place = _varint(payload, place)
            kinds.append(kind)
        if len(kinds) != 9:
            return None
        values: list[Any] = []
        for kind in kinds:
            wide = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)[kind] if kind < 10 else (kind - 12) // 2
            part = payload[place : place + wide]
            place += wide
            if kind in (0, 7):
                values.append(None)
            elif kind < 10:
                values.append(kind - 8 if kind >= 8 else int.from_bytes(part, "big", signed=True))
            else:
                values.append(part.decode("utf-8"))
        row = [seq, *values[1:]]
        if row[-1] != seal_of(row[:-1]) or row[4] not in OPS:
            return None
        return read_rows([row])[0]
    except (IndexError, ValueError, TypeError):
        return None


def _payload(raw: bytes, at: int, length: int, size: int) -> bytes:
    """The bytes of a cell, with those on overflow pages."""
    if length > len(raw):
        msg = "longer than the file"
        raise ValueError(msg)
    most = size - 35
    if length <= most:
        return raw[at : at + length]
    least = (size - 12) * 32 // 255 - 23
    local = least + (length - least) % (size - 4)
    local = local if local <= most else least
    parts, got = [raw[at : at + local]], local
    page = int.from_bytes(raw[at + local : at + local + 4], "big")
    while got < length:
        start = (page - 1) * size
        if page < 1 or start + size > len(raw):
            msg = "an overflow page is missing"
            raise ValueError(msg)
        parts.append(raw[start + 4 : start + min(size, 4 + length - got)])
        got += len(parts[-1])
        page = int.from_bytes(raw[start : start + 4], "big")
    return b"".join(parts)


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = 0
    for step in range(8):
        byte = raw[at + step]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:
            return value, at + step + 1
    return value << 8 | raw[at + 8], at + 9
