"""Constraints: the table of statements about samples, and the rules about clusters."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
