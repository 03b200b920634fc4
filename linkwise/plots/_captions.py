"""Captions: notes that do not overlap, and names from data as short plain text without missing glyphs."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

CORNERS = ((4.0, 3.0), (-4.0, 3.0), (4.0, -3.0), (-4.0, -3.0))


class Note(NamedTuple):
    """A text at a position in the data.

    ``offsets`` are its possible distances from there, in points; the text extends away from it, and (0, 0) means on it.
    """

    place: Any
    text: str
    offsets: Sequence[tuple[float, float]] = CORNERS
    size: float = 7.5  # of the letters, in points
    bold: bool = False


def write_apart(ax: Any, notes: Sequence[Note], *, within_axes: bool = True, avoid: Any = None) -> None:
    """Write notes in order; leave out those that would overlap earlier ones or stick out.

    Bold notes with several offsets avoid hiding the places in ``avoid``, if possible. Sizes are known only once the
    figure is laid out, so this comes last.
    """
    if not notes:
        return
    from matplotlib.patheffects import withStroke
    from matplotlib.transforms import Bbox

    families = fonts_for([note.text for note in notes])
    ax.figure.draw_without_rendering()
    canvas = ax.figure.canvas
    renderer = canvas.get_renderer() if hasattr(canvas, "get_renderer") else None
    frame = ax.get_window_extent() if within_axes else ax.figure.bbox
    taken: list[Any] = []
    spots = ax.transData.transform(avoid) if avoid is not None and len(avoid) else None
    for note in notes:
        made = ax.annotate(
            note.text,
            note.place,
            xytext=(0, 0),
            textcoords="offset points",
            fontsize=note.size,
            fontweight="bold" if note.bold else "normal",
            fontfamily=families,
            parse_math=False,
            path_effects=[withStroke(linewidth=2.5, foreground="white")],
            zorder=6,
        )
        fits = None
        for dx, dy in note.offsets:
            made.set(
                position=(dx, dy),
                ha="center" if abs(dx) < 1 else "left" if dx > 0 else "right",
                va="center" if abs(dy) < 1 else "bottom" if dy > 0 else "top",
            )
            box = made.get_window_extent(renderer).padded(1.5)
            inside = frame.x0 <= box.x0 and box.x1 <= frame.x1 and frame.y0 <= box.y0 and box.y1 <= frame.y1
            if not inside or any(Bbox.intersection(box, other) is not None for other in taken):
                continue
            fits = fits or (box, _state(made))
            if not note.bold or len(note.offsets) == 1 or not _hides(box, spots):
                fits = box, _state(made)
                break
        if fits is None:
            made.remove()
        else:
            taken.append(fits[0])
            made.set(**fits[1])


def _state(made: Any) -> dict[str, Any]:
    return {"position": made.get_position(), "ha": made.get_ha(), "va": made.get_va()}


def _hides(box: Any, spots: Any) -> bool:
    if spots is None:
        return False
    x, y = spots.T
    return bool(((box.x0 <= x) & (x <= box.x1) & (box.y0 <= y) & (y <= box.y1)).any())


# Families with scripts that the usual font lacks; the first installed one is used.
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
    """Return the width of a text in narrow letters: wide ones count twice, combining marks not at all."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def plain_text(name: Any) -> str:
    """Write a name on one line: line breaks and tabs become spaces, other control characters small boxes."""
    text = " ".join(str(name).split())
    return (
        "".join(c if c.isprintable() else "" if unicodedata.category(c) == "Cf" else _MISSING for c in text) or "\u2013"
    )


def shorten(text: str, longest: int = 24) -> str:
    """Cut a text in its middle, so that names with the same beginning stay different: measureme…06:48."""
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
    """Return the name of a sample for a picture, plain and short, or its number."""
    return str(sample) if ids is None else readable(shorten(plain_text(ids[sample]), longest))


def every(count: int, room: int) -> int:
    """Return the step between shown things if there is room for ``room`` of ``count``."""
    return max(1, -(-count // max(room, 1)))


@cache
def _known(family: str) -> frozenset[int]:
    from matplotlib import font_manager

    path = font_manager.findfont(family, fallback_to_default=True)
    return frozenset(font_manager.get_font(path).get_charmap())


@cache
def _fallback() -> str | None:
    """Return an installed family for wide scripts, or None."""
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
    """Return the font families for some texts: the usual one, and one for other scripts if needed."""
    usual = _usual()
    letters = set().union(*(map(ord, text) for text in texts)) if texts else set()
    other = _fallback()
    return [usual] if other is None or letters <= _known(usual) else [usual, other]


def readable(text: str) -> str:
    """Replace letters that no installed font has by a box, so that matplotlib does not warn."""
    other = _fallback()
    usual = _known(_usual())
    known = usual if other is None or all(ord(c) in usual for c in text) else usual | _known(other)
    return "".join(c if ord(c) in known else _MISSING for c in text)
