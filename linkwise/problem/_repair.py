"""Which few statements to drop so that the rest hold together: exact by hitting sets where time allows, else greedy."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array, vstack

from linkwise._kernels.disjoint_set import components
from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import LinkwiseError
from linkwise.problem._conflict import Hard, blocks_or_none, contradiction
from linkwise.problem._explain import Explanation
from linkwise.problem._insert import insert_in_order
from linkwise.problem._paths import LinkGraph

__all__ = ["Repair", "repair"]

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
_SHOWN = 20
_ORDERS = 5
_CHAINS = 200


@dataclass(frozen=True, eq=False)
class Repair:
    """What to drop so that everything else holds together; made by `repair`.

    Attributes
    ----------
    kept : Constraints
        The statements that stay, with their numbers; rules are kept as they are.
    dropped : ndarray of intp
        Positions of the statements to drop.
    cost : float
        Sum of the dropped weights, a hard statement counted as 1 more than all soft ones together. With hard
        statements only it is the number of dropped ones.
    optimal : bool
        Whether no cheaper repair exists.
    lower_bound : float
        No repair is cheaper than this.
    because : tuple of str
        For the first 20 dropped statements, which kept ones each contradicts.

    Notes
    -----
    A wrong statement nobody contradicts stays invisible: the fewest to drop can be fewer than the wrong ones.

    Examples
    --------
    >>> from linkwise import Constraints, repair
    >>> fixed = repair(Constraints.build(3, must_link=[(0, 1), (1, 2)], cannot_link=[(0, 2)], weight=[3, 1, 2]))
    >>> print(fixed)
    1 of 3 statements must go, at a cost of 1; no cheaper repair exists.
      drop #1 must_link(1, 2) weight 1: it contradicts #0 must_link(0, 1) weight 3, #2 cannot_link(0, 2) weight 2.
    """

    kept: Constraints
    dropped: IntArray
    cost: float
    optimal: bool
    lower_bound: float
    because: tuple[str, ...]

    def __str__(self) -> str:
        total = self.kept.n_statements + len(self.dropped)
        if not len(self.dropped):
            return f"All {total:,} statements hold together; nothing needs to go."
        sure = "no cheaper repair exists" if self.optimal else f"no repair costs less than {self.lower_bound:g}"
        head = f"{len(self.dropped):,} of {total:,} statements must go, at a cost of {self.cost:g}; {sure}."
        more = len(self.dropped) - len(self.because)
        tail = [f"  ... and {more:,} more"] if more > 0 else []
        return "\n".join([head, *(f"  drop {line}" for line in self.because), *tail])


def repair(
    constraints: Constraints,
    *,
    keep: Literal["most", "hard"] = "most",
    time_limit: float = 10.0,
    random_state: int | None = None,
) -> Repair:
    """Find the cheapest statements to drop so that all others, hard and soft, hold together.

    Parameters
    ----------
    constraints : Constraints
        Statements of any kind; rules are not judged.
    keep : {"most", "hard"}, default="most"
        "most" drops hard statements too, but never one more than necessary; "hard" refuses to.
    time_limit : float, default=10.0
        Seconds of search beyond the greedy repair, after which the best so far is returned with a lower bound.
    random_state : int, optional
        Seed of the orders in which equally heavy statements are tried first; default 0.

    Returns
    -------
    Repair

    Raises
    ------
    InfeasibleConstraintsError
        ``keep="hard"`` and the hard statements contradict each other.

    Notes
    -----
    Every conflict found must lose a member; the cheapest choice that hits all conflicts known so far is an integer
    programme, and new conflicts among what it keeps are added until there are none.

    **Cost** NP-hard in general; seconds for thousands of pairs with few errors, longer with triplets.
    **Guarantee** what is kept holds together, putting back any dropped statement breaks it, and the cost is at most
    that of the greedy choice. The same input gives the same answer unless the time limit cuts the search short.

    Examples
    --------
    >>> from linkwise import Constraints, repair
    >>> repair(Constraints.build(3, triplets=[(0, 1, 2), (1, 2, 0)], weight=[1, 5])).dropped.tolist()
    [0]
    """
    if keep not in ("most", "hard"):
        msg = f'repair: keep is {keep!r}, expected "most" or "hard".'
        raise LinkwiseError(msg)
    if keep == "hard":
        from linkwise.problem._feasibility import check

        check(constraints).raise_if_infeasible()
    m = constraints.n_statements
    everything = _as_hard(constraints)
    if blocks_or_none(Hard.of(everything)) is not None:
        return Repair(constraints, np.empty(0, np.intp), 0.0, True, 0.0, ())
    price = _prices(constraints)
    off, bound = _greedy(everything, price, random_state), 0.0
    deadline = time.monotonic() + time_limit
    n_hard_off, hard_known = _fewest_hard(everything, constraints.is_hard, keep, deadline)
    if hard_known:
        off, bound = _hit_conflicts(everything, price, constraints.is_hard, n_hard_off, off, deadline)
    else:
        bound = float(n_hard_off) * float(price.max())
    cost = float(price[off].sum())
    dropped = np.flatnonzero(off)
    because = tuple(_blame(constraints, everything, off, int(d)) for d in dropped[:_SHOWN])
    return Repair(constraints.select(np.setdiff1d(np.arange(m), dropped)), dropped, cost, bound >= cost, bound, because)


def _as_hard(constraints: Constraints) -> Constraints:
    return constraints.with_weight(np.inf).with_rules()


def _prices(constraints: Constraints) -> npt.NDArray[np.float64]:
    hard = constraints.is_hard
    return np.where(hard, 1.0 + constraints.weight[~hard].sum(), constraints.weight)


def _greedy(table: Constraints, price: npt.NDArray[np.float64], random_state: int | None) -> BoolArray:
    """Put statements in by falling price, refusing what contradicts; the best of a few orders among equals."""
    rng = np.random.default_rng(0 if random_state is None else random_state)
    best = insert_in_order(table, np.argsort(-price, kind="stable"))
    for _ in range(_ORDERS - 1):
        refused = insert_in_order(table, np.lexsort((rng.permutation(len(price)), -price)))
        if price[refused].sum() < price[best].sum():
            best = refused
    return best


def _fewest_hard(table: Constraints, hard: BoolArray, keep: str, deadline: float) -> tuple[int, bool]:
    """How many hard statements have to go whatever the soft ones cost, and whether that was proven in time."""
    if keep == "hard" or not hard.any() or hard.all():
        return 0, True  # with one sort of statement the search over all of them decides
    chosen = table.select(hard)
    if blocks_or_none(Hard.of(chosen)) is not None:
        return 0, True
    one = np.ones(chosen.n_statements)
    off, bound = _hit_conflicts(chosen, one, np.zeros(len(one), np.bool_), 0, _greedy(chosen, one, None), deadline)
    count = int(off.sum())
    return (count, True) if bound >= count else (int(np.ceil(bound)), False)


def _hit_conflicts(
    table: Constraints, price: npt.NDArray[np.float64], hard: BoolArray, n_hard: int, off: BoolArray, deadline: float
) -> tuple[BoolArray, float]:
    """Improve ``off`` to the cheapest repair with ``n_hard`` hard statements dropped; return it and a lower bound.

    Mixed prices are met in two steps, the number of hard statements first, so that the integer programme never sees
    numbers of very different size.
    """
    mixed = bool(hard.any() and not hard.all())
    weight = np.where(hard, 0.0, price) if mixed else price
    base = n_hard * float(price.max()) if mixed else 0.0
    scale = float(weight.max()) or 1.0
    conflicts: list[IntArray] = []
    bound = base
    removed = np.zeros(len(price), dtype=np.bool_)
    while time.monotonic() < deadline:
        found = _conflicts(table, ~removed, deadline)
        if not found:
            if price[removed].sum() <= price[off].sum():
                off = removed
            return off, max(bound, float(price[off].sum()))
        conflicts += found
        left = max(0.1, deadline - time.monotonic())
        answer = milp(
            weight / scale,
            constraints=_rows(conflicts, len(price), hard if mixed else None, n_hard),
            integrality=np.ones(len(price)),
            bounds=Bounds(0, 1),
            options={"time_limit": left, "mip_rel_gap": 0.0},
        )
        proven = answer.mip_dual_bound
        if proven is not None and np.isfinite(proven):
            bound = max(bound, base + float(proven) * scale * (1 - 1e-9))
        if answer.status != 0 or answer.x is None:
            break
        removed = answer.x > 0.5
        # A conflict-free completion of this choice may already beat the best known repair.
        order = np.lexsort((-price, removed))
        refused = insert_in_order(table, order)
        if price[refused].sum() < price[off].sum():
            off = refused
        if price[off].sum() <= bound * (1 + 1e-9):
            return off, float(price[off].sum())
    return off, bound


def _rows(conflicts: list[IntArray], m: int, hard: BoolArray | None, n_hard: int) -> LinearConstraint:
    start = np.concatenate([[0], np.cumsum([len(c) for c in conflicts])])
    column = np.concatenate(conflicts)
    matrix = csr_array((np.ones(len(column)), column, start), shape=(len(conflicts), m))
    low, high = np.ones(len(conflicts)), np.full(len(conflicts), np.inf)
    if hard is not None:
        matrix = vstack([matrix, csr_array(hard[None, :].astype(float))]).tocsr()
        low, high = np.append(low, 0.0), np.append(high, float(n_hard))
    return LinearConstraint(matrix, low, high)


def _conflicts(table: Constraints, kept: BoolArray, deadline: float) -> list[IntArray]:
    """Minimal conflicts among the kept statements; at least one if there is any."""
    if not (table.kind[kept] == Kind.TRIPLET).any():
        return _chains(table, kept)
    found: list[IntArray] = []
    remaining = kept.copy()
    while True:  # conflicts that share no statement, so that each tells the integer programme something new
        at = np.flatnonzero(remaining)
        hard = Hard.of(table.select(at))
        if blocks_or_none(hard) is not None:
            return found
        core = at[np.array(contradiction(hard, fixes=False).core, dtype=np.intp)]
        found.append(core)
        remaining[core] = False
        if time.monotonic() > deadline:
            return found


def _chains(table: Constraints, kept: BoolArray) -> list[IntArray]:
    """For broken cannot-links, each with a shortest chain of kept must-links; from a limited number of starts."""
    must = np.flatnonzero(kept & (table.kind == Kind.MUST_LINK))
    cannot = np.flatnonzero(kept & (table.kind == Kind.CANNOT_LINK))
    pairs = table.items[must, :2]
    group = components(table.n_samples, pairs)
    ends = table.items[cannot, :2]
    broken = cannot[group[ends[:, 0]] == group[ends[:, 1]]]
    if not len(broken):
        return []
    graph = LinkGraph(table.n_samples, pairs)
    found = []
    for statement in broken[:_CHAINS]:
        a, b = (int(v) for v in table.items[statement, :2])
        found.append(np.append(must[graph.chain(a, b)[0]], statement))
    return found


def _blame(constraints: Constraints, table: Constraints, off: BoolArray, statement: int) -> str:
    """Word why one dropped statement cannot be put back."""
    at = np.append(np.flatnonzero(~off), statement)
    why: Explanation = contradiction(Hard.of(table.select(at)), fixes=False)
    others: list[Any] = [constraints.describe(int(at[c])) for c in why.core if at[c] != statement]
    more = f" and {len(others) - 5:,} more" if len(others) > 5 else ""
    return f"{constraints.describe(statement)}: it contradicts {', '.join(others[:5])}{more}."
