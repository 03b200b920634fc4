"""How it looks: dendrograms and clusters with matplotlib, which is needed only when something is drawn."""

from linkwise.plots._clusters import plot_clusters
from linkwise.plots._dendrogram import plot_dendrogram

__all__ = ["plot_clusters", "plot_dendrogram"]
