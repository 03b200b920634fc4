"""Hard statements, soft pairs and the cannot-link graph as arrays that every engine and proof reads."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
