"""Draw the picture of `docs/datasets.md`: ``python docs/draw_datasets.py``. The same every time."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.cluster import KMeans

from linkwise.datasets import cellwalls, circles, stormclouds, xor
from linkwise.plots import plot_clusters


def draw(path: Path) -> None:
    """Draw the four shapes as they are meant, and below as k-means sees them."""
    shapes = [made(random_state=0) for made in (circles, cellwalls, xor, stormclouds)]
    ratios = [np.ptp(data.X[:, 0]) / max(np.ptp(data.X[:, 1]), 2.2) for data in shapes]
    figure, axes = plt.subplots(2, 4, figsize=(12, 4.6), width_ratios=ratios, layout="constrained")
    for column, data in enumerate(shapes):
        found = KMeans(2, n_init=10, random_state=0).fit_predict(data.X)
        if (found == data.y).mean() < 0.5:
            found = 1 - found  # the colors that agree most
        for ax, labels in zip(axes[:, column], (data.y, found), strict=True):
            plot_clusters(data.X, labels, ax=ax)
            ax.get_legend().remove()
            ax.set(aspect="equal", xlabel="", ylabel="", xticks=[], yticks=[])
            ax.spines[:].set_visible(False)
        axes[0, column].set_title(data.name.upper(), fontsize=11)
    for ax, text in zip(axes[:, 0], ("what is meant", "what k-means finds"), strict=True):
        ax.set_ylabel(text, fontsize=11)
    figure.savefig(path, dpi=110, metadata={"Software": None})
    plt.close(figure)


if __name__ == "__main__":
    draw(Path(__file__).parent / "img" / "datasets.png")
