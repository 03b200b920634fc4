"""What the Python of other libraries runs for ``quality.py``: fits asked for line by line, until the input ends.

    python _quality_child.py --can        print the methods this Python can run, with the versions
    python _quality_child.py              read a JSON object per line, answer with one per line

No part of linkwise is imported: this file has to run where only the peers are installed. A request holds ``method``,
``X`` (a file), ``must`` and ``cannot`` (pairs), ``k``, ``seed``, ``limit`` (seconds) and what a method needs besides.
An answer holds ``labels`` and ``seconds``, or ``error``.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import random
import signal
import sys
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


class OutOfTime(BaseException):
    """The time for a fit is over; no Exception, so that no method takes it for one of its own."""


def kmeans(X: Any, ask: dict[str, Any]) -> Any:
    """Cluster what a metric learner made of the samples."""
    from sklearn.cluster import KMeans

    return KMeans(ask["k"], n_init=10, random_state=ask["seed"]).fit_predict(X)


# -- active-semi-supervised-clustering -------------------------------------------------------------------------------


def active_semi(name: str) -> Callable[[Any, dict[str, Any]], Any]:
    """A clusterer of that library; it wants lists of pairs."""

    def fit(X: Any, ask: dict[str, Any]) -> Any:
        from active_semi_clustering.semi_supervised import pairwise_constraints as methods

        model = getattr(methods, name)(n_clusters=ask["k"])
        pairs = ([tuple(pair) for pair in ask[kind]] for kind in ("must", "cannot"))
        model.fit(X, **dict(zip(("ml", "cl"), pairs, strict=True)))
        return model.labels_

    return fit


# -- metric-learn ----------------------------------------------------------------------------------------------------


def metric_learn(name: str) -> Callable[[Any, dict[str, Any]], Any]:
    """A metric learner, then k-means; where it has nothing to learn from, k-means alone."""

    def fit(X: Any, ask: dict[str, Any]) -> Any:
        import metric_learn as methods

        must, cannot = (np.array(ask[kind], dtype=int).reshape(-1, 2) for kind in ("must", "cannot"))
        if not len(must) or (name != "RCA" and not len(cannot)):
            return kmeans(X, ask)
        if name == "RCA":
            model = methods.RCA().fit(X, chunklets(len(X), must))
        elif name == "LSML":
            count = max(len(must), len(cannot))
            near, far = (rows[np.arange(count) % len(rows)] for rows in (must, cannot))
            model = methods.LSML(preprocessor=X).fit(np.hstack([near, far]))
        else:
            more = {"diagonal": True} if name == "MMC" else {}  # a full matrix takes half a minute
            model = getattr(methods, name)(preprocessor=X, **more)
            model.fit(np.vstack([must, cannot]), np.repeat([1, -1], [len(must), len(cannot)]))
        return kmeans(X @ model.components_.T, ask)

    return fit


def chunklets(n: int, must: Any) -> Any:
    """Number of each sample's chunklet, -1 for none."""
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import connected_components

    part = connected_components(coo_matrix((np.ones(len(must)), must.T), shape=(n, n)), directed=False)[1]
    alone = np.bincount(part)[part] < 2
    numbers = np.full(n, -1)
    numbers[~alone] = np.unique(part[~alone], return_inverse=True)[1]
    return numbers


# -- trees and densities ---------------------------------------------------------------------------------------------


def constrained_linkage(X: Any, ask: dict[str, Any]) -> Any:
    """Average linkage with the largest distance as price of a broken pair, and as reward of a kept one."""
    from constrained_linkage import constrained_linkage
    from scipy.spatial.distance import pdist, squareform

    distances = squareform(pdist(X))
    price = np.zeros_like(distances)
    for kind, sign in (("must", -1.0), ("cannot", 1.0)):
        for a, b in ask[kind]:
            price[a, b] = price[b, a] = price[a, b] + sign * distances.max()
    Z = constrained_linkage(distances, "average", constraint_matrix=price)
    return cut(Z, ask["k"])


def cut(Z: Any, k: int) -> Any:
    """The k clusters before the last merges, whatever the heights, which need not grow."""
    n = len(Z) + 1
    root = np.arange(2 * n - 1)
    for at in range(n - k):
        for child in Z[at, :2].astype(int):
            root[child] = n + at
    for node in range(2 * n - 2, -1, -1):
        root[node] = root[root[node]]
    return root[:n]


def pyannote(X: Any, ask: dict[str, Any]) -> Any:
    """Pooled linkage; merges at infinite height are those it was forbidden, so it is cut before them."""
    from pyannote.core.utils.hierarchy import linkage

    pairs = {f"{kind}_link": [tuple(pair) for pair in ask[kind]] for kind in ("must", "cannot")}
    Z = np.asarray(linkage(X, method="pool", metric="euclidean", **pairs))
    allowed = len(Z) if np.isfinite(Z[:, 2]).all() else int(np.argmin(np.isfinite(Z[:, 2])))
    ask["dead_end"] = ask["k"] < len(X) - allowed
    return cut(Z, max(ask["k"], len(X) - allowed))


def fast_hdbscan(X: Any, ask: dict[str, Any]) -> Any:
    """HDBSCAN that keeps cannot-links; it takes no must-links and finds the number of clusters itself."""
    from fast_hdbscan import HDBSCAN
    from scipy.sparse import coo_matrix

    given = {}
    if ask["cannot"]:
        a, b = np.array(ask["cannot"]).T
        links = coo_matrix((np.ones(2 * len(a), dtype=bool), (np.r_[a, b], np.r_[b, a])), shape=(len(X),) * 2)
        given["cannot_link"] = links.tocsr()
    return HDBSCAN(algorithm="kruskal", **given).fit(X).labels_


def sizes(X: Any, ask: dict[str, Any]) -> Any:
    """k-means told the sizes of the smallest and the largest class, and no pair."""
    from k_means_constrained import KMeansConstrained

    low, high = ask["sizes"]
    return KMeansConstrained(ask["k"], size_min=low, size_max=high, random_state=ask["seed"]).fit_predict(X)


def cobras(X: Any, ask: dict[str, Any]) -> Any:
    """Labels COBRAS would show after each amount of answers, and what it asked."""
    from _asking_child import Person, run_cobras

    y = np.load(ask["y"])
    person = Person(y, ask["seed"], max(ask["amounts"]), ask["wrong"])
    rows = run_cobras(X, y, person)
    ask["asked"] = [[a, b, int(said)] for a, b, said in person.asked]
    return [rows[min(m, len(rows) - 1)] for m in ask["amounts"]]


METHODS: dict[str, tuple[str, str, Callable[[Any, dict[str, Any]], Any]]] = {
    **{
        f"active-semi {name}": ("active_semi_clustering", "active-semi-supervised-clustering", active_semi(name))
        for name in ("COPKMeans", "PCKMeans", "MPCKMeans")
    },
    **{
        f"metric-learn {name} + KMeans": ("metric_learn", "metric-learn", metric_learn(name))
        for name in ("ITML", "RCA", "MMC", "LSML")
    },
    "constrained-linkage": ("constrained_linkage", "constrained-linkage", constrained_linkage),
    "pyannote": ("pyannote.core", "pyannote.core", pyannote),
    "fast-hdbscan": ("fast_hdbscan", "fast-hdbscan", fast_hdbscan),
    "k-means-constrained": ("k_means_constrained", "k-means-constrained", sizes),
    "COBRAS": ("cobras_ts.cobras_kmeans", "cobras-ts", cobras),
}


def can() -> dict[str, str]:
    """The methods whose library can be imported here, and its version."""
    found = {}
    for name, (module, package, _) in METHODS.items():
        try:
            importlib.import_module(module)
            found[name] = importlib.metadata.version(package)
        except Exception as why:  # noqa: BLE001 - whatever keeps it from running
            print(f"{name} does not run here: {type(why).__name__}: {why}", file=sys.stderr)
    return found


def stop(*_: Any) -> None:
    """End a fit."""
    raise OutOfTime


def warm_up(ask: dict[str, Any], seen: set[tuple[str, str]]) -> None:
    """Let a method run on a few samples of a set before its time is taken: some compile when they meet new features."""
    place = (ask["method"], ask.get("X", ""))
    if place not in seen and ask["method"] != "COBRAS":
        seen.add(place)
        small = {"k": 2, "seed": 0, "must": [[0, 1], [2, 3]], "cannot": [[0, 2], [4, 5]], "sizes": [5, 55]}
        with contextlib.suppress(Exception):
            METHODS[ask["method"]][2](np.load(ask["X"])[:60], small)


def answer(ask: dict[str, Any]) -> dict[str, Any]:
    """Fit once; whatever goes wrong is the answer."""
    random.seed(ask["seed"])
    np.random.seed(ask["seed"])  # noqa: NPY002  (the peers draw from the global generator)
    # one library makes every rounding an error when it is imported; the others of the same Python must not suffer
    np.seterr(all="raise" if ask.get("method", "").startswith("active-semi") else "warn")
    start = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, ask["limit"])
        labels = METHODS[ask["method"]][2](np.load(ask["X"]), ask)
        return {
            "labels": np.asarray(labels, dtype=int).tolist(),
            "seconds": time.perf_counter() - start,
            "asked": ask.get("asked", []),
            "dead_end": bool(ask.get("dead_end")),
        }
    except OutOfTime:
        return {"error": f"stopped after {ask['limit']:g} seconds", "seconds": time.perf_counter() - start}
    except Exception as error:  # noqa: BLE001
        return {"error": f"{type(error).__name__}: {error}", "seconds": time.perf_counter() - start}
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def main() -> None:
    """Answer until the input ends; what methods print goes to the error stream."""
    warnings.simplefilter("ignore")
    if sys.argv[1:] == ["--can"]:
        print(json.dumps(can()))
        return
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    signal.signal(signal.SIGALRM, stop)
    seen: set[tuple[str, str]] = set()
    for line in sys.stdin:
        ask = json.loads(line)
        warm_up(ask, seen)
        print(json.dumps(answer(ask)), file=out, flush=True)


if __name__ == "__main__":
    main()
