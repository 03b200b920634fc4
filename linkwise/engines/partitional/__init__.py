"""Partitions around centres under must-links, cannot-links and sizes."""

from linkwise.engines.partitional._cop_kmeans import COPKMeans, cop_kmeans
from linkwise.engines.partitional._lloyd import KMeansRun

__all__ = ["COPKMeans", "KMeansRun", "cop_kmeans"]
