"""Colors of clusters and statements; a cluster has the same color in every picture."""

from __future__ import annotations

import colorsys
from functools import cache

# Distinct for most kinds of color vision, on white and on near-black; lightness differs between neighbors.
_FIRST = ("#2f6db5", "#e08a1e", "#1b9e77", "#b8559a", "#69a9d8", "#c4532a", "#7d6bb3", "#8a8a2e", "#d98ba8", "#4f7f7a")
_GOLDEN_ANGLE = 0.381966

INK = "#6b7280"  # branches that belong to no single cluster
TOGETHER = "#15803d"  # must-link: solid
APART = "#dc2626"  # cannot-link: dashed, so that color is never the only difference
CLOSER = "#7c3aed"  # triplet: dotted
BLAMED = "#fbbf24"  # glow behind statements that are blamed for a conflict


@cache
def cluster_color(label: int) -> str:
    """Return the color of cluster ``label`` as ``#rrggbb``; -1 means no single cluster.

    Examples
    --------
    >>> from linkwise.plots._palette import cluster_color
    >>> cluster_color(0), cluster_color(0) == cluster_color(40)
    ('#2f6db5', False)
    """
    if label < 0:
        return INK
    if label < len(_FIRST):
        return _FIRST[label]
    turn = label - len(_FIRST)
    red, green, blue = colorsys.hls_to_rgb((0.07 + turn * _GOLDEN_ANGLE) % 1.0, (0.42, 0.55, 0.48)[turn % 3], 0.5)
    return f"#{round(red * 255):02x}{round(green * 255):02x}{round(blue * 255):02x}"


@cache
def text_on(color: str) -> str:
    """Return white or near-black, whichever has the larger contrast ratio (WCAG 2) on a color.

    Examples
    --------
    >>> from linkwise.plots._palette import text_on
    >>> text_on("#2f6db5"), text_on("#69a9d8")
    ('#ffffff', '#111111')
    """
    return "#ffffff" if 1.05 / (luminance(color) + 0.05) >= (luminance(color) + 0.05) / 0.0556 else "#111111"


def luminance(color: str) -> float:
    """Return the relative luminance of ``#rrggbb`` after WCAG 2, from 0 (black) to 1 (white)."""
    parts = (int(color[i : i + 2], 16) / 255 for i in (1, 3, 5))
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
