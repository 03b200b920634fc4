"""The target that kernels are compiled for: versions, settings of Numba, platform, and features of the processor."""

from __future__ import annotations

import re
import sys
from typing import Any

import llvmlite
import numba
import numpy as np
from llvmlite import binding
from numba.core import config

# Settings of Numba that change machine code, but for the processor.
_CHANGING = (
    "BOUNDSCHECK", "DEBUGINFO_DEFAULT", "ENABLE_AVX", "JIT_COVERAGE", "LLVM_REFPRUNE_FLAGS", "LLVM_REFPRUNE_PASS",
    "LOOP_VECTORIZE", "OPT", "SLP_VECTORIZE", "USING_SVML",
)  # fmt: skip


def versions() -> dict[str, str]:
    """The versions of everything that reads machine code or is called by it."""
    return {
        "Numba": numba.__version__,
        "llvmlite": llvmlite.__version__,
        "Python": str(sys.implementation.cache_tag),
        "NumPy": np.__version__.split(".")[0],
    }


def settings() -> dict[str, str]:
    """The settings of Numba that change machine code, but for the processor."""
    return {name: str(getattr(config, name, None) or 0) for name in _CHANGING}


def platform() -> str:
    """The processor family and system, without the version of the system that macOS adds."""
    return re.sub(r"[\d.]+$", "", binding.get_process_triple())


def features() -> list[str]:
    """The features of this processor; none where LLVM cannot tell."""
    try:
        return sorted(name for name, there in binding.get_host_cpu_features().items() if there)
    except RuntimeError:
        return []


def here() -> dict[str, Any]:
    """Everything that must fit code compiled elsewhere."""
    known = {"linkwise": str(vars(sys.modules["linkwise"])["__version__"]), **versions()}
    return {"versions": known, "settings": settings(), "platform": platform(), "features": features()}
