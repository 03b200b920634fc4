"""Easy blobs with hard knowledge: statements of which an exact, known few contradict the others."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from linkwise._typing import BoolArray, FloatArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.datasets._dataset import Data
from linkwise.datasets._shapes import read_sizes
from linkwise.exceptions import LinkwiseError
from linkwise.sources import flip, label_pairs


class Planted(NamedTuple):
    """Samples, what is said about them, and which of the statements are wrong.

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
    >>> data, said, wrong = blobs_with_knowledge(n_wrong=3, random_state=0)
    >>> said.n_statements, int(wrong.sum())
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
        How many of them say the opposite of the truth.
    n_known : int, optional
        About how many samples statements are made. By default few enough for each to occur in about eight statements,
        so that the truth has several independent witnesses and `repair` can most often tell which are wrong.
    n_features : int, default=2
        How many columns.
    noise : float, default=0.15
        Standard deviation of a blob. Centers are 1 apart in two dimensions, the square root of 2 in more.
    random_state : None, int or numpy.random.Generator
        Where chance comes from; an int gives the same points and statements every time.

    Returns
    -------
    Planted
        ``data, constraints, wrong``.

    Raises
    ------
    LinkwiseError
        The numbers cannot go together, for instance more statements than there are pairs.

    Notes
    -----
    **Guarantee** exactly ``n_wrong`` statements are untrue, no pair occurs twice, the right statements hold together
    and entail everything about the known samples, so each wrong one contradicts them by itself.

    Examples
    --------
    >>> from linkwise import check
    >>> from linkwise.datasets import blobs_with_knowledge
    >>> data, said, wrong = blobs_with_knowledge(random_state=0)
    >>> check(said).status, check(said.select(~wrong)).status
    ('infeasible', 'feasible')
    """
    rng = read_sizes("blobs_with_knowledge", n_samples, noise, random_state)
    known = _known(n_samples, n_clusters, n_statements, n_wrong) if n_known is None else n_known
    _check_numbers(n_samples, n_clusters, n_statements, n_wrong, n_features, known)

    y = np.arange(n_samples, dtype=np.intp) % n_clusters
    X = _centers(n_clusters, n_features)[y] + noise * rng.standard_normal((n_samples, n_features))
    order = rng.permutation(n_samples)
    X, y = X[order], y[order]

    spoken = np.full(n_samples, -1, dtype=np.intp)
    chosen = _pick(y, known, rng)
    spoken[chosen] = y[chosen]
    # The backbone entails all other pairs. Wrong ones are only among these, so each contradicts the right ones.
    backbone = Constraints.from_labels(spoken)
    others = label_pairs(spoken, known * (known - 1) // 2, rng) - backbone
    others = others.select(rng.permutation(others.n_statements)[: n_statements - backbone.n_statements])
    others, flipped = flip(others, n_wrong / max(others.n_statements, 1), rng)
    said = backbone | others
    wrong = np.concatenate([np.zeros(backbone.n_statements, dtype=np.bool_), flipped])
    shuffle = rng.permutation(n_statements)
    pairs, wrong, must = said.items[shuffle, :2], wrong[shuffle], said.kind[shuffle] == Kind.MUST_LINK
    said = Constraints.build(n_samples, must_link=pairs[must], cannot_link=pairs[~must])
    data = Data(
        X,
        y,
        "blobs_with_knowledge",
        tuple(f"x{i}" for i in range(n_features)),
        tuple(str(i) for i in range(n_clusters)),
        "generated",
        f"Round blobs; of {n_statements} statements about {known} samples {n_wrong} are wrong.",
    )
    return Planted(data, said, np.concatenate([wrong[must], wrong[~must]]))


def _known(n_samples: int, k: int, n_statements: int, n_wrong: int) -> int:
    """As many samples as give each about eight statements, but enough for the pairs and the backbone."""
    enough = int(np.ceil((1 + np.sqrt(1 + 8 * max(n_statements, 1))) / 2))
    backbone = n_statements - n_wrong - k * (k - 1) // 2 + k
    return int(max(min(max(n_statements // 4, enough, k), backbone, n_samples), 0))


def _check_numbers(n: int, k: int, n_statements: int, n_wrong: int, n_features: int, known: int) -> None:
    def need(condition: bool, text: str) -> None:
        if not condition:
            msg = f"blobs_with_knowledge: {text}"
            raise LinkwiseError(msg)

    need(2 <= k <= n, f"n_clusters is {k}, expected 2 to n_samples = {n}.")
    need(n_features >= 2, f"n_features is {n_features}, expected at least 2.")
    need(0 <= n_wrong <= n_statements, f"n_wrong is {n_wrong}, expected 0 to n_statements = {n_statements}.")
    need(k <= known <= n, f"n_known is {known}, expected n_clusters = {k} to n_samples = {n}.")
    pairs, least = known * (known - 1) // 2, known - k + k * (k - 1) // 2
    need(
        n_statements <= pairs,
        f"{n_statements} statements about {known} samples, which have only {pairs} pairs.\nHint: raise n_known.",
    )
    need(
        n_statements - n_wrong >= least,
        f"{n_statements - n_wrong} right statements cannot settle {known} samples in {k} classes; it takes {least}.\n"
        "Hint: raise n_statements, or lower n_wrong or n_known.",
    )


def _centers(k: int, n_features: int) -> FloatArray:
    """Corners of a polygon with side 1, padded with zeros; in enough dimensions, the unit vectors."""
    if k <= n_features and n_features > 2:
        return np.eye(k, n_features)
    angle = 2 * np.pi * np.arange(k) / k
    radius = 0.5 / np.sin(np.pi / k)
    centers = np.zeros((k, n_features))
    centers[:, 0], centers[:, 1] = radius * np.cos(angle), radius * np.sin(angle)
    return centers


def _pick(y: IntArray, known: int, rng: np.random.Generator) -> IntArray:
    """Choose samples to speak about, evenly from all classes."""
    order = rng.permutation(len(y))
    by_class = order[np.argsort(y[order], kind="stable")]
    count = np.bincount(y)
    rank = np.arange(len(y)) - np.repeat(np.cumsum(count) - count, count)
    return by_class[np.argsort(rank, kind="stable")[:known]]
