"""The consistent answers of a dialogue and the relations they imply, updated with every answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from linkwise._messages import hint
from linkwise._typing import IntArray
from linkwise.active._query import Answer, Told
from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import UnsupportedConstraintError
from linkwise.problem import check, repair
from linkwise.problem.entailment import Entailment

SUREST = 0.99  # the most that a person is trusted, so that answers can outvote each other
_UNDERSTOOD = (Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TRIPLET, Kind.TOGETHER, Kind.APART)


class Known:
    """The given constraints and the trusted answers of a dialogue, with their implications.

    Parameters
    ----------
    n_samples : int
        How many samples there are.
    given : Constraints, optional
        What was known before the first question; its hard statements are never doubted.
    n_clusters : int, optional
        How many clusters there are, if that is known; answers that need more contradict each other.

    Notes
    -----
    Answers that contradict earlier ones do not stop anything. The cheapest set of answers whose withdrawal restores
    consistency is no longer trusted, where an answer costs the logarithm of its odds of being right; of equals, one
    that a later question was meant to check goes, then the older one. The choice is made again at the next
    contradiction, so an answer can regain trust. Of answers that need more than ``n_clusters``, the lightest of the few
    that prove it goes, in the same order, until the rest can hold.

    **Cost** a few set operations per pair without triplets; with triplets a look at all statements. **Guarantee** the
    trusted answers and the given hard statements hold together; the state depends on the answers and their order alone.

    Examples
    --------
    >>> from linkwise.active import Answer, Known, Told
    >>> known = Known(5)
    >>> known.take(Told(0, (0, 1), Answer.YES))
    >>> known.take(Told(1, (1, 4), Answer.NO))
    >>> known.same(0, 4), known.same(0, 3), known.members(known.group(1))
    (False, None, [0, 1])
    """

    def __init__(self, n_samples: int, given: Constraints | None = None, n_clusters: int | None = None) -> None:
        self.n_samples = n_samples
        self.n_clusters = n_clusters
        self.given = given if given is not None else Constraints.build(n_samples)
        foreign = [kind.word for kind in Kind if kind not in _UNDERSTOOD and (self.given.kind == kind).any()]
        if foreign:
            way = hint(
                command="leave the others out, and give them to `linkwise cluster` at the end.",
                python="leave the others out with `constraints.select(...)`; give them to the estimator at the end.",
            )
            msg = (
                f"Dialogue does not reason about {' and '.join(foreign)}; it starts from pairs, triplets and groups.\n"
                f"Hint: {way}"
            )
            raise UnsupportedConstraintError(msg, tuple(foreign))
        self._base = self.given
        if self.given:
            check(self.given, n_clusters=n_clusters).raise_if_infeasible()
            self._base = _pairs_and_triplets(self.given)
        self.answers: list[Told] = []
        self._told: Counter[tuple[int, ...]] = Counter()
        self._held: frozenset[tuple[int, ...]] = frozenset()
        self._doubted: set[int] = set()
        self._start()

    # -- what strategies ask ------------------------------------------------------------------------------------

    def same(self, a: int, b: int) -> bool | None:
        """Return whether two samples belong together, if that is stated or implied; None if it is open."""
        ga, gb = self.group(a), self.group(b)
        if ga == gb:
            return True
        if gb in self._apart.get(ga, ()):
            return False
        if not self._has_triplets:
            return None
        entailed, at = self._entailed, (np.array([a]), np.array([b]))
        if entailed.must_link(*at)[0]:
            return True
        return False if entailed.cannot_link(*at)[0] else None

    def odd(self, a: int, b: int, c: int) -> int | None:
        """Return the one of three samples that does not belong with the others, if that follows; else None."""
        trio = (a, b, c)
        for odd in range(3):
            x, y = (v for at, v in enumerate(trio) if at != odd)
            if self._entailed.triplet(np.array([x]), np.array([y]), np.array([trio[odd]]))[0]:
                return trio[odd]
        return None

    def decides(self, items: tuple[int, ...]) -> bool:
        """Whether the answer to a question is implied, or was "unsure" before."""
        if self.is_told(items):
            return True
        found = self.same(items[0], items[1]) if len(items) == 2 else self.odd(*items)
        return found is not None

    def is_told(self, items: Iterable[int]) -> bool:
        """Whether this very question was answered, be it with "unsure", or is put to another person; see `hold`."""
        asked = tuple(sorted(items))
        return self._told[asked] > 0 or asked in self._held

    def group(self, sample: int) -> int:
        """Return the representative of the samples that belong with this one; at first, the sample itself."""
        above = self._above
        top = sample
        while (up := above.get(top, top)) != top:
            top = up
        while sample != top:
            above[sample], sample = top, above[sample]
        return top

    def groups(self) -> list[int]:
        """Return the groups with statements, in order of first mention, each by its representative."""
        return list(self._members)

    def members(self, group: int) -> list[int]:
        """Return the samples of a group, in the order they joined."""
        return list(self._members.get(group) or [group])

    def apart(self, group: int) -> frozenset[int]:
        """Return the groups that are apart from this one."""
        return frozenset(self._apart.get(group, ()))

    @cached_property
    def constraints(self) -> Constraints:
        """The given constraints, and the trusted answers as hard statements."""
        return self.given | self._table(self.trusted)

    @property
    def trusted(self) -> list[Told]:
        """Return the answers other than unsure that are consistent."""
        return [told for told in self.answers if told.statement is not None and told.number not in self._doubted]

    @property
    def suspects(self) -> list[Told]:
        """Answers that contradict the others."""
        return [told for told in self.answers if told.number in self._doubted]

    # -- what the dialogue says ---------------------------------------------------------------------------------

    def take(self, told: Told) -> None:
        """Process one answer."""
        contradicts = told.statement is not None and self._contradicts(told)
        self._note(told)
        if told.statement is None:
            return
        if contradicts:
            self._reconsider()
        else:
            self._enter(told)

    def take_all(self, told: Iterable[Told]) -> None:
        """Process many answers, with the result of `take` for each.

        Notes
        -----
        If all hold together, so does every part of them: one test then stands for those of all answers. Otherwise the
        first answer that contradicts earlier ones is found by bisection, and the rest is tested again after it.
        """
        left = list(told)
        if self.n_clusters is None and not self._has_triplets and all(len(one.items) == 2 for one in left):
            for one in left:  # pairs need no test of all
                self.take(one)
            return
        while left:
            first = self._first_contradiction(left)
            for one in left[:first]:
                self._note(one)
                if one.statement is not None:
                    self._enter(one)
            for one in left[first : first + 1]:
                self.take(one)
            left = left[first + 1 :]

    def hold(self, questions: Iterable[tuple[int, ...]]) -> None:
        """Treat these questions, and no others, as answered, without an answer: they are put to other people."""
        self._held = frozenset(tuple(sorted(items)) for items in questions)

    @property
    def held(self) -> frozenset[tuple[int, ...]]:
        """The questions that are put to other people."""
        return self._held

    # -- the steps ----------------------------------------------------------------------------------------------

    def _first_contradiction(self, said: list[Told]) -> int:
        """Return the place of the first answer that does not hold with those before it; their number if there is none.

        Where a test stays without a verdict, the place is that of the first answer after those proven to hold.
        """
        hard = self._hard()

        def hold(count: int) -> bool:
            rows = [one for one in said[:count] if one.statement is not None]
            return check(hard | self._table(rows), n_clusters=self.n_clusters).status == "feasible"

        if len(said) == 1 or hold(len(said)):
            return len(said) if len(said) > 1 else 0
        known, open_ = 0, len(said)
        while open_ - known > 1:
            middle = (known + open_) // 2
            known, open_ = (middle, open_) if hold(middle) else (known, middle)
        return known

    def _note(self, told: Told) -> None:
        self.answers.append(told)
        self._told[told.items] += 1
        self.__dict__.pop("constraints", None)

    def _contradicts(self, told: Told) -> bool:
        if len(told.items) == 2 and not self._has_triplets:
            same = self.same(*told.items)
            if same is not None or self.n_clusters is None:
                return same is (told.answer is Answer.NO)
        return check(self._hard() | self._table([told]), n_clusters=self.n_clusters).status == "infeasible"

    def _reconsider(self) -> None:
        """Choose the trusted answers again: the heaviest that are consistent with the given constraints."""
        saying = [told for told in self.answers if told.statement is not None]
        odds = np.array([min(max(told.confidence, 0.5 + 1e-3), SUREST) for told in saying])
        checked = {number for told in self.answers for number in told.checks}
        in_doubt = np.array([told.number in checked for told in saying])
        weight = np.log(odds / (1 - odds)) + 1e-6 * np.arange(len(saying)) - 1e-3 * in_doubt
        table = self._base | self._table(saying).with_weight(weight)
        dropped = repair(table, keep="hard", budget=0).dropped - self._base.n_statements
        price = dict(zip((told.number for told in saying), weight.tolist(), strict=True))
        all_but_last = self._doubted | {saying[-1].number}  # consistent too, and cheaper where the repair is greedy
        self._doubted = {saying[int(at)].number for at in dropped}
        if self.n_clusters is not None:
            self._fit_into_clusters(price)
        self._doubted = min(self._doubted, all_but_last, key=lambda off: sum(price[number] for number in off))
        self._start()
        for told in self.trusted:
            self._enter(told)

    def _fit_into_clusters(self, weight: dict[int, float]) -> None:
        """Doubt further answers until the rest can hold in ``n_clusters``; equal answers stand or fall together."""
        first = self._base.n_statements
        while (trusted := self.trusted) and (proof := check(self._hard(), n_clusters=self.n_clusters).explanation):
            named = {trusted[at - first].statement for at in proof.core if at >= first}
            total = {one: sum(weight[t.number] for t in trusted if t.statement == one) for one in named}
            lightest = min(total, key=lambda one: (total[one], one))
            self._doubted |= {told.number for told in trusted if told.statement == lightest}

    def _table(self, said: list[Told]) -> Constraints:
        rows = [told.statement for told in said]
        picked = {
            kind: [row[1:] for row in rows if row is not None and row[0] == kind]
            for kind in ("must_link", "cannot_link", "triplet")
        }
        table = Constraints.build(
            self.n_samples,
            must_link=picked["must_link"],
            cannot_link=picked["cannot_link"],
            triplets=picked["triplet"],
        )
        # The table lists kinds one after the other; put the answers back in the order they were given.
        kinds = np.array([("must_link", "cannot_link", "triplet").index(row[0]) for row in rows if row], dtype=np.intp)
        table = table.select(np.argsort(np.argsort(kinds, kind="stable"), kind="stable"))
        return table if self.given.ids is None else table.with_ids(self.given.ids)

    def _start(self) -> None:
        """Forget the effects of all answers and start again from the given constraints."""
        self._above: dict[int, int] = {}
        self._members: dict[int, list[int]] = {}
        self._since: dict[int, int] = {}
        self._apart: dict[int, set[int]] = {}
        self._has_triplets = bool((self._base.kind == Kind.TRIPLET).any())
        self.__dict__.pop("constraints", None)
        self.__dict__.pop("_entailed", None)
        for a, b in self._base.of(Kind.MUST_LINK).tolist():
            self._join(a, b)
        for a, b in self._base.of(Kind.CANNOT_LINK).tolist():
            self._part(a, b)

    def _enter(self, told: Told) -> None:
        """Draw the consequences of a trusted answer."""
        self.__dict__.pop("_entailed", None)
        if told.answer is Answer.YES:
            self._join(*told.items)
        elif told.answer is Answer.NO:
            self._part(*told.items)
        else:
            self._has_triplets = True

    def _mention(self, sample: int) -> int:
        group = self.group(sample)
        if group not in self._members:
            self._members[group] = [group]
            self._since[group] = len(self._since)
        return group

    def _join(self, a: int, b: int) -> None:
        ga, gb = self._mention(a), self._mention(b)
        if ga == gb:
            return
        if self._since[gb] < self._since[ga]:
            ga, gb = gb, ga
        self._above[gb] = ga
        self._members[ga] += self._members.pop(gb)
        for other in self._apart.pop(gb, ()):
            self._apart[other].discard(gb)
            self._apart[other].add(ga)
            self._apart.setdefault(ga, set()).add(other)

    def _part(self, a: int, b: int) -> None:
        ga, gb = self._mention(a), self._mention(b)
        self._apart.setdefault(ga, set()).add(gb)
        self._apart.setdefault(gb, set()).add(ga)

    @cached_property
    def _entailed(self) -> Any:
        return Entailment.of_feasible(self._hard())

    def _hard(self) -> Constraints:
        """Return pairs and triplets in force: the given constraints, groups written out, and the trusted answers."""
        return self._base | self._table(self.trusted)


def _pairs_and_triplets(given: Constraints) -> Constraints:
    """The hard statements without rules, groups written out as pairs."""
    hard = given.is_hard
    pairs, rows = given.must_links()
    apart = given.groups_of(Kind.APART)
    cannot = [given.items[hard & (given.kind == Kind.CANNOT_LINK), :2]]
    cannot += [_all_pairs(apart.of(at)) for at, row in enumerate(apart.statement) if hard[row]]
    return Constraints.build(
        given.n_samples,
        must_link=pairs[hard[rows]],
        cannot_link=np.concatenate(cannot),
        triplets=given.items[hard & (given.kind == Kind.TRIPLET)],
    )


def _all_pairs(members: IntArray) -> IntArray:
    first, second = np.triu_indices(len(members), 1)
    return np.column_stack([members[first], members[second]])
