"""Names from data as text one can read: shortened, on one line, never taken for a formula, without missing glyphs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import cache
from typing import Any

__all__ = ["every", "fonts_for", "name_of", "plain_text", "shorten"]

# Families that know scripts which the usual font does not, the first installed one of which is used.
_WIDE = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Source Han Sans SC",
    "Microsoft YaHei",
    "PingFang SC",
    "Hiragino Sans",
    "WenQuanYi Zen Hei",
    "Droid Sans Fallback",
    "Arial Unicode MS",
    "Unifont",
)
_MISSING = "\u25af"


def width_of(text: str) -> int:
    """How many narrow letters a text takes: wide ones count twice, combining marks not at all."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def plain_text(name: Any) -> str:
    """One line without control characters: line breaks and tabs become spaces, what cannot be shown a small box."""
    text = " ".join(str(name).split())
    return (
        "".join(c if c.isprintable() else "" if unicodedata.category(c) == "Cf" else _MISSING for c in text) or "\u2013"
    )


def shorten(text: str, longest: int = 24) -> str:
    """Cut a text in its middle, so that names with the same beginning stay different.

    Examples
    --------
    >>> from linkwise.plots._names import shorten
    >>> shorten("measurement 2026-11-16 06:48", 16)
    'measureme…06:48'
    """
    if width_of(text) <= longest:
        return text
    head = _first(text, (longest - 1) * 3 // 5)
    tail = _first(text[::-1], longest - 1 - width_of(head))[::-1]
    return f"{head.rstrip()}…{tail.lstrip()}"


def _first(text: str, width: int) -> str:
    for stop in range(len(text) + 1):
        if width_of(text[:stop]) > width:
            return text[: stop - 1]
    return text


def name_of(ids: Any, sample: int, longest: int = 24) -> str:
    """How a picture calls a sample: its name made plain and short, or its number."""
    return str(sample) if ids is None else readable(shorten(plain_text(ids[sample]), longest))


def every(count: int, room: int) -> int:
    """Every how manyth of ``count`` things is shown where there is room for ``room`` of them."""
    return max(1, -(-count // max(room, 1)))


@cache
def _known(family: str) -> frozenset[int]:
    from matplotlib import font_manager

    path = font_manager.findfont(family, fallback_to_default=True)
    return frozenset(font_manager.get_font(path).get_charmap())


@cache
def _fallback() -> str | None:
    """An installed family for wide scripts, or None."""
    from matplotlib import font_manager

    installed = {font.name for font in font_manager.fontManager.ttflist}
    return next((family for family in _WIDE if family in installed), None)


def _usual() -> str:
    from matplotlib import rcParams

    settings: Any = rcParams
    family = settings["font.family"]
    first = str(family if isinstance(family, str) else family[0])
    return str(settings[f"font.{first}"][0]) if f"font.{first}" in settings else first


def fonts_for(texts: Iterable[str]) -> list[str]:
    """The families to write some texts with: the usual one, and one for other scripts only where needed."""
    usual = _usual()
    letters = set().union(*(map(ord, text) for text in texts)) if texts else set()
    other = _fallback()
    return [usual] if other is None or letters <= _known(usual) else [usual, other]


def readable(text: str) -> str:
    """Replace letters that no installed font has: a box that is meant to be one, and no warning."""
    other = _fallback()
    usual = _known(_usual())
    known = usual if other is None or all(ord(c) in usual for c in text) else usual | _known(other)
    return "".join(c if ord(c) in known else _MISSING for c in text)
