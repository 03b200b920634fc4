"""Answers to questions about a result: conflicts, forced pairs, why two samples share a cluster."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
