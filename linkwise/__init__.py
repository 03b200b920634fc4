"""Clustering that knows what you know: knowledge in, a hierarchy or partition in which every hard statement holds out.

The names below are the public ones; each is loaded when first used, so importing linkwise compiles nothing and stays
light.
"""

from linkwise._lazy import attach

__version__ = "0.1.0"

__getattr__, __dir__, __all__ = attach(__name__, __file__)
