"""The example of ``linkwise demo``: bundled data, and constraints drawn from the classes of a few samples."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind

_ABOUT = {
    "wine": ("wine", "chemical measurements of wines from three growers"),
    "iris": ("flower", "measurements of iris flowers of three species"),
    "digits": ("digit", "pixels of handwritten digits"),
}
_N_MUST, _N_CANNOT, _N_TRIPLETS = 25, 15, 60


@dataclass(frozen=True)
class Example:
    """Standardized samples, their true classes, and pairs and triplets drawn from these with a fixed seed."""

    data: str
    X: FloatArray
    y: IntArray
    ids: npt.NDArray[Any]
    pairs: Constraints
    triplets: Constraints

    @property
    def n_classes(self) -> int:
        """How many true groups there are."""
        return len(np.unique(self.y))

    @property
    def about(self) -> str:
        """One sentence about the data."""
        return f"{len(self.X):,} samples with {self.X.shape[1]} columns: {_ABOUT[self.data][1]}."

    @property
    def things(self) -> str:
        """What the samples are, counted."""
        return f"{len(self.X):,} {_ABOUT[self.data][0]}s"

    def fit_all(self) -> tuple[Any, Any, Any]:
        """Fit without constraints, with pairs and with triplets."""
        from linkwise.selection import cluster

        plain, model = (
            cluster(self.X, constraints, self.n_classes, method="agglomerative", linkage="average").estimator
            for constraints in (None, self.pairs)
        )
        return plain, model, cluster(self.X, self.triplets, 2, effort="quick").estimator

    def score(self, labels: IntArray) -> float:
        """Agreement of labels with the true groups."""
        from sklearn.metrics import adjusted_rand_score

        return float(adjusted_rand_score(self.y, labels))

    def sizes(self, labels: IntArray) -> str:
        """Cluster sizes, largest first."""
        counts = np.sort(np.bincount(labels))[::-1].tolist()
        return ", ".join(map(str, counts[:6])) + (", ..." if len(counts) > 6 else "")

    def n_held(self, labels: IntArray) -> int:
        """How many of the pairs hold in a label vector."""
        from linkwise import verify

        return int(verify(labels, self.pairs).held.sum())

    def shown_pairs(self) -> list[int]:
        """A must-link and a cannot-link to show."""
        return [int(np.flatnonzero(self.pairs.kind == kind)[0]) for kind in (Kind.MUST_LINK, Kind.CANNOT_LINK)]

    def with_contradiction(self) -> Constraints:
        """The pairs, and one cannot-link between two samples that a chain of must-links joins."""
        first, second = _two_joined(self.pairs.of(Kind.MUST_LINK))
        names = self.ids[[first, second]].tolist()
        return self.pairs | Constraints.from_ids(self.ids, cannot_link=[tuple(names)])

    def recipe(self) -> str:
        """Python that repeats the result with pairs."""
        must, cannot = (self.pairs.of(kind).tolist() for kind in (Kind.MUST_LINK, Kind.CANNOT_LINK))
        return f"""from sklearn.datasets import load_{self.data}
from sklearn.preprocessing import StandardScaler
from linkwise import Constraints, cluster

X = StandardScaler().fit_transform(load_{self.data}().data)
said = Constraints.build(
    len(X),
    must_link=[
{_pairs(must)}
    ],
    cannot_link=[
{_pairs(cannot)}
    ],
)
cluster(X, said, {self.n_classes}, method="agglomerative", linkage="average").labels"""


def _pairs(pairs: list[list[int]]) -> str:
    text = ", ".join(str(tuple(pair)) for pair in pairs)
    return textwrap.fill(text, width=100, initial_indent=" " * 8, subsequent_indent=" " * 8) + ","


def load_example(data: str, seed: int = 0) -> Example:
    """Load bundled data and draw statements about a few samples from its classes."""
    from sklearn import datasets
    from sklearn.preprocessing import StandardScaler

    X, y = getattr(datasets, f"load_{data}")(return_X_y=True)
    ids = np.array([f"{_ABOUT[data][0]}-{i + 1:03d}" for i in range(len(X))])
    rng = np.random.default_rng(seed)
    known = rng.permutation(len(X))[: min(45, len(X))]
    first, second = (known[side] for side in np.triu_indices(len(known), 1))
    order = rng.permutation(len(first))
    first, second = first[order], second[order]
    same = y[first] == y[second]
    must = np.column_stack([first, second])[same][:_N_MUST]
    cannot = np.column_stack([first, second])[~same][:_N_CANNOT]
    pairs = Constraints.from_ids(ids, must_link=ids[must], cannot_link=ids[cannot])
    triplets = Constraints.from_ids(ids, triplets=ids[_draw_triplets(y, rng)])
    return Example(data, StandardScaler().fit_transform(X), y, ids, pairs, triplets)


def _draw_triplets(y: IntArray, rng: np.random.Generator) -> IntArray:
    """Two samples of one class and one of another, for distinct random samples."""
    rows: list[tuple[int, int, int]] = []
    while len(rows) < _N_TRIPLETS:
        a, b, c = rng.choice(len(y), size=3, replace=False).tolist()
        if y[a] == y[b] != y[c]:
            rows.append((a, b, c))
    return np.array(rows)


def _two_joined(must_link: IntArray) -> tuple[int, int]:
    """Two samples that are must-linked only through a third one, so that the contradiction is not obvious."""
    direct = {(int(a), int(b)) for a, b in must_link} | {(int(b), int(a)) for a, b in must_link}
    for a, b in sorted(direct):
        for c, d in sorted(direct):
            if b == c and a != d and (a, d) not in direct:
                return a, d
    return int(must_link[0, 0]), int(must_link[0, 1])
