"""Random number generators made from ``random_state``."""

from __future__ import annotations

from typing import Any

import numpy as np

from linkwise.exceptions import LinkwiseError


def make_generator(random_state: Any) -> np.random.Generator:
    """Make a generator from a seed, a `RandomState`, a `Generator` or None (fresh entropy), never from NumPy's global.

    Numbers are drawn from a `RandomState` or `Generator`, as scikit-learn does, so two calls differ.
    """
    if isinstance(random_state, np.random.RandomState):
        return np.random.default_rng(random_state.randint(0, 2**32, size=4, dtype=np.uint32))
    try:
        return np.random.default_rng(random_state)
    except (TypeError, ValueError) as bad:
        msg = f"random_state is {random_state!r}, expected a whole number >= 0, a NumPy Generator or None."
        raise LinkwiseError(msg) from bad
