"""Labeled samples behind a table: the label of each sample, and the statements that follow from labels."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints._groups import Groups
from linkwise.constraints._kinds import Kind


class Labels(NamedTuple):
    """Rows of the form "this sample has this label", of one labeling or several; the table holds equal statements.

    Engines compute with the statements. Conflicts are attributed to the rows, since these are the user's input: a class
    may be a chain of must-links, but the user gave a label to each of its samples.

    Attributes
    ----------
    sample, label, row : ndarray of intp, shape (r,)
        The samples, their labels as positions in ``name``, and the position of each row in the input.
    name : ndarray of str, shape (c,)
        The names of the labels.
    source : ndarray of intp, shape (c,)
        Which labeling (0, 1, ...) each label belongs to.
    apart : ndarray of bool
        Of each labeling, whether samples of two of its labels are kept apart.
    owner : ndarray of intp, shape (m,)
        For each statement of the table, the labeling it follows from, or -1.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> labels = Constraints.from_labels(["cat", "dog", "cat"]).labels
    >>> labels.sample.tolist(), labels.name[labels.label].tolist(), labels.owner.tolist()
    ([0, 2, 1], ['cat', 'cat', 'dog'], [0, 0])
    """

    sample: IntArray
    label: IntArray
    row: IntArray
    name: npt.NDArray[Any]
    source: IntArray
    apart: BoolArray
    owner: IntArray

    def __bool__(self) -> bool:
        """Whether there are any rows."""
        return len(self.sample) > 0


def _none() -> Labels:
    numbers, truths, names = np.empty(0, dtype=np.intp), np.empty(0, dtype=np.bool_), np.empty(0, dtype="U1")
    for array in (numbers, truths, names):
        array.setflags(write=False)
    return Labels(numbers, numbers, numbers, names, numbers, truths, numbers)


NO_LABELS = _none()


def label_rows(samples: Any, classes: Any, names: Any, n_statements: int, *, apart: bool) -> Labels:
    """Make the rows of one labeling, from which all ``n_statements`` statements of a table follow."""
    count = len(names)
    return Labels(
        np.asarray(samples, dtype=np.intp),
        np.asarray(classes, dtype=np.intp),
        np.arange(len(samples), dtype=np.intp),
        np.asarray(names, dtype=str) if count else np.empty(0, dtype="U1"),
        np.zeros(count, dtype=np.intp),
        np.array([apart]),
        np.zeros(n_statements, dtype=np.intp),
    )


def chained_labels(y: Any, must_link: IntArray, cannot_link: IntArray) -> Labels:
    """Read the rows back from chains of must-links, class after class, and one cannot-link per pair of classes."""
    begins = np.ones(len(must_link), dtype=np.bool_)
    begins[1:] = must_link[1:, 0] != must_link[:-1, 1]
    of_link = np.cumsum(begins) - 1
    alone = np.setdiff1d(cannot_link, must_link)
    chains = int(begins.sum())
    sample = np.concatenate([must_link[begins, 0], must_link[:, 1], alone])
    label = np.concatenate([np.arange(chains), of_link, chains + np.arange(len(alone))])
    order = np.argsort(label, kind="stable")  # a chain begins with its first sample
    sample, label = sample[order], label[order]
    first = np.flatnonzero(np.diff(label, prepend=-1))
    values = y.to_numpy() if hasattr(y, "to_numpy") else np.asarray(y)
    names = [str(values[i]) for i in sample[first].tolist()]
    made = label_rows(sample, label, names, len(must_link) + len(cannot_link), apart=True)
    return made._replace(row=sample)


def join_labels(first: Labels, second: Labels, n_first: int, n_second: int) -> Labels:
    """Put the rows of a second table after those of a first one, given the number of statements of each."""
    if not first and not second:
        return NO_LABELS
    owners = [of.owner if of else np.full(n, -1, dtype=np.intp) for of, n in ((first, n_first), (second, n_second))]
    sources, classes = len(first.apart), len(first.name)
    after = int(first.row.max()) + 1 if first else 0
    return Labels(
        np.concatenate([first.sample, second.sample]),
        np.concatenate([first.label, second.label + classes]),
        np.concatenate([first.row, second.row + after]),
        np.concatenate([first.name, second.name]),
        np.concatenate([first.source, second.source + sources]),
        np.concatenate([first.apart, second.apart]),
        np.concatenate([owners[0], np.where(owners[1] >= 0, owners[1] + sources, -1)]),
    )


def select_labels(labels: Labels, picked: IntArray, weight: FloatArray) -> Labels:
    """Keep the labelings whose statements are all left, at one cost; other statements become ordinary ones."""
    if not labels:
        return NO_LABELS
    owner = labels.owner[picked]
    mine = owner >= 0
    sources = len(labels.apart)
    whole = np.bincount(owner[mine], minlength=sources) == np.bincount(
        labels.owner[labels.owner >= 0], minlength=sources
    )
    whole &= len(np.unique(picked)) == len(picked)
    low, high = np.full(sources, np.inf), np.zeros(sources)
    np.minimum.at(low, owner[mine], weight[mine])
    np.maximum.at(high, owner[mine], weight[mine])
    return keep_sources(labels, owner, whole & (low == high))


def slice_labels(
    labels: Labels, position: IntArray, keep: BoolArray, kind: npt.NDArray[np.int8], items: IntArray, groups: Groups
) -> Labels:
    """Renumber the rows; keep the labelings whose remaining statements entail all their remaining rows.

    ``position`` gives the new number of each sample (-1: gone), ``keep`` the statements that stay, ``kind``, ``items``
    and ``groups`` their content in new numbers.
    """
    if not labels:
        return NO_LABELS
    sample = position[labels.sample]
    here = sample >= 0
    left = labels._replace(
        sample=sample[here], label=labels.label[here], row=labels.row[here], owner=labels.owner[keep]
    )
    n = len(position) - 1
    kept = [says_all(left, source, n, kind, items, groups) for source in range(len(labels.apart))]
    return keep_sources(left, left.owner, np.array(kept, dtype=np.bool_))


def says_all(labels: Labels, source: int, n: int, kind: npt.NDArray[np.int8], items: IntArray, groups: Groups) -> bool:
    """Whether the statements of one labeling entail all its rows; they are chains and heads, so counting suffices."""
    rows = np.flatnonzero(labels.source[labels.label] == source)
    class_of = np.full(n, -1, dtype=np.intp)
    class_of[labels.sample[rows]] = labels.label[rows]
    size = np.bincount(labels.label[rows], minlength=len(labels.name))
    mine = labels.owner == source
    if not mine.any():
        return False
    pairs = np.flatnonzero(mine & (kind == Kind.MUST_LINK))
    links = np.bincount(class_of[items[pairs, 0]], minlength=len(size))
    group = np.flatnonzero(mine[groups.statement])
    together = group[kind[groups.statement[group]] == Kind.TOGETHER]
    np.add.at(links, class_of[groups.member[groups.start[together]]], groups.sizes[together] - 1)
    classes = int((size > 0).sum())
    heads = groups.sizes[group[kind[groups.statement[group]] == Kind.APART]]
    separated = int((mine & (kind == Kind.CANNOT_LINK)).sum()) + int((heads * (heads - 1) // 2).sum())
    wanted = classes * (classes - 1) // 2 if labels.apart[source] else 0
    return bool((links >= size - 1).all()) and separated >= wanted


def keep_sources(labels: Labels, owner: IntArray, kept: BoolArray) -> Labels:
    """Keep some labelings; ``owner`` is the labeling of each statement that is left."""
    if kept.all():
        return labels._replace(owner=owner)
    rows = kept[labels.source[labels.label]]
    if not rows.any():
        return NO_LABELS
    owner = np.where((owner >= 0) & kept[owner], owner, -1)
    return labels._replace(sample=labels.sample[rows], label=labels.label[rows], row=labels.row[rows], owner=owner)
