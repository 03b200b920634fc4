"""Projects that were opened lately, in a file of the user's own; paths stay in it, the page gets names."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from linkwise._files import write_whole

MOST = 20


def _folder() -> Path:
    """The folder of a user's settings on this system."""
    if sys.platform == "win32":
        return Path(os.environ.get("APPDATA") or Path.home() / "AppData" / "Roaming") / "linkwise"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "linkwise"
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "linkwise"


class Recent:
    """A short list of projects, newest first; without it everything else still works."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder

    def read(self) -> list[dict[str, Any]]:
        """Return the projects that still exist."""
        with contextlib.suppress(OSError, ValueError, RuntimeError):  # RuntimeError: there is no home
            listed = json.loads(self._file().read_text(encoding="utf-8"))
            fields = ("path", "name", "answers", "when")
            whole = [one for one in listed if isinstance(one, dict) and all(field in one for field in fields)]
            return [one for one in whole if Path(str(one["path"])).is_file()][:MOST]
        return []

    def shown(self) -> list[dict[str, Any]]:
        """Return the list for the page."""
        return [{"id": _key(one["path"]), **{name: one[name] for name in ("name", "answers", "when")}}
                for one in self.read()]  # fmt: skip

    def path(self, key: str) -> Path | None:
        """Return the path of a listed project."""
        return next((Path(one["path"]) for one in self.read() if _key(one["path"]) == key), None)

    def port(self, path: Path) -> int:
        """Return the port on which a project was open last, 0 if that is unknown.

        What a page could not save waits in the browser under the address of that page.
        """
        whole = str(path.resolve())
        found = next((one.get("port") for one in self.read() if one["path"] == whole), 0)
        return found if isinstance(found, int) and 1024 <= found <= 65_535 else 0

    def add(self, path: Path, answers: int, port: int = 0) -> None:
        """Put a project first."""
        whole = str(path.resolve())
        when = datetime.now(UTC).astimezone().date().isoformat()
        first = {"path": whole, "name": path.name, "answers": answers, "when": when, "port": port}
        self._write([first, *(one for one in self.read() if one["path"] != whole)][:MOST])

    def clear(self) -> None:
        """Forget all of them; the projects stay."""
        self._write([])

    def _file(self) -> Path:
        return (self._folder or _folder()) / "recent.json"

    def _write(self, listed: list[dict[str, Any]]) -> None:
        with contextlib.suppress(OSError, RuntimeError):
            file = self._file()
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(file, json.dumps(listed).encode())
            file.chmod(0o600)


def _key(path: Any) -> str:
    return hashlib.sha256(str(path).encode("utf-8", "surrogatepass")).hexdigest()[:20]
