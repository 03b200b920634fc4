"""`repair`: the cheapest statements to drop so that the others hold together, by search, then proof within a budget."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal

import numpy as np

from linkwise._messages import some_of
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import CHOICES, Constraints, Entry, Kind, has_parts, require_constraints
from linkwise.exceptions import LinkwiseError
from linkwise.problem.explain import Doubt, EntryDoubt, expand
from linkwise.problem.feasibility import check, read_hard, read_k
from linkwise.problem.repairs._components import Part, independent_parts, make_ready, part_of
from linkwise.problem.repairs._entry_repair import blame_entries, repair_entries
from linkwise.problem.repairs._error_rate import contradicted_by
from linkwise.problem.repairs._hitting_sets import hit_conflicts
from linkwise.problem.repairs._repair_outcome import Repair, as_hard
from linkwise.problem.repairs._tested_conflicts import (
    ChoiceConflicts,
    NumberConflicts,
    blame_by_tests,
    repair_by_tests,
)
from linkwise.problem.statements import Budget, Hard, read_limits
from linkwise.problem.triplets import blocks_or_none

_SHOWN = 20
_ORDERS = 5
_ENOUGH = 1.0  # units of work after which no further order is tried
_SMALL = 40  # so few statements are decided before a search would have warmed up
_SEARCH = 0.4  # share of the budget for the search, before the proof
_LEAST = 0.5  # units of work a part may take however small it is; few need them
_BLAME = 0.4  # units for wording why statements were dropped
_CALL = 200_000  # steps of reading a part
_DATA = 0.5  # share of its weight that a statement loses if the data contradict it as much as they can


def repair(
    constraints: Constraints,
    *,
    n_clusters: int | None = None,
    X: Any = None,
    metric: str = "euclidean",
    keep: Literal["most", "hard"] = "most",
    budget: float = 10.0,
    time_limit: float | None = None,
    random_state: int | None = None,
) -> Repair:
    """Find the cheapest statements to drop so that all others, hard and soft, hold together.

    Parameters
    ----------
    constraints : Constraints
        Statements of any kind; rules are not judged. With choices (``must_link_any``, ``cannot_link_any``) among them
        every statement, group or choice, is kept or dropped as a whole.
    n_clusters : int, optional
        What is kept can hold in exactly this number of clusters; default: in some number.
    X : array-like, optional
        The data. A statement costs up to half less, the more they contradict it, so that of several ways out the one is
        taken that the data speak for. Give ``suspects(X, constraints, n_clusters).constraints`` instead of the
        constraints to go by views of the data that were not told them.
    metric : str, default="euclidean"
        How distances follow from X; ``"precomputed"`` if X holds them.
    keep : {"most", "hard"}, default="most"
        "most" may drop hard statements too, each at a cost above that of all soft ones; "hard" refuses to.
    budget : float, default=10.0
        Work of search and proof, after which the best so far is returned with a lower bound. It is counted in steps,
        not timed, so that every machine finds the same; a unit takes about a second on a common one. An integer
        programme under way may overdraw it by some units. 0 gives the greedy repair.
    time_limit : float, optional
        Seconds after which the search ends even if work is left; then ``cut`` is set, and another machine may find
        another repair. Compiling on first use comes on top. Default: no clock is looked at.
    random_state : int, optional
        Seed of the searches and of the orders in which equally heavy statements are tried first; default 0.

    Returns
    -------
    Repair

    Raises
    ------
    InfeasibleConstraintsError
        ``keep="hard"`` and the hard statements contradict each other, or cannot hold in ``n_clusters`` clusters.

    See Also
    --------
    linkwise.suspects : statements that the data contradict, whether or not others do.

    Notes
    -----
    The statements are divided into parts that share no contradiction: blocks (biconnected components) of the links,
    sets of leaves on which BUILD gets stuck. In each part the best of five greedy repairs is improved by annealing over
    partitions or over trees, and what can go back does. Then comes the proof by implicit hitting sets [1]_: every
    contradiction must lose a member, so the cheapest choice that hits all contradictions known so far is a bound, and
    contradictions it misses are looked for until there are none. Linear programmes come first, integers last. If the
    rest does not fit into ``n_clusters``, all entries are looked at together, with contradictions found by tests.

    **Cost** NP-hard in general. Thousands of pairs with few errors take well under a second with proof; a thousand
    triplets are repaired in a second or two and may take much longer to prove.
    **Guarantee** what is kept holds together, putting back any dropped statement breaks it, and the cost is at most
    that of the greedy choice. The same input gives the same answer on every machine unless ``cut`` is set.

    References
    ----------
    .. [1] E. Moreno-Centeno, R. M. Karp, "The Implicit Hitting Set Approach to Solve Combinatorial Optimization
       Problems with an Application to Multigenome Alignment", Operations Research 61 (2013).

    Examples
    --------
    >>> from linkwise import Constraints, repair
    >>> repair(Constraints.build(3, triplets=[(0, 1, 2), (1, 2, 0)], weight=[1, 5])).dropped.tolist()
    [0]
    >>> triangle = Constraints.build(3, cannot_link=[(0, 1), (1, 2), (0, 2)])
    >>> repair(triangle).dropped.tolist(), repair(triangle, n_clusters=2, X=[[0.0], [9.0], [1.0]]).dropped.tolist()
    ([], [2])
    """
    require_constraints(constraints, "repair")
    if not isinstance(keep, str) or keep not in ("most", "hard"):
        msg = f'repair: keep is {keep!r}, expected "most" or "hard".'
        raise LinkwiseError(msg)
    k = read_k(n_clusters, constraints, "repair")
    read_hard(constraints.with_rules(), X, metric, "repair")
    if keep == "hard":
        check(constraints, n_clusters=k).raise_if_infeasible()
    read_limits(budget, time_limit, "repair")
    doubt = Doubt(constraints, X, metric)
    found = _in_any_number(constraints, doubt, keep, budget if k is None else budget / 2, time_limit, random_state)
    return found if k is None else _in_number(found, k, doubt, keep, Budget(budget / 2, time_limit))


def _in_any_number(
    constraints: Constraints,
    doubt: Doubt,
    keep: str,
    budget: float,
    time_limit: float | None,
    random_state: int | None,
) -> Repair:
    everything = as_hard(constraints)
    prices = _prices(constraints, doubt, keep)
    if np.isin(constraints.kind, list(CHOICES)).any():
        return _with_choices(constraints, everything, prices, Budget(budget, time_limit))
    if blocks_or_none(Hard.of(everything)) is not None:
        return Repair(
            given=constraints,
            kept=constraints,
            dropped=np.empty(0, np.intp),
            cost=0.0,
            optimal=True,
            lower_bound=0.0,
        )
    if has_parts(constraints):
        return _by_entries(constraints, doubt, keep, budget, time_limit, random_state)
    return _by_statements(constraints, everything, prices, budget, time_limit, random_state)


def _in_number(found: Repair, k: int, doubt: Doubt, keep: str, work: Budget) -> Repair:
    """Repair further where what ``found`` keeps does not fit into ``k`` clusters."""
    constraints = found.given
    expansion = expand(constraints)
    price, hard = _prices(expansion.table, EntryDoubt.of(expansion, doubt), keep)
    conflicts = NumberConflicts(expansion, k)
    place = {entry: i for i, entry in enumerate(expansion.get(np.arange(len(price))))}
    off = np.zeros(len(price), dtype=np.bool_)
    off[[place[entry] for entry in found.entries]] = True
    if conflicts.hold(np.flatnonzero(~off), work):
        return replace(found, n_clusters=k)
    off, lower, optimal = repair_by_tests(conflicts, price, hard, work)
    numbers = np.flatnonzero(off)
    kept, changed = expansion.without(numbers)
    cost, lower = float(price[off].sum()), max(lower, found.lower_bound)
    optimal = optimal or lower >= cost * (1 - 1e-9)
    dropped, entries = np.flatnonzero(changed), expansion.get(numbers)
    made = Repair(
        given=constraints,
        kept=kept,
        dropped=dropped,
        entries=entries,
        cost=cost,
        optimal=optimal,
        lower_bound=min(lower, cost),
        cut=work.cut and not optimal,
        n_clusters=k,
    )
    first = [place[group[0]] for group in made.by_statement()[:_SHOWN]]
    others = blame_by_tests(conflicts, off, first, lambda at: constraints.describe_each(expansion.get(at)))
    words = [f"{made.describe(group)}{why}" for group, why in zip(made.by_statement(), others, strict=False)]
    return replace(made, because=tuple(words))


def _by_statements(
    constraints: Constraints,
    everything: Constraints,
    prices: tuple[FloatArray, BoolArray],
    budget: float,
    time_limit: float | None,
    random_state: int | None,
    words: bool = True,
) -> Repair:
    """Repair a table statement by statement; ``everything`` is the same table, all hard."""
    m = constraints.n_statements
    parts = sorted(independent_parts(everything), key=len)
    for triplets in {bool(t) for at in parts for t in np.unique(everything.kind[at] == Kind.TRIPLET)}:
        make_ready(triplets, len(parts[-1]) > _SMALL)
    work = Budget(budget, time_limit)  # the clock starts once everything is compiled
    seed = 0 if random_state is None else random_state
    price, hard = prices
    orders = _greedy_orders(price, np.random.default_rng(seed))
    off, bound, open_ = np.zeros(m, dtype=np.bool_), 0.0, sum(len(at) for at in parts)
    for at in parts:
        mine = work.share(max(_LEAST, work.left * len(at) / open_))
        mine.spend(_CALL + 10 * len(at))
        open_ -= len(at)
        part = part_of(everything, at, np.random.default_rng(seed))
        off[at], below = _repair_part(part, price[at], hard[at], orders[:, at], mine)
        bound += below
    cost = float(price[off].sum())
    dropped = np.flatnonzero(off)
    optimal = bound >= cost * (1 - 1e-9)
    because = _blame(constraints, everything, off) if words else ()
    kept = constraints.select(~off)
    entries = tuple(Entry(int(s)) for s in dropped)
    return Repair(
        given=constraints,
        kept=kept,
        dropped=dropped,
        entries=entries,
        cost=cost,
        optimal=optimal,
        lower_bound=cost if optimal else bound,
        cut=work.cut and not optimal,
        because=because,
    )


def _with_choices(
    constraints: Constraints, everything: Constraints, prices: tuple[FloatArray, BoolArray], work: Budget
) -> Repair:
    """Repair a table with choices statement by statement; ``everything`` is the same table, all hard."""
    conflicts = ChoiceConflicts(everything)
    off, lower, optimal = repair_by_tests(conflicts, *prices, work)
    dropped = np.flatnonzero(off)
    entries = tuple(Entry(int(s)) for s in dropped)
    why = blame_by_tests(conflicts, off, dropped[:_SHOWN].tolist(), constraints.describe_each)
    because = tuple(f"{constraints.describe(int(s))}{one}" for s, one in zip(dropped, why, strict=False))
    kept = constraints.select(~off) if off.any() else constraints
    cost = float(prices[0][off].sum())
    return Repair(
        given=constraints,
        kept=kept,
        dropped=dropped,
        entries=entries,
        cost=cost,
        optimal=optimal,
        lower_bound=lower,
        cut=work.cut and not optimal,
        because=because,
    )


def _by_entries(
    constraints: Constraints,
    doubt: Doubt,
    keep: str,
    budget: float,
    time_limit: float | None,
    random_state: int | None,
) -> Repair:
    """Repair a table with groups or labels: drop members and labels rather than whole statements."""
    expansion = expand(constraints)
    price, _ = _prices(expansion.table, EntryDoubt.of(expansion, doubt), keep)
    hard = expansion.table.is_hard
    fixed = hard if keep == "hard" else np.zeros(len(hard), dtype=np.bool_)
    cut = False

    def solve(table: Constraints) -> tuple[IntArray, float]:
        nonlocal cut
        prices = _prices(table, Doubt(table), keep)  # their weights are prices already
        found = _by_statements(table, as_hard(table), prices, budget, time_limit, random_state, words=False)
        cut = found.cut
        return found.dropped, found.lower_bound

    off, cost, bound = repair_entries(expansion, price, fixed, solve)
    numbers = np.flatnonzero(off)
    kept, changed = expansion.without(numbers)
    optimal = bound >= cost * (1 - 1e-9)
    entries = expansion.get(numbers)
    made = Repair(
        given=constraints,
        kept=kept,
        dropped=np.flatnonzero(changed),
        entries=entries,
        cost=cost,
        optimal=optimal,
        lower_bound=cost if optimal else bound,
        cut=cut and not optimal,
    )
    groups = made.by_statement()[:_SHOWN]
    place = dict(zip(entries, numbers.tolist(), strict=True))
    because = []
    for group, others in zip(groups, blame_entries(expansion, off, [place[g[0]] for g in groups]), strict=True):
        words = constraints.describe_each(expansion.get(others))
        because.append(f"{made.describe(group)}: it contradicts {some_of(words)}.")
    return replace(made, because=tuple(because))


def _prices(constraints: Constraints, doubt: Doubt, keep: str) -> tuple[FloatArray, BoolArray]:
    """What it costs to drop each statement, and which count as hard: more than all soft ones together.

    Data lower prices, those of hard statements if these may go; then their prices differ, and none counts as hard.
    """
    hard = constraints.is_hard
    price = np.where(hard, 1.0 + constraints.weight[~hard].sum(), constraints.weight)
    if doubt.X is None:
        return price, hard
    at = np.flatnonzero(~hard) if keep == "hard" else np.arange(len(price))
    price[at] *= 1 - _DATA * doubt.score(at)
    return price, hard if keep == "hard" else np.zeros(len(price), dtype=np.bool_)


def _greedy_orders(price: FloatArray, rng: np.random.Generator) -> IntArray:
    """A few orders by falling price, as ranks: as given, and with equals shuffled."""
    ranks = np.empty((_ORDERS, len(price)), dtype=np.intp)
    for k in range(_ORDERS):
        ties = np.arange(len(price)) if k == 0 else rng.permutation(len(price))
        ranks[k, np.lexsort((ties, -price))] = np.arange(len(price))
    return ranks


def _greedy(part: Part, price: FloatArray, ranks: IntArray, budget: Budget) -> BoolArray:
    """The best of a few orders of insertion; of fewer if even that takes much."""
    left = max(_ENOUGH, _SEARCH / 2 * budget.left)
    before = budget.spent
    off = part.complete(np.argsort(ranks[0]), budget)
    for rank in ranks[1:]:
        if budget.spent - before > left:
            break
        refused = part.complete(np.argsort(rank), budget)
        off = refused if price[refused].sum() < price[off].sum() else off
    return off


def _repair_part(
    part: Part, price: FloatArray, hard: BoolArray, ranks: IntArray, budget: Budget
) -> tuple[BoolArray, float]:
    """The cheapest repair of one part that was found, and a lower bound on the cost of any repair."""
    off = _greedy(part, price, ranks, budget)
    if budget.over:
        return off, 0.0
    if len(price) > _SMALL:
        # Hard statements need to outweigh the soft ones of this part only, which keeps prices close to each other.
        near = np.where(hard, 1.0 + price[~hard].sum(), price) if hard.any() else price
        broken = part.search(off, near, budget.share(_SEARCH * budget.left))
        found = part.complete(np.lexsort((-price, broken)), budget)
        off = found if price[found].sum() < price[off].sum() else off
    n_hard, known = _fewest_hard(part, hard, off, budget)
    if not known:
        return off, n_hard * float(price.max())
    return hit_conflicts(part, price, hard, n_hard, off, budget)


def _fewest_hard(part: Part, hard: BoolArray, off: BoolArray, budget: Budget) -> tuple[int, bool]:
    """Return how many hard statements have to go whatever the soft ones cost, and whether that was proven."""
    if not hard.any() or hard.all():
        return 0, True  # with one sort of statement the search over all of them decides
    at = np.flatnonzero(hard)
    if not off[at].any():
        return 0, True
    chosen = part_of(part.table, at, part.rng)
    if blocks_or_none(Hard.of(chosen.table)) is not None:
        return 0, True
    one = np.ones(len(at))
    fewest, bound = hit_conflicts(chosen, one, np.zeros(len(at), np.bool_), 0, off[at], budget)
    count = int(fewest.sum())
    return (count, True) if bound >= count else (int(np.ceil(bound - 1e-9)), False)


def _blame(constraints: Constraints, table: Constraints, off: BoolArray) -> tuple[str, ...]:
    """Describe why the first dropped statements cannot be put back; in general terms once that takes too long."""
    budget = Budget(_BLAME)
    kept = np.flatnonzero(~off)
    lines = []
    for statement in np.flatnonzero(off)[:_SHOWN]:
        said = constraints.describe(int(statement))
        if budget.over:
            lines.append(f"{said}: it contradicts statements that stay.")
            continue
        others = constraints.describe_each(contradicted_by(table, kept, int(statement), budget))
        lines.append(f"{said}: it contradicts {some_of(others)}.")
    return tuple(lines)
