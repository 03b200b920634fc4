"""Frames between the server and its engines: a header as JSON and a body of bytes, over a pipe.

``LWF1``, the length of the header (u32, little-endian), the length of the body (u64), the header, the body.
"""

from __future__ import annotations

import asyncio
import json
import struct
from typing import IO, Any

from linkwise.exceptions import LinkwiseError

MAGIC = b"LWF1"
_START = struct.Struct("<4sIQ")
MOST_HEADER = 1 << 28  # the log of a large project travels in a header
MOST_BODY = 1 << 32
Frame = tuple[dict[str, Any], bytes]


def pack(header: dict[str, Any], body: bytes = b"") -> bytes:
    """Return the bytes of a frame, but for its body, which may be large."""
    raw = json.dumps(header, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode(
        "utf-8", "surrogatepass"
    )
    if len(raw) > MOST_HEADER or len(body) > MOST_BODY:
        most = f"{MOST_HEADER} bytes of header and {MOST_BODY} of body"
        msg = f"a frame has at most {most}, got {len(raw)} and {len(body)}."
        raise LinkwiseError(msg)
    return _START.pack(MAGIC, len(raw), len(body)) + raw


def write(stream: IO[bytes], header: dict[str, Any], body: bytes = b"") -> None:
    """Write one frame, whole, and flush it."""
    stream.write(pack(header, body))
    if body:
        stream.write(body)
    stream.flush()


def read(stream: IO[bytes]) -> Frame | None:
    """Read one frame; ``None`` at the end of the stream, an error when it ends within a frame."""
    start = stream.read(_START.size)
    if not start:
        return None
    n_header, n_body = _lengths(start)
    header, body = stream.read(n_header), stream.read(n_body)
    if len(header) < n_header or len(body) < n_body:
        raise LinkwiseError(_CUT)
    return _header(header), body


async def read_async(stream: asyncio.StreamReader) -> Frame | None:
    """Read one frame of an asyncio stream, as `read` does."""
    try:
        start = await stream.readexactly(_START.size)
    except asyncio.IncompleteReadError as cut:
        if not cut.partial:
            return None
        raise LinkwiseError(_CUT) from None
    n_header, n_body = _lengths(start)
    try:
        return _header(await stream.readexactly(n_header)), await stream.readexactly(n_body)
    except asyncio.IncompleteReadError:
        raise LinkwiseError(_CUT) from None


def write_async(stream: asyncio.StreamWriter, header: dict[str, Any], body: bytes = b"") -> None:
    """Hand one frame to an asyncio stream; ``await stream.drain()`` waits until the pipe has room."""
    stream.write(pack(header, body))
    if body:
        stream.write(body)


_CUT = "the stream ended within a frame: the process at its other end has stopped."


def _lengths(start: bytes) -> tuple[int, int]:
    if len(start) < _START.size:
        raise LinkwiseError(_CUT)
    magic, n_header, n_body = _START.unpack(start)
    if magic != MAGIC or n_header > MOST_HEADER or n_body > MOST_BODY:
        msg = f"expected a frame, which begins with {MAGIC!r}, got {start[:16]!r}.\nHint: write only frames to it."
        raise LinkwiseError(msg)
    return n_header, n_body


def _header(raw: bytes) -> dict[str, Any]:
    try:
        header = json.loads(raw.decode("utf-8", "surrogatepass"))
    except ValueError:
        header = None
    if not isinstance(header, dict):
        msg = f"the header of a frame must be a JSON object, got {raw[:80]!r}."
        raise LinkwiseError(msg)
    return header
