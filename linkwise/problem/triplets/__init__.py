"""Trees that display triplets: BUILD in four forms, the finest blocks, spans."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
