"""`utility`: an estimate, before clustering, of whether statements will help."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from linkwise._kernels.disjoint_set import components
from linkwise._messages import many
from linkwise._random import make_generator
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind, require_constraints
from linkwise.exceptions import LinkwiseError
from linkwise.problem.entailment._kernels_utility import _count_all, _count_drawn
from linkwise.problem.feasibility import check
from linkwise.result import Dendrogram, verify

_MOST_WORK = 500_000_000  # pairs of forces times features looked at one by one; beyond, a sample is drawn
_DRAWN = 1_000_000
_MOST_PAIRS = 20_000  # pairs within groups that are looked at; beyond, that many are drawn
_MOST_OVERLAP = 50_000_000  # pairs of blocks that are in two groups apart, counted one by one
_MANY, _FEW, _COHERENT = 0.2, 0.05, 0.5


@dataclass(frozen=True, eq=False, kw_only=True)
class Utility:
    """Expected benefit of statements before they are used; made by `utility`.

    Attributes
    ----------
    n_statements : int
        How many statements were judged; a group is one.
    informativeness : float
        Share of them that the given result breaks: what the method would not have found by itself. NaN without a
        result or without statements.
    coherence, coherence_exact : float, bool
        Share of pairs of a pulling and a pushing force that do not overlap in the space of X, NaN when there are none,
        and whether all such pairs were looked at; else a sample of them.
    coverage, n_parts : float, int
        Share of samples named in some statement, and the connected parts that statements divide these into.
    decided : float
        Share of all pairs of samples that hard must-links, cannot-links and groups decide, together or apart. NaN where
        large groups apart overlap so much that this takes too long to count.
    feasible : bool
        Whether the hard statements can hold together.
    verdict : str
        The answer in one sentence.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.problem import utility
    >>> X = [[0.0, 0.0], [0.0, 1.0], [5.0, 0.0], [5.0, 1.0]]
    >>> said = Constraints.build(4, must_link=[(0, 2), (1, 3)], cannot_link=[(0, 1)])
    >>> print(utility(said, X, result=[0, 0, 1, 1]))
    Likely to help: the result breaks 100% of the statements, and they agree with each other in this space.
      informativeness 1.00, coherence 1.00
      4 of 4 samples named, in 1 connected part; 6 of 6 pairs decided
    """

    n_statements: int
    informativeness: float
    coherence: float
    coherence_exact: bool
    coverage: float
    n_parts: int
    decided: float
    feasible: bool
    verdict: str
    n_samples: int = 0

    def __str__(self) -> str:
        def shown(value: float) -> str:
            return "unknown" if np.isnan(value) else f"{value:.2f}"

        sampled = "" if self.coherence_exact else " (from a sample)"
        known = f"  informativeness {shown(self.informativeness)}, coherence {shown(self.coherence)}{sampled}"
        return "\n".join([self.verdict, known, f"  {self.counts}"])

    @property
    def counts(self) -> str:
        """How many samples are named and how many pairs decided, in words."""
        n = self.n_samples
        named, pairs = round(self.coverage * n), n * (n - 1) // 2
        found = f"{named:,} of {n:,} samples named, in {many(self.n_parts, 'connected part')}"
        if np.isnan(self.decided):
            return found
        return f"{found}; {round(self.decided * pairs):,} of {pairs:,} pairs decided"


def utility(constraints: Constraints, X: Any, *, result: Any = None, random_state: int = 0) -> Utility:
    """Judge, before clustering, whether statements are likely to help.

    Parameters
    ----------
    constraints : Constraints
        Statements of any kind and weight. Rules are not judged.
    X : array-like of shape (n_samples, n_features)
        The data; distances are Euclidean.
    result : array-like of labels, Dendrogram or callable, optional
        What the method finds without the statements, or a function of X that returns it, such as
        ``KMeans(3).fit_predict``. There is no default: informativeness belongs to a method, and none is chosen here.
        A dendrogram needs a marked cut if there are must- or cannot-links.
    random_state : int, default=0
        Seed of the sample drawn when there are too many pairs of forces to look at all.

    Returns
    -------
    Utility

    See Also
    --------
    check : can they hold together at all?
    informative : which of them say most?

    Notes
    -----
    Informativeness and coherence are those of [1]_. A must-link pulls along the segment between its
    samples, a cannot-link pushes along its own. Two segments overlap if the projection of one onto the line of the
    other shares more than a point with it, or the other way round; coherence is the share of pairs of a pull and a push
    without overlap. [1]_ does not treat triplets: ab|c pulls along a, b and pushes along a, c and b, c, one force each,
    and only forces of different statements are compared, since in one triangle some sides always overlap.
    Informativeness counts a triplet as broken as `verify` does. A group together pulls between any two of its samples,
    a group apart pushes; of more than 20,000 pairs that many are drawn. A choice has no force, since it leaves open
    which pair is meant.

    The verdict follows what [1]_ observed, that sets which are informative and coherent tend to help and incoherent
    ones to harm; the limits, 5% and 20% of statements broken and half of the pairs coherent, are ours. It is a
    hint, not a guarantee.

    **Cost** near-linear, plus p q d for p pulls and q pushes in d dimensions up to p q d = 500 million; beyond that a
    sample of a million pairs, whose standard error is at most 0.0005. **Guarantee** counts are exact unless
    ``coherence_exact`` says otherwise.

    References
    ----------
    .. [1] I. Davidson, K. L. Wagstaff, S. Basu, "Measuring Constraint-Set Utility for Partitional Clustering
       Algorithms", PKDD 2006.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.problem import utility
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> against = utility(Constraints.build(4, must_link=[(0, 3)], cannot_link=[(1, 2)]), X, result=[0, 0, 1, 1])
    >>> against.informativeness, against.coherence
    (0.5, 0.0)
    """
    data = _read_data(constraints, X)
    broken = _share_broken(constraints, data, result)
    coherent, exact = _coherence(constraints, data, random_state)
    named, parts, decided = _coverage(constraints)
    feasible = check(constraints).status != "infeasible"
    return Utility(
        n_statements=constraints.n_statements,
        informativeness=broken,
        coherence=coherent,
        coherence_exact=exact,
        coverage=named,
        n_parts=parts,
        decided=decided,
        feasible=feasible,
        verdict=_verdict(constraints.n_statements, broken, coherent, feasible),
        n_samples=constraints.n_samples,
    )


def _read_data(constraints: Constraints, X: Any) -> FloatArray:
    require_constraints(constraints, "utility")
    try:
        data = np.ascontiguousarray(X.toarray() if hasattr(X, "toarray") else X, dtype=np.float64)
    except (TypeError, ValueError) as odd:
        msg = f"utility: X is {type(X).__name__}, expected {constraints.n_samples:,} rows of finite numbers."
        raise LinkwiseError(msg) from odd
    if data.ndim != 2 or len(data) != constraints.n_samples or not np.isfinite(data).all():
        msg = (
            f"utility: X has shape {data.shape}{'' if np.isfinite(data).all() else ' and values that are not finite'}, "
            f"expected {constraints.n_samples:,} rows of finite numbers, one for each sample of the constraints."
        )
        raise LinkwiseError(msg)
    return data


def _share_broken(constraints: Constraints, data: FloatArray, result: Any) -> float:
    if result is None or not constraints.n_statements:
        return float("nan")
    if callable(result):
        result = result(data)
    if isinstance(result, Dendrogram) and result.marked is None and (constraints.kind != Kind.TRIPLET).any():
        msg = (
            "utility: the result is a dendrogram without a marked cut, expected one to judge must- and cannot-links "
            "by.\nHint: pass labels, such as `result=tree.cut(n_clusters=3)`."
        )
        raise LinkwiseError(msg)
    return float(1 - verify(result, constraints).held.mean())


def _coverage(constraints: Constraints) -> tuple[float, int, float]:
    """Share of samples named, connected parts of them, share of pairs decided by hard links and groups."""
    n, items, groups = constraints.n_samples, constraints.items, constraints.groups
    trio = items[constraints.kind == Kind.TRIPLET]
    pairs = items[items[:, 0] >= 0, :2]
    chain = groups.owner[1:] == groups.owner[:-1]
    linked = np.column_stack([groups.member[:-1][chain], groups.member[1:][chain]])
    edges = np.concatenate([pairs, trio[:, 1:], linked])
    named = np.unique(edges)
    part: IntArray = components(n, np.ascontiguousarray(edges))
    return len(named) / max(n, 1), len(np.unique(part[named])), _decided(constraints)


def _decided(constraints: Constraints) -> float:
    """Share of all pairs that hard statements decide: inside the blocks they join, and between blocks they separate."""
    n, hard = constraints.n_samples, constraints.is_hard
    must, at = constraints.must_links()
    block: IntArray = components(n, np.ascontiguousarray(must[hard[at]]))
    size = np.bincount(block, minlength=1).astype(np.float64)
    together = float((size * (size - 1) / 2).sum())
    ends = np.sort(block[constraints.items[hard & (constraints.kind == Kind.CANNOT_LINK), :2]], axis=1)
    ends = np.unique(ends[ends[:, 0] != ends[:, 1]], axis=0)  # one inside a block contradicts, and decides nothing more
    groups = constraints.groups_of(Kind.APART)
    groups = groups.pick(hard[groups.statement])
    cells = np.unique(np.column_stack([groups.owner, block[groups.member]]), axis=0)
    shape = (max(len(groups.statement), 1), len(size))
    held = csr_array((np.ones(len(cells)), (cells[:, 0], cells[:, 1])), shape=shape)
    inside = held @ size
    apart = float((inside**2 - held @ size**2).sum() / 2)  # pairs of blocks that share two groups counted twice so far
    several = np.flatnonzero(np.asarray(held.sum(axis=0)).ravel() > 1)
    twice = held[:, several].tocsc()
    if float((np.asarray(twice.sum(axis=1)).ravel() ** 2).sum()) > _MOST_OVERLAP:
        return float("nan")
    common = (twice.T @ twice).tocoo()
    off = common.row < common.col
    weight = size[several[common.row[off]]] * size[several[common.col[off]]]
    apart -= float((weight * (common.data[off] - 1)).sum())
    by_column = held.tocsc()
    covered = np.asarray(by_column[:, ends[:, 0]].multiply(by_column[:, ends[:, 1]]).sum(axis=0)).ravel() > 0
    links = ends[~covered]
    apart += float((size[links[:, 0]] * size[links[:, 1]]).sum())
    return float((together + apart) / max(n * (n - 1) / 2, 1))


# -- coherence -----------------------------------------------------------------------------------------------------


def _coherence(constraints: Constraints, data: FloatArray, seed: int) -> tuple[float, bool]:
    """Share of pairs of a pull and a push of different statements that do not overlap, and whether all were seen."""
    kind, items = constraints.kind, constraints.items
    must, cannot, trio = (np.flatnonzero(kind == k) for k in (Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TRIPLET))
    rng = make_generator(seed)
    drawn_pull = _pairs_within(constraints, Kind.TOGETHER, rng)
    drawn_push = _pairs_within(constraints, Kind.APART, rng)
    pull = np.concatenate([items[must, :2], items[trio, :2], drawn_pull[0]])
    push = np.concatenate([items[cannot, :2], items[trio][:, [0, 2]], items[trio][:, [1, 2]], drawn_push[0]])
    pull_of = np.concatenate([must, trio, drawn_pull[1]])
    push_of = np.concatenate([cannot, trio, trio, drawn_push[1]])
    if not len(pull) or not len(push):
        return float("nan"), True
    exact = drawn_pull[2] and drawn_push[2]
    p, q = len(pull), len(push)
    if p * q * max(data.shape[1], 4) > _MOST_WORK:
        drawn = rng.integers(0, p, _DRAWN), rng.integers(0, q, _DRAWN)
        agree, seen = _count_drawn(data, pull, push, pull_of, push_of, *drawn)
        return (agree / seen if seen else float("nan")), False
    agree, seen = _count_all(data, pull, push, pull_of, push_of)
    return (agree / seen if seen else float("nan")), exact


def _pairs_within(constraints: Constraints, kind: Kind, rng: np.random.Generator) -> tuple[IntArray, IntArray, bool]:
    """Pairs of samples of one group, the statement of each, and whether these are all there are."""
    groups = constraints.groups_of(kind)
    sizes = groups.sizes
    count = sizes * (sizes - 1) // 2
    total = int(count.sum())
    exact = total <= _MOST_PAIRS
    number = np.arange(total) if exact else rng.integers(0, total, _MOST_PAIRS)
    before = np.cumsum(count) - count
    of = np.searchsorted(before, number, side="right") - 1
    inside = number - before[of]
    second = ((1 + np.sqrt(1 + 8 * inside)) // 2).astype(np.intp)  # inside = second (second - 1) / 2 + first
    second -= second * (second - 1) // 2 > inside
    first = inside - second * (second - 1) // 2
    begin = groups.start[:-1][of]
    pairs = np.column_stack([groups.member[begin + first], groups.member[begin + second]]).astype(np.intp)
    return pairs, groups.statement[of], exact


def _verdict(n: int, broken: float, coherent: float, feasible: bool) -> str:
    if not n:
        return "There are no statements, so nothing changes."
    if not feasible:
        return "Not as they are: the hard statements contradict each other; `repair(constraints)` finds a way out."
    agree = np.isnan(coherent) or coherent >= _COHERENT
    if np.isnan(broken):
        if np.isnan(coherent):
            return "Unknown: pass result= to learn how much of this the method finds by itself."
        how = "agree with each other" if agree else "pull against each other"
        return f"Unknown without result=; the statements {how} in this space."
    said = f"the result breaks {broken:.0%} of the statements"
    if broken < _FEW:
        return f"Unlikely to change much: {said}, the rest it found by itself."
    if not agree:
        return f"May harm methods that learn from them: {said}, but they pull against each other in this space."
    word = "Likely" if broken >= _MANY else "May"
    tail = (
        "they agree with each other in this space"
        if not np.isnan(coherent)
        else "nothing in this space contradicts them"
    )
    return f"{word} {'to ' if word == 'Likely' else ''}help: {said}, and {tail}."
