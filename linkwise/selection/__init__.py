"""`cluster`, the front door of the library, and the choice of models by statements held out: folds and search."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
