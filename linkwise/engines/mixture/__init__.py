"""Engines that say how probable each cluster is: mixtures of Gaussians given statements, or weighed against them."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
