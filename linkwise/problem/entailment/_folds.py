"""Folds over constraints: the statements about some samples are held out, and models are judged by them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_random_state

from linkwise._kernels.disjoint_set import components
from linkwise._messages import many
from linkwise._typing import BoolArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import LinkwiseError
from linkwise.problem.feasibility import check

# Pairs of sets of must-linked samples that may be apart before folds are refused; one set per labeled class is usual.
_MOST_APART = 2_000_000


class Fold(NamedTuple):
    """One way to hold statements out; made by `knowledge_folds`.

    Attributes
    ----------
    train : Constraints
        The constraints a model is fitted with: all that follow about samples not held out, and the rules.
    test : Constraints
        The statements it is judged by, each of which names a sample that ``train`` does not mention.
    held_out : ndarray of shape (m,)
        The samples that the constraints name and ``train`` does not.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.selection import knowledge_folds
    >>> fold = knowledge_folds(Constraints.build(4, must_link=[(0, 1), (1, 2)]), 3, random_state=0)[0]
    >>> fold.held_out.tolist(), fold.train.items[:, :2].tolist(), fold.test.items[:, :2].tolist()
    ([2], [[0, 1]], [[0, 2]])
    """

    train: Constraints
    test: Constraints
    held_out: IntArray


def knowledge_folds(constraints: Constraints, n_splits: int = 5, *, random_state: Any = None) -> list[Fold]:
    """Split constraints into training and test parts, so that no statement to test follows from those to train on.

    Parameters
    ----------
    constraints : Constraints
        Statements of any kind. Rules are about clusters, not samples, and are in the training part of every fold.
    n_splits : int, default=5
        How many folds; every sample that a statement names is held out in one of them.
    random_state : int, RandomState or None, default=None
        Decides which samples are held out in which fold.

    Returns
    -------
    list of Fold

    Raises
    ------
    InfeasibleConstraintsError
        The hard statements contradict each other.
    LinkwiseError
        Fewer samples are named than there are folds.

    See Also
    --------
    linkwise.implies : whether statements follow from others.

    Notes
    -----
    Pairs are not independent: must_link(a, b) and must_link(b, c) imply must_link(a, c). A split of the statements as
    they stand would judge by many that the training part implies. Here *samples* are held out, after closing. The
    statements that remain implied about the others are in the training part: with b held out, must_link(a, c) is. Of
    the facts about a held-out sample each is in the test part once: that it belongs to a set of must-linked samples, or
    is apart from one. Two held-out samples are compared only where no other sample of their set remains.

    Triplets and soft statements are in the training part if none of their samples is held out, else in the test part;
    groups are in the training part without the samples held out. A disjunction (``either``) is in no test part, since
    one cluster and single samples both satisfy most of them. Implications of triplets are not written out first.

    **Guarantee** the training part implies nothing in the test part, since it does not mention the samples there.
    **Cost** near-linear in the number of statements and of facts in the test parts.

    Examples
    --------
    >>> from linkwise import Constraints, implies
    >>> from linkwise.selection import knowledge_folds
    >>> known = Constraints.from_labels([0, 0, 0, 1, 1, 1])
    >>> for fold in knowledge_folds(known, 3, random_state=0):
    ...     print(fold.held_out, fold.test.n_statements, implies(fold.train, fold.test).any())
    [3 4] 4 False
    [2 5] 4 False
    [0 1] 4 False
    """
    if isinstance(n_splits, bool) or not isinstance(n_splits, (int, np.integer)) or n_splits < 2:
        msg = f"knowledge_folds: n_splits is {n_splits!r}, expected a whole number from 2."
        raise LinkwiseError(msg)
    check(constraints).raise_if_infeasible()
    closed = _Closed(constraints)
    named = np.unique(np.concatenate([constraints.items[constraints.items >= 0], constraints.groups.member]))
    if len(named) < n_splits:
        msg = (
            f"knowledge_folds: statements are about {many(len(named), 'sample')}, too few for {n_splits} folds.\n"
            f"Hint: at most {max(len(named), 2)} folds (n_splits, or cv of a search), or {n_splits} samples named."
        )
        raise LinkwiseError(msg)
    turn = np.full(constraints.n_samples, -1, dtype=np.intp)
    turn[named] = check_random_state(random_state).permutation(np.arange(len(named)) % n_splits)
    return [closed.fold(turn == t, (turn >= 0) & (turn != t)) for t in range(n_splits)]


class _Closed:
    """The hard pairs and groups of a table, closed: a set for each sample, and which sets are apart."""

    def __init__(self, constraints: Constraints) -> None:
        self.said = constraints
        n, hard = constraints.n_samples, constraints.is_hard
        links, at = constraints.must_links()
        self.set_of: IntArray = components(n, np.ascontiguousarray(links[hard[at]]))
        self.apart = _sets_apart(constraints.select(hard), self.set_of)
        # A row per order, so that either set can be the one with a sample held out.
        self.facing = np.concatenate([self.apart, self.apart[:, ::-1]])
        linked = np.isin(constraints.kind, (Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TOGETHER, Kind.APART))
        self.others = constraints.select(~(linked & hard)).with_rules()

    def fold(self, held: BoolArray, told: BoolArray) -> Fold:
        """Hold out the samples ``held``; train on the statements about those ``told``."""
        return Fold(self._told(held, told), self._asked(held, told), np.flatnonzero(held))

    def _told(self, held: BoolArray, told: BoolArray) -> Constraints:
        """The statements about others, and links between these that replace links through the samples held out."""
        n = self.said.n_samples
        inside = _without(self.said, held)
        hard = inside.is_hard
        links, at = inside.must_links()
        part: IntArray = components(n, np.ascontiguousarray(links[hard[at]]))
        members = np.flatnonzero(told)
        members = members[np.lexsort((part[members], self.set_of[members]))]
        sets, parts = self.set_of[members], part[members]
        bridge = np.flatnonzero((sets[1:] == sets[:-1]) & (parts[1:] != parts[:-1]))
        first = _first_of(self.set_of, told)
        known = _sets_apart(inside.select(hard), self.set_of)
        size = int(self.set_of.max(initial=0)) + 1
        missing = self.apart[~np.isin(self.apart @ [size, 1], known @ [size, 1])]
        missing = missing[(first[missing] >= 0).all(axis=1)]
        must = np.column_stack([members[bridge], members[bridge + 1]])
        return inside | Constraints.build(n, must_link=must, cannot_link=first[missing])

    def _asked(self, held: BoolArray, told: BoolArray) -> Constraints:
        """A fact for each held-out sample and each set it belongs to or is apart from; and others that name it."""
        n = self.said.n_samples
        first_told, first_held = _first_of(self.set_of, told), _first_of(self.set_of, held)
        speaks_for = np.where(first_told >= 0, first_told, first_held)  # the sample of each set to compare with
        out = np.flatnonzero(held)
        out = out[np.argsort(self.set_of[out], kind="stable")]
        sets = self.set_of[out]
        must = np.column_stack([out, speaks_for[sets]])
        must = must[must[:, 0] != must[:, 1]]
        count = np.bincount(sets, minlength=len(first_told))[self.facing[:, 0]]
        begin = np.searchsorted(sets, self.facing[:, 0])
        turn = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count)
        asked = out[np.repeat(begin, count) + turn]
        cannot = np.column_stack([asked, np.repeat(speaks_for[self.facing[:, 1]], count)])
        cannot = np.unique(np.sort(cannot, axis=1), axis=0) if len(cannot) else cannot
        facts = Constraints.build(n, must_link=must, cannot_link=cannot)
        if self.said.ids is not None:
            facts = facts.with_ids(self.said.ids)
        return facts | self.others.select(_names(self.others, held) & (self.others.kind != Kind.EITHER))


def _sets_apart(constraints: Constraints, set_of: IntArray) -> IntArray:
    """Pairs of sets that cannot-links and groups apart keep from each other, each once, the lower number first."""
    apart = constraints.groups_of(Kind.APART)
    n_pairs = int((apart.sizes * (apart.sizes - 1) // 2).sum())
    if n_pairs > _MOST_APART:
        msg = (
            f"knowledge_folds: groups apart keep {n_pairs:,} pairs apart, more than {_MOST_APART:,}.\n"
            "Hint: choose among models with smaller groups; the chosen one takes all."
        )
        raise LinkwiseError(msg)
    pairs = np.concatenate(
        [constraints.of(Kind.CANNOT_LINK), apart.pairs_with(np.ones(constraints.n_samples, dtype=np.bool_))]
    )
    return np.unique(np.sort(set_of[pairs], axis=1), axis=0).reshape(-1, 2)


def _first_of(set_of: IntArray, chosen: BoolArray) -> IntArray:
    """The first chosen sample of each set, -1 where there is none."""
    first = np.full(int(set_of.max(initial=-1)) + 1, -1, dtype=np.intp)
    members = np.flatnonzero(chosen)[::-1]
    first[set_of[members]] = members  # the last to be written is the first of its set
    return first


def _names(constraints: Constraints, chosen: BoolArray) -> BoolArray:
    """Whether each statement names a chosen sample."""
    padded = np.append(chosen, False)  # -1 pads statements about two samples
    named: BoolArray = np.asarray(padded[constraints.items].any(axis=1))
    groups = constraints.groups
    if len(groups.statement):
        named[groups.statement] = np.maximum.reduceat(chosen[groups.member], groups.start[:-1])
    return named


def _without(constraints: Constraints, held: BoolArray) -> Constraints:
    """Drop the statements that name a held-out sample; groups go on without it, choices do not."""
    keep = ~_names(constraints, held)
    inside = constraints.select(keep)
    for kind in (Kind.TOGETHER, Kind.APART):
        cut = constraints.select(~keep & (constraints.kind == kind))
        left = [members[~held[members]] for members in np.split(cut.groups.member, cut.groups.start[1:-1])]
        rest = [t for t, members in enumerate(left) if len(members) > 1]
        if rest:
            told: dict[str, Any] = {kind.word: [left[t] for t in rest]}
            inside = inside | Constraints.build(cut.n_samples, **told, weight=cut.weight[rest])
    return inside
