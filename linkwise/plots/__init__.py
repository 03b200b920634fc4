"""How it looks: trees, samples, tables, curves and conflicts with matplotlib, needed only when something is drawn."""

from linkwise.plots._conflict import plot_conflict
from linkwise.plots._curve import plot_curve
from linkwise.plots._dendrogram import plot_dendrogram
from linkwise.plots._heatmap import plot_heatmap
from linkwise.plots._links import plot_clusters, plot_links
from linkwise.plots._match import match_labels

__all__ = [
    "match_labels",
    "plot_clusters",
    "plot_conflict",
    "plot_curve",
    "plot_dendrogram",
    "plot_heatmap",
    "plot_links",
]
