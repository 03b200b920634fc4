"""Will these statements help? What can be said before any of them is used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._kernels import njit
from linkwise._kernels.disjoint_set import components
from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import LinkwiseError, UnsupportedConstraintError
from linkwise.problem._feasibility import check
from linkwise.result import Dendrogram, verify

__all__ = ["Utility", "utility"]

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
FloatArray = npt.NDArray[np.float64]
_MOST_WORK = 500_000_000  # pairs of forces times features looked at one by one; beyond, a sample is drawn
_DRAWN = 1_000_000
_TOUCH = 1e-9  # overlaps below this share of the longer segment are rounding
_MANY, _FEW, _COHERENT = 0.2, 0.05, 0.5


@dataclass(frozen=True, eq=False)
class Utility:
    """What statements promise before they are used; made by `utility`.

    Attributes
    ----------
    n_statements : int
        How many statements were judged.
    informativeness : float
        Share of them that the given result breaks: what the method would not have found by itself. NaN when no
        result was given or nothing was said.
    coherence : float
        Share of pairs of a pulling and a pushing force that do not overlap in the space of X. NaN when there are no
        such pairs.
    coherence_exact : bool
        Whether all such pairs were looked at; else a sample of a million.
    coverage : float
        Share of samples named in some statement.
    n_parts : int
        Connected parts that the statements divide the named samples into.
    decided : float
        Share of all pairs of samples that hard must- and cannot-links decide, together or apart.
    feasible : bool
        Whether the hard statements can hold together.
    verdict : str
        The answer in one sentence.

    Examples
    --------
    >>> from linkwise import Constraints, utility
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

        n = self.n_samples
        named, pairs = round(self.coverage * n), n * (n - 1) // 2
        decided = round(self.decided * pairs)
        part = f"{self.n_parts:,} connected part{'' if self.n_parts == 1 else 's'}"
        return "\n".join(
            [
                self.verdict,
                f"  informativeness {shown(self.informativeness)}, coherence {shown(self.coherence)}"
                + ("" if self.coherence_exact else " (from a sample)"),
                f"  {named:,} of {n:,} samples named, in {part}; {decided:,} of {pairs:,} pairs decided",
            ]
        )


def utility(constraints: Constraints, X: Any, *, result: Any = None, random_state: int = 0) -> Utility:
    """Judge, before clustering, whether statements are likely to help.

    Parameters
    ----------
    constraints : Constraints
        Must-links, cannot-links and triplets of any weight. Rules are not judged.
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

    Raises
    ------
    UnsupportedConstraintError
        Kinds other than must-link, cannot-link and triplet.
    LinkwiseError
        X or the result do not fit the constraints.

    See Also
    --------
    check : can they hold together at all?
    informative : which of them say most?

    Notes
    -----
    Informativeness and coherence are those of [1]_. A must-link pulls along the segment between its samples, a
    cannot-link pushes along its own. Two segments overlap if the projection of one onto the line of the other shares
    more than a point with it, or the other way round; coherence is the share of (must-link, cannot-link) pairs without
    overlap. Perpendicular segments and segments side by side do not overlap.

    For triplets [1]_ says nothing. ab|c asks for a and b to be closer than either is to c, so it pulls along a, b and
    pushes along a, c and b, c, one force each; coherence is then the share over all pairs of a pull and a push of
    different statements. (In one triangle some sides overlap wherever it lies, which says nothing about agreement.)
    Informativeness counts a triplet as broken as `verify` does: in labels when c is with just one of a and b.

    The verdict follows what [1]_ observed, that sets which are informative and coherent tend to help and incoherent
    ones to harm; the limits, 5% and 20% of statements broken and half of the pairs coherent, are ours. It is a
    hint, no guarantee.

    **Cost** near-linear, plus p q d for p pulls and q pushes in d dimensions up to p q d = 500 million; beyond that a
    sample of a million pairs, whose standard error is at most 0.0005. **Guarantee** counts are exact unless
    ``coherence_exact`` says otherwise.

    References
    ----------
    .. [1] I. Davidson, K. L. Wagstaff, S. Basu, "Measuring Constraint-Set Utility for Partitional Clustering
       Algorithms", PKDD 2006.

    Examples
    --------
    >>> from linkwise import Constraints, utility
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> against = utility(Constraints.build(4, must_link=[(0, 3)], cannot_link=[(1, 2)]), X, result=[0, 0, 1, 1])
    >>> against.informativeness, against.coherence
    (0.5, 0.0)
    """
    data = _read_data(constraints, X)
    unknown = sorted(set(constraints.kind.tolist()) - {Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TRIPLET})
    if unknown:
        words = tuple(Kind(kind).word for kind in unknown)
        msg = (
            f"utility: there are statements of kind {', '.join(words)}, expected must-links, cannot-links, triplets.\n"
            "Hint: leave them out with `constraints.select(constraints.kind <= Kind.TRIPLET)`."
        )
        raise UnsupportedConstraintError(msg, words)
    broken = _share_broken(constraints, data, result)
    coherent, exact = _coherence(constraints, data, random_state)
    named, parts, decided = _coverage(constraints)
    feasible = check(constraints).status != "infeasible"
    return Utility(
        constraints.n_statements,
        broken,
        coherent,
        exact,
        named,
        parts,
        decided,
        feasible,
        _verdict(constraints.n_statements, broken, coherent, feasible),
        constraints.n_samples,
    )


def _read_data(constraints: Constraints, X: Any) -> FloatArray:
    if not isinstance(constraints, Constraints):
        what = type(constraints).__name__
        msg = f"utility: constraints are {what}, expected Constraints.\nHint: use `Constraints.build`."
        raise LinkwiseError(msg)
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
    """Share of samples named, connected parts of them, share of pairs decided by hard links."""
    n, items, hard = constraints.n_samples, constraints.items, constraints.is_hard
    trio = items[constraints.kind == Kind.TRIPLET]
    edges = np.concatenate([items[:, :2], trio[:, 1:]])
    named = np.unique(edges)
    part: IntArray = components(n, edges)
    must = items[hard & (constraints.kind == Kind.MUST_LINK), :2]
    cannot = items[hard & (constraints.kind == Kind.CANNOT_LINK), :2]
    group: IntArray = components(n, must)
    size = np.bincount(group, minlength=1).astype(np.float64)
    ends = np.sort(group[cannot], axis=1)
    key = np.unique(ends[:, 0] * len(size) + ends[:, 1])
    first, second = np.divmod(key, len(size))
    apart = first != second  # one inside a group contradicts, and decides nothing more
    pairs = (size * (size - 1) / 2).sum() + (size[first] * size[second])[apart].sum()
    return len(named) / max(n, 1), len(np.unique(part[named])), float(pairs / max(n * (n - 1) / 2, 1))


# -- coherence -----------------------------------------------------------------------------------------------------


def _coherence(constraints: Constraints, data: FloatArray, seed: int) -> tuple[float, bool]:
    """Share of pairs of a pull and a push of different statements that do not overlap, and whether all were seen."""
    kind, items = constraints.kind, constraints.items
    must, cannot, trio = (np.flatnonzero(kind == k) for k in (Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TRIPLET))
    pull = np.concatenate([items[must, :2], items[trio, :2]])
    push = np.concatenate([items[cannot, :2], items[trio][:, [0, 2]], items[trio][:, [1, 2]]])
    pull_of, push_of = np.concatenate([must, trio]), np.concatenate([cannot, trio, trio])
    if not len(pull) or not len(push):
        return float("nan"), True
    p, q = len(pull), len(push)
    if p * q * max(data.shape[1], 4) > _MOST_WORK:
        rng = np.random.default_rng(seed)
        drawn = rng.integers(0, p, _DRAWN), rng.integers(0, q, _DRAWN)
        agree, seen = _count_drawn(data, pull, push, pull_of, push_of, *drawn)
        return (agree / seen if seen else float("nan")), False
    agree, seen = _count_all(data, pull, push, pull_of, push_of)
    return (agree / seen if seen else float("nan")), True


@njit
def _clear(data: FloatArray, a: int, b: int, c: int, d: int) -> bool:
    """Whether neither of the segments ab and cd has a projection onto the line of the other that overlaps it."""
    uu = vv = av = bv = cu = du = 0.0
    for f in range(data.shape[1]):
        u = data[b, f] - data[a, f]
        v = data[d, f] - data[c, f]
        uu += u * u
        vv += v * v
        av += (data[a, f] - data[c, f]) * v
        bv += (data[b, f] - data[c, f]) * v
        cu += (data[c, f] - data[a, f]) * u
        du += (data[d, f] - data[a, f]) * u
    least = _TOUCH * np.sqrt(max(uu, vv))
    onto_cd = min(max(av, bv), vv) - max(min(av, bv), 0.0)  # shared length times the length of cd
    onto_ab = min(max(cu, du), uu) - max(min(cu, du), 0.0)
    return onto_cd <= least * np.sqrt(vv) and onto_ab <= least * np.sqrt(uu)  # type: ignore[no-any-return]


@njit
def _count_all(
    data: FloatArray, pull: IntArray, push: IntArray, pull_of: IntArray, push_of: IntArray
) -> tuple[int, int]:
    agree = 0
    seen = 0
    for i in range(len(pull)):
        for j in range(len(push)):
            if pull_of[i] != push_of[j]:
                seen += 1
                agree += _clear(data, pull[i, 0], pull[i, 1], push[j, 0], push[j, 1])
    return agree, seen


@njit
def _count_drawn(
    data: FloatArray,
    pull: IntArray,
    push: IntArray,
    pull_of: IntArray,
    push_of: IntArray,
    first: IntArray,
    second: IntArray,
) -> tuple[int, int]:
    agree = 0
    seen = 0
    for t in range(len(first)):
        i, j = first[t], second[t]
        if pull_of[i] != push_of[j]:
            seen += 1
            agree += _clear(data, pull[i, 0], pull[i, 1], push[j, 0], push[j, 1])
    return agree, seen


def _verdict(n: int, broken: float, coherent: float, feasible: bool) -> str:
    if not n:
        return "Nothing was said, so nothing changes."
    if not feasible:
        return "Not as they are: the hard statements contradict each other; `repair(constraints)` finds a way out."
    agree = np.isnan(coherent) or coherent >= _COHERENT
    if np.isnan(broken):
        if np.isnan(coherent):
            return "Unknown: pass result= to learn how much of this the method finds by itself."
        how = "agree with each other" if agree else "quarrel with each other"
        return f"Unknown without result=; the statements {how} in this space."
    said = f"the result breaks {broken:.0%} of the statements"
    if broken < _FEW:
        return f"Unlikely to change much: {said}, the rest it found by itself."
    if not agree:
        return f"May harm methods that learn from them: {said}, but they quarrel with each other in this space."
    word = "Likely" if broken >= _MANY else "May"
    tail = (
        "they agree with each other in this space"
        if not np.isnan(coherent)
        else "nothing in this space speaks against them"
    )
    return f"{word} {'to ' if word == 'Likely' else ''}help: {said}, and {tail}."
