"""Results: the dendrogram, its cuts, and the independent check of constraints."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
