"""Triplets from an ontology whose terms may have several parents: all terms above two samples count."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._messages import did_you_mean, some_of
from linkwise._random import make_generator
from linkwise._sparse import connected_parts
from linkwise._typing import FloatArray, IntArray
from linkwise._validation import read_count, read_number, warn_user
from linkwise._value_columns import as_text, is_missing, read_column
from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError
from linkwise.sources._edges import places_of
from linkwise.sources._random_ranks import draw_ranks
from linkwise.trees import edges_of_columns, edges_of_obo

_WHO = "from_ontology"
_ALL = 5_000_000  # sets of three samples that are looked at one by one
_BLOCK = 100_000
_TRIES = 200  # sets of three that are drawn for each triplet wanted, at most


def from_ontology(
    is_a: Any,
    sample: Any,
    term: Any,
    *,
    ids: Any,
    m: int | None = None,
    random_state: Any = None,
    scale: float = 1.0,
) -> Constraints:
    r"""State ab|c where more terms of an ontology hold a and b than hold c with either of them.

    Each term is a set of samples: those annotated with it or with a term below, along all ``is_a`` edges. A term with a
    and b in it and not c speaks for ab|c. The statement made of three samples is the one most terms speak for.

    Parameters
    ----------
    is_a : str, Path, or pair of array-likes
        The text or the path of an OBO file, or two columns, child and parent; a term may have any number of parents.
    sample, term : array-like of shape (n_annotations,)
        Annotations: a sample, and a term it is annotated with. A sample may have several terms. Rows about samples that
        are not among ``ids``, or without a term, are left out; nothing is said about samples without any.
    ids : array-like of shape (n_samples,)
        The identifier of each sample.
    m : int, optional
        Draw this many triplets, each set of them equally likely; by default all are written, for up to 310 samples.
    random_state : int, RandomState or None, default=None
        Decides which are drawn.
    scale : float, default=1.0
        The weight of a triplet is this times its lead: the terms for it, less those for the next of the three.

    Returns
    -------
    Constraints
        Soft triplets; three samples without a lead make none.

    Notes
    -----
    Where every term has one parent and every sample one term, these are the triplets of `Taxonomy`, and all hold
    together; ``with_weight(numpy.inf)`` makes them hard. Of an ontology with several parents not all need to:
    `repair` drops the least weight, and so does every method that is given them. The terms that hold all three samples
    speak for nothing, so that only the number of terms that two samples share is counted. [1]_ names the Gene
    Ontology as a source of relative constraints, and reads hierarchies. **Cost** O(n^3) time and memory in all, with
    ``m`` that of the annotations and of the sets of three drawn.

    References
    ----------
    .. [1] E. Y. Liu, Z. Zhang, W. Wang, "Clustering with Relative Constraints", KDD 2011.

    See Also
    --------
    linkwise.Taxonomy.from_obo : an ontology that is a tree, or is made one by its first parents.

    Examples
    --------
    >>> from linkwise.sources import from_ontology
    >>> child, parent = ["otter", "otter", "carp", "mink"], ["mammal", "swimmer", "swimmer", "mammal"]
    >>> animals = ["otter", "mink", "carp"]
    >>> from_ontology((child, parent), animals, animals, ids=animals).n_statements
    0
    >>> child, parent = [*child, "otter", "mink"], [*parent, "hunter", "hunter"]
    >>> from_ontology((child, parent), animals, animals, ids=animals).describe(0)
    '#0 triplet(otter, mink | carp) weight 1'
    """
    names = read_column(f"{_WHO}: ids", ids)
    factor = read_number(scale, "scale", _WHO)
    wanted = None if m is None else read_count(m, "m", _WHO)
    inside = _members(names, *_read_edges(is_a), sample, term)
    known = np.flatnonzero(np.diff(inside.indptr) > 0)  # nothing is said about samples without a term
    inside, n = inside[known], len(known)
    total = n * (n - 1) * (n - 2) // 6
    if total <= _ALL:
        rows, lead = _all(inside)
        if wanted is not None:
            rng = make_generator(random_state)
            kept = np.sort(draw_ranks(rng, _WHO, "triplets that terms speak for", len(rows), wanted, False))
            rows, lead = rows[kept], lead[kept]
    elif wanted is None:
        msg = f"{_WHO}: {n:,} samples make {total:,} sets of three, expected at most {_ALL:,}.\nHint: draw m of them."
        raise LinkwiseError(msg)
    else:
        rows, lead = _draw(inside, wanted, make_generator(random_state))
    return Constraints.from_ids(names, triplets=names[known[rows]] if len(rows) else (), weight=factor * lead)


def _read_edges(is_a: Any) -> tuple[npt.NDArray[Any], IntArray, IntArray]:
    """Read the names of the terms and the edges from child to parent."""
    if isinstance(is_a, (str, Path)):
        return edges_of_obo(is_a, _WHO)
    columns = list(is_a) if isinstance(is_a, (list, tuple)) else []
    if len(columns) != 2:
        msg = f"{_WHO}: is_a is {type(is_a).__name__}, expected OBO text, a path, or two columns (child, parent)."
        raise LinkwiseError(msg)
    names, child, parent = edges_of_columns(columns[0], columns[1], _WHO)
    return names, child[parent >= 0], parent[parent >= 0]


def _members(
    names: npt.NDArray[Any], terms: npt.NDArray[Any], child: IntArray, parent: IntArray, sample: Any, term: Any
) -> Any:
    """The terms that hold each sample, as a sparse matrix of ones with a row per sample."""
    from scipy.sparse import csr_array

    columns = [read_column(f"{_WHO}: {word}", given) for word, given in (("sample", sample), ("term", term))]
    if len(columns[0]) != len(columns[1]):
        msg = f"{_WHO}: sample has {len(columns[0]):,} entries and term {len(columns[1]):,}, expected one each."
        raise LinkwiseError(msg)
    place = places_of(_WHO, names)
    known = ~is_missing(columns[1])
    row = np.array([place.get(one, -1) for one in columns[0].tolist()], dtype=np.intp)
    known &= row >= 0
    if len(row) and not known.any():
        warn_user(f"{_WHO}: no annotation names one of the {len(names):,} ids, so there are no statements.")
    number = {one: t for t, one in enumerate(terms.tolist())}
    said = [as_text(value) for value in columns[1][known].tolist()]
    strange = list(dict.fromkeys(one for one in said if one not in number))
    if strange:
        hint = did_you_mean(strange[0], list(number), "leave out annotations with terms of another version.")
        msg = f"{_WHO}: {some_of([repr(one) for one in strange])} is not a term of the ontology.\nHint: {hint}"
        raise LinkwiseError(msg)
    up = csr_array((np.ones(len(child)), (child, parent)), shape=(len(terms), len(terms)))
    _refuse_cycles(up, terms)
    entries = np.array([number[one] for one in said], dtype=np.intp)
    inside = csr_array((np.ones(len(entries)), (row[known], entries)), shape=(len(names), len(terms)))
    inside.data[:] = 1.0
    edge = inside
    while edge.nnz:  # one level up each time; there are no cycles
        edge = edge @ up
        edge.data[:] = 1.0
        more = inside + edge
        more.data[:] = 1.0
        if more.nnz == inside.nnz:
            break
        inside = more
    return inside


def _refuse_cycles(up: Any, terms: npt.NDArray[Any]) -> None:
    count, part = connected_parts(up, directed=True)
    around = np.flatnonzero(np.bincount(part, minlength=count)[part] > 1)
    if len(around):
        around = around[part[around] == part[around[0]]]
    else:
        around = np.flatnonzero(up.diagonal() > 0)[:1]
    if len(around):
        msg = f"{_WHO}: {some_of([repr(str(terms[t])) for t in around])} is below itself, expected no cycle of is_a."
        raise LinkwiseError(msg)


def _resolve(rows: IntArray, shared: FloatArray) -> tuple[IntArray, FloatArray]:
    """The triplet of each set of three with a lead, and the lead; ``shared`` are the terms of 12, 13 and 23."""
    best = shared.argmax(axis=1)
    lead = shared[np.arange(len(rows)), best] - np.partition(shared, 1, axis=1)[:, 1]
    order = np.array([[0, 1, 2], [0, 2, 1], [1, 2, 0]])[best]
    kept = lead > 0
    return np.take_along_axis(rows, order, axis=1)[kept], lead[kept]


def _all(inside: Any) -> tuple[IntArray, FloatArray]:
    n = inside.shape[0]
    shared = (inside @ inside.T).toarray()
    found, leads = [np.empty((0, 3), dtype=np.intp)], [np.empty(0)]
    for first in range(n - 2):
        second, third = np.triu_indices(n - first - 1, 1)
        rows = np.column_stack([np.full(len(second), first), first + 1 + second, first + 1 + third])
        pairs = np.column_stack([shared[rows[:, 0], rows[:, 1]], shared[rows[:, 0], rows[:, 2]]])
        made, lead = _resolve(rows, np.column_stack([pairs, shared[rows[:, 1], rows[:, 2]]]))
        found.append(made)
        leads.append(lead)
    return np.concatenate(found), np.concatenate(leads)


def _draw(inside: Any, m: int, rng: np.random.Generator) -> tuple[IntArray, FloatArray]:
    """Draw sets of three until enough different ones have a lead."""
    n = inside.shape[0]
    seen: dict[tuple[int, ...], float] = {}
    for _ in range(-(-_TRIES * max(m, _BLOCK) // _BLOCK)):
        if len(seen) >= m:
            break
        rows = np.sort(rng.integers(n, size=(_BLOCK, 3)), axis=1)
        rows = rows[(rows[:, 0] < rows[:, 1]) & (rows[:, 1] < rows[:, 2])]
        pairs = [inside[rows[:, i]].multiply(inside[rows[:, j]]).sum(axis=1) for i, j in ((0, 1), (0, 2), (1, 2))]
        made, lead = _resolve(rows, np.column_stack(pairs))
        for row, value in zip(map(tuple, made.tolist()), lead.tolist(), strict=True):
            seen.setdefault(row, value)
    if len(seen) < m:
        msg = f"{_WHO}: {m:,} triplets are wanted, but only {len(seen):,} were found.\nHint: ask for fewer."
        raise LinkwiseError(msg)
    chosen = list(seen)[:m]
    return np.array(chosen, dtype=np.intp).reshape(-1, 3), np.array([seen[row] for row in chosen])
