"""Contracted rows of given samples and statements."""

from __future__ import annotations

from typing import Any

from linkwise.constraints import Constraints
from linkwise.problem import Problem
from linkwise.problem.statements import Contracted


def contract(X: Any, constraints: Constraints) -> Contracted:
    """Join must-linked samples."""
    return Problem(X, constraints).contract()
