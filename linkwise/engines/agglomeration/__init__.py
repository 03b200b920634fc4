"""Merge loops of all linkages, with and without a matrix of distances."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
