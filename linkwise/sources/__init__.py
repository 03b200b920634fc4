"""Constraints made from taxonomies, labels, groups, traces, duplicates and existing clusterings."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
