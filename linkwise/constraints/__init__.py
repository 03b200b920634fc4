"""What was said: the table of statements, the rules about clusters, and where both come from."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
