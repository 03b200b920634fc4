"""Compiled structures that several packages share, and the decorators that compile kernels."""

from linkwise._kernels._jit import inner, njit

__all__ = ["inner", "njit"]
