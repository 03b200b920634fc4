"""Plain arrays as .npy bytes without objects; sizes are checked before memory is allocated."""

from __future__ import annotations

import io
import math
import zipfile
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.exceptions import LinkwiseError

MAGIC = b"\x93NUMPY"
_KINDS = "biufUS"


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


def arrays_of_npz(raw: bytes, name: str) -> dict[str, npt.NDArray[Any]]:
    """Read the arrays of an .npz file, compressed or not, up to a thousand times its size."""
    try:
        with zipfile.ZipFile(io.BytesIO(raw)) as archive:
            members = archive.infolist()
            if sum(member.file_size for member in members) > 1000 * len(raw) + 2**20:
                msg = f"{name} unpacks to far more than its size, which no data does; nothing was read."
                raise LinkwiseError(msg)
            return {
                member.filename.removesuffix(".npy"): array_of_npy(archive.read(member), f"{name}: {member.filename}")
                for member in members
            }
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, MemoryError) as bad:
        msg = f"{name} is not a readable .npz file ({str(bad)[:80]})."
        raise LinkwiseError(msg) from bad
