"""A `Case` for each estimator of the package, and `each`, which runs a law of the contract for the cases it is about.

A law is a test function with the argument ``case`` and, if it asks for them, ``kind``, ``linkage``, ``model`` or
``example``. ``law.runs(cases)`` lists its arguments for other cases than those of the package.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from typing import Any, NamedTuple

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

import linkwise as lw
from linkwise import Constraints, Kind
from linkwise.constraints import MaxCentroidDistance, MinSeparation, NeighborWithin, SizeBetween
from linkwise.engines.graph import Field
from linkwise.exceptions import LinkwiseWarning
from tests.contract.discovery import blobs, linkages, truth
from tests.oracles import spectral

TREE, LABELS, METRIC, DISTANCE = "tree", "labels", "metric", "distance"
CLUSTERERS, LEARNERS = (TREE, LABELS), (METRIC, DISTANCE)
ALL = CLUSTERERS + LEARNERS

TRIPLETS = frozenset({Kind.TRIPLET})
EQUIVALENCES = frozenset({Kind.MUST_LINK, Kind.TOGETHER})
LINKS = EQUIVALENCES | {Kind.CANNOT_LINK, Kind.APART}


class Way(NamedTuple):
    """One way through the code of an estimator: its options, and the reason to take it."""

    reason: str
    options: dict[str, Any]
    checks: bool = True  # False where scikit-learn's checks would go the same way as before


DEFAULT = Way("the default", {})


def way(reason: str, **options: Any) -> Way:
    """A way that laws and scikit-learn's checks take."""
    return Way(reason, options)


def law_way(reason: str, **options: Any) -> Way:
    """A way that only the laws of learners take."""
    return Way(reason, options, checks=False)


@dataclass(frozen=True)
class Case:
    """An estimator, how to make it, and its promises, which select the laws that apply to it.

    Parameters
    ----------
    estimator : type
    answers : {"tree", "labels", "metric", "distance"}
        The form of the answer; a distance is one that no linear map gives.
    kinds, rules : frozenset
        Kinds of statements and types of rules it understands.
    best_effort, weighs : bool
        Whether it promises nothing about hard statements, and whether it weighs soft ones against the data.
    options : dict
        Options of every model the suite makes.
    ways : tuple of Way
        Ways through its code. Laws of learners take them all.
    plain : callable, optional
        Labels that the method finds in X without statements, as a function of X, ``n_clusters`` and a seed. Without
        it, an estimator that answers with labels is compared with scikit-learn's KMeans.
    euclidean, turnable : dict
        Options with which a method that learns a metric does not, or learns one that turns with the space.
    searches : bool
        Whether it searches among trees for one of least loss: then no linkage is its plain method, and statements that
        follow may lead a search that is not exhaustive to another tree.
    takes_sparse : bool
        Whether it takes sparse X with default options; ``sparse_ways`` lists other options and whether it does then.
    checks : str, optional
        The file that runs scikit-learn's checks on it, if they need constraints or find no clusters in X alone.
    """

    estimator: type
    answers: str
    kinds: frozenset[Kind]
    rules: frozenset[type] = frozenset()
    best_effort: bool = False
    weighs: bool = False
    options: dict[str, Any] = field(default_factory=dict)
    ways: tuple[Way, ...] = (DEFAULT,)
    plain: Callable[[Any, int, int], Any] | None = None
    euclidean: dict[str, Any] = field(default_factory=dict)
    turnable: dict[str, Any] = field(default_factory=dict)
    may_leave_clusters_empty: bool = False
    adds_weights: bool = False
    counts_triplets: bool = False
    searches: bool = False
    warns_of_coincident_pairs: bool = False
    takes_sparse: bool = True
    sparse_ways: tuple[tuple[dict[str, Any], bool], ...] = ()
    checks: str | None = None

    @property
    def name(self) -> str:
        """Name of the class."""
        return self.estimator.__name__

    @property
    def linkages(self) -> tuple[str | None, ...]:
        """Linkages a tree can be built with."""
        return linkages(self.estimator) if self.answers == TREE else (None,)

    def has(self, name: str) -> bool:
        """Whether the estimator has a parameter or a method of that name."""
        return name in self.estimator._parameter_constraints or callable(getattr(self.estimator, name, None))

    def make(self, *, seed: int | None = 0, linkage: str | None = None, **options: Any) -> Any:
        """Make a model: as coarse a cut as statements allow for a tree, three clusters otherwise."""
        wanted: dict[str, Any] = {"random_state": seed}
        if linkage is not None:
            wanted["linkage"] = linkage
        if self.answers in CLUSTERERS:
            wanted["n_clusters"] = None if self.answers == TREE else 3
        wanted = {key: value for key, value in wanted.items() if key in self.estimator._parameter_constraints}
        return self.estimator(**wanted | self.options | options)

    def models(self) -> list[Any]:
        """One model for each way."""
        return [self.make(**way.options) for way in self.ways]

    def examples(self) -> list[Example]:
        """A clusterer with each kind it understands, a learner in each way with all kinds."""
        if self.answers in CLUSTERERS:
            return [Example(self, self.make(), (kind,)) for kind in self.each_kind()]
        return [Example(self, model, self.each_kind()) for model in self.models()]

    def each_kind(self) -> tuple[Kind, ...]:
        """The kinds in their order."""
        return tuple(kind for kind in Kind if kind in self.kinds)

    def statements(self, y: Any, seed: int = 0, m: int = 15, kinds: Iterable[Kind] | None = None) -> Constraints:
        """True statements of all the kinds it understands, or of those given."""
        chosen = self.each_kind() if kinds is None else [kind for kind in Kind if kind in kinds]
        return Constraints.build(len(y), **{kind.word: truth(kind, y, seed + kind, m) for kind in chosen})


class Example(NamedTuple):
    """An unfitted model and the kinds of statements to fit it with."""

    case: Case
    model: Any
    kinds: tuple[Kind, ...]

    def __str__(self) -> str:
        return f"{self.case.name}-{self.kinds[0].word}" if self.case.answers in CLUSTERERS else repr(self.model)

    def problem(self, seed: int) -> tuple[Any, Constraints]:
        """Samples and statements that hold for their classes."""
        if self.case.answers in LEARNERS:
            X, y = features(seed)
            return X, self.case.statements(y)
        X, y = blobs(seed)
        return X, Constraints.build(len(X), **{kind.word: truth(kind, y, seed) for kind in self.kinds})


def features(seed: int = 0, n: int = 40, d: int = 4) -> tuple[Any, Any]:
    """Three classes that the first two features separate; the last two are loud and separate nothing."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % 3
    X = rng.normal(size=(n, d))
    X[:, :2] += 2.5 * np.array([[0, 0], [1, 0], [0, 1]])[y]
    X[:, 2:] *= 3
    return X, y


@contextmanager
def quiet() -> Iterator[None]:
    """Without the warning of best effort about the statements it broke."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*promises nothing and broke", LinkwiseWarning)
        yield


def fit(model: Any, X: Any, constraints: Constraints | None = None) -> Any:
    """Fit a copy of a model quietly."""
    with quiet():
        return clone(model).fit(X, constraints=constraints)


# -- laws --------------------------------------------------------------------------------------------------------------


def each(
    answers: tuple[str, ...],
    *by: str,
    linkages: tuple[str | None, ...] | None = None,
    where: Callable[[Case], bool] = lambda _: True,
) -> Callable[[Callable[..., None]], Any]:
    """Run a law for each case with one of the answers, and by "kind", "linkage", "model" or "example"."""
    parts = {
        "kind": lambda case: [(kind, kind.word) for kind in case.each_kind()],
        "linkage": lambda case: [(one, one) for one in case.linkages if linkages is None or one in (None, *linkages)],
        "model": lambda case: [(model, repr(model)) for model in case.models()],
        "example": lambda case: [(example, str(example)) for example in case.examples()],
    }

    def runs(cases: Iterable[Case]) -> list[Any]:
        found = []
        for case in (one for one in cases if one.answers in answers and where(one)):
            first = [] if {"model", "example"} & set(by) else [case.name]  # their words name the case as well
            for chosen in product(*(parts[part](case) for part in by)):
                words = [*first, *(word for _, word in chosen if word)]
                found.append(pytest.param(case, *(value for value, _ in chosen), id="-".join(words)))
        return found

    def decorate(law: Callable[..., None]) -> Any:
        law.runs = runs  # type: ignore[attr-defined]
        law.arguments = ("case", *by)  # type: ignore[attr-defined]
        return pytest.mark.parametrize(("case", *by), runs(CASES))(law)

    return decorate


# -- plain methods -----------------------------------------------------------------------------------------------------


def kmeans(X: Any, k: int, seed: int) -> Any:
    """Ten runs of COPKMeans without statements, which its own case compares with scikit-learn."""
    return lw.COPKMeans(k, n_init=10, random_state=seed).fit(X).labels_


def in_field(X: Any, k: int, seed: int) -> Any:
    """Plain k-means in the leading coordinates of the field."""
    return kmeans(Field(X).coordinates(max(2 * k, 4)), k, seed)


def from_means(cls: type, X: Any, k: int, seed: int) -> Any:
    """Where k-means goes from the means of the clusters an estimator found: nowhere."""
    labels = cls(k, random_state=seed).fit(X).labels_
    means = [X[labels == c].mean(axis=0) for c in range(k)]
    return KMeans(k, init=means, n_init=1).fit(X).labels_


def by_frequency(X: Any, k: int, seed: int) -> Any:
    """The least distance times frequency to the means of the clusters, with the frequencies that were found."""
    model = lw.engines.FrequencySensitiveKMeans(k, random_state=seed).fit(X)
    means = np.array([X[model.labels_ == c].mean(axis=0) for c in range(k)])
    return (((X[:, None] - means) ** 2).sum(axis=2) * model.frequencies_).argmin(axis=1)


def gaussians(X: Any, k: int, seed: int) -> Any:
    """scikit-learn's mixture."""
    return GaussianMixture(k, random_state=seed).fit_predict(X)


# -- the cases ---------------------------------------------------------------------------------------------------------


def votes_of_plain_views(X: Any, n_clusters: int, seed: int) -> Any:
    """Average linkage on the share of plain views that keep samples apart, then moves by the expected Rand index."""
    from linkwise.engines.consensus._maps import Maps
    from linkwise.engines.consensus._views import PLAIN, fit_views
    from tests.oracles import moves

    drawn = int(np.random.default_rng(seed).integers(2**31 - 1))
    found = fit_views(PLAIN, Maps(X, n_clusters), Constraints.build(len(X)), drawn, lambda: None).labels.values()
    share = np.mean([one[:, None] == one[None, :] for one in found], axis=0)
    labels = lw.ConstrainedAgglomerative(n_clusters, metric="precomputed").fit(1 - share).labels_
    return moves.climb(1 / (1 + np.exp(3 - 6 * share)), labels, n_clusters)


tree = partial(Case, answers=TREE)
best_effort_tree = partial(Case, answers=TREE, kinds=TRIPLETS, best_effort=True)
labels = partial(Case, answers=LABELS, kinds=LINKS)
metric = partial(Case, answers=METRIC, kinds=LINKS, takes_sparse=False)

ABOUT_CLUSTERS = frozenset({SizeBetween, NeighborWithin})
PRECOMPUTED = way("distances instead of samples", metric="precomputed")
ONE = way("one cluster", n_clusters=1)
WARD_IS_DENSE = ({"linkage": "ward"}, False)
# Large steps on two features leave one of them, and then all samples are equally similar: nothing but ties.
SMALL_STEPS = {"learning_rate": 0.05}
LEARNS = {"euclidean": {"form": "none"}, "turnable": {"form": "full"}, "takes_sparse": False}

CASES = [
    tree(
        lw.ConstrainedAgglomerative,
        kinds=LINKS,
        rules=frozenset({MinSeparation, NeighborWithin, MaxCentroidDistance}),
        ways=(
            way("rounds over a matrix: single, complete, average and weighted differ in one formula"),
            way("works on points: ward, centroid and median", linkage="ward"),
            way("a spanning tree", linkage="single"),
            way("distances that are not Euclidean", linkage="complete", metric="cityblock"),
            way("one cluster per tree; read by the base class of all hierarchies", n_clusters=None),
            ONE,
            way("another precision", dtype="float32"),
            way("another precision on points", dtype="float32", linkage="ward"),
            PRECOMPUTED,
            way("a spanning tree of given distances", metric="precomputed", linkage="single"),
            # scikit-learn's checks predict, which needs vectors with this linkage
            law_way("heights may fall: a separate loop", metric="precomputed", linkage="median"),
        ),
        sparse_ways=(({"linkage": "average", "metric": "cosine"}, True), WARD_IS_DENSE),
    ),
    tree(
        lw.ConstrainedCompleteLink,
        kinds=LINKS,
        rules=frozenset({NeighborWithin}),
        ways=(
            DEFAULT,
            way("another precision", dtype="float32"),
            way("distances are taken as they are", metric_input=False),
            PRECOMPUTED,
        ),
        sparse_ways=(({"metric": "cosine"}, True),),
    ),
    tree(
        lw.ReCon,
        kinds=LINKS | TRIPLETS,
        rules=ABOUT_CLUSTERS,
        ways=(
            DEFAULT,
            way("works on points and their number", linkage="ward"),
            way("cuts where statements allow, not by a number", n_clusters=None),
            way("another cut", cut="merges"),
            way("small branches are given away", min_cluster_size=2),
            way("small branches by the size of X", min_cluster_size="auto"),
            way("distances instead of samples", metric="precomputed", linkage="average"),
        ),
        takes_sparse=False,
        sparse_ways=(({"linkage": "average", "metric": "cosine"}, True), WARD_IS_DENSE),
    ),
    tree(
        lw.SparseAgglomerative,
        kinds=LINKS | TRIPLETS,
        ways=(
            way("along few neighbors, to few clusters", n_neighbors=4, top=8),
            way("compares all", n_neighbors=30),
            way("cuts where statements allow, not by a number", n_clusters=None, top=8),
        ),
        takes_sparse=False,
    ),
    best_effort_tree(
        lw.engines.HACoc,
        ways=(
            DEFAULT,
            way("works on points", linkage="ward"),
            way("one comparison per triplet", anchors="random", closure=True, conflicts="random"),
            PRECOMPUTED,
        ),
    ),
    best_effort_tree(
        lw.engines.IPoptim,
        ways=(
            DEFAULT,
            way("another program", enforce="joint", norm="l1"),
            way("one comparison per triplet", margin=0, anchors="random", conflicts="cheapest"),
            PRECOMPUTED,
        ),
        sparse_ways=(({"metric": "cosine"}, True),),
    ),
    best_effort_tree(
        lw.engines.UltraTran,
        ways=(DEFAULT, way("another transformation", variant="strict"), PRECOMPUTED),
        sparse_ways=(({"metric": "cosine"}, True),),
    ),
    tree(
        lw.engines.LeastSquaresUltrametric,
        kinds=TRIPLETS,
        options={"n_kicks": 1, "budget": 0.02},
        searches=True,
        ways=(DEFAULT, PRECOMPUTED),
        sparse_ways=(({"metric": "cosine"}, True),),
    ),
    best_effort_tree(lw.engines.BiHAC, options=SMALL_STEPS),
    best_effort_tree(lw.engines.BiiHAC, options=SMALL_STEPS),
    best_effort_tree(lw.engines.IHAC),
    labels(lw.Consensus, kinds=LINKS | TRIPLETS, weighs=True, plain=votes_of_plain_views, counts_triplets=True),
    labels(
        lw.COPKMeans,
        rules=ABOUT_CLUSTERS,
        ways=(
            DEFAULT,
            way("samples in turn", assignment="greedy"),
            way("starts from groups", init="neighborhoods"),
            ONE,
        ),
    ),
    labels(lw.engines.AlternativeKMeans, takes_sparse=False),
    labels(lw.engines.ConstrainedKMeans, rules=ABOUT_CLUSTERS),
    labels(lw.engines.FrequencySensitiveKMeans, plain=by_frequency),
    labels(lw.engines.SeededKMeans, rules=ABOUT_CLUSTERS, best_effort=True),
    labels(lw.PCKMeans, rules=ABOUT_CLUSTERS, weighs=True, ways=(DEFAULT, way("samples in turn", inference="icm"))),
    labels(
        lw.MPCKMeans,
        rules=ABOUT_CLUSTERS,
        weighs=True,
        ways=(DEFAULT, way("a matrix for each cluster", form="full", per_cluster=True)),
        **LEARNS,
    ),
    labels(lw.engines.MKMeans, rules=ABOUT_CLUSTERS, weighs=True, **LEARNS),
    labels(
        lw.engines.HMRFKMeans,
        rules=ABOUT_CLUSTERS,
        weighs=True,
        ways=(
            DEFAULT,
            way("learns weights of features", form="diagonal"),
            way("labels from beliefs", inference="bp"),
            way("labels from fractions", inference="lp"),
        ),
        sparse_ways=(
            ({"distortion": "cosine", "form": "none"}, True),
            ({"distortion": "kl", "form": "none"}, True),
            ({"form": "diagonal"}, False),
            ({"distortion": "pearson", "form": "none"}, False),
        ),
    ),
    labels(
        lw.engines.CVQE,
        rules=ABOUT_CLUSTERS,
        weighs=True,
        ways=(DEFAULT, way("centers as the paper prints them", update="printed")),
    ),
    labels(lw.engines.LCVQE, rules=ABOUT_CLUSTERS, weighs=True),
    labels(
        lw.engines.KernelKMeans,
        rules=frozenset({NeighborWithin}),
        weighs=True,
        plain=partial(from_means, lw.engines.KernelKMeans),
        ways=(
            DEFAULT,
            ONE,
            way("weights, and a graph as kernel", objective="normalized_cut", kernel="nearest_neighbors"),
            way("a kernel with a width", kernel="rbf"),
        ),
        sparse_ways=(({"kernel": "linear", "objective": "hmrf"}, True), ({"kernel": "rbf"}, True)),
    ),
    labels(
        lw.engines.SpectralLearning,
        rules=ABOUT_CLUSTERS,
        weighs=True,
        plain=lambda X, k, seed: kmeans(spectral.embedding(spectral.neighbor_graph(X, 10), k), k, seed),
        ways=(DEFAULT, ONE, way("an affinity with a width", affinity="rbf")),
        sparse_ways=(({"affinity": "rbf"}, True),),
    ),
    labels(lw.engines.NeighborhoodPropagation, plain=in_field, ways=(DEFAULT, ONE)),
    labels(
        lw.ConstrainedGaussianMixture,
        plain=gaussians,
        may_leave_clusters_empty=True,
        ways=(DEFAULT, way("a shared covariance", n_clusters=3, covariance_type="tied", sampling="points")),
        takes_sparse=False,
    ),
    labels(
        lw.engines.PenalizedMixture,
        weighs=True,
        plain=gaussians,
        may_leave_clusters_empty=True,
        ways=(
            DEFAULT,
            way("samples components too wide to sum", n_clusters=1, covariance_type="diag", wide="gibbs"),
            way("samples have weights", alpha=0.4, beta=0.3),
        ),
        takes_sparse=False,
    ),
    labels(
        lw.engines.CorrelationClustering, weighs=True, checks="tests/unit/engines/graph/test_correlation_clustering.py"
    ),
    metric(
        lw.engines.ChunkletLDA,
        kinds=EQUIVALENCES,
        ways=(
            DEFAULT,
            law_way("fewer features", n_components=1),
            law_way("a covariance that is pulled to a ball", shrinkage=0.5),
        ),
    ),
    metric(lw.engines.DiscriminativeRCA, ways=(DEFAULT, law_way("fewer features", n_components=1))),
    metric(
        lw.engines.RCA,
        kinds=EQUIVALENCES,
        ways=(
            DEFAULT,
            way("fewer features; one place for all learners", n_components=1),
            law_way("a covariance that is pulled to a ball", shrinkage=0.2),
        ),
    ),
    metric(
        lw.engines.ITML,
        adds_weights=True,
        warns_of_coincident_pairs=True,
        ways=(
            DEFAULT,
            way("another solver", solver="lbfgs"),
            way("projections in turn", solver="bregman", tol=1e-5),
            law_way("a prior learned from X, as in LSML", prior="covariance"),
            law_way("a weak prior", slack=0.1),
        ),
    ),
    metric(
        lw.engines.LSML,
        kinds=LINKS | TRIPLETS,
        adds_weights=True,
        warns_of_coincident_pairs=True,
        ways=(
            DEFAULT,
            way("another loss", loss="margin"),
            way("a prior learned from X, as in ITML", prior="covariance"),
        ),
    ),
    metric(
        lw.engines.SVMMetric,
        kinds=TRIPLETS,
        adds_weights=True,
        ways=(DEFAULT, law_way("less regularization", C=10.0)),
        takes_sparse=True,
    ),
    metric(
        lw.engines.XingMetric,
        adds_weights=True,
        warns_of_coincident_pairs=True,
        ways=(DEFAULT, way("weights of features", form="diagonal"), way("the paper's solver", solver="projection")),
        sparse_ways=(({"form": "diagonal"}, True),),
    ),
    Case(
        lw.engines.DistBoost,
        answers=DISTANCE,
        kinds=LINKS,
        options={"n_rounds": 8},
        ways=(
            way("a number of clusters", n_clusters=3),
            law_way("other shapes", n_clusters=2, covariance_type="diag"),
            way("a shared covariance", covariance_type="tied"),
        ),
        takes_sparse=False,
    ),
]
BY_CLASS = {case.estimator: case for case in CASES}
