"""Compiled structures that several packages share, and the decorators that compile kernels."""

from linkwise._kernels._jit import inner, njit
from linkwise._kernels._tier import compiled_only

__all__ = ["compiled_only", "inner", "njit"]
