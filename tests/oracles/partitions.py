"""All partitions of a few samples as rows of labels, and the mask of those in which statements and rules hold."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

Statements = dict[str, list[tuple[Any, ...]]]


@cache
def all_labels(n: int) -> npt.NDArray[np.int8]:
    """Every partition of n samples once, as a restricted growth string."""
    rows = np.zeros((1, 1), dtype=np.int8)
    for _ in range(1, n):
        most = rows.max(axis=1) + 1
        rows = np.concatenate(
            [
                np.column_stack([rows[most >= c], np.full((most >= c).sum(), c, dtype=np.int8)])
                for c in range(int(most.max()) + 1)
            ]
        )
    return rows


def sizes(n: int) -> npt.NDArray[np.intp]:
    """Number of clusters of each partition."""
    return all_labels(n).max(axis=1).astype(np.intp) + 1


def holding(n: int, said: Statements, X: Any = None, **rules: Any) -> npt.NDArray[np.bool_]:
    """Which partitions satisfy all statements, and ``delta``, ``epsilon`` or ``between`` where they are given."""
    labels = all_labels(n)
    same = labels[:, :, None] == labels[:, None, :]
    mask = np.ones(len(labels), dtype=bool)
    for word, rows in said.items():
        for row in rows:
            if word == "either":
                mask &= np.any([same[:, a, b] == (link == "must_link") for link, a, b in row], axis=0)
                continue
            first, others = row[0], list(row[1:])
            every = same[:, list(row)][:, :, list(row)]
            mask &= {
                "must_link": lambda e=every: e.all(axis=(1, 2)),
                "together": lambda e=every: e.all(axis=(1, 2)),
                "cannot_link": lambda e=every: e.sum(axis=(1, 2)) == e.shape[1],
                "apart": lambda e=every: e.sum(axis=(1, 2)) == e.shape[1],
                "must_link_any": lambda f=first, o=others: same[:, f, o].any(axis=1),
                "cannot_link_any": lambda f=first, o=others: ~same[:, f, o].all(axis=1),
            }[word]()
    if X is not None:
        far = np.sqrt(((X[:, None] - X[None]) ** 2).sum(axis=2))
        if "delta" in rules:
            mask &= (same | (far >= rules["delta"])).all(axis=(1, 2))
        if "epsilon" in rules:
            near = (far <= rules["epsilon"]) & ~np.eye(n, dtype=bool)
            mask &= ((same & near).any(axis=2) | (same.sum(axis=2) == 1)).all(axis=1)
    if "between" in rules:
        low, high = rules["between"]
        size = same.sum(axis=2)
        mask &= ((size >= low) & (size <= high)).all(axis=1)
    return mask


def draw_statements(rng: np.random.Generator, n: int, words: dict[str, int]) -> Statements:
    """Draw up to so many statements of each word; groups name two to four samples, disjunctions two or three links."""
    said: Statements = {}
    for word, most in words.items():
        if word == "either":
            said[word] = [_draw_links(rng, n) for _ in range(rng.integers(0, most + 1))]
            continue
        pair = word in ("must_link", "cannot_link")
        rows = [
            tuple(rng.choice(n, 2 if pair else min(n, int(rng.integers(2, 5))), replace=False).tolist())
            for _ in range(rng.integers(0, most + 1))
        ]
        said[word] = rows
    return said


def _draw_links(rng: np.random.Generator, n: int) -> tuple[tuple[str, int, int], ...]:
    """Two or three links, each about another pair, so that no clustering satisfies all of them by their form."""
    first, second = np.triu_indices(n, 1)
    some = rng.choice(len(first), min(len(first), int(rng.integers(2, 4))), replace=False)
    return tuple((("cannot_link", "must_link")[rng.integers(2)], int(first[p]), int(second[p])) for p in some)
