"""What comes out: the dendrogram, and the independent check that it keeps what was said."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
