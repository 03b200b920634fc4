"""Plots of trees, samples, tables, curves, conflicts and searches with matplotlib, which is loaded when needed."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
