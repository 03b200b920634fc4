"""SparseAgglomerative: hierarchies of many samples, merged along nearest neighbors."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
