"""Rules about clusters rather than samples: minimum separation, neighborhood, reach of a merge, size."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, fields
from numbers import Integral, Real

from linkwise._messages import hint
from linkwise.exceptions import ConstraintError


def _number(rule: str, name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or math.isnan(value) or value < 0:
        msg = f"{rule}: {name} is {value!r}, expected a number >= 0."
        raise ConstraintError(msg)
    return float(value)


@dataclass(frozen=True, slots=True)
class Rule:
    """Base of the cluster-level rules; each is a frozen value, so rules compare and hash by content.

    Examples
    --------
    >>> from linkwise.constraints import MinSeparation, Rule
    >>> isinstance(MinSeparation(0.5), Rule), MinSeparation(0.5) == MinSeparation(0.5)
    (True, True)
    """

    def __str__(self) -> str:
        """The rule as a file of statements has it while a command runs, else as Python has it."""
        word = re.sub(r"(?<!^)([A-Z])", r"_\1", type(self).__name__).lower()
        values = [getattr(self, field.name) for field in fields(self)]
        told = " to ".join(str(value) for value in values if value is not None)
        return hint(command=f"{word} {told}{' or more' if None in values else ''}", python=repr(self))


@dataclass(frozen=True, slots=True)
class MinSeparation(Rule):
    """Clusters stay at least ``delta`` apart: every pair of samples closer than ``delta`` is must-linked (δ).

    Examples
    --------
    >>> from linkwise.constraints import MinSeparation
    >>> MinSeparation(0.5)
    MinSeparation(delta=0.5)
    """

    delta: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "delta", _number("MinSeparation", "delta", self.delta))


@dataclass(frozen=True, slots=True)
class NeighborWithin(Rule):
    """Each sample of a cluster of two or more has another member of it within ``epsilon`` (ε).

    Examples
    --------
    >>> from linkwise.constraints import NeighborWithin
    >>> NeighborWithin(2)
    NeighborWithin(epsilon=2.0)
    """

    epsilon: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", _number("NeighborWithin", "epsilon", self.epsilon))


@dataclass(frozen=True, slots=True)
class MaxCentroidDistance(Rule):
    """Two clusters whose centroids are further apart than ``gamma`` are never merged (γ).

    Examples
    --------
    >>> from linkwise.constraints import MaxCentroidDistance
    >>> MaxCentroidDistance(3.0)
    MaxCentroidDistance(gamma=3.0)
    """

    gamma: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", _number("MaxCentroidDistance", "gamma", self.gamma))


@dataclass(frozen=True, slots=True)
class SizeBetween(Rule):
    """Every cluster of the cut has between ``low`` and ``high`` samples (``high=None``: no upper bound).

    Examples
    --------
    >>> from linkwise.constraints import SizeBetween
    >>> SizeBetween(20)
    SizeBetween(low=20, high=None)
    """

    low: int = 1
    high: int | None = None

    def __post_init__(self) -> None:
        for name, value in (("low", self.low), ("high", self.high)):
            if name == "high" and value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
                msg = f"SizeBetween: {name} is {value!r}, expected a whole number >= 1."
                raise ConstraintError(msg)
            object.__setattr__(self, name, int(value))
        if self.high is not None and self.high < self.low:
            msg = f"SizeBetween: low is {self.low} and high is {self.high}, expected low <= high."
            raise ConstraintError(msg)
