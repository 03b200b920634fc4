"""Compiled structures everybody shares, and the decorators that compile them."""

from linkwise._kernels._jit import inner, njit

__all__ = ["inner", "njit"]
