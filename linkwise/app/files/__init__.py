"""Files that come into a project and go out of it: tables, pictures, logs of answers, exports and code."""

from linkwise._lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
