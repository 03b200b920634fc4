"""Partitions around centres under must-links, cannot-links and sizes."""

from linkwise.engines.partitional._cop_kmeans import COPKMeans, cop_kmeans
from linkwise.engines.partitional._lloyd import KMeansRun
from linkwise.engines.partitional._seeded import (
    ConstrainedKMeans,
    SeededKMeans,
    constrained_kmeans,
    seeded_kmeans,
)

__all__ = [
    "COPKMeans",
    "ConstrainedKMeans",
    "KMeansRun",
    "SeededKMeans",
    "constrained_kmeans",
    "cop_kmeans",
    "seeded_kmeans",
]
