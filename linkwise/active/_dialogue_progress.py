"""`Progress`: how far a dialogue has come, and why it may have fallen back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from linkwise._messages import many
from linkwise._notebook import Bar, bars, card


@dataclass(frozen=True, kw_only=True)
class Progress:
    """How far a dialogue has come; print it to read it.

    Attributes
    ----------
    n_asked, budget : int
        Questions answered, "unsure" included, and how many were to be asked, or None.
    n_implied, settled : int and float
        Pairs of samples whose relation is known by now, given or implied, and their share of all pairs. It never falls,
        except after an answer that contradicts others.
    n_suspects : int
        Answers that contradict others and are not trusted.
    believed, gain, more : float, float and int, or None
        Share of the result that is probably right, an estimate that an unexpected answer lowers; share that the next
        answer is expected to change; about how many more answers would help.
    before, because : float or None, and str
        ``believed`` before the last answer, if that answer lowered it; why ``settled`` or ``believed`` fell with it.

    Examples
    --------
    >>> from linkwise.active import Progress
    >>> print(Progress(n_asked=12, budget=50, n_implied=431, n_suspects=0, settled=0.35, believed=0.92, more=15))
    12 of 50 answers, 431 pairs settled; about 92 % of the result is probably right; about 15 more would help.
    """

    n_asked: int
    budget: int | None
    n_implied: int
    n_suspects: int
    settled: float
    believed: float | None = None
    gain: float | None = None
    more: int | None = None
    before: float | None = None
    because: str = ""

    def __str__(self) -> str:
        of = "" if self.budget is None else f" of {self.budget:,}"
        answers = "answer" if (self.budget or self.n_asked) == 1 else "answers"
        pairs = many(self.n_implied, "pair")
        parts = [f"{self.n_asked:,}{of} {answers}, {pairs} settled"]
        if self.n_suspects:
            one = self.n_suspects == 1
            parts.append(
                f"{self.n_suspects:,} contradict{'s' if one else ''} others and {'is' if one else 'are'} not trusted"
            )
        if self.believed is not None:
            fell = "" if self.before is None else f" ({100 * self.before:.0f} % before: {self.because})"
            parts.append(f"about {100 * self.believed:.0f} % of the result is probably right{fell}")
        if self.because and self.before is None:
            parts.append(f"fewer pairs are settled than before: {self.because}")
        if self.more is not None:
            parts.append(f"about {self.more:,} more would help" if self.more else "further answers would change little")
        return "; ".join(parts) + "."

    def __repr__(self) -> str:
        of = "" if self.budget is None else f" of {self.budget:,}"
        believed = "" if self.believed is None else f", {100 * self.believed:.0f} % probably right"
        return f"Progress({self.n_asked:,}{of} answered, {100 * self.settled:.0f} % of pairs settled{believed})"

    def _repr_html_(self) -> str:
        rows = [Bar("pairs settled", self.settled, f"{100 * self.settled:.0f} %")]
        if self.budget:
            rows.insert(0, Bar("answers", self.n_asked / self.budget, f"{self.n_asked:,} of {self.budget:,}"))
        if self.believed is not None:
            rows.append(Bar("result probably right", self.believed, f"{100 * self.believed:.0f} %"))
        return card(str(self), more=bars(rows))


class Mark(NamedTuple):
    """The state of a dialogue when it was last inspected: the answers and their effects."""

    answers: int
    pairs: int
    suspects: int
    groups: int
    believed: float | None


def fall(marks: list[Mark]) -> tuple[float | None, str]:
    """Return the estimate before the last answer if that lowered it, and why it or the settled pairs fell."""
    if len(marks) < 2 or marks[1].answers != marks[0].answers + 1:
        return None, ""
    before, now = marks
    lower = (
        before.believed is not None and now.believed is not None and round(now.believed, 2) < round(before.believed, 2)
    )
    if not lower and now.pairs >= before.pairs:
        return None, ""
    if now.suspects > before.suspects:
        why = "the last answer contradicts others"
    elif now.pairs < before.pairs:
        why = "other answers are trusted since the last one"
    elif now.groups > before.groups:
        why = "the last answer revealed a new group"
    else:
        why = "the last answer was not expected"
    return (before.believed if lower else None), why
