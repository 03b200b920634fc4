"""Constraints made from time and place: contiguous points of a trace, and points too far apart across a road."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._kernels.disjoint_set import components
from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise._validation import read_number
from linkwise._value_columns import is_missing, number_values, read_column
from linkwise.constraints import Constraints, require_constraints
from linkwise.exceptions import LinkwiseError
from linkwise.sources._kernels import count_separated, list_separated

_MOST_PAIRS = 5_000_000


def contiguity(time: Any, trace: Any = None, *, max_gap: Any, breaks: Any = None, weight: Any = np.inf) -> Constraints:
    """Must-link consecutive points of a trace, unless too much time or a marked change lies between them.

    Parameters
    ----------
    time : array-like of shape (n_samples,)
        When each point was taken: numbers, or dates and times. Rows need not be in order.
    trace : array-like of shape (n_samples,), optional
        The trace (car, run, recording) each point belongs to; None or NaN for a point of no trace. By default all
        points are one trace.
    max_gap : number or timedelta
        The longest time between two consecutive points that are linked; inf for no limit.
    breaks : array-like of bool of shape (n_samples,), or mapping from trace to times, optional
        Known changes. True at a point means between it and the point before it; a time t means between the last point
        before t and the first at or after it.
    weight : float or array-like, default=inf
        Cost of breaking one must-link.

    Returns
    -------
    Constraints
        Chains of must-links, at most one per point.

    Notes
    -----
    The lane-finding example of [1]_ infers must-links from *trace contiguity*: a car that is not seen to change lane
    stays in it; the lane it changes to is not known, so a change adds no statement. **Cost** O(n log n).

    References
    ----------
    .. [1] S. Basu, I. Davidson, "Clustering with Constraints", tutorial, after
       K. Wagstaff, C. Cardie, S. Rogers, S. Schroedl, "Constrained K-means Clustering with Background Knowledge",
       ICML 2001.

    See Also
    --------
    max_separation : the cannot-links of the same example.

    Examples
    --------
    >>> from linkwise.sources import contiguity
    >>> contiguity([0, 1, 2, 9, 3], max_gap=2, breaks=[False, False, True, False, False]).items[:, :2].tolist()
    [[0, 1], [2, 4]]
    """
    when = _read_times(time)
    n = len(when)
    if trace is None:
        code, known, names = np.zeros(n, dtype=np.intp), np.ones(n, dtype=np.bool_), np.empty(0)
    else:
        column = read_column("contiguity: trace", trace)
        if len(column) != n:
            msg = f"contiguity: time has {n} entries and trace {len(column)}, expected equal lengths."
            raise LinkwiseError(msg)
        known = ~is_missing(column, empty=False)
        code, names = number_values("contiguity: trace", column, known)
    order = np.lexsort((when, code)).astype(np.intp)
    order = order[known[order]]
    first, second = order[:-1], order[1:]
    linked = (code[first] == code[second]) & (when[second] - when[first] <= _read_gap(max_gap, when))
    if breaks is not None:
        linked &= ~_broken(breaks, when, code, names, order)[1:]
    chain = np.column_stack([first[linked], second[linked]])
    return Constraints.build(n, must_link=chain, weight=weight)


def _read_times(values: Any) -> npt.NDArray[Any]:
    when = read_column("contiguity: time", values)
    if when.dtype.kind == "O" and all(isinstance(value, (dt.date, np.datetime64)) for value in when):
        when = when.astype("datetime64[us]")
    if when.dtype.kind not in "iufmM":
        msg = f"contiguity: time holds {when.dtype} values, expected numbers or dates and times."
        raise LinkwiseError(msg)
    wrong = is_missing(when) | (np.isinf(when) if when.dtype.kind == "f" else False)
    if np.any(wrong):
        sample = int(np.argmax(wrong))
        msg = f"contiguity: sample {sample} has the time {when[sample]}, expected a finite one."
        raise LinkwiseError(msg)
    return when.astype(np.float64) if when.dtype.kind == "u" else when


def _read_gap(max_gap: Any, when: npt.NDArray[Any]) -> Any:
    if when.dtype.kind in "mM":
        if isinstance(max_gap, (dt.timedelta, np.timedelta64)) and np.timedelta64(max_gap) >= np.timedelta64(0):
            return np.timedelta64(max_gap)
        msg = f"contiguity: max_gap is {max_gap!r}, expected a timedelta >= 0.\nHint: `np.timedelta64(5, 's')`."
        raise LinkwiseError(msg)
    return read_number(max_gap, "max_gap", "contiguity", finite=False, note=" (inf for no limit)")


def _broken(breaks: Any, when: npt.NDArray[Any], code: IntArray, names: npt.NDArray[Any], order: IntArray) -> BoolArray:
    """Return for every point in trace order whether a change lies between it and the one before."""
    if not isinstance(breaks, Mapping):
        marked = read_column("contiguity: breaks", breaks)
        if marked.dtype.kind != "b" or len(marked) != len(when):
            msg = (
                f"contiguity: breaks holds {len(marked)} values of type {marked.dtype}, expected True or False for "
                f"each of the {len(when)} samples.\nHint: give times as a mapping from trace to times."
            )
            raise LinkwiseError(msg)
        return np.asarray(marked[order])
    at = np.zeros(len(order), dtype=np.bool_)
    start = np.searchsorted(code[order], np.arange(len(names) + 1))
    number = {name: i for i, name in enumerate(names.tolist())}
    for name, times in breaks.items():
        if name not in number:
            msg = f"contiguity: breaks names the trace {name!r}, which has no points."
            raise LinkwiseError(msg)
        run = slice(start[number[name]], start[number[name] + 1])
        changes = np.asarray(times, dtype=when.dtype if when.dtype.kind in "mM" else np.float64)
        there = run.start + np.searchsorted(when[order[run]], changes, side="left")
        at[there[there < run.stop]] = True
    return at


def max_separation(
    position: Any,
    limit: float,
    *,
    along: Any = None,
    window: float | None = None,
    given: Constraints | None = None,
    weight: Any = np.inf,
) -> Constraints:
    """Cannot-link points that are further apart across the road than one cluster is wide.

    Parameters
    ----------
    position : array-like of shape (n_samples,)
        Place across the road.
    limit : float
        Points more than this apart are cannot-linked.
    along : array-like of shape (n_samples,), optional
        Place along the road, or time.
    window : float, optional
        With ``along``: compare only points at most this far apart along the road, where the road may bend.
    given : Constraints, optional
        Other constraints; one cannot-link serves all samples that their hard must-links and groups join.
    weight : float or array-like, default=inf
        Cost of breaking one cannot-link.

    Returns
    -------
    Constraints

    Notes
    -----
    The lane-finding example of [1]_ infers cannot-links from *maximum separation*. Cannot-links do not follow from each
    other, so all pairs too far apart are needed, and their number grows with the square of n. Only those
    that must-links entail may be left out: with ``given`` (for example the result of `contiguity`) there is one
    cannot-link per pair of joined groups of which any two members are too far apart. A group that is
    itself wider than ``limit`` gets a cannot-link inside, so that `check` finds and explains the contradiction.

    **Cost** O(n log n) and the pairs listed, at most five million; with ``window`` also the pairs inside the window.

    References
    ----------
    .. [1] S. Basu, I. Davidson, "Clustering with Constraints", tutorial; see `contiguity`.

    Examples
    --------
    >>> from linkwise.sources import contiguity, max_separation
    >>> across = [0.1, 0.0, 0.2, 5.0, 5.1]
    >>> max_separation(across, 3.0)
    Constraints(5 samples: 6 cannot-links; all hard)
    >>> lanes = contiguity([0, 1, 2, 3, 4], ["car 1"] * 3 + ["car 2"] * 2, max_gap=1)
    >>> max_separation(across, 3.0, given=lanes).items[:, :2].tolist()
    [[1, 4]]
    """
    across = _read_places("position", position)
    n = len(across)
    widest = read_number(limit, "limit", "max_separation")
    group = _groups_of(given, n)
    if along is None and window is None:
        pairs = _wide_apart(across, widest) if group is None else _groups_apart(across, widest, group)
    elif along is None or window is None:
        msg = "max_separation got one of along and window, expected both or none."
        raise LinkwiseError(msg)
    else:
        pairs = _apart_in_window(across, widest, _read_places("along", along, n), window, group)
    return Constraints.build(n, cannot_link=pairs, weight=weight)


def _read_places(name: str, values: Any, n: int | None = None) -> FloatArray:
    try:
        place = read_column(f"max_separation: {name}", values).astype(np.float64)
    except (TypeError, ValueError) as bad:
        if isinstance(bad, LinkwiseError):
            raise
        msg = f"max_separation: {name} does not hold numbers, expected one per sample."
        raise LinkwiseError(msg) from bad
    if n is not None and len(place) != n:
        msg = f"max_separation: {name} has {len(place)} entries, expected one for each of the {n} samples."
        raise LinkwiseError(msg)
    if not np.isfinite(place).all():
        sample = int(np.argmin(np.isfinite(place)))
        msg = f"max_separation: sample {sample} has the {name} {place[sample]}, expected a finite number."
        raise LinkwiseError(msg)
    return place


def _groups_of(given: Constraints | None, n: int) -> IntArray | None:
    if given is None:
        return None
    require_constraints(given, "max_separation", n, of="position")
    pairs, statement = given.must_links()
    return components(n, np.ascontiguousarray(pairs[given.is_hard[statement]]))  # type: ignore[no-any-return]


def _refuse_many(total: int, hint: str) -> None:
    if total > _MOST_PAIRS:
        msg = f"max_separation needs {total:,} cannot-links, expected at most {_MOST_PAIRS:,}.\nHint: {hint}"
        raise LinkwiseError(msg)


def _wide_apart(across: FloatArray, limit: float) -> IntArray:
    """Return all pairs more than ``limit`` apart; the difference decides, so that rounding is the same everywhere."""
    order = np.argsort(across, kind="stable")
    place = across[order]
    first = _first_beyond(place, place, limit)
    count = len(place) - first
    _refuse_many(
        int(count.sum()), "pass must-links with `given=contiguity(...)`, or compare within `window=` along the road."
    )
    left = np.repeat(np.arange(len(place)), count)
    right = np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count) + first[left]
    return np.column_stack([order[left], order[right]])


def _first_beyond(low: FloatArray, high: FloatArray, limit: float) -> IntArray:
    """Return for every ``low`` the first position in sorted ``high`` with high - low > limit, as rounded."""
    first = np.searchsorted(high, low + limit, side="right")
    while True:  # low + limit and high - low may round differently, by a step or two
        early = (first > 0) & (high[first - 1] - low > limit)
        late = (first < len(high)) & ~(high[np.minimum(first, len(high) - 1)] - low > limit)
        if not (early.any() or late.any()):
            return first
        first = first - early + late


def _groups_apart(across: FloatArray, limit: float, group: IntArray) -> IntArray:
    """Return for any two groups (or one) with members more than ``limit`` apart the two that are furthest apart."""
    order = np.lexsort((across, group))
    start = np.searchsorted(group[order], np.arange(int(group.max(initial=-1)) + 1))
    lowest = order[start]
    highest = order[np.append(start[1:], len(order)) - 1] if len(start) else order
    rank = np.argsort(across[highest], kind="stable")
    first = _first_beyond(across[lowest], across[highest][rank], limit)
    count = len(rank) - first
    _refuse_many(int(count.sum()), "join more samples, or compare within `window=` along the road.")
    left = np.repeat(np.arange(len(rank)), count)
    right = rank[np.arange(len(left)) - np.repeat(np.cumsum(count) - count, count) + first[left]]
    return _one_per_two_groups(np.column_stack([lowest[left], highest[right]]), group)


def _apart_in_window(
    across: FloatArray, limit: float, along: FloatArray, window: Any, group: IntArray | None
) -> IntArray:
    reach = read_number(window, "window", "max_separation", finite=False, note=" (inf for no limit)")
    order = np.argsort(along, kind="stable")
    total = int(count_separated(across[order], along[order], limit, reach))
    _refuse_many(total, "make the window smaller.")
    pairs: IntArray = order[list_separated(across[order], along[order], limit, reach, total)]
    return pairs if group is None else _one_per_two_groups(pairs, group)


def _one_per_two_groups(pairs: IntArray, group: IntArray) -> IntArray:
    """Keep the first pair between any two groups."""
    ends = np.sort(group[pairs], axis=1)
    _, first = np.unique(ends[:, 0] * len(group) + ends[:, 1], return_index=True)
    return np.asarray(pairs[np.sort(first)])
