"""How it looks: trees, samples, tables, curves, conflicts and searches with matplotlib, loaded only for drawing."""

from linkwise.plots._conflict import plot_conflict
from linkwise.plots._curve import plot_curve
from linkwise.plots._dendrogram import plot_dendrogram
from linkwise.plots._heatmap import plot_heatmap
from linkwise.plots._links import plot_clusters, plot_links
from linkwise.plots._match import match_labels
from linkwise.plots._search import plot_search

__all__ = [
    "match_labels",
    "plot_clusters",
    "plot_conflict",
    "plot_curve",
    "plot_dendrogram",
    "plot_heatmap",
    "plot_links",
    "plot_search",
]
