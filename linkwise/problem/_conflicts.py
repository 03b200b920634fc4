"""All conflicts of a table at once, so that a file can be put right in one go."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise.constraints import Constraints
from linkwise.problem._budget import Budget, read_limits
from linkwise.problem._choices import Choices
from linkwise.problem._conflict import contradiction
from linkwise.problem._core import Core, find_core
from linkwise.problem._disagreement import Doubt
from linkwise.problem._explain import Explanation
from linkwise.problem._feasibility import conflicts_of, judge, read_hard, read_k
from linkwise.problem._hard import Hard

__all__ = ["conflicts"]

IntArray = npt.NDArray[np.intp]
_EACH = 0.1  # units of work for making one conflict small


def conflicts(
    constraints: Constraints,
    *,
    n_clusters: int | None = None,
    X: Any = None,
    metric: str = "euclidean",
    budget: float = 30.0,
    time_limit: float | None = None,
) -> tuple[Explanation, ...]:
    """List conflicts that share no statement, one after the other, until the rest holds together.

    Parameters
    ----------
    constraints : Constraints
        Statements of any kind. Soft ones are negotiable and left out.
    n_clusters : int, optional
        A wanted number of clusters; what stands in its way is listed after the contradictions.
    X : array-like, optional
        The data, as in `check`.
    metric : str, default="euclidean"
        How distances follow from X; ``"precomputed"`` if X holds them.
    budget : float, default=30.0
        Counted work after which no further conflict is looked for; a unit takes about a second, and the same conflicts
        are found on a slow machine.
    time_limit : float, optional
        Seconds after which no further conflict is looked for even if work is left. Default: none.

    Returns
    -------
    tuple of Explanation
        Empty when no conflict was found. ``more`` of the last one is False when the rest holds together, True when the
        budget was used up before or rules are in the way that no statement could undo, None when it could not be
        decided (`check` of the rest then says "unknown"). ``cut`` tells that the time limit ended the search. The
        suspects of each repair it while the other conflicts are set aside.

    See Also
    --------
    check : explains the first conflict.
    repair : finds one set to drop that repairs all of them.

    Notes
    -----
    Conflicts may overlap in many ways; these are as many disjoint ones as were met, so no repair drops fewer
    statements. Dropping a suspect of each mostly repairs everything, and `check` tells.

    **Cost** a test of feasibility and some forests for each conflict. **Guarantee** every core is minimal, no statement
    is in two of them, and unless ``more`` says otherwise the statements outside all of them hold together.

    Examples
    --------
    >>> from linkwise import Constraints, conflicts
    >>> said = Constraints.build(
    ...     6, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], triplets=[(3, 4, 5), (4, 5, 3)]
    ... )
    >>> [why.core for why in conflicts(said)]
    [(0, 1, 2), (3, 4)]
    """
    work = read_limits(budget, time_limit, "conflicts")
    hard = read_hard(constraints, X, metric, "conflicts")
    k = read_k(n_clusters, constraints, "conflicts")
    choices, rank = Choices.of(constraints), Doubt(constraints, X, metric)
    found: list[Explanation | Core] = []
    gone: list[IntArray] = []
    more: bool | None = True
    while not work.over:
        why, decided = _first(*_without(hard, choices, gone), k, X, metric, work)
        if why is None:
            more = False if decided else None
            break
        numbers = _said(why, constraints)
        found.append(why)
        if not len(numbers):  # the rules alone leave no clustering
            break
        gone.append(numbers)
    listed = []
    for i, why in enumerate(found):
        others = gone[:i] + gone[i + 1 :]
        here = _without(hard, choices, others)
        searched = more is not True and not work.over
        if isinstance(why, Core):
            core = why._replace(shared=None)  # other cores met on the way may be gone by now
            told = contradiction(here[0], fixes=searched, rank=rank, core=core, also=conflicts_of(here[1]), budget=work)
        else:
            again = judge(*here, k, X, metric, rank, work).explanation if searched else None
            told = again if again is not None and again.core == why.core else replace(why, complete=False)
        listed.append(replace(told, more=True if i + 1 < len(found) else more))
    return tuple(replace(why, cut=work.cut) for why in listed)


def _first(
    hard: Hard, choices: Choices, k: int | None, X: Any, metric: str, budget: Budget
) -> tuple[Explanation | Core | None, bool]:
    """A conflict if there is one, and whether that is certain."""
    core = find_core(hard, budget=budget.share(_EACH))
    if core is not None:
        return core, True
    verdict = judge(hard, choices, k, X, metric, None, budget)
    return verdict.explanation, verdict.status != "unknown"


def _said(why: Explanation | Core, constraints: Constraints) -> IntArray:
    if isinstance(why, Core):
        return why.numbers[why.numbers < constraints.n_statements]
    return np.array(why.core, dtype=np.intp)


def _without(hard: Hard, choices: Choices, gone: list[IntArray]) -> tuple[Hard, Choices]:
    if not gone:
        return hard, choices
    numbers = np.concatenate(gone)
    return hard.without(numbers), choices.without(numbers)
