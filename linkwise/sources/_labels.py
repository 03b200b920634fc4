"""Statements that follow from labels, drawn at random without listing all, and from a column of group names."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

from linkwise._random import make_generator
from linkwise._typing import IntArray
from linkwise._validation import read_choice, read_count, read_share
from linkwise._value_columns import number_values, read_known
from linkwise.constraints import Constraints
from linkwise.sources._kernels import pairs_in_runs
from linkwise.sources._random_ranks import MOST_RANKS, draw_ranks, share_out


class Classes(NamedTuple):
    """The labeled samples, class after class: class c is ``member[start[c]:start[c] + size[c]]``."""

    n_samples: int
    member: IntArray
    start: IntArray
    size: IntArray

    @property
    def end(self) -> IntArray:
        """End of each class among the labeled samples."""
        return self.start + self.size

    @property
    def of_place(self) -> IntArray:
        """The class of each labeled sample."""
        return np.repeat(np.arange(len(self.size)), self.size)


def read_classes(who: str, y: Any, unlabeled: Any) -> Classes:
    """Sort the labeled samples by class."""
    column, known = read_known(f"{who}: y", y, unlabeled)
    code, distinct = number_values(f"{who}: y", column, known)
    member = np.argsort(code, kind="stable")[len(code) - int(known.sum()) :].astype(np.intp)
    count = np.bincount(code[known], minlength=len(distinct)).astype(np.intp)
    return Classes(len(column), member, np.cumsum(count) - count, count)


def label_pairs(
    y: Any,
    m: int,
    random_state: Any = None,
    *,
    must_link_share: float | None = None,
    unlabeled: Any = -1,
    replace: bool = False,
    weight: Any = np.inf,
) -> Constraints:
    """Draw random pairs of labeled samples: must-links within a class, cannot-links between classes.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Class of each sample.
    m : int
        How many pairs.
    random_state : int, Generator or None
        Seed; the same seed gives the same pairs.
    must_link_share : float from 0 to 1, optional
        Share of the pairs (rounded to a whole number of them) that are of one class. By default any two samples are as
        likely as any other two, so with several classes most pairs are cannot-links.
    unlabeled : scalar, default=-1
        A value that means "not known"; None, NaN, pandas.NA and masked values always do.
    replace : bool, default=False
        Whether a pair may be drawn again.
    weight : float or array-like, default=inf
        Cost of breaking one statement (must-links first).

    Returns
    -------
    Constraints

    Notes
    -----
    Two distinct labeled points at random is how [1]_ and [2]_ (section 5.2) draw constraints; section 5.4 of [2]_
    tries all must-links, all cannot-links, half of each, and the proportion in the data. **Cost** O(n + m log m), a
    million pairs in about a second. **Guarantee** every set of m pairs (given the share) is equally likely.

    References
    ----------
    .. [1] S. Basu, I. Davidson, "Clustering with Constraints", tutorial.
    .. [2] D. Klein, S. D. Kamvar, C. D. Manning, "From Instance-level Constraints to Space-Level Constraints",
       ICML 2002.

    Examples
    --------
    >>> from linkwise.sources import label_pairs
    >>> label_pairs([0, 0, 0, 1, 1, -1], 10, random_state=0)
    Constraints(6 samples: 4 must-links, 6 cannot-links; all hard)
    >>> label_pairs([0, 0, 0, 1, 1, -1], 4, random_state=0, must_link_share=0.5)
    Constraints(6 samples: 2 must-links, 2 cannot-links; all hard)
    """
    m, rng = read_count(m, "m", "label_pairs"), make_generator(random_state)
    classes = read_classes("label_pairs", y, unlabeled)
    n = len(classes.member)
    if must_link_share is None:
        rank = draw_ranks(rng, "label_pairs", "pairs of labeled samples", n * (n - 1) // 2, m, replace)
        whole = np.zeros(1, dtype=np.intp)
        places = pairs_in_runs(whole, np.array([n], dtype=np.intp), whole, rank)
        of_place = classes.of_place
        same = of_place[places[:, 0]] == of_place[places[:, 1]]
        together, apart = places[same], places[~same]
    else:
        wanted = read_share(must_link_share, "must_link_share", "label_pairs", m)
        together = pairs_of_one_class(rng, classes, wanted, replace, "label_pairs")
        apart = _pairs_of_two_classes(rng, classes, m - wanted, replace)
    return Constraints.build(
        classes.n_samples, must_link=classes.member[together], cannot_link=classes.member[apart], weight=weight
    )


def pairs_of_one_class(rng: np.random.Generator, classes: Classes, m: int, replace: bool, who: str) -> IntArray:
    """Draw pairs of places of one class, each pair equally likely."""
    pairs = classes.size * (classes.size - 1) // 2
    rank = draw_ranks(rng, who, "pairs of one class", int(pairs.sum()), m, replace)
    if not m:
        return np.empty((0, 2), dtype=np.intp)
    return pairs_in_runs(classes.start, classes.size, np.cumsum(pairs) - pairs, rank)  # type: ignore[no-any-return]


def _pairs_of_two_classes(rng: np.random.Generator, classes: Classes, m: int, replace: bool) -> IntArray:
    later = len(classes.member) - classes.end
    upto = np.cumsum(classes.size * later)
    total = int(upto[-1]) if len(upto) else 0
    rank = draw_ranks(rng, "label_pairs", "pairs of two classes", total, m, replace)
    if not m:
        return np.empty((0, 2), dtype=np.intp)
    c = np.searchsorted(upto, rank, side="right")
    first, second = np.divmod(rank - (upto[c] - classes.size[c] * later[c]), later[c])
    return np.column_stack([classes.start[c] + first, classes.end[c] + second])


def label_triplets_sample(
    y: Any,
    m: int,
    random_state: Any = None,
    *,
    balance: Literal["triplets", "classes"] = "triplets",
    unlabeled: Any = -1,
    replace: bool = False,
    weight: Any = np.inf,
) -> Constraints:
    """Draw triplets ab|c at random with a and b of one class and c of another.

    Parameters
    ----------
    y, m, random_state, unlabeled, replace, weight
        As in `label_pairs`.
    balance : {"triplets", "classes"}, default="triplets"
        "triplets": every triplet is equally likely, so large classes give most of the pairs. "classes": the class of
        the pair is drawn first, each as likely as another until its triplets are used up, then the triplet.

    Returns
    -------
    Constraints

    Raises
    ------
    LinkwiseError
        More triplets are wanted than there are; none exist when no class has two members or there is only one class.

    Notes
    -----
    [1]_, section 5.1, draws "a, b from the same cluster and c from a different" one; [2]_, section VI-C, three samples
    from two classes. Three such samples make one triplet, so with ``balance="triplets"`` both are this function.
    **Cost** O(n + m log m), a million triplets in about a second. **Guarantee** every set of m triplets is equally
    likely with ``balance="triplets"``, and given how many fall to each class with ``balance="classes"``.

    References
    ----------
    .. [1] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with Relative Constraints", KDD 2011.
    .. [2] L. Zheng, T. Li, "Semi-supervised Hierarchical Clustering", ICDM 2011.

    See Also
    --------
    Taxonomy.sample_triplets : the same from a hierarchy of classes.

    Examples
    --------
    >>> from linkwise.sources import label_triplets_sample
    >>> label_triplets_sample([0, 0, 0, 1, -1], 3, random_state=0).items.tolist()
    [[1, 2, 3], [0, 1, 3], [0, 2, 3]]
    """
    m, rng = read_count(m, "m", "label_triplets_sample"), make_generator(random_state)
    read_choice(balance, "balance", "label_triplets_sample", ("triplets", "classes"))
    classes = read_classes("label_triplets_sample", y, unlabeled)
    pairs = classes.size * (classes.size - 1) // 2
    others = len(classes.member) - classes.size
    total = sum(p * o for p, o in zip(pairs.tolist(), others.tolist(), strict=True))
    what = "triplets of two samples of one class and one of another"
    if balance == "triplets" or total > MOST_RANKS:
        rank = draw_ranks(rng, "label_triplets_sample", what, total, m, replace)
    else:
        rank = _ranks_by_class(rng, what, pairs * others, m, replace)
    if not m:
        return Constraints.build(classes.n_samples)
    upto = np.cumsum(pairs * others)
    c = np.searchsorted(upto, rank, side="right")
    pair, third = np.divmod(rank - (upto[c] - pairs[c] * others[c]), others[c])
    before = np.cumsum(pairs) - pairs
    ends = pairs_in_runs(classes.start, classes.size, before, before[c] + pair)
    third += np.where(third >= classes.start[c], classes.size[c], 0)  # step over the class itself
    rows = classes.member[np.column_stack([ends, third])]
    return Constraints.build(classes.n_samples, triplets=rows, weight=weight)


def _ranks_by_class(rng: np.random.Generator, what: str, each: IntArray, m: int, replace: bool) -> IntArray:
    """Draw ranks so that every class is equally likely until its triplets are used up."""
    stock = np.where(each > 0, m, 0) if replace else each
    if int(stock.sum()) < m:
        draw_ranks(rng, "label_triplets_sample", what, int(each.sum()), m, replace)  # raises
    count = share_out(rng, m, stock)
    before = np.cumsum(each) - each
    parts = [
        before[c] + draw_ranks(rng, "label_triplets_sample", what, int(each[c]), int(count[c]), replace)
        for c in np.flatnonzero(count).tolist()
    ]
    return rng.permutation(np.concatenate(parts)) if parts else np.empty(0, dtype=np.intp)


def groups(
    names: Any,
    *,
    say: Literal["links", "together", "apart"] = "links",
    unlabeled: Any = None,
    weight: Any = np.inf,
) -> Constraints:
    """State that the samples of each group belong together (*chunklets*), or that no two of them do.

    Parameters
    ----------
    names : array-like of shape (n_samples,)
        Name of the group each sample is in.
    say : {"links", "together", "apart"}, default="links"
        "links": a chain of must-links through each group, in the order of its samples. "together": one statement per
        group. "apart": one statement per group that no two of its samples share a cluster. There are no
        statements between groups.
    unlabeled : scalar, default=None
        A value that means "in no group"; None, NaN, pandas.NA and masked values always do.
    weight : float or array-like, default=inf
        Cost of breaking one statement.

    Returns
    -------
    Constraints

    Notes
    -----
    Labels of classes also keep samples of different classes apart; use `Constraints.from_labels` for them.
    Hard links and hard groups together mean the same. Soft ones do not: a chain charges for every link that is broken,
    so a group torn in two may cost its weight once or several times; a group costs its weight once, however it is torn.
    **Cost** O(n log n); a group of g samples takes g - 1 links or one statement.

    See Also
    --------
    Constraints.from_groups : the group statements without the links.

    Examples
    --------
    >>> from linkwise.sources import groups
    >>> groups(["scan 1", "scan 2", None, "scan 1", "scan 1"]).items[:, :2].tolist()
    [[0, 3], [3, 4]]
    >>> groups(["photo 1", "photo 1", None, "photo 2"], say="apart").describe(0)
    '#0 apart(0, 1)'
    """
    read_choice(say, "say", "groups", ("links", "together", "apart"))
    classes = read_classes("groups", names, unlabeled)
    if say != "links":
        code = np.full(classes.n_samples, -1, dtype=np.intp)
        code[classes.member] = classes.of_place
        return Constraints.from_groups(code, say=say, unlabeled=-1, weight=weight)
    linked = np.ones(len(classes.member), dtype=np.bool_)
    linked[classes.start] = False
    second = np.flatnonzero(linked)
    chain = np.column_stack([classes.member[second - 1], classes.member[second]])
    return Constraints.build(classes.n_samples, must_link=chain, weight=weight)
