"""Statements drawn from a truth, for all studies."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise._typing import BoolArray
from linkwise._validation import read_share
from linkwise._value_columns import rank_values, read_column, read_known
from linkwise.constraints import Constraints, Kind
from linkwise.exceptions import LinkwiseError
from linkwise.result import verify
from linkwise.sources import Taxonomy, draw_ranks, flip, label_pairs, label_triplets_sample

KINDS = ("none", "must_link", "cannot_link", "pairs", "triplets", "informative", "taxonomy", "labels")
_MUST_LINK_SHARE = {"must_link": 1.0, "cannot_link": 0.0, "pairs": None}


class Told(NamedTuple):
    """Statements, and which of them are untrue."""

    constraints: Constraints
    wrong: BoolArray


def knowledge(
    y: Any, kind: str, amount: int, noise: float = 0.0, seed: Any = None, *, taxonomy: Taxonomy | None = None
) -> Constraints:
    """Draw statements that are true of known classes or of a taxonomy, and make some of them wrong.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The class of each sample; -1, None or NaN where it is not known.
    kind : {"none", "must_link", "cannot_link", "pairs", "triplets", "informative", "taxonomy", "labels"}
        ``"pairs"`` are random pairs with whatever is true of them. ``"triplets"`` have two samples of one class and one
        of another; ``"informative"`` are those of one set of (k - 1)(n - k) triplets that together say what all k
        classes are, as in [1]_, section 5.2. ``"taxonomy"`` are triplets of the taxonomy, whatever the classes.
        ``"labels"`` is everything that follows from the classes of ``amount`` random samples.
    amount : int
        How many different statements; for ``"labels"`` how many samples.
    noise : float, default=0.0
        Share of the statements (or labels) made wrong, rounded to a whole number of them.
    seed : None, int or numpy.random.Generator
        Where chance comes from.
    taxonomy : Taxonomy, optional
        The tree ``"taxonomy"`` draws from, with the samples on it, as in ``Data.taxonomy``.

    Returns
    -------
    Constraints
        Hard statements.

    Raises
    ------
    LinkwiseError
        The truth does not give that many different statements, or there is no taxonomy.

    See Also
    --------
    linkwise.sources : what draws them, and more sources than a study has kinds.

    Notes
    -----
    **Cost** O(n log n + amount log amount), and O(n k) for informative triplets. **Guarantee** all true statements of
    the kind are equally likely.

    References
    ----------
    .. [1] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with Relative Constraints", KDD 2011.

    Examples
    --------
    >>> from linkwise.datasets import noisy_taxonomy
    >>> from studies.experiments import knowledge
    >>> knowledge([0, 0, 0, 1, 1, 1], "must_link", 4, noise=0.25, seed=0)
    Constraints(6 samples: 3 must-links, 1 cannot-link; all hard)
    >>> data = noisy_taxonomy(40, random_state=0)
    >>> knowledge(data.y, "taxonomy", 10, seed=0, taxonomy=data.taxonomy)
    Constraints(40 samples: 10 triplets; all hard)
    """
    return draw(y, kind, amount, noise, seed, taxonomy).constraints


def draw(y: Any, kind: str, amount: int, noise: float, seed: Any, taxonomy: Taxonomy | None) -> Told:
    """Do what `knowledge` says, and tell which statements are wrong."""
    rng = np.random.default_rng(seed)
    if kind not in KINDS:
        msg = f"knowledge of kind {kind!r} is not known; expected one of {', '.join(KINDS)}."
        raise LinkwiseError(msg)
    if kind == "none":
        return Told(Constraints.build(np.shape(y)[0]), np.zeros(0, dtype=np.bool_))
    if kind == "labels":
        return _labels(y, amount, noise, rng)
    if kind == "taxonomy":
        if taxonomy is None:
            msg = "knowledge of kind 'taxonomy' needs a taxonomy, and there is none.\nHint: 'triplets' needs only y."
            raise LinkwiseError(msg)
        said = taxonomy.sample_triplets(amount, rng)
    elif kind == "informative":
        said = _informative(y, amount, rng)
    elif kind == "triplets":
        said = label_triplets_sample(y, amount, rng)
    else:
        said = label_pairs(y, amount, rng, must_link_share=_MUST_LINK_SHARE[kind])
    return Told(*flip(said, noise, rng))


def _informative(y: Any, amount: int, rng: np.random.Generator) -> Constraints:
    """Draw from the triplets that carry all others; chance decides which samples stand for their classes."""
    column = read_column("knowledge: y", y)
    order = rng.permutation(len(column))
    rows = Taxonomy.from_levels([column[order]]).triplets(minimal=True).of(Kind.TRIPLET)
    rank = draw_ranks(rng, "knowledge", "informative triplets", len(rows), amount, replace=False)
    return Constraints.build(len(column), triplets=order[rows[rank]])


def _labels(y: Any, amount: int, noise: float, rng: np.random.Generator) -> Told:
    """Reveal the classes of some samples, a share of them another class than the true one."""
    labels, is_known = read_known("knowledge: y", y, -1)
    known = np.flatnonzero(is_known)
    every, names = rank_values("knowledge: y", labels, is_known)
    code = every[known]
    rank = draw_ranks(rng, "knowledge", "labels", len(known), amount, replace=False)
    wrong = rank[: read_share(noise, "noise", "knowledge", amount)]
    if len(wrong) and len(names) < 2:
        msg = "knowledge: wrong labels need a second class, but y has only one."
        raise LinkwiseError(msg)
    told = np.full(len(labels), -1, dtype=np.intp)
    told[known[rank]] = code[rank]
    told[known[wrong]] = (code[wrong] + rng.integers(1, max(len(names), 2), size=len(wrong))) % max(len(names), 1)
    said = Constraints.from_labels(told)
    truth = np.zeros(len(labels), dtype=np.intp)
    truth[known] = code
    return Told(said, ~verify(truth, said).held)
