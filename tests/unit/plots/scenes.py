"""Trees, names and statements of any size for pictures, and a way to measure whether texts overlap."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from linkwise import Constraints, Dendrogram

LONG = [
    "Пингвин императорский, взрослый самец",
    "水獭 水獭 水獭 水獭 水獭 水獭 水獭",
    "cost $5_to^7 $",
    "a\nb\tc",
    "\u202eevil\x00",
    "",
]


def axes(width=9.0, height=5.0):
    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure.subplots()


def names(n):
    return [LONG[i] if i < len(LONG) else f"sample number {i} of the collection" for i in range(n)]


def tree(n, k=5, seed=0):
    """A random binary tree over blobs, and its cut into k clusters."""
    rng = np.random.default_rng(seed)
    merges, alive = [], list(range(n))
    order = rng.permutation(n).tolist()
    alive = order
    while len(alive) > 1:  # rounds of pairs: balanced, and quick for many samples
        pairs = list(zip(alive[::2], alive[1::2], strict=False))
        fresh = list(range(n + len(merges), n + len(merges) + len(pairs)))
        merges += pairs
        alive = fresh + (alive[-1:] if len(alive) % 2 else [])
    made = Dendrogram.from_merges(n, np.array(merges).reshape(-1, 2), np.sort(rng.random(len(merges))) + 0.1)
    return made, made.cut(n_clusters=min(k, n))


def statements(n, m, seed=0):
    rng = np.random.default_rng(seed)
    trios = np.array([rng.choice(n, 3, replace=False) for _ in range(3 * m)])
    return Constraints.build(
        n, must_link=trios[:m, :2], cannot_link=trios[m : 2 * m, :2], triplets=trios[2 * m :] if n > 2 else ()
    )


def texts_of(figure):
    """Every text that is drawn, with its box in pixels."""
    drawn = []
    whole = Text.draw

    def draw(self, renderer, *rest, **more):
        if self.get_visible() and self.get_text().strip():
            drawn.append((self.get_text(), self.get_window_extent(renderer)))
        return whole(self, renderer, *rest, **more)

    figure.draw_without_rendering()  # once for the layout
    Text.draw = draw
    try:
        figure.canvas.draw()
    finally:
        Text.draw = whole
    return drawn


def faults(figure):
    """Pairs of texts whose boxes share more than a pixel, and texts that stick out of the picture by more than two."""
    texts = texts_of(figure)
    width, height = figure.canvas.get_width_height()
    bad = [t for t, b in texts if b.x0 < -2 or b.y0 < -2 or b.x1 > width + 2 or b.y1 > height + 2]
    for (one, first), (other, second) in combinations(texts, 2):
        shared = Bbox.intersection(first, second)
        if shared is not None and shared.width > 1 and shared.height > 1:
            bad.append((one, other))
    return bad
