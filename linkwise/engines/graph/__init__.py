"""Graphs and kernels that statements have bent: spectral learning, kernel k-means, and statements alone."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
