"""How it comes and goes: samples, knowledge, results and models as files."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
