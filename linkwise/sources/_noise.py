"""Statements made wrong on purpose, to study the effect of noise."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise._random import make_generator
from linkwise._typing import BoolArray
from linkwise._validation import read_share
from linkwise.constraints import NO_LABELS, Constraints, Kind, require_constraints


def flip(constraints: Constraints, share: float, random_state: Any = None) -> tuple[Constraints, BoolArray]:
    """Turn a share of the statements into wrong ones: must-links to cannot-links and back, ab|c to ac|b or bc|a.

    Parameters
    ----------
    constraints : Constraints
        Statements; those of kinds other than pairs and triplets are left as they are and do not count.
    share : float from 0 to 1
        Share of the pairs and triplets that is changed, rounded to a whole number of them.
    random_state : int, Generator or None
        Seed; the same seed changes the same statements.

    Returns
    -------
    flipped : Constraints
        The same statements in the same order, with their weights and rows.
    mask : ndarray of bool, shape (n_statements,)
        Mask of the changed statements.

    Notes
    -----
    For studies of noise, which the last section of Liu, Zhang and Wang (KDD 2011) leaves open. **Cost** O(m).
    **Guarantee** every set of that many statements is equally likely to be changed, and so are the two other
    resolutions of a triplet.

    Examples
    --------
    >>> from linkwise import Constraints
    >>> from linkwise.sources import flip
    >>> constraints = Constraints.build(4, must_link=[(0, 1), (1, 2)], triplets=[(0, 1, 3), (1, 2, 3)])
    >>> wrong, mask = flip(constraints, 0.5, random_state=0)
    >>> mask.tolist(), [wrong.describe(i) for i in (2, 3)]
    ([False, False, True, True], ['#2 triplet(0, 3 | 1)', '#3 triplet(1, 3 | 2)'])
    """
    require_constraints(constraints, "flip")
    rng = make_generator(random_state)
    kind, items = np.array(constraints.kind), np.array(constraints.items)
    must, cannot, triplet = (kind == k for k in (Kind.MUST_LINK, Kind.CANNOT_LINK, Kind.TRIPLET))
    able = np.flatnonzero(must | cannot | triplet)
    mask = np.zeros(len(kind), dtype=np.bool_)
    mask[rng.choice(able, size=read_share(share, "share", "flip", len(able)), replace=False)] = True
    kind[mask & must] = Kind.CANNOT_LINK
    kind[mask & cannot] = Kind.MUST_LINK
    rows = np.flatnonzero(mask & triplet)
    stays = rng.integers(2, size=len(rows))  # which of a and b stays in the pair
    pair = np.column_stack([items[rows, stays], items[rows, 2]])
    items[rows, 2] = items[rows, 1 - stays]
    items[rows, :2] = np.sort(pair, axis=1)
    return constraints._replace(kind=kind, items=items, labels=NO_LABELS), mask
