"""Style of pictures: axes of matplotlib, colors of clusters, and the look of statements by kind and state."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Kind
from linkwise.exceptions import LinkwiseError

if TYPE_CHECKING:
    from linkwise.constraints import Constraints
    from linkwise.result import Dendrogram

# Distinct for most kinds of color vision, on white and on near-black; lightness differs between neighbors.
_FIRST = ("#2f6db5", "#e08a1e", "#1b9e77", "#b8559a", "#69a9d8", "#c4532a", "#7d6bb3", "#8a8a2e", "#d98ba8", "#4f7f7a")
_GOLDEN_ANGLE = 0.381966

INK = "#6b7280"  # branches that belong to no single cluster
TOGETHER = "#147a3a"  # must-link: solid
APART = "#dc2626"  # cannot-link: dashed, so that color is never the only difference
CLOSER = "#7c3aed"  # triplet: dotted
BLAMED = "#fbbf24"  # glow behind statements that are blamed for a conflict
# kind: (color, matplotlib line style, words for the legend)
ARC_STYLES: dict[Kind, tuple[str, Any, str]] = {
    Kind.MUST_LINK: (TOGETHER, "solid", "must-link"),
    Kind.CANNOT_LINK: (APART, (0, (4, 2)), "cannot-link"),
    Kind.TRIPLET: (CLOSER, (0, (1, 1.5)), "triplet ab|c"),
}
HELD_WIDTH, BROKEN_WIDTH, BLAMED_WIDTH = 0.9, 2.2, 5.0


def axes_for(who: str, ax: Any, figsize: tuple[float, float]) -> Any:
    """Return ``ax``, or the axes of a new figure; raise with a hint if matplotlib is missing."""
    try:
        import matplotlib as mpl  # noqa: F401
    except ImportError as missing:
        msg = f"{who} draws with matplotlib, which is not installed.\nHint: pip install 'linkwise[plot]'"
        raise ImportError(msg) from missing
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=figsize, layout="constrained")[1]


@cache
def cluster_color(label: int) -> str:
    """Return the color of cluster ``label`` as ``#rrggbb``; -1 means no single cluster."""
    if label < 0:
        return INK
    if label < len(_FIRST):
        return _FIRST[label]
    turn = label - len(_FIRST)
    red, green, blue = colorsys.hls_to_rgb((0.07 + turn * _GOLDEN_ANGLE) % 1.0, (0.42, 0.55, 0.48)[turn % 3], 0.5)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


@cache
def text_on(color: str) -> str:
    """Return white or near-black, whichever has the larger contrast ratio (WCAG 2) on a color."""
    return "#ffffff" if 1.05 / (luminance(color) + 0.05) >= (luminance(color) + 0.05) / 0.0556 else "#111111"


def luminance(color: str) -> float:
    """Return the relative luminance of ``#rrggbb`` after WCAG 2, from 0 (black) to 1 (white)."""
    parts = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@dataclass(frozen=True, eq=False)
class Drawn:
    """The statements of one kind that are drawn."""

    kind: Kind
    items: IntArray  # their samples
    broken: BoolArray
    blamed: BoolArray
    n_all: int  # of this kind, drawn or not


def broken_in(constraints: Constraints, tree: Dendrogram | None, labels: Any) -> BoolArray:
    """Return a mask of the statements that do not hold: triplets in the tree, pairs in the labels, if given."""
    broken = np.zeros(constraints.n_statements, dtype=np.bool_)
    triplet = constraints.kind == Kind.TRIPLET
    if tree is not None:
        broken[triplet] = ~tree.satisfies(constraints)[triplet]
    if labels is not None:
        pair = constraints.kind <= Kind.CANNOT_LINK
        a, b, _ = constraints.items[pair].T
        together = np.asarray(labels)[a] == np.asarray(labels)[b]
        broken[pair] = together != (constraints.kind[pair] == Kind.MUST_LINK)
    return broken


def choose_drawn(constraints: Constraints, broken: BoolArray, blamed: Any, most: int) -> list[Drawn]:
    """Choose at most ``most`` statements about two or three samples: the blamed first, then the broken, then the rest.

    The rest is thinned evenly, so that the picture still represents all statements.
    """
    accused = np.zeros(constraints.n_statements, dtype=np.bool_)
    if blamed is not None:
        at = np.asarray(getattr(blamed, "core", blamed), dtype=np.intp).ravel()
        if len(at) and (at.min() < 0 or at.max() >= len(accused)):
            msg = f"blamed names statement {int(at.max())}, but statements are numbered 0 to {len(accused) - 1}."
            raise LinkwiseError(msg)
        accused[at] = True
    plain = np.flatnonzero(constraints.kind <= Kind.TRIPLET)
    chosen = plain
    if len(plain) > most:
        first = plain[np.lexsort((plain, ~broken[plain], ~accused[plain]))]
        urgent = int((accused[plain] | broken[plain]).sum())
        room = max(most - urgent, 0)
        rest = first[urgent:]
        spread = rest[np.linspace(0, len(rest) - 1, room).astype(np.intp)] if room and len(rest) else rest[:0]
        chosen = np.sort(np.concatenate([first[: min(urgent, most)], spread]))
    found = []
    for kind in ARC_STYLES:
        mine = chosen[constraints.kind[chosen] == kind]
        n_all = int((constraints.kind == kind).sum())
        if n_all:
            found.append(Drawn(kind, constraints.items[mine, : kind.arity], broken[mine], accused[mine], n_all))
    return found


def legend_handles(drawn: list[Drawn]) -> list[Any]:
    """Return legend entries: one per kind with its count, one for broken and one for blamed statements."""
    from matplotlib.lines import Line2D

    made = []
    for part in drawn:
        color, dashes, words = ARC_STYLES[part.kind]
        some = f"{len(part.items):,} of {part.n_all:,} drawn" if len(part.items) < part.n_all else f"{part.n_all:,}"
        made.append(Line2D([], [], color=color, linestyle=dashes, linewidth=1.3, label=f"{words} ({some})"))
    broken, blamed = (sum(int(getattr(part, name).sum()) for part in drawn) for name in ("broken", "blamed"))
    if broken:
        made.append(Line2D([], [], color="#374151", linewidth=BROKEN_WIDTH, label=f"thick: broken ({broken:,})"))
    if blamed:
        made.append(Line2D([], [], color=BLAMED, linewidth=BLAMED_WIDTH, alpha=0.7, label=f"blamed ({blamed:,})"))
    return made
