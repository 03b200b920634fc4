"""Minimal sets of statements: `minimal` drops what the rest implies, `label_triplets` lists those of a labeling."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, IntArray
from linkwise._value_columns import rank_values, read_known
from linkwise.constraints import Constraints, Kind, require_constraints
from linkwise.exceptions import ConstraintError
from linkwise.problem.entailment._implies import Entailment
from linkwise.problem.entailment._kernels_implied import _needed
from linkwise.problem.explain import spanning_links
from linkwise.problem.feasibility import check
from linkwise.problem.triplets import Spans

_FIRST_BATCH = 256
_MOST_TRIPLETS = 5_000_000


def minimal(constraints: Constraints) -> Constraints:
    """Drop every hard statement that the others imply.

    Parameters
    ----------
    constraints : Constraints
        Statements of any kind. Soft statements, rules, and kinds other than must-link, cannot-link and triplet are
        kept as they are and not reasoned from.

    Returns
    -------
    Constraints
        The statements kept, in their order and with their numbers.

    Raises
    ------
    InfeasibleConstraintsError
        The hard statements contradict each other.

    See Also
    --------
    implies : what counts as implied.
    close : the opposite, write out everything implied.
    informative : the few that say most, when not all can be kept.

    Notes
    -----
    A statement goes if those before it and those after it that stay imply it, so earlier ones tend to stay. Of
    must-links a spanning forest is left, of cannot-links one between any two must-linked groups.

    **Cost** near-linear for pairs. For triplets, a tree building per doubling of those kept, and then one division of
    a clade per triplet still there: quadratic in their number at worst. Where triplets and pairs meet, one test of
    feasibility per statement. **Guarantee** what is dropped is implied by what is kept; nothing kept is implied by the
    rest of it. For pairs alone and for triplets alone no smaller part of the statements says as much [1]_.

    References
    ----------
    .. [1] C. R. Seemann, M. Hellmuth, "The matroid structure of representative triple sets and triple-closure
       computation", European J. Combin. 70 (2018).

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.problem import minimal
    >>> said = Constraints.build(
    ...     4, must_link=[(0, 1), (1, 2), (0, 2)], cannot_link=[(0, 3), (2, 3)], triplets=[(0, 1, 3)]
    ... )
    >>> kept = minimal(said)
    >>> [kept.describe(i) for i in range(kept.n_statements)]
    ['#0 must_link(0, 1)', '#1 must_link(1, 2)', '#3 cannot_link(0, 3)']
    """
    require_constraints(constraints, "minimal")
    check(constraints).raise_if_infeasible()
    n, hard = constraints.n_samples, constraints.is_hard
    must, cannot, triplets = (
        np.flatnonzero(hard & (constraints.kind == kind)) for kind in (Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TRIPLET)
    )
    items = constraints.items
    kept = np.ones(constraints.n_statements, dtype=np.bool_)
    kept[must] = spanning_links(n, items[must])
    kept[cannot] = _one_per_pair(components(n, items[must, :2]), items[cannot, :2])
    kept[triplets] = _without_implied(n, items[triplets])
    if len(triplets) and (len(must) or len(cannot)):
        _drop_across_kinds(constraints, kept)
    return constraints.select(kept)


def _one_per_pair(group: IntArray, pairs: IntArray) -> BoolArray:
    """The first pair between any two groups."""
    ends = group[pairs]
    n = int(group.max(initial=0)) + 1
    _, first = np.unique(ends.min(axis=1, initial=n) * n + ends.max(axis=1, initial=0), return_index=True)
    kept = np.zeros(len(pairs), dtype=np.bool_)
    kept[first] = True
    return kept


def _without_implied(n: int, triplets: IntArray) -> BoolArray:
    """Return triplets none of which follows from the others.

    First, in batches that grow, those go that earlier ones imply; then, from the last to the first, those that all the
    others imply.
    """
    kept = np.zeros(len(triplets), dtype=np.bool_)
    start, batch = 0, _FIRST_BATCH
    while start < len(triplets):
        rows = np.arange(start, min(start + batch, len(triplets)))
        a, b, c = triplets[rows].T
        spans = Spans(n, triplets[kept])
        implied = spans.displayed(a, b, c)
        implied[implied] = spans.holds(a[implied], c[implied], b[implied])
        implied[implied] = spans.holds(b[implied], c[implied], a[implied])
        kept[rows] = ~implied
        start += batch
        batch = max(batch, int(kept.sum()))
    rows = np.flatnonzero(kept)
    spans = Spans(n, triplets[rows])
    a, b, c = (np.ascontiguousarray(column) for column in spans.triplets.T)
    kept[rows] = _needed(spans.layout, spans.triplets, len(spans.parent), spans.children(a, c))
    return kept


def _drop_across_kinds(constraints: Constraints, kept: BoolArray) -> None:
    """From last to first, drop each pair or triplet that the others imply."""
    items, kind = constraints.items, constraints.kind
    known = constraints.is_hard & np.isin(kind, (Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TRIPLET))
    tree_matters = bool((kept & known & (kind == Kind.MUST_LINK)).any() and (known & (kind == Kind.CANNOT_LINK)).any())
    for t in np.flatnonzero(kept & known)[::-1]:
        if kind[t] == Kind.TRIPLET and not tree_matters:
            continue
        kept[t] = False
        rest = Entailment.of_feasible(constraints.select(kept))
        a, b, c = items[t : t + 1].T
        if kind[t] == Kind.TRIPLET:
            implied = rest.triplet(a, b, c)
        else:
            implied = (rest.must_link if kind[t] == Kind.MUST_LINK else rest.cannot_link)(a, b)
        kept[t] = not implied[0]


def label_triplets(y: Any, *, unlabeled: Any = -1) -> Constraints:
    """List the fewest triplets equivalent to a labeling: classes are subtrees without structure inside.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class of each sample.
    unlabeled : scalar, default=-1
        A value that means "not known", as None, NaN, pandas.NA and masked values always do; such samples are in no
        triplet.

    Returns
    -------
    Constraints
        For every class, every member but its first, and every other class: the first member and this one are closer to
        each other than to the first member of the other class. (k - 1) (n - k) triplets for n samples in k classes, at
        most five million.

    See Also
    --------
    linkwise.Dendrogram.triplets : the same for any hierarchy, with ``minimal=True``.
    Constraints.from_labels : must- and cannot-links instead.

    Notes
    -----
    **Guarantee** BUILD on them gives the two-level hierarchy of the classes back; every triplet it displays is implied,
    and none of these can be dropped. **Departure from** [1]_, section 5.2: GenerateConstraints pairs the first member
    with itself as well; these empty statements are left out, so there are (k - 1) (n - k) and not (k - 1) n.

    References
    ----------
    .. [1] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with Relative Constraints", KDD 2011.

    Examples
    --------
    >>> from linkwise.problem import label_triplets
    >>> label_triplets([0, 0, 1, 1, 1]).items.tolist()
    [[0, 1, 2], [2, 3, 0], [2, 4, 0]]
    """
    labels, is_known = read_known("label_triplets: y", y, unlabeled)
    known = np.flatnonzero(is_known)
    of_class = rank_values("label_triplets: y", labels, is_known)[0][known]
    first = np.unique(of_class, return_index=True)[1]
    heads, k = known[first], len(first)
    count = (k - 1) * (len(known) - k) if k else 0
    if count > _MOST_TRIPLETS:
        msg = (
            f"label_triplets: {k:,} classes of {len(known):,} samples need {count:,} triplets; at most "
            f"{_MOST_TRIPLETS:,} are written.\nHint: `Constraints.from_labels(y)` needs fewer pairs."
        )
        raise ConstraintError(msg)
    order = np.argsort(of_class, kind="stable")
    order = order[~np.isin(known[order], heads)]
    member = np.repeat(known[order], max(k - 1, 0))
    mine = np.repeat(of_class[order], max(k - 1, 0))
    other = np.tile(np.arange(max(k - 1, 0)), len(order))
    other += other >= mine  # every class but one's own
    return Constraints.build(len(labels), triplets=np.column_stack([heads[mine], member, heads[other]]))
