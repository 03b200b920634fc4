"""Trees as parent arrays: reading, writing and checking them, under `Dendrogram` and `Taxonomy`."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
