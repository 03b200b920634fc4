"""Hostile problems: data, containers, statements and settings, all drawn from one seed.

Nothing here asks linkwise whether a problem makes sense. A planted partition and a planted tree make statements that
can hold together; a chain of must-links closed by a cannot-link, or triplets in a circle, make statements that cannot.
"""

from __future__ import annotations

import random
from collections import defaultdict
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
import polars as pl
import scipy.sparse as sp

KINDS = ("must_link", "cannot_link", "triplets", "together", "apart")
SIZES = (1, 2, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40)
SCALES = {"1e150": 1e150, "1e-150": 1e-150, "1e30": 1e30, "1e-30": 1e-30, "1e-9": 1e-9}
FORMS = ("plain",) * 6 + ("duplicates", "ties", "constant", "zeros", "one constant", "offset", *SCALES)
DRESSES = ("float64",) * 8 + (
    "float32",
    "int",
    "bool",
    "swapped",
    "fortran",
    "strided",
    "readonly",
    "csr",
    "csc",
    "pandas",
    "polars",
    "list",
)
WEIGHTS = (1e-12, 1e-9, 0.1, 1.0, 5.0, 1e9, float("inf"))


class Problem(NamedTuple):
    """Samples in some container, and statements about them as plain tuples.

    Attributes
    ----------
    X : array-like
        The data, dressed as somebody might pass them.
    k : int
        Number of planted clusters.
    said : dict
        Rows of sample numbers by kind.
    weight : dict or None
        A weight for each statement; None if all are hard.
    feasible : bool
        Whether all statements, taken as hard, can hold together in ``k`` clusters.
    words : str
        How the data were made.
    """

    X: object
    n: int
    k: int
    y: list
    said: dict
    weight: dict | None
    feasible: bool
    words: str

    @property
    def rows(self):
        """Every statement with its kind and weight, kind by kind."""
        out = []
        for kind in KINDS:
            for i, row in enumerate(self.said.get(kind, ())):
                out.append((kind, row, float("inf") if self.weight is None else self.weight[kind][i]))
        return out


def draw_problem(r: random.Random, kinds: tuple[str, ...]) -> Problem:
    """Draw data and statements of some kinds."""
    n, k, y, values, form = _values(r)
    dress, X = _dress(r, values)
    said, feasible = _statements(r, n, k, y, kinds)
    weight = None
    if said and r.random() < 0.25:
        weight = {kind: [r.choice(WEIGHTS) for _ in rows] for kind, rows in said.items()}
    return Problem(X, n, k, y, said, weight, feasible, f"{form}, {dress}")


def _values(r):
    rng = np.random.default_rng(r.randrange(2**32))
    n, d = r.choice(SIZES), r.choice((1, 1, 2, 2, 3, 5))
    k = min(n, r.choice((1, 2, 2, 3, 3, 4, 5, n)))
    y = rng.integers(k, size=n)
    y[:k] = np.arange(k)
    rng.shuffle(y)
    X = rng.normal(size=(n, d)) + r.choice((0, 1, 3, 10)) * rng.normal(size=(k, d))[y]
    form = r.choice(FORMS)
    if form == "duplicates":
        X = X[rng.integers(max(1, n // 3), size=n)]
    elif form == "ties":
        X = np.round(X)
    elif form == "constant":
        X = np.full((n, d), 3.25)
    elif form == "zeros":
        X = np.zeros((n, d))
    elif form == "one constant":
        X[:, 0] = 7.0
    elif form == "offset":
        X = X + 1e9
    elif form in SCALES:
        X = X * SCALES[form]
    return n, k, y.tolist(), X, form


def _dress(r, X):
    form = r.choice(DRESSES)
    if form == "float32" and np.abs(X).max() < 1e38:
        return form, X.astype(np.float32)
    if form == "int" and np.abs(X).max() < 1e15:
        return form, np.round(X).astype(np.int64)
    if form == "bool":
        return form, np.median(X) < X
    if form == "swapped":
        return form, X.astype(">f8")
    if form == "fortran":
        return form, np.asfortranarray(X)
    if form == "strided":
        wide = np.zeros((2 * X.shape[0], 3 * X.shape[1]))
        wide[::2, ::3] = X
        return form, wide[::2, ::3]
    if form == "readonly":
        X = X.copy()
        X.setflags(write=False)
        return form, X
    if form in ("csr", "csc"):
        make = sp.csr_matrix if form == "csr" else sp.csc_array
        return form, make(np.where(np.abs(X) < np.median(np.abs(X)), 0.0, X))
    names = [f"c{i}" for i in range(X.shape[1])]
    if form == "pandas":
        return form, pd.DataFrame(X, columns=names)
    if form == "polars":
        return form, pl.DataFrame({name: X[:, i] for i, name in enumerate(names)})
    if form == "list":
        return form, X.tolist()
    return "float64", X


def _statements(r, n, k, y, kinds):
    said = defaultdict(list)
    m = r.choice((0, 2, max(2, n // 3), 2 * n))
    members = defaultdict(list)
    for i, c in enumerate(y):
        members[c].append(i)
    members = list(members.values())
    for _ in range(m):
        kind = r.choice(kinds)
        if kind in ("must_link", "together"):
            group = r.choice(members)
            if len(group) >= 2:
                size = 2 if kind == "must_link" else r.randint(2, min(len(group), 5))
                said[kind].append(tuple(r.sample(group, size)))
        elif kind in ("cannot_link", "apart") and k >= 2:
            groups = r.sample(members, 2 if kind == "cannot_link" else r.randint(2, min(k, 5)))
            said[kind].append(tuple(r.choice(group) for group in groups))
    if "triplets" in kinds and n >= 3 and m:
        said["triplets"] = _triplets(r, _tree(r, members), m)
    feasible = True
    if m and n >= 3 and r.random() < 0.15:
        feasible = not _poison(r, said, n, kinds)
    return {kind: said[kind] for kind in KINDS if said.get(kind)}, feasible


def _poison(r, said, n, kinds):
    """Add statements that contradict each other; say whether there are such among the kinds."""
    if {"must_link", "cannot_link"} <= set(kinds) and ("triplets" not in kinds or r.random() < 0.5):
        chain = r.sample(range(n), r.randint(2, min(n, 6)))
        said["must_link"] += list(pairwise(chain))
        said["cannot_link"].append((chain[0], chain[-1]))
        return True
    if "triplets" in kinds:
        a, b, c = r.sample(range(n), 3)
        said["triplets"] += [(a, b, c), (b, c, a)]
        return True
    return False


def _tree(r, members):
    """A random binary tree, as nested lists, in which each class is a subtree."""

    def join(parts):
        parts = list(parts)
        while len(parts) > 1:
            r.shuffle(parts)
            parts.append([parts.pop(), parts.pop()])
        return parts[0]

    return join([join(group) for group in members])


def _leaves(tree):
    out, waiting = [], [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, list):
            waiting += node
        else:
            out.append(node)
    return out


def _triplets(r, tree, m):
    """Triplets ab|c that hold in the tree."""
    out = []
    for _ in range(6 * m):
        node = tree
        while isinstance(node, list) and len(out) < m:
            inner, outer = node if r.random() < 0.5 else node[::-1]
            near = _leaves(inner)
            if len(near) >= 2 and r.random() < 0.5:
                out.append((*r.sample(near, 2), r.choice(_leaves(outer))))
                break
            node = inner
    return out
