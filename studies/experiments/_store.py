"""Where finished cells are kept: one small file each, there whole or not at all, whatever moment the process dies."""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from linkwise._files import PARTIAL, lock_file, write_whole
from linkwise.exceptions import LinkwiseError
from studies.experiments._cell import canonical

ENDING = ".json"
STALE = 24 * 3600.0  # seconds after which what a killed process left half-written is swept away


class Store:
    """A folder of records, each under the key of its cell."""

    def __init__(self, folder: str | Path) -> None:
        self.folder = Path(folder)
        if self.folder.exists() and not self.folder.is_dir():
            msg = f"{self.folder} is a file, expected a folder to keep results in."
            raise LinkwiseError(msg)

    def path(self, key: str) -> Path:
        """Where the record of a cell stands; two letters of folder keep any one folder small."""
        return self.folder / key[:2] / f"{key}{ENDING}"

    def get(self, key: str) -> dict[str, Any] | None:
        """Return the record of a cell, or None: not there, cut short, altered, or of another cell."""
        try:
            held = json.loads(self.path(key).read_bytes())
            record, digest = held["record"], held["sha256"]
        except (OSError, ValueError, KeyError, TypeError):
            return None
        if not isinstance(record, dict) or record.get("key") != key or digest != _digest(record):
            return None
        return record

    def put(self, key: str, record: dict[str, Any]) -> None:
        """Keep a record; after this returns it survives the process and, as far as disks keep word, the machine."""
        record = {**record, "key": key}
        write_whole(self.path(key), canonical({"record": record, "sha256": _digest(record)}).encode() + b"\n")

    def all_keys(self) -> list[str]:
        """Keys of all files, sorted; whether they can be read is for `get` to say."""
        return sorted(path.name.removesuffix(ENDING) for path in self.folder.glob(f"??/*{ENDING}"))

    @contextmanager
    def working(self) -> Iterator[None]:
        """Keep a second run out of the folder, so that no cell is computed twice; a dead run keeps no other out."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            lock = (self.folder / ".lock").open("a+b")
        except OSError as error:
            msg = f"{self.folder} cannot be written to: {error.strerror or error}."
            raise LinkwiseError(msg) from error
        with lock:
            try:
                lock_file(lock.fileno())
            except OSError:
                msg = (
                    f"another run is at work in {self.folder}; two at once would compute cells twice.\n"
                    "Hint: wait for it, stop it, or give this study a folder of its own."
                )
                raise LinkwiseError(msg) from None
            self._sweep()
            yield

    def _sweep(self) -> None:
        for left in self.folder.glob(f"??/.*{PARTIAL}"):
            with contextlib.suppress(OSError):
                if time.time() - left.stat().st_mtime > STALE:
                    left.unlink()


def read_records(store: str | Path) -> list[dict[str, Any]]:
    """Read everything a store holds, of whatever study, version and code.

    Parameters
    ----------
    store : path
        The folder a `Study` keeps its results in.

    Returns
    -------
    list of dict
        Records with measures beside the other fields, in the order of their keys. Files that are cut short or altered
        are left out.

    Examples
    --------
    >>> import tempfile
    >>> from studies.experiments import read_records
    >>> read_records(tempfile.mkdtemp())
    []
    """
    held = Store(store)
    found = (held.get(key) for key in held.all_keys())
    return [flat(record) for record in found if record is not None]


def flat(record: dict[str, Any]) -> dict[str, Any]:
    """A record with its measures beside the other fields; a measure without a number is NaN."""
    plain = {name: value for name, value in record.items() if name not in ("measures", "key")}
    numbers = {name: float("nan") if value is None else value for name, value in record["measures"].items()}
    return plain | numbers | {"key": record["key"]}


def _digest(record: dict[str, Any]) -> str:
    return hashlib.sha256(canonical(record).encode()).hexdigest()
