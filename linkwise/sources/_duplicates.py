"""Must-links between duplicates: equal rows, and rows closer than a given distance."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise._kernels.disjoint_set import make
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import read_number, require_finite
from linkwise.constraints import TREE_NORMS, Constraints, close_pairs, read_data
from linkwise.exceptions import LinkwiseError
from linkwise.sources._kernels import span

_MOST_PAIRS = 50_000_000


def duplicates(X: Any, *, weight: Any = np.inf) -> Constraints:
    """Must-link samples whose rows are equal.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Samples.
    weight : float or array-like, default=inf
        Cost of breaking one must-link.

    Returns
    -------
    Constraints
        A chain of must-links through each set of equal rows, in the order of the samples.

    Notes
    -----
    **Cost** O(n log n) comparisons of rows. 0.0 and -0.0 are equal; NaN is refused.

    Examples
    --------
    >>> from linkwise.sources import duplicates
    >>> duplicates([[1, 2], [3, 4], [1, 2], [1, 2]]).items[:, :2].tolist()
    [[0, 2], [2, 3]]
    """
    data = _read_finite("duplicates", X, "euclidean")
    return Constraints.build(len(data), must_link=_chains(_equal_rows(data)), weight=weight)


def _read_finite(who: str, X: Any, metric: str) -> FloatArray:
    try:
        data = read_data(X, metric)
    except (TypeError, ValueError) as bad:
        if isinstance(bad, LinkwiseError):
            raise
        msg = f"{who}: X does not hold numbers ({bad}), expected a table of numbers."
        raise LinkwiseError(msg) from bad
    require_finite(data, X, who=who)
    return data + 0.0  # -0.0 becomes 0.0, so that equal rows have equal bytes


def _equal_rows(data: FloatArray) -> IntArray:
    """Number equal rows alike."""
    if not data.size:
        return np.zeros(len(data), dtype=np.intp)
    whole = np.ascontiguousarray(data).view(np.dtype((np.void, data.shape[1] * data.itemsize)))[:, 0]
    _, group = np.unique(whole, return_inverse=True)
    return group.astype(np.intp)


def _chains(group: IntArray) -> IntArray:
    order = np.argsort(group, kind="stable")
    same = group[order[1:]] == group[order[:-1]]
    chain = np.column_stack([order[:-1][same], order[1:][same]])
    return chain[np.argsort(chain[:, 1], kind="stable")]


def near_duplicates(X: Any, delta: float, *, metric: str = "euclidean", weight: Any = np.inf) -> Constraints:
    """Must-link samples closer than ``delta``, with the fewest statements that entail all such pairs.

    Parameters
    ----------
    X, delta, metric
        As in `linkwise.problem.must_links_within`: pairs at exactly this distance are not linked.
    weight : float or array-like, default=inf
        Cost of breaking one must-link.

    Returns
    -------
    Constraints
        A spanning forest: each linked pair is closer than ``delta``, and every pair that close is joined by links.

    Notes
    -----
    Must-link is transitive, so the rule that clusters are at least ``delta`` apart (`MinSeparation`; [1]_) amounts to
    these n - 1 statements at most. **Cost** a search tree for up to 20 features, else all distances in slices; equal
    rows are joined first, and more than fifty million close pairs of the others are refused. With soft weights the
    links of the forest do not cost the same as all close pairs.

    References
    ----------
    .. [1] S. Basu, I. Davidson, "Clustering with Constraints", tutorial.

    Examples
    --------
    >>> from linkwise.sources import near_duplicates
    >>> near_duplicates([[0.0], [5.0], [0.3], [0.1]], 0.25).items[:, :2].tolist()
    [[0, 3], [2, 3]]
    """
    data = _read_finite("near_duplicates", X, metric)
    reach = read_number(delta, "delta", "near_duplicates")
    if metric not in TREE_NORMS or reach == 0:
        return Constraints.build(len(data), must_link=_forest(data, reach, metric), weight=weight)
    group = _equal_rows(data)
    _, first = np.unique(group, return_index=True)
    first = np.sort(first)
    _refuse_many(data[first], reach, metric)
    links = np.concatenate([_chains(group), first[_forest(data[first], reach, metric)]])
    return Constraints.build(len(data), must_link=links[np.lexsort((links[:, 1], links[:, 0]))], weight=weight)


def _forest(data: FloatArray, delta: float, metric: str) -> IntArray:
    sets = make(len(data))
    kept = [np.empty((0, 2), dtype=np.intp)]
    for pairs, distance in close_pairs(data, delta, metric):
        near = pairs[distance < delta]
        kept.append(near[span(sets, near)])
    links = np.concatenate(kept)
    return links[np.lexsort((links[:, 1], links[:, 0]))]


def _refuse_many(data: FloatArray, delta: float, metric: str) -> None:
    """Refuse too many close pairs before they are listed; a search tree counts far faster than it lists."""
    from scipy.spatial import cKDTree

    tree = cKDTree(data)
    total = (int(tree.count_neighbors(tree, delta, p=TREE_NORMS[metric])) - len(data)) // 2
    if total > _MOST_PAIRS:
        msg = (
            f"near_duplicates: {total:,} pairs are closer than {delta:g}, expected at most {_MOST_PAIRS:,}.\n"
            "Hint: lower `delta`; duplicates are much closer than most pairs of samples."
        )
        raise LinkwiseError(msg)
