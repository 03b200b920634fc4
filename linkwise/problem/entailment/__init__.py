"""Statements that follow from others: closure, implication, minimal and informative sets."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
