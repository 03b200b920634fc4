"""The arrays of a table of statements: what it holds about each of them, in numbers and in words, and parts of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from linkwise._messages import more_lines
from linkwise._notebook import card
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints._disjunctions import links_of
from linkwise.constraints._entries import Entry
from linkwise.constraints._groups import NO_GROUPS, Groups, renumber_groups, take_groups
from linkwise.constraints._kinds import Kind
from linkwise.constraints._label_statements import NO_LABELS, Labels, select_labels, slice_labels
from linkwise.constraints._rules import Rule
from linkwise.exceptions import ConstraintError

_SHOWN = 6
FIELDS = ("n_samples", "kind", "items", "weight", "row", "rules", "ids", "groups", "labels")  # of the constructor


def _frozen(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return the array if it is read-only, else a read-only copy, so that no caller's array is frozen."""
    if array.flags.writeable or array.base is not None or not array.flags.c_contiguous:
        array = np.array(array, order="C")
        array.setflags(write=False)
    return array


class StatementArrays:
    """The part of `Constraints` that holds the arrays, reads them and takes parts of them."""

    n_samples: int
    n_statements: int
    is_hard: BoolArray
    kind: npt.NDArray[np.int8]
    items: IntArray
    weight: FloatArray
    row: IntArray
    rules: tuple[Rule, ...]
    ids: npt.NDArray[Any] | None
    groups: Groups
    labels: Labels

    def __init__(
        self,
        n_samples: int,
        kind: npt.NDArray[np.int8],
        items: IntArray,
        weight: FloatArray,
        row: IntArray,
        *,
        rules: tuple[Rule, ...] = (),
        ids: npt.NDArray[Any] | None = None,
        groups: Groups = NO_GROUPS,
        labels: Labels = NO_LABELS,
    ) -> None:
        put = object.__setattr__
        put(self, "n_samples", n_samples)
        put(self, "kind", _frozen(kind))
        put(self, "items", _frozen(items))
        put(self, "weight", _frozen(weight))
        put(self, "n_statements", len(kind))
        put(self, "is_hard", _frozen(np.isinf(weight)))
        put(self, "row", _frozen(row))
        put(self, "rules", rules)
        put(self, "ids", None if ids is None else _frozen(ids))
        put(self, "groups", Groups(*(_frozen(array) for array in groups)))
        put(self, "labels", Labels(*(_frozen(array) for array in labels)) if len(labels[0]) else NO_LABELS)

    def __setattr__(self, name: str, value: object) -> None:
        msg = f"Constraints are immutable; {name} cannot be set.\nHint: build a new table, or combine tables with `|`."
        raise AttributeError(msg)

    def __delattr__(self, name: str) -> None:
        self.__setattr__(name, None)

    # -- reading -----------------------------------------------------------------------------------------------

    @property
    def shape(self) -> tuple[int]:
        """``(n_samples,)``, so that scikit-learn splits the table along samples."""
        return (self.n_samples,)

    def of(self, kind: Kind) -> IntArray:
        """Return the samples of all statements of one kind, ``intp[k, arity]``; see `groups_of` for group kinds."""
        return self.items[self.kind == kind, : Kind(kind).arity]

    def groups_of(self, kind: Kind) -> Groups:
        """Return the groups of one kind, such as ``Kind.APART``, with the positions of their statements."""
        return self.groups.pick(self.kind[self.groups.statement] == kind)

    def must_links(self) -> tuple[IntArray, IntArray]:
        """Return must-links that entail all must-links and groups together, and the statement of each.

        The must-links come first, then each group together as a chain: as many pairs as samples, less one.
        """
        at = np.flatnonzero(self.kind == Kind.MUST_LINK)
        pairs = self.items[at, :2]
        chunklets = self.groups_of(Kind.TOGETHER)
        if not len(chunklets.statement):
            return pairs, at
        owner = chunklets.owner
        same = owner[1:] == owner[:-1]
        chain = np.column_stack([chunklets.member[:-1][same], chunklets.member[1:][same]])
        return np.concatenate([pairs, chain]), np.concatenate([at, chunklets.statement[owner[1:][same]]])

    def samples_of(self, statement: int) -> IntArray:
        """Return the samples that one statement names, two for each link of a disjunction."""
        kind = Kind(int(self.kind[statement]))
        if kind.is_group:
            return self.groups.of(int(np.searchsorted(self.groups.statement, statement)))
        return self.items[statement, : kind.arity]

    def name(self, sample: int) -> str:
        """Return the name of a sample in messages: its identifier, or its number."""
        return str(sample) if self.ids is None else str(self.ids[sample])

    def describe(self, statement: int | Entry) -> str:
        """Write one statement or one entry in words, with the number of the statement in the user's input."""
        if isinstance(statement, Entry):
            return self._describe_entry(statement)
        kind = Kind(int(self.kind[statement]))
        weight = float(self.weight[statement])
        tail = "" if np.isinf(weight) else f" weight {weight:g}"
        return f"#{int(self.row[statement])} {self._body(kind, statement)}{tail}"

    def describe_each(self, statements: Iterable[int | Entry]) -> tuple[str, ...]:
        """Write statements or entries in words, as `describe` writes one."""
        return tuple(self.describe(statement) for statement in statements)

    def _describe_entry(self, entry: Entry) -> str:
        if entry.label >= 0:
            word = f'label "{self.labels.name[self.labels.label[entry.label]]}"'
            price = float(self.weight[entry.statement]) if entry.statement >= 0 else np.inf
            word += "" if np.isinf(price) else f" weight {price:g}"
        else:
            word = self.describe(entry.statement)
        return word if entry.sample < 0 else f"{self.name(entry.sample)} in {word}"

    def _body(self, kind: Kind, statement: int) -> str:
        if kind.is_group:
            members = self.samples_of(statement)
            if kind is Kind.EITHER:
                links = [f"{word}({self.name(a)}, {self.name(b)})" for word, a, b in links_of(members[: 2 * _SHOWN])]
                left = len(members) // 2 - len(links)
                return f"{kind.word}({', '.join(links)}{f', ... {left:,} more' if left else ''})"
            names = [self.name(int(m)) for m in members[:_SHOWN]]
            more = f", ... {len(members) - _SHOWN:,} more" if len(members) > _SHOWN else ""  # inside parentheses
            listed = f"{names[0]}: {', '.join(names[1:])}" if kind.is_choice else ", ".join(names)
            return f"{kind.word}({listed}{more})"
        a, b, c = (int(v) for v in self.items[statement])
        body = f"{self.name(a)}, {self.name(b)}"
        return f"triplet({body} | {self.name(c)})" if kind is Kind.TRIPLET else f"{kind.word}({body})"

    def __len__(self) -> int:
        """Return the number of samples, as in ``shape``; see `n_statements` for the number of statements."""
        return self.n_samples

    def __bool__(self) -> bool:
        """Whether there are statements or rules."""
        return bool(self.n_statements or self.rules)

    __iter__ = None  # rows of X are not iterated one by one; `items`, `of` and `describe` read statements

    def __repr__(self) -> str:
        counts = {kind: int((self.kind == kind).sum()) for kind in Kind}
        parts = [kind.count(count) for kind, count in counts.items() if count] + [repr(rule) for rule in self.rules]
        text = f"Constraints({self.n_samples:,} samples: {', '.join(parts) or 'no statements'}"
        if self.n_statements:
            soft = int((~self.is_hard).sum())
            text += "; all hard" if soft == 0 else f"; {soft:,} of {self.n_statements:,} soft"
        return text + ")"

    def _repr_html_(self) -> str:
        shown = [f"  {line}" for line in self.describe_each(range(min(5, self.n_statements)))]
        return card("\n".join([repr(self), *shown, *more_lines(5, self.n_statements)]))

    # -- parts -------------------------------------------------------------------------------------------------

    def __getitem__(self, samples: Any) -> Self:
        """Keep the statements about ``samples`` and renumber them to positions in ``samples``."""
        if isinstance(samples, tuple):  # scikit-learn indexes with (rows, ...)
            samples = samples[0]
        chosen = np.arange(self.n_samples)[samples]
        if chosen.ndim != 1:
            msg = f"constraints[{samples!r}] picks one sample, expected a list, mask or slice of samples."
            raise ConstraintError(msg)
        position = np.full(self.n_samples + 1, -1, dtype=np.intp)  # the last entry serves the padding -1
        position[chosen] = np.arange(len(chosen))
        if (position[chosen] != np.arange(len(chosen))).any():
            msg = (
                "constraints[samples] names a sample twice, expected each at most once.\n"
                "Hint: split without replacement."
            )
            raise ConstraintError(msg)
        items = position[self.items]
        keep = (items[:, :2] >= 0).all(axis=1) & ((items[:, 2] >= 0) | (self.kind != Kind.TRIPLET))
        groups, left = renumber_groups(self.groups, self.kind[self.groups.statement], position)
        keep[self.groups.statement] = left
        place = np.cumsum(keep) - 1
        groups = groups._replace(statement=place[groups.statement])
        items, kind = items[keep], self.kind[keep]
        flip = items[:, 0] > items[:, 1]
        items[flip, :2] = items[flip, 1::-1]
        ids = None if self.ids is None else self.ids[chosen]
        labels = slice_labels(self.labels, position, keep, kind, items, groups)
        weight, row, rules = self.weight[keep], self.row[keep], self.rules
        return type(self)(len(chosen), kind, items, weight, row, rules=rules, ids=ids, groups=groups, labels=labels)

    def select(self, statements: Any) -> Self:
        """Keep the statements a mask or index array over statements picks; samples stay as they are."""
        picked = np.arange(self.n_statements)[statements]
        groups = self.groups
        if len(groups.statement):
            at = np.flatnonzero(np.isin(picked, groups.statement))
            groups = take_groups(groups, np.searchsorted(groups.statement, picked[at]), at)
        return self._with(picked, self.weight[picked], groups)

    def _with(
        self,
        picked: IntArray | slice,
        weight: FloatArray,
        groups: Groups,
        labels: Labels | None = None,
    ) -> Self:
        if labels is None:
            labels = select_labels(self.labels, np.arange(self.n_statements)[picked], weight)
        kind, items, row = self.kind[picked], self.items[picked], self.row[picked]
        return self._replace(kind=kind, items=items, weight=weight, row=row, groups=groups, labels=labels)

    def _replace(self, **fields: Any) -> Self:
        """Return the same table with other arrays in some of its fields; they are not checked."""
        return type(self)(**{name: fields.get(name, getattr(self, name)) for name in FIELDS})
