"""A workload that compiles the kernels of the library: every linkage, estimator and function on a few samples."""

from __future__ import annotations

import contextlib
from typing import Any

from linkwise.selection._cluster import cluster
from linkwise.selection._methods import LINKAGES


def use_kernels() -> None:
    """Use everything that has kernels and that no command reaches."""
    _compile_linkages()
    _fit_estimators()
    _use_functions()


def _compile_linkages() -> None:
    """Every linkage, by either method, in either precision."""
    import numpy as np

    from linkwise.constraints import Constraints
    from linkwise.problem import onetree

    pairs = Constraints.build(12, must_link=[(0, 1)], cannot_link=[(0, 2)])
    triplets = Constraints.build(12, triplets=[(0, 1, 2), (3, 4, 5)])
    X = np.random.default_rng(0).normal(size=(12, 3))
    X[11] = 100.0  # an outlier, which ReCon gives to another cluster
    many = np.random.default_rng(0).normal(size=(1300, 2))  # enough for clusters to be kept as points
    links = Constraints.build(1300, must_link=[(0, 1)], cannot_link=[(0, 2), (3, 4)], apart=[(5, 6, 7)])
    for linkage in LINKAGES:
        for dtype in ("float64", "float32"):
            for constraints in (None, pairs):
                cluster(X, constraints, 3, method="agglomerative", linkage=linkage, params={"dtype": dtype})
        cluster(X, pairs, 3, linkage=linkage)
        cluster(X, triplets, 2, linkage=linkage)
    for linkage in ("ward", "median"):
        cluster(many, links, 3, method="agglomerative", linkage=linkage)
    onetree(50, [(i, i + 1, i + 2) for i in range(48)])  # a chain: deep trees are built in another way


def _fit_estimators() -> None:
    """Every estimator on statements of all kinds, with each value that its options have a name for."""
    import inspect
    import warnings

    import numpy as np
    import scipy.sparse

    import linkwise.engines
    from linkwise import Constraints
    from linkwise._compat import StrOptions
    from linkwise.constraints import SizeBetween
    from linkwise.exceptions import LinkwiseError

    n = 24
    X = np.random.default_rng(0).normal(size=(n, 3)) + 2 * (np.arange(n) % 3)[:, None]
    sparse = scipy.sparse.csr_array(X)
    hard = Constraints.build(n, must_link=[(0, 3), (3, 6), (1, 4)], cannot_link=[(0, 1), (1, 2), (0, 2)])
    ring = Constraints.build(n, cannot_link=[(i, (i + 1) % 7) for i in range(7)])
    triplets = Constraints.build(n, triplets=[(0, 3, 1), (1, 4, 2), (6, 9, 2)])
    sizes = Constraints.build(n, rules=[SizeBetween(6, 12)])
    tables = [Constraints.build(n), hard, hard.with_weight(1.0), ring, ring.with_weight(0.5), triplets, hard | triplets]
    tables += [Constraints.build(n, together=[(0, 3, 6)], apart=[(0, 1, 2), (9, 10, 11)]), sizes, hard | sizes]
    public = (getattr(linkwise.engines, name) for name in dir(linkwise.engines))
    estimators: list[Any] = [one for one in public if inspect.isclass(one) and bool(getattr(one, "understands", False))]
    for cls in estimators:
        known = inspect.signature(cls).parameters
        wanted: dict[str, float] = {"n_clusters": 3, "random_state": 0, "n_init": 2, "max_iter": 5}
        always = {name: value for name, value in wanted.items() if name in known}
        if "n_kicks" in known:  # a search among trees, cut short
            always |= {"n_kicks": 1, "budget": 0.002}
        small = [{"max_states": 5}] if "max_states" in known else []  # as if exact inference took too much memory
        choices = [
            {name: choice, **extra}
            for name, allowed in cls._parameter_constraints.items()
            for one in allowed
            if isinstance(one, StrOptions) and name in known
            for choice in sorted(one.options)
            for extra in ({}, *small)
        ]
        for options in ({}, *small, *choices):
            for table in tables:
                for samples in (X,) if options else (X, sparse):
                    refusals = (LinkwiseError,) if samples is X else (LinkwiseError, TypeError)
                    with warnings.catch_warnings(), contextlib.suppress(*refusals):
                        warnings.simplefilter("ignore")
                        cls(**(always | options)).fit(samples, constraints=table)


def _use_functions() -> None:
    """Functions of the library that no command and no estimator calls, on few samples."""
    import numpy as np
    import scipy.sparse

    from linkwise import (
        Constraints,
        COPKMeans,
        Dendrogram,
        ReCon,
        Taxonomy,
        check,
        close,
        implies,
        metrics,
        problem,
        repair,
        sources,
    )
    from linkwise.constraints import NeighborWithin, SizeBetween
    from linkwise.engines import PenalizedMixture, agglomerate, fit_heights, gamma_linkage
    from linkwise.problem import minimal

    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 2))
    y = np.arange(20) % 3
    tree = agglomerate(X)
    fit_heights(tree, X)
    gamma_linkage(X, 1.0)
    wide = rng.normal(size=(20, 1000))
    COPKMeans(3, random_state=0).fit(wide)
    filled = Constraints.build(200, cannot_link=[(0, 1)], rules=[SizeBetween(50, 100)])
    COPKMeans(3, random_state=0).fit(rng.normal(size=(200, 2)), constraints=filled)
    clique = Constraints.build(20, apart=[range(8)])
    PenalizedMixture(8, random_state=0).fit(X, constraints=clique)
    first, second = (Constraints.build(20, triplets=rows) for rows in ([(0, 1, 2)], [(0, 1, 2), (3, 4, 5)]))
    ReCon(warm_start=True).fit(X, constraints=first).fit(X, constraints=second)
    for measure in (metrics.hierarchy_fscore, metrics.dendrogram_purity, metrics.h_correlation, metrics.class_f):
        measure(y, tree)
    metrics.hierarchy_fscore(y, tree, form="levels")
    for similarity in (np.ones((20, 20)), scipy.sparse.csr_array(np.ones((20, 20)))):
        metrics.dasgupta_cost(similarity, tree)
    paths = Taxonomy.from_paths(["a/b", "a/b/d", "a/c", "a", "e", None])
    paths.labels(level=1), paths.triplets(), paths.triplets(minimal=True), paths.sample_triplets(2, random_state=0)
    _ = paths.depth, tree.depth
    metrics.h_correlation(paths, agglomerate(X[:6]))
    tree.triplets(), tree.triplets(minimal=True)
    Dendrogram.from_newick("((0:1,1:1):1,(2:1,3:1):1);").cut(n_clusters=2)
    tree.cut_agreeing(clique), tree.cut_agreeing(clique, 9)
    sources.label_pairs(y, 10, random_state=0), sources.near_duplicates(X, 0.5)
    sources.max_separation(X[:, 0], 0.5, along=X[:, 1], window=1.0)
    problem.close_comparisons([(0, 1, 2), (0, 2, 3)])
    trios, ends = (np.array([rng.permutation(size)[:many] for _ in range(60)]) for size, many in ((8, 3), (12, 2)))
    for quarrel in (Constraints.build(8, triplets=trios), Constraints.build(12, must_link=ends[:30], cannot_link=ends)):
        _ = repair(quarrel, random_state=0).noise
    for spokes in (5, 7):
        wheel = [(0, i) for i in range(1, spokes + 1)] + [(i, i % spokes + 1) for i in range(1, spokes + 1)]
        check(Constraints.build(spokes + 1, cannot_link=wheel), n_clusters=3)
    check(Constraints.build(4, must_link=[(0, 1), (1, 2)]), n_clusters=3)
    check(Constraints.build(20, rules=[NeighborWithin(1.0)]), X=X, n_clusters=2)
    inside = Constraints.build(9, must_link=[(0, 1), (1, 2), (5, 6)], triplets=[(0, 1, 2), (3, 4, 7)])
    check(inside, n_clusters=2)
    said = Constraints.build(9, must_link=[(6, 7)], triplets=[(0, 1, 2), (0, 2, 3), (4, 5, 3), (0, 4, 6)])
    for table in (said, said | Constraints.build(9, cannot_link=[(0, 1), (2, 3)])):
        implies(table, table), close(table), minimal(table)
