"""Blobs with constraints of which a given number are wrong and contradict the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise._validation import read_count
from linkwise.constraints import Constraints, Kind
from linkwise.datasets._dataset import Data
from linkwise.datasets._shapes import read_sizes
from linkwise.exceptions import LinkwiseError
from linkwise.sources import flip, label_pairs


class Planted(NamedTuple):
    """Samples, constraints about them, and a mask of the wrong statements.

    Attributes
    ----------
    data : Data
        The samples and their true classes.
    constraints : Constraints
        Must- and cannot-links, right and wrong ones.
    wrong : ndarray of bool, shape (n_statements,)
        The statements that are not true of ``data.y``.

    Examples
    --------
    >>> from linkwise.datasets import blobs_with_knowledge
    >>> data, constraints, wrong = blobs_with_knowledge(n_wrong=3, random_state=0)
    >>> constraints.n_statements, int(wrong.sum())
    (80, 3)
    """

    data: Data
    constraints: Constraints
    wrong: BoolArray


def blobs_with_knowledge(
    n_samples: int = 150,
    *,
    n_clusters: int = 3,
    n_statements: int = 80,
    n_wrong: int = 5,
    n_known: int | None = None,
    n_features: int = 2,
    noise: float = 0.15,
    random_state: Any = None,
) -> Planted:
    """Draw round blobs and statements about some samples, a given number of which contradict all the others.

    Parameters
    ----------
    n_samples : int, default=150
        How many points; blobs are of equal size.
    n_clusters : int, default=3
        How many blobs.
    n_statements : int, default=80
        How many must- and cannot-links, wrong ones included.
    n_wrong : int, default=5
        How many of them are the opposite of the truth.
    n_known : int, optional
        Number of samples that statements are about. By default so few that each occurs in about eight statements, which
        confirm each other, and `repair` most often finds the wrong ones.
    n_features : int, default=2
        How many columns.
    noise : float, default=0.15
        Standard deviation of a blob. Centers are 1 apart in two dimensions, the square root of 2 in more.
    random_state : None, int or numpy.random.Generator
        Seed; an int gives the same points and statements every time.

    Returns
    -------
    Planted
        ``data, constraints, wrong``.

    Notes
    -----
    **Guarantee** exactly ``n_wrong`` statements are untrue, no pair occurs twice, the right statements hold together
    and entail every pair of the known samples, so each wrong one alone contradicts them.

    Examples
    --------
    >>> from linkwise import check
    >>> from linkwise.datasets import blobs_with_knowledge
    >>> data, constraints, wrong = blobs_with_knowledge(random_state=0)
    >>> check(constraints).status, check(constraints.select(~wrong)).status
    ('infeasible', 'feasible')
    """
    rng = read_sizes("blobs_with_knowledge", n_samples, noise, random_state)
    known = _known(n_samples, n_clusters, n_statements, n_wrong) if n_known is None else n_known
    _check_numbers(n_samples, n_clusters, n_statements, n_wrong, n_features, known)

    y = np.arange(n_samples, dtype=np.intp) % n_clusters
    X = _centers(n_clusters, n_features)[y] + noise * rng.standard_normal((n_samples, n_features))
    order = rng.permutation(n_samples)
    X, y = X[order], y[order]

    revealed = np.full(n_samples, -1, dtype=np.intp)
    chosen = _pick(y, known, rng)
    revealed[chosen] = y[chosen]
    # The backbone entails all other pairs. Wrong ones are only among these, so each contradicts the right ones.
    backbone = Constraints.from_labels(revealed)
    others = label_pairs(revealed, known * (known - 1) // 2, rng) - backbone
    others = others.select(rng.permutation(others.n_statements)[: n_statements - backbone.n_statements])
    others, flipped = flip(others, n_wrong / max(others.n_statements, 1), rng)
    joined = backbone | others
    wrong = np.concatenate([np.zeros(backbone.n_statements, dtype=np.bool_), flipped])
    shuffle = rng.permutation(n_statements)
    pairs, wrong, must = joined.items[shuffle, :2], wrong[shuffle], joined.kind[shuffle] == Kind.MUST_LINK
    constraints = Constraints.build(n_samples, must_link=pairs[must], cannot_link=pairs[~must])
    data = Data(
        X,
        y,
        "blobs_with_knowledge",
        tuple(f"x{i}" for i in range(n_features)),
        tuple(str(i) for i in range(n_clusters)),
        "generated",
        f"Round blobs; of {n_statements} statements about {known} samples {n_wrong} are wrong.",
    )
    return Planted(data, constraints, np.concatenate([wrong[must], wrong[~must]]))


def _known(n_samples: int, k: int, n_statements: int, n_wrong: int) -> int:
    """Return a number of samples with about eight statements each, but enough for the pairs and the backbone."""
    enough = int(np.ceil((1 + np.sqrt(1 + 8 * max(n_statements, 1))) / 2))
    backbone = n_statements - n_wrong - k * (k - 1) // 2 + k
    return int(max(min(max(n_statements // 4, enough, k), backbone, n_samples), 0))


def _check_numbers(n: int, k: int, n_statements: int, n_wrong: int, n_features: int, known: int) -> None:
    who = "blobs_with_knowledge"
    read_count(k, "n_clusters", who, low=2, high=n, note=" (n_samples)")
    read_count(n_features, "n_features", who, low=2)
    read_count(n_wrong, "n_wrong", who, high=n_statements, note=" (n_statements)")
    read_count(known, "n_known", who, low=k, high=n, note=" (n_clusters to n_samples)")
    pairs, least = known * (known - 1) // 2, known - k + k * (k - 1) // 2
    if n_statements > pairs:
        msg = (
            f"{who}: n_statements is {n_statements}, but {known} samples have only {pairs} pairs.\nHint: raise n_known."
        )
        raise LinkwiseError(msg)
    if n_statements - n_wrong < least:
        msg = (
            f"{who}: {n_statements - n_wrong} statements are right, expected {least} to decide {known} samples in {k} "
            "classes.\nHint: raise n_statements, or lower n_wrong or n_known."
        )
        raise LinkwiseError(msg)


def _centers(k: int, n_features: int) -> FloatArray:
    """Return the corners of a polygon with side 1, padded with zeros; in enough dimensions, the unit vectors."""
    if k <= n_features and n_features > 2:
        return np.eye(k, n_features)
    angle = 2 * np.pi * np.arange(k) / k
    radius = 0.5 / np.sin(np.pi / k)
    centers = np.zeros((k, n_features))
    centers[:, 0], centers[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
    return centers


def _pick(y: IntArray, known: int, rng: np.random.Generator) -> IntArray:
    """Choose samples for statements, evenly from all classes."""
    order = rng.permutation(len(y))
    by_class = order[np.argsort(y[order], kind="stable")]
    count = np.bincount(y)
    rank = np.arange(len(y)) - np.repeat(np.cumsum(count) - count, count)
    return by_class[np.argsort(rank, kind="stable")[:known]]
