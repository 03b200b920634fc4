"""Who takes part in ``quality.py``: every estimator of linkwise, methods that know nothing, and other libraries.

A contender says what it is told and how it is made. Those that take a number of clusters are told the number of classes
unless their name says otherwise; everything else is as it is by default. `missing_engines` names estimators of linkwise
that nobody entered here.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import ClusterMixin
from sklearn.cluster import AgglomerativeClustering, KMeans

import linkwise
from benchmarks._data import Floats
from linkwise import Constraints, Dendrogram, engines
from linkwise.engines import ConstrainedClusterer, DistanceLearner, MetricLearner
from linkwise.exceptions import DeadEndError
from studies.experiments._resolve import solve


class Case(NamedTuple):
    """What one fit gets: samples, statements, the number of classes, and a seed."""

    X: Floats
    said: Constraints
    k: int
    seed: int


class Found(NamedTuple):
    """What one fit gives; a dead end is where merging had to stop above the number of clusters asked for."""

    labels: Any
    tree: Dendrogram | None = None
    dead_end: bool = False


@dataclass(frozen=True)
class Contender:
    """How somebody takes part.

    Attributes
    ----------
    takes : {"pairs", "triplets", "questions", "sizes", "nothing"}
        What it is told; who takes questions asks them itself.
    fit : callable
        From a `Case` to `Found`; None for a peer, which is fitted by another Python.
    repaired : bool
        Whether it gets only statements that can hold together, as hard ones; else all of them, of weight 1.
    told_k : bool
        Whether it is told the number of classes.
    whose : {"linkwise", "plain", "peer"}
        Where it comes from; "plain" are common methods without knowledge.
    enters : str
        The estimator of linkwise it stands for.
    params : mapping
        What differs from the defaults, for the key under which results are kept.
    seeds : int
        Most seeds it is run for; the slow ones have few.
    """

    takes: str
    fit: Callable[[Case], Found] | None
    repaired: bool = False
    told_k: bool = True
    whose: str = "linkwise"
    enters: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    seeds: int = 1000


# -- ours ------------------------------------------------------------------------------------------------------------


def cluster_by(name: str, params: Mapping[str, Any], case: Case) -> Found:
    """Fit an estimator; where merging ends early the clusters it had reached count."""
    try:
        return Found(*solve(getattr(engines, name), dict(params), case.X, case.said, case.k, case.seed))
    except DeadEndError as error:
        if error.dendrogram is None or error.k_min is None:
            raise
        return Found(error.dendrogram.cut(n_clusters=error.k_min), error.dendrogram, dead_end=True)


def learn_then_cluster(name: str, then: str, case: Case) -> Found:
    """Learn a metric, then cluster the samples as it sees them; ReCon is told the statements, k-means is not."""
    cls = getattr(engines, name)
    given = {"random_state": case.seed, "n_clusters": case.k}
    learner = cls(**{key: value for key, value in given.items() if key in inspect.signature(cls).parameters})
    heard = np.isin(case.said.kind, list(cls.understands))  # some learn from must-links alone
    Z = learner.fit_transform(case.X, constraints=case.said.select(heard))
    if then == "ReCon":
        return cluster_by("ReCon", {}, case._replace(X=Z))
    return Found(KMeans(case.k, n_init=10, random_state=case.seed).fit_predict(Z))


def front_door(case: Case, effort: str = "full") -> Found:
    """The result of `linkwise.cluster` without a choice of method."""
    found = linkwise.cluster(case.X, case.said, case.k, random_state=case.seed, effort=effort)
    return Found(found.labels, found.dendrogram)


def engine(name: str, takes: str = "pairs", *, hard: bool = False, **params: Any) -> Contender:
    """Enter a clusterer: one that weighs statements gets all of them, others those that can hold together.

    With ``hard`` one that weighs is told what others are, so that its price for statements plays no role.
    """
    cls = getattr(engines, name)
    told_k = "n_clusters" in inspect.signature(cls).parameters and params.get("n_clusters", 0) is not None
    repaired = hard or not cls.weighs
    return Contender(takes, partial(cluster_by, name, params), repaired, told_k=told_k, enters=name, params=params)


def metric(name: str, takes: str = "pairs", then: str = "KMeans", seeds: int = 1000) -> Contender:
    """Enter a metric learner, for which all statements are wishes; ReCon after it gets what can hold together."""
    return Contender(takes, partial(learn_then_cluster, name, then), then == "ReCon", enters=name, seeds=seeds)


# -- others ----------------------------------------------------------------------------------------------------------


def plain(model: Callable[[int, int], ClusterMixin]) -> Contender:
    """Enter a method that knows nothing."""
    return Contender("nothing", lambda case: Found(model(case.k, case.seed).fit_predict(case.X)), whose="plain")


def peer(takes: str = "pairs", *, repaired: bool = False, told_k: bool = True, seeds: int = 1000) -> Contender:
    """Enter a method of another library; those that refuse contradictions get what ours of that sort get."""
    return Contender(takes, None, repaired, told_k, "peer", seeds=seeds)


# told hard statements, CVQE and LCVQE are COPKMeans, and HMRFKMeans is PCKMeans
WEIGHING = ["PCKMeans", "MKMeans", "MPCKMeans", "PenalizedMixture", "SpectralLearning", "KernelKMeans"]

CONTENDERS: dict[str, Contender] = {
    "cluster": Contender("pairs", front_door, repaired=True, enters="Consensus"),
    "cluster quick": Contender("pairs", partial(front_door, effort="quick"), repaired=True),
    "ConstrainedAgglomerative": engine("ConstrainedAgglomerative"),
    "ConstrainedAgglomerative ward": engine("ConstrainedAgglomerative", linkage="ward"),
    "SparseAgglomerative": engine("SparseAgglomerative"),
    "ConstrainedCompleteLink": engine("ConstrainedCompleteLink"),
    "ConstrainedCompleteLink average": engine("ConstrainedCompleteLink", linkage="average"),
    "ReCon": engine("ReCon"),
    "COPKMeans": engine("COPKMeans"),
    "SeededKMeans": engine("SeededKMeans"),
    "FrequencySensitiveKMeans": engine("FrequencySensitiveKMeans"),
    "AlternativeKMeans": engine("AlternativeKMeans"),
    "ConstrainedKMeans": engine("ConstrainedKMeans"),
    "CVQE": engine("CVQE"),
    "LCVQE": engine("LCVQE"),
    "PCKMeans": engine("PCKMeans"),
    "MKMeans": engine("MKMeans"),
    "MPCKMeans": engine("MPCKMeans"),
    "HMRFKMeans": engine("HMRFKMeans"),
    "ConstrainedGaussianMixture": engine("ConstrainedGaussianMixture"),
    "PenalizedMixture": engine("PenalizedMixture"),
    "SpectralLearning": engine("SpectralLearning"),
    "KernelKMeans": engine("KernelKMeans"),
    "NeighborhoodPropagation": engine("NeighborhoodPropagation"),
    "NeighborhoodPropagation k free": engine("NeighborhoodPropagation", n_clusters=None),
    "CorrelationClustering": engine("CorrelationClustering", budget=2.0),
    **{f"{name} hard": engine(name, hard=True) for name in WEIGHING},
    "XingMetric + KMeans": metric("XingMetric"),
    "ITML + KMeans": metric("ITML"),
    "RCA + KMeans": metric("RCA"),
    "DiscriminativeRCA + KMeans": metric("DiscriminativeRCA"),
    "ChunkletLDA + KMeans": metric("ChunkletLDA"),
    "LSML + KMeans": metric("LSML"),
    "DistBoost + KMeans": metric("DistBoost", seeds=1),
    "ReCon triplets": engine("ReCon", "triplets"),
    "ReCon triplets outliers": engine("ReCon", "triplets", min_cluster_size="auto"),
    "UltraTran": engine("UltraTran", "triplets"),
    "IPoptim": engine("IPoptim", "triplets"),
    "HACoc": engine("HACoc", "triplets"),
    "LeastSquaresUltrametric": engine("LeastSquaresUltrametric", "triplets"),
    "IHAC": engine("IHAC", "triplets"),
    "BiHAC": engine("BiHAC", "triplets"),
    "BiiHAC": engine("BiiHAC", "triplets"),
    "SVMMetric + ReCon": metric("SVMMetric", "triplets", "ReCon"),
    "LSML + ReCon": metric("LSML", "triplets", "ReCon"),
    "KMeans": plain(lambda k, seed: KMeans(k, n_init=10, random_state=seed)),
    "average linkage": plain(lambda k, _: AgglomerativeClustering(k, linkage="average")),
    "Ward": plain(lambda k, _: AgglomerativeClustering(k, linkage="ward")),
    "active-semi COPKMeans": peer(repaired=True, seeds=1),
    "active-semi PCKMeans": peer(repaired=True, seeds=2),
    "active-semi MPCKMeans": peer(repaired=True, seeds=1),
    "metric-learn ITML + KMeans": peer(seeds=2),
    "metric-learn RCA + KMeans": peer(),
    "metric-learn MMC + KMeans": peer(),
    "metric-learn LSML + KMeans": peer(),
    "constrained-linkage": peer(seeds=2),
    "pyannote": peer(repaired=True, seeds=1),
    "fast-hdbscan": peer(repaired=True, told_k=False),
    "k-means-constrained": peer("sizes"),
    "COBRAS": peer("questions", told_k=False),
}


def missing_engines() -> set[str]:
    """Public estimators of linkwise that no contender stands for."""
    for module in pkgutil.walk_packages(linkwise.__path__, "linkwise."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, waiting = set(), [ConstrainedClusterer, DistanceLearner]
    while waiting:
        for cls in waiting.pop().__subclasses__():
            waiting.append(cls)
            public = cls.__module__.startswith("linkwise.") and not cls.__name__.startswith("_")
            if public and cls is not MetricLearner:  # a base, like ConstrainedClusterer
                found.add(cls.__name__)
    return found - {contender.enters for contender in CONTENDERS.values()}


def labels_of(found: Found, n: int) -> Any:
    """Labels as plain whole numbers, or an error that says what came instead."""
    labels = np.asarray(found.labels)
    if labels.shape != (n,):
        msg = f"labels of shape {labels.shape}, expected one for each of {n} samples"
        raise ValueError(msg)
    return np.unique(labels, return_inverse=True)[1]
