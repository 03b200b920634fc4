"""Everything hard must-links, cannot-links and triplets entail together, written out."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from linkwise.constraints import Constraints
from linkwise.exceptions import LinkwiseError
from linkwise.problem._closure import not_in, pairs_of_groups
from linkwise.problem._implies import Entailment
from linkwise.problem._span import Spans

__all__ = ["all_entailed", "implied_triplets"]

IntArray = npt.NDArray[np.intp]
BoolArray = npt.NDArray[np.bool_]
MOST_SAMPLES = 400


def all_entailed(constraints: Constraints, limit: int) -> Constraints:
    """Return what the hard statements entail and do not say, as a table of its own."""
    known = Entailment(constraints, "close")
    n = known.n
    named = np.unique(np.concatenate([known.must.ravel(), known.cannot.ravel(), known.triplets.ravel()]))
    if len(named) > MOST_SAMPLES:
        msg = (
            f"close: the hard statements name {len(named):,} samples; with triplets=True everything they entail is "
            f"written out for up to {MOST_SAMPLES}.\n"
            "Hint: `implies(constraints, statements)` answers questions about any number of samples."
        )
        raise LinkwiseError(msg)
    block = known.block[named]
    x, y = (side.astype(np.intp) for side in np.triu_indices(len(np.unique(block)), 1))
    first = np.unique(block)
    small = np.searchsorted(first, block)
    apart = known.apart(first[x], first[y])
    must, cannot = pairs_of_groups(small, np.column_stack([x[apart], y[apart]]))
    implied = implied_triplets(known, named)
    n_triplets = int(implied.sum())
    if len(must) + len(cannot) + n_triplets > limit:
        msg = (
            f"close: {len(must):,} must-links, {len(cannot):,} cannot-links and {n_triplets:,} triplets are entailed, "
            f"more than {limit:,}.\nHint: `implies(constraints, statements)` answers questions without writing all out."
        )
        raise LinkwiseError(msg)
    said = np.searchsorted(named, known.triplets)
    implied[said[:, 0], said[:, 1], said[:, 2]] = False
    return type(constraints).build(
        n,
        must_link=not_in(named[must], known.must, n),
        cannot_link=not_in(named[cannot], known.cannot, n),
        triplets=named[np.column_stack(np.nonzero(implied))],
    )


def implied_triplets(known: Entailment, named: IntArray) -> BoolArray:
    """Whether ab|c is implied, for all a < b and c among the positions in ``named``."""
    excluded = _table(known.spans, named)
    if len(known.must) and len(known.cannot):
        block, small = np.unique(known.block[named], return_inverse=True)
        k = len(block)
        forced = _table(known.block_spans, block)
        here = np.arange(k)
        forced[here[:, None], here, here[:, None]] = True
        forced[here[:, None], here, here] = True
        x, y = (side.ravel() for side in np.meshgrid(here, here, indexing="ij"))
        forced &= known.apart(block[x], block[y]).reshape(k, k, 1)
        excluded |= forced[small[:, None, None], small[:, None], small]
    implied = np.zeros_like(excluded)
    for a in range(len(named)):  # ab|c needs ac|b and bc|a excluded
        np.logical_and(excluded[a].T[a + 1 :], excluded[a + 1 :, :, a], out=implied[a, a + 1 :])
    return implied


def _table(spans: Spans, items: IntArray) -> BoolArray:
    """Whether item z is in the span of x and y, for all of ``items``; those in no triplet are in none."""
    place = np.searchsorted(items, spans.names)
    full = np.zeros((len(items),) * 3, dtype=np.bool_)
    full[np.ix_(place, place, place)] = spans.table()
    return full
