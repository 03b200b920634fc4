"""Hard instances for `check`, `repair` and `cluster`, and a digest of all that is found out about them.

    python -m tests.determinism            one line per instance and a digest of all, 24 instances
    LINKWISE_TEST_PROFILE=full python -m tests.determinism      200 instances

Work is counted, not timed: the digest is the same on an idle machine and beside busy loops. Run it twice and compare.
"""

from __future__ import annotations

import hashlib
import sys
import warnings
from collections.abc import Callable

import numpy as np

from linkwise import Constraints, check, cluster, repair
from linkwise.exceptions import LinkwiseError
from linkwise.problem import conflicts
from tests.profile import examples

BUDGET = 0.4  # of a repair: enough to search and to prove, little enough that many of them are cut by it


def noisy_pairs(rng: np.random.Generator, n: int, k: int, m: int, noise: float) -> Constraints:
    """Answers about random pairs, each turned with probability ``noise``."""
    y = rng.integers(k, size=n)
    pairs = np.unique(np.sort(rng.integers(n, size=(m, 2)), axis=1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = (y[pairs[:, 0]] == y[pairs[:, 1]]) ^ (rng.random(len(pairs)) < noise)
    return Constraints.build(n, must_link=pairs[same], cannot_link=pairs[~same])


def noisy_triplets(rng: np.random.Generator, n: int, m: int, noise: float) -> Constraints:
    """Answers about random trios of points on a line, some with another odd one out."""
    x = rng.normal(size=n)
    trios = np.array([rng.choice(n, 3, replace=False) for _ in range(m)])
    far = np.argmax([np.abs(x[trios] - x[trios].mean(axis=1)[:, None])], axis=2)[0]
    far = np.where(rng.random(m) < noise, (far + 1) % 3, far)
    rows = np.array([[*np.delete(trio, odd), trio[odd]] for trio, odd in zip(trios, far, strict=True)])
    return Constraints.build(n, triplets=rows)


def graph_near_its_threshold(rng: np.random.Generator, n: int, k: int) -> Constraints:
    """Cannot-links at a density where it is hard to tell whether ``k`` clusters suffice."""
    density = {3: 4.6, 4: 8.6, 5: 13.0}[k] / n
    pairs = np.argwhere(np.triu(rng.random((n, n)) < density, 1))
    return Constraints.build(n, cannot_link=pairs)


def groups(rng: np.random.Generator, n: int) -> Constraints:
    """Groups apart and together that overlap, and pairs that contradict them."""
    apart = [rng.choice(n, 5, replace=False).tolist() for _ in range(n // 6)]
    together = [rng.choice(n, 3, replace=False).tolist() for _ in range(n // 8)]
    return Constraints.build(n, apart=apart, together=together) | noisy_pairs(rng, n, 4, n, 0.1)


def instance(number: int) -> tuple[Constraints, int | None]:
    """One of the hard instances, and the number of clusters to ask for."""
    rng = np.random.default_rng(number)
    sort = number % 8
    if sort == 0:
        return noisy_pairs(rng, 60, 4, 260, 0.12), None
    if sort == 1:
        return noisy_triplets(rng, 24, 140, 0.1), None
    if sort == 2:
        return noisy_pairs(rng, 20, 3, 40, 0.08) | noisy_triplets(rng, 20, 40, 0.08), None
    if sort == 3:
        k = int(rng.integers(3, 6))
        return graph_near_its_threshold(rng, int(rng.integers(60, 110)), k), k
    if sort == 4:
        return groups(rng, 48), None
    if sort == 5:
        soft = noisy_pairs(rng, 50, 4, 200, 0.15)
        return soft.with_weight(rng.choice([0.5, 1.0, 3.0, np.inf], soft.n_statements, p=[0.4, 0.3, 0.2, 0.1])), None
    if sort == 6:
        n = 16
        return graph_near_its_threshold(rng, n, 3) | noisy_triplets(rng, n, 14, 0.0), 3
    any_of = [[int(s) for s in rng.choice(18, 4, replace=False)] for _ in range(6)]
    return Constraints.build(18, must_link_any=any_of) | graph_near_its_threshold(rng, 18, 3), 3


def told(work: Callable[[], object]) -> str:
    """What comes of some work, or what is said against it."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            found = str(work())
        except LinkwiseError as error:
            found = f"{type(error).__name__}: {error}"
    return "\n".join([found, *sorted(str(one.message) for one in heard)])


def findings(number: int) -> str:
    """Everything `check`, `conflicts`, `repair` and `cluster` say about an instance: statements, bounds, order."""
    said, k = instance(number)

    def verdict() -> object:
        found = check(said, n_clusters=k)
        witness = None if found.witness is None or k is None else str(found.witness)
        return found.status, found.k_min, found.k_max, found.because, str(found.explanation), witness

    def repaired() -> object:
        fixed = repair(said, budget=BUDGET)
        return (
            fixed.dropped.tolist(),
            fixed.cost,
            fixed.lower_bound,
            fixed.optimal,
            fixed.cut,
            fixed.because,
            fixed.noise,
        )

    def clustered() -> object:
        X = np.random.default_rng(number).normal(size=(said.n_samples, 2))
        kept = repair(said, budget=0).kept if not (said.kind > 4).any() else said
        found = cluster(X, kept, n_clusters=k or 4)
        return type(found.estimator).__name__, np.asarray(found.labels).tolist()

    steps = [verdict, lambda: [str(why) for why in conflicts(said, n_clusters=k, budget=1.0)], repaired]
    if number % 4 == 0:
        steps.append(clustered)
    return "\n".join(told(step) for step in steps)


def main() -> int:
    """Print a line for each instance, then the digest of all of them."""
    whole = hashlib.sha256()
    for number in range(examples(24, 200)):
        found = findings(number).encode()
        whole.update(found)
        print(f"{number:4} {hashlib.sha256(found).hexdigest()[:16]}", flush=True)
    print(f"all  {whole.hexdigest()}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
