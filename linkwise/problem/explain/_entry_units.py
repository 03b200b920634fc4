"""Expansion of groups and labels into entries: one must-link per entry, to a virtual sample for the group.

A group together becomes a virtual sample that each of its members is must-linked to, a label likewise. Of a group
apart each member is must-linked to a copy of its own, and the copies are apart. So every entry is a statement that can
go alone. The cannot-links between copies and between labels are background, which cannot be dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, Entries, Entry, Groups, Kind, gather, list_entries, take_away, take_groups
from linkwise.problem.explain._explanation import Written
from linkwise.problem.explain._fixes import Doubt, rank_among
from linkwise.problem.statements import Hard

_MEMBERS = 128


@dataclass(frozen=True, eq=False)
class Expansion:
    """A table whose statements are the entries of another, about the samples and virtual ones after them."""

    said: Constraints  # the table as given
    entries: Entries
    table: Constraints  # one statement per entry
    background: Groups  # virtual samples that are apart whatever happens; numbered from 0
    hub: IntArray  # for each virtual sample the group it stands for: a position in `said`, or -1 - label
    copy_of: IntArray  # for each virtual sample the sample it is a copy of, or -1
    behind: IntArray  # for each group of the background the statement it comes from, or -1 for labels

    @cached_property
    def everything(self) -> Constraints:
        """Entries and background as one table of hard statements without rules, the background last."""
        table, groups = self.table, self.background
        count = len(groups.statement)
        apart = Constraints(
            table.n_samples,
            np.full(count, Kind.APART, dtype=np.int8),
            np.full((count, 3), -1, dtype=np.intp),
            np.full(count, np.inf),
            np.arange(count, dtype=np.intp),
            groups=groups._replace(statement=np.arange(count, dtype=np.intp)),
        )
        return table.with_weight(np.inf).with_rules() | apart

    def hard(self, given: Hard | None = None) -> Hard:
        """Return the hard entries as arrays, with the links that a rule adds to the hard statements ``given``."""
        near, rule = None, ""
        if given is not None:
            near, rule = given.must[given.must_at >= given.constraints.n_statements], given.rule
        base = Hard.of(self.table, near, rule)
        first = self.table.n_statements + (0 if near is None else len(near))
        groups = self.background
        return replace(base, apart=groups._replace(statement=groups.statement + first))

    def without(self, numbers: IntArray) -> tuple[Constraints, BoolArray]:
        """The table as given without some entries, and which of its statements are not as they were."""
        said, entries = self.said, self.entries
        gone = np.zeros(said.n_statements, dtype=np.bool_)
        out = np.zeros(len(said.groups.member), dtype=np.bool_)
        lost = np.zeros(len(said.labels.sample), dtype=np.bool_)
        place, label = entries.place[numbers], entries.label[numbers]
        out[place[place >= 0]] = True
        lost[label[label >= 0]] = True
        gone[entries.statement[numbers[(place < 0) & (label < 0)]]] = True
        return take_away(said, gone, out, lost)

    def of_statements(self, statements: IntArray) -> IntArray:
        """The entries behind some statements: all rows of a labeling that one of them follows from."""
        said, entries = self.said, self.entries
        chosen = np.isin(entries.statement, statements) & (entries.label < 0)
        if said.labels:
            source = np.unique(said.labels.owner[statements])
            mine = np.isin(said.labels.source[said.labels.label], source[source >= 0])
            chosen |= (entries.label >= 0) & mine[entries.label]
        return np.flatnonzero(chosen)

    def get(self, numbers: npt.ArrayLike) -> tuple[Entry, ...]:
        """Entries by their numbers."""
        return tuple(self.entries.get(int(i)) for i in np.asarray(numbers, dtype=np.intp))

    def written(
        self,
        core: npt.ArrayLike,
        repairs: Sequence[npt.ArrayLike],
        at_least: int,
        complete: bool,
        told: Sequence[str] = (),
    ) -> Written:
        """A conflict of entries, given by their numbers."""
        found = tuple(self.get(group) for group in repairs)
        return Written(self.get(core), found, len(self.entries), at_least, complete, tuple(told))


def expand(said: Constraints) -> Expansion:
    """Take groups together, groups apart and labels into their entries.

    **Cost** near-linear in the size of the table. **Guarantee** entries can hold together exactly if the table without
    the others can; the virtual samples need no clusters of their own as long as their entries are there, so a wanted
    number of clusters is to be asked of `Expansion.without`.
    """
    entries, n, labels, groups = list_entries(said), said.n_samples, said.labels, said.groups
    e = len(entries)
    kind = np.full(e, Kind.MUST_LINK, dtype=np.int8)
    items = np.full((e, 3), -1, dtype=np.intp)
    plain = np.flatnonzero(~entries.is_member & ~entries.is_label)
    kind[plain], items[plain] = said.kind[entries.statement[plain]], said.items[entries.statement[plain]]
    hub, copy_of, background, behind = [], [], [], []
    top = n
    member = np.flatnonzero(entries.is_member)
    apart = said.kind[entries.statement[member]] == Kind.APART
    some = member[~apart]
    used, which = np.unique(entries.statement[some], return_inverse=True)
    items[some, 0], items[some, 1] = entries.sample[some], top + which
    hub.append(used)
    copy_of.append(np.full(len(used), -1, dtype=np.intp))
    top += len(used)
    some = np.flatnonzero(entries.is_label)
    used, which = np.unique(labels.label[entries.label[some]], return_inverse=True)
    items[some, 0], items[some, 1] = entries.sample[some], top + which
    hub.append(-1 - used)
    copy_of.append(np.full(len(used), -1, dtype=np.intp))
    for source in np.flatnonzero(labels.apart).tolist():
        classes = np.flatnonzero(labels.source[used] == source)
        if len(classes) > 1:
            background.append(top + classes)
            behind.append(-1)
    top += len(used)
    some = member[apart]
    items[some, 0], items[some, 1] = entries.sample[some], top + np.arange(len(some))
    hub.append(entries.statement[some])
    copy_of.append(entries.sample[some])
    order = np.argsort(entries.statement[some], kind="stable")
    cuts = np.flatnonzero(np.diff(entries.statement[some][order])) + 1
    for part in np.split(order, cuts) if len(order) else []:
        background.append(top + part)
        behind.append(int(entries.statement[some[part[0]]]))
    top += len(some)
    choice = np.flatnonzero(kind >= Kind.MUST_LINK_ANY)
    chosen = take_groups(groups, np.searchsorted(groups.statement, entries.statement[choice]), choice)
    table = Constraints(top, kind, items, entries.weight, np.arange(e, dtype=np.intp), rules=said.rules, groups=chosen)
    sizes = np.array([len(part) for part in background], dtype=np.intp)
    flat = np.concatenate(background).astype(np.intp) if background else np.empty(0, dtype=np.intp)
    return Expansion(
        said,
        entries,
        table,
        gather(np.arange(len(sizes)), sizes, flat),
        np.concatenate(hub),
        np.concatenate(copy_of),
        np.array(behind, dtype=np.intp),
    )


@dataclass(frozen=True, eq=False)
class EntryDoubt(Doubt):
    """Sorts entries, the most suspicious first: as `Doubt` does, and where they tie, whole rows before parts of one."""

    expansion: Expansion = field(kw_only=True)

    @classmethod
    def of(cls, expansion: Expansion, rank: Doubt | None) -> EntryDoubt:
        """Doubt entries by the data that statements are doubted by."""
        X, metric = (None, "euclidean") if rank is None else (rank.X, rank.metric)
        return cls(expansion.said, X, metric, expansion=expansion)

    def __call__(self, statements: IntArray) -> IntArray:
        """Sort entries: disagreement with the data falling, weight rising, whole rows first, newest first."""
        entries = self.expansion.entries
        numbers = statements[statements < len(entries)]
        part = entries.is_member[numbers]
        keys = (-numbers, part, entries.weight[numbers], -self.score(numbers))
        return np.asarray(numbers[np.lexsort(keys)], dtype=np.intp)

    def score(self, statements: IntArray) -> FloatArray:
        """How much the data contradict each entry, 0 to 1; 0 without data.

        A member of a group together, and a labeled sample, is doubted by its mean distance to the others there, a
        member of a group apart by its smallest.
        """
        numbers, entries, said = statements, self.expansion.entries, self.expansion.said
        score = np.zeros(len(numbers))
        if self.X is None or not len(numbers):
            return score
        part = entries.sample[numbers] >= 0
        score[~part] = super().score(entries.statement[numbers[~part]])
        reference = self.reference()
        for at in np.flatnonzero(part).tolist():
            entry = entries.get(int(numbers[at]))
            others = self._others(entry)
            if not len(others):
                continue
            rank = rank_among(self.distances(np.append(entry.sample, others))[0, 1:], reference)
            apart = entry.label < 0 and said.kind[entry.statement] == Kind.APART
            score[at] = 1 - rank.min() if apart else rank.mean()
        return score

    def _others(self, entry: Entry) -> IntArray:
        said = self.constraints
        if entry.label >= 0:
            labels = said.labels
            members = labels.sample[labels.label == labels.label[entry.label]]
        else:
            members = said.groups.of(int(np.searchsorted(said.groups.statement, entry.statement)))
        return np.asarray(members[members != entry.sample][:_MEMBERS], dtype=np.intp)
