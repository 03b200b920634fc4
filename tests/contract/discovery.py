"""Every estimator of the package, found by walking it: nobody has to remember to list a new one."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import numpy as np

import linkwise
from linkwise import Constraints, Kind
from linkwise.engines import ConstrainedClusterer
from linkwise.engines._labels_mixin import PartitionMixin


def estimators(base=ConstrainedClusterer):
    """Return the public estimator classes below a base, by name."""
    for module in pkgutil.walk_packages(linkwise.__path__, "linkwise."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, waiting = {}, [base]
    while waiting:
        for cls in waiting.pop().__subclasses__():
            waiting.append(cls)
            if (
                cls.__module__.startswith("linkwise.")
                and not inspect.isabstract(cls)
                and not cls.__name__.startswith("_")
            ):
                found[cls.__name__] = cls
    return [found[name] for name in sorted(found)]


def takers_of_y():
    """Return every public class of the package whose `fit` takes ``y``, by name."""
    found = {}
    for module in pkgutil.walk_packages(linkwise.__path__, "linkwise."):
        if module.name.endswith("__main__"):
            continue
        for name, cls in vars(importlib.import_module(module.name)).items():
            if not inspect.isclass(cls) or not cls.__module__.startswith("linkwise.") or name.startswith("_"):
                continue
            if callable(getattr(cls, "fit", None)) and "y" in inspect.signature(cls.fit).parameters:
                found[name] = cls
    return [found[name] for name in sorted(found)]


def linkages(cls):
    """The linkages an estimator offers; one that has no such choice is single linkage."""
    offered = cls._parameter_constraints.get("linkage")
    return tuple(name for name in LINKAGES if name in offered[0].options) if offered else ("single",)


def make(cls, n_clusters=None, *, linkage=None, **options):
    """Make an estimator; a linkage is passed on to those that have the choice."""
    if linkage is not None and "linkage" in cls._parameter_constraints:
        options["linkage"] = linkage
    return cls(n_clusters, **options)


LINKAGES = ("single", "complete", "average", "weighted", "ward", "centroid", "median")
# Estimators that answer with labels alone have a contract of their own, and so have those that make their own metric.
PARTITIONS = [cls for cls in estimators() if issubclass(cls, PartitionMixin)]
# ... and those that find the number of clusters themselves.
COUNTING = [cls for cls in estimators() if "n_clusters" not in cls._parameter_constraints]
ADAPTIVE = [
    cls for cls in estimators() if cls not in PARTITIONS + COUNTING and "metric" not in cls._parameter_constraints
]
ESTIMATORS = [cls for cls in estimators() if cls not in PARTITIONS + ADAPTIVE + COUNTING]
CASES = [(cls, kind) for cls in ESTIMATORS for kind in Kind if kind in cls.understands]
CASE_IDS = [f"{cls.__name__}-{kind.word}" for cls, kind in CASES]


def blobs(seed, n=24):
    """Points without ties, in a class each, the classes loose enough for statements to matter."""
    rng = np.random.default_rng(seed)
    y = rng.integers(3, size=n)
    y[:3] = [0, 1, 2]
    return rng.normal(size=(n, 2)) + 1.5 * y[:, None], y


def truth(kind, y, seed, m=8):
    """Return m statements of one kind that the classes y make true, and thus can hold together."""
    rng = np.random.default_rng(seed)
    n, rows = len(y), []
    while len(rows) < m:
        a, b, c = rng.choice(n, size=3, replace=False).tolist()
        if kind is Kind.MUST_LINK and y[a] == y[b]:
            rows.append((a, b))
        if kind is Kind.CANNOT_LINK and y[a] != y[b]:
            rows.append((a, b))
        if kind is Kind.TRIPLET and y[a] == y[b] != y[c]:
            rows.append((a, b, c))
        if kind is Kind.TOGETHER and y[a] == y[b] == y[c]:
            rows.append((a, b, c))
        if kind is Kind.APART and len({y[a], y[b], y[c]}) == 3:
            rows.append((a, b, c))
        if kind is Kind.MUST_LINK_ANY and y[a] in (y[b], y[c]):
            rows.append((a, b, c))
        if kind is Kind.CANNOT_LINK_ANY and {y[a]} != {y[b], y[c]}:
            rows.append((a, b, c))
    return rows


def said(kind, rows, n, **options):
    """Build a table of statements of one kind."""
    return Constraints.build(n, **{kind.word: rows}, **options)
