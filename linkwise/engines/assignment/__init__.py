"""Labels of minimum cost under cannot-links and sizes."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
