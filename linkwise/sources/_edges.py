"""Must-links from weighted pairs: lists of interactions, and items that occur together in a log."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import FloatArray, IntArray
from linkwise._validation import read_number, warn_user
from linkwise._value_columns import is_missing, number_values, read_column
from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError

_MOST_PAIRS = 50_000_000


def from_edges(
    first: Any,
    second: Any,
    strength: Any = None,
    *,
    ids: Any,
    threshold: float = 0.0,
    hard_from: float = np.inf,
    scale: float = 1.0,
) -> Constraints:
    """Must-link pairs of a list of interactions that are strong enough, softly by their strength or as facts.

    Parameters
    ----------
    first, second : array-like of shape (n_edges,)
        The identifiers of the two ends of each edge, in any order.
    strength : array-like of shape (n_edges,), optional
        Confidence, score or count of each edge, at least 0; by default 1. Edges between the same ends add up.
    ids : array-like of shape (n_samples,)
        The identifier of each sample. Edges with an end that is not among them are left out.
    threshold : float, default=0.0
        Pairs with a total strength up to this are left out.
    hard_from : float, default=inf
        Pairs with a total strength of at least this are hard must-links.
    scale : float, default=1.0
        The weight of any other pair is its total strength times this.

    Returns
    -------
    Constraints
        One must-link per pair, in the order of the samples.

    Notes
    -----
    The tutorial [1]_ takes must-links between genes from databases of interacting proteins. Such lists name more genes
    than a data set has, so edges to others are left out; if that leaves none, there is a warning. An edge from
    a sample to itself holds in any clustering and is left out as well. **Cost** O(m log m) for m edges.

    References
    ----------
    .. [1] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    See Also
    --------
    from_co_occurrence : the same from a log of items that occur together.

    Examples
    --------
    >>> from linkwise.sources import from_edges
    >>> genes = ["CLN2", "CDC28", "ACT1"]
    >>> found = from_edges(["CLN2", "CDC28", "ACT1"], ["CDC28", "CLN2", "MYO2"], [0.5, 0.25, 0.9], ids=genes)
    >>> found.items[:, :2].tolist(), found.weight.tolist()
    ([[0, 1]], [0.75])
    """
    who = "from_edges"
    names = read_column(f"{who}: ids", ids)
    ends = [read_column(f"{who}: {word}", given) for word, given in (("first", first), ("second", second))]
    if len(ends[0]) != len(ends[1]):
        msg = f"{who}: first has {len(ends[0]):,} entries and second {len(ends[1]):,}, expected one each per edge."
        raise LinkwiseError(msg)
    value = _read_strength(strength, len(ends[0]))
    place = places_of(who, names)
    a, b = (np.array([place.get(name, -1) for name in end.tolist()], dtype=np.intp) for end in ends)
    kept = (a >= 0) & (b >= 0) & (a != b)
    if len(a) and not ((a >= 0) & (b >= 0)).any():
        warn_user(f"{who}: no edge has both ends among the {len(names):,} ids, so there are no statements.")
    low, high = np.minimum(a, b)[kept], np.maximum(a, b)[kept]
    key, inverse = np.unique(low * max(len(names), 1) + high, return_inverse=True)
    total = np.bincount(inverse.ravel(), value[kept], minlength=len(key)).astype(np.float64)
    pairs = np.column_stack(np.divmod(key, max(len(names), 1)))
    return _must_links(who, pairs, total, names, threshold, hard_from, scale)


def from_co_occurrence(
    context: Any,
    item: Any,
    *,
    ids: Any,
    threshold: float = 1.0,
    hard_from: float = np.inf,
    scale: float = 1.0,
) -> Constraints:
    """Must-link items that occur in the same contexts of a log, such as pages clicked for the same query.

    Parameters
    ----------
    context : array-like of shape (n_entries,)
        The query, session, basket or document of each entry of the log; missing values are left out.
    item : array-like of shape (n_entries,)
        The identifier of the sample that occurs there; an item counts once for each context.
    ids : array-like of shape (n_samples,)
        The identifier of each sample. Items that are not among them are left out.
    threshold : float, default=1.0
        Pairs that share up to this many contexts are left out: one may be chance.
    hard_from : float, default=inf
        Pairs that share at least this many contexts are hard must-links.
    scale : float, default=1.0
        The weight of any other pair is its number of contexts times this.

    Returns
    -------
    Constraints
        One must-link per pair, in the order of the samples.

    Notes
    -----
    The tutorial [1]_ names co-occurrence in query logs as a source of must-links between documents. **Cost** that of
    the pairs that share a context; more than fifty million pairs in the contexts together are refused.

    References
    ----------
    .. [1] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, KDD 2006.

    Examples
    --------
    >>> from linkwise.sources import from_co_occurrence
    >>> query, page = ["otter", "otter", "mink", "mink", "mink"], ["a", "b", "a", "b", "c"]
    >>> found = from_co_occurrence(query, page, ids=["a", "b", "c"])
    >>> found.items[:, :2].tolist(), found.weight.tolist()
    ([[0, 1]], [2.0])
    """
    from scipy.sparse import csr_array, triu

    who = "from_co_occurrence"
    names = read_column(f"{who}: ids", ids)
    where, what = read_column(f"{who}: context", context), read_column(f"{who}: item", item)
    if len(where) != len(what):
        msg = f"{who}: context has {len(where):,} entries and item {len(what):,}, expected one each per entry."
        raise LinkwiseError(msg)
    place = places_of(who, names)
    known = ~is_missing(where)
    row = number_values(f"{who}: context", where, known)[0]
    column = np.array([place.get(name, -1) for name in what.tolist()], dtype=np.intp)
    kept = known & (column >= 0)
    if len(column) and not kept.any():
        warn_user(f"{who}: no entry names one of the {len(names):,} ids, so there are no statements.")
    entries = np.unique(np.column_stack([row[kept], column[kept]]), axis=0)
    size = np.bincount(entries[:, 0]) if len(entries) else np.zeros(0, dtype=np.intp)
    if int((size * (size - 1) // 2).sum()) > _MOST_PAIRS:
        msg = (
            f"{who}: the contexts hold {int((size * (size - 1) // 2).sum()):,} pairs of items, expected at most "
            f"{_MOST_PAIRS:,}.\nHint: leave contexts with very many items out."
        )
        raise LinkwiseError(msg)
    shape = (len(size), len(names))
    table = csr_array((np.ones(len(entries), dtype=np.int64), (entries[:, 0], entries[:, 1])), shape=shape)
    shared = triu(table.T @ table, k=1).tocsr().tocoo()
    pairs = np.column_stack([shared.row, shared.col]).astype(np.intp)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    total = shared.data[order].astype(np.float64)
    return _must_links(who, pairs[order], total, names, threshold, hard_from, scale)


def places_of(who: str, names: npt.NDArray[Any]) -> dict[Any, int]:
    """Return the number of each identifier, which are all different."""
    place = {name: i for i, name in enumerate(names.tolist())}
    if len(place) < len(names):
        msg = f"{who}: ids holds {len(names) - len(place):,} repeats, expected a different identifier for each sample."
        raise LinkwiseError(msg)
    return place


def _read_strength(strength: Any, m: int) -> FloatArray:
    if strength is None:
        return np.ones(m)
    try:
        value = np.asarray(strength, dtype=np.float64)
    except (TypeError, ValueError) as bad:
        msg = f"from_edges: strength does not hold numbers ({bad}), expected one number per edge."
        raise LinkwiseError(msg) from bad
    if value.shape != (m,):
        msg = f"from_edges: strength has shape {value.shape}, expected one number for each of the {m:,} edges."
        raise LinkwiseError(msg)
    wrong = ~(np.isfinite(value) & (value >= 0))
    if wrong.any():
        at = int(np.argmax(wrong))
        msg = f"from_edges: edge {at} has the strength {value[at]}, expected a finite number of at least 0."
        raise LinkwiseError(msg)
    return value


def _must_links(
    who: str,
    pairs: IntArray,
    total: FloatArray,
    names: npt.NDArray[Any],
    threshold: Any,
    hard_from: Any,
    scale: Any,
) -> Constraints:
    """Keep the pairs above the threshold; hard ones from ``hard_from`` on, the others by strength."""
    above = total > read_number(threshold, "threshold", who)
    certain = read_number(hard_from, "hard_from", who, finite=False, note=" (inf for none)")
    factor = read_number(scale, "scale", who)
    pairs, total = pairs[above], total[above]
    weight = np.where(total >= certain, np.inf, factor * total)
    return Constraints.from_ids(names, must_link=names[pairs], weight=weight)
