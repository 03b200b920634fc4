"""Rules about clusters rather than samples: minimum separation, neighborhood, distance of merged centroids, size."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields

from linkwise._messages import hint
from linkwise._validation import read_count, read_number
from linkwise.exceptions import ConstraintError


@dataclass(frozen=True, slots=True)
class Rule:
    """Base of the cluster-level rules; each is a frozen value, so rules compare and hash by content.

    Examples
    --------
    >>> from linkwise.constraints import MinSeparation, Rule
    >>> isinstance(MinSeparation(0.5), Rule), MinSeparation(0.5) == MinSeparation(0.5)
    (True, True)
    """

    def __post_init__(self) -> None:
        for field in fields(self):
            given = getattr(self, field.name)
            value = read_number(given, field.name, type(self).__name__, finite=False, error=ConstraintError)
            object.__setattr__(self, field.name, value)

    def __str__(self) -> str:
        """Write the rule as in a file of statements while a command runs, else as in Python."""
        word = re.sub(r"(?<!^)([A-Z])", r"_\1", type(self).__name__).lower()
        values = [getattr(self, field.name) for field in fields(self)]
        bounds = " to ".join(str(value) for value in values if value is not None)
        return hint(command=f"{word} {bounds}{' or more' if None in values else ''}", python=repr(self))


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
        for name in ("low",) if self.high is None else ("low", "high"):
            size = read_count(getattr(self, name), name, "SizeBetween", low=1, error=ConstraintError)
            object.__setattr__(self, name, size)
        if self.high is not None and self.high < self.low:
            msg = f"SizeBetween: low is {self.low} and high is {self.high}, expected low <= high."
            raise ConstraintError(msg)


def rule_tuple(rules: Iterable[Rule] | Rule) -> tuple[Rule, ...]:
    """Return one rule, or several, as a tuple."""
    given = (rules,) if isinstance(rules, Rule) else tuple(rules)
    for rule in given:
        if not isinstance(rule, Rule):
            msg = f"rules holds {rule!r}, expected rules such as MinSeparation(0.5)."
            raise ConstraintError(msg)
    return given
