"""The local web app: a project in one file, a server, and two engines that it asks."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
