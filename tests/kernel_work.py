"""A workload for every kernel: every linkage, estimator, function and command, on few samples and on a thousand.

python -m tests.kernel_work              use all kernels, compiled, with the settings of the environment
python -m tests.kernel_work record       record the signatures they are called with, for `linkwise warmup` and the pack
python -m tests.kernel_work record tests/contract    the same, with those that some tests meet
"""

from __future__ import annotations

import contextlib
import inspect
import io
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.setdefault("LINKWISE_QUIET", "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import numpy as np
import pytest
import scipy.sparse

import linkwise.engines
from linkwise import (
    Constraints,
    COPKMeans,
    Dendrogram,
    ReCon,
    Taxonomy,
    check,
    close,
    cluster,
    implies,
    metrics,
    problem,
    repair,
    sources,
)
from linkwise._compat import StrOptions
from linkwise._kernels import _tier, compiled_only, signatures
from linkwise._kernels.inventory import kernels
from linkwise.cli._ask_verb import STRATEGIES
from linkwise.cli._main import commands
from linkwise.constraints import NeighborWithin, SizeBetween
from linkwise.engines import PenalizedMixture, agglomerate, fit_heights, gamma_linkage
from linkwise.engines.agglomeration import _early_rounds, _rounds_dense
from linkwise.exceptions import LinkwiseError
from linkwise.problem import minimal, onetree
from linkwise.selection import LINKAGES
from tests.small_work import journeys

_DATA = "name,x,y\n" + "".join(f"s{i},{i % 5}.5,{i * i % 7}\n" for i in range(12))
_TEXTS = "id,body\n1,a cat sat\n2,the cat ran\n3,stocks fell\n4,stocks rose\n"
_FILES = {
    "data.csv": _DATA,
    "texts.csv": _TEXTS,
    "pairs.csv": "kind,a,b,weight\nmust_link,s0,s1,\nmust_link,s1,s6,\ncannot_link,s0,s2,\nmust_link,s3,s4,2\n",
    "hard.csv": "kind,a,b\nmust_link,s0,s1\ncannot_link,s0,s2\nmust_link,s5,s2\n",
    "trios.csv": "kind,a,b,c\ntriplet,s0,s1,s2\ntriplet,s3,s4,s5\ntriplet,s3,s5,s6\n",
    "mixed.csv": "kind,a,b,c\nmust_link,s0,s1,\ncannot_link,s0,s2,\ntriplet,s3,s4,s5\n",
    "groups.csv": "kind,samples\ntogether,s0;s1\napart,s0;s2;s3\n",
    "quarrel.csv": "kind,a,b\nmust_link,s0,s1\nmust_link,s1,s2\ncannot_link,s0,s2\n",
    "clique.csv": "kind,a,b\ncannot_link,s0,s1\ncannot_link,s1,s2\ncannot_link,s0,s2\n",
    "numbers.csv": "kind,a,b\nmust_link,0,1\ncannot_link,1,2\ncannot_link,2,3\ncannot_link,3,1\n",
    "circle.csv": "kind,a,b,c\ntriplet,s0,s1,s2\ntriplet,s0,s2,s1\n",
}
_SAMPLES = ("data.csv", "--id", "name")
_PAIRS = ("--data", *_SAMPLES)


def _uses() -> Iterator[tuple[str, ...]]:
    """Every command that computes something, on every kind of statement it knows."""
    said = ("pairs.csv", "hard.csv", "trios.csv", "mixed.csv", "groups.csv")
    quarrels = ("quarrel.csv", "circle.csv", "clique.csv")
    yield "cluster", *_SAMPLES, "-o", "plain"
    for file in said:
        yield "cluster", *_SAMPLES, "-c", file, "-k", "3", "-o", f"with-{file}"
    yield "cluster", *_SAMPLES, "-c", "pairs.csv", "--height", "1", "-o", "height"
    yield "cluster", *_SAMPLES, "-k", "auto", "-o", "auto"
    yield "cluster", "texts.csv", "--id", "id", "--text", "body", "-o", "texts"
    for file in (*said, *quarrels):
        yield "check", file
        yield "check", file, *_PAIRS, "-k", "2"
        yield "explain", file, *_PAIRS
        yield "explain", file, "-k", "2"
        yield "repair", file, "--auto", "-o", f"left-{file}"
    for file in ("quarrel.csv", "numbers.csv"):
        yield "check", file, "--stream", "-k", "2"
        yield "check", file, "--stream", "-k", "3"
    for file in said[:4]:
        yield "select", file, "-m", "1"
        yield "select", file, "-m", "2", *_PAIRS
    for strategy in STRATEGIES:
        yield "ask", *_SAMPLES, "-l", f"{strategy}.jsonl", "--strategy", strategy, "-k", "3", "--budget", "4"
    for folder in ("plain", "with-pairs.csv", "with-trios.csv", "with-mixed.csv"):
        yield "why", folder, "s0", "s7"
        yield "assign", folder, "data.csv"
        yield "report", folder, "-o", f"{folder}.html"
    yield "why", "with-pairs.csv", "s0", "s2", "-c", "pairs.csv"
    yield "score", "plain", "data.csv", "--column", "y", "--id", "name"
    yield "compare", "plain", "with-pairs.csv"
    yield "convert", "plain", "plain.npy"


def _run(use: tuple[str, ...]) -> None:
    """Run a command without output; its result does not matter here."""
    typed, sys.stdin = sys.stdin, io.StringIO("y\nn\nu\n1\n2\n3\n" * 4)
    try:
        with (
            contextlib.redirect_stdout(io.StringIO()),
            contextlib.redirect_stderr(io.StringIO()),
            contextlib.suppress(LinkwiseError),  # contradictions are among the uses
        ):
            commands.main(args=list(use), prog_name="linkwise", standalone_mode=False)
    finally:
        sys.stdin = typed


def _compile_linkages() -> None:
    """Every linkage, by either method, in either precision."""
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
    with pytest.MonkeyPatch.context() as patch:  # as if these were many samples
        patch.setattr(_early_rounds, "CACHED", 0)
        patch.setattr(_early_rounds, "LENGTH", 2)
        patch.setattr(_rounds_dense, "WIDE", 0)
        for linkage in ("average", "single"):
            for dtype in ("float64", "float32"):
                for constraints in (None, Constraints.build(150, must_link=[(0, 1)], cannot_link=[(0, 2)])):
                    cluster(
                        many[:150], constraints, 3, method="agglomerative", linkage=linkage, params={"dtype": dtype}
                    )
    for linkage in ("ward", "median"):
        cluster(many, links, 3, method="agglomerative", linkage=linkage)
    onetree(50, [(i, i + 1, i + 2) for i in range(48)])  # a chain: deep trees are built in another way


def _fit_estimators() -> None:
    """Every estimator on statements of all kinds, with each value that its options have a name for."""
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
        wanted = {"n_clusters": 3, "random_state": 0, "n_init": 2, "max_iter": 5, "n_rounds": 2, "n_kicks": 1}
        wanted["budget"] = 1e-3  # searches that end early have used their kernels
        always = {name: value for name, value in wanted.items() if name in known}
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


# -- recording ---------------------------------------------------------------------------------------------------------


def record() -> set[str]:
    """Note every signature that a kernel is called with from now on, until it is compiled; they appear in the set."""
    seen: set[str] = set()

    def note(name: str, kernel: Any) -> None:
        found: Callable[..., Any] = kernel._compile_for_args

        def noted(*arguments: Any, **others: Any) -> Any:
            line = signatures.line_of(name, [kernel.typeof_pyval(one) for one in arguments])
            if line is not None and not others:
                seen.add(line)
            return found(*arguments, **others)

        kernel._compile_for_args = noted

    for name, kernel in kernels().items():
        note(name, kernel)
    return seen


def interpret_everything() -> None:
    """Let no kernel be compiled, whatever its arguments are and however long it takes."""
    _tier._counted = range
    _tier.largest_array = lambda _: 0


def work() -> None:
    """Use every kernel on few samples, by the library and by the command line."""
    _compile_linkages()
    _fit_estimators()
    _use_functions()
    with tempfile.TemporaryDirectory(prefix="linkwise") as folder, contextlib.chdir(folder):
        for name, text in _FILES.items():
            Path(folder, name).write_text(text)
        for use in _uses():
            _run(use)


def main() -> int:
    """Use all kernels, or record their signatures."""
    if sys.argv[1:2] != ["record"]:
        with compiled_only():
            work()
        return 0
    seen = record()
    interpret_everything()  # code that is compiled for callers would hide calls from Python
    work()
    for size in (150, 1000):
        with compiled_only(), tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            for _, journey in journeys(size):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    journey()
    if sys.argv[2:]:
        pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[2:]])
    signatures.FILE.write_text("".join(f"{line}\n" for line in sorted(seen)), encoding="utf-8")
    print(f"{len(seen)} signatures of {len({line.partition('(')[0] for line in seen})} kernels")
    return 0


if __name__ == "__main__":
    sys.exit(main())
