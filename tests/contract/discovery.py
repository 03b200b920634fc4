"""The estimators of the package, found by walking it, and samples with statements that their classes make true."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from functools import cache

import numpy as np

import linkwise
from linkwise import Constraints, Kind
from linkwise.engines import ConstrainedClusterer
from linkwise.engines._labels_mixin import PartitionMixin

LINKAGES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")


@cache
def modules():
    """Import every module of the package."""
    names = [found.name for found in pkgutil.walk_packages(linkwise.__path__, "linkwise.")]
    return [importlib.import_module(name) for name in names if not name.endswith("__main__")]


def estimators(base=ConstrainedClusterer):
    """Return the public estimator classes below a base, by name."""
    modules()
    found, waiting = {}, [base]
    while waiting:
        for cls in waiting.pop().__subclasses__():
            waiting.append(cls)
            is_ours = cls.__module__.startswith("linkwise.") and not cls.__name__.startswith("_")
            if is_ours and not inspect.isabstract(cls):
                found[cls.__name__] = cls
    return [found[name] for name in sorted(found)]


def takers_of_y():
    """Return every public class of the package whose `fit` takes ``y``, by name."""
    found = {}
    for module in modules():
        for name, cls in vars(module).items():
            if not inspect.isclass(cls) or not cls.__module__.startswith("linkwise.") or name.startswith("_"):
                continue
            if callable(getattr(cls, "fit", None)) and "y" in inspect.signature(cls.fit).parameters:
                found[name] = cls
    return [found[name] for name in sorted(found)]


def linkages(cls):
    """Return the linkages an estimator offers; one without the choice is single linkage."""
    offered = cls._parameter_constraints.get("linkage")
    return tuple(name for name in LINKAGES if name in offered[0].options) if offered else ("single",)


# Estimators that answer with labels alone, and those that find the number of clusters themselves.
PARTITIONS = [cls for cls in estimators() if issubclass(cls, PartitionMixin)]
COUNTING = [cls for cls in estimators() if "n_clusters" not in cls._parameter_constraints]


def blobs(seed, n=24):
    """Points without ties, in a class each, the classes loose enough for statements to matter."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    y[:3] = [0, 1, 2]
    return rng.normal(size=(n, 2)) + 1.5 * y[:, None], y


def truth(kind, y, seed, m=8):
    """Return m statements of one kind that the classes y make true, so that all can hold together."""
    holds = {
        Kind.MUST_LINK: lambda a, b, _: y[a] == y[b],
        Kind.CANNOT_LINK: lambda a, b, _: y[a] != y[b],
        Kind.TRIPLET: lambda a, b, c: y[a] == y[b] != y[c],
        Kind.TOGETHER: lambda a, b, c: y[a] == y[b] == y[c],
        Kind.APART: lambda a, b, c: len({y[a], y[b], y[c]}) == 3,
        Kind.MUST_LINK_ANY: lambda a, b, c: y[a] in (y[b], y[c]),
        Kind.CANNOT_LINK_ANY: lambda a, b, c: {y[a]} != {y[b], y[c]},
        Kind.EITHER: lambda a, b, c: y[a] == y[b] or y[a] != y[c],
    }[kind]
    rng, rows = np.random.default_rng(seed), []
    while len(rows) < m:
        row = rng.choice(len(y), size=3, replace=False).tolist()
        if holds(*row):
            rows.append(tuple(row[:2] if kind.arity == 2 else row))
    if kind is Kind.EITHER:
        return [(("must_link", a, b), ("cannot_link", a, c)) for a, b, c in rows]
    return rows


def table(kind, rows, n, **options):
    """Build constraints of one kind."""
    return Constraints.build(n, **{kind.word: rows}, **options)
