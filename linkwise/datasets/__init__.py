"""Data sets: those of the papers, shapes that ordinary clustering gets wrong, and blobs with wrong statements."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
