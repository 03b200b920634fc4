"""Writing into a picture without overlaps: places are tried in turn, and what finds none is left out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from linkwise.plots._names import fonts_for

__all__ = ["CORNERS", "Note", "write_apart"]

CORNERS = ((4.0, 3.0), (-4.0, 3.0), (4.0, -3.0), (-4.0, -3.0))


class Note(NamedTuple):
    """A text for a place of the data.

    Attributes
    ----------
    place : pair of float
        Where in the data.
    text : str
    offsets : sequence of pairs of float
        Where the text may stand, in points from the place; it grows away from there, and (0, 0) means on it.
    size : float
        Of the letters, in points.
    bold : bool
    """

    place: Any
    text: str
    offsets: Sequence[tuple[float, float]] = CORNERS
    size: float = 7.5
    bold: bool = False


def write_apart(ax: Any, notes: Sequence[Note], *, within_axes: bool = True, avoid: Any = None) -> None:
    """Write notes in order; leave out those that would overlap earlier ones or stick out.

    Bold notes that have a choice hide none of the places in ``avoid``, if they can help it.

    Notes
    -----
    Sizes are known only once the figure is laid out, so this comes last.
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
