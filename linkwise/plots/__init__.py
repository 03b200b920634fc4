"""How it looks: dendrograms, clusters and searches with matplotlib, which is needed only when something is drawn."""

from linkwise.plots._clusters import plot_clusters
from linkwise.plots._dendrogram import plot_dendrogram
from linkwise.plots._search import plot_search

__all__ = ["plot_clusters", "plot_dendrogram", "plot_search"]
