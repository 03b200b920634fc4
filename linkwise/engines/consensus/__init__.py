"""Clusterings by the agreement of many: views of the data, methods told the statements, and their weighted vote."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
