"""What happened, for people: the facts of a result, and a page, Markdown or JSON that tells them."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
