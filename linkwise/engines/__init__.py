"""The estimators, and functions for methods without one."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
