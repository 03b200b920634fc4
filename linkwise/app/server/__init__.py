"""The server of the workbench: its gate, its requests, and the engine processes that it starts and watches."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
