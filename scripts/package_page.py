"""The page of the package on an index: the README, without links and pictures that lead inside the repository only.

Hatchling calls it while it builds; see ``tool.hatch.metadata.hooks`` in pyproject.toml.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(  # and the caption below
    r"(?:!\[[^\]]*\]\((?!https?:)[^)]*\)|<img src=\"(?!https?:)[^>]*>)\n+(?:\*[^*].*?\*\n+)?", re.DOTALL
)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")


def page_of(readme: str) -> str:
    """The text with every relative link as plain words, and without relative pictures."""
    return _LINK.sub(r"\1", _PICTURE.sub("", readme))


class PackagePage(MetadataHookInterface):
    """Gives the page to the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme of the project."""
        text = Path(self.root, "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": page_of(text)}
