"""Plain arrays as .npy bytes, and a zip archive of which every byte follows from its layout or has a checksum.

Arrays hold no objects, and sizes are checked before memory is allocated.

Members are stored as they are, one after the other, the manifest first; it lists the others with their sizes and
SHA-256. From the manifest alone all headers of the archive follow, and a file that differs from them in a single bit is
refused: nothing can be packed, hidden, doubled or overlap. Any zip program can open it.
"""

from __future__ import annotations

import hashlib
import io
import math
import os
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise.exceptions import LinkwiseError

MAGIC = b"\x93NUMPY"
_KINDS = "biufUS"
MANIFEST = "manifest.json"
LARGEST_MANIFEST = 2**28
_FULL = 0xFFFFFFFF  # says that the number stands in the larger fields of zip64
LIMIT = _FULL  # from here on it does
_DATE = 0x21  # the first day zip files know, 1 January 1980: no file says when it was made
Chunk = bytes | memoryview


class Member(NamedTuple):
    """One file in the archive."""

    name: str
    size: int
    crc: int
    sha256: str


def measure(name: str, content: Iterable[Chunk]) -> Member:
    """Return the name, size and checksums of a member that will be written."""
    size, crc, digest = 0, 0, hashlib.sha256()
    for part in content:
        size += len(part)
        crc = zlib.crc32(part, crc)
        digest.update(part)
    return Member(name, size, crc, digest.hexdigest())


def pack(members: Sequence[tuple[Member, Callable[[], Iterable[Chunk]]]]) -> Iterator[Chunk]:
    """Write members one after the other, then the directory."""
    for member, content in members:
        yield _local_header(member)
        yield from content()
    yield _directory([member for member, _ in members])


def _local_header(member: Member) -> bytes:
    name = member.name.encode("ascii")
    large = member.size >= LIMIT
    extra = struct.pack("<HHQQ", 1, 16, member.size, member.size) if large else b""
    size = _FULL if large else member.size
    version = 45 if large else 20
    fixed = (b"PK\x03\x04", version, 0, 0, 0, _DATE, member.crc, size, size, len(name), len(extra))
    return struct.pack("<4sHHHHHIIIHH", *fixed) + name + extra


def _directory(members: Sequence[Member]) -> bytes:
    made, offset = b"", 0
    entries = []
    for member in members:
        name = member.name.encode("ascii")
        large = member.size >= LIMIT or offset >= LIMIT
        extra = struct.pack("<HHQQQ", 1, 24, member.size, member.size, offset) if large else b""
        size, at = (_FULL, _FULL) if large else (member.size, offset)
        version = 45 if large else 20
        fixed = (b"PK\x01\x02", 3 << 8 | version, version, 0, 0, 0, _DATE, member.crc, size, size, len(name))
        entries.append(struct.pack("<4sHHHHHHIIIHHHHHII", *fixed, len(extra), 0, 0, 0, 0o600 << 16, at) + name + extra)
        offset += len(_local_header(member)) + member.size
    made = b"".join(entries)
    count, length = len(members), len(made)
    if offset >= LIMIT or count >= 0xFFFF:
        wide = (b"PK\x06\x06", 44, 3 << 8 | 45, 45, 0, 0, count, count, length, offset)
        made += struct.pack("<4sQHHIIQQQQ", *wide) + struct.pack("<4sIQI", b"PK\x06\x07", 0, offset + length, 1)
        count, length, offset = min(count, 0xFFFF), min(length, _FULL), _FULL
    return made + struct.pack("<4sHHHHIIH", b"PK\x05\x06", 0, 0, count, count, length, offset, 0)


class Archive:
    """An open archive; the manifest is read at once, other members on request."""

    def __init__(self, file: io.BufferedReader, name: str) -> None:
        self.name = name
        self._file = file
        self._total = os.fstat(file.fileno()).st_size
        self._at: dict[str, tuple[int, Member]] = {}
        self.manifest = self._read_manifest()

    def _read_manifest(self) -> bytes:
        head = self._file.read(30)
        if len(head) < 30 or head[:4] != b"PK\x03\x04":
            raise LinkwiseError(foreign(self.name, head + self._file.read(64)))
        crc, size, _, length, extra = struct.unpack("<IIIHH", head[14:30])
        name = self._file.read(length) if length == len(MANIFEST) else b""
        if name != MANIFEST.encode() or extra or size > min(LARGEST_MANIFEST, self._total):
            raise LinkwiseError(foreign(self.name, head + self._file.read(64)))
        content = self._file.read(size)
        if head + name != _local_header(Member(MANIFEST, size, crc, "")) or zlib.crc32(content) != crc:
            self._damaged("its manifest does not match its checksum")
        self._first = Member(MANIFEST, size, crc, "")
        return content

    def _damaged(self, why: str) -> None:
        msg = f"{self.name} is damaged: {why}.\nHint: copy it again from where it was saved."
        raise LinkwiseError(msg)

    def expect(self, members: Sequence[Member]) -> None:
        """Compare the file with the layout that follows from the list of members."""
        everything = [self._first, *members]
        offset = 0
        for member in everything:
            start = offset + len(_local_header(member))
            self._at[member.name] = (start, member)
            offset = start + member.size
        directory = _directory(everything)
        missing = offset + len(directory) - self._total
        if missing:
            self._damaged(f"it has {abs(missing):,} bytes {'fewer' if missing > 0 else 'more'} than its manifest lists")
        self._file.seek(offset)
        if self._file.read(len(directory)) != directory:
            self._damaged("its table of contents differs from its manifest")
        for member in members:
            header = _local_header(member)
            self._file.seek(self._at[member.name][0] - len(header))
            if self._file.read(len(header)) != header:
                self._damaged(f"the place of {member.name} differs from its manifest")

    def read(self, name: str) -> bytes:
        """Read one member and compare it with its checksum."""
        start, member = self._at[name]
        self._file.seek(start)
        content = self._file.read(member.size)
        if len(content) != member.size or hashlib.sha256(content).hexdigest() != member.sha256:
            self._damaged(f"{name} does not match its checksum")
        return content


_FOREIGN: tuple[tuple[bytes, str], ...] = (
    (b"\x80", "is a pickle, which can run code and is never read.\nHint: save models with `linkwise.save`."),
    (b"x\x9c", "is a joblib file, which can run code and is never read.\nHint: save models with `linkwise.save`."),
    (b"\x89HDF", "is an HDF5 file, expected a model saved by `linkwise.save`."),
    (b"SQLite format 3\x00", "is a project database.\nHint: open it with the app, or export its model from there."),
    (b"\x1f\x8b", "is packed with gzip.\nHint: unpack it first: gunzip -k FILE"),
)


def foreign(name: str, head: bytes) -> str:
    """Describe a file that is not an archive of linkwise."""
    if not head:
        return f"{name} is empty, expected a model saved by `linkwise.save`."
    for magic, what in _FOREIGN:
        if head.startswith(magic):
            return f"{name} {what}"
    if head.startswith(b"PK"):
        return (
            f"{name} is a zip archive, but not a linkwise model.\n"
            "Hint: models of skops are read by skops; save models with `linkwise.save`."
        )
    return f"{name} is not a linkwise model: it does not begin like a file that `linkwise.save` wrote."


def read_member(entry: Any) -> Member:
    """Read one entry of the manifest's list."""
    name, size, crc, sha256 = entry
    fits = type(name) is str and name.isascii() and 0 < len(name) < 100 and type(size) is int and size >= 0
    if not (fits and type(crc) is int and 0 <= crc <= _FULL and type(sha256) is str and len(sha256) == 64):
        raise ValueError
    if not all(
        part and part.strip(".") and part.replace(".", "").replace("_", "").isalnum() for part in name.split("/")
    ):
        raise ValueError  # no way out of the archive, no drive letters
    return Member(name, size, crc, sha256)


# -- arrays ------------------------------------------------------------------------------------------------------------


def npy_of_array(array: npt.NDArray[Any]) -> Iterator[bytes | memoryview]:
    """Write a plain array as .npy: little-endian, rows one after the other, so that equal arrays give equal bytes."""
    plain = np.ascontiguousarray(array)
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    head = io.BytesIO()
    described = {"descr": np.lib.format.dtype_to_descr(plain.dtype), "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(head, described)
    yield head.getvalue()
    if plain.nbytes:
        yield plain.reshape(-1).view(np.uint8).data


def array_of_npy(raw: bytes | memoryview, name: str) -> npt.NDArray[Any]:
    """Read a plain array from the bytes of a .npy file; refuse objects, and shapes that the bytes do not fill."""
    head = io.BytesIO(bytes(raw[: 2**16]))
    try:
        version = np.lib.format.read_magic(head)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, fortran, dtype = read(head, max_header_size=2**15)
    except (ValueError, TypeError, SyntaxError, EOFError, RecursionError, MemoryError, KeyError) as bad:
        msg = f"{name} is not a readable .npy array ({str(bad)[:80]})."
        raise LinkwiseError(msg) from bad
    if dtype.hasobject:
        msg = f"{name} holds Python objects, which can run code and are never read.\nHint: save it with a plain dtype."
        raise LinkwiseError(msg)
    if dtype.kind not in _KINDS or dtype.subdtype is not None:
        msg = f"{name} holds {dtype} values, expected numbers, truth values or text."
        raise LinkwiseError(msg)
    body = memoryview(raw)[head.tell() :]
    if any(type(side) is not int or side < 0 for side in shape) or math.prod(shape) * dtype.itemsize != len(body):
        msg = f"{name} declares the shape {shape} of {dtype}, but holds {len(body):,} bytes."
        raise LinkwiseError(msg)
    if dtype.itemsize == 0:
        return np.zeros(shape, dtype=dtype)
    array = np.frombuffer(bytearray(body), dtype=dtype).reshape(shape, order="F" if fortran else "C")
    if dtype.kind == "b" and array.size and array.view(np.uint8).max() > 1:
        msg = f"{name} holds truth values that are neither true nor false."
        raise LinkwiseError(msg)
    return np.ascontiguousarray(array.astype(dtype.newbyteorder("="), copy=False))


def _refuse_bombs(members: list[zipfile.ZipInfo], raw: bytes, name: str) -> None:
    if sum(member.file_size for member in members) > 1000 * len(raw) + 2**20:
        msg = f"{name} unpacks to far more than its size, which no data does; nothing was read."
        raise LinkwiseError(msg)


def arrays_of_npz(raw: bytes, name: str) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of an .npz file, compressed or not, up to a thousand times its size."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
            _refuse_bombs(members, raw, name)
            return {
                member.filename.removesuffix(".npy"): array_of_npy(archive.read(member), f"{name}: {member.filename}")
                for member in members
            }
    except LinkwiseError:
        raise
    except (zipfile.BadZipFile, zlib.error, struct.error, EOFError, RuntimeError, MemoryError, ValueError) as bad:
        msg = f"{name} is not a readable .npz file ({str(bad)[:80]})."
        raise LinkwiseError(msg) from bad
