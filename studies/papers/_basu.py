"""Basu and Davidson's tutorial: do 25 random pairs help k-means, how often is it stuck, and what δ and γ save."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from linkwise._typing import FloatArray
from linkwise.constraints import Constraints
from linkwise.engines import COPKMeans, MKMeans, MPCKMeans, PCKMeans
from linkwise.exceptions import GaveUpError
from linkwise.metrics import rand
from studies.papers._basu_counts import count_tables
from studies.papers._basu_curves import CURVES
from studies.papers._computations import compute_all
from studies.papers._exhibit import Exhibit, Figure, Found, Paper, Settings, Table, mean_and_error
from studies.papers._prepared_sets import complete, exactly, on_hand, random_pairs
from studies.papers._verdict_rules import Judged, Span, beside_printed, every_line_rises

SETS = ("iris", "wine", "glass", "ionosphere", "breast", "pima", "vote", "digits_389")
METHODS = ("COP", "PCK", "PCK, weighed", "MK", "MPCK")
N_PAIRS = 25
BLOCK = 10  # trials that are computed and kept together
# Rand index without and with 25 pairs, and the share of sets that hurt, in percent, for 1,000 trials
PRINTED = {
    "glass": {"COP": (69.0, 69.4, 28), "PCK": (43.4, 68.8, 1), "MK": (39.5, 56.6, 11), "MPCK": (39.5, 67.8, 0)},
    "ionosphere": {"COP": (58.6, 58.7, 26), "PCK": (58.8, 58.9, 77), "MK": (58.9, 58.9, 0), "MPCK": (58.9, 58.9, 77)},
    "iris": {"COP": (84.7, 87.8, 29), "PCK": (84.3, 88.3, 19), "MK": (88.0, 93.6, 36), "MPCK": (88.0, 91.8, 36)},
    "wine": {"COP": (70.2, 70.9, 38), "PCK": (71.7, 72.0, 34), "MK": (93.3, 91.3, 87), "MPCK": (93.3, 90.6, 74)},
}
STUCK = ("iris", "pima", "breast", "vote")  # the sets of Figure 3
PAIRS = (10, 50, 100, 150, 200, 300)
WAYS: dict[str, dict[str, Any]] = {
    "as published": {"assignment": "greedy", "order": "given", "max_tries": 1},
    "greedy, ten tries": {"assignment": "greedy"},
    "exact": {},
}


def trials(data: str, first: int, n_trials: int, data_folder: Path | None = None) -> dict[str, Any]:
    """Rand indices of every method without and with pairs, one of each per trial, from the same starts."""
    X, y = complete(data, data_folder)
    k, scale = len(np.unique(y)), 2.0 * float(np.var(X, axis=0).sum())
    nothing = Constraints.build(len(X))
    found: dict[str, list[list[float]]] = {method: [] for method in METHODS}
    for trial in range(first, first + n_trials):
        rng = np.random.default_rng([0, trial])
        known = random_pairs(y, N_PAIRS, rng, 1.0)
        start = X[rng.choice(len(X), k, replace=False)]
        before: dict[bool, float] = {}
        for method in METHODS:
            learns = method in ("MK", "MPCK")  # without statements COP and PCK are one, as are MK and MPCK
            if learns not in before:
                before[learns] = rand(y, _labels(method, X, nothing, k, start, scale))
            found[method].append([before[learns], rand(y, _labels(method, X, known, k, start, scale))])
    return found


def _labels(method: str, X: FloatArray, known: Constraints, k: int, start: FloatArray, scale: float) -> Any:
    if method == "COP":
        labels = COPKMeans(k, init=start).fit(X, constraints=known.with_weight(np.inf)).labels_
    elif method == "PCK, weighed":
        labels = PCKMeans(k, init=start).fit(X, constraints=known.with_weight(scale)).labels_
    else:
        estimator: Any = {"PCK": PCKMeans, "MK": MKMeans, "MPCK": MPCKMeans}[method]
        labels = estimator(k, init=start).fit(X, constraints=known).labels_
    return exactly(labels, k, method)


def k_means_tables(settings: Settings) -> Iterator[Exhibit]:
    """The Rand index without and with pairs, and the share of sets of pairs that hurt."""
    sets = on_hand(settings, [name for name in SETS if not settings.quick or name in PRINTED])
    n_trials = settings.repeats(100, BLOCK)
    blocks = [(first, min(BLOCK, n_trials - first)) for first in range(0, n_trials, BLOCK)]
    tasks = [{"data": name, "first": first, "n_trials": n} for name in sets for first, n in blocks]
    made = compute_all(settings, "basu2006", trials, tasks)
    rows: dict[str, dict[str, FloatArray]] = {}
    for at, name in enumerate(sets):
        own: list[Any] = made[at * len(blocks) : (at + 1) * len(blocks)]
        rows[name] = {method: np.concatenate([block[method] for block in own]) for method in METHODS}
    scores, hurts = [], []
    for name, of in rows.items():
        for method, values in of.items():
            printed = PRINTED.get(name, {}).get(method, (None, None, None))
            for column, which, percent in (("without", 0, printed[0]), ("with", 1, printed[1])):
                said = None if percent is None else percent / 100
                scores.append(Found(f"{name}, {method}", column, *mean_and_error(values[:, which]), printed=said))
            worse = (values[:, 1] < values[:, 0] - 1e-12) * 1.0
            said = None if printed[2] is None else printed[2] / 100
            hurts.append(Found(f"{name}, {method}", "share that hurts", *mean_and_error(worse), printed=said))
    yield Table("Rand index", f"k-means without and with {N_PAIRS} random pairs", tuple(scores), judge_scores(scores))
    yield Table(
        "Sets that hurt",
        "share of trials in which pairs made the result worse",
        tuple(hurts),
        judge_hurts(hurts),
    )


def judge_scores(found: list[Found]) -> Judged:
    """Compare with the printed indices, with and without pairs."""
    value = {(one.line, one.x): one.value for one in found}
    lines = list(dict.fromkeys(one.line for one in found))
    gains = {method: [_gain(value, line) for line in lines if line.endswith(f", {method}")] for method in METHODS}
    words = ", ".join(f"{method} on {sum(g > 0 for g in of)} of {len(of)} sets" for method, of in gains.items())
    return beside_printed(
        [Span(f"{one.line} {one.x}", one.value, one.error, one.printed) for one in found],
        slack=0.005,
        higher_is_better=True,
        rounding="half a point",
        leading=f"On average pairs raise the Rand index of {words}. ",
    )


def _gain(value: dict[tuple[str, float | str], float], line: str) -> float:
    return value[line, "with"] - value[line, "without"]


def judge_hurts(found: list[Found]) -> Judged:
    """Compare with the printed shares."""
    often = [one.line for one in found if one.value >= 0.1]
    return beside_printed(
        [Span(one.line, one.value, one.error, one.printed) for one in found],
        slack=0.01,
        higher_is_better=False,
        rounding="one percent",
        leading=f"Pairs hurt in a tenth of the trials or more in {len(often)} of {len(found)} rows. ",
    )


def stuck(
    data: str, way: str, n_pairs: int, first: int, n_trials: int, data_folder: Path | None = None
) -> dict[str, Any]:
    """Of some trials with random pairs and random starts, in how many COP-KMeans finds no cluster for a sample."""
    X, y = complete(data, data_folder)
    k, count = len(np.unique(y)), []
    for trial in range(first, first + n_trials):
        rng = np.random.default_rng([1, n_pairs, trial])
        known = random_pairs(y, n_pairs, rng, np.inf)
        start = X[rng.choice(len(X), k, replace=False)]
        try:
            COPKMeans(k, init=start, n_init=1, random_state=trial, **WAYS[way]).fit(X, constraints=known)
        except GaveUpError:
            count.append(1.0)
        else:
            count.append(0.0)
    return {"stuck": count}


def over_constraining(settings: Settings) -> Iterator[Exhibit]:
    """Figure 3: the share of runs that get stuck over the number of pairs."""
    amounts = PAIRS[::2] if settings.quick else PAIRS
    n_trials = settings.repeats(100, BLOCK)
    for data in on_hand(settings, STUCK[:1] if settings.quick else STUCK):
        places = [(way, amount) for way in WAYS for amount in amounts]
        blocks = [(first, min(BLOCK, n_trials - first)) for first in range(0, n_trials, BLOCK)]
        tasks = [
            {"data": data, "way": way, "n_pairs": amount, "first": first, "n_trials": n}
            for way, amount in places
            for first, n in blocks
        ]
        made: Iterator[Any] = iter(compute_all(settings, "basu2006", stuck, tasks))
        found = []
        for way, amount in places:
            runs = [value for _ in blocks for value in next(made)["stuck"]]
            found.append(Found(way, amount, *mean_and_error(runs)))
        yield Figure(
            f"Figure 3, {data}",
            "share of runs in which COP-KMeans is stuck",
            tuple(found),
            judge_stuck(found),
            x_label="pairs",
            y_label="share of runs",
        )


def judge_stuck(found: list[Found]) -> Judged:
    """Compare with what the tutorial says: over-constraining makes runs get stuck."""
    value = {(one.line, one.x): one.value for one in found}
    first, last = min(float(one.x) for one in found), max(float(one.x) for one in found)
    most = {way: max(v for (line, _), v in value.items() if line == way) for way in WAYS}
    return every_line_rises(
        {way: most[way] - value[way, first] for way in WAYS},
        [next(iter(WAYS))],
        least=0.1,
        what=(
            f"Share of runs that are stuck, most of any amount up to {last:g} pairs less that at {first:g} (most: "
            f"{', '.join(f'{way} {share:.2f}' for way, share in most.items())})"
        ),
        said="In the tutorial more pairs make more runs get stuck",
    )


BASU = Paper(
    name="basu2006",
    citation="S. Basu and I. Davidson, Clustering with Constraints, tutorial, KDD 2006",
    about=(
        "K-means with and without 25 random pairs that are true of the classes, every method from the same random "
        "starts, where the tutorial has 1,000 trials; the share of runs of COP-KMeans that get stuck, where it has "
        "500; and the distances that rules about clusters save. Data are used as they are. Starts, scaling and the "
        "treatment of empty clusters are not printed. Curves are pictures there: what each is shown for is compared, "
        "with half of the samples held out for mutual information; PenDigits is a sample of 300 strokes of 3, 8 and 9, "
        "and 20 Newsgroups are a hundred postings to each of three groups about politics. The traces of the lanes and "
        "the yeast network were not obtained. Vote is not in the printed tables; Sick was not obtained. The digits 3 "
        "and 8 are other rows (2,110, where 2,000 are printed), as are those of Census (48,842, of which 45,222 have "
        "no gaps, where 48,450 are printed)."
    ),
    exhibits={"rand": k_means_tables, "3": over_constraining, "counts": count_tables, **CURVES},
)
