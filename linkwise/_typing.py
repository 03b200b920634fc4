"""Types of the arrays that functions take and return."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.floating[Any]]  # of either precision
Bits = npt.NDArray[np.signedinteger[Any]]  # the same memory read as integers
