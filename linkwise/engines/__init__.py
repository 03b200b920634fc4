"""Who solves it: the estimators, and the functions behind them."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
