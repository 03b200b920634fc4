"""Data sets to try things on: the papers' sets, shapes ordinary clustering gets wrong, and planted knowledge."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
