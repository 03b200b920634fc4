"""Axes of matplotlib, which is imported here and only when something is drawn."""

from __future__ import annotations

from typing import Any


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
