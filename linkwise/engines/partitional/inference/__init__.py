"""Labels of samples that soft statements join: one by one, by trees, by beliefs, by a linear program, within sizes."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
