"""The views of a consensus: a map of the samples, a metric learned on it from statements, and a method that clusters.

Three pools: for hard statements, which every method keeps; for doubtful ones, which methods weigh; and for none.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.engines.consensus._maps import (
    BOTH,
    GRAPH,
    KERNEL,
    NARROW,
    RANKS,
    RAW,
    WHITE,
    WORDS,
    Maps,
    narrowed,
)
from linkwise.engines.graph import NeighborhoodPropagation, SpectralLearning
from linkwise.engines.hierarchical import ConstrainedAgglomerative, ConstrainedCompleteLink
from linkwise.engines.metric import ITML, RCA
from linkwise.engines.mixture import ConstrainedGaussianMixture, PenalizedMixture
from linkwise.engines.partitional import COPKMeans, MPCKMeans
from linkwise.exceptions import LinkwiseError

AS_IS, BY_ITML, BY_RCA = "", "ITML", "RCA"
_MOST_STATES = 20_000  # of exact inference in mixtures: a view is not worth more
_STARTS = 3


class View(NamedTuple):
    """A map, a learner of metrics (or none), and a method."""

    map: str
    learner: str
    method: str

    def __str__(self) -> str:
        name = _NAMES[self.method]
        learned = f", {self.learner} metric" if self.learner else ""
        return f"{name} on {WORDS[self.map]}{learned}"


_NAMES = {
    "ward": "Ward linkage",
    "average": "average linkage",
    "link": "constrained average link",
    "cop": "k-means",
    "means": "k-means",
    "mpck": "metric k-means",
    "spectral": "spectral clustering",
    "claims": "neighborhood propagation",
    "mixture": "Gaussian mixture",
    "diagonal": "axis-parallel mixture",
    "small": "Gaussian mixture of main components",
}


def _views(*rows: tuple[str, str, str]) -> tuple[View, ...]:
    return tuple(View(where, learner, method) for where, learner, methods in rows for method in methods.split())


HARD = _views(
    (RAW, AS_IS, "ward link mpck mixture spectral claims"),
    (NARROW, AS_IS, "mixture"),
    (RAW, BY_ITML, "cop spectral link diagonal small claims"),
    (RANKS, BY_ITML, "cop spectral small"),
    (WHITE, BY_ITML, "cop spectral"),
    (GRAPH, BY_ITML, "ward"),
    (BOTH, BY_ITML, "cop ward"),
    (KERNEL, BY_ITML, "cop ward"),
    (RAW, BY_RCA, "ward spectral"),
)
DOUBTFUL = _views(
    (RAW, AS_IS, "mpck spectral"),
    (WHITE, AS_IS, "spectral"),
    (RANKS, AS_IS, "spectral"),
    (NARROW, AS_IS, "mixture"),
    (GRAPH, AS_IS, "ward"),
    (RAW, BY_ITML, "means ward spectral diagonal small"),
    (RANKS, BY_ITML, "means ward spectral diagonal small"),
    (WHITE, BY_ITML, "means ward spectral"),
    (GRAPH, BY_ITML, "means ward"),
    (BOTH, BY_ITML, "means ward spectral"),
    (KERNEL, BY_ITML, "means ward spectral"),
)
PLAIN = _views(
    (RAW, AS_IS, "means ward spectral mixture"),
    (RANKS, AS_IS, "means spectral mixture"),
    (NARROW, AS_IS, "mixture"),
    (KERNEL, AS_IS, "means ward"),
    (WHITE, AS_IS, "means spectral"),
)


class Outcome(NamedTuple):
    """Labels by view, and the reason for each view that has none."""

    labels: dict[View, IntArray]
    missing: dict[View, str]


def fit_views(
    views: tuple[View, ...],
    maps: Maps,
    known: Constraints,
    seed: int,
    step: Callable[[], None],
) -> Outcome:
    """Fit views; those that cannot be fitted, or find more clusters than asked for, are left out with the reason."""
    labels: dict[View, IntArray] = {}
    missing: dict[View, str] = {}
    learned: dict[tuple[str, str], FloatArray | str] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for view in views:
            step()
            at = view.map, view.learner
            if at not in learned:
                learned[at] = _learn(maps, view, known)
            rows = learned[at]
            if isinstance(rows, str):
                missing[view] = rows
                continue
            try:
                found = _METHODS[view.method](rows, maps.n_clusters, known, seed)
            except (LinkwiseError, np.linalg.LinAlgError) as end:
                missing[view] = str(end).partition("\n")[0]
                continue
            if int(found.max()) + 1 > maps.n_clusters:
                missing[view] = "it found more clusters than asked for"
            else:
                labels[view] = np.asarray(found, dtype=np.intp)
    return Outcome(labels, missing)


def _learn(maps: Maps, view: View, known: Constraints) -> FloatArray | str:
    """The samples under the map and the learned metric of a view, or the reason why there are none."""
    rows = maps.of(view.map)
    if rows is None:
        return "the map tells no samples apart"
    try:
        if view.learner == BY_ITML:
            return np.asarray(ITML().fit_transform(rows, constraints=known))
        if view.learner == BY_RCA:
            joined = known.select(np.isin(known.kind, (Kind.MUST_LINK, Kind.TOGETHER)))
            return np.asarray(RCA().fit_transform(rows, constraints=joined))
    except (LinkwiseError, np.linalg.LinAlgError) as end:
        return str(end).partition("\n")[0]
    return rows


# -- methods: samples, number of clusters, statements, seed ------------------------------------------------------------


def _ward(rows: FloatArray, k: int, known: Constraints, seed: int) -> IntArray:  # noqa: ARG001
    hard = known if known.is_hard.all() else None  # linkage does not weigh statements
    model = ConstrainedAgglomerative(k, linkage="ward")
    return model.fit(rows, constraints=hard).labels_  # type: ignore[no-any-return]


def _link(rows: FloatArray, k: int, known: Constraints, seed: int) -> IntArray:  # noqa: ARG001
    model = ConstrainedCompleteLink(k, linkage="average")
    return model.fit(rows, constraints=known).labels_  # type: ignore[no-any-return]


def _cop(rows: FloatArray, k: int, known: Constraints, seed: int) -> IntArray:
    model = COPKMeans(k, random_state=seed)
    return model.fit(rows, constraints=known).labels_  # type: ignore[no-any-return]


def _means(rows: FloatArray, k: int, known: Constraints, seed: int) -> IntArray:  # noqa: ARG001
    model = COPKMeans(k, n_init=_STARTS, random_state=seed)
    return model.fit(rows).labels_  # type: ignore[no-any-return]


def _mpck(rows: FloatArray, k: int, known: Constraints, seed: int) -> IntArray:
    model = MPCKMeans(k, random_state=seed)
    return model.fit(rows, constraints=known).labels_  # type: ignore[no-any-return]


def _spectral(rows: FloatArray, k: int, known: Constraints, seed: int) -> IntArray:
    model = SpectralLearning(k, random_state=seed)
    return model.fit(rows, constraints=known).labels_  # type: ignore[no-any-return]


def _claims(rows: FloatArray, k: int, known: Constraints, seed: int) -> IntArray:
    model = NeighborhoodPropagation(k, random_state=seed)
    return model.fit(rows, constraints=known).labels_  # type: ignore[no-any-return]


def _mixture(rows: FloatArray, k: int, known: Constraints, seed: int, shape: str = "full") -> IntArray:
    if known.is_hard.all():
        model: Any = ConstrainedGaussianMixture(k, covariance_type=shape, max_states=_MOST_STATES, random_state=seed)
    else:
        model = PenalizedMixture(k, covariance_type=shape, max_states=_MOST_STATES, random_state=seed)
    return model.fit(rows, constraints=known).labels_  # type: ignore[no-any-return]


def _diagonal(rows: FloatArray, k: int, known: Constraints, seed: int) -> IntArray:
    return _mixture(rows, k, known, seed, "diag")


def _small(rows: FloatArray, k: int, known: Constraints, seed: int) -> IntArray:
    return _mixture(narrowed(rows, k), k, known, seed)


_METHODS: dict[str, Callable[[FloatArray, int, Constraints, int], IntArray]] = {
    "ward": _ward,
    "link": _link,
    "cop": _cop,
    "means": _means,
    "mpck": _mpck,
    "spectral": _spectral,
    "claims": _claims,
    "mixture": _mixture,
    "diagonal": _diagonal,
    "small": _small,
}
