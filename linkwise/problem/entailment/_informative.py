"""`informative`: the few statements of many that imply most together, chosen greedily."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._messages import hint, many, more_lines
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import read_count
from linkwise.constraints import NO_LABELS, Constraints, Kind, require_constraints, run_starts
from linkwise.exceptions import UnsupportedConstraintError
from linkwise.problem.entailment._closure import MOST_SAMPLES, implied_triplets
from linkwise.problem.entailment._implies import Entailment
from linkwise.problem.entailment._kernels_implied import _grown, _union_gains, count_implied
from linkwise.problem.entailment._minimal import minimal
from linkwise.problem.triplets import Spans

_FEWEST_TRIED, _MOST_TRIED = 24, 512  # candidates counted in one round
_CELLS = 40_000_000  # about a tenth of a second of counting
_MOST_COUNTED = 128  # samples of a connected part whose implied triplets are counted; beyond, trios are drawn
_TRIOS = 4096
_DIVISIONS = 5


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection:
    """The most informative statements; made by `informative`.

    Attributes
    ----------
    kept : Constraints
        The statements chosen, in the order and with the numbers they had.
    statements : ndarray of intp
        Their positions, in the order they were chosen.
    gain : ndarray of float64
        What each added when it was chosen.
    implied, total, bound : float
        What all of them say together: triplets implied (themselves included), or pairs decided; what all statements
        given say, NaN if that was not counted; what no choice of that many statements exceeds.
    exact : bool
        Whether ``gain`` and ``implied`` are counts; else estimates from a sample.

    Examples
    --------
    >>> from linkwise import Constraints, informative
    >>> said = Constraints.build(6, must_link=[(0, 1), (2, 3), (3, 4), (4, 5)])
    >>> print(informative(said, 2))
    2 of 4 statements decide 3 pairs; all of them decide 7, no 2 decide more than 3.
      #1 must_link(2, 3): 1
      #2 must_link(3, 4): 2
    """

    kept: Constraints
    statements: IntArray
    gain: FloatArray
    implied: float
    total: float
    bound: float
    exact: bool
    lines: tuple[str, ...] = ()
    of: int = 0

    def __str__(self) -> str:
        m = len(self.statements)
        links = not (self.kept.kind == Kind.TRIPLET).any()
        verb, alone, what = ("decide", "decides", "pair") if links else ("imply", "implies", "triplet")
        about = "" if self.exact else "about "
        says = alone if m == 1 else verb
        head = f"{m:,} of {many(self.of, 'statement')} {says} {about}{many(round(self.implied), what)}"
        if m < self.of:
            whole = "" if np.isnan(self.total) else f" all of them {verb} {self.total:,.0f},"
            head += f";{whole} no {'single one' if m == 1 else f'{m:,}'} {says} more than {self.bound:,.0f}"
        head += "."
        return "\n".join([head, *(f"  {line}" for line in self.lines), *more_lines(len(self.lines), m)])


def informative(constraints: Constraints, m: int, *, random_state: int = 0) -> Selection:
    """Choose the m statements that imply most together.

    Parameters
    ----------
    constraints : Constraints
        Must- and cannot-links, or triplets, of any weight; all must be able to hold together. Rules are not counted.
    m : int
        How many to choose; fewer come back if fewer say everything.
    random_state : int, default=0
        Seed of the sample by which implied triplets are estimated where they are too many to count.

    Returns
    -------
    Selection

    Raises
    ------
    InfeasibleConstraintsError
        The statements contradict each other.
    UnsupportedConstraintError
        Pairs and triplets are mixed, or there are other kinds.

    See Also
    --------
    minimal : the few that say everything.
    label_triplets : the informative triplets of a labeling.

    Notes
    -----
    For triplets, what a choice says is the number of triplets it implies, itself included. Triplets reinforce each
    other, so no greedy choice is optimal in general. Each round takes the triplet that adds most; ties go to the
    heavier, then to the one whose samples occur most often, then to the earlier.

    For pairs it is the number of pairs decided, together or apart, by the closure. Must-links are taken so that the
    largest groups grow first, then cannot-links between the largest groups, for the best of five divisions of m.

    **Cost** triplets: for each choice the counting of 24 to 512 candidates, the most promising ones, cubic in the
    samples of one connected part up to 128 of them and sampled beyond; seconds for m = 50 of 5,000. Pairs:
    near-linear. **Guarantee** deterministic. With must-links only the choice is optimal, and if m statements suffice to
    say everything, everything is said. ``bound`` holds for every choice: m connected triplets name at most 2 m + 1
    samples, m connected pairs m + 1, and nothing says more than all.

    Examples
    --------
    >>> from linkwise import Constraints, informative
    >>> said = Constraints.build(7, triplets=[(0, 1, 2), (4, 5, 6), (1, 2, 3), (0, 2, 3)])
    >>> best = informative(said, 2)
    >>> best.statements.tolist(), best.gain.tolist(), best.implied
    ([0, 2], [1.0, 3.0], 4.0)
    """
    require_constraints(constraints, "informative")
    m = read_count(m, "m", "informative")
    is_triplet = constraints.kind == Kind.TRIPLET
    is_link = (constraints.kind == Kind.MUST_LINK) | (constraints.kind == Kind.CANNOT_LINK)
    if not (is_triplet.all() or is_link.all()):
        words = tuple(sorted({Kind(kind).word for kind in constraints.kind.tolist()}))
        way = hint(
            command="put pairs and triplets into separate files",
            python="choose from `constraints.select(constraints.kind == Kind.TRIPLET)`",
        )
        msg = (
            f"informative: {', '.join(words)} are mixed, expected pairs only or triplets only, since their gain is "
            f"counted differently.\nHint: {way}."
        )
        raise UnsupportedConstraintError(msg, words)
    everything = np.full(constraints.n_statements, np.inf)
    hard = constraints._replace(weight=everything, rules=(), labels=NO_LABELS)
    known = Entailment(hard, "informative")
    if is_triplet.all() and len(is_triplet):
        return _best_triplets(constraints, hard, known, m, random_state)
    return _best_links(constraints, known, m)


def _best_triplets(given: Constraints, hard: Constraints, known: Entailment, m: int, seed: int) -> Selection:
    named = np.unique(known.triplets)
    total = np.nan
    if len(named) <= MOST_SAMPLES:
        total = float(implied_triplets(known, named).sum())
    carriers = minimal(hard)
    everything = carriers.n_statements <= m
    candidates = np.flatnonzero(np.isin(hard.row, carriers.row)) if everything else np.arange(hard.n_statements)
    small = np.searchsorted(named, hard.items[candidates]).astype(np.intp)
    chosen, gain, exact = _grow_triplets(len(named), small, given.weight[candidates], m, seed)
    most = float(comb(2 * len(chosen) + 1, 3))
    bound = most if np.isnan(total) else min(most, total)
    implied = total if everything and not np.isnan(total) else float(gain.sum())
    return _selection(given, candidates[chosen], gain, implied, total, bound, exact or implied == total)


def _best_links(given: Constraints, known: Entailment, m: int) -> Selection:
    is_must = given.kind == Kind.MUST_LINK
    must, cannot = np.flatnonzero(is_must), np.flatnonzero(~is_must)
    chosen, gain = _grow_links(known.n, given.items[must, :2], given.items[cannot, :2], given.weight, must, cannot, m)
    size = np.bincount(known.block, minlength=1).astype(np.float64)
    apart = known.block_cannot
    total = float((size * (size - 1) / 2).sum() + (size[apart[:, 0]] * size[apart[:, 1]]).sum())
    bound = min(float(comb(len(chosen) + 1, 2)), total)
    return _selection(given, chosen, gain, float(gain.sum()), total, bound, True)


def _selection(
    given: Constraints,
    chosen: IntArray,
    gain: FloatArray,
    implied: float,
    total: float,
    bound: float,
    exact: bool,
) -> Selection:
    lines = tuple(f"{given.describe(int(s))}: {g:,.0f}" for s, g in zip(chosen[:20], gain[:20], strict=True))
    return Selection(
        kept=given.select(np.sort(chosen)),
        statements=chosen,
        gain=gain,
        implied=implied,
        total=total,
        bound=bound,
        exact=exact,
        lines=lines,
        of=given.n_statements,
    )


# -- greedy growth: triplets ----------------------------------------------------------------------------------------


def _grow_triplets(
    n: int, triplets: IntArray, weight: FloatArray, m: int, seed: int
) -> tuple[IntArray, FloatArray, bool]:
    """Choose up to m triplets, each time one that implies most more: choice, gains, and whether these are exact.

    Samples are 0 to ``n - 1``. A connected part is kept by the number of one of its samples.
    """
    seen = np.bincount(triplets.ravel(), minlength=n)[triplets].sum(axis=1)
    # among equals: heavier, more often talked about, earlier
    rank = np.empty(len(triplets), dtype=np.intp)
    rank[np.lexsort((np.arange(len(triplets)), -seen, -weight))] = np.arange(len(triplets))
    part = np.full(n, -1, dtype=np.intp)
    says: dict[int, float] = {}
    members: dict[int, list[int]] = {}
    worth = np.ones(len(triplets))  # gain when last counted
    fresh = np.ones(len(triplets), dtype=np.bool_)  # whether that still holds
    free = np.ones(len(triplets), dtype=np.bool_)
    chosen: list[int] = []
    gain: list[float] = []
    exact = True
    while len(chosen) < m and free.any():
        stale = np.flatnonzero(free & ~fresh)
        size = max((len(rows) + 2 for rows in members.values()), default=1)
        tried = _FEWEST_TRIED if size > _MOST_COUNTED else min(max(_CELLS // size**3, _FEWEST_TRIED), _MOST_TRIED)
        for t in stale[np.lexsort((rank[stale], -worth[stale]))[:tried]]:
            touched = sorted(set(part[triplets[t]].tolist()) - {-1})
            rows = [row for p in touched for row in members[p]]
            now, counted = _says(triplets[[*rows, t]], seed)
            exact &= counted
            worth[t] = max(now - sum(says[p] for p in touched), 0.0)
            fresh[t] = True
            free[t] = worth[t] > 0 or not counted
        open_ = np.flatnonzero(free & fresh)
        if not len(open_):
            continue
        best = int(open_[np.lexsort((rank[open_], -worth[open_]))[0]])
        if worth[best] <= 0:
            break
        chosen.append(best)
        gain.append(float(worth[best]))
        free[best] = False
        _join(best, triplets, part, says, members, worth[best])
        # whoever has two samples in the part that changed may now add more, or nothing
        inside = part == part[triplets[best, 0]]
        fresh &= inside[triplets].sum(axis=1) < 2
    return np.array(chosen, dtype=np.intp), np.array(gain, dtype=np.float64), exact


def _join(
    t: int, triplets: IntArray, part: IntArray, says: dict[int, float], members: dict[int, list[int]], gain: float
) -> None:
    """Make one part of the parts a triplet touches."""
    name = int(triplets[t, 0])
    touched = sorted(set(part[triplets[t]].tolist()) - {-1})
    rows = [row for p in touched for row in members.pop(p)] + [t]
    total = sum(says.pop(p) for p in touched) + gain
    part[triplets[rows].ravel()] = name
    members[name], says[name] = rows, total


def _says(triplets: IntArray, seed: int) -> tuple[float, bool]:
    """How many triplets these imply, and whether that is a count."""
    names, small = np.unique(triplets, return_inverse=True)
    k = len(names)
    small = np.ascontiguousarray(small.reshape(-1, 3).astype(np.intp))
    if k <= _MOST_COUNTED:
        return float(count_implied(small, k)), True
    rng = np.random.default_rng(seed)
    trio = np.sort(rng.integers(0, k, (_TRIOS, 3)), axis=1)
    trio = trio[(trio[:, 0] < trio[:, 1]) & (trio[:, 1] < trio[:, 2])]
    spans = Spans(k, small)
    hits = 0
    for a, b, c in ((0, 1, 2), (0, 2, 1), (1, 2, 0)):
        x, y, z = (np.ascontiguousarray(trio[:, column]) for column in (a, b, c))
        shown = spans.displayed(x, y, z)
        x, y, z = x[shown], y[shown], z[shown]
        hits += int((spans.holds(x, z, y) & spans.holds(y, z, x)).sum())
    return max(hits / len(trio) * comb(k, 3), float(len(triplets))), False


# -- greedy growth: pairs ----------------------------------------------------------------------------------------


def _grow_links(
    n: int, must: IntArray, cannot: IntArray, weight: FloatArray, must_at: IntArray, cannot_at: IntArray, m: int
) -> tuple[IntArray, FloatArray]:
    """Choose up to m links that decide many pairs: statement positions and gains, must-links first.

    ``must_at`` and ``cannot_at`` say where the links stand among all statements, whose weights are given.
    """
    heavy = np.argsort(-weight[must_at], kind="stable")
    joined = heavy[_growing(n, must[heavy])]
    order = np.argsort(-weight[cannot_at], kind="stable")
    cannot, cannot_at = cannot[order], cannot_at[order]
    most = min(m, len(joined))
    best: tuple[float, int, IntArray, IntArray] | None = None
    for taken in np.unique(np.linspace(0, most, _DIVISIONS).round().astype(np.intp))[::-1]:
        group: IntArray = components(n, must[joined[:taken]])
        size = np.bincount(group, minlength=1)
        apart, worth = _largest(group, size, cannot, m - int(taken))
        total = float((size * (size - 1) // 2).sum() + worth.sum())
        if best is None or total > best[0]:
            best = total, int(taken), apart, worth
    if best is None:  # linspace is never empty
        return np.empty(0, np.intp), np.empty(0)
    _, taken, apart, worth = best
    links = joined[:taken]
    gain = np.concatenate([_union_gains(n, must[links]), worth]).astype(np.float64)
    return np.concatenate([must_at[links], cannot_at[apart]]), gain


def _growing(n: int, pairs: IntArray) -> IntArray:
    """A spanning forest in which each group is grown link by link before the next, the largest group first."""
    group: IntArray = components(n, pairs)
    size = np.bincount(group, minlength=1)
    both = np.concatenate([pairs, pairs[:, ::-1]])
    start = run_starts(both[:, 0], n)
    order = np.argsort(both[:, 0], kind="stable")
    seeds = np.argsort(-size[group], kind="stable")  # stable: a group's first member comes first
    return np.asarray(_grown(start, both[order, 1].copy(), order % max(len(pairs), 1), seeds))


def _largest(group: IntArray, size: IntArray, cannot: IntArray, m: int) -> tuple[IntArray, IntArray]:
    """Return the m cannot-links between different pairs of groups that decide most, earlier first, and their gains."""
    ends = group[cannot]
    n = len(size)
    _, one = np.unique(ends.min(axis=1, initial=n) * n + ends.max(axis=1, initial=0), return_index=True)
    one = np.sort(one)
    worth = size[ends[one, 0]] * size[ends[one, 1]]
    best = np.argsort(-worth, kind="stable")[:m]
    return one[best], worth[best]
