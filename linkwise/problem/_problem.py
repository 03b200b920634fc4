"""`Problem`: samples and statements as an engine receives them, and everything that follows from both."""

from __future__ import annotations

from collections.abc import Collection
from functools import cached_property
from typing import Any

import numpy as np

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import CHOICES, Constraints, Groups, MinSeparation, Rule, SizeBetween
from linkwise.exceptions import GaveUpError, LinkwiseError
from linkwise.problem.explain import Doubt, spanning_links
from linkwise.problem.feasibility import Choices, Verdict, choose_links, decide, links_in, read_hard
from linkwise.problem.statements import Apart, Contracted, Hard, SoftPairs, keep_apart, mean_rows, soft_pairs
from linkwise.problem.triplets import blocks_or_none
from linkwise.result import Dendrogram


class Problem:
    """Samples, the statements in force about them, and what follows; each consequence is computed once, when needed.

    Parameters
    ----------
    X : ndarray or csr_array of shape (n_samples, n_features), or ndarray of shape (n_samples, n_samples)
        Validated samples, or with ``metric="precomputed"`` their distances. Not copied.
    constraints : Constraints
        Statements about these samples.
    metric : str or callable, default="euclidean"
        How samples are compared; used by rules about distances.
    n_clusters : int, optional
        The number of clusters asked for.
    who : str, default="Problem"
        Name of the method, for messages.

    Notes
    -----
    `Problem` is the only place where must-links are contracted. An engine may assume that X is finite, that the
    statements are of kinds it understands, and that `ConstrainedClusterer._judge` was asked before.

    Examples
    --------
    >>> import numpy as np
    >>> from linkwise import Constraints
    >>> from linkwise.problem import Problem
    >>> known = Constraints.build(3, must_link=[(0, 1)], cannot_link=[(1, 2)])
    >>> problem = Problem(np.array([[0.0], [2.0], [5.0]]), known)
    >>> small = problem.contract()
    >>> small.X.ravel().tolist(), small.weight.tolist(), small.apart.pairs().tolist()
    ([1.0, 5.0], [2.0, 1.0], [[0, 1]])
    >>> problem.expand(np.array([0, 1])).tolist()
    [0, 0, 1]
    """

    def __init__(
        self,
        X: Any,
        constraints: Constraints,
        *,
        metric: Any = "euclidean",
        n_clusters: int | None = None,
        who: str = "Problem",
    ) -> None:
        shape, n = np.shape(X), constraints.n_samples
        if len(shape) != 2 or shape[0] != n or (metric == "precomputed" and shape[1] != n):
            square = "a square matrix of distances" if metric == "precomputed" else "a row for each sample"
            msg = f"{who}: X has shape {shape}, expected {square}; the constraints are about {n:,} samples."
            raise LinkwiseError(msg)
        self.X, self.constraints, self.metric = X, constraints, metric
        self.n_samples, self.n_clusters, self.who = n, n_clusters, who
        self.given = constraints  # before links took the place of choices and separations
        self.chosen: Constraints | None = None  # the links that were chosen

    @property
    def k(self) -> int:
        """The number of clusters, for methods that cannot do without one."""
        if self.n_clusters is None:
            msg = f"{self.who} needs a number of clusters, but n_clusters is None."
            raise LinkwiseError(msg)
        return self.n_clusters

    @property
    def _data(self) -> Any:
        """The samples where rules about distances need them."""
        return None if all(isinstance(rule, SizeBetween) for rule in self.constraints.rules) else self.X

    # -- statements as arrays -----------------------------------------------------------------------------------

    @cached_property
    def hard(self) -> Hard:
        """The hard statements as arrays; a rule of least separation adds its must-links."""
        return read_hard(self.constraints, self._data, self.metric, self.who)

    @property
    def group(self) -> IntArray:
        """The group of each sample under hard must-links, numbered by first appearance."""
        return self.hard.group

    @property
    def n_groups(self) -> int:
        """Number of groups under hard must-links."""
        return len(self.weight)

    @cached_property
    def weight(self) -> FloatArray:
        """Number of samples in each group."""
        return np.bincount(self.group).astype(np.float64)

    @cached_property
    def apart(self) -> Apart:
        """The graph of hard cannot-links and groups apart between groups; the statements must not contradict."""
        hard = self.hard
        members = Groups(hard.apart.statement, hard.apart.start, self.group[hard.apart.member])
        return keep_apart(self.n_groups, self.group[hard.cannot].reshape(-1, 2), members)

    @cached_property
    def soft_pairs(self) -> SoftPairs:
        """Soft statements as weighted pairs of samples."""
        return soft_pairs(self.constraints, self.who)

    # -- contraction and the way back ---------------------------------------------------------------------------

    def contract(self, rows: Any = None) -> Contracted:
        """Make must-linked samples one row, at their mean and with their number as weight.

        ``rows`` are the samples in another form, such as directions or products; by default X.
        """
        X = self.X if rows is None else rows
        if self.n_groups < self.n_samples:
            X = mean_rows(X, self.group, self.weight)
        return Contracted(X, self.weight, self.group, self.apart)

    def expand(self, labels: IntArray) -> IntArray:
        """Carry labels of groups back to the samples."""
        if len(labels) != self.n_groups:
            msg = f"expand: there are {len(labels):,} labels, expected one for each of the {self.n_groups:,} groups."
            raise LinkwiseError(msg)
        return labels[self.group]

    def reduce(self, labels: IntArray) -> IntArray:
        """Carry labels of samples to the groups; a group takes the label of its first sample."""
        return labels[np.unique(self.group, return_index=True)[1]]

    # -- choices and separations as links -----------------------------------------------------------------------

    def with_links(self, natively: Collection[type[Rule]] = (), *, compares: bool = True) -> Problem:
        """Return the problem with links in place of choices, and of separations that are not understood ``natively``.

        Every choice becomes one of its links, so that all statements can hold: by a search within a budget that tries
        near samples first for must-links and far ones for cannot-links, else those of some clustering in which all
        hold. ``compares`` tells whether X is compared by the metric; otherwise choices are tried in the order given.
        ``given`` of the new problem are the statements as they were, ``chosen`` the links that stand for choices.
        Raises if the statements cannot hold.
        """
        table = self.constraints
        rules = [rule for rule in table.rules if not isinstance(rule, MinSeparation) or MinSeparation in natively]
        leaves_choice = np.isin(table.kind, list(CHOICES)) & np.isinf(table.weight)
        if not leaves_choice.any() and len(rules) == len(table.rules):
            return self
        self.verdict.raise_if_infeasible()
        choices = Choices.of(table)
        plain = table.select(~leaves_choice).with_rules(*rules)
        if len(rules) < len(table.rules):
            near = self.hard.must[self.hard.must_at >= table.n_statements]
            plain = plain | Constraints.build(self.n_samples, must_link=near[spanning_links(self.n_samples, near)])
        doubt = Doubt(table, self.X, self.metric)

        def dislike(pair: IntArray, is_must: BoolArray) -> FloatArray:
            if not compares:
                return np.zeros(len(pair))
            samples, at = np.unique(pair, return_inverse=True)
            first, second = at.reshape(-1, 2).T
            far = doubt.distances(samples)[first, second]
            if is_must.any() and not is_must.all():
                far = far - np.median(doubt.reference())  # where a must-link is as likely as a cannot-link
            return np.where(is_must, far, -far)

        def posed(links: tuple[IntArray, IntArray]) -> Problem:
            chosen = Constraints.build(self.n_samples, must_link=links[0], cannot_link=links[1]).with_ids(table.ids)
            made = Problem(self.X, plain | chosen, metric=self.metric, n_clusters=self.n_clusters, who=self.who)
            made.given, made.chosen = table, chosen
            return made

        links = choose_links(self.hard, choices, self.n_clusters, dislike)
        liked = None if links is None else posed(links)
        if liked is not None and (not rules or liked.verdict.status == "feasible"):
            return liked
        some = self.verdict.witness
        labels = some.cut_marked() if isinstance(some, Dendrogram) else some
        if labels is not None:
            return posed(links_in(np.asarray(labels), choices, dislike))
        if liked is None:
            raise self._gave_up()
        return liked

    # -- feasibility --------------------------------------------------------------------------------------------

    @cached_property
    def blocks(self) -> IntArray:
        """The finest clusters that must-links and triplets leave possible; raises if statements are contradictory."""
        found = blocks_or_none(self.hard)
        if found is None:
            decide(self.hard.without_rules(), None).raise_if_infeasible()
            msg = "the statements contradict each other without a conflict; please report them."
            raise AssertionError(msg)
        return found

    @cached_property
    def verdict(self) -> Verdict:
        """Whether all hard statements and rules can hold in ``n_clusters`` clusters, or in any number if it is None."""
        return decide(self.hard, self.n_clusters, self._data, self.metric)

    def require_consistent(self) -> None:
        """Raise if hard statements contradict each other; rules and ``n_clusters`` are left out."""
        _ = self.blocks

    def require_feasible(self) -> None:
        """Raise if statements contradict each other or ``n_clusters`` is outside the bounds they leave.

        Whether a number of clusters within the bounds is possible can take long to decide; `witness` does, where a
        method does not find labels itself.
        """
        k, n = self.n_clusters, self.n_samples
        free = decide(self.hard.without_rules(), None)
        free.raise_if_infeasible()
        sizes = (rule for rule in self.constraints.rules if isinstance(rule, SizeBetween))
        if k is None:
            return
        impossible = any(not k * rule.low <= n <= k * (n if rule.high is None else rule.high) for rule in sizes)
        if impossible or not (free.k_min or 1) <= k <= (free.k_max or n):
            self.verdict.raise_if_infeasible()

    def witness(self) -> IntArray:
        """Return labels of some clustering in which all hard statements hold.

        Raises `InfeasibleConstraintsError` if there is none, `GaveUpError` if the search found neither one nor a proof.
        """
        self.verdict.raise_if_infeasible()
        if isinstance(self.verdict.witness, np.ndarray):
            return self.verdict.witness
        raise self._gave_up()

    def _gave_up(self) -> GaveUpError:
        wanted = "clusters" if self.n_clusters is None else f"{self.n_clusters} clusters"
        msg = (
            f"{self.who} gave up: it found no {wanted} in which all statements hold, nor a proof "
            f"that there are none.\n{self.verdict.because}\n"
            "Hint: a larger n_clusters makes it easier; `repair(constraints)` finds statements to drop."
        )
        return GaveUpError(msg)
