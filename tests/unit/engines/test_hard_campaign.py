"""Every method that answers with labels, on random feasible problems of hard pairs: solved, and nothing is broken."""

from __future__ import annotations

import pytest

from linkwise.exceptions import GaveUpError
from tests.contract.discovery import PARTITIONS
from tests.oracles.centers import keeps
from tests.profile import examples
from tests.unit.engines.partitional.test_cop_kmeans import planted
from tests.views import few_views  # noqa: F401  # used by every test of this file

# Methods that never promise to keep statements.
WISHES = {"SeededKMeans"}
# Methods that sum over all labels of samples tied by cannot-links, and refuse by name what ties too many: told less.
SUMS = {"ConstrainedGaussianMixture", "PenalizedMixture"}
METHODS = [cls for cls in PARTITIONS if not cls.best_effort and cls.__name__ not in WISHES]


def quick(cls, k, seed):
    """Make an estimator that takes one start and few steps: statements have to hold wherever it stops."""
    model = cls()
    wanted = {"n_clusters": k, "n_init": 1, "max_iter": 5, "random_state": seed}
    return model.set_params(**{name: value for name, value in wanted.items() if name in model.get_params()})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("cls", METHODS, ids=lambda cls: cls.__name__)
def test_feasible_problems_are_solved_and_no_hard_pair_is_broken(cls):
    """Ten thousand in the full profile: k from 2 to 8, the first and the last sample named."""
    cases, solved = examples(15, 10_000), 0
    for seed in range(cases):
        X, _, k, c = planted(seed, m=1 + seed % 12 if cls.__name__ in SUMS else None)
        try:
            labels = quick(cls, k, seed).fit(X, constraints=c).labels_.tolist()
        except GaveUpError:
            continue
        solved += 1
        must, cannot = c.must_links()[0].tolist(), c.items[c.kind == 1, :2].tolist()
        assert keeps(labels, cannot, must)
    assert solved >= 0.995 * cases
