"""Checks that an argument is a table of constraints about the right samples, with kinds that a method understands."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from linkwise.constraints._kinds import Kind
from linkwise.constraints._rules import Rule
from linkwise.constraints._table import Constraints
from linkwise.exceptions import ConstraintError, LinkwiseError, UnsupportedConstraintError


def require_constraints(constraints: Any, who: str, n_samples: int | None = None, *, of: str = "the result") -> None:
    """Refuse an argument that is not a table of constraints, or is about another number of samples than ``of``."""
    if not isinstance(constraints, Constraints):
        kind = type(constraints).__name__
        msg = f"{who}: constraints are {kind}, expected Constraints.\nHint: use `Constraints.build`."
        raise LinkwiseError(msg)
    if n_samples is not None and constraints.n_samples != n_samples:
        msg = (
            f"{who}: constraints are about {constraints.n_samples:,} samples, but {of} has {n_samples:,}.\n"
            "Hint: take the same rows of both, as in X[rows], constraints[rows]."
        )
        raise ConstraintError(msg)


def require_understood(
    constraints: Constraints,
    who: str,
    kinds: Collection[Kind],
    rules: Collection[type[Rule]] = (),
    hint: str | None = None,
) -> None:
    """Refuse kinds of statements and rules that a method does not understand."""
    foreign = [kind.word for kind in Kind if kind not in kinds and (constraints.kind == kind).any()]
    foreign += [type(rule).__name__ for rule in constraints.rules if type(rule) not in rules]
    if foreign:
        known = [kind.word for kind in Kind if kind in kinds] + sorted(rule.__name__ for rule in rules)
        raise UnsupportedConstraintError.of(who, foreign, known, *([hint] if hint else []))
