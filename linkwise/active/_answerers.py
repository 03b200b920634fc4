"""Simulated answerers: they answer from classes or a taxonomy, and are sometimes wrong, unsure or tired."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise._value_columns import read_known
from linkwise.active._query import TRIO_ANSWERS, Answer, Query
from linkwise.exceptions import LinkwiseError
from linkwise.sources import Taxonomy


class Answerer:
    """An answerer with access to the truth that sometimes errs.

    Parameters
    ----------
    noise : float, default=0.0
        Share of answers that are wrong.
    unsure : float, default=0.0
        Share of questions answered with "unsure".
    fatigue : float, default=0.0
        What each answer adds to ``noise``, up to one half.
    random_state : int, default=0
        Seed of the errors. The answer to a question depends on the seed, the question and how often it was asked, not
        on the order of questions (but for fatigue).

    Examples
    --------
    >>> from linkwise.active import LabelAnswerer, Query
    >>> tired = LabelAnswerer([0, 0, 1], fatigue=0.25, random_state=3)
    >>> [str(tired(Query((0, 1)))) for _ in range(6)]
    ['yes', 'no', 'yes', 'yes', 'yes', 'yes']
    """

    def __init__(self, *, noise: float = 0.0, unsure: float = 0.0, fatigue: float = 0.0, random_state: int = 0) -> None:
        for name, value in (("noise", noise), ("unsure", unsure), ("fatigue", fatigue)):
            if not 0 <= value <= 1:
                msg = f"{type(self).__name__}: {name} is {value!r}, expected a share between 0 and 1."
                raise LinkwiseError(msg)
        self.noise, self.unsure, self.fatigue, self.random_state = noise, unsure, fatigue, random_state
        self.n_answered = 0
        self._times: dict[tuple[int, ...], int] = {}

    def truth(self, items: tuple[int, ...]) -> Answer:
        """Return the true answer about two or three samples in ascending order."""
        raise NotImplementedError

    def __call__(self, query: Query) -> Answer:
        """Answer a question."""
        times = self._times[query.items] = self._times.get(query.items, 0) + 1
        rng = np.random.default_rng([self.random_state, times, *query.items])
        wrong = min(self.noise + self.fatigue * self.n_answered, max(0.5, self.noise))
        self.n_answered += 1
        chance, other = rng.random(), rng.random()
        if other < self.unsure:
            return Answer.UNSURE
        true = self.truth(query.items)
        if chance >= wrong or true is Answer.UNSURE:
            return true
        false = [answer for answer in query.answers if answer not in (true, Answer.UNSURE)]
        return false[int(rng.integers(len(false)))]


class LabelAnswerer(Answerer):
    """Answers by classes: two samples of one class belong together, of three the one of another class does not.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The class of each sample; a question about one whose class is missing (None, NaN) is answered "unsure".
    noise, unsure, fatigue, random_state
        As in `Answerer`.

    Examples
    --------
    >>> from linkwise.active import LabelAnswerer, Query
    >>> says = LabelAnswerer(["cat", "dog", "cat", "cat"])
    >>> says(Query((0, 2))), says(Query((0, 1, 2))), says(Query((0, 2, 3)))
    (<Answer.YES: 'yes'>, <Answer.SECOND: 'second'>, <Answer.UNSURE: 'unsure'>)
    """

    def __init__(self, y: Any, **mistakes: Any) -> None:
        super().__init__(**mistakes)
        self.y, self._known = read_known("LabelAnswerer: y", y)

    def truth(self, items: tuple[int, ...]) -> Answer:
        """Return the true answer; of three samples of one class, or of three classes, no sample is odd."""
        if not self._known[list(items)].all():
            return Answer.UNSURE
        of = [self.y[i] for i in items]
        if len(of) == 2:
            return Answer.YES if of[0] == of[1] else Answer.NO
        same = (of[1] == of[2], of[0] == of[2], of[0] == of[1])
        return TRIO_ANSWERS[same.index(True)] if sum(same) == 1 else Answer.UNSURE


class TreeAnswerer(Answerer):
    """Answers by a taxonomy: of three samples the odd one is that whose path leaves first.

    Parameters
    ----------
    taxonomy : Taxonomy
        Where each sample belongs.
    noise, unsure, fatigue, random_state
        As in `Answerer`.

    Examples
    --------
    >>> from linkwise import Taxonomy
    >>> from linkwise.active import Query, TreeAnswerer
    >>> says = TreeAnswerer(Taxonomy.from_paths(["animal/cat", "animal/dog", "plant"]))
    >>> says(Query((0, 1, 2))), says(Query((0, 1)))
    (<Answer.THIRD: 'third'>, <Answer.NO: 'no'>)
    """

    def __init__(self, taxonomy: Taxonomy, **mistakes: Any) -> None:
        super().__init__(**mistakes)
        self.taxonomy = taxonomy

    def truth(self, items: tuple[int, ...]) -> Answer:
        """Return the true answer; two samples belong together if they sit on one node of the tree."""
        at = [int(self.taxonomy.node[i]) for i in items]
        if min(at) < 0:
            return Answer.UNSURE  # not in the taxonomy
        if len(at) == 2:
            return Answer.YES if at[0] == at[1] else Answer.NO
        others = [self._meet(at[1], at[2]), self._meet(at[0], at[2]), self._meet(at[0], at[1])]
        deepest = max(others)
        return TRIO_ANSWERS[others.index(deepest)] if others.count(deepest) == 1 else Answer.UNSURE

    def _meet(self, v: int, w: int) -> int:
        """Return the depth of the node where two paths to the root meet, -1 under different roots."""
        parent, depth = self.taxonomy.parent, self.taxonomy.depth
        while v != w:
            if depth[v] < depth[w]:
                v, w = w, v
            v = int(parent[v])
            if v < 0:
                return -1
        return int(depth[v])
