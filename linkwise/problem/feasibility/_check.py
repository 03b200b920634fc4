"""`check`: whether all hard statements can hold together, and in how many clusters, with a witness or a proof."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from linkwise._messages import many
from linkwise._notebook import Tone, bars, card
from linkwise._typing import IntArray
from linkwise._validation import is_whole
from linkwise.constraints import Constraints, Kind, MinSeparation, has_parts, must_links_within, require_constraints
from linkwise.exceptions import InfeasibleConstraintsError, LinkwiseError
from linkwise.problem.explain import (
    WORK,
    Also,
    Doubt,
    EntryDoubt,
    Explanation,
    Suspects,
    blame_contradiction,
    blame_words,
    contradiction,
    expand,
    find_suspects,
    minimal_core,
    with_suspects,
)
from linkwise.problem.feasibility._choices import Choices, choice_core, free_witness, make_choices, settle_choices
from linkwise.problem.feasibility._n_clusters import Number, decide_number, tear_one_link
from linkwise.problem.feasibility._ranges import every_number_between, settle_range
from linkwise.problem.feasibility._rule_checks import settle_rules
from linkwise.problem.statements import Budget, Hard
from linkwise.problem.triplets import blocks_or_none
from linkwise.result import Dendrogram

_WORK, _QUICK = 20.0, 0.25  # units of work for the verdict, and for one test of what to drop
_BLAME, _EACH_BLAME = 5.0, 1.0  # to find the entries at fault for a number of clusters, and of it for one test
_TONES: dict[str, Tone] = {"feasible": "good", "infeasible": "bad", "unknown": "none"}
_NOT_KNOWN = np.empty(0, dtype=np.intp)


@dataclass(frozen=True, eq=False, kw_only=True)
class Verdict:
    """The verdict on whether the hard statements can hold together; made by `check`.

    Attributes
    ----------
    status : {"feasible", "infeasible", "unknown"}
        "unknown" is said when the question is hard and the search was cut short, or when a rule needs the data.
    witness : Dendrogram, ndarray of intp or None
        Something in which all hard statements hold: labels for must- and cannot-links, a hierarchy (with a marked
        cut where there are pairs) when there are triplets.
    explanation : Explanation or None
        Why there is no witness, when infeasible.
    k_min, k_max : int or None
        No feasible clustering has fewer than ``k_min`` or more than ``k_max`` clusters; None when contradictory.
    because : str
        The verdict in one sentence.

    Examples
    --------
    >>> from linkwise import Constraints, check
    >>> verdict = check(Constraints.build(4, cannot_link=[(0, 1), (1, 2)]))
    >>> verdict.status, verdict.k_min, verdict.k_max
    ('feasible', 2, 4)
    """

    status: Literal["feasible", "infeasible", "unknown"]
    witness: Dendrogram | IntArray | None
    explanation: Explanation | None
    k_min: int | None
    k_max: int | None
    because: str

    def __bool__(self) -> bool:
        msg = (
            'a Verdict is neither true nor false: it may be "unknown".\n'
            'Hint: ask `verdict.status == "feasible"`, or call `verdict.raise_if_infeasible()`.'
        )
        raise TypeError(msg)

    def raise_if_infeasible(self) -> None:
        """Raise the conflict, if there is one, as `InfeasibleConstraintsError` with its ``explanation``.

        Examples
        --------
        >>> from linkwise import Constraints, check
        >>> check(Constraints.build(2, must_link=[(0, 1)], cannot_link=[(0, 1)])).raise_if_infeasible()
        Traceback (most recent call last):
            ...
        linkwise.exceptions.InfeasibleConstraintsError: 2 of 2 constraints contradict each other: ...
        """
        if self.status == "infeasible" and self.explanation is not None:
            raise InfeasibleConstraintsError(self.explanation.message(), self.explanation)

    def __str__(self) -> str:
        return self.because if self.explanation is None else f"{self.because}\n{self.explanation}"

    def __repr__(self) -> str:
        some = "" if self.k_min is None else f", {self.k_min:,} to {many(self.k_max or self.k_min, 'cluster')}"
        core = "" if self.explanation is None else f", {many(len(self.explanation.entries), 'statement')} at fault"
        return f"Verdict({self.status}{some}{core})"

    def _repr_html_(self) -> str:
        fewest, most = self.k_min, self.k_max
        among = "" if fewest is None or most is None else f"Numbers of clusters: {fewest:,} to {most:,}."
        return card(str(self), tone=_TONES[self.status], more=bars((), among if self.status == "feasible" else ""))


def check(
    constraints: Constraints,
    *,
    n_clusters: int | tuple[int, int] | None = None,
    X: Any = None,
    metric: str = "euclidean",
) -> Verdict:
    """Decide whether all hard statements can hold together, and show why.

    Parameters
    ----------
    constraints : Constraints
        Statements of any kind. Soft ones are negotiable and left out.
    n_clusters : int or (int, int), optional
        Ask for a clustering with exactly this number of clusters, or with some number from the first to the second,
        both included; default: any number.
    X : array-like, optional
        The data; needed to decide about rules on distances, and used to doubt those statements first that they
        contradict most.
    metric : str, default="euclidean"
        How distances follow from X; ``"precomputed"`` if X holds them.

    Returns
    -------
    Verdict

    See Also
    --------
    repair : find statements to drop.
    close : write out what is entailed.

    Notes
    -----
    For any number of clusters the answer is exact for must-links, cannot-links and triplets together. With
    ``n_clusters`` the question contains graph coloring, with choices it contains satisfiability; these are decided by
    bounds and a bounded search, and "unknown" names the bounds when that does not suffice. Groups apart are never
    written out as pairs.

    **Cost** near-linear for pairs; one tree building per contraction with triplets. **Guarantee** a witness satisfies
    every hard statement; no proper subset of an explanation's core conflicts. Without choices and without rules about
    sizes and neighbors, all numbers of clusters between two possible ones are possible, so a range is decided by one
    number; otherwise its numbers are searched one by one within a budget.

    Examples
    --------
    >>> from linkwise import Constraints, check
    >>> check(Constraints.build(3, triplets=[(0, 1, 2), (1, 2, 0)])).explanation.core
    (0, 1)
    >>> triangle = Constraints.build(3, cannot_link=[(0, 1), (1, 2), (0, 2)])
    >>> check(triangle, n_clusters=2).because
    '3 groups of samples are pairwise apart, so at least 3 clusters are needed, not 2.'
    >>> check(triangle, n_clusters=(2, 5)).witness.tolist()
    [0, 1, 2]
    """
    require_constraints(constraints, "check")
    hard = read_hard(constraints, X, metric, "check")
    if isinstance(n_clusters, (tuple, list)):
        return decide(hard, read_range(n_clusters, constraints.n_samples, "check"), X, metric)
    return decide(hard, read_k(n_clusters, constraints, "check"), X, metric)


def decide(hard: Hard, k: int | tuple[int, int] | None, X: Any = None, metric: str = "euclidean") -> Verdict:
    """Decide about statements that were read already, as `check` does."""
    constraints = hard.constraints
    choices, rank = Choices.of(constraints), Doubt(constraints, X, metric)
    if isinstance(k, tuple):
        by_rule = hard.numbers[hard.numbers >= constraints.n_statements]
        verdict = settle_range(
            hard,
            *k,
            convex=every_number_between(hard, has_choices=len(choices) > 0, has_data=X is not None),
            judge=lambda one, budget: judge(hard, choices, one, X, metric, rank, budget),
            judge_only=lambda some, one, budget: judge(
                hard.only(np.union1d(some, by_rule)), choices.only(some), one, X, metric, None, budget
            ),
        )
    else:
        verdict = judge(hard, choices, k, X, metric, rank)
    soft = int((~constraints.is_hard).sum())
    if not soft:
        return verdict
    left_out = f"{soft:,} soft statement{'s were' if soft > 1 else ' was'} left out."
    return replace(verdict, because=f"{verdict.because} {left_out}")


def judge(
    hard: Hard,
    choices: Choices,
    k: int | None,
    X: Any,
    metric: str,
    rank: Doubt | None,
    budget: Budget | None = None,
) -> Verdict:
    """Decide about statements that were read already; without ``rank`` no fixes are looked for."""
    block = blocks_or_none(hard)
    if block is None:
        why = contradiction(hard, fixes=rank is not None, rank=rank, also=conflicts_of(choices), budget=budget)
        why = blame_contradiction(hard, why, rank, lambda table: conflicts_of(Choices.of(table)), budget)
        because = "The hard statements contradict each other."
        return Verdict(status="infeasible", witness=None, explanation=why, k_min=None, k_max=None, because=because)
    budget = Budget(_WORK) if budget is None else budget.share(_WORK)
    if len(choices):
        number = settle_choices(hard, choices, k, budget)
    else:
        number = decide_number(hard, block, k, budget=budget)
    if number.explanation is not None and rank is not None:
        number = replace(number, explanation=_with_fixes(hard, choices, k, number, rank, budget.spent))
    if number.explanation is not None and len(choices):
        number = replace(number, explanation=_blame_choices(hard, k, number.explanation, rank, budget))
    elif number.explanation is not None and k is not None:
        number = replace(number, explanation=_blame_number(hard, k, number.explanation, rank, budget))
    verdict = Verdict(**vars(number))
    if verdict.status == "feasible" and verdict.witness is None:
        verdict = replace(verdict, witness=free_witness(hard, block))
    if hard.constraints.rules and verdict.status != "infeasible":
        given = replace(number, witness=verdict.witness)
        status, witness, why_not, because = settle_rules(hard, choices, block, given, k, X, metric, budget)
        because = verdict.because if status == verdict.status else because
        verdict = replace(verdict, status=status, witness=witness, explanation=why_not, because=because)
    if isinstance(verdict.witness, Dendrogram) and hard.constraints.ids is not None:
        tree, ids = verdict.witness, hard.constraints.ids
        named = Dendrogram(tree.n_samples, tree.parent, tree.raw_height, marked=tree.marked, ids=ids)
        verdict = replace(verdict, witness=named)
    return verdict


def _with_fixes(
    hard: Hard, choices: Choices, k: int | None, number: Number, rank: Doubt, spent: float
) -> Explanation | None:
    """Add the single statements without which choices can be made, or that number of clusters is possible."""
    why = number.explanation
    if why is None or not why.core:
        return why
    if spent > _QUICK:  # each test would take about as much
        return replace(why, complete=False)
    if k is not None and k > number.k_max and not len(choices):
        exact = tear_one_link(hard, k, number.k_max)
        if exact is not None:
            singles = rank(np.array([s for (s,) in exact.sets], dtype=np.intp))
            return with_suspects(why, hard.constraints, exact._replace(sets=tuple((int(s),) for s in singles)))
    also = conflicts_of(choices, k)
    exhaustive = len(choices) > 0 and k is None
    budget = Budget(WORK if exhaustive else 2 * _QUICK)

    def conflict_without(numbers: IntArray) -> IntArray | None:
        left = hard.without(numbers)
        if also is not None:
            return also(left, numbers, budget)
        budget.spend(left.steps)
        block = blocks_or_none(left)
        status = "infeasible" if block is None else decide_number(left, block, k, reasons=False, budget=budget).status
        if status == "feasible":
            return None
        return left.numbers if status == "infeasible" else _NOT_KNOWN  # no core is needed: all that is left conflicts

    core = np.array(why.core, dtype=np.intp)
    if exhaustive:
        found = find_suspects(core, conflict_without, rank, budget=budget)
    else:
        found = find_suspects(core, conflict_without, rank, largest=1, budget=budget)
    return with_suspects(why, hard.constraints, found)


def _blame_choices(hard: Hard, k: int | None, why: Explanation, rank: Doubt | None, budget: Budget) -> Explanation:
    """Add which entries leave no way to make the choices; with a wanted number of clusters statements are named."""
    if k is not None or not has_parts(hard.constraints):
        return why
    expansion = expand(hard.constraints)
    entries, choices = expansion.hard(hard), Choices.of(expansion.table)
    number = settle_choices(entries, choices, None, budget)
    found = number.explanation
    if found is not None and rank is not None:
        found = _with_fixes(entries, choices, None, number, EntryDoubt.of(expansion, rank), 0.0)
    if found is None:
        return why
    written = expansion.written(found.core, found.suspects, found.at_least, found.complete)
    return blame_words(replace(why, written=written), hard.constraints)


def _blame_number(given: Hard, k: int, why: Explanation, rank: Doubt | None, budget: Budget) -> Explanation:
    """Add to a conflict with a wanted number of clusters which entries are at fault.

    Virtual samples would need clusters of their own once their entries go, so every test looks at the statements that
    the entries left make.
    """
    said, core = given.constraints, np.array(why.core, dtype=np.intp)
    if not len(core) or not has_parts(said):
        return why
    whole = expand(said)
    numbers = whole.of_statements(core)
    if not (whole.entries.sample[numbers] >= 0).any():
        return why
    work = budget.share(_BLAME)
    near, rule = given.must[given.must_at >= said.n_statements], given.rule

    def status(table: Constraints) -> str:
        hard = Hard.of(table, near, rule)
        block = blocks_or_none(hard)
        if block is None:
            return "infeasible"
        return decide_number(hard, block, k, reasons=False, budget=work.share(_EACH_BLAME)).status

    small = expand(whole.without(np.setdiff1d(np.arange(len(whole.entries)), numbers))[0])

    def conflicts(some: IntArray) -> bool:
        left_out = np.setdiff1d(np.arange(len(small.entries)), some)
        return status(small.without(left_out)[0]) == "infeasible"

    if len(core) == 1 and said.kind[core[0]] == Kind.APART and not said.labels:
        found, complete = np.arange(k + 1), True  # any k + 1 samples that are pairwise apart, and no fewer
    else:
        found, complete = minimal_core(np.arange(len(small.entries)), conflicts, work)
    entries = numbers[found]

    def conflict_without(some: IntArray) -> IntArray | None:
        answer = status(whole.without(some)[0])
        if answer == "feasible":
            return None
        left = np.setdiff1d(np.arange(len(whole.entries)), some)
        return left if answer == "infeasible" else _NOT_KNOWN

    suspects = Suspects(complete=False)
    if rank is not None and why.complete:
        suspects = find_suspects(entries, conflict_without, EntryDoubt.of(whole, rank), largest=1, budget=work)
    written = whole.written(entries, suspects.sets, suspects.at_least, complete and suspects.complete)
    return blame_words(replace(why, written=written), said)


def conflicts_of(choices: Choices, k: int | None = None) -> Also | None:
    """Return a function that finds a conflict with the choices without some statements; None without choices."""
    if not len(choices):
        return None

    def conflict(left: Hard, numbers: IntArray, budget: Budget) -> IntArray | None:
        remaining = choices.without(numbers)
        work = budget.share(_QUICK)
        status = make_choices(left, remaining, k, work)[0]
        if status == "feasible":
            return None
        core, complete = choice_core(left, remaining, k, work) if status == "infeasible" else (_NOT_KNOWN, False)
        return core[core < left.constraints.n_statements] if complete else _NOT_KNOWN

    return conflict


def read_k(n_clusters: Any, constraints: Constraints, who: str) -> int | None:
    """Read a wanted number of clusters."""
    n = constraints.n_samples
    if n_clusters is None:
        return None
    if not is_whole(n_clusters):
        msg = f"{who}: n_clusters is {n_clusters!r}, expected a whole number from 1 to {n}."
        raise LinkwiseError(msg)
    if not 1 <= int(n_clusters) <= n:
        msg = f"{who}: n_clusters is {n_clusters}, expected 1 to {n}, the number of samples."
        raise LinkwiseError(msg)
    return int(n_clusters)


def read_range(n_clusters: Any, n_samples: int, who: str) -> tuple[int, int]:
    """Read a wanted range of numbers of clusters; its end may lie above the number of samples."""
    if len(n_clusters) != 2 or not all(is_whole(value) for value in n_clusters):
        msg = f"{who}: n_clusters is {n_clusters!r}, expected two whole numbers, the fewest and the most clusters."
        raise LinkwiseError(msg)
    low, high = (int(value) for value in n_clusters)
    if not 1 <= low <= min(high, n_samples):
        msg = (
            f"{who}: n_clusters is {(low, high)}, expected the fewest first, and from 1 to {n_samples}, the number of "
            f"samples.\nHint: n_clusters=({max(1, min(low, high, n_samples))}, {max(low, high, 1)})."
        )
        raise LinkwiseError(msg)
    return low, high


def read_hard(constraints: Constraints, X: Any, metric: str, who: str) -> Hard:
    """Read the hard statements, and the must-links that a rule about distances adds."""
    if X is None:
        return Hard.of(constraints)
    shape = X.shape if hasattr(X, "shape") else (len(X),) if isinstance(X, (list, tuple)) else ()
    if not shape:
        msg = f"{who}: X is {type(X).__name__}, expected an array of shape (n_samples, n_features), or None."
        raise LinkwiseError(msg)
    rows = int(shape[0])
    if rows != constraints.n_samples:
        msg = f"{who}: X has {rows:,} rows, but the constraints are about {constraints.n_samples:,} samples."
        raise LinkwiseError(msg)
    widest = max((r for r in constraints.rules if isinstance(r, MinSeparation)), key=lambda r: r.delta, default=None)
    if widest is None:
        return Hard.of(constraints)
    return Hard.of(constraints, must_links_within(X, widest.delta, metric=metric), repr(widest))
