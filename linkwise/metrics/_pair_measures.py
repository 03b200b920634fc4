"""Measures over pairs of samples, each together or apart: precision, recall, F, Rand and constrained Rand."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from linkwise._kernels.disjoint_set import components
from linkwise._messages import hint
from linkwise._typing import IntArray
from linkwise.constraints import Constraints, Kind, require_constraints
from linkwise.exceptions import LinkwiseWarning
from linkwise.metrics._read_labels import Judged, cells, read_judged


class PairScores(NamedTuple):
    """Precision, recall and F-measure over pairs of samples; made by `pairwise_scores`.

    Examples
    --------
    >>> from linkwise.metrics import pairwise_scores
    >>> pairwise_scores([0, 0, 1, 1], [0, 0, 0, 1]).recall
    0.5
    """

    precision: float
    recall: float
    f: float


class _Decisions(NamedTuple):
    """Number of pairs, of pairs in one class, in one cluster, and in both."""

    pairs: int
    in_class: int
    in_cluster: int
    in_both: int

    @property
    def agreed(self) -> int:
        return self.pairs - self.in_class - self.in_cluster + 2 * self.in_both

    def without(self, other: _Decisions) -> _Decisions:
        return _Decisions(*(mine - theirs for mine, theirs in zip(self, other, strict=True)))


def _pairs_of(size: IntArray) -> int:
    return int((size * (size - 1) // 2).sum())


def _decisions(judged: Judged) -> _Decisions:
    n = len(judged.samples)
    _, _, both = cells(judged.classes, judged.clusters, judged.n_clusters)
    return _Decisions(
        n * (n - 1) // 2,
        _pairs_of(np.bincount(judged.classes)),
        _pairs_of(np.bincount(judged.clusters)),
        _pairs_of(both),
    )


def _share(part: int, whole: int) -> float:
    """Return the share of a part; 1 if the whole is empty."""
    return part / whole if whole else 1.0


def _scores(who: str, y_true: Any, labels: Any, unlabeled: Any) -> PairScores:
    known = _decisions(read_judged(who, y_true, labels, unlabeled))
    return PairScores(
        _share(known.in_both, known.in_cluster),
        _share(known.in_both, known.in_class),
        _share(2 * known.in_both, known.in_class + known.in_cluster),
    )


def pairwise_scores(y_true: Any, labels: Any, *, unlabeled: Any = -1) -> PairScores:
    """Precision, recall and F-measure of the pairs that the clustering puts together.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        The true class of each sample.
    labels : array-like of shape (n_samples,)
        The cluster of each sample; every value, -1 too, is an ordinary cluster.
    unlabeled : scalar or None, default=-1
        Samples whose true class is this value are left out, as are those without one (None, NaN);
        None leaves out only the latter.

    Returns
    -------
    PairScores
        ``precision``, ``recall`` and ``f``, each from 0 to 1.

    Notes
    -----
    The definition is that of [1]_, section 5. Where a share is of no pairs (no cluster, or no class, has two samples)
    it is 1, as nothing was missed; the F-measure is 2 TP / (2 TP + FP + FN).

    **Cost** O(n), or O(n log n) for labels other than small integers. No pair is listed.

    References
    ----------
    .. [1] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with Relative Constraints", KDD 2011.

    Examples
    --------
    >>> from linkwise.metrics import pairwise_scores
    >>> pairwise_scores([0, 0, 1, 1], [0, 0, 0, 1])
    PairScores(precision=0.3333333333333333, recall=0.5, f=0.4)
    """
    return _scores("pairwise_scores", y_true, labels, unlabeled)


def pairwise_precision(y_true: Any, labels: Any, *, unlabeled: Any = -1) -> float:
    """Share of the pairs in one cluster that are in one class; parameters as in `pairwise_scores`.

    Examples
    --------
    >>> from linkwise.metrics import pairwise_precision
    >>> pairwise_precision([0, 0, 1, 1], [0, 0, 1, 2])
    1.0
    """
    return _scores("pairwise_precision", y_true, labels, unlabeled).precision


def pairwise_recall(y_true: Any, labels: Any, *, unlabeled: Any = -1) -> float:
    """Share of the pairs in one class that are in one cluster; parameters as in `pairwise_scores`.

    Examples
    --------
    >>> from linkwise.metrics import pairwise_recall
    >>> pairwise_recall([0, 0, 1, 1], [0, 0, 1, 2])
    0.5
    """
    return _scores("pairwise_recall", y_true, labels, unlabeled).recall


def pairwise_f(y_true: Any, labels: Any, *, unlabeled: Any = -1) -> float:
    """Harmonic mean of pairwise precision and recall; parameters as in `pairwise_scores`.

    Examples
    --------
    >>> from linkwise.metrics import pairwise_f
    >>> pairwise_f([0, 0, 1, 1], ["a", "a", "a", "b"])
    0.4
    """
    return _scores("pairwise_f", y_true, labels, unlabeled).f


def rand(y_true: Any, labels: Any, *, unlabeled: Any = -1) -> float:
    """Share of the pairs on which classes and clusters agree, together or apart.

    Parameters as in `pairwise_scores`.

    Returns
    -------
    float
        From 0 to 1; 1 for a single sample, which leaves nothing to decide.

    See Also
    --------
    adjusted_rand : the same, with 0 for a clustering by chance.
    constrained_rand : the same, over the pairs that constraints do not decide.

    Examples
    --------
    >>> from linkwise.metrics import rand
    >>> rand([0, 0, 1, 1], [0, 0, 1, 2])
    0.8333333333333334
    """
    all_pairs = _decisions(read_judged("rand", y_true, labels, unlabeled))
    return _share(all_pairs.agreed, all_pairs.pairs)


# -- pairs that constraints do not decide ----------------------------------------------------------------------


def _codes(judged: Judged) -> list[tuple[IntArray, int]]:
    """Return codes whose equal values make a pair count in each entry of `_Decisions`: all, class, cluster, both."""
    both, k = judged.classes * judged.n_clusters + judged.clusters, judged.n_classes * judged.n_clusters
    if k > 4 * len(both):  # a product with the number of groups must stay in 64 bits
        present, both = np.unique(both, return_inverse=True)
        k = len(present)
    return [
        (np.zeros_like(both), 1),
        (judged.classes, judged.n_classes),
        (judged.clusters, judged.n_clusters),
        (both, k),
    ]


def _within(group: IntArray, codes: list[tuple[IntArray, int]]) -> _Decisions:
    """Decide the pairs inside groups."""
    shared = np.bincount(group)[group] > 1
    return _Decisions(*(_pairs_of(cells(group[shared], code[shared], k)[2]) for code, k in codes))


def _across(group: IntArray, n_groups: int, joined: IntArray, codes: list[tuple[IntArray, int]]) -> _Decisions:
    """Decide the pairs between the two groups of each row of ``joined``."""
    between = csr_array((np.ones(len(joined), dtype=np.int64), joined.T), shape=(n_groups, n_groups))
    touched = np.zeros(n_groups, dtype=np.bool_)
    touched[joined] = True
    members = touched[group]

    def meetings(code: IntArray, k: int) -> int:
        row, column, count = cells(group[members], code[members], k)
        table = csr_array((count.astype(np.int64), (row, column)), shape=(n_groups, k))
        return int((between @ table).multiply(table).sum())

    return _Decisions(*(meetings(code, k) for code, k in codes))


def _one_by_one(pairs: IntArray, judged: Judged) -> _Decisions:
    """Decide the listed pairs of positions in ``judged``."""
    a, b = pairs.T
    in_class, in_cluster = judged.classes[a] == judged.classes[b], judged.clusters[a] == judged.clusters[b]
    return _Decisions(len(pairs), int(in_class.sum()), int(in_cluster.sum()), int((in_class & in_cluster).sum()))


def _links(constraints: Constraints) -> tuple[IntArray, IntArray, IntArray]:
    """Return the hard must-links, the hard cannot-links, and the pairs in soft statements; groups included."""
    together, at = constraints.must_links()
    hard = constraints.is_hard
    every = np.ones(constraints.n_samples, dtype=np.bool_)
    apart = [constraints.items[(constraints.kind == Kind.CANNOT_LINK) & keep, :2] for keep in (hard, ~hard)]
    for t, keep in enumerate((hard, ~hard)):
        groups = constraints.groups_of(Kind.APART)
        apart[t] = np.concatenate([apart[t], groups.pick(keep[groups.statement]).pairs_with(every)])
    chunklets = constraints.groups_of(Kind.TOGETHER)
    named = chunklets.pick(~hard[chunklets.statement]).pairs_with(every)
    soft = constraints.items[(constraints.kind == Kind.MUST_LINK) & ~hard, :2]
    return together[hard[at]], apart[0], np.concatenate([soft, named, apart[1]])


def constrained_rand(y_true: Any, labels: Any, constraints: Any, *, unlabeled: Any = -1) -> float:
    """Rand index over the pairs that the constraints do not decide.

    Parameters
    ----------
    y_true, labels, unlabeled
        As in `pairwise_scores`.
    constraints : Constraints
        Those of the run. Must-links, cannot-links and groups decide pairs; triplets, choices and rules do not.

    Returns
    -------
    float
        From 0 to 1; nan, with a warning, when every pair is decided.

    Notes
    -----
    A pair is decided when the hard must-links and cannot-links entail it, or when a soft link names it; pairs that only
    soft links entail are not certain, so they count. This is the measure of [1]_, section 5.1, where all
    links are hard. Contradicting links decide their pairs all the same.

    **Cost** O(n + m k) for m links and k classes or clusters in a must-linked group. Pairs are counted, never listed,
    except those within groups apart.

    References
    ----------
    .. [1] D. Klein, S. D. Kamvar, C. D. Manning, "From Instance-level Constraints to Space-Level Constraints: Making
       the Most of Prior Knowledge in Data Clustering", ICML 2002.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.metrics import constrained_rand, rand
    >>> y_true, labels = [0, 0, 1, 1], [0, 0, 0, 1]
    >>> constraints = Constraints.build(4, must_link=[(0, 1)])
    >>> rand(y_true, labels), constrained_rand(y_true, labels, constraints)
    (0.5, 0.4)
    """
    judged = read_judged("constrained_rand", y_true, labels, unlabeled)
    require_constraints(constraints, "constrained_rand", judged.n_samples, of="y_true")
    links, firm, loose = _links(constraints)
    of_sample: IntArray = components(constraints.n_samples, np.ascontiguousarray(links))
    n_groups = int(of_sample.max()) + 1
    joined = np.sort(of_sample[firm], axis=1)
    joined = joined[joined[:, 0] != joined[:, 1]]
    keys = np.unique(joined[:, 0] * n_groups + joined[:, 1])
    group = of_sample[judged.samples]
    codes = _codes(judged)
    free = _decisions(judged).without(_within(group, codes))
    free = free.without(_across(group, n_groups, np.column_stack(np.divmod(keys, n_groups)), codes))
    soft = np.unique(np.sort(loose, axis=1), axis=0)
    ends = np.sort(of_sample[soft], axis=1)
    soft = soft[(ends[:, 0] != ends[:, 1]) & ~np.isin(ends[:, 0] * n_groups + ends[:, 1], keys)]
    place = np.full(constraints.n_samples, -1, dtype=np.intp)
    place[judged.samples] = np.arange(len(judged.samples))
    soft = place[soft]
    free = free.without(_one_by_one(soft[(soft >= 0).all(axis=1)], judged))
    if free.pairs == 0:
        other = hint(command="read the adjusted rand index, which counts all pairs", python="use `rand`")
        warnings.warn(
            "constrained_rand: the constraints decide every pair, so the index is nan.\n"
            f"Hint: {other}, or judge samples that are in fewer statements.",
            LinkwiseWarning,
            stacklevel=2,
        )
        return float("nan")
    return free.agreed / free.pairs
