"""Who should solve it, judged by what was held out: folds over knowledge, the search, and the front door."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
