"""The most informative statements: of a labeling, and the best few of many."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb
from typing import Any

import numpy as np

from linkwise._messages import hint, many, more_lines
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import read_count
from linkwise._value_columns import rank_values, read_known
from linkwise.constraints import NO_LABELS, Constraints, Kind, require_constraints
from linkwise.exceptions import ConstraintError, UnsupportedConstraintError
from linkwise.problem.entailment._closure import MOST_SAMPLES, implied_triplets
from linkwise.problem.entailment._greedy_growth import grow_links, grow_triplets
from linkwise.problem.entailment._implies import Entailment
from linkwise.problem.entailment._minimal import minimal

_MOST_TRIPLETS = 5_000_000


def label_triplets(y: Any, *, unlabeled: Any = -1) -> Constraints:
    """List the fewest triplets equivalent to a labeling: classes are subtrees without structure inside.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class of each sample.
    unlabeled : scalar, default=-1
        A value that means "not known", as None, NaN, pandas.NA and masked values always do; such samples are in no
        triplet.

    Returns
    -------
    Constraints
        For every class, every member but its first, and every other class: the first member and this one are closer to
        each other than to the first member of the other class. (k - 1) (n - k) triplets for n samples in k classes.

    Raises
    ------
    ConstraintError
        ``y`` is not one label per sample, or there would be more than five million triplets.

    See Also
    --------
    linkwise.Dendrogram.triplets : the same for any hierarchy, with ``minimal=True``.
    Constraints.from_labels : must- and cannot-links instead.

    Notes
    -----
    **Guarantee** BUILD on them gives the two-level hierarchy of the classes back; every triplet it displays is implied,
    and none of these can be dropped. **Departure from** [1]_, section 5.2: GenerateConstraints pairs the first member
    with itself as well; these empty statements are left out, hence (k - 1) (n - k) and not (k - 1) n.

    References
    ----------
    .. [1] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with Relative Constraints", KDD 2011.

    Examples
    --------
    >>> from linkwise.problem import label_triplets
    >>> label_triplets([0, 0, 1, 1, 1]).items.tolist()
    [[0, 1, 2], [2, 3, 0], [2, 4, 0]]
    """
    labels, is_known = read_known("label_triplets: y", y, unlabeled)
    known = np.flatnonzero(is_known)
    of_class = rank_values("label_triplets: y", labels, is_known)[0][known]
    first = np.unique(of_class, return_index=True)[1]
    heads, k = known[first], len(first)
    count = (k - 1) * (len(known) - k) if k else 0
    if count > _MOST_TRIPLETS:
        msg = (
            f"label_triplets: {k:,} classes of {len(known):,} samples need {count:,} triplets; at most "
            f"{_MOST_TRIPLETS:,} are written.\nHint: `Constraints.from_labels(y)` needs fewer pairs."
        )
        raise ConstraintError(msg)
    order = np.argsort(of_class, kind="stable")
    order = order[~np.isin(known[order], heads)]
    member = np.repeat(known[order], max(k - 1, 0))
    mine = np.repeat(of_class[order], max(k - 1, 0))
    other = np.tile(np.arange(max(k - 1, 0)), len(order))
    other += other >= mine  # every class but one's own
    return Constraints.build(len(labels), triplets=np.column_stack([heads[mine], member, heads[other]]))


@dataclass(frozen=True, eq=False)
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
    implied : float
        What all of them say together: triplets implied (themselves included), or pairs decided.
    total : float
        What all statements given say; NaN if that was not counted.
    bound : float
        No choice of so many statements says more than this.
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
    other: the worth of one grows with what is known about its samples, so no greedy choice is optimal in general. Each
    round takes the triplet that adds most; ties go to the heavier, then to the one whose samples occur most often,
    then to the earlier. A triplet with at most one sample in each connected part of those chosen adds just itself.

    For pairs it is the number of pairs decided, together or apart, by the closure. Must-links are taken so that the
    largest groups grow first, then cannot-links between the largest groups, for the best of five divisions of m
    between the two.

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
    chosen, gain, exact = grow_triplets(len(named), small, given.weight[candidates], m, seed)
    most = float(comb(2 * len(chosen) + 1, 3))
    bound = most if np.isnan(total) else min(most, total)
    implied = total if everything and not np.isnan(total) else float(gain.sum())
    return _selection(given, candidates[chosen], gain, implied, total, bound, exact or implied == total)


def _best_links(given: Constraints, known: Entailment, m: int) -> Selection:
    is_must = given.kind == Kind.MUST_LINK
    must, cannot = np.flatnonzero(is_must), np.flatnonzero(~is_must)
    chosen, gain = grow_links(known.n, given.items[must, :2], given.items[cannot, :2], given.weight, must, cannot, m)
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
        given.select(np.sort(chosen)), chosen, gain, implied, total, bound, exact, lines, given.n_statements
    )
