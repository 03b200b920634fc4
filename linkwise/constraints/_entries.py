"""Entries of a table as the user gave them: statements, members of groups and labeled samples, and their removal."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints._groups import gather
from linkwise.constraints._kinds import Kind
from linkwise.constraints._label_statements import Labels, keep_sources

if TYPE_CHECKING:
    from linkwise.constraints._table import Constraints


class Entry(NamedTuple):
    """One entry as the user gave it, which may be dropped: the unit to which conflicts are attributed.

    Attributes
    ----------
    statement : int
        Position of the statement it belongs to; of a labeled sample, of one that follows from its label, or -1.
    sample : int
        The sample whose membership or label is meant; -1 for a statement as a whole.
    label : int
        Position of the row in ``constraints.labels``; -1 where no label is meant.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> constraints = Constraints.build(5, must_link=[(3, 4)], together=[[0, 1, 2]])
    >>> [constraints.describe(entry) for entry in constraints.entries()][:2]
    ['#0 must_link(3, 4)', '0 in #1 together(0, 1, 2)']
    """

    statement: int
    sample: int = -1
    label: int = -1


def has_parts(table: Constraints) -> bool:
    """Whether entries are smaller than statements: members of groups together or apart, or labeled samples."""
    return bool(table.labels) or bool(((table.kind == Kind.TOGETHER) | (table.kind == Kind.APART)).any())


def entry_key(table: Constraints, entry: Entry) -> tuple[int, int, int]:
    """Return a key of an entry that is unique in a table and in the tables that `Constraints.without` makes of it."""
    if entry.label >= 0:
        return -1, entry.sample, int(table.labels.row[entry.label])
    return int(table.row[entry.statement]), entry.sample, -1


@dataclass(frozen=True, eq=False)
class Entries:
    """All entries of a table as arrays, in the order they were given; see `Entry` for the first three."""

    statement: IntArray
    sample: IntArray
    label: IntArray
    place: IntArray  # position in `groups.member` of a member, -1 for other entries
    weight: FloatArray  # the cost of dropping the entry: that of its statement

    def __len__(self) -> int:
        return len(self.statement)

    @property
    def is_member(self) -> BoolArray:
        """Mask of the entries that are members of a group that was given as one statement."""
        return self.place >= 0

    @property
    def is_label(self) -> BoolArray:
        """Mask of the entries that are labeled samples."""
        return self.label >= 0

    def get(self, number: int) -> Entry:
        """Return one entry by its number."""
        return Entry(int(self.statement[number]), int(self.sample[number]), int(self.label[number]))


def list_entries(table: Constraints) -> Entries:
    """List the entries of a table: statements, members of groups and labeled samples, in the order given."""
    m, labels, groups = table.n_statements, table.labels, table.groups
    owner = labels.owner if labels else np.full(m, -1, dtype=np.intp)
    divided = (table.kind == Kind.TOGETHER) | (table.kind == Kind.APART)
    plain = np.flatnonzero((owner < 0) & ~divided)
    holder = groups.statement[groups.owner] if len(groups.statement) else groups.statement
    member = np.flatnonzero((owner[holder] < 0) & divided[holder])
    by_label, age = _behind_labels(table, owner)
    none = [np.full(count, -1, dtype=np.intp) for count in (len(plain), len(member), len(labels.sample))]
    statement = np.concatenate([plain, holder[member], by_label])
    sample = np.concatenate([none[0], groups.member[member], labels.sample])
    label = np.concatenate([none[0], none[1], np.arange(len(labels.sample))])
    place = np.concatenate([none[0], member, none[2]])
    weight = np.concatenate([table.weight[plain], table.weight[holder[member]], _label_weight(table, owner)])
    row = np.concatenate([table.row[plain], table.row[holder[member]], age])
    minor = np.concatenate([none[0], member, labels.row])
    order = np.lexsort((minor, row))
    return Entries(statement[order], sample[order], label[order], place[order], weight[order])


def _behind_labels(table: Constraints, owner: IntArray) -> tuple[IntArray, IntArray]:
    """Return a statement that follows from each label (-1: none), and the first row of its labeling."""
    labels, groups = table.labels, table.groups
    by, age = np.full(len(labels.sample), -1, dtype=np.intp), np.zeros(len(labels.sample), dtype=np.intp)
    for source in range(len(labels.apart)):
        rows = np.flatnonzero(labels.source[labels.label] == source)
        mine = np.flatnonzero(owner == source)
        if not len(rows) or not len(mine):
            continue
        first = np.full(table.n_samples, table.n_statements, dtype=np.intp)
        pairs = mine[table.items[mine, 0] >= 0]
        np.minimum.at(first, table.items[pairs, :2].ravel(), np.repeat(pairs, 2))
        inside = np.isin(groups.statement, mine)[groups.owner]
        np.minimum.at(first, groups.member[inside], groups.statement[groups.owner[inside]])
        found = first[labels.sample[rows]]
        by[rows] = np.where(found < table.n_statements, found, -1)
        age[rows] = table.row[mine].min()
    return by, age


def _label_weight(table: Constraints, owner: IntArray) -> FloatArray:
    labels = table.labels
    price = np.full(max(len(labels.apart), 1), np.inf)
    mine = owner >= 0
    price[owner[mine]] = table.weight[mine]  # one price in each labeling
    return np.asarray(price[labels.source[labels.label]], dtype=np.float64)


# -- taking entries away -----------------------------------------------------------------------------------------------


def remove(table: Constraints, entries: Iterable[Entry]) -> tuple[Constraints, BoolArray]:
    """Return the table without some entries, and a mask of the statements that changed."""
    gone = np.zeros(table.n_statements, dtype=np.bool_)
    out = np.zeros(len(table.groups.member), dtype=np.bool_)
    lost = np.zeros(len(table.labels.sample), dtype=np.bool_)
    groups = table.groups
    for entry in entries:
        if entry.label >= 0:
            lost[entry.label] = True
        elif entry.sample < 0:
            gone[entry.statement] = True
        else:
            g = int(np.searchsorted(groups.statement, entry.statement))
            out[groups.start[g] + int(np.searchsorted(groups.of(g), entry.sample))] = True
    return take_away(table, gone, out, lost)


def take_away(table: Constraints, gone: BoolArray, out: BoolArray, lost: BoolArray) -> tuple[Constraints, BoolArray]:
    """Return the table without masked statements, members of groups and labeled samples, and the changed statements.

    Groups shrink; a class whose first sample loses its label is represented by its next one. Nothing else is lost.
    """
    items, member = table.items.copy(), table.groups.member.copy()
    gone, out = gone.copy(), out.copy()
    labels, groups = table.labels, table.groups
    torn = labels.owner[gone] if labels else labels.owner
    if (torn >= 0).any():  # the rest of these labelings become ordinary statements
        labels = keep_sources(labels, labels.owner, ~np.isin(np.arange(len(labels.apart)), torn))
        lost = lost[np.isin(table.labels.row, labels.row)]
    if lost.any():
        for source in np.unique(labels.source[labels.label[lost]]).tolist():
            _unlabel(table, labels, source, lost, items, member, gone, out)
        labels = labels._replace(sample=labels.sample[~lost], label=labels.label[~lost], row=labels.row[~lost])
    owner = groups.owner
    left = np.bincount(owner[~out], minlength=len(groups.statement))
    gone[groups.statement[left < 2]] = True
    keep = ~gone
    changed = gone | (items != table.items).any(axis=1)
    changed[groups.statement[owner[out | (member != groups.member)]]] = True
    stays = keep[groups.statement]
    at = np.flatnonzero(~out & stays[owner])
    choice = table.kind[groups.statement] >= Kind.MUST_LINK_ANY
    at = at[np.lexsort((np.where(choice[owner[at]], at, member[at]), owner[at]))]  # choices stay in their order
    place = np.cumsum(keep) - 1
    made = table._replace(
        kind=table.kind[keep],
        items=items[keep],
        weight=table.weight[keep],
        row=table.row[keep],
        groups=gather(place[groups.statement[stays]], left[stays], member[at]),
        labels=labels._replace(owner=labels.owner[keep]) if labels else labels,
    )
    return made, changed


def _unlabel(
    table: Constraints,
    labels: Labels,
    source: int,
    lost: BoolArray,
    items: IntArray,
    member: IntArray,
    gone: BoolArray,
    out: BoolArray,
) -> None:
    """Rewrite the statements of one labeling, in place, for the samples that keep their labels."""
    groups = table.groups
    rows = np.flatnonzero(labels.source[labels.label] == source)
    rows = rows[np.argsort(labels.label[rows], kind="stable")]
    place = np.full(table.n_samples, -1, dtype=np.intp)
    place[labels.sample[rows]] = np.arange(len(rows))
    alive, of = ~lost[rows], labels.label[rows]
    # The sample before each in its chain, and the one that stands for its class, among those that stay.
    staying = np.flatnonzero(alive)
    before = np.full(len(rows), -1, dtype=np.intp)
    same = of[staying[1:]] == of[staying[:-1]]
    before[staying[1:][same]] = staying[:-1][same]
    head = np.full(len(labels.name), -1, dtype=np.intp)
    head[of[staying][::-1]] = staying[::-1]
    sample = labels.sample[rows]
    mine = labels.owner == source
    links = np.flatnonzero(mine & (table.kind == Kind.MUST_LINK))
    later = place[table.items[links, :2]].max(axis=1)
    stays = alive[later] & (before[later] >= 0)
    gone[links[~stays]] = True
    _write_pairs(items, links[stays], sample[before[later[stays]]], sample[later[stays]])
    bans = np.flatnonzero(mine & (table.kind == Kind.CANNOT_LINK))
    ends = place[table.items[bans, :2]]
    ends = np.where(alive[ends], ends, head[of[ends]])
    stays = (ends >= 0).all(axis=1)
    gone[bans[~stays]] = True
    _write_pairs(items, bans[stays], sample[ends[stays, 0]], sample[ends[stays, 1]])
    inside = np.flatnonzero(mine[groups.statement][groups.owner])
    inside = inside[~alive[place[member[inside]]]]
    apart = table.kind[groups.statement[groups.owner[inside]]] == Kind.APART
    out[inside[~apart]] = True
    heads = inside[apart]
    successor = head[of[place[member[heads]]]]
    out[heads[successor < 0]] = True
    member[heads[successor >= 0]] = sample[successor[successor >= 0]]


def _write_pairs(items: IntArray, at: IntArray, first: IntArray, second: IntArray) -> None:
    items[at, 0], items[at, 1] = np.minimum(first, second), np.maximum(first, second)
