"""Graphs and kernels that statements have bent: spectral learning, kernel k-means, and statements alone."""

from typing import TYPE_CHECKING

from linkwise._lazy import loads_from

__all__ = [
    "CorrelationClustering",
    "CorrelationRun",
    "KernelKMeans",
    "KernelRun",
    "NeighbourhoodPropagation",
    "PropagationRun",
    "SpectralLearning",
    "SpectralRun",
    "correlation_clustering",
    "kernel_kmeans",
    "propagate_neighbourhoods",
    "spectral_learning",
]

if TYPE_CHECKING:
    from linkwise.engines.spectral._correlation import CorrelationClustering, CorrelationRun, correlation_clustering
    from linkwise.engines.spectral._kernel_kmeans import KernelKMeans, KernelRun, kernel_kmeans
    from linkwise.engines.spectral._neighbourhoods import (
        NeighbourhoodPropagation,
        PropagationRun,
        propagate_neighbourhoods,
    )
    from linkwise.engines.spectral._spectral import SpectralLearning, SpectralRun, spectral_learning
else:
    _MODULES = ("_correlation", "_kernel_kmeans", "_neighbourhoods", "_spectral")
    __getattr__, __dir__ = loads_from(__name__, __all__, _MODULES)
