"""LWA1: named arrays in one message: magic, length of the header, header as JSON, arrays aligned to 8 bytes.

The page reads it without copying (``static/arrays.js``).
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.exceptions import LinkwiseError

MAGIC = b"LWA1"
DTYPES = ("i4", "f4", "i2", "i1", "u1")  # what the page knows
_HEAD = len(MAGIC) + 4


def pack(arrays: Mapping[str, npt.NDArray[Any]], **facts: Any) -> bytes:
    """Pack arrays and facts, which are plain JSON values, into one message."""
    at, listed, body = 0, [], []
    for name, array in arrays.items():
        dtype = array.dtype.newbyteorder("<").str[1:]
        if dtype not in DTYPES:
            msg = f"pack: {name} is {array.dtype}, expected one of {', '.join(DTYPES)}."
            raise LinkwiseError(msg)
        raw = np.ascontiguousarray(array, dtype=f"<{dtype}").tobytes()
        listed.append({"name": name, "dtype": dtype, "at": at, "n": int(array.size)})
        body += [raw, b"\0" * (-len(raw) % 8)]
        at += len(raw) + len(body[-1])
    head = json.dumps({**facts, "arrays": listed}, ensure_ascii=False, allow_nan=False).encode()
    head += b" " * (-(len(head) + _HEAD) % 8)
    return b"".join([MAGIC, struct.pack("<I", len(head)), head, *body])


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    """Read a message: its facts and its arrays, which are views of it; refuse what does not fit its own length."""
    try:
        return _read(message)
    except (ValueError, KeyError, TypeError, AttributeError, struct.error, RecursionError) as odd:
        msg = "these bytes are not arrays of linkwise (LWA1)."
        raise LinkwiseError(msg) from odd


def _read(message: bytes) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
    if message[: len(MAGIC)] != MAGIC:
        raise ValueError
    (length,) = struct.unpack_from("<I", message, len(MAGIC))
    facts = json.loads(message[_HEAD : _HEAD + length].decode())
    arrays = {}
    for one in facts.pop("arrays"):
        if one["dtype"] not in DTYPES or one["at"] < 0 or one["n"] < 0:
            raise ValueError
        dtype = np.dtype(f"<{one['dtype']}")
        arrays[str(one["name"])] = np.frombuffer(message, dtype, one["n"], _HEAD + length + one["at"])
    return facts, arrays
