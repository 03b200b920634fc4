"""Repair of constraints: the cheapest statements to drop so that the others hold together."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
