"""Hierarchies as ultrametrics: the largest below given distances, fitted ones, and ones that listen to triplets."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
