"""Distances between samples, rows and sparse rows, and distances bent by links."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
