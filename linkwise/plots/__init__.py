"""How it looks: trees, samples, tables, curves, conflicts and searches with matplotlib, loaded only for drawing."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
