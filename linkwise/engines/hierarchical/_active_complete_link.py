"""`active_complete_link`: complete link that asks, before doubtful merges, whether two samples belong together."""

from __future__ import annotations

from copy import copy
from numbers import Integral
from typing import Any

import numpy as np

from linkwise._memory import require_memory
from linkwise._threads import Workers
from linkwise._typing import Floats, IntArray
from linkwise.constraints import Constraints
from linkwise.engines.agglomeration import merge_all
from linkwise.engines.distances import Metric, fresh_distances, mirror, read_source, shorten
from linkwise.exceptions import LinkwiseError
from linkwise.result import Dendrogram

ROUNDING = 1e-12
Pair = tuple[int, int]


class ActiveCompleteLink:
    """A complete-link clustering in progress, which asks before it merges; made by `active_complete_link`.

    Attributes
    ----------
    budget : int
        How many questions may be asked.
    n_asked : int
        How many were answered, "don't know" included.
    alpha : float
        Merges up to this height are made without asking.

    Examples
    --------
    >>> from linkwise.engines import active_complete_link
    >>> run = active_complete_link([[0.0], [1.0], [5.0], [7.0]], budget=1)
    >>> isinstance(run.ask(), tuple), run.n_asked, run.budget
    (True, 0, 1)
    """

    budget: int
    n_asked: int
    alpha: float

    def __init__(self, D: Floats, budget: int, begin: int, *, triangle: bool) -> None:
        n = len(D)
        self.budget = budget
        self.n_asked = 0
        self._D = D
        self._triangle = triangle
        plain = merge_all(D, method="complete", metric="precomputed")
        self.alpha = float(plain.height[n - 1 - begin]) if begin < n else -np.inf
        done = int(np.searchsorted(plain.height, self.alpha, side="right"))
        self._merges: list[Pair] = [(int(a), int(b)) for a, b in plain.pairs[:done]]
        self._heights: list[float] = plain.height[:done].tolist()
        tree = Dendrogram.from_merges(n, plain.pairs[:done], plain.height[:done])
        labels = tree.cut(n_clusters=n - done)
        order = np.argsort(labels, kind="stable")
        start = np.flatnonzero(np.diff(labels[order], prepend=-1))
        self._members = np.split(order, start[1:])
        self._node = [int(v) for v in _tops(tree)[order[start]]]
        # Clusters are farthest members apart; on the way only the rows of one side are reduced at a time.
        self._gap = np.maximum.reduceat(np.maximum.reduceat(D[order], start, axis=0)[:, order], start, axis=1)
        np.fill_diagonal(self._gap, 0.0)
        self._apart = np.eye(len(start), dtype=np.bool_)
        self._must: list[Pair] = []
        self._cannot: list[Pair] = []
        self._pending: tuple[Pair, int, int] | None = None

    # -- the dialogue -------------------------------------------------------------------------------------------

    def ask(self) -> Pair | None:
        """Return the two samples the next question is about, or None when nothing is left to ask.

        Asking again before the answer returns the same pair. Nothing is asked that earlier answers entail.
        """
        while self._pending is None:
            found = self._closest()
            if found is None:
                return None
            a, b, height = found
            if height > self.alpha and self.n_asked < self.budget:
                pair = sorted((self._medoid(a), self._medoid(b)))
                self._pending = (pair[0], pair[1]), a, b
            else:
                self._merge(a, b, height)
        return self._pending[0]

    def tell(self, pair: Pair, answer: bool | None) -> None:
        """Answer the question that was asked.

        Parameters
        ----------
        pair : tuple of int
            What `ask` returned, in either order.
        answer : bool or None
            Whether the two belong together; None for "don't know", which leaves the merge to the distances and counts
            as a question.

        Raises
        ------
        LinkwiseError
            Another pair, or none, was asked about.
        """
        asked = self._pending
        if asked is None or tuple(sorted(int(v) for v in pair)) != asked[0]:
            was = "nothing was asked" if asked is None else f"the question was about {asked[0]}"
            msg = f"tell: the answer is about {tuple(pair)}, but {was}.\nHint: pair = run.ask(); run.tell(pair, True)."
            raise LinkwiseError(msg)
        if answer is not None and not isinstance(answer, (bool, np.bool_)):
            msg = f"tell: the answer is {answer!r}, expected True, False or None."
            raise LinkwiseError(msg)
        _, a, b = asked
        self._pending = None
        self.n_asked += 1
        if answer is None:
            self._merge(a, b, float(self._gap[a, b]))
        elif answer:
            self._must.append(asked[0])
            self._draw_together(a, b)
            self._merge(a, b, 0.0)
        else:
            self._cannot.append(asked[0])
            self._apart[a, b] = self._apart[b, a] = True

    # -- results ------------------------------------------------------------------------------------------------

    @property
    def constraints(self) -> Constraints:
        """The answers so far: must-links and cannot-links between the samples asked about."""
        return Constraints.build(len(self._D), must_link=self._must, cannot_link=self._cannot)

    @property
    def dendrogram(self) -> Dendrogram:
        """The tree, or forest, when no further question is answered; a "no" is never merged across."""
        rest = self.copy()
        while (found := rest._closest()) is not None:
            rest._merge(*found)
        pairs = np.array(rest._merges, dtype=np.intp).reshape(-1, 2)
        return Dendrogram.from_merges(len(self._D), pairs, np.array(rest._heights))

    def copy(self) -> ActiveCompleteLink:
        """Return the same clustering at the same point, which goes its own way from here."""
        twin = copy(self)
        twin._members, twin._node = list(self._members), list(self._node)
        twin._merges, twin._heights = list(self._merges), list(self._heights)
        twin._must, twin._cannot = list(self._must), list(self._cannot)
        twin._apart = self._apart.copy()
        twin._gap = self._gap.copy()
        return twin

    # -- the steps ----------------------------------------------------------------------------------------------

    def _closest(self) -> tuple[int, int, float] | None:
        """The closest two clusters that may be merged, those with the lowest-numbered samples first; or None."""
        legal = np.where(self._apart, np.inf, self._gap)
        a, b = divmod(int(legal.argmin()), len(legal))
        return None if np.isinf(legal[a, b]) else (min(a, b), max(a, b), float(legal[a, b]))

    def _medoid(self, cluster: int) -> int:
        """The sample of a cluster that is closest to all others of it; the first where only rounding tells two apart.

        On a line, the two in the middle have the same sum of distances, whatever order it is taken in.
        """
        members = self._members[cluster]
        total = self._D[np.ix_(members, members)].sum(axis=1)
        return int(members[(total <= total.min() * (1 + ROUNDING)).argmax()])

    def _draw_together(self, a: int, b: int) -> None:
        """Make two clusters one place and everything else as far as the shortest path by way of it."""
        gap = self._gap
        gap[a, b] = gap[b, a] = 0.0
        if self._triangle:
            via = np.minimum(gap[a], gap[b])
            np.minimum(gap, via[:, None] + via, out=gap)
        else:
            with Workers() as workers:
                shorten(gap, len(gap), np.arange(len(gap)), workers)
            mirror(gap, len(gap))

    def _merge(self, a: int, b: int, height: float) -> None:
        """Replace clusters a < b by their union, in the place of a."""
        self._merges.append((self._node[a], self._node[b]))
        self._heights.append(height)
        self._node[a] = len(self._D) + len(self._merges) - 1
        self._members[a] = np.sort(np.concatenate([self._members[a], self._members[b]]))
        del self._node[b], self._members[b]
        farthest = np.maximum(self._gap[a], self._gap[b])
        apart = self._apart[a] | self._apart[b]
        self._gap[a], self._gap[:, a] = farthest, farthest
        self._apart[a], self._apart[:, a] = apart, apart
        self._gap[a, a] = 0.0
        self._apart[a, a] = True
        self._gap = np.delete(np.delete(self._gap, b, axis=0), b, axis=1)
        self._apart = np.delete(np.delete(self._apart, b, axis=0), b, axis=1)


def active_complete_link(
    X: Any,
    budget: int,
    *,
    begin: int | None = None,
    metric: Metric = "euclidean",
    metric_input: bool | None = None,
) -> ActiveCompleteLink:
    """Start a complete-link clustering that asks up to ``budget`` questions about its last, most doubtful merges.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Vectors; or with ``metric="precomputed"`` dissimilarities. Not modified.
    budget : int
        Most questions that may be asked.
    begin : int, optional
        Number of clusters at which questions begin. With ``budget + 1`` there is a question for each merge left, and
        none for the merges that a "no" prevents; by default a fifth of the questions is kept back for those.
    metric : str or callable, default="euclidean"
        How vectors are compared, or ``"precomputed"``.
    metric_input : bool, optional
        Whether the dissimilarities obey the triangle inequality; see `propagate`.

    Returns
    -------
    ActiveCompleteLink
        Call ``ask()`` for two samples and ``tell(pair, answer)`` with True, False or None, until ``ask()`` returns
        None; ``dendrogram`` and ``constraints`` hold the results.

    Notes
    -----
    Without answers, complete link would end with ``begin - 1`` merges above ``alpha``. Merges up to ``alpha`` are made
    without asking. Any other is asked about, as the question whether the medoids of the two clusters belong together. A
    yes merges the clusters at height 0 and draws everything near them together (see `propagate`); a no keeps them
    apart for good; "don't know" leaves the merge to the distances. When the questions are used up, merging goes on
    without.

    Shortest paths between clusters that are all farther apart than ``alpha`` are longer than ``alpha`` too, so every
    merge after the first question takes another one. Where classes consist of several heaps, most noes come at the end:
    with a question per merge none is left for them, and the last merges, which matter most, are made blindly.

    **Cost** O(n^2) to begin with, then O(budget^2) per question. Two n x n matrices. **Guarantee** at most ``budget``
    questions, none twice and none whose answer follows from earlier ones; the answers are consistent whatever they are,
    and the tree keeps them. **Departure from** [1]_ the paper leaves open which samples are asked about and where
    questions begin, "without expecting to need more" than there are: here medoids, and the height at which four fifths
    of the budget would do if every answer were yes. It expects some merges after a yes to come below ``alpha``, which
    cannot be when distances between clusters are shortened.

    References
    ----------
    .. [1] D. Klein, S. D. Kamvar, C. D. Manning, "From Instance-level Constraints to Space-Level Constraints: Making
       the Most of Prior Knowledge in Data Clustering", ICML 2002, section 5.5.

    Examples
    --------
    >>> from linkwise.engines import active_complete_link
    >>> X, truth = [[0.0], [1.0], [5.0], [7.0], [12.0]], [0, 0, 1, 1, 0]
    >>> run = active_complete_link(X, budget=3)
    >>> while (pair := run.ask()) is not None:
    ...     run.tell(pair, truth[pair[0]] == truth[pair[1]])
    >>> run.dendrogram.cut(n_clusters=2).tolist()
    [0, 0, 1, 1, 0]
    >>> run.constraints
    Constraints(5 samples: 1 must-link, 2 cannot-links; all hard)
    """
    for name, value, least, what in (("budget", budget, 0, "questions"), ("begin", begin, 1, "clusters")):
        if name == "begin" and value is None:
            continue
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Integral) or value < least:
            msg = f"active_complete_link: {name} is {value!r}, expected a number of {what}, {least} or more."
            raise LinkwiseError(msg)
    source, n, metric, triangle = read_source(X, metric, metric_input, who="active_complete_link")
    require_memory(2 * n * n * 8, f"two dense {n} x {n} distance matrices", "cluster a sample of the rows.")
    with Workers() as workers:
        D = fresh_distances(source, metric, np.dtype(np.float64), workers)
        mirror(D, n)
    merges = min(budget, max(1, 4 * budget // 5))
    return ActiveCompleteLink(D, int(budget), int(merges + 1 if begin is None else begin), triangle=triangle)


def _tops(tree: Dendrogram) -> IntArray:
    """The root above each sample of a forest, by doubling the steps taken upwards."""
    top = np.where(tree.parent < 0, np.arange(tree.n_nodes), tree.parent)
    while (top[top] != top).any():
        top = top[top]
    return top[: tree.n_samples]
