"""Statements for all contenders of ``quality.py``: drawn once for a set, a source, a share of wrong answers and a seed.

Statements come as one list whose beginnings are the smaller amounts: who is told 25 is told the same 10 first. Whether
an answer is wrong depends on the seed and the samples asked about alone, so that whoever hears it hears the same, and
what is wrong among 5 % is wrong among 10 %.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.cluster import KMeans
from sklearn.preprocessing import scale

from benchmarks._data import SETS, Floats, Ints, prepare
from benchmarks.asking import Person
from linkwise import Constraints, Kind, check, datasets, repair, verify
from linkwise.active import Dialogue, ExpectedGain
from linkwise.sources import label_pairs, label_triplets_sample

SHAPES = ["circles", "xor", "cellwalls", "stormclouds"]
ALL_SETS = [*SETS, *SHAPES]
MOST = 300  # samples of a set
SOURCES = ("random", "informative", "active")
WRONG = (0.0, 0.05, 0.1)
POOL = 30  # pairs or triplets per sample that informative ones are looked for among


@functools.cache
def samples(name: str) -> tuple[Floats, Ints]:
    """Samples and classes of a set: all of them, or as many as are allowed, drawn by the name of the set."""
    rng = np.random.default_rng(zlib.crc32(name.encode()))
    if name in SHAPES:
        drawn = getattr(datasets, name)(n_samples=MOST, random_state=rng)
        return scale(drawn.X), np.asarray(drawn.y)
    X, y = prepare(name)
    rows = np.sort(rng.permutation(len(y))[:MOST])
    return np.ascontiguousarray(X[rows]), np.unique(y[rows], return_inverse=True)[1]


def amounts(n: int) -> list[int]:
    """How many statements there are, from none to one per sample."""
    return sorted({m for m in (0, 10, 25, 50, 100, n // 4, n) if m <= n})


# -- drawing ---------------------------------------------------------------------------------------------------------


def draw(name: str, source: str, wrong: float, seed: int) -> dict[str, Any]:
    """Draw the lists of one case, and find out what contradicts what: plain values, to be kept."""
    X, y = samples(name)
    if source == "active":
        pairs, trios = converse(X, y, wrong, seed), np.empty((0, 3), np.intp)
    else:
        plain = plain_labels(X, len(np.unique(y)), seed) if source == "informative" else None
        rng = np.random.default_rng([seed, zlib.crc32(name.encode())])
        pairs = answered(draw_pairs(y, plain, rng), Person(y, seed, wrong))
        trios = slipped(draw_trios(y, plain, rng), wrong, seed)
    k = len(np.unique(y))
    left_out = {}
    for m in amounts(len(y))[1:]:
        said, trios_said = as_pairs(len(y), pairs[:m]), Constraints.build(len(y), triplets=trios[:m])
        left_out[str(m)] = {
            "pairs": contradicting(said),
            "pairs, k": contradicting(said, k),
            "triplets": contradicting(trios_said),
        }
    return {"pairs": pairs.tolist(), "triplets": trios.tolist(), "left_out": left_out}


def plain_labels(X: Floats, k: int, seed: int) -> Ints:
    """What somebody looks at before saying anything: k-means, told the number of classes."""
    return np.asarray(KMeans(k, n_init=10, random_state=seed).fit_predict(X))


def draw_pairs(y: Ints, plain: Ints | None, rng: np.random.Generator) -> Ints:
    """One pair per sample in random order; with a plain result, the pairs it gets wrong come first."""
    n = len(y)
    said = label_pairs(y, n if plain is None else min(POOL * n, n * (n - 1) // 2), rng)
    return np.sort(said.items[:, :2][_order(said, plain, rng)[:n]], axis=1)


def draw_trios(y: Ints, plain: Ints | None, rng: np.random.Generator) -> Ints:
    """One triplet of two classes per sample, in the same way."""
    said = label_triplets_sample(y, (1 if plain is None else POOL) * len(y), rng)
    return said.items[_order(said, plain, rng)[: len(y)]]


def _order(said: Constraints, plain: Ints | None, rng: np.random.Generator) -> Ints:
    order = rng.permutation(said.n_statements)
    if plain is None:
        return order
    return order[np.argsort(_found(said, plain)[order], kind="stable")]


def _found(said: Constraints, plain: Ints) -> npt.NDArray[np.bool_]:
    """Whether the plain result says the same; of a triplet, that the first two are together and the third is not."""
    a, b, c = said.items.T
    trio = (plain[a] == plain[b]) & (plain[a] != plain[c])
    pairs = said.kind != Kind.TRIPLET
    return np.where(pairs, verify(plain, said).held if pairs.all() else False, trio)


def converse(X: Floats, y: Ints, wrong: float, seed: int) -> Ints:
    """The pairs a dialogue asks about until there is one per sample, with the answers it heard."""
    person = Person(y, seed, wrong)
    talk = Dialogue(X, strategy=ExpectedGain(), budget=len(y), random_state=seed)
    while (query := talk.ask()) is not None:
        talk.tell(query, person(query.items))
    return np.array([(*told.items, told.answer == "yes") for told in talk.answers], dtype=np.intp)


def answered(pairs: Ints, person: Person) -> Ints:
    """Pairs with what a person says of them."""
    return np.array([(a, b, person((a, b))) for a, b in pairs.tolist()], dtype=np.intp)


def slipped(trios: Ints, wrong: float, seed: int) -> Ints:
    """Triplets, some of which name the wrong sample as the odd one."""
    said = trios.copy()
    for at, (a, b, c) in enumerate(trios.tolist()):
        slip, which = np.random.default_rng([seed, a, b, c]).random(2)
        if slip < wrong:
            said[at] = (a, c, b) if which < 0.5 else (b, c, a)
    return said


# -- reading ---------------------------------------------------------------------------------------------------------


def as_pairs(n: int, rows: Any) -> Constraints:
    """Statements of rows (a, b, whether they belong together), in the order of the rows, of weight 1."""
    rows = np.asarray(rows, dtype=np.intp).reshape(-1, 3)
    together = rows[:, 2] == 1
    built = Constraints.build(n, must_link=rows[together, :2], cannot_link=rows[~together, :2], weight=1.0)
    return built.select(np.argsort(np.argsort(~together, kind="stable")))


def contradicting(said: Constraints, k: int | None = None) -> list[int]:
    """Positions to leave out so that the others can hold together, in k clusters if that is given.

    First what `repair` drops, then one statement of each contradiction that the number of clusters makes, as a
    clusterer does that is given soft statements.
    """
    if not said.n_statements:
        return []
    fixed = repair(said, budget=2.0)
    kept = np.setdiff1d(np.arange(said.n_statements), fixed.dropped)
    hard = said.with_weight(np.inf)
    while k is not None and (found := check(hard.select(kept), n_clusters=k).explanation) is not None:
        kept = np.delete(kept, found.core[0])
    return [int(at) for at in np.setdiff1d(np.arange(said.n_statements), kept)]


@dataclass(frozen=True)
class Knowledge:
    """A list as it is kept, and how much of it may be said."""

    n_samples: int
    record: dict[str, Any]

    def rows(self, kind: str, amount: int) -> Sequence[Sequence[int]]:
        """The first so many ``"pairs"`` or ``"triplets"``."""
        return self.record[kind][:amount]

    def said(self, kind: str, amount: int) -> Constraints:
        """All of them, contradictions included, of weight 1."""
        rows = self.rows(kind, amount)
        if kind == "pairs":
            return as_pairs(self.n_samples, rows)
        return Constraints.build(self.n_samples, triplets=np.reshape(rows, (-1, 3)), weight=1.0)

    def kept(self, kind: str, amount: int, *, told_k: bool) -> Constraints:
        """Those that can hold together, as hard statements."""
        said = self.said(kind, amount).with_weight(np.inf)
        if not amount:
            return said
        left_out = self.record["left_out"][str(amount)]
        off = left_out["pairs, k" if kind == "pairs" and told_k else kind]
        return said.select(np.setdiff1d(np.arange(said.n_statements), off))

    def touched(self, kind: str, amount: int) -> npt.NDArray[np.bool_]:
        """Which samples are named in a statement."""
        named = np.zeros(self.n_samples, dtype=np.bool_)
        rows = np.asarray(self.rows(kind, amount), dtype=np.intp).reshape(-1, 3)
        named[rows[:, :2] if kind == "pairs" else rows] = True
        return named
