"""Dialogues that can be replayed from their logs, strategies that choose questions, and simulated answerers."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
