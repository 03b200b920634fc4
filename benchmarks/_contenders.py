"""The contenders: one function per library, each from vectors (and statements) to that library's own result.

A contender is described by a plain dictionary, so that it can be sent to a fresh process:
``{"who": "fastcluster", "method": "average"}``.
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

__all__ = ["MODULE", "builder", "find_missing", "runner", "tree_digest"]

# What must be importable for a contender to take part, and how to get it.
MODULE = {
    "fastcluster": "fastcluster",
    "fastcluster.linkage_vector": "fastcluster",
    "fastcluster + cophenet": "fastcluster",
    "scipy": "scipy",
    "scikit-learn": "sklearn",
    "genieclust": "genieclust",
    "tralda": "tralda",
    "constrained-linkage": "constrained_linkage",
    "pyannote.core": "pyannote.core",
}
GET = {
    "genieclust": "pip install 'genieclust>=1.3'",
    "constrained_linkage": "pip install constrained-linkage",
    "pyannote.core": "pip install pyannote.core",
}

# Ours: `runner` fits them, or with ", tree alone" after the name runs the engine without checks, cut and certificate.
ESTIMATORS = ("ConstrainedAgglomerative", "ConstrainedCompleteLink", "ReCon", "UltraTran", "IPoptim", "HACoc")
ON_A_MATRIX = ("IPoptim", "HACoc")

Run = Callable[[Any, Any], Any]


def find_missing() -> dict[str, str]:
    """Name the libraries that cannot be imported, each with the command that installs it."""
    modules = sorted(set(MODULE.values()))
    return {name: GET.get(name, "pip install linkwise[bench]") for name in modules if not _is_there(name)}


def _is_there(module: str) -> bool:
    package = module.partition(".")[0]
    return importlib.util.find_spec(package) is not None and importlib.util.find_spec(module) is not None


def runner(spec: dict[str, Any]) -> Run:
    """Import what the contender needs and return the call that is measured, ``run(X, constraints)``."""
    who, method = spec["who"], spec.get("method", "centroid")
    if who == "linkwise":
        from linkwise.engines import agglomerate

        return lambda X, _: agglomerate(X, method=method, dtype=spec.get("dtype", "float64"))
    if who == "linkwise on a matrix":
        from linkwise.engines import agglomerate

        # the warm-up sees the first rows of a matrix: take as many columns
        return lambda D, _: agglomerate(D[:, : len(D)], method=method, metric="precomputed")
    if who.partition(",")[0] in ESTIMATORS:
        return _own(who, spec)
    return _peer(who, method)


def _own(who: str, spec: dict[str, Any]) -> Run:
    """Return the fit of an estimator; of one called ``"..., tree alone"`` the engine behind it."""
    import linkwise
    from linkwise.problem import Problem

    name, *words = who.split(", ")
    options = {"linkage": spec["method"]} if "method" in spec else {}
    options |= {"variant": "strict"} if "strict" in words else {}
    metric = "precomputed" if name in ON_A_MATRIX else "euclidean"
    model = getattr(linkwise, name)(spec.get("n_clusters"), metric=metric, **options)

    def solve(X: Any, known: Any) -> Any:
        X = X[:, : len(X)] if metric == "precomputed" else X  # the warm-up sees the first rows of a matrix
        problem = Problem(X, known, metric=metric)
        model._judge(problem)
        return model._solve(problem)

    return solve if "tree alone" in words else lambda X, known: model.fit(X, constraints=known).dendrogram_


def _peer(who: str, method: str) -> Run:
    if who == "fastcluster":
        import fastcluster

        return lambda X, _: fastcluster.linkage(X, method=method)
    if who == "fastcluster.linkage_vector":
        import fastcluster

        return lambda X, _: fastcluster.linkage_vector(X, method=method)
    if who == "fastcluster + cophenet":
        import fastcluster
        from scipy.cluster.hierarchy import cophenet

        def with_ultrametric(X: Any, _: Any) -> Any:
            merges = fastcluster.linkage(X, method=method)
            cophenet(merges)
            return merges

        return with_ultrametric
    if who == "scipy":
        from scipy.cluster.hierarchy import linkage

        return lambda X, _: linkage(X, method=method)
    if who == "scikit-learn":
        from sklearn.cluster import AgglomerativeClustering

        # A distance threshold makes it build and keep the whole tree with its heights, as the others do.
        model = AgglomerativeClustering(n_clusters=None, distance_threshold=0.0, linkage=method)
        return lambda X, _: model.fit(X).children_
    if who == "genieclust":
        import genieclust

        # With this threshold Genie is single linkage. A model remembers its last spanning tree: make one per call.
        return lambda X, _: genieclust.Genie(n_clusters=2, gini_threshold=1.0).fit(X).children_
    if who == "constrained-linkage":
        return _penalized(method)
    if who == "pyannote.core":
        return _pooled()
    msg = f"no contender is called {who!r}; expected one of {sorted(MODULE)} or {sorted(ESTIMATORS)}."
    raise ValueError(msg)


def _penalized(method: str) -> Run:
    """Statements as penalties, far larger than any distance: the package knows no hard ones."""
    import constrained_linkage
    import numpy as np
    from scipy.spatial.distance import pdist

    from linkwise import Kind

    def run(X: Any, known: Any) -> Any:
        distances = pdist(X)
        penalty = np.zeros((len(X), len(X)))
        for kind, sign in ((Kind.MUST_LINK, -10.0), (Kind.CANNOT_LINK, 10.0)):
            i, j = known.of(kind).T
            penalty[i, j] = penalty[j, i] = sign * distances.max()
        return constrained_linkage.constrained_linkage(distances, method, constraint_matrix=penalty)

    return run


def _pooled() -> Run:
    from pyannote.core.utils.hierarchy import linkage

    from linkwise import Kind

    def run(X: Any, known: Any) -> Any:
        must, cannot = ([tuple(row) for row in known.of(kind).tolist()] for kind in (Kind.MUST_LINK, Kind.CANNOT_LINK))
        return linkage(X, method="pool", metric="euclidean", must_link=must, cannot_link=cannot)

    return run


def builder(who: str, n: int, triplets: Any) -> tuple[Callable[[], Any], Callable[[Any], Any]]:
    """Prepare the call that builds a tree from triplets, and what turns its result into one for `tree_digest`."""
    if who == "onetree":
        from linkwise.problem import onetree

        return lambda: onetree(n, triplets), lambda result: result
    from tralda.supertree import Build

    rows, leaves = [tuple(row) for row in triplets.tolist()], set(range(n))  # made before the clock starts
    return lambda: Build(rows, leaves).build_tree(), lambda tree: _from_nodes(tree.root, n)


def _from_nodes(root: Any, n: int) -> Any:
    """Number the nodes of a linked tree."""
    import numpy as np

    parent, todo = [-1] * n, [(root, -1)]
    while todo:
        node, above = todo.pop()
        if node.is_leaf():
            parent[node.label] = above
            continue
        parent.append(above)
        todo += [(child, len(parent) - 1) for child in node.children]
    return SimpleNamespace(parent=np.array(parent))


def tree_digest(result: Any, n: int) -> str:
    """Digest the clusters of a hierarchy, whatever the numbering and the heights: equal digests, equal trees."""
    import numpy as np

    if hasattr(result, "parent"):
        parent = result.parent
    else:
        children = np.asarray(result)[:, :2].astype(np.intp)
        parent = np.full(n + len(children), -1, dtype=np.intp)
        parent[children] = np.arange(n, n + len(children))[:, None]
    # Every sample gets a random number; a cluster is known by the sum of its samples' numbers.
    total = np.random.default_rng(0).integers(2**60, size=n).tolist() + [0] * (len(parent) - n)
    order = _children_first(parent.tolist())
    for node in order:
        if parent[node] >= 0:
            total[parent[node]] += total[node]
    return hashlib.sha256(repr(sorted(total[n:])).encode()).hexdigest()


def _children_first(parent: list[int]) -> list[int]:
    """Order nodes so that children precede parents; some libraries sort merges by height, inversions and all."""
    waiting = [0] * len(parent)
    for above in parent:
        if above >= 0:
            waiting[above] += 1
    order = [node for node, count in enumerate(waiting) if count == 0]
    for node in order:  # grows while it is read
        above = parent[node]
        if above >= 0:
            waiting[above] -= 1
            if waiting[above] == 0:
                order.append(above)
    return order
