"""Measures of results: labels against classes, trees against classes and hierarchies, and statements that hold."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
