"""Engines that learn a distance from statements."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
