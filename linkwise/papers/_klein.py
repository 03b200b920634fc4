"""Klein, Kamvar and Manning (ICML 2002): Figures 8, 9, 11 and 12, how many constraints a clustering takes."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from linkwise import datasets
from linkwise.constraints import Constraints, Kind
from linkwise.engines import (
    ConstrainedAgglomerative,
    ConstrainedCompleteLink,
    COPKMeans,
    active_complete_link,
)
from linkwise.exceptions import LinkwiseWarning
from linkwise.metrics import constrained_rand
from linkwise.papers._exhibit import Exhibit, Figure, Found, Panel, Paper, Picture, Settings, mean_and_error
from linkwise.papers._kept import compute_all
from linkwise.papers._sets import on_hand
from linkwise.result import Dendrogram
from linkwise.sources import label_pairs

__all__ = ["KLEIN"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.intp]
Outcome = tuple[Ints, Constraints]

SHAPES: dict[str, Callable[..., datasets.Data]] = {
    "circles": datasets.circles,
    "cellwalls": datasets.cellwalls,
    "xor": datasets.xor,
    "stormclouds": datasets.stormclouds,
}
NOMINAL = ("soybean",)
LINES = ("CCL", "active CCL", "CKM", "complete link, links imposed only")
MIXES = {"must-links only": 1.0, "cannot-links only": 0.0, "half and half": 0.5, "as in the data": None}
GRID = (0, 5, 10, 15, 20, 30, 40, 60, 80, 100)
WIDE = (0, 25, 50, 100, 200, 400, 800)  # soybean: 15 classes of 562 plants
WANTED = 0.9


def points(name: str, seed: int, n: int, data_folder: Path | None) -> tuple[Floats, Ints, str]:
    """Draw or load a data set, and say how its samples are compared; nominal ones get a column for each value."""
    if name in SHAPES:
        drawn = SHAPES[name](n, random_state=seed)
        return drawn.X, drawn.y, "euclidean"
    data = datasets.load(name, data_folder)
    X = np.asarray(data.X, dtype=np.float64)
    if name in NOMINAL:
        X = np.concatenate([column[:, None] == np.unique(column) for column in X.T], axis=1) * 1.0
        return X, data.y, "cityblock"
    return X, data.y, "euclidean"


def solve(line: str, X: Floats, y: Ints, metric: str, amount: int, seed: int, share: float | None) -> Outcome:
    """Labels by one of the methods, and what it was told or asked about."""
    k = len(np.unique(y))
    if line == "active CCL":
        run = active_complete_link(X, amount, metric=metric)
        while (pair := run.ask()) is not None:
            run.tell(pair, bool(y[pair[0]] == y[pair[1]]))
        return _cut(run.dendrogram, k), run.constraints
    known = label_pairs(y, amount, seed, must_link_share=share)
    if line == "CKM":
        return COPKMeans(k, random_state=seed).fit(X, constraints=known).labels_, known
    engine: Any = ConstrainedCompleteLink(None, metric=metric)
    if line != "CCL":
        engine = ConstrainedAgglomerative(None, linkage="complete", metric=metric)
    return _cut(engine.fit(X, constraints=known).dendrogram_, k), known


def _cut(tree: Dendrogram, k: int) -> Ints:
    """As many clusters as classes, or as few as the statements left possible."""
    return tree.cut(n_clusters=max(k, tree.n_roots))


def score(
    data: str, line: str, amount: int, seed: int, n: int, share: float | None = None, data_folder: Path | None = None
) -> dict[str, float]:
    """The constrained Rand index of one method for one draw; 1 where the statements decide every pair."""
    X, y, metric = points(data, seed, n, data_folder)
    labels, known = solve(line, X, y, metric, amount, seed, share)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        found = float(constrained_rand(y, labels, known))
    return {"constrained_rand": 1.0 if np.isnan(found) else found}


def _curve(
    settings: Settings, data: str, lines: Sequence[tuple[str, str, float | None]], grid: Sequence[int]
) -> tuple[Found, ...]:
    """Mean over draws for (name, method, share of must-links), at every number of statements."""
    seeds, n = settings.repeats(10, 2), 200
    tasks = [
        {"data": data, "line": method, "amount": amount, "seed": seed, "n": n, "share": share}
        for _, method, share in lines
        for amount in grid
        for seed in range(seeds)
    ]
    values = iter(compute_all(settings, "klein2002", score, tasks))
    return tuple(
        Found(name, amount, *mean_and_error([next(values)["constrained_rand"] for _ in range(seeds)]))
        for name, _, _ in lines
        for amount in grid
    )


def needed(found: Sequence[Found], line: str, wanted: float = WANTED) -> float:
    """The fewest statements from which on a line keeps the wanted score; infinity if it never does."""
    own = sorted((one for one in found if one.line == line), key=lambda one: float(one.x))
    short = [at for at, one in enumerate(own) if one.value < wanted]
    first = short[-1] + 1 if short else 0
    return float(own[first].x) if first < len(own) else float("inf")


def as_in_the_paper(need: dict[str, float]) -> bool:
    """Whether asking takes no more than propagating, which takes no more than COP-KMeans, with some gain."""
    return need["active CCL"] <= need["CCL"] <= need["CKM"] and need["active CCL"] < need["CKM"]


def accuracy(number: str, sets: Sequence[str]) -> Callable[[Settings], Iterator[Exhibit]]:
    """Figures 8 and 9: accuracy over the number of constraints."""

    def show(settings: Settings) -> Iterator[Exhibit]:
        for data in _sets(settings, sets):
            if settings.quick and data == "soybean":
                continue
            grid = _grid(settings, data)
            lines = [(line, line, None) for line in LINES]
            found = _curve(settings, data, lines, grid)
            start = next(one.value for one in found if one.line == "CKM" and one.x == 0)
            wanted = max(WANTED, start + 0.01)  # soybean: k-means starts above 0.9
            need = {line: needed(found, line, wanted) for line in LINES[:3]}
            ordered = as_in_the_paper(need)
            words = ", ".join(f"{line} {_count(value, grid[-1])}" for line, value in need.items())
            yield Figure(
                f"Figure {number}, {data}",
                "accuracy over the number of constraints",
                found,
                "same" if ordered else "different",
                f"Constraints for a constrained Rand index of {wanted:.2f}: {words}. The paper's finding, that "
                "propagating needs fewer constraints than COP-KMeans and asking fewer still, "
                + ("holds here." if ordered else "does not hold here at this level; see the curves."),
                x_label="constraints",
                y_label="constrained Rand index",
            )

    return show


def _sets(settings: Settings, names: Sequence[str]) -> list[str]:
    real = on_hand(settings, [name for name in names if name not in SHAPES])
    return [name for name in names if name in SHAPES or name in real]


def _grid(settings: Settings, data: str) -> tuple[int, ...]:
    grid: tuple[int, ...] = WIDE if data == "soybean" else GRID
    return grid[::3] if settings.quick else grid


def _count(value: float, last: int) -> str:
    return f"more than {last}" if np.isinf(value) else f"{value:.0f}"


def mixes(settings: Settings) -> Iterator[Exhibit]:
    """Figure 11: any mix of must-links and cannot-links helps."""
    for data in _sets(settings, ("iris", "crabs") if settings.quick else ("iris", "crabs", "soybean")):
        grid = _grid(settings, data)
        lines = [(name, "CCL", share) for name, share in MIXES.items()] + [("CKM, as in the data", "CKM", None)]
        found = _curve(settings, data, lines, grid)
        rise = {
            name: next(one.value for one in found if one.line == name and one.x == grid[-1])
            - next(one.value for one in found if one.line == name and one.x == 0)
            for name, _, _ in lines
        }
        helped = all(value > 0 for name, value in rise.items() if name != "CKM, as in the data")
        words = ", ".join(f"{name} {value:+.2f}" for name, value in rise.items())
        yield Figure(
            f"Figure 11, {data}",
            "mixes of must-links and cannot-links",
            found,
            "same" if helped else "different",
            f"From none to {grid[-1]} constraints: {words}. In the paper every mix helps.",
            x_label="constraints",
            y_label="constrained Rand index",
        )


def pictures(settings: Settings) -> Iterator[Exhibit]:
    """Figure 12: what a few constraints do to the clusters."""
    for data in _sets(settings, ("circles", "stormclouds", "xor", "iris", "crabs")):
        X, y, metric = points(data, 0, 150, settings.data)
        panels = []
        for line, amounts in (("CKM", (0, 20)), ("CCL", (0, 10, 20)), ("active CCL", (10,))):
            for amount in amounts:
                labels, known = solve(line, X, y, metric, amount, 0, None)
                panels.append(
                    Panel(
                        f"{line}, {amount} constraints",
                        _plane(X),
                        labels,
                        known.of(Kind.MUST_LINK),
                        known.of(Kind.CANNOT_LINK),
                    )
                )
        yield Picture(
            f"Figure 12, {data}",
            "clusters found with a few constraints",
            (),
            "open",
            "COP-KMeans moves single samples; propagated constraints move whole neighbourhoods.",
            panels=tuple(panels),
        )


def _plane(X: Floats) -> Floats:
    """Two features as they are; else the second and third direction of spread, since the first is mere size."""
    if X.shape[1] == 2:
        return X
    centred = X - X.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    flat: Floats = centred @ (axes[1:3] if X.shape[1] > 4 else axes[:2]).T
    return flat


KLEIN = Paper(
    name="klein2002",
    citation=(
        "D. Klein, S. D. Kamvar and C. D. Manning, From Instance-level Constraints to Space-level Constraints: Making "
        "the Most of Prior Knowledge in Data Clustering, ICML 2002"
    ),
    about=(
        "Pairs drawn at random and said to be what the classes make them, or asked for. Iris, Crabs and Soybean are "
        "the paper's sets. Its synthetic sets are shown there as pictures only and drawn anew for every repetition. "
        "CKM is COP-KMeans with an exact assignment, which never gets stuck. The paper prints no numbers; its curves "
        "are compared by what they show."
    ),
    exhibits={
        "8": accuracy("8", tuple(SHAPES)),
        "9": accuracy("9", ("iris", "crabs", "soybean")),
        "11": mixes,
        "12": pictures,
    },
)
