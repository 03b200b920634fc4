"""Clustering of files that no single machine holds, by blocks of rows, in this process or on Dask workers."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
