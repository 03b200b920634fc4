"""Questions and answers about two samples that may belong together, or three of which one may be odd."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Any

import numpy as np

from linkwise.exceptions import LinkwiseError


class Answer(StrEnum):
    """An answer to a question.

    ``YES`` and ``NO`` answer whether two samples belong together. ``FIRST``, ``SECOND`` and ``THIRD`` say which of
    three samples does not belong with the other two. ``UNSURE`` answers both: it is remembered, so that the question
    does not come again, but says nothing about the samples.

    Examples
    --------
    >>> from linkwise.active import Answer
    >>> Answer.YES, Answer("third") is Answer.THIRD
    (<Answer.YES: 'yes'>, True)
    """

    YES = "yes"
    NO = "no"
    UNSURE = "unsure"
    FIRST = "first"
    SECOND = "second"
    THIRD = "third"


PAIR_ANSWERS = (Answer.YES, Answer.NO, Answer.UNSURE)
TRIO_ANSWERS = (Answer.FIRST, Answer.SECOND, Answer.THIRD, Answer.UNSURE)


@dataclass(frozen=True)
class Query:
    """One question: do two samples belong together, or which of three does not belong with the others.

    Attributes
    ----------
    items : tuple of int
        Two or three samples, in ascending order.
    number : int
        How many answers had been given when it was asked.
    checks : tuple of int
        Numbers of earlier answers in doubt, which this question looks at again; empty for a new question.

    Examples
    --------
    >>> from linkwise.active import Query
    >>> query = Query((3, 8))
    >>> query.text(["fox", "hen", "owl", "cat", "ant", "bee", "cod", "elk", "dog"])
    'Do cat and dog belong together?'
    >>> [str(answer) for answer in query.answers]
    ['yes', 'no', 'unsure']
    """

    items: tuple[int, ...]
    number: int = 0
    checks: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        items = tuple(sorted(int(i) for i in self.items))
        if len(items) not in (2, 3) or len(set(items)) < len(items) or items[0] < 0:
            msg = f"Query: items are {self.items}, expected two or three different samples."
            raise LinkwiseError(msg)
        object.__setattr__(self, "items", items)

    @property
    def answers(self) -> tuple[Answer, ...]:
        """The answers that fit the question."""
        return PAIR_ANSWERS if len(self.items) == 2 else TRIO_ANSWERS

    def text(self, names: Sequence[Any] | None = None) -> str:
        """Write the question as text; ``names`` are the names of the samples, by default their numbers."""
        words = [str(i if names is None else names[i]) for i in self.items]
        if len(words) == 2:
            return f"Do {words[0]} and {words[1]} belong together?"
        return f"Which one does not belong with the other two: {words[0]}, {words[1]} or {words[2]}?"

    def read(self, answer: Any) -> Answer:
        """Read an answer given as `Answer`, word, True, False or None; refuse one that does not fit the question."""
        found: Answer | None = None
        if answer is None:
            found = Answer.UNSURE
        elif isinstance(answer, (bool, np.bool_)):
            found = Answer.YES if answer else Answer.NO
        elif isinstance(answer, str) and answer.lower() in set(Answer):
            found = Answer(answer.lower())
        if found not in self.answers:
            fitting = ", ".join(f'"{a}"' for a in self.answers)
            msg = f"tell: the answer to {self.text()!r} is {answer!r}, expected one of {fitting}."
            raise LinkwiseError(msg)
        return found


@dataclass(frozen=True)
class Told:
    """One answer as it stands in the log.

    Attributes
    ----------
    number : int
        Position among all answers ever given, those taken back included.
    items, answer : tuple of int, and Answer
        The samples in ascending order, and the answer about them.
    confidence, who : float and str
        How sure the person was, between 0.5 and 1, and their name, which may be empty.
    asked, checks : bool, and tuple of int
        Whether it answers a question, and the earlier answers that the question looked at again.

    Examples
    --------
    >>> from linkwise.active import Answer, Told
    >>> Told(0, (1, 4, 7), Answer.FIRST).statement
    ('triplet', 4, 7, 1)
    """

    number: int
    items: tuple[int, ...]
    answer: Answer
    _: KW_ONLY
    confidence: float = 1.0
    who: str = ""
    asked: bool = True
    checks: tuple[int, ...] = ()

    @property
    def statement(self) -> tuple[Any, ...] | None:
        """Return the statement, as in ``("must_link", a, b)`` or ``("triplet", a, b, c)``; None if unsure."""
        if self.answer is Answer.UNSURE:
            return None
        if len(self.items) == 2:
            return ("must_link" if self.answer is Answer.YES else "cannot_link", *self.items)
        odd = TRIO_ANSWERS.index(self.answer)
        return ("triplet", *(i for at, i in enumerate(self.items) if at != odd), self.items[odd])
