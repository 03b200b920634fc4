"""Reports: the facts of a result, written as an HTML page, Markdown or JSON."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
