"""Decide whether statements can hold together, in how many clusters, and show a witness."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
