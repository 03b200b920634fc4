"""Which few statements to drop so that the rest hold together: searched for, then proven as far as time allows."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import numpy.typing as npt

from linkwise._wording import hint
from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import LinkwiseError, UnsupportedConstraintError
from linkwise.problem._conflict import Hard, blocks_or_none
from linkwise.problem._hitting import hit_conflicts
from linkwise.problem._noise import contradicted_by, share_of_wrong
from linkwise.problem._parts import Part, independent_parts, make_ready, part_of

__all__ = ["Repair", "repair"]

IntArray = npt.NDArray[np.intp]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]
_SHOWN = 20
_ORDERS = 5
_SMALL = 40  # so few statements are decided before a search would have warmed up
_SEARCH = 0.4  # share of the time for the search, before the proof
_LEAST = 0.5  # seconds a part may take however small it is; few need them
_BLAME = 0.4  # seconds for wording why statements were dropped


@dataclass(frozen=True, eq=False)
class Repair:
    """What to drop so that everything else holds together; made by `repair`.

    Attributes
    ----------
    given : Constraints
        What was to be repaired.
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
    noise : float
        Estimated share of wrong statements, computed when first asked for.

    Notes
    -----
    A wrong statement nobody contradicts stays invisible: the fewest to drop can be fewer than the wrong ones. `noise`
    therefore divides by the statements that can be *checked*: those dropped, those that follow from other kept ones,
    and those that could have been dropped instead of a dropped one, which share its blame. The rate of each kind of
    statement is taken to hold for the unchecked ones of that kind too (for kinds with fewer than ten checked ones, the
    common rate). This assumes that being wrong has nothing to do with being checked. Two wrong statements can
    confirm each other and a repair never drops more than it must, so with much noise the estimate is low; and with few
    contradictions it is rough. It is 0 when nothing was dropped, even if nothing could be checked.

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
    given: Constraints

    @cached_property
    def noise(self) -> float:
        """Estimated share of wrong statements; the class's Notes describe the model."""
        off = np.zeros(self.given.n_statements, dtype=np.bool_)
        off[self.dropped] = True
        return share_of_wrong(_as_hard(self.given), off)

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
        Statements of any kind but choices; rules are not judged.
    keep : {"most", "hard"}, default="most"
        "most" drops hard statements too, but never one more than necessary; "hard" refuses to.
    time_limit : float, default=10.0
        Seconds of search and proof, after which the best so far is returned with a lower bound. Compiling on first use
        and wording the reasons come on top, and an integer programme under way may overrun by a second. 0 gives the
        greedy repair.
    random_state : int, optional
        Seed of the searches and of the orders in which equally heavy statements are tried first; default 0.

    Returns
    -------
    Repair

    Raises
    ------
    InfeasibleConstraintsError
        ``keep="hard"`` and the hard statements contradict each other.
    UnsupportedConstraintError
        There are choices (``must_link_any``, ``cannot_link_any``) among the statements.

    Notes
    -----
    The statements are divided into parts that share no contradiction: blocks (biconnected components) of the links,
    sets of leaves on which BUILD gets stuck. In each part the best of five greedy repairs is improved by annealing over
    partitions or over trees, and what can go back does. Then comes the proof by implicit hitting sets [1]_: every
    contradiction must lose a member, so the cheapest choice that hits all contradictions known so far is a bound, and
    contradictions it misses are looked for until there are none. Linear programmes come first, integers last.

    **Cost** NP-hard in general. Thousands of pairs with few errors take well under a second with proof; a thousand
    triplets are repaired in a second or two and may take much longer to prove.
    **Guarantee** what is kept holds together, putting back any dropped statement breaks it, and the cost is at most
    that of the greedy choice. The same input gives the same answer unless the time limit cuts the search short.

    References
    ----------
    .. [1] E. Moreno-Centeno, R. M. Karp, "The Implicit Hitting Set Approach to Solve Combinatorial Optimization
       Problems with an Application to Multigenome Alignment", Operations Research 61 (2013).

    Examples
    --------
    >>> from linkwise import Constraints, repair
    >>> repair(Constraints.build(3, triplets=[(0, 1, 2), (1, 2, 0)], weight=[1, 5])).dropped.tolist()
    [0]
    """
    if not isinstance(constraints, Constraints):
        what = type(constraints).__name__
        msg = f"repair: constraints are {what}, expected Constraints.\nHint: use `Constraints.build`."
        raise LinkwiseError(msg)
    if not isinstance(keep, str) or keep not in ("most", "hard"):
        msg = f'repair: keep is {keep!r}, expected "most" or "hard".'
        raise LinkwiseError(msg)
    choices = [kind.word for kind in Kind if kind.is_choice and (constraints.kind == kind).any()]
    if choices:
        way = hint(
            command="leave them out, or look at `linkwise explain`",
            python="leave them out with `constraints.select(constraints.kind < Kind.MUST_LINK_ANY)`, or look at "
            "`conflicts(constraints)`",
        )
        msg = f"repair does not weigh {' and '.join(choices)}.\nHint: {way}."
        raise UnsupportedConstraintError(msg, tuple(choices))
    if keep == "hard":
        from linkwise.problem._feasibility import check

        check(constraints).raise_if_infeasible()
    everything = _as_hard(constraints)
    m = constraints.n_statements
    if blocks_or_none(Hard.of(everything)) is not None:
        return Repair(constraints, np.empty(0, np.intp), 0.0, True, 0.0, (), constraints)
    parts = sorted(independent_parts(everything), key=len)
    for triplets in {bool(t) for at in parts for t in np.unique(everything.kind[at] == Kind.TRIPLET)}:
        make_ready(triplets, len(parts[-1]) > _SMALL)
    deadline = time.monotonic() + time_limit
    seed = 0 if random_state is None else random_state
    price, hard = _prices(constraints), constraints.is_hard
    orders = _greedy_orders(price, np.random.default_rng(seed))
    off, bound, open_ = np.zeros(m, dtype=np.bool_), 0.0, sum(len(at) for at in parts)
    for at in parts:
        now = time.monotonic()
        mine = min(deadline, now + max(_LEAST, (deadline - now) * len(at) / open_))
        open_ -= len(at)
        part = part_of(everything, at, np.random.default_rng(seed))
        off[at], below = _repair_part(part, price[at], hard[at], orders[:, at], mine)
        bound += below
    cost = float(price[off].sum())
    dropped = np.flatnonzero(off)
    optimal = bound >= cost * (1 - 1e-9)
    because = _blame(constraints, everything, off)
    kept = constraints.select(~off)
    return Repair(kept, dropped, cost, optimal, cost if optimal else bound, because, constraints)


def _as_hard(constraints: Constraints) -> Constraints:
    return constraints.with_weight(np.inf).with_rules()


def _prices(constraints: Constraints) -> FloatArray:
    hard = constraints.is_hard
    return np.where(hard, 1.0 + constraints.weight[~hard].sum(), constraints.weight)


def _greedy_orders(price: FloatArray, rng: np.random.Generator) -> IntArray:
    """A few orders by falling price, as ranks: as given, and with equals shuffled."""
    ranks = np.empty((_ORDERS, len(price)), dtype=np.intp)
    for k in range(_ORDERS):
        ties = np.arange(len(price)) if k == 0 else rng.permutation(len(price))
        ranks[k, np.lexsort((ties, -price))] = np.arange(len(price))
    return ranks


def _greedy(part: Part, price: FloatArray, ranks: IntArray, deadline: float) -> BoolArray:
    """The best of a few orders of insertion; of fewer if even that takes long."""
    start = time.monotonic()
    enough = start + max(1.0, _SEARCH / 2 * (deadline - start))
    off = part.complete(np.argsort(ranks[0]))
    for rank in ranks[1:]:
        if time.monotonic() > enough:
            break
        refused = part.complete(np.argsort(rank))
        off = refused if price[refused].sum() < price[off].sum() else off
    return off


def _repair_part(
    part: Part, price: FloatArray, hard: BoolArray, ranks: IntArray, deadline: float
) -> tuple[BoolArray, float]:
    """The cheapest repair of one part that was found, and what no repair undercuts."""
    off = _greedy(part, price, ranks, deadline)
    if time.monotonic() >= deadline:
        return off, 0.0
    if len(price) > _SMALL:
        # Hard statements need to outweigh the soft ones of this part only, which keeps prices close to each other.
        near = np.where(hard, 1.0 + price[~hard].sum(), price) if hard.any() else price
        broken = part.search(off, near, time.monotonic() + _SEARCH * (deadline - time.monotonic()))
        found = part.complete(np.lexsort((-price, broken)))
        off = found if price[found].sum() < price[off].sum() else off
    n_hard, known = _fewest_hard(part, hard, off, deadline)
    if not known:
        return off, n_hard * float(price.max())
    return hit_conflicts(part, price, hard, n_hard, off, deadline)


def _fewest_hard(part: Part, hard: BoolArray, off: BoolArray, deadline: float) -> tuple[int, bool]:
    """How many hard statements have to go whatever the soft ones cost, and whether that was proven in time."""
    if not hard.any() or hard.all():
        return 0, True  # with one sort of statement the search over all of them decides
    at = np.flatnonzero(hard)
    if not off[at].any():
        return 0, True
    chosen = part_of(part.table, at, part.rng)
    if blocks_or_none(Hard.of(chosen.table)) is not None:
        return 0, True
    one = np.ones(len(at))
    fewest, bound = hit_conflicts(chosen, one, np.zeros(len(at), np.bool_), 0, off[at], deadline)
    count = int(fewest.sum())
    return (count, True) if bound >= count else (int(np.ceil(bound - 1e-9)), False)


def _blame(constraints: Constraints, table: Constraints, off: BoolArray) -> tuple[str, ...]:
    """Word for the first dropped statements why they cannot be put back; in general terms once that takes long."""
    deadline = time.monotonic() + _BLAME
    kept = np.flatnonzero(~off)
    lines = []
    for statement in np.flatnonzero(off)[:_SHOWN]:
        said = constraints.describe(int(statement))
        if time.monotonic() > deadline:
            lines.append(f"{said}: it contradicts statements that stay.")
            continue
        others = [constraints.describe(int(s)) for s in contradicted_by(table, kept, int(statement))]
        more = f" and {len(others) - 5:,} more" if len(others) > 5 else ""
        lines.append(f"{said}: it contradicts {', '.join(others[:5])}{more}.")
    return tuple(lines)
