"""Compiled structures that several packages share, and the decorators that compile kernels."""

from linkwise._kernels._jit import inner, njit
from linkwise._kernels._machine_code import can_keep, code_home
from linkwise._kernels._pack import installed_pack
from linkwise._kernels._tier import compiled_only

__all__ = ["can_keep", "code_home", "compiled_only", "inner", "installed_pack", "njit"]
