"""Clustering under constraints: hierarchies and partitions in which every hard statement holds.

Public names are loaded when first used, so importing linkwise is fast and compiles nothing.
"""

from linkwise._lazy import attach

__version__ = "1.0.0rc1"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
