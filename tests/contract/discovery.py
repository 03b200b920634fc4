"""Every estimator of the package, found by walking it: nobody has to remember to list a new one."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import numpy as np

import linkwise
from linkwise import Constraints, Kind
from linkwise.engines import ConstrainedClusterer


def estimators():
    """Return the public estimator classes, by name."""
    for module in pkgutil.walk_packages(linkwise.__path__, "linkwise."):
        if not module.name.endswith("__main__"):
            importlib.import_module(module.name)
    found, waiting = {}, [ConstrainedClusterer]
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


ESTIMATORS = estimators()
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
        same = y[a] == y[b]
        holds = {
            Kind.MUST_LINK: same,
            Kind.CANNOT_LINK: not same,
            Kind.TRIPLET: same and y[b] != y[c],
            Kind.TOGETHER: same and y[b] == y[c],
            Kind.APART: not same and y[c] not in (y[a], y[b]),
            Kind.MUST_LINK_ANY: same,
            Kind.CANNOT_LINK_ANY: not same,
        }[kind]
        if holds:
            rows.append((a, b, c)[: kind.arity or 3])
    return rows


def said(kind, rows, n, **options):
    """Build a table of statements of one kind."""
    return Constraints.build(n, **{kind.word: rows}, **options)
