"""Few views for `Consensus`: what an estimator or a command promises does not depend on their number; each is a fit.

A test file that fits `Consensus` often imports `few_views`. `tests/unit/engines/consensus` tests the views themselves,
and the full profile takes them all.
"""

from __future__ import annotations

import pytest

from linkwise.engines.consensus import _estimator, _views, _votes
from tests.profile import FULL

# one for each way to tell statements: kept, weighed, learned from, not told; on raw, ranked and graph data
FEW = {
    "HARD": {("raw", "", "ward"), ("raw", "", "mixture"), ("raw", "ITML", "cop"), ("ranks", "ITML", "spectral")},
    "DOUBTFUL": {("raw", "", "mpck"), ("graph", "", "ward"), ("raw", "ITML", "means"), ("ranks", "ITML", "spectral")},
    "PLAIN": {("raw", "", "ward"), ("raw", "", "means"), ("ranks", "", "spectral"), ("ranks", "", "mixture")},
}


@pytest.fixture(scope="module", autouse=True)
def few_views():
    with pytest.MonkeyPatch.context() as patch:
        for pool, few in FEW.items() if not FULL else ():
            views = tuple(view for view in getattr(_views, pool) if tuple(view) in few)
            assert len(views) == len(few)
            for module in (_views, _votes, _estimator):
                if hasattr(module, pool):
                    patch.setattr(module, pool, views)
        yield
