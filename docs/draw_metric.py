"""Draw the example of learned-metrics.md: ``python docs/draw_metric.py`` writes docs/img/metric.png."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from linkwise import Kind
from linkwise.engines import LSML
from linkwise.sources import label_triplets_sample

COLORS = np.array(["#0072b2", "#e69f00", "#009e73"])  # told apart by readers with any color vision
MARKERS = "os^"


def draw(ax: Any, X: Any, y: Any, triplets: Any, title: str) -> None:
    """Draw points, a marker per class and a color per cluster of K-Means, and the triplets between them."""
    cluster = KMeans(3, n_init=10, random_state=0).fit_predict(X)
    for k, marker in enumerate(MARKERS):
        ax.scatter(*X[y == k].T, c=COLORS[cluster[y == k]], marker=marker, s=22, linewidths=0.4, edgecolors="white")
    for a, b, c in triplets:
        ax.plot(*X[[a, b]].T, color="black", lw=1.2)
        ax.plot(*X[[b, c]].T, color="black", lw=1.0, ls=":")
    ax.set_aspect("equal")
    ax.set_title(f"{title}\nadjusted Rand index of K-Means: {adjusted_rand_score(y, cluster) + 0.0:.2f}", fontsize=10)


def main() -> None:
    """Draw the space before and after."""
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1, 2], 60)
    along, across = 3 * rng.normal(size=180), 1.4 * (y - 1) + 0.3 * rng.normal(size=180)
    X = np.column_stack([along + across, along - across]) / np.sqrt(2)
    said = label_triplets_sample(y, 30, random_state=3)
    Z = LSML(loss="margin").fit(X, constraints=said).transform(X)
    shown = said.of(Kind.TRIPLET)[:8]
    figure, (before, after) = plt.subplots(1, 2, figsize=(9, 4.6), layout="constrained")
    draw(before, X, y, shown, "Before: Euclidean distance")
    draw(after, Z, y, shown, "After 30 triplets: the learned metric")
    handles = [
        *(plt.Line2D([], [], color="gray", marker=m, ls="", label=f"class {k + 1}") for k, m in enumerate(MARKERS)),
        plt.Line2D([], [], color="black", lw=1.2, label="said to be nearer"),
        plt.Line2D([], [], color="black", lw=1.0, ls=":", label="than this"),
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=5, fontsize=9, frameon=False)
    figure.savefig(Path(__file__).parent / "img" / "metric.png", dpi=110)


if __name__ == "__main__":
    main()
