"""Questions about the last merges of complete link, through the common dialogue."""

from __future__ import annotations

from typing import Any

from linkwise._validation import read_count
from linkwise.active._query import Answer
from linkwise.active._strategy import Inquiry, Items, Strategy
from linkwise.active._strategy_view import Scene
from linkwise.engines import ActiveCompleteLink, active_complete_link


class DoubtfulMerges(Strategy):
    """Ask before the last merges of complete link whether typical samples of the two clusters belong together.

    Parameters
    ----------
    n_questions : int, default=50
        How many questions to plan for; it decides which merges are made without asking.

    Notes
    -----
    See `active_complete_link` for the algorithm. What is known beforehand or said unasked answers its questions without
    asking, and uses up the plan as an answer would.

    **Cost** two n x n matrices; O(n^2) at the start, O(n_questions^2) per question. **Guarantee** at most
    ``n_questions`` questions.

    References
    ----------
    .. [1] D. Klein, S. D. Kamvar, C. D. Manning, "From Instance-level Constraints to Space-Level Constraints: Making
       the Most of Prior Knowledge in Data Clustering", ICML 2002, section 5.5.

    Examples
    --------
    >>> from linkwise.active import Dialogue, DoubtfulMerges
    >>> Dialogue([[0.0], [1.0], [5.0], [7.0], [12.0]], strategy=DoubtfulMerges(3)).ask().text()
    'Do 0 and 2 belong together?'
    """

    def __init__(self, n_questions: int = 50) -> None:
        self.n_questions = read_count(n_questions, "n_questions", "DoubtfulMerges")

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        return _Merging(scene, self.n_questions)

    def companion(self) -> Any:
        """Return the constrained complete link of the same paper."""
        from linkwise.engines import ConstrainedCompleteLink

        return ConstrainedCompleteLink(None)


class _Merging(Inquiry):
    def __init__(self, scene: Scene, budget: int) -> None:
        super().__init__(scene)
        self._budget = budget
        self._run: ActiveCompleteLink | None = None

    def propose(self) -> Items | None:
        return self._advance(None, None)

    def learn(self, items: Items, answer: Answer) -> None:
        self._advance(items, {Answer.YES: True, Answer.NO: False}.get(answer))

    def _advance(self, items: Items | None, answer: bool | None) -> Items | None:
        """Continue merging with the answer to ``items`` and the constraints, up to the next open question."""
        known, run = self.scene.known, self._started()
        while (pair := run.ask()) is not None:
            if pair == items:
                run.tell(pair, answer)
                return None
            if pair in known.held:
                return None  # merging goes on after its answer
            if not known.decides(pair):
                return pair
            run.tell(pair, known.same(*pair))
        return None

    def _started(self) -> ActiveCompleteLink:
        if self._run is None:
            self._run = self.scene.once(("merges", self._budget), self._start).copy()
        return self._run

    def _start(self) -> ActiveCompleteLink:
        return active_complete_link(self.scene.X, self._budget, metric=self.scene.metric)
