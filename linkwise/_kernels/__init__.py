"""Compiled structures everybody shares, and the one decorator that compiles them."""

from linkwise._kernels._jit import njit

__all__ = ["njit"]
