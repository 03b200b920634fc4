"""Draw the worked example of mixed-knowledge.md: ``python docs/draw_mixed.py`` writes docs/img/mixed.png."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
import matplotlib.pyplot as plt

from linkwise import Constraints, Dendrogram, check
from linkwise.plots import plot_dendrogram

DRINKS = ["tea 1", "coffee 1", "cocoa 1", "tea 2", "coffee 2", "cocoa 2", "wine", "beer"]
SAID = Constraints.from_ids(
    DRINKS,
    must_link=[("tea 1", "tea 2"), ("coffee 1", "coffee 2"), ("cocoa 1", "cocoa 2")],
    cannot_link=[("wine", "tea 1")],
    triplets=[("tea 1", "coffee 1", "cocoa 1"), ("coffee 2", "cocoa 2", "tea 2"), ("wine", "beer", "tea 1")],
)


def main() -> None:
    """Draw the hierarchy that shows that everything can hold, its marked clusters in color."""
    tree = check(SAID).witness
    assert isinstance(tree, Dendrogram)
    figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
    plot_dendrogram(tree, ax=ax, labels=tree.cut_marked(), constraints=SAID)
    figure.suptitle("A hierarchy in which all seven statements hold; colors are the finest clusters", fontsize=11)
    figure.savefig(Path(__file__).parent / "img" / "mixed.png", dpi=110)


if __name__ == "__main__":
    main()
