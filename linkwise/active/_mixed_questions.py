"""The mixed strategy: questions about pairs for the groups, and about trios for the levels above them."""

from __future__ import annotations

from linkwise.active._gain import ExpectedGain
from linkwise.active._query import Answer
from linkwise.active._strategy import Inquiry, Items, Strategy, TrioStrategy
from linkwise.active._strategy_view import Scene
from linkwise.active._triplet_questions import PlacingTrios
from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError


class PairsAndTrios(TrioStrategy):
    """Ask by turns which samples belong together and which of three is the odd one: groups and the tree above them.

    Parameters
    ----------
    pairs : Strategy, optional
        Asks about pairs; by default `ExpectedGain`.
    trios : Strategy, optional
        Asks about trios; by default `PlacingTrios`.
    share : float, default=0.5
        Share of the questions that are about pairs, from 0 to 1.

    Notes
    -----
    Both hear every answer, and neither asks what follows from an answer to the other. When one has nothing left to
    ask, the other goes on. **Guarantee** after q questions that both could ask, those about pairs are ``share * q``, up
    to rounding.

    Examples
    --------
    >>> from linkwise.active import Dialogue, PairsAndTrios
    >>> talk = Dialogue([[0.0], [1.0], [5.0], [9.0]], strategy=PairsAndTrios())
    >>> query = talk.ask()
    >>> talk.tell(query, "unsure")
    >>> len(query.items), len(talk.ask().items)
    (3, 2)
    """

    def __init__(self, pairs: Strategy | None = None, trios: Strategy | None = None, *, share: float = 0.5) -> None:
        if isinstance(share, bool) or not isinstance(share, (int, float)) or not 0 <= share <= 1:
            msg = f"PairsAndTrios: share is {share!r}, expected a number from 0 to 1."
            raise LinkwiseError(msg)
        self.pairs = ExpectedGain() if pairs is None else pairs
        self.trios = PlacingTrios() if trios is None else trios
        self.share = float(share)

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        return _Turns(scene, self.pairs.begin(scene), self.trios.begin(scene), self.share)


class _Turns(Inquiry):
    def __init__(self, scene: Scene, pairs: Inquiry, trios: Inquiry, share: float) -> None:
        super().__init__(scene)
        self._pairs, self._trios, self._share = pairs, trios, share
        self._n_pairs = self._n_trios = 0
        self._asking = trios
        self.in_bulk = pairs.in_bulk and trios.in_bulk

    def reread(self) -> None:
        """Forget the last proposals of both strategies."""
        self._pairs.reread()
        self._trios.reread()

    def propose(self) -> Items | None:
        """Return the question of the strategy whose turn it is, or of the other."""
        due = self._share * (self._n_pairs + self._n_trios + 1) - self._n_pairs
        turns = (self._pairs, self._trios) if due >= 1 else (self._trios, self._pairs)
        for self._asking in turns:
            found = self._asking.propose()
            if found is not None:
                return found
        return None

    def learn(self, items: Items, answer: Answer) -> None:
        """Pass the answer to both strategies."""
        self._n_pairs += len(items) == 2
        self._n_trios += len(items) == 3
        self._pairs.learn(items, answer)
        self._trios.learn(items, answer)

    def checks(self) -> Items:
        """Return the earlier answers that the current strategy looks at again."""
        return self._asking.checks()

    def gain(self) -> float | None:
        """Return the change that the current strategy expects."""
        return self._asking.gain()

    def believed(self) -> float | None:
        """Return how much of the tree is probably right."""
        return self._trios.believed()

    def guesses(self) -> Constraints | None:
        """Return the soft statements of the strategy that asks about trios."""
        return self._trios.guesses()
