"""The cells of ``front_door.py``: sets as all methods get them, statements drawn from classes, fits and scores."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse
from sklearn.cluster import KMeans

from benchmarks._data import NOMINAL, Floats, Ints
from benchmarks._quality_contenders import CONTENDERS, Case, Found, labels_of
from benchmarks._quality_run import LIMIT, PATIENCE, ask_child
from linkwise import Constraints, Kind, cluster, engines
from linkwise.datasets import load
from linkwise.engines.consensus import _estimator, _votes
from linkwise.engines.consensus._views import HARD, Outcome, View, fit_views
from linkwise.metrics import adjusted_rand, hierarchy_fscore
from linkwise.selection._doubt import THRESHOLD, Suspects
from studies.experiments._cell import canonical
from studies.experiments._store import Store

MOST = 1000  # samples of a set, drawn so that classes keep their shares
TEXT_COMPONENTS = 50
DOOR, QUICK = "cluster", "cluster, quick"
Task = dict[str, Any]


# -- sets ----------------------------------------------------------------------------------------------------------


@functools.cache
def samples(name: str) -> tuple[Floats, Ints]:
    """Samples and classes: gaps filled with means, features of unit variance, codes written out, words projected."""
    data = load(name)
    y = np.unique(data.y, return_inverse=True)[1].reshape(-1)
    rows = stratified(y, MOST)
    if scipy.sparse.issparse(data.X):
        return project(data.X.tocsr()[rows]), y[rows]
    X = np.asarray(data.X, dtype=np.float64)[rows]
    if name in NOMINAL:
        levels = [(column, level) for column in X.T for level in np.unique(column[~np.isnan(column)])]
        X = np.column_stack([np.where(column == level, 1.0, 0.0) for column, level in levels])
        return np.ascontiguousarray(X[:, X.std(axis=0) > 0]), y[rows]
    X = X[:, ~np.isnan(X).all(axis=0)]
    X = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    X = X[:, X.std(axis=0) > 1e-12]
    return np.ascontiguousarray((X - X.mean(axis=0)) / X.std(axis=0)), y[rows]


def stratified(y: Ints, size: int) -> Ints:
    """At most ``size`` rows, of each class its share."""
    if len(y) <= size:
        return np.arange(len(y))
    rng = np.random.RandomState(0)
    classes, counts = np.unique(y, return_counts=True)
    quota = counts * size / len(y)
    take = np.floor(quota).astype(int)
    take[np.argsort(-(quota - take), kind="stable")[: size - take.sum()]] += 1
    parts = [rng.permutation(np.flatnonzero(y == c))[:t] for c, t in zip(classes, take, strict=True)]
    return np.sort(np.concatenate(parts))


def project(X: Any) -> Floats:
    """Texts as TF-IDF, projected to a few components of unit length."""
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfTransformer
    from sklearn.preprocessing import normalize

    rows = TruncatedSVD(TEXT_COMPONENTS, random_state=0).fit_transform(TfidfTransformer().fit_transform(X))
    return np.ascontiguousarray(normalize(rows))


# -- statements ----------------------------------------------------------------------------------------------------


def random_pairs(y: Ints, amount: int, seed: int, wrong: int = 0) -> Constraints:
    """State of the first distinct random pairs of a seed whether they are of one class, and of some the opposite."""
    rng = np.random.RandomState(seed)
    drawn: dict[tuple[int, int], bool] = {}
    while len(drawn) < amount:
        a, b = sorted(rng.randint(len(y), size=2).tolist())
        if a != b:
            drawn.setdefault((a, b), bool(y[a] == y[b]))
    pairs = sorted(drawn, key=lambda pair: not drawn[pair])  # must-links first, each kind in the order drawn
    same = np.array([drawn[pair] for pair in pairs])
    same[np.random.RandomState(1000 + seed).permutation(amount)[:wrong]] ^= True
    rows = np.array(pairs, dtype=np.intp).reshape(-1, 2)
    return Constraints.build(len(y), must_link=rows[same], cannot_link=rows[~same])


def random_triplets(y: Ints, amount: int, seed: int) -> Constraints:
    """State triplets ab|c of random samples, a and b of one class and c of another."""
    rng = np.random.RandomState(seed)
    rows: list[tuple[int, int, int]] = []
    while len(rows) < amount:
        a, b, c = rng.randint(len(y), size=3).tolist()
        if a != b and y[a] == y[b] != y[c]:
            rows.append((a, b, c))
    return Constraints.build(len(y), triplets=rows)


# -- views, each fitted once ---------------------------------------------------------------------------------------


class Kept:
    """Records of a folder: what was computed is read, all else is computed and kept.

    Without a folder records live as long as this object.
    """

    def __init__(self, folder: Path | None) -> None:
        self.store = None if folder is None else Store(folder)
        self._here: dict[str, dict[str, Any]] = {}

    def once(self, task: Any, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """The record of a task."""
        key = hashlib.sha256(canonical(task).encode()).hexdigest()
        if self.store is None:
            if key not in self._here:
                self._here[key] = compute()
            return self._here[key]
        found = self.store.get(key)
        if found is None:
            found = {"task": task, "values": compute()}
            self.store.put(key, found)
        values: dict[str, Any] = found["values"]
        return values


@contextmanager
def views_kept(kept: Kept) -> Iterator[list[Outcome]]:
    """Let `Consensus` fit each set of views to the same samples and statements once; yields the outcomes as used."""
    used: list[Outcome] = []

    def fit(views: tuple[View, ...], maps: Any, known: Constraints, seed: int, step: Callable[[], None]) -> Outcome:
        content = hashlib.sha256(np.ascontiguousarray(maps.X).tobytes())
        for part in (known.kind, known.items, known.weight, known.groups.member, known.groups.start):
            content.update(np.ascontiguousarray(part).tobytes())
        task = {"views": views, "k": maps.n_clusters, "seed": seed, "content": content.hexdigest()}

        def compute() -> dict[str, Any]:
            found = fit_views(views, maps, known, seed, step)
            return {
                "labels": [[*view, labels.tolist()] for view, labels in found.labels.items()],
                "missing": [[*view, why] for view, why in found.missing.items()],
            }

        values = kept.once(task, compute)
        labels = {View(*row[:3]): np.array(row[3], dtype=np.intp) for row in values["labels"]}
        used.append(Outcome(labels, {View(*row[:3]): row[3] for row in values["missing"]}))
        return used[-1]

    places: list[Any] = [_estimator, _votes]
    for place in places:
        place.fit_views = fit
    try:
        yield used
    finally:
        for place in places:
            place.fit_views = fit_views


# -- fits ----------------------------------------------------------------------------------------------------------


def by_hand(name: str) -> Callable[[Case], Found]:
    """An engine as a user calls it, after a metric learner where the name has a plus sign."""
    learner, plus, method = name.rpartition(" + ")
    params: dict[str, Any] = {"linkage": "ward"} if method.endswith("ward") else {}
    kind = getattr(engines, method.split()[0])

    def fit(case: Case) -> Found:
        X = case.X
        if plus:
            must = case.said.select(case.said.kind == Kind.MUST_LINK)
            X = getattr(engines, learner)().fit_transform(X, constraints=must if learner == "RCA" else case.said)
        seeded = {"random_state": case.seed} if "random_state" in kind().get_params() else {}
        return Found(kind(case.k, **params, **seeded).fit(X, constraints=case.said).labels_)

    return fit


AS_VIEWS = {  # views that a user can fit in a line or two
    View("raw", "", "ward"): "ConstrainedAgglomerative ward",
    View("raw", "", "link"): "ConstrainedCompleteLink average",
    View("raw", "", "mpck"): "MPCKMeans",
    View("raw", "", "spectral"): "SpectralLearning",
    View("raw", "", "mixture"): "ConstrainedGaussianMixture",
    View("raw", "ITML", "cop"): "ITML + COPKMeans",
    View("raw", "ITML", "spectral"): "ITML + SpectralLearning",
    View("raw", "ITML", "link"): "ITML + ConstrainedCompleteLink average",
    View("raw", "RCA", "ward"): "RCA + ConstrainedAgglomerative ward",
}
BESIDE = ["ConstrainedAgglomerative", "COPKMeans", "ITML + ConstrainedAgglomerative ward"]
ENGINES = [*AS_VIEWS.values(), *BESIDE]


def score(y: Ints, labels: Any, said: Constraints) -> dict[str, Any]:
    """Adjusted Rand index, pairs broken, clusters."""
    z = labels_of(Found(labels), len(y))
    a, b = said.items[:, 0], said.items[:, 1]
    broken = int(((z[a] == z[b]) != (said.kind == Kind.MUST_LINK)).sum()) if said.n_statements else 0
    return {"ari": adjusted_rand(y, z), "broken": broken, "k": int(z.max()) + 1}


def told_pairs(task: Task, kept: Kept) -> dict[str, Any]:
    """The front door, engines by hand and all views, told the same pairs."""
    X, y = samples(task["set"])
    k, seed = int(y.max()) + 1, task["seed"]
    said = random_pairs(y, task["amount"], seed)
    with views_kept(kept) as used:
        found = {DOOR: score(y, cluster(X, said, k, random_state=seed).labels, said)}
    full = used[0].labels
    found |= {name: score(y, full[view], said) for view, name in AS_VIEWS.items() if view in full}
    found |= {f"view: {view}": score(y, labels, said) for view, labels in full.items() if view in HARD}
    found[QUICK] = score(y, cluster(X, said, k, random_state=seed, effort="quick").labels, said)
    for name in BESIDE:
        with suppress(Exception):  # an engine that fails in a cell is not the best there
            found[name] = score(y, by_hand(name)(Case(X, said, k, seed)).labels, said)
    return found


def told_peer(task: Task, python: str, folder: Path) -> dict[str, Any]:
    """A method of another library, told the same pairs."""
    X, y = samples(task["set"])
    said = random_pairs(y, task["amount"], task["seed"])
    path = folder / f"{task['set']}-X.npy"
    folder.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        np.save(path, X)
    ask = {
        "method": task["peer"],
        "X": str(path),
        "k": int(y.max()) + 1,
        "seed": task["seed"],
        "limit": LIMIT,
        "sizes": [],
    }
    ask |= {"must": said.of(Kind.MUST_LINK).tolist(), "cannot": said.of(Kind.CANNOT_LINK).tolist()}
    answer = ask_child(python, ask, LIMIT + PATIENCE)
    return {"error": answer["error"]} if "error" in answer else score(y, answer["labels"], said)


def told_nothing(task: Task, kept: Kept) -> dict[str, Any]:
    """The front door, k-means and Ward linkage without statements; the leaf F of Ward's tree."""
    X, y = samples(task["set"])
    k, seed = int(y.max()) + 1, task["seed"]
    none = Constraints.build(len(y))
    ward = engines.ConstrainedAgglomerative(k, linkage="ward").fit(X)
    with views_kept(kept):
        found = {DOOR: score(y, cluster(X, None, k, random_state=seed).labels, none)}
    found["k-means"] = score(y, KMeans(k, n_init=10, random_state=seed).fit_predict(X), none)
    found["Ward"] = score(y, ward.labels_, none) | {"leaf_f": float(hierarchy_fscore(y, ward.dendrogram_))}
    return found


def told_wrong(task: Task, kept: Kept) -> dict[str, Any]:
    """The front door told to doubt pairs of which some are wrong, and the statements it lists as suspects."""
    X, y = samples(task["set"])
    said = random_pairs(y, task["amount"], task["seed"], task["wrong"])
    with views_kept(kept):
        found = cluster(X, said, int(y.max()) + 1, random_state=task["seed"], trust="doubtful")
    model: Any = found.estimator
    wrong = (y[said.items[:, 0]] == y[said.items[:, 1]]) != (said.kind == Kind.MUST_LINK)
    listed = [
        one.statement for one in Suspects(constraints=said, wrong=1 - model.trust_, threshold=THRESHOLD, model=model)
    ]
    hits = int(wrong[listed].sum())
    return score(y, found.labels, said) | {"found": hits, "accused": len(listed) - hits}


def told_triplets(task: Task, kept: Kept) -> dict[str, Any]:
    """The front door told triplets, the leaf F of its tree, and whether all triplets hold."""
    X, y = samples(task["set"])
    said = random_triplets(y, int(task["share"] * len(y)), task["seed"])
    with views_kept(kept):
        found = cluster(X, said, int(y.max()) + 1, random_state=task["seed"])
    assert found.dendrogram is not None
    return {
        "ari": adjusted_rand(y, found.labels),
        "leaf_f": float(hierarchy_fscore(y, found.dendrogram)),
        "ok": bool(found.certificate.ok),
        "k": found.n_clusters,
    }


PEERS = [name for name, who in CONTENDERS.items() if who.whose == "peer" and who.takes == "pairs"]
