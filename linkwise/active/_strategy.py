"""Base class of strategies, which choose questions, and the two that choose without looking at the data."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.active._query import Answer
from linkwise.active._strategy_view import Scene
from linkwise.constraints import Constraints

Items = tuple[int, ...]
TRIES = 1000  # random questions drawn before all that are left are listed


class Inquiry:
    """A strategy at work in one dialogue; made by `Strategy.begin`.

    What it proposes depends on the scene, its seed and the answers so far alone, so that a dialogue can be replayed.

    Examples
    --------
    >>> from linkwise.active import RandomPairs, Scene
    >>> inquiry = RandomPairs().begin(Scene([[0.0], [1.0]]))
    >>> inquiry.propose()
    (0, 1)
    """

    # whether `learn` may hear of several answers when ``scene.known`` has all of them
    in_bulk: bool = False

    def __init__(self, scene: Scene) -> None:
        self.scene = scene

    def propose(self) -> Items | None:
        """Return two samples that may belong together, or three of which one may be odd, in ascending order; or None.

        Never a question that was answered or whose answer is known. Proposing again without an answer gives the same.
        """
        raise NotImplementedError

    def learn(self, items: Items, answer: Answer) -> None:
        """Process an answer, after ``scene.known`` did; also one to a question that this strategy did not ask."""

    def reread(self) -> None:
        """Forget the last proposal: other questions than before are put to other people (`Known.held`)."""

    def checks(self) -> Items:
        """Return the numbers of earlier answers that the proposed question looks at again; none by default."""
        return ()

    def gain(self) -> float | None:
        """Return the share of the result that the next answer is expected to change, or None if unknown."""
        return None

    def guesses(self) -> Constraints | None:
        """Return soft statements that the strategy believes in, for the estimator; None by default."""
        return None

    def believed(self) -> float | None:
        """Return the share of the result that is probably right already, or None if unknown."""
        return None

    def more(self) -> int | None:
        """Return about how many more answers would help, or None if unknown."""
        return None


class Strategy:
    """A way to choose questions; parameters are plain values, set once and written into the log of a dialogue.

    Examples
    --------
    >>> from linkwise.active import RandomTrios
    >>> RandomTrios()
    RandomTrios()
    """

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        raise NotImplementedError

    def companion(self) -> Any:
        """Return the estimator that makes the most of the answers, for a dialogue that was not given one."""
        from linkwise.engines import ConstrainedCompleteLink

        return ConstrainedCompleteLink(None, linkage="average")

    def get_params(self) -> dict[str, Any]:
        """Return the parameters, as the constructor takes them."""
        return dict(sorted(vars(self).items()))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.get_params().items())})"


class TrioStrategy(Strategy):
    """A strategy that asks about trios, whose companion builds a tree in which all triplets hold."""

    def companion(self) -> Any:
        """Return ReCon."""
        from linkwise.engines import ReCon

        return ReCon(None, linkage="average")


class RandomPairs(Strategy):
    """Ask about pairs drawn by chance: the yardstick for every other strategy.

    Notes
    -----
    **Cost** a few draws per question. **Guarantee** every open pair comes up if answers go on long enough; none that
    is implied, none twice.

    Examples
    --------
    >>> from linkwise.active import Dialogue, RandomPairs
    >>> talk = Dialogue([[0.0], [1.0], [9.0]], strategy=RandomPairs())
    >>> while (query := talk.ask()) is not None:
    ...     talk.tell(query, "yes")
    >>> talk.n_asked  # the third pair follows from the other two
    2
    """

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        return _Random(scene, 2)


class RandomTrios(TrioStrategy):
    """Ask which of three samples drawn by chance is the odd one: the yardstick for questions about hierarchies.

    Notes
    -----
    **Cost** a few draws per question. **Guarantee** none that is implied, none twice.

    Examples
    --------
    >>> from linkwise.active import Dialogue, RandomTrios
    >>> Dialogue([[0.0], [1.0], [9.0]], strategy=RandomTrios()).ask().items
    (0, 1, 2)
    """

    def begin(self, scene: Scene) -> Inquiry:
        """Start to ask about a scene."""
        return _Random(scene, 3)


class _Random(Inquiry):
    in_bulk = True

    def __init__(self, scene: Scene, size: int) -> None:
        super().__init__(scene)
        self._size = size

    def propose(self) -> Items | None:
        known, n, size = self.scene.known, self.scene.n_samples, self._size
        if n < size:
            return None
        rng = self.scene.rng(size, len(known.answers))
        for _ in range(TRIES):
            items = tuple(sorted(rng.choice(n, size, replace=False).tolist()))
            if not known.decides(items):
                return items
        return self._first_left(rng)

    def _first_left(self, rng: np.random.Generator) -> Items | None:
        """Look through all questions, in random order of the samples, when chance does not find one any more."""
        from itertools import combinations

        order = rng.permutation(self.scene.n_samples).tolist()
        for items in combinations(order, self._size):
            ascending = tuple(sorted(items))
            if not self.scene.known.decides(ascending):
                return ascending
        return None
