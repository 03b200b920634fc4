"""Logic of constraints: feasibility with proofs, closure, repair, and the problem that an engine receives."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
