"""Statements about any number of samples, stored as lists of members and never expanded to pairs."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._typing import BoolArray, IntArray
from linkwise.constraints._kinds import HINT_IDS, Kind, read_numbers, trivial
from linkwise.exceptions import ConstraintError, LinkwiseWarning


class Groups(NamedTuple):
    """The samples of the statements that name any number of them, one stretch of ``member`` per statement.

    Attributes
    ----------
    statement : ndarray of intp, shape (g,)
        Position of each such statement in the table, rising.
    start : ndarray of intp, shape (g + 1,)
        Statement ``statement[i]`` names ``member[start[i]:start[i + 1]]``.
    member : ndarray of intp
        Samples; rising within a group, except that the first of a choice is the sample that chooses. ``either`` has two
        for each of its links, the smaller first in a must-link, the larger first in a cannot-link.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> apart = Constraints.build(9, must_link=[(0, 1)], apart=[[2, 3, 5], [7, 8]]).groups
    >>> apart.statement.tolist(), apart.of(0).tolist(), apart.sizes.tolist()
    ([1, 2], [2, 3, 5], [3, 2])
    """

    statement: IntArray
    start: IntArray
    member: IntArray

    @property
    def sizes(self) -> IntArray:
        """Number of samples that each statement names."""
        return np.diff(self.start)

    @property
    def owner(self) -> IntArray:
        """Group (0, 1, ...) of each entry of ``member``."""
        return np.repeat(np.arange(len(self.statement)), self.sizes)

    def of(self, group: int) -> IntArray:
        """Return the samples of one group."""
        return self.member[self.start[group] : self.start[group + 1]]

    def pick(self, keep: BoolArray) -> Groups:
        """Keep the groups a mask picks, with their statement numbers."""
        if keep.all():
            return self
        return gather(self.statement[keep], self.sizes[keep], self.member[np.repeat(keep, self.sizes)])

    def hold(self, kind: npt.NDArray[np.int8], labels: npt.NDArray[Any]) -> BoolArray:
        """Return for each group, of the given `Kind`, whether its statement holds for one label per sample."""
        if not len(self.statement):
            return np.empty(0, dtype=np.bool_)
        held = np.zeros(len(self.statement), dtype=np.bool_)
        choice = kind >= Kind.MUST_LINK_ANY
        if choice.any():
            some = self.pick(choice)
            owner, pair, is_must = some.links(kind[choice])
            good = (labels[pair[:, 0]] == labels[pair[:, 1]]) == is_must
            held[choice] = np.bincount(owner[good], minlength=len(some.statement)) > 0
        owner, label = self.owner, labels[self.member]
        with_first = label == label[self.start[:-1]][owner]
        joined = np.add.reduceat(with_first.astype(np.intp), self.start[:-1]) - 1
        order = np.lexsort((label, owner))
        twice = (owner[order[1:]] == owner[order[:-1]]) & (label[order[1:]] == label[order[:-1]])
        repeats = np.bincount(owner[order[1:]][twice], minlength=len(self.statement))
        others = self.sizes - 1
        for of, answer in ((Kind.TOGETHER, joined == others), (Kind.APART, repeats == 0)):
            held[kind == of] = answer[kind == of]
        return held

    def links(self, kind: npt.NDArray[np.int8]) -> tuple[IntArray, IntArray, BoolArray]:
        """Return the links of which choices, of the given kinds, need one to hold.

        Of each link the group, its two samples, and whether it is a must-link.
        """
        owner, place = self.owner, np.arange(len(self.member)) - np.repeat(self.start[:-1], self.sizes)
        either = (kind == Kind.EITHER)[owner]
        second = np.flatnonzero(np.where(either, place % 2 == 1, place > 0))
        of, paired = owner[second], either[second]
        pair = np.column_stack([self.member[np.where(paired, second - 1, self.start[of])], self.member[second]])
        is_must = np.where(paired, pair[:, 0] < pair[:, 1], kind[of] == Kind.MUST_LINK_ANY)
        return of, pair, is_must

    def pairs_with(self, chosen: BoolArray) -> IntArray:
        """List the pairs within each group of which at least one sample is ``chosen``; some pairs are listed twice."""
        owner = self.owner
        at = np.flatnonzero(chosen[self.member])
        count = self.sizes[owner[at]]
        first = np.repeat(self.member[at], count)
        begin = np.repeat(self.start[owner[at]], count)
        second = self.member[begin + np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)]
        return np.asarray(np.column_stack([first, second])[first != second], dtype=np.intp)

    def neighbors(self, leaf_order: IntArray) -> tuple[IntArray, IntArray]:
        """Return neighbors of each group in leaf order: any two samples of a group meet where some two neighbors do."""
        place = np.empty(len(leaf_order), dtype=np.intp)
        place[leaf_order] = np.arange(len(leaf_order))
        owner = self.owner
        member = self.member[np.lexsort((place[self.member], owner))]
        same = owner[1:] == owner[:-1]
        return member[:-1][same], member[1:][same]


NO_GROUPS = Groups(np.empty(0, dtype=np.intp), np.zeros(1, dtype=np.intp), np.empty(0, dtype=np.intp))
for _array in NO_GROUPS:
    _array.setflags(write=False)


def run_starts(numbers: IntArray, n: int) -> IntArray:
    """Return where the run of each number below ``n`` begins once they are sorted, and the end of the last run."""
    start = np.zeros(n + 1, dtype=np.intp)
    np.cumsum(np.bincount(numbers, minlength=n), out=start[1:])
    return start


def gather(statement: IntArray, sizes: IntArray, member: IntArray) -> Groups:
    """Make groups from their sizes."""
    start = np.zeros(len(sizes) + 1, dtype=np.intp)
    np.cumsum(sizes, out=start[1:])
    return Groups(statement.astype(np.intp, copy=False), start, member.astype(np.intp, copy=False))


def read_groups(kind: Kind, given: Any, n_samples: int, name: Callable[[int], str] = str) -> tuple[BoolArray, Groups]:
    """Read lists of sample numbers; return a mask without the trivial ones, and the others numbered by position."""
    rows = _rows(kind, given)
    sizes = np.fromiter((len(row) for row in rows), dtype=np.intp, count=len(rows))
    flat = np.concatenate(rows) if rows else np.empty(0, dtype=np.intp)
    member = read_numbers(kind.word, flat, n_samples, np.repeat(np.arange(len(rows)), sizes))
    groups = gather(np.arange(len(rows)), sizes, member)
    keep = _judge(kind, groups, name)
    if not keep.all():
        form = "must_link_any with a sample among its own choices" if kind.is_choice else f"{kind.word} of one sample"
        warnings.warn(trivial(int((~keep).sum()), form), LinkwiseWarning, stacklevel=4)
    return keep, _tidy(kind, groups.pick(keep))


def _rows(kind: Kind, given: Any) -> list[npt.NDArray[Any]]:
    if given is None:
        return []
    if isinstance(given, (str, bytes, Mapping)) or not (hasattr(given, "__array__") or isinstance(given, Iterable)):
        msg = f"{kind.word} is {type(given).__name__}, expected a list of groups, each a list of sample numbers."
        raise ConstraintError(msg)
    rows = []
    for row in given:
        if isinstance(row, (str, bytes, Mapping)) or not (hasattr(row, "__array__") or isinstance(row, Iterable)):
            msg = (
                f"{kind.word} holds {row!r}, expected groups, each a list of sample numbers.\n"
                f"Hint: write {kind.word}=[[0, 1, 2]] for one group of three."
            )
            raise ConstraintError(msg)
        values = row if hasattr(row, "__array__") or isinstance(row, Sequence) else list(row)
        try:
            array = np.asarray(values)
        except ValueError:
            msg = f"{kind.word} holds {row!r}, expected one flat list of sample numbers, as in [[0, 1, 2]]."
            raise ConstraintError(msg) from None
        if array.size and array.dtype.kind in "iu" and not hasattr(values, "__array__"):
            found = set(map(type, values))
            array = np.array(values, dtype=object) if bool in found or np.bool_ in found else array
        if array.ndim != 1:
            msg = f"{kind.word} has a group of shape {array.shape}, expected a list of sample numbers.\n{HINT_IDS}"
            raise ConstraintError(msg)
        rows.append(array.astype(np.intp) if array.size == 0 else array)
    return rows


def _judge(kind: Kind, groups: Groups, name: Callable[[int], str]) -> BoolArray:
    """Refuse groups that contradict themselves; return a mask without the trivial ones."""
    owner, member, sizes = groups.owner, groups.member, groups.sizes
    if kind.is_choice:
        return _judge_choices(kind, groups, name)
    order = np.lexsort((member, owner))
    twice = (owner[order[1:]] == owner[order[:-1]]) & (member[order[1:]] == member[order[:-1]])
    if kind is Kind.APART and twice.any():
        at = order[1:][twice][0]
        sample, row = name(int(member[at])), int(owner[at])
        msg = f"apart names {sample} twice (group {row}), expected different samples.\nHint: remove one of them."
        raise ConstraintError(msg)
    distinct = sizes - np.bincount(owner[order[1:]][twice], minlength=len(sizes)).astype(np.intp)
    return np.asarray(distinct >= 2)


def _judge_choices(kind: Kind, groups: Groups, name: Callable[[int], str]) -> BoolArray:
    owner, member, sizes = groups.owner, groups.member, groups.sizes
    if (sizes == 0).any():
        msg = f"{kind.word} holds an empty row (row {int(np.argmin(sizes))}), expected a sample and its choices."
        raise ConstraintError(msg)
    head = member[groups.start[:-1]]
    own = np.bincount(owner[member == head[owner]], minlength=len(sizes)) > 1
    others = np.bincount(owner[member != head[owner]], minlength=len(sizes))
    hopeless = (others == 0) & ~own if kind is Kind.MUST_LINK_ANY else others == 0
    if hopeless.any():
        row = int(np.flatnonzero(hopeless)[0])
        msg = f"{kind.word} (row {row}) has no choices for sample {name(int(head[row]))}, expected at least one."
        raise ConstraintError(msg)
    return ~own if kind is Kind.MUST_LINK_ANY else np.ones(len(sizes), dtype=np.bool_)


def _tidy(kind: Kind, groups: Groups) -> Groups:
    """Sort members and drop repeats; of a choice the first member stays first."""
    owner, member = groups.owner, groups.member
    first = np.ones(len(member), dtype=np.intp)
    if kind.is_choice:
        first[groups.start[:-1]] = 0
    order = np.lexsort((member, first, owner))
    owner, member, first = owner[order], member[order], first[order]
    keep = np.ones(len(member), dtype=np.bool_)
    keep[1:] = (owner[1:] != owner[:-1]) | (member[1:] != member[:-1])
    if kind.is_choice:
        head = groups.member[groups.start[:-1]]
        keep &= (first == 0) | (member != head[owner])
    sizes = np.bincount(owner[keep], minlength=len(groups.statement))
    return gather(groups.statement, sizes, member[keep])


def take_groups(groups: Groups, order: IntArray, statement: IntArray) -> Groups:
    """Reorder groups; ``statement`` are their new positions in the table."""
    sizes = groups.sizes[order]
    begin = np.cumsum(sizes) - sizes
    at = np.arange(int(sizes.sum())) - np.repeat(begin - groups.start[order], sizes)
    return gather(statement, sizes, groups.member[at])


def join_groups(first: Groups, second: Groups, n_first: int) -> Groups:
    """Put the groups of a second table after those of a first one with ``n_first`` statements."""
    if not len(second.statement):
        return first
    return gather(
        np.concatenate([first.statement, second.statement + n_first]),
        np.concatenate([first.sizes, second.sizes]),
        np.concatenate([first.member, second.member]),
    )


def renumber_groups(groups: Groups, kind: npt.NDArray[np.int8], position: IntArray) -> tuple[Groups, BoolArray]:
    """Renumber the samples of groups (-1 = gone); return the groups, and a mask of the old ones that are left.

    A group holds for any two of its members, so it shrinks with its samples. A sample that is gone may be the one that
    meets a choice, so a choice stays only if all its samples do. ``kind`` is that of each group.
    """
    owner = groups.owner
    member = position[groups.member]
    here = member >= 0
    left = np.bincount(owner[here], minlength=len(groups.statement))
    choice, either = kind >= Kind.MUST_LINK_ANY, (kind == Kind.EITHER)[owner]
    keep = np.where(choice, left == groups.sizes, left >= 2)
    here &= keep[owner]
    first = np.ones(len(member), dtype=np.intp)
    first[groups.start[:-1][choice & (kind != Kind.EITHER)]] = 0
    key, tie = member, np.zeros((2, len(member)), dtype=np.intp)
    if either.any():  # both members of a link are sorted by the first one, then by the second
        at = np.flatnonzero(either).reshape(-1, 2)
        flip = (member[at[:, 0]] < member[at[:, 1]]) != (groups.member[at[:, 0]] < groups.member[at[:, 1]])
        member[at[flip]] = member[at[flip, ::-1]]
        key = member.copy()
        key[at[:, 1]] = member[at[:, 0]]
        tie[0, at] = member[at[:, 1:]]
        tie[1, at[:, 1]] = 1
    order = np.flatnonzero(here)
    order = order[np.lexsort((tie[1, order], tie[0, order], key[order], first[order], owner[order]))]
    return gather(groups.statement[keep], left[keep], member[order]), keep
