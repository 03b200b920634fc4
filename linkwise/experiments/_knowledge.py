"""What an engine is told: the one place where a study turns classes into statements."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.constraints import Constraints
from linkwise.datasets._statements import draw_statements

__all__ = ["knowledge"]


def knowledge(y: Any, kind: str, amount: int, noise: float = 0.0, seed: Any = None) -> Constraints:
    """Draw statements that are true of known classes, and make some of them wrong.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        The class of each sample.
    kind : {"none", "must_link", "cannot_link", "pairs", "triplets", "labels"}
        ``"pairs"`` are random pairs with whatever is true of them, ``"labels"`` everything that follows from the
        classes of ``amount`` random samples.
    amount : int
        How many different statements; for ``"labels"`` how many samples.
    noise : float, default=0.0
        Share of the statements (or labels) made wrong; ``round(noise * amount)`` of them, exactly.
    seed : None, int or numpy.random.Generator
        Where chance comes from.

    Returns
    -------
    Constraints
        Hard statements.

    Raises
    ------
    LinkwiseError
        The classes do not give that many different statements.

    Notes
    -----
    **Cost** O(n log n + amount log amount). **Guarantee** all true statements of the kind are equally likely.

    Examples
    --------
    >>> from linkwise.experiments import knowledge
    >>> knowledge([0, 0, 0, 1, 1, 1], "must_link", 4, noise=0.25, seed=0)
    Constraints(6 samples: 3 must-links, 1 cannot-link; all hard)
    """
    return draw_statements(y, kind, amount, noise, np.random.default_rng(seed))
