"""Klein, Kamvar and Manning (ICML 2002): Figures 8 to 12 and the nearest metric, what constraints do to clusters."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from linkwise import datasets
from linkwise._typing import FloatArray, IntArray
from linkwise.constraints import Constraints, Kind
from linkwise.engines import (
    ConstrainedAgglomerative,
    ConstrainedCompleteLink,
    COPKMeans,
    active_complete_link,
    agglomerate,
    nearest_metric,
)
from linkwise.exceptions import LinkwiseWarning
from linkwise.metrics import constrained_rand, rand
from linkwise.sources import label_pairs
from studies.papers._computations import compute_all
from studies.papers._exhibit import Exhibit, Figure, Found, Panel, Paper, Picture, Settings, mean_and_error
from studies.papers._prepared_sets import exactly, on_hand
from studies.papers._verdict_rules import all_hold, every_line_rises, fewer_statements

Outcome = tuple[IntArray, Constraints]

SHAPES: dict[str, Callable[..., datasets.Data]] = {
    "circles": datasets.circles,
    "cellwalls": datasets.cellwalls,
    "xor": datasets.xor,
    "stormclouds": datasets.stormclouds,
}
NOMINAL = ("soybean",)
WHITE = "whitened "  # before the name of a set whose features are made uncorrelated first
LINES = ("CCL", "active CCL", "CKM", "CCL, merged on", "complete link, links imposed only")
NEAREST = "nearest metric"
NAMES = ("first", "second", "third")  # principal components
ORDER = ("active CCL", "CCL", "CKM")
MIXES = {"must-links only": 1.0, "cannot-links only": 0.0, "half and half": 0.5, "as in the data": None}
GRID = (0, 5, 10, 15, 20, 30, 40, 60, 80, 100)
WIDE = (0, 25, 50, 100, 200, 400, 800)  # soybean: 15 classes of 562 plants
WANTED = 0.9


def points(name: str, seed: int, n: int, data_folder: Path | None) -> tuple[FloatArray, IntArray, str]:
    """Draw or load a data set, and say how its samples are compared; nominal ones get a column for each value."""
    if name in SHAPES:
        drawn = SHAPES[name](n, random_state=seed)
        return drawn.X, drawn.y, "euclidean"
    data = datasets.load(name.removeprefix(WHITE), data_folder)
    X = np.asarray(data.X, dtype=np.float64)
    if name in NOMINAL:
        X = np.concatenate([column[:, None] == np.unique(column) for column in X.T], axis=1) * 1.0
        return X, data.y, "cityblock"
    return (_whiten(X) if name.startswith(WHITE) else X), data.y, "euclidean"


def _whiten(X: FloatArray) -> FloatArray:
    left, _, right = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return np.asarray(left @ right * np.sqrt(len(X)))


def solve(line: str, X: FloatArray, y: IntArray, metric: str, amount: int, seed: int, share: float | None) -> Outcome:
    """Labels of exactly as many clusters as classes, by one of the methods, and what it was told or asked about."""
    k = len(np.unique(y))
    if line == "active CCL":
        run = active_complete_link(X, amount, metric=metric)
        while (pair := run.ask()) is not None:
            run.tell(pair, bool(y[pair[0]] == y[pair[1]]))
        if run.dendrogram.n_roots <= k:
            return exactly(run.dendrogram.cut(n_clusters=k), k, line), run.constraints
        line, known = "CCL", run.constraints  # the answers leave more roots than classes
    else:
        known = label_pairs(y, amount, seed, must_link_share=share)
    engine: Any
    if line == "CKM":
        engine = COPKMeans(k, random_state=seed)
    elif line == "CCL":
        engine = ConstrainedCompleteLink(k, metric=metric)
    elif line == "CCL, merged on":
        engine = ConstrainedCompleteLink(k, metric=metric, dead_end="merge_on")
    elif line == NEAREST:
        far = nearest_metric(X, known, metric=metric, tol=1e-4)
        return exactly(agglomerate(far, method="complete", metric="precomputed").cut(n_clusters=k), k, line), known
    else:
        engine = ConstrainedAgglomerative(k, linkage="complete", metric=metric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)  # regrouped where merging met a dead end, or merged on
        labels = engine.fit(X, constraints=known).labels_
    return exactly(labels, k, line), known


def score(
    data: str, line: str, amount: int, seed: int, n: int, share: float | None = None, data_folder: Path | None = None
) -> dict[str, float]:
    """The constrained Rand index of one method for one draw; 1 where the statements decide every pair."""
    X, y, metric = points(data, seed, n, data_folder)
    labels, known = solve(line, X, y, metric, amount, seed, share)
    return {"constrained_rand": _index(y, labels, known)}


def _index(y: IntArray, labels: IntArray, known: Constraints) -> float:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LinkwiseWarning)
        found = float(constrained_rand(y, labels, known))
    return 1.0 if np.isnan(found) else found


def _curve(
    settings: Settings, lines: Sequence[tuple[str, str, str, float | None]], grid: Sequence[int]
) -> tuple[Found, ...]:
    """Mean over draws for (name, set, method, share of must-links), at every number of statements.

    Where neither the set nor the statements are drawn there is one run.
    """
    places, tasks = [], []
    for name, data, method, share in lines:
        fixed = data not in SHAPES and method != "CKM"
        for amount in grid:
            for seed in range(1 if fixed and (amount == 0 or method == "active CCL") else settings.repeats(10, 2)):
                places.append((name, amount))
                tasks.append({"data": data, "line": method, "amount": amount, "seed": seed, "n": 200, "share": share})
    held: dict[tuple[str, int], list[float]] = {}
    for place, values in zip(places, compute_all(settings, "klein2002", score, tasks), strict=True):
        held.setdefault(place, []).append(values["constrained_rand"])
    return tuple(Found(name, amount, *mean_and_error(values)) for (name, amount), values in held.items())


def needed(found: Sequence[Found], line: str, wanted: float = WANTED) -> float:
    """The fewest statements from which on a line keeps the wanted score; infinity if it never does."""
    own = sorted((one for one in found if one.line == line), key=lambda one: float(one.x))
    short = [at for at, one in enumerate(own) if one.value < wanted]
    first = short[-1] + 1 if short else 0
    return float(own[first].x) if first < len(own) else float("inf")


def accuracy(number: str, sets: Sequence[str]) -> Callable[[Settings], Iterator[Exhibit]]:
    """Figures 8 and 9: accuracy over the number of constraints."""

    def show(settings: Settings) -> Iterator[Exhibit]:
        for data in _sets(settings, sets):
            if settings.quick and data == "soybean":
                continue
            grid = _grid(settings, data)
            found = _curve(settings, [(line, data, line, None) for line in LINES], grid)
            start = next(one.value for one in found if one.line == "CKM" and one.x == 0)
            wanted = max(WANTED, start + 0.01)  # soybean: k-means starts above 0.9
            need = {line: needed(found, line, wanted) for line in LINES[:4]}
            yield Figure(
                f"Figure {number}, {data}",
                "accuracy over the number of constraints",
                found,
                fewer_statements(need, ORDER, grid[-1], wanted),
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


def mixes(settings: Settings) -> Iterator[Exhibit]:
    """Figure 11: any mix of must-links and cannot-links helps; on Crabs with whitened features as well."""
    for data in _sets(settings, ("iris", "crabs") if settings.quick else ("iris", "crabs", "soybean")):
        grid = _grid(settings, data)
        lines = [(name, data, "CCL", share) for name, share in MIXES.items()]
        lines.append(("CKM, as in the data", data, "CKM", None))
        if data == "crabs":
            lines += [(f"{WHITE}{name}", WHITE + data, "CCL", share) for name, share in MIXES.items()]
            lines.append((f"{WHITE}CKM", WHITE + data, "CKM", None))
        found = _curve(settings, lines, grid)
        value = {(one.line, one.x): one.value for one in found}
        rise = {name: value[name, grid[-1]] - value[name, 0] for name, *_ in lines}
        yield Figure(
            f"Figure 11, {data}",
            "mixes of must-links and cannot-links",
            found,
            every_line_rises(
                rise,
                list(MIXES),
                least=0.005,
                what=f"From none to {grid[-1]} constraints"
                + (f" (whitened CKM begins at {value[WHITE + 'CKM', 0]:.2f})" if data == "crabs" else ""),
                said="In the paper every mix helps",
            ),
            x_label="constraints",
            y_label="constrained Rand index",
        )


def pictures(settings: Settings) -> Iterator[Exhibit]:
    """Figure 12: what a few constraints do to the clusters."""
    for data in _sets(settings, ("circles", "stormclouds", "xor", "iris", "crabs")):
        X, y, metric = points(data, 0, 150, settings.data)
        panels, found, held = [], [], {}
        for line, amounts in (("CKM", (0, 20)), ("CCL", (0, 10, 20)), ("active CCL", (10,))):
            for amount in amounts:
                labels, known = solve(line, X, y, metric, amount, 0, None)
                held[line, amount] = labels
                found.append(Found(line, amount, _index(y, labels, known)))
                pairs = known.of(Kind.MUST_LINK), known.of(Kind.CANNOT_LINK)
                panels.append(Panel(f"{line}, {amount} constraints", _plane(X), labels, *pairs))
        moved = {line: 1.0 - rand(held[line, 0], held[line, 20]) for line in ("CKM", "CCL")}
        index = {(one.line, one.x): one.value for one in found}
        yield Picture(
            f"Figure 12, {data}",
            "clusters found with a few constraints",
            tuple(found),
            all_hold(
                {
                    "CCL moves more pairs of samples than CKM": moved["CCL"] - moved["CKM"],
                    "CCL is above CKM": index["CCL", 20] - index["CKM", 20],
                },
                least=0.005,
                why=(
                    f"20 constraints change what CKM says of {moved['CKM']:.1%} of all pairs of samples, and what CCL "
                    f"says of {moved['CCL']:.1%}; constrained Rand index {index['CKM', 20]:.3f} and "
                    f"{index['CCL', 20]:.3f}."
                ),
                rule=(
                    "The paper says that constraints alter CKM slightly and whole neighborhoods with CCL: compared "
                    "are the shares of pairs of samples that 20 constraints join or part, and the constrained Rand "
                    "index, in one draw."
                ),
            ),
            panels=tuple(panels),
        )


def nearest(settings: Settings) -> Iterator[Exhibit]:
    """Section 4.2: complete link in the nearest metric, which the paper calls ineffective, beside shortest paths."""
    n, amounts = 40, (0, 5, 10, 20)[:: settings.size(1, 3)]
    lines = ("CCL, merged on", NEAREST)
    for data in list(SHAPES)[: settings.size(len(SHAPES), 1)]:
        draws = settings.repeats(10, 2)
        places = [(line, amount, seed) for line in lines for amount in amounts for seed in range(draws)]
        tasks = [{"data": data, "line": line, "amount": a, "seed": seed, "n": n} for line, a, seed in places]
        held: dict[tuple[str, int], list[float]] = {}
        for (line, amount, _), values in zip(places, compute_all(settings, "klein2002", score, tasks), strict=True):
            held.setdefault((line, amount), []).append(values["constrained_rand"])
        found = tuple(Found(line, amount, *mean_and_error(values)) for (line, amount), values in held.items())
        mean = {line: float(np.mean([one.value for one in found if one.line == line and one.x])) for line in lines}
        yield Figure(
            f"Section 4.2, {data}",
            f"complete link on {n} samples after shortest paths, and in the nearest metric",
            found,
            all_hold(
                {"shortest paths are above": mean[lines[0]] - mean[NEAREST]},
                least=0.005,
                why=(
                    "Mean constrained Rand index over amounts above none: shortest paths "
                    f"{mean[lines[0]]:.3f}, nearest metric {mean[NEAREST]:.3f}. The paper calls the nearest metric "
                    "ineffective, because it cannot be computed for more than a dozen points, and shows no figure."
                ),
                rule="Both end in complete link to the root, cut at as many clusters as classes; means are compared.",
            ),
            x_label="constraints",
            y_label="constrained Rand index",
        )


def axes(data: str, data_folder: Path | None = None) -> dict[str, float]:
    """The share of the variance on each of three principal components, and the share of that between the classes."""
    X, y, _ = points(data, 0, 0, data_folder)
    score, variance = _components(X)
    size = np.bincount(y)
    between = np.array([(np.bincount(y, weights=column) ** 2 / size).sum() for column in score.T])
    share = between / (score**2).sum(axis=0)
    return {f"variance {name}": float(v) for name, v in zip(NAMES, variance, strict=False)} | {
        f"classes {name}": float(v) for name, v in zip(NAMES, share, strict=False)
    }


def _components(X: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Principal components, at most three, and their shares of the variance."""
    left, spread, _ = np.linalg.svd(X - X.mean(axis=0), full_matrices=False)
    return np.asarray(left * spread)[:, :3], np.asarray(spread[:3] ** 2 / (spread**2).sum())


def components(settings: Settings) -> Iterator[Exhibit]:
    """Figure 10: Iris and Crabs in three principal components, and what each of these says about the classes."""
    sets = _sets(settings, ("iris", "crabs"))
    for data, made in zip(sets, compute_all(settings, "klein2002", axes, [{"data": d} for d in sets]), strict=True):
        X, y, _ = points(data, 0, 0, settings.data)
        score, _ = _components(X)
        found = [Found(name, "share of variance", made[f"variance {name}"]) for name in NAMES]
        found += [Found(name, "share of it between classes", made[f"classes {name}"]) for name in NAMES]
        none = np.empty((0, 2), dtype=np.intp)
        panels = tuple(
            Panel(f"{NAMES[a]} and {NAMES[b]} component", score[:, [a, b]], y, none, none)
            for a, b in itertools.combinations(range(score.shape[1]), 2)
        )
        first, *others = (made[f"classes {name}"] for name in NAMES)
        claims = (
            {
                "size, the first component, takes more than half of the variance": made["variance first"] - 0.5,
                "another component says more about species": max(others) - first,
            }
            if data == "crabs"
            else {"more than half of the variance of one component is between classes": max(first, *others) - 0.5}
        )
        words = ", ".join(f"{name} {made[f'classes {name}']:.3f}" for name in NAMES)
        yield Picture(
            f"Figure 10, {data}",
            "classes in three principal components",
            tuple(found),
            all_hold(
                claims,
                least=0.005,
                why=f"Share of the variance of a component that lies between classes: {words}.",
                rule=(
                    "The paper calls the classes of Iris relatively separated, and the first component of Crabs mostly "
                    "irrelevant to species. Shares are compared with one half, and with each other."
                ),
            ),
            panels=panels,
        )


def _plane(X: FloatArray) -> FloatArray:
    """Two features as they are; else the second and third direction of spread, since the first is mere size."""
    if X.shape[1] == 2:
        return X
    centered = X - X.mean(axis=0)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    flat: FloatArray = centered @ (axes[1:3] if X.shape[1] > 4 else axes[:2]).T
    return flat


KLEIN = Paper(
    name="klein2002",
    citation=(
        "D. Klein, S. D. Kamvar and C. D. Manning, From Instance-level Constraints to Space-level Constraints: Making "
        "the Most of Prior Knowledge in Data Clustering, ICML 2002"
    ),
    about=(
        "Pairs drawn at random and said to be what the classes make them, or asked for. Iris, Crabs and Soybean are "
        "the paper's sets. Its synthetic sets are shown there as pictures only and drawn for every repetition. All "
        "scores are of exactly as many clusters as classes. CCL regroups where no legal merge is left above that "
        "number, also under the answers of active CCL where these leave more roots than classes; merged on is the "
        "paper's rule, which goes on across cannot-links, all at the same height. CKM is "
        "COP-KMeans with an exact assignment, which does not get stuck. The paper prints no numbers; its curves are "
        "compared by what they show."
    ),
    exhibits={
        "8": accuracy("8", tuple(SHAPES)),
        "9": accuracy("9", ("iris", "crabs", "soybean")),
        "10": components,
        "11": mixes,
        "12": pictures,
        "4.2": nearest,
    },
)
